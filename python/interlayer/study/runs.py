"""Runs that are wanted: many scenarios and seeds in one batch of the core, and each of them once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from interlayer import simulator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlayer import _core
    from interlayer._core import Run

    Progress = Callable[[str, int, int], None]


class Store:
    """Runs by what fixes them, scenario and seed: what several experiments, arms or counter-runs ask for is run once.

    Runs are shared, not copied: they are to be read only.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, int], Run] = {}

    @staticmethod
    def key(scenario: _core.Scenario) -> str:
        """A scenario with its defaults filled in, without what no run depends on: its name, and its own first seed."""
        content = json.loads(scenario.to_json())
        for name in ("name", "seed"):
            content["scenario"].pop(name, None)
        return json.dumps(content, sort_keys=True)

    def run(
        self, tasks: Sequence[tuple[str, _core.Scenario, int]], jobs: int, what: str, progress: Progress | None
    ) -> tuple[list[Run | None], bool]:
        """The runs of (key, scenario, seed), in their order; None where Ctrl-C came first, then the second is true."""
        missing = {(key, seed): scenario for key, scenario, seed in tasks if (key, seed) not in self._runs}
        total = len(missing)
        watch = None if progress is None else lambda done: progress(what, done, total)
        new = [(scenario, seed) for (_, seed), scenario in missing.items()]
        batch = simulator.run_batch(new, jobs=jobs, progress=watch)
        found = zip(missing, batch.runs, strict=True)
        self._runs |= {place: run for place, run in found if run is not None}
        return [self._runs.get((key, seed)) for key, _, seed in tasks], batch.interrupted


Wanted = tuple[int, str, "_core.Scenario", "list[Run]"]
"""Which replication of what (its key, and it), and where it goes."""


def simulate(
    wanted: Sequence[tuple[int, _core.Scenario, list[Run]]],
    seed: int,
    jobs: int,
    what: str,
    progress: Progress | None,
) -> bool:
    """Run each (i, scenario, list) with seed `seed + i` and append it to its list; false if interrupted."""
    by_itself = [(i, str(id(scenario)), scenario, into) for i, scenario, into in wanted]
    return extend(by_itself, seed, Store(), jobs, what, progress)


def extend(wanted: Sequence[Wanted], seed: int, store: Store, jobs: int, what: str, progress: Progress | None) -> bool:
    """Append each run that is wanted to its list; false if interrupted.

    Seed by seed over all scenarios, so that what Ctrl-C leaves is the whole picture with fewer runs. A list gets no run
    of a later seed without the earlier ones: that would break the pairing.
    """
    ordered = sorted(wanted, key=lambda one: one[0])
    runs, interrupted = store.run([(key, s, seed + i) for i, key, s, _ in ordered], jobs, what, progress)
    stopped: set[int] = set()
    for (*_, into), run in zip(ordered, runs, strict=True):
        if run is None:
            stopped.add(id(into))
        elif id(into) not in stopped:
            into.append(run)
    return not interrupted
