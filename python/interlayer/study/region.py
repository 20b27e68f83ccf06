"""Where along one or two ranges claims are true: points, intervals with their ends, what is undecided.

At each point a claim has its verdict, by the usual rules over paired seeds, and is true or not *at the means*
(`point`). It is true at the means in an interval between two points at which it is not; the interval is *shown* if its
verdict `holds` somewhere in it. The set need be neither connected nor monotone: all intervals are found that the first
points, evenly spread, or those between them meet.

**An end** lies between the last point where the claim is true and the first where it is not, halfway. Its 95 % interval
comes from resampling whole seeds, the same in every point, with the ends looked for anew in each resample. Its
percentiles are widened for few seeds as @HES15 (Hesterberg, The American Statistician 69, 2015) asks, and outwards to
the points on either side, since between them nothing is known.

**Where points are added.** Between two points where the claim changes, in the sample or in more than 2.5 % of the
resamples, until they lie within 2 % of the range, or within a fifth of the stretch in which resamples see the end:
finer points would not tell it better.

Nothing here knows of simulations: `search` asks for points by their places (0 to 1 on each range), `ranges` makes the
runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from interlayer.measure import stats

from .verdict import Verdict

if TYPE_CHECKING:
    import numpy.typing as npt

    from interlayer.measure.stats import Floats

Place = tuple[float, ...]

RESOLUTION = 0.02
"""As close as two points come, of the range."""
FIRST = 9
"""Points of one range at first; of two ranges five each."""
MOST = {1: 33, 2: 65}
"""Points at most, by the number of ranges."""
_SEEN = 0.025
"""The share of resamples in which a change counts."""


@dataclass(frozen=True, slots=True)
class At:
    """A claim at a point: its verdict, whether it is true at the means, and in which resamples of the seeds."""

    verdict: Verdict
    true: bool
    resampled: Floats


@dataclass(frozen=True, slots=True)
class Points:
    """What was asked: places in their order, and of each what each claim is there; `runs` of each point."""

    places: tuple[Place, ...]
    found: tuple[tuple[At, ...], ...]
    runs: int

    def for_claim(self, claim: int) -> list[At]:
        """One claim at all points."""
        return [at[claim] for at in self.found]

    def together(self) -> list[At]:
        """All claims at once, as if they were one."""
        rows = []
        for row in self.found:
            verdicts = {at.verdict for at in row}
            worst = next((v for v in (Verdict.DIFFERS, Verdict.UNTESTABLE) if v in verdicts), Verdict.HOLDS)
            resampled = np.prod([at.resampled for at in row], axis=0)
            rows.append(At(worst, all(at.true for at in row), np.asarray(resampled, dtype=np.float64)))
        return rows


@dataclass(frozen=True, slots=True)
class End:
    """Where a claim begins or ceases to be true: a place, and its 95 % interval."""

    place: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a claim is true at the means; an end that is None is the range's. `shown`: its verdict holds in it."""

    begin: End | None
    end: End | None
    shown: bool


@dataclass(frozen=True, slots=True)
class Along:
    """A claim along one range."""

    intervals: tuple[Interval, ...]
    undecided: tuple[tuple[float, float], ...]
    """Stretches, from point to point, in which its verdict is neither way."""
    verdict: Verdict
    """`holds` or `differs` at every point, `depends` where it does both, else `untestable`."""


Evaluate = Callable[[Sequence[Place]], Sequence[Sequence[At]]]
"""What each claim is at each of some places, in their order; raises `CutShortError` where that is not to be had."""


class CutShortError(Exception):
    """Points were asked for and did not all come."""


def search(evaluate: Evaluate, ranges: int, runs: int, *, base: Place = (), most: int | None = None) -> Points:
    """Ask for points until every change of every claim, and of all together, is located, or `most` are asked.

    `base` is a place that is among the first. `runs` is how many replications each point has.
    """
    limit = MOST[ranges] if most is None else most
    axes = _lines(ranges, base)
    known: dict[Place, Sequence[At]] = {}
    wanted = list(product(*axes))
    while wanted:
        for place, found in zip(wanted, evaluate(wanted), strict=True):
            known[place] = found
        points = _sorted(known, runs)
        more = _between(points) if ranges == 1 else _within(points, axes)
        # The widest gaps first, where not all can be had.
        new = [place for _, place in sorted((-width, place) for width, place in more) if place not in known]
        wanted = list(dict.fromkeys(new))[: max(0, limit - len(known))]
    return _sorted(known, runs)


