"""Metric paths, and the aggregation of replications: one place that knows how a run's columns are laid out.

A path names one number of a run, `flow.0.goodput`, or aggregates a column over several rows,
`mean(flow.0-8.goodput)`. experiments/README.md has the whole grammar.
"""

from __future__ import annotations

import math
import operator
import re
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import quantity
from interlayer.errors import InputError, suggestion

from . import catalogue, stats, support

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlayer._core import Run

    from .stats import Estimate, Floats
    from .support import Support

_GROUPS = {
    "flow": ("flows", "id"),
    "node": ("nodes", "id"),
    "frame": ("frames", "class"),
    "scheme": ("schemes", "id"),
    "queue": ("queues", "id"),
    "link": ("links", "id"),
    "window": ("windows", "id"),
}
TABLES = dict(_GROUPS.values())
"""The tables of a run, and the column that names a row in each. Read them with `table`: a run may lack one."""

FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda x: float(np.mean(x)),
    "sum": lambda x: float(np.sum(x)),
    "min": lambda x: float(np.min(x)),
    "max": lambda x: float(np.max(x)),
    "spread": lambda x: float(np.max(x) - np.min(x)),
    "jain": stats.jain,
    "cv": stats.variation,
}
"""What may stand before the bracket of a metric that is taken over several rows."""
_NTH = "smallest"
"""Of the rows, the k-th smallest: `smallest(2, flow.*.goodput)`."""

_COUNTS: dict[str, Callable[[float, float], bool]] = {"below": operator.lt, "above": operator.gt}
"""How many rows lie on that side of so many times the mean of all: `below(0.1, flow.*.goodput)`."""
_CALL = re.compile(r"(\w+)\((.*)\)")
_PAIR = re.compile(r",\s*(?=(?:" + "|".join(_GROUPS) + r")\.)")
_CORRELATION = "correlation"
"""Of two columns over the same rows, Pearson's: `correlation(flow.*.window_mean, flow.*.goodput)`."""
_RATIO = "ratio"
"""The sum of one column over the sum of another: `ratio(node.*.msdus_delivered, node.*.data_frames_sent)`."""
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def table(run: Run, name: str) -> list[dict[str, Any]]:
    """The rows of a table; none where the run has no such table."""
    return run.get(name) or []  # type: ignore[return-value]


def number(value: object) -> float | None:
    """A cell as a number; None for a text, and for what is missing or undefined."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def read(run: Run, metric: str) -> tuple[str, float]:
    """The column a metric path names, and its value in this run (nan where the run has none).

    A time series is a metric too, where the run kept it: its mean over the measured time, as `flow.0.cwnd`.

    Paths: `flow.0.goodput`, `flow.download.goodput`, `node.ap.failures`, `frame.data.airtime`,
    `scheme.lle-tcp@sender.acks_made`, `queue.ap.air.dropped`, `summary.jain`; the unit suffix may be left out. With a
    function, over several rows: `jain(flow.0-8.goodput)`. Raises `InputError`.
    """
    if missing := metric.count("(") - metric.count(")"):
        what = f'a ")" is missing; write {metric}{")" * missing}' if missing > 0 else 'a ")" without its "("'
        raise InputError(f'metric "{metric}": {what}', metric)
    if call := _CALL.fullmatch(metric):
        return _aggregated(run, call[1], call[2], metric)
    group, _, rest = metric.partition(".")
    if group == "summary":
        row: Mapping[str, Any] = run["summary"]
        name = rest
    elif group in _GROUPS:
        entry, name = _split(run, group, rest)
        row = _row(run, group, entry, metric)
    else:
        raise InputError(f'no metric "{metric}"{suggestion(group, ["summary", *_GROUPS])}', metric)
    return _value(run, group, row, name, metric)


_MEANS = {("queue", "packets"): "mean_packets", ("flow", "cwnd"): "cwnd_mean"}
"""Time series whose exact mean over the measured time is a column: the name of the series leads to it."""

SERIES = ("ssthresh", "flight_size", "rwnd", "rto", "srtt")
"""What is a time series of a flow and no column of the tables."""


def by_name(run: Run, path: str) -> str:
    """A path of a series with the entry's name where it has an index: `flow.0.cwnd` is `flow.upload.cwnd`."""
    group, _, rest = path.partition(".")
    entry, dot, name = rest.partition(".")
    rows = table(run, _GROUPS[group][0]) if group in _GROUPS else []
    if not dot or not entry.isdecimal() or int(entry) >= len(rows):
        return path
    return f"{group}.{rows[int(entry)][_GROUPS[group][1]]}.{name}"


