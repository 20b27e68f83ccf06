"""A grid of one's own: every combination of the values of some keys, in one scenario, with common seeds.

Run i of every cell has the same seed, so what a seed did to one cell it did to all. Nothing is run before every cell
has been read and every metric has been found.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import given, simulator, toml_text
from interlayer import parts as in_python
from interlayer.engine import HERE
from interlayer.errors import InputError, RunError, suggestion
from interlayer.measure import stats

from . import arms
from .experiment import overlap, plain
from .measures import Measure, Probes, measure, read, support_of, usual
from .runs import simulate

if TYPE_CHECKING:
    from interlayer import _core
    from interlayer._core import Run
    from interlayer.engine import Engine
    from interlayer.measure.stats import Estimate, Floats
    from interlayer.parts import Part

    from .runs import Progress
    from .store import Store

RUNS, QUICK_RUNS = 10, 3
"""Replications of each cell, and with `quick`."""

MOST = 2000
"""Cells of a sweep: more of them are a mistake more often than a question."""

OVER = "--over"
Point = tuple[int, ...]
"""A cell: of each axis the number of its value."""


def _wrong(message: str, option: str = OVER) -> InputError:
    return InputError(f"{option}: {message}", option)


@dataclass(frozen=True, slots=True)
class Axis:
    """A key that is swept: its values as results have them, and what each of them sets, as (path, TOML text)."""

    path: str
    values: tuple[Any, ...]
    overrides: tuple[tuple[tuple[str, str], ...], ...]

    def label(self, i: int) -> str:
        """A value as a table or a figure shows it."""
        return plain(self.values[i])


def axes(text: str, over: Mapping[str, str | Iterable[object]], own_schemes: Sequence[str] = ()) -> tuple[Axis, ...]:
    """The axes of a grid over a scenario's text: paths with their values, a list or a text with commas.

    Values of `scheme` are words, as `--schemes` has them, or tables; `own_schemes` are names of schemes in Python.
    Raises `InputError`.
    """
    if not over:
        raise _wrong("nothing to sweep; give a path and its values, as in channel.errors.per=0,0.01,0.1")
    found: list[Axis] = []
    own = arms.own_tables(text)
    for path, several in over.items():
        if other := next((a.path for a in found if overlap(a.path, path)), None):
            raise _wrong(f"{path} and {other} set the same key")
        if isinstance(several, str):
            values: list[object] = [arms.toml_value(part.strip()) for part in arms.split(several, ",", OVER)]
        elif isinstance(several, Iterable) and not isinstance(several, Mapping):
            values = list(several)
        else:
            raise _wrong(f"{path}: {several!r} is no list of values")
        if not values:
            raise _wrong(f"{path} has no values; give some, as in {path}=A,B")
        found.append(_schemes(path, values, own, own_schemes) if path == arms.SCHEME else _keys(path, values))
    size = math.prod(len(axis.values) for axis in found)
    if size > MOST:
        shape = " × ".join(str(len(axis.values)) for axis in found)
        raise _wrong(f"{shape} = {size} cells are too many; a sweep has at most {MOST}")
    return tuple(found)


def _schemes(path: str, values: Sequence[object], own: Sequence[Mapping[str, Any]], own_schemes: Sequence[str]) -> Axis:
    chosen = [arms.of_value(value, own, OVER, own_schemes) for value in values]
    _check_distinct(path, [arm.label for arm in chosen])
    return Axis(path, tuple(arm.label for arm in chosen), tuple(tuple(arm.overrides()) for arm in chosen))


def _keys(path: str, values: Sequence[object]) -> Axis:
    values = [value.item() if isinstance(value, np.generic) else value for value in values]
    literals = [toml_text.literal(value) for value in values]
    _check_distinct(path, literals)
    return Axis(path, tuple(values), tuple(((path, text),) for text in literals))


def _check_distinct(path: str, texts: Sequence[str]) -> None:
    for i, text in enumerate(texts):
        if text in texts[:i]:
            raise _wrong(f"{path}: {text} comes twice")


@dataclass(frozen=True)
class Swept:
    """Cells after their runs, all of the same seeds."""

    scenario: str
    text: str = field(repr=False)
    axes: tuple[Axis, ...]
    runs: Mapping[Point, Sequence[Run]] = field(repr=False)
    measures: tuple[Measure, ...]
    seed: int
    version: str
    wall_s: float
    overrides: tuple[tuple[str, str], ...] = ()
    preliminary: bool = False
    interrupted: bool = False
    failures: tuple[RunError, ...] = ()
    """Runs that failed by a mistake of the program."""
    parts: tuple[Part, ...] = ()
    """Controllers and schemes in Python that a cell uses."""
    asked: bool = False
    """Whether the measures were asked for; else they are those that `compare` compares."""

    @property
    def cells(self) -> list[Point]:
        """Every combination, the last axis fastest."""
        return list(self.runs)

    @property
    def replications(self) -> int:
        """Runs of each cell."""
        return len(next(iter(self.runs.values())))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """What is swept."""
        return tuple(axis.path for axis in self.axes)

    def at(self, cell: Point) -> dict[str, Any]:
        """The values of a cell by path. Raises `InputError` for what is none of `cells`."""
        self._check(cell)
        return {axis.path: axis.values[i] for axis, i in zip(self.axes, cell, strict=True)}

    def _check(self, cell: Point) -> None:
        if not isinstance(cell, tuple) or cell not in self.runs:
            raise InputError(f"cell: {cell!r} is none of them; .cells has all, as (0, 1): of each key a value's number")

    def axis(self, path: str) -> int:
        """The number of an axis. Raises `InputError` for a path that is not swept."""
        given.check(path=path)
        if path not in self.paths:
            raise InputError(f'"{path}" is not swept{suggestion(path, self.paths)}', path)
        return self.paths.index(path)

    def measure(self, metric: str) -> Measure:
        """What a metric is here: a column of the rows by its name with or without unit, or the path of any other."""
        given.check(metric=metric)
        for known in self.measures:
            if metric in (known.name, known.label, known.path):
                return known
        return measure(metric, (runs[0] for runs in self.runs.values()), option="")

    def sample(self, cell: Point, metric: str | Measure) -> Floats:
        """A metric of a cell, one number a seed; nan where the cell has none. Raises `InputError`."""
        self._check(cell)
        what = metric if isinstance(metric, Measure) else self.measure(metric)
        return np.array([read(run, what.path) for run in self.runs[cell]])

    def estimate(self, cell: Point, metric: str | Measure) -> Estimate:
        """Mean and 95 % interval of a metric of a cell, over the runs that have it."""
        what = metric if isinstance(metric, Measure) else self.measure(metric)
        found, support = self.sample(cell, what), support_of(self.runs[cell], what.path)
        return stats.estimate(found[np.isfinite(found)] if np.isfinite(found).any() else found[:1], support=support)


def run(
    text: str,
    over: Mapping[str, str | Iterable[object]],
    *,
    metric: Sequence[str] = (),
    overrides: Sequence[tuple[str, str]] = (),
    seed: int | None = None,
    runs: int | None = None,
    quick: bool = False,
    engine: Engine = HERE,
    name: str = "",
    progress: Progress | None = None,
    store: Store | None = None,
    tell: Callable[[str], None] = lambda line: None,
    parts: tuple[Part, ...] = (),
) -> Swept | None:
    """Run every cell of a grid over a scenario's text with `runs` common seeds; `overrides` are (path, TOML text).

    `metric` are the columns of the rows; without it those that `compare` compares. `quick` makes 3 runs a cell, `parts`
    are controllers and schemes in Python. `seed`
    is the scenario's own unless given, `name` stands in for a scenario without one. After Ctrl-C the seeds that every
    cell has are kept, marked `interrupted`, and so are those before one that failed (`failures`); None if there is
    none. Raises `InputError` before anything is run, `OutputError`, and `RunError` if one failed and no seed is whole.
    """
    started = time.perf_counter()
    found = axes(text, over, in_python.names(parts, "scheme"))
    for path, _ in overrides:
        # What is set above a swept key stands; a key that is swept, or is within one that is, would be overwritten.
        inside = [axis.path for axis in found if overlap(axis.path, path) and axis.path.count(".") <= path.count(".")]
        if swept := next(iter(inside), None):
            raise InputError(
                f"--set: {path} is swept by {OVER} {swept}", path, f"over: {path} is set, and {swept} is swept"
            )
    points = list(product(*(range(len(axis.values)) for axis in found)))
    settings = [_overrides(found, point) for point in points]
    pairs = zip(points, settings, strict=True)
    scenarios = [_parsed(text, overrides, own, found, point, parts) for point, own in pairs]
    tell(engine.forecast(scenarios[0], len(points)))
    probes = Probes(text, [[*overrides, *own] for own in settings], parts)
    asked = tuple(dict.fromkeys(measure(m, probes) for m in metric))
    measures = asked or usual(probes)
    first = scenarios[0].seed if seed is None else seed
    results: dict[Point, list[Run]] = {point: [] for point in points}
    wanted = list(zip(scenarios, results.values(), strict=True))
    what = scenarios[0].name or name
    ended = simulate(wanted, runs or (QUICK_RUNS if quick else RUNS), first, engine, what, progress, store)
    common = min(len(one) for one in results.values())
    if not common and ended.failures:
        raise ended.failures[0]
    if not common:
        return None
    return Swept(
        scenario=what,
        text=text,
        axes=found,
        runs={point: one[:common] for point, one in results.items()},
        measures=measures,
        asked=bool(asked),
        seed=first,
        version=simulator.version(),
        wall_s=time.perf_counter() - started,
        overrides=tuple(overrides),
        preliminary=quick,
        interrupted=ended.interrupted,
        failures=tuple(ended.failures),
        parts=in_python.used(parts, scenarios),
    )


def _mistake(text: str, overrides: Sequence[tuple[str, str]], parts: Sequence[Part]) -> str:
    """What is wrong without anything swept; empty for nothing."""
    try:
        simulator.parse(text, overrides, parts)
    except InputError as e:
        return str(e)
    return ""


def _overrides(found: Sequence[Axis], point: Point) -> list[tuple[str, str]]:
    return [pair for axis, i in zip(found, point, strict=True) for pair in axis.overrides[i]]


def _in_a_table(found: Sequence[Axis], path: str) -> str:
    """`; did you mean radio.data_rate?` where `rate` is swept: a key without its table."""
    if not path or "." in path or path not in {axis.path for axis in found}:
        return ""
    tables = simulator.schema().get("properties", {})
    keys = [
        (table, key)
        for table in ("scenario", "radio", "channel")
        for key in tables.get(table, {}).get("properties", {})
    ]
    close = [f"{table}.{key}" for table, key in keys if key == path or key.endswith(f"_{path}")]
    return f"; did you mean {close[0]}?" if close else ""


def _parsed(
    text: str,
    overrides: Sequence[tuple[str, str]],
    own: Sequence[tuple[str, str]],
    found: Sequence[Axis],
    point: Point,
    parts: Sequence[Part],
) -> _core.Scenario:
    try:
        return simulator.parse(text, [*overrides, *own], parts)
    except InputError as e:
        if str(e) == _mistake(text, overrides, parts):  # it is the file's, in every cell
            raise
        if any(overlap(axis.path, e.path.replace("[", ".").replace("]", "")) for axis in found):
            raise _wrong(f"{e}{_in_a_table(found, e.path)}") from e
        where = ", ".join(f"{axis.path}={axis.label(i)}" for axis, i in zip(found, point, strict=True))
        raise e.behind(f"at {where}: ") from e.__cause__
