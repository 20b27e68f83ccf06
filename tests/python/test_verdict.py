"""The verdict engine on samples made for it: every kind of claim, every verdict, every edge of a band."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from interlayer.measure.support import AMOUNT, ANY, Support
from interlayer.study.experiment import Cell, Claim, Expected, Gain, Line, Order, Quantity, Ratio, Shape, Trend, Value
from interlayer.study.verdict import Verdict, judge, judge_columns

if TYPE_CHECKING:
    from interlayer.measure.stats import Floats

HOLDS, DIFFERS, UNTESTABLE = Verdict.HOLDS, Verdict.DIFFERS, Verdict.UNTESTABLE
KIND: Any = {Value: "value", Ratio: "ratio", Order: "order", Trend: "trend", Shape: "shape"}


@dataclass
class Made:
    """Samples by a quantity's label."""

    columns: dict[str, Floats] = field(default_factory=dict)
    supports: dict[str, Support] = field(default_factory=dict)

    def sample(self, q: Quantity, metric: str, unit: str) -> Floats:
        return self.columns[q.label]

    def support(self, q: Quantity, metric: str, unit: str) -> Support:
        return self.supports.get(q.label, ANY)


def spread(mean: float, half_width: float = 0.0, n: int = 10, seed: int = 0) -> Floats:
    """A sample of exactly this mean and this 95 % half-width."""
    from interlayer.measure.stats import t_quantile

    noise = np.random.default_rng(seed).normal(size=n)
    noise -= noise.mean()
    if half_width:
        noise *= half_width / (t_quantile(0.975, n - 1) * noise.std(ddof=1) / np.sqrt(n))
    else:
        noise[:] = 0.0
    return mean + noise


A, B = Cell("a", (0,)), Cell("b", (0,))


def claim(test: Any, lines: list[list[str]], unit: str = "Mb/s", gain: bool = False) -> Claim:
    term = Gain(A, B) if gain else A
    made = tuple(Line(f"line {i}", tuple(Quantity(label, (term,)) for label in line)) for i, line in enumerate(lines))
    return Claim("x#1", "text", KIND[type(test)], "number", "flow.0.m", unit, test, made)


def verdict_on(test: Any, columns: dict[str, Floats], *, unit: str = "Mb/s", gain: bool = False) -> Verdict:
    return judge(claim(test, [list(columns)], unit, gain), Made(columns)).verdict


# ----------------------------------------------------------------------------------------------------------- value


@pytest.mark.parametrize(
    ("printed", "mean", "unit", "verdict"),
    [
        (6.09, 6.00, "Mb/s", HOLDS),
        (6.60, 6.00, "Mb/s", HOLDS),  # exactly 10 % of our mean
        (6.61, 6.00, "Mb/s", DIFFERS),
        (5.39, 6.00, "Mb/s", DIFFERS),
        (0.90, 0.92, "1", HOLDS),  # an index: ± 0.02
        (0.90, 0.93, "1", DIFFERS),
        (2.0, 2.99, "%", HOLDS),  # a rate below 5 %: a factor of 1.5
        (2.0, 3.01, "%", DIFFERS),
        (2.0, 1.33, "%", DIFFERS),
        (6.0, 7.0, "%", DIFFERS),  # a rate above: 10 %
        (0.03, 0.044, "1", HOLDS),
        (0.03, 0.046, "1", DIFFERS),
        (1.8, 1.95, "1", HOLDS),  # a ratio above 1 is no index in [0, 1]: 10 %
        (1.8, 2.01, "1", DIFFERS),
    ],
)
def test_value_within_its_band(printed: float, mean: float, unit: str, verdict: Verdict) -> None:
    # 10 % of 6 is 0.6000000000000001 in doubles, which is as good an edge as any.
    assert verdict_on(Value(Expected(printed)), {"m": spread(mean)}, unit=unit) is verdict


