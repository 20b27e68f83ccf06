"""What a printed number may differ by from ours, and still be called the same.

The rules are one for all papers; `docs/verdicts.md` gives the reasons. A band is the interval of printed numbers that
our mean may stand for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlayer.measure import stats

from .experiment import Claim, Crossing, Expected, Order, Ratio, Shape, Trend, Value

if TYPE_CHECKING:
    from interlayer.measure.stats import Floats

EQUAL_WITHIN = 0.02
"""Two means this close, as a share of the larger, are called equal when shown so."""
SHARE = 0.1
"""What a printed number may differ by as a share of ours, where no other rule is for it."""
FACTOR = 1.5
"""What a rate below 5 % may differ by, and what is left of an index to 1."""
NEAR_ONE = 0.95
"""A printed index from here on is judged by what it leaves to 1."""


@dataclass(frozen=True, slots=True)
class Band:
    """The printed numbers that our mean may stand for, and the rule in words."""

    low: float
    high: float
    rule: str

    def widened(self, by: float) -> Band:
        """The band with `by` added at both ends."""
        return Band(self.low - by, self.high + by, self.rule)

    @property
    def half(self) -> float:
        """Half of its width."""
        return (self.high - self.low) / 2

    def holds(self, printed: float) -> bool:
        return self.low <= printed <= self.high


def is_near_one(printed: float, unit: str) -> bool:
    """Whether a printed number is an index so near to 1 that 1 - J says more than J."""
    return unit == "1" and NEAR_ONE <= printed <= 1


def of_value(printed: float, mean: float, unit: str) -> Band:
    """The band of a printed number around our mean."""
    if (unit == "%" and 0 <= printed < 5) or (unit == "1" and 0 <= printed < 0.05):
        return Band(mean / FACTOR, mean * FACTOR, "a factor of 1.5 (a rate below 5 %)")
    if is_near_one(printed, unit) and mean <= 1:  # beyond 1 it is no index
        left, rounding = max(0.0, 1 - mean), half_last_digit(printed)
        rule = f"1 - J within a factor of 1.5, and half of the last printed digit, {rounding:g}"
        return Band(1 - FACTOR * left - rounding, 1 - left / FACTOR + rounding, rule)
    if unit == "1" and 0 <= printed <= 1 and mean <= 1:
        return Band(mean - 0.02, mean + 0.02, "0.02 (an index)")
    return Band(mean - SHARE * abs(mean), mean + SHARE * abs(mean), f"{100 * SHARE:g} % of our mean")


def half_last_digit(printed: float) -> float:
    """Half a unit of the last printed digit of an index, two digits at least: 0.005 for 0.95, 0.00005 for 0.9996."""
    decimals = len(repr(printed).partition(".")[2])
    return 0.5 * 10.0 ** -max(2, decimals)


def of_gain(printed: float) -> float:
    """How far a printed gain may lie from ours, in points."""
    return max(3.0, 0.3 * abs(printed))


def prediction(column: Floats, n: int) -> float:
    """Half of the 95 % interval in which the mean of `n` runs like ours lies: t s sqrt(1/n + 1/runs). @LK15 sec. 4.5

    A printed mean of n runs has a sampling error of its own, beside that of ours.
    """
    runs = len(column)
    spread = float(column.std(ddof=1))
    return stats.t_quantile(1 - stats.ALPHA / 2, runs - 1) * spread * math.sqrt(1 / n + 1 / runs)


def printed_text(expected: Expected) -> str:
    """What is printed, as text."""
    if expected.value is not None:
        return f"{expected.value:g}"
    if expected.high is None:
        return f"at least {expected.low:g}"
    if expected.low is None:
        return f"at most {expected.high:g}"
    return f"{expected.low:g} to {expected.high:g}"


def inside(expected: Expected, mean: float) -> bool:
    """Whether a number lies in a printed range."""
    low = -math.inf if expected.low is None else expected.low
    high = math.inf if expected.high is None else expected.high
    return low <= mean <= high


def is_zero(claim: Claim) -> bool:
    """Whether the paper says that there is none: no drop, no timeout. A band of 10 % of zero has nothing in it."""
    return isinstance(claim.test, Value) and claim.test.expected.value == 0 and claim.test.expected.band is None


def words(claim: Claim) -> str:
    """The tolerance in words, for the report."""
    wider = f", and where a mean of {claim.mean_of} runs may lie" if claim.mean_of else ""
    match claim.test:
        case Value(expected=e) | Ratio(expected=e) if e.band is not None:
            return f"± {e.band:g} {claim.unit}: {e.band_reason}{wider}"
        case Value() if claim.largest_of:
            return f"where the largest of {claim.largest_of} of our runs lies in 95 % of draws"
        case Value() if claim.one_of:
            return f"one run of {claim.one_of}, picked: within our runs, each by its usual tolerance"
        case Value(expected=Expected(value=0)) if is_zero(claim):
            return "zero in every run"
        case Value(expected=Expected(value=None)) | Ratio(expected=Expected(value=None), spans=False):
            return "inside the printed range"
        case Value(expected=Expected(value=float() as printed)):
            return of_value(printed, printed, claim.unit).rule + wider
        case Ratio(expected=Expected(value=float() as printed)):
            return f"within {of_gain(printed):g} points, zero excluded{wider}"
        case Ratio():
            return "both ends within the larger of 3 points and 30 %, zero excluded"
        case Crossing():
            return "between the points of the sweep where it was shown not yet, and first, to be"
        case Order(or_equal=or_equal):
            of = f", of the largest of {claim.largest_of} runs (jackknife)" if claim.largest_of else ""
            also = f", or shown equal within {EQUAL_WITHIN:.0%}".replace("%", " %") if or_equal else ""
            return f"every paired difference significant{of}{also}"
        case Trend(direction="flat", margin=margin, margin_reason=reason):
            return f"within {margin:g} {claim.unit}: {reason}"
        case Trend() if claim.is_computed:
            return "every step"
        case Trend():
            return "Page's test at 5 %"
        case Shape(test="close", margin=float() as margin, margin_reason=reason, relative=True):
            return f"within {100 * margin:g} % of the larger: {reason}"
        case Shape(test="close", margin=margin, margin_reason=reason):
            return f"within {margin:g} {claim.unit}: {reason}"
        case _:
            return "above every other point, paired"
