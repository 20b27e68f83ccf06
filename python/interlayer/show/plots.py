"""Figures: matplotlib's `Figure` alone, never pyplot, so that no state, window or backend is shared with the user."""

from __future__ import annotations

import math
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interlayer import quantity
from interlayer.errors import InputError, suggestion
from interlayer.measure import metrics, stats
from interlayer.measure.catalogue import readable, readable_key, readable_value
from interlayer.study.experiment import ARM, Cell, Claim, Gain, Ratio, Value, plain

from . import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interlayer.measure.stats import Estimate
    from interlayer.study.experiment import Comparison, Curve, Experiment, Quantity
    from interlayer.study.outcome import Outcome

# Okabe and Ito's palette: distinct also for readers who do not see red and green apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Eight beside seven colours: 56 pairs before one comes again. No star: that is what a paper prints.
_MARKERS = "osD^vPX<"
_FILLS = ("full", "none", "left", "top")
_FLOWS = 40
"""So many flows have a name each in a figure; of more, every second, third, ..."""
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_PAPER = "printed in the paper"
_ARITHMETIC = "arithmetic"
_PRINTED: dict[str, Any] = {
    "marker": "*",
    "markersize": 15,
    "markerfacecolor": "white",
    "markeredgewidth": 1.3,
    "linestyle": "none",
}


@contextmanager
def style() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(
        {
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "svg.fonttype": "none",  # text stays text: selectable, small
            "svg.hashsalt": "interlayer",  # the same ids every time: identical inputs, identical files
        }
    ):
        yield


def save(figure: Figure, stem: Path) -> None:
    """Write `stem`.png and `stem`.svg; the same figure gives the same bytes."""
    with style():
        figure.savefig(
            stem.with_name(stem.name + ".png"),
            dpi=140,
            metadata={"Software": "interlayer"},
            pil_kwargs={"optimize": True},
        )
        figure.savefig(stem.with_name(stem.name + ".svg"), metadata={"Date": None, "Creator": "interlayer"})


def caption(outcome: Outcome, *, state: bool = True) -> str:
    """Seeds, interval, version: what a figure must say of itself. Without `state` not why it has no verdicts."""
    if not outcome.cells():
        return f"No runs: arithmetic alone. Interlayer {outcome.version}"
    runs = f"{outcome.fewest_runs}" if outcome.fewest_runs == outcome.runs else f"{outcome.fewest_runs}–{outcome.runs}"
    why = outcome.why_preliminary.removesuffix(" gives no verdict")
    said = f", {why}" if state and outcome.preliminary else ""
    if outcome.runs == 1:
        return f"1 run each (seed {outcome.seed}){said}. Interlayer {outcome.version}"
    seeds = f"seeds from {outcome.seed}, common to all points and arms"
    student = stats.kind(outcome.estimate(cell) for cell in outcome.cells())
    taken = "" if outcome.recorded is None else f"; recorded: {', '.join(outcome.recorded.dates)}"
    return f"{runs} runs each ({seeds}{taken}); bars: 95 % intervals ({student}){said}. Interlayer {outcome.version}"


def _note(outcome: Outcome) -> str:
    """The caption in a figure: also what was set."""
    return ". ".join(part for part in (words.not_the_papers(outcome), caption(outcome)) if part)