@pytest.mark.parametrize(
    ("low", "high", "mean", "verdict"),
    [(5.0, 6.0, 5.5, HOLDS), (5.0, 6.0, 6.1, DIFFERS), (5.0, None, 99.0, HOLDS), (None, 6.0, 6.1, DIFFERS)],
)
def test_value_in_a_printed_range(low: float | None, high: float | None, mean: float, verdict: Verdict) -> None:
    assert verdict_on(Value(Expected(low=low, high=high)), {"m": spread(mean)}) is verdict


@pytest.mark.parametrize(
    ("low", "high", "mean", "half_width", "verdict"),
    [
        (5.0, 6.0, 5.9, 0.2, UNTESTABLE),  # the mean is inside, the interval is not
        (5.0, 6.0, 6.1, 0.2, UNTESTABLE),
        (5.0, 6.0, 5.5, 0.6, UNTESTABLE),  # wider than the range
        (5.0, None, 20.0, 14.0, HOLDS),  # wide, and wholly beyond the bound
        (None, 5.0, 20.0, 14.0, DIFFERS),
    ],
)
def test_a_range_is_held_by_the_interval_and_not_by_the_mean(
    low: float | None, high: float | None, mean: float, half_width: float, verdict: Verdict
) -> None:
    assert verdict_on(Value(Expected(low=low, high=high)), {"m": spread(mean, half_width)}) is verdict


def test_another_band_replaces_the_usual_one_and_is_shown_with_its_reason() -> None:
    wide = Value(Expected(7.0, band=1.5, band_reason="read off a plot"))
    found = judge(claim(wide, [["m"]]), Made({"m": spread(6.0)}))
    assert found.verdict is HOLDS
    assert found.band == "± 1.5 Mb/s: read off a plot"
    assert verdict_on(Value(Expected(7.0)), {"m": spread(6.0)}) is DIFFERS


@pytest.mark.parametrize(
    ("drops", "verdict"),
    [([0] * 10, HOLDS), ([0] * 9, UNTESTABLE), ([0] * 9 + [1], DIFFERS), ([0] * 9 + [np.nan], UNTESTABLE)],
)
def test_a_printed_zero_is_zero_in_every_run(drops: list[float], verdict: Verdict) -> None:
    columns = {"m": np.array(drops, dtype=np.float64)}
    assert verdict_on(Value(Expected(0.0)), columns, unit="packets") is verdict


def test_zero_with_a_band_of_its_own_is_a_number_like_others() -> None:
    test = Value(Expected(0.0, band=0.5, band_reason="read off a plot"))
    assert verdict_on(test, {"m": spread(0.4, 0.01)}, unit="dB") is HOLDS
    assert verdict_on(test, {"m": spread(0.6, 0.01)}, unit="dB") is DIFFERS


def test_zero_against_something_is_an_order_like_others() -> None:
    assert verdict_on(Order(lowest_first=True), {"none": spread(0.0), "some": spread(5.0, 0.1)}) is HOLDS
    assert verdict_on(Order(), {"none": spread(0.0), "none too": spread(0.0)}) is DIFFERS


@pytest.mark.parametrize(
    ("half_width", "runs", "verdict"), [(0.299, 10, HOLDS), (0.301, 10, UNTESTABLE), (0.0, 9, UNTESTABLE)]
)
def test_no_verdict_from_few_or_scattered_runs(half_width: float, runs: int, verdict: Verdict) -> None:
    assert verdict_on(Value(Expected(6.0)), {"m": spread(6.0, half_width, runs)}) is verdict


@pytest.mark.parametrize(
    ("printed", "half_width", "verdict"),
    [
        (9.0, 1.2, DIFFERS),  # 7.2 and its 10 % do not reach 9
        (7.8, 1.2, UNTESTABLE),  # 7.2 does
        (3.0, 1.2, DIFFERS),
        (6.0, 0.5, UNTESTABLE),  # not excluded, and too wide to hold
        (30.0, 7.0, DIFFERS),  # zero and less in the interval
    ],
)
def test_a_number_that_no_mean_in_a_wide_interval_matches_differs(
    printed: float, half_width: float, verdict: Verdict
) -> None:
    assert verdict_on(Value(Expected(printed)), {"m": spread(6.0, half_width)}) is verdict


