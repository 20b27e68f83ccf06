"""The verdict engine: a claim of a paper against samples of ours, by rules that are the same for every paper.

A verdict needs at least 10 runs of every quantity it rests on. A printed number is held against our mean if the 95 %
half-width is at most 5 % of it (for indices, and for gains, 0.01 is enough). Without that it cannot hold, and differs
only if it lies beyond its band at both ends of the interval, on one side. Orders, trends, ranges and zeros need no
width, since a test or every single run decides them. What is computed without runs is exact. Then

- **value**: within 10 % of our mean; indices (unit "1", printed from 0 to 1) within 0.02, from 0.95 on by 1 - J, within
  a factor of 1.5; rates below 5 % within a factor of 1.5; a printed range: our interval inside it (`differs`: outside);
  a printed zero: zero in every run. A printed **mean of n runs** has a sampling error: the band is widened by it, and
  where it is wider than the band the claim is `untestable`.
- **ratio**: a gain of the same sign, by an interval that excludes zero, and within the larger of 3 points and 30 % of
  it; a printed range: our interval inside it. A range that the gains *span* is held by its two ends. A share (new/old,
  not (new - old)/old) is a value: its zero is not "no effect".
- **order**: on every line, every neighbouring paired difference significant in the claimed direction; `differs` when
  one is significant against it, or not significant in it and shown equal within 2 %. Where the paper says "or equal",
  what is shown equal within 2 % holds.
- **value of x** at which something first lies below or above a limit: by intervals it was still beyond at one point of
  the sweep, and past it at the next; the printed x lies between the two.
- **trend**: Page's test over the replications along every line (with two points: the paired difference); `differs`
  when one goes the other way, or is shown flat within 2 %. Flat: every pair of points shown equal within the stated
  margin; `differs` when a pair is shown to lie further apart.
- **shape**: a test named in the file, see `SHAPES`.

A printed number that is no mean of runs is held against what it is: the **largest of n runs** lies where 95 % of all
draws of n from ours have it (in an order: jackknifed, paired differences); that of **one run of n that was picked**
lies within ours, `differs` when none is as far out and they are enough to show less than an even chance of one.

What is not resolved either way is `untestable`, and a sign to the campaign to add runs. Tests are at the 5 % level,
which rounds and readings share (`readings`). What cannot happen by the structure of the scenario is no evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from interlayer import quantity
from interlayer.measure import stats
from interlayer.measure.stats import Estimate
from interlayer.measure.support import ANY

from . import bands
from .bands import EQUAL_WITHIN
from .experiment import Claim, Crossing, Expected, Line, Order, Quantity, Ratio, Shape, Trend, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlayer.measure.stats import Floats
    from interlayer.measure.support import Support

FOR_LARGEST = 5
"""Runs, as a multiple of n, without which nothing is said of the largest of n."""


class Verdict(StrEnum):
    """What measurement says of a claim."""

    HOLDS = "holds"
    DIFFERS = "differs"
    DEPENDS = "depends"
    """It holds in some readings of what the paper leaves open, and differs in others."""
    COMPATIBLE = "compatible"
    """It is of one run that the source picked, and a run of ours reaches it in every reading: no more is shown."""
    UNTESTABLE = "untestable"
    ARITHMETIC = "arithmetic"
    """No measurement enters: computed, checked, not scored."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with what it rests on, in the claim's unit.

    `measured` has an estimate for each quantity of the claim, line by line; `reason` is one sentence with the numbers;
    `band` says which tolerance was applied.
    """

    verdict: Verdict
    measured: tuple[Estimate, ...]
    reason: str
    band: str
    runs: int


class Samples(Protocol):
    """Where the numbers come from."""

    def sample(self, q: Quantity, metric: str, unit: str) -> Floats:
        """One number per seed, shape (runs,), in `unit`; nan where a run has none."""

    def support(self, q: Quantity, metric: str, unit: str) -> Support:
        """What values it can have, in `unit`."""


def judge(claim: Claim, samples: Samples, alpha: float = stats.ALPHA) -> Judgement:
    """The verdict on a claim. Quantities with different numbers of runs are compared over their common seeds.

    `alpha` is the level of every test in it: 5 %, or less where rounds or readings share the 5 %.
    """
    return judge_columns(claim, columns_of(claim, samples), alpha, supports_of(claim, samples))


def columns_of(claim: Claim, samples: Samples) -> list[Floats]:
    """The samples of a claim's quantities over their common seeds."""
    quantities = claim.quantities()
    columns = [samples.sample(q, claim.metric, claim.sample_unit) for q in quantities]
    measured = [len(c) for q, c in zip(quantities, columns, strict=True) if not q.is_computed]
    runs = min(measured or map(len, columns))
    # What is computed is the same for every seed: it limits nobody's runs.
    return [np.full(runs, c[0]) if q.is_computed else c[:runs] for q, c in zip(quantities, columns, strict=True)]


