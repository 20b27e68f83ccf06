"""Where along a range a claim is true: against claims whose truth is known in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from interlayer.measure import stats
from interlayer.study import region
from interlayer.study.region import Along, At, Place, Points
from interlayer.study.verdict import Verdict

RUNS, DRAWS = 10, 400
LOADS = 0.1, 0.9

Truth = Callable[[np.ndarray], np.ndarray]
"""Whether a claim on a mean delay is true, for delays in an array."""


def load(place: float) -> float:
    return LOADS[0] + (LOADS[1] - LOADS[0]) * place


def place_of_delay(delay: float) -> float:
    """The mean wait of an M/D/1 queue is rho / (2 (1 - rho)) services (Pollaczek and Khinchine)."""
    rho = 2 * delay / (1 + 2 * delay)
    return (rho - LOADS[0]) / (LOADS[1] - LOADS[0])


def waits(seed: int) -> Callable[[float], np.ndarray]:
    """Mean waits of some customers of an M/D/1 queue in its steady state, a number for each of RUNS seeds, by the load.

    The wait is a geometric number of residual services, each uniform in a service. The same draws serve all loads, as
    the same seeds do in a simulation.
    """
    rng = np.random.default_rng(seed)
    uniform = rng.random((RUNS, 150))
    residual = np.cumsum(rng.random((RUNS, 150, 120)), axis=2)

    def at(rho: float) -> np.ndarray:
        number = np.minimum((np.log(uniform) / np.log(rho)).astype(int), 120)
        total = np.take_along_axis(residual, np.maximum(number - 1, 0)[..., None], axis=2)[..., 0]
        return np.where(number > 0, total, 0.0).mean(axis=1)

    return at


def evaluate(seed: int, truths: Sequence[Truth]) -> tuple[region.Evaluate, list[int]]:
    """The claims at places, with an interval for their verdict, and how many places were asked."""
    sample, asked = waits(seed), [0]
    picks = np.random.default_rng(7).integers(RUNS, size=(DRAWS, RUNS))

    def at(truth: Truth, column: np.ndarray) -> At:
        e = stats.estimate(column)
        corners = truth(np.linspace(e.low, e.high, 21))
        verdict = Verdict.HOLDS if corners.all() else Verdict.UNTESTABLE if corners.any() else Verdict.DIFFERS
        return At(verdict, bool(truth(np.array([e.mean]))[0]), truth(column[picks].mean(axis=1)).astype(float))

    def found(places: Sequence[Place]) -> list[list[At]]:
        asked[0] += len(places)
        columns = [sample(load(place[0])) for place in places]
        return [[at(truth, column) for truth in truths] for column in columns]

    return found, asked


def searched(seed: int, truth: Truth) -> tuple[Points, Along]:
    ask, asked = evaluate(seed, [truth])
    points = region.search(ask, 1, RUNS)
    assert asked[0] == len(points.places) <= region.MOST[1]
    return points, region.along(points, points.for_claim(0))


def test_one_end_lies_within_its_interval_in_95_of_100() -> None:
    """A delay below one service: true up to a load of 2/3."""
    end, hits, widths = place_of_delay(1.0), 0, []
    for seed in range(100):
        points, found = searched(seed, lambda delay: delay < 1.0)
        [interval] = found.intervals
        assert interval.begin is None
        assert interval.end is not None
        assert interval.shown
        hits += interval.end.low <= end <= interval.end.high
        widths.append(interval.end.high - interval.end.low)
        assert found.verdict is Verdict.DEPENDS
        near = [x for (x,) in points.places if abs(x - interval.end.place) < 0.06]
        assert min(np.diff(near)) <= region.RESOLUTION, "the search has come as near as it can tell"
    assert hits >= 90
    assert np.median(widths) < 0.25, "an interval of the whole range would hit as well"


def test_two_disjoint_intervals_are_both_found() -> None:
    """A delay below 0.25 or from 1 to 2 services: three ends."""
    ends, hits = [place_of_delay(x) for x in (0.25, 1.0, 2.0)], np.zeros(3)
    for seed in range(100):
        _, found = searched(seed, lambda delay: (delay < 0.25) | ((delay > 1.0) & (delay < 2.0)))
        marked = [end for interval in found.intervals for end in (interval.begin, interval.end) if end is not None]
        if len(marked) == 3:
            hits += [end.low <= truth <= end.high for end, truth in zip(marked, ends, strict=True)]
    assert min(hits) >= 90


@pytest.mark.parametrize(("limit", "holds"), [(100.0, True), (0.0, False)])
def test_true_everywhere_and_true_nowhere(limit: float, holds: bool) -> None:
    for seed in range(100):
        points, found = searched(seed, lambda delay: delay < limit)
        assert found.verdict is (Verdict.HOLDS if holds else Verdict.DIFFERS)
        assert [(i.begin, i.end, i.shown) for i in found.intervals] == ([(None, None, True)] if holds else [])
        assert (found.undecided, len(points.places)) == ((), region.FIRST)


def test_what_is_undecided_is_shown_as_such() -> None:
    """A delay within its own noise of the limit all along: no interval is shown, nothing is refined for ever."""
    picks = np.random.default_rng(1).random

    def coin(places: Sequence[Place]) -> list[list[At]]:
        return [[At(Verdict.UNTESTABLE, place[0] < 0.5, (picks(DRAWS) < 0.5).astype(float))] for place in places]

    points = region.search(coin, 1, RUNS)
    found = region.along(points, points.for_claim(0))
    assert (found.verdict, found.undecided) == (Verdict.UNTESTABLE, ((0.0, 1.0),))
    assert len(points.places) == region.FIRST
    [interval] = found.intervals
    assert not interval.shown
    assert interval.end is not None
    assert (interval.end.low, interval.end.high) == (0.0, 1.0)


def test_all_together_is_true_where_each_is() -> None:
    ask, _ = evaluate(3, [lambda delay: delay < 1.0, lambda delay: delay > 0.25])
    points = region.search(ask, 1, RUNS)
    [interval] = region.along(points, points.together()).intervals
    assert interval.begin is not None
    assert interval.end is not None
    assert interval.begin.low <= place_of_delay(0.25) <= interval.begin.high
    assert interval.end.low <= place_of_delay(1.0) <= interval.end.high


def test_the_widest_gaps_come_first_where_not_all_can_be_had() -> None:
    ask, asked = evaluate(5, [lambda delay: (delay < 0.25) | (delay > 1.0)])
    points = region.search(ask, 1, RUNS, most=13)
    assert asked[0] == len(points.places) == 13
    assert max(np.diff([x for (x,) in points.places])) == pytest.approx(1 / 8)


def test_over_two_ranges_the_share_of_the_area_is_known() -> None:
    """True below the diagonal of the square, by a mean with noise: half of it."""
    hits = 0
    for seed in range(40):
        noise = np.random.default_rng(seed).normal(0.0, 0.15, RUNS)
        picks = np.random.default_rng(7).integers(RUNS, size=(DRAWS, RUNS))

        def ask(places: Sequence[Place], noise: np.ndarray = noise, picks: np.ndarray = picks) -> list[list[At]]:
            found = []
            for x, y in places:
                column = x - y + noise
                e = stats.estimate(column)
                verdict = Verdict.HOLDS if e.low > 0 else Verdict.DIFFERS if e.high < 0 else Verdict.UNTESTABLE
                found.append([At(verdict, e.mean > 0, (column[picks].mean(axis=1) > 0).astype(float))])
            return found

        points = region.search(ask, 2, RUNS, base=(0.3, 0.5))
        found = region.area(points, points.for_claim(0))
        assert (0.3, 0.5) in points.places
        assert len(points.places) <= region.MOST[2]
        hits += found.low - 0.03 <= 0.5 <= found.high + 0.03  # of the grid
        assert found.verdict is Verdict.DEPENDS
    assert hits >= 36
