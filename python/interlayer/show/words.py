"""An experiment in the words and numbers of a table: on screen, on pages, in the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlayer.measure import stats
from interlayer.study import bands, expression, readings
from interlayer.study.experiment import Cell, Crossing, Order, Ratio, Shape, Trend, Value
from interlayer.study.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlayer.measure.stats import Estimate
    from interlayer.study.experiment import Claim, Comparison, Expected, Experiment
    from interlayer.study.outcome import Outcome, Scored


def exact(x: float) -> str:
    """A printed number as the paper has it: every digit, no exponent."""
    return stats.plain(x, 12)


def with_runs(e: Estimate) -> str:
    """A measured number with its interval and how many runs it is of: `5.086 ± 0.012 (10)`."""
    return f"{e} ({e.n})"


def expected_text(claim: Claim) -> str:
    """What the paper says, for tables."""
    match claim.test:
        case Value(expected=e) | Ratio(expected=e):
            return _printed_text(e, claim, claim.unit)
        case Crossing(expected=e):
            return f"from {_printed_text(e, claim, claim.unit)} on"
        case Order(lowest_first=lowest, or_equal=or_equal, printed=printed):
            mark = ("≤" if lowest else "≥") if or_equal else ("<" if lowest else ">")
            ranking = f" {mark} ".join(q.label for q in claim.lines[0].quantities)
            return f"{ranking} ({_printed_text(printed.range, claim, printed.unit)})" if printed else ranking
        case Trend(direction=direction):
            return direction
        case Shape(test="peak", at=at) if at is not None:
            return f"highest at {claim.lines[0].quantities[at].label}"
        case _:
            return "close"


def _printed_text(e: Expected, claim: Claim, unit: str) -> str:
    about = "about " if claim.approx else ""
    unit = unit_text(unit)
    if e.value is not None:
        return f"{about}{exact(e.value)}{unit}"
    if e.low is None:
        return f"at most {'–' if e.high is None else exact(e.high)}{unit}"
    if e.high is None:
        return f"at least {exact(e.low)}{unit}"
    return f"{about}{exact(e.low)} to {exact(e.high)}{unit}"


def unit_text(unit: str) -> str:
    """A unit as it stands behind a number; nothing for "1"."""
    return "" if unit in ("1", "") else f" {unit}"


def arithmetic_text(claim: Claim, e: Experiment) -> str:
    """What the file's arithmetic gives for a claim's number, for tables; a dash where it has none."""
    unit = unit_text(claim.unit)
    if claim.is_computed:
        values = [
            expression.evaluate(q.formula.text, dict(q.formula.constants)) for q in claim.quantities() if q.formula
        ]
        return ", ".join(stats.plain(value) for value in values) + unit
    if not (worked := e.arithmetic(claim)):
        return "–"
    return " to ".join(stats.plain(value, 3) for value in worked) + unit


def measured_text(s: Scored) -> str:
    """What we measured, for tables: one number, or the first and last of a line."""
    if s.judgement is None or s.claim.is_computed:
        return "–"
    unit = unit_text(s.claim.unit)
    estimates = s.judgement.measured
    if not estimates:  # an x that too few runs can tell
        return "–"
    if len(estimates) == 1:
        return str(estimates[0]) + unit
    if isinstance(s.claim.test, Order) or all(len(line.quantities) == 1 for line in s.claim.lines):
        size = len(s.claim.lines[0].quantities)
        lines = [estimates[i : i + size] for i in range(0, len(estimates), size)]
        return "; ".join(", ".join(map(str, line)) for line in lines) + unit
    if isinstance(s.claim.test, Ratio):
        means = [e.mean for e in estimates]
        return f"{stats.plain(min(means), 3)} to {stats.plain(max(means), 3)}{unit}"
    parts, start = [], 0
    for line in s.claim.lines:
        ends = estimates[start].mean, estimates[start + len(line.quantities) - 1].mean
        parts.append(f"{stats.plain(ends[0], 3)} → {stats.plain(ends[1], 3)}")
        start += len(line.quantities)
    return "; ".join(parts) + unit


def verdict_text(s: Scored, outcome: Outcome | None = None) -> str:
    """The verdict's word; a dash where none is given. Of an `outcome` with keys set it says that, too."""
    if s.verdict is None:
        return "–"
    return s.verdict.value + (AS_SET if outcome is not None and outcome.overrides else "")


AS_SET = ", as set"
"""What follows a verdict's word where the set-up is not the paper's."""


def settings(outcome: Outcome) -> str:
    """The keys that were set, with their values; empty where the set-up is that of the file."""
    return ", ".join(f"{path} = {value}" for path, value in outcome.overrides)


def not_the_papers(outcome: Outcome) -> str:
    """A warning where keys were set: of what the claims and the labels still are. Else empty."""
    if not outcome.overrides:
        return ""
    return f"Not the paper's set-up: {settings(outcome)} set; claims and labels are still the paper's"


def tolerance(s: Scored) -> str:
    """The tolerance by which a claim holds whose number looks far off; empty where 10 % or a plain test explain it."""
    if s.verdict is not Verdict.HOLDS or s.judgement is None or not s.judgement.measured:
        return ""
    ours = [e.mean for e in s.judgement.measured]
    match s.claim.test:
        case Value(expected=e) | Ratio(expected=e, spans=False) if e.value is not None:
            pairs = [(e.value, ours[0])]
        case Ratio(expected=e, spans=True) if e.low is not None and e.high is not None:
            pairs = [(e.low, min(ours)), (e.high, max(ours))]
        case _:
            return ""
    far = any(abs(printed - mean) > bands.SHARE * abs(mean) for printed, mean in pairs)
    return f"Tolerance: {s.judgement.band}" if far else ""


