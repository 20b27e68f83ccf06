"""`interlayer readings --over`: the claims of experiments along one or two ranges of what their paper leaves open.

All else is as the base has it, but for what the command fixes. `region` says which points are asked for and what they
come to; this module makes their runs, in a store that a later command goes on from.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from interlayer import simulator
from interlayer.engine import HERE
from interlayer.errors import InputError, suggestion
from interlayer.measure import stats

from . import point, readings, region
from .campaign import Campaign, Variant
from .joint import RESAMPLES, RUNS
from .readings import Choice, Parameter, Reading
from .region import Along, Area, At, Place, Points
from .runs import Cache, Wanted, extend
from .verdict import columns_of, judge_columns

if TYPE_CHECKING:
    from interlayer.engine import Engine

    from .experiment import Claim, Experiment
    from .runs import Progress


@dataclass(slots=True)
class Surveyed:
    """What was found along the ranges."""

    experiments: tuple[Experiment, ...]
    ranges: tuple[Parameter, ...]
    fixed: Reading
    """What was not as the base has it, the ranges apart."""
    claims: tuple[Claim, ...]
    points: Points
    seed: int
    version: str
    most: int
    wall_s: float = 0.0

    def along(self) -> list[Along]:
        """Each claim, then all together, along one range."""
        return [region.along(self.points, claim) for claim in self._all()]

    def areas(self) -> list[Area]:
        """The same over two ranges."""
        return [region.area(self.points, claim) for claim in self._all()]

    def _all(self) -> list[list[At]]:
        single = [self.points.for_claim(i) for i in range(len(self.claims))]
        return [*single, self.points.together()] if len(single) > 1 else single

    @property
    def is_complete(self) -> bool:
        """Whether the search ended by itself, and not because so many points were enough."""
        return len(self.points.places) < self.most

    def value(self, range_: int, place: float) -> float:
        """The value at a place of one of the ranges."""
        found = self.ranges[range_].range
        assert found is not None
        return found.value(place)


def chosen(
    experiments: Sequence[Experiment], names: Sequence[str], at: Sequence[str] = ()
) -> tuple[list[Parameter], Reading]:
    """The ranges that `names` ask for, `power` or `power=7 dBm..12 dBm`, and the reading that `at` fixes, `fresh=last`.

    Raises `InputError`.
    """
    opens = [e.open for e in experiments if e.open is not None]
    known = {p.name: p for p in readings.together(opens)}
    ranged = [name for name, p in known.items() if p.range is not None]
    found = []
    for text in names:
        name, _, ends = (part.strip() for part in text.partition("="))
        parameter = known.get(name)
        if parameter is None or parameter.range is None:
            raise InputError(f'--over: "{name}": {_why_no_range(name, known, ranged)}', "over")
        found.append(_narrowed(parameter, ends) if ends else parameter)
    if len({p.name for p in found}) < len(found):
        raise InputError("--over: a range comes twice", "over")
    if not 1 <= len(found) <= 2:
        raise InputError("--over: one range or two at once", "over")
    changes: list[tuple[str, Choice]] = []
    for text in at:
        name, _, value = (part.strip() for part in text.partition("="))
        if name not in known:
            raise InputError(f'--at: no parameter "{name}"{suggestion(name, list(known))}', "at")
        choices = {c.name: c for c in known[name].choices}
        if value not in choices:
            raise InputError(f'--at: {name} has no value "{value}"{suggestion(value, list(choices))}', "at")
        if value != known[name].choices[0].name:
            changes.append((name, choices[value]))
    return found, Reading(tuple(changes))


def _why_no_range(name: str, known: Mapping[str, Parameter], ranged: Sequence[str]) -> str:
    """Why claims cannot be followed along a parameter, and along which they can."""
    hint = suggestion(name, ranged)
    near = hint if hint.startswith(";") else ""
    there = f"ranges open here: {', '.join(ranged)}" if ranged else "no range is open here"
    if name in known:
        values = ", ".join(choice.name for choice in known[name].choices)
        return f"open here with values ({values}) and no range; --over takes ranges only{near or f' ({there})'}"
    return f"no such range is open here{near or f'; {there}'}"


def _narrowed(parameter: Parameter, ends: str) -> Parameter:
    """The parameter with other ends of its range, `7 dBm..12 dBm`."""
    own = parameter.range
    assert own is not None
    texts = [part.strip() for part in ends.split("..")]
    numbers = []
    for text in texts:
        head = text.removesuffix(own.unit).strip()
        try:
            numbers.append(float(head))
        except ValueError:
            numbers = []
            break
    if len(numbers) != 2 or not numbers[0] < numbers[1] or (own.scale == "log" and numbers[0] <= 0):
        example = f"{own.text(own.low)}..{own.text(own.high)}"
        raise InputError(f'--over: {parameter.name}: "{ends}" is no range; expected as {example}', "over")
    return replace(parameter, range=replace(own, low=numbers[0], high=numbers[1]))


def run(
    experiments: Sequence[Experiment],
    over: Sequence[Parameter],
    fixed: Reading,
    *,
    seed: int = 1,
    runs: int = RUNS,
    most: int | None = None,
    engine: Engine = HERE,
    progress: Progress | None = None,
    cache: Cache | None = None,
) -> Surveyed | None:
    """Find where along one or two ranges the claims of some experiments are true; None if interrupted.

    `most` points are asked at most, and not fewer than a search begins with. A run that fails raises its `RunError`.
    Claims that are arithmetic or impossible are left out.
    """
    started = time.perf_counter()
    if runs < stats.MIN_RUNS:
        raise InputError(f"--runs: a verdict needs {stats.MIN_RUNS} runs at least", "runs")
    limit = region.MOST[len(over)] if most is None else most
    base = tuple(p.range.place(p.range.base) for p in over if p.range is not None)
    inside = tuple(round(x, 12) for x in base) if all(0 <= x <= 1 for x in base) else ()
    if limit < (least := region.least(len(over), inside)):
        with_base = ", the base among them" if inside else ""
        raise InputError(
            f"--points: {limit} is below {least}, the points that a search begins with{with_base}", "points"
        )
    for e in experiments:
        if e.recorded:
            raise InputError(f"{e.id}: has recorded arms; `interlayer reproduce {e.id}` has its readings")
    shared = Cache() if cache is None else cache
    parts = [
        (
            e,
            [c for c in e.claims if not (c.is_arithmetic or c.impossible)],
            Campaign(e, seed, engine, (), progress, shared),
        )
        for e in experiments
        if e.open is not None
    ]
    if not any(claims for _, claims, _ in parts):
        raise InputError("none of these claims rests on a measurement")

    def reading(place: Place) -> Reading:
        moved = []
        for p, x in zip(over, place, strict=True):
            assert p.range is not None
            choice = p.range.choice(p.range.value(x))
            if choice != p.choices[0]:
                moved.append((p.name, choice))
        return Reading((*moved, *(change for change in fixed.changes if change[0] not in {p.name for p in over})))

    def evaluate(places: Sequence[Place]) -> list[list[At]]:
        there = [
            [
                (campaign, claims, Variant(reading=reading(place).within(e.open.names)))
                for e, claims, campaign in parts
                if e.open
            ]
            for place in places
        ]
        wanted = [
            Wanted(*campaign.scenario(variant, cell), variant.results.runs.setdefault(cell, []), runs)
            for row in there
            for campaign, claims, variant in row
            for cell in dict.fromkeys(cell for claim in claims for cell in claim.cells())
        ]
        ended = extend(wanted, seed, shared, engine, f"{len(places)} points", progress)
        if ended.interrupted:
            raise region.CutShortError
        if ended.failures:
            raise ended.failures[0]
        return [[_at(claim, variant) for _, claims, variant in row for claim in claims] for row in there]

    try:
        points = region.search(evaluate, len(over), runs, base=inside, most=limit)
    except region.CutShortError:
        return None
    return Surveyed(
        experiments=tuple(experiments),
        ranges=tuple(over),
        fixed=fixed,
        claims=tuple(claim for _, claims, _ in parts for claim in claims),
        points=points,
        seed=seed,
        version=simulator.version(),
        most=limit,
        wall_s=time.perf_counter() - started,
    )


def _at(claim: Claim, variant: Variant) -> At:
    """A claim at a point."""
    columns = columns_of(claim, variant.results)
    verdict = judge_columns(claim, columns).verdict
    return At(verdict, point.is_true(claim, columns), np.asarray(point.resampled(claim, columns, RESAMPLES)))
