"""Running an experiment: all points and arms with common seeds, in rounds, until every claim is decided.

Every cell's run i has the seed `first + i`, so arms and points are paired. A round is one batch of the core. After it
each claim that is still open asks for more runs of the cells it rests on (and of its counter-runs), up to the file's
`max_runs`; the others stay as they are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import simulator, toml_text
from interlayer.errors import InputError
from interlayer.measure import metrics, stats

from . import expression
from .experiment import Cell, Claim, Evidence, Experiment
from .outcome import Found, Outcome, Results, Scored
from .runs import Store, extend
from .verdict import Judgement, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlayer import _core
    from interlayer._core import Run

    from .runs import Progress, Wanted


QUICK_RUNS = 3
"""Replications with `quick`, which looks but gives no verdict."""


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
        return extend(wanted_runs, self.seed, self.store, self.jobs, what, self.progress)

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
