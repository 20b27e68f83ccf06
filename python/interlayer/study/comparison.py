"""Schemes, or any settings, against each other in one scenario: an arm each, paired by seed, with intervals.

Run i of every arm has the same seed, so what a seed did to one arm it did to all (common random numbers), and
differences are tested in pairs. docs/compare.md says why, and what is computed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import given, simulator
from interlayer import parts as in_python
from interlayer.engine import HERE
from interlayer.errors import InputError, suggestion
from interlayer.measure import metrics, stats

from .arms import SCHEME, SCHEMES, Arm, arms
from .measures import METRICS, NAMES, Measure, Probes, measure, read, support_of
from .runs import Ended, simulate

if TYPE_CHECKING:
    from interlayer._core import Run
    from interlayer.engine import Engine
    from interlayer.errors import RunError
    from interlayer.measure.stats import Estimate, Floats
    from interlayer.parts import Part

    from .arms import Settings
    from .runs import Progress, Standing
    from .store import Store

RUNS = 10
"""Replications unless told otherwise: what a verdict needs at least."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An arm against the first, paired by seed: `estimate` with its 95 % interval, `relative` in percent of the first.

    `p_value` is that of the paired t-test after Holm's correction for the number of arms. None or nan where undefined.
    """

    estimate: Estimate
    relative: float | None
    p_value: float

    @property
    def significant(self) -> bool:
        return self.p_value < stats.ALPHA


@dataclass(frozen=True, slots=True)
class Paired:
    """Arms after their runs, all of the same seeds. The first arm is what the others are compared with."""

    scenario: str
    text: str = field(repr=False)
    arms: tuple[Arm, ...]
    runs: Mapping[str, Sequence[Run]] = field(repr=False)
    seed: int
    version: str
    wall_s: float
    overrides: tuple[tuple[str, str], ...] = ()
    interrupted: bool = False
    failures: tuple[RunError, ...] = ()
    """Runs that failed by a mistake of the program."""
    parts: tuple[Part, ...] = ()
    """Controllers and schemes in Python that an arm uses."""
    measures: tuple[Measure, ...] = ()
    """Metrics that were asked for; they may be among those of `METRICS`."""

    @property
    def baseline(self) -> Arm:
        return self.arms[0]

    @property
    def replications(self) -> int:
        return len(self.runs[self.baseline.label])

    def sample(self, label: str, metric: str) -> Floats:
        """A metric of an arm, one number per seed. `metric` is a key of `METRICS`, or a path. Raises `InputError`.

        Of a metric that was asked for (`measures`) an arm may have none: it is nan there.
        """
        given.check(label=label, metric=metric)
        if label not in self.runs:
            raise InputError(f'no arm "{label}"{suggestion(label, self.runs)}')
        path = self._path(metric)
        if any(path == known.path for known in self.measures):
            return np.array([read(run, path) for run in self.runs[label]])
        return metrics.column(self.runs[label], path)[1]

    def _path(self, metric: str) -> str:
        """The path of a metric by its name."""
        asked = (m.path for m in self.measures if metric in (m.name, m.label, m.path))
        name = NAMES.get(metric, metric)
        return next(asked, METRICS.get(name, name))

    def estimate(self, label: str, metric: str = "goodput_bps") -> Estimate:
        """Mean and 95 % interval of a metric of an arm."""
        sample = self.sample(label, metric)
        return stats.estimate(sample, support=support_of(self.runs[label], self._path(metric)))

    def difference(self, label: str, metric: str = "goodput_bps") -> Difference:
        """An arm less the first one, paired, in the column's unit. Raises `InputError`."""
        if label == self.baseline.label:
            raise InputError(f'"{label}" is what the others are compared with')
        others = [arm.label for arm in self.arms[1:]]
        old = self.sample(self.baseline.label, metric)
        new = self.sample(label, metric)
        corrected = stats.holm([stats.paired_p(self.sample(other, metric), old) for other in others])
        base = float(old.mean())
        relative = 100 * (float(new.mean()) / base - 1) if base and math.isfinite(base) else None
        return Difference(stats.difference(new, old), relative, corrected[others.index(label)])

    def has(self, metric: str) -> bool:
        """Whether every arm has a metric."""
        try:
            for arm in self.arms:
                self.sample(arm.label, metric)
        except InputError:
            return False
        return True


