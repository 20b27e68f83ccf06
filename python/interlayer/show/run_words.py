"""A scenario's runs in the words and numbers of tables. Nothing here is an interval where there is one run."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from interlayer import quantity
from interlayer.measure import metrics, stats
from interlayer.measure.support import AMOUNT

from .grid import Column, Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from interlayer._core import Run

MANY = 12
"""So many flows are shown one by one; more of them by groups."""
FULL = 3
"""So many queues that dropped packets are shown."""

_FLOWS = (
    ("goodput_bps", "goodput, Mb/s", "Mb/s", 0),
    ("transfer_time_mean_s", "transfer_time_mean, ms", "ms", 1),
    ("transfer_time_p95_s", "transfer_time_p95, ms", "ms", 4),
    ("rtt_mean_s", "rtt_mean, ms", "ms", 2),
    ("retransmissions", "retransmissions", "1", 3),
    ("timeouts", "timeouts", "1", 5),
    ("datagram_throughput_bps", "datagram_throughput, Mb/s", "Mb/s", 6),
)
"""Columns of flows: name, head, unit, and which of them goes first where there is no room."""
_LATENCY = (
    ("latency_mean_s", "latency_mean, ms", "ms", 2),
    ("latency_p95_s", "latency_p95, ms", "ms", 1),
)
"""The same of radios that aggregate: an aggregate that waits for another is what they add."""

_QUEUES = (
    ("offered_packets", "offered", "packets", 2),
    ("dropped_packets", "dropped", "packets", 0),
    ("dropped_early_packets", "dropped_early", "packets", 3),
    ("mean_packets", "mean_packets", "packets", 4),
    ("mean_wait_s", "mean_wait, ms", "ms", 1),
)


def runs_of(result: Mapping[str, Any]) -> str:
    """`1 run, seed 1` or `10 runs, seeds from 1`."""
    runs, seed = result["runs"], result["seed"]
    return f"1 run, seed {seed}" if runs == 1 else f"{runs} runs, seeds from {seed}"


def note(result: Mapping[str, Any]) -> str:
    """What a figure of runs must say of itself: runs, seeds, the interval if there is one, the version."""
    bars = "" if result["runs"] == 1 else f"; bars: 95 % intervals ({student(result['flows'])})"
    mark = f" {said}." if (said := in_python(result)) else ""
    return f"{runs_of(result)}{bars}.{mark} Interlayer {result['version']}"


def student(rows: Iterable[Mapping[str, Any]]) -> str:
    """What the intervals of rows are."""
    found = (value for row in rows for value in row.values() if isinstance(value, dict) and "ci95" in value)
    return stats.kind(stats.Estimate.read(value) for value in found if value["mean"] is not None)


def in_python(result: Mapping[str, Any]) -> str:
    """Which parts are written in Python, with the hash of their source; empty for none."""
    found = []
    for part in result.get("parts", []):
        source = f"source {part['source_hash']}" if part["source_hash"] else "source unknown, so not stored"
        found.append(f"{part['kind']} {part['name']} ({source})")
    return f"In Python: {', '.join(found)}" if found else ""


def cell(row: Mapping[str, Any], name: str, unit: str) -> str:
    """A column of a row, in `unit`; a dash if the row has none."""
    value = row.get(name)
    if not isinstance(value, dict) or value["mean"] is None:
        return "–"
    return str(stats.Estimate.read(value).scaled(quantity.scale(name, unit)))


def flows(result: Mapping[str, Any]) -> tuple[Grid, list[str]]:
    """A line for each flow, and what is 0 in all of them."""
    rows = result["flows"]
    known = (*_FLOWS[:1], *_LATENCY, *_FLOWS[1:]) if result.get("links") else _FLOWS
    shown = [c for c in known if c[3] == 0 or not _is_nothing(row.get(c[0]) for row in rows)]
    names = [f"{row['id']}  {row.get('from', '')} → {row.get('to', '')}" for row in rows]
    lines = [[n, *(cell(row, c[0], c[2]) for c in shown)] for n, row in zip(names, rows, strict=True)]
    columns = [Column("flow", is_text=True, folds=True), *(Column(c[1], c[3]) for c in shown)]
    zero = [c[1] for c in _FLOWS if c not in shown and any(_is_zero(row.get(c[0])) for row in rows)]
    return Grid(columns, lines), zero


def groups(runs: Sequence[Run]) -> Grid:
    """Many flows in few lines: those of one name and transport together, their least and most beside the mean.

    `up1` and `up2` are one group. Least and most are found in each run, and averaged over the runs.
    """
    members: dict[tuple[str, str], list[str]] = {}
    for row in metrics.table(runs[0], "flows"):
        members.setdefault((re.sub(r"\d+$", "", row["id"]), row.get("protocol", "")), []).append(row["id"])
    if len(members) > MANY:
        members = {("", ""): [row["id"] for row in metrics.table(runs[0], "flows")]}
    lines = []
    for ids in members.values():
        span = ids[0] if len(ids) == 1 else f"{ids[0]} … {ids[-1]}"
        goodput = [_over(runs, f, ids, "goodput_bps", "Mb/s") for f in ("mean", "min", "max", "sum")]
        pages = [_over(runs, "mean", ids, name, "ms") for name, *_ in _TRANSFERS]
        rest = [
            _over(runs, f, ids, n, u) for f, n, u in (("mean", "rtt_mean_s", "ms"), ("sum", "retransmissions", "1"))
        ]
        lines.append([span, str(len(ids)), *goodput, *pages, *rest])
    heads = [("flows", 0), ("number", 1), ("mean(goodput), Mb/s", 0), ("min", 4), ("max", 3), ("sum", 5)]
    heads += [(f"mean({head}), ms", rank) for _, head, rank in _TRANSFERS]
    heads += [("mean(rtt_mean), ms", 7), ("sum(retransmissions)", 8)]
    empty = [i for i, (head, _) in enumerate(heads) if "transfer" in head and all(line[i] == "–" for line in lines)]
    columns = [Column(h, r, is_text=not i, folds=not i) for i, (h, r) in enumerate(heads) if i not in empty]
    return Grid(columns, [[cell for i, cell in enumerate(line) if i not in empty] for line in lines])


_TRANSFERS = (("transfer_time_mean_s", "transfer_time_mean", 2), ("transfer_time_p95_s", "transfer_time_p95", 6))
"""What readers of pages wait for, of groups of flows: column, name, and which goes first where there is no room."""


def _over(runs: Sequence[Run], function: str, ids: Sequence[str], name: str, unit: str) -> str:
    """A function of a column over the flows that have it, over the runs; a dash where none has."""
    found = []
    for run in runs:
        rows = [row for row in metrics.table(run, "flows") if row["id"] in ids]
        values = [v for row in rows if (v := metrics.number(row.get(name))) is not None]
        if values:
            found.append(metrics.FUNCTIONS[function](values))
    return str(stats.estimate(found, support=AMOUNT).scaled(quantity.scale(name, unit))) if found else "–"


def _full(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    full = [q for q in result.get("queues", []) if q["dropped_packets"]["mean"]]
    return sorted(full, key=lambda q: -q["dropped_packets"]["mean"])


def other_queues(result: Mapping[str, Any]) -> str:
    """How many queues dropped packets beside those that are shown; empty for none."""
    more = len(_full(result)) - FULL
    return f"{more} more {'queue' if more == 1 else 'queues'} dropped packets" if more > 0 else ""


def queues(result: Mapping[str, Any]) -> Grid | None:
    """Where packets were dropped, most first, and how long those that were not had to wait; None where none was."""
    full = _full(result)[:FULL]
    shown = [c for c in _QUEUES if c[3] == 0 or not _is_nothing(row.get(c[0]) for row in full)]
    lines = [[q["id"], *(cell(q, c[0], c[2]) for c in shown)] for q in full]
    columns = [Column("queue", is_text=True, folds=True), *(Column(c[1], c[3]) for c in shown)]
    return Grid(columns, lines) if full else None


def links(result: Mapping[str, Any]) -> Grid | str | None:
    """The modes of data frames, a line for each pair of stations; of many how many have which. None without MCSs."""
    rows: dict[frozenset[str], list[Mapping[str, Any]]] = {}
    for row in result.get("links", []):
        rows.setdefault(frozenset((row["from"], row["to"])), []).append(row)
    if len(rows) > MANY:
        counted = Counter(row["mode"] for row in result["links"]).most_common()
        return f"Modes of data frames: {'; '.join(f'{mode}: {n} links' for mode, n in counted)}."
    modes = list(dict.fromkeys(row["mode"] for row in result.get("links", [])))
    if len(modes) == 1 and not any("snr_db" in row for row in result["links"]):
        return f"Mode of data frames: {modes[0]}."
    lines = []
    for there, *back in rows.values():
        returns = [row["mode"] for row in back if row["mode"] != there["mode"]]
        lines.append([f"{there['from']} → {there['to']}", there["mode"], *(returns or ["the same"]), _snr(there)])
    heads = [Column("link", is_text=True, folds=True), Column("mode of data frames", is_text=True, folds=True)]
    heads += [Column("on the way back", 1, is_text=True, folds=True), Column("mean SNR, dB", 0)]
    return Grid(heads, lines) if lines else None


def _snr(row: Mapping[str, Any]) -> str:
    found = row.get("snr_db") or {"mean": None}
    return "–" if found["mean"] is None else f"{found['mean']:.1f}"


_OF_SEVERAL = ("goodput_bps", "datagram_throughput_bps", "jain", "goodput_spread_bps", "retransmissions", "timeouts")
"""What the summary says of all flows together: of a single flow it stands in that flow's line, or is a constant."""


def summary_grid(result: Mapping[str, Any]) -> Grid | None:
    """The summary in two columns, and below it the metrics that were asked for; None where all of it is nothing."""
    found, one = result["summary"], len(result["flows"]) == 1
    names = [n for n in found if not _is_nothing([found[n]]) and not (one and n in _OF_SEVERAL)]
    lines = [[f"summary.{quantity.without_unit(n)}", _labelled(found, n)] for n in names]
    lines += [[quantity.without_unit(n), _labelled(result["metrics"], n)] for n in result.get("metrics", {})]
    return Grid([Column("metric", is_text=True), Column("mean", is_text=True)], lines) if lines else None


def _labelled(row: Mapping[str, Any], name: str) -> str:
    """A column of a row with its unit: rates in Mb/s, all else as it is counted."""
    unit = quantity.natural_unit(name)
    return cell(row, name, unit) + ("" if unit == "1" else f" {unit}")


def _is_zero(value: Any) -> bool:
    return isinstance(value, dict) and value["mean"] == 0 and not value["ci95"]


def _is_nothing(values: Iterable[Any]) -> bool:
    """Whether each of them is 0, undefined, or not there."""
    return all(v is None or (isinstance(v, dict) and (v["mean"] is None or _is_zero(v))) for v in values)