def test_a_wide_interval_excludes_at_the_level_that_looks_share() -> None:
    far = claim(Value(Expected(8.2)), [["m"]])
    assert judge_columns(far, [spread(6.0, 1.2)], 0.05).verdict is DIFFERS
    assert judge_columns(far, [spread(6.0, 1.2)], 0.001).verdict is UNTESTABLE


def test_a_range_is_held_against_an_interval_inside_what_the_metric_can_be() -> None:
    # 0.2 ± 0.21 by Student; of an amount 0.2 (0.07 … 0.57): "at least 0" holds, since nothing is below it.
    columns = {"m": spread(0.2, 0.21)}
    at_least = claim(Value(Expected(low=0.0)), [["m"]])
    assert judge(at_least, Made(columns)).verdict is UNTESTABLE
    found = judge(at_least, Made(columns, {"m": AMOUNT}))
    assert found.verdict is HOLDS
    assert "0.20 (0.07 … 0.57)" in found.reason
    at_most = claim(Value(Expected(high=0.5)), [["m"]])
    assert judge(at_most, Made(columns)).verdict is HOLDS
    assert judge(at_most, Made(columns, {"m": AMOUNT})).verdict is UNTESTABLE


def test_unresolved_says_in_how_many_runs() -> None:
    found = judge(claim(Value(Expected(6.0)), [["m"]]), Made({"m": spread(6.0, 1.2, 40)}))
    assert found.reason == "not resolved in 40 runs: m 6.0 ± 1.2 Mb/s"


def test_an_undefined_metric_is_untestable() -> None:
    assert verdict_on(Value(Expected(6.0)), {"m": np.full(10, np.nan)}) is UNTESTABLE


def test_an_index_needs_only_a_hundredth() -> None:
    assert verdict_on(Value(Expected(0.10)), {"m": spread(0.10, 0.0099)}, unit="1") is HOLDS
    assert verdict_on(Value(Expected(0.10)), {"m": spread(0.10, 0.0101)}, unit="1") is UNTESTABLE


def test_value_reason_has_the_numbers() -> None:
    found = judge(claim(Value(Expected(5.08)), [["m"]]), Made({"m": spread(4.3, 0.012)}))
    assert found.reason == "measured 4.300 ± 0.012 Mb/s against the printed 5.08 Mb/s (-15.4 %)"


@pytest.mark.parametrize(
    ("printed", "mean", "half_width", "verdict"),
    [
        # 1 - J within a factor of 1.5, and half of the last printed digit.
        (0.9996, 0.98, 0.0001, DIFFERS),  # 0.0004 against 0.02, though 0.0196 apart
        (0.9996, 0.9995, 0.00001, HOLDS),  # 0.0004 against 0.0005
        (0.9996, 0.9993, 0.00001, DIFFERS),  # 0.0004 + 0.00005 against 0.0007 / 1.5
        (0.9996, 0.9994, 0.0003, UNTESTABLE),  # 0.0006 ± 0.0003: the ends say different things
        (0.95, 0.93, 0.001, HOLDS),  # 0.05 + 0.005 against 0.07 / 1.5 = 0.047
        (0.95, 0.91, 0.001, DIFFERS),  # 0.055 against 0.06
        (0.95, 0.968, 0.001, HOLDS),  # 0.05 - 0.005 against 0.032 * 1.5
        (0.95, 0.975, 0.001, DIFFERS),
        (0.94, 0.961, 0.001, DIFFERS),  # below 0.95: 0.02
        (0.94, 0.959, 0.001, HOLDS),
    ],
)
def test_an_index_near_one_is_judged_by_what_is_left(
    printed: float, mean: float, half_width: float, verdict: Verdict
) -> None:
    sample = np.minimum(spread(mean, half_width), 1.0)
    assert verdict_on(Value(Expected(printed)), {"m": sample}, unit="1") is verdict


