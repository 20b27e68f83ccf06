"""Experiment files: a figure or table of a paper as a sweep, its claims, and the evidence for what we find.

`experiments/README.md` has the keys; this module is their only reader. A key that no table has, an arm or a
swept value that does not exist, a claim that selects nothing: each is an `InputError` with the path and, where one is
near, what was meant.

A claim is read into *lines* of *quantities*. A quantity is a number per seed: a metric in one cell of the grid, or a
gain between two, or the mean of several such. The verdict engine sees quantities only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, cast

from . import expression, quantity, toml_text
from .errors import InputError, suggestion
from .stats import MIN_RUNS

Kind = Literal["value", "ratio", "order", "trend", "shape"]
ARM = "arm"
_EVIDENCE = ("simulation", "testbed", "analysis", "cited", "summary")
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
class Quantity:
    """A number per seed: the mean over `terms`, which are all cells or all gains."""

    label: str
    terms: tuple[Cell | Gain, ...]
    x: float | None = None

    @property
    def is_gain(self) -> bool:
        return isinstance(self.terms[0], Gain)

    def cells(self) -> list[Cell]:
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
    """A gain has the printed value; with `spans`, the printed range is what the gains along the line cover."""

    expected: Expected
    spans: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """The line's quantities are ranked, largest first (or lowest)."""

    lowest_first: bool = False


@dataclass(frozen=True, slots=True)
class Trend:
    """Every line goes this way along x. `margin` (claim's unit) is what "flat" may vary by, with its reason."""

    x: str
    direction: Literal["increases", "decreases", "flat"]
    margin: float | None = None
    margin_reason: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A test by name, see `verdict.SHAPES`: `peak` (each line's, at the `at`-th x) or `close` (two lines)."""

    test: Literal["peak", "close"]
    at: int | None = None
    margin: float | None = None
    margin_reason: str = ""


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
    test: Value | Ratio | Order | Trend | Shape
    lines: tuple[Line, ...]
    evidence: tuple[Evidence, ...] = ()
    inferred: bool = False
    approx: bool = False

    def quantities(self) -> list[Quantity]:
        return [q for line in self.lines for q in line.quantities]

    def cells(self) -> list[Cell]:
        """Every cell the claim rests on, each once."""
        return list(dict.fromkeys(c for q in self.quantities() for c in q.cells()))


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
class Experiment:
    """A whole file, read and checked."""

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
        if len(quantities) != 1 or claim.metric != self.metric or len(quantities[0].terms) != 1:
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
        """What makes the experiment's scenario this cell: the point, then the arm."""
        point = [(path, values[i]) for (path, values), i in zip(self.sweep, cell.at, strict=True)]
        return [*point, *dict(self.arms)[cell.arm]]

    def label(self, what: str, value: Any = None) -> str:
        """How an arm, a path, or a path's value is called in tables and figures."""
        if value is None:
            return self.labels.get(what, what)
        return self.labels.get(f"{what} = {_plain(value)}", _plain(value))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else toml_text.literal(value)


# ------------------------------------------------------------------------------------------------- where files are


def folder() -> Path:
    """Where the package keeps its experiments."""
    return Path(__file__).parent / "experiments"


def known() -> list[str]:
    """The ids of all experiments of the package, sorted."""
    ids = (p.stem for p in folder().glob("*.toml") if "[[claim]]" in p.read_text(encoding="utf-8"))
    return sorted(ids, key=_natural)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """So that fig-3.7a, fig-3.9, fig-3.10 come in this order."""
    import re

    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d+)", text) if p]


def load(name: str | Path) -> Experiment:
    """An experiment of the package by its id, or any experiment file by its path."""
    path = Path(name)
    if path.suffix != ".toml":
        path = folder() / f"{name}.toml"
        if str(name) not in known():
            raise InputError(f'no experiment "{name}"{suggestion(str(name), known())}')
    return parse(toml_text.read_text(path), str(path), path.parent)


# --------------------------------------------------------------------------------------------------------- reading


