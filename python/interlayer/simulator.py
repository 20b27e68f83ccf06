"""The one door to the compiled core: scenarios in, columns out, its errors as ours."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import machine, quantity
from .errors import InputError, InterlayerError, OutputError, PartError, RunError, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from . import _core
    from ._core import Run
    from .parts import Part

    Watch = Callable[[Mapping[int, float]], None]
    """Is told now and then, while no run finishes, the simulated time in s that each run has reached, by number."""

Registry = Literal[
    "schemes", "congestion", "receivers", "recovery", "rate-controls", "queues", "routing", "route-metrics", "traffic"
]

_SEEDS = 2**63
"""How many seeds there are: what TOML and a column of a frame can hold."""
MOST_RUNS = 10**9
"""Replications of one scenario at most: so many take no memory before they begin (tests/python/test_failures.py)."""

_MOST_JOBS = 4096
"""Threads that are started at most, whatever is asked for."""

_LOOK_S = 0.2
"""How often is looked how far runs are while none finishes."""

_AHEAD = 2
"""Runs that are submitted for each job: one is made, one waits. No more, whatever is wanted."""


def _module() -> Any:
    """The compiled core in use, as `_core.pyi` describes it."""
    from . import core

    return core.load()


def live_module() -> Any:
    """The core with its live arm. Raises `InputError` where it has none: it is Linux's."""
    found = _module()
    if not hasattr(found, "Live"):
        raise InputError("this core has no live arm: it needs Linux")
    return found


class Batch(NamedTuple):
    """One entry a task, in the order given; None where Ctrl-C came first."""

    runs: list[Run | None]
    interrupted: bool


def version() -> str:
    """The version of the core, which is that of the package; with a crate outside also its name, version and hash.

    As `0.1.0+my-schemes.0.2.0.1f3a5c7e`: tables, figures and files state it, so none of their numbers is taken for one
    of the released package.
    """
    found = _module()
    own = str(found.__version__)
    return own if found.outside is None else f"{own}+{'.'.join(found.outside[:2])}.{core_hash()[:8]}"


def outside() -> dict[str, Any] | None:
    """The crate outside that the core was built with: name, version, hash, and what it adds. None: there is none."""
    if (found := _module().outside) is None:
        return None
    name, own, parts = found
    return {"crate": name, "version": own, "hash": core_hash(), "parts": parts}


def parse(text: str, overrides: Sequence[tuple[str, str]] = (), parts: Sequence[Part] = ()) -> _core.Scenario:
    """Read and check a scenario; overrides are (path, TOML text), later ones win. It may name `parts` in Python.

    Raises `InputError`, and `PartError` if the code of a part fails where it is tried.
    """
    found = _module()
    _note_file()
    try:
        parsed: _core.Scenario = found.parse(text, list(overrides), list(parts))
    except found.InputError as e:
        raise InputError(str(e), getattr(e, "path", ""), mistakes=getattr(e, "mistakes", ())) from e
    except found.PartError as e:
        raise PartError(_said(e)) from e.__cause__
    return parsed


