"""Running an experiment: all points and arms with common seeds, in rounds, until every claim is decided.

Every cell's run i has the seed `first + i`, so arms and points are paired. A round is one batch of the core. After it
each claim that is still open asks for more runs of the cells it rests on (and of its counter-runs), up to the file's
`max_runs`; the others stay as they are. What the paper leaves open is varied: each claim is run and judged in every
reading (`readings`). All looks at a claim, over rounds and readings, share one level of 5 %: a round has its part of it
(Bonferroni), within a round the readings have theirs by Holm's procedure. Where readings are many, pairs of changes are
run only for a claim that is the same in the base and in every single change (serial gatekeeping).
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from functools import cache as cached
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from interlayer import quantity, simulator, toml_text
from interlayer.engine import HERE
from interlayer.errors import Collected, InputError
from interlayer.measure import metrics, stats

from . import bands, expression, ledger, readings
from .experiment import Cell, Claim, Evidence, Experiment, Gain, Quantity, Ratio, Value, overlap
from .measures import Probes, measure
from .outcome import Closes, Found, Judged, Outcome, Results, Scored
from .readings import BASE, Missing, Reading
from .recording import TOLD, Place, Recording
from .recording import place as recorded_place
from .runs import Cache, Ended, Wanted, extend
from .verdict import (
    FOR_LARGEST,
    Judgement,
    Verdict,
    columns_of,
    holm_step,
    judge,
    judge_columns,
    over_readings,
    supports_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from interlayer import _core
    from interlayer._core import Run
    from interlayer.engine import Engine

    from .ledger import Assumption
    from .runs import Progress


QUICK_RUNS = 3
"""Replications with `quick`, which looks but gives no verdict."""


@dataclass(slots=True)
class Variant:
    """The experiment in a reading, or a counter-run of it: its own scenarios and results."""

    extra: tuple[tuple[str, Any], ...] = ()
    reading: Reading = BASE
    results: Results = field(init=False)
    scenarios: dict[Cell, tuple[str, _core.Scenario]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.results = Results(self.reading)


@dataclass(slots=True)
class Campaign:
    e: Experiment
    seed: int
    engine: Engine
    overrides: tuple[tuple[str, str], ...]
    progress: Progress | None
    cache: Cache
    ended: Ended = field(default_factory=Ended)
    """How the rounds ended so far."""
    recording: Recording | None = None
    """The runs of arms that are recorded; read from the experiment's file where it is not given."""

    def __post_init__(self) -> None:
        if self.recording is None and self.e.recording is not None:
            self.recording = Recording.read(self.e.recording)

    def scenario(self, variant: Variant, cell: Cell) -> tuple[str, _core.Scenario]:
        """What names a cell's runs (`Cache.key`), and its scenario."""
        if cell not in variant.scenarios:
            try:
                scenario = simulator.parse(self.e.scenario(cell.arm), self.settings(variant, cell))
            except InputError as error:
                raise error.behind(f"{self.e.id}, {cell.arm}: ") from error.__cause__
            variant.scenarios[cell] = Cache.key(scenario), scenario
        return variant.scenarios[cell]

    def settings(self, variant: Variant, cell: Cell) -> list[tuple[str, str]]:
        """What makes an arm's base scenario the cell: paths and TOML texts."""
        under, over = self._of_reading(variant.reading, cell)
        ours = [(path, toml_text.literal(value)) for path, value in [*self.e.settings, *under]]
        own = [*self.e.overrides(cell), *over, *variant.extra]
        return [*ours, *self.overrides, *((path, toml_text.literal(value)) for path, value in own)]

    def _of_reading(self, reading: Reading, cell: Cell) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
        """What a reading sets under the sweep and the arms, and what over them."""
        tabled = self.e.open.tabled if self.e.open else ()
        over = [(path, v) for path, v in reading.settings if any(overlap(path, other) for other in tabled)]
        under = [one for one in reading.settings if one not in over]
        # An arm's own setting of a path stands: it is what the arm is.
        arm = dict(self.e.arms)[cell.arm]
        over = [(path, v) for path, v in over if not any(overlap(path, other) for other, _ in arm)]
        return under, [*over, *reading.of_arm(cell.arm, arm)]

    def looks_like(self, variant: Variant, claim: Claim) -> tuple[object, ...]:
        """What fixes the samples of a claim: two readings with the same cannot differ in it."""
        return (tuple(self.scenario(variant, cell)[0] for cell in claim.cells()), variant.results.read(claim))

    def place(self, variant: Variant, cell: Cell) -> tuple[Place, str, list[tuple[str, str]]]:
        """A cell's place in the recording, its base scenario and what is set over it.

        A counter-run changes what is simulated: what was recorded stays as it is.
        """
        text, settings = self.e.scenario(cell.arm), self.settings(replace(variant, extra=()), cell)
        return recorded_place(text, settings), text, settings

    def most(self, variant: Variant, claim: Claim, limit: int) -> int:
        """The replications that a claim can have: of recorded cells there are no more than were made."""
        if self.recording is None or self.recording.maker is not None:
            return limit
        cells = [cell for cell in claim.cells() if cell.arm in self.e.recorded]
        return min([limit, *(len(self.recording.rows(self.place(variant, cell)[0])) for cell in cells)])

    def _recorded(self, targets: Iterable[tuple[Variant, Cell, int]]) -> None:
        """Fill the lists of recorded cells with what there is, up to what is wanted."""
        if self.recording is None:
            return
        asked = [(variant, cell, runs, self.place(variant, cell)) for variant, cell, runs in targets]
        self.recording.make([(at, text, settings, runs) for _, _, runs, (at, text, settings) in asked])
        for variant, cell, runs, (at, _, _) in asked:
            into = variant.results.runs.setdefault(cell, [])
            found = self.recording.runs(at, self.scenario(variant, cell)[1].flows)
            into += found[len(into) : runs]

    def extend(self, wanted: Iterable[tuple[Variant, Cell, int]], round_: int) -> bool:
        """Bring each (variant, cell) to a number of runs; false if interrupted, or if a run failed."""
        targets: dict[tuple[int, Cell], tuple[Variant, int]] = {}
        for variant, cell, runs in wanted:
            _, before = targets.get((id(variant), cell), (variant, 0))
            targets[id(variant), cell] = (variant, max(runs, before))
        lists = [
            Wanted(*self.scenario(variant, cell), variant.results.runs.setdefault(cell, []), runs)
            for (_, cell), (variant, runs) in targets.items()
            if cell.arm not in self.e.recorded
        ]
        live = [(v, cell, runs) for (_, cell), (v, runs) in targets.items() if cell.arm in self.e.recorded]
        try:
            self._recorded(live)
        except KeyboardInterrupt:
            self.ended = Ended(interrupted=True)
            return False
        what = self.e.id if round_ == 1 else f"{self.e.id}, round {round_}"
        self.ended = extend(lists, self.seed, self.cache, self.engine, what, self.progress)
        return self.ended.is_whole

    def over_time(self, variant: Variant) -> Run | None:
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
    engine: Engine = HERE,
    overrides: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
    cache: Cache | None = None,
    over_time: bool = False,
    base_only: bool = False,
    recording: Recording | None = None,
) -> Outcome:
    """Run an experiment and judge its claims.

    `runs` fixes the number of replications; without it there are 10 and as many more as the claims need, up to
    `max_runs`. `quick` takes 3 and gives no verdict. `overrides` (path, TOML text) go over the file's settings and
    under the sweep and the arms; one of a path that these set is an `InputError`, one of what is open closes it.
    `engine` makes the runs. `progress(what, standing)` is called now and then. With a `cache` that several experiments
    are given, what they have in common runs once; it may have a store on disk behind it. `over_time`: the run that the
    file asks to see over time is run again for its series. With `base_only` nothing open is varied, and the verdicts
    are preliminary. `recording` has the runs of arms that are recorded, in the place of the experiment's own file.
    """
    started = time.perf_counter()
    _check_overrides(experiment, overrides)
    experiment = _closed(experiment, overrides)
    cache = Cache() if cache is None else cache
    cache.begin_count()
    campaign = Campaign(experiment, seed, engine, tuple(overrides), progress, cache, recording=recording)
    main = Variant()
    evidence = [(c, e) for c in experiment.claims for e in c.evidence if e.is_counter_run]
    variants = {_name(e): Variant(e.overrides) for _, e in evidence}
    wanted = runs or (QUICK_RUNS if quick else stats.MIN_RUNS)
    most = runs or (QUICK_RUNS if quick else max(experiment.max_runs, stats.MIN_RUNS))
    alpha = stats.ALPHA / stats.looks(wanted, most)

    claims = _claims(campaign, main, [] if quick or base_only else _readings(experiment))
    # The first round is the whole grid, the cells that claims rest on in each reading, and those of counter-runs.
    plan = [(main, cell, wanted) for cell in experiment.cells()]
    counter_runs = [] if quick else [(claim, variants[_name(e)]) for claim, e in evidence]
    plan += [(variant, cell, wanted) for claim, variant in counter_runs for cell in claim.cells()]
    plan += [(variant, cell, wanted) for c in claims for variant in c.distinct[1:] for cell in c.claim.cells()]
    later = [(variant, cell) for c in claims for variant in c.later for cell in c.claim.cells()]
    for variant, cell in [*((variant, cell) for variant, cell, _ in plan), *later]:
        campaign.scenario(variant, cell)  # all mistakes before the first run
    finished = campaign.extend(plan, 1)

    round_ = 1
    while finished and not quick and experiment.scored:
        more = [(main, cell, n) for cell, n in _twins(experiment, main.results)]
        for c in claims:
            if any(map(c.sees, c.claim.rests_on)):
                continue  # no number of runs decides it
            if c.later and c.stands(alpha):
                more += [(variant, cell, wanted) for variant in c.admit() for cell in c.claim.cells()]
                continue
            for variant in c.open(alpha):
                done = _done(variant, c.claim, most)
                limit = most if variant is main else min(most, max(wanted, reading_runs(c.claim)))
                limit = campaign.most(variant, c.claim, limit)
                if done < limit:
                    more += [(variant, cell, stats.next_runs(done, limit)) for cell in c.claim.cells()]
        for claim, variant in counter_runs:
            done = _done(variant, claim, most)
            limit = campaign.most(variant, claim, most)
            if done < limit and judge(claim, variant.results).verdict is Verdict.UNTESTABLE:
                more += [(variant, cell, stats.next_runs(done, limit)) for cell in claim.cells()]
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
        interrupted=campaign.ended.interrupted,
        failures=tuple(campaign.ended.failures),
        fixed_runs=runs,
        base_only=base_only and experiment.open is not None and experiment.scored,
        readings=_run_for_some(claims),
    )
    if campaign.recording is not None:
        places = [campaign.place(main, cell)[0] for cell in outcome.cells() if cell.arm in experiment.recorded]
        outcome.recorded = campaign.recording.facts(places)
    if over_time and finished:
        outcome.over_time = campaign.over_time(main)
    by_claim = {c.claim.id: c for c in claims}
    open_still = cached(lambda: ledger.unvaried(assumptions(experiment, overrides)) if experiment.ledger else ())
    outcome.scored = [
        _score(c, outcome, campaign, variants, by_claim.get(c.id), alpha, open_still) for c in experiment.claims
    ]
    outcome.wall_s = time.perf_counter() - started
    if finished and runs is None and not overrides and experiment.cells():
        cache.remember_cost(experiment.id, "quick" if quick else "base" if base_only else "all")
    return outcome


