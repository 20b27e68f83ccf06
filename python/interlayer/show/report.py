"""What a run or an experiment leaves behind: JSON (a contract, design.md section 5), tables as files, a web page."""

from __future__ import annotations

import html
import json
import math
import re
import shlex
from typing import TYPE_CHECKING, Any

from interlayer import toml_text
from interlayer.measure import metrics
from interlayer.measure.stats import Estimate
from interlayer.study import expression
from interlayer.study.experiment import Crossing, Expected, Order, Ratio, Shape, Trend, Value
from interlayer.study.verdict import Verdict

from . import plots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from interlayer._core import Run
    from interlayer.study.experiment import Claim, Comparison, Derived, Experiment
    from interlayer.study.outcome import Outcome, Scored

# ------------------------------------------------------------------------------------------------------------ JSON


def dumps(value: object) -> str:
    """JSON text, two spaces deep; what is not finite becomes null, as JSON has no other word for it."""
    return json.dumps(finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: object) -> Any:
    """`value` with None for what is not finite."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {k: finite(v) for k, v in value.items()}
        case list() | tuple():
            return [finite(v) for v in value]
    return value


def run_json(
    name: str, version: str, seed: int, runs: Sequence[Run], wall_s: float, interrupted: bool
) -> dict[str, Any]:
    """The object of `interlayer run --json`. Numbers are `{"mean", "ci95"}`, the half-width or None."""
    found: dict[str, Any] = {
        "scenario": name,
        "version": version,
        "seed": seed,
        "runs": len(runs),
        "wall_s": wall_s,
        "sim_s": sum(run["sim_s"] for run in runs),
    }
    found |= metrics.tables(runs)
    if interrupted:
        found["interrupted"] = True
    return found


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The object of `interlayer reproduce --json`; `expected`, `measured` and `ci95` are in the claim's unit."""
    e = outcome.experiment
    found: dict[str, Any] = {
        "experiment": e.id,
        "title": e.title,
        "source": e.source,
        "version": outcome.version,
        "seed": outcome.seed,
        "runs": outcome.runs,
        "wall_s": outcome.wall_s,
        "sim_s": outcome.sim_s,
        "metric": e.metric,
        "unit": e.unit,
    }
    if outcome.overrides:
        found["set"] = dict(outcome.overrides)
    if outcome.preliminary:
        found["preliminary"] = True
    if outcome.interrupted:
        found["interrupted"] = True
    found["rows"] = rows(outcome)
    if e.comparisons:
        found["gains"] = gains(outcome)
    found["claims"] = [claim_json(s, e) for s in outcome.scored]
    if e.derived:
        found["derived"] = [derived_json(d, outcome) for d in e.derived]
    return found


def derived_json(d: Derived, outcome: Outcome) -> dict[str, Any]:
    """Something derived: shown, not scored. `computed` from constants, or `measured` with its half-width."""
    value = outcome.derived(d)
    found = {"text": d.text, "unit": d.unit, "expected": d.expected, "formula": derived_formula(d)}
    if d.quantity.is_computed:
        return found | {"computed": value.mean if value else None}
    return found | {"measured": value.mean if value else None, "ci95": value.half_width if value else None}


def derived_formula(d: Derived) -> str:
    """The formula with the constants' values."""
    assert d.quantity.formula is not None
    return d.quantity.formula.shown()


def rows(outcome: Outcome) -> list[dict[str, Any]]:
    """One row per point and arm: the swept values, then mean and half-width in the experiment's unit."""
    e = outcome.experiment
    found = []
    for cell in outcome.cells():
        estimate = outcome.estimate(cell)
        at = {path: e.value(cell, path) for path in e.paths}
        measured = {"mean": estimate.mean, "ci95": estimate.half_width, "unit": e.unit, "runs": estimate.n}
        found.append({"arm": cell.arm, **at, **measured})
    return found