def test_beyond_one_it_is_no_index() -> None:
    """A ratio of 8 where 1 is printed: an index cannot be that, so the tenth of other numbers decides."""
    assert verdict_on(Value(Expected(1.0)), {"m": spread(8.04, 0.001)}, unit="1") is DIFFERS
    assert verdict_on(Value(Expected(1.0)), {"m": spread(1.05, 0.001)}, unit="1") is HOLDS
    assert verdict_on(Value(Expected(0.5)), {"m": spread(1.4, 0.001)}, unit="1") is DIFFERS


def mean_of(n: int, printed: float, sample: Floats) -> Any:
    made = Claim(
        "x#1", "text", "value", "number", "flow.0.m", "1", Value(Expected(printed)),
        (Line("", (Quantity("m", (A,)),)),), mean_of=n,
    )  # fmt: skip
    return judge(made, Made({"m": sample}))


@pytest.mark.parametrize(
    ("deviation", "printed", "verdict"),
    [
        # 40 runs, t = 2.02: a mean of 5 lies within 2.02 s sqrt(1/5 + 1/40) = 0.959 s of ours.
        (0.01, 0.829, HOLDS),  # 0.02 + 0.0096
        (0.01, 0.831, DIFFERS),
        (0.02, 0.838, HOLDS),  # 0.02 + 0.0192
        (0.02, 0.840, DIFFERS),
        (0.022, 0.80, UNTESTABLE),  # 0.0211 are more than the band of 0.02, wherever it lies
    ],
)
def test_a_printed_mean_of_n_runs_has_an_error_of_its_own(deviation: float, printed: float, verdict: Verdict) -> None:
    sample = np.array([-1.0, 1.0] * 20)
    sample *= deviation / sample.std(ddof=1)
    found = mean_of(5, printed, 0.8 + sample)
    assert found.verdict is verdict
    assert "as a mean of 5 runs may be" in found.reason
    assert found.band.endswith("and where a mean of 5 runs may lie")
    assert mean_of(0, 0.8, 0.8 + sample).verdict is HOLDS


# ----------------------------------------------------------------------------------------------------------- ratio


@pytest.mark.parametrize(
    ("printed", "mean", "half_width", "verdict"),
    [
        (20.0, 25.9, 0.5, HOLDS),  # 30 % of 20 is 6 points
        (20.0, 26.1, 0.5, DIFFERS),
        (20.0, 13.9, 0.5, DIFFERS),
        (7.0, 9.9, 0.5, HOLDS),  # 3 points are the larger
        (7.0, 10.1, 0.5, DIFFERS),
        (2.0, -0.9, 0.5, DIFFERS),  # within 3 points, but of the other sign
        (2.0, 0.5, 0.9, UNTESTABLE),  # zero in the interval
        (2.0, 1.0, 0.9, HOLDS),
        (-10.0, -12.0, 0.5, HOLDS),
        (20.0, 20.0, 1.1, UNTESTABLE),  # wider than one point and than 5 %
        (100.0, 100.0, 4.9, HOLDS),  # 5 % of a large gain
        (32.0, 97.0, 29.0, DIFFERS),  # 68 is further off than 9.6 points
        (32.0, 60.0, 20.0, UNTESTABLE),
    ],
)
def test_ratio(printed: float, mean: float, half_width: float, verdict: Verdict) -> None:
    columns = {"g": spread(mean, half_width)}
    assert verdict_on(Ratio(Expected(printed)), columns, unit="%", gain=True) is verdict


@pytest.mark.parametrize(("mean", "verdict"), [(60.0, HOLDS), (49.0, DIFFERS), (71.0, DIFFERS)])
def test_ratio_in_a_printed_range(mean: float, verdict: Verdict) -> None:
    columns = {"g": spread(mean, 0.5)}
    assert verdict_on(Ratio(Expected(low=50.0, high=70.0)), columns, unit="%", gain=True) is verdict