def scenarios(
    e: Experiment, *, quick: bool = False, base_only: bool = False, overrides: Sequence[tuple[str, str]] = ()
) -> dict[str, _core.Scenario]:
    """The scenarios of the first round, each once, by what names their runs (`Cache.key`). Nothing is run."""
    _check_overrides(e, overrides)
    e = _closed(e, overrides)
    campaign, main = Campaign(e, 1, HERE, tuple(overrides), None, Cache()), Variant()
    claims = _claims(campaign, main, [] if quick or base_only else _readings(e))
    plan = [(main, cell) for cell in e.cells()]
    for claim in () if quick else e.claims:
        counter_runs = [Variant(evidence.overrides) for evidence in claim.evidence if evidence.is_counter_run]
        plan += [(variant, cell) for variant in counter_runs for cell in claim.cells()]
    plan += [(variant, cell) for c in claims for variant in c.distinct[1:] for cell in c.claim.cells()]
    return dict(campaign.scenario(variant, cell) for variant, cell in plan if cell.arm not in e.recorded)


def checked(e: Experiment, overrides: Sequence[tuple[str, str]] = ()) -> list[Reading]:
    """Read every scenario of an experiment, in each of its readings and counter-runs, and try its metrics.

    Gives the readings. All mistakes are told as one `InputError`.
    """
    mistakes = Collected()
    with mistakes.noted():
        _check_overrides(e, overrides)
    e = _closed(e, overrides)
    found = readings.chosen(e.open.parameters) if e.open is not None else []
    campaign, main = Campaign(e, 1, HERE, tuple(overrides), None, Cache()), Variant()
    wanted = [(main, cell) for cell in e.cells()]
    wanted += [(variant, cell) for variant in [Variant(reading=r) for r in found] for cell in e.cells()]
    for claim in e.claims:
        of_claim = [Variant(one.overrides) for one in claim.evidence if one.is_counter_run]
        wanted += [(variant, cell) for variant in of_claim for cell in claim.cells()]
    for variant, cell in wanted:
        with mistakes.noted():
            campaign.scenario(variant, cell)
    mistakes.told()
    # A very short run of a cell has the columns of a long one.
    probes: dict[tuple[str, str], Probes] = {}
    for asked in _asked(e):
        settings = campaign.settings(asked.variant, asked.cell)
        probe = probes.setdefault((asked.cell.arm, repr(settings)), Probes(e.scenario(asked.cell.arm), [settings], ()))
        with mistakes.noted():
            path = f"{asked.path}metric"
            try:
                name = measure(asked.metric, probe, option="").name
                if asked.unit:
                    path = f"{asked.path}unit"
                    quantity.scale(name, asked.unit)
            except InputError as error:
                raise InputError(f"{path}: {error}{asked.where}", path) from error
    mistakes.told()
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """A metric that is asked of a cell, in a unit (none: the column's own), with the place that an error names."""

    metric: str
    unit: str
    cell: Cell
    variant: Variant
    path: str
    where: str


