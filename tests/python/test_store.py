"""Finished runs on disk: to the bit as they were made, whoever dies or writes, whatever becomes of the file."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
from interlayer import simulator
from interlayer.errors import InputError, OutputError
from interlayer.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fake_core import Core

pytestmark = pytest.mark.core

SCENARIO = """
[scenario]
name = "small"
duration = "2 s"
[radio]
standard = "802.11b"
[channel]
errors = { model = "packet", per = 0.1, at = "msdu" }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", datagram = "1500B", receiver = "delayed-ack" }
[[flow]]
from = "b"
to = "a"
transport = { protocol = "udp" }
traffic = { model = "cbr", rate = "1 kb/s" }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


def without_clock(text: str) -> Any:
    """JSON but for the seconds of the wall clock."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k not in ("wall_s", "sim_s")}
        return [plain(v) for v in value] if isinstance(value, list) else value

    return plain(json.loads(text))


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def bits(runs: list[Any]) -> list[str]:
    """Every float to its last bit (`repr` gives the shortest text of one float and no other), `nan` included."""
    return [repr(run) for run in runs]


def test_a_stored_run_is_the_fresh_one_to_the_bit(tmp_path: Path) -> None:
    where = Path(interlayer.__file__).resolve().parents[2] / "examples"
    for file, changes in ((where / "coffee-shop.toml", []), (where / "bursty-link.toml", [("scheme", [])])):
        of = interlayer.load(file).set("scenario.duration", "3 s").set("scenario.warmup", "0.3 s")
        for change in changes:
            of = of.set(*change)
        made = interlayer.run(of, runs=3, store=tmp_path / "runs")
        again = interlayer.run(of, runs=3, store=tmp_path / "runs")
        assert bits(again.runs) == bits(made.runs), "sim_s too: it was not run again"
        fresh = interlayer.run(of, runs=3)
        assert [run | {"sim_s": 0} for run in again.runs] != []
        assert bits([run | {"sim_s": 0} for run in again.runs]) == bits([run | {"sim_s": 0} for run in fresh.runs])
    assert names(tmp_path) == ["runs"]


def test_what_has_no_value_comes_back_without_one(tmp_path: Path) -> None:
    with Store(tmp_path / "runs") as store:
        run: Any = {"seed": 1, "a": float("nan"), "b": float("-inf"), "c": -0.0, "d": 5e-324, "e": 2**64 - 1, "f": None}
        store.put("key", 1, run)
        assert repr(store.get("key", 1)) == repr(run)
        assert store.get("key", 2) is None
        assert store.get("other", 1) is None


# ------------------------------------------------------------------------------------------------ who dies, who writes

RUN = ["run", "--runs", "20", "--set", "scenario.duration=100 s"]

ZYGOTE = """
import json, os, signal, sys, time
from interlayer import cli
shown = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
try:
    cli.main(sys.argv[1:])
except SystemExit:
    pass
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
for line in sys.stdin:
    arguments, seconds = json.loads(line)
    began = time.perf_counter()
    if (child := os.fork()) == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        try:
            cli.main(arguments)
        except SystemExit as e:
            os._exit(e.code)
    if signal.sigtimedwait([signal.SIGCHLD], seconds) is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while signal.sigtimedwait([signal.SIGCHLD], 0):  # of the one that was killed
        pass
    found = [os.waitstatus_to_exitcode(status), time.perf_counter() - began]
    os.write(shown, (json.dumps(found) + "\\n").encode())
