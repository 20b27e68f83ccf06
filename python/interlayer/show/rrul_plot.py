"""The two figures that Flent's users read: goodput over latency, and how the latencies of probes are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import plots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from interlayer.measure.stats import Floats

_ALL = 1000
"""So many points are enough for the line of a distribution."""


def figure(arms: Mapping[str, tuple[Floats, Floats, Floats]], title: str, note: str) -> Figure:
    """`arms`: by name, of each run the goodput in Mb/s, the latency of probes in ms, and all their latencies in ms."""
    from .drawing import drawing, finish, frame

    with plots.style():
        made = drawing(9.0, 3.9)
        left, right = made.subplots(1, 2)
        for i, (name, (goodput, latency, every)) in enumerate(arms.items()):
            look: dict[str, Any] = plots.look(i)
            mark: dict[str, Any] = {"linestyle": "none", "color": look["color"]}
            left.plot(latency, goodput, marker="o", markersize=3, alpha=0.6, **mark)
            wide, tall = (values.std(ddof=1) if values.size > 1 else 0.0 for values in (latency, goodput))
            centre = latency.mean(), goodput.mean()
            left.errorbar(*centre, tall, wide, marker="+", markersize=9, **mark)
            x = np.sort(every)
            shares = np.arange(1, x.size + 1) / x.size
            thin = np.unique(np.linspace(0, x.size - 1, min(x.size, _ALL)).astype(int))
            right.plot(x[thin], shares[thin], label=name, drawstyle="steps-post", **look)
        right.set_xscale("log")
        left.invert_xaxis()
        left.set_xlabel("mean latency of probes, ms: better to the right")
        left.set_ylabel("goodput of all bulk flows, Mb/s")
        right.set_xlabel("latency of a probe, ms")
        right.set_ylabel("share of probes")
        right.set_ylim(0, 1)
        frame(made, title, note)
        finish(left)
        finish(right, entries=list(zip(*right.get_legend_handles_labels(), strict=True)))
        return made
