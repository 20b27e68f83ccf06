"""The statistics every result goes through: intervals, paired comparisons, the stop rule, three tests.

A *sample* is a one-dimensional array with one number per replication, in the order of the seeds. Two samples taken
with the same seeds are *paired* (common random numbers): whatever the seed did to one arm it did to the other, so
differences are far sharper than the two means. All intervals are Student-t at 95 % unless a level is given; that of a
metric stays inside what the metric can be (`support`).

Sources: @LK15 Law, "Simulation Modeling and Analysis", 5th ed., sec. 9.4 (replications), 10.2 (paired-t), 11.2 (common
random numbers); @HOL79 Holm, Scand. J. Statist. 6 (several comparisons); @COC77 Cochran, "Sampling Techniques",
3rd ed., sec. 6 (ratio estimator); @JCH84 Jain, Chiu and Hawe, DEC TR-301 (fairness); @PAG63 Page, JASA 58 (trend);
@SCH87 Schuirmann, J. Pharmacokinet. Biopharm. 15 (equivalence); @HOE48
Hoeffding, Ann. Math. Statist. 19 (means over all subsets); @TUK58 Tukey, Ann. Math. Statist. 29, p. 614 (jackknife).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import student
from .support import ANY, Support

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

MIN_RUNS = 10
"""Replications a verdict needs at least."""
RELATIVE_HALF_WIDTH = 0.05
"""Widest 95 % half-width a verdict may rest on, as a share of the mean."""
INDEX_HALF_WIDTH = 0.01
"""The same for indices in [0, 1], absolute."""
ALPHA = 0.05
"""Level of every test."""


def plain(x: float, digits: int = 4) -> str:
    """A number as tables show it: `digits` significant ones, an integer whole; no exponent, no thousands separator."""
    if not math.isfinite(x):
        return "–"
    if x == int(x):
        return str(int(x))
    if abs(x) >= 10 ** (digits - 1):
        return f"{x:.0f}"
    return np.format_float_positional(x, precision=digits, fractional=False, trim="-")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` replications; `half_width` is that of its 95 % interval by Student's t, None for a single run.

    `ends` are those of the interval where mean - half_width, mean + half_width would leave what the metric can be, or
    nearly so (`support`); None where the symmetric one serves.
    """

    mean: float
    half_width: float | None
    n: int
    ends: tuple[float, float] | None = None

    @property
    def low(self) -> float:
        """Lower end of the interval; minus infinity when one run gives none."""
        if self.ends is not None:
            return self.ends[0]
        return -math.inf if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval; infinity when one run gives none."""
        if self.ends is not None:
            return self.ends[1]
        return math.inf if self.half_width is None else self.mean + self.half_width

    def scaled(self, factor: float) -> Estimate:
        """The same estimate in another unit."""
        half = None if self.half_width is None else self.half_width * abs(factor)
        ends = None if self.ends is None else sorted(end * factor for end in self.ends)
        return Estimate(self.mean * factor, half, self.n, None if ends is None else (ends[0], ends[1]))

    def as_json(self) -> dict[str, Any]:
        """`mean` and `ci95`, the half-width; with `ends` their `ci95_low` and `ci95_high` too."""
        found = {"mean": self.mean, "ci95": self.half_width}
        return found if self.ends is None else found | {"ci95_low": self.ends[0], "ci95_high": self.ends[1]}

    @classmethod
    def read(cls, value: Mapping[str, Any], n: int = 0) -> Estimate:
        """What `as_json` wrote; a mean of None is nan."""
        mean = math.nan if value["mean"] is None else value["mean"]
        ends = (value["ci95_low"], value["ci95_high"]) if "ci95_low" in value else None
        return cls(mean, value["ci95"], n, ends)

    def _repr_html_(self) -> str:
        return f"{self} ({self.n} runs)" if self.n > 1 else str(self)

    def __str__(self) -> str:
        """`5.086 ± 0.012`, or with ends of its own `0.94 (0.83 … 0.98)`.

        Two digits of the half-width (with ends: of the shorter side), five of the mean at most, whole numbers whole.
        """
        if not math.isfinite(self.mean):
            return "–"
        if self.half_width is None or not math.isfinite(self.half_width):
            return plain(self.mean)
        if self.half_width == 0:
            return f"{plain(self.mean)} ± 0"
        if self.ends is not None:
            side = min(self.mean - self.ends[0], self.ends[1] - self.mean)
            digits = self._digits(side if side > 0 else self.half_width)
            low, high = (f"{end:.{digits}f}" for end in self.ends)
            if low != high:
                return f"{self.mean:.{digits}f} ({low} … {high})"
        digits = self._digits(self.half_width)
        return f"{self.mean:.{digits}f} ± {self.half_width:.{digits}f}"

    def _digits(self, width: float) -> int:
        """Decimals that show two digits of `width` and no more than five of the mean."""
        whole = math.floor(math.log10(abs(self.mean))) if self.mean else 0
        return max(0, min(1 - math.floor(math.log10(width)), 4 - whole))


def finite(e: Estimate) -> bool:
    """Whether there is a mean at all: not where no run has the number."""
    return math.isfinite(e.mean)


def largest_of(sample: Floats, n: int) -> float:
    """The largest of `n` runs, expected: its mean over all subsets of `n` of the sample (unbiased, @HOE48).

    As the smallest is. nan for fewer than `n`, or where a run has no value.
    """
    ordered = np.sort(sample)
    return float(ordered @ _largest_weights(len(sample), n)) if len(sample) >= n else math.nan


def largest_of_range(sample: Floats, n: int) -> tuple[float, float]:
    """Between which two numbers of the sample the largest of `n` runs lies in 95 % of all subsets of `n`."""
    ordered, below = np.sort(sample), np.cumsum(_largest_weights(len(sample), n))
    low, high = (int(np.searchsorted(below, p - 1e-12)) for p in (ALPHA / 2, 1 - ALPHA / 2))
    return float(ordered[low]), float(ordered[min(high, len(ordered) - 1)])


def largest_of_pseudo(sample: Floats, n: int) -> Floats:
    """`largest_of` as one number per run, whose mean and interval are those of the jackknife (@TUK58).

    So that the largest of `n` in two arms can be compared over common seeds. nan for fewer than `n + 1` runs.
    """
    runs = len(sample)
    if runs <= n:
        return np.full(runs, np.nan)
    without = np.array([largest_of(np.delete(sample, i), n) for i in range(runs)])
    return runs * largest_of(sample, n) - (runs - 1) * without


def _largest_weights(runs: int, n: int) -> Floats:
    """Probability of each of `runs` ordered numbers to be the largest of a subset of `n`."""
    return np.array([math.comb(i, n - 1) for i in range(runs)], dtype=np.float64) / math.comb(runs, n)


def even_chance_runs(n: int) -> int:
    """Runs of which none is such as to show, at 5 %, that less than even is the chance of one such among `n`."""
    return math.ceil(n * math.log(ALPHA) / math.log(0.5))


def t_quantile(p: float, df: int) -> float:
    """Quantile of Student's t with `df` degrees of freedom."""
    return student.quantile(p, df)


