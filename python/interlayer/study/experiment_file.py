"""Reads experiment files, the only place that does.

A key that no table has, an arm or a swept value that does not exist, a claim that selects nothing: each is an
`InputError` with the path and, where one is near, what was meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, cast

from interlayer import quantity, toml_text
from interlayer.errors import InputError, suggestion
from interlayer.measure.stats import MIN_RUNS

from . import expression
from .experiment import (
    ARM,
    EVIDENCE,
    Cell,
    Claim,
    Comparison,
    Crossing,
    Curve,
    Derived,
    Evidence,
    Expected,
    Experiment,
    Formula,
    Gain,
    Kind,
    Line,
    Order,
    OverTime,
    Printed,
    Quantity,
    Ratio,
    Shape,
    Trend,
    Value,
    plain,
)


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

    def has(self, key: str) -> bool:
        return key in self._left

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
    runs = _needs_runs(t)
    settings = tuple(t.take("set", dict, {}).items())
    sweep = _sweep(t)
    follow = _follow(t, sweep)
    arms_table = t.take("arms", dict, ... if runs else {})
    for arm, change in arms_table.items():
        if not isinstance(change, dict):
            raise InputError(f"arms.{arm}: expected a table of settings", f"arms.{arm}")
    if runs and not arms_table:
        raise InputError("arms: there is none", "arms")
    grid = _Grid(sweep, tuple(arms_table))

    figure = _Table(t.take("figure", dict, {}), "figure")
    x = figure.one_of("x", grid.paths, grid.paths[0]) if grid.paths else ""
    y_label = figure.take("y", str, "")
    show = cast(Literal["metric", "gain"], figure.one_of("show", ("metric", "gain"), "metric"))
    drawn = _drawn(figure, grid)
    figure.done()

    e = Experiment(
        id=t.take("id", str),
        title=t.take("title", str),
        source=t.take("source", str),
        question=t.take("question", str, ""),
        evidence=t.one_of("evidence", EVIDENCE),
        base=_scenario(beside, t.take("base", str)) if runs else "",
        metric=t.take("metric", str) if runs else "",
        unit=t.one_of("unit", quantity.UNITS, ... if runs else "1"),
        max_runs=t.take("max_runs", int, ... if runs else MIN_RUNS),
        assumptions=tuple(t.take("assumptions", list, [])),
        note=t.take("note", str, "").strip(),
        settings=settings,
        sweep=sweep,
        arms=tuple((arm, _without_base(change)) for arm, change in arms_table.items()),
        x=x,
        y_label=y_label,
        show=show,
        labels=t.take("labels", dict, {}),
        comparisons=tuple(_comparison(c, i, grid) for i, c in enumerate(t.take("gain", list, []))),
        curves=tuple(_curve(c, i, grid, x) for i, c in enumerate(t.take("curve", list, []))),
        bases=tuple(_bases(arms_table, beside)),
        follow=follow,
        drawn=drawn,
    )
    if e.max_runs < MIN_RUNS:
        raise InputError(f"max_runs: a verdict needs {MIN_RUNS} runs", "max_runs")
    if show == "gain" and not e.comparisons:
        raise InputError('figure.show: "gain" needs a [[gain]] to show', "figure.show")
    over_time = _over_time(_Table(t.take("over_time", dict), "over_time"), grid) if t.has("over_time") else None
    claims, derived = t.take("claim", list, []), t.take("derived", list, [])
    explained = _evidence(t.take("explain", list, []), len(claims))
    t.done()
    return replace(
        e,
        over_time=over_time,
        claims=tuple(_claim(c, i, e, grid, explained) for i, c in enumerate(claims)),
        derived=tuple(_derived(d, i, e, grid) for i, d in enumerate(derived)),
    )


_OF_RUNS = ("set", "sweep", "follow", "arms", "metric", "max_runs", "gain", "curve", "figure", "over_time")


def _needs_runs(t: _Table) -> bool:
    """Whether the file has a scenario to run; without one, what only runs can serve is a mistake."""
    if not t.has("base") and any(t.has(key) for key in _OF_RUNS):
        raise t.error('the key "base" is missing')
    return t.has("base")


def _sweep(t: _Table) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    table = t.take("sweep", dict, {})
    for path, values in table.items():
        if not isinstance(values, list) or not values:
            raise InputError(f'sweep."{path}": expected a list of values', f"sweep.{path}")
        if len({toml_text.literal(v) for v in values}) < len(values):
            raise InputError(f'sweep."{path}": a value comes twice', f"sweep.{path}")
    return tuple((path, tuple(values)) for path, values in table.items())


def _follow(
    t: _Table, sweep: tuple[tuple[str, tuple[Any, ...]], ...]
) -> tuple[tuple[str, tuple[tuple[str, tuple[Any, ...]], ...]], ...]:
    """What goes with a swept path's values: other paths, each with as many values."""
    swept, found, taken = dict(sweep), [], {path for path, _ in sweep}
    for leader, others in t.take("follow", dict, {}).items():
        where = f'follow."{leader}"'
        if leader not in swept:
            raise InputError(f'{where}: "{leader}" is not swept{suggestion(leader, swept)}', f"follow.{leader}")
        if not isinstance(others, dict):
            raise InputError(f"{where}: expected a table of lists", f"follow.{leader}")
        for path, values in others.items():
            if path in taken:
                raise InputError(f'{where}: "{path}" is set already', f"follow.{leader}")
            if not isinstance(values, list) or len(values) != len(swept[leader]):
                raise InputError(
                    f'{where}: "{path}" needs a list of {len(swept[leader])}, as many as are swept', f"follow.{leader}"
                )
            taken.add(path)
        found.append((leader, tuple((path, tuple(values)) for path, values in others.items())))
    return tuple(found)


