"""The package over the compiled core: determinism, airtimes by hand, experiments, captures, Ctrl-C, broken pipes."""

from __future__ import annotations

import ast
import json
import math
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

import interlayer
from forked import command
from interlayer import simulator
from interlayer.errors import InputError
from interlayer.study import campaign, library
from interlayer.study.runs import Cache
from interlayer.study.store import Store
from interlayer.study.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlayer.study.outcome import Outcome

    Reproduced = Callable[[str], Outcome]

pytestmark = pytest.mark.core
ROOT = Path(__file__).parents[2]

BASE = library.folder() / "kliazovich-2006/cells/single-hop-80211b.toml"


def whole(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "interlayer", *map(str, arguments)]


def without_clock(text: str) -> Any:
    found = json.loads(text)
    for key in ("wall_s", "sim_s"):
        del found[key]
    return found


# -------------------------------------------------------------------------------------------------------- contract


def test_stub_names_are_those_of_the_module() -> None:
    import interlayer._core as module

    tree = ast.parse(Path(interlayer.__file__).with_name("_core.pyi").read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    promised = {n.name for n in tree.body if isinstance(n, kinds)}
    typed_dicts = {
        n.name for n in tree.body if isinstance(n, ast.ClassDef) and any("TypedDict" in ast.dump(b) for b in n.bases)
    }
    public = {name for name in dir(module) if not name.startswith("_")}
    assert promised - typed_dicts <= public
    assert isinstance(module.__version__, str)


def test_a_run_has_the_promised_columns() -> None:
    tree = ast.parse(Path(interlayer.__file__).with_name("_core.pyi").read_text())
    run_class = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Run")
    promised = {
        n.target.id: ast.unparse(n.annotation)
        for n in run_class.body
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    r = interlayer.run(short())
    # What is not required is of radios that aggregate.
    assert set(r.runs[0]) == {name for name, kind in promised.items() if not kind.startswith("NotRequired")}
    today = interlayer.run(interlayer.wlan(2, standard="802.11ax", ap=True, duration="1 s", warmup="0 s"))
    of_pictures = {"legs", "meetings", "scene", "story"}  # with series, where nodes move; with --animate
    assert set(today.runs[0]) == set(promised) - of_pictures
    assert {"id", "from", "to", "goodput_bps", "datagram_throughput_bps", "retransmissions", "timeouts"} <= set(
        r.flows.columns
    )
    assert {"goodput_bps", "jain"} <= set(r.summary.columns)
    assert "id" in r.nodes.columns
    assert "class" in r.frames.columns


def short(**more: Any) -> interlayer.Scenario:
    options = {"rate": "11 Mb/s", "flow": interlayer.tcp("reno", preset="rfc"), "duration": "3 s", "warmup": "1 s"}
    return interlayer.wlan(**(options | more))


def base(**changes: object) -> interlayer.Scenario:
    found = interlayer.load(BASE).set("scenario.duration", "10 s").set("scenario.warmup", "2 s")
    for path, value in changes.items():
        found = found.set(path, value)
    return found


# --------------------------------------------------------------------------------------------------- by hand


LLE = {"scheme": [{"name": "lle-tcp"}]}


@pytest.mark.parametrize(
    ("changes", "exchange_us"),
    [
        # Data 192 + 1118 (1536 B at 11 Mb/s, up to whole us), SIFS 10, ACK 304, DIFS 50, mean backoff 15.5 slots of 20.
        ({}, 1310 + 10 + 304 + 50 + 310),
        # RTS 192 + 160, CTS 192 + 112, two SIFS.
        ({"radio.rts_threshold": "0 B"}, 352 + 10 + 304 + 10 + 1310 + 10 + 304 + 50 + 310),
        # 536 B on the air: 390 us.
        ({"flow.0.transport.datagram": "500 B"}, 192 + 390 + 10 + 304 + 50 + 310),
    ],
)
def test_throughput_of_lle_tcp_is_one_exchange_a_segment(changes: dict[str, object], exchange_us: float) -> None:
    datagram = float(str(changes.get("flow.0.transport.datagram", "1500 B")).removesuffix("B"))
    r = interlayer.run(base(**LLE, **changes), runs=4)
    # Half a percent: the handshake's rest, and 8 s of backoffs of 5.9 slots' deviation from 15.5 (4 runs: 0.1 %).
    assert r.estimate("flow.0.datagram_throughput").mean == pytest.approx(8e6 * datagram / exchange_us, rel=5e-3)


def test_errors_cost_what_their_rate_says() -> None:
    errors = {"channel.errors": {"model": "packet", "per": 0.2}}
    clean, lossy = interlayer.run(base(**LLE), runs=4), interlayer.run(base(**LLE, **errors), runs=4)
    loss = -lossy.gain_over(clean, "flow.0.goodput").mean
    # A fifth of the attempts fail, and the window doubles after each: more than 20 %, less than 35 %.
    assert 0.20 < loss < 0.35


# ---------------------------------------------------------------------------------------------------- determinism


def test_result_depends_on_seed_and_scenario_and_not_on_threads() -> None:
    arguments = ["run", BASE, "--runs", 6, "--set", "scenario.duration=6 s", "--json", "-"]
    one, two = command(*arguments, "--jobs", 1), command(*arguments, "--jobs", 2)
    assert (one.returncode, one.stderr) == (0, "")
    assert without_clock(one.stdout) == without_clock(two.stdout)
    other = command(*arguments, "--seed", 100)
    assert without_clock(other.stdout)["flows"] != without_clock(one.stdout)["flows"]


def test_run_i_of_a_batch_is_the_run_of_its_seed() -> None:
    scenario = short(loss=0.1)
    batch = interlayer.run(scenario, seed=3, runs=4)
    alone = interlayer.run(scenario, seed=5)
    assert batch.flows.filter(batch.flows["seed"] == 5).equals(alone.flows)
    assert len(set(batch.flows["goodput_bps"])) == 4


# -------------------------------------------------------------------------------------------------------- experiments


HEAVY = [n for n in library.known() if n.startswith(("ftca-", "beyond/ftca-", "beyond/ack-"))]
"""Experiments of hundreds of runs of many stations: until all their claims are decided they take an hour together."""


def weighed(name: str) -> Any:
    """The figure of README.md stands for all of them in `make test`."""
    return name if name == "lle-fig-3.7a" else pytest.param(name, marks=pytest.mark.papers)


# `test_base_station` runs its own, and asks more of them: that all they claim holds.
@pytest.mark.parametrize("name", [weighed(n) for n in library.known() if not n.startswith("beyond/base-station")])
def test_every_claim_has_a_verdict_and_those_against_have_evidence(name: str, reproduced: Reproduced) -> None:
    is_scored = reproduced(name).experiment.scored  # what a paper cites or sums up is shown only
    for s in reproduced(name).scored:
        assert (s.verdict is not None) == is_scored, s.claim.id
        assert not s.unexplained, f"{s.claim.id} {s.verdict}: {s.why}"


QUICK_RUNS_MADE = Cache()


@pytest.mark.papers
@pytest.mark.parametrize("name", [name for name in HEAVY if "league" not in name])
def test_a_heavy_experiment_measures_all_it_claims(name: str) -> None:
    outcome = campaign.run(library.load(name), quick=True, cache=QUICK_RUNS_MADE)
    assert len(outcome.scored) == len(outcome.experiment.claims)
    assert all(s.verdict is None for s in outcome.scored), "three runs decide nothing"


def verdicts(outcome: Outcome) -> list[str]:
    return [str(s.verdict) for s in outcome.scored]


def test_what_the_arithmetic_of_the_timing_allows_holds(reproduced: Reproduced) -> None:
    # 12000 bit in 1984 us are 6.05 Mb/s, printed 6.09; in 2660 us 4.51, printed 4.71. The rankings follow.
    scored = reproduced("lle-fig-3.7a").scored
    assert [str(scored[i].judgement.verdict) for i in (0, 2, 4, 5)] == ["holds"] * 4  # in the base reading
    # One ACK per segment, which the paper does not exclude, changes nothing for LLE-TCP, and does for Reno.
    assert [str(scored[i].verdict) for i in (0, 1, 2, 3)] == ["holds", "depends", "holds", "depends"]


@pytest.mark.papers
def test_what_the_arithmetic_excludes_differs(reproduced: Reproduced) -> None:
    assert verdicts(reproduced("lle-fig-3.7b"))[3] == "holds"
    # In the base reading: of all pairs of readings one leaves it open.
    assert reproduced("lle-fig-3.9").scored[2].judgement.verdict is Verdict.HOLDS
    # Removing one TCP ACK in two at 1000 B gains 18.9 % at least by Table 3.2's timing; 7 % is printed.
    assert reproduced("lle-fig-3.9").scored[1].verdict is Verdict.DIFFERS
    # 20 % at 1500 B and 100 % at 40 B cannot both be.
    assert reproduced("lle-fig-3.7b").scored[4].verdict is Verdict.DIFFERS


@pytest.mark.papers
def test_the_readings_of_a_chapter_take_less_than_two_minutes_on_two_cores(tmp_path: Path) -> None:
    import resource

    figures = ["3.14", "3.15", "3.16-fairness", "3.16-coexistence", "3.17"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = command("readings", *(f"lle-fig-{f}" for f in figures), "--jobs", 2, "--json", tmp_path / "r.json")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    # Where there is no terminal one line says what it will cost.
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith("interlayer: 5 experiments, ")
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["runs"] == 10
    assert found["k"] == len(found["readings"]) >= 18
    assert len(found["claims"]) == 16
    # What makes most claims true is shown with all that cannot be told from it, whatever they are.
    most = max(r["true"] for r in found["readings"])
    assert {r["reading"] for r in found["readings"] if r["true"] == most} <= set(found["best"])
    assert spent < 2 * 120  # processor seconds: the clock is other people's on a shared machine


# -------------------------------------------------------------------------------------------------------------- CLI


def test_a_key_is_swept_with_its_table_and_a_file_has_its_right_name(call: Any) -> None:
    with pytest.raises(InputError, match=r"over: rate: no such key here; .*; did you mean radio.data_rate"):
        interlayer.sweep(interlayer.wlan(), {"rate": ["1 Mb/s"]}, runs=1)
    err = call("run", ROOT / "examples/single-hop.tmol")[2]
    assert err.endswith(
        'single-hop.tmol: no such file or directory; did you mean "' + f'{ROOT}/examples/single-hop.toml"?\n'
    )


def test_scenario_mistakes_are_one_line_with_path_and_suggestion(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(BASE.read_text().replace('congestion = "reno"', 'congestion = "renno"'))
    for verb in ("run", "check"):
        done = command(verb, wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert "transport.congestion" in done.stderr
        assert 'did you mean "reno"' in done.stderr


@pytest.mark.parametrize(
    ("preset", "more"), [("linux", ""), ("ns2", ""), ("rfc", ""), ("linux", ", congestion = 'cubic'")]
)
def test_what_applies_is_shown_and_reads_as_the_same_scenario(preset: str, more: str, tmp_path: Path) -> None:
    done = command("check", BASE, "--effective", "--set", f"flow.0.transport={{ preset = '{preset}'{more} }}")
    assert (done.returncode, done.stderr) == (0, "")
    assert f'preset = "{preset}"' in done.stdout
    assert "undo = " in done.stdout  # which the file does not say
    shown = tmp_path / "shown.toml"
    shown.write_text(done.stdout)
    assert command("check", shown, "--effective").stdout == done.stdout


@pytest.mark.parametrize("kind", get_args(simulator.Registry))
def test_lists_are_sorted_by_id(kind: str) -> None:
    done = command("list", kind)
    assert done.returncode == 0
    ids = [line.split()[0] for line in done.stdout.splitlines()]
    assert ids == sorted(ids)


def test_every_listed_id_is_accepted_where_it_belongs() -> None:
    for kind, path in (
        ("congestion", "flow.0.transport.congestion"),
        ("receivers", "flow.0.transport.receiver"),
        ("rate-controls", "radio.rate_control"),
    ):
        for entry in json.loads(command("list", kind, "--json", "-").stdout):
            # It has groups of 802.11n and 802.11ac alone.
            cell = interlayer.wlan(standard="802.11n") if entry["id"] == "minstrel-ht" else short()
            cell.set(path, entry["id"]).check()
    for entry in json.loads(command("list", "queues", "--json", "-").stdout):
        queue = {"discipline": entry["id"], "packets": 100}
        queue |= {"threshold": 20} if "threshold (required)" in entry["parameters"] else {}
        short().set("radio.queue", queue).check()
    for entry in json.loads(command("list", "traffic", "--json", "-").stdout):
        short().set("flow.0.traffic", {"model": entry["id"]}).check()
    for entry in json.loads(command("list", "schemes", "--json", "-").stdout):
        # Categories and powers, for those that choose among them.
        if entry["id"] == "lle-cc":  # it sits at a station that sends over several hops
            interlayer.load(Path(__file__).parents[2] / "docs/schemes/string.toml").set(
                "scheme", [{"name": entry["id"]}]
            ).check()
            continue
        tcp = BEHIND_AN_ACCESS_POINT.replace('protocol = "udp", datagram = "1500 B"', 'protocol = "tcp"')
        if entry["id"] in ("hack", "reverse-direction"):  # it loads Block Acks
            tcp = tcp.replace("802.11b", "802.11n")
        cell = interlayer.parse(tcp).set("radio.access", "edca")
        cell = cell.set("channel.propagation", {"model": "log-distance", "exponent": 3.5})
        cell.set("scheme", [{"name": entry["id"]}]).check()


@cache
def quick_look(jobs: int) -> subprocess.CompletedProcess[str]:
    """A quick look at an experiment by so many threads, made once for all tests of it."""
    return command("reproduce", "lle-fig-3.9", "--quick", "--json", "-", "--jobs", jobs)


def test_quick_look_in_a_pipe_is_silent_and_preliminary() -> None:
    done = quick_look(2)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["preliminary"] is True


def interrupted(folder: Path, *arguments: object, after_runs: int) -> tuple[str, str]:
    """Output and errors of the command where Ctrl-C comes once so many runs have finished."""
    written = [*arguments, "--json", folder / "r.json", "--out", folder / "out", "--store", folder / "runs"]

    def finished() -> int:
        with Store(folder / "runs") as store:
            return sum(one.runs for one in store.cores())

    with subprocess.Popen(whole(*written), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while finished() < after_runs:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)
    assert process.returncode == 130
    return said


def test_ctrl_c_keeps_finished_runs_and_exits_130(tmp_path: Path) -> None:
    _, err = interrupted(tmp_path, "run", BASE, "--runs", 4000, after_runs=4)
    assert "Traceback" not in err
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["interrupted"] is True
    assert 0 < found["runs"] < 4000
    assert json.loads((tmp_path / "out" / "result.json").read_text())["runs"] == found["runs"]


def test_ctrl_c_in_a_long_reproduce_leaves_the_whole_picture_without_verdicts(tmp_path: Path) -> None:
    out, err = interrupted(tmp_path, "reproduce", "lle-fig-3.9", "--runs", 2000, after_runs=30)
    assert "interrupted: " in err
    assert "interrupted: no verdicts" in out
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["interrupted"] is True
    assert len(found["rows"]) == 15
    assert max(row["runs"] for row in found["rows"]) - min(row["runs"] for row in found["rows"]) <= 2
    assert {claim["verdict"] for claim in found["claims"]} == {None}
    assert (tmp_path / "out" / "lle-fig-3.9.html").exists()


def test_an_experiment_does_not_depend_on_threads() -> None:
    one, two = quick_look(1), quick_look(2)
    assert without_clock(one.stdout) == without_clock(two.stdout)


def test_a_reader_that_leaves_early_causes_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    arguments = whole("run", BASE, "--set", "scenario.duration=6 s", "--json", "-")
    try:
        done = subprocess.run(arguments, stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


# ------------------------------------------------------------------------------------------------------------ queues

BEHIND_AN_ACCESS_POINT = """
[scenario]
name = "access-point"
duration = "5 s"
warmup = "1 s"
[radio]
standard = "802.11b"
queue = { packets = 10 }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
position = [0, 0]
[[node]]
name = "laptop"
position = [5, 0]
[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "2 ms"
[[flow]]
from = "server"
to = "laptop"
transport = { protocol = "udp", datagram = "1500 B" }
traffic = { model = "cbr", rate = "8 Mb/s" }
"""


def test_queues_of_an_access_point_are_metrics_and_shown_when_they_drop(tmp_path: Path) -> None:
    r = interlayer.run(interlayer.parse(BEHIND_AN_ACCESS_POINT), runs=2)
    assert {"ap.air", "server->ap"} <= set(r.queues["id"])
    offered, dropped = (r.sample(f"queue.ap.air.{name}") for name in ("offered", "dropped"))
    # 8 Mb/s of payload into a channel that carries 6: a quarter at least is dropped, and nothing on the fast wire.
    assert all(dropped > 0.2 * offered)
    assert r.sample("queue.server->ap.dropped").tolist() == [0, 0]
    assert r.sample("sum(queue.*.dropped)").tolist() == dropped.tolist()
    file = tmp_path / "ap.toml"
    file.write_text(BEHIND_AN_ACCESS_POINT)
    shown = command("run", file).stdout
    assert "ap.air" in shown
    assert "server->ap" not in shown
    assert "dropped" in command("compare", file, "--schemes", "none,lle-tcp", "--runs", 2).stdout


def test_nothing_delivered_has_no_fairness(tmp_path: Path) -> None:
    cell = interlayer.wlan(stations=3, loss=1.0, duration="2 s", warmup="1 s")
    r = interlayer.run(cell, runs=2)
    assert all(math.isnan(x) for x in r.sample("summary.jain"))
    assert r.summary["jain"].to_list() == [None, None]
    file = tmp_path / "lost.toml"
    file.write_text(cell.to_toml())
    found = json.loads(command("run", file, "--runs", 2, "--json", "-").stdout)
    assert found["summary"]["jain"] == found["flows"][0]["rtt_mean_s"] == {"mean": None, "ci95": None}
    assert "jain" not in command("run", file, "--runs", 2).stdout


# ---------------------------------------------------------------------------------------------------------- captures


def test_tshark_reads_every_frame_of_a_capture(tshark: str, tmp_path: Path) -> None:
    arguments = ["--set", "scenario.duration=6 s", "--set", "scheme=[{ name = 'lle-tcp' }]"]
    done = command("run", BASE, "--pcap", tmp_path / "captures", *arguments)
    assert done.returncode == 0, done.stderr
    captures = sorted((tmp_path / "captures").glob("*.pcapng"))
    assert [c.name for c in captures] == ["receiver-1.pcapng", "sender-1.pcapng"]
    for capture in captures:
        fields = ["-T", "fields", "-e", "frame.number", "-e", "wlan.fc.type_subtype", "-e", "_ws.malformed"]
        read = subprocess.run([tshark, "-r", str(capture), *fields], capture_output=True, text=True, check=True)
        rows = [line.split("\t") for line in read.stdout.splitlines()]
        assert len(rows) > 1000
        assert [row for row in rows if row[2]] == []
        assert all(row[1] for row in rows)
