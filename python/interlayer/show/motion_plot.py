"""Nodes that move as figures: their paths on a map, and who was whose radio neighbour over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import plots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from interlayer._core import Run

_NAMED = 14
"""So many paths have a name and a look of their own; more of them are thin and alike, with their ends marked."""
PAIRS = 40
"""So many pairs have a row each; of more there is a row for each node, with the number of its neighbours."""
_COLUMNS = 600
"""Instants at which neighbours are counted."""


def paths(run: Run, title: str, note: str) -> Figure:
    """The way of each node that moves, from a ring where it begins to a disc where it ends."""
    from .drawing import drawing, finish, frame

    ways = _ways(run["legs"])
    many = len(ways) > _NAMED
    with plots.style():
        made = drawing(7.5, 7.0)
        axes = made.add_subplot()
        for i, (name, points) in enumerate(ways.items()):
            look: dict[str, Any] = {"color": plots.look(i)["color"], "alpha": 0.5, "linewidth": 0.8}
            if not many:
                look = {**plots.look(i), "linewidth": 1.2, "label": name}
            look.pop("marker", None)
            axes.plot(points[:, 0], points[:, 1], **look)
            ends: dict[str, Any] = {"linestyle": "none", "markersize": 5, "color": look["color"]}
            axes.plot(*points[0], marker="o", markerfacecolor="white", **ends)
            axes.plot(*points[-1], marker="o", **ends)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel("east, m")
        axes.set_ylabel("north, m")
        frame(made, title, f"Rings: where nodes begin; discs: where they end. {note}")
        finish(axes, entries=[] if many else list(zip(*axes.get_legend_handles_labels(), strict=True)))
        return made


def _ways(legs: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The corners of each node's way."""
    found: dict[str, list[tuple[float, float]]] = {}
    names = ("node", "from_x_m", "from_y_m", "to_x_m", "to_y_m")
    for node, x0, y0, x1, y1 in zip(*(legs[name] for name in names), strict=True):
        points = found.setdefault(node, [])
        points += [(x0, y0)] if not points or points[-1] != (x0, y0) else []
        points.append((x1, y1))
    return {node: np.asarray(points) for node, points in found.items()}


def spans(meetings: Mapping[str, Sequence[Any]], until_s: float) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """The times at which each pair were neighbours, on whatever channel, as (from, until)."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    since: dict[tuple[str, str, str], float] = {}
    names = ("t_s", "channel", "one", "other", "is_up")
    for t_s, channel, one, other, is_up in zip(*(meetings[name] for name in names), strict=True):
        if is_up:
            since.setdefault((channel, one, other), t_s)
        elif (begin := since.pop((channel, one, other), None)) is not None:
            found.setdefault((one, other), []).append((begin, t_s))
    for (_, one, other), begin in since.items():
        found.setdefault((one, other), []).append((begin, until_s))
    return found


def neighbours(run: Run, title: str, note: str) -> Figure:
    """Bars while two nodes are neighbours, a row a pair; of many pairs the number of neighbours, a row a node."""
    met = spans(run["meetings"], run["simulated_s"])
    few = len(met) <= PAIRS
    return _pairs(met, run["simulated_s"], title, note) if few else _counts(met, run["simulated_s"], title, note)


def _pairs(
    met: Mapping[tuple[str, str], Sequence[tuple[float, float]]], until_s: float, title: str, note: str
) -> Figure:
    from .drawing import drawing, finish, frame

    met = {pair: met[pair] for pair in sorted(met, key=lambda pair: [by_number(name) for name in pair])}
    with plots.style():
        made = drawing(9.0, 1.5 + 0.24 * max(3, len(met)))
        axes = made.add_subplot()
        for row, times in enumerate(met.values()):
            axes.broken_barh([(a, b - a) for a, b in times], (row - 0.32, 0.64), color=plots.look(0)["color"])
        axes.set_yticks(range(len(met)), [f"{one} – {other}" for one, other in met], fontsize=8)
        axes.set_ylim(max(1, len(met)) - 0.4, -0.6)
        axes.set_xlim(0, until_s)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("time, s")
        frame(made, title, f"Bars: while two nodes are radio neighbours. {note}")
        finish(axes)
        return made


def _counts(
    met: Mapping[tuple[str, str], Sequence[tuple[float, float]]], until_s: float, title: str, note: str
) -> Figure:
    from .drawing import drawing, finish, frame

    names = sorted({name for pair in met for name in pair}, key=by_number)
    rows = {name: i for i, name in enumerate(names)}
    edges = np.linspace(0.0, until_s, _COLUMNS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    count = np.zeros((len(names), _COLUMNS))
    for (one, other), times in met.items():
        for begin, until in times:
            within = (begin <= middles) & (middles < until)
            count[rows[one]] += within
            count[rows[other]] += within
    with plots.style():
        made = drawing(9.0, 1.8 + min(9.0, 0.17 * len(names)))
        axes = made.add_subplot()
        image = axes.imshow(
            count, aspect="auto", interpolation="nearest", cmap="cividis", extent=(0, until_s, len(names) - 0.5, -0.5)
        )
        each = -(-len(names) // 52)
        axes.set_yticks(range(0, len(names), each), names[::each], fontsize=7)
        axes.grid(visible=False)
        axes.set_xlabel("time, s")
        made.colorbar(image, ax=axes, label="radio neighbours", pad=0.01)
        frame(made, title, f"Colour: the number of a node's radio neighbours. {note}")
        finish(axes)
        return made


def by_number(name: str) -> tuple[str, int]:
    """Orders n2 before n10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)