def _drawn(figure: _Table, grid: _Grid) -> dict[str, tuple[Any, ...]]:
    """What the figure's `where` leaves of the grid, by the paths it names."""
    where = _where(figure.take("where", dict, {}), figure, "where")
    allowed = grid.choices(where, figure, "where")
    return {path: tuple(allowed[path]) for path in where}


_BASE = "base"
"""The key of an arm that is no path of its scenario, but names another scenario file."""


def _without_base(change: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((path, value) for path, value in change.items() if path != _BASE)


def _scenario(beside: Path, name: str) -> str:
    """A scenario file beside an experiment, else in the folder above it: those of `beyond/` use the papers' too."""
    above = beside.parent / name
    return toml_text.read_text(above if not (beside / name).exists() and above.exists() else beside / name)


def _bases(arms: Mapping[str, Mapping[str, Any]], beside: Path) -> list[tuple[str, str]]:
    """The scenario texts of the arms that have one of their own."""
    found = []
    for arm, change in arms.items():
        if _BASE not in change:
            continue
        if not isinstance(change[_BASE], str):
            raise InputError(f"arms.{arm}.base: expected a scenario file beside this one", f"arms.{arm}.base")
        found.append((arm, _scenario(beside, change[_BASE])))
    return found


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
                raise t.error(f"no claim {plain(number)}; they are 1 to {claims}", "claim")
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
                    raise t.error(f"{path} is never {plain(value)}{suggestion(plain(value), map(plain, there))}", key)
                picks.append(value if path == ARM else there.index(value))
            allowed[path] = sorted(picks) if path != ARM else picks
        return allowed


def _cells(allowed: Mapping[str, list[Any]], grid: _Grid) -> list[Cell]:
    points = product(*(allowed[path] for path in grid.paths))
    return [Cell(arm, at) for at in points for arm in allowed[ARM]]


_KINDS = ("value", "ratio", "order", "trend", "shape")


def _claim(content: object, i: int, e: Experiment, grid: _Grid, explained: Mapping[int, list[Evidence]]) -> Claim:
    t = _Table(content, f"claim[{i}]")
    kind = cast(Kind, t.one_of("kind", _KINDS))
    text = t.take("text", str)
    strength = t.one_of("strength", ("number", "words"))
    metric = t.take("metric", str, e.metric)
    build = _builder(t, e, grid)
    if kind == "ratio" and not (build.of or build.formula):
        raise t.error("a ratio compares: give `of` and `over`, or a `formula`")
    unit = t.one_of("unit", quantity.UNITS, "%" if build.of is not None else e.unit)
    if build.of is not None and not t.has("first") and unit != "%" and not (build.share and unit == "1"):
        raise t.error(f'a {"share" if build.share else "gain"} is no "{unit}"; leave `unit` out', "unit")
    test: Value | Ratio | Crossing | Order | Trend | Shape
    match kind:
        case "value" if t.has("first"):
            test, lines = _crossing(t, e, build)
        case "value":
            test = Value(_expected(t))
            lines = build.single()
        case "ratio" if build.share or build.formula:
            test = Value(_expected(t))
            lines = build.single()
        case "ratio":
            along = t.take("range_over", str, None)
            test = Ratio(_expected(t), spans=along is not None)
            if along is not None and (test.expected.low is None or test.expected.high is None):
                raise t.error("a range that is covered needs `low` and `high`", "range_over")
            if test.expected.value == 0:
                raise t.error('a gain of nothing has no sign: make it a `shape` with test = "close"', "expected")
            lines = build.along(along) if along is not None else build.single()
        case "order":
            printed = None
            if any(map(t.has, ("expected", "low", "high"))):
                printed = Printed(_expected(t), t.one_of("printed_unit", quantity.UNITS, unit))
            test = Order(t.take("lowest_first", bool, False), t.take("or_equal", bool, False), printed)
            lines = build.ranking(t.take("order", list), t.take("at_every", list, []))
        case "trend":
            x = t.take("x", str)
            direction = t.one_of("direction", ("increases", "decreases", "flat"))
            margin, reason, _ = _margin(t, needed=direction == "flat")
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
        largest_of=_so_many(t, "largest_of", isinstance(test, Value | Order)),
        one_of=_so_many(t, "one_of", isinstance(test, Value)),
    )
    if claim.largest_of and claim.one_of:
        raise t.error("one run is not the largest of several: give `one_of` or `largest_of`", "one_of")
    if claim.largest_of and isinstance(test, Value) and test.expected.value is None:
        raise t.error("needs an `expected`", "largest_of")
    t.done()
    build.check_constants()
    if not e.base and not claim.is_computed:
        raise t.error("nothing runs here (there is no `base`): give a `formula`")
    return claim


