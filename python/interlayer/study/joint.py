"""Claims of several experiments of one set-up, judged together: which reading makes most of them true.

Every reading of what is open in any of them is run, with the same seeds, and each claim is asked twice: for its
verdict, by the rules of `verdict` with the level shared by the readings, and whether it is *true at the means*, which
is the same question without its tests. The number of claims true at the means has an interval by the bootstrap over
seeds (@ET93 Efron and Tibshirani, "An Introduction to the Bootstrap", sec. 13.3: percentiles). A reading is told from
the best one where it has fewer true claims in all but 5 % of the resamples, divided by the number of readings compared
(Bonferroni).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from interlayer import simulator
from interlayer.engine import HERE
from interlayer.errors import InputError
from interlayer.measure import stats

from . import point, readings
from .campaign import Campaign, Variant
from .readings import BASE, Parameter, Reading
from .runs import Cache, Ended, Wanted, extend
from .verdict import Judgement, columns_of, holm_step, judge_columns, supports_of

if TYPE_CHECKING:
    from interlayer.engine import Engine
    from interlayer.measure.stats import Floats

    from .experiment import Claim, Experiment
    from .runs import Progress

RUNS = stats.MIN_RUNS
"""Replications of each reading, unless asked for otherwise."""
RESAMPLES = 1000
"""Draws of the bootstrap."""


@dataclass(frozen=True, slots=True)
class InReading:
    """A claim in a reading: its verdict, whether it is true at the means, and in which resamples."""

    claim: Claim
    judgement: Judgement
    true: bool
    resampled: Floats


@dataclass(frozen=True, slots=True)
class Row:
    """A reading with its claims; `true` is how many are true at the means, `low` and `high` the bootstrap's 95 %."""

    reading: Reading
    claims: tuple[InReading, ...]
    true: int
    low: float
    high: float
    is_best: bool
    is_told_from_best: bool


@dataclass(slots=True)
class Joint:
    """What `interlayer readings` found."""

    experiments: tuple[Experiment, ...]
    parameters: tuple[Parameter, ...]
    rows: tuple[Row, ...]
    of: int
    runs: int
    seed: int
    version: str
    wall_s: float = 0.0
    base_only: bool = False

    @property
    def claims(self) -> list[Claim]:
        return [one.claim for one in self.rows[0].claims]

    @property
    def best(self) -> list[Row]:
        """The reading with most true claims, and all that cannot be told from it, in the order of the parameters."""
        return [row for row in self.rows if not row.is_told_from_best]

    def never_together(self) -> list[tuple[Claim, Claim]]:
        """Pairs of claims each of which is true in some reading, and both in none."""
        true = np.array([[one.true for one in row.claims] for row in self.rows])
        found = []
        for (i, a), (j, b) in combinations(enumerate(self.claims), 2):
            if true[:, i].any() and true[:, j].any() and not (true[:, i] & true[:, j]).any():
                found.append((a, b))
        return found

    def never(self) -> list[Claim]:
        """Claims that are true in no reading."""
        return [c for i, c in enumerate(self.claims) if not any(row.claims[i].true for row in self.rows)]


def run(
    experiments: Sequence[Experiment],
    *,
    seed: int = 1,
    runs: int = RUNS,
    engine: Engine = HERE,
    progress: Progress | None = None,
    cache: Cache | None = None,
    base_only: bool = False,
) -> Joint | None:
    """Run the readings of all experiments together and judge their claims; None if interrupted.

    A run that fails raises its `RunError`, after all others.

    Claims that are arithmetic, or that cannot fail, are left out. `base_only`: the base reading alone.
    """
    started = time.perf_counter()
    for e in experiments:
        if e.open is None:
            raise InputError(f"{e.id}: it declares nothing open (no [open])")
        if e.recorded:
            raise InputError(f"{e.id}: has recorded arms; `interlayer reproduce {e.id}` has its readings")
    opens = [e.open for e in experiments if e.open is not None]
    parameters = readings.together(opens)
    chosen = [BASE] if base_only else readings.chosen(parameters)
    shared = Cache() if cache is None else cache
    parts = [_Part(e, Campaign(e, seed, engine, (), progress, shared), chosen) for e in experiments]
    if not any(part.claims for part in parts):
        raise InputError("none of these claims rests on a measurement")
    wanted = [one for part in parts for one in part.wanted(runs)]
    ended = _run_all(wanted, seed, engine, shared, progress)
    if ended.interrupted:
        return None
    if ended.failures:
        raise ended.failures[0]
    columns = [found for part in parts for found in part.judged()]
    rows = _rows(chosen, columns)
    return Joint(
        experiments=tuple(experiments),
        parameters=parameters,
        rows=rows,
        of=readings.how_many(parameters),
        runs=runs,
        seed=seed,
        version=simulator.version(),
        wall_s=time.perf_counter() - started,
        base_only=base_only,
    )