def least(ranges: int, base: Place = ()) -> int:
    """How many points a search begins with: fewer cannot be asked for."""
    return math.prod(len(axis) for axis in _lines(ranges, base))


def _lines(ranges: int, base: Place) -> list[list[float]]:
    """The first places on each range: evenly spread, and the base."""
    one = np.linspace(0.0, 1.0, FIRST if ranges == 1 else 5)
    return [sorted({*(round(float(x), 12) for x in one), *((base[i],) if base else ())}) for i in range(ranges)]


def _sorted(known: dict[Place, Sequence[At]], runs: int) -> Points:
    places = tuple(sorted(known))
    return Points(places, tuple(tuple(known[place]) for place in places), runs)


def _claims(points: Points) -> list[list[At]]:
    """Every claim, and all of them together."""
    single = [points.for_claim(i) for i in range(len(points.found[0]))]
    return [*single, points.together()] if len(single) > 1 else single


def _changes(a: At, b: At) -> bool:
    """True if the claim is another in one of the points, in the sample or in enough resamples."""
    return a.true != b.true or float(np.mean(a.resampled != b.resampled)) > _SEEN


# ----------------------------------------------------------------------------------------------------- one range


def _between(points: Points) -> list[tuple[float, Place]]:
    """Places halfway between neighbours where a claim changes and that lie too far apart, with how far."""
    xs = [x for (x,) in points.places]
    found: list[tuple[float, Place]] = []
    for claim in _claims(points):
        changed = [_changes(a, b) for a, b in pairwise(claim)]
        for i, (left, right) in enumerate(pairwise(xs)):
            if not changed[i]:
                continue
            first, last = i, i
            while first > 0 and changed[first - 1]:
                first -= 1
            while last + 1 < len(changed) and changed[last + 1]:
                last += 1
            # A single stretch is as wide as it is because nobody has looked inside.
            enough = (xs[last + 1] - xs[first]) / 5 if last > first else 0.0
            if right - left > max(RESOLUTION, enough) * (1 + 1e-9):
                found.append((right - left, (round((left + right) / 2, 12),)))
    return found


def along(points: Points, claim: Sequence[At]) -> Along:
    """The intervals of a claim along one range, `points.for_claim(i)` or `points.together()`."""
    xs = np.array([x for (x,) in points.places])
    true = np.array([at.true for at in claim])
    table = np.array([at.resampled for at in claim], dtype=bool)  # (points, resamples)
    turns = [i for i in range(len(xs) - 1) if true[i] != true[i + 1]]
    ends = [
        _end(xs, table, bool(true[i + 1]), (before, i, after), points.runs)
        for before, i, after in zip([-1, *turns], turns, [*turns[1:], len(xs) - 1], strict=False)
    ]
    intervals, begin, first = [], None, 0
    for i, end in [*zip(turns, ends, strict=True), (len(xs) - 1, None)]:
        if true[i]:
            shown = any(at.verdict is Verdict.HOLDS for at in claim[first : i + 1])
            intervals.append(Interval(begin, end, shown))
        begin, first = end, i + 1
    verdicts = {at.verdict for at in claim}
    if len(verdicts) == 1:
        verdict = verdicts.pop()
    else:
        both = {Verdict.HOLDS, Verdict.DIFFERS} <= verdicts
        verdict = Verdict.DEPENDS if both else Verdict.UNTESTABLE
    return Along(tuple(intervals), tuple(_stretches(xs.tolist(), claim)), verdict)


def _stretches(xs: Sequence[float], claim: Sequence[At]) -> list[tuple[float, float]]:
    """From the first to the last of neighbouring points in which a claim is undecided."""
    found: list[tuple[float, float]] = []
    before = False
    for x, at in zip(xs, claim, strict=True):
        undecided = at.verdict is Verdict.UNTESTABLE
        if undecided:
            found = [*found[:-1], (found[-1][0], x)] if before else [*found, (x, x)]
        before = undecided
    return found