def _over_time(t: _Table, grid: _Grid) -> OverTime:
    columns = t.take("columns", list)
    if not columns or not all(isinstance(c, str) for c in columns):
        raise t.error("expected a list of patterns, as flow.*.cwnd", "columns")
    cells = _cells(grid.choices(_where(t.take("where", dict, {}), t, "where"), t, "where"), grid)
    if len(cells) != 1:
        raise t.error(f"a run is of one arm at one point, this leaves {len(cells)}", "where")
    run = _Table(t.take("run", dict, {}), f"{t.where}.run")
    picked = [(how, metric) for how in ("lowest", "median", "highest") if (metric := run.take(how, str, ""))]
    run.done()
    t.done()
    if len(picked) > 1:
        raise t.error("give one of `lowest`, `median`, `highest`", "run")
    pick, metric = picked[0] if picked else ("first", "")
    return OverTime(tuple(columns), cells[0], cast(Any, pick), metric)


def _so_many(t: _Table, key: str, allowed: bool) -> int:
    """A number of runs that the source's number was taken from; 0 where it is a mean."""
    if not t.has(key):
        return 0
    runs: int = t.take(key, int)
    if not allowed:
        raise t.error(f"only {'a value or an order' if key == 'largest_of' else 'a value'} can have it", key)
    if runs < 2:
        raise t.error("give the source's number of runs, 2 at least", key)
    return runs


def _crossing(t: _Table, e: Experiment, build: _Builder) -> tuple[Crossing, tuple[Line, ...]]:
    """`first` says below or above what the quantities are to lie, in which unit; the claim's number is an x."""
    expected, x = _expected(t), t.take("x", str)
    first = _Table(t.take("first", dict), f"{t.where}.first")
    unit = first.one_of("unit", quantity.UNITS, "%" if build.of is not None else e.unit)
    below, above = first.number("below"), first.number("above")
    first.done()
    limit = below if below is not None else above
    if limit is None or (below is not None and above is not None):
        raise first.error("give either `below` or `above`")
    lines = build.along(x)
    if len(lines) != 1:
        raise t.error(f"one line crosses a limit, `where` leaves {len(lines)}", "where")
    if any(q.x is None for q in lines[0].quantities):
        raise t.error(f"the values of {x} are no numbers", "x")
    return Crossing(expected, limit, below is not None, unit), lines


