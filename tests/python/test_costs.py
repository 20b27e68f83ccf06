"""What work will cost, what it says while it goes on, and what an interrupted command says that it has."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
from interlayer import cli, cli_parts, machine
from interlayer.engine import Here
from interlayer.show import terminal
from interlayer.study import campaign, costs, library
from interlayer.study.runs import Standing
from interlayer.study.store import Store

if TYPE_CHECKING:
    from fake_core import Core


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Shipped figures that are easy to reckon with, on four cores."""
    found = {"lle-fig-3.9": {"quick": 45, "base": 300, "all": 400, "s": 0.6}}
    monkeypatch.setattr(costs, "shipped", lambda: found)
    monkeypatch.setattr(machine, "cores", lambda: 4)
    return found


def test_the_package_has_figures_of_its_experiments() -> None:
    known = set(library.known())
    assert known >= set(costs.shipped())
    for id_, found in costs.shipped().items():
        assert set(found) == {*costs.MODES, "s"}, id_
        assert found["quick"] / 3 <= found["base"] / 10 <= found["all"] / 10
        assert (found["s"] > 0) == (found["all"] > 0) == bool(library.load(id_).base)


def test_a_cost_is_scaled_by_jobs_and_runs(figures: Any) -> None:
    all_ = costs.cost("lle-fig-3.9", "all")
    assert all_ is not None
    assert (all_.runs, all_.processor_s, all_.is_measured) == (400, 240.0, False)
    assert [all_.wall_s(jobs) for jobs in (0, 1, 2, 4, 100)] == [60.0, 240.0, 120.0, 60.0, 60.0]
    twice = costs.cost("lle-fig-3.9", "all", runs=20)
    assert twice == costs.Cost(800, 480.0, is_measured=False)
    assert costs.cost("lle-fig-3.9", "quick", runs=3) == costs.cost("lle-fig-3.9", "quick")
    assert costs.cost("mine", "all") is None
    assert [costs.duration(s) for s in (0.2, 59.1, 125, 5700, 7200, 72000, 10**6)] == [
        "1 s",
        "60 s",
        "2 min",
        "1.6 h",
        "2 h",
        "20 h",
        "12 days",
    ]


def test_the_list_of_experiments_says_how_long_each_takes(figures: Any, call: Any, core: Core, tmp_path: Path) -> None:
    lines = {line.split()[0]: line for line in call("list", "experiments")[1].splitlines()}
    assert lines["lle-fig-3.9"].endswith("claims; about 60 s]")
    assert "about" not in lines["lle-fig-3.7b"]
    rows = {row["id"]: row for row in json.loads(call("list", "experiments", "--json", "-")[1])}
    assert rows["lle-fig-3.9"]["cost"] == {"runs": 400, "processor_s": 240.0, "measured": False}
    with Store(tmp_path / "runs") as store:
        store.put("key", 1, {"sim_s": 1.0})  # type: ignore[typeddict-item]
        store.put_cost("lle-fig-3.9", "all", 500, 40.0)
    line = next(
        s for s in call("list", "experiments", "--store", tmp_path / "runs")[1].splitlines() if "lle-fig-3.9 " in s
    )
    assert line.endswith("about 10 s]")


@pytest.mark.core
def test_a_store_remembers_what_a_finished_experiment_cost(tmp_path: Path, call: Any) -> None:
    place = tmp_path / "runs"
    assert call("reproduce", "lle-fig-3.9", "--quick", "--store", place)[0] == 0
    with Store(place) as store:
        first = store.cost("lle-fig-3.9", "quick")
        assert store.cost("lle-fig-3.9", "all") is None
    assert first is not None
    assert first[0] == 45
    assert first[1] > 0
    # Runs that were there count as well: it is what the whole costs.
    assert call("reproduce", "lle-fig-3.9", "--quick", "--store", place)[0] == 0
    with Store(place) as store:
        assert store.cost("lle-fig-3.9", "quick") == first
    # What was narrowed by hand is another experiment.
    assert (
        call("reproduce", "lle-fig-3.9", "--quick", "--set", "scenario.series_every=100 ms", "--store", place)[0] == 0
    )
    with Store(place) as store:
        assert store.cost("lle-fig-3.9", "quick") == first


def test_a_store_of_an_earlier_version_has_no_costs_and_goes_on(core: Core, tmp_path: Path) -> None:
    with Store(tmp_path / "runs") as store:
        store.put("key", 1, {"sim_s": 1.0})  # type: ignore[typeddict-item]
        assert store.cost("x", "all") is None
        store.put_cost("x", "all", 3, 1.5)
        assert store.cost("x", "all") == (3, 1.5)
    with sqlite3.connect(tmp_path / "runs") as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,), "an earlier version reads it"
        database.execute("DROP TABLE cost")
    database.close()
    with Store(tmp_path / "runs") as store:
        assert store.cost("x", "all") is None


