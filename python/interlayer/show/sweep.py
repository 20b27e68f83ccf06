"""A sweep as people and programs get it: table, JSON, frames, page, files."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from interlayer import quantity
from interlayer.measure import stats
from interlayer.measure.stats import Estimate

from . import as_json, asked, frames, markup, plots, run_words, sweep_plot, terminal
from .grid import Column, Grid, prose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from interlayer.study.measures import Measure
    from interlayer.study.sweep import Point, Swept

_LINES = 200
"""So many cells are shown on a terminal, and on a page."""


def json(s: Swept) -> dict[str, Any]:
    """The object of `interlayer sweep --json`: a row per cell and seed, and each cell with mean and half-width."""
    found: dict[str, Any] = {
        "scenario": s.scenario,
        "version": s.version,
        **as_json.outside(),
        "seed": s.seed,
        "runs": s.replications,
        "wall_s": s.wall_s,
        "sim_s": sum(run["sim_s"] for runs in s.runs.values() for run in runs),
        "over": {axis.path: list(axis.values) for axis in s.axes},
        "metrics": {m.name: m.path for m in s.measures},
    }
    if s.overrides:
        found["set"] = as_json.sets(s.overrides)
    if s.preliminary:
        found["preliminary"] = True
    found |= as_json.parts(s.parts)
    found |= as_json.ended(s.interrupted, s.failures)
    found["cells"] = [
        {"at": s.at(cell), "runs": s.replications, **{m.name: _mean(s.estimate(cell, m)) for m in s.measures}}
        for cell in s.cells
    ]
    found["rows"] = rows(s)
    return found


def _mean(e: Estimate) -> dict[str, Any]:
    return e.as_json()


def rows(s: Swept) -> list[dict[str, Any]]:
    """A row per cell and seed: the swept values, `seed`, then every metric."""
    found = []
    for cell in s.cells:
        columns = [s.sample(cell, m) for m in s.measures]
        for i, run in enumerate(s.runs[cell]):
            values = {m.name: float(column[i]) for m, column in zip(s.measures, columns, strict=True)}
            found.append({**s.at(cell), "seed": run["seed"], **values})
    return found


def row_frame(s: Swept) -> pl.DataFrame:
    """`rows` as a frame."""
    return frames.from_records(_flat(rows(s), s))


def summary_frame(s: Swept) -> pl.DataFrame:
    """`summary` as a frame."""
    return frames.from_records(summary(s))


def summary(s: Swept) -> list[dict[str, Any]]:
    """A row per cell and metric: the swept values, `metric`, `n`, `mean`, `ci95`, `ci95_low`, `ci95_high`.

    `ci95` is the half-width, the other two are the ends of the interval; all three are null for one run.
    """
    found = []
    for cell in s.cells:
        for m in s.measures:
            e = s.estimate(cell, m)
            row = {**s.at(cell), "metric": m.name, "n": e.n, "mean": e.mean, "ci95": e.half_width}
            known = e.half_width is not None
            found.append(row | {"ci95_low": e.low if known else None, "ci95_high": e.high if known else None})
    return _flat(found, s)


def _flat(records: list[dict[str, Any]], s: Swept) -> list[dict[str, Any]]:
    """Columns of one type: an axis whose values are not all numbers or all texts has texts."""
    for axis in s.axes:
        kinds = {type(value) for value in axis.values}
        if kinds <= {int, float}:
            change: Any = float if len(kinds) > 1 else None
        else:
            change = None if kinds == {str} else None if kinds == {bool} else frames.text
        for record in records if change else ():
            record[axis.path] = change(record[axis.path])
    return records


# ------------------------------------------------------------------------------------------------------------ in words


def caption(s: Swept, *, bars: bool = True) -> str:
    """Runs, seeds, interval, version: what a table or figure of a sweep must say of itself.

    A figure, with its `bars`, also says what those that are not symmetric are; a table shows their ends.
    """
    state = "; preliminary" if s.preliminary else ""
    state += "; interrupted: finished runs only" if s.interrupted else ""
    state += f". {said}" if (said := run_words.in_python(as_json.parts(s.parts))) else ""
    if s.replications == 1:
        return f"1 run a cell, seed {s.seed}: no interval{state}. Interlayer {s.version}"
    seeds = f"common seeds from {s.seed}"
    student = stats.kind(s.estimate(cell, m) for cell in s.cells for m in s.measures if bars)
    return f"{s.replications} runs a cell, {seeds}; ± 95 % ({student}){state}. Interlayer {s.version}"


def _cell(s: Swept, cell: Point, m: Measure) -> str:
    e = s.estimate(cell, m)
    if not stats.finite(e):
        return "–"
    some = f" ({e.n} of {s.replications})" if e.n < s.replications else ""
    return f"{e.scaled(quantity.scale(m.name, _unit(m)))}{some}"


def _some(s: Swept, shown: Sequence[Measure], cells: Sequence[Point]) -> str:
    """What `(3 of 10)` in a cell means; empty where no cell shows it."""
    found = (s.estimate(cell, m) for cell in cells for m in shown)
    if not any(stats.finite(e) and e.n < s.replications for e in found):
        return ""
    return f"(n of {s.replications}): only n runs of the cell have a value, and the mean is of these."


def _unit(m: Measure) -> str:
    """As tables show it: a delay in ms, all else as `natural_unit`."""
    return "ms" if quantity.column_unit(m.name) == "s" else m.unit


def _head(m: Measure) -> str:
    unit = _unit(m)
    return m.label if unit in ("1", "packets") else f"{m.label}, {unit}"


def _constant(s: Swept) -> list[Measure]:
    """Metrics that are the same in every run of every cell; never the first, and none that was asked for."""
    found: list[Measure] = []
    if s.asked:
        return found
    for m in s.measures[1:]:
        values = {float(x) for cell in s.cells for x in s.sample(cell, m)}
        if len(values) == 1 and len(s.cells) > 1:
            found.append(m)
    return found


def table(s: Swept, *, clock: bool = True) -> str:
    """A line for each cell. What is the same in all of them is said in a line below."""
    same = _constant(s)
    shown = [m for m in s.measures if m not in same]
    columns = [Column(axis.path, is_text=True, folds=True) for axis in s.axes]
    columns += [Column(_head(m), 0 if s.asked else rank) for rank, m in enumerate(shown)]
    cells = s.cells[:_LINES]
    lines = [[*_values(s, cell), *(_cell(s, cell, m) for m in shown)] for cell in cells]
    said = [f"{_head(m)} {_cell(s, s.cells[0], m).removesuffix(' ± 0')}" for m in same]
    notes = [f"The same in every cell: {', '.join(said)}."] if said else []
    notes += [said_of_some] if (said_of_some := _some(s, shown, cells)) else []
    if len(s.cells) > _LINES:
        notes.append(f"{len(s.cells) - _LINES} more cells: --json - or --out DIR.")
    took = f", {s.wall_s:.2f} s" if clock else ""
    return terminal.render(
        f"{s.scenario}: {' × '.join(f'{len(axis.values)} {axis.path}' for axis in s.axes)}",
        Grid(columns, lines, names=len(s.axes)),
        *notes,
        prose(f"{caption(s, bars=False)}{took}", "dim"),
    )


def _values(s: Swept, cell: Point) -> list[str]:
    return [axis.label(i) for axis, i in zip(s.axes, cell, strict=True)]


# --------------------------------------------------------------------------------------------------------------- files


def body(s: Swept, svg: str) -> str:
    """A sweep without the page around it: figure and table."""
    esc = html.escape
    head = [(axis.path, False) for axis in s.axes] + [(_head(m), True) for m in s.measures]
    lines = [[*map(esc, _values(s, c)), *(_cell(s, c, m) for m in s.measures)] for c in s.cells[:_LINES]]
    more = f"<p>{len(s.cells) - _LINES} more cells are in the data.</p>" if len(s.cells) > _LINES else ""
    more += f"<p>{esc(some)}</p>" if (some := _some(s, s.measures, s.cells[:_LINES])) else ""
    parts = [
        f"<h1>{esc(s.scenario)}: {esc(' × '.join(s.paths))}</h1>",
        f'<p class="soft">{esc(caption(s))}</p>',
        f"<figure>{svg}</figure>" if svg else "",
        f"<h2>Cells</h2>{markup.table(head, lines)}{more}",
    ]
    return "\n".join(part for part in parts if part)


def page(s: Swept, svg: str) -> str:
    """A sweep's page: figure, cells, links to the data, the scenario."""
    esc = html.escape
    changes = "".join(f"\n# --set {path}={value}" for path, value in s.overrides)
    changes += "".join(
        f"\n# --over {axis.path}={','.join(axis.label(i) for i in range(len(axis.values)))}" for axis in s.axes
    )
    links = [("rows", "a row per cell and seed"), ("cells", "n, mean and interval of each cell")]
    parts = [
        body(s, svg),
        "<h2>Data</h2>" + markup.links(links, frames.kinds()),
        f"<h2>Scenario</h2><pre>{esc(s.text + changes)}</pre>",
    ]
    return asked.page(f"{s.scenario}: sweep", "\n".join(parts))


def write(s: Swept, folder: Path, x: str | None = None, y: str | None = None, by: Sequence[str] | None = None) -> None:
    """Figure, data, JSON and page of a sweep into `folder`."""
    figure = sweep_plot.figure(s, caption(s), x=x, y=y, by=by)
    plots.save(figure, folder / "sweep")
    frames.write_records(_flat(rows(s), s), folder / "rows")
    frames.write_records(summary(s), folder / "cells")
    (folder / "index.html").write_text(page(s, asked.sweep(s, figure)), encoding="utf-8")
    (folder / "result.json").write_text(as_json.dumps(json(s)), encoding="utf-8")