def _derived(content: object, i: int, e: Experiment, grid: _Grid) -> Derived:
    t = _Table(content, f"derived[{i}]")
    text, unit = t.take("text", str), t.take("unit", str)
    if not t.has("formula"):
        raise t.error('the key "formula" is missing')
    build = _builder(t, e, grid)
    if build.of is not None:
        raise t.error("what is derived has a `formula`, and nothing to compare", "of")
    expected = t.number("expected")
    (line,) = build.single()
    t.done()
    build.check_constants()
    return Derived(text, unit, line.quantities[0], expected)


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
    if found.low is not None and found.high is not None and found.low > found.high:
        raise t.error("`low` is above `high`", "low")
    if (found.band is None) != (not found.band_reason):
        raise t.error("another band needs its `band_reason`, and the other way round", "band")
    if found.band is not None and found.value is None:
        raise t.error("a printed range is its own band", "band")
    return found


def _margin(t: _Table, *, needed: bool, relative: bool = False) -> tuple[float | None, str, bool]:
    """Margin, reason, and whether it is a share of the mean (`"10 %"`), where that is allowed."""
    given, reason = (
        t.take("margin", (int, float, str) if relative else (int, float), None),
        t.take("margin_reason", str, ""),
    )
    if needed and (given is None or not reason):
        raise t.error("needs a `margin`, in the claim's unit, and a `margin_reason`")
    if not needed and given is not None:
        raise t.error("only something flat or close has a margin", "margin")
    share = isinstance(given, str)
    if share:
        given = quantity.magnitude(given) if given.rstrip().endswith("%") else None
        if given is None:
            raise t.error('give a number, in the claim\'s unit, or a share of the mean, as in "10 %"', "margin")
    return given, reason, share


def _shape(t: _Table, build: _Builder) -> tuple[Shape, tuple[Line, ...]]:
    name = t.one_of("test", ("peak", "close"))
    if name == "peak":
        x = t.take("x", str)
        values = build.values or dict(build.grid.sweep).get(x, ())
        peak = t.take("peak", (str, int, float))
        if peak not in values:
            raise t.error(f"{x} is never {plain(peak)}", "peak")
        lines = build.along(x)
        at = [build.index(x, i) for i in range(len(values))].index(values.index(peak))
        return Shape("peak", at=at), lines
    margin, reason, relative = _margin(t, needed=True, relative=True)
    along, pairs = t.take("x", str, None), t.take("pairs", list, None)
    if pairs is None:
        lines = build.along(along)
        if len(lines) != 2:
            raise t.error(f"close compares two lines, `where` leaves {len(lines)}; name them two by two in `pairs`")
    else:
        lines = tuple(line for i, pair in enumerate(pairs) for line in _pair(pair, i, t, build, along))
    return Shape("close", margin=margin, margin_reason=reason, relative=relative), lines


def _pair(pair: object, i: int, t: _Table, build: _Builder, along: str | None) -> list[Line]:
    """Two lines to hold against each other, each what an entry leaves of the grid."""
    if not isinstance(pair, list) or len(pair) != 2:
        raise t.error("expected lists of two: an arm's name or a `where` each", f"pairs[{i}]")
    found = []
    for one in pair:
        side = _side(one, t, "pairs")
        lines = replace(build, where=build.where | side.where, metric=side.metric or build.metric).along(along)
        if len(lines) != 1:
            raise t.error(f"{_shown(one)} leaves {len(lines)} lines: fix one", f"pairs[{i}]")
        name = side.label or build.name({p: build.grid.choices(side.where, t, "pairs")[p] for p in side.where})
        found.append(replace(lines[0], label=name or lines[0].label))
    return found