def experiment(outcome: Outcome) -> Figure:
    """An experiment's figure: measured with error bars, the paper's printed numbers, the arithmetic.

    Numbers on x are joined by lines; categories are not, and there the arms stand side by side.
    """
    from .drawing import Ticks, drawing, finish, frame

    e = outcome.experiment
    if not e.x:
        return _single_point(outcome)
    with style():
        figure = drawing(8.0, 5.0)
        axes = figure.add_subplot()
        at = e.paths.index(e.x)
        ticks = {i: e.sweep[at][1][i] for i in sorted({cell.at[at] for cell in e.cells() if e.is_drawn(cell)})}
        xs = [quantity.magnitude(v) for v in ticks.values()]
        numbers = [x for x in xs if x is not None]
        numeric = len(numbers) == len(xs)
        places = dict(zip(ticks, numbers if numeric else map(float, range(len(xs))), strict=True))
        if numeric:
            scale_x(axes, numbers)
        else:
            separate(axes, len(places))
        drawn = (
            _gain_lines(axes, outcome, places, numeric)
            if e.show == "gain"
            else _metric_lines(axes, outcome, places, numeric)
        )
        _printed_numbers(axes, e, places, drawn)
        if numeric:
            _arithmetic(axes, e, numbers, drawn)
        labels, unit = tick_labels([value_label(e, e.x, value) for value in ticks.values()], numeric)
        axes.set_xlabel(path_label(e, e.x) + unit)
        axes.set_ylabel(y_label(e))
        from_zero(axes)
        if numeric and axes.texts and axes.get_xscale() == "linear":
            left, right = axes.get_xlim()
            axes.set_xlim(left, right + 0.04 * (right - left))  # room for the printed numbers of the last point
        frame(figure, _title(e), _note(outcome))
        finish(axes, Ticks(list(places.values()), labels, numeric), entries=_entries(axes))
        return figure


def y_label(e: Experiment) -> str:
    """What the figure measures, with its unit: as the file calls it, else in the words of the metric's name."""
    if e.y_label or e.show == "gain":
        return e.y_label or "gain, %"
    name = e.label(e.metric)
    return (readable(e.metric) if name == e.metric else name) + ("" if e.unit == "1" else f", {e.unit}")


def _title(e: Experiment, *, over_time: bool = False) -> str:
    """The title and the source. Where the paper shows a run over time, the other figure is of the runs behind it."""
    title = e.title if over_time or e.over_time is None else f"The runs behind “{e.title}”: {y_label(e)}"
    return f"{title}\n{e.source}" if e.source else title


def _single_point(outcome: Outcome) -> Figure:
    """The figure of an experiment that sweeps nothing: a bar an arm, with the paper's printed values."""
    from .drawing import Mark, drawing, finish, frame

    e = outcome.experiment
    cells = [cell for cell in outcome.cells() if e.is_drawn(cell)]
    arms = [cell.arm for cell in cells]
    with style():
        figure = drawing(8.0, 1.8 + 0.5 * len(arms))
        axes = figure.add_subplot()
        _bars(axes, [e.label(arm) for arm in arms], list(map(outcome.estimate, cells)), cells)
        label: str | None = _PAPER
        for claim in e.claims:
            q = claim.quantities()[0]
            if isinstance(claim.test, Value) and claim.test.expected.value is not None and q.is_plain and q.terms:
                cell = q.cells()[0]
                if claim.metric == e.metric and cell.arm in arms:
                    x, y = claim.test.expected.value, arms.index(cell.arm)
                    star = axes.plot([x], [y], label=label, color="black", **_PRINTED)
                    figure.keep(e.label(cell.arm), star, axes, [Mark(x, y, cell)] if len(q.terms) == 1 else [])
                    label = None
        axes.set_xlabel(y_label(e))
        frame(figure, _title(e), _note(outcome))
        finish(axes, entries=_entries(axes))
        return figure


def _bars(
    axes: Axes, names: Sequence[str], found: Sequence[Estimate | None], of: Sequence[Any], *, points: bool = False
) -> None:
    """A horizontal bar for each name, first on top, with its interval; with `points`, points about a line at zero.

    All have one colour: the axis says which is which. `of` says what each is of, for a page that is asked.
    """
    from .drawing import Mark, drawing_of

    figure = drawing_of(axes)
    for i, e in enumerate(found):
        if e is None or not math.isfinite(e.mean):
            continue
        error = _bar([e])
        if points:
            made: Any = axes.errorbar([e.mean], [i], xerr=error, color=_COLOURS[0], marker="o", capsize=3, ls="none")
            artists = made.get_children()
        else:
            made = axes.barh([i], [e.mean], xerr=error, color=_COLOURS[5], ecolor="black", capsize=3)
            artists = [*made.patches, *(made.errorbar.get_children() if made.errorbar else ())]
        figure.keep(names[i], artists, axes, [Mark(e.mean, i, of[i])])
    if points:
        axes.axvline(0.0, color="0.4", linewidth=0.8)
    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(len(names) - 0.5, -0.5)


