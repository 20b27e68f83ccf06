"""Results as JSON: the contract of the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from interlayer import simulator
from interlayer.measure import metrics, stats
from interlayer.study import ledger
from interlayer.study.experiment import Crossing, Expected, Order, Ratio, Shape, Trend, Value
from interlayer.study.measures import METRICS, read
from interlayer.study.outcome import Closes
from interlayer.study.readings import how_many
from interlayer.study.verdict import Verdict

from .json_text import dumps as dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlayer._core import Run
    from interlayer.errors import RunError
    from interlayer.measure.stats import Estimate
    from interlayer.parts import Part
    from interlayer.study.comparison import Difference, Paired
    from interlayer.study.experiment import Claim, Derived, Experiment
    from interlayer.study.ledger import Assumption
    from interlayer.study.measures import Measure
    from interlayer.study.outcome import Outcome, Scored
    from interlayer.study.readings import Open
    from interlayer.study.runs import Ended
    from interlayer.study.store import Store


def run(
    name: str,
    version: str,
    seed: int,
    runs: Sequence[Run],
    wall_s: float,
    how: Ended,
    in_python: Sequence[Part] = (),
    asked: Sequence[Measure] = (),
) -> dict[str, Any]:
    """The object of `interlayer run --json`. Numbers are `Estimate.as_json`; `ci95` is None for one run.

    `asked` are metrics that were asked for beside the tables.
    """
    found: dict[str, Any] = {
        "scenario": name,
        "version": version,
        **outside(),
        "seed": seed,
        "runs": len(runs),
        "wall_s": wall_s,
        "sim_s": sum(run["sim_s"] for run in runs),
    }
    found |= parts(in_python)
    found |= metrics.tables(runs)
    if asked:
        found["metrics"] = {m.name: {"path": m.path, **_over_runs(runs, m)} for m in asked}
    return found | ended(how.interrupted, how.failures)


def _over_runs(runs: Sequence[Run], m: Measure) -> dict[str, Any]:
    values = [value for run in runs if math.isfinite(value := read(run, m.path))]
    return _mean(stats.estimate(values)) if values else {"mean": None, "ci95": None}


def outside() -> dict[str, Any]:
    """The crate outside the repository that the core was built with; nothing if there is none."""
    found = simulator.outside()
    return {} if found is None else {"outside": found}


def store(s: Store) -> dict[str, Any]:
    """The object of `interlayer store list --json`. Sizes are those of the runs; `bytes` is that of the file."""
    cores = [
        {
            "core": one.hash,
            "version": one.version,
            "is_current": one.is_current,
            "scenarios": one.scenarios,
            "runs": one.runs,
            "bytes": one.bytes,
        }
        for one in s.cores()
    ]
    return {"store": str(s.path), "bytes": s.size(), "cores": cores}


def sets(pairs: Sequence[tuple[str, str]]) -> dict[str, str | list[str]]:
    """What changes of a scenario set, by path: the last text, or a list where several append an entry (`flow.+`)."""
    found: dict[str, str | list[str]] = dict(pairs)
    for path in found:
        if path.endswith(".+") and len(texts := [text for one, text in pairs if one == path]) > 1:
            found[path] = texts
    return found


def parts(in_python: Sequence[Part]) -> dict[str, Any]:
    """What is said of parts written in Python; nothing if there is none."""
    return {"parts": [part.as_json() for part in in_python]} if in_python else {}


def ended(interrupted: bool, failures: Sequence[RunError]) -> dict[str, Any]:
    """What is said of runs that are missing; nothing if none is."""
    found: dict[str, Any] = {"interrupted": True} if interrupted else {}
    if failures:
        found["failed"] = [{"scenario": e.scenario, "seed": e.seed, "error": str(e)} for e in failures]
    return found


def outcome(o: Outcome) -> dict[str, Any]:
    """The object of `interlayer reproduce --json`; `expected`, `measured` and `ci95` are in the claim's unit."""
    e = o.experiment
    found: dict[str, Any] = {
        "experiment": e.id,
        "title": e.title,
        "source": e.source,
        "version": o.version,
        **outside(),
        "seed": o.seed,
        "runs": o.runs,
        "wall_s": o.wall_s,
        "sim_s": o.sim_s,
        "metric": e.metric,
        "unit": e.unit,
    }
    if o.overrides:
        found["set"] = sets(o.overrides)
    if o.preliminary or o.base_only:
        found["preliminary"] = True
    if e.open is not None:
        found["open"] = open_(e.open, o)
    if o.recorded is not None:
        found["recorded"] = {"arms": list(e.recorded), **o.recorded.as_json()}
    found |= ended(o.interrupted, o.failures)
    found["rows"] = rows(o)
    if e.comparisons:
        found["gains"] = gains(o)
    found["claims"] = [claim(s, e) for s in o.scored]
    if e.contradictions:
        found["contradictions"] = [{"claims": list(c.claims), "text": c.text} for c in e.contradictions]
    if e.derived:
        found["derived"] = [_derived(d, o) for d in e.derived]
    return found


