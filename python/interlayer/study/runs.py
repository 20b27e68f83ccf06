"""Runs that are wanted: many scenarios and seeds, each of them once, as they finish.

What is wanted is told as ranges, and tasks are made one by one while the core works: a billion replications need no
memory before they begin. Finished runs are kept in memory, and in a store on disk where there is one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from interlayer import simulator
from interlayer.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from interlayer import _core
    from interlayer._core import Run
    from interlayer.engine import Engine
    from interlayer.simulator import Watch

    from .store import Store

    Progress = Callable[[str, "Standing"], None]
    Task = tuple["_core.Scenario", int]


_UNSTORED = "not to be stored "
"""What the key of a scenario begins with whose runs are kept for the command alone."""


class Cache:
    """Runs by what fixes them, scenario and seed: what several experiments, arms or counter-runs ask for is run once.

    Runs are shared, not copied: they are to be read only. With a `store`, those of earlier commands are found there,
    and new ones go there as they finish.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._runs: dict[tuple[str, int], Run] = {}
        self._store = store
        self._used: dict[tuple[str, int], float] = {}

    @staticmethod
    def key(scenario: _core.Scenario) -> str:
        """A scenario with its defaults filled in, without what no run depends on: its name, and its own first seed.

        Of a part in Python it has the hash of the source. One without makes a key that no other call can find.
        """
        content = json.loads(scenario.to_json())
        for name in ("name", "seed"):
            content["scenario"].pop(name, None)
        if not scenario.parts:
            return json.dumps(content, sort_keys=True)
        content["parts in Python"] = scenario.parts
        unknown = any(source_hash is None for _, _, source_hash in scenario.parts)
        return (_UNSTORED if unknown else "") + json.dumps(content, sort_keys=True)

    def get(self, key: str, seed: int) -> Run | None:
        """A run, if it was made. Raises `OutputError` if the store cannot be read."""
        found = self._runs.get((key, seed))
        store = None if key.startswith(_UNSTORED) else self._store
        if found is None and store is not None and (found := store.get(key, seed)) is not None:
            self._runs[key, seed] = found
        if found is not None:
            self._used[key, seed] = found["sim_s"]
        return found

    def put(self, key: str, seed: int, run: Run) -> None:
        """Keep a run. Raises `OutputError` if the store cannot be written."""
        self._runs[key, seed] = run
        self._used[key, seed] = run["sim_s"]
        if self._store is not None and not key.startswith(_UNSTORED):
            self._store.put(key, seed, run)

    def begin_count(self) -> None:
        """Count what is used from now on."""
        self._used.clear()

    def remember_cost(self, experiment: str, mode: str) -> None:
        """Tell the store what was used since `begin_count`: what the whole experiment costs where nothing is there."""
        if self._store is not None:
            self._store.put_cost(experiment, mode, len(self._used), math.fsum(self._used.values()))


@dataclass(slots=True)
class Ended:
    """How a number of runs ended: whether Ctrl-C came first, and which failed by a mistake of the program."""

    interrupted: bool = False
    failures: list[RunError] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not (self.interrupted or self.failures)


class Standing(NamedTuple):
    """How far a number of runs is: runs, and simulated seconds, in which the parts of runs under way count."""

    done: int
    runs: int
    found_s: float
    """Of the runs that were there before."""
    made_s: float
    wanted_s: float
    """Of all of them."""

    @property
    def share(self) -> float:
        """Of the simulated time, from 0 to 1."""
        return min(1.0, (self.found_s + self.made_s) / self.wanted_s) if self.wanted_s else 0.0

    def left_s(self, elapsed_s: float) -> float | None:
        """Wall-clock seconds that the rest takes, at the speed of what was made in so many; None where nothing was."""
        left_s = max(0.0, self.wanted_s - self.found_s - self.made_s)
        return elapsed_s * left_s / self.made_s if self.made_s else None


class _Meter:
    """Counts runs and simulated time, and tells of them."""

    def __init__(self, runs: int, wanted_s: float, tell: Callable[[Standing], None] | None) -> None:
        self._runs, self._wanted_s, self._tell = runs, wanted_s, tell
        self._done, self._found_s, self._finished_s = 0, 0.0, 0.0
        self.reached: dict[int, float] = {}
        """The simulated time of each run under way, by number."""

    @property
    def watch(self) -> Watch | None:
        """Takes the simulated time of runs under way."""
        return None if self._tell is None else self._look

    def take(self, scenario: _core.Scenario, was_there: bool) -> None:
        self._done += 1
        if was_there:
            self._found_s += scenario.duration_s
        else:
            self._finished_s += scenario.duration_s
        self._show()

    def _look(self, reached: Mapping[int, float]) -> None:
        self.reached = dict(reached)
        self._show()

    def _show(self) -> None:
        if self._tell is not None:
            made_s = self._finished_s + sum(self.reached.values())
            self._tell(Standing(self._done, self._runs, self._found_s, made_s, self._wanted_s))


class Wanted(NamedTuple):
    """Replications that are wanted of a scenario: `into` is to have so many, and has the first ones."""

    key: str
    scenario: _core.Scenario
    into: list[Run]
    runs: int