def _shown(one: object) -> str:
    return one if isinstance(one, str) else toml_text.literal(one)


@dataclass(frozen=True, slots=True)
class _Side:
    """An entry of a ranking, a side of a gain, an input of a formula: where it is, and what is read there."""

    where: dict[str, Any]
    metric: str = ""
    label: str = ""
    formula: str = ""
    unit: str = ""


_READS = ("metric", "label", "formula", "unit")


def _side(content: object, t: _Table, key: str, reads: Sequence[str] = ("metric", "label")) -> _Side:
    """An arm's name, or a table: a `where`, and by choice the keys `reads`."""
    if isinstance(content, str):
        return _Side({ARM: content})
    if not isinstance(content, dict):
        raise t.error("expected an arm's name or a table", key)
    for name in _READS:
        if name in content and (name not in reads or not isinstance(content[name], str)):
            raise t.error(f"{name} has no place here" if name not in reads else f"{name}: expected a text", key)
    where = {path: value for path, value in content.items() if path not in _READS}
    return _Side(where, *(content.get(name, "") for name in _READS))


def _builder(t: _Table, e: Experiment, grid: _Grid) -> _Builder:
    """Takes the keys that say which numbers a claim, or something derived, rests on."""
    where = _where(t.take("where", dict, {}), t, "where")
    mean_over = t.take("mean_over", list, [])
    for path in mean_over:
        if path not in grid.paths:
            raise t.error(f'"{path}" is not swept{suggestion(str(path), grid.paths)}', "mean_over")
    of, over = t.take("of", (str, dict), None), t.take("over", (str, dict), None)
    if (of is None) != (over is None):
        raise t.error("a gain needs both `of` and `over`")
    share, formula = t.take("share", bool, False), t.take("formula", str, "")
    if share and of is None:
        raise t.error("a share needs `of` and `over`", "share")
    if formula and of is not None:
        raise t.error("give either a `formula` or `of` and `over`", "formula")
    values = t.take("values", list, [])
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise t.error("expected numbers, those x takes in the formula", "values")
    return _Builder(
        t=t,
        e=e,
        grid=grid,
        where=where,
        mean_over=tuple(mean_over),
        of=None if of is None else _side(of, t, "of"),
        over=None if over is None else _side(over, t, "over"),
        share=share,
        formula=formula,
        let=t.take("let", dict, {}),
        values=tuple(values),
        metric="",
        used=set(),
    )


