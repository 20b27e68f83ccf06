"""`interlayer bench`: medians, pairs in turn, what is said when ns-3 is not there; over a toy core and a toy peer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from interlayer import bench, cli, machine, simulator

PEER = """#!{python}
import json, pathlib, sys
log = pathlib.Path({log!r})
with log.open("a") as file:
    file.write("theirs\\n")
run = int([a for a in sys.argv if a.startswith("--run=")][0][6:])
print(json.dumps({{"ns3_version": "3.toy", "wall_s": 10.0 * run, "cpu_s": 5.0, "events": 7}}))
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A core and a peer that say in this file that they ran, on a toy machine.

    Of run i, ours takes i/100 s and theirs 10 i s by the clock; of a processor ours takes i² / 100 s and theirs 5 s.
    """
    path, cpu_s = tmp_path / "log", 0.0

    def run_batch(tasks: Any, *, jobs: int) -> simulator.Batch:
        assert jobs == 1
        with path.open("a") as file:
            file.write("ours\n")
        [(_, seed)] = tasks
        nonlocal cpu_s
        cpu_s += seed**2 / 100
        return simulator.Batch([{"sim_s": seed / 100, "events": 40, "exchanges": 10}], False)  # type: ignore[typeddict-item]

    monkeypatch.setattr(simulator, "parse", lambda text: text)
    monkeypatch.setattr(simulator, "version", lambda: "0.toy")
    monkeypatch.setattr(simulator, "run_batch", run_batch)
    monkeypatch.setattr(bench.time, "process_time", lambda: cpu_s)
    monkeypatch.setattr(machine, "processor", lambda: "Toy 3000")
    monkeypatch.setattr(machine, "cores", lambda: 2)
    loads = iter([0.25, 1.04])
    monkeypatch.setattr(machine, "load", lambda: next(loads))
    peer = tmp_path / "peer"
    peer.write_text(PEER.format(python=sys.executable, log=str(path)))
    peer.chmod(0o755)
    monkeypatch.setattr(bench, "_PEER", peer)
    return path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main(["bench", *arguments])
    return stop.value.code, *capsys.readouterr()


def test_pairs_alternate_and_the_ratio_is_that_of_the_medians(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = call(capsys, "--against", "ns3", "--case", "6-uploads", "--json", "-")
    assert (status, err) == (0, "")
    assert log.read_text().split() == ["ours", "theirs"] * 5
    [case] = json.loads(out)["cases"]
    # Medians of 0.01 to 0.05 and of 10 to 50.
    assert (case["name"], case["interlayer_s"], case["ns3_s"], case["ns3_version"]) == (
        "6-uploads",
        0.03,
        30.0,
        "3.toy",
    )
    assert case["ratio"] == pytest.approx(1000)
    # 10 exchanges in 0.03 s.
    assert case["exchanges_per_s"] == pytest.approx(333.3, rel=1e-3)


def test_processor_seconds_are_those_of_the_medians_and_their_ratio_has_the_range_of_the_pairs(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(call(capsys, "--against", "ns3", "--case", "6-uploads", "--json", "-")[1])
    assert found["machine"] == {"cpu": "Toy 3000", "cores": 2}
    assert found["load"] == {"before": 0.25, "after": 1.04}
    [case] = found["cases"]
    # Ours 0.01, 0.04, 0.09, 0.16, 0.25 s; theirs 5 s.
    assert (case["interlayer_cpu_s"], case["ns3_cpu_s"]) == (pytest.approx(0.09), 5)
    assert case["cpu_ratio"] == pytest.approx(5 / 0.09)
    assert (case["cpu_ratio_low"], case["cpu_ratio_high"]) == (pytest.approx(20), pytest.approx(500))
    assert case["pairs"][1] == {
        "interlayer_s": 0.02,
        "ns3_s": 20.0,
        "interlayer_cpu_s": pytest.approx(0.04),
        "ns3_cpu_s": 5.0,
    }
    assert len(case["pairs"]) == case["runs"] == 5


def test_alone_every_case_has_a_row_and_none_speaks_of_ns3(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "--json", "-", "--runs", "1")
    cases = json.loads(out)["cases"]
    assert status == 0
    assert [case["name"] for case in cases] == [case.name for case in bench.CASES]
    assert not any(key.startswith(("ns3", "ratio")) for case in cases for key in case)
    assert set(log.read_text().split()) == {"ours"}


def test_alone_there_are_three_runs_and_the_seconds_are_those_of_the_clock(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = call(capsys, "--case", "lle-flow")
    assert (status, log.read_text().split()) == (0, ["ours"] * 3)
    line = next(line for line in out.splitlines() if "lle-flow" in line)
    assert line.split()[:3] == ["lle-flow", "30", "0.02"]
    assert out.splitlines()[-1] == "medians of 3 runs. Interlayer 0.toy. Toy 3000, 2 cores; load 0.2 before, 1.0 after."


def test_the_table_shows_both_times_the_ratio_and_its_range(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "--against", "ns3", "--case", "6-uploads")
    assert status == 0
    line = next(line for line in out.splitlines() if "6-uploads" in line)
    assert line.split() == ["6-uploads", "30", "0.09", "5", "56", "20", "to", "500"]
    last = (
        "medians of 5 pairs, in processor seconds. Interlayer 0.toy, ns-3 3.toy. Toy 3000, 2 cores; load 0.2 before, "
    )
    assert out.splitlines()[-1] == f"{last}1.0 after."


def test_a_peer_that_fails_is_one_line(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench._PEER.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('libns3 is gone')\n")
    status, out, err = call(capsys, "--against", "ns3", "--case", "6-uploads")
    assert (status, out) == (1, "")
    assert err == "interlayer: --against ns3: the peer failed: libns3 is gone\n"


def test_ctrl_c_keeps_the_cases_that_were_finished(
    log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = simulator.run_batch

    def cut_short(tasks: Any, *, jobs: int) -> simulator.Batch:
        first = not log.exists()
        return whole(tasks, jobs=jobs) if first else simulator.Batch([None], True)

    monkeypatch.setattr(simulator, "run_batch", cut_short)
    status, out, _ = call(capsys, "--runs", "1", "--json", "-")
    assert status == 130
    assert [case["name"] for case in json.loads(out)["cases"]] == [bench.CASES[0].name]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--against", "ns3"], "--against ns3: the peer is not built. In the source tree: `make ns3`"),
        (["--against", "ns-3"], '--against: no peer "ns-3"; did you mean "ns3"?'),
        (["--case", "6-upload"], '--case: no case "6-upload"; did you mean "6-uploads"?'),
        (["--runs", "2"], "--runs: 2 is even"),
    ],
)
def test_a_wrong_option_or_a_missing_peer_is_status_2_and_one_line(
    arguments: list[str], says: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench._PEER.unlink()
    status, out, err = call(capsys, *arguments)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert not log.exists()


def test_a_case_without_a_peers_scene_is_refused_beside_it(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "--against", "ns3", "--case", "lle-flow")
    assert (status, err) == (2, "interlayer: --against ns3: it cannot run lle-flow\n")


@pytest.mark.core
@pytest.mark.parametrize("case", bench.CASES, ids=lambda case: case.name)
def test_every_case_runs(case: bench.Case) -> None:
    [row] = bench.run([bench.Case(case.name, case.body, 0.5)], against=None, runs=1)
    assert row["exchanges"] > 100
    assert row["interlayer_s"] > 0


def test_the_processor_has_the_name_that_the_system_gives_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Toy(R)  CPU @ 3.00GHz\n\nprocessor\t: 1\n")
    monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "cpuinfo")
    assert machine.processor() == "Toy(R) CPU @ 3.00GHz"
    monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "none")
    assert machine.processor()
