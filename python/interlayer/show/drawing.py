"""Figures whose parts keep apart, and which show themselves in a notebook. Whoever imports this imports matplotlib.

`finish` is called last: it asks the layout how much room there is, breaks and thins what does not fit, and puts the
legend above the axes, where no data lies.
"""

from __future__ import annotations

import io
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.offsetbox import DrawingArea
from matplotlib.ticker import NullFormatter, NullLocator
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation

_INCH = 72.0
"""Points of an inch: sizes of texts are in points."""
_TITLE, _LABEL, _TICK, _LEGEND, _NOTE = 11.0, 10.0, 10.0, 8.0, 7.0
_HANDLE = 3.5
"""The length of a legend's lines, in letters: enough to show the dashes."""
_DPI = 144
"""Twice the points of a page: sharp on the screens of today."""


class Mark(NamedTuple):
    """A point of an arm: where it stands in its axes, and what it is of, for words about it."""

    x: float
    y: float
    of: Any


class Arm(NamedTuple):
    """What an arm has in a figure: its name, the look of its line, artists, and marks with the axes they stand in."""

    name: str
    look: Mapping[str, Any]
    artists: list[Artist]
    marks: list[tuple[Axes, Mark]]
    labels: list[Artist]
    """Its entries in legends: names, and the pieces of its line before them."""


class Drawing(Figure):
    """A matplotlib `Figure` without pyplot, which a notebook shows whether or not its inline backend is on.

    It keeps its arms, so that a page can be asked for them (`asked`).
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.arms: dict[str, Arm] = {}

    def keep(
        self,
        name: str,
        artists: Iterable[Artist],
        axes: Axes | None = None,
        marks: Iterable[Mark] = (),
        look: Mapping[str, Any] | None = None,
    ) -> None:
        """What belongs to an arm. An arm of several axes has one name, and the look that came first."""
        arm = self.arms.setdefault(name, Arm(name, look or {}, [], [], []))
        arm.artists.extend(artists)
        if axes is not None:
            arm.marks.extend((axes, mark) for mark in marks)

    def keep_legend(self, entries: Iterable[tuple[Any, str]], legend: Legend) -> None:
        """A legend with these entries is drawn; `entries` are in its order."""
        boxes = legend.findobj(DrawingArea)
        for (_, name), text, box in zip(entries, legend.get_texts(), boxes, strict=True):
            if name in self.arms:
                self.arms[name].labels.extend([text, *box.get_children()])

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        """What IPython asks for: the picture, and how wide it is meant on the page."""
        into = io.BytesIO()
        self.savefig(into, format="png", dpi=_DPI)
        return into.getvalue(), {"width": round(self.get_figwidth() * 96)}


def drawing_of(axes: Axes) -> Drawing:
    """The figure that axes are a part of."""
    found = axes.get_figure(root=True)
    assert isinstance(found, Drawing)
    return found


def drawing(width: float, height: float) -> Drawing:
    """An empty figure of so many inches; nothing of it is shared with pyplot."""
    figure = Drawing(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


@cache
def _renderer() -> RendererAgg:
    return RendererAgg(1, 1, _INCH)  # type: ignore[no-untyped-call]


@lru_cache(4096)
def _word(text: str, size: float) -> float:
    ask: Any = _renderer().get_text_width_height_descent
    return float(ask(text, FontProperties(size=size), ismath=False)[0])


def _width(line: str, size: float) -> float:
    """The width of a line in points: that of its words, which come again, and of the spaces between."""
    words = line.split(" ")
    return sum(_word(word, size) for word in words) + (len(words) - 1) * _word(" ", size)


def wrapped(text: str, size: float, width: float) -> str:
    """A text whose lines are at most `width` points wide, but for a word that is wider."""
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.split(" ")
        lines.append(words[0])
        for word in words[1:]:
            if _width(longer := f"{lines[-1]} {word}", size) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
    return "\n".join(lines)


def frame(figure: Figure, title: str, note: str) -> None:
    """The title on top and the note below, broken where the figure ends, in whose height they have room."""
    width = 0.97 * _INCH * figure.get_figwidth()
    above, below = wrapped(title, _TITLE, width), wrapped(note, _NOTE, width)
    figure.suptitle(above, fontsize=_TITLE, x=0.01, ha="left")
    figure.supxlabel(below, fontsize=_NOTE, x=0.01, ha="left")
    lines = 1.3 * (_TITLE * above.count("\n") + _NOTE * below.count("\n"))
    figure.set_figheight(figure.get_figheight() + lines / _INCH)


class Ticks(NamedTuple):
    """Names at places of the x axis. Of numbers some may go without; names of categories are all shown."""

    places: Sequence[float]
    labels: Sequence[str]
    are_numbers: bool


def finish(
    axes: Axes, ticks: Ticks | None = None, *, entries: Sequence[tuple[Any, str]] = (), legend_title: str = ""
) -> None:
    """Legend, ticks and labels of axes, by the room that there is. Annotations go where no other text is."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    if ticks is not None:
        axes.set_xticks(ticks.places, [""] * len(ticks.places))
    _lay_out(figure)
    size = axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    wide, tall = _INCH * size.width, _INCH * size.height
    axes.set_xlabel(wrapped(axes.get_xlabel(), _LABEL, wide))
    axes.set_ylabel(wrapped(axes.get_ylabel(), _LABEL, tall))
    if entries:
        _legend(axes, entries, legend_title, wide)
    if ticks is not None:
        (_numbers if ticks.are_numbers else _categories)(axes, ticks, wide)
    if axes.texts:
        _lay_out(figure)
        _place(axes)


