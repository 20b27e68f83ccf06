"""Results as records and as polars frames, units in the names of the columns, and their files: Parquet and CSV.

Without polars there are records, and CSV of Python's own writer.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, Literal

from interlayer import extras, toml_text
from interlayer.measure import metrics

from .json_text import finite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from interlayer._core import Run
    from interlayer.study.comparison import Paired
    from interlayer.study.outcome import Outcome

    Records = list[dict[str, Any]]


def table(runs: Sequence[Run], name: str) -> pl.DataFrame:
    """A table of every run as one frame, a row per run and entry, `seed` first; no rows if no run has entries.

    What is undefined is null, here as in every frame and file.
    """
    return from_records(table_records(runs, name))


def table_records(runs: Sequence[Run], name: str) -> Records:
    """The same as records."""
    return [{"seed": run["seed"], **row} for run in runs for row in metrics.table(run, name)]


def summary(runs: Sequence[Run]) -> pl.DataFrame:
    """The summary of every run, a row each, `seed` first."""
    return from_records([{"seed": run["seed"], **run["summary"]} for run in runs])


def from_records(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Records as a frame, a column for each key; null for what is undefined."""
    found: pl.DataFrame = extras.polars().DataFrame(finite(records), infer_schema_length=None)
    return found


def series(runs: Sequence[Run]) -> pl.DataFrame:
    """Time series as one long frame: seed, name, t_s, value."""
    lib = extras.polars()
    parts = [
        lib.DataFrame({"t_s": column["t_s"], "value": column["value"]}).select(
            lib.lit(run["seed"]).alias("seed"), lib.lit(name).alias("name"), "t_s", "value"
        )
        for run in runs
        for name, column in (run["series"] or {}).items()
    ]
    found = lib.concat(parts) if parts else lib.DataFrame({"seed": [], "name": [], "t_s": [], "value": []})
    shown: pl.DataFrame = found.with_columns(lib.col("value").cast(lib.Float64).fill_nan(None))
    return shown


def series_records(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """The same as records, one by one."""
    for run in runs:
        for name, column in (run["series"] or {}).items():
            for t_s, value in zip(column["t_s"].tolist(), column["value"].tolist(), strict=True):
                yield {"seed": run["seed"], "name": name, "t_s": t_s, "value": value}


def motion_records(runs: Sequence[Run], table: Literal["legs", "meetings"]) -> list[dict[str, Any]]:
    """A row for each leg of a node that moves, or for each time that two became neighbours or were so no more."""
    found = []
    for run in runs:
        columns: dict[str, list[Any]] = run.get(table, {})
        for values in zip(*columns.values(), strict=True):
            found.append({"seed": run["seed"], **dict(zip(columns, values, strict=True))})
    return found


def outcome(o: Outcome) -> pl.DataFrame:
    """Every run of an experiment's grid, a row per run and flow: arm, point, seed, summary, the flow's columns."""
    return from_records(outcome_records(o))


def outcome_records(o: Outcome) -> Records:
    """The same as records."""
    e = o.experiment
    return [
        record
        for cell in o.cells()
        for record in _records(
            {"arm": cell.arm, **{path: text(e.value(cell, path)) for path in e.paths}}, o.results.runs[cell]
        )
    ]


def comparison(c: Paired) -> pl.DataFrame:
    """Every run of a comparison, a row per arm, run and flow: arm, seed, summary, the flow's columns."""
    return from_records(comparison_records(c))


def comparison_records(c: Paired) -> Records:
    """The same as records."""
    return [record for arm in c.arms for record in _records({"arm": arm.label}, c.runs[arm.label])]


def difference_records(result: Mapping[str, Any]) -> Records:
    """The differences of a comparison, a row per arm and metric; `result` is its JSON."""
    return [
        {"arm": arm["label"], "over": result["baseline"], "metric": metric, **found}
        for arm in result["arms"]
        for metric, found in (arm["difference"] or {}).items()
    ]


def _records(where: Mapping[str, Any], runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A row per run and flow, `where` first."""
    return [
        {
            **where,
            "seed": run["seed"],
            **{f"summary.{name}": value for name, value in run["summary"].items()},
            **{f"flow.{name}": value for name, value in flow.items()},
        }
        for run in runs
        for flow in run["flows"]
    ]


def text(value: Any) -> Any:
    """A cell: a text or a number as it is, all else as TOML."""
    return value if isinstance(value, str | int | float) else toml_text.literal(value)


def write(data: pl.DataFrame, stem: Path) -> None:
    """Write `stem`.parquet and `stem`.csv; nested columns (lists) are left to the Parquet file."""
    lib = extras.polars()
    data.write_parquet(stem.with_name(stem.name + ".parquet"))
    flat = [name for name, kind in data.schema.items() if not isinstance(kind, lib.List | lib.Struct)]
    data.select(flat).write_csv(stem.with_name(stem.name + ".csv"))


def write_records(records: Iterable[Mapping[str, Any]], stem: Path) -> None:
    """Write records as `write` writes their frame; without polars as `stem`.csv alone."""
    if extras.has_polars():
        write(from_records(list(records)), stem)
        return
    rows = [finite(dict(record)) for record in records]
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if not _is_nested(n, rows)]
    with stem.with_name(stem.name + ".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_plain(row.get(n)) for n in names] for row in rows)


def kinds() -> tuple[str, ...]:
    """The suffixes of what is written."""
    return ("csv", "parquet") if extras.has_polars() else ("csv",)


def _is_nested(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    return any(isinstance(row.get(name), list | dict) for row in rows)


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