def _over_time(run: Run, group: str, row: Mapping[str, Any], name: str, metric: str) -> tuple[str, float] | None:
    """The mean of a time series over the measured time; None where the entry has none of that name."""
    start = f"{group}.{row.get(_GROUPS[group][1])}." if group in _GROUPS else ""
    kept = run.get("series")
    if kept is None:
        if group == "flow" and quantity.without_unit(name) in SERIES and row.get("protocol", "tcp") == "tcp":
            hint = "keep it with --series (in Python: series=True), and this is its mean over time"
            raise InputError(f'metric "{metric}": {name} is a time series; {hint}', metric)
        return None
    own = {path.removeprefix(start): path for path in kept if start and path.startswith(start)}
    try:
        column = quantity.column(name, own)
    except InputError:
        return None
    one = kept[own[column]]
    values = one["value"][np.asarray(one["t_s"]) > run.get("warmup_s", 0.0)]
    values = values[np.isfinite(values)]
    return column, float(values.mean()) if values.size else math.nan


def _value(run: Run, group: str, row: Mapping[str, Any], name: str, metric: str) -> tuple[str, float]:
    mean = _MEANS.get((group, quantity.without_unit(name)), name)
    name = mean if _has(row, mean) else name
    if not _has(row, name) and (found := _over_time(run, group, row, name, metric)):
        return found
    column = quantity.column(name, row)
    value = row[column]
    if value is None:
        return column, math.nan
    if isinstance(value, str):
        raise InputError(f'metric "{metric}" is a text, not a number', metric)
    return column, float(value)


def _split(run: Run, group: str, rest: str) -> tuple[str, str]:
    """Entry and column of `ap.air.dropped`: the longest id that begins it, since ids may have dots of their own."""
    plural, key = _GROUPS[group]
    ids = [str(row[key]) for row in table(run, plural) if rest.startswith(f"{row[key]}.")]
    if ids:
        entry = max(ids, key=len)
        return entry, rest[len(entry) + 1 :]
    entry, _, name = rest.rpartition(".")
    return entry, name


def _row(run: Run, group: str, entry: str, metric: str) -> Mapping[str, Any]:
    plural, key = _GROUPS[group]
    rows = table(run, plural)
    if entry.isdecimal() and int(entry) < len(rows):
        return rows[int(entry)]
    for row in rows:
        if row[key] == entry:
            return row
    raise _several(run, group, entry, metric) or _no_entry(group, entry, rows, metric)


def _several(run: Run, group: str, entry: str, metric: str) -> InputError | None:
    """The error of a selection of rows that no function is taken over; None for what selects nothing."""
    try:
        picked = _selected(run, group, entry, "", metric)
    except InputError:
        return None
    plural, key = _GROUPS[group]
    functions = f"mean({metric}), sum(…), min(…) or max(…)"
    if len(picked) == 1:
        return InputError(f'metric "{metric}": a selection; write {group}.{picked[0][key]}, or {functions}', metric)
    return InputError(f'metric "{metric}": {len(picked)} {plural} match; write {functions}', metric)


def _no_entry(group: str, entry: str, rows: Sequence[Mapping[str, Any]], metric: str) -> InputError:
    plural, key = _GROUPS[group]
    if not rows:
        return InputError(f'metric "{metric}": the run has no {plural}', metric)
    return InputError(f'metric "{metric}": no {group} "{entry}"{suggestion(entry, [r[key] for r in rows])}', metric)


def _aggregated(run: Run, function: str, inner: str, metric: str) -> tuple[str, float]:
    """`mean(flow.0-8.goodput)`: a column over the selected rows; nan where one of them has no value."""
    factor, place = None, 0
    if function == _CORRELATION:
        return _CORRELATION, _correlation(run, inner, metric)
    if function == _RATIO:
        return _RATIO, _ratio(run, inner, metric)
    if function in _COUNTS:
        factor, inner = _factor(function, inner, metric)
    elif function == _NTH:
        place, inner = _place(inner, metric)
    elif function not in FUNCTIONS:
        known = [*FUNCTIONS, *_COUNTS, _NTH, _CORRELATION, _RATIO]
        raise InputError(f'metric "{metric}": no function "{function}"{suggestion(function, known)}', metric)
    pairs = _column(run, inner, metric)
    values = [value for _, value in pairs]
    if factor is not None:
        return function, _count(_COUNTS[function], factor, values)
    if place > len(values):
        raise InputError(f'metric "{metric}": there are {len(values)} rows', metric)
    if place:
        return pairs[0][0], math.nan if any(map(math.isnan, values)) else sorted(values)[place - 1]
    return function if function in ("jain", "cv") else pairs[0][0], FUNCTIONS[function](values)


