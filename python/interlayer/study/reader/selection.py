"""Which numbers a claim rests on: `where`, `of` and `over`, `order`, `formula`, turned into lines of quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from interlayer import quantity
from interlayer.errors import InputError, suggestion
from interlayer.study import expression
from interlayer.study.experiment import ARM, Experiment, Formula, Gain, Line, Quantity, plain

from .grid import Grid, cells_of, where_of
from .table import Table


@dataclass(frozen=True, slots=True)
class Side:
    """An entry of a ranking, a side of a gain, an input of a formula: where it is, and what is read there."""

    where: dict[str, Any]
    metric: str = ""
    label: str = ""
    formula: str = ""
    unit: str = ""


_READS = ("metric", "label", "formula", "unit")


def side_of(content: object, t: Table, key: str, reads: Sequence[str] = ("metric", "label")) -> Side:
    """An arm's name, or a table: a `where`, and by choice the keys `reads`."""
    if isinstance(content, str):
        return Side({ARM: content})
    if not isinstance(content, dict):
        raise t.error("expected an arm's name or a table", key)
    for name in _READS:
        if name in content and (name not in reads or not isinstance(content[name], str)):
            raise t.error(f"{name} has no place here" if name not in reads else f"{name}: expected a text", key)
    where = {path: value for path, value in content.items() if path not in _READS}
    return Side(where, *(content.get(name, "") for name in _READS))


def builder(t: Table, e: Experiment, grid: Grid) -> Builder:
    """Takes the keys that say which numbers a claim, or something derived, rests on."""
    where = where_of(t.take("where", dict, {}), t, "where")
    mean_over = t.take("mean_over", list, [])
    for path in mean_over:
        if path not in grid.paths:
            raise t.error(f'"{path}" is not swept{suggestion(str(path), grid.paths)}', "mean_over")
        if path in grid.fixed:
            raise t.error(f"{path} is open: a claim is judged in each reading of it", "mean_over")
    of, over = t.take("of", (str, dict), None), t.take("over", (str, dict), None)
    if (of is None) != (over is None):
        raise t.error("a gain needs both `of` and `over`")
    share, formula = t.take("share", bool, False), t.take("formula", str, "")
    apart = t.take("apart", bool, False)
    if share and of is None:
        raise t.error("a share needs `of` and `over`", "share")
    if apart and (of is None or share):
        raise t.error("a difference without a sign needs `of` and `over`, and is no share", "apart")
    if formula and of is not None:
        raise t.error("give either a `formula` or `of` and `over`", "formula")
    values = t.take("values", list, [])
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise t.error("expected numbers, those x takes in the formula", "values")
    return Builder(
        t=t,
        e=e,
        grid=grid,
        where=where,
        mean_over=tuple(mean_over),
        of=None if of is None else side_of(of, t, "of"),
        over=None if over is None else side_of(over, t, "over"),
        share=share,
        apart=apart,
        formula=formula,
        let=t.take("let", dict, {}),
        values=tuple(values),
        metric="",
        used=set(),
    )


@dataclass(frozen=True, slots=True)
class Builder:
    """Turns a claim's selections into lines of quantities."""

    t: Table
    e: Experiment
    grid: Grid
    where: dict[str, Any]
    mean_over: tuple[str, ...]
    of: Side | None
    over: Side | None
    share: bool
    apart: bool
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
            if path in self.grid.fixed:
                raise self.t.error(f"{path} is open: a claim is judged in each reading of it", "at_every")
        sides = [side_of(item, self.t, "order", ("metric", "label", "formula")) for item in items]
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
        self, allowed: dict[str, list[Any]], label: str, x: float | None = None, side: Side | None = None
    ) -> Quantity:
        side = side or Side({})
        metric = side.metric or self.metric
        if formula := side.formula or self.formula:
            return Quantity(label, (), x, formula=self._formula(formula, allowed, x))
        if self.of is None or self.over is None:
            return Quantity(label, tuple(cells_of(allowed, self.grid)), x, metric=metric)
        sides = [
            cells_of(allowed | self._picks(one, key), self.grid) for key, one in (("of", self.of), ("over", self.over))
        ]
        if len(sides[0]) != len(sides[1]):
            raise self.t.error("`of` and `over` select different numbers of points")
        pairs = tuple(Gain(new, old) for new, old in zip(*sides, strict=True))
        new, old = self.of.metric or metric, self.over.metric or metric
        if new == old and any(pair.new == pair.old for pair in pairs):
            raise self.t.error("`of` and `over` are the same")
        over = old or self.e.metric if old != new else ""
        return Quantity(label, pairs, x, metric=new, over=over, share=self.share, apart=self.apart)

    def _picks(self, side: Side, key: str) -> dict[str, list[Any]]:
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
                side = side_of({"metric": given} if isinstance(given, str) else given, self.t, key, ("metric", "unit"))
                if not self.e.base:
                    raise self.t.error("nothing runs here (there is no `base`): give a number", key)
                if side.unit and side.unit not in quantity.UNITS:
                    raise self.t.error(f'"{side.unit}" is no unit{suggestion(side.unit, quantity.UNITS)}', key)
                chosen = self.grid.choices(side.where, self.t, key)
                there = allowed | {path: chosen[path] for path in side.where}
                self._only_one(there, key)
                cells = tuple(cells_of(there, self.grid))
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
            if len(picks) != 1 or path in self.grid.fixed or (path == ARM and self.of is not None):
                continue
            if path == ARM:
                parts.append(self.e.label(picks[0]))
            else:
                parts.append(self.e.label(path, dict(self.grid.sweep)[path][picks[0]]))
        return ", ".join(parts)