def _t_cdf(t: float, df: int) -> float:
    return student.cdf(t, df)


def estimate(sample: Sequence[float] | Floats, level: float = 0.95, support: Support = ANY) -> Estimate:
    """Mean and Student-t interval of a sample, x ± t sqrt(s²/n), kept inside `support`. @LK15 eq. 4.12

    One replication has no interval; none at all is a `ValueError`.
    """
    x = np.asarray(sample, dtype=np.float64)
    if x.size == 0:
        raise ValueError("no replication to estimate from")
    # Identical numbers give exactly that number: pairwise summation may be off by the last bit.
    mean = float(x[0]) if np.all(x == x[0]) else float(x.mean())
    if x.size == 1:
        return Estimate(mean, None, 1)
    spread = 0.0 if np.all(x == x[0]) else float(x.std(ddof=1))
    half = t_quantile(0.5 + level / 2, x.size - 1) * spread / math.sqrt(x.size)
    return Estimate(mean, half, int(x.size), support.interval(mean, half, int(x.size)))


def _paired(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"paired samples need one number per common seed each: {a.shape} against {b.shape}")
    return a, b


def difference(new: Floats, old: Floats, level: float = 0.95) -> Estimate:
    """Mean of `new - old`, seed by seed, with its interval (the paired-t approach). @LK15 sec. 10.2.1"""
    new, old = _paired(np.asarray(new, float), np.asarray(old, float))
    return estimate(new - old, level)