def supports_of(claim: Claim, samples: Samples) -> list[Support]:
    """What values a claim's quantities can have."""
    return [samples.support(q, claim.metric, claim.sample_unit) for q in claim.quantities()]


def judge_columns(
    claim: Claim, columns: list[Floats], alpha: float = stats.ALPHA, supports: Sequence[Support] = ()
) -> Judgement:
    """The verdict on a claim whose quantities have these samples, as `columns_of` gives them.

    `supports`, as `supports_of` gives them, keep the intervals inside what each quantity can be; without them, and for
    the pseudo-values of the largest of several runs, intervals are Student's.
    """
    if claim.largest_of or not supports:
        supports = [ANY] * len(columns)
    runs, single = len(columns[0]), columns
    if claim.largest_of:
        columns = [stats.largest_of_pseudo(c, claim.largest_of) for c in columns]
    pairs = zip(columns, supports, strict=True)
    estimates: tuple[Estimate, ...] = tuple(stats.estimate(c, support=s) for c, s in pairs)
    context = _Context(claim, columns, estimates, runs, single, alpha, supports)
    band = bands.words(claim)
    if claim.impossible and any(not np.any(c) for c in columns):
        return Judgement(Verdict.UNTESTABLE, estimates, f"no evidence: {claim.impossible}", band, runs)
    if problem := context.unresolved():
        if isinstance(claim.test, Crossing):
            estimates = ()
        return Judgement(Verdict.UNTESTABLE, estimates, problem, band, runs)
    verdict, reason = _rule(context)
    if verdict is Verdict.UNTESTABLE and not reason.startswith(_UNRESOLVED):
        reason = f"{_UNRESOLVED} in {runs} runs: {reason}"
    if isinstance(claim.test, Crossing):
        return Judgement(verdict, (Estimate(_crossed(context, claim.test)[1], None, runs),), reason, band, runs)
    if claim.is_computed:  # no replications: nothing to put an interval on
        return Judgement(verdict, tuple(Estimate(e.mean, None, 0) for e in estimates), reason, band, 0)
    return Judgement(verdict, estimates, reason, band, runs)