def told(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    cli_parts.tell_cost(*arguments)
    return capsys.readouterr().err


def test_long_work_says_at_its_begin_what_it_will_cost(
    figures: Any, core: Core, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ids = ["lle-fig-3.9"]
    estimate = "an estimate; claims that stay open ask for more"
    assert told(capsys, ids, "all", None, None, 1, Here(1)) == (
        f"interlayer: 1 experiment, 400 runs: about 4 min on 1 core ({estimate})\n"
    )
    assert "about 2 min on 2 cores" in told(capsys, ids, "all", None, None, 2, Here(2))
    assert told(capsys, ids, "quick", None, None, 1, Here(1)) == "", "short work is silent in a pipe"
    with Store(tmp_path / "runs") as store:
        said = told(capsys, [*ids, "mine"], "all", store, None, 0, Here())
        assert "; runs that the store has are not made again; of 1 more nothing is known yet)" in said
        store.put("key", 1, {"sim_s": 1.0})  # type: ignore[typeddict-item]
        store.put_cost("lle-fig-3.9", "all", 500, 4000.0)
        assert "500 runs: about 17 min on 4 cores (as they took before;" in told(
            capsys, ids, "all", store, None, 0, Here()
        )


def test_what_is_left_of_an_experiment() -> None:
    shipped, measured = costs.Cost(400, 200.0, is_measured=False), costs.Cost(400, 200.0, is_measured=True)
    assert costs.left(shipped, 190, 0) == costs.Cost(190, 95.0, is_measured=False), "counted, whatever the package says"
    assert costs.left(shipped, 190, 60).runs == 130
    assert costs.left(measured, 190, 60) == costs.Cost(340, 170.0, is_measured=True), "with the later rounds"
    assert costs.left(measured, 190, 190).runs == costs.left(shipped, 190, 190).runs == 0


def test_one_experiment_says_how_many_runs_there_are_to_make(
    figures: Any, core: Core, call: Any, tmp_path: Path
) -> None:
    figures["lle-fig-3.9"] |= {"base": 999, "s": 60.0}  # of an earlier state of the files
    first = 10 * len(campaign.scenarios(library.load("lle-fig-3.9"), base_only=True))
    asked = [
        "reproduce",
        "lle-fig-3.9",
        "--readings",
        "base",
        "--runs",
        10,
        "--json",
        "-",
        "--store",
        tmp_path / "runs",
    ]
    core.stop_after = 20
    status, _, err = call(*asked)
    assert status == 130
    assert err.startswith(f"interlayer: 1 experiment, {first} runs: about ")
    assert re.search(rf"interrupted: 20 of {first} runs are finished", err), "as many as the line said"
    core.stop_after = None
    assert call(*asked)[2].startswith(f"interlayer: 1 experiment, {first - 20} runs to make, 20 in the store: about ")
    assert call(*asked)[2] == "", "nothing is left to be made"


@pytest.mark.parametrize("verb", ["reproduce", "readings"])
def test_the_cost_stands_on_stderr_before_the_first_run(verb: str, figures: Any, core: Core, call: Any) -> None:
    figures["lle-fig-3.9"]["s"] = 60.0
    status, out, err = call(verb, "lle-fig-3.9", "--runs", 10, "--json", "-")
    assert status == 0
    assert json.loads(out)
    assert re.match(r"interlayer: 1 experiment, \d+ runs: about [\d.]+ h on 4 cores \(", err)


# ------------------------------------------------------------------------------------------------- while it goes on


def test_without_a_terminal_there_is_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 1000.0
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now)
    with terminal.progress() as progress:
        for second in range(0, 181, 10):
            now = 1000.0 + second
            progress("fig", Standing(second, 360, 0.0, float(second), 360.0))
    assert capsys.readouterr().err.splitlines() == [
        "interlayer: fig: 17 % · 60/360 runs, 0:05:00 to go",
        "interlayer: fig: 33 % · 120/360 runs, 0:04:00 to go",
        "interlayer: fig: 50 % · 180/360 runs, 0:03:00 to go",
    ]
    assert progress.counts() == (180, 360)


def test_a_short_command_is_silent_in_a_pipe(core: Core, call: Any, tmp_path: Path) -> None:
    assert call("reproduce", "lle-fig-3.9", "--quick", "--json", tmp_path / "r.json")[2] == ""


# --------------------------------------------------------------------------------------------------- what ends it early


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "long.toml"
    path.write_text(interlayer.wlan(2, rate="11 Mb/s", duration="20 s", name="long").text)
    return path


def stopped(by: signal.Signals, arguments: list[object], store: Path, runs: int) -> tuple[int, str, str]:
    """The command, stopped by a signal once the store has so many runs: its status, stdout and stderr."""
    words = [sys.executable, "-m", "interlayer", *map(str, arguments), "--store", str(store)]
    # As in a terminal: who runs the tests under nohup has them ignore SIGHUP.
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(by, signal.default_int_handler if by == signal.SIGINT else signal.SIG_DFL),
    )

    def stored() -> int:
        with Store(store) as kept:
            return sum(one.runs for one in kept.cores())

    while stored() < runs:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
    process.send_signal(by)
    out, err = process.communicate()
    return process.returncode, out, err