def _asked(e: Experiment) -> Iterator[_Asked]:
    """The metrics of an experiment, each once for one cell of each arm that it is read in, and for each counter-run.

    Its own, those of claims, and those of what is derived. What was recorded has no counter-run.
    """
    main, seen = Variant(), set[tuple[str, str, str, str]]()
    own = {cell.arm: cell for cell in reversed(e.cells())}

    def fresh(read: Iterable[tuple[str, Cell]], unit: str, variant: Variant, path: str, where: str) -> Iterator[_Asked]:
        for metric, cell in read:
            key = (metric, unit, cell.arm, repr(variant.extra))
            if key not in seen and not (variant.extra and cell.arm in e.recorded):
                seen.add(key)
                of = f" in arm {cell.arm}" if len(e.arms) > 1 else ""
                yield _Asked(metric, unit, cell, variant, path, of + where)

    yield from fresh([(e.metric, own[arm]) for arm, _ in e.arms if arm in own], e.unit, main, "", "")
    for i, claim in enumerate(e.claims):
        variants = [(main, "")]
        for one in claim.evidence:
            if one.is_counter_run:
                variants.append((Variant(one.overrides), f', counter-run "{one.text}"'))
        for variant, where in variants:
            for q in claim.quantities():
                for part, unit in _parts(q, "" if q.of_pairs else claim.sample_unit):
                    yield from fresh(_read(part, claim.metric), unit, variant, f"claim[{i}].", where)
    for i, derived in enumerate(e.derived):
        for part, unit in _parts(derived.quantity, ""):
            yield from fresh(_read(part, e.metric), unit, main, f"derived[{i}].", "")


