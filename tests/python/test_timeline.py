"""The timeline of the air: trace events and figure against the run's own tables; windows; files of the command."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import interlayer
from interlayer import cli
from interlayer.errors import InputError
from interlayer.measure import timeline
from interlayer.show import timeline_plot

if TYPE_CHECKING:
    from fake_core import Core

STAR = """
[scenario]
name = "star"
duration = "1 s"
[radio]
standard = "802.11g"
rts_threshold = "1000 B"
[channel]
errors = { model = "packet", per = 0.1, control_per = 0.05 }
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "sta"
count = 3
[[flow]]
from = "sta"
to = "ap"
transport = { protocol = "tcp", preset = "rfc", datagram = "900 B", min_rto = "200 ms" }
"""

LEVELS = """
[scenario]
name = "levels"
duration = "1 s"
[radio]
standard = "802.11a"
access = "edca"
capture = true
[channel]
propagation = { model = "log-distance", exponent = 3.5 }
fading = { model = "rayleigh", coherence = "20 ms" }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
position = [0, 0]
[[node]]
name = "near"
position = [3, 0]
data_rate = "24 Mb/s"
[[node]]
name = "left"
position = [-40, 0]
data_rate = "6 Mb/s"
[[node]]
name = "right"
position = [40, 0]
data_rate = "6 Mb/s"
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
[[flow]]
from = "near"
to = "server"
dscp = 48
traffic = { model = "poisson", rate = "2 Mb/s" }
transport = { protocol = "udp", datagram = "500 B" }
[[flow]]
from = "left"
to = "server"
transport = { protocol = "tcp", preset = "rfc", min_rto = "200 ms" }
[[flow]]
from = "right"
to = "ap"
traffic = { model = "saturated" }
transport = { protocol = "udp", datagram = "800 B" }
"""


def trace_of(text: str, window: str = "all") -> interlayer.Result:
    return interlayer.run(interlayer.parse(text), timeline=window)


def written(result: interlayer.Result, path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The trace as a viewer reads it, and its complete events."""
    result.write_trace(path)
    trace = json.loads(path.read_text(encoding="utf-8"))
    return trace, [event for event in trace["traceEvents"] if event["ph"] == "X"]


# ----------------------------------------------------------------------------------------------------------- trace


@pytest.mark.core
@pytest.mark.parametrize("text", [STAR, LEVELS])
def test_the_trace_has_every_frame_once_in_order_and_counts_what_the_tables_count(text: str, tmp_path: Path) -> None:
    result = trace_of(text)
    trace, events = written(result, tmp_path / "t.json")
    assert trace["displayTimeUnit"] == "ns"
    assert {event["ph"] for event in trace["traceEvents"]} == {"X", "M"}
    assert len(events) == len(result.timeline) > 500
    assert len({(event["pid"], event["ts"]) for event in events}) == len(events)
    starts = [event["ts"] for event in events]
    assert starts == sorted(starts)
    for row in result.frames.iter_rows(named=True):
        of_class = [event for event in events if event["args"]["class"] == row["class"]]
        outcomes = Counter(event["args"]["outcome"] for event in of_class)
        assert row["sent"] == len(of_class)
        assert row["received"] == outcomes["received"] + outcomes["captured"]
        assert row["captured"] == outcomes["captured"]
        assert row["lost_to_noise"] == outcomes["noise"]
        assert row["lost_to_collision"] == outcomes["collision"]
        assert row["lost_to_half_duplex"] == outcomes["half-duplex"]
        assert sum(event["dur"] for event in of_class) == pytest.approx(row["airtime_s"] * 1e6, rel=1e-12)
    assert len(events) == result.frames["sent"].sum()
    summary = result.summary.row(0, named=True)
    causes = Counter(event["args"].get("cause") for event in events)
    lost = {
        name.removeprefix("lost_to_").removeprefix("lost_").replace("_", "-"): n
        for name, n in summary.items()
        if name.startswith("lost_")
    }
    assert len(lost) == 8
    assert {name: causes[name] for name in lost} == lost
    assert sum(lost.values()) > 100


