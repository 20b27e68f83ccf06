"""The timeline of the air as a figure: a row a station, a bar a transmission, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlayer.measure import timeline

from . import plots

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interlayer._core import Timeline

MOST = 400
"""Transmissions that a figure shows; more of them are bars too thin to be told apart."""

_ROWS = 24
_HEIGHT = 0.62
# Okabe and Ito's palette, with the colours that stand out least for control frames.
_COLOURS = {
    "tcp-data": "#0072B2",
    "tcp-ack": "#E69F00",
    "tcp-control": "#CC79A7",
    "udp": "#009E73",
    "routing": "#882255",
    "other": "#000000",
    "rts": "#56B4E9",
    "cts": "#F0E442",
    "ack": "#A6A6A6",
    "block-ack": "#737373",
    "block-ack-request": "#B8E0D2",
    "cf-end": "#D9D9D9",
    "nack": "#C8A2C8",
}
_LOST = "#D55E00"
_OVERLAP: dict[str, Any] = {"color": "0.3", "linewidth": 0.9, "linestyle": (0, (2, 1))}
# What stands over a bar: the marker, its colour, what the legend says.
_MARKS = {
    "collision": ("X", _LOST, "lost to a collision: what / with what"),
    "noise": ("v", _LOST, "lost to noise"),
    "half-duplex": ("s", _LOST, "lost: its receiver was transmitting"),
    "out-of-reach": ("d", _LOST, "its receiver is out of reach"),
    "captured": ("*", "#000000", "received although overlapped: capture"),
}


class Shown(NamedTuple):
    """What a figure shows: these transmissions, up to this time; `total` were kept."""

    data: pl.DataFrame
    from_ns: int
    until_ns: int
    total: int

    @property
    def is_cut(self) -> bool:
        return self.data.height < self.total

    def note(self) -> str:
        """What is left out, in one line."""
        until = f"{self.until_ns / 1e9:.9g} s"
        return f"the figure ends at {until}: it shows the first {self.data.height} of {self.total} transmissions"


def shown(t: Timeline, most: int = MOST) -> Shown:
    """The first `most` transmissions of a timeline."""
    data = timeline.frame([{"seed": 0, "timeline": t}])  # type: ignore[typeddict-item]
    end = int(t["until_s"] * 1e9)
    if data.height > most:
        end = int(data["start_ns"][most])
    return Shown(data.head(most), int(t["from_s"] * 1e9), end, data.height)


def figure(t: Timeline, title: str, note: str, most: int = MOST) -> Figure:
    """Rows of stations over time; a long window is cut after its first transmissions, and the caption says so."""
    from .drawing import drawing, wrapped

    view = shown(t, most)
    rows = _rows(t, view.data)
    scale, unit = (1e3, "µs") if view.until_ns - view.from_ns <= 2_000_000 else (1e6, "ms")
    with plots.style():
        fig = drawing(12.0, 1.9 + 0.62 * len(rows))
        axes = fig.add_subplot()
        axes.set_xlim(0, (view.until_ns - view.from_ns) / scale)
        axes.set_ylim(len(rows) - 0.5, -0.72)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.set_axisbelow(True)
        axes.set_xlabel(f"{unit} after {view.from_ns / 1e9:.9g} s of the run")
        fig.suptitle(wrapped(title, 11, 800), fontsize=11, x=0.01, ha="left")
        said = f"{view.note()}. {note}" if view.is_cut else note
        axes.set_title(wrapped(said, 7, 700), loc="right", fontsize=7)
        bars = [_bar(row, rows, view.from_ns, scale) for row in view.data.iter_rows(named=True)]
        _draw(axes, bars)
        _legend(fig, bars, (view.until_ns - view.from_ns) / scale)
        return fig


def _rows(t: Timeline, data: pl.DataFrame) -> list[str]:
    """Nodes with a radio; of many, those that send or are sent to."""
    radios = [name for name, has_radio in zip(t["nodes"], t["has_radio"], strict=True) if has_radio]
    if len(radios) <= _ROWS:
        return radios
    busy = {*data["from"].to_list(), *data["to"].to_list()}
    return [name for name in radios if name in busy]


class _Bar(NamedTuple):
    """A transmission in the axes' coordinates."""

    y: int
    left: float
    width: float
    facts: dict[str, Any]
    overlap: tuple[int, float] | None
    """The row of what overlapped it first, and from when on."""

    @property
    def lost(self) -> list[int]:
        """Places of the MPDUs of an A-MPDU that were lost."""
        return [int(place) for place in (self.facts["lost_mpdus"] or "").split()]

    def has_cells(self, span: float) -> bool:
        """True if its MPDUs are wide enough to be told apart on an axis of this length."""
        mpdus = int(self.facts["mpdus"])
        return mpdus > 1 and self.width / mpdus > span / 400


def _bar(facts: dict[str, Any], rows: Sequence[str], from_ns: int, scale: float) -> _Bar:
    left, width = (facts["start_ns"] - from_ns) / scale, facts["airtime_ns"] / scale
    overlap = None
    if facts["overlap_ns"] is not None:
        overlap = rows.index(facts["overlap_from"]), (facts["overlap_ns"] - from_ns) / scale
    return _Bar(rows.index(facts["from"]), left, width, facts, overlap)


