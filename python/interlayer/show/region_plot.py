"""Where claims are true as a picture: a bar a claim along one range, a square a claim over two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interlayer.study.verdict import Verdict

from . import plots, region
from .joint import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interlayer.study.ranges import Surveyed

# Okabe and Ito's palette, and a shape for each: told apart without colours too.
_SIGNS = {
    Verdict.HOLDS: ("o", "#0072B2", "holds"),
    Verdict.DIFFERS: ("X", "#D55E00", "differs"),
    Verdict.UNTESTABLE: ("d", "#999999", "undecided"),
}


def figure(s: Surveyed) -> Figure:
    """The picture of one range, or of two."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with plots.style():
        rows = region.names(s)
        if len(s.ranges) == 1:
            made = Figure(figsize=(7.5, 1.9 + 0.34 * len(rows)), layout="constrained")
            FigureCanvasAgg(made)
            _bars(made.subplots(), s, rows)
        else:
            across = min(3, len(rows))
            down = -(-len(rows) // across)
            made = Figure(figsize=(3.1 * across + 0.6, 2.9 * down + 0.9), layout="constrained")
            FigureCanvasAgg(made)
            axes = made.subplots(down, across, squeeze=False).ravel()
            for i, name in enumerate(rows):
                _square(axes[i], s, i, name)
            for empty in axes[len(rows) :]:
                empty.set_axis_off()
        _legend(made)
        return made


def _legend(made: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", marker=marker, color=colour, label=label)
        for marker, colour, label in _SIGNS.values()
    ]
    made.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8, frameon=False)


def _axis(axes: Axes, s: Surveyed, i: int, which: str) -> None:
    parameter, r = region.ranges(s)[i]
    unit = f" ({r.unit})" if r.unit else ""
    getattr(axes, f"set_{which}label")(f"{parameter.name}{unit}")
    getattr(axes, f"set_{which}scale")("log" if r.scale == "log" else "linear")


def _bars(axes: Axes, s: Surveyed, rows: list[str]) -> None:
    [(_, r)] = region.ranges(s)
    for row, found in enumerate(s.along()):
        for interval in found.intervals:
            begin = r.low if interval.begin is None else r.value(interval.begin.place)
            end = r.high if interval.end is None else r.value(interval.end.place)
            style = {"alpha": 0.30} if interval.shown else {"alpha": 0.12, "hatch": "///"}
            axes.barh(row, end - begin, left=begin, height=0.62, color=_SIGNS[Verdict.HOLDS][1], **style)
            for mark in (interval.begin, interval.end):
                if mark is not None:
                    axes.plot([r.value(mark.low), r.value(mark.high)], [row, row], "-", color="black", linewidth=1.2)
        claim = s.points.together() if row == len(s.claims) else s.points.for_claim(row)
        for (place,), at in zip(s.points.places, claim, strict=True):
            marker, colour, _ = _SIGNS[at.verdict]
            axes.plot(r.value(place), row, marker, color=colour, markersize=4.5)
    axes.axvline(r.base, color="0.4", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(rows)), [short(name) for name in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    _axis(axes, s, 0, "x")
    axes.set_title("where claims are true; black: 95 % of an end; dotted: the base", loc="left", fontsize=9)


def _square(axes: Axes, s: Surveyed, i: int, name: str) -> None:
    claim = s.points.together() if i == len(s.claims) else s.points.for_claim(i)
    (_, first), (_, second) = region.ranges(s)
    fine = (np.arange(96) + 0.5) / 96
    grid = np.array([(x, y) for y in fine for x in fine])
    places = np.array(s.points.places)
    nearest = ((grid[:, None, :] - places[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    true = np.array([at.true for at in claim], dtype=float)[nearest].reshape(96, 96)
    edges = np.linspace(0, 1, 97)
    xs, ys = [first.value(x) for x in edges], [second.value(y) for y in edges]
    axes.pcolormesh(xs, ys, np.where(true > 0, 1.0, np.nan), cmap="Blues", vmin=0, vmax=3, rasterized=True)
    for (x, y), at in zip(s.points.places, claim, strict=True):
        marker, colour, _ = _SIGNS[at.verdict]
        axes.plot(first.value(x), second.value(y), marker, color=colour, markersize=4)
    axes.plot(first.base, second.base, "s", markersize=9, markerfacecolor="none", markeredgecolor="black")
    _axis(axes, s, 0, "x")
    _axis(axes, s, 1, "y")
    axes.set_title(short(name), loc="left", fontsize=9)