def test_a_printed_range_of_gains_above_zero_excludes_zero() -> None:
    columns = {"g": spread(0.6, 0.9)}
    above = judge(claim(Ratio(Expected(low=0.5, high=3.0)), [["g"]], "%", gain=True), Made(columns))
    assert above.verdict is UNTESTABLE
    assert above.reason.startswith("not resolved in 10 runs: measured a gain of 0.60 ± 0.90 %")
    assert verdict_on(Ratio(Expected(high=3.0)), columns, unit="%", gain=True) is HOLDS


@pytest.mark.parametrize(
    ("least", "most", "verdict"),
    [(19.0, 95.0, HOLDS), (19.0, 41.0, DIFFERS), (46.0, 98.0, DIFFERS)],
)
def test_ratio_spanning_a_printed_range_is_held_by_both_ends(least: float, most: float, verdict: Verdict) -> None:
    columns = {"small": spread(most, 0.5), "mid": spread(50.0, 0.5), "large": spread(least, 0.5)}
    test = Ratio(Expected(low=20.0, high=100.0), spans=True)
    assert verdict_on(test, columns, unit="%", gain=True) is verdict


# ----------------------------------------------------------------------------------------------------------- order


def common(mean: float, own: float, seed: int) -> Floats:
    """A sample with a noise common to all, and a small one of its own: paired it is sharp, unpaired it is not."""
    rng = np.random.default_rng(99)
    return mean + rng.normal(0, 0.2, 10) + np.random.default_rng(seed).normal(0, own, 10)


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((6.0, 5.9, 5.0), HOLDS),  # 0.1 apart, within each other's intervals of ± 0.14: pairing tells them apart
        ((6.0, 5.0, 5.9), DIFFERS),
        ((6.0, 6.0, 5.0), DIFFERS),  # shown equal
    ],
)
def test_order_by_paired_differences(means: tuple[float, ...], verdict: Verdict) -> None:
    columns = {f"q{i}": common(m, 0.01, i) for i, m in enumerate(means)}
    assert verdict_on(Order(), columns) is verdict


def test_order_that_noise_hides_is_untestable() -> None:
    columns = {"first": spread(6.05, 0.25, seed=1), "second": spread(6.0, 0.25, seed=2)}
    assert verdict_on(Order(), columns) is UNTESTABLE
    assert verdict_on(Order(or_equal=True), columns) is UNTESTABLE
    assert judge(claim(Order(), [list(columns)]), Made(columns)).reason.startswith(
        "not resolved in 10 runs: line 0: first ? second (by "
    )


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((6.0, 6.01), HOLDS),  # against it, and within 2 %
        ((6.0, 6.3), DIFFERS),
        ((6.3, 6.0), HOLDS),
    ],
)
def test_or_equal_is_held_within_two_percent(means: tuple[float, float], verdict: Verdict) -> None:
    columns = {f"q{i}": common(m, 0.001, i) for i, m in enumerate(means)}
    assert verdict_on(Order(or_equal=True), columns) is verdict


def test_a_difference_below_two_percent_counts_when_it_is_significant() -> None:
    assert verdict_on(Order(), {"a": common(6.06, 0.001, 1), "b": common(6.0, 0.001, 2)}) is HOLDS


def test_an_order_that_is_seen_at_five_percent_is_not_refuted_by_equality() -> None:
    # By 0.7 % ± 0.4 %: within 2 %, which is shown at 1e-4, and above 0, which is not.
    ahead, noise = np.full(10, 100.7), spread(0.0, 0.4)
    columns = {"first": ahead + noise, "second": np.full(10, 100.0)}
    for test in (Order(), Trend("x", "decreases")):
        assert judge(claim(test, [list(columns)]), Made(columns), 1e-4).verdict is UNTESTABLE
        assert judge(claim(test, [list(columns)]), Made(columns), 0.05).verdict is HOLDS
    behind = {"second": columns["second"], "first": columns["first"]}
    assert judge(claim(Order(), [list(behind)]), Made(behind), 1e-4).verdict is DIFFERS


