"""What an experiment costs, in runs and seconds of a processor: said before it is run.

A store remembers what the experiments cost that were finished with it. Of the others the package has figures, which
`tools/measure_costs.py` measured once: they are estimates, of another machine, and of the first round alone. A claim
that is not decided then asks for more runs.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from interlayer import machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .store import Store

MODES: Final = ("quick", "base", "all")
"""How an experiment is run: `--quick`, with its base reading, or with all of them."""


def first_runs(mode: str) -> int:
    """Replications of each cell to begin with."""
    from interlayer.measure import stats

    return 3 if mode == "quick" else stats.MIN_RUNS


@dataclass(frozen=True, slots=True)
class Cost:
    """Runs, and the seconds that they take one processor. `is_measured`: by the store, of the whole campaign."""

    runs: int
    processor_s: float
    is_measured: bool

    def wall_s(self, jobs: int) -> float:
        """What is waited for it with so many jobs, 0 for one a core, where nothing else uses the machine."""
        return self.processor_s / max(1, min(jobs or machine.cores(), machine.cores(), self.runs))

    def of_runs(self, runs: int, mode: str) -> Cost:
        """The same with another number of replications of each cell."""
        share = runs / first_runs(mode)
        return Cost(round(self.runs * share), self.processor_s * share, False)


@cache
def shipped() -> dict[str, Any]:
    """The package's figures: by id runs of each mode, and seconds of a run. Empty where the package has none."""
    path = Path(__file__).with_suffix(".json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return dict(found.get("experiments", {}))


def cost(id_: str, mode: str, store: Store | None = None, runs: int | None = None) -> Cost | None:
    """What an experiment costs: by the store, else by the package's figures; None where neither has one."""
    if runs is None and store is not None and (kept := store.cost(id_, mode)) is not None:
        return Cost(*kept, is_measured=True)
    if (known := shipped().get(id_)) is None:
        return None
    first = Cost(known[mode], known[mode] * known["s"], is_measured=False)
    return first if runs is None else first.of_runs(runs, mode)


def together(ids: Sequence[str], mode: str, store: Store | None, runs: int | None) -> tuple[Cost, int]:
    """What several experiments cost, and of how many of them nothing is known."""
    found = [cost(id_, mode, store, runs) for id_ in ids]
    known = [one for one in found if one is not None]
    whole = Cost(
        sum(one.runs for one in known),
        sum(one.processor_s for one in known),
        all(one.is_measured for one in known),
    )
    return whole, len(found) - len(known)


def left(whole: Cost, wanted: int, there: int) -> Cost:
    """What of it is left where the first round has so many runs, and the store so many of these.

    What took more rounds before has nothing left where the store has the first: the others are there too.
    """
    runs = (max(whole.runs, wanted) if whole.is_measured else wanted) - there if there < wanted else 0
    return Cost(runs, whole.processor_s / whole.runs * runs if whole.runs else 0.0, whole.is_measured)


def duration(seconds: float) -> str:
    """So many seconds for people, to one or two digits: `4 s`, `12 min`, `1.5 h`."""
    if seconds < 90:
        return f"{max(1, math.ceil(seconds))} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 72 * 3600:
        return f"{seconds / 3600:.2g} h"
    return f"{seconds / 86400:.0f} days"