def paired_p(new: Floats, old: Floats) -> float:
    """Two-sided p-value of the paired t-test: how likely a mean difference this large is by chance. @LK15 sec. 10.2.1

    nan for fewer than two runs or an undefined number. Without spread, 1 if all differences are zero, else 0.
    """
    new, old = _paired(np.asarray(new, float), np.asarray(old, float))
    d = new - old
    if d.size < 2 or not np.all(np.isfinite(d)):
        return math.nan
    if np.all(d == d[0]):
        return 1.0 if d[0] == 0.0 else 0.0
    return 2 * _t_cdf(-abs(float(d.mean())) / (float(d.std(ddof=1)) / math.sqrt(d.size)), int(d.size) - 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for being several: each is the level at which Holm's procedure would reject it. @HOL79

    The smallest of m is multiplied with m, the next with m - 1, ...; none gets below a smaller one, none above 1. nan
    stays nan, and counts as no test.
    """
    tested = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected, least = [math.nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(tested):
        least = max(least, min(1.0, (len(tested) - rank) * p))
        corrected[i] = least
    return corrected


def gain_per_seed(new: Floats, old: Floats) -> Floats:
    """The gain (new - old)/old as a paired sample, in fractions: shape of the inputs.

    Its mean is *exactly* the gain of the means, which is what papers print, and its spread is that of the ratio
    estimator, from the residuals new - R old. @COC77 eq. 6.13. (The mean of per-seed gains would be biased upward,
    without bound where a starved `old` comes near zero.) Raises `ZeroDivisionError` when the mean of `old` is zero.
    """
    new, old = _paired(np.asarray(new, float), np.asarray(old, float))
    base = float(old.mean())
    if base == 0.0:
        raise ZeroDivisionError("a gain over nothing: the reference's mean is zero")
    ratio = float(new.mean()) / base
    return (ratio - 1.0) + (new - ratio * old) / base


def gain(new: Floats, old: Floats) -> Estimate:
    """Gain of `new` over `old`, a fraction, with its paired interval."""
    return estimate(gain_per_seed(new, old))


def kind(shown: Iterable[Estimate]) -> str:
    """What intervals are called: Student's, and how those that are not symmetric came about."""
    return f"Student t{'; uneven near an end of what the metric can be' if any(e.ends for e in shown) else ''}"


def narrow_enough(e: Estimate, *, index: bool = False, relative: float = RELATIVE_HALF_WIDTH) -> bool:
    """Whether a verdict may rest on `e`: at least `MIN_RUNS` runs, and an interval that is narrow.

    Narrow is a half-width of at most 5 % of the mean; for an `index` (and for a gain, which is a fraction too and may
    be zero) at most 0.01 is enough as well.
    """
    if e.n < MIN_RUNS or e.half_width is None or not math.isfinite(e.mean):
        return False
    widest = relative * abs(e.mean)
    return e.half_width <= (max(widest, INDEX_HALF_WIDTH) if index else widest)


def next_runs(done: int, max_runs: int) -> int:
    """How many runs there should be after the next round: half as many again, up to `max_runs`."""
    return min(max_runs, max(MIN_RUNS, math.ceil(1.5 * done)))


def looks(first: int, max_runs: int) -> int:
    """How many rounds there are from `first` runs to `max_runs`: the most looks at a claim, which share one level."""
    n, done = 1, first
    while done < max_runs:
        n, done = n + 1, next_runs(done, max_runs)
    return n


def jain(shares: Sequence[float] | Floats) -> float:
    """Jain's index (Σx)²/(n Σx²): 1 for equal shares, 1/n when one takes all; nan when nobody gets anything. @JCH84"""
    x = np.asarray(shares, dtype=np.float64)
    squares = float(np.dot(x, x))
    return math.nan if squares == 0.0 else float(x.sum()) ** 2 / (x.size * squares)


def variation(values: Sequence[float] | Floats) -> float:
    """Coefficient of variation: standard deviation (n − 1) over mean; nan of one value, or of a mean of 0.

    Of n shares it says the same as Jain's index: 1/J = 1 + (n − 1)/n · cv².
    """
    x = np.asarray(values, dtype=np.float64)
    mean = float(x.mean())
    return math.nan if x.size < 2 or mean == 0.0 else float(x.std(ddof=1)) / mean


def correlation(xs: Sequence[float] | Floats, ys: Sequence[float] | Floats) -> float:
    """Pearson's coefficient of two columns; nan where one is constant or has no value, or of fewer than three rows."""
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    if x.size < 3 or not np.isfinite(x).all() or not np.isfinite(y).all():
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(np.dot(x, x)) * float(np.dot(y, y)))
    return math.nan if scale == 0.0 else float(np.dot(x, y)) / scale