def test_order_of_identical_samples_differs() -> None:
    assert verdict_on(Order(), {"a": spread(5.0, 0.1), "b": spread(5.0, 0.1)}) is DIFFERS


def test_lowest_first() -> None:
    columns = {"a": spread(1.0, 0.01), "b": spread(2.0, 0.01, seed=1)}
    assert verdict_on(Order(lowest_first=True), columns) is HOLDS
    assert verdict_on(Order(), columns) is DIFFERS


def test_one_step_against_the_ranking_outweighs_one_that_is_open() -> None:
    columns = {"a": spread(6.05, 0.25, seed=1), "b": spread(6.0, 0.25, seed=2), "c": spread(9.0, 0.1, seed=3)}
    assert verdict_on(Order(), columns) is DIFFERS


# ----------------------------------------------------------------------------------------------------------- trend


def along(*means: float, half_width: float = 0.05) -> dict[str, Floats]:
    return {f"x{i}": spread(m, half_width, seed=i) for i, m in enumerate(means)}


@pytest.mark.parametrize(
    ("direction", "means", "verdict"),
    [
        ("increases", (1.0, 2.0, 3.0, 4.0), HOLDS),
        ("decreases", (1.0, 2.0, 3.0, 4.0), DIFFERS),
        ("decreases", (4.0, 3.0, 2.0, 1.0), HOLDS),
        ("increases", (3.0, 3.0, 3.0, 3.0), DIFFERS),  # shown flat
        ("increases", (1.0, 2.0), HOLDS),  # two points: the paired difference
        ("increases", (2.0, 1.0), DIFFERS),
    ],
)
def test_trend(direction: Any, means: tuple[float, ...], verdict: Verdict) -> None:
    assert verdict_on(Trend("x", direction), along(*means, half_width=0.02)) is verdict


def test_trend_that_noise_hides_is_untestable() -> None:
    assert verdict_on(Trend("x", "increases"), along(3.0, 3.02, 3.0, 3.02, half_width=0.14)) is UNTESTABLE


def test_trend_must_hold_on_every_line() -> None:
    columns = along(1.0, 2.0, 3.0, half_width=0.042) | {f"y{i}": spread(3.0 - i, 0.042, seed=9 + i) for i in range(3)}
    both = claim(Trend("x", "increases"), [["x0", "x1", "x2"], ["y0", "y1", "y2"]])
    found = judge(both, Made(columns))
    assert found.verdict is DIFFERS
    assert "line 0: from 1.000 ± 0.042" in found.reason
    assert "line 1: from 3.000 ± 0.042" in found.reason


@pytest.mark.parametrize(
    ("means", "half_width", "verdict"),
    [
        ((20.0, 21.0, 22.0), 0.5, HOLDS),
        ((20.0, 24.0, 29.0), 0.5, DIFFERS),  # 9 points apart, margin 5
        ((20.0, 23.0, 25.0), 0.9, UNTESTABLE),  # 5 apart: neither within nor beyond
    ],
)
def test_flat_within_a_stated_margin(means: tuple[float, ...], half_width: float, verdict: Verdict) -> None:
    test = Trend("x", "flat", margin=5.0, margin_reason="said so")
    columns = along(*means, half_width=half_width)
    found = judge(claim(test, [list(columns)], "%", gain=True), Made(columns))
    assert found.verdict is verdict
    assert found.band == "within 5 %: said so"


# ----------------------------------------------------------------------------------------------------------- shape


@pytest.mark.parametrize(("means", "verdict"), [((1.0, 3.0, 2.0), HOLDS), ((1.0, 2.0, 3.0), DIFFERS)])
def test_peak(means: tuple[float, ...], verdict: Verdict) -> None:
    assert verdict_on(Shape("peak", at=1), along(*means)) is verdict