def readings_text(s: Scored) -> str:
    """In how many of the readings run a claim holds, and how many are open: `18 of 21, 1 open`; a dash for none."""
    if not s.readings:
        return "–"
    holds, open_ = len(s.readings_that(Verdict.HOLDS)), len(s.readings_that(Verdict.UNTESTABLE))
    return f"{holds} of {len(s.readings)}" + (f", {open_} open" if open_ else "")


def counts(outcome: Outcome) -> dict[str, int]:
    """How many claims there are of each verdict, and how many are only shown."""
    found = {v.value: sum(s.verdict is v for s in outcome.scored) for v in Verdict}
    return found | {"shown": sum(s.verdict is None for s in outcome.scored)}


def tally(outcome: Outcome) -> str:
    """`5 of 6 claims hold, 1 differs` or why there are no verdicts; empty where there are no claims."""
    said = _tally(outcome)
    if not (said and outcome.overrides):
        return said
    note = f"not the paper's: {settings(outcome)} set"
    return f"{said[:-1]}; {note})" if said.endswith(")") else f"{said} ({note})"


def _tally(outcome: Outcome) -> str:
    if not outcome.scored:
        return outcome.why_preliminary.removesuffix(" gives no verdict") if outcome.preliminary else ""
    if not outcome.experiment.scored:
        return f"{len(outcome.scored)} claims, {outcome.experiment.evidence}: shown, not scored"
    if outcome.preliminary:
        return f"{outcome.why_preliminary.removesuffix(' gives no verdict')}: no verdicts"
    count = counts(outcome)
    text = f"{count[Verdict.HOLDS]} of {len(outcome.scored) - count[Verdict.ARITHMETIC]} claims hold"
    if count[Verdict.DIFFERS]:
        text += f", {count[Verdict.DIFFERS]} differ{'s' if count[Verdict.DIFFERS] == 1 else ''}"
    if count[Verdict.COMPATIBLE]:
        text += f", {count[Verdict.COMPATIBLE]} compatible"
    if count[Verdict.DEPENDS]:
        text += f", {count[Verdict.DEPENDS]} depend{'s' if count[Verdict.DEPENDS] == 1 else ''} on the reading"
    if count[Verdict.UNTESTABLE]:
        text += f", {count[Verdict.UNTESTABLE]} untestable"
    if count[Verdict.ARITHMETIC]:
        text += f", {count[Verdict.ARITHMETIC]} arithmetic"
    if outcome.base_only:
        text += " (preliminary: the base reading alone)"
    return text


def run_of(outcome: Outcome) -> str:
    """How many readings of how many were run, and over what."""
    open_ = outcome.experiment.open
    assert open_ is not None
    k, of = len(outcome.readings), readings.how_many(open_.parameters)
    pairs = "; pairs of changes for claims that no single change turned" if of > readings.ALL_UP_TO else ""
    return f"{k} of {of} readings run, over {', '.join(open_.names)}{pairs}"


def recorded(outcome: Outcome) -> str:
    """That arms are a recording, of what day and machine; empty where none is."""
    if outcome.recorded is None:
        return ""
    e = outcome.experiment
    return outcome.recorded.sentence([e.label(arm) for arm in e.recorded])


def base_of(outcome: Outcome) -> str:
    """The base reading: of each parameter the base file's value."""
    open_ = outcome.experiment.open
    assert open_ is not None
    return ", ".join(f"{p.name} = {p.choices[0].name}" for p in open_.parameters)


MANY_ARMS = 8
"""So many columns of numbers with intervals are too wide for a page."""


def measured(outcome: Outcome, comparisons: Sequence[Comparison] = ()) -> tuple[list[str], int, list[list[str]]]:
    """Head, how many columns of it are texts, and lines: a line per point, a column per arm and comparison.

    A cell has the mean, the half-width of its 95 % interval, and how many runs it is of.

    From `MANY_ARMS` arms on, where the points are fewer, the other way round.
    """
    e, have = outcome.experiment, set(outcome.cells())
    columns = [e.label(arm) for arm, _ in e.arms] + [f"gain over {e.label(c.over)}, %" for c in comparisons]
    points: list[list[str]] = []
    numbers: list[list[str]] = []
    for at in dict.fromkeys(cell.at for cell in outcome.cells()):
        points.append([e.label(path, values[i]) for (path, values), i in zip(e.sweep, at, strict=True)])
        cells = [Cell(arm, at) for arm, _ in e.arms]
        found = [outcome.estimate(cell) if cell in have else None for cell in cells]
        found += [outcome.gain(c, at) for c in comparisons]
        numbers.append([with_runs(one) if one else "–" for one in found])
    return turned([e.label(path) for path in e.paths], points, columns, numbers, len(e.arms))


def turned(
    names: list[str], points: list[list[str]], columns: list[str], numbers: list[list[str]], arms: int
) -> tuple[list[str], int, list[list[str]]]:
    """A table of points by columns, `arms` of them, as head, number of text columns, and lines; turned if too wide."""
    if arms < MANY_ARMS or len(points) >= arms:
        return [*names, *columns], len(names), [[*p, *n] for p, n in zip(points, numbers, strict=True)]
    head = ["", *(", ".join(point) or "measured" for point in points)]
    return head, 1, [[name, *line] for name, *line in zip(columns, *numbers, strict=True)]