def _parts(q: Quantity, unit: str) -> list[tuple[Quantity, str]]:
    """What is measured for a quantity, with units: itself, or the inputs of its formula."""
    return [(one, its) for _, one, its in q.formula.inputs] if q.formula else [(q, unit)]


def _read(q: Quantity, metric: str) -> Iterator[tuple[str, Cell]]:
    """The cells that a measured quantity reads, and the metric that it reads there."""
    own = q.metric or metric
    for term in q.terms:
        if isinstance(term, Gain):
            yield from ((own, term.new), (q.over or own, term.old))
        else:
            yield own, term


def assumptions(e: Experiment, overrides: Sequence[tuple[str, str]] = ()) -> list[Assumption]:
    """The values of all cells of an experiment in its base reading, in the order of the scenario, with their basis.

    What the paper sweeps is printed. What a reading sets is open and varied. The rest is as the paper's ledger says.
    """
    if not e.base:
        return []
    campaign, variant = Campaign(e, 1, HERE, tuple(overrides), None, Cache()), Variant()
    tabled = e.open.tabled if e.open else ()
    swept = [path for path in e.paths if path not in tabled]
    swept += [path for leader, others in e.follow if leader not in tabled for path, _ in others]
    printed = [ledger.key_of(path) for path in swept]
    varied = _varied(campaign)

    def basis(key: str, value: Any) -> tuple[ledger.Basis | None, str, str, tuple[str, ...]]:
        if any(overlap(key, path) for path in printed):
            return ledger.Basis.PRINTED, f"{e.source}: swept", "", ()
        by = tuple(name for name, keys in varied.items() if key in keys)
        mark = e.ledger.mark(e.id, key, value) if e.ledger else None
        if by:
            return ledger.Basis.OPEN, mark.where if mark else "", "", by
        return (mark.basis, mark.where, mark.what, ()) if mark else (None, "", "", ())

    found: dict[tuple[str, str], tuple[Any, ...]] = {}
    for cell in e.cells():
        _, scenario = campaign.scenario(variant, cell)
        for key, value in ledger.values_of(json.loads(scenario.effective_json())):
            if cell.arm in e.recorded and not _is_told(key):
                continue
            if (key, text := toml_text.literal(value)) not in found:
                found[key, text] = (key, value, *basis(key, value))
    # What has no key is neither swept nor varied; what claims rest on says so itself.
    rest = [u for u in (e.ledger.unmodelled if e.ledger else ()) if u.is_of(e.id)]
    named = {u.what for u in rest}
    rest += [ledger.Unmodelled(m.name, m.why) for m in (e.open.missing if e.open else ()) if m.name not in named]
    return [*ledger.gathered(found.values()), *(u.as_assumption() for u in rest)]


