"""Running an experiment: all points and arms with common seeds, in rounds, until every claim is decided.

Every cell's run i has the seed `first + i`, so arms and points are paired. A round is one batch of the core. After it
each claim that is still open asks for more runs of the cells it rests on (and of its counter-runs), up to the file's
`max_runs`; the others stay as they are.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import quantity, simulator, toml_text
from interlayer.errors import InputError
from interlayer.measure import metrics, stats

from . import expression
from .experiment import Cell, Claim, Comparison, Derived, Evidence, Experiment, Formula, Gain, Quantity
from .verdict import Judgement, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interlayer import _core
    from interlayer._core import Run
    from interlayer.measure.stats import Estimate, Floats

    Progress = Callable[[str, int, int], None]

QUICK_RUNS = 3
"""Replications with `quick`, which looks but gives no verdict."""


class Store:
    """Runs by what fixes them, scenario and seed: what several experiments, arms or counter-runs ask for is run once.

    Runs are shared, not copied: they are to be read only.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, int], Run] = {}

    @staticmethod
    def key(scenario: _core.Scenario) -> str:
        """A scenario with its defaults filled in, without what no run depends on: its name, and its own first seed."""
        content = json.loads(scenario.to_json())
        for name in ("name", "seed"):
            content["scenario"].pop(name, None)
        return json.dumps(content, sort_keys=True)

    def run(
        self, tasks: Sequence[tuple[str, _core.Scenario, int]], jobs: int, what: str, progress: Progress | None
    ) -> tuple[list[Run | None], bool]:
        """The runs of (key, scenario, seed), in their order; None where Ctrl-C came first, then the second is true."""
        missing = {(key, seed): scenario for key, scenario, seed in tasks if (key, seed) not in self._runs}
        total = len(missing)
        watch = None if progress is None else lambda done: progress(what, done, total)
        new = [(scenario, seed) for (_, seed), scenario in missing.items()]
        batch = simulator.run_batch(new, jobs=jobs, progress=watch)
        found = zip(missing, batch.runs, strict=True)
        self._runs |= {place: run for place, run in found if run is not None}
        return [self._runs.get((key, seed)) for key, _, seed in tasks], batch.interrupted


class Results:
    """Runs by cell, for one variant of the experiment: the experiment itself, or one of its counter-runs."""

    def __init__(self) -> None:
        self.runs: dict[Cell, list[Run]] = {}

    def column(self, cell: Cell, metric: str, unit: str) -> Floats:
        """A metric of a cell in `unit` (none: the column's own), one number per seed."""
        name, values = metrics.column(self.runs[cell], metric)
        return values * quantity.scale(name, unit) if unit else values

    def gain(self, pair: Gain, metric: str, over: str = "", share: bool = False) -> Floats:
        """A gain in percent as a paired sample over the common seeds; nan where the reference got nothing.

        `over` is what the reference reads, if not the same; with `share`, new/old in percent.
        """
        name, new = metrics.column(self.runs[pair.new], metric)
        reference, old = metrics.column(self.runs[pair.old], over or metric)
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
        found = np.asarray(np.mean([c[:runs] for c in columns], axis=0), dtype=np.float64)
        return found / 100 if q.share and unit == "1" else found

    def _evaluate(self, formula: Formula) -> Floats:
        """A formula, seed by seed; nan where an input is, or where it has no value."""
        constants = dict(formula.constants)
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


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of evidence after it was computed: the counter-run's judgement, or the formula's value."""

    evidence: Evidence
    judgement: Judgement | None = None
    value: float | None = None

    def sentence(self, unit: str) -> str:
        """What it shows, with its numbers. `unit` is the claim's."""
        if self.value is not None:
            worked = expression.with_values(self.evidence.formula, dict(self.evidence.constants))
            return f"{self.evidence.text}: {worked} = {self.value:.4g} {self.evidence.unit}".rstrip()
        assert self.judgement is not None
        changed = ", ".join(f"{path} = {toml_text.literal(v)}" for path, v in self.evidence.overrides)
        numbers = ", ".join(str(e) for e in self.judgement.measured)
        unit = "" if unit == "1" else f" {unit}"
        return f"{self.evidence.text}: with {changed} {numbers}{unit} ({self.judgement.verdict.value})"


