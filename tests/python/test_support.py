"""Intervals inside what a metric can be: by hand, by property, by coverage, and where verdicts ask for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from interlayer.measure import stats
from interlayer.measure.support import AMOUNT, ANY, NEAR, SHARE, Support, index_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlayer.measure.stats import Floats

HALF = Support(0.5, 1.0)


def test_an_amount_beside_zero_has_an_interval_of_its_logarithm_by_hand() -> None:
    # 0.0038 ± 0.0040: exp(∓ 40/38) = 0.3490, 2.8652.
    low, high = AMOUNT.interval(0.0038, 0.0040, 10) or (0, 0)
    assert (low, high) == pytest.approx((0.0013263, 0.0108879), rel=1e-4)
    assert str(stats.Estimate(0.0038, 0.0040, 10, (low, high))) == "0.0038 (0.0013 … 0.0109)"


def test_an_index_beside_one_has_an_interval_of_its_log_odds_by_hand() -> None:
    # u = 0.44/0.5 = 0.88; 0.1 (1/0.44 + 1/0.06) = 1.8939; odds 22/3 · exp(∓1.8939) = 1.1035, 48.73.
    low, high = HALF.interval(0.94, 0.10, 10) or (0, 0)
    assert low == pytest.approx(0.5 + 0.5 * 1.1035 / 2.1035, abs=1e-4)
    assert high == pytest.approx(0.5 + 0.5 * 48.73 / 49.73, abs=1e-4)
    assert str(stats.Estimate(0.94, 0.10, 10, (low, high))) == "0.940 (0.762 … 0.990)"


def test_below_an_upper_end_alone_it_is_the_mirror_image() -> None:
    low, high = AMOUNT.interval(2.0, 1.5, 10) or (0, 0)
    assert Support(high=0.0).interval(-2.0, 1.5, 10) == pytest.approx((-high, -low))


@pytest.mark.parametrize(("mean", "half"), [(5.0, 1.25), (5.0, 0.0), (math.nan, 1.0), (-3.0, 1.0), (5.0, math.nan)])
def test_far_from_an_end_or_without_a_width_or_beyond_the_support_the_symmetric_one_stays(
    mean: float, half: float
) -> None:
    assert AMOUNT.interval(mean, half, 10) is None


@pytest.mark.parametrize(
    ("half", "runs", "ends"), [(4.9, 4, None), (6.0, 4, (0.0, 11.0)), (63.5, 2, (0.0, 68.5)), (4.9, 5, "scale")]
)
def test_of_fewer_than_five_runs_students_is_cut(half: float, runs: int, ends: object) -> None:
    found = AMOUNT.interval(5.0, half, runs)
    assert found == ends if ends != "scale" else found and found[1] > 10


SAMPLES = arrays(float, st.integers(2, 12), elements=st.floats(0, 1))


@given(SAMPLES, st.sampled_from([AMOUNT, SHARE, Support(high=1.0), index_of(7)]))
def test_no_interval_leaves_the_support_and_each_has_its_mean(sample: Floats, support: Support) -> None:
    sample = np.clip(sample, support.low, support.high)
    e = stats.estimate(sample, support=support)
    slack = 1e-9
    assert support.low - slack <= e.low <= e.mean + slack
    assert e.mean - slack <= e.high <= support.high + slack
    if e.ends is None and len(sample) >= 5:
        assert (e.half_width or 0) <= NEAR * min(e.mean - support.low, support.high - e.mean) + slack


@given(SAMPLES, st.floats(0.001, 1e6))
def test_another_unit_has_the_same_interval(sample: Floats, factor: float) -> None:
    e = stats.estimate(sample, support=SHARE)
    scaled = stats.estimate(sample * factor, support=SHARE.scaled(factor))
    assert (scaled.low, scaled.high) == pytest.approx((e.scaled(factor).low, e.scaled(factor).high), rel=1e-6)


def test_a_negative_factor_turns_the_support_round() -> None:
    assert SHARE.scaled(-2.0) == Support(-2.0, 0.0)
    assert AMOUNT.scaled(-1.0) == Support(high=0.0)
    assert stats.Estimate(1.0, 1.0, 9, (0.5, 2.0)).scaled(-1.0).ends == (-2.0, -0.5)


def test_what_json_has_is_read_again() -> None:
    e = stats.Estimate(0.94, 0.1, 0, (0.76, 0.99))
    assert e.as_json() == {"mean": 0.94, "ci95": 0.1, "ci95_low": 0.76, "ci95_high": 0.99}
    assert stats.Estimate.read(e.as_json()) == e
    assert stats.Estimate(5.0, 0.1, 0).as_json() == {"mean": 5.0, "ci95": 0.1}


def test_where_the_digits_show_no_difference_the_symmetric_one_is_printed() -> None:
    assert str(stats.Estimate(0.9999996, 0.0000003, 10, (0.9999991, 0.9999998))) == "1.00000 ± 0.00000"


# ------------------------------------------------------------------------------------------------------------- coverage


def of_two(rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Jain's index of two shares."""
    shares = rng.gamma(8.0, 1.0, (*size, 2))
    return np.asarray(shares.sum(-1) ** 2 / (2 * (shares**2).sum(-1)))


CASES: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], Floats], Support]] = {
    "exponential": (lambda rng, size: rng.exponential(1.0, size), AMOUNT),
    "lognormal": (lambda rng, size: rng.lognormal(0.0, 1.0, size), AMOUNT),
    "gamma, shape 0.3": (lambda rng, size: rng.gamma(0.3, 1.0, size), AMOUNT),
    "counts around 2": (lambda rng, size: rng.poisson(2.0, size).astype(float), AMOUNT),
    "beta near 1": (lambda rng, size: rng.beta(8.0, 0.5, size), SHARE),
    "Jain of two": (of_two, HALF),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("runs", [5, 10, 20])
def test_skewed_samples_are_covered_as_often_as_by_students_interval_or_oftener(name: str, runs: int) -> None:
    # 1000 campaigns: a share near 0.9 is known to ± 0.02. docs/verdicts.md has the table with 20,000.
    draw, support = CASES[name]
    truth = float(draw(np.random.default_rng(2), (400_000, 1)).mean())
    campaigns = draw(np.random.default_rng(runs), (1000, runs))

    def coverage(of: Support) -> float:
        found = [stats.estimate(one, support=of) for one in campaigns]
        return float(np.mean([e.low <= truth <= e.high for e in found]))

    assert coverage(support) >= coverage(ANY) - 0.005
    assert coverage(support) >= {"gamma, shape 0.3": 0.86, "lognormal": 0.86}.get(name, 0.90)


def test_where_nothing_is_near_coverage_is_that_of_student() -> None:
    campaigns = np.random.default_rng(4).gamma(400.0, 1.0, (2000, 10))
    found = [stats.estimate(one, support=AMOUNT) for one in campaigns]
    assert all(e.ends is None for e in found)
    assert np.mean([e.low <= 400.0 <= e.high for e in found]) == pytest.approx(0.95, abs=0.015)