def gains(outcome: Outcome) -> list[dict[str, Any]]:
    """One row per comparison and point, in percent, paired over the seeds."""
    e = outcome.experiment
    found = []
    for at in dict.fromkeys(cell.at for cell in outcome.cells()):
        for comparison in e.comparisons:
            if (gain := outcome.gain(comparison, at)) is None:
                continue
            point = {path: values[i] for (path, values), i in zip(e.sweep, at, strict=True)}
            measured = {"mean": gain.mean, "ci95": gain.half_width, "unit": "%", "runs": gain.n}
            found.append({"of": comparison.of, "over": comparison.over, **point, **measured})
    return found


def expected(claim: Claim) -> Any:
    """What the paper says, as JSON: a number, `[low, high]`, the ranking best first, a direction, a shape's name."""
    match claim.test:
        case Value(expected=Expected() as e) | Ratio(expected=Expected() as e) | Crossing(expected=Expected() as e):
            return e.value if e.value is not None else [e.low, e.high]
        case Order():
            return [q.label for q in claim.lines[0].quantities]
        case Trend(direction=direction):
            return direction
        case Shape(test=test):
            return test


def claim_json(s: Scored, e: Experiment) -> dict[str, Any]:
    """A claim with its verdict. A value or gain has one number for `measured`, other kinds a list, line by line."""
    worked = e.arithmetic(s.claim)
    estimates = s.judgement.measured if s.judgement else ()
    one = isinstance(s.claim.test, Value | Crossing) or (isinstance(s.claim.test, Ratio) and not s.claim.test.spans)
    means: Any = [e.mean for e in estimates]
    halves: Any = [e.half_width for e in estimates]
    found = {
        "id": s.claim.id,
        "text": s.claim.text,
        "kind": s.claim.kind,
        "unit": s.claim.unit,
        "expected": expected(s.claim),
        **({"arithmetic": worked[0] if len(worked) == 1 else list(worked)} if worked else {}),
        "measured": (means[0] if means else None) if one else means,
        "ci95": (halves[0] if halves else None) if one else halves,
        "verdict": s.verdict.value if s.verdict else None,
        "why": s.why,
        "band": s.judgement.band if s.judgement else None,
        "strength": s.claim.strength,
    }
    found |= {name: True for name in ("inferred", "approx") if getattr(s.claim, name)}
    if isinstance(s.claim.test, Order) and (printed := s.claim.test.printed):
        e_ = printed.range
        found["printed"] = {"value": e_.value if e_.value is not None else [e_.low, e_.high], "unit": printed.unit}
    if formulas := s.claim.formulas():
        found["formulas"] = formulas
    if not one:
        found["of"] = [
            ", ".join(part for part in (line.label, q.label) if part) for line in s.claim.lines for q in line.quantities
        ]
    found["evidence"] = [
        {
            "text": f.evidence.text,
            **({"set": dict(f.evidence.overrides)} if f.evidence.is_counter_run else {"formula": f.evidence.formula}),
            **({"let": dict(f.evidence.constants)} if f.evidence.constants else {}),
            **({"value": f.value, "unit": f.evidence.unit} if f.value is not None else {}),
            **(
                {
                    "measured": [e.mean for e in f.judgement.measured],
                    "ci95": [e.half_width for e in f.judgement.measured],
                    "verdict": f.judgement.verdict.value,
                }
                if f.judgement
                else {}
            ),
        }
        for f in s.found
    ]
    return found


# ---------------------------------------------------------------------------------------------------------- tables


def frame(runs: Sequence[Run], table: str) -> pl.DataFrame:
    """A table of every run as one frame, a row per run and entry, `seed` first; no rows if no run has entries."""
    import polars as pl

    records = [{"seed": run["seed"], **row} for run in runs for row in metrics.table(run, table)]
    return pl.DataFrame(records, infer_schema_length=None)


def outcome_frame(outcome: Outcome) -> pl.DataFrame:
    """Every run of an experiment's grid, a row per run and flow: arm, point, seed, summary, the flow's columns."""
    import polars as pl

    e = outcome.experiment
    records = [
        record
        for cell in outcome.cells()
        for record in records_of(
            {"arm": cell.arm, **{path: _text(e.value(cell, path)) for path in e.paths}}, outcome.results.runs[cell]
        )
    ]
    return pl.DataFrame(records, infer_schema_length=None)