class _Part:
    """One experiment under the joint readings, each of which it sees as far as it is open in it."""

    def __init__(self, e: Experiment, campaign: Campaign, chosen: Sequence[Reading]) -> None:
        assert e.open is not None
        self.claims = [c for c in e.claims if not (c.is_arithmetic or c.impossible)]
        self.campaign = campaign
        own = [r.within(e.open.names) for r in chosen]
        variants: dict[str, Variant] = {}
        self.variants = [variants.setdefault(r.id, Variant(reading=r)) for r in own]

    def wanted(self, runs: int) -> list[tuple[Campaign, Variant, int]]:
        distinct = {id(v): v for v in self.variants}.values()
        for variant in distinct:
            for claim in self.claims:
                for cell in claim.cells():
                    self.campaign.scenario(variant, cell)  # all mistakes before the first run
        return [(self.campaign, v, runs) for v in distinct]

    def judged(self) -> list[list[InReading]]:
        """For each claim, what it is in each reading."""
        found = []
        for claim in self.claims:
            looks = [self.campaign.looks_like(v, claim) for v in self.variants]
            first: dict[object, int] = {}
            same = [first.setdefault(look, i) for i, look in enumerate(looks)]
            distinct = list(dict.fromkeys(same))
            samples = {i: columns_of(claim, self.variants[i].results) for i in distinct}
            supports = {i: supports_of(claim, self.variants[i].results) for i in distinct}
            rules = [partial(judge_columns, claim, samples[i], supports=supports[i]) for i in distinct]
            judged = holm_step(rules, stats.ALPHA)
            by_place = {
                i: InReading(claim, j, point.is_true(claim, samples[i]), point.resampled(claim, samples[i], RESAMPLES))
                for i, j in zip(distinct, judged, strict=True)
            }
            found.append([by_place[i] for i in same])
        return found


def _run_all(
    wanted: Sequence[tuple[Campaign, Variant, int]], seed: int, engine: Engine, cache: Cache, progress: Progress | None
) -> Ended:
    """All runs of all experiments together."""
    lists = [
        Wanted(*campaign.scenario(variant, cell), variant.results.runs.setdefault(cell, []), n)
        for campaign, variant, n in wanted
        for cell in variant.scenarios
    ]
    return extend(lists, seed, cache, engine, "readings", progress)


def _rows(chosen: Sequence[Reading], columns: Sequence[Sequence[InReading]]) -> tuple[Row, ...]:
    """The rows of the table: a reading each, with what each claim (a column) is in it."""
    counts = np.array([sum(column[i].resampled for column in columns) for i in range(len(chosen))])
    true = np.array([sum(column[i].true for column in columns) for i in range(len(chosen))])
    best = int(true.argmax())
    fewer = (counts < counts[best]).mean(axis=1)
    told = fewer > 1 - stats.ALPHA / max(1, len(chosen) - 1)
    low, high = np.percentile(counts, [100 * stats.ALPHA / 2, 100 * (1 - stats.ALPHA / 2)], axis=1)
    return tuple(
        Row(
            reading=reading,
            claims=tuple(column[i] for column in columns),
            true=int(true[i]),
            low=float(low[i]),
            high=float(high[i]),
            is_best=bool(true[i] == true[best]),
            is_told_from_best=bool(told[i]) and bool(true[i] < true[best]),
        )
        for i, reading in enumerate(chosen)
    )