def replications(
    scenario: _core.Scenario,
    first: int,
    runs: int,
    *,
    jobs: int = 0,
    store: Store | None = None,
    progress: Callable[[Standing], None] | None = None,
    pcap_dir: Path | None = None,
    series: bool = False,
    timeline: tuple[int, int] | None = None,
    scene: bool = False,
) -> tuple[list[Run], Ended]:
    """Runs of one scenario with the seeds `first`, `first + 1`, ..., in this order; after Ctrl-C those that finished.

    A store has no captures, series and timelines: with one of them the runs are made afresh, and not stored. Raises
    `InputError`, `OutputError`.
    """
    simulator.check_seeds(first, runs)
    recorded = pcap_dir is not None or series or scene or timeline is not None
    cache, key = Cache(None if recorded else store), Cache.key(scenario)
    found: dict[int, Run] = {}
    meter = _Meter(runs, runs * scenario.duration_s, progress)

    def take(seed: int, run: Run, was_there: bool) -> None:
        found[seed] = run
        meter.take(scenario, was_there)

    def missing() -> Iterator[tuple[int, Task]]:
        for seed in range(first, first + runs):
            if (known := cache.get(key, seed)) is None:
                yield seed, (scenario, seed)
            else:
                take(seed, known, True)

    def made(seed: int, run: Run) -> None:
        cache.put(key, seed, run)
        take(seed, run, False)

    def stream(tasks: Iterator[Task], watch: Watch | None) -> Generator[tuple[int, Run | RunError]]:
        kept: dict[str, Any] = {"pcap_dir": pcap_dir, "series": series, "timeline": timeline, "scene": scene}
        return simulator.stream(tasks, jobs=jobs, watch=watch, **kept)

    ended = _run(missing(), made, stream, meter)
    return [found[seed] for seed in sorted(found)], ended


def simulate(
    wanted: Sequence[tuple[_core.Scenario, list[Run]]],
    runs: int,
    seed: int,
    engine: Engine,
    what: str,
    progress: Progress | None,
    store: Store | None = None,
) -> Ended:
    """Bring the list of each scenario to so many runs, with the seeds `seed`, `seed + 1`, ..."""
    cache = Cache(store)
    return extend([Wanted(Cache.key(s), s, into, runs) for s, into in wanted], seed, cache, engine, what, progress)


def extend(
    wanted: Sequence[Wanted], seed: int, cache: Cache, engine: Engine, what: str, progress: Progress | None
) -> Ended:
    """Bring each list to the runs that are wanted of it; its run i has the seed `seed + i`.

    Seed by seed over all scenarios, so that what Ctrl-C leaves is the whole picture with fewer runs. A list gets no run
    of a later seed without the earlier ones: that would break the pairing. Raises `InputError`, `OutputError`.
    """
    last = max((w.runs for w in wanted), default=0)
    simulator.check_seeds(seed, max(last, 1))
    by_key: dict[str, list[_Filled]] = {}
    for w in wanted:
        by_key.setdefault(w.key, []).append(_Filled(w))
    counts = {key: max(0, max(f.until for f in g) - min(f.begin for f in g)) for key, g in by_key.items()}
    wanted_s = sum(n * by_key[key][0].scenario.duration_s for key, n in counts.items())
    meter = _Meter(sum(counts.values()), wanted_s, None if progress is None else partial(progress, what))

    def take(key: str, i: int, run: Run, was_there: bool) -> None:
        for filled in by_key[key]:
            filled.take(i, run)
        meter.take(by_key[key][0].scenario, was_there)

    def missing() -> Iterator[tuple[tuple[str, int], Task]]:
        for i in range(min((f.begin for group in by_key.values() for f in group), default=0), last):
            for key, group in by_key.items():
                if not any(f.begin <= i < f.until for f in group):
                    continue
                if (known := cache.get(key, seed + i)) is None:
                    yield (key, i), (group[0].scenario, seed + i)
                else:
                    take(key, i, known, True)

    def made(place: tuple[str, int], run: Run) -> None:
        key, i = place
        cache.put(key, seed + i, run)
        take(key, i, run, False)

    return _run(missing(), made, engine.stream, meter)


class _Filled:
    """A list that is being filled in the order of seeds, in whatever order runs finish."""

    def __init__(self, w: Wanted) -> None:
        self.scenario, self.into, self.begin, self.until = w.scenario, w.into, len(w.into), w.runs
        self.early: dict[int, Run] = {}

    def take(self, i: int, run: Run) -> None:
        if self.begin <= i < self.until:
            self.early[i] = run
            while (following := self.early.pop(len(self.into), None)) is not None:
                self.into.append(following)


def _run(
    missing: Iterator[tuple[Any, Task]],
    made: Callable[[Any, Run], None],
    stream: Callable[[Iterator[Task], Watch | None], Generator[tuple[int, Run | RunError]]],
    meter: _Meter,
) -> Ended:
    """Run what is missing, each with a name, and tell of each by its name as it finishes."""
    ended, names = Ended(), {}

    def tasks() -> Iterator[Task]:
        for number, (name, task) in enumerate(missing):
            names[number] = name
            yield task

    try:
        with closing(stream(tasks(), meter.watch)) as finished:
            for number, run in finished:
                name = names.pop(number)
                meter.reached.pop(number, None)
                if isinstance(run, RunError):
                    ended.failures.append(run)
                else:
                    made(name, run)
    except KeyboardInterrupt:
        ended.interrupted = True
    ended.failures.sort(key=lambda e: (e.seed, e.scenario))  # whichever finished first
    return ended
