"""Each formula with numbers worked by hand or printed in a table, and against an independent implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from interlayer.measure import stats, student

LAW_4_26 = [1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09]


@pytest.mark.parametrize(("df", "printed"), [(1, 12.706), (4, 2.776), (9, 2.262), (39, 2.023)])
def test_t_quantiles_are_those_of_the_printed_table(df: int, printed: float) -> None:
    assert stats.t_quantile(0.975, df) == pytest.approx(printed, abs=5e-4)


def test_interval_of_one_to_five_by_hand() -> None:
    # Mean 3, s² = (4 + 1 + 0 + 1 + 4)/4 = 2.5; 2.7764 sqrt(2.5/5) = 1.9632.
    e = stats.estimate([1, 2, 3, 4, 5])
    assert (e.mean, e.n) == (3, 5)
    assert e.half_width == pytest.approx(1.9632, abs=1e-4)
    assert (e.low, e.high) == pytest.approx((1.0368, 4.9632), abs=1e-4)


def test_interval_of_law_example_4_26() -> None:
    # @LK15 prints 1.34 ± 0.24 at 90 %.
    e = stats.estimate(LAW_4_26, level=0.90)
    assert (round(e.mean, 2), round(e.half_width or 0, 2)) == (1.34, 0.24)


def test_one_run_has_no_interval_and_none_is_an_error() -> None:
    assert stats.estimate([4.2]) == stats.Estimate(4.2, None, 1)
    assert stats.estimate([4.2]).high == math.inf
    with pytest.raises(ValueError, match="no replication"):
        stats.estimate([])


def test_equal_runs_have_exactly_their_value_and_no_width() -> None:
    assert stats.estimate([0.1] * 7) == stats.Estimate(0.1, 0.0, 7)


def test_interval_covers_the_mean_in_95_of_100_campaigns() -> None:
    # 4000 campaigns of 10 runs: 0.95 ± 3 sqrt(0.95 0.05/4000) = ± 0.0103.
    campaigns = np.random.default_rng(1).normal(7.0, 2.0, (4000, 10))
    covered = [abs(e.mean - 7.0) <= (e.half_width or 0) for e in map(stats.estimate, campaigns)]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.0103)


def test_paired_difference_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, s = 1, 4.3027/sqrt(3) = 2.4841.
    d = stats.difference(np.array([11.0, 22.0, 33.0]), np.array([10.0, 20.0, 30.0]))
    assert d.mean == 2
    assert d.half_width == pytest.approx(2.4841, abs=1e-4)


def test_unpaired_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="common seed"):
        stats.difference(np.ones(3), np.ones(4))


def test_gain_per_seed_by_hand() -> None:
    # Means 6 and 5, R = 1.2; residuals 6 - 4.8, 5 - 6, 7 - 7.2 over 5: 0.24, -0.2, -0.04, around 0.2.
    found = stats.gain_per_seed(np.array([6.0, 5.0, 7.0]), np.array([4.0, 5.0, 6.0]))
    assert found == pytest.approx([0.44, 0.0, 0.16])


samples = arrays(np.float64, 8, elements=st.floats(0.1, 1e9))


@given(samples, samples, st.floats(1e-3, 1e3))
def test_gain_is_that_of_the_means_in_any_unit(new: np.ndarray, old: np.ndarray, unit: float) -> None:
    ratio = new.mean() / old.mean()
    assume(ratio < 1e6)
    found = stats.gain_per_seed(new, old)
    assert found.mean() == pytest.approx(ratio - 1, rel=1e-9, abs=1e-9 * max(1, ratio))
    assert stats.gain_per_seed(new * unit, old * unit) == pytest.approx(found, rel=1e-9, abs=1e-9 * max(1, ratio))


def test_gain_interval_covers_the_true_gain() -> None:
    # A noise common to both arms, as common seeds make it, and one of its own for each; true gain 20 %.
    rng = np.random.default_rng(2)
    common, own = rng.normal(0, 0.05, (3000, 10)), rng.normal(0, 0.02, (2, 3000, 10))
    old, new = 5 * (1 + common + own[0]), 6 * (1 + common + own[1])
    intervals = [stats.gain(n, o) for n, o in zip(new, old, strict=True)]
    covered = np.mean([abs(e.mean - 0.2) <= (e.half_width or 0) for e in intervals])
    assert covered == pytest.approx(0.95, abs=0.015)
    # Pairing takes the common noise out: sqrt(2) 0.02 1.2 remains of each run, 2.26/sqrt(10) of it in the half-width.
    assert np.mean([e.half_width for e in intervals]) == pytest.approx(
        1.2 * math.sqrt(2) * 0.02 * 2.262 / 3.162, rel=0.05
    )


def test_gain_over_nothing_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        stats.gain(np.ones(10), np.zeros(10))


@pytest.mark.parametrize(
    ("mean", "half", "n", "index", "narrow"),
    [
        (5.0, 0.25, 10, False, True),  # exactly 5 %
        (5.0, 0.2501, 10, False, False),
        (5.0, 0.01, 9, False, False),  # too few
        (0.10, 0.01, 10, True, True),  # 10 % of it, but an index
        (0.10, 0.0101, 10, True, False),
        (0.10, 0.01, 10, False, False),
        (0.0, 0.0, 10, False, True),  # a counter that never moved
        (math.nan, 0.0, 10, False, False),
        (-5.0, 0.2, 10, False, True),
    ],
)
def test_stop_rule(mean: float, half: float, n: int, index: bool, narrow: bool) -> None:
    assert stats.narrow_enough(stats.Estimate(mean, half, n), index=index) is narrow


def test_one_run_is_never_narrow_enough() -> None:
    assert not stats.narrow_enough(stats.Estimate(5.0, None, 1))


def test_rounds_grow_by_half_up_to_the_limit() -> None:
    rounds = [0]
    while rounds[-1] < 40:
        rounds.append(stats.next_runs(rounds[-1], 40))
    assert rounds == [0, 10, 15, 23, 35, 40]


def test_jain_index_of_known_shares() -> None:
    assert stats.jain([3, 3, 3]) == 1
    assert stats.jain([1, 0, 0, 0]) == 0.25
    assert stats.jain([1, 2, 3]) == pytest.approx(36 / (3 * 14))
    assert math.isnan(stats.jain([0, 0]))


def test_variation_is_the_other_face_of_jains_index() -> None:
    shares = [1.0, 2.0, 3.0, 10.0]
    assert stats.variation(shares) == pytest.approx(math.sqrt(50 / 3) / 4)  # squares of −3, −2, −1, 6 over n − 1
    assert 1 / stats.jain(shares) == pytest.approx(1 + 3 / 4 * stats.variation(shares) ** 2)
    assert math.isnan(stats.variation([1.0]))
    assert math.isnan(stats.variation([0.0, 0.0]))


def test_correlation_by_hand() -> None:
    # Deviations (−1, 0, 1) and (−2, 1, 1): 3 / √(2 · 6).
    assert stats.correlation([1, 2, 3], [0, 3, 3]) == pytest.approx(3 / math.sqrt(12))
    assert stats.correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert math.isnan(stats.correlation([1, 2], [1, 2]))
    assert math.isnan(stats.correlation([1, 1, 1], [1, 2, 3]))


RATINGS = [[3, 4, 3], [2, 2, 4], [3, 3, 5], [1, 3, 2], [2, 3, 2], [2, 4, 5], [1, 2, 4], [3, 4, 4], [2, 4, 5], [1, 3, 4]]


def test_page_statistic_of_a_published_example() -> None:
    # SciPy's documentation of page_trend_test: L = 133.5; @PAG63's table for k = 3, n = 10: 131 at 0.01, 134 at 0.001.
    found = stats.page_trend(np.array(RATINGS))
    assert found.l == 133.5
    assert 0.001 < found.p_up < 0.01
    assert found.p_down == pytest.approx(1 - found.p_up)


def test_page_p_values_are_those_of_scipy() -> None:
    from scipy.stats import page_trend_test

    rng = np.random.default_rng(3)
    for k in (3, 5, 8):
        table = rng.normal(size=(12, k)) + 0.2 * np.arange(k)
        theirs = page_trend_test(table, method="asymptotic")
        ours = stats.page_trend(table)
        assert ours.l == theirs.statistic
        assert ours.p_up == pytest.approx(theirs.pvalue, rel=1e-9)
        assert stats.page_trend(table[:, ::-1]).p_down == pytest.approx(theirs.pvalue, rel=1e-9)


def test_page_finds_no_trend_in_noise_more_often_than_its_level() -> None:
    tables = np.random.default_rng(4).normal(size=(2000, 10, 5))
    false = np.mean([stats.page_trend(t).p_up < 0.05 for t in tables])
    assert false == pytest.approx(0.05, abs=0.015)


def test_page_wants_three_columns() -> None:
    with pytest.raises(ValueError, match="three columns"):
        stats.page_trend(np.ones((10, 2)))


def test_equivalence_by_hand() -> None:
    # Mean 0, s = 0.15811, error 0.070711; 0.2/0.070711 = 2.8284, above which lies 0.0237 of t with 4 degrees.
    x = np.array([0.1, -0.1, 0.2, -0.2, 0.0])
    assert stats.equivalence_p(x, 0.2) == pytest.approx(0.0237, abs=5e-5)
    assert stats.equivalence_p(x + 0.2, 0.2) == pytest.approx(0.5)


def test_equivalence_agrees_with_its_90_percent_interval() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        x = rng.normal(rng.uniform(-0.3, 0.3), 0.2, 12)
        e = stats.estimate(x, level=0.90)
        inside = e.low > -0.25 and e.high < 0.25
        assert (stats.equivalence_p(x, 0.25) < 0.05) is inside


def test_equivalence_at_its_edges() -> None:
    assert stats.equivalence_p(np.array([0.1]), 1.0) == 1.0
    assert stats.equivalence_p(np.full(5, 0.1), 0.2) == 0.0
    assert stats.equivalence_p(np.full(5, 0.3), 0.2) == 1.0


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (stats.Estimate(5.0861234, 0.0123, 10), "5.086 ± 0.012"),
        (stats.Estimate(5.0861234, None, 1), "5.086"),
        (stats.Estimate(18.965168, 1e-15, 10), "18.965 ± 0.000"),
        (stats.Estimate(3.0, 0.0, 10), "3 ± 0"),
        (stats.Estimate(1234567.0, 3200.0, 10), "1234567 ± 3200"),
        (stats.Estimate(math.nan, None, 1), "–"),
    ],
)
def test_an_estimate_shows_as_many_digits_as_its_interval_bears(estimate: stats.Estimate, text: str) -> None:
    assert str(estimate) == text


def test_the_largest_of_two_of_one_to_four_by_hand() -> None:
    # The six pairs have largest 2, 3, 3, 4, 4, 4: mean 20/6; without the first, 3, 4, 4.
    sample = np.array([3.0, 1.0, 4.0, 2.0])
    assert stats.largest_of(sample, 2) == pytest.approx(20 / 6)
    assert stats.largest_of(sample, 1) == pytest.approx(2.5)
    assert stats.largest_of(sample, 4) == 4
    assert math.isnan(stats.largest_of(sample, 5))
    assert stats.largest_of_range(sample, 2) == (2, 4)
    assert stats.largest_of_range(sample, 4) == (4, 4)
    pseudo = stats.largest_of_pseudo(sample, 2)
    # Without the one that was 1: (3 + 4 + 4)/3; in the order of the runs, 4 T - 3 T without each.
    assert pseudo[1] == pytest.approx(4 * 20 / 6 - 3 * 11 / 3)
    assert np.all(np.isnan(stats.largest_of_pseudo(sample, 4)))


def test_the_largest_of_one_is_the_mean_and_its_pseudo_values_the_runs() -> None:
    sample = np.array([0.3, 0.1, 0.7, 0.2])
    assert stats.largest_of_pseudo(sample, 1) == pytest.approx(sample)


def test_the_jackknifed_largest_of_eight_covers_that_of_an_exponential_law() -> None:
    # E max of 8 = 1 + 1/2 + ... + 1/8; in 400 campaigns the interval is a little narrow, as jackknifed ones are.
    truth = sum(1 / i for i in range(1, 9))
    campaigns = np.random.default_rng(3).exponential(size=(400, 40))
    found = [stats.estimate(stats.largest_of_pseudo(sample, 8)) for sample in campaigns]
    assert np.mean([e.mean for e in found]) == pytest.approx(truth, rel=0.03)
    assert 0.87 < np.mean([e.low <= truth <= e.high for e in found]) < 0.97


def test_runs_that_show_less_than_an_even_chance_among_eight() -> None:
    # None in N runs: p < 1 - 0.05^(1/N); an even chance among 8 has p = 1 - 0.5^(1/8) = 8.3 %.
    n = stats.even_chance_runs(8)
    assert n == 35
    assert 1 - 0.05 ** (1 / n) < 1 - 0.5 ** (1 / 8) < 1 - 0.05 ** (1 / (n - 1))


# -------------------------------------------------------------------------------------------------------- Student's t


DEGREES = (1, 2, 3, 4, 5, 9, 10, 19, 34, 52, 99, 200, 399, 400, 401, 1000)


def test_students_quantile_of_a_95_percent_interval_is_scipys_to_the_bit() -> None:
    from scipy.special import stdtrit

    for df in range(1, 401):
        assert student.quantile(0.975, df) == float(stdtrit(df, 0.975)), df
        assert student._quantile(0.975, df) == pytest.approx(float(stdtrit(df, 0.975)), rel=1e-11)


@pytest.mark.parametrize("df", DEGREES)
def test_students_distribution_is_scipys(df: int) -> None:
    from scipy.special import stdtr, stdtrit

    for t in [*np.linspace(-40, 40, 81), 1e-3, -100.0, 0.0]:
        assert student.cdf(float(t), df) == pytest.approx(float(stdtr(df, t)), rel=2e-11)
    for p in (1e-6, 0.025, 0.5, 0.6, 0.9, 0.99, 1 - 0.05 / 14):
        assert student.quantile(p, df) == pytest.approx(float(stdtrit(df, p)), rel=1e-10, abs=1e-12)


def test_students_t_at_its_ends() -> None:
    assert (student.cdf(math.inf, 3), student.cdf(-math.inf, 3), student.cdf(0.0, 3)) == (1.0, 0.0, 0.5)
    assert math.isnan(student.cdf(math.nan, 3))
    assert student.cdf(1e-8, 1) == pytest.approx(0.5 + 1e-8 / math.pi, rel=1e-15)  # Cauchy; SciPy is off by 2e-9
    assert all(math.isnan(student.quantile(p, 3)) for p in (0.0, 1.0, math.nan))
    assert math.isnan(student.quantile(0.975, 0))