@pytest.mark.core
def test_processes_are_radios_rows_are_categories_and_durations_are_airtimes_by_hand(tmp_path: Path) -> None:
    trace, events = written(trace_of(LEVELS), tmp_path / "t.json")
    meta = [event for event in trace["traceEvents"] if event["ph"] == "M"]
    names = {event["pid"]: event["args"]["name"] for event in meta if event["name"] == "process_name"}
    assert names == {2: "ap", 3: "near", 4: "left", 5: "right"}, "the server has no radio"
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in meta if e["name"] == "thread_name"}
    assert {row for node, row in rows if node == 3} == {1, 5}
    assert (rows[3, 1], rows[3, 5]) == ("frames", "vo frames")
    for event in events:
        assert names[event["pid"]] == event["args"]["from"]
        assert (event["pid"], event["tid"]) in rows
        assert rows[event["pid"], event["tid"]] == (f"{event['args'].get('category', '')} frames").strip()
    # Clause 17: 20 us of preamble and SIGNAL, then symbols of 4 us for 16 service bits, the MPDU and 6 tail bits.
    voice = next(e for e in events if e["args"]["from"] == "near" and e["args"]["class"] == "udp")
    assert voice["args"]["mpdu_bytes"] == 26 + 8 + 500 + 4
    assert voice["dur"] == 20 + 4 * -(-(16 + 8 * 538 + 6) // 96)
    assert 1000 * voice["ts"] == voice["args"]["start_ns"]
    answer = next(e for e in events if e["ts"] == voice["ts"] + voice["dur"] + 16)
    assert (answer["args"]["from"], answer["args"]["class"], answer["dur"]) == ("ap", "ack", 28)
    # What is lost says to what, what was captured says so.
    lost = [e for e in events if "cause" in e["args"]]
    assert all(e["name"] == f"{e['args']['class']} lost: {e['args']['cause']}" for e in lost)
    captured = [e for e in events if e["args"]["outcome"] == "captured"]
    assert captured
    assert all(e["name"].endswith(" captured") and e["args"]["overlap_from"] for e in captured)


@pytest.mark.core
def test_a_station_has_one_frame_in_the_air_and_what_overlaps_is_there(tmp_path: Path) -> None:
    for text in (STAR, LEVELS):
        _, events = written(trace_of(text), tmp_path / "t.json")
        busy: dict[int, float] = {}
        for event in events:
            assert event["ts"] >= busy.get(event["pid"], 0.0) - 1e-6
            busy[event["pid"]] = event["ts"] + event["dur"]
        spoilt = [e["args"] for e in events if e["args"]["outcome"] == "collision"]
        for args in spoilt:
            by = [
                e
                for e in events
                if e["args"]["from"] == args["overlap_from"]
                and e["args"]["start_ns"] <= args["overlap_ns"] < e["args"]["start_ns"] + e["args"]["airtime_ns"]
            ]
            assert [e["args"]["class"] for e in by] == [args["overlap_class"]]
        assert spoilt


# --------------------------------------------------------------------------------------------------------- windows


class Thirty:
    duration_s, warmup_s = 30.0, 5.0


def test_windows() -> None:
    def ns(text: str | None) -> tuple[int, int]:
        return timeline.window(text, Thirty())  # type: ignore[arg-type]

    assert ns(None) == (5_000_000_000, 5_010_000_000)
    assert ns("all") == (0, 30_000_000_000)
    assert ns("2.0s..2.05s") == ns("2 s .. 2050 ms") == (2_000_000_000, 2_050_000_000)
    assert ns("0s..100us") == (0, 100_000)
    assert ns("29.999 s..30 s") == (29_999_000_000, 30_000_000_000)
    for wrong in ("", "..", "1s", "1s..", "1s-2s", "1..2", "1s..2 B", "x..y", "2s..2s", "1s..31s", "1s..2s..3s"):
        with pytest.raises(InputError, match=r"^window: "):
            ns(wrong)


@pytest.mark.core
def test_a_window_is_cut_from_the_whole_and_changes_no_number() -> None:
    whole, part = trace_of(STAR), trace_of(STAR, "500ms..510ms")
    within = (whole.timeline["start_ns"] < 510_000_000) & (
        whole.timeline["start_ns"] + whole.timeline["airtime_ns"] > 500_000_000
    )
    assert part.timeline.rows() == whole.timeline.filter(within).rows()
    assert 10 < len(part.timeline) < 200
    without = interlayer.run(interlayer.parse(STAR))
    for table in ("flows", "nodes", "queues", "frames", "summary"):
        found = [result._frame(table) if table != "summary" else result.summary for result in (without, part, whole)]
        assert found[0].equals(found[1]), table
        assert found[0].equals(found[2]), table
    assert len(without.timeline) == 0
    with pytest.raises(InputError, match="no timeline was kept"):
        without.write_trace("nowhere.json")


@pytest.mark.core
def test_the_frame_has_names_and_nulls() -> None:
    data = trace_of(LEVELS, "100ms..200ms").timeline
    assert data.columns[:9] == [
        *("seed", "start_ns", "airtime_ns", "from", "to", "class", "outcome", "cause", "overlap_from")
    ]
    acks = data.filter(data["class"] == "ack")
    assert acks["seq"].null_count() == acks["flow"].null_count() == len(acks) > 10
    sent = data.filter(data["class"] == "udp")
    assert sent["flow"].is_in(["flow0", "flow2"]).all()
    assert sent["tcp_seq"].null_count() == len(sent)
    power = data["power_dbm"].to_numpy()
    assert np.isfinite(power).all()
    assert (power < 0).all()


# ---------------------------------------------------------------------------------------------------------- figure


@pytest.mark.core
def test_the_figure_has_a_bar_a_frame_hatched_retries_and_a_mark_on_every_loss() -> None:
    result = trace_of(STAR, "500ms..520ms")
    kept, data = result.runs[0]["timeline"], result.timeline
    assert kept
    figure = timeline_plot.figure(kept, "star", "seed 1")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ap", "sta1", "sta2", "sta3"]
    bars = [patch for patch in axes.patches if patch.get_fill()]
    assert len(bars) == len(data)
    for bar, row in zip(bars, data.iter_rows(named=True), strict=True):
        assert bar.get_x() == pytest.approx((row["start_ns"] - 500_000_000) / 1e6)
        assert bar.get_width() == pytest.approx(row["airtime_ns"] / 1e6)
        assert ["ap", "sta1", "sta2", "sta3"][round(bar.get_y() + bar.get_height() / 2)] == row["from"]
        assert bool(bar.get_hatch()) == row["is_retry"]
    marks = Counter(line.get_marker() for line in axes.lines)
    outcomes = Counter(data["outcome"].to_list())
    assert (marks["X"], marks["v"], marks["s"]) == (
        outcomes["collision"],
        outcomes["noise"],
        outcomes["half-duplex"],
    )
    assert outcomes["noise"] > 0
    legend = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"tcp-data", "MAC ack", "retry", "lost to noise"} <= legend
    assert "lost: its receiver was transmitting" in legend or not outcomes["half-duplex"]