def _draw(axes: Axes, bars: Sequence[_Bar]) -> None:
    from matplotlib.patches import Rectangle

    low, high = axes.get_xlim()
    span = high - low
    marks: dict[int, list[tuple[float, _Bar]]] = {}
    for bar in bars:
        colour = _COLOURS[bar.facts["class"]]
        corner = (bar.left, bar.y - _HEIGHT / 2)
        hatch: dict[str, Any] = (
            {"hatch": "/////", "edgecolor": "white", "linewidth": 0}
            if bar.facts["is_retry"]
            else {"edgecolor": colour, "linewidth": 0.3}
        )
        axes.add_patch(Rectangle(corner, bar.width, _HEIGHT, facecolor=colour, **hatch))
        if bar.has_cells(span):
            _cells(axes, bar)
        if bar.facts["cause"] and bar.width > span / 250:
            axes.add_patch(Rectangle(corner, bar.width, _HEIGHT, fill=False, edgecolor=_LOST, linewidth=1.4, zorder=3))
        if bar.overlap:
            # From one bar to the other, at the instant from which on both are in the air.
            y, x = bar.overlap
            inner = _HEIGHT / 2 if y > bar.y else -_HEIGHT / 2
            axes.plot([x, x], [bar.y + inner, y - inner], **_OVERLAP)
        left, right = max(bar.left, low), min(bar.left + bar.width, high)
        _address(axes, bar, (left + right) / 2, (right - left) / span)
        if bar.facts["outcome"] in _MARKS:
            marks.setdefault(bar.y, []).append(((left + right) / 2, bar))
    for y, of_row in marks.items():
        _mark(axes, y - _HEIGHT / 2 - 0.08, of_row, high)


def _cells(axes: Axes, bar: _Bar) -> None:
    """The MPDUs of an A-MPDU as cells of equal width, whatever their lengths; the lower half of lost ones is marked."""
    from matplotlib.patches import Rectangle

    width, half = bar.width / bar.facts["mpdus"], _HEIGHT / 2
    for place in bar.lost:
        corner = (bar.left + place * width, bar.y)
        axes.add_patch(Rectangle(corner, width, half, facecolor=_LOST, linewidth=0, zorder=2))
    inner = [bar.left + place * width for place in range(1, bar.facts["mpdus"])]
    axes.vlines(inner, bar.y - half, bar.y + half, color="white", linewidth=0.5, zorder=2.5)


def _address(axes: Axes, bar: _Bar, x: float, part: float) -> None:
    """Whom a bar is for, where it is wide enough: some 160 letters would fill the axes."""
    text = f"→ {bar.facts['to'] or 'all'}"
    if part * 160 < len(text):
        return
    dark = bar.facts["class"] in ("tcp-data", "tcp-control", "udp", "other")
    box = {"facecolor": _COLOURS[bar.facts["class"]], "edgecolor": "none", "pad": 0.8}
    axes.text(x, bar.y, text, fontsize=7, ha="center", va="center", color="white" if dark else "black", bbox=box)


def _mark(axes: Axes, y: float, marks: Sequence[tuple[float, _Bar]], end: float) -> None:
    """What became of the bars of a row, over them; what collided with what in words, where there is room."""
    for i, (x, bar) in enumerate(marks):
        marker, colour, _ = _MARKS[bar.facts["outcome"]]
        axes.plot([x], [y], marker=marker, color=colour, markersize=5.5, markeredgecolor="white", markeredgewidth=0.5)
        text = f"{bar.facts['class']} / {bar.facts['overlap_class']}"
        room = (marks[i + 1][0] if i + 1 < len(marks) else end) - x
        if bar.facts["outcome"] == "collision" and room > end * (len(text) + 3) / 200:
            axes.annotate(
                text, (x, y), (5, 0), textcoords="offset points", fontsize=6, color=colour, va="center_baseline"
            )


def _legend(fig: Figure, bars: Sequence[_Bar], span: float) -> None:
    """Only what the figure has."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    classes = {bar.facts["class"] for bar in bars}
    outcomes = {bar.facts["outcome"] for bar in bars}
    names = {"ack": "MAC ack"}
    handles: list[Any] = [
        Patch(color=c, label=names.get(name, name)) for name, c in _COLOURS.items() if name in classes
    ]
    if any(bar.facts["is_retry"] for bar in bars):
        handles.append(Patch(facecolor="0.45", edgecolor="white", hatch="/////", label="retry"))
    for outcome, (marker, colour, label) in _MARKS.items():
        if outcome in outcomes:
            handles.append(Line2D([], [], marker=marker, color=colour, linestyle="none", label=label))
    if any(bar.lost and bar.has_cells(span) for bar in bars):
        handles.append(Patch(color=_LOST, label="MPDU lost"))
    if any(bar.overlap for bar in bars):
        handles.append(Line2D([], [], label="an overlap begins", **_OVERLAP))
    if handles:
        fig.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize=8)