class _Table:
    """A table being read: every key is taken once, what is left over at the end is a mistake."""

    def __init__(self, content: object, where: str) -> None:
        if not isinstance(content, Mapping):
            raise InputError(f"{where}: expected a table", where)
        self._left: dict[str, Any] = dict(content)
        self._seen: list[str] = []
        self.where = where

    def error(self, message: str, key: str = "") -> InputError:
        path = f"{self.where}.{key}" if self.where and key else self.where or key
        return InputError(f"{path}: {message}", path)

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        self._seen.append(key)
        if key not in self._left:
            if default is ...:
                raise self.error(f'the key "{key}" is missing')
            return default
        value = self._left.pop(key)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(dict.fromkeys(_NAMES[k] for k in kinds))
            raise self.error(f"expected {names}, found {toml_text.literal(value)}", key)
        return value

    def one_of(self, key: str, known: Sequence[str], default: Any = ...) -> str:
        value = self.take(key, str, default)
        if value not in known:
            raise self.error(f'"{value}" is none of them{suggestion(value, known)}', key)
        return cast(str, value)

    def number(self, key: str) -> float | None:
        value = self.take(key, (int, float), None)
        return None if value is None else float(value)

    def done(self) -> None:
        for key in self._left:
            raise self.error(f"unknown key{suggestion(key, self._seen)}", key)


_NAMES = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


def parse(text: str, name: str, beside: Path) -> Experiment:
    """Read an experiment from TOML `text`. `name` is for errors; the base scenario is looked for in `beside`."""
    try:
        return _experiment(_Table(toml_text.parse(text, name), ""), beside)
    except InputError as e:
        raise e if str(e).startswith(name) else InputError(f"{name}: {e}", e.path) from e


def _experiment(t: _Table, beside: Path) -> Experiment:
    settings = tuple(t.take("set", dict, {}).items())
    sweep_table = t.take("sweep", dict)
    for path, values in sweep_table.items():
        if not isinstance(values, list) or not values:
            raise InputError(f'sweep."{path}": expected a list of values', f"sweep.{path}")
        if len({toml_text.literal(v) for v in values}) < len(values):
            raise InputError(f'sweep."{path}": a value comes twice', f"sweep.{path}")
    if not sweep_table:
        raise InputError("sweep: nothing is swept; give one path with one value at least", "sweep")
    sweep = tuple((path, tuple(values)) for path, values in sweep_table.items())
    arms_table = t.take("arms", dict)
    for arm, change in arms_table.items():
        if not isinstance(change, dict):
            raise InputError(f"arms.{arm}: expected a table of settings", f"arms.{arm}")
    if not arms_table:
        raise InputError("arms: there is none", "arms")
    grid = _Grid(sweep, tuple(arms_table))

    figure = _Table(t.take("figure", dict, {}), "figure")
    x = figure.one_of("x", grid.paths, grid.paths[0])
    y_label = figure.take("y", str, "")
    show = cast(Literal["metric", "gain"], figure.one_of("show", ("metric", "gain"), "metric"))
    figure.done()

    e = Experiment(
        id=t.take("id", str),
        title=t.take("title", str),
        source=t.take("source", str),
        question=t.take("question", str, ""),
        evidence=t.one_of("evidence", _EVIDENCE),
        base=toml_text.read_text(beside / t.take("base", str)),
        metric=t.take("metric", str),
        unit=t.one_of("unit", quantity.UNITS),
        max_runs=t.take("max_runs", int),
        assumptions=tuple(t.take("assumptions", list, [])),
        note=t.take("note", str, "").strip(),
        settings=settings,
        sweep=sweep,
        arms=tuple((arm, tuple(change.items())) for arm, change in arms_table.items()),
        x=x,
        y_label=y_label,
        show=show,
        labels=t.take("labels", dict, {}),
        comparisons=tuple(_comparison(c, i, grid) for i, c in enumerate(t.take("gain", list, []))),
        curves=tuple(_curve(c, i, grid, x) for i, c in enumerate(t.take("curve", list, []))),
    )
    if e.max_runs < MIN_RUNS:
        raise InputError(f"max_runs: a verdict needs {MIN_RUNS} runs", "max_runs")
    if show == "gain" and not e.comparisons:
        raise InputError('figure.show: "gain" needs a [[gain]] to show', "figure.show")
    claims = t.take("claim", list, [])
    explained = _evidence(t.take("explain", list, []), len(claims))
    t.done()
    return _with_claims(e, [_claim(c, i, e, grid, explained) for i, c in enumerate(claims)])