def records_of(where: Mapping[str, Any], runs: Sequence[Run]) -> list[dict[str, Any]]:
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


def _text(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else toml_text.literal(value)


def write_frame(data: pl.DataFrame, stem: Path) -> None:
    """Write `stem`.parquet and `stem`.csv; nested columns (lists) are left to the Parquet file."""
    import polars as pl

    data.write_parquet(stem.with_name(stem.name + ".parquet"))
    flat = [name for name, kind in data.schema.items() if not isinstance(kind, pl.List | pl.Struct)]
    data.select(flat).write_csv(stem.with_name(stem.name + ".csv"))


# ----------------------------------------------------------------------------------------------------------- pages

_STYLE = """
:root { --ink: #1c1c1e; --soft: #6b6b70; --rule: #d9d9de; --holds: #00694a; --differs: #a63c06; --untestable: #6b6b70 }
* { box-sizing: border-box }
body { margin: 3rem auto; max-width: 60rem; padding: 0 1.25rem; color: var(--ink); background: #fff;
  font: 16px/1.55 Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .3rem } h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem }
.soft { color: var(--soft) } .lead { font-size: 1.1rem }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums lining-nums }
th { text-align: left; font-weight: 600; border-bottom: 1.5px solid var(--ink); padding: .35rem .7rem .35rem 0;
  vertical-align: bottom }
td { border-bottom: 1px solid var(--rule); padding: .4rem .7rem .4rem 0; vertical-align: top }
td.n, th.n { text-align: right; white-space: nowrap } .scroll { overflow-x: auto }
.verdict { font-weight: 600; white-space: nowrap } .holds { color: var(--holds) } .differs { color: var(--differs) }
.untestable { color: var(--untestable) }
figure { margin: 1.5rem 0 } figure svg { width: 100%; max-width: 52rem; height: auto; display: block }
figure img { width: 100%; max-width: 44rem; height: auto; display: block }
figcaption { font-size: .84rem; color: var(--soft); margin-top: .5rem; max-width: 52rem }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem } section { border-top: 1.5px solid var(--ink); margin-top: 4rem }
section h2 { font-size: 1.5rem; margin: 1.2rem 0 .3rem }
tr.claim td { border-bottom: none; padding-bottom: 0; padding-top: .7rem }
a { color: #0058a3 } .why p { margin: .1rem 0 .3rem } .why ul { margin: 0 0 .3rem; padding-left: 1.2rem }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace } code { font-size: .86em }
pre { white-space: pre-wrap; font-size: .75rem; line-height: 1.5; background: #f6f6f8; padding: .9rem 1rem;
  border-radius: 4px } li { margin: .25rem 0 }
.why { font-size: .84rem; color: #3a3a3e } @media print { body { margin: 0; max-width: none } }
"""


def page(title: str, body: str) -> str:
    """A whole HTML page with the style in it, and nothing to fetch."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def table(head: Sequence[tuple[str, bool]], lines: Sequence[Sequence[str]]) -> str:
    """An HTML table of cells that are HTML already; `head` is (name, is a number)."""
    numeric = [" class=n" if n else "" for _, n in head]
    top = "".join(f"<th{c}>{html.escape(name)}</th>" for (name, _), c in zip(head, numeric, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{c}>{cell}</td>" for c, cell in zip(numeric, line, strict=True)) + "</tr>"
        for line in lines
    )
    return f'<div class="scroll"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def inline_svg(path: Path) -> str:
    """An SVG file as an element of a page: without its XML prologue, which HTML would not take."""
    text = path.read_text(encoding="utf-8")
    return text[text.index("<svg") :]


def number(mean: float | None, half: float | None = None) -> str:
    """A measured number with its interval, a dash for none."""
    return "–" if mean is None else str(Estimate(mean, half, 0))


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
        return f"{about}{e.value:g}{unit}"
    if e.low is None or e.high is None:
        return f"at least {e.low:g}{unit}" if e.high is None else f"at most {e.high:g}{unit}"
    return f"{about}{e.low:g} to {e.high:g}{unit}"


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
        return ", ".join(f"{value:.4g}" for value in values) + unit
    if not (worked := e.arithmetic(claim)):
        return "–"
    return " to ".join(f"{value:.3g}" for value in worked) + unit


def measured_text(s: Scored) -> str:
    """What we measured, for tables: one number, or the first and last of a line."""
    if s.judgement is None or s.claim.is_computed:
        return "–"
    unit = unit_text(s.claim.unit)
    estimates = s.judgement.measured
    if not estimates:  # an x that too few runs can tell
        return "–"
    if len(estimates) == 1:
        return number(estimates[0].mean, estimates[0].half_width) + unit
    if isinstance(s.claim.test, Order) or all(len(line.quantities) == 1 for line in s.claim.lines):
        size = len(s.claim.lines[0].quantities)
        lines = [estimates[i : i + size] for i in range(0, len(estimates), size)]
        return "; ".join(", ".join(number(e.mean, e.half_width) for e in line) for line in lines) + unit
    if isinstance(s.claim.test, Ratio):
        means = [e.mean for e in estimates]
        return f"{min(means):.3g} to {max(means):.3g}{unit}"
    parts, start = [], 0
    for line in s.claim.lines:
        ends = estimates[start].mean, estimates[start + len(line.quantities) - 1].mean
        parts.append(f"{ends[0]:.3g} → {ends[1]:.3g}")
        start += len(line.quantities)
    return "; ".join(parts) + unit


def verdict_text(s: Scored) -> str:
    """The verdict's word; a dash where none is given."""
    return s.verdict.value if s.verdict else "–"


def counts(outcome: Outcome) -> dict[str, int]:
    """How many claims hold, differ, are untestable, and how many are only shown."""
    found = {v.value: sum(s.verdict is v for s in outcome.scored) for v in Verdict}
    return found | {"shown": sum(s.verdict is None for s in outcome.scored)}


def tally(outcome: Outcome) -> str:
    """`5 of 6 claims hold, 1 differs` or why there are no verdicts."""
    if not outcome.experiment.scored:
        return f"{len(outcome.scored)} claims, {outcome.experiment.evidence}: shown, not scored"
    if outcome.preliminary:
        return "interrupted: no verdicts" if outcome.interrupted else "a quick look: no verdicts"
    count = counts(outcome)
    text = f"{count[Verdict.HOLDS]} of {len(outcome.scored)} claims hold"
    if count[Verdict.DIFFERS]:
        text += f", {count[Verdict.DIFFERS]} differ{'s' if count[Verdict.DIFFERS] == 1 else ''}"
    if count[Verdict.UNTESTABLE]:
        text += f", {count[Verdict.UNTESTABLE]} untestable"
    return text


def outcome_page(outcome: Outcome, svg: str) -> str:
    """An experiment's page, self-contained: question, figure, claims, rows, assumptions, arithmetic."""
    e = outcome.experiment
    return page(f"{e.id}: {e.title}", _experiment_body(outcome, svg, 1))


def _experiment_body(outcome: Outcome, svg: str, level: int) -> str:
    """An experiment under a heading of `level`: the whole of its page, or a section of one on several."""
    e = outcome.experiment
    esc = html.escape
    top, sub = f"h{level}", f"h{level + 1}"

    def heading(text: str) -> str:
        return f"<{sub}>{text}</{sub}>"

    parts = [
        f'<{top} id="{esc(e.id)}">{esc(e.title)}</{top}>',
        f'<p class="soft">{esc(e.id)} · {esc(e.source)} · {esc(e.evidence)} · Interlayer {esc(outcome.version)}</p>',
    ]
    if e.question:
        parts.append(f'<p class="lead">{esc(e.question)}</p>')
    parts.append(f"<p><strong>{esc(tally(outcome))}.</strong></p>")
    if svg:
        parts.append(f"<figure>{svg}<figcaption>{_figure_caption(outcome)}</figcaption></figure>")
    parts.append(heading("Paper, arithmetic, measurement") + _claims_table(outcome))
    if e.derived:
        parts.append(heading("Derived from these numbers") + "<p>Our own arithmetic: shown, not scored.</p>")
        parts.append(_derived_table(outcome))
    if outcome.cells():
        parts.append(heading("Measured"))
        parts.append(f"<p>{esc(e.metric)} in {esc(e.unit)}: mean and half-width of the 95 % interval.</p>")
        parts.append(_rows_table(outcome))
    if e.comparisons:
        parts.append(heading("Gains") + "<p>Of the means, with intervals paired over the seeds, in percent.</p>")
        parts.append(_gains_table(outcome))
    if e.assumptions:
        items = "".join(f"<li>{_prose(a)}</li>" for a in e.assumptions)
        parts.append(heading("Assumptions") + f"<ul>{items}</ul>")
    if e.note:
        parts.append(heading("The arithmetic of the printed numbers") + f"<pre>{esc(e.note)}</pre>")
    if e.curves:
        lines = [
            [esc(c.label), "<br>to ".join(_worked(f, dict(c.constants)) for f in (c.formula, c.to) if f)]
            for c in e.curves
        ]
        parts.append(
            heading("The arithmetic in the figure") + f"<p>In {'%' if e.show == 'gain' else esc(e.unit)}, "
            f"<code>x</code> being {esc(e.label(e.x))}; nothing of it is fitted.</p>"
            + table([("curve or band", False), ("formula", False)], lines)
        )
    if outcome.overrides:
        items = "".join(f"<li><code>{esc(p)} = {esc(v)}</code></li>" for p, v in outcome.overrides)
        parts.append(heading("Set on the command line") + f"<ul>{items}</ul>")
    parts.append(heading("Do it again") + f"<pre>{esc(_command(outcome))}</pre>")
    kinds = ("csv", "parquet", "json", "png", "svg") if outcome.cells() else ("json",)
    files = " · ".join(f'<a href="{esc(file_name(e))}.{kind}">{kind}</a>' for kind in kinds)
    what = "Every run" if outcome.cells() else "The result"
    parts.append(f'<p class="soft">{what}: {files}. Computed in {outcome.wall_s:.1f} s.</p>')
    return "\n".join(parts)


def _figure_caption(outcome: Outcome) -> str:
    """How to read the figure, which itself states seeds, interval and version."""
    e = outcome.experiment
    parts = ["Lines: measured."]
    if any(c.strength == "number" for c in e.claims):
        parts.append("Stars and bars with a number: printed in the paper.")
    if e.curves:
        parts.append("Dotted lines and shaded bands: arithmetic from the standard's timing, formulas below.")
    return html.escape(" ".join(parts))


def _command(outcome: Outcome) -> str:
    """What to type to get this page again."""
    words = ["interlayer reproduce", outcome.experiment.id]
    words += [f"--seed {outcome.seed}"] if outcome.seed != 1 else []
    words += [f"--set {shlex.quote(f'{path}={value}')}" for path, value in outcome.overrides]
    words += ["--quick"] if outcome.quick else []
    words += [f"--runs {outcome.fixed_runs}"] if outcome.fixed_runs else []
    return " ".join([*words, "--out DIR"])


def _worked(formula: str, constants: Mapping[str, float]) -> str:
    return f"<code>{html.escape(expression.with_values(formula, constants))}</code>"


def _prose(text: str) -> str:
    """Escaped text in which `code` is set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _claims_table(outcome: Outcome) -> str:
    """Two lines a claim: paper, arithmetic and measurement side by side, then the reason under the whole of it."""
    esc, e = html.escape, outcome.experiment
    names = ("#", "claim", "paper", "arithmetic", "measured", "verdict")
    body = []
    for s in outcome.scored:
        text = esc(s.claim.text) + (' <span class="soft">(implied, not said)</span>' if s.claim.inferred else "")
        band = f'<br><span class="soft">{esc(s.judgement.band)}</span>' if s.judgement else ""
        cells = [
            s.claim.id.rpartition("#")[2],
            text,
            esc(expected_text(s.claim)) + band,
            esc(arithmetic_text(s.claim, e)),
            esc(measured_text(s)),
            f'<span class="verdict {verdict_text(s)}">{verdict_text(s)}</span>',
        ]
        body.append("<tr class=claim>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        reason = ". ".join(
            part[:1].upper() + part[1:] for part in (s.note, s.judgement.reason if s.judgement else "") if part
        )
        why = f"<p>{esc(reason)}.</p>" if reason else ""
        if formulas := s.claim.formulas():
            why += "<p>By " + "; ".join(f"<code>{esc(f)}</code>" for f in formulas) + "</p>"
        if s.found:
            why += "<ul>" + "".join(f"<li>{esc(f.sentence(s.claim.unit))}</li>" for f in s.found) + "</ul>"
        body.append(f'<tr><td></td><td colspan={len(names) - 1} class="why">{why}</td></tr>')
    top = "".join(f"<th>{name}</th>" for name in names)
    rows_ = "\n".join(body)
    return f'<div class="scroll"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{rows_}\n</tbody></table></div>'


def _derived_table(outcome: Outcome) -> str:
    lines = []
    for d in outcome.experiment.derived:
        value, unit = outcome.derived(d), html.escape(unit_text(d.unit))
        shown = number(value.mean, value.half_width) + unit if value else "–"
        printed = "–" if d.expected is None else f"{d.expected:g}{unit}"
        computed, measured = (shown, "–") if d.quantity.is_computed else ("–", shown)
        lines.append(
            [html.escape(d.text), printed, computed, measured, f"<code>{html.escape(derived_formula(d))}</code>"]
        )
    names = ("quantity", "from the source's list", "from printed numbers", "measured", "formula")
    return table([(name, False) for name in names], lines)


def _rows_table(outcome: Outcome) -> str:
    names, texts, lines = measured(outcome)
    head = [(name, i >= texts) for i, name in enumerate(names)]
    return table(head, [[html.escape(cell) for cell in line] for line in lines])


MANY_ARMS = 8
"""So many columns of numbers with intervals are too wide for a page."""


def measured(outcome: Outcome, comparisons: Sequence[Comparison] = ()) -> tuple[list[str], int, list[list[str]]]:
    """Head, how many columns of it are texts, and lines: a line per point, a column per arm and comparison.

    From `MANY_ARMS` arms on, where the points are fewer, the other way round.
    """
    from interlayer.study.experiment import Cell

    e, have = outcome.experiment, set(outcome.cells())
    columns = [e.label(arm) for arm, _ in e.arms] + [f"gain over {e.label(c.over)}, %" for c in comparisons]
    points: list[list[str]] = []
    numbers: list[list[str]] = []
    for at in dict.fromkeys(cell.at for cell in outcome.cells()):
        points.append([e.label(path, values[i]) for (path, values), i in zip(e.sweep, at, strict=True)])
        cells = [Cell(arm, at) for arm, _ in e.arms]
        found = [outcome.estimate(cell) if cell in have else None for cell in cells]
        found += [outcome.gain(c, at) for c in comparisons]
        numbers.append([number(one.mean, one.half_width) if one else "–" for one in found])
    return turned([e.label(path) for path in e.paths], points, columns, numbers, len(e.arms))


def turned(
    names: list[str], points: list[list[str]], columns: list[str], numbers: list[list[str]], arms: int
) -> tuple[list[str], int, list[list[str]]]:
    """A table of points by columns, `arms` of them, as head, number of text columns, and lines; turned if too wide."""
    if arms < MANY_ARMS or len(points) >= arms:
        return [*names, *columns], len(names), [[*p, *n] for p, n in zip(points, numbers, strict=True)]
    head = ["", *(", ".join(point) or "measured" for point in points)]
    return head, 1, [[name, *line] for name, *line in zip(columns, *numbers, strict=True)]


def _gains_table(outcome: Outcome) -> str:
    e = outcome.experiment
    head = [(e.label(path), False) for path in e.paths]
    head += [(f"{e.label(c.of)} over {e.label(c.over)}", True) for c in e.comparisons]
    lines = []
    for at in dict.fromkeys(cell.at for cell in outcome.cells()):
        line = [html.escape(e.label(path, values[i])) for (path, values), i in zip(e.sweep, at, strict=True)]
        found = [outcome.gain(c, at) for c in e.comparisons]
        lines.append(line + [number(g.mean, g.half_width) if g else "–" for g in found])
    return table(head, lines)


def run_page(result: Mapping[str, Any], svg: str, text: str, timeline: str = "") -> str:
    """A scenario's page: figure, flows, summary, the timeline if there is one, and the scenario itself."""
    esc = html.escape
    runs = result["runs"]
    parts = [
        f"<h1>{esc(result['scenario'])}</h1>",
        f'<p class="soft">Interlayer {esc(result["version"])} · {runs} run{"s" * (runs != 1)}, '
        f"seeds from {result['seed']}</p>",
        f"<figure>{svg}</figure>",
    ]
    for name in ("flows", "nodes", "queues", "schemes"):
        if result.get(name):
            parts.append(f"<h2>{name.capitalize()}</h2>{entries(result[name])}")
    parts.append(f"<h2>Summary</h2>{entries([result['summary']])}")
    if timeline:
        own = _ID.sub(lambda found: f"{found[1]}timeline.", timeline)
        parts.append(f"<h2>Timeline of the air</h2><figure>{own}</figure>")
    parts.append(f"<h2>Scenario</h2><pre>{esc(text)}</pre>")
    return page(str(result["scenario"]), "\n".join(parts))


def entries(rows_: Sequence[Mapping[str, Any]]) -> str:
    """Entries side by side: a line per column of the results, a column per entry."""
    names = dict.fromkeys(name for entry in rows_ for name in entry)
    lines = [[f"<code>{html.escape(n)}</code>", *(_shown(entry.get(n)) for entry in rows_)] for n in names]
    return table([("", False), *(("", True) for _ in rows_)], lines)


def _shown(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"mean", "ci95"}:
        return number(value["mean"], value["ci95"])
    return "–" if value is None else html.escape(str(value))


_ID = re.compile(r'(\bid="|href="#|url\(#)')


def index_page(outcomes: Sequence[Outcome], svgs: Sequence[str]) -> str:
    """One page on several experiments, self-contained: what holds of each in a table, then each of them whole."""
    esc = html.escape
    head = [("experiment", False), ("what", False), ("evidence", False), ("claims", True)]
    head += [(name, True) for name in ("hold", "differ", "untestable", "shown")]
    lines, total = [], dict.fromkeys([*Verdict, "shown"], 0)
    for o in outcomes:
        e, count = o.experiment, counts(o)
        total = {name: total[name] + n for name, n in count.items()}
        where = f'<a href="#{esc(e.id)}">{esc(e.id)}</a>'
        lines.append([where, esc(e.title), esc(e.evidence), str(len(o.scored)), *map(str, count.values())])
    if len(outcomes) > 1:
        lines.append(["", "all", "", str(sum(total.values())), *map(str, total.values())])
    parts = [f'<h1>Experiments</h1><p class="soft">Interlayer {esc(outcomes[0].version)}</p>' if outcomes else ""]
    parts.append(table(head, lines))
    for o, svg in zip(outcomes, svgs, strict=True):
        # Names inside a figure are unique there only.
        own = _ID.sub(lambda found, o=o: f"{found[1]}{o.experiment.id}.", svg)  # type: ignore[misc]
        parts.append(f'<section>{_experiment_body(o, own, 2)}<p><a href="{esc(file_name(o.experiment))}.html">')
        parts.append("On a page of its own</a></p></section>")
    return page("Interlayer: experiments", "\n".join(parts))


# --------------------------------------------------------------------------------------------------------- folders


def file_name(e: Experiment) -> str:
    """What an experiment's files are called, before their suffix: its id, with a folder's slash as a hyphen."""
    return e.id.replace("/", "-")


def write_outcomes(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Figure, data, JSON and page of each experiment into `folder`, named by its id; `index.html` with all of them."""
    svgs = [write_outcome(outcome, folder) for outcome in outcomes]
    (folder / "index.html").write_text(index_page(outcomes, svgs), encoding="utf-8")


def write_outcome(outcome: Outcome, folder: Path) -> str:
    """Figures, data, JSON and page of an experiment into `folder`, each named by its id; gives the figures' SVG."""
    stem, svg = folder / file_name(outcome.experiment), ""
    if outcome.cells():
        plots.save(plots.experiment(outcome), stem)
        write_frame(outcome_frame(outcome), stem)
        svg = inline_svg(stem.with_name(stem.name + ".svg"))
    if outcome.over_time is not None:
        series = stem.with_name(stem.name + "-over-time")
        plots.save(plots.over_time(outcome), series)
        write_frame(series_frame([outcome.over_time]), series)
        # Names inside a figure are unique there only.
        svg += _ID.sub(r"\1over-time.", inline_svg(series.with_name(series.name + ".svg")))
    stem.with_name(stem.name + ".html").write_text(outcome_page(outcome, svg), encoding="utf-8")
    stem.with_name(stem.name + ".json").write_text(dumps(outcome_json(outcome)), encoding="utf-8")
    return svg


def write_run(result: Mapping[str, Any], runs: Sequence[Run], text: str, folder: Path) -> list[str]:
    """Figure, data, JSON and page of a scenario into `folder`; gives lines on what they leave out."""
    title = str(result["scenario"])
    note = f"{result['runs']} runs, seeds from {result['seed']}; bars: 95 % intervals. Interlayer {result['version']}"
    plots.save(plots.flows(result["flows"], title, note), folder / "flows")
    if runs[0]["series"]:
        one = f"seed {runs[0]['seed']}. Interlayer {result['version']}"
        plots.save(plots.series(runs[0]["series"], title, one), folder / "series")
        write_frame(series_frame(runs), folder / "series")
    for table in metrics.TABLES:
        if any(metrics.table(run, table) for run in runs):
            write_frame(frame(runs, table), folder / table if table != "flows" else folder / "flows")
    svg = inline_svg(folder / "flows.svg")
    notes = write_timeline(result, runs, folder) if runs[0].get("timeline") else []
    picture = folder / "timeline.svg"
    shown = run_page(result, svg, text, inline_svg(picture) if picture.exists() else "")
    (folder / "index.html").write_text(shown, encoding="utf-8")
    (folder / "result.json").write_text(dumps(dict(result)), encoding="utf-8")
    return notes


def write_timeline(result: Mapping[str, Any], runs: Sequence[Run], folder: Path) -> list[str]:
    """The timeline of the first run as a figure and a trace, of all runs as data; lines on what they leave out."""
    from interlayer.measure import timeline

    from . import timeline_plot

    first, title = runs[0]["timeline"], f"{result['scenario']}: who transmitted what when"
    if first is None or not any(first["has_radio"]):
        return []
    about = {"scenario": result["scenario"], "seed": runs[0]["seed"], "version": result["version"]}
    timeline.write_trace(first, folder / "timeline.trace.json", about)
    write_frame(timeline.frame(runs), folder / "timeline")
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


def series_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """Time series as one long frame: seed, name, t_s, value."""
    import polars as pl

    parts = [
        pl.DataFrame({"t_s": column["t_s"], "value": column["value"]}).select(
            pl.lit(run["seed"]).alias("seed"), pl.lit(name).alias("name"), "t_s", "value"
        )
        for run in runs
        for name, column in (run["series"] or {}).items()
    ]
    return pl.concat(parts) if parts else pl.DataFrame({"seed": [], "name": [], "t_s": [], "value": []})
