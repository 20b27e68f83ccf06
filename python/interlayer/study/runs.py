"""Runs that are wanted: many scenarios and seeds, each of them once, as they finish.

What is wanted is told as ranges, and tasks are made one by one while the core works: a billion replications need no
memory before they begin. Finished runs are kept in memory, and in a store on disk where there is one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from interlayer import simulator
from interlayer.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from interlayer import _core
    from interlayer._core import Run

    from .store import Store

    Progress = Callable[[str, int, int], None]
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
        return found

    def put(self, key: str, seed: int, run: Run) -> None:
        """Keep a run. Raises `OutputError` if the store cannot be written."""
        self._runs[key, seed] = run
        if self._store is not None and not key.startswith(_UNSTORED):
            self._store.put(key, seed, run)


@dataclass(slots=True)
class Ended:
    """How a number of runs ended: whether Ctrl-C came first, and which failed by a mistake of the program."""

    interrupted: bool = False
    failures: list[RunError] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not (self.interrupted or self.failures)


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
    watch: Callable[[int], None] | None = None,
    pcap_dir: Path | None = None,
    series: bool = False,
    timeline: tuple[int, int] | None = None,
) -> tuple[list[Run], Ended]:
    """Runs of one scenario with the seeds `first`, `first + 1`, ..., in this order; after Ctrl-C those that finished.

    A store has no captures, series and timelines: with one of them the runs are made afresh, and not stored. Raises
    `InputError`, `OutputError`.
    """
    simulator.check_seeds(first, runs)
    recorded = pcap_dir is not None or series or timeline is not None
    cache, key = Cache(None if recorded else store), Cache.key(scenario)
    found: dict[int, Run] = {}

    def take(seed: int, run: Run) -> None:
        found[seed] = run
        if watch is not None:
            watch(len(found))

    def missing() -> Iterator[tuple[int, Task]]:
        for seed in range(first, first + runs):
            if (known := cache.get(key, seed)) is None:
                yield seed, (scenario, seed)
            else:
                take(seed, known)

    def made(seed: int, run: Run) -> None:
        cache.put(key, seed, run)
        take(seed, run)

    ended = _run(missing(), made, jobs, pcap_dir=pcap_dir, series=series, timeline=timeline)
    return [found[seed] for seed in sorted(found)], ended


def simulate(
    wanted: Sequence[tuple[_core.Scenario, list[Run]]],
    runs: int,
    seed: int,
    jobs: int,
    what: str,
    progress: Progress | None,
    store: Store | None = None,
) -> Ended:
    """Bring the list of each scenario to so many runs, with the seeds `seed`, `seed + 1`, ..."""
    cache = Cache(store)
    return extend([Wanted(Cache.key(s), s, into, runs) for s, into in wanted], seed, cache, jobs, what, progress)


def extend(wanted: Sequence[Wanted], seed: int, cache: Cache, jobs: int, what: str, progress: Progress | None) -> Ended:
    """Bring each list to the runs that are wanted of it; its run i has the seed `seed + i`.

    Seed by seed over all scenarios, so that what Ctrl-C leaves is the whole picture with fewer runs. A list gets no run
    of a later seed without the earlier ones: that would break the pairing. Raises `InputError`, `OutputError`.
    """
    last = max((w.runs for w in wanted), default=0)
    simulator.check_seeds(seed, max(last, 1))
    by_key: dict[str, list[_Filled]] = {}
    for w in wanted:
        by_key.setdefault(w.key, []).append(_Filled(w))
    total = sum(max(0, max(f.until for f in group) - min(f.begin for f in group)) for group in by_key.values())
    done = 0

    def take(key: str, i: int, run: Run) -> None:
        nonlocal done
        done += 1
        for filled in by_key[key]:
            filled.take(i, run)
        if progress is not None:
            progress(what, done, total)

    def missing() -> Iterator[tuple[tuple[str, int], Task]]:
        for i in range(min((f.begin for group in by_key.values() for f in group), default=0), last):
            for key, group in by_key.items():
                if not any(f.begin <= i < f.until for f in group):
                    continue
                if (known := cache.get(key, seed + i)) is None:
                    yield (key, i), (group[0].scenario, seed + i)
                else:
                    take(key, i, known)

    def made(place: tuple[str, int], run: Run) -> None:
        key, i = place
        cache.put(key, seed + i, run)
        take(key, i, run)

    return _run(missing(), made, jobs)


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


def _run(missing: Iterator[tuple[Any, Task]], made: Callable[[Any, Run], None], jobs: int, **options: Any) -> Ended:
    """Run what is missing, each with a name, and tell of each by its name as it finishes."""
    ended, names = Ended(), {}

    def tasks() -> Iterator[Task]:
        for number, (name, task) in enumerate(missing):
            names[number] = name
            yield task

    try:
        with closing(simulator.stream(tasks(), jobs=jobs, **options)) as stream:
            for number, run in stream:
                name = names.pop(number)
                if isinstance(run, RunError):
                    ended.failures.append(run)
                else:
                    made(name, run)
    except KeyboardInterrupt:
        ended.interrupted = True
    ended.failures.sort(key=lambda e: (e.seed, e.scenario))  # whichever finished first
    return ended