def _with_claims(e: Experiment, claims: list[Claim]) -> Experiment:
    from dataclasses import replace

    return replace(e, claims=tuple(claims))


def _comparison(content: object, i: int, grid: _Grid) -> Comparison:
    t = _Table(content, f"gain[{i}]")
    comparison = Comparison(t.one_of("of", grid.arms), t.one_of("over", grid.arms))
    t.done()
    return comparison


def _constants(t: _Table, formula: str, free: Sequence[str] = ()) -> tuple[tuple[str, float], ...]:
    constants = t.take("let", dict, {})
    for name, value in constants.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise t.error("expected a number", f"let.{name}")
    for name in sorted(expression.names(formula)):
        if name not in constants and name not in free:
            raise t.error(f'no constant "{name}"{suggestion(name, [*constants, *free])}', "formula")
    if unused := [name for name in constants if name not in expression.names(formula)]:
        raise t.error("the formula does not use it", f"let.{unused[0]}")
    return tuple((name, float(value)) for name, value in constants.items())


def _curve(content: object, i: int, grid: _Grid, x: str) -> Curve:
    t = _Table(content, f"curve[{i}]")
    formula, to = t.take("formula", str), t.take("to", str, "")
    where = t.take("where", dict, {})
    if where and not isinstance(where.get(ARM), str):
        raise t.error("names no arm", "where")
    if x in where:
        raise t.error(f"{x} is the figure's x: the curve runs along it", "where")
    allowed = grid.choices(where, t, "where")
    curve = Curve(
        label=t.take("label", str),
        formula=formula,
        constants=_constants(t, f"({formula}) + ({to})" if to else formula, ["x"]),
        to=to,
        arm=where.get(ARM, ""),
        at=tuple((path, tuple(allowed[path])) for path in where if path != ARM),
    )
    t.done()
    return curve


def _evidence(entries: list[Any], claims: int) -> dict[int, list[Evidence]]:
    """Evidence by the number of its claim, counted from 1; one entry may serve several claims."""
    found: dict[int, list[Evidence]] = {}
    for i, content in enumerate(entries):
        t = _Table(content, f"explain[{i}]")
        of = t.take("claim", (int, list))
        text = t.take("text", str)
        overrides = t.take("set", dict, {})
        formula = t.take("formula", str, "")
        if bool(overrides) == bool(formula):
            raise t.error("give either `set` (a counter-run) or `formula` (arithmetic)")
        evidence = Evidence(
            text=text,
            overrides=tuple(overrides.items()),
            formula=formula,
            constants=_constants(t, formula) if formula else (),
            unit=t.take("unit", str) if formula else "",
        )
        if formula:
            expression.evaluate(formula, dict(evidence.constants))
        t.done()
        for number in of if isinstance(of, list) else [of]:
            if not isinstance(number, int) or not 1 <= number <= claims:
                raise t.error(f"no claim {_plain(number)}; they are 1 to {claims}", "claim")
            found.setdefault(number, []).append(evidence)
    return found


@dataclass(frozen=True, slots=True)
class _Grid:
    """The swept paths and the arms, and how a `where` picks from them."""

    sweep: tuple[tuple[str, tuple[Any, ...]], ...]
    arms: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for path, _ in self.sweep)

    def choices(self, where: Mapping[str, Any], t: _Table, key: str) -> dict[str, list[Any]]:
        """Allowed arms and value indices by path, narrowed by `where`."""
        allowed: dict[str, list[Any]] = {ARM: list(self.arms)}
        allowed |= {path: list(range(len(values))) for path, values in self.sweep}
        for path, wanted in where.items():
            if path not in allowed:
                raise t.error(f'"{path}" is not swept{suggestion(path, allowed)}', key)
            there = self.arms if path == ARM else dict(self.sweep)[path]
            picks = []
            for value in wanted if isinstance(wanted, list) else [wanted]:
                if value not in there or isinstance(value, bool) != isinstance(there[there.index(value)], bool):
                    raise t.error(
                        f"{path} is never {_plain(value)}{suggestion(_plain(value), map(_plain, there))}", key
                    )
                picks.append(value if path == ARM else there.index(value))
            allowed[path] = sorted(picks) if path != ARM else picks
        return allowed


def _cells(allowed: Mapping[str, list[Any]], grid: _Grid) -> list[Cell]:
    points = product(*(allowed[path] for path in grid.paths))
    return [Cell(arm, at) for at in points for arm in allowed[ARM]]