def open_(what: Open, o: Outcome | None = None) -> dict[str, Any]:
    """What the paper leaves open, and which readings of how many were run."""
    found: dict[str, Any] = {
        "title": what.title,
        "source": what.source,
        "parameters": [
            {"name": p.name, "silent": p.silent, "values": [c.name for c in p.choices]} for p in what.parameters
        ],
        "stated": dict(what.stated),
    }
    if what.missing:
        found["missing"] = [{"name": one.name, "why": one.why, "seen": one.seen} for one in what.missing]
    if o is not None:
        found["k"] = max(1, len(o.readings))
        found["K"] = how_many(what.parameters)
        found["readings"] = [r.id for r in o.readings] or ["base"]
    return found


def assumptions(e: Experiment, rows: Sequence[Assumption]) -> dict[str, Any]:
    """The object of `interlayer check --assumptions --json`: each value of the cells with what it rests on."""
    return {
        "experiment": e.id,
        "counts": ledger.counts(rows),
        "values": [
            {
                "key": row.key or None,
                "values": list(row.values),
                "basis": row.basis.value if row.basis else None,
                "where": row.where,
                "what": row.what,
                "varied_by": list(row.varied),
            }
            for row in rows
        ],
    }


def _derived(d: Derived, o: Outcome) -> dict[str, Any]:
    """Something derived: shown, not scored. `computed` from constants, or `measured` with its half-width."""
    value = o.derived(d)
    found = {"text": d.text, "unit": d.unit, "expected": d.expected, "formula": d.shown()}
    if d.quantity.is_computed:
        return found | {"computed": value.mean if value else None}
    found |= {"measured": value.mean if value else None, "ci95": value.half_width if value else None}
    return found | ends([value] if value else [], one=True)


def ends(estimates: Sequence[Estimate], *, one: bool = False) -> dict[str, Any]:
    """`ci95_low` and `ci95_high`, lists as `ci95` is (numbers for `one`), where an interval is not symmetric."""
    if all(e.ends is None for e in estimates):
        return {}
    low, high = [e.low for e in estimates], [e.high for e in estimates]
    return {"ci95_low": low[0] if one else low, "ci95_high": high[0] if one else high}


def rows(o: Outcome) -> list[dict[str, Any]]:
    """One row per point and arm: the swept values, then mean and half-width in the experiment's unit."""
    e = o.experiment
    found = []
    for cell in o.cells():
        estimate = o.estimate(cell)
        at = {path: e.value(cell, path) for path in e.paths}
        measured = estimate.as_json() | {"unit": e.unit, "runs": estimate.n}
        found.append({"arm": cell.arm, **at, **measured})
    return found


def gains(o: Outcome) -> list[dict[str, Any]]:
    """One row per comparison and point, in percent, paired over the seeds."""
    e = o.experiment
    found = []
    for at in dict.fromkeys(cell.at for cell in o.cells()):
        for comparison in e.comparisons:
            if (gain := o.gain(comparison, at)) is None:
                continue
            point = {path: values[i] for (path, values), i in zip(e.sweep, at, strict=True)}
            measured = gain.as_json() | {"unit": "%", "runs": gain.n}
            found.append({"of": comparison.of, "over": comparison.over, **point, **measured})
    return found


def _expected(c: Claim) -> Any:
    """What the paper says, as JSON: a number, `[low, high]`, the ranking best first, a direction, a shape's name."""
    match c.test:
        case Value(expected=Expected() as e) | Ratio(expected=Expected() as e) | Crossing(expected=Expected() as e):
            return e.value if e.value is not None else [e.low, e.high]
        case Order():
            return [q.label for q in c.lines[0].quantities]
        case Trend(direction=direction):
            return direction
        case Shape(test=test):
            return test