def _bar(found: Sequence[Estimate]) -> list[list[float]] | None:
    """Lengths of error bars below and above the means; None, and no bars, where there is one run."""
    if all(e.half_width is None for e in found):
        return None
    below = [0.0 if e.half_width is None else e.mean - e.low for e in found]
    return [below, [0.0 if e.half_width is None else e.high - e.mean for e in found]]


def tick_labels(labels: Sequence[str], are_numbers: bool) -> tuple[list[str], str]:
    """Tick labels, and what to add to the axis' name: the unit, once, if all numbers have the same."""
    parts = [label.partition(" ") for label in labels]
    if are_numbers and len({unit for _, _, unit in parts}) == 1 and parts[0][2]:
        return [number for number, _, _ in parts], f", {parts[0][2]}"
    return list(labels), ""


def _entries(axes: Axes) -> list[tuple[Any, str]]:
    """What a legend names: measured lines first, then the paper's numbers and the arithmetic."""
    found = list(zip(*axes.get_legend_handles_labels(), strict=True))
    return sorted(found, key=lambda entry: (entry[1].startswith(_ARITHMETIC), entry[1] == _PAPER))


def scale_x(axes: Axes, numbers: Sequence[float]) -> None:
    """A logarithmic axis for numbers over more than a decade and a half, with a zero at its left end."""
    above = [x for x in numbers if x > 0]
    if min(numbers) < 0 or len(above) < 3 or max(above) < 50 * min(above):
        return
    if len(above) == len(numbers):
        axes.set_xscale("log")
    else:
        axes.set_xscale("symlog", linthresh=min(above))


def from_zero(axes: Axes) -> None:
    """Let the y axis begin at zero, or below it where something lies there."""
    low, high = axes.get_ylim()
    axes.set_ylim(low if axes.dataLim.y0 < 0 else 0.0, high)


def separate(axes: Axes, categories: int) -> None:
    """Room for each category, and a thin line between two of them."""
    axes.set_xlim(-0.5, categories - 0.5)
    axes.set_xticks([i + 0.5 for i in range(categories - 1)], minor=True)
    axes.tick_params(axis="x", which="minor", length=0)
    axes.grid(visible=False, axis="x", which="major")
    axes.grid(axis="x", which="minor")


class Shown(NamedTuple):
    """How a line is drawn that printed numbers stand beside: its colour, how far beside the category, its name."""

    colour: str
    beside: float
    name: str = ""


def beside(line: int, lines: int, numeric: bool) -> float:
    """How far from the middle of its category a line's point stands; numbers stand where they are."""
    return 0.0 if numeric or lines < 2 else min(0.2, 0.7 / (lines - 1)) * (line - (lines - 1) / 2)


def _others(e: Experiment) -> list[tuple[int, ...]]:
    """Every combination of the swept values other than x that is drawn, as indices with 0 at x's place."""
    cells = filter(e.is_drawn, e.cells())
    seen = dict.fromkeys(tuple(0 if p == e.x else i for p, i in zip(e.paths, c.at, strict=True)) for c in cells)
    return list(seen)


def _point(e: Experiment, other: tuple[int, ...], i: int) -> tuple[int, ...]:
    return tuple(i if p == e.x else o for p, o in zip(e.paths, other, strict=True))


def value_label(e: Experiment, path: str, value: Any, *, alone: bool = False) -> str:
    """What the file calls a path's value, else the value in words; a number that stands alone has the path's name."""
    shown = e.label(path, value)
    if shown != plain(value):
        return shown
    is_bare = alone and isinstance(value, int | float) and not isinstance(value, bool)
    return f"{path_label(e, path)} = {shown}" if is_bare else readable_value(value)


