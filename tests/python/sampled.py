"""Outcomes of experiments without a run: each cell has a sample of its own, drawn from a seeded generator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer.measure import stats
from interlayer.study.outcome import Outcome, Results

if TYPE_CHECKING:
    from interlayer.measure.stats import Estimate
    from interlayer.study.experiment import Cell, Experiment, Gain

RUNS = 10


class Sampled(Results):
    """Ten numbers a cell about a mean that its arm and its point give, as large as what the paper prints."""

    def __init__(self, e: Experiment) -> None:
        super().__init__()
        self.runs = {cell: [{"seed": i + 1, "sim_s": 0.0} for i in range(RUNS)] for cell in e.cells()}  # type: ignore[typeddict-item]
        self.arms = [arm for arm, _ in e.arms]
        printed = [getattr(c.test, "expected", None) for c in e.claims if c.metric == e.metric]
        known = [abs(x.value) for x in printed if x is not None and x.value]
        self.size = float(np.median(known)) if known else 1.0

    def column(self, cell: Cell, metric: str, unit: str) -> Any:
        arm = self.arms.index(cell.arm)
        noise = np.random.default_rng([arm, *cell.at]).standard_normal(RUNS)
        return self.size * (1 + 0.6 * math.sin(1.3 * arm + 0.5 * sum(cell.at)) + 0.02 * noise)

    def estimate(self, cell: Cell, metric: str, unit: str) -> Estimate:
        return stats.estimate(self.column(cell, metric, unit))

    def gain(self, pair: Gain, metric: str, over: str = "", share: bool = False) -> Any:
        return 100 * (self.column(pair.new, metric, "") / self.column(pair.old, metric, "") - 1)


def outcome(e: Experiment) -> Outcome:
    """An experiment as if it had been run; its claims have no verdict."""
    return Outcome(e, Sampled(e), [], seed=1, version="0.0.0", wall_s=0.0)
