"""What an experiment came to: the samples of its cells, its claims with their verdicts, and the evidence."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from interlayer import given, quantity, toml_text
from interlayer.errors import InputError
from interlayer.measure import metrics, stats
from interlayer.measure.support import AMOUNT, ANY, Support

from . import expression
from .experiment import Cell, Claim, Comparison, Derived, Evidence, Experiment, Formula, Gain, Quantity
from .readings import BASE, Missing, Reading
from .verdict import Judgement, Verdict

if TYPE_CHECKING:
    from interlayer._core import Run
    from interlayer.errors import RunError
    from interlayer.measure.stats import Estimate, Floats

    from .recording import Facts


class Results:
    """Runs by cell, for one variant of the experiment: the experiment itself, or one of its counter-runs."""

    def __init__(self, reading: Reading = BASE) -> None:
        self.runs: dict[Cell, list[Run]] = {}
        self.reading = reading

    def column(self, cell: Cell, metric: str, unit: str) -> Floats:
        """A metric of a cell in `unit` (none: the column's own), one number per seed."""
        name, values = metrics.column(self.runs[cell], self.reading.metric(metric))
        return values * quantity.scale(name, unit) if unit else values

    def estimate(self, cell: Cell, metric: str, unit: str) -> Estimate:
        """A metric of a cell in `unit`, with an interval inside what the metric can be."""
        return metrics.estimate(self.runs[cell], self.reading.metric(metric), unit)

    def support(self, q: Quantity, metric: str, unit: str) -> Support:
        """What values a quantity can have, in the unit that `sample` gives; of gains nothing is known.

        Nor of a formula, unless it is the name of one of its inputs.
        """
        if q.formula is not None:
            same = [(one, its) for name, one, its in q.formula.inputs if name == q.formula.text.strip()]
            return self.support(same[0][0], same[0][0].metric, same[0][1]) if same else ANY
        if q.is_gain:
            return ANY
        if q.share or q.apart:
            return AMOUNT
        found, name = [], self.reading.metric(q.metric or metric)
        for cell in q.cells():
            run = self.runs[cell][0]
            factor = quantity.scale(metrics.read(run, name)[0], unit) if unit else 1.0
            found.append(metrics.support_of(run, name).scaled(factor))
        return Support(min(s.low for s in found), max(s.high for s in found))

    def gain(self, pair: Gain, metric: str, over: str = "", share: bool = False) -> Floats:
        """A gain in percent as a paired sample over the common seeds; nan where the reference got nothing.

        `over` is what the reference reads, if not the same; with `share`, new/old in percent.
        """
        name, new = metrics.column(self.runs[pair.new], self.reading.metric(metric))
        reference, old = metrics.column(self.runs[pair.old], self.reading.metric(over or metric))
        if quantity.column_unit(name) != quantity.column_unit(reference):
            raise InputError(f'"{metric}" and "{over}" are not in the same unit', over)
        runs = min(len(new), len(old))
        try:
            return 100 * (stats.gain_per_seed(new[:runs], old[:runs]) + (1.0 if share else 0.0))
        except ZeroDivisionError:
            return np.full(runs, np.nan)

    def sample(self, q: Quantity, metric: str, unit: str) -> Floats:
        """A quantity, one number per seed common to all its terms.

        Gains are always in percent, shares in percent or as a fraction, formulas in the unit that they come out in;
        what is computed without runs is the same for `stats.MIN_RUNS` seeds.
        """
        if q.formula is not None:
            return self._evaluate(q.formula)
        what = q.metric or metric
        columns = [
            self.gain(t, what, q.over, q.share) if isinstance(t, Gain) else self.column(t, what, unit) for t in q.terms
        ]
        runs = min(len(c) for c in columns)
        columns = [np.abs(c) for c in columns] if q.apart else columns
        found = np.asarray(np.mean([c[:runs] for c in columns], axis=0), dtype=np.float64)
        return found / 100 if q.share and unit == "1" else found

    def read(self, claim: Claim) -> tuple[object, ...]:
        """What is read for a claim: the same for two readings that differ in nothing the claim sees of a run."""
        names, constants = [], self.reading.constants
        for q in claim.quantities():
            inputs = q.formula.inputs if q.formula else ()
            names += [self.reading.metric(name) for name in (q.metric or claim.metric, q.over)]
            names += [self.reading.metric(one.metric) for _, one, _ in inputs]
            names += [f"{n} = {constants[n]}" for n, _ in (q.formula.constants if q.formula else ()) if n in constants]
        return tuple(names)

    def _evaluate(self, formula: Formula) -> Floats:
        """A formula, seed by seed; nan where an input is, or where it has no value."""
        constants = dict(formula.constants)
        constants |= {name: x for name, x in self.reading.constants.items() if name in constants}
        if not formula.inputs:
            return np.full(stats.MIN_RUNS, expression.evaluate(formula.text, constants))
        inputs = {name: self.sample(q, q.metric, unit) for name, q, unit in formula.inputs}
        runs = min(len(column) for column in inputs.values())
        found = np.full(runs, np.nan)
        for i in range(runs):
            values = {name: float(column[i]) for name, column in inputs.items()}
            if all(map(math.isfinite, values.values())):
                with contextlib.suppress(InputError):  # a division by zero, a root of less
                    found[i] = expression.evaluate(formula.text, constants | values)
        return found


class Closes(StrEnum):
    """Whether an explanation closes the gap between paper and measurement."""

    YES = "closes the gap"
    NO = "tried, does not close the gap"
    KEEPS = "it holds so too"
    BREAKS = "it does not hold so"
    OPEN = "tried, not resolved"
    SAME = "the same bits as the claim's own runs: no evidence"
    PAPER = "arithmetic, agrees with the paper"
    OURS = "arithmetic, agrees with the measurement"
    NEITHER = "arithmetic, closes no gap"
    ARITHMETIC = "arithmetic"


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of evidence after it was computed: the counter-run's judgement, or the formula's value."""

    evidence: Evidence
    judgement: Judgement | None = None
    value: float | None = None
    closes: Closes = Closes.ARITHMETIC

    def sentence(self, unit: str) -> str:
        """What it shows, with its numbers, and whether it closes the gap. `unit` is the claim's."""
        if self.value is not None:
            worked = expression.with_values(self.evidence.formula, dict(self.evidence.constants))
            value = f"{self.value:.4g} {self.evidence.unit}".rstrip()
            return f"{self.evidence.text}: {worked} = {value} ({self.closes.value})"
        assert self.judgement is not None
        changed = ", ".join(f"{path} = {toml_text.literal(v)}" for path, v in self.evidence.overrides)
        numbers = ", ".join(str(e) for e in self.judgement.measured)
        unit = "" if unit == "1" else f" {unit}"
        verdict = f"{self.judgement.verdict.value}: {self.closes.value}"
        return f"{self.evidence.text}: with {changed} {numbers}{unit} ({verdict})"


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim in one reading: its verdict at the level that the readings leave it."""

    reading: Reading
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Scored:
    """A claim, what was measured, and the evidence. `verdict` is None where none is given (quick, not scored).

    `judgement` is the base reading's; the verdict is over all of `readings`, of which there are `of_readings`.
    """

    claim: Claim
    judgement: Judgement | None
    found: tuple[Found, ...]
    verdict: Verdict | None
    note: str = ""
    readings: tuple[Judged, ...] = ()
    of_readings: int = 1
    contradicts: tuple[str, ...] = ()
    """Sentences on claims with which it cannot hold together."""
    rests_on: tuple[Missing, ...] = ()
    """What nothing here models and would have acted in its runs: the verdict is `untestable`, whatever was measured."""
    unvaried: tuple[str, ...] = ()
    """Of a verdict against the paper: what is open and was not varied."""

    def readings_that(self, verdict: Verdict) -> list[Judged]:
        return [j for j in self.readings if j.judgement.verdict is verdict]

    @property
    def in_readings(self) -> str:
        """`21 of 48 readings run: 20 hold, 1 differs (datagram = 500 B)`; empty without readings."""
        if not self.readings:
            return ""
        parts = []
        for verdict, one, several in _IN_READINGS:
            if group := self.readings_that(verdict):
                word = one if len(group) == 1 else several
                named = len(group) < len(self.readings) and len(group) <= NAMED
                ids = "; ".join(j.reading.id for j in group)
                parts.append(f"{len(group)} {word}" + (f" ({ids})" if named else ""))
        run = f"{len(self.readings)} of {self.of_readings} reading{'s' * (self.of_readings != 1)} run"
        alone = f"; one change alone turns it: {', '.join(self.turned_by)}" if self.turned_by else ""
        return f"{run}: {', '.join(parts)}{alone}"

    @property
    def turned_by(self) -> tuple[str, ...]:
        """The parameters of which a single change from the base turns the verdict, from holds to differs or back."""
        other = {Verdict.HOLDS: Verdict.DIFFERS, Verdict.DIFFERS: Verdict.HOLDS}
        against = other.get(self.readings[0].judgement.verdict) if self.readings else None
        single = [j for j in self.readings if len(j.reading.changes) == 1 and j.judgement.verdict is against]
        return tuple(dict.fromkeys(j.reading.changes[0][0] for j in single))

    @property
    def why(self) -> str:
        """The judgement's sentence; for a claim that does not hold, then what the evidence shows."""
        parts = [self.note] if self.note else []
        if self.judgement is not None:
            parts.append(self.judgement.reason)
        if self.in_readings:
            parts.append(self.in_readings)
        if self.verdict in _AGAINST:
            parts += [f.sentence(self.claim.unit) for f in self.found]
        parts += self.contradicts
        if self.unvaried:
            parts.append(f"not varied: {', '.join(self.unvaried)}")
        return ". ".join(part[:1].upper() + part[1:] for part in parts)

    @property
    def unexplained(self) -> bool:
        """Whether a verdict against the paper stands without evidence.

        Where the verdict depends on the reading, or is open in some, the readings are evidence; and so is the sampling
        error of a printed mean, and an event of the runs that what is not modelled would have acted on.
        """
        if any(f.closes is not Closes.SAME for f in self.found):
            return False
        if self.verdict is Verdict.UNTESTABLE:
            shown = self.claim.mean_of or self.claim.impossible or self.rests_on
            return len(self.readings) < 2 and not shown
        return self.verdict is Verdict.DIFFERS


NAMED = 12
"""Of so many readings of a kind each is named in a sentence; the page and the JSON name all."""
_AGAINST = (Verdict.DIFFERS, Verdict.UNTESTABLE, Verdict.DEPENDS)
_IN_READINGS = (
    (Verdict.HOLDS, "holds", "hold"),
    (Verdict.DIFFERS, "differs", "differ"),
    (Verdict.UNTESTABLE, "unresolved", "unresolved"),
)
"""A verdict, and how one reading and several are said to have it."""


@dataclass(slots=True)
class Outcome:
    """An experiment after its runs."""

    experiment: Experiment
    results: Results
    scored: list[Scored]
    seed: int
    version: str
    wall_s: float
    overrides: tuple[tuple[str, str], ...] = ()
    quick: bool = False
    interrupted: bool = False
    failures: tuple[RunError, ...] = ()
    """Runs that failed by a mistake of the program."""
    fixed_runs: int | None = None
    base_only: bool = False
    """What is open was not varied, though something is: the verdicts are of the base reading, and preliminary."""
    readings: tuple[Reading, ...] = ()
    """The readings that were run, the base first; none where nothing is open."""
    over_time: Run | None = None
    """The run, with its series, that the file asks to see over time."""
    recorded: Facts | None = None
    """What bears on the runs of arms that were recorded; None where there are none."""

    @property
    def preliminary(self) -> bool:
        """No verdict was to be had: a quick look, an interrupted run, or one that failed."""
        return self.quick or self.interrupted or bool(self.failures)

    @property
    def why_preliminary(self) -> str:
        """Why there is no verdict, in words."""
        if self.interrupted:
            return "interrupted"
        return "a run failed" if self.failures else "a quick look gives no verdict"

    @property
    def runs(self) -> int:
        """Replications of the cell that has most."""
        return max((len(runs) for runs in self.results.runs.values()), default=0)

    @property
    def fewest_runs(self) -> int:
        return min((len(runs) for runs in self.results.runs.values()), default=0)

    @property
    def sim_s(self) -> float:
        """Seconds the event loops took, all cells and threads together, runs shared with other experiments too."""
        return sum(run["sim_s"] for runs in self.results.runs.values() for run in runs)

    def cells(self) -> list[Cell]:
        """The cells that have runs, in the order of the grid (all, unless interrupted)."""
        return [cell for cell in self.experiment.cells() if self.results.runs.get(cell)]

    def estimate(self, cell: Cell) -> Estimate:
        """The experiment's metric in a cell, in its unit. Raises `InputError` for what is none of `cells()`."""
        given.expect("cell", cell, Cell, "one of .cells()")
        if not self.results.runs.get(cell):
            raise InputError(f"cell: {cell!r} has no runs; .cells() gives those that have", "cell")
        return self.results.estimate(cell, self.experiment.metric, self.experiment.unit)

    def gain(self, comparison: Comparison, at: tuple[int, ...]) -> Estimate | None:
        """A comparison's gain in percent at a point; None if one side has no runs."""
        given.expect("comparison", comparison, Comparison, "one of .experiment.comparisons")
        given.expect("at", at, tuple, "a cell's `at`, as in (0, 1)")
        pair = Gain(Cell(comparison.of, at), Cell(comparison.over, at))
        if not (self.results.runs.get(pair.new) and self.results.runs.get(pair.old)):
            return None
        return stats.estimate(self.results.gain(pair, self.experiment.metric))

    def derived(self, what: Derived) -> Estimate | None:
        """Something derived, in its own unit; None where its runs are missing. What is computed has no interval."""
        given.expect("what", what, Derived, "one of .experiment.derived")
        if not all(self.results.runs.get(cell) for cell in what.quantity.cells()):
            return None
        sample = self.results.sample(what.quantity, "", "")
        if what.quantity.is_computed:
            return stats.Estimate(float(sample[0]), None, 0)
        return stats.estimate(sample, support=self.results.support(what.quantity, "", ""))