_KIND_KEYS = ("value", "ratio", "order", "trend", "shape")


def _claim(content: object, i: int, e: Experiment, grid: _Grid, explained: Mapping[int, list[Evidence]]) -> Claim:
    t = _Table(content, f"claim[{i}]")
    kind = cast(Kind, t.one_of("kind", _KIND_KEYS))
    text = t.take("text", str)
    strength = t.one_of("strength", ("number", "words"))
    metric = t.take("metric", str, e.metric)
    where = _where(t.take("where", dict, {}), t, "where")
    mean_over = t.take("mean_over", list, [])
    for path in mean_over:
        if path not in grid.paths:
            raise t.error(f'"{path}" is not swept{suggestion(str(path), grid.paths)}', "mean_over")
    of = t.take("of", (str, dict), None)
    over = t.take("over", (str, dict), None)
    if (of is None) != (over is None):
        raise t.error("a gain needs both `of` and `over`")
    if kind == "ratio" and of is None:
        raise t.error("a ratio compares: give `of` and `over`")
    unit = t.one_of("unit", quantity.UNITS, "%" if of is not None else e.unit)
    build = _Builder(t, e, grid, where, tuple(mean_over), of, over)
    test: Value | Ratio | Order | Trend | Shape
    match kind:
        case "value":
            test = Value(_expected(t))
            lines = build.single()
        case "ratio":
            along = t.take("range_over", str, None)
            test = Ratio(_expected(t), spans=along is not None)
            if along is not None and (test.expected.low is None or test.expected.high is None):
                raise t.error("a range that is covered needs `low` and `high`", "range_over")
            lines = build.along(along) if along is not None else build.single()
        case "order":
            test = Order(t.take("lowest_first", bool, False))
            lines = build.ranking(t.take("order", list))
        case "trend":
            x = t.take("x", str)
            direction = t.one_of("direction", ("increases", "decreases", "flat"))
            margin, reason = _margin(t, needed=direction == "flat")
            test = Trend(x, cast(Any, direction), margin, reason)
            lines = build.along(x)
        case "shape":
            test, lines = _shape(t, build)
    claim = Claim(
        id=f"{e.id}#{i + 1}",
        text=text,
        kind=kind,
        strength=strength,
        metric=metric,
        unit=unit,
        test=test,
        lines=lines,
        evidence=tuple(explained.get(i + 1, ())),
        inferred=t.take("inferred", bool, False),
        approx=t.take("approx", bool, False),
    )
    t.done()
    return claim


def _where(content: object, t: _Table, key: str) -> dict[str, Any]:
    if isinstance(content, str):
        return {ARM: content}
    if isinstance(content, dict):
        return content
    raise t.error("expected an arm's name or a table", key)


def _expected(t: _Table) -> Expected:
    found = Expected(
        value=t.number("expected"),
        low=t.number("low"),
        high=t.number("high"),
        band=t.number("band"),
        band_reason=t.take("band_reason", str, ""),
    )
    if (found.value is None) == (found.low is None and found.high is None):
        raise t.error("give either `expected` or a range by `low` and `high`")
    if (found.band is None) != (not found.band_reason):
        raise t.error("another band needs its `band_reason`, and the other way round", "band")
    if found.band is not None and found.value is None:
        raise t.error("a printed range is its own band", "band")
    return found


def _margin(t: _Table, *, needed: bool) -> tuple[float | None, str]:
    margin, reason = t.number("margin"), t.take("margin_reason", str, "")
    if needed and (margin is None or not reason):
        raise t.error("needs a `margin`, in the claim's unit, and a `margin_reason`")
    if not needed and margin is not None:
        raise t.error("only something flat or close has a margin", "margin")
    return margin, reason


def _shape(t: _Table, build: _Builder) -> tuple[Shape, tuple[Line, ...]]:
    name = t.one_of("test", ("peak", "close"))
    x = t.take("x", str)
    if name == "peak":
        values = dict(build.grid.sweep).get(x, ())
        peak = t.take("peak", (str, int, float))
        if peak not in values:
            raise t.error(f"{x} is never {_plain(peak)}", "peak")
        return Shape("peak", at=values.index(peak)), build.along(x)
    margin, reason = _margin(t, needed=True)
    lines = build.along(x)
    if len(lines) != 2:
        raise t.error(f"close compares two lines, `where` leaves {len(lines)}")
    return Shape("close", margin=margin, margin_reason=reason), lines


