"""Web pages, each self-contained: of an experiment or several, of a comparison."""

from __future__ import annotations

import html
import re
import shlex
from typing import TYPE_CHECKING, Any

from interlayer import toml_text
from interlayer.study import expression
from interlayer.study.verdict import Verdict

from . import asked, frames, markup, words
from .comparison_words import (
    caption,
    compared_name,
    difference_text,
    in_unit,
    mark,
    name_and_unit,
    p_text,
    sentence,
    without_file,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlayer.study.comparison import Paired
    from interlayer.study.experiment import Experiment
    from interlayer.study.outcome import Outcome
    from interlayer.study.verdict import Judgement


def outcome(o: Outcome, svg: str) -> str:
    """An experiment's page, self-contained: question, figure, claims, rows, assumptions, arithmetic."""
    e = o.experiment
    return asked.page(f"{e.id}: {e.title}", _experiment_body(o, svg, 1))


def index(outcomes: Sequence[Outcome], svgs: Sequence[str]) -> str:
    """One page on several experiments, self-contained: what holds of each in a table, then each of them whole."""
    esc = html.escape
    counts = [words.counts(o) for o in outcomes]
    total = {name: sum(count[name] for count in counts) for name in (*Verdict, "shown")}
    shown = [name for name, n in total.items() if n]
    heads = dict(
        zip(total, ("hold", "differ", "depend", "compatible", "untestable", "arithmetic", "shown"), strict=True)
    )
    head = [("experiment", False), ("what", False), ("evidence", False), ("claims", True)]
    head += [(heads[name], True) for name in shown]
    lines = []
    for o, count in zip(outcomes, counts, strict=True):
        e = o.experiment
        where = f'<a href="#{esc(e.id)}">{esc(e.id)}</a>'
        what = esc(e.title) + (" (not the paper's set-up)" if o.overrides else "")
        lines.append([where, what, esc(e.evidence), str(len(o.scored)), *(str(count[name]) for name in shown)])
    if len(outcomes) > 1:
        lines.append(["", "all", "", str(sum(total.values())), *(str(total[name]) for name in shown)])
    parts = [f'<h1>Experiments</h1><p class="soft">Interlayer {esc(outcomes[0].version)}</p>' if outcomes else ""]
    if any(o.scored for o in outcomes):
        parts.append(markup.table(head, lines))
    for o, svg in zip(outcomes, svgs, strict=True):
        own = markup.own_ids(svg, o.experiment.id)
        parts.append(f'<section>{_experiment_body(o, own, 2)}<p><a href="{esc(file_name(o.experiment))}.html">')
        parts.append("On a page of its own</a></p></section>")
    return asked.page("Interlayer: experiments", "\n".join(parts))


def outcome_body(o: Outcome) -> str:
    """An experiment without a page, a figure, and files beside it."""
    return _experiment_body(o, "", 1, has_files=False)


def _experiment_body(outcome: Outcome, svg: str, level: int, *, has_files: bool = True) -> str:
    """An experiment under a heading of `level`: the whole of its page, or a section of one on several."""
    e = outcome.experiment
    esc = html.escape
    top, sub = f"h{level}", f"h{level + 1}"

    def heading(text: str) -> str:
        return f"<{sub}>{text}</{sub}>"

    parts = [
        f'<{top} id="{esc(e.id)}">{esc(e.title)}</{top}>',
        f'<p class="soft">{esc(_of_what(outcome))}</p>',
    ]
    if said := words.not_the_papers(outcome):
        parts.append(f"<p><strong>{esc(said)}.</strong></p>")
    if e.question:
        parts.append(f'<p class="lead">{esc(e.question)}</p>')
    if said := words.tally(outcome):
        parts.append(f"<p><strong>{esc(said)}.</strong></p>")
    if said := words.recorded(outcome):
        again = f"interlayer reproduce {e.id} --live FILE.csv"
        parts.append(f"<p><strong>{esc(said)}.</strong> <code>{esc(again)}</code> makes them here.</p>")
    if svg:
        parts.append(f"<figure>{svg}<figcaption>{_figure_caption(outcome)}</figcaption></figure>")
    if outcome.scored:
        parts.append(heading("Paper, arithmetic, measurement") + _claims_table(outcome))
    if e.derived:
        parts.append(heading("Derived from these numbers") + "<p>Our own arithmetic: shown, not scored.</p>")
        parts.append(_derived_table(outcome))
    if outcome.cells():
        parts.append(heading("Measured"))
        shown = "one run each" if outcome.runs == 1 else "mean ± half-width of the 95 % interval (runs)"
        parts.append(f"<p>{esc(e.metric)} in {esc(e.unit)}: {shown}.</p>")
        parts.append(_rows_table(outcome))
    if e.comparisons:
        parts.append(
            heading("Gains")
            + f"<p>Of the means, in percent{'' if outcome.runs == 1 else ', with intervals paired over the seeds'}.</p>"
        )
        parts.append(_gains_table(outcome))
    if e.open is not None:
        parts.append(heading("What the paper leaves open") + _open(outcome))
    if e.contradictions:
        items = "".join(f"<li>{esc(' and '.join(c.claims))}: {_prose(c.text)}</li>" for c in e.contradictions)
        parts.append(heading("Claims that cannot hold together") + f"<ul>{items}</ul>")
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
            + markup.table([("curve or band", False), ("formula", False)], lines)
        )
    if outcome.overrides:
        items = "".join(f"<li><code>{esc(p)} = {esc(v)}</code></li>" for p, v in outcome.overrides)
        parts.append(heading("Set on the command line") + f"<ul>{items}</ul>")
    parts.append(heading("Do it again") + f"<pre>{esc(_command(outcome))}</pre>")
    kinds = (*frames.kinds(), "json", "png", "svg") if outcome.cells() else ("json",)
    files = " · ".join(f'<a href="{esc(file_name(e))}.{kind}">{kind}</a>' for kind in kinds)
    what = "Every run" if outcome.cells() else "The result"
    linked = f"{what}: {files}. " if has_files else ""
    parts.append(f'<p class="soft">{linked}Computed in {outcome.wall_s:.1f} s.</p>')
    return "\n".join(parts)


