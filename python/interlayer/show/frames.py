"""Results as polars frames, units in the names of the columns, and their files: Parquet and CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlayer import toml_text
from interlayer.measure import metrics

from .as_json import finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from interlayer._core import Run
    from interlayer.study.comparison import Paired
    from interlayer.study.outcome import Outcome


def table(runs: Sequence[Run], name: str) -> pl.DataFrame:
    """A table of every run as one frame, a row per run and entry, `seed` first; no rows if no run has entries.

    What is undefined is null, here as in every frame and file.
    """
    return of([{"seed": run["seed"], **row} for run in runs for row in metrics.table(run, name)])


def summary(runs: Sequence[Run]) -> pl.DataFrame:
    """The summary of every run, a row each, `seed` first."""
    return of([{"seed": run["seed"], **run["summary"]} for run in runs])


def of(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Records as a frame, a column for each key; null for what is undefined."""
    import polars as pl

    return pl.DataFrame(finite(records), infer_schema_length=None)


def series(runs: Sequence[Run]) -> pl.DataFrame:
    """Time series as one long frame: seed, name, t_s, value."""
    import polars as pl

    parts = [
        pl.DataFrame({"t_s": column["t_s"], "value": column["value"]}).select(
            pl.lit(run["seed"]).alias("seed"), pl.lit(name).alias("name"), "t_s", "value"
        )
        for run in runs
        for name, column in (run["series"] or {}).items()
    ]
    found = pl.concat(parts) if parts else pl.DataFrame({"seed": [], "name": [], "t_s": [], "value": []})
    return found.with_columns(pl.col("value").cast(pl.Float64).fill_nan(None))


def outcome(o: Outcome) -> pl.DataFrame:
    """Every run of an experiment's grid, a row per run and flow: arm, point, seed, summary, the flow's columns."""
    e = o.experiment
    records = [
        record
        for cell in o.cells()
        for record in _records(
            {"arm": cell.arm, **{path: text(e.value(cell, path)) for path in e.paths}}, o.results.runs[cell]
        )
    ]
    return of(records)


def comparison(c: Paired) -> pl.DataFrame:
    """Every run of a comparison, a row per arm, run and flow: arm, seed, summary, the flow's columns."""
    return of([record for arm in c.arms for record in _records({"arm": arm.label}, c.runs[arm.label])])


def differences(result: Mapping[str, Any]) -> pl.DataFrame:
    """The differences of a comparison, a row per arm and metric; `result` is its JSON."""
    records = [
        {"arm": arm["label"], "over": result["baseline"], "metric": metric, **found}
        for arm in result["arms"]
        for metric, found in (arm["difference"] or {}).items()
    ]
    return of(records)


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
    import polars as pl

    data.write_parquet(stem.with_name(stem.name + ".parquet"))
    flat = [name for name, kind in data.schema.items() if not isinstance(kind, pl.List | pl.Struct)]
    data.select(flat).write_csv(stem.with_name(stem.name + ".csv"))
