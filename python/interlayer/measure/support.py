"""What values a metric can have at all, and an interval of its mean that stays inside.

Student's interval, m ± h, is symmetric. Beside an end of the support it leaves it (a goodput of 0.0038 ± 0.0040), and
where a sample is skewed towards that end it misses the mean too often. There the interval is made on a scale that has
no end, log(m - low) or the log-odds of m between two ends, by the delta method: the scale's slope at m turns h into a
half-width on it. The interval has m inside, both ends inside the support, and depends on m, h and the number of runs
alone. Of the intervals that were tried it had the best coverage for its width from five runs on (docs/verdicts.md).

Sources: @CB02 Casella and Berger, "Statistical Inference", 2nd ed., sec. 5.5.4 (delta method), 9.2 (intervals under a
change of scale).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEAR = 0.25
"""So long a half-width, as a share of the distance to the nearest end, is changed by the scale: by an eighth of it."""
FEWEST = 5
"""Runs from which the delta method is used; of fewer Student's interval is cut at the support."""
_ROUNDING = 1e-9
_MOST = 700.0
"""On the scale, as long as a double can be brought back from it."""


@dataclass(frozen=True, slots=True)
class Support:
    """The values from `low` to `high`, ends included."""

    low: float = -math.inf
    high: float = math.inf

    def scaled(self, factor: float) -> Support:
        """The same support in another unit."""
        ends = sorted(_times(end, factor) for end in (self.low, self.high))
        return Support(ends[0], ends[1])

    def holds(self, value: float) -> bool:
        """Whether a metric may have this value, rounding left out."""
        slack = _ROUNDING * max(1.0, abs(value))
        return self.low - slack <= value <= self.high + slack

    def interval(self, mean: float, half: float, runs: int) -> tuple[float, float] | None:
        """The ends of the interval of a mean with Student's half-width; None where mean - half, mean + half serves.

        Also None for a mean that is not of this support at all, or not finite.
        """
        if not (math.isfinite(mean) and math.isfinite(half)) or half == 0.0 or not self.holds(mean):
            return None
        below, above = mean - self.low, self.high - mean
        nearest = min(below, above)
        if half <= (nearest if runs < FEWEST else NEAR * nearest):
            return None
        if runs < FEWEST or nearest <= 0.0:  # all of the sample at the end, but for rounding
            return max(self.low, mean - half), min(self.high, mean + half)
        if math.isinf(above):
            by = min(half / below, _MOST)
            return self.low + below * math.exp(-by), self.low + below * math.exp(by)
        if math.isinf(below):
            by = min(half / above, _MOST)
            return self.high - above * math.exp(by), self.high - above * math.exp(-by)
        width, by = self.high - self.low, min(half * (1.0 / below + 1.0 / above), _MOST)
        return (
            self.low + width / (1.0 + above / below * math.exp(by)),
            self.high - width / (1.0 + below / above * math.exp(by)),
        )


def _times(end: float, factor: float) -> float:
    return 0.0 if end == 0.0 else end * factor


ANY = Support()
"""Whatever: differences, gains, formulas, correlations of what is not known."""
AMOUNT = Support(low=0.0)
"""Rates, times, bytes, packets, counts, and ratios of them."""
SHARE = Support(0.0, 1.0)
CORRELATION = Support(-1.0, 1.0)


def index_of(rows: int) -> Support:
    """Jain's index of so many rows: 1/n where one has all."""
    return Support(1.0 / max(1, rows), 1.0)