@dataclass(frozen=True, slots=True)
class _Builder:
    """Turns a claim's selections into lines of quantities."""

    t: _Table
    e: Experiment
    grid: _Grid
    where: dict[str, Any]
    mean_over: tuple[str, ...]
    of: str | dict[str, Any] | None
    over: str | dict[str, Any] | None

    def single(self) -> tuple[Line, ...]:
        """One line with one quantity; anything else left free is a mistake."""
        free = self._allowed(self.where, "where")
        self._only_one(free, "where")
        return (Line("", (self._quantity(free, self._name(free)),)),)

    def ranking(self, items: list[Any]) -> tuple[Line, ...]:
        """One line with a quantity for each entry of `order`."""
        if len(items) < 2:
            raise self.t.error("a ranking has two entries at least", "order")
        found = []
        for item in items:
            own = _where(item, self.t, "order")
            allowed = self._allowed(self.where | own, "order")
            self._only_one(allowed, "order")
            found.append(self._quantity(allowed, self._name({p: allowed[p] for p in own})))
        return (Line("", tuple(found)),)

    def along(self, x: str) -> tuple[Line, ...]:
        """A line along `x` for each combination of what else is free."""
        if x not in self.grid.paths:
            raise self.t.error(f'"{x}" is not swept{suggestion(x, self.grid.paths)}', "x")
        allowed = self._allowed(self.where, "where")
        values = dict(self.grid.sweep)[x]
        if len(allowed[x]) < 2:
            raise self.t.error(f"{x} needs two values at least", "x")
        free = [p for p in allowed if p not in (x, *self.mean_over) and len(allowed[p]) > 1]
        lines = []
        for picks in product(*(allowed[p] for p in free)):
            fixed = {p: [pick] for p, pick in zip(free, picks, strict=True)}
            quantities = tuple(
                self._quantity(allowed | fixed | {x: [i]}, _plain(values[i]), quantity.magnitude(values[i]))
                for i in allowed[x]
            )
            lines.append(Line(self._name(fixed), quantities))
        return tuple(lines)

    def _allowed(self, where: dict[str, Any], key: str) -> dict[str, list[Any]]:
        allowed = self.grid.choices(where, self.t, key)
        if self.of is not None and len(allowed[ARM]) == len(self.grid.arms):
            allowed[ARM] = allowed[ARM][:1]  # a gain names its two arms itself
        return allowed

    def _only_one(self, allowed: Mapping[str, list[Any]], key: str) -> None:
        for path, picks in allowed.items():
            if len(picks) > 1 and path not in self.mean_over:
                raise self.t.error(f'leaves {len(picks)} values of "{path}": fix one, or average with `mean_over`', key)

    def _quantity(self, allowed: dict[str, list[Any]], label: str, x: float | None = None) -> Quantity:
        if self.of is None:
            return Quantity(label, tuple(_cells(allowed, self.grid)), x)
        sides = []
        for key, side in (("of", self.of), ("over", self.over)):
            sides.append(_cells(allowed | self._picks(_where(side, self.t, key), key), self.grid))
        if len(sides[0]) != len(sides[1]):
            raise self.t.error("`of` and `over` select different numbers of points")
        pairs = tuple(Gain(new, old) for new, old in zip(*sides, strict=True))
        if any(pair.new == pair.old for pair in pairs):
            raise self.t.error("`of` and `over` are the same")
        return Quantity(label, pairs, x)

    def _picks(self, where: dict[str, Any], key: str) -> dict[str, list[Any]]:
        if ARM not in where:
            raise self.t.error("names no arm", key)
        chosen = self.grid.choices(where, self.t, key)
        return {path: chosen[path] for path in where}

    def _name(self, allowed: Mapping[str, list[Any]]) -> str:
        parts = []
        for path, picks in allowed.items():
            if len(picks) != 1 or (path == ARM and self.of is not None):
                continue
            if path == ARM:
                parts.append(self.e.label(picks[0]))
            else:
                parts.append(self.e.label(path, dict(self.grid.sweep)[path][picks[0]]))
        return ", ".join(parts)
