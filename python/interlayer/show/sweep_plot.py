"""The figure of a sweep: a metric over one swept key, a line for each value of another, a panel for the rest."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from interlayer import quantity
from interlayer.errors import InputError
from interlayer.measure import stats
from interlayer.measure.catalogue import readable, readable_key, readable_value

from . import plots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from interlayer.study.sweep import Axis, Point, Swept

_PANELS = 12
"""So many panels are a figure; more of them are a mistake."""
_LINES = 14
"""So many lines can be told apart in a panel."""
_TICKS = 24
"""So many numbers have a tick each."""


def figure(s: Swept, note: str, *, x: str | None, y: str | None, by: Sequence[str] | None) -> Figure:
    """`y` over `x`, a line for each combination of `by`, a panel for each of what else is swept.

    Without `x` it is the first key whose values are numbers, without `y` the first metric, without `by` the other key,
    if its lines can be told apart. Raises `InputError` for a key that is not swept, or for too many lines or panels.
    """
    from .drawing import Ticks, drawing, finish, frame

    across = s.axis(x) if x is not None else _best_x(s)
    rest = [i for i in range(len(s.axes)) if i != across and len(s.axes[i].values) > 1]
    lines_by = rest[:1] if by is None else [s.axis(path) for path in by]
    if across in lines_by:
        raise InputError(f'"{s.paths[across]}" is x already', s.paths[across])
    if by is None and rest and len(s.axes[rest[0]].values) > _LINES:
        lines_by = []
    panels_by = [i for i in rest if i not in lines_by]
    panels, lines = _combinations(s, panels_by), _combinations(s, lines_by)
    for many, most, what in ((len(panels), _PANELS, "panels"), (len(lines), _LINES, "lines")):
        if many > most:
            raise InputError(f"{many} {what} are too many to read (at most {most}); sweep fewer values", "by")
    measure = s.measure(y) if y is not None else s.measures[0]
    unit = "ms" if quantity.column_unit(measure.name) == "s" else quantity.natural_unit(measure.name)
    width = math.ceil(math.sqrt(len(panels)))
    height = math.ceil(len(panels) / width)
    with plots.style():
        made = drawing(8.0, 5.0) if len(panels) == 1 else drawing(min(4.5 * width, 13.0), 0.7 + 3.2 * height)
        numbers = _numbers(s.axes[across])
        grid = made.subplots(height, width, sharex=True, sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            for i, line in enumerate(lines):
                points, of = [], []
                beside = plots.beside(i, len(lines), numbers is not None)
                for j, place in enumerate(_places(s.axes[across])):
                    cell = _point(s, {across: j, **panel, **line})
                    e = s.estimate(cell, measure)
                    if stats.finite(e):
                        points.append((place + beside, e.scaled(quantity.scale(measure.name, unit))))
                        of.append((cell, measure))
                plots.draw(axes, points, _named(s, line, long=False), i, of=of, join=numbers is not None)
            if numbers is not None:
                plots.scale_x(axes, numbers)
            elif axes is grid[0][0]:
                plots.separate(axes, len(s.axes[across].values))
            if panel:
                axes.set_title(_named(s, panel, long=True), loc="left", fontsize=9)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        shown = s.axes[across]
        # Numbers have ticks of their own unless they are few: a sweep may have hundreds.
        ticks = None
        labels, in_unit = plots.tick_labels([_value(shown, i) for i in range(len(shown.values))], numbers is not None)
        if numbers is None or len(numbers) <= _TICKS:
            ticks = Ticks(_places(shown), labels, numbers is not None)
        for axes in grid[-1]:
            axes.set_xlabel(readable_key(shown.path) + in_unit if ticks is not None else _name(shown))
        for row in grid:
            row[0].set_ylabel(readable(measure.label) + ("" if unit == "1" else f", {unit}"))
        low, high = grid[0][0].get_ylim()
        least = min(axes.dataLim.y0 for axes in grid.flat if axes.get_visible())
        grid[0][0].set_ylim(low if least < 0 else 0.0, high)
        frame(made, s.scenario, note)
        entries = list(zip(*grid[0][0].get_legend_handles_labels(), strict=True)) if lines_by else []
        title = ", ".join(readable_key(s.paths[i]) for i in lines_by)
        if len(panels) == 1:
            finish(grid[0][0], ticks, entries=entries, legend_title=title)
            return made
        if entries:  # above a panel is its own title
            handles, names = zip(*entries, strict=True)
            beside_all: dict[str, Any] = {"loc": "outside right upper", "frameon": False, "fontsize": 8}
            legend = made.legend(handles, names, handlelength=3.5, title=title, title_fontsize=8, **beside_all)
            made.keep_legend(entries, legend)
        for axes in dict.fromkeys([*grid[-1], *(row[0] for row in grid)]):
            finish(axes, ticks if axes in grid[-1] else None)
        return made


def _best_x(s: Swept) -> int:
    """The first axis with several values that are all numbers, else the first with several, else the first."""
    several = [i for i, axis in enumerate(s.axes) if len(axis.values) > 1]
    numbers = [i for i in several if all(quantity.magnitude(v) is not None for v in s.axes[i].values)]
    return next(iter([*numbers, *several, 0]))


def _combinations(s: Swept, of: Sequence[int]) -> list[dict[int, int]]:
    return [dict(zip(of, picks, strict=True)) for picks in product(*(range(len(s.axes[i].values)) for i in of))]


def _point(s: Swept, picks: dict[int, int]) -> Point:
    return tuple(picks.get(i, 0) for i in range(len(s.axes)))


def _named(s: Swept, picks: dict[int, int], *, long: bool) -> str:
    return ", ".join(
        f"{readable_key(s.paths[i])} = {_value(s.axes[i], j)}" if long else _value(s.axes[i], j)
        for i, j in picks.items()
    )


def _value(axis: Axis, i: int) -> str:
    return readable_value(axis.values[i])


def _numbers(axis: Axis) -> list[float] | None:
    found = [quantity.magnitude(v) for v in axis.values]
    return None if any(x is None for x in found) else [float(x) for x in found if x is not None]


def _places(axis: Axis) -> list[float]:
    """Where the values stand on the x axis: as numbers, or one after the other."""
    found = _numbers(axis)
    return found if found is not None else [float(i) for i in range(len(axis.values))]


def _name(axis: Axis) -> str:
    """What the x axis is called, with the unit of its numbers."""
    units = {quantity.base_unit(v) for v in axis.values}
    unit = units.pop() if _numbers(axis) is not None and len(units) == 1 else ""
    return f"{readable_key(axis.path)}, {unit}" if unit else readable_key(axis.path)