def path_label(e: Experiment, path: str) -> str:
    """What the file calls a path, else its words."""
    return readable_key(path) if e.label(path) == path else e.label(path)


def _other_label(e: Experiment, other: tuple[int, ...]) -> str:
    parts = [
        value_label(e, path, values[o], alone=True)
        for (path, values), o in zip(e.sweep, other, strict=True)
        if path != e.x and len(e.drawn.get(path, values)) > 1
    ]
    return "".join(f", {part}" for part in parts)


def look(number: int) -> dict[str, Any]:
    """Colour and dash of a line by its number: seven colours, then the next dash."""
    return {"color": _COLOURS[number % len(_COLOURS)], "linestyle": _DASHES[number // len(_COLOURS) % len(_DASHES)]}


def marked(number: int, other: int = 0) -> dict[str, Any]:
    """Colour, marker, dash and filling by the number of an arm, and of what else is swept: no two are alike.

    That holds for 56 arms, and for 21 where more than four lines of each are drawn.
    """
    again, pattern = divmod(other, len(_DASHES))
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[(number + 3 * again) % len(_MARKERS)],
        "linestyle": _DASHES[pattern],
        "fillstyle": _FILLS[pattern],
    }


def draw(
    axes: Axes,
    points: Sequence[tuple[float, Estimate]],
    label: str,
    number: int,
    other: int | None = None,
    *,
    of: Sequence[Any],
    join: bool = True,
) -> None:
    """Measured points with their intervals, in the look of their number; `join` them where x is a number.

    Without `other` a colour that comes again has another dash, too. `of` says what each point is of, for a page that is
    asked.
    """
    from .drawing import Mark, drawing_of

    if points:
        pattern = number // len(_COLOURS) if other is None else other
        look_ = marked(number, pattern) | ({} if join else {"linestyle": "none"})
        made = axes.errorbar(
            [x for x, _ in points],
            [e.mean for _, e in points],
            yerr=_bar([e for _, e in points]),
            label=label,
            markersize=4.5 if join else 6,
            capsize=3,
            linewidth=1.5,
            **look_,
        )
        marks = [Mark(x, e.mean, what) for (x, e), what in zip(points, of, strict=True) if math.isfinite(e.mean)]
        drawing_of(axes).keep(label, made.get_children(), axes, marks, look_)


Lines = dict[tuple[str, tuple[int, ...]], Shown]
"""What is drawn, by arm (of a gain: the arm compared with) and by what else is swept."""


def _metric_lines(axes: Axes, outcome: Outcome, places: Mapping[int, float], numeric: bool) -> Lines:
    e, have = outcome.experiment, set(filter(outcome.experiment.is_drawn, outcome.cells()))
    others, found = _others(e), Lines()
    arms = [arm for arm, _ in e.arms if any(cell.arm == arm for cell in have)]
    for a, arm in enumerate(arms):
        for o, other in enumerate(others):
            off = beside(a * len(others) + o, len(arms) * len(others), numeric)
            cells = [(x + off, Cell(arm, _point(e, other, i))) for i, x in places.items()]
            drawn = [(x, cell) for x, cell in cells if cell in have]
            points = [(x, outcome.estimate(cell)) for x, cell in drawn]
            mine, name = o if len(others) > 1 else None, e.label(arm) + _other_label(e, other)
            draw(axes, points, name, a, mine, of=[cell for _, cell in drawn], join=numeric)
            found[arm, other] = Shown(_COLOURS[a % len(_COLOURS)], off, name)
    return found


def _gain_lines(axes: Axes, outcome: Outcome, places: Mapping[int, float], numeric: bool) -> Lines:
    e = outcome.experiment
    others, found = _others(e), Lines()
    for k, comparison in enumerate(e.comparisons):
        for o, other in enumerate(others):
            off = beside(k * len(others) + o, len(e.comparisons) * len(others), numeric)
            ats = [(x + off, _point(e, other, i)) for i, x in places.items()]
            gains = [(x, outcome.gain(comparison, at), at) for x, at in ats if _gain_is_drawn(e, comparison, at)]
            points = [(x, gain) for x, gain, _ in gains if gain is not None]
            of = [Gain(Cell(comparison.of, at), Cell(comparison.over, at)) for _, gain, at in gains if gain is not None]
            label = f"{e.label(comparison.of)} over {e.label(comparison.over)}{_other_label(e, other)}"
            draw(axes, points, label, k, o if len(others) > 1 else None, of=of, join=numeric)
            found[comparison.over, other] = Shown(_COLOURS[k % len(_COLOURS)], off, label)
    axes.axhline(0.0, color="0.4", linewidth=0.8)
    return found


def _gain_is_drawn(e: Experiment, comparison: Comparison, at: tuple[int, ...]) -> bool:
    return e.is_drawn(Cell(comparison.of, at)) and e.is_drawn(Cell(comparison.over, at))


def _printed_numbers(axes: Axes, e: Experiment, places: Mapping[int, float], drawn: Lines) -> None:
    """The paper's numbers at the points they were printed for: a star for a value, a bar for a range."""
    from .drawing import Mark, drawing_of

    label: str | None = _PAPER
    for claim in e.claims:
        if (at := _spot(claim, e)) is None or claim.strength != "number":
            continue
        quantity_, i = at
        term = quantity_.terms[0]
        cell = term.old if isinstance(term, Gain) else term
        other = tuple(0 if path == e.x else k for path, k in zip(e.paths, cell.at, strict=True))
        colour, off, name = drawn.get((cell.arm, other), Shown("black", 0.0))
        x = places[i] + off
        expected = claim.test.expected  # type: ignore[union-attr]
        if expected.value is not None:
            # Under the measurement, so that neither hides the other.
            made = axes.plot([x], [expected.value], markeredgecolor=colour, label=label, zorder=1.5, **_PRINTED)
            text, y = f"{expected.value:g}", expected.value
        elif expected.low is not None and expected.high is not None:
            ends = [expected.low, expected.high]
            made = axes.plot([x] * 2, ends, color=colour, linewidth=5, alpha=0.35, label=label)
            text, y = f"{expected.low:g} to {expected.high:g}", sum(ends) / 2
        else:
            continue
        around: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}
        note = axes.annotate(text, (x, y), (9, 0), color=colour, zorder=5, **around)
        label = None
        if name:
            marks = [Mark(x, y, term)] if len(quantity_.terms) == 1 else []
            drawing_of(axes).keep(name, [*made, note], axes, marks)