@pytest.mark.core
def test_a_long_window_is_cut_and_says_so() -> None:
    kept = trace_of(STAR).runs[0]["timeline"]
    assert kept
    view = timeline_plot.shown(kept, 100)
    assert (view.is_cut, view.data.height) == (True, 100)
    figure = timeline_plot.figure(kept, "star", "seed 1", 100)
    axes = figure.axes[0]
    assert len([patch for patch in axes.patches if patch.get_fill()]) == 100
    assert f"it shows the first 100 of {len(kept['columns']['from'])} transmissions" in axes.get_title(loc="right")
    assert axes.get_xlim()[1] * 1e6 == pytest.approx(kept["columns"]["start_ns"][100])


def aggregate() -> Any:
    """A timeline that begins with a PPDU of four MPDUs, two of which were lost, and its answer."""
    import fake_core

    class Two:
        nodes, flows = ("a", "b"), ("up",)

    kept = fake_core.timeline(Two(), (0, 5_000_000))  # type: ignore[arg-type]
    kept["columns"]["mpdus"][0], kept["columns"]["mpdus_received"][0], kept["lost_mpdus"][0] = 4, 2, "1 2"
    return kept


def test_an_a_mpdu_has_cells_of_which_those_lost_are_marked() -> None:
    kept = aggregate()
    data = timeline.frame([{"seed": 1, "timeline": kept}])  # type: ignore[typeddict-item]
    assert data["lost_mpdus"].to_list()[:3] == ["1 2", None, None]
    assert (data["mpdus"].to_list()[:2], data["mpdus_received"].to_list()[:2]) == ([4, 1], [2, 1])
    figure = timeline_plot.figure(kept, "two", "seed 1")
    axes = figure.axes[0]
    bar, *marked = (patch for patch in axes.patches if patch.get_x() < 0.3)
    # The second and third of four cells in 0.3 ms.
    assert [patch.get_x() for patch in marked] == pytest.approx([0.075, 0.15])
    assert [patch.get_width() for patch in marked] == pytest.approx([0.075] * 2)
    assert all(patch.get_y() == pytest.approx(bar.get_y() + bar.get_height() / 2) for patch in marked)
    inner = [path.vertices[0][0] for lines in axes.collections for path in lines.get_paths()]
    assert inner == pytest.approx([0.075, 0.15, 0.225])
    assert "MPDU lost" in {text.get_text() for text in figure.legends[0].get_texts()}
    # In 500 ms no cell would be wide enough.
    kept["until_s"] = 0.5
    wide = timeline_plot.figure(kept, "two", "seed 1")
    assert not wide.axes[0].collections
    assert "MPDU lost" not in {text.get_text() for text in wide.legends[0].get_texts()}


def test_the_trace_says_how_many_mpdus_of_an_a_mpdu_were_lost(tmp_path: Path) -> None:
    timeline.write_trace(aggregate(), tmp_path / "t.json", {})
    events = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert names[:2] == ["tcp-data 2 of 4 MPDUs lost", "ack"]


