"""A run as a page that plays it: its scene against legs, meetings, tables and timeline; the page; the command."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from interlayer import cli, simulator
from interlayer.measure import timeline
from interlayer.show import animation, markup, motion_plot
from web import contrast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]

WALK = """
[scenario]
name = "walk"
duration = "20 s"
[radio]
standard = "802.11b"
[channel]
range = "40 m"
[[node]]
name = "post"
position = [5, 0]
[[node]]
name = "n"
count = 6
mobility = { model = "waypoint", width = "100 m", height = "100 m", min_speed = "2 m/s", max_speed = "9 m/s" }
[[flow]]
name = "up"
from = "n1"
to = "post"
transport = { preset = "rfc" }
[[event]]
at = "3 s"
kill = "n6"
[[event]]
at = "5 s"
break = ["post", "n2"]
[[event]]
at = "8 s"
move = "post"
to = [20, 10]
"""

EVENTS = """
[scenario]
name = "stand"
duration = "2 s"
[radio]
standard = "802.11b"
[channel]
range = "40 m"
[[node]]
name = "a"
position = [0, 0]
[[node]]
name = "b"
position = [30, 0]
[[flow]]
from = "a"
to = "b"
transport = { protocol = "udp", datagram = "500 B" }
traffic = { model = "cbr", rate = "100 kb/s" }
[[event]]
at = "500 ms"
move = "b"
to = [0, 90]
[[event]]
at = "1 s"
kill = "a"
[[event]]
at = "1500 ms"
restart = "a"
"""

# 50 nodes and ten relayed downloads that never rest: one file for 100 s of it.
LARGE = """
scenario = { name = "large", duration = "100 s" }
radio = { standard = "802.11b", data_rate = "11 Mb/s", rts_threshold = "0 B" }
channel = { range = "100 m" }
[[node]]
name = "n"
count = 50
mobility = { model = "waypoint", width = "500 m", height = "500 m", min_speed = "1 m/s", max_speed = "9 m/s" }
""" + "".join(f'[[flow]]\nfrom = "n{i}"\nto = "n{i + 20}"\ntransport = {{ preset = "rfc" }}\n' for i in range(1, 11))


def recorded(text: str, window: str | None = None, seed: int = 1) -> tuple[Any, Any]:
    """A scenario, and its run as `--animate` makes it."""
    scenario = simulator.parse(text)
    kept = timeline.window(window, scenario)
    ((_, run),) = simulator.stream([(scenario, seed)], series=True, scene=True, timeline=kept)
    return scenario, run


def scene(text: str, window: str | None = None) -> tuple[dict[str, Any], Any]:
    """The scene as a page has it, and the run."""
    scenario, run = recorded(text, window)
    of = animation.scene(run, scenario, scenario.name, "0")
    return json.loads(json.dumps(of, allow_nan=False)), run


def place(path: Sequence[float], t: float) -> tuple[float, float]:
    """Where a path is: the rule of air.js."""
    points = [path[i : i + 3] for i in range(0, len(path), 3)]
    at = max(i for i, point in enumerate(points) if point[0] <= t or i == 0)
    if at + 1 == len(points):
        return points[at][1], points[at][2]
    (t0, x0, y0), (t1, x1, y1) = points[at : at + 2]
    part = (t - t0) / (t1 - t0)
    return x0 + part * (x1 - x0), y0 + part * (y1 - y0)


def by_legs(run: Mapping[str, Any], node: str, t: float) -> tuple[float, float]:
    names = ("node", "begins_s", "ends_s", "from_x_m", "from_y_m", "to_x_m", "to_y_m")
    for who, begins, ends, x0, y0, x1, y1 in zip(*(run["legs"][name] for name in names), strict=True):
        if who == node and begins <= t <= ends:
            part = (t - begins) / (ends - begins)
            return x0 + part * (x1 - x0), y0 + part * (y1 - y0)
    raise AssertionError(f"{node} has no leg at {t} s")


def up_at(changes: Sequence[float], t: float) -> set[tuple[int, int]]:
    """The pairs of neighbours after the changes until `t`."""
    up: set[tuple[int, int]] = set()
    for at, _, one, other, is_up in zip(*(changes[i::5] for i in range(5)), strict=True):
        if at <= t:
            (up.add if is_up else up.discard)((int(one), int(other)))
    return up


# ----------------------------------------------------------------------------------------------------------- scene


@pytest.mark.core
def test_places_are_those_of_the_legs_at_every_instant() -> None:
    of, run = scene(WALK)
    moving = [node for node in of["nodes"] if node["name"] != "post"]
    assert len(moving) == 6
    for node in moving:
        assert len(node["path"]) >= 9
        assert all(a <= b for a, b in pairwise(node["path"][::3]))
        for t in np.linspace(0, 20, 333):
            # Points are rounded to the microsecond (9 m/s: 5 µm) and the millimetre: half of it on each axis.
            assert place(node["path"], t) == pytest.approx(by_legs(run, node["name"], t), abs=6e-4)


@pytest.mark.core
def test_a_node_that_an_event_moves_stands_before_and_after_it_and_a_killed_one_is_dead_until_its_restart() -> None:
    of, _ = scene(EVENTS)
    a, b = of["nodes"]
    assert a == {"name": "a", "radio": True, "path": [0, 0, 0], "dead": [[1.0, 1.5]]}
    assert b == {"name": "b", "radio": True, "path": [0, 30, 0, 0.5, 30, 0, 0.5, 0, 90]}
    assert [place(b["path"], t) for t in (0.0, 0.499, 0.5, 2.0)] == [(30, 0), (30, 0), (0, 90), (0, 90)]
    changes = of["neighbours"]["changes"]
    assert changes[:5] == [0, 0, 0, 1, 1]
    # A frame ends at those with whom it began: 500 B at 11 Mb/s with a long preamble take less than 1 ms.
    assert 0.5 <= changes[5] < 0.501
    assert changes[6:] == [0, 0, 1, 0]
    assert animation.scene(*reversed(recorded(WALK)), "walk", "0")["nodes"][6]["dead"] == [[3.0, None]]


@pytest.mark.core
def test_neighbours_are_those_of_the_meetings_and_what_events_change_besides() -> None:
    # Where no event changes anything, both are the same list.
    of, run = scene(WALK[: WALK.index("[[event]]")])
    places = {node["name"]: i for i, node in enumerate(of["nodes"])}
    met = run["meetings"]
    rows = zip(met["t_s"], met["one"], met["other"], met["is_up"], strict=True)
    wanted = [n for t, one, other, is_up in rows for n in (round(t, 6), 0, places[one], places[other], int(is_up))]
    assert len(wanted) > 100
    assert of["neighbours"]["changes"] == pytest.approx(wanted, abs=1e-9)
    # A pair whose link is broken is none, however near: post and n2 from 5 s on.
    of, _ = scene(WALK)
    assert all((0, 2) not in up_at(of["neighbours"]["changes"], t) for t in np.arange(5.01, 20, 0.5))
    apart = [
        np.hypot(*np.subtract(place(of["nodes"][0]["path"], t), place(of["nodes"][2]["path"], t))) for t in range(6, 20)
    ]
    assert min(apart) < 40
    # All others are neighbours while they are at most 40 m apart.
    nodes = of["nodes"]
    for t in np.arange(0.25, 20, 0.5):
        up = up_at(of["neighbours"]["changes"], t)
        for one in range(7):
            for other in range(one + 1, 7):
                apart_m = np.hypot(*np.subtract(place(nodes[one]["path"], t), place(nodes[other]["path"], t)))
                if abs(apart_m - 40) > 0.1 and not ((one, other) == (0, 2) and t > 5):
                    assert ((one, other) in up) == (apart_m < 40), (t, one, other)


@pytest.mark.core
def test_bins_count_the_frames_of_the_timeline() -> None:
    of, run = scene(WALK, "all")
    columns = run["timeline"]["columns"]
    ended = columns["outcome"] != run["timeline"]["outcomes"].index("in-the-air")
    kinds = {row: {"frames": 0, "lost": 0} for row in range(len(of["kinds"]))}
    for row in of["bins"]["rows"]:
        for kind, frames, lost in zip(row[3::5], row[4::5], row[5::5], strict=True):
            kinds[kind]["frames"] += frames
            kinds[kind]["lost"] += lost
    names = np.asarray(run["timeline"]["classes"])[columns["class"]]
    gone = [
        i
        for i, name in enumerate(run["timeline"]["outcomes"])
        if name in ("noise", "collision", "half-duplex", "out-of-reach")
    ]
    is_lost = np.isin(columns["outcome"], gone)
    data, acks = names == "tcp-data", np.isin(names, ["tcp-ack", "tcp-control"])
    control = np.isin(names, ["ack", "rts", "cts"])
    assert (data | acks | control).all()
    for kind, own in ((0, data), (1, acks), (5, control)):
        assert kinds[kind] == {"frames": (own & ended).sum(), "lost": (own & ended & is_lost).sum()}
    assert kinds[0]["frames"] > 1000
    assert kinds[0]["lost"] > 0
    # The first bin with data has those that ended within it.
    first = next(row for row in of["bins"]["rows"] if 0 in row[3::5])
    ends = (columns["start_ns"] + columns["airtime_ns"])[data]
    within = (ends >= first[0] * 10_000_000) & (ends < (first[0] + 1) * 10_000_000)
    assert sum(n for kind, n in zip(first[3::5], first[4::5], strict=True) if kind == 0) == within.sum() > 0


@pytest.mark.core
def test_wider_bins_have_the_same_frames_and_are_few_enough() -> None:
    _, run = recorded(WALK)
    fine, wide = animation._bins(run["scene"]), animation._bins(run["scene"], most=500)
    counts = [sum(n for row in one["rows"] for n in row[4::5]) for one in (fine, wide)]
    assert counts[0] == counts[1] == run["scene"]["pulses"]["frames"].sum()
    assert sum(len(row) // 5 for row in wide["rows"]) <= 500 < sum(len(row) // 5 for row in fine["rows"])
    assert fine["bin_s"] == 0.01
    doublings = np.log2(wide["bin_s"] / fine["bin_s"])
    assert doublings == round(doublings) > 0
    assert [row[0] for row in wide["rows"]] == sorted({row[0] for row in wide["rows"]})


@pytest.mark.core
def test_frames_of_the_window_are_the_timelines_and_the_first_ones_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    of, run = scene(WALK, "2 s..2.1 s")
    frames, columns = of["frames"], run["timeline"]["columns"]
    assert [row[0] + 2_000_000_000 for row in frames["rows"]] == columns["start_ns"].tolist()
    assert [row[1:4] for row in frames["rows"]] == np.transpose(
        [columns[n] for n in ("airtime_ns", "from", "to")]
    ).tolist()
    assert (frames["from_s"], frames["until_s"], frames["total"]) == (2.0, 2.1, len(frames["rows"]))
    monkeypatch.setattr(animation, "FRAMES", 5)
    of, _ = scene(WALK, "2 s..2.1 s")
    assert of["frames"]["total"] == frames["total"] > 5
    assert of["frames"]["rows"] == frames["rows"][:5]
    assert of["frames"]["until_s"] == pytest.approx(2 + frames["rows"][5][0] / 1e9)


@pytest.mark.core
def test_goodput_is_the_mean_of_the_series(monkeypatch: pytest.MonkeyPatch) -> None:
    of, run = scene(WALK)
    (flow,) = of["flows"]
    assert (flow["name"], flow["from"], flow["to"]) == ("up", 1, 0)
    series = run["series"]["flow.up.goodput_bps"]["value"]  # 400 values, each of 50 ms: two make one
    assert len(series) == 400
    assert flow["every_s"] == 0.1
    assert flow["kbps"] == pytest.approx(series.reshape(-1, 2).mean(axis=1) / 1000, abs=0.51)


# --------------------------------------------------------------------------------------------------------- stories

CROWD = """
scenario = { name = "crowd", duration = "1 s" }
radio = { standard = "802.11b", data_rate = "11 Mb/s" }
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "s"
count = 3
[[flow]]
from = "s"
to = "ap"
transport = { preset = "rfc" }
"""

AGGREGATES = """
scenario = { name = "aggregates", duration = "500 ms" }
radio = { standard = "802.11n" }
channel = { errors = { model = "packet", per = 0.1 } }
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "sta"
[[flow]]
name = "down"
from = "ap"
to = "sta"
transport = { preset = "rfc" }
"""


@pytest.mark.core
def test_a_frame_is_sent_when_its_interframe_space_and_the_slots_of_its_story_are_over() -> None:
    of, _ = scene(CROWD, "500 ms..600 ms")
    rows, story = of["frames"]["rows"], of["story"]
    classes, outcomes = of["frames"]["classes"], of["frames"]["outcomes"]
    ends = sorted(row[0] + row[1] for row in rows)
    exact = stopped = 0
    for frame, cw, counts_from, slots, _, *stops in story["accesses"]:
        start = rows[frame][0]
        assert classes[rows[frame][5]] not in ("ack", "cts")
        assert start == counts_from + 20_000 * slots, "a slot of 802.11b is 20 us"
        assert cw in (31, 63, 127, 255, 511, 1023)
        assert slots <= cw
        before = [end for end in ends if end <= start]
        # Without collisions the countdown begins a DIFS, 50 us, after the last frame: all hear all.
        around = [row for row in rows if start - 5_000_000 < row[0] <= start]
        if before and all(outcomes[row[6]] == "received" for row in around):
            assert counts_from == before[-1] + 50_000
            exact += 1
        left = stops[::3]
        assert left == sorted(left, reverse=True)
        if left and before and stops[-2] == before[-1] and left[-1] > slots:
            raise AssertionError("slots are lost between the last stop and the grant")
        stopped += left[-1:] == [slots]
    assert len(story["accesses"]) > 40
    assert exact > 0.5 * len(story["accesses"])
    assert stopped > 20
    data = {i for i, row in enumerate(rows) if classes[row[5]].startswith("tcp")}
    assert len({access[0] for access in story["accesses"]} & data) > 0.97 * len(data)


@pytest.mark.core
def test_segments_that_open_and_close_a_connection_say_so_by_their_control_bits() -> None:
    of, _ = scene(CROWD + 'traffic = { model = "bulk", bytes = "3000 B" }\n', "0 s..300 ms")
    syn, fin, ack = 2, 1, 16
    for flow in range(3):
        own = [(one[2], one[3], one[12]) for one in of["story"]["msdus"] if one[1] == flow]
        assert own[:2] == [(0, 0, syn), (1, 0, syn | ack)]
        assert {is_reverse for is_reverse, _, flags in own if flags & fin} == {0, 1}, "both ends close"
        assert all(flags & ack and not flags & syn for _, _, flags in own[2:])


@pytest.mark.core
def test_msdus_are_queued_before_and_acknowledged_and_at_tcp_behind_their_frames() -> None:
    for text in (CROWD, AGGREGATES):
        of, _ = scene(text, "200 ms..300 ms")
        rows, story = of["frames"]["rows"], of["story"]
        carriers: dict[int, list[int]] = {}
        for frame, place, msdu, _, _, attempt in story["portions"]:
            carriers.setdefault(msdu, []).append(frame)
            assert place < story["facts"][frame][1]
            assert attempt >= len(carriers[msdu])
        by_frame = [sum(1 for portion in story["portions"] if portion[0] == i) for i in range(len(rows))]
        data = [row[4] != len(of["kinds"]) - 1 for row in rows]
        assert by_frame == [fact[1] if is_data else 0 for fact, is_data in zip(story["facts"], data, strict=True)]
        for msdu, (node, _, _, _, _, _, queued, head, done, delivered, attempts, tcp, _) in enumerate(story["msdus"]):
            frames = carriers[msdu]
            first, last = rows[frames[0]], rows[frames[-1]]
            assert {rows[i][2] for i in frames} == {node}
            if done is None:
                continue
            assert queued <= head <= first[0]
            assert done >= last[0] + last[1] or done >= of["frames"]["until_s"] - of["frames"]["from_s"]
            assert attempts >= len(frames)
            if tcp is not None:
                assert delivered == 1
                assert tcp >= first[0] + first[1]
        times = [one[11] for one in story["msdus"]]
        assert sum(time is not None for time in times) > 0.9 * len(times) > 20
        # Over one hop TCP has a segment when the frame with it ends, unless its receiver puts it in order first.
        at_ends = {row[0] + row[1] for row in rows}
        prompt = sum(time in at_ends for time in times if time is not None)
        assert prompt > (0.99 if text is CROWD else 0.5) * len(times) - 2
    assert max(fact[1] for fact in story["facts"]) > 4
    assert story["lost"], "errors hit single MPDUs"
    for frame, *places in story["lost"]:
        assert len(places) == story["facts"][frame][1] - story["facts"][frame][2] > 0


@pytest.mark.core
def test_an_overlap_is_the_frame_that_was_in_the_air_at_the_same_time() -> None:
    of, run = scene(CROWD, "all")
    rows, columns = of["frames"]["rows"], run["timeline"]["columns"]
    lost = of["frames"]["outcomes"].index("collision")
    found = 0
    for i, (row, fact) in enumerate(zip(rows, of["story"]["facts"], strict=True)):
        by = fact[4]
        assert (by >= 0) == (columns["overlap_from"][i] >= 0)
        if by < 0:
            continue
        other = rows[by]
        assert other[2] == columns["overlap_from"][i] != row[2]
        assert other[0] < row[0] + row[1]
        assert row[0] < other[0] + other[1]
        found += row[6] == lost
    assert found > 10


# ------------------------------------------------------------------------------------------------------------ page


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))


@pytest.mark.core
def test_the_page_fetches_nothing_and_what_can_be_used_has_a_name() -> None:
    of, _ = scene(WALK)
    page = animation.page(of)
    assert animation.page(scene(WALK)[0]) == page, "the same page again"
    assert "http" not in page
    assert "//" not in re.sub(r"^\s*//.*$|(?<= )// .*$", "", page, flags=re.MULTILINE), "no address without a scheme"
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(|src=|<link", page)
    parser = Elements()
    parser.feed(page)
    ids = [attributes["id"] for _, attributes in parser.all if "id" in attributes]
    assert len(ids) == len(set(ids))
    labelled = {attributes.get("for") for tag, attributes in parser.all if tag == "label"}
    for tag, attributes in parser.all:
        if tag == "canvas":
            assert attributes["role"] == "img"
            assert attributes["aria-label"]
        if tag in ("input", "select"):
            name = attributes["id"]
            within = re.search(rf'<label[^>]*>[^<]*<{tag} id="{name}"', page)
            assert attributes.get("aria-label") or within or name in labelled, name
        if described := attributes.get("aria-describedby"):
            assert described in ids
    # What the player looks for is there.
    asked = set(re.findall(r'(?:find|isOn|getElementById)\("([a-z]+)"\)', markup.script("player.js")))
    assert asked - set(ids) == set()


@pytest.mark.core
def test_a_name_ends_no_element_and_a_page_needs_no_frame_and_no_place() -> None:
    text = EVENTS[: EVENTS.index("[[event]]")].replace('name = "stand"', 'name = "</script><b>"')
    text = text.replace("[[flow]]", '[[flow]]\nstart = "1999 ms"')
    of, _ = scene(text.replace("position = [30, 0]", "position = [0, 0]"))
    page = animation.page(of)
    assert of["title"] == "</script><b>"
    assert page.count("</script>") == 4
    assert "<b>" not in page
    assert of["frames"] is None
    assert "No place matters" in page
    assert 'id="zoom"' not in page


@pytest.mark.core
def test_texts_and_frames_stand_out_in_light_and_dark() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    of, _ = scene(EVENTS)
    style = re.findall(r"<style>(.*?)</style>", animation.page(of), re.DOTALL)
    for mode in (0, 1):
        colours: dict[str, str] = {}
        for sheet in style:
            colours |= dict(
                re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]+)", re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)[mode])
            )
        paper = colours["--paper"]
        # 4.5 for texts and frames, 3 for lines that tell something (WCAG 2.2, 1.4.3 and 1.4.11).
        for name, colour in colours.items():
            least = 3 if name == "--air-link" else 4.5
            if name.startswith(("--air", "--flow", "--ink", "--soft", "--link")):
                assert contrast(colour, paper) >= least, (mode, name)
        assert contrast(colours["--ink"], colours["--code"]) >= 4.5, "buttons"
        assert len({name for name in colours if name.startswith("--air-")}) == len(of["kinds"]) + 2


@pytest.mark.core
def test_fifty_nodes_and_a_hundred_seconds_are_less_than_five_megabytes() -> None:
    of, run = scene(LARGE, "50 s..51 s")
    assert run["simulated_s"] == 100
    assert len(of["nodes"]) == 50
    assert run["scene"]["pulses"]["frames"].sum() > 400_000
    assert len(animation.page(of).encode()) < 5_000_000
    # Nor where more is going on than the page takes: each part is at its bound.
    rows = sum(len(row) // 5 for row in of["bins"]["rows"])
    a_row, a_frame = len(json.dumps(of["bins"])) / rows, len(json.dumps(of["frames"])) / len(of["frames"]["rows"])
    others = len(animation.page(of | {"bins": {"bin_s": 0.01, "rows": []}, "frames": None}).encode())
    assert others + animation.PULSES * a_row + animation.FRAMES * a_frame < 5_000_000


# --------------------------------------------------------------------------------------------------------- figures


def test_pairs_are_neighbours_from_a_meeting_to_the_parting_or_the_end() -> None:
    met = {
        "t_s": [0.0, 1.0, 2.0, 4.0],
        "channel": ["air"] * 4,
        "one": ["a", "b", "a", "a"],
        "other": ["b", "c", "b", "b"],
        "is_up": [True, True, False, True],
    }
    assert motion_plot.spans(met, 9.0) == {("a", "b"): [(0.0, 2.0), (4.0, 9.0)], ("b", "c"): [(1.0, 9.0)]}


# --------------------------------------------------------------------------------------------------------- command


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.mark.core
def test_the_command_writes_page_and_figures_and_moves_no_bit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "walk.toml"
    file.write_text(WALK)
    assert call("run", file, "--runs", "1", "--json", "-") == 0
    plain = json.loads(capsys.readouterr().out)
    first, again = tmp_path / "first", tmp_path / "again"
    assert call("run", file, "--animate", "--window", "2 s..2.01 s", "--out", first, "--json", "-") == 0
    out, err = capsys.readouterr()
    assert err == ""
    animated = json.loads(out)
    for result in (plain, animated):
        del result["wall_s"], result["sim_s"]
    assert plain == animated
    of = json.loads(re.findall(r'id="scene">(.*?)</script>', (first / "animation.html").read_text())[0])
    assert (of["title"], of["seed"], of["frames"]["from_s"]) == ("walk", 1, 2.0)
    with (first / "legs.csv").open() as legs:
        last = [row for row in csv.DictReader(legs) if row["node"] == "n3"][-1]
    assert of["nodes"][3]["path"][-2:] == pytest.approx([float(last["to_x_m"]), float(last["to_y_m"])], abs=6e-4)
    page = (first / "index.html").read_text()
    assert '<a href="animation.html">' in page
    assert "--animate --window" in page
    # With --series alone there are the same figures, and no animation; of standing nodes there are none of them.
    assert call("run", file, "--series", "--out", again) == 0
    for name in ("paths.svg", "paths.png", "neighbours.svg", "neighbours.png"):
        assert (first / name).stat().st_size > 500
        assert (first / name).read_bytes() == (again / name).read_bytes(), name
    assert not (again / "animation.html").exists()
    file.write_text(EVENTS)
    assert call("run", file, "--animate", "--out", again, "--force") == 0
    assert (again / "animation.html").exists()
    assert not (again / "paths.svg").exists()


@pytest.mark.core
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--animate",), "--animate: writes animation.html into --out; add --out DIR"),
        (
            ("--window", "all", "--out", "there"),
            "--window: is of the timeline, which --series writes into --out; add --series",
        ),
        (
            ("--animate", "--window", "9 s..99 s", "--out", "there"),
            "--window: 99 s is after the end of the scenario (20 s)",
        ),
    ],
)
def test_what_is_missing_is_told_and_nothing_written(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("walk.toml").write_text(WALK)
    assert call("run", "walk.toml", *arguments) == 2
    assert capsys.readouterr().err == f"interlayer: {said}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["walk.toml"]


@pytest.mark.core
def test_a_network_of_wires_is_played_with_nothing_in_the_air(tmp_path: Path) -> None:
    file = tmp_path / "wires.toml"
    file.write_text(
        '[scenario]\nduration = "1 s"\n[[node]]\nname = "a"\n[[node]]\nname = "b"\n'
        '[[link]]\nbetween = ["a", "b"]\nrate = "10 Mb/s"\n[[flow]]\nfrom = "a"\nto = "b"\ntransport.preset = "rfc"\n'
    )
    assert call("run", file, "--animate", "--out", tmp_path / "out") == 0
    assert "Not drawn, since they have no radio: a, b." in (tmp_path / "out/animation.html").read_text()