def _spot(claim: Claim, e: Experiment) -> tuple[Quantity, int] | None:
    """Where on x a printed number belongs; None for what is no single point of this figure."""
    if not isinstance(claim.test, Value | Ratio) or len(claim.quantities()) != 1 or claim.metric != e.metric:
        return None
    q = claim.quantities()[0]
    if not q.is_plain or q.is_gain != (e.show == "gain"):
        return None
    if not all(map(e.is_drawn, q.cells())):
        return None
    spots = {cell.at[e.paths.index(e.x)] for cell in q.cells()}
    return (q, spots.pop()) if len(spots) == 1 else None


def _arithmetic(axes: Axes, e: Experiment, places: Sequence[float], drawn: Lines) -> None:
    """The curves of the file, from constants alone: in their arm's colour, a band where they give two ends."""
    from .drawing import drawing_of

    of_arm = {arm: shown for (arm, _), shown in drawn.items()}
    between = np.geomspace if axes.get_xscale() == "log" else np.linspace
    xs = between(min(places), max(places), 200)
    curves = [curve for curve in e.curves if _curve_is_drawn(e, curve)]
    tied = sum(bool(curve.arm) for curve in curves)
    named = False
    for k, curve in enumerate(curves):
        colour = of_arm[curve.arm].colour if curve.arm in of_arm else "0.35"
        label: str | None = f"{_ARITHMETIC}: {curve.label}"
        if curve.arm and tied > 2:  # they stand beside their lines: one entry for all
            label, named = (None if named else f"{_ARITHMETIC}, in the colour of what it is for"), True
        ys = [curve.values(float(x)) for x in xs]
        if curve.to:
            low, high = zip(*ys, strict=True)
            made: Any = [
                axes.fill_between(xs, low, high, color=colour, alpha=0.16, linewidth=0, label=label, zorder=0.5)
            ]
        else:
            dash = (0, (1, 1 + (0 if curve.arm else k)))
            (line,) = zip(*ys, strict=True)
            made = axes.plot(xs, line, color=colour, linewidth=1.1, linestyle=dash, label=label, zorder=1)
        names = {shown.name for (arm, other), shown in drawn.items() if _stands_beside(curve, e, arm, other)}
        if len(names) == 1:  # what stands beside one line goes with it
            drawing_of(axes).keep(names.pop(), made)


