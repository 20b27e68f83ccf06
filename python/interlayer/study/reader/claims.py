"""Claims, what is derived beside them, and the evidence for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from interlayer import quantity, toml_text
from interlayer.study import expression
from interlayer.study.experiment import (
    Claim,
    Crossing,
    Derived,
    Evidence,
    Expected,
    Experiment,
    Kind,
    Line,
    Order,
    Printed,
    Ratio,
    Shape,
    Trend,
    Value,
    plain,
)

from .grid import Grid
from .selection import Builder, builder, side_of
from .table import Table, constants

_KINDS = ("value", "ratio", "order", "trend", "shape")


def read_claim(
    content: object, place: int, number: int, e: Experiment, grid: Grid, explained: Mapping[int, list[Evidence]]
) -> Claim:
    """A claim with its number and the evidence that explains it, from the `[[claim]]` at a place in the file."""
    t = Table(content, f"claim[{place}]")
    kind = cast(Kind, t.one_of("kind", _KINDS))
    text = t.take("text", str)
    strength = t.one_of("strength", ("number", "words"))
    metric = t.take("metric", str, e.metric)
    build = builder(t, e, grid)
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
        case "ratio" if build.share or build.apart or build.formula:
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
        id=f"{e.id}#{number}",
        text=text,
        kind=kind,
        strength=strength,
        metric=metric,
        unit=unit,
        test=test,
        lines=lines,
        evidence=tuple(explained.get(number, ())),
        inferred=t.take("inferred", bool, False),
        approx=t.take("approx", bool, False),
        largest_of=_so_many(t, "largest_of", isinstance(test, Value | Order)),
        one_of=_so_many(t, "one_of", isinstance(test, Value)),
        mean_of=_so_many(t, "mean_of", isinstance(test, Value)),
        arithmetic=t.take("arithmetic", str, ""),
        impossible=t.take("impossible", str, ""),
    )
    if claim.mean_of and (claim.largest_of or claim.one_of):
        raise t.error("a printed number is one of them: a mean, the largest, or one that was picked", "mean_of")
    if claim.mean_of and isinstance(test, Value) and test.expected.value is None:
        raise t.error("needs an `expected`: a printed range has its own", "mean_of")
    if claim.largest_of and claim.one_of:
        raise t.error("one run is not the largest of several: give `one_of` or `largest_of`", "one_of")
    if claim.largest_of and isinstance(test, Value) and test.expected.value is None:
        raise t.error("needs an `expected`", "largest_of")
    t.done()
    build.check_constants()
    if not e.base and not claim.is_computed:
        raise t.error("nothing runs here (there is no `base`): give a `formula`")
    return claim


def _so_many(t: Table, key: str, allowed: bool) -> int:
    """A number of runs that the source's number was taken from; 0 where it is a mean."""
    if not t.has(key):
        return 0
    runs: int = t.take(key, int)
    if not allowed:
        raise t.error(f"only {'a value or an order' if key == 'largest_of' else 'a value'} can have it", key)
    if runs < 2:
        raise t.error("give the source's number of runs, 2 at least", key)
    return runs


def _expected(t: Table) -> Expected:
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


def _margin(t: Table, *, needed: bool, relative: bool = False) -> tuple[float | None, str, bool]:
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


def _crossing(t: Table, e: Experiment, build: Builder) -> tuple[Crossing, tuple[Line, ...]]:
    """`first` says below or above what the quantities are to lie, in which unit; the claim's number is an x."""
    expected, x = _expected(t), t.take("x", str)
    first = Table(t.take("first", dict), f"{t.where}.first")
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


def _shape(t: Table, build: Builder) -> tuple[Shape, tuple[Line, ...]]:
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


def _pair(pair: object, i: int, t: Table, build: Builder, along: str | None) -> list[Line]:
    """Two lines to hold against each other, each what an entry leaves of the grid."""
    if not isinstance(pair, list) or len(pair) != 2:
        raise t.error("expected lists of two: an arm's name or a `where` each", f"pairs[{i}]")
    found = []
    for one in pair:
        side = side_of(one, t, "pairs")
        lines = replace(build, where=build.where | side.where, metric=side.metric or build.metric).along(along)
        if len(lines) != 1:
            raise t.error(f"{_shown(one)} leaves {len(lines)} lines: fix one", f"pairs[{i}]")
        name = side.label or build.name({p: build.grid.choices(side.where, t, "pairs")[p] for p in side.where})
        found.append(replace(lines[0], label=name or lines[0].label))
    return found


def _shown(one: object) -> str:
    return one if isinstance(one, str) else toml_text.literal(one)


def read_derived(content: object, i: int, e: Experiment, grid: Grid) -> Derived:
    """The i-th `[[derived]]`."""
    t = Table(content, f"derived[{i}]")
    text, unit = t.take("text", str), t.take("unit", str)
    if not t.has("formula"):
        raise t.error('the key "formula" is missing')
    build = builder(t, e, grid)
    if build.of is not None:
        raise t.error("what is derived has a `formula`, and nothing to compare", "of")
    expected = t.number("expected")
    (line,) = build.single()
    t.done()
    build.check_constants()
    return Derived(text, unit, line.quantities[0], expected)


def read_evidence(entries: list[Any], claims: int) -> dict[int, list[Evidence]]:
    """Evidence by the number of its claim, counted from 1; one entry may serve several claims."""
    found: dict[int, list[Evidence]] = {}
    for i, content in enumerate(entries):
        t = Table(content, f"explain[{i}]")
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
            constants=constants(t, formula) if formula else (),
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