def run(
    text: str,
    schemes: str | Sequence[str | Mapping[str, Any]] | None = None,
    given: Mapping[str, Settings] | None = None,
    *,
    overrides: Sequence[tuple[str, str]] = (),
    seed: int | None = None,
    runs: int = RUNS,
    engine: Engine = HERE,
    name: str = "",
    progress: Progress | None = None,
    store: Store | None = None,
    tell: Callable[[str], None] = lambda line: None,
    parts: tuple[Part, ...] = (),
    metric: Sequence[str] = (),
    seen: Callable[[Paired], None] | None = None,
) -> Paired | None:
    """Run a scenario's text once for each arm and seed; `overrides` (path, TOML text) go over the file, under the arms.

    The arms are those of `schemes` and `given`, as `arms.arms` has them.
    `seed` is the scenario's own unless given, `name` stands in for a scenario without one. After Ctrl-C the seeds that
    every arm has are kept, marked `interrupted`, and so are those before one that failed (`failures`); None if there is
    none. Runs that a `store` has are taken from there. `parts` are controllers and schemes in Python. `metric` are more
    metrics to compare, beside those of `METRICS`. `tell` is told of the memory of a large scenario. `seen` gets the
    comparison so far each time that every arm has one run more; what it raises ends the runs. Raises `InputError`,
    `OutputError`, `PartError`, and `RunError` if a run failed and no seed is whole.
    """
    started = time.perf_counter()
    for path, _ in overrides:
        if path.split(".")[0] == SCHEME:
            why = f"{path}: compare sets the schemes itself; give parameters so: "
            raise InputError(f"{why}{SCHEMES} none,lle-tcp:sack=keep", path, f'{why}schemes="none,lle-tcp:sack=keep"')
    chosen = arms(text, schemes, given, in_python.names(parts, "scheme"))
    own = simulator.parse(text, overrides, parts)  # the file's own mistakes first, with its own paths
    first = own.seed if seed is None else seed
    tell(engine.forecast(own, runs * len(chosen)))
    scenarios = [_parsed(text, [*overrides, *arm.overrides()], arm, parts) for arm in chosen]
    probes = Probes(text, [[*overrides, *arm.overrides()] for arm in chosen], parts)
    asked = tuple(dict.fromkeys(measure(m, probes) for m in metric))
    results: dict[str, list[Run]] = {arm.label: [] for arm in chosen}
    wanted = [(scenario, results[arm.label]) for arm, scenario in zip(chosen, scenarios, strict=True)]
    what = own.name or name

    def paired(common: int, ended: Ended) -> Paired:
        return Paired(
            scenario=what,
            text=text,
            arms=tuple(chosen),
            runs={label: found[:common] for label, found in results.items()},
            seed=first,
            version=simulator.version(),
            wall_s=time.perf_counter() - started,
            overrides=tuple(overrides),
            interrupted=ended.interrupted,
            failures=tuple(ended.failures),
            parts=in_python.used(parts, scenarios),
            measures=asked,
        )

    def common() -> int:
        return min(len(found) for found in results.values())

    told = 0

    def watched(what: str, standing: Standing) -> None:
        nonlocal told
        if progress is not None:
            progress(what, standing)
        if seen is not None and common() > told:
            told = common()
            seen(paired(told, Ended()))

    ended = simulate(wanted, runs, first, engine, what, progress if seen is None else watched, store)
    if not common() and ended.failures:
        raise ended.failures[0]
    return paired(common(), ended) if common() else None


def _parsed(text: str, overrides: Sequence[tuple[str, str]], arm: Arm, parts: Sequence[Part]) -> Any:
    try:
        return simulator.parse(text, overrides, parts)
    except InputError as e:
        raise e.behind(f"{arm.label}: ") from e.__cause__