def _stands_beside(curve: Curve, e: Experiment, arm: str, other: tuple[int, ...]) -> bool:
    """Whether arithmetic is of a line: of its arm, and of what else it is swept by."""
    at = dict(zip(e.paths, other, strict=True))
    return curve.arm == arm and all(at[path] in picks for path, picks in curve.at if path != e.x)


def _curve_is_drawn(e: Experiment, curve: Curve) -> bool:
    """Whether one of the lines it stands beside is drawn; what stands beside none always is."""
    what: dict[str, tuple[Any, ...]] = dict(curve.at) | ({ARM: (curve.arm,)} if curve.arm else {})
    return all(not set(what[path]).isdisjoint(picks) for path, picks in e.drawn.items() if path in what)


def flows(rows: Sequence[Mapping[str, Any]], title: str, note: str, name: str = "goodput_bps") -> Figure:
    """A column of every flow of a scenario, with error bars for several runs. `rows` is `flows` of `run`'s JSON."""
    from .drawing import Mark, drawing, finish, frame

    unit = "ms" if quantity.column_unit(name) == "s" else quantity.natural_unit(name)
    with style():
        figure = drawing(8.0, 1.6 + 0.35 * min(len(rows), _FLOWS))
        axes = figure.add_subplot()
        found = [_in(unit, name, row) for row in rows]
        means = [0.0 if e is None else e.mean for e in found]
        bars = None if any(e is None for e in found) else _bar([e for e in found if e is not None])
        axes.barh(range(len(rows)), means, xerr=bars, color=_COLOURS[0], capsize=3 if len(rows) <= _FLOWS else 0)
        figure.keep("flows", [], axes, [Mark(x, i, i) for i, x in enumerate(means)])
        named = range(0, len(rows), math.ceil(len(rows) / _FLOWS))
        axes.set_yticks(named, [str(rows[i]["id"]) for i in named])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(left=0.0)  # an interval may reach below what can be
        axes.set_xlabel(readable(f"flow.*.{quantity.without_unit(name)}") + ("" if unit == "1" else f", {unit}"))
        frame(figure, title, note)
        finish(axes)
        return figure


