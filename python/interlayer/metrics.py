"""Metric paths, and the aggregation of replications: one place that knows how a run's columns are laid out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import quantity, stats
from .errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._core import Run
    from .stats import Floats

_GROUPS = {
    "flow": ("flows", "id"),
    "node": ("nodes", "id"),
    "frame": ("frames", "class"),
    "scheme": ("schemes", "id"),
}
TABLES = dict(_GROUPS.values())
"""The tables of a run, and the column that names a row in each."""


def _table(run: Run, name: str) -> list[dict[str, Any]]:
    return run[name]  # type: ignore[literal-required, no-any-return]


def read(run: Run, metric: str) -> tuple[str, float]:
    """The column a metric path names, and its value in this run (nan where the run has none).

    Paths: `flow.0.goodput`, `flow.download.goodput`, `node.ap.queue_drops`, `frame.data.airtime`,
    `scheme.lle-tcp@sender.acks_made`, `summary.jain`; the unit suffix may be left out. Raises `InputError`.
    """
    group, _, rest = metric.partition(".")
    if group == "summary":
        row: Mapping[str, Any] = run["summary"]
        name = rest
    elif group in _GROUPS:
        entry, _, name = rest.rpartition(".")
        row = _row(run, group, entry, metric)
    else:
        raise InputError(f'no metric "{metric}"{suggestion(group, ["summary", *_GROUPS])}', metric)
    column = quantity.column(name, row)
    value = row[column]
    if value is None:
        return column, math.nan
    if isinstance(value, str):
        raise InputError(f'metric "{metric}" is a text, not a number', metric)
    return column, float(value)


def _row(run: Run, group: str, entry: str, metric: str) -> Mapping[str, Any]:
    plural, key = _GROUPS[group]
    rows = _table(run, plural)
    if entry.isdecimal() and int(entry) < len(rows):
        return rows[int(entry)]
    for row in rows:
        if row[key] == entry:
            return row
    raise InputError(f'metric "{metric}": no {group} "{entry}"{suggestion(entry, [r[key] for r in rows])}', metric)


def column(runs: Sequence[Run], metric: str) -> tuple[str, Floats]:
    """A metric's column over replications: shape (runs,), in the order of the seeds."""
    pairs = [read(run, metric) for run in runs]
    return pairs[0][0], np.array([value for _, value in pairs], dtype=np.float64)


def aggregate(runs: Sequence[Run], table: str) -> list[dict[str, Any]]:
    """One row for each entry of a table, numbers as `{"mean", "ci95"}` over the runs that have it.

    `ci95` is the half-width of the 95 % interval, None for one run. Texts are those of the first run.
    """
    key = TABLES[table]
    names = dict.fromkeys(row[key] for run in runs for row in _table(run, table))
    return [_aggregate_rows([row for run in runs for row in _table(run, table) if row[key] == name]) for name in names]


def aggregate_summary(runs: Sequence[Run]) -> dict[str, Any]:
    """The summary over replications, each number as `{"mean", "ci95"}`."""
    return _aggregate_rows([run["summary"] for run in runs])


def _aggregate_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: _aggregate([row.get(name) for row in rows]) for name in rows[0]}


def _aggregate(values: Sequence[Any]) -> Any:
    if any(isinstance(v, str | bool) for v in values):
        return values[0]
    numbers = [float(v) for v in values if v is not None and math.isfinite(v)]
    if not numbers:
        return {"mean": None, "ci95": None}
    e = stats.estimate(numbers)
    return {"mean": e.mean, "ci95": e.half_width}