def claim(s: Scored, e: Experiment) -> dict[str, Any]:
    """A claim with its verdict. A value or gain has one number for `measured`, other kinds a list, line by line."""
    worked = e.arithmetic(s.claim)
    estimates = s.judgement.measured if s.judgement else ()
    one = isinstance(s.claim.test, Value | Crossing) or (isinstance(s.claim.test, Ratio) and not s.claim.test.spans)
    means: Any = [e.mean for e in estimates]
    halves: Any = [e.half_width for e in estimates]
    found = {
        "id": s.claim.id,
        "text": s.claim.text,
        "kind": s.claim.kind,
        "unit": s.claim.unit,
        "expected": _expected(s.claim),
        **({"arithmetic": worked[0] if len(worked) == 1 else list(worked)} if worked else {}),
        "measured": (means[0] if means else None) if one else means,
        "ci95": (halves[0] if halves else None) if one else halves,
        **ends(estimates, one=one),
        "verdict": s.verdict.value if s.verdict else None,
        "why": s.why,
        "band": s.judgement.band if s.judgement else None,
        "strength": s.claim.strength,
    }
    if s.claim.is_arithmetic:
        found["check"] = s.judgement.verdict.value if s.judgement else None
    if s.readings:
        found["readings"] = _in_readings(s)
    if s.rests_on:
        found["rests_on"] = [one.name for one in s.rests_on]
    if s.unvaried:
        found["not_varied"] = list(s.unvaried)
    found |= {name: True for name in ("inferred", "approx") if getattr(s.claim, name)}
    if isinstance(s.claim.test, Order) and (printed := s.claim.test.printed):
        e_ = printed.range
        found["printed"] = {"value": e_.value if e_.value is not None else [e_.low, e_.high], "unit": printed.unit}
    if formulas := s.claim.formulas():
        found["formulas"] = formulas
    if not one:
        found["of"] = [
            ", ".join(part for part in (line.label, q.label) if part) for line in s.claim.lines for q in line.quantities
        ]
    found["evidence"] = [
        {
            "text": f.evidence.text,
            **({"set": dict(f.evidence.overrides)} if f.evidence.is_counter_run else {"formula": f.evidence.formula}),
            **({"let": dict(f.evidence.constants)} if f.evidence.constants else {}),
            **({"value": f.value, "unit": f.evidence.unit} if f.value is not None else {}),
            "closes": f.closes.value,
            "identical": f.closes is Closes.SAME,
            **(
                {
                    "measured": [e.mean for e in f.judgement.measured],
                    "ci95": [e.half_width for e in f.judgement.measured],
                    **ends(f.judgement.measured),
                    "verdict": f.judgement.verdict.value,
                }
                if f.judgement
                else {}
            ),
        }
        for f in s.found
    ]
    return found


def _in_readings(s: Scored) -> dict[str, Any]:
    """A claim in each reading: how many of each verdict, and of each reading what was measured."""
    found: dict[str, Any] = {"k": len(s.readings), "K": s.of_readings}
    for name, verdict in (("holds", Verdict.HOLDS), ("differs", Verdict.DIFFERS), ("unresolved", Verdict.UNTESTABLE)):
        found[name] = len(s.readings_that(verdict))
    found["turned_by"] = list(s.turned_by)
    found["of"] = [
        {
            "reading": j.reading.id,
            "set": {name: choice.name for name, choice in j.reading.changes},
            "verdict": j.judgement.verdict.value,
            "measured": [e.mean for e in j.judgement.measured],
            "ci95": [e.half_width for e in j.judgement.measured],
            **ends(j.judgement.measured),
            "runs": j.judgement.runs,
            "why": j.judgement.reason,
        }
        for j in s.readings
    ]
    return found


def comparison(c: Paired) -> dict[str, Any]:
    """The object of `interlayer compare --json`. An arm's `difference` is to the first arm, whose own is None."""
    found: dict[str, Any] = {
        "scenario": c.scenario,
        "version": c.version,
        **outside(),
        "seed": c.seed,
        "runs": c.replications,
        "wall_s": c.wall_s,
        "sim_s": sum(run["sim_s"] for runs in c.runs.values() for run in runs),
        "baseline": c.baseline.label,
    }
    if c.overrides:
        found["set"] = sets(c.overrides)
    found |= parts(c.parts)
    found |= ended(c.interrupted, c.failures)
    if c.measures:
        found["metrics"] = {m.name: m.path for m in c.measures}
    compared = list(dict.fromkeys([*(m for m in METRICS if c.has(m)), *(m.name for m in c.measures)]))
    found["arms"] = [
        {
            "scheme": arm.scheme,
            "label": arm.label,
            **({"set": sets(arm.settings)} if arm.settings else {}),
            **metrics.tables(c.runs[arm.label]),
            "compared": {m: _mean(c.estimate(arm.label, m)) for m in compared},
            "difference": None if arm is c.baseline else {m: _difference(c.difference(arm.label, m)) for m in compared},
        }
        for arm in c.arms
    ]
    return found


def _mean(e: Estimate) -> dict[str, Any]:
    return e.as_json()


def _difference(d: Difference) -> dict[str, Any]:
    known = not math.isnan(d.p_value)
    return {
        **_mean(d.estimate),
        "relative_percent": d.relative,
        "p_value": d.p_value if known else None,
        "significant": d.significant if known else None,
    }
