"""Failures are small: one line, the right status, nothing half-written, and what went well is kept."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer as package
from interlayer import machine, simulator
from interlayer.engine import Here
from interlayer.errors import InputError, InterlayerError, OutputError, PlaceError, RunError
from interlayer.show import output
from interlayer.study.runs import Cache, Wanted, extend
from interlayer.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fake_core import Core

SCENARIO = """
[scenario]
name = "toy"
duration = "2 s"
[radio]
standard = "802.11b"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", datagram = "1500B", receiver = "delayed-ack" }
"""
FAULT = '[[scheme]]\nname = "fault"\nshare = 0.4\n'


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(SCENARIO)
    return path


def names(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


# ------------------------------------------------------------------------------------------------ runs as they finish


@pytest.mark.parametrize("verb", ["run", "compare", "reproduce"])
def test_runs_that_have_not_begun_take_no_memory(verb: str, core: Core, toy: Path, call: Any) -> None:
    core.stop_after = 40
    what: list[object] = {"run": [toy], "compare": [toy, "--schemes", "none,lle-tcp"]}.get(verb, ["lle-fig-3.9"])
    status, out, err = call(verb, *what, "--runs", 1_000_000_000, "--json", "-")
    assert status == 130
    if verb == "reproduce":
        cost, _, err = err.partition("\n")
        assert re.fullmatch(r"interlayer: 1 experiment, \d+0{9} runs: about \d+ days on \d+ cores? \(.*\)", cost)
    said = re.fullmatch(
        r"interlayer: interrupted: (\d+) of (\d+) runs are finished(; .*)?; give --store FILE, .*\n", err
    )
    assert said is not None, err
    assert int(said[1]) == 40
    assert int(said[2]) >= 1_000_000_000
    found = json.loads(out)
    assert found["interrupted"]
    assert core.most_pending == 4, "two for each of two jobs"
    assert sum(core.batches) <= 40 + core.most_pending
    assert found["runs"] == {"run": 40, "compare": 20}.get(verb, found["runs"]) > 0


@pytest.mark.core
def test_a_billion_runs_end_by_ctrl_c_with_bounded_memory(toy: Path, tmp_path: Path) -> None:
    """Seen from outside: peak memory of the process, its status, its files."""
    arguments = ["run", toy, "--runs", 10**9, "--json", tmp_path / "r.json", "--store", tmp_path / "runs"]
    process = subprocess.Popen(
        [sys.executable, "-m", "interlayer", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )

    def stored() -> int:
        with Store(tmp_path / "runs") as store:
            return sum(one.runs for one in store.cores())

    while not stored():  # until the first run has finished
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
    process.send_signal(signal.SIGINT)
    told = process.communicate()[1].decode()
    assert re.fullmatch(
        rf"interlayer: interrupted: \d+ of {10**9} runs are finished; the same command goes on .*\n", told
    )
    assert process.returncode == 130
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["interrupted"]
    assert stored() - found["runs"] in (0, 1), "Ctrl-C may come when a run is stored and not yet counted"
    assert names(tmp_path) == ["r.json", "runs", "toy.toml"]
    # All children of this process so far; none of the others is larger. A list of 10⁹ entries alone is 8 GB.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 600_000, "kB"


def test_a_run_is_taken_when_it_finishes_and_lists_grow_in_the_order_of_seeds(core: Core, toy: Path) -> None:
    core.order = max  # the last that was submitted finishes first
    lists: list[list[Any]] = [[], []]
    scenarios = [simulator.parse(SCENARIO, [("radio.x", str(i))]) for i in range(2)]
    wanted = [Wanted(str(i), s, into, 6) for i, (s, into) in enumerate(zip(scenarios, lists, strict=True))]
    told: list[int] = []
    ended = extend(wanted, 3, Cache(), Here(1), "toy", lambda _, standing: told.append(standing.done))
    assert ended.is_whole
    assert [[run["seed"] for run in runs] for runs in lists] == [[3, 4, 5, 6, 7, 8]] * 2
    assert told == list(range(1, 13))


# ------------------------------------------------------------------------------------------------ a run that fails


def test_a_run_that_fails_takes_no_other_with_it(core: Core, toy: Path, call: Any) -> None:
    core.fails = {3, 5}
    status, out, err = call("run", toy, "--runs", 8, "--seed", 11, "--json", "-", "--set", "radio.x=a b")
    assert status == 1
    found = json.loads(out)
    assert found["runs"] == 6
    assert [(one["scenario"], one["seed"]) for one in found["failed"]] == [("toy", 14), ("toy", 16)]
    assert err == (
        'interlayer: scenario "toy", seed 14: panicked: attempt to subtract with overflow '
        f"(crates/mac/src/station/mod.rs:7) (and 1 more); to repeat it: interlayer run {toy} --set 'radio.x=a b' "
        "--seed 14 --runs 1\n"
    )


def test_an_experiment_with_a_failed_run_has_no_verdicts_and_the_next_one_has(
    core: Core, call: Any, tmp_path: Path
) -> None:
    core.fails = {30}
    status, out, err = call("reproduce", "lle-fig-3.7b", "lle-fig-3.9", "--runs", 2, "--json", "-")
    assert (status, err.count("\n")) == (1, 1)
    first, second = json.loads(out)
    assert first["preliminary"]
    assert len(first["failed"]) == 1
    assert all(claim["why"].startswith("A run failed") for claim in first["claims"])
    assert all(len(row) for row in second["rows"])
    assert f"; to repeat it: interlayer reproduce {'lle-fig-3.7b'} --seed " in err


def test_in_python_it_is_an_exception_with_the_other_results(core: Core) -> None:
    core.fails = {1}
    with pytest.raises(RunError) as caught:
        package.run(package.parse(SCENARIO), runs=4)
    assert (caught.value.scenario, caught.value.seed) == ("toy", 2)
    assert isinstance(caught.value.result, package.Result)
    assert caught.value.result.seeds == [1, 3, 4]
    core.fails = {2}
    with pytest.raises(RunError) as caught:
        package.compare(package.parse(SCENARIO), "none,lle-tcp", runs=3)
    assert isinstance(caught.value.result, package.Comparison)
    assert caught.value.result.replications == 1
    outcome = package.reproduce("lle-fig-3.7b", quick=True)
    assert outcome.preliminary
    assert [e.seed for e in outcome.failures] == [1]


@pytest.mark.core
def test_a_panic_in_the_core_is_one_line_with_its_seed_and_a_way_to_repeat_it(
    toy: Path, tmp_path: Path, call: Any
) -> None:
    """A real panic, in a scheme that only builds with debug assertions have (`make core`)."""
    toy.write_text(SCENARIO + FAULT)
    try:
        simulator.parse(SCENARIO + FAULT)
    except InputError:
        pytest.skip("this core has no debug assertions, and so no fault to ask for: `make test` tests one that has")
    # In a process of its own: what Rust prints does not pass Python's stderr.
    words = ["run", toy, "--runs", 12, "--json", "-", "--store", tmp_path / "runs"]
    command = [sys.executable, "-m", "interlayer", *map(str, words)]
    environment = os.environ | {"RUST_BACKTRACE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found, err = json.loads(done.stdout), done.stderr
    failed = [one["seed"] for one in found["failed"]]
    assert done.returncode == 1
    assert 0 < len(failed) == 12 - found["runs"] < 12
    line, newline, rest = err.partition("\n")
    assert (newline, rest) == ("\n", ""), "one line, and no backtrace of Rust's"
    assert line.startswith(
        f'interlayer: scenario "toy", seed {failed[0]}: panicked: a fault that was asked for (crates/'
    )
    again = shlex.split(line.partition("to repeat it: interlayer ")[2])
    assert again == ["run", str(toy), "--seed", str(failed[0]), "--runs", "1"]
    status, out, err = call(*again)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert f"seed {failed[0]}: panicked: a fault that was asked for" in err
    # The others are in the store; an arm beside it is whole.
    with Store(tmp_path / "runs") as kept:
        assert [one.runs for one in kept.cores()] == [12 - len(failed)]
    status, _, err = call("compare", toy, "--schemes", "none,file", "--runs", failed[0] + 1)
    assert status == 1
    assert f"seed {failed[0]}: panicked" in err


# -------------------------------------------------------------------------------------------- memory of large scenarios


@pytest.fixture
def large(core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario of 1000 nodes, for which the double says 1 GB; 3.5 GB are free."""
    monkeypatch.setattr(machine, "free_memory", lambda: 3_500_000_000)
    path = tmp_path / "large.toml"
    path.write_text(SCENARIO.replace('name = "toy"', 'name = "large"') + '[[node]]\nname = "x"\n' * 998)
    return path