@dataclass(frozen=True, slots=True)
class Scored:
    """A claim, what was measured, and the evidence. `verdict` is None where none is given (quick, not scored)."""

    claim: Claim
    judgement: Judgement | None
    found: tuple[Found, ...]
    verdict: Verdict | None
    note: str = ""

    @property
    def why(self) -> str:
        """The judgement's sentence; for a claim that does not hold, then what the evidence shows."""
        parts = [self.note] if self.note else []
        if self.judgement is not None:
            parts.append(self.judgement.reason)
        if self.verdict in (Verdict.DIFFERS, Verdict.UNTESTABLE):
            parts += [f.sentence(self.claim.unit) for f in self.found]
        return ". ".join(part[:1].upper() + part[1:] for part in parts)

    @property
    def unexplained(self) -> bool:
        """Whether a verdict against the paper stands without evidence."""
        return self.verdict in (Verdict.DIFFERS, Verdict.UNTESTABLE) and not self.found


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
    fixed_runs: int | None = None
    over_time: Run | None = None
    """The run, with its series, that the file asks to see over time."""

    @property
    def preliminary(self) -> bool:
        """No verdict was to be had: a quick look, or an interrupted run."""
        return self.quick or self.interrupted

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
        """The experiment's metric in a cell, in its unit."""
        return stats.estimate(self.results.column(cell, self.experiment.metric, self.experiment.unit))

    def gain(self, comparison: Comparison, at: tuple[int, ...]) -> Estimate | None:
        """A comparison's gain in percent at a point; None if one side has no runs."""
        pair = Gain(Cell(comparison.of, at), Cell(comparison.over, at))
        if not (self.results.runs.get(pair.new) and self.results.runs.get(pair.old)):
            return None
        return stats.estimate(self.results.gain(pair, self.experiment.metric))

    def derived(self, what: Derived) -> Estimate | None:
        """Something derived, in its own unit; None where its runs are missing. What is computed has no interval."""
        if not all(self.results.runs.get(cell) for cell in what.quantity.cells()):
            return None
        sample = self.results.sample(what.quantity, "", "")
        return stats.Estimate(float(sample[0]), None, 0) if what.quantity.is_computed else stats.estimate(sample)


@dataclass(slots=True)
class _Variant:
    """The experiment, or a counter-run of it: its own scenarios and results."""

    extra: tuple[tuple[str, Any], ...] = ()
    results: Results = field(default_factory=Results)
    scenarios: dict[Cell, tuple[str, _core.Scenario]] = field(default_factory=dict)