def _of_what(outcome: Outcome) -> str:
    """Id, source and evidence, as far as the file has them, and the version."""
    e = outcome.experiment
    known = [e.source, e.evidence] if e.source else []
    return " · ".join([e.id, *known, f"Interlayer {outcome.version}"])


def _open(outcome: Outcome) -> str:
    """The parameters with their values, what is stated here, and each claim in each reading."""
    esc, what = html.escape, outcome.experiment.open
    assert what is not None
    head = [("parameter", False), ("base", False), ("also plausible", False), ("where the text is silent", False)]
    lines = [
        [esc(p.name), esc(p.choices[0].name), esc("; ".join(c.name for c in p.choices[1:])), _prose(p.silent)]
        for p in what.parameters
    ]
    parts = [f"<p>{esc(what.title)} ({esc(what.source)}).</p>", markup.table(head, lines)]
    if what.stated:
        items = "".join(f"<li>{esc(name)}: {_prose(reason)}</li>" for name, reason in what.stated)
        parts.append(f"<p>Not open here:</p><ul>{items}</ul>")
    if what.missing:
        items = "".join(
            f"<li>{esc(one.name)}: {_prose(one.why)} A claim that rests on it is untestable where "
            f"<code>{esc(one.seen)}</code> is above 0 in one of its runs.</li>"
            for one in what.missing
        )
        parts.append(f"<p>Not modelled, and so not varied:</p><ul>{items}</ul>")
    varied = [s for s in outcome.scored if s.readings]
    if varied:
        parts.append(f"<p>{esc(words.run_of(outcome))}; a claim's own level of 5 % is shared by all of them.</p>")
        top = [("reading", False), *((f"#{s.claim.id.rpartition('#')[2]}", False) for s in varied)]
        rows = []
        for i, reading in enumerate(outcome.readings):
            cells = [s.readings[i].judgement if i < len(s.readings) else None for s in varied]
            marks = [
                f'<span class="{j.verdict.value}">{j.verdict.value}</span><br>{_means(j)}' if j else "–" for j in cells
            ]
            rows.append([esc(reading.id), *marks])
        parts.append(markup.table(top, rows))
    return "".join(parts)


def _means(j: Judgement) -> str:
    """What was measured in a reading, in short: at most three numbers."""
    shown = [str(e) for e in j.measured[:3]]
    return html.escape("; ".join(shown) + (" …" if len(j.measured) > len(shown) else ""))


def _figure_caption(outcome: Outcome) -> str:
    """How to read the figure, which itself states seeds, interval and version."""
    e = outcome.experiment
    parts = ["Lines: measured."]
    if outcome.recorded is not None:
        parts.append(f"{', '.join(e.label(arm) for arm in e.recorded)}: from a recording.")
    if any(c.strength == "number" for c in e.claims):
        parts.append("Stars and bars with a number: printed in the paper.")
    if e.curves:
        parts.append("Dotted lines and shaded bands: arithmetic from the standard's timing, formulas below.")
    return html.escape(" ".join(parts))


