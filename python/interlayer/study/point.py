"""Whether a claim is true at the means: the rules of `verdict` without their tests, for samples and for resamples.

A verdict says what was shown. The number of true claims of a reading needs an answer for each claim, in each resample
of the seeds, also where nothing was shown: that of the means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from interlayer import quantity
from interlayer.measure import stats

from . import bands
from .experiment import Claim, Crossing, Expected, Order, Ratio, Shape, Trend, Value

if TYPE_CHECKING:
    from interlayer.measure.stats import Floats


def resampled(claim: Claim, columns: Sequence[Floats], draws: int) -> Floats:
    """1 or 0 for each of `draws` resamples of the seeds, the same draws for every claim of as many runs."""
    table = np.column_stack(columns)
    runs = len(table)
    picks = np.random.default_rng([draws, runs]).integers(runs, size=(draws, runs))
    if np.all(table == table[0]):  # nothing to draw from
        return np.full(draws, float(is_true(claim, columns)))
    means = table[picks].mean(axis=1).tolist()
    if claim.largest_of or claim.one_of or claim.mean_of or bands.is_zero(claim):  # more than the means decides
        return np.array([is_true(claim, list(table[p].T), m) for p, m in zip(picks, means, strict=True)], dtype=float)
    return np.array([is_true(claim, columns, m) for m in means], dtype=float)


def is_true(claim: Claim, columns: Sequence[Floats], means: Sequence[float] = ()) -> bool:
    """Whether the claim is true of the means of these samples; not where one is undefined."""
    means = means or [float(c.mean()) for c in columns]
    if not all(map(math.isfinite, means)):
        return False
    match claim.test:
        case Value(expected=expected):
            return _value(claim, expected, columns[0], means[0])
        case Ratio(expected=expected, spans=True):
            ends = ((expected.low, min(means)), (expected.high, max(means)))
            return all(printed is not None and _gain(printed, mean, None) for printed, mean in ends)
        case Ratio(expected=Expected(value=float() as printed, band=band)):
            return _gain(printed, means[0], band)
        case Ratio(expected=expected):
            return bands.inside(expected, means[0])
        case Crossing() as crossing:
            return _crossing(claim, crossing, means)
    lines, start = [], 0
    for line in claim.lines:
        end = start + len(line.quantities)
        lines.append(means[start:end])
        start = end
    match claim.test:
        case Order(lowest_first=lowest, or_equal=or_equal):
            slack = bands.EQUAL_WITHIN if or_equal else 0.0
            return all(_above(*((b, a) if lowest else (a, b)), slack) for line in lines for a, b in pairwise(line))
        case Trend(direction="flat", margin=float() as margin):
            return all(max(line) - min(line) < margin for line in lines)
        case Trend(direction=direction):
            return all(_along(line, direction == "increases") for line in lines)
        case Shape(test="peak", at=int() as at):
            return all(line[at] > x for line in lines for i, x in enumerate(line) if i != at)
        case Shape(margin=float() as margin, relative=relative):
            pairs = [p for a, b in zip(lines[::2], lines[1::2], strict=True) for p in zip(a, b, strict=True)]
            return all(abs(a - b) < margin * (max(abs(a), abs(b)) if relative else 1.0) or a == b for a, b in pairs)
    raise AssertionError(claim.test)


def _value(claim: Claim, expected: Expected, column: Floats, mean: float) -> bool:
    printed = expected.value
    if bands.is_zero(claim):
        return not np.any(column)
    if claim.one_of:
        if printed is None:
            return any(bands.inside(expected, float(x)) for x in column)
        found = [bands.of_value(printed, float(x), claim.unit) for x in column]
        return any(printed >= b.low for b in found) and any(printed <= b.high for b in found)
    if printed is None:
        return bands.inside(expected, mean)
    if claim.largest_of:
        if len(column) < claim.largest_of:
            return False
        low, high = stats.largest_of_range(column, claim.largest_of)
        return low <= printed <= high
    if expected.band is not None:
        band = bands.Band(mean - expected.band, mean + expected.band, "")
    else:
        band = bands.of_value(printed, mean, claim.unit)
    return band.widened(bands.prediction(column, claim.mean_of) if claim.mean_of else 0.0).holds(printed)


def _gain(printed: float, mean: float, band: float | None) -> bool:
    within = abs(mean - printed) <= (bands.of_gain(printed) if band is None else band)
    return within and (mean > 0) == (printed > 0)


def _crossing(claim: Claim, test: Crossing, means: Sequence[float]) -> bool:
    last = -math.inf
    xs = [(q.x or 0.0) / quantity.in_base(claim.unit) for q in claim.lines[0].quantities]
    for x, mean in zip(xs, means, strict=True):
        if (mean < test.limit) if test.below else (mean > test.limit):
            e, half = test.expected, test.expected.band or 0.0
            low, high = (e.low, e.high) if e.value is None else (e.value - half, e.value + half)
            return (low is None or low <= x) and (high is None or high > last)
        last = x
    return False


def _above(a: float, b: float, slack: float) -> bool:
    return a > b or abs(a - b) < slack * max(abs(a), abs(b))


def _along(line: Sequence[float], up: bool) -> bool:
    """Whether the means go this way by rank, as Page's statistic has it: above what it is without a trend."""
    ranks = [sum(y < x for y in line) + (sum(y == x for y in line) + 1) / 2 for x in line]
    k = len(line)
    tilt = sum(rank * (i + 1) for i, rank in enumerate(ranks)) - k * (k + 1) ** 2 / 4
    return tilt > 0 if up else tilt < 0
