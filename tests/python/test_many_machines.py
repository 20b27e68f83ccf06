"""Runs made by a cluster of Dask: the same bytes as alone, whoever dies. Everything listens on loopback alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
from interlayer import simulator
from interlayer.engine import HERE, Here, chosen
from interlayer.errors import InputError
from interlayer.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = [pytest.mark.core, pytest.mark.slow]

PATIENCE_S = 180.0
"""Of a machine that is busy with other things; a mistake, and not a measure."""


class Started:
    """A process of Dask's, what it logs in a file."""

    def __init__(self, log: Path, program: str, *arguments: str, path: Path | None = None) -> None:
        self.log = log
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments, "--host", "127.0.0.1"]
        own = {} if path is None else {"PYTHONPATH": str(path)}
        with log.open("wb") as file:
            # What they have in front of our package is no business of theirs, and their web server is not wanted.
            self.process = subprocess.Popen(
                [*command, "--dashboard-address", "127.0.0.1:0"], stderr=file, stdout=file, env=os.environ | own
            )

    def address(self) -> str:
        """Where it listens, once it says so."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if found := re.search(r"(?:Scheduler|worker) at:\s+tcp://(\S+)", self.log.read_text()):
                return found[1]
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)
        raise TimeoutError(self.log.read_text())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, list[Started]()
        self.scheduler = Started(folder / "scheduler.log", "dask_scheduler", "--port", "0")
        self.started.append(self.scheduler)
        self.engine = f"dask://{self.scheduler.address()}"

    def worker(self, path: Path | None = None) -> Started:
        """One more worker, of one thread; its modules from `path` first."""
        here = self.scheduler.address()
        log = self.folder / f"worker-{len(self.started)}.log"
        scratch = self.folder / "scratch"
        words = ["--nthreads", "1", "--no-nanny", "--local-directory", str(scratch)]
        self.started.append(Started(log, "dask_worker", f"tcp://{here}", *words, path=path))
        self.started[-1].address()
        return self.started[-1]


@contextmanager
def a_cluster(folder: Path, workers: int) -> Iterator[tuple[Cluster, Sequence[Started]]]:
    with ExitStack() as left:
        cluster = Cluster(folder)
        left.callback(lambda: [one.kill() for one in cluster.started])
        yield cluster, [cluster.worker() for _ in range(workers)]


def listening(process: subprocess.Popen[bytes]) -> set[str]:
    """The addresses at which a process listens, as Linux has them: hexadecimal, the bytes of each word reversed."""
    sockets = set()
    for entry in Path(f"/proc/{process.pid}/fd").iterdir():
        found = re.fullmatch(r"socket:\[(\d+)\]", str(entry.readlink()))
        sockets |= {found[1]} if found else set()
    tables = [Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    return {row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets}


def command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "interlayer", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S, **options)


def begun(*arguments: object) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "interlayer", *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    path = tmp_path / "cell.toml"
    path.write_text(interlayer.wlan(3, rate="11 Mb/s", duration="60 s", loss=0.05, name="cell").text)
    return path


def without_times(text: str) -> str:
    """JSON without the wall-clock time that making it took."""
    return re.sub(r'"(wall_s|sim_s)": [\d.e-]+', "", text)


def kept(store: Path) -> dict[tuple[str, int], str]:
    """Every run of a store, by scenario and seed, without the time that making it took."""
    import sqlite3
    import zlib

    with sqlite3.connect(store) as database:
        rows = database.execute("SELECT hex(scenario), seed, recorded, result FROM run").fetchall()
    database.close()
    found = {}
    for scenario, seed, recorded, result in rows:
        run = json.loads(zlib.decompress(result))
        assert recorded == "tables"
        run.pop("sim_s")
        found[scenario, seed] = json.dumps(run)
    return found


def stored(store: Path) -> int:
    with Store(store) as it:
        return sum(one.runs for one in it.cores())


def wait_for(store: Path, runs: int, process: subprocess.Popen[str]) -> None:
    """Until so many runs are stored, and the command is still at work."""
    until = time.monotonic() + PATIENCE_S
    while stored(store) < runs:
        assert time.monotonic() < until
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def test_a_worker_that_is_killed_midway_changes_no_byte(tmp_path: Path, cell: Path) -> None:
    sweep = ("sweep", cell, "--over", "channel.errors.per=0.01,0.05,0.1", "--runs", 8, "--json", "-")
    alone = command(*sweep, "--store", tmp_path / "alone")
    assert alone.returncode == 0, alone.stderr
    with a_cluster(tmp_path, 2) as (cluster, (first, second)):
        for one in (cluster.scheduler, first, second):
            assert listening(one.process) == {"0100007F"}, "loopback, and nothing else"
        process = begun(*sweep, "--store", tmp_path / "many", "--engine", cluster.engine)
        wait_for(tmp_path / "many", 4, process)
        first.process.send_signal(signal.SIGKILL)
        there = stored(tmp_path / "many")
        out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (0, "")
        assert there < 20, "it was killed midway"
        assert second.process.poll() is None
    assert without_times(out) == without_times(alone.stdout)
    found = kept(tmp_path / "many")
    assert len(found) == 24
    assert found == kept(tmp_path / "alone")
    # From either store the command makes nothing, and says the same.
    again = command(*sweep, "--store", tmp_path / "many")
    assert without_times(again.stdout) == without_times(alone.stdout)
    assert stored(tmp_path / "many") == 24


class Mine(interlayer.Controller):
    """A window that stands still."""

    def on_ack(self, ack: Any, window: Any) -> None:
        pass

    def on_congestion(self, why: Any, window: Any) -> None:
        pass


def test_compare_and_reproduce_and_python_give_what_they_give_alone(tmp_path: Path, cell: Path) -> None:
    compare = (
        "compare",
        cell,
        "--schemes",
        "none,lle-tcp",
        "--runs",
        2,
        "--set",
        "scenario.duration=5 s",
        "--json",
        "-",
    )
    reproduce = ("reproduce", "lle-fig-3.7b", "--quick", "--json", "-")
    with a_cluster(tmp_path, 2) as (cluster, _):
        with pytest.raises(InputError, match=r"^engine: mine is a part in Python, which a cluster does not run$"):
            interlayer.compare(
                cell,
                arms={"mine": {"flow.*.transport.congestion": "mine"}},
                runs=1,
                parts={"mine": Mine},
                engine=cluster.engine,
            )
        for words in (compare, reproduce):
            alone, many = command(*words), command(*words, "--engine", cluster.engine)
            assert (many.returncode, many.stderr) == (0, "")
            assert without_times(many.stdout) == without_times(alone.stdout)
        code = (
            "import interlayer as il, sys\n"
            "cell, engine = sys.argv[1], sys.argv[2] or None\n"
            "swept = il.sweep(cell, {'channel.errors.per': [0.01, 0.1]}, runs=2, engine=engine)\n"
            "print(swept.rows.write_json())\n"
            "print(il.compare(cell, 'none,lle-tcp', runs=2, engine=engine).difference('lle-tcp').p_value)\n"
        )
        both = [
            subprocess.run([sys.executable, "-c", code, str(cell), engine], capture_output=True, text=True, check=True)
            for engine in ("", cluster.engine)
        ]
    assert both[0].stdout == both[1].stdout
    assert both[0].stdout.count("\n") == 2


def test_a_worker_with_another_core_is_refused_by_name(tmp_path: Path, cell: Path) -> None:
    here = Path(interlayer.__file__).parent
    other = tmp_path / "other" / "interlayer"
    other.mkdir(parents=True)
    for entry in here.iterdir():
        if not entry.name.startswith("_core.abi3"):
            (other / entry.name).symlink_to(entry.resolve())
    core = Path(str(simulator._note_file()))
    shutil.copyfile(core, other / core.name)
    with (other / core.name).open("ab") as file:
        file.write(b"\0")  # the same code, another file
    none = tmp_path / "none" / "interlayer"
    none.mkdir(parents=True)
    (none / "__init__.py").write_text('raise ImportError("not here")\n')
    with a_cluster(tmp_path, 1) as (cluster, _):
        sweep = ("sweep", cell, "--over", "channel.errors.per=0.01", "--runs", 1, "--out", tmp_path / "out")
        wrong = cluster.worker(tmp_path / "other")
        done = command(*sweep, "--engine", cluster.engine)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(
            rf"interlayer: engine: worker tcp://{re.escape(wrong.address())} has interlayer [\d.]+, "
            r"core [0-9a-f]{16}; "
            rf"here is interlayer {interlayer.__version__}, core {simulator.core_hash()}: "
            r"install the same wheel on both\n",
            done.stderr,
        )
        wrong.kill()
        bare = cluster.worker(tmp_path / "none")
        done = command(*sweep, "--engine", cluster.engine)
        assert done.returncode == 2
        assert f"worker tcp://{bare.address()} has no interlayer, or an older one; here is" in done.stderr
        bare.kill()
        assert not (tmp_path / "out").exists()
        # One that joins later is refused when it is given a run.
        process = begun(*sweep[:5], 400, "--store", tmp_path / "runs", "--engine", cluster.engine)
        wait_for(tmp_path / "runs", 2, process)
        late = cluster.worker(tmp_path / "other")
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 2
        assert err.count("\n") == 1
        assert err.startswith(f"interlayer: engine: worker tcp://{late.address()} has interlayer ")


def test_ctrl_c_cancels_and_the_workers_stop(tmp_path: Path, cell: Path) -> None:
    long = ("sweep", cell, "--over", "channel.errors.per=0.01", "--set", "scenario.duration=300000 s", "--runs", 3)
    short = ("sweep", cell, "--over", "channel.errors.per=0.01", "--runs", 2)
    with a_cluster(tmp_path, 1) as (cluster, (worker,)):
        process = begun(*long, "--engine", cluster.engine)
        until = time.monotonic() + PATIENCE_S
        while busy_s(worker) < 2.0:  # a run is under way
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        at = time.monotonic()
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert err.splitlines()[-1].startswith("interlayer: interrupted: ")
        assert time.monotonic() - at < 5.0
        # The one thread of the worker is free again: it does not make the run to its end, which takes minutes.
        done = command(*short, "--engine", cluster.engine)
        assert done.returncode == 0, done.stderr


def busy_s(one: Started) -> float:
    """Processor time of a process."""
    fields = Path(f"/proc/{one.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_scheduler_that_dies_is_one_line_and_what_was_made_is_kept(tmp_path: Path, cell: Path) -> None:
    with a_cluster(tmp_path, 2) as (cluster, _):
        process = begun(
            *("sweep", cell, "--over", "channel.errors.per=0.01", "--runs", 500),
            *("--store", tmp_path / "runs", "--engine", cluster.engine),
        )
        wait_for(tmp_path / "runs", 2, process)
        cluster.scheduler.kill()
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        assert err == f"interlayer: {cluster.engine}: the scheduler is gone, or has dropped the runs\n"
        assert stored(tmp_path / "runs") >= 2


def test_without_a_worker_it_says_so_and_waits_for_one(tmp_path: Path, cell: Path) -> None:
    with a_cluster(tmp_path, 0) as (cluster, _):
        process = begun("sweep", cell, "--over", "channel.errors.per=0.01", "--runs", 2, "--engine", cluster.engine)
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said == f"interlayer: {cluster.engine} has no worker yet; the runs wait for one\n"
        cluster.worker()
        assert (process.communicate(timeout=PATIENCE_S)[1], process.returncode) == ("", 0)


def refused(cell: Path, engine: str, **options: Any) -> tuple[str, float]:
    """The one line that the command says with such an engine, and the seconds it took."""
    begin = time.monotonic()
    done = command("sweep", cell, "--over", "channel.errors.per=0.01", "--engine", engine, **options)
    took_s = time.monotonic() - begin
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    return done.stderr.removeprefix("interlayer: ").rstrip("\n"), took_s


def test_a_scheduler_that_is_not_reached_is_one_line_within_seconds(cell: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        said, took_s = refused(cell, f"dask://127.0.0.1:{port}")
    assert said == f"engine: dask://127.0.0.1:{port}: something listens there, but no scheduler of Dask answers"
    assert took_s < 12.0
    said, took_s = refused(cell, f"dask://127.0.0.1:{port}")
    assert said == f"engine: dask://127.0.0.1:{port}: no scheduler of Dask is reached there"
    assert took_s < 12.0


def test_what_is_no_engine_is_one_line(cell: Path, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text('raise ImportError("not here")\n')
    without = {"env": os.environ | {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}}
    said, _ = refused(cell, "dask://127.0.0.1:8786", **without)
    assert said == 'engine: dask:// needs distributed, which is not installed: pip install "interlayer[dask]"'
    for name in ("dask://127.0.0.1", "dask://", "dask://:8786", "dask://a:b", "dask://a:1/x", "dask://a:99999"):
        with pytest.raises(InputError) as caught, chosen(name):
            pass
        assert str(caught.value) == f'engine: "{name}" is no dask://HOST:PORT, as in dask://127.0.0.1:8786'
    for name, hint in (("slurm", "a cluster of Dask is dask://127.0.0.1:8786"), ("das://a:1", 'did you mean "dask"?')):
        with pytest.raises(InputError) as caught, chosen(name):
            pass
        assert str(caught.value) == f'engine: "{name}" is none; {hint}'


def test_how_many_at_a_time_is_the_clusters_business() -> None:
    with pytest.raises(InputError, match=r"^jobs: how many runs a cluster makes"), chosen("dask://127.0.0.1:1", 2):
        pass
    with chosen(None, 3) as engine:
        assert engine == Here(3)
    assert Here(0) == HERE


def test_what_a_scenario_was_read_from_reads_the_same() -> None:
    text, changes = interlayer.wlan(3).text, [("radio.rts_threshold", "off"), ("scheme", "[{name='lle-tcp'}]")]
    scenario = simulator.parse(text, changes)
    assert scenario.source == (text, changes)
    assert simulator.parse(*scenario.source).to_json() == scenario.to_json()
