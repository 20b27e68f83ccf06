"""Experiment files: a figure or table of a paper as a sweep, its claims, and the evidence for what we find.

This module is what an experiment is; `reader` reads one from TOML, `library` knows where the files are, and
`experiments/README.md` has the keys.

A claim is read into *lines* of *quantities*. A quantity is a number per seed: a metric in one cell of the grid, or a
gain between two, or the mean of several such, or a formula over such. The verdict engine sees quantities only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

from interlayer import quantity, toml_text

from . import expression
from .ledger import Ledger
from .readings import Missing, Open

Kind = Literal["value", "ratio", "order", "trend", "shape"]
ARM = "arm"
EVIDENCE = ("simulation", "testbed", "analysis", "cited", "summary")
SCORED = frozenset({"simulation", "testbed", "analysis"})
"""Kinds of evidence whose claims get a verdict; what a paper cites or sums up is shown, not scored."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm at one point: `at[i]` is an index into the values of the i-th swept path."""

    arm: str
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gain:
    """`new` against `old`, paired seed by seed."""

    new: Cell
    old: Cell


@dataclass(frozen=True, slots=True)
class Formula:
    """Arithmetic, evaluated seed by seed over `inputs` (name, quantity, unit; no unit: the column's base unit).

    Without inputs it is the same for every seed: computed, not measured.
    """

    text: str
    constants: tuple[tuple[str, float], ...] = ()
    inputs: tuple[tuple[str, Quantity, str], ...] = ()

    def shown(self) -> str:
        """The formula with its constants' values."""
        return expression.with_values(self.text, dict(self.constants))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number per seed: the mean over `terms`, which are all cells or all gains; or a formula.

    `metric` is what it reads, the claim's if empty; `over` what a gain's reference reads, if something else. With
    `share`, new/old takes the place of the gain (new - old)/old; with `apart` its size without a sign, |new - old|/old.
    """

    label: str
    terms: tuple[Cell | Gain, ...]
    x: float | None = None
    metric: str = ""
    over: str = ""
    share: bool = False
    formula: Formula | None = None
    apart: bool = False

    @property
    def of_pairs(self) -> bool:
        """True for a gain, a share or a distance between two cells."""
        return bool(self.terms) and isinstance(self.terms[0], Gain)

    @property
    def is_gain(self) -> bool:
        return not (self.share or self.apart) and self.of_pairs

    @property
    def is_plain(self) -> bool:
        """Whether it is the claim's own metric, or a gain in it: what a figure of that metric can show."""
        return not (self.metric or self.over or self.share or self.apart or self.formula)

    @property
    def is_computed(self) -> bool:
        """Whether no run is needed to know it."""
        return self.formula is not None and not self.formula.inputs

    def cells(self) -> list[Cell]:
        if self.formula is not None:
            return [c for _, q, _ in self.formula.inputs for c in q.cells()]
        return [c for t in self.terms for c in ((t.new, t.old) if isinstance(t, Gain) else (t,))]


@dataclass(frozen=True, slots=True)
class Line:
    """Quantities in order: along x for a trend, best first for a ranking."""

    label: str
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """A printed number, or a printed range with one end perhaps open; `band` replaces the usual tolerance."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    band: float | None = None
    band_reason: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """One quantity has the printed value."""

    expected: Expected


@dataclass(frozen=True, slots=True)
class Ratio:
    """A gain has the printed value; with `spans`, the printed range is what the gains along the line cover.

    A ratio that is no gain but a share (`share`, or a `formula`) is tested as a `Value`.
    """

    expected: Expected
    spans: bool = False


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where along the line the quantities first lie below `limit` (or above), in the claim's unit of x.

    `limit` is in `unit`, that of the quantities. Between two points of the sweep nothing is known.
    """

    expected: Expected
    limit: float
    below: bool
    unit: str


@dataclass(frozen=True, slots=True)
class Printed:
    """Numbers that the paper prints beside what it claims, in a unit of their own."""

    range: Expected
    unit: str