"""
"""Runs a command once, for what it imports, then others in children, and kills those that take longer than they may."""


@pytest.fixture
def command(scenario: Path) -> Iterator[Callable[[list[str], float], tuple[int, float]]]:
    """The command in a process of its own, killed after so many seconds; gives its status and how long it took."""
    process = subprocess.Popen(
        [sys.executable, "-c", ZYGOTE, *RUN, str(scenario)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout

    def run(arguments: list[str], seconds: float) -> tuple[int, float]:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps([arguments, seconds]) + "\n")
        process.stdin.flush()
        status, took = json.loads(process.stdout.readline())
        return status, took

    yield run
    process.stdin.close()
    process.wait()
    process.stdout.close()


def test_a_command_that_is_killed_goes_on_and_nothing_is_left_behind(
    scenario: Path, tmp_path: Path, command: Callable[[list[str], float], tuple[int, float]]
) -> None:
    """At 20 random moments between its first instruction and its last."""
    arguments = [*RUN, str(scenario)]
    whole = tmp_path / "whole.json"
    assert command([*arguments, "--json", str(whole)], 60)[0] == 0
    status, took = command([*arguments, "--store", str(tmp_path / "runs")], 60)
    assert status == 0
    dice = random.Random(11)
    stored = []
    for i in range(20):
        folder = tmp_path / str(i)
        folder.mkdir()
        here = [*arguments, "--json", str(folder / "r.json"), "--store", str(folder / "runs")]
        status, _ = command(here, dice.uniform(0, 1.05 * took))
        assert status in (0, -signal.SIGKILL)
        assert not [name for name in names(folder) if name.startswith(".")], "nothing hidden"
        with Store(folder / "runs") as store:
            stored.append(sum(one.runs for one in store.cores()))
        status, _ = command(here, 60)
        assert status == 0
        assert names(folder) == ["r.json", "runs"]
        assert without_clock((folder / "r.json").read_text()) == without_clock(whole.read_text())
        with Store(folder / "runs") as store:
            assert [one.runs for one in store.cores()] == [20]
    assert any(0 < n < 20 for n in stored), f"none was killed on the way: {stored}"


def test_a_run_that_was_put_is_there_whatever_happens_next(tmp_path: Path) -> None:
    text = """
import os, signal, sys
from pathlib import Path
from interlayer.study.store import Store
store = Store(Path(sys.argv[1]))
for seed in range(7):
    store.put("key", seed, {"seed": seed})
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", text, tmp_path / "runs"], check=False)
    assert done.returncode == -signal.SIGKILL
    with Store(tmp_path / "runs") as store:
        assert [store.get("key", seed) for seed in range(8)] == [*({"seed": seed} for seed in range(7)), None]
    assert names(tmp_path) == ["runs"]


