"""Figures that can be asked: on a page a point says what it is of, its value and interval, and arms can be switched.

The figure is that of the files, with ids on the artists of each arm. After it stands what is known of each point, in
words and as numbers (docs/design/pictures.md). `ask.js` shows it, and computes nothing. Without scripts the page reads
as if there were none of this.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any, Final

from interlayer import quantity
from interlayer.measure import stats
from interlayer.measure.catalogue import readable_key, readable_value
from interlayer.study.experiment import Cell, Crossing, Expected, Gain, Value

from . import comparison_words, markup, plots, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from interlayer.measure.stats import Estimate
    from interlayer.study.experiment import Claim, Experiment
    from interlayer.study.outcome import Outcome, Scored
    from interlayer.study.sweep import Point, Swept

    Told = Mapping[str, Any]
    """What is known of a point; the keys are those of the page's data (docs/design/pictures.md)."""
    Lines = list[tuple[str, str]]
    """What is said of a point: names and texts."""

CLASS: Final = "asked"
"""The class of the element with a figure's data."""

_STYLE = """
.arms { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: 1.5rem 0 -1rem; padding: .2rem .7rem .4rem;
  border: 1px solid var(--rule); border-radius: 4px; max-width: 52rem; min-width: 0; max-height: 16rem; overflow: auto;
  font-size: .84rem }
.arms label { display: inline-flex; gap: .4rem; align-items: center; min-height: 1.75rem; cursor: pointer }
.arms legend { padding: 0 .3rem } .arms input { width: 1.05rem; height: 1.05rem; margin: 0; flex: none }
.arms svg { flex: none; width: 1.6rem; min-width: 0; height: .9rem }
.arms button { font: inherit; color: inherit; background: var(--code); border: 1px solid var(--soft); cursor: pointer;
  border-radius: 4px; padding: .1rem .6rem; margin: .15rem 0 }
.arms :focus-visible, .told :focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
figure [role=option] { fill: transparent; pointer-events: none; outline: none }
figure .ring { fill: none; pointer-events: none } figure .is-off { display: none }
figure .is-dim, .arms input:not(:checked) ~ svg { opacity: .35; filter: grayscale(1) }
.arms label:has(:not(:checked)) { color: var(--soft) }
.told { position: fixed; z-index: 1; box-sizing: border-box; width: max-content; max-width: min(25rem, 100vw - 1rem);
  max-height: min(26rem, 90vh); overflow: auto; padding: .5rem .8rem .6rem; color: var(--ink); background: var(--paper);
  border: 1.5px solid var(--ink); border-radius: 5px; box-shadow: 0 2px 10px #0004; font-size: .84rem;
  line-height: 1.4 }
.told[hidden] { display: none } .told strong { display: block; padding-bottom: .15rem }
.told dl { display: grid; grid-template-columns: fit-content(9rem) minmax(0, 1fr); gap: .1rem .8rem; margin: 0 }
.told dt { color: var(--soft) } .told dd { margin: 0; font-variant-numeric: tabular-nums lining-nums }
.told details { margin: .35rem 0 0 } .told table { width: 100% }
.told td, .told th { padding: .15rem .6rem .15rem 0; font-size: .8rem }
.told td:last-child { white-space: nowrap; padding: .15rem 0 }
.told tr > :first-child { min-width: 0 }
@media (max-width: 36rem) { .told { left: 0 !important; right: 0; top: auto !important; bottom: 0; width: auto;
  max-width: none; max-height: 45vh; border-width: 1.5px 0 0; border-radius: 0 } }
@media print { .arms, .told, figure .ring { display: none } }
"""


def page(title: str, body: str) -> str:
    """A page, with the script and style for its figures if one of them can be asked."""
    if f'class="{CLASS}"' in body:
        body = f"<style>{_STYLE}</style>\n{body}\n<script>\n{markup.script('ask.js')}</script>"
    return markup.page(title, body)


def experiment(outcome: Outcome, figure: Figure) -> str:
    """The figure of an experiment (`plots.experiment`) as an element of a page, which can be asked."""
    return _inline(figure, _Points(outcome).told, [reading.id for reading in outcome.readings])


def comparison(result: Mapping[str, Any], figure: Figure) -> str:
    """The figure of a comparison (`plots.comparison`) as an element of a page, which can be asked."""
    arms = result["arms"]

    def told(of: tuple[str, str, int]) -> Told | None:
        metric, what, k = of
        row = arms[k][what] and arms[k][what][metric]
        if not row or row["mean"] is None:
            return None
        unit = comparison_words.name_and_unit(metric)[1]
        e = stats.Estimate.read(row, result["runs"])
        lines = _measured(comparison_words.name_and_unit(metric)[0], e.scaled(quantity.scale(metric, unit)), unit)
        if what == "difference":
            apart = comparison_words.difference_text(row, metric, unit) + words.unit_text(unit)
            lines[0] = (f"{lines[0][0]}, difference to {result['baseline']}", apart)
            if row["relative_percent"] is not None:
                lines.insert(1, ("relative", f"{row['relative_percent']:+.3g} %"))
            said = {True: "significant", False: "not significant", None: "no test"}[row["significant"]]
            lines.append(("paired t-test", f"{comparison_words.p_text(row['p_value'])}, {said}"))
        return {**_numbers(e, quantity.column_unit(metric)), "lines": lines}

    return _inline(figure, told)


