"""What `--out` leaves in a folder: figure, data, JSON and page of a run, of experiments, of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlayer import extras
from interlayer.measure import metrics, series, timeline

from . import (
    animation,
    as_json,
    asked,
    comparison_words,
    frames,
    joint,
    joint_plot,
    markup,
    motion_plot,
    pages,
    plots,
    region,
    region_plot,
    run_page,
    run_words,
    series_plot,
    timeline_plot,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from interlayer._core import Run, Scenario
    from interlayer.study.comparison import Paired
    from interlayer.study.joint import Joint
    from interlayer.study.outcome import Outcome
    from interlayer.study.ranges import Surveyed


def write_outcomes(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Figure, data, JSON and page of each experiment into `folder`, named by its id; `index.html` with all of them."""
    svgs = [write_outcome(outcome, folder) for outcome in outcomes]
    (folder / "index.html").write_text(pages.index(outcomes, svgs), encoding="utf-8")


def write_outcome(outcome: Outcome, folder: Path) -> str:
    """Figures, data, JSON and page of an experiment into `folder`, each named by its id; gives the figures' SVG."""
    stem, svg = folder / pages.file_name(outcome.experiment), ""
    if outcome.cells():
        figure = plots.experiment(outcome)
        plots.save(figure, stem)
        frames.write_records(frames.outcome_records(outcome), stem)
        svg = asked.experiment(outcome, figure)
    if outcome.over_time is not None:
        series = stem.with_name(stem.name + "-over-time")
        plots.save(plots.over_time(outcome), series)
        write_series([outcome.over_time], series)
        svg += markup.own_ids(markup.inline_svg(series.with_name(series.name + ".svg")), "over-time")
    stem.with_name(stem.name + ".html").write_text(pages.outcome(outcome, svg), encoding="utf-8")
    stem.with_name(stem.name + ".json").write_text(as_json.dumps(as_json.outcome(outcome)), encoding="utf-8")
    return svg


def write_readings(j: Joint, folder: Path) -> None:
    """Picture, JSON and page of a joint judgement into `folder`."""
    plots.save(joint_plot.figure(j), folder / "readings")
    (folder / "readings.json").write_text(joint.dumps(j), encoding="utf-8")
    svg = markup.inline_svg(folder / "readings.svg")
    (folder / "index.html").write_text(joint.page(j, svg), encoding="utf-8")


def write_region(s: Surveyed, folder: Path) -> None:
    """Picture, JSON and page of claims along ranges into `folder`."""
    plots.save(region_plot.figure(s), folder / "region")
    (folder / "region.json").write_text(region.dumps(s), encoding="utf-8")
    svg = markup.inline_svg(folder / "region.svg")
    (folder / "index.html").write_text(region.page(s, svg), encoding="utf-8")


def write_run(
    result: Mapping[str, Any],
    runs: Sequence[Run],
    text: str,
    folder: Path,
    again: str = "",
    animated: Scenario | None = None,
) -> list[str]:
    """Figures, data, JSON and page of a scenario into `folder`; gives lines on what they leave out.

    `again` is the command that gives the same, for the page. `animated` is the scenario if its first run, which then
    has a scene, is to be played.
    """
    title, said = str(result["scenario"]), ""
    figure = plots.flows(result["flows"], title, run_words.note(result))
    plots.save(figure, folder / "flows")
    if runs[0]["series"]:
        shown, constant = series.changing(runs[0]["series"])
        said = series_plot.note(shown, constant)
        if shown:
            one = f"Seed {runs[0]['seed']}. Interlayer {result['version']}"
            plots.save(series_plot.figure(shown, title, one), folder / "series")
        write_series(runs, folder / "series")
    for paths in ("legs", "meetings"):
        if found := frames.motion_records(runs, paths):
            frames.write_records(found, folder / paths)
    _write_motion(result, runs[0], folder)
    if animated is not None:
        of = animation.scene(runs[0], animated, title, result["version"])
        (folder / animation.NAME).write_text(animation.page(of), encoding="utf-8")
    for table in metrics.TABLES:
        if any(metrics.table(run, table) for run in runs):
            frames.write_records(frames.table_records(runs, table), folder / table)
    notes = write_timeline(result, runs, folder) if runs[0].get("timeline") else []
    page = run_page.page(result, runs, text, folder, asked.flows(result, figure), said, again)
    (folder / "index.html").write_text(page, encoding="utf-8")
    (folder / "result.json").write_text(as_json.dumps(dict(result)), encoding="utf-8")
    return notes


def _write_motion(result: Mapping[str, Any], run: Run, folder: Path) -> None:
    """Figures of paths and of neighbours over time, where nodes move and this was kept."""
    if "legs" not in run:
        return
    title, note = result["scenario"], f"Seed {run['seed']}. Interlayer {result['version']}"
    plots.save(motion_plot.paths(run, f"{title}: paths", note), folder / "paths")
    plots.save(motion_plot.neighbours(run, f"{title}: who could hear whom", note), folder / "neighbours")


def write_series(runs: Sequence[Run], stem: Path) -> None:
    """Time series as data."""
    if extras.has_polars():
        frames.write(frames.series(runs), stem)
    else:
        frames.write_records(frames.series_records(runs), stem)


def write_timeline(result: Mapping[str, Any], runs: Sequence[Run], folder: Path) -> list[str]:
    """The timeline of the first run as a figure and a trace, of all runs as data; lines on what they leave out."""

    first, title = runs[0]["timeline"], f"{result['scenario']}: who transmitted what when"
    if first is None or not any(first["has_radio"]):
        return []
    if not extras.has_polars():
        return [f"timeline: left out, it needs polars: {extras.REMEDY}"]
    about = {"scenario": result["scenario"], "seed": runs[0]["seed"], "version": result["version"]}
    timeline.write_trace(first, folder / "timeline.trace.json", about)
    frames.write(timeline.frame(runs), folder / "timeline")
    one = f"Seed {about['seed']}. Interlayer {about['version']}"
    view, notes = timeline_plot.shown(first), []
    plots.save(timeline_plot.figure(first, title, one), folder / "timeline")
    if view.is_cut:
        notes.append(f"timeline: {view.note()}; timeline.trace.json and .csv have all")
    if first["missed"]:
        notes.append(f"timeline: {first['missed']} transmissions beyond the first {view.total} were not kept")
    if not view.total:
        notes.append(f"timeline: nothing was in the air from {first['from_s']:.9g} s to {first['until_s']:.9g} s")
    return notes


def write_comparison(c: Paired, result: Mapping[str, Any], folder: Path) -> None:
    """Figure, data, JSON and page of a comparison into `folder`; `result` is its JSON."""
    figure = plots.comparison(result, comparison_words.caption(result))
    plots.save(figure, folder / "comparison")
    frames.write_records(frames.comparison_records(c), folder / "comparison")
    frames.write_records(frames.difference_records(result), folder / "differences")
    page = pages.comparison(c, result, asked.comparison(result, figure))
    (folder / "index.html").write_text(page, encoding="utf-8")
    (folder / "result.json").write_text(as_json.dumps(dict(result)), encoding="utf-8")