@pytest.mark.core
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_sigterm_is_ctrl_c(by: signal.Signals, long: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, shown, err = stopped(by, ["run", long, "--runs", 10**6, "--out", out, "--json", "-"], tmp_path / "s.db", 2)
    assert status == 130
    found = json.loads(shown)
    assert found["interrupted"] is True
    assert json.loads((out / "result.json").read_text())["runs"] == found["runs"] >= 2
    said = (
        f"interlayer: interrupted: {found['runs']} of 1000000 runs are finished; the same command goes on from there: "
    )
    assert err == f"{said}{tmp_path / 's.db'} has these runs\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.toml", "out", "s.db"]


@pytest.mark.core
@pytest.mark.parametrize("after_s", [0.0, 0.3, 0.8, 1.5])
def test_nothing_half_written_stays_whenever_the_signal_comes(after_s: float, long: Path, tmp_path: Path) -> None:
    """Also while the command still reads, and while it writes its figures."""
    short = long.read_text().replace('"20 s"', '"3 s"')
    long.write_text(short)
    words = [
        "run",
        long,
        "--runs",
        "3",
        "--out",
        tmp_path / "out",
        "--json",
        tmp_path / "r.json",
        "--pcap",
        tmp_path / "p",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "interlayer", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    # Until its own handler stands, SIGTERM is the system's: wait for the first place that it makes.
    while not list(tmp_path.glob("*.partial-*")) and process.poll() is None:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
    _, err = process.communicate()
    assert not list(tmp_path.rglob("*.partial*"))
    if process.returncode == -signal.SIGTERM:  # all was done, and the interpreter was on its way out
        assert (tmp_path / "out" / "index.html").exists()
        assert json.loads((tmp_path / "r.json").read_text())["runs"] == 3
    else:
        assert process.returncode in (0, 130), err.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_import_is_finished_before_a_signal_stops_all(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An extension module that is left half made the interpreter end by an abort."""
    (tmp_path / "inner_of_it.py").write_text(f"import os; os.kill(os.getpid(), {int(number)}); whole = True\n")
    (tmp_path / "outer_of_it.py").write_text("import inner_of_it; whole = True\n")
    monkeypatch.syspath_prepend(tmp_path)

    def imports_and_sleeps() -> None:
        with cli._stopped_by_signals():
            __import__("outer_of_it")
            time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        imports_and_sleeps()
    assert sys.modules.pop("outer_of_it").whole
    assert sys.modules.pop("inner_of_it").whole


def test_an_import_without_end_is_stopped_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "endless_one.py").write_text(
        f"import os, time; os.kill(os.getpid(), {int(signal.SIGTERM)}); time.sleep(10)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cli, "_IMPORT_S", 0.1)
    since = time.monotonic()
    with pytest.raises(KeyboardInterrupt), cli._stopped_by_signals():
        __import__("endless_one")
    assert time.monotonic() - since < 5


def test_an_interrupted_campaign_says_what_it_has(core: Core, call: Any, tmp_path: Path) -> None:
    core.stop_after = 50
    status, _, err = call("reproduce", "lle-fig-3.9", "lle-fig-3.7b", "--quick")
    assert status == 130
    last = err.splitlines()[-1]
    found = re.fullmatch(
        r"interlayer: interrupted: (\d+) of (\d+) runs are finished; complete: 1 of 2 experiments: lle-fig-3\.9; "
        r"give --store FILE, and the same command goes on where it was stopped",
        last,
    )
    assert found is not None, last
    assert (int(found[1]), int(found[2])) == (45 + 50, 45 + 54)
    core.stop_after = 20
    status, out, err = call("readings", "lle-fig-3.7b", "--store", tmp_path / "runs")
    assert (status, out) == (130, "")
    assert re.search(r"20 of \d+ runs are finished; a joint judgement needs all of them; the same command goes on", err)


def test_an_interruption_outside_of_runs_is_said_too(monkeypatch: pytest.MonkeyPatch, call: Any) -> None:
    def stop() -> list[library.Entry]:
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "listed", stop)
    assert call("list", "experiments") == (130, "", "interlayer: interrupted\n")


def test_signals_are_given_back_and_nohup_is_respected(call: Any) -> None:
    before = signal.getsignal(signal.SIGTERM)
    call("list", "schemes")
    assert signal.getsignal(signal.SIGTERM) is before
    words = [sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); "]
    words[-1] += "from interlayer import cli; x = cli._stopped_by_signals(); x.__enter__(); "
    words[-1] += "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, callable(signal.getsignal(signal.SIGTERM)))"
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == "True True\n"