def overridden(text: str, overrides: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The tables of a scenario's text after its overrides, as a file would have them. Raises `InputError`."""
    found = _module()
    try:
        tables: dict[str, Any] = json.loads(found.overridden(text, list(overrides)))
    except found.InputError as e:
        raise InputError(str(e), getattr(e, "path", ""), mistakes=getattr(e, "mistakes", ())) from e
    return tables


def schema() -> dict[str, Any]:
    """The JSON Schema of scenarios."""
    found: dict[str, Any] = json.loads(_module().schema())
    return found


def tables(text: str, name: str = "") -> dict[str, Any]:
    """TOML as tables. Raises `InputError` in the words that the core has for it; `name` goes before them."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        before = f"{name}: " if name else ""
        try:
            parse(text)
        except InputError as own:
            raise own.behind(before) from e
        raise InputError(f"{before}{str(e)[0].lower()}{str(e)[1:]}") from e


def limited_flows(scenario: _core.Scenario) -> frozenset[str]:
    """The flows whose application offers less than the network may carry, by name.

    These are all but bulk and saturated traffic, files back to back without end, and readers that take all at once.
    """
    found = set()
    for i, flow in enumerate(json.loads(scenario.to_json()).get("flow", [])):
        traffic = flow.get("traffic", {"model": "bulk"})
        is_endless = not traffic.get("bytes") and not traffic.get("files")
        greedy = traffic["model"] in ("bulk", "saturated") or (
            traffic["model"] == "ftp" and traffic.get("pause", "").startswith("0 ")
        )
        if not (greedy and is_endless and flow.get("reader", {}).get("model", "instant") == "instant"):
            found.add(str(flow.get("name", f"flow{i}")))
    return frozenset(found)


def _said(e: BaseException) -> str:
    """An error of a part in one line: which part, what it raised, and where."""
    from traceback import extract_tb

    cause = e.__cause__
    if cause is None:
        return str(e)
    what = " ".join(f"{type(cause).__name__}: {cause}".split()).removesuffix(":")
    frames = extract_tb(cause.__traceback__)
    return f"{e}: {what}" + (f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else "")


def check_seeds(first: int, runs: int) -> None:
    """Raise `InputError` unless so many seeds from `first` on are there, and no more than anybody can mean."""
    if runs > MOST_RUNS:
        raise InputError(f"--runs: {runs} is more than {MOST_RUNS}, the most of one scenario", "--runs")
    for seed in (first, first + runs - 1):
        if not 0 <= seed < _SEEDS:
            raise InputError(f"seed: {seed} is not from 0 to {_SEEDS - 1}", "seed")


def check_jobs(jobs: int) -> None:
    """Raise `InputError` for less than no job."""
    if jobs < 0:
        raise InputError(f"jobs: {jobs} is below 0; 0 is one a core", "jobs")


def stream(
    tasks: Iterable[tuple[_core.Scenario, int]],
    *,
    jobs: int = 0,
    pcap_dir: Path | None = None,
    series: bool = False,
    timeline: tuple[int, int] | None = None,
    scene: bool = False,
    watch: Watch | None = None,
    look_s: float = _LOOK_S,
) -> Generator[tuple[int, Run | RunError]]:
    """Run each (scenario, seed), `jobs` at a time (0: one a core); gives each with its number as it finishes.

    Tasks are taken as they are needed: nothing is kept of those that have not begun. One that fails by a mistake of the
    program gives its error, and the others go on. `timeline` is the window in ns in which the timeline of the air is
    kept (`timeline.window`), `scene` keeps what a picture that moves shows. `watch` is told every `look_s`. Close it,
    or Ctrl-C, and what is under way is stopped. Raises `InputError`, and `OutputError` if a capture cannot be written,
    `PartError` if the code of a part in Python fails.
    """
    check_jobs(jobs)
    core = _module()
    runner, room = None, _Room()
    todo, asked = iter(tasks), {}
    try:
        while True:
            while runner is None or runner.pending < min(_AHEAD * runner.jobs, room.runs):
                if (task := next(todo, None)) is None:
                    break
                scenario, seed = task
                check_seeds(seed, 1)
                room.make_for(scenario)
                if runner is None:
                    pcap = None if pcap_dir is None else str(pcap_dir)
                    at_once = min(jobs, _MOST_JOBS)
                    kept: dict[str, Any] = {"series": series, "timeline": timeline, "scene": scene}
                    runner = core.Runner(jobs=at_once, pcap_dir=pcap, **kept)
                asked[runner.submit(scenario, seed)] = task
            if runner is None:
                return
            if (found := runner.next(None if watch is None else look_s)) is None:
                if not runner.pending:
                    return
                if watch is not None:
                    watch(dict(runner.reached_s()))
                continue
            number, run = found
            scenario, seed = asked.pop(number)
            if isinstance(run, core.PartError):
                raise PartError(_said(run), scenario.name, seed) from run.__cause__
            yield number, RunError(scenario.name, seed, run) if isinstance(run, str) else run
    except InterlayerError:
        raise
    except core.InputError as e:
        raise InputError(str(e), getattr(e, "path", "")) from e
    except OSError as e:
        raise OutputError(str(e).partition(" (os error")[0]) from e
    finally:
        if runner is not None:
            runner.stop()
            _leave(runner)


_MOST_WAIT_S = 5.0
"""How long is waited for code of parts in Python that was told to stop: a call that blocks does not hear it."""


class _Stopped(BaseException):
    """Raised in a part in Python whose run is not wanted any more."""


def _leave(runner: _core.Runner) -> None:
    """Wait until no thread of a stopped runner is in a part in Python, be it in an endless loop."""
    if not runner.threads():
        return
    import ctypes
    import time

    begun = time.monotonic()
    while (threads := runner.threads()) and time.monotonic() - begun < _MOST_WAIT_S:
        if time.monotonic() - begun > 0.1:  # most are over by then
            for thread in threads:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_Stopped))
        time.sleep(0.01)


_LARGE = 100_000_000
"""Bytes of a run from which memory is thought of: all smaller ones fit beside each other."""


class _Room:
    """How many of the runs of a stream the memory holds at once, of which it is told one by one."""

    def __init__(self) -> None:
        self.runs = 2**63
        self._free: int | None = None
        self._largest = _LARGE

    def make_for(self, scenario: _core.Scenario) -> None:
        """Raise `InputError` if a run of it does not fit."""
        if (needed := scenario.run_bytes) <= self._largest:
            return
        self._largest = needed
        if self._free is None:
            self._free = machine.free_memory()
        if self._free is None:
            return
        self.runs = self._free // needed
        if not self.runs:
            name, nodes, size = scenario.name or "scenario", len(scenario.nodes), quantity.size
            need = f"{nodes} nodes need {size(needed)} of memory for a run, and {size(self._free)} are free"
            raise InputError(f"{name}: {need}", "node")


_MOST_NODES = 65_000
"""Of any scenario, whatever memory there is: its file has no more entries."""


def most_nodes(small: _core.Scenario, large: _core.Scenario) -> tuple[int, str]:
    """How many nodes a scenario of this kind can have here, and why no more, in words.

    `small` and `large` are two of the kind: a run takes so much memory for each node, and so much for each pair.
    """
    free = machine.free_memory()
    few, many = len(small.nodes), len(large.nodes)
    pair = (large.run_bytes / many - small.run_bytes / few) / (many - few)
    node = small.run_bytes / few - pair * few
    if free is None or pair <= 0 or pair * _MOST_NODES**2 + node * _MOST_NODES <= free:
        return _MOST_NODES, "no scenario has more nodes"
    most = int((math.sqrt(node**2 + 4 * pair * free) - node) / (2 * pair))
    size = quantity.size
    return most, f"a run takes {size(pair)} of memory for each pair of nodes, and {size(free)} are free"


def forecast(scenario: _core.Scenario, runs: int, jobs: int) -> str:
    """What runs of a large scenario will take of the memory, in words; empty for small ones. Nothing is taken yet."""
    if (needed := scenario.run_bytes) <= _LARGE:
        return ""
    free, size = machine.free_memory(), quantity.size
    text = f"{len(scenario.nodes)} nodes: a run takes up to {size(needed)} of memory"
    if free is None:
        return text
    at_once = min(runs, jobs or machine.cores())
    limited = f", so {max(1, free // needed)} at a time" if at_once * needed > free >= needed else ""
    return f"{text}; {size(free)} are free{limited}"


def run_batch(
    tasks: Sequence[tuple[_core.Scenario, int]], *, jobs: int = 0, pcap_dir: Path | None = None, series: bool = False
) -> Batch:
    """Run a few (scenario, seed). Ctrl-C gives what was finished. Raises as `stream` does, and `RunError`."""
    runs: list[Run | None] = [None] * len(tasks)
    try:
        for number, run in stream(tasks, jobs=jobs, pcap_dir=pcap_dir, series=series):
            if isinstance(run, RunError):
                raise run
            runs[number] = run
    except KeyboardInterrupt:
        return Batch(runs, True)
    return Batch(runs, False)


def registry(kind: Registry) -> list[dict[str, str]]:
    """What can be named in a scenario: `id`, `summary`, `source` of each, sorted by id."""
    return [dict(entry) for entry in _module().registry(kind)]


def metrics() -> list[_core.Metric]:
    """The metrics of a run's tables, as `_core.pyi` describes them."""
    return list(_module().metrics())


# ------------------------------------------------------------------------------------------------- the file of the core

_files: dict[str, tuple[int, ...]] = {}
"""What the file of a core was when it was first used."""


def core_hash() -> str:
    """A hash of the compiled core: a version number stands still while code changes. Raises `OutputError`.

    The file may have been replaced since it was loaded, by a build: then its hash would be another core's.
    """
    path = _note_file()
    with writing(path), Path(path).open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if _looks(path) != _files[path]:
        raise OutputError(f"{path}: was replaced while this process ran; start it again")
    return found[:16]


def _note_file() -> str:
    path = str(_module().__file__)
    if path not in _files:
        _files[path] = _looks(path)
    return path


def _looks(path: str) -> tuple[int, ...]:
    with writing(path):
        it = Path(path).stat()
    return it.st_ino, it.st_size, it.st_mtime_ns


def absent(noun: str, name: str) -> str | None:
    """What to say of a name that is not modelled, such as the scheme `atcp`; None of any other."""
    said: str | None = _module().absent(noun, name)
    return said