def _is_told(key: str) -> bool:
    """Whether a live run takes a key from its cell: of the transport a part, for all else of it is the kernel's."""
    return not key.startswith(("flow.transport.", "flow.reader.")) or key.removeprefix("flow.transport.") in TOLD


def _varied(campaign: Campaign) -> dict[str, set[str]]:
    """The keys whose values a parameter's choices change in some arm, by parameter: what an arm sets itself stands."""
    e, base = campaign.e, Variant()
    firsts = list({cell.arm: cell for cell in reversed(e.cells())}.values())
    found: dict[str, set[str]] = {p.name: set() for p in (e.open.parameters if e.open else ())}
    for cell in firsts if found else ():
        was = _by_key(campaign.scenario(base, cell)[1])
        for p in e.open.parameters if e.open else ():
            for choice in p.choices[1:]:
                key, scenario = campaign.scenario(Variant(reading=Reading(((p.name, choice),))), cell)
                if key != campaign.scenario(base, cell)[0]:
                    is_ = _by_key(scenario)
                    found[p.name] |= {key for key in was.keys() | is_.keys() if was.get(key) != is_.get(key)}
    return found


def _by_key(scenario: _core.Scenario) -> dict[str, list[Any]]:
    """The values of a scenario, as the ledger spells their keys."""
    found: dict[str, list[Any]] = {}
    for key, value in ledger.values_of(json.loads(scenario.effective_json())):
        found.setdefault(key, []).append(value)
    return found