@dataclass(frozen=True, slots=True)
class Order:
    """Every line's quantities are ranked, largest first (or lowest); with `or_equal`, equal ones do not break it.

    `printed` is the range that the paper gives beside the ranking: shown, not tested.
    """

    lowest_first: bool = False
    or_equal: bool = False
    printed: Printed | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    """Every line goes this way along x. `margin` (claim's unit) is what "flat" may vary by, with its reason."""

    x: str
    direction: Literal["increases", "decreases", "flat"]
    margin: float | None = None
    margin_reason: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A test by name, see `verdict.SHAPES`: `peak` (each line's, at the `at`-th x) or `close` (lines two by two).

    `margin` is in the claim's unit; with `relative`, a share of the larger of the two means.
    """

    test: Literal["peak", "close"]
    at: int | None = None
    margin: float | None = None
    margin_reason: str = ""
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a "why" rests on: a counter-run of the claim with other settings, or arithmetic over constants."""

    text: str
    overrides: tuple[tuple[str, Any], ...] = ()
    formula: str = ""
    constants: tuple[tuple[str, float], ...] = ()
    unit: str = ""

    @property
    def is_counter_run(self) -> bool:
        return not self.formula


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper that a measurement can hold against."""

    id: str
    text: str
    kind: Kind
    strength: str
    metric: str
    unit: str
    test: Value | Ratio | Crossing | Order | Trend | Shape
    lines: tuple[Line, ...]
    evidence: tuple[Evidence, ...] = ()
    inferred: bool = False
    approx: bool = False
    largest_of: int = 0
    """If not 0: what is printed, or ranked, is the largest over so many runs, not their mean."""
    one_of: int = 0
    """If not 0: what is printed is of one run that the source picked among so many."""
    mean_of: int = 0
    """If not 0: what is printed is a mean over so many runs, and has the sampling error of so many."""
    arithmetic: str = ""
    """Why its number is no measurement of what it says, though runs enter: shown as arithmetic, not scored."""
    impossible: str = ""
    """Why what it speaks of cannot happen in this scenario: that it does not is then no evidence."""
    rests_on: tuple[Missing, ...] = ()
    """What it depends on and nothing here models: where that would have acted in its runs, it cannot be judged."""

    @property
    def sample_unit(self) -> str:
        """The unit of its quantities: the claim's own, but for a crossing, which is somewhere along x."""
        return self.test.unit if isinstance(self.test, Crossing) else self.unit

    def quantities(self) -> list[Quantity]:
        return [q for line in self.lines for q in line.quantities]

    def cells(self) -> list[Cell]:
        """Every cell the claim rests on, each once."""
        return list(dict.fromkeys(c for q in self.quantities() for c in q.cells()))

    @property
    def is_computed(self) -> bool:
        """Whether it rests on arithmetic alone, and on no run."""
        return all(q.is_computed for q in self.quantities())

    @property
    def is_arithmetic(self) -> bool:
        """Whether no measurement of what it says enters: it is checked, and gets no verdict."""
        return self.is_computed or bool(self.arithmetic)

    def formulas(self) -> list[str]:
        """The formulas it rests on, with the constants' values; one that several quantities share comes once."""
        named = {q.formula.shown(): q.label for q in reversed(self.quantities()) if q.formula}
        several = len(named) > 1
        return [f"{label}: {text}" if several and label else text for text, label in reversed(named.items())]


@dataclass(frozen=True, slots=True)
class Curve:
    """Arithmetic drawn into the figure: `formula` over the constants and `x`, in the figure's unit.

    With `to`, a band between two formulas. With `arm`, what a measured line should be: that arm's (a gain's: the arm
    compared with) where the swept values other than x are the indices of `at`.
    """

    label: str
    formula: str
    constants: tuple[tuple[str, float], ...]
    to: str = ""
    arm: str = ""
    at: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def values(self, x: float) -> tuple[float, ...]:
        """The formula's value at `x`; of a band both ends, lower first."""
        known = dict(self.constants) | {"x": x}
        return tuple(sorted(expression.evaluate(f, known) for f in (self.formula, self.to) if f))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A gain to show in tables and figure: `of` against `over`, two arms."""

    of: str
    over: str


@dataclass(frozen=True, slots=True)
class OverTime:
    """A second figure: one run of a cell over time, a panel for each of `columns` (patterns), a line for each match.

    `pick` says which run: the first, or the one where `metric` is lowest, highest, or the lower median.
    """

    columns: tuple[str, ...]
    cell: Cell
    pick: Literal["first", "lowest", "median", "highest"] = "first"
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Derived:
    """Our own arithmetic on printed or measured numbers: shown, never scored. `expected` is what the source's list has.

    Without inputs to its formula it follows from the printed numbers alone.
    """

    text: str
    unit: str
    quantity: Quantity
    expected: float | None = None

    def shown(self) -> str:
        """The formula with its constants' values."""
        assert self.quantity.formula is not None
        return self.quantity.formula.shown()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Claims of one experiment that cannot all hold, and why."""

    claims: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """A whole file, read and checked. Without a `base` nothing runs: its claims are formulas."""

    id: str
    title: str
    source: str
    question: str
    evidence: str
    base: str
    metric: str
    unit: str
    max_runs: int
    assumptions: tuple[str, ...]
    note: str
    settings: tuple[tuple[str, Any], ...]
    sweep: tuple[tuple[str, tuple[Any, ...]], ...]
    arms: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
    x: str
    y_label: str
    show: Literal["metric", "gain"]
    labels: Mapping[str, str] = field(hash=False)
    comparisons: tuple[Comparison, ...] = ()
    curves: tuple[Curve, ...] = ()
    claims: tuple[Claim, ...] = ()
    derived: tuple[Derived, ...] = ()
    bases: tuple[tuple[str, str], ...] = ()
    recorded: tuple[str, ...] = ()
    """Arms whose runs are recorded (`recording`) and not made by the simulator."""
    recording: Path | None = None
    """The file that has them."""
    follow: tuple[tuple[str, tuple[tuple[str, tuple[Any, ...]], ...]], ...] = ()
    """What else a swept path's values set: swept path, then (path, as many values as it has)."""
    drawn: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, hash=False)
    """What the figure is narrowed to: arms, and indices into the values of swept paths."""
    over_time: OverTime | None = None
    open: Open | None = None
    """What the paper leaves open; None for what has no paper."""
    contradictions: tuple[Contradiction, ...] = ()
    ledger: Ledger | None = None
    """What the values of the paper's cells rest on; None for what has no paper."""

    def scenario(self, arm: str) -> str:
        """The text of an arm's base scenario: its own, or the experiment's."""
        return dict(self.bases).get(arm, self.base)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for path, _ in self.sweep)

    @property
    def scored(self) -> bool:
        return self.evidence in SCORED

    def cells(self) -> list[Cell]:
        """The grid: points in the order of the file, arms within each."""
        points = product(*(range(len(values)) for _, values in self.sweep))
        return [Cell(arm, at) for at in points for arm, _ in self.arms]

    def value(self, cell: Cell, path: str) -> Any:
        i = self.paths.index(path)
        return self.sweep[i][1][cell.at[i]]

    def arithmetic(self, claim: Claim) -> tuple[float, ...]:
        """What the curve for a claim's one quantity says, or both ends of its band; nothing if there is none."""
        quantities = claim.quantities()
        if claim.is_computed:
            worked = [q.formula for q in quantities if q.formula is not None]
            return tuple(expression.evaluate(f.text, dict(f.constants)) for f in worked) if len(worked) == 1 else ()
        if not (self.x and len(quantities) == 1 and quantities[0].is_plain) or claim.metric != self.metric:
            return ()
        if len(quantities[0].terms) != 1:
            return ()
        term = quantities[0].terms[0]
        if isinstance(term, Gain) != (self.show == "gain"):
            return ()
        cell = term.old if isinstance(term, Gain) else term
        at, x = dict(zip(self.paths, cell.at, strict=True)), quantity.magnitude(self.value(cell, self.x))
        for curve in self.curves:
            if x is not None and curve.arm == cell.arm and all(at[path] in picks for path, picks in curve.at):
                return curve.values(x)
        return ()

    def overrides(self, cell: Cell) -> list[tuple[str, Any]]:
        """What makes the experiment's scenario this cell: the point, what follows it, then the arm."""
        followers = dict(self.follow)
        point: list[tuple[str, Any]] = []
        for (path, values), i in zip(self.sweep, cell.at, strict=True):
            point += [(path, values[i]), *((other, theirs[i]) for other, theirs in followers.get(path, ()))]
        return [*point, *dict(self.arms)[cell.arm]]

    def is_drawn(self, cell: Cell) -> bool:
        """Whether the figure shows this cell."""
        at = {ARM: cell.arm, **dict(zip(self.paths, cell.at, strict=True))}
        return all(at[path] in picks for path, picks in self.drawn.items())

    def label(self, what: str, value: Any = None) -> str:
        """How an arm, a path, or a path's value is called in tables and figures."""
        if value is None:
            return self.labels.get(what, what)
        return self.labels.get(f"{what} = {plain(value)}", plain(value))


def overlap(a: str, b: str) -> bool:
    """Whether two paths set the same thing, or one a part of the other; `*` is every entry."""
    return all(x == y or "*" in (x, y) for x, y in zip(a.split("."), b.split("."), strict=False))


def plain(value: Any) -> str:
    """A swept value as a file spells it: texts without their quotes."""
    return value if isinstance(value, str) else toml_text.literal(value)