def test_two_commands_share_a_store(scenario: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "interlayer", "run", scenario, "--runs", "12", "--store", tmp_path / "runs"]
    both = [subprocess.Popen([*arguments, "--json", "-"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    found = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert without_clock(found[0]) == without_clock(found[1])
    with Store(tmp_path / "runs") as store:
        assert [one.runs for one in store.cores()] == [12]
    assert names(tmp_path) == ["runs", "small.toml"]


def test_many_may_begin_a_store_at_once(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def write(place: Path, seed: int, start: threading.Barrier) -> None:
        try:
            start.wait()
            with Store(place) as store:
                store.put("key", seed, {"seed": seed})  # type: ignore[typeddict-item]
        except BaseException as e:
            failed.append(e)

    for i in range(10):
        place, start = tmp_path / str(i), threading.Barrier(4)
        threads = [threading.Thread(target=write, args=(place, seed, start)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        with Store(place) as store:
            assert [store.get("key", seed) for seed in range(4)] == [{"seed": seed} for seed in range(4)]


# ---------------------------------------------------------------------------------------------------- what it is asked


def test_commands_of_all_kinds_share_a_store(core: Core, tmp_path: Path, call: Any) -> None:
    store = ["--store", tmp_path / "runs"]
    assert call("reproduce", "lle-fig-3.7a", "--quick", "--json", tmp_path / "a", *store)[0] == 0
    made = sum(core.batches)
    assert made
    assert call("reproduce", "lle-fig-3.7a", "--quick", "--json", tmp_path / "b", *store)[0] == 0
    assert sum(core.batches) == made
    assert without_clock((tmp_path / "a").read_text()) == without_clock((tmp_path / "b").read_text())
    assert call("readings", "lle-fig-3.7a", "--readings", "base", "--runs", 3, *store)[0] == 0
    assert sum(core.batches) == made
    assert call("reproduce", "lle-fig-3.7a", "--quick", "--seed", 2, *store)[0] == 0
    assert sum(core.batches) < 2 * made, "two of three seeds are there"


def test_series_and_captures_are_made_afresh(core: Core, tmp_path: Path, call: Any, scenario: Path) -> None:
    store = ["--store", tmp_path / "runs"]
    for options, made in (([], 2), ([], 2), (["--pcap", tmp_path / "c"], 4), (["--series"], 6), (["--runs", 3], 7)):
        assert call("run", scenario, "--runs", 2, *store, *options)[0] == 0
        assert sum(core.batches) == made


def test_the_variable_names_a_store_too(
    core: Core, tmp_path: Path, call: Any, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLAYER_STORE", str(tmp_path / "runs"))
    for _ in range(2):
        assert call("run", scenario, "--runs", 1)[0] == 0
    assert sum(core.batches) == 1
    assert call("store", "list")[0] == 0


def test_without_a_store_nothing_is_kept(core: Core, tmp_path: Path, call: Any, scenario: Path) -> None:
    for _ in range(2):
        assert call("run", scenario, "--runs", 1)[0] == 0
    assert sum(core.batches) == 2
    assert names(tmp_path) == ["small.toml"]


def test_another_core_finds_nothing_and_prune_removes_what_others_made(
    core: Core, tmp_path: Path, call: Any, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ["--store", tmp_path / "runs"]
    assert call("run", scenario, "--runs", 3, *store)[0] == 0
    own = simulator.core_hash()
    monkeypatch.setattr(simulator, "core_hash", lambda: "another")
    assert call("run", scenario, "--runs", 2, *store)[0] == 0
    assert sum(core.batches) == 5
    status, out, _ = call("store", "list", *store)
    assert status == 0
    lines = [line.split("  ")[:2] for line in out.splitlines()]
    assert [line[0] for line in lines[:2]] == ["another", own]
    assert lines[0][1].startswith("2 runs of 1 scenario, ")
    assert out.splitlines()[0].endswith("this core")
    found = json.loads(call("store", "list", "--json", "-", *store)[1])
    assert [(c["core"], c["is_current"], c["scenarios"], c["runs"]) for c in found["cores"]] == [
        ("another", True, 1, 2),
        (own, False, 1, 3),
    ]
    assert found["bytes"] == (tmp_path / "runs").stat().st_size
    status, out, _ = call("store", "prune", *store)
    assert (status, out.startswith("removed 3 runs of another core: ")) == (0, True)
    assert [c["core"] for c in json.loads(call("store", "list", "--json", "-", *store)[1])["cores"]] == ["another"]
    assert call("store", "prune", *store)[1] == "nothing to remove: all runs are of this core\n"
    assert names(tmp_path) == ["runs", "small.toml"]


def test_a_core_that_was_replaced_under_the_process_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    simulator.core_hash()
    path = simulator._note_file()
    monkeypatch.setitem(simulator._files, path, (0, 0, 0))
    with pytest.raises(OutputError, match=r"was replaced while this process ran; start it again"):
        simulator.core_hash()


# ------------------------------------------------------------------------------------------------ what it is not


def full_store(place: Path) -> None:
    with Store(place) as store:
        for seed in range(200):
            store.put("key", seed, {"seed": seed, "noise": random.Random(seed).random()})  # type: ignore[typeddict-unknown-key]


def truncated(place: Path) -> None:
    full_store(place)
    with place.open("r+b") as file:
        file.truncate(place.stat().st_size // 2)


def overwritten(place: Path) -> None:
    full_store(place)
    with place.open("r+b") as file:
        file.seek(4096)
        file.write(random.Random(1).randbytes(place.stat().st_size - 4096))


def with_a_bad_run(place: Path) -> None:
    full_store(place)
    with sqlite3.connect(place) as database:
        database.execute("UPDATE run SET result = substr(result, 1, 20)")
    database.close()


@pytest.mark.parametrize("damage", [truncated, overwritten, with_a_bad_run])
def test_a_damaged_store_is_one_line_with_a_remedy(damage: Callable[[Path], None], tmp_path: Path) -> None:
    damage(tmp_path / "runs")

    def read() -> None:
        with Store(tmp_path / "runs") as store:
            for seed in range(200):
                store.get("key", seed)

    with pytest.raises(OutputError) as caught:
        read()
    assert str(caught.value).startswith(f"{tmp_path / 'runs'}: the store is damaged; move it away, or remove it")
    assert "\n" not in str(caught.value)


def test_a_damaged_store_ends_a_command_with_2(scenario: Path, tmp_path: Path, call: Any) -> None:
    overwritten(tmp_path / "runs")
    status, out, err = call("run", scenario, "--store", tmp_path / "runs")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "the store is damaged" in err


def other_database(place: Path) -> None:
    with sqlite3.connect(place) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()


def later_version(place: Path) -> None:
    full_store(place)
    with sqlite3.connect(place) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda place: place.write_text("[scenario]\n"), "is no store of Interlayer"),
        (other_database, "is an SQLite file, and no store of Interlayer"),
        (later_version, "is of a later version of Interlayer"),
        (Path.mkdir, "is a folder, not a file"),
    ],
)
def test_what_is_no_store_is_refused_and_stays(
    make: Callable[[Path], Any], says: str, scenario: Path, tmp_path: Path, call: Any
) -> None:
    make(tmp_path / "runs")
    before = (tmp_path / "runs").read_bytes() if (tmp_path / "runs").is_file() else b""
    status, out, err = call("run", scenario, "--store", tmp_path / "runs", "--json", tmp_path / "r.json")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("interlayer: --store: ")
    assert says in err
    assert names(tmp_path) == ["runs", "small.toml"]
    assert before == ((tmp_path / "runs").read_bytes() if (tmp_path / "runs").is_file() else b"")


def test_an_empty_file_becomes_a_store(core: Core, tmp_path: Path, call: Any, scenario: Path) -> None:
    (tmp_path / "runs").touch()
    assert call("run", scenario, "--store", tmp_path / "runs")[0] == 0
    assert call("store", "list", "--store", tmp_path / "runs")[1].count("\n") == 2


def test_a_store_in_no_folder_and_a_store_that_is_not_there_are_wrong_input(
    core: Core, tmp_path: Path, call: Any, scenario: Path
) -> None:
    status, _, err = call("run", scenario, "--store", tmp_path / "no" / "runs")
    assert (status, err) == (2, f"interlayer: --store: no folder {tmp_path / 'no'}\n")
    status, _, err = call("store", "list", "--store", tmp_path / "runs")
    assert (status, err) == (2, f"interlayer: --store: no file {tmp_path / 'runs'}\n")
    assert call("store", "prune")[2].startswith("interlayer: which store? Name its file with --store")
    with pytest.raises(InputError, match="no folder"):
        interlayer.run(interlayer.parse(SCENARIO), store=tmp_path / "no" / "runs")
    assert names(tmp_path) == ["small.toml"]


def test_wrong_input_makes_no_store(core: Core, tmp_path: Path, call: Any) -> None:
    assert call("reproduce", "lle-fig-3.7a", "--set", "flwo=1", "--store", tmp_path / "runs")[0] == 2
    assert names(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_store_that_cannot_be_written_is_one_line(scenario: Path, tmp_path: Path, call: Any) -> None:
    full_store(tmp_path / "runs")
    (tmp_path / "runs").chmod(0o400)
    status, _, err = call("run", scenario, "--store", tmp_path / "runs")
    assert (status, err.count("\n")) == (2, 1)
