"""`interlayer explore` without a browser: the server by HTTP, its answers beside `interlayer compare`.

test_explore_controls.py has its controls, test_explore_stations.py the stations, test_explore_requests.py who may ask
and what, test_explore_page.py the page in a browser.
"""

from __future__ import annotations

import http.client
import io
import json
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import captured
import interlayer
from explore_client import CELL, RTS, Client, events, served
from interlayer import api, machine, simulator
from interlayer.errors import InputError
from interlayer.explore import capture_size, captures, server, work
from interlayer.explore.cells import Cell, Question, Source
from interlayer.study.runs import Standing
from test_command_line import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[2]


# ----------------------------------------------------------------------------------------------------- what is answered


def without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_clocks(v) for k, v in value.items() if k not in ("wall_s", "sim_s", "set")}
    return [without_clocks(one) for one in value] if isinstance(value, list) else value


def test_numbers_are_those_of_the_command_and_the_lines_of_python_that_are_exported(
    client: Client, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [["channel.errors.per", "0.1"], ["flow.*.transport.congestion", "veno"], ["scheme", "lle-tcp"]]
    question = {"changes": changes, "other": [["scheme", "none"]], "seed": 7, "runs": 4}
    told = client.compare(**question)
    results = [e["result"] for e in told if e["event"] == "result"]
    assert [r["runs"] for r in results][-1] == 4
    assert [e["event"] for e in told][-3:] == ["recorded", "recorded", "done"]
    number = told[0]["number"]
    mine = client.get(f"/picture/{number}/comparison.json").told
    exports = client.describe(**question)["exports"]
    (tmp_path / "cell.toml").write_text(exports["toml"])
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(exports["command"])
    status, out, err = call(*words, "--json", "-")
    assert (program, status, err) == ("interlayer", 0, "")
    assert without_clocks(json.loads(out)) == without_clocks(mine)
    said: dict[str, Any] = {}
    exec(exports["python"], said)
    goodput = mine["arms"][1]["compared"]["goodput_bps"]
    assert said["found"].estimate(mine["arms"][1]["label"], "goodput_bps").as_json() == goodput
    assert len(exports["python"].splitlines()) <= 5
    # What the page shows is that, in the words of the terminal.
    shown = next(m for m in results[-1]["metrics"] if m["metric"] == "goodput_bps")
    assert shown["arms"][1][0] == pytest.approx(goodput["mean"] / 1e6, rel=1e-15)
    assert results[-1]["sentence"].removesuffix(".") in " ".join(capture(call, *words).split())


def test_set_and_an_arm_append_flows_in_their_order(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "cell.toml").write_text(CELL)
    (one, two), cell = (
        (f'flow.+={{ from = "{a}", to = "{b}" }}' for a, b in (("sta1", "sta2"), ("sta2", "sta1"))),
        "cell.toml",
    )
    words = ["--runs", "2", "--json", "-", "--set", one]
    status, out, err = call("compare", tmp_path / cell, *words, "--arm", f"more={two};{one};flow[4].start=300 ms")
    assert (status, err) == (0, "")
    assert [len(arm["flows"]) for arm in json.loads(out)["arms"]] == [3, 5]
    status, out, _ = call("run", tmp_path / cell, *words, "--set", two)
    assert (status, len(json.loads(out)["flows"])) == (0, 4)
    status, out, err = call("run", tmp_path / cell, "--set", "flwo.+={}")
    line = f'interlayer: {tmp_path / cell}: flwo.+: "flwo" is no array of tables; did you mean "flow"?\n'
    assert (status, out, err) == (2, "", line)


def test_another_flow_in_the_cell_and_in_the_other_arm_is_in_the_exports(
    client: Client, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [["node.+", '{ name = "sta9" }'], ["flow.+", '{ name = "third", from = "sta9", to = "receiver" }']]
    changes += [["flow.third.transport.congestion", "veno"]]
    question = {"changes": changes, "other": [["flow.+", '{ from = "receiver", to = "sta9" }']], "runs": 3}
    mine = [e["result"] for e in client.compare(**question) if e["event"] == "result"][-1]
    assert mine["labels"] == ["file", "another flow"]
    assert [len(flows) for flows in mine["flows"]] == [3, 4]
    exports = client.describe(**question)["exports"]
    (tmp_path / "cell.toml").write_text(exports["toml"])
    monkeypatch.chdir(tmp_path)
    found = json.loads(call(*shlex.split(exports["command"])[1:], "--json", "-")[1])
    of_command = [[flow["goodput_bps"]["mean"] for flow in arm["flows"]] for arm in found["arms"]]
    assert of_command == [[flow["goodput_bps"] for flow in arm] for arm in mine["flows"]]
    said: dict[str, Any] = {}
    exec(exports["python"], said)
    goodput = [arm["compared"]["goodput_bps"]["mean"] for arm in found["arms"]]
    assert [said["found"].estimate(label).mean for label in mine["labels"]] == goodput


def capture(call: Callable[..., Any], *words: str) -> str:
    return str(call(*words)[1])


@pytest.mark.parametrize(
    ("source", "metrics"),
    [
        ("example:single-hop", ()),
        ("example:home-ax", ("flow.call.latency_p95", "flow.game.latency_p95")),
        ("example:lecture-hall", ("flow.call.latency_p95",)),
        ("example:rrul", ("mean(flow.probe-*.latency_p95)",)),
    ],
)
def test_calls_games_and_probes_have_their_latency_compared(source: str, metrics: tuple[str, ...]) -> None:
    assert Cell.of(Question(source, (), (), 1, 1), Source()).metrics == metrics


def test_the_latency_of_a_call_is_that_of_the_command_and_of_python(
    client: Client, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [["scenario.duration", "3 s"], ["scenario.warmup", "1 s"]]
    question = {"source": "example:lecture-hall", "changes": changes, "other": RTS, "runs": 2}
    result = [e["result"] for e in client.compare(**question) if e["event"] == "result"][-1]
    (shown,) = (m for m in result["metrics"] if m["name"] == "flow.call.latency_p95")
    begin, end = shown["meaning"].split(" to delivery in order, ")
    assert (shown["unit"], begin) == ("ms", "flow.call.latency_p95: from first sending")
    assert end.endswith("; its 95th percentile")
    exports = client.describe(**question)["exports"]
    (tmp_path / "cell.toml").write_text(exports["toml"])
    monkeypatch.chdir(tmp_path)
    found = json.loads(call(*shlex.split(exports["command"])[1:], "--json", "-")[1])
    means = [arm["compared"]["flow.call.latency_p95_s"]["mean"] for arm in found["arms"]]
    said: dict[str, Any] = {}
    exec(exports["python"], said)
    assert [said["found"].estimate(arm["label"], "flow.call.latency_p95").mean for arm in found["arms"]] == means
    assert [arm[0] for arm in shown["arms"]] == pytest.approx([1000 * mean for mean in means], rel=1e-12)


@pytest.mark.parametrize(
    ("path", "value", "label"),
    [
        ("radio.rts_threshold", "0 B", "rts_threshold 0 B"),
        ("radio.rts_threshold", '"0 B"', "rts_threshold 0 B"),
        ("radio.standard", '"802.11"', "standard 802.11"),
        ("flow.*.transport.congestion", '{ name = "veno", beta = 3 }', "congestion veno"),
        ("node.sta1.position", "[3, 4]", "position [3 4]"),
        ("scheme", "lle-tcp:sack=keep", "lle-tcp:sack keep"),
        ("scheme", "none", "none"),
        ("scheme", "file", "changed"),
        ("flow.+", '{ from = "sta1", to = "receiver" }', "another flow"),
        ("node.+", '{ name = "sta9" }', "another station"),
        ("link.+", '{ between = ["sta1", "sta2"] }', "another link"),
        ("radio.queue", '{ x = "' + "y" * 80 + '" }', "changed"),
    ],
)
def test_the_other_arm_is_called_what_it_changes(path: str, value: str, label: str) -> None:
    cell = Cell.of(Question("file", (), ((path, value),), 1, 1), Source(api.Scenario(CELL)))
    assert cell.label == label
    assert cell.arms() == {label: f"{path}={value}"}


def test_intervals_come_before_the_last_run_and_narrow_to_those_of_all(client: Client) -> None:
    # Runs long enough that a busy machine tells of them one by one; two may still be told of at once.
    events = client.compare(changes=[["scenario.duration", "20 s"]], other=RTS, runs=6)
    results = [e["result"] for e in events if e["event"] == "result"]
    runs = [r["runs"] for r in results]
    assert runs[0] < runs[-1] == 6
    assert runs == sorted(set(runs))
    difference = [next(m for m in r["metrics"] if m["metric"] == "goodput_bps")["difference"] for r in results]
    assert (difference[0][1:] == [None, None]) is (runs[0] == 1), "one run has no interval"
    whole = interlayer.compare(
        interlayer.parse(CELL).set("scenario.duration", "20 s"), arms={"rts": "radio.rts_threshold=0 B"}, runs=6
    )
    estimate = whole.difference("rts").estimate.scaled(1e-6)
    mean, low, high = difference[-1]
    assert mean == pytest.approx(estimate.mean, rel=1e-12)
    assert (high - low) / 2 == pytest.approx(estimate.half_width, rel=1e-9)


def test_the_recorded_run_is_the_first_of_those_compared(client: Client) -> None:
    recorded = [e for e in client.compare(other=RTS, runs=2, seed=3) if e["event"] == "recorded"]
    assert [e["arm"] for e in recorded] == [0, 1]
    names = [q["name"] for q in recorded[0]["series"]]
    assert {"cwnd", "srtt"} <= set(names)
    line = next(q for q in recorded[0]["series"] if q["name"] == "cwnd")["lines"][0]
    run = interlayer.run(interlayer.parse(CELL), seed=3, series=True)
    (core,) = (c for p, c in run.runs[0]["series"].items() if p == f"flow.{line['entry']}.cwnd_bytes")
    assert line["values"] == pytest.approx((core["value"] / 1000).tolist(), rel=1e-5)


def test_the_air_is_the_page_of_animate(client: Client, call: Callable[..., Any], tmp_path: Path) -> None:
    number = client.compare(other=RTS, runs=1, seed=2)[0]["number"]
    status, page, _ = client.get(f"/air/{number}/0")
    (tmp_path / "cell.toml").write_text(CELL)
    assert call("run", tmp_path / "cell.toml", "--animate", "--seed", "2", "--out", tmp_path / "out")[0] == 0
    pages = [page.decode(), (tmp_path / "out" / "animation.html").read_text("utf-8")]
    scenes = [json.loads(re.search(r'id="scene">(.*?)</script>', text, re.DOTALL)[1]) for text in pages]  # type: ignore[index]
    assert status == 200
    assert scenes[0] == scenes[1]
    scripts = [re.findall(r"<script>(.*?)</script>", text, re.DOTALL) for text in pages]
    assert scripts[0] == scripts[1]


def test_pictures_and_data_are_had_in_each_format(client: Client) -> None:
    number = client.compare(other=RTS, runs=2)[0]["number"]
    for what, begins in (
        ("comparison.svg", b"<?xml"),
        ("comparison.png", b"\x89PNG"),
        ("comparison.csv", b"arm,seed,"),
        ("series-0.svg", b"<?xml"),
        ("series-1.png", b"\x89PNG"),
        ("series-1.csv", b"seed,"),
        ("air-1.html", b"<!doctype html>"),
    ):
        status, content, _ = client.get(f"/picture/{number}/{what}")
        assert (status, content[: len(begins)]) == (200, begins), what
    assert client.get(f"/picture/{number + 1}/comparison.svg").status == 410


def unpacked(content: bytes) -> dict[str, bytes]:
    """The files of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def scene_of(page: bytes) -> dict[str, Any]:
    """What a page that plays has to draw."""
    found = re.search(r'id="scene">(.*?)</script>', page.decode(), re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


@pytest.mark.parametrize("arm", [0, 1])
def test_captures_are_those_of_the_command_and_have_the_frames_of_the_picture(
    client: Client, call: Callable[..., Any], tmp_path: Path, arm: int
) -> None:
    number = client.compare(other=RTS, runs=1, seed=2)[0]["number"]
    status, content, headers = client.get(f"/picture/{number}/captures-{arm}.zip")
    assert (status, headers["content-type"]) == (200, "application/zip")
    (tmp_path / "cell.toml").write_text(CELL)
    words = ["run", tmp_path / "cell.toml", "--pcap", tmp_path / "mine", "--seed", "2"]
    assert call(*words, *(["--set", "radio.rts_threshold=0 B"] if arm else []))[0] == 0
    files = unpacked(content)
    assert files == {file.name: file.read_bytes() for file in (tmp_path / "mine").glob("*.pcapng")}
    assert client.get(f"/picture/{number}/captures-{arm}.zip").content == content, "the same bytes again"
    # What each node sent: of frames without a transmitter's address those to another.
    of = scene_of(client.get(f"/air/{number}/{arm}").content)
    names = [node["name"] for node in of["nodes"]]
    own = {name: bytes.fromhex("0200") + i.to_bytes(4, "big") for i, name in enumerate(names)}
    sent = []
    for name, file in ((name.removesuffix("-2.pcapng"), file) for name, file in files.items()):
        for one in captured.frames(file):
            if one.transmitter == own[name] or (one.transmitter is None and one.receiver != own[name]):
                to = next(i for i, address in enumerate(own.values()) if address == one.receiver)
                sent.append((one.start_us, names.index(name), to, one.kind, one.octets, one.is_retry))
    begin_us = round(of["frames"]["from_s"] * 1e6)
    data = ("tcp-data", "tcp-ack", "tcp-control")
    told = []
    for (start, _, who, to, _, kind, _, retry), fact in zip(of["frames"]["rows"], of["story"]["facts"], strict=True):
        name = of["frames"]["classes"][kind]
        told.append((begin_us + start // 1000, who, to, "data" if name in data else name, fact[0], bool(retry)))
    assert len(told) > 10
    first, last = told[0][0], told[-1][0]
    assert sorted(one for one in sent if first <= one[0] <= last) == sorted(told)


@pytest.mark.parametrize("name", ["single-hop", "coffee-shop", "lecture-hall", "home-ax"])
def test_the_size_of_captures_is_told_from_the_recorded_run(name: str, tmp_path: Path) -> None:
    """It is a lower bound, and what it leaves out is no larger than itself: headers, ACKs, repetitions."""
    text = api.example(name).set("scenario.duration", "1.2 s").set("scenario.warmup", "1 s").text
    scenario = simulator.parse(text)
    run = work.one_run(scenario, 1, lambda reached: None, scene=True, series=True)
    work.one_run(scenario, 1, lambda reached: None, pcap_dir=tmp_path)
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert 0.5 * size < capture_size.least(run) < size


def test_captures_that_would_be_too_large_are_refused_before_they_are_asked_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recorded() -> list[dict[str, Any]]:
        return [e for e in client.compare(other=RTS, runs=1) if e["event"] == "recorded"]

    assert [e["no_captures"] for e in recorded()] == ["", ""]
    monkeypatch.setattr(capture_size, "MOST_BYTES", 100_000)
    told = recorded()
    line = r"captures would take some [\d.]+ [kM]B: the page gives 100 kB; take a shorter scenario.duration, or `inter"
    assert re.match(line, told[0]["no_captures"])
    monkeypatch.setattr(captures, "_write", None)  # nothing is made
    status, content, _ = client.get(f"/picture/{told[0]['number']}/captures-0.zip")
    assert (status, json.loads(content)["mistakes"][0]["line"]) == (422, told[0]["no_captures"])


def test_captures_that_are_too_large_or_wanted_no_more_are_given_up(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    number = client.compare(changes=[["scenario.duration", "40 s"]], other=RTS, runs=1)[0]["number"]
    monkeypatch.setattr(capture_size, "MOST_BYTES", 100_000)
    monkeypatch.setattr(capture_size, "least", lambda run: 0)  # what was told before was too small
    status, content, _ = client.get(f"/picture/{number}/captures-0.zip")
    line = json.loads(content)["mistakes"][0]["line"]
    assert status == 422
    assert "the page gives 100 kB; take a shorter scenario.duration, or `interlayer run --pcap`" in line
    assert client.get(f"/picture/{number + 1}/captures-0.zip").status == 410
    assert client.get(f"/picture/{number}/captures-2.zip").status == 404
    with captures._one:
        assert client.get(f"/picture/{number}/captures-0.zip").status == 503

    def gone() -> None:
        raise InputError("another question is asked", "number")

    answer = client.of.explorer.desk.answer(number)
    with pytest.raises(InputError, match="another question"):
        captures.archive(answer, 0, gone)
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


# ----------------------------------------------------------------------------------------------------- what is given up

LONG = [["scenario.duration", "2000 s"]]


def threads() -> int:
    """Threads of this process, those of the core among them."""
    return len(list(Path("/proc/self/task").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_a_slider_that_is_dragged_leaves_no_run_behind() -> None:
    with served() as client:
        before = None
        for i in range(40):
            per = f"{0.001 + 0.002 * i:.3f}"
            question = {"source": "file", "changes": [*LONG, ["channel.errors.per", per]], "other": RTS}
            with client.opened("POST", "/compare", question):
                time.sleep(0.02)
            if i == 3:
                before = threads()
        deadline = time.monotonic() + 5
        desk = client.of.explorer.desk
        while (desk._asked is not None and not desk._asked.is_over) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert desk._asked is not None
        assert desk._asked.is_over
        assert before is not None
        assert threads() <= before
        assert [t.name for t in threading.enumerate() if t.name.startswith("question")] == []


def test_a_newer_question_ends_the_older_at_once(client: Client) -> None:
    begun = time.monotonic()
    with client.opened("POST", "/compare", {"source": "file", "changes": LONG, "other": RTS}) as old:
        assert client.compare(other=RTS, runs=1)[-1]["event"] == "done"
        assert list(events(old))[-1]["event"] == "ended"
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("changes", "path", "line"),
    [
        (
            [["scenario.duration", "1000000 s"]],
            "runs",
            r"would take about [\d.]+ (min|h|days), and the page waits 60 s",
        ),
        (
            [["node.sta1.count", "5000"]],
            "node[0].count",
            r"5002 nodes, a run of them some [\d.]+ [GM]B of memory; the page",
        ),
        ([["scenario.duration", "x"]], "scenario.duration", '"x" does not start with a number'),
    ],
)
def test_what_would_take_too_long_or_too_much_is_refused_with_its_forecast(
    client: Client, changes: list[list[str]], path: str, line: str
) -> None:
    begun = time.monotonic()
    last = client.compare(changes=changes, other=RTS)[-1]
    assert last["event"] == "refused"
    assert last["mistakes"][0]["path"] == path
    assert re.search(line, last["mistakes"][0]["line"])
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    ("elapsed_s", "processor_s", "is_refused"),
    [
        (0.9, 0.9, False),  # too early to say
        (4, 0.1 * machine.cores(), False),  # a busy machine: a tenth of a second of work says nothing
        (10, 2 * machine.cores(), False),  # 18 s are left by themselves, and 90 at the speed so far
        (10, 6 * machine.cores(), True),  # 54 s are left, whoever else works
        (61, 0.1 * machine.cores(), True),  # it has been waited for
    ],
)
def test_a_forecast_is_not_of_what_other_programs_do(elapsed_s: float, processor_s: float, is_refused: bool) -> None:
    standing = Standing(done=0, runs=2 * machine.cores(), found_s=0, made_s=10, wanted_s=100)
    with pytest.raises(interlayer.InputError, match="the page waits 60 s") if is_refused else nullcontext():
        work.check_time(standing, elapsed_s, processor_s, 5)


def test_memory_beyond_the_page_s_share_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_BYTES", 1000)
    with served() as client:
        last = client.compare(other=RTS)[-1]
    assert "3 nodes would take some" in last["mistakes"][0]["line"]
    assert last["mistakes"][0]["line"].endswith("of memory; the page gives runs 1 kB")


def test_single_frames_are_those_of_the_instant_that_is_asked(client: Client) -> None:
    """It is the same run: what is counted over it all does not move."""
    number = client.compare(other=RTS, runs=1)[0]["number"]

    def seen(query: str) -> dict[str, Any]:
        return scene_of(client.get(f"/air/{number}/0{query}").content)

    first, later = seen(""), seen("?frames=0.6%20s")
    assert [one["frames"]["from_s"] for one in (first, later)] == [0.2, 0.6]
    assert later["frames"]["until_s"] == pytest.approx(0.61)
    assert later["frames"]["rows"]
    assert later["frames"]["rows"] != first["frames"]["rows"]
    assert [later[key] for key in ("bins", "flows")] == [first[key] for key in ("bins", "flows")]
    assert scene_of(client.get(f"/picture/{number}/air-0.html?frames=0.6%20s").content) == later
    for wrong in ("soon", "3%20m", "-1%20s", "9e9%20s", "nan"):
        refused = client.get(f"/air/{number}/0?frames={wrong}")
        assert refused.status == 422
        assert json.loads(refused.content)["mistakes"][0]["path"] == "frames"


def test_series_that_are_too_long_are_not_recorded(client: Client) -> None:
    told = client.compare(changes=[["scenario.series_every", "1 us"]], other=RTS, runs=1)
    assert [e["event"] for e in told][-3:] == ["unrecorded", "unrecorded", "done"]
    assert "raise scenario.series_every" in told[-2]["why"]
    fine, coarse = (["scenario.series_every", text] for text in ("1 us", "50 ms"))
    told = client.compare(changes=[fine], other=[coarse], runs=1)
    assert [(e["event"], e.get("arm")) for e in told][-3:-1] == [("unrecorded", 0), ("recorded", 1)]
    number = told[0]["number"]
    assert [client.get(f"/air/{number}/{arm}").status for arm in (0, 1)] == [410, 200]
    assert [client.get(f"/picture/{number}/series-{arm}.csv").status for arm in (0, 1)] == [404, 200]


# ---------------------------------------------------------------------------------------------------------- the command


@pytest.mark.parametrize("line", [one for one in EXAMPLES if " explore" in one])
def test_each_example_serves_a_page_until_it_is_interrupted(line: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    words = [word for word in shlex.split(line)[1:] if word not in ("--port", "8700")]
    command = [sys.executable, "-m", "interlayer", *words, *(["--no-open"] if "--no-open" not in words else [])]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+/)#from=(\S+)", process.stdout.readline())
        assert found is not None
        for _ in range(200):
            try:
                connection = http.client.HTTPConnection(server.HOST, int(found[1]), timeout=20)
                with closing(connection):
                    connection.request("GET", f"{found[2]}start")
                    sources = json.loads(connection.getresponse().read())["sources"]
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        assert found[3] in sources
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["cofee-shop"], 'no file or example "cofee-shop"; did you mean "coffee-shop"?'),
        (["no.toml"], "no.toml: no such file or directory"),
        (["--port", "70000"], "--port"),
        (["x.toml"], 'x.toml: radio.data_rat: no such key; did you mean "data_rate"?'),
    ],
)
def test_a_wrong_command_is_told_in_a_line(
    call: Callable[..., Any], words: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.toml").write_text(
        CELL.replace("[channel]", "[channel]", 1).replace("standard = ", 'data_rat = "1 Mb/s"\nstandard = ', 1)
    )
    status, out, err = call("explore", *words, "--no-open")
    assert (status, out) == (2, "")
    assert line in err


def test_a_port_that_is_taken_is_told(client: Client, call: Callable[..., Any]) -> None:
    status, out, err = call("explore", "--port", client.of.port, "--no-open")
    assert (status != 0, out) == (True, "")
    assert err == f"interlayer: --port: 127.0.0.1:{client.of.port}: address already in use\n"


def test_without_the_extra_the_command_names_it(call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    status, _, err = call("explore", "--no-open")
    assert status == 2
    assert 'pip install "interlayer[explore]"' in err


def test_the_page_is_small_and_asks_nobody_else() -> None:
    folder = Path(server.__file__).parent / "page"
    sizes: Mapping[str, int] = {file.name: file.stat().st_size for file in folder.iterdir()}
    assert sum(sizes.values()) < 110_000
    for file in folder.iterdir():
        text = file.read_text("utf-8")
        assert re.findall(r"(?:src|href)=\"(?!data:|#)[^\"]*//[^\"]*\"", text) == []
        assert "eval(" not in text


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.1: sRGB made linear, then weighed."""
    whole = colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
    parts = [int(whole[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_texts_stand_out_in_light_and_dark() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21.0)
    style = (Path(server.__file__).parent / "page" / "page.css").read_text("utf-8")
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})\b", part)) for part in style.split("prefers-color-scheme")[:2]
    ]
    assert [len(theme) >= 9 for theme in themes] == [True, True]
    for theme in themes:
        for name in ("ink", "soft", "link", "wrong"):
            for ground in ("paper", "code"):
                assert contrast(theme[name], theme[ground]) >= 4.5, (name, ground)
        for name in ("arm-0", "arm-1"):
            assert contrast(theme[name], theme["paper"]) >= 4.5, name
