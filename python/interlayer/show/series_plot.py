"""Time series as figures: a panel for each quantity, a line for each flow or queue that has one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from interlayer.measure.catalogue import readable

from . import plots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interlayer.measure.series import Quantity

PANELS = 8
"""So many quantities are a figure; the others are in the data."""
_NAMED = 14
"""So many lines of a panel have a name and a look of their own; more of them are thin and alike."""


def figure(quantities: Sequence[Quantity], title: str, note: str) -> Figure:
    """The first `PANELS` quantities over time. An entry has the same look in every panel of its group."""
    from .drawing import drawing, finish, frame

    shown = quantities[:PANELS]
    width = 1 if len(shown) <= 3 else 2
    height = math.ceil(len(shown) / width)
    looks: dict[str, dict[str, int]] = {}
    for q in shown:
        for line in q.lines:
            looks.setdefault(q.group, {}).setdefault(line.entry, len(looks.get(q.group, {})))
    with plots.style():
        made = drawing(9.0, 0.9 + (2.6 if width == 1 else 2.2) * height)
        panels = made.subplots(height, width, sharex=True, squeeze=False)
        legends: dict[str, Axes] = {}
        for axes, q in zip(panels.flat, shown, strict=False):
            many = len(looks[q.group]) > _NAMED
            for line in q.lines:
                look: dict[str, Any] = {"color": "0.4", "alpha": 0.4, "linewidth": 0.6}
                if not many:
                    look = {**plots.look(looks[q.group][line.entry]), "linewidth": 0.9, "label": line.entry}
                axes.plot(line.t_s, q.shown(line), **look)
            axes.set_ylabel(readable(q.name) + (f", {q.unit}" if q.unit else ""))
            # The panel with the most lines of a group names them.
            largest = max(len(other.lines) for other in shown if other.group == q.group)
            if q.group not in legends and not many and len(q.lines) == largest:
                legends[q.group] = axes
        for axes in list(panels.flat)[len(shown) :]:
            axes.set_visible(False)
        for i, axes in enumerate(panels.flat):
            if len(shown) - width <= i < len(shown):
                axes.set_xlabel("time, s")
                axes.tick_params(labelbottom=True)
        frame(made, title, note)
        for axes in legends.values():
            finish(axes, entries=list(zip(*axes.get_legend_handles_labels(), strict=True)))
        return made


def note(quantities: Sequence[Quantity], constant: Sequence[str]) -> str:
    """What the figure leaves out, as sentences; empty for nothing."""
    parts = []
    if more := quantities[PANELS:]:
        parts.append(f"Not shown, but in the data: {', '.join(q.name for q in more)}.")
    if constant:
        listed = ", ".join(constant[:12]) + (f" and {len(constant) - 12} more" if len(constant) > 12 else "")
        parts.append(f"Constant: {listed}.")
    return " ".join(parts)