def _end(xs: Floats, table: npt.NDArray[np.bool_], rises: bool, turns: tuple[int, int, int], runs: int) -> End:
    """The second of three ends, each of which lies behind a point; the claim becomes true there if it `rises`.

    In a resample it is the change of the same kind that lies nearest, between the ends next to it. Where there is none,
    the stretch is of one kind in that resample: the end has moved to one of its neighbours.
    """
    before, i, after = turns
    middle = (xs[i] + xs[i + 1]) / 2
    first, last = before + 1, after  # the points of the stretch on either side
    window = table[first : last + 1]
    left, right = xs[first:last], xs[first + 1 : last + 1]
    changes = window[1:] & ~window[:-1] if rises else window[:-1] & ~window[1:]
    distance = np.where(changes, np.abs((left + right)[:, None] / 2 - middle), np.inf)
    nearest = distance.argmin(axis=0)
    lost = ~changes.any(axis=0)
    # Without the change the stretch is true, or false, throughout: so the true side, or the false one, reaches over it.
    mostly = window.mean(axis=0) > 0.5
    to_right = lost & (mostly != rises)
    to_left = lost & ~to_right
    low = np.where(to_left, xs[first], np.where(to_right, xs[last], left[nearest]))
    high = np.where(to_left, xs[first], np.where(to_right, xs[last], right[nearest]))
    tail = _tail(runs)
    return End(
        float(middle),
        float(min(np.quantile(low, tail, method="lower"), xs[i])),
        float(max(np.quantile(high, 1 - tail, method="higher"), xs[i + 1])),
    )


def _tail(runs: int) -> float:
    """The percentile of the bootstrap that leaves 2.5 % outside for so many runs. @HES15 sec. 4.1.3"""
    if runs < 2:
        return 0.0
    z = math.sqrt(runs / (runs - 1)) * stats.t_quantile(1 - stats.ALPHA / 2, runs - 1)
    return 0.5 * math.erfc(z / math.sqrt(2))


# ---------------------------------------------------------------------------------------------------- two ranges


@dataclass(frozen=True, slots=True)
class Area:
    """A claim over two ranges: the share of the area in which it is true at the means, with its 95 % interval."""

    true: float
    low: float
    high: float
    undecided: float
    """The share of points in which its verdict is neither way."""
    verdict: Verdict


def _within(points: Points, axes: Sequence[Sequence[float]]) -> list[tuple[float, Place]]:
    """Corners of the quarters of cells in which a claim changes, with the cell's width; cells lie between lines."""
    known = dict(zip(points.places, points.found, strict=True))
    found: list[tuple[float, Place]] = []
    cells = [(a, b) for a in pairwise(axes[0]) for b in pairwise(axes[1])]
    while cells:
        (x0, x1), (y0, y1) = cells.pop()
        xm, ym = round((x0 + x1) / 2, 12), round((y0 + y1) / 2, 12)
        quarters = [(x, y) for x in (x0, xm, x1) for y in (y0, ym, y1)]
        if all(place in known for place in quarters):
            cells += [(a, b) for a in ((x0, xm), (xm, x1)) for b in ((y0, ym), (ym, y1))]
            continue
        corners = [known[place] for place in product((x0, x1), (y0, y1)) if place in known]
        if min(x1 - x0, y1 - y0) <= 2 * RESOLUTION or len(corners) < 4:
            continue
        if any(_changes(corners[0][i], other[i]) for other in corners[1:] for i in range(len(other))):
            found += [(x1 - x0, place) for place in quarters]
    return found


def area(points: Points, claim: Sequence[At]) -> Area:
    """The share of the area of two ranges in which a claim is true: every place counts for the point nearest to it."""
    weights = _weights(points.places)
    true = np.array([at.true for at in claim], dtype=np.float64)
    shares = weights @ np.array([at.resampled for at in claim])
    tail = _tail(points.runs)
    verdicts = {at.verdict for at in claim}
    both = {Verdict.HOLDS, Verdict.DIFFERS} <= verdicts
    verdict = verdicts.pop() if len(verdicts) == 1 else Verdict.DEPENDS if both else Verdict.UNTESTABLE
    undecided = np.array([at.verdict is Verdict.UNTESTABLE for at in claim], dtype=np.float64)
    return Area(
        float(weights @ true),
        float(np.quantile(shares, tail)),
        float(np.quantile(shares, 1 - tail)),
        float(weights @ undecided),
        verdict,
    )


def _weights(places: Sequence[Place]) -> Floats:
    """The share of the square that is nearest to each place, by a fine grid."""
    fine = (np.arange(128) + 0.5) / 128
    grid = np.array(list(product(fine, fine)))
    distance = ((grid[:, None, :] - np.array(places)[None, :, :]) ** 2).sum(axis=2)
    return np.bincount(distance.argmin(axis=1), minlength=len(places)) / len(grid)
