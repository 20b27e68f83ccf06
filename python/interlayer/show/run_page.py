"""The page of a scenario's runs, and the part of it that a notebook shows."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from . import animation, asked, markup, run_words
from .grid import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from interlayer._core import Run

_TABLES = ("flows", "windows", "nodes", "links", "queues", "schemes", "frames")
_DATA = {
    "flows": "a row per run and flow",
    "windows": "each window by flow and queue",
    "nodes": "counters of each node",
    "links": "modes of data frames as the run begins",
    "queues": "packets offered, dropped, their wait",
    "frames": "counts and airtime by class of frame",
    "schemes": "counters of each scheme",
    "series": "values over time: seed, name, t_s, value",
    "legs": "paths of nodes that move, a row per leg",
    "meetings": "who became whose neighbour, or was so no more, when",
    "timeline": "a row per transmission",
}
"""What the files of data have."""
_MOTION = ("legs", "meetings")


def head(result: Mapping[str, Any], runs: Sequence[Run]) -> str:
    """What was run, its flows in the units of tables, queues that dropped packets, the summary in a line."""
    esc = html.escape
    student = run_words.student([*result["flows"], *result.get("queues", []), result["summary"]])
    interval = "" if result["runs"] == 1 else f"; ± is the half-width of the 95 % interval ({student})"
    state = " · interrupted: finished runs only" if result.get("interrupted") else ""
    many = len(result["flows"]) > run_words.MANY
    flows, zero = (run_words.groups(runs), []) if many else run_words.flows(result)
    queues = run_words.queues(result)
    said = [
        run_words.in_python(result),
        f"0 in every flow: {', '.join(zero)}" if zero else "",
        run_words.other_queues(result),
        f"Each of the {len(result['flows'])} flows is a row of the table of flows" if many else "",
    ]
    parts = [
        f"<h1>{esc(result['scenario'])}</h1>",
        f'<p class="soft">Interlayer {esc(result["version"])} · {run_words.runs_of(result)}{interval}{state}</p>',
        f"<h2>Flows</h2>{table(flows)}",
        f"<h2>Queues</h2>{table(queues)}" if queues else "",
        f"<h2>Summary</h2>{table(summary)}" if (summary := run_words.summary_grid(result)) else "",
        *(f"<p>{esc(line)}.</p>" for line in said if line),
    ]
    return "\n".join(part for part in parts if part)


def table(grid: Grid) -> str:
    """A grid as an HTML table."""
    names = [(c.head, not c.is_text) for c in grid.columns]
    return markup.table(names, [[html.escape(str(cell)) for cell in line] for line in grid.lines])


def page(
    result: Mapping[str, Any], runs: Sequence[Run], text: str, folder: Path, flows: str, said: str, again: str
) -> str:
    """The page beside the figures and data in `folder`.

    `flows` is the figure of flows as an element, `said` what the figure of series leaves out.
    """
    esc = html.escape
    bars = "" if result["runs"] == 1 else " Bars: 95 % intervals over the runs."
    shown = f"Goodput of each flow over the measured time.{bars}"
    parts = [head(result, runs), _figure(folder, "flows", shown, flows)]
    if (folder / "series.svg").exists():
        one = f"One run, seed {runs[0]['seed']}; a line for each flow or queue. {said}".strip()
        parts += ["<h2>Over time</h2>", _figure(folder, "series", one), _data(folder, ["series"])]
    if (folder / "paths.svg").exists():
        one = f"One run, seed {runs[0]['seed']}."
        parts += ["<h2>Motion</h2>", _figure(folder, "paths", f"{one} The way of each node that moves.")]
        parts += [_figure(folder, "neighbours", f"{one} Radio neighbours over time."), _data(folder, _MOTION)]
    if (folder / animation.NAME).exists():
        parts.append(f'<p>Played, with the frames in the air: <a href="{animation.NAME}">{animation.NAME}</a>.</p>')
    if (folder / "timeline.svg").exists():
        shown = f"One run, seed {runs[0]['seed']}: a row a station, a bar a transmission. Retries are hatched."
        parts += ["<h2>Timeline of the air</h2>", _figure(folder, "timeline", shown), _data(folder, ["timeline"])]
        parts.append(
            '<p>All of it, to zoom: <a href="timeline.trace.json">timeline.trace.json</a> for ui.perfetto.dev.</p>'
        )
    parts.append(
        "<h2>Data</h2>" + _data(folder, [name for name in _DATA if name not in ("series", "timeline", *_MOTION)])
    )
    parts.append('<p>The result as JSON: <a href="result.json">result.json</a>.</p>')
    parts.append("<h2>Every column</h2>")
    for name in _TABLES:
        if result.get(name):
            parts.append(f"<details><summary>{name.capitalize()}</summary>{markup.entries(result[name])}</details>")
    parts.append(f"<details><summary>Summary</summary>{markup.entries([result['summary']])}</details>")
    parts.append(f"<h2>Scenario</h2><pre>{esc(text)}</pre>")
    if again:
        parts.append(f"<h2>Do it again</h2><pre>{esc(again)}</pre>")
    parts.append(f'<p class="soft">Computed in {result["wall_s"]:.1f} s.</p>')
    return asked.page(str(result["scenario"]), "\n".join(part for part in parts if part))


def _figure(folder: Path, name: str, caption: str, svg: str = "") -> str:
    svg = markup.own_ids(svg or markup.inline_svg(folder / f"{name}.svg"), name)
    links = f'<a href="{name}.svg">svg</a> · <a href="{name}.png">png</a>'
    return f"<figure>{svg}<figcaption>{html.escape(caption)} {links}</figcaption></figure>"


def _data(folder: Path, names: Sequence[str]) -> str:
    kinds = [kind for kind in ("csv", "parquet") if (folder / f"flows.{kind}").exists()]
    return markup.links([(n, _DATA[n]) for n in names if (folder / f"{n}.csv").exists()], kinds)