def _where(content: object, t: _Table, key: str) -> dict[str, Any]:
    if isinstance(content, dict):
        return content
    raise t.error("expected a table", key)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Turns a claim's selections into lines of quantities."""

    t: _Table
    e: Experiment
    grid: _Grid
    where: dict[str, Any]
    mean_over: tuple[str, ...]
    of: _Side | None
    over: _Side | None
    share: bool
    formula: str
    let: dict[str, Any]
    values: tuple[float, ...]
    metric: str
    used: set[str]
    """Names of `let` that a formula has used, so that one that none does is a mistake."""

    def single(self) -> tuple[Line, ...]:
        """One line with one quantity; anything else left free is a mistake, unless the formula asks for no place."""
        if self._anywhere(self.formula):
            return (Line("", (self._quantity({}, ""),)),)
        free = self._allowed(self.where, "where")
        if not self.formula:  # what a formula reads is asked for its place one by one
            self._only_one(free, "where")
        return (Line("", (self._quantity(free, self.name(free)),)),)

    def _anywhere(self, formula: str) -> bool:
        """Whether a formula is over constants alone, the same wherever on the grid."""
        return bool(formula) and not any(isinstance(self.let.get(n), str | dict) for n in expression.names(formula))

    def ranking(self, items: list[Any], at_every: list[Any]) -> tuple[Line, ...]:
        """A line with a quantity for each entry of `order`; with `at_every`, one at each combination of its values."""
        if len(items) < 2:
            raise self.t.error("a ranking has two entries at least", "order")
        for path in at_every:
            if path not in self.grid.paths:
                raise self.t.error(f'"{path}" is not swept{suggestion(str(path), self.grid.paths)}', "at_every")
        sides = [_side(item, self.t, "order", ("metric", "label", "formula")) for item in items]
        everywhere = self._allowed(self.where, "where")
        lines = []
        for picks in product(*(everywhere[path] for path in at_every)):
            fixed = {path: [pick] for path, pick in zip(at_every, picks, strict=True)}
            found = []
            for side in sides:
                if twice := [path for path in side.where if path in fixed]:
                    raise self.t.error(f"{twice[0]} is in `at_every`", "order")
                allowed = self._allowed(self.where | side.where, "order") | fixed
                if not (side.formula or self.formula):
                    self._only_one(allowed, "order")
                name = ", ".join(
                    part
                    for part in (
                        self.name({p: allowed[p] for p in side.where}),
                        self.e.label(side.metric) if side.metric else "",
                    )
                    if part
                )
                found.append(self._quantity(allowed, side.label or name, side=side))
            lines.append(Line(self.name(fixed), tuple(found)))
        return tuple(lines)

    def along(self, x: str | None) -> tuple[Line, ...]:
        """A line along `x` for each combination of what else is free; without x, lines of one point."""
        if self.values:
            return (self._computed_line(),)
        if x is not None and x not in self.grid.paths:
            raise self.t.error(f'"{x}" is not swept{suggestion(x, self.grid.paths)}', "x")
        allowed = self._allowed(self.where, "where")
        if x is not None and len(allowed[x]) < 2:
            raise self.t.error(f"{x} needs two values at least", "x")
        free = [p for p in allowed if p not in (x, *self.mean_over) and len(allowed[p]) > 1]
        lines = []
        for picks in product(*(allowed[p] for p in free)):
            fixed = {p: [pick] for p, pick in zip(free, picks, strict=True)}
            if x is None:
                quantities = [self._quantity(allowed | fixed, "")]
            else:
                values = dict(self.grid.sweep)[x]
                quantities = [
                    self._quantity(allowed | fixed | {x: [i]}, plain(values[i]), quantity.magnitude(values[i]))
                    for i in sorted(allowed[x], key=lambda i: self.index(x, i))
                ]
            lines.append(Line(self.name(fixed), tuple(quantities)))
        return tuple(lines)

    def index(self, x: str, i: int) -> int:
        """Where on a line along `x` its i-th value comes: by size if all are numbers, else as the file has them."""
        values = self.values or dict(self.grid.sweep)[x]
        sizes = [quantity.magnitude(v) for v in values]
        numbers = [s for s in sizes if s is not None]
        return sorted(range(len(values)), key=numbers.__getitem__).index(i) if len(numbers) == len(values) else i

    def _computed_line(self) -> Line:
        """The formula at each of `values`."""
        if not self.formula or len(self.values) < 2:
            raise self.t.error("are for a `formula` over x, two of them at least", "values")
        found = [
            Quantity(f"{v:g}", (), float(v), formula=self._formula(self.formula, {}, float(v)))
            for v in sorted(self.values)
        ]
        return Line("", tuple(found))

    def _allowed(self, where: dict[str, Any], key: str) -> dict[str, list[Any]]:
        allowed = self.grid.choices(where, self.t, key)
        named = [side is not None and ARM in side.where for side in (self.of, self.over)]
        if all(named) and len(allowed[ARM]) == len(self.grid.arms):
            allowed[ARM] = allowed[ARM][:1]  # a gain names its two arms itself
        return allowed

    def _only_one(self, allowed: Mapping[str, list[Any]], key: str) -> None:
        for path, picks in allowed.items():
            if len(picks) > 1 and path not in self.mean_over:
                hint = ", or ask it `at_every` one" if key == "order" and path != ARM else ""
                raise self.t.error(
                    f'leaves {len(picks)} values of "{path}": fix one, or average with `mean_over`{hint}', key
                )

    def _quantity(
        self, allowed: dict[str, list[Any]], label: str, x: float | None = None, side: _Side | None = None
    ) -> Quantity:
        side = side or _Side({})
        metric = side.metric or self.metric
        if formula := side.formula or self.formula:
            return Quantity(label, (), x, formula=self._formula(formula, allowed, x))
        if self.of is None or self.over is None:
            return Quantity(label, tuple(_cells(allowed, self.grid)), x, metric=metric)
        sides = [
            _cells(allowed | self._picks(one, key), self.grid) for key, one in (("of", self.of), ("over", self.over))
        ]
        if len(sides[0]) != len(sides[1]):
            raise self.t.error("`of` and `over` select different numbers of points")
        pairs = tuple(Gain(new, old) for new, old in zip(*sides, strict=True))
        new, old = self.of.metric or metric, self.over.metric or metric
        if new == old and any(pair.new == pair.old for pair in pairs):
            raise self.t.error("`of` and `over` are the same")
        over = old or self.e.metric if old != new else ""
        return Quantity(label, pairs, x, metric=new, over=over, share=self.share)

    def _picks(self, side: _Side, key: str) -> dict[str, list[Any]]:
        if ARM not in side.where and not side.metric:
            raise self.t.error("names no arm", key)
        chosen = self.grid.choices(side.where, self.t, key)
        return {path: chosen[path] for path in side.where}

    def _formula(self, text: str, allowed: dict[str, list[Any]], x: float | None) -> Formula:
        """A formula at a place of the grid: what `let` gives as numbers, and what it asks to be read there."""
        constants: dict[str, float] = {} if x is None else {"x": x}
        inputs: list[tuple[str, Quantity, str]] = []
        for name in sorted(expression.names(text)):
            if name in constants:
                continue
            if name not in self.let:
                known = [*self.let, *constants]
                raise self.t.error(f'no constant "{name}"{suggestion(name, known)}', "formula")
            self.used.add(name)
            given, key = self.let[name], f"let.{name}"
            if isinstance(given, int | float) and not isinstance(given, bool):
                constants[name] = float(given)
            elif isinstance(given, dict) and "value" in given:
                constants[name] = self._swept(given, allowed, key)
            elif isinstance(given, str | dict):
                side = _side({"metric": given} if isinstance(given, str) else given, self.t, key, ("metric", "unit"))
                if not self.e.base:
                    raise self.t.error("nothing runs here (there is no `base`): give a number", key)
                if side.unit and side.unit not in quantity.UNITS:
                    raise self.t.error(f'"{side.unit}" is no unit{suggestion(side.unit, quantity.UNITS)}', key)
                chosen = self.grid.choices(side.where, self.t, key)
                there = allowed | {path: chosen[path] for path in side.where}
                self._only_one(there, key)
                cells = tuple(_cells(there, self.grid))
                inputs.append((name, Quantity(name, cells, metric=side.metric or self.e.metric), side.unit))
            else:
                raise self.t.error("expected a number, a metric, or a table", key)
        found = Formula(text, tuple(constants.items()), tuple(inputs))
        if not inputs:
            try:
                expression.evaluate(text, constants)
            except InputError as e:  # now, and not after the runs
                raise self.t.error(str(e), "formula") from e
        return found

    def _swept(self, given: dict[str, Any], allowed: Mapping[str, list[Any]], key: str) -> float:
        """The value that a swept path has here, as a number in base units."""
        path = given["value"]
        if len(given) > 1 or path not in self.grid.paths:
            raise self.t.error(f'"{plain(path)}" is not swept{suggestion(str(path), self.grid.paths)}', key)
        if len(allowed.get(path, [])) != 1:
            raise self.t.error(f"{path} is not fixed here", key)
        size = quantity.magnitude(dict(self.grid.sweep)[path][allowed[path][0]])
        if size is None:
            raise self.t.error(f"{path} is no number", key)
        return size

    def check_constants(self) -> None:
        """A name in `let` that no formula uses is a mistake."""
        for name in self.let:
            if name not in self.used:
                raise self.t.error("the formula does not use it", f"let.{name}")

    def name(self, allowed: Mapping[str, list[Any]]) -> str:
        parts = []
        for path, picks in allowed.items():
            if len(picks) != 1 or (path == ARM and self.of is not None):
                continue
            if path == ARM:
                parts.append(self.e.label(picks[0]))
            else:
                parts.append(self.e.label(path, dict(self.grid.sweep)[path][picks[0]]))
        return ", ".join(parts)