def flows(result: Mapping[str, Any], figure: Figure) -> str:
    """The figure of a scenario's flows (`plots.flows`) as an element of a page, which can be asked."""
    name, unit = comparison_words.name_and_unit("goodput_bps")

    def told(of: int) -> Told | None:
        row = result["flows"][of]
        if row["goodput_bps"]["mean"] is None:
            return None
        e = stats.Estimate.read(row["goodput_bps"], result["runs"])
        lines = [("flow", str(row["id"])), *_measured(name, e.scaled(quantity.scale("goodput_bps", unit)), unit)]
        return {**_numbers(e, "bps"), "lines": lines}

    return _inline(figure, told)


def sweep(s: Swept, figure: Figure) -> str:
    """The figure of a sweep (`sweep_plot.figure`) as an element of a page, which can be asked."""

    def told(of: tuple[Point, Any]) -> Told:
        cell, measure = of
        e = s.estimate(cell, measure)
        unit = "ms" if quantity.column_unit(measure.name) == "s" else quantity.natural_unit(measure.name)
        lines = [
            (readable_key(axis.path), readable_value(axis.values[i])) for axis, i in zip(s.axes, cell, strict=True)
        ]
        lines += _measured(measure.label, e.scaled(quantity.scale(measure.name, unit)), unit)
        return {**_numbers(e, quantity.column_unit(measure.name)), "lines": lines}

    return _inline(figure, told)


# --------------------------------------------------------------------------------------------------------- experiments


class _Points:
    """What is known of the points of an experiment's figure."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.e = e = outcome.experiment
        self.unit = "%" if e.x and e.show == "gain" else e.unit
        self.have = set(outcome.cells())
        self.name = plots.y_label(e).removesuffix(f", {self.unit}")

    def told(self, of: Cell | Gain) -> Told | None:
        """What is known of a point; None for a printed number at a point that was not measured."""
        e = self.estimate(of)
        if e is None or not stats.finite(e):
            return None
        at = of.new.at if isinstance(of, Gain) else of.at
        lines = [
            (plots.path_label(self.e, path), plots.value_label(self.e, path, values[i]))
            for (path, values), i in zip(self.e.sweep, at, strict=True)
            if path == self.e.x or len(values) > 1
        ]
        lines += _measured(self.name, e, self.unit)
        for s in self.outcome.scored:
            if _is_printed_at(s.claim, self.e, of):
                lines += _printed(s, e, self.unit, self.outcome)
        found: dict[str, Any] = {**_numbers(e, self.unit), "lines": lines}
        if readings := self.readings(of):
            means = [one.mean for one in readings if stats.finite(one)]
            span = f"{stats.plain(min(means), 4)} to {stats.plain(max(means), 4)}{words.unit_text(self.unit)}"
            found["in_readings"] = f"In {len(readings)} readings {span}"
            found["readings"] = [f"{one}{words.unit_text(self.unit)}" for one in readings]
        elif len(self.outcome.readings) > 1:
            lines.append(("reading", "base: no claim that was judged in others is of this point"))
        elif self.e.open is not None:
            lines.append(("reading", "base"))
        return found

    def estimate(self, of: Cell | Gain) -> Estimate | None:
        """The number that is drawn, as the result's JSON has it."""
        if isinstance(of, Cell):
            return self.outcome.estimate(of) if of in self.have else None
        for comparison in self.e.comparisons:
            if (comparison.of, comparison.over) == (of.new.arm, of.old.arm) and of.new.at == of.old.at:
                return self.outcome.gain(comparison, of.new.at)
        return None

    def readings(self, of: Cell | Gain) -> list[Estimate]:
        """The point in each reading that was run, from a claim that was judged in all of them; else nothing."""
        for s in self.outcome.scored:
            c = s.claim
            if c.largest_of or isinstance(c.test, Crossing) or len(s.readings) < 2:
                continue
            if c.metric != self.e.metric or (not isinstance(of, Gain) and c.unit != self.unit):
                continue
            for k, q in enumerate(c.quantities()):
                if q.is_plain and q.terms == (of,) and len(s.readings) == len(self.outcome.readings):
                    return [judged.judgement.measured[k] for judged in s.readings]
        return []