READING_RUNS = 20
"""Replications of a reading other than the base at most: what is open in them after so many stays so."""


def reading_runs(claim: Claim) -> int:
    """Replications of a claim in a reading other than the base at most: what the largest of n, or one of n, needs."""
    needed = stats.even_chance_runs(claim.one_of) if claim.one_of else 0
    return max(READING_RUNS, FOR_LARGEST * claim.largest_of, needed)


class _Varied:
    """A claim, and the variants in which it is run: one for each reading that it can tell from the others.

    Its variants from the first `after` on wait until the claim stands in these. `run` of them are run so far.
    """

    def __init__(self, claim: Claim, campaign: Campaign, variants: Sequence[Variant], after: int) -> None:
        self.claim = claim
        self.variants = variants
        looks = [campaign.looks_like(variant, claim) for variant in variants] if len(variants) > 1 else [()]
        first: dict[object, int] = {}
        self.same_as = [first.setdefault(look, i) for i, look in enumerate(looks)]
        self.stages = [list(dict.fromkeys(i for i in self.same_as[:after] if i < after))]
        self.later = [variants[i] for i in dict.fromkeys(self.same_as) if i >= after]
        self.run = after if self.later else len(variants)

    @property
    def distinct(self) -> list[Variant]:
        """Those in which it is run so far, the base first."""
        return [self.variants[i] for stage in self.stages for i in stage]

    def admit(self) -> list[Variant]:
        """Let those that wait be run, and give them."""
        admitted, self.later = self.later, []
        self.stages.append([i for i in dict.fromkeys(self.same_as) if i >= self.run])
        self.run = len(self.variants)
        return admitted

    def stands(self, alpha: float) -> bool:
        """Whether it is resolved in all in which it is run, and everywhere alike."""
        found = {one.verdict for one in self._judged(alpha).values()}
        return len(found) == 1 and Verdict.UNTESTABLE not in found

    def _judged(self, alpha: float) -> dict[int, Judgement]:
        """The judgement of each variant that is run, at the level that the others of its stage leave it.

        A later stage has the whole level again: it is reached only where all of the stage before are resolved, so a
        true null there was rejected already, or there is none (serial gatekeeping).
        """
        found: dict[int, Judgement] = {}
        for stage in self.stages:
            all_results = [self.variants[i].results for i in stage]
            read = [(columns_of(self.claim, one), supports_of(self.claim, one)) for one in all_results]
            judged = holm_step([partial(judge_columns, self.claim, c, supports=s) for c, s in read], alpha)
            found |= dict(zip(stage, judged, strict=True))
        return found

    def open(self, alpha: float) -> list[Variant]:
        """The variants in which it is not resolved."""
        return [self.variants[i] for i, one in self._judged(alpha).items() if one.verdict is Verdict.UNTESTABLE]

    def sees(self, missing: Missing) -> bool:
        """Whether what is missing would have acted in a run of the claim, in any reading."""
        of = [variant.results.runs[cell] for variant in self.distinct for cell in self.claim.cells()]
        return any(np.any(metrics.column(runs, missing.seen)[1]) for runs in of)

    def readings(self, alpha: float) -> list[Judged]:
        """Its judgement in every reading that was run for it, the base first."""
        found = self._judged(alpha)
        those = zip(self.variants[: self.run], self.same_as, strict=False)
        return [Judged(variant.reading, found[i]) for variant, i in those]