def test_a_large_scenario_says_beforehand_what_it_takes(core: Core, large: Path, call: Any) -> None:
    status, out, err = call("run", large, "--runs", 9, "--jobs", 8)
    assert status == 0
    assert err == ("interlayer: 1000 nodes: a run takes up to 1 GB of memory; 3.5 GB are free, so 3 at a time\n")
    assert core.most_pending == 3, "no more are given to the core at once"
    status, out, err = call("check", large)
    assert (status, err) == (0, "")
    assert out.splitlines()[1] == f"{large}: 1000 nodes: a run takes up to 1 GB of memory; 3.5 GB are free"


@pytest.mark.parametrize("verb", ["run", "compare"])
def test_one_that_does_not_fit_is_refused_before_it_runs(
    verb: str, core: Core, large: Path, call: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "free_memory", lambda: 900_000_000)
    options = ["--schemes", "none,lle-tcp"] if verb == "compare" else []
    status, out, err = call(verb, large, "--out", tmp_path / "out", *options)
    assert (status, out) == (2, "")
    assert "large: 1000 nodes need 1 GB of memory for a run, and 900 MB are free" in err.splitlines()[-1]
    assert core.batches == []
    assert names(tmp_path) == ["large.toml"]


def test_where_nothing_is_known_of_memory_nothing_is_refused(
    core: Core, large: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "free_memory", lambda: None)
    line = "interlayer: 1000 nodes: a run takes up to 1 GB of memory\n"
    assert call("run", large)[::2] == (0, line)
    assert call("compare", large, "--schemes", "none,lle-tcp")[::2] == (0, line)