def _lay_out(figure: Figure) -> None:
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)


def _legend(axes: Axes, entries: Sequence[tuple[Any, str]], title: str, wide: float) -> None:
    """Above the axes, in as many columns as fit; the figure grows by it."""
    handle = _LEGEND * (_HANDLE + 0.8)
    labels = [wrapped(label, _LEGEND, wide - handle) for _, label in entries]
    widths = [handle + max(_width(line, _LEGEND) for line in label.split("\n")) for label in labels]
    n = len(entries)

    def needs(columns: int) -> float:
        # As matplotlib fills them: one after the other, the first ones with one entry more.
        ends = [0]
        for i in range(columns):
            ends.append(ends[-1] + n // columns + (i < n % columns))
        each = [max(widths[a:b]) for a, b in pairwise(ends) if b > a]
        return sum(each) + 2 * _LEGEND * len(each)

    columns = next((k for k in range(min(n, 5), 1, -1) if needs(k) <= wide), 1)
    legend = axes.legend(
        [handle for handle, _ in entries],
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=_LEGEND,
        handlelength=_HANDLE,
        borderaxespad=0.2,
        title=title or None,
        title_fontsize=_LEGEND,
        alignment="left",
    )
    figure = drawing_of(axes)
    figure.keep_legend(entries, legend)
    height = legend.get_window_extent().height / figure.dpi
    figure.set_figheight(figure.get_figheight() + height)


def _numbers(axes: Axes, ticks: Ticks, wide: float) -> None:
    """As many numbers as have room: the last, the first, then from the left those that are clear of the others."""
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    to_scale = axes.xaxis.get_transform().transform
    low, high = to_scale(axes.get_xlim())
    spans: dict[int, tuple[float, float]] = {}
    order = sorted(range(len(ticks.places)), key=lambda i: ticks.places[i])
    for i in dict.fromkeys([order[-1], *order]):
        middle = wide * (float(to_scale([ticks.places[i]])[0]) - low) / (high - low)
        half = _width(ticks.labels[i], _TICK) / 2 + 2.5
        if all(middle + half <= left or right <= middle - half for left, right in spans.values()):
            spans[i] = (middle - half, middle + half)
    axes.set_xticks(ticks.places, [label if i in spans else "" for i, label in enumerate(ticks.labels)])


def _categories(axes: Axes, ticks: Ticks, wide: float) -> None:
    """Names in several lines where they fit between their neighbours, else slanting."""
    low, high = axes.get_xlim()
    slot = wide / (high - low) - 6.0
    for lines, size in ((3, _TICK), (4, _TICK - 2)):
        broken = [wrapped(label, size, slot) for label in ticks.labels]
        fits = all(_width(line, size) <= slot for label in broken for line in label.split("\n"))
        if fits and max(label.count("\n") for label in broken) < lines:
            axes.set_xticks(ticks.places, broken, fontsize=size)
            return
    slanting: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(ticks.places, [wrapped(label, _TICK - 1, 190.0) for label in ticks.labels], **slanting)
    axes.tick_params(axis="x", labelsize=_TICK - 1)


_AROUND = (
    *(((9, 0), "left", "center"), ((-9, 0), "right", "center")),
    *(((0, 9), "center", "bottom"), ((0, -9), "center", "top")),
    *(((7, 7), "left", "bottom"), ((7, -7), "left", "top"), ((-7, 7), "right", "bottom"), ((-7, -7), "right", "top")),
)
"""Where a note may stand beside its point: offset in points, and which side of the text is there."""


def _place(axes: Axes) -> None:
    """Each note beside its point: clear of other notes, and of points if it can. One that has no room is left out."""
    inside, taken = axes.get_window_extent(), list[Bbox]()
    points = [p for line in axes.lines if line.get_marker() not in ("None", "", " ") for p in _pixels(line)]
    for note in list(axes.texts):
        best: tuple[int, Any, Bbox] | None = None
        for around in _AROUND:
            _move(note, around)
            box = note.get_window_extent().padded(1.0)
            if any(box.overlaps(other) for other in taken) or not _contains(inside, box):
                continue
            over = sum(box.contains(x, y) for x, y in points)
            if best is None or over < best[0]:
                best = over, around, box
            if not over:
                break
        if best is None:
            note.remove()
            continue
        _move(note, best[1])
        taken.append(best[2])


def _move(note: Any, around: tuple[tuple[float, float], str, str]) -> None:
    placed: Annotation = note
    placed.set_position(around[0])
    placed.set_horizontalalignment(around[1])  # type: ignore[arg-type]
    placed.set_verticalalignment(around[2])  # type: ignore[arg-type]


def _pixels(line: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in line.get_transform().transform(line.get_xydata())]


def _contains(outer: Bbox, inner: Bbox) -> bool:
    return bool(outer.x0 <= inner.x0 and inner.x1 <= outer.x1 and outer.y0 <= inner.y0 and inner.y1 <= outer.y1)