def _claims(campaign: Campaign, main: Variant, varied: Sequence[Reading]) -> list[_Varied]:
    """The claims that runs can decide, each with the readings but the base in which it is to be judged."""
    e = campaign.e
    variants = [main, *(Variant(reading=r) for r in varied)]
    after = len(readings.first(e.open.parameters)) if e.open is not None and varied else 1
    return [_Varied(c, campaign, variants, after) for c in e.claims if not c.is_arithmetic]


def _run_for_some(claims: Sequence[_Varied]) -> tuple[Reading, ...]:
    """The readings in which some claim was run, in their order; none where nothing was varied."""
    most = max((c.variants[: c.run] for c in claims), key=len, default=())
    return tuple(variant.reading for variant in most) if len(most) > 1 else ()


def _done(variant: Variant, claim: Claim, most: int) -> int:
    return min((len(variant.results.runs[cell]) for cell in claim.cells()), default=most)


def _readings(e: Experiment) -> list[Reading]:
    """The readings of an experiment but the base; none where nothing is open, or no claim is scored."""
    if e.open is None or not e.scored or all(c.is_arithmetic for c in e.claims):
        return []
    return readings.chosen(e.open.parameters)[1:]


def _closed(e: Experiment, overrides: Sequence[tuple[str, str]]) -> Experiment:
    """The experiment without what is open in it and set by hand."""
    if e.open is None:
        return e
    set_ = {
        p.name: "set on the command line"
        for p in e.open.parameters
        if any(overlap(path, mine) for c in p.choices for mine, _ in c.settings for path, _ in overrides)
    }
    return replace(e, open=e.open.without(set_)) if set_ else e


def _twins(e: Experiment, results: Results) -> list[tuple[Cell, int]]:
    """Cells that have fewer runs than another with the same bits: equal samples are not to show different means."""
    columns = {cell: metrics.column(runs, e.metric)[1] for cell, runs in results.runs.items() if runs}
    found = []
    for cell, mine in columns.items():
        alike = [len(o) for o in columns.values() if len(o) > len(mine) and np.array_equal(o[: len(mine)], mine)]
        if alike:
            found.append((cell, max(alike)))
    return found


def _name(e: Evidence) -> str:
    """Counter-runs with the same settings share their runs, whichever claims they serve."""
    return toml_text.literal(dict(e.overrides))


def _check_overrides(e: Experiment, overrides: Sequence[tuple[str, str]]) -> None:
    own = dict.fromkeys(e.paths, "sweep")
    own |= {path: "sweep" for _, others in e.follow for path, _ in others}
    own |= {path: f"arm {arm}" for arm, change in e.arms for path, _ in change}
    for path, _ in overrides:
        for there, what in own.items():
            if overlap(there, path):
                raise InputError(f"{path}: {e.id} sets it itself ({what} of the experiment)", path)