def over_readings(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim from those of its readings: all alike, some of each, or not resolved in some."""
    if Verdict.HOLDS in verdicts and Verdict.DIFFERS in verdicts:
        return Verdict.DEPENDS
    if Verdict.UNTESTABLE in verdicts:
        return Verdict.UNTESTABLE
    return verdicts[0]


def holm_step(judged: Sequence[Callable[[float], Judgement]], alpha: float) -> list[Judgement]:
    """Judgements of one claim in several readings, each resolved at a level that all share by Holm's procedure. @HOL79

    Of m open ones each is tested at alpha/m; where r are resolved the others have alpha/(m - r), until none is added.
    """
    found: list[Judgement | None] = [None] * len(judged)
    while True:
        open_ = [i for i, one in enumerate(found) if one is None]
        now = {i: judged[i](alpha / len(open_)) for i in open_}
        new = {i: one for i, one in now.items() if one.verdict is not Verdict.UNTESTABLE}
        for i, one in new.items():
            found[i] = one
        if not new or len(new) == len(open_):
            return [one if one is not None else now[i] for i, one in enumerate(found)]


_UNRESOLVED = "not resolved"


def _rule(c: _Context) -> tuple[Verdict, str]:
    match c.claim.test:
        case Value(expected=Expected(value=float() as printed)) if c.claim.largest_of:
            return _largest(c, printed)
        case Value(expected=expected) if c.claim.one_of:
            return _picked(c, expected)
        case Value(expected=expected):
            return _value(c, expected)
        case Ratio(expected=expected, spans=True):
            return _span(c, expected)
        case Ratio(expected=expected):
            return _ratio(c, expected)
        case Crossing() as crossing:
            return _crossing(c, crossing)
        case Order() as order:
            return _order(c, order)
        case Trend() as trend:
            return _trend(c, trend)
        case Shape() as shape:
            return SHAPES[shape.test](c, shape)


@dataclass(frozen=True, slots=True)
class _Context:
    claim: Claim
    columns: Sequence[Floats]
    estimates: Sequence[Estimate]
    runs: int
    single: Sequence[Floats]
    """The columns run by run, also where `columns` are of the largest of several."""
    alpha: float
    supports: Sequence[Support]
    """What values each of `columns` can have."""

    def intervals(self) -> list[Estimate]:
        """Mean and interval of each quantity at the level of the tests, 95 % or more."""
        pairs = zip(self.columns, self.supports, strict=True)
        return [stats.estimate(column, 1 - self.alpha, support) for column, support in pairs]

    def unresolved(self) -> str:
        """Why no verdict may rest on these samples; empty if one may."""
        if self.claim.is_computed:
            return ""
        if self.runs < stats.MIN_RUNS:
            return f"a verdict needs {stats.MIN_RUNS} runs, there are {self.runs}"
        if (n := self.claim.largest_of) and self.runs < FOR_LARGEST * n:
            return f"not resolved in {self.runs} runs: the largest of {n} needs {FOR_LARGEST * n}"
        for q, e in zip(self.claim.quantities(), self.estimates, strict=True):
            if not math.isfinite(e.mean):
                return f"not resolved in {self.runs} runs: {q.label or 'the metric'} is undefined in some of them"
            if bands.is_zero(self.claim) or isinstance(self.claim.test, Crossing):
                continue  # every single run decides; each interval decides, however wide
            if isinstance(self.claim.test, Order | Trend):
                continue  # a paired test decides; a claim that nothing differs must show it within a margin
            if isinstance(self.claim.test, Value | Ratio) and not _spans(self.claim) and not self.claim.one_of:
                continue  # a range is held against the whole interval, and so is a number where that is wide
            if self.claim.largest_of or self.claim.one_of:
                continue  # the range of the runs decides, and of two the interval of their difference
            if not self.is_narrow(q, e):
                return self._wide(q, e)
        return ""

    def too_wide(self) -> tuple[Verdict, str]:
        """What is said of a printed number while its interval is too wide for the mean to decide."""
        return Verdict.UNTESTABLE, self._wide(self.claim.quantities()[0], self.estimates[0])

    def _wide(self, q: Quantity, e: Estimate) -> str:
        return f"not resolved in {self.runs} runs: {q.label or 'measured'} {self.show(e)}"

    def is_narrow(self, q: Quantity, e: Estimate) -> bool:
        """Whether the mean alone may decide: an interval narrow enough, or a number that was computed."""
        # A gain, or an index, is a fraction: here in the claim's unit, so 0.01 is one point of a percentage.
        small = e.scaled(0.01) if self.claim.unit == "%" else e
        return self.claim.is_computed or stats.narrow_enough(small, index=q.is_gain or self.claim.unit == "1")

    def show(self, e: Estimate) -> str:
        return f"{Estimate(e.mean, None, 0) if self.claim.is_computed else e}{self.unit}"

    @property
    def measured(self) -> str:
        return "computed" if self.claim.is_computed else "measured"

    @property
    def unit(self) -> str:
        return _unit(self.claim.unit)

    def lines(self) -> list[tuple[Line, list[Floats], list[Estimate]]]:
        """Each line with its columns and estimates."""
        found, start = [], 0
        for line in self.claim.lines:
            end = start + len(line.quantities)
            found.append((line, list(self.columns[start:end]), list(self.estimates[start:end])))
            start = end
        return found


def _unit(unit: str) -> str:
    return "" if unit == "1" else f" {unit}"


# ------------------------------------------------------------------------------------------------- value and ratio


def _value(c: _Context, expected: Expected) -> tuple[Verdict, str]:
    ours = c.estimates[0]
    if bands.is_zero(c.claim) and not c.claim.is_computed:
        others = int(np.count_nonzero(c.columns[0]))
        told = f"zero in {c.runs - others} of {c.runs} runs, measured {c.show(ours)}"
        return _holds(others == 0), told
    if expected.value is None:
        verdict, how = _in_range(c, expected)
        return verdict, f"{c.measured} {c.show(ours)}, {how} the printed {bands.printed_text(expected)}{c.unit}"
    off = f" ({(ours.mean / expected.value - 1) * 100:+.1f} %)" if expected.value else ""
    told = f"{c.measured} {c.show(ours)} against the printed {bands.printed_text(expected)}{c.unit}{off}"
    wider = 0.0
    if c.claim.mean_of and not c.claim.is_computed:
        wider, band = bands.prediction(c.columns[0], c.claim.mean_of), _band_at(c, expected, ours.mean)
        told += f", which as a mean of {c.claim.mean_of} runs may be {wider:.2g}{c.unit} off itself"
        if wider > band.half:
            return Verdict.UNTESTABLE, f"{told}: more than the band of {band.half:.2g}{c.unit}"
    if not c.is_narrow(c.claim.quantities()[0], ours):
        where = _against(lambda mean: _band_at(c, expected, mean).widened(wider), expected.value)
        return (Verdict.DIFFERS, f"{told}, by the whole interval") if _far_off(c, where) else c.too_wide()
    found = _band_at(c, expected, ours.mean).widened(wider).holds(expected.value)
    is_index = bands.is_near_one(expected.value, c.claim.unit) and ours.mean <= 1
    if is_index and expected.band is None and ours.half_width:
        # 1 - J may be small beside its interval: then the ends of the interval must say the same.
        ends = [_band_at(c, expected, min(1.0, x)).widened(wider).holds(expected.value) for x in (ours.low, ours.high)]
        if ends != [found, found]:
            return Verdict.UNTESTABLE, told
    return _holds(found), told


def _spans(claim: Claim) -> bool:
    """Whether the claim is of the two ends of a range of gains."""
    return isinstance(claim.test, Ratio) and claim.test.spans


def _against(band: Callable[[float], bands.Band], printed: float) -> Callable[[float], int]:
    """Where a printed number lies against the band of a mean: -1 below it, 0 in it, 1 above it."""

    def where(mean: float) -> int:
        at = band(mean)
        return 0 if at.holds(printed) else -1 if printed < at.low else 1

    return where


def _far_off(c: _Context, where: Callable[[float], int]) -> bool:
    """Whether a printed number lies beyond the bands of both ends of our interval, on one side.

    Then it differs, however wide the interval is.
    """
    tested = c.intervals()[0]
    return {where(tested.low), where(tested.high)} in ({-1}, {1})


def _in_range(c: _Context, expected: Expected) -> tuple[Verdict, str]:
    """A range holds where the whole interval lies in it, and differs where the whole interval lies beyond an end."""
    low = -math.inf if expected.low is None else expected.low
    high = math.inf if expected.high is None else expected.high
    tested = c.intervals()[0]
    ours = (tested.mean, tested.mean) if c.claim.is_computed else (tested.low, tested.high)
    if low <= ours[0] and ours[1] <= high:
        return Verdict.HOLDS, "inside"
    if ours[1] < low or ours[0] > high:
        return Verdict.DIFFERS, "outside"
    return Verdict.UNTESTABLE, "across an end of"


def _band_at(c: _Context, expected: Expected, mean: float) -> bands.Band:
    """The printed numbers that a mean of ours may stand for."""
    assert expected.value is not None
    if expected.band is not None:
        return bands.Band(mean - expected.band, mean + expected.band, expected.band_reason)
    return bands.of_value(expected.value, mean, c.claim.unit)


def _largest(c: _Context, printed: float) -> tuple[Verdict, str]:
    """A printed largest of n runs is one draw: it is to lie where 95 % of such draws from our runs do."""
    n, single = c.claim.largest_of, c.single[0]
    low, high = stats.largest_of_range(single, n)
    told = f"the largest of {n} runs lies from {low:.4g} to {high:.4g}{c.unit} in 95 % of draws from our {c.runs}"
    told += f", on average at {c.show(c.estimates[0])}; printed {printed:g}{c.unit}"
    return _holds(low <= printed <= high), told


def _picked(c: _Context, expected: Expected) -> tuple[Verdict, str]:
    """One run that the source picked: ours are to reach as far, by the usual tolerance of each."""
    n, single, unit = c.claim.one_of, c.single[0], c.claim.unit
    if (printed := expected.value) is None:
        alike = sum(bands.inside(expected, float(x)) for x in single)
    else:
        found = [bands.of_value(printed, float(x), unit) for x in single]
        alike = min(sum(printed >= band.low for band in found), sum(printed <= band.high for band in found))
    told = f"our {c.runs} runs lie from {single.min():.4g} to {single.max():.4g}{c.unit}, and {alike} of them "
    told += f"{'inside' if printed is None else 'as far out as'} what was printed of the run picked, "
    told += f"{bands.printed_text(expected)}{c.unit}"
    if alike:
        return Verdict.HOLDS, told
    if c.runs < stats.even_chance_runs(n):
        return Verdict.UNTESTABLE, told
    return Verdict.DIFFERS, f"{told}: less than an even chance of one among {n}"


def _ratio(c: _Context, expected: Expected) -> tuple[Verdict, str]:
    ours = c.estimates[0]
    tested = c.intervals()[0]
    told = f"measured a gain of {c.show(ours)} against the printed {bands.printed_text(expected)}{c.unit}"
    if expected.value is None:
        verdict, how = _in_range(c, expected)
        return verdict, f"{told}: {how}"
    if not c.is_narrow(c.claim.quantities()[0], ours):
        half = bands.of_gain(expected.value) if expected.band is None else expected.band
        where = _against(lambda mean: bands.Band(mean - half, mean + half, ""), expected.value)
        return (Verdict.DIFFERS, f"{told}, by the whole interval") if _far_off(c, where) else c.too_wide()
    verdict = _gain_verdict(expected.value, tested, expected.band)
    if verdict is Verdict.UNTESTABLE:
        return verdict, f"{told}, and zero lies in the interval"
    return verdict, told


def _gain_verdict(printed: float, ours: Estimate, band: float | None) -> Verdict:
    within = abs(ours.mean - printed) <= (bands.of_gain(printed) if band is None else band)
    if not within:
        return Verdict.DIFFERS
    if ours.low <= 0 <= ours.high:
        return Verdict.UNTESTABLE
    return _holds((ours.mean > 0) == (printed > 0))


def _span(c: _Context, expected: Expected) -> tuple[Verdict, str]:
    """The smallest and the largest of our gains against the two ends of the printed range."""
    assert expected.low is not None
    assert expected.high is not None
    tested = c.intervals()
    least = min(tested, key=lambda e: e.mean)
    most = max(tested, key=lambda e: e.mean)
    shown = sorted(c.estimates, key=lambda e: e.mean)
    told = f"gains from {c.show(shown[0])} to {c.show(shown[-1])}"
    told += f" against the printed {bands.printed_text(expected)}{c.unit}"
    ends = {_gain_verdict(expected.low, least, None), _gain_verdict(expected.high, most, None)}
    return _worst(ends), told


def _crossed(c: _Context, test: Crossing) -> tuple[float, float, int]:
    """The last x where the limit was shown not to be passed, the first where it was, and how many lie open between.

    In the claim's unit; infinite where the sweep has no such point.
    """
    xs = [(q.x or 0.0) / quantity.in_base(c.claim.unit) for q in c.claim.lines[0].quantities]
    last, open_ = -math.inf, 0
    for x, e in zip(xs, c.intervals(), strict=True):
        passed, beyond = (
            (e.high < test.limit, e.low > test.limit) if test.below else (e.low > test.limit, e.high < test.limit)
        )
        if passed:
            return last, x, open_
        last, open_ = (x, 0) if beyond else (last, open_ + 1)
    return last, math.inf, open_


def _crossing(c: _Context, test: Crossing) -> tuple[Verdict, str]:
    last, first, open_ = _crossed(c, test)
    e, band = test.expected, test.expected.band or 0.0
    low, high = (e.low, e.high) if e.value is None else (e.value - band, e.value + band)
    side = f"{'below' if test.below else 'above'} {test.limit:g}{_unit(test.unit)}"
    told = f"shown to be {side} from {first:g}{c.unit} on" if math.isfinite(first) else f"nowhere shown to be {side}"
    told += f", and not yet at {last:g}{c.unit}" if math.isfinite(last) else ", and at no x shown not to be"
    told += f"; printed {bands.printed_text(e)}{c.unit}"
    if (low is not None and low > first) or (high is not None and high <= last):
        return Verdict.DIFFERS, told
    if not (math.isfinite(last) and math.isfinite(first)):
        return Verdict.UNTESTABLE, f"{told}, beyond the sweep"
    return Verdict.UNTESTABLE if open_ else Verdict.HOLDS, told


# ------------------------------------------------------------------------------------------------- order and trend


def _step(new: Floats, old: Floats, alpha: float) -> tuple[Verdict, Estimate]:
    """Whether `new` lies above `old` (holds), below it or equal to it (differs), or neither was shown.

    With it the difference, and its usual interval of 95 %. Where that alone lies above 0 the two are not called equal,
    however close they are: more runs may show the order.
    """
    difference, tested = stats.difference(new, old), stats.difference(new, old, 1 - alpha)
    if tested.low > 0:
        return Verdict.HOLDS, difference
    if tested.high < 0 or (difference.low <= 0 and _shown_equal(new, old, alpha)):
        return Verdict.DIFFERS, difference
    return Verdict.UNTESTABLE, difference


def _shown_equal(a: Floats, b: Floats, alpha: float) -> bool:
    """Whether the two are shown to lie within 2 % of the larger."""
    scale = EQUAL_WITHIN * max(abs(float(a.mean())), abs(float(b.mean())))
    return stats.equivalence_p(a - b, scale) < alpha or not np.any(a - b)


def _order(c: _Context, test: Order) -> tuple[Verdict, str]:
    sign, mark = (-1.0, "<") if test.lowest_first else (1.0, ">")
    mark += "=" if test.or_equal else ""
    verdicts, told = [], []
    for line, columns, _ in c.lines():
        steps = []
        for (first, a), (second, b) in pairwise(zip(line.quantities, columns, strict=True)):
            verdict, difference = _step(sign * a, sign * b, c.alpha)
            if test.or_equal and verdict is not Verdict.HOLDS and _shown_equal(a, b, c.alpha):
                verdict = Verdict.HOLDS
            verdicts.append(verdict)
            shown = {Verdict.HOLDS: mark, Verdict.DIFFERS: f"not {mark}", Verdict.UNTESTABLE: "?"}[verdict]
            steps.append(f"{first.label} {shown} {second.label} (by {c.show(difference)})")
        told.append(f"{line.label}: {'; '.join(steps)}" if line.label else "; ".join(steps))
    return _worst(verdicts), "; ".join(told)


def _trend(c: _Context, test: Trend) -> tuple[Verdict, str]:
    rule = _flat if test.direction == "flat" else _monotone
    verdicts, told = [], []
    for line, columns, estimates in c.lines():
        verdict, sentence = rule(c, test, columns, estimates)
        verdicts.append(verdict)
        told.append(f"{line.label}: {sentence}" if line.label else sentence)
    return _worst(verdicts), "; ".join(told)


def _monotone(
    c: _Context, test: Trend, columns: Sequence[Floats], estimates: Sequence[Estimate]
) -> tuple[Verdict, str]:
    up = test.direction == "increases"
    told = f"from {c.show(estimates[0])} to {c.show(estimates[-1])}"
    if len(columns) == 2:
        new, old = (columns[1], columns[0]) if up else (columns[0], columns[1])
        return _step(new, old, c.alpha)[0], told
    if c.claim.is_computed:  # no chance in it to test against
        return _worst([_step(*((b, a) if up else (a, b)), c.alpha)[0] for a, b in pairwise(columns)]), told
    page = stats.page_trend(np.column_stack(columns))
    along, against = (page.p_up, page.p_down) if up else (page.p_down, page.p_up)
    told += f", Page's L = {page.l:g}, {_p(along)}"
    if along < c.alpha:
        return Verdict.HOLDS, told
    level = EQUAL_WITHIN * max(abs(e.mean) for e in estimates)
    if against < c.alpha or (along >= stats.ALPHA and _shown_flat(columns, level, c.alpha)):
        return Verdict.DIFFERS, told
    return Verdict.UNTESTABLE, told


def _flat(c: _Context, test: Trend, columns: Sequence[Floats], estimates: Sequence[Estimate]) -> tuple[Verdict, str]:
    assert test.margin is not None
    means = [e.mean for e in estimates]
    spread = max(means) - min(means)
    told = f"varies by {spread:.3g}{_points(c)} over x, margin {test.margin:g}{_points(c)}"
    if _shown_flat(columns, test.margin, c.alpha):
        return Verdict.HOLDS, told
    if _shown_apart(columns, test.margin, c.alpha):
        return Verdict.DIFFERS, told
    return Verdict.UNTESTABLE, told


def _points(c: _Context) -> str:
    return " points" if c.claim.unit == "%" else c.unit


def _shown_flat(columns: Sequence[Floats], margin: float, alpha: float) -> bool:
    """Every pair equal within the margin: all tests must pass, so their level needs no correction."""
    return all(stats.equivalence_p(a - b, margin) < alpha for a, b in combinations(columns, 2))


def _shown_apart(columns: Sequence[Floats], margin: float, alpha: float) -> bool:
    """Some pair further apart than the margin, at a level divided by the number of pairs (Bonferroni)."""
    pairs = list(combinations(columns, 2))
    level = 1 - alpha / len(pairs)
    intervals = [stats.difference(a, b, level) for a, b in pairs]
    return any(d.low > margin or d.high < -margin for d in intervals)


# ----------------------------------------------------------------------------------------------------------- shape


def _peak(c: _Context, test: Shape) -> tuple[Verdict, str]:
    """On every line the quantity at the named x lies above each other one."""
    assert test.at is not None
    verdicts, told = [], []
    for line, columns, estimates in c.lines():
        others = [i for i in range(len(columns)) if i != test.at]
        verdicts += [_step(columns[test.at], columns[i], c.alpha)[0] for i in others]
        best = max(range(len(columns)), key=lambda i: estimates[i].mean)
        told.append(f"{line.label or 'the line'} is highest at {line.quantities[best].label}")
    return _worst(verdicts), "; ".join(told)


def _close(c: _Context, test: Shape) -> tuple[Verdict, str]:
    """Lines, two by two, are equal within the margin at every x."""
    assert test.margin is not None
    lines = c.lines()
    pairs, told = [], []
    for (first, a, _), (second, b, _) in zip(lines[::2], lines[1::2], strict=True):
        points = [(x, y, _margin_at(test, x, y)) for x, y in zip(a, b, strict=True)]
        if test.relative:
            shares = [test.margin * abs(float((x - y).mean())) / m if m else 0.0 for x, y, m in points]
            by = f"{100 * max(shares):.3g} %, margin {100 * test.margin:g} %"
        else:
            by = f"{max(abs(float((x - y).mean())) for x, y, _ in points):.3g}{_points(c)}, margin {test.margin:g}"
        told.append(f"{first.label} and {second.label} differ by up to {by}")
        pairs += points
    reason = "; ".join(told)
    if all(stats.equivalence_p(x - y, m) < c.alpha or not np.any(x - y) for x, y, m in pairs):
        return Verdict.HOLDS, reason
    level = 1 - c.alpha / len(pairs)
    differences = [(stats.difference(x, y, level), m) for x, y, m in pairs]
    return Verdict.DIFFERS if any(d.low > m or d.high < -m for d, m in differences) else Verdict.UNTESTABLE, reason


def _margin_at(test: Shape, a: Floats, b: Floats) -> float:
    """A close claim's margin at one x, in the claim's unit."""
    assert test.margin is not None
    return test.margin * max(abs(float(a.mean())), abs(float(b.mean()))) if test.relative else test.margin


SHAPES: dict[str, Callable[[_Context, Shape], tuple[Verdict, str]]] = {"close": _close, "peak": _peak}
"""The tests a `shape` claim can name."""


# --------------------------------------------------------------------------------------------------------- together


def _holds(truth: bool) -> Verdict:
    return Verdict.HOLDS if truth else Verdict.DIFFERS


def _worst(verdicts: Sequence[Verdict] | set[Verdict]) -> Verdict:
    """All must hold; one that differs decides; else one that was not shown keeps the whole open."""
    return next((v for v in (Verdict.DIFFERS, Verdict.UNTESTABLE) if v in verdicts), Verdict.HOLDS)


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