@pytest.mark.parametrize(
    ("offset", "half_width", "verdict"), [(0.1, 0.05, HOLDS), (0.5, 0.05, DIFFERS), (0.2, 0.1, UNTESTABLE)]
)
def test_close(offset: float, half_width: float, verdict: Verdict) -> None:
    first = along(5.0, 6.0, half_width=half_width)
    second = {f"y{i}": spread(5.0 + i + offset, half_width, seed=7 + i) for i in range(2)}
    test = Shape("close", margin=0.2, margin_reason="3 % of it")
    lines = claim(test, [list(first), list(second)])
    assert judge(lines, Made(first | second)).verdict is verdict


def test_samples_of_different_length_are_compared_over_their_common_seeds() -> None:
    long, short = common(6.0, 0.01, 1), common(5.9, 0.01, 2)
    longer = np.append(long, [60.0] * 5)
    found = judge(claim(Order(), [["a", "b"]]), Made({"a": longer, "b": short}))
    assert (found.verdict, found.runs) == (HOLDS, 10)


# ---------------------------------------------------------------------------------------- the largest, and one picked


def of_runs(test: Any, columns: dict[str, Floats], **key: int) -> Any:
    from dataclasses import replace

    return judge(replace(claim(test, [list(columns)]), **key), Made(columns))


@pytest.mark.parametrize(("printed", "verdict"), [(2.5, DIFFERS), (3.0, HOLDS), (4.0, HOLDS), (4.1, DIFFERS)])
def test_a_printed_largest_of_eight_lies_where_the_largest_of_eight_of_ours_do(
    printed: float, verdict: Verdict
) -> None:
    runs = np.linspace(0.1, 4.0, 40)  # mean 2.05; P(largest of 8 <= 2.7) = C(27,8)/C(40,8) = 2.9 %, of 2.6 2.0 %
    found = of_runs(Value(Expected(printed)), {"m": runs}, largest_of=8)
    assert found.verdict is verdict
    assert "lies from 2.7 to 4 Mb/s in 95 % of draws from our 40" in found.reason


def test_the_largest_of_eight_needs_forty_runs() -> None:
    found = of_runs(Value(Expected(3.0)), {"m": np.linspace(0.1, 3.9, 39)}, largest_of=8)
    assert found.verdict is UNTESTABLE
    assert found.reason == "not resolved in 39 runs: the largest of 8 needs 40"


def test_an_order_of_the_largest_ranks_by_the_tail_and_not_by_the_mean() -> None:
    steady, rare = spread(2.0, 0.05, n=40), np.where(np.arange(40) % 5 == 0, 4.0, 1.0)  # means 2.0 and 1.6
    assert of_runs(Order(), {"rare": rare, "steady": steady}, largest_of=8).verdict is HOLDS
    assert of_runs(Order(), {"steady": steady, "rare": rare}, largest_of=8).verdict is DIFFERS


@pytest.mark.parametrize(
    ("printed", "runs", "verdict"),
    [
        (3.0, 10, HOLDS),  # ours from 2.0 to 2.9, and 3.0 is within 10 % of that
        (2.4, 10, HOLDS),
        (3.5, 34, UNTESTABLE),  # one such among eight may still be as likely as not
        (3.5, 35, DIFFERS),
        (1.7, 35, DIFFERS),
    ],
)
def test_a_run_that_was_picked_is_one_as_ours_are(printed: float, runs: int, verdict: Verdict) -> None:
    found = of_runs(Value(Expected(printed)), {"m": np.linspace(2.0, 2.9, runs)}, one_of=8)
    assert found.verdict is verdict
    assert f"our {runs} runs lie from 2 to 2.9 Mb/s" in found.reason


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(2.8, 9.0, HOLDS), (None, 2.0, HOLDS), (3.0, None, DIFFERS), (None, 1.9, DIFFERS)]
)
def test_of_a_run_that_was_picked_a_range_may_be_printed(
    low: float | None, high: float | None, verdict: Verdict
) -> None:
    runs = {"m": np.linspace(2.0, 2.9, 35)}
    assert of_runs(Value(Expected(low=low, high=high)), runs, one_of=8).verdict is verdict