def _is_printed_at(claim: Claim, e: Experiment, of: Cell | Gain) -> bool:
    """Whether a number that the paper prints is of this point alone, as the figure's stars are."""
    if not hasattr(claim.test, "expected") or isinstance(claim.test, Crossing) or claim.metric != e.metric:
        return False
    is_drawn = claim.strength == "number" or (not e.x and isinstance(claim.test, Value))
    return is_drawn and [(q.is_plain, q.terms) for q in claim.quantities()] == [(True, (of,))]


def _printed(s: Scored, e: Estimate, unit: str, outcome: Outcome) -> Iterator[tuple[str, str]]:
    """The paper's number, how far the measured mean is from it, and the verdict."""
    claim, number = s.claim, s.claim.id.rpartition("#")[2]
    of = f"largest of {claim.largest_of} runs, " if claim.largest_of else "one run, " if claim.one_of else ""
    yield f"printed ({of}claim {number})", words.expected_text(claim)
    if not claim.largest_of and (said := _difference(e.mean, claim.test.expected, unit)):  # type: ignore[union-attr]
        yield "mean less printed", said
    if s.verdict is not None:
        yield f"verdict on claim {number}", words.verdict_text(s, outcome)


def _difference(mean: float, printed: Expected, unit: str) -> str:
    """`-0.066 Mb/s (-5.1 %)` from a number, of gains in points; from a range how far it is beyond an end."""
    low, high = (printed.low, printed.high) if printed.value is None else (printed.value, printed.value)
    if printed.value is None and (low is None or mean >= low) and (high is None or mean <= high):
        return "within the range"
    end = low if low is not None and mean < low else high
    assert end is not None
    apart = mean - end
    sign = "-" if apart < 0 else "+"
    text = f"{sign}{stats.plain(abs(apart), 3)}" + (" points" if unit == "%" else words.unit_text(unit))
    if end and unit != "%":
        text += f" ({100 * apart / end:+.1f} %)"
    return text if printed.value is not None else f"{text} beyond the range"


# ---------------------------------------------------------------------------------------------------------- any figure


def _numbers(e: Estimate, unit: str) -> dict[str, Any]:
    """A number as the result's JSON has it, to the last digit."""
    return {**e.as_json(), "unit": unit, "runs": e.n}


def _measured(name: str, e: Estimate, unit: str) -> Lines:
    """A measured number in words: value, interval, runs."""
    unit = "" if unit == "packets" else words.unit_text(unit)
    lines = [(name, f"{e}{unit}")]
    if e.half_width is not None and math.isfinite(e.half_width):
        digits = len(str(e).split(" ")[0].partition(".")[2])
        lines.append(("95 % interval", f"{e.low:.{digits}f} to {e.high:.{digits}f}{unit}"))
    return [*lines, ("runs", str(e.n))]


def _look(look: Mapping[str, Any]) -> dict[str, Any]:
    """Colour and dashes of an arm's line; nothing where arms have no colour of their own."""
    if "color" not in look:
        return {}
    style = look["linestyle"]
    return {"colour": look["color"], "dashes": [2 * x for x in style[1]] if isinstance(style, tuple) else []}


def _inline(figure: Figure, told: Callable[[Any], Told | None], readings: Sequence[str] = ()) -> str:
    """The figure's SVG with ids on its arms, and after it the element with its data. Its files are written before."""
    from .drawing import Drawing

    assert isinstance(figure, Drawing)
    figure.set_layout_engine("none")  # everything stands where the SVG of the files has it
    arms = list(figure.arms.values())
    for i, arm in enumerate(arms):
        for what, artists in (("part", arm.artists), ("name", arm.labels)):
            for k, artist in enumerate(artists):
                artist.set_gid(f"arm-{i}.{what}-{k}")
    into = io.StringIO()
    with plots.style():
        figure.savefig(into, format="svg", metadata={"Date": None, "Creator": "interlayer"})
    svg = into.getvalue()
    found = []
    for arm in arms:
        points: dict[Any, dict[str, Any]] = {}
        for axes, mark in arm.marks:
            x, y = axes.transData.transform((mark.x, mark.y)) / figure.dpi * 72
            at = [round(float(x), 1), round(72 * figure.get_figheight() - float(y), 1)]
            if mark.of in points:
                points[mark.of].setdefault("also", []).append(at)
            elif (known := told(mark.of)) is not None:
                points[mark.of] = {"at": at, **known}
        found.append({"name": arm.name or "measured", **_look(arm.look), "points": list(points.values())})
    data: dict[str, Any] = {"format": "interlayer points 1", "arms": found}
    if readings:
        data["readings"] = list(readings)
    return svg[svg.index("<svg") :] + markup.data(data, f'class="{CLASS}"')
