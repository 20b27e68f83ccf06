"""Live runs as figures: what hosts got and what the air did over time, and how late packets were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import plots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

_PANELS = (
    ("got_bps.", 1e6, "goodput of IP at the host, Mb/s"),
    ("backlog.", 1.0, "packets that wait"),
    ("airtime.", 1.0, "share of time on the air"),
    ("again.", 1.0, "share of attempts that are retries"),
)
_NAMED = 8
"""So many nodes are shown by name: those that got most."""


def series(columns: Mapping[str, Sequence[float]], title: str, note: str) -> Figure:
    """Panels for what each host got, and each node's queue, share of the air and of retries; a row each 100 ms."""
    from .drawing import drawing, finish, frame

    nodes = _busiest(columns)
    columns = {**columns, **{f"again.{node}": _again(columns, node) for node in nodes}}
    with plots.style():
        made = drawing(9.0, 8.6)
        panels = made.subplots(len(_PANELS), 1, sharex=True)
        for axes, (prefix, scale, label) in zip(panels, _PANELS, strict=True):
            for i, node in enumerate(nodes):
                values = [value / scale for value in columns.get(f"{prefix}{node}", ())]
                if values:
                    times = columns["time_s"][-len(values) :]
                    axes.plot(times, values, **{**plots.look(i), "linewidth": 0.9, "markevery": 25, "label": node})
            axes.set_ylabel(label)
        panels[-1].set_xlabel("time, s")
        frame(made, title, note)
        finish(panels[0], entries=list(zip(*panels[0].get_legend_handles_labels(), strict=True)))
        return made


def lateness(late: Mapping[str, Any], title: str, note: str) -> Figure:
    """The share of packets that were later than so much."""
    from .drawing import drawing, finish, frame

    left, lengths, shares = late["count"], [], []
    for longest, count in late["buckets"]:
        lengths.append(1e6 * longest)
        shares.append(left / late["count"])
        left -= count
    with plots.style():
        made = drawing(7.0, 4.2)
        axes = made.subplots()
        axes.step(lengths, shares, where="pre", color="#0072B2")
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="wall clock minus model time, us",
            ylabel="share of packets later than that",
        )
        frame(made, title, note)
        finish(axes)
        return made


def _again(columns: Mapping[str, Sequence[float]], node: str) -> list[float]:
    """The share of a node's attempts that are retries, over the ten rows up to each: a row has few attempts."""
    frames, again = (columns.get(f"{key}.{node}", ()) for key in ("data_frames", "retries"))
    last = [slice(max(0, i - 9), i + 1) for i in range(min(len(frames), len(again)))]
    return [sum(again[rows]) / (sum(frames[rows]) or 1.0) for rows in last]


def _busiest(columns: Mapping[str, Sequence[float]]) -> list[str]:
    prefix = "got_bps."
    total = {name.removeprefix(prefix): sum(values) for name, values in columns.items() if name.startswith(prefix)}
    return sorted(sorted(total, key=lambda node: -total[node])[:_NAMED])