@dataclass(frozen=True, slots=True)
class Trend:
    """Page's statistic `l` and the probability of one at least as large (`p_up`) or as small (`p_down`) by chance."""

    l: float  # noqa: E741 - Page's own name
    p_up: float
    p_down: float


def page_trend(table: Floats) -> Trend:
    """Page's test for an ordered alternative on paired samples. @PAG63 eq. 2

    `table` has a row per seed and a column per point, columns in the order of x; at least three columns. Ties share
    their mean rank. The normal approximation without continuity correction (right to the third digit of p from ten
    rows on); ties make it conservative.
    """
    table = np.asarray(table, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 3:
        raise ValueError("Page's test needs a row per seed and at least three columns")
    n, k = table.shape
    ranks = _ranks(table)
    statistic = float(ranks.sum(axis=0) @ np.arange(1, k + 1))
    mean = n * k * (k + 1) ** 2 / 4
    deviation = math.sqrt(n * k**2 * (k + 1) ** 2 * (k - 1) / 144)
    z = (statistic - mean) / deviation
    return Trend(statistic, p_up=0.5 * math.erfc(z / math.sqrt(2)), p_down=0.5 * math.erfc(-z / math.sqrt(2)))


def _ranks(table: Floats) -> Floats:
    """Ranks 1..k within each row, ties averaged: below + (equal + 1)/2."""
    below = (table[:, None, :] < table[:, :, None]).sum(axis=2)
    equal = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    return np.asarray(below + (equal + 1) / 2, dtype=np.float64)


def equivalence_p(sample: Floats, margin: float) -> float:
    """Two one-sided tests: the p-value of "the mean lies within ± margin". @SCH87

    Small means shown equal. At `p < 0.05` the 90 % interval lies inside the margin. A sample without spread gives 0 or
    1; a single run gives 1.
    """
    x = np.asarray(sample, dtype=np.float64)
    if x.size < 2:
        return 1.0
    mean, error = float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size)
    if error == 0.0:
        return 0.0 if abs(mean) < margin else 1.0
    not_below = _t_cdf(-(mean + margin) / error, x.size - 1)
    not_above = _t_cdf((mean - margin) / error, x.size - 1)
    return max(not_below, not_above)