def _command(outcome: Outcome) -> str:
    """What to type to get this page again."""
    parts = ["interlayer reproduce", outcome.experiment.id]
    parts += [f"--seed {outcome.seed}"] if outcome.seed != 1 else []
    parts += [f"--set {shlex.quote(f'{path}={value}')}" for path, value in outcome.overrides]
    parts += ["--quick"] if outcome.quick else []
    parts += [f"--runs {outcome.fixed_runs}"] if outcome.fixed_runs else []
    parts += ["--readings base"] if outcome.base_only else []
    return " ".join([*parts, "--out DIR"])


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
            esc(words.expected_text(s.claim)) + band,
            esc(words.arithmetic_text(s.claim, e)),
            esc(words.measured_text(s)),
            f'<span class="verdict {words.verdict_text(s)}">{words.verdict_text(s, outcome)}</span>'
            + (f'<br><span class="soft">holds in {words.readings_text(s)} readings</span>' if s.readings else ""),
        ]
        body.append("<tr class=claim>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        reason = ". ".join(
            part[:1].upper() + part[1:] for part in (s.note, s.judgement.reason if s.judgement else "") if part
        )
        why = f"<p>{esc(reason)}.</p>" if reason else ""
        left_out = f"Not varied: {', '.join(s.unvaried)}" if s.unvaried else ""
        why += "".join(f"<p>{esc(one)}.</p>" for one in (s.in_readings, *s.contradicts, left_out) if one)
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
        value, unit = outcome.derived(d), html.escape(words.unit_text(d.unit))
        shown = str(value) + unit if value else "–"
        printed = "–" if d.expected is None else f"{words.exact(d.expected)}{unit}"
        computed, measured = (shown, "–") if d.quantity.is_computed else ("–", shown)
        lines.append([html.escape(d.text), printed, computed, measured, f"<code>{html.escape(d.shown())}</code>"])
    names = ("quantity", "paper", "from printed numbers", "measured", "formula")
    return markup.table([(name, False) for name in names], lines)


def _rows_table(outcome: Outcome) -> str:
    names, texts, lines = words.measured(outcome)
    head = [(name, i >= texts) for i, name in enumerate(names)]
    return markup.table(head, [[html.escape(cell) for cell in line] for line in lines])


def _gains_table(outcome: Outcome) -> str:
    e = outcome.experiment
    head = [(e.label(path), False) for path in e.paths]
    head += [(f"{e.label(c.of)} over {e.label(c.over)}", True) for c in e.comparisons]
    lines = []
    for at in dict.fromkeys(cell.at for cell in outcome.cells()):
        line = [html.escape(e.label(path, values[i])) for (path, values), i in zip(e.sweep, at, strict=True)]
        found = [outcome.gain(c, at) for c in e.comparisons]
        lines.append(line + [str(g) if g else "–" for g in found])
    return markup.table(head, lines)


def comparison_head(c: Paired, result: Mapping[str, Any], svg: str = "") -> str:
    """What may be said of a comparison, its figure, arms and differences."""
    esc = html.escape
    arms_ = result["arms"]
    shown = list(arms_[0]["compared"])
    sentences = "".join(f"<li>{esc(sentence(arm, result))}.</li>" for arm in arms_[1:])
    sentences += f"<li>{esc(said)}</li>" if (said := without_file(result)) else ""
    values = [[esc(a["label"]), *(in_unit(a["compared"][m], m) for m in shown)] for a in arms_]
    differences = [
        [
            esc(a["label"]),
            esc(compared_name(m)),
            difference_text(d, m, name_and_unit(m)[1]),
            "–" if d["relative_percent"] is None else f"{d['relative_percent']:+.3g}",
            esc(p_text(d["p_value"])),
            mark(d),
        ]
        for a in arms_[1:]
        for m, d in a["difference"].items()
    ]
    paired = "One run: no interval, no test."
    if result["runs"] > 1:
        paired = "Paired, seed by seed. ± is the half-width of the 95 % interval of the mean difference; "
        paired += "p is corrected by Holm's procedure for the number of arms."
    heads = [("arm", False), ("", False), ("difference", True), ("%", True), ("p", True), ("", False)]
    parts = [
        f"<h1>{esc(c.scenario)}: {esc(', '.join(a['label'] for a in arms_))}</h1>",
        f'<p class="soft">{esc(caption(result))}</p><ul>{sentences}</ul>',
        f"<figure>{svg}</figure>" if svg else "",
        "<h2>Arms</h2>" + markup.table([("arm", False), *((compared_name(m), True) for m in shown)], values),
        f"<h2>Differences to {esc(c.baseline.label)}</h2><p>{paired}</p>" + markup.table(heads, differences),
    ]
    return "\n".join(part for part in parts if part)


def comparison(c: Paired, result: Mapping[str, Any], svg: str) -> str:
    """A comparison's page: what may be said, figure, arms, differences, flows, data, and the scenario itself."""
    esc = html.escape
    data = [
        ("comparison", "every run, a row per flow"),
        ("differences", "each arm and metric against the first arm"),
    ]
    parts = [comparison_head(c, result, svg), "<h2>Data</h2>" + markup.links(data, frames.kinds())]
    for arm, found in zip(c.arms, result["arms"], strict=True):
        what = "as in the file" if arm.tables is None else toml_text.literal(list(arm.tables))
        sets = "".join(f"<br><code>{esc(path)} = {esc(value)}</code>" for path, value in arm.settings)
        parts.append(f"<h2>Flows: {esc(arm.label)}</h2><p><code>scheme = {esc(what)}</code>{sets}</p>")
        parts.append(markup.entries(found["flows"]))
    changes = "".join(f"\n# --set {path}={value}" for path, value in c.overrides)
    parts.append(f"<h2>Scenario</h2><pre>{esc(c.text + changes)}</pre>")
    return asked.page(f"{c.scenario}: comparison", "\n".join(parts))


def file_name(e: Experiment) -> str:
    """What an experiment's files are called, before their suffix: its id, with a folder's slash as a hyphen."""
    return e.id.replace("/", "-")