def _column(run: Run, inner: str, metric: str) -> list[tuple[str, float]]:
    """A column's name and value in each of the selected rows: `flow.0-8.goodput`."""
    group, _, rest = inner.partition(".")
    if group not in _GROUPS:
        raise InputError(f'metric "{metric}": nothing to aggregate in "{group}"{suggestion(group, _GROUPS)}', metric)
    entries, _, name = rest.rpartition(".")
    return [_value(run, group, row, name, metric) for row in _selected(run, group, entries, name, metric)]


def _correlation(run: Run, inner: str, metric: str) -> float:
    """`flow.*.window_mean, flow.*.goodput`: Pearson's coefficient; nan where a column is constant or has a hole."""
    columns = [[value for _, value in _column(run, part, metric)] for part in _PAIR.split(inner)]
    if len(columns) != 2 or len(columns[0]) != len(columns[1]):
        example = f"{_CORRELATION}(flow.*.window_mean, flow.*.goodput)"
        raise InputError(f'metric "{metric}": two columns over the same rows, as in {example}', metric)
    return stats.correlation(*columns)


def _ratio(run: Run, inner: str, metric: str) -> float:
    """`node.*.msdus_delivered, node.*.data_frames_sent`: sum over sum; nan where nothing is there to divide by."""
    parts = _PAIR.split(inner)
    if len(parts) != 2:
        example = f"{_RATIO}(node.*.msdus_delivered, node.*.data_frames_sent)"
        raise InputError(f'metric "{metric}": two columns, as in {example}', metric)
    over, under = (sum(value for _, value in _column(run, part, metric)) for part in parts)
    return over / under if under else math.nan


def _factor(function: str, inner: str, metric: str) -> tuple[float, str]:
    """`0.1, flow.*.goodput`: a factor of the mean, and what is counted."""
    number, comma, rest = inner.partition(",")
    try:
        factor = float(number)
    except ValueError:
        factor = math.nan
    if not comma or not (math.isfinite(factor) and factor >= 0):
        example = f"{function}(0.5, flow.*.goodput)"
        raise InputError(f'metric "{metric}": {function} needs a factor of the mean first, as in {example}', metric)
    return factor, rest.strip()


def _place(inner: str, metric: str) -> tuple[int, str]:
    """`2, flow.*.goodput`: a place from 1 on, and what is ordered."""
    number, comma, rest = inner.partition(",")
    if not comma or not number.strip().isdecimal() or int(number) < 1:
        example = f"{_NTH}(2, flow.*.goodput)"
        raise InputError(f'metric "{metric}": {_NTH} needs a place from 1 on first, as in {example}', metric)
    return int(number), rest.strip()


def _count(side: Callable[[float, float], bool], factor: float, values: Sequence[float]) -> float:
    """How many of `values` lie on that side of `factor` times their mean; nan where one has no value."""
    limit = factor * float(np.mean(values))
    return math.nan if math.isnan(limit) else float(sum(side(value, limit) for value in values))


def _selected(run: Run, group: str, entries: str, name: str, metric: str) -> list[Mapping[str, Any]]:
    """The rows of a selection, each once, in the run's order.

    A selection is a list, with commas, of ids, indices, ranges of indices (`0-8`) and patterns (`up*`). A pattern
    leaves out rows that have no such column, as UDP flows have no timeouts.
    """
    plural, key = _GROUPS[group]
    rows = table(run, plural)
    ids = [str(row[key]) for row in rows]
    picked: set[int] = set()
    for entry in [entries] if entries in ids else [part.strip() for part in entries.split(",")]:
        if entry in ids and not entry.isdecimal():
            picked.add(ids.index(entry))
        elif match := _RANGE.fullmatch(entry):
            first, last = int(match[1]), int(match[2] or match[1])
            if not rows:
                raise _no_entry(group, entry, rows, metric)
            if not first <= last < len(rows):
                raise InputError(f'metric "{metric}": no {plural} {entry}; they are 0 to {len(rows) - 1}', metric)
            picked.update(range(first, last + 1))
        elif "*" in entry:
            matching = {i for i, id_ in enumerate(ids) if fnmatchcase(id_, entry.replace("[", "[[]"))}
            having = {i for i in matching if _has(rows[i], name) or _has_series(run, group, rows[i], name)}
            if not matching:
                raise _no_entry(group, entry, rows, metric)
            picked |= having or matching  # where none has the column, reading it says what there is
        else:
            raise _no_entry(group, entry, rows, metric)
    return [rows[i] for i in sorted(picked)]