def test_free_memory_is_the_least_of_what_limits_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemTotal:  9000 kB\nMemAvailable:  5000 kB\n")
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine.free_memory() == 5000 * 1024
    (tmp_path / "memory.current").write_text("1000\n")
    for text, free in (("max\n", 5000 * 1024), ("4000\n", 3000), ("900\n", 0)):
        (tmp_path / "memory.max").write_text(text)
        assert machine.free_memory() == free
    (tmp_path / "memory.max").unlink()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    (tmp_path / "meminfo").write_text(f"MemAvailable: {2**50} kB\n")
    resource.setrlimit(resource.RLIMIT_AS, (2**46, hard))
    try:
        assert 0 < machine.free_memory() < 2**46  # type: ignore[operator]
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def cell(stations: int) -> str:
    """A cell of many stations, each with a flow to the access point."""
    text = '[scenario]\nname = "cell"\nduration = "1 s"\n[radio]\nstandard = "802.11a"\n'
    text += '[[node]]\nname = "ap"\nrole = "ap"\n'
    one = '[[node]]\nname = "s{0}"\n[[flow]]\nfrom = "s{0}"\nto = "ap"\ntransport = {{ protocol = "tcp" }}\n'
    return text + "".join(one.format(i) for i in range(stations))


@pytest.mark.core
def test_check_of_ten_thousand_stations_builds_no_table_of_pairs(tmp_path: Path) -> None:
    """Under a limit of address space that holds less than a quarter of the 4 GB which a run takes."""
    (tmp_path / "cell.toml").write_text(cell(10_000))
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({10**9}, {10**9}))"
    words = "from interlayer import cli; import sys; cli.main(sys.argv[1:])"
    command = [sys.executable, "-c", f"{limit}; {words}"]
    done = subprocess.run([*command, "check", tmp_path / "cell.toml"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "10001 nodes: a run takes up to 3." in done.stdout
    done = subprocess.run([*command, "run", tmp_path / "cell.toml"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    told, refused = done.stderr.splitlines()
    assert told.startswith("interlayer: 10001 nodes: a run takes up to 3.")
    assert refused.startswith("interlayer: cell: 10001 nodes need 3.")


@pytest.mark.core
def test_what_a_forecast_counts_grows_with_the_square_of_the_nodes() -> None:
    few, many = (simulator.parse(cell(n)).run_bytes for n in (500, 1000))
    assert 2.5 < many / few < 4


# ------------------------------------------------------------------------------------------- the operating system


@contextmanager
def full_disk(bytes_: int = 1000) -> Iterator[None]:
    """No file of this process grows beyond so many bytes: "file too large", where a full disk says "no space left"."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    "arguments",
    ["run TOY --out out", "compare TOY --schemes none,lle-tcp --out out", "reproduce lle-fig-3.9 --quick --out out"],
)
@pytest.mark.parametrize("size", [0, 5000])
def test_a_disk_that_is_full_under_a_folder_is_one_line(
    arguments: str, size: int, core: Core, toy: Path, tmp_path: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with full_disk(size):
        status, out, err = call(*arguments.replace("TOY", "toy.toml").split())
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err == f"interlayer: {tmp_path}/out: file too large\n"
    assert names(tmp_path) == ["toy.toml"]


@pytest.mark.parametrize("verb", ["run", "list"])
def test_a_disk_that_is_full_under_a_file_is_one_line(
    verb: str, core: Core, toy: Path, tmp_path: Path, call: Any
) -> None:
    what = toy if verb == "run" else "schemes"
    with full_disk(20):
        status, out, err = call(verb, what, "--json", tmp_path / "r.json")
    assert (status, out, err) == (1, "", f"interlayer: {tmp_path}/r.json: file too large\n")
    assert names(tmp_path) == ["toy.toml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_one_line(core: Core, toy: Path, call: Any) -> None:
    assert call("run", toy, "--json", "/dev/full") == (1, "", "interlayer: /dev/full: no space left on device\n")
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a descriptor is what is wanted
        for arguments in (["list", "schemes"], ["--help"], ["run", str(toy)]):
            command = [sys.executable, "-m", "interlayer", *arguments]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            assert (done.returncode, done.stderr) == (1, "interlayer: output: no space left on device\n")


def test_a_disk_that_is_full_under_a_store_is_one_line_and_the_store_lives_on(
    core: Core, toy: Path, tmp_path: Path, call: Any
) -> None:
    store = ["--store", tmp_path / "runs"]
    assert call("run", toy, "--runs", 2, *store)[0] == 0
    with full_disk((tmp_path / "runs").stat().st_size):
        status, out, err = call("run", toy, "--runs", 500, *store)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"interlayer: {tmp_path}/runs: ")
    made = sum(core.batches)
    assert call("run", toy, "--runs", 2, *store)[0] == 0
    assert sum(core.batches) == made, "what was there is there"
    assert names(tmp_path) == ["runs", "toy.toml"]


@pytest.mark.core
def test_a_disk_that_is_full_under_captures_is_one_line(toy: Path, tmp_path: Path, call: Any) -> None:
    with full_disk():
        status, out, err = call("run", toy, "--runs", 3, "--pcap", tmp_path / "captures")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert ".pcapng: File too large" in err
    assert names(tmp_path) == ["toy.toml"]
    with full_disk(), pytest.raises(OutputError, match="File too large"):
        package.run(package.parse(SCENARIO), pcap=tmp_path / "captures")


def test_a_folder_that_vanishes_while_it_runs_is_one_line(core: Core, toy: Path, tmp_path: Path, call: Any) -> None:
    usual, place = core.model, tmp_path / "place"

    def vanish(*arguments: Any) -> dict[str, Any]:
        shutil.rmtree(place, ignore_errors=True)
        return usual(*arguments)

    core.model = vanish
    for option, target in (("--out", place / "out"), ("--json", place / "r.json")):
        place.mkdir()
        status, out, err = call("run", toy, option, target)
        assert (status, out) == (1, "")
        assert err == f"interlayer: {target}: no such file or directory\n"
    assert names(tmp_path) == ["toy.toml"]


def test_a_working_folder_that_is_gone_is_one_line(toy: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    text = f"import os, sys; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
    text += "from interlayer import cli; cli.main(sys.argv[1:])"
    command = [sys.executable, "-c", text, "run", str(toy), "--out", "out"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


@pytest.mark.core
def test_a_trace_that_cannot_be_written_is_the_packages_own_exception(tmp_path: Path) -> None:
    found = package.run(package.parse(SCENARIO), timeline="1 s..1.001 s")
    with pytest.raises(OutputError, match="no such file or directory"):
        found.write_trace(tmp_path / "no" / "trace.json")


def test_a_python_without_sqlite_has_no_store_and_all_else(core: Core, toy: Path, tmp_path: Path) -> None:
    text = "import sys; sys.modules['sqlite3'] = None; from interlayer import cli; cli.main(sys.argv[1:])"
    command = [sys.executable, "-c", text, "list", "experiments"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    command = [sys.executable, "-c", text, "run", str(toy), "--store", str(tmp_path / "runs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "interlayer: --store: this Python was built without sqlite3\n")


def test_what_the_system_says_is_the_packages_own_exception() -> None:
    assert issubclass(OutputError, InterlayerError)
    assert issubclass(OutputError, OSError)
    assert (InputError.status, OutputError.status, PlaceError.status, RunError.status) == (2, 1, 2, 1)


# ---------------------------------------------------------------------------------------------------- jobs and seeds


def test_less_than_no_job_is_refused(core: Core, toy: Path, call: Any) -> None:
    for verb in (["run", toy], ["compare", toy, "--schemes", "none,lle-tcp"], ["reproduce", "lle-fig-3.9"]):
        status, out, err = call(*verb, "--jobs", -1)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "--jobs" in err
    calls: list[Callable[[], object]] = [
        lambda: package.run(package.parse(SCENARIO), jobs=-1),
        lambda: package.compare(package.parse(SCENARIO), "none,lle-tcp", jobs=-1),
        lambda: package.reproduce("lle-fig-3.9", jobs=-1),
        lambda: Here(-2),
    ]
    for one in calls:
        with pytest.raises(InputError, match=r"jobs: -\d is below 0; 0 is one a core"):
            one()
    assert core.batches == []


@pytest.mark.core
def test_more_jobs_than_threads_can_be_had_are_as_many_as_can() -> None:
    found = package.run(package.parse(SCENARIO).set("scenario.duration", "10 ms"), runs=3, jobs=10**12)
    assert found.seeds == [1, 2, 3]


def test_seeds_beyond_the_last_are_refused_before_anything_runs(core: Core, toy: Path, call: Any) -> None:
    status, _, err = call("run", toy, "--seed", 2**63 - 10, "--runs", 11)
    assert (status, err) == (2, f"interlayer: seed: {2**63} is not from 0 to {2**63 - 1}\n")
    assert core.batches == []


# --------------------------------------------------------------------------------------------------- folders of results


def test_a_second_result_of_the_same_replaces_the_first_whole(core: Core, toy: Path, tmp_path: Path, call: Any) -> None:
    out = tmp_path / "out"
    assert call("run", toy, "--series", "--out", out, "--pcap", out / "captures", "--runs", 2)[0] == 0
    (out / "notes.txt").write_text("mine")
    (out / "captures" / "notes.txt").write_text("mine too")
    assert "series.csv" in names(out)
    assert "captures/a-2.pcapng" in names(out)
    assert call("run", toy, "--out", out, "--pcap", out / "captures")[0] == 0
    assert not [name for name in names(out) if name.startswith(("series", "timeline", "captures/a-2", "captures/b-2"))]
    assert {"index.html", "flows.csv", "notes.txt", "captures/notes.txt", "captures/a-1.pcapng"} <= set(names(out))
    assert json.loads((out / output.CONTENTS).read_text())["of"] == "run toy"


def test_captures_may_stand_beside_the_results_of_their_runs(core: Core, toy: Path, tmp_path: Path, call: Any) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert call("run", toy, "--out", out, "--pcap", out, "--runs", 2)[0] == 0
        assert {"index.html", "a-1.pcapng", "b-2.pcapng"} <= set(names(out))
    listed = json.loads((out / output.CONTENTS).read_text())["files"]
    assert sorted([*listed, output.CONTENTS]) == names(out)


def test_a_folder_with_another_result_is_refused_before_anything_runs(
    core: Core, toy: Path, tmp_path: Path, call: Any
) -> None:
    out = tmp_path / "out"
    assert call("run", toy, "--out", out)[0] == 0
    before, ran = names(out), sum(core.batches)
    for other in (["compare", toy, "--schemes", "none,lle-tcp"], ["reproduce", "lle-fig-3.9", "--quick"]):
        status, _, err = call(*other, "--out", out)
        assert status == 2
        told = "choose another folder, or write into it with --force"
        assert err == f"interlayer: {out}: has the results of `run toy`; {told}\n"
    assert (names(out), sum(core.batches)) == (before, ran)
    assert names(tmp_path) == ["out", *(f"out/{name}" for name in before), "toy.toml"]
    assert call("reproduce", "lle-fig-3.9", "--quick", "--out", out, "--force")[0] == 0
    assert not set(names(out)) & (set(before) - {"index.html", output.CONTENTS}), "the other result is gone"
    assert "lle-fig-3.9.html" in names(out)


def test_a_users_own_page_is_refused_and_stays(core: Core, toy: Path, tmp_path: Path, call: Any) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "index.html").write_text("mine")
    status, _, err = call("run", toy, "--out", out)
    told = "has other things in it (index.html); choose another folder, or write into it with --force"
    assert (status, err) == (2, f"interlayer: {out}: {told}\n")
    assert (out / "index.html").read_text() == "mine"
    assert core.batches == []
    (out / "index.html").rename(out / "a-1.pcapng")
    assert call("run", toy, "--pcap", out)[0] == 2
    assert (out / "a-1.pcapng").read_text() == "mine"


def test_another_file_of_the_users_with_the_name_of_ours_stays(
    core: Core, toy: Path, tmp_path: Path, call: Any
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "flows.csv").write_text("mine")
    status, _, err = call("run", toy, "--out", out)
    told = "has other things in it (flows.csv); choose another folder, or write into it with --force"
    assert (status, err) == (2, f"interlayer: {out}: {told}\n")
    assert core.batches == []
    assert names(out) == ["flows.csv"]
    assert (out / "flows.csv").read_text() == "mine"


def test_force_writes_beside_other_things_and_these_stay(core: Core, toy: Path, tmp_path: Path, call: Any) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    for verb in (["run", toy], ["compare", toy, "--schemes", "none,lle-tcp"], ["sweep", toy, "--over", "radio.x=1,2"]):
        status, _, err = call(*verb, "--out", out)
        assert status == 2
        assert "has other things in it (notes.txt); choose another folder, or write into it with --force" in err
    assert names(out) == ["notes.txt"]
    result = package.run(package.parse(SCENARIO))
    with pytest.raises(InputError, match=r"write into it with force=True"):
        result.save(out)
    result.save(out, force=True)
    assert {"notes.txt", "index.html", output.CONTENTS} <= set(names(out))
    assert (out / "notes.txt").read_text() == "mine"
    assert call("run", toy, "--out", out)[0] == 0, "now it is a folder of ours"


@pytest.mark.parametrize("place", ["/proc/out", "/dev/null/out", "/proc/self/status"])
def test_a_place_that_cannot_be_written_is_wrong_input(place: str, core: Core, toy: Path, call: Any) -> None:
    for arguments in (["--out", place], ["--json", f"{place}/r.json"], ["--store", f"{place}/runs"]):
        status, out, err = call("run", toy, *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1), err
    assert core.batches == []


def test_what_a_killed_process_left_is_in_sight_and_goes_with_the_next_command(tmp_path: Path) -> None:
    text = """
import os, signal, sys
from pathlib import Path
from interlayer.show import output
with output.folder(Path(sys.argv[1])) as out, output.file(Path(sys.argv[2])) as one:
    (out.path / "half").write_text("x")
    one.path.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", text, tmp_path / "out", tmp_path / "r.json"], check=False)
    left = sorted(p.name for p in tmp_path.iterdir())
    assert [name.partition("-")[0] for name in left] == ["out.partial", "r.json.partial"]
    with output.folder(tmp_path / "out") as out, output.file(tmp_path / "r.json") as one:
        assert out is not None
        assert one is not None
        inside = sorted(p.name for p in tmp_path.iterdir())
        assert len(inside) == 2, "its own"
        assert not set(inside) & set(left)
        # Another command in the same place leaves alone what is in use.
        with output.folder(tmp_path / "out"):
            assert out.path.is_dir()
        (out.path / "x").write_text("1")
        out.commit()
        one.write("{}")
    assert names(tmp_path) == ["out", "out/interlayer.json", "out/x", "r.json"]