def _score(
    claim: Claim,
    outcome: Outcome,
    campaign: Campaign,
    variants: dict[str, Variant],
    varied: _Varied | None,
    alpha: float,
    unvaried: Callable[[], tuple[str, ...]],
) -> Scored:
    e, results = outcome.experiment, outcome.results

    def complete(results: Results) -> bool:
        return all(results.runs.get(cell) for cell in claim.cells())

    judgement = judge(claim, results) if complete(results) else None
    found = [
        one
        for evidence in claim.evidence
        if (one := explained(claim, evidence, judgement, results, variants.get(_name(evidence)))) is not None
    ]
    contradicts = tuple(
        f"cannot hold together with {' and '.join(other for other in c.claims if other != claim.id)}: {c.text}"
        for c in e.contradictions
        if claim.id in c.claims
    )
    made = partial(Scored, claim, judgement, tuple(found), contradicts=contradicts)
    if claim.is_arithmetic:
        note = "arithmetic, checked and not scored" + (f": {claim.arithmetic}" if claim.arithmetic else "")
        return made(Verdict.ARITHMETIC if e.scored and not outcome.preliminary else None, note)
    if not e.scored:
        return made(None, f"{e.evidence}, not scored")
    if outcome.preliminary:
        return made(None, outcome.why_preliminary)
    assert varied is not None
    judged = varied.readings(alpha)
    rests_on = tuple(one for one in claim.rests_on if varied.sees(one))
    verdict = Verdict.UNTESTABLE if rests_on else over_readings([j.judgement.verdict for j in judged])
    note = ". ".join(f"rests on {one.name}, which is not modelled: {one.why.rstrip('.')}" for one in rests_on)
    if claim.one_of and verdict is Verdict.HOLDS:
        # A run that the source picked may be any: that one of ours is alike shows that it can be, not that it is usual.
        verdict, note = Verdict.COMPATIBLE, f"compatible with one run of {claim.one_of} that was picked, and no more"
    kept = judged if outcome.readings else []
    made = partial(Scored, claim, judged[0].judgement, tuple(found), contradicts=contradicts, rests_on=rests_on)
    return made(
        verdict,
        note,
        readings=tuple(kept),
        of_readings=readings.how_many(e.open.parameters) if e.open else 1,
        unvaried=unvaried() if verdict is Verdict.DIFFERS else (),
    )


def explained(
    claim: Claim, evidence: Evidence, judgement: Judgement | None, results: Results, variant: Variant | None
) -> Found | None:
    """A piece of evidence, computed: what came out, and whether it closes the gap. None where runs are missing."""
    if not evidence.is_counter_run:
        value = expression.evaluate(evidence.formula, dict(evidence.constants))
        return Found(evidence, value=value, closes=_agrees(claim, evidence, value, judgement))
    if variant is None or not all(variant.results.runs.get(cell) for cell in claim.cells()):
        return None
    there = judge(claim, variant.results)
    yes, no = Closes.YES, Closes.NO
    if judgement is not None and judgement.verdict is Verdict.HOLDS:  # there is no gap to close
        yes, no = Closes.KEEPS, Closes.BREAKS
    closes = {Verdict.HOLDS: yes, Verdict.DIFFERS: no}.get(there.verdict, Closes.OPEN)
    if all(results.runs.get(cell) and same_bits(results, variant.results, cell) for cell in claim.cells()):
        closes = Closes.SAME
    return Found(evidence, judgement=there, closes=closes)


def same_bits(a: Results, b: Results, cell: Cell) -> bool:
    """Whether the runs of a cell are the same in both, bit by bit: then what was set has no effect."""
    pairs = zip(a.runs[cell], b.runs[cell], strict=False)
    return all(x is y or repr([x[t] for t in _OF_A_RUN]) == repr([y[t] for t in _OF_A_RUN]) for x, y in pairs)


_OF_A_RUN: Final = ("events", "flows", "frames", "nodes")


def _agrees(claim: Claim, evidence: Evidence, value: float, judgement: Judgement | None) -> Closes:
    """With what arithmetic agrees, where it is of the claim's own number."""
    printed = claim.test.expected.value if isinstance(claim.test, Value | Ratio) else None
    if printed is None or evidence.unit != claim.unit or claim.unit == "1":
        return Closes.ARITHMETIC
    if bands.of_value(printed, value, claim.unit).holds(printed):
        return Closes.PAPER
    ours = judgement.measured[0].mean if judgement and len(judgement.measured) == 1 else None
    if ours is not None and bands.of_value(value, ours, claim.unit).holds(value):
        return Closes.OURS
    return Closes.NEITHER