def _has(row: Mapping[str, Any], name: str) -> bool:
    try:
        quantity.column(name, row)
    except InputError:
        return False
    return True


def _has_series(run: Run, group: str, row: Mapping[str, Any], name: str) -> bool:
    return run.get("series") is not None and _over_time(run, group, row, name, name) is not None


def support_of(run: Run, metric: str) -> Support:
    """What values a metric can have at all, in its column's unit; `support.ANY` where nothing is known.

    Raises `InputError` as `read` does.
    """
    name = read(run, metric)[0]
    call = _CALL.fullmatch(metric)
    function, inner = (call[1], call[2]) if call else ("", metric)
    if function == _CORRELATION:
        return support.CORRELATION
    if function in (_RATIO, "cv", "spread") or function in _COUNTS:
        return support.AMOUNT
    if function == "jain":
        return support.index_of(len(_column(run, inner, metric)))
    group = inner.partition(",")[2].strip().partition(".")[0] if function == _NTH else inner.partition(".")[0]
    found = _of_column(run, group, inner, name)
    if function == "sum" and found == support.SHARE:
        return support.AMOUNT
    return found


def _of_column(run: Run, group: str, path: str, name: str) -> Support:
    """What values a column of a table can have; `path` names the entry."""
    if group == "window" and "@" in path:  # a counter of a scheme
        return support.AMOUNT
    if group == "flow" and quantity.without_unit(name) in SERIES:
        return support.AMOUNT
    return catalogue.support_of(group, name, len(table(run, "flows")))


def estimate(runs: Sequence[Run], metric: str, unit: str = "", level: float = 0.95) -> Estimate:
    """A metric over replications, in `unit` (none: the column's own), its interval inside what the metric can be."""
    name, values = column(runs, metric)
    factor = quantity.scale(name, unit) if unit else 1.0
    return stats.estimate(values * factor, level, support_of(runs[0], metric).scaled(factor))


def column(runs: Sequence[Run], metric: str) -> tuple[str, Floats]:
    """A metric's column over replications: shape (runs,), in the order of the seeds."""
    pairs = [read(run, metric) for run in runs]
    return pairs[0][0], np.array([value for _, value in pairs], dtype=np.float64)


def tables(runs: Sequence[Run]) -> dict[str, Any]:
    """Every table that the runs have, and the summary, aggregated over them: what `run` prints as JSON."""
    found: dict[str, Any] = {name: aggregate(runs, name) for name in TABLES if any(name in run for run in runs)}
    return found | {"summary": aggregate_summary(runs)}


def aggregate(runs: Sequence[Run], name: str) -> list[dict[str, Any]]:
    """One row for each entry of a table, numbers as `{"mean", "ci95"}` over the runs that have it.

    `ci95` is the half-width of the 95 % interval, None for one run; `ci95_low` and `ci95_high` are there where the
    interval is not symmetric (`Estimate.ends`). Texts are those of the first run.
    """
    key, group = TABLES[name], next(g for g, (t, _) in _GROUPS.items() if t == name)
    entries = dict.fromkeys(row[key] for run in runs for row in table(run, name))

    def support(entry: str, column: str) -> Support:
        return _of_column(runs[0], group, str(entry), column)

    return [
        _aggregate_rows([row for run in runs for row in table(run, name) if row[key] == e], partial(support, e))
        for e in entries
    ]


def aggregate_summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The summary over replications, each number as `{"mean", "ci95"}`."""
    return _aggregate_rows([run["summary"] for run in runs], partial(_of_column, runs[0], "summary", ""))


def _aggregate_rows(rows: Sequence[Mapping[str, Any]], of: Callable[[str], Support]) -> dict[str, Any]:
    return {name: _aggregate([row.get(name) for row in rows], of(name)) for name in rows[0]}


def _aggregate(values: Sequence[Any], of: Support) -> Any:
    if any(isinstance(v, str | bool) for v in values):
        return values[0]
    numbers = [float(v) for v in values if v is not None and math.isfinite(v)]
    if not numbers:
        return {"mean": None, "ci95": None}
    return stats.estimate(numbers, support=of).as_json()