def comparison(result: Mapping[str, Any], note: str, shown: Sequence[str] = ()) -> Figure:
    """Metrics of every arm, and beside each the paired difference to the first. `result` is `compare`'s JSON.

    The metrics are `shown`, else those that were asked for, else goodput; a row of panels for each.
    """
    from .comparison_words import name_and_unit
    from .drawing import drawing, finish, frame

    arms = result["arms"]
    names = [str(arm["label"]) for arm in arms]
    metrics_ = list(shown or list(result.get("metrics", ()))[:ROWS] or ["goodput_bps"])
    with style():
        figure = drawing(9.0, 0.8 + (0.9 + 0.45 * len(arms)) * len(metrics_))
        rows = figure.subplots(len(metrics_), 2, sharey=True, squeeze=False)
        for (left, right), metric in zip(rows, metrics_, strict=True):
            name, unit = name_and_unit(metric)
            counted = unit in ("1", "packets")
            of = [[(metric, what, k) for k in range(len(arms))] for what in ("compared", "difference")]
            _bars(left, names, [_in(unit, metric, arm["compared"]) for arm in arms], of[0])
            left.set_xlabel(readable(name) + ("" if counted else f", {unit}"))
            differences = [None if arm is arms[0] else _in(unit, metric, arm["difference"]) for arm in arms]
            _bars(right, names, differences, of[1], points=True)
            _stars(right, [arm["difference"] and arm["difference"][metric]["significant"] for arm in arms], differences)
            right.set_xlabel(f"paired difference to {result['baseline']}{'' if counted else f', {unit}'}")
        frame(figure, str(result["scenario"]), note)
        for axes in rows.flat:
            finish(axes)
        return figure


ROWS = 4
"""So many of the metrics that were asked for are a figure; the others are in the tables."""


def _stars(axes: Axes, significant: Sequence[Any], found: Sequence[Estimate | None]) -> None:
    """A star above each difference that is significant."""
    at = [(e.mean, i - 0.25) for i, (is_so, e) in enumerate(zip(significant, found, strict=True)) if is_so and e]
    if at:
        xs, ys = zip(*at, strict=True)
        axes.scatter(xs, ys, marker="$*$", s=40, color="black", label="significant")


def _in(unit: str, name: str, row: Mapping[str, Any]) -> Estimate | None:
    """A column of a row in a unit; None where it has none."""
    from interlayer.measure.stats import Estimate

    one = row.get(name)
    if one is None or one["mean"] is None:
        return None
    return Estimate.read(one).scaled(quantity.scale(name, unit))


def over_time(outcome: Outcome) -> Figure:
    """The one run that an experiment shows over time: a panel for each of its patterns, a line for each match."""
    from .drawing import drawing, finish, frame

    e, run = outcome.experiment, outcome.over_time
    assert e.over_time is not None
    assert run is not None
    named = [metrics.by_name(run, pattern) for pattern in e.over_time.columns]
    found = [_matching(run["series"] or {}, pattern) for pattern in named]
    with style():
        figure = drawing(8.0, 0.8 + 2.8 * len(found))
        panels = figure.subplots(len(found), 1, sharex=True, squeeze=False)
        for axes, columns in zip(panels.flat, found, strict=True):
            unit = quantity.natural_unit(next(iter(columns)))
            for i, (name, column) in enumerate(columns.items()):
                values = np.asarray(column["value"]) * quantity.scale(name, unit)
                axes.plot(column["t_s"], values, linewidth=0.9, label=name.split(".")[1], **look(i))
            what = readable(f"flow.*.{quantity.without_unit(next(iter(columns))).rpartition('.')[2]}")
            axes.set_ylabel(what if unit == "1" else f"{what}, {unit}")
        panels[-1][0].set_xlabel("time, s")
        arm, picked = e.label(e.over_time.cell.arm), ""
        if e.over_time.metric:
            picked = f", of {len(outcome.results.runs[e.over_time.cell])} the one of {e.over_time.pick} "
            picked += e.label(e.over_time.metric)
        note = f"{arm}: one run, seed {run['seed']}{picked}. Interlayer {outcome.version}"
        note = ". ".join(part for part in (words.not_the_papers(outcome), note) if part)
        frame(figure, _title(e, over_time=True), note)
        finish(panels[0][0], entries=_entries(panels[0][0]))
        return figure


def _matching(series: Mapping[str, Any], pattern: str) -> dict[str, Any]:
    """The series that a pattern names, units left out."""
    literal = pattern.replace("[", "[[]")
    found = {n: c for n, c in series.items() if fnmatchcase(quantity.without_unit(n), literal)}
    if not found:
        known = [quantity.without_unit(name) for name in series]
        raise InputError(f'over_time.columns: no "{pattern}"{suggestion(pattern, known)}', "over_time.columns")
    return found