@dataclass(slots=True)
class _Campaign:
    e: Experiment
    seed: int
    jobs: int
    overrides: tuple[tuple[str, str], ...]
    progress: Progress | None
    store: Store

    def scenario(self, variant: _Variant, cell: Cell) -> tuple[str, _core.Scenario]:
        """A cell's key in the store, and its scenario."""
        if cell not in variant.scenarios:
            ours = [(path, toml_text.literal(value)) for path, value in self.e.settings]
            cells = [(path, toml_text.literal(v)) for path, v in [*self.e.overrides(cell), *variant.extra]]
            try:
                scenario = simulator.parse(self.e.scenario(cell.arm), [*ours, *self.overrides, *cells])
            except InputError as error:
                raise InputError(f"{self.e.id}, {cell.arm}: {error}", error.path) from error
            variant.scenarios[cell] = Store.key(scenario), scenario
        return variant.scenarios[cell]

    def extend(self, wanted: Iterable[tuple[_Variant, Cell, int]], round_: int) -> bool:
        """Bring each (variant, cell) to a number of runs; false if interrupted."""
        targets: dict[tuple[int, Cell], tuple[_Variant, int]] = {}
        for variant, cell, runs in wanted:
            _, before = targets.get((id(variant), cell), (variant, 0))
            targets[id(variant), cell] = (variant, max(runs, before))
        wanted_runs: list[Wanted] = []
        for (_, cell), (variant, runs) in targets.items():
            into = variant.results.runs.setdefault(cell, [])
            wanted_runs += [(i, *self.scenario(variant, cell), into) for i in range(len(into), runs)]
        what = self.e.id if round_ == 1 else f"{self.e.id}, round {round_}"
        return _extend(wanted_runs, self.seed, self.store, self.jobs, what, self.progress)

    def over_time(self, variant: _Variant) -> Run | None:
        """The run that the file asks to see over time, with its series; None if it asks for none."""
        if (what := self.e.over_time) is None:
            return None
        runs, place = variant.results.runs[what.cell], 0
        if what.metric:
            ranked = np.argsort(metrics.column(runs, what.metric)[1], kind="stable")
            place = int(ranked[{"lowest": 0, "median": (len(runs) - 1) // 2, "highest": -1}[what.pick]])
        _, scenario = self.scenario(variant, what.cell)
        return simulator.run_batch([(scenario, runs[place]["seed"])], jobs=1, series=True).runs[0]


Wanted = tuple[int, str, "_core.Scenario", "list[Run]"]
"""Which replication of what (its key, and it), and where it goes."""


def simulate(
    wanted: Sequence[tuple[int, _core.Scenario, list[Run]]],
    seed: int,
    jobs: int,
    what: str,
    progress: Progress | None,
) -> bool:
    """Run each (i, scenario, list) with seed `seed + i` and append it to its list; false if interrupted."""
    by_itself = [(i, str(id(scenario)), scenario, into) for i, scenario, into in wanted]
    return _extend(by_itself, seed, Store(), jobs, what, progress)


def _extend(wanted: Sequence[Wanted], seed: int, store: Store, jobs: int, what: str, progress: Progress | None) -> bool:
    """Append each run that is wanted to its list; false if interrupted.

    Seed by seed over all scenarios, so that what Ctrl-C leaves is the whole picture with fewer runs. A list gets no run
    of a later seed without the earlier ones: that would break the pairing.
    """
    ordered = sorted(wanted, key=lambda one: one[0])
    runs, interrupted = store.run([(key, s, seed + i) for i, key, s, _ in ordered], jobs, what, progress)
    stopped: set[int] = set()
    for (*_, into), run in zip(ordered, runs, strict=True):
        if run is None:
            stopped.add(id(into))
        elif id(into) not in stopped:
            into.append(run)
    return not interrupted


def run(
    experiment: Experiment,
    *,
    seed: int = 1,
    runs: int | None = None,
    quick: bool = False,
    jobs: int = 0,
    overrides: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
    store: Store | None = None,
    over_time: bool = False,
) -> Outcome:
    """Run an experiment and judge its claims.

    `runs` fixes the number of replications; without it there are 10 and as many more as the claims need, up to
    `max_runs`. `quick` takes 3 and gives no verdict. `overrides` (path, TOML text) go over the file's settings and
    under the sweep and the arms; one of a path that these set is an `InputError`. `progress(what, done, total)` is
    called now and then. With a `store` that several experiments are given, what they have in common runs once.
    `over_time`: the run that the file asks to see over time is run again for its series.
    """
    started = time.perf_counter()
    _check_overrides(experiment, overrides)
    campaign = _Campaign(experiment, seed, jobs, tuple(overrides), progress, Store() if store is None else store)
    main = _Variant()
    evidence = [(c, e) for c in experiment.claims for e in c.evidence if e.is_counter_run]
    variants = {_name(e): _Variant(e.overrides) for _, e in evidence}
    wanted = runs or (QUICK_RUNS if quick else stats.MIN_RUNS)
    most = runs or (QUICK_RUNS if quick else max(experiment.max_runs, stats.MIN_RUNS))

    # The first round is the whole grid, and the counter-runs of the cells that their claims rest on.
    plan = [(main, cell, wanted) for cell in experiment.cells()]
    counter_runs = [] if quick else [(claim, variants[_name(e)]) for claim, e in evidence]
    plan += [(variant, cell, wanted) for claim, variant in counter_runs for cell in claim.cells()]
    for variant, cell, _ in plan:
        campaign.scenario(variant, cell)  # all mistakes before the first run
    finished = campaign.extend(plan, 1)

    round_ = 1
    while finished and not quick and experiment.scored:
        more = []
        for claim in experiment.claims:
            for variant in [main, *(v for c, v in counter_runs if c is claim)]:
                done = min((len(variant.results.runs[cell]) for cell in claim.cells()), default=most)
                if done < most and judge(claim, variant.results).verdict is Verdict.UNTESTABLE:
                    more += [(variant, cell, stats.next_runs(done, most)) for cell in claim.cells()]
        if not more:
            break
        round_ += 1
        finished = campaign.extend(more, round_)

    outcome = Outcome(
        experiment=experiment,
        results=main.results,
        scored=[],
        seed=seed,
        version=simulator.version(),
        wall_s=0.0,
        overrides=tuple(overrides),
        quick=quick,
        interrupted=not finished,
        fixed_runs=runs,
    )
    if over_time and finished:
        outcome.over_time = campaign.over_time(main)
    outcome.scored = [_score(claim, outcome, variants) for claim in experiment.claims]
    outcome.wall_s = time.perf_counter() - started
    return outcome


def _name(e: Evidence) -> str:
    """Counter-runs with the same settings share their runs, whichever claims they serve."""
    return toml_text.literal(dict(e.overrides))


def _check_overrides(e: Experiment, overrides: Sequence[tuple[str, str]]) -> None:
    own = dict.fromkeys(e.paths, "sweep")
    own |= {path: "sweep" for _, others in e.follow for path, _ in others}
    own |= {path: f"arm {arm}" for arm, change in e.arms for path, _ in change}
    for path, _ in overrides:
        for there, what in own.items():
            if _overlap(there, path):
                raise InputError(f"{path}: {e.id} sets it itself ({what} of the experiment)", path)


def _overlap(a: str, b: str) -> bool:
    """Whether two paths set the same thing, or one a part of the other; `*` is every entry."""
    return all(x == y or "*" in (x, y) for x, y in zip(a.split("."), b.split("."), strict=False))


def _score(claim: Claim, outcome: Outcome, variants: dict[str, _Variant]) -> Scored:
    def judged(results: Results) -> Judgement | None:
        complete = all(results.runs.get(cell) for cell in claim.cells())
        return judge(claim, results) if complete else None

    found = []
    for evidence in claim.evidence:
        if not evidence.is_counter_run:
            value = expression.evaluate(evidence.formula, dict(evidence.constants))
            found.append(Found(evidence, value=value))
        elif (judgement := judged(variants[_name(evidence)].results)) is not None:
            found.append(Found(evidence, judgement=judgement))
    judgement = judged(outcome.results)
    if not outcome.experiment.scored:
        return Scored(claim, judgement, tuple(found), None, f"{outcome.experiment.evidence}, not scored")
    if outcome.preliminary:
        note = "interrupted" if outcome.interrupted else "a quick look gives no verdict"
        return Scored(claim, judgement, tuple(found), None, note)
    assert judgement is not None
    return Scored(claim, judgement, tuple(found), judgement.verdict)