# --------------------------------------------------------------------------------------------------------- command


@pytest.fixture
def star(tmp_path: Path) -> Path:
    path = tmp_path / "star.toml"
    path.write_text(STAR.replace("count = 3", "count = 1"))  # fewer series to draw
    return path


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main([str(a) for a in arguments])
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.mark.core
def test_the_command_writes_the_timeline_of_the_window_and_the_same_bytes_again(
    star: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"timeline.{kind}" for kind in ("png", "svg", "csv", "parquet", "trace.json")]
    first, again, bare = (star.parent / name for name in ("first", "again", "bare"))
    for folder in (first, again):
        assert call("run", star, "--series", "--window", "200ms..210ms", "--out", folder, "--json", "-") == 0
        out, err = capsys.readouterr()
        assert err == ""
    assert call("run", star, "--runs", "1", "--json", "-") == 0
    plain = json.loads(capsys.readouterr().out)
    recorded = json.loads(out)
    for result in (plain, recorded):
        del result["wall_s"], result["sim_s"]
    assert plain == recorded, "no result bit changes with --series and --window"
    for name in names:
        assert (first / name).stat().st_size > 500
        assert (first / name).read_bytes() == (again / name).read_bytes(), name
    trace = json.loads((first / "timeline.trace.json").read_text())
    assert trace["otherData"] == {
        "scenario": "star",
        "seed": 1,
        "version": plain["version"],
        "from_s": 0.2,
        "until_s": 0.21,
        "missed": 0,
    }
    page = (first / "index.html").read_text()
    assert "<h2>Timeline of the air</h2>" in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids), "two figures on a page share no id"
    # By default: 10 ms after warm-up; and without --series nothing of it.
    assert call("run", star, "--out", bare) == 0
    assert not [path for path in bare.iterdir() if path.name.startswith("timeline")]
    assert call("run", star, "--series", "--out", bare, "--set", "scenario.warmup=300ms") == 0
    about = json.loads((bare / "timeline.trace.json").read_text())["otherData"]
    assert (about["from_s"], about["until_s"]) == (0.3, 0.31)


@pytest.mark.core
def test_the_command_says_what_the_figure_leaves_out(star: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = star.parent / "out"
    assert call("run", star, "--series", "--window", "all", "--out", folder) == 0
    trace = json.loads((folder / "timeline.trace.json").read_text())
    frames = sum(event["ph"] == "X" for event in trace["traceEvents"])
    err = capsys.readouterr().err
    assert f"it shows the first 400 of {frames} transmissions; timeline.trace.json and .csv have all\n" in err
    assert err.startswith("interlayer: timeline: the figure ends at ")
    assert err.count("\n") == 1
    # Before the first flow starts nothing is in the air: an empty figure, and a line.
    late = ("--set", "flow.*.start=500ms", "--window", "100ms..200ms")
    assert call("run", star, "--series", *late, "--out", folder) == 0
    assert capsys.readouterr().err == "interlayer: timeline: nothing was in the air from 0.1 s to 0.2 s\n"


@pytest.mark.core
def test_a_network_of_wires_has_no_timeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wires.toml"
    file.write_text(
        '[scenario]\nduration = "1 s"\n[[node]]\nname = "a"\n[[node]]\nname = "b"\n'
        '[[link]]\nbetween = ["a", "b"]\nrate = "10 Mb/s"\n[[flow]]\nfrom = "a"\nto = "b"\ntransport.preset = "rfc"\n'
    )
    assert call("run", file, "--series", "--out", tmp_path / "out") == 0
    assert capsys.readouterr().err == ""
    assert (tmp_path / "out/series.svg").exists()
    assert not list((tmp_path / "out").glob("timeline*"))


def test_the_test_double_is_drawn_too(core: Core, tmp_path: Path) -> None:
    """And keeps the double honest: its columns are those of the stub's list."""
    stub = Path(interlayer.__file__).with_name("_core.pyi").read_text()
    said = stub[stub.index("    # start_ns,") : stub.index(" Names are indices")]
    names = {word.strip("#,. \n") for word in said.replace("(the Duration field)", "").split()} - {"", "(at", "the"}
    from fake_core import Scenario
    from fake_core import timeline as made

    scenario = Scenario.parse(
        '[[node]]\nname = "a"\n[[node]]\nname = "b"\n[[flow]]\nfrom = "a"\nto = "b"\ntransport.preset = "rfc"'
    )
    kept = made(scenario, (0, 10_000_000))
    assert {name for name in names if name != "addressee)"} == set(kept["columns"])
    figure = timeline_plot.figure(kept, "double", "")  # type: ignore[arg-type]
    assert len([patch for patch in figure.axes[0].patches if patch.get_fill()]) == 18
