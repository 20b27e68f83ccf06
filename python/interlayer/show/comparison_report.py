"""What a comparison leaves behind: JSON (a contract, design.md section 5), tables as files, a web page, sentences."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from interlayer import quantity, toml_text
from interlayer.measure import metrics
from interlayer.measure.stats import Estimate
from interlayer.study.comparison import METRICS

from . import plots, report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from interlayer.study.comparison import Difference, Paired


def to_json(c: Paired) -> dict[str, Any]:
    """The object of `interlayer compare --json`. An arm's `difference` is to the first arm, whose own is None."""
    found: dict[str, Any] = {
        "scenario": c.scenario,
        "version": c.version,
        "seed": c.seed,
        "runs": c.replications,
        "wall_s": c.wall_s,
        "sim_s": sum(run["sim_s"] for runs in c.runs.values() for run in runs),
        "baseline": c.baseline.label,
    }
    if c.overrides:
        found["set"] = dict(c.overrides)
    if c.interrupted:
        found["interrupted"] = True
    compared = [metric for metric in METRICS if c.has(metric)]
    found["arms"] = [
        {
            "scheme": arm.scheme,
            "label": arm.label,
            **metrics.tables(c.runs[arm.label]),
            "compared": {m: _mean_json(c.estimate(arm.label, m)) for m in compared},
            "difference": None
            if arm is c.baseline
            else {m: _difference_json(c.difference(arm.label, m)) for m in compared},
        }
        for arm in c.arms
    ]
    return found


def _mean_json(e: Estimate) -> dict[str, Any]:
    return {"mean": e.mean, "ci95": e.half_width}


def _difference_json(d: Difference) -> dict[str, Any]:
    known = not math.isnan(d.p_value)
    return {
        **_mean_json(d.estimate),
        "relative_percent": d.relative,
        "p_value": d.p_value if known else None,
        "significant": d.significant if known else None,
    }


def frame(c: Paired) -> pl.DataFrame:
    """Every run of a comparison, a row per arm, run and flow: arm, seed, summary, the flow's columns."""
    import polars as pl

    records = [record for arm in c.arms for record in report.records_of({"arm": arm.label}, c.runs[arm.label])]
    return pl.DataFrame(records, infer_schema_length=None)


def differences_frame(result: Mapping[str, Any]) -> pl.DataFrame:
    """The differences of a comparison, a row per arm and metric; `result` is its JSON."""
    import polars as pl

    records = [
        {"arm": arm["label"], "over": result["baseline"], "metric": metric, **found}
        for arm in result["arms"]
        for metric, found in (arm["difference"] or {}).items()
    ]
    return pl.DataFrame(report.finite(records), infer_schema_length=None)


def caption(result: Mapping[str, Any]) -> str:
    """Pairing, interval, test and correction: what a table or figure of a comparison must say of itself."""
    runs, others = result["runs"], len(result["arms"]) - 1
    holm = f", Holm-corrected for {others} comparisons" if others > 1 else ""
    state = "; interrupted: finished runs only" if result.get("interrupted") else ""
    return (
        f"{runs} run{'s' * (runs != 1)} an arm, paired by common seeds from {result['seed']}; ± 95 % (Student t); "
        f"* p < 0.05 by the paired t-test{holm}{state}. Interlayer {result['version']}"
    )


def sentence(arm: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """What an arm's goodput may be said to be, and no more."""
    d, runs, baseline = arm["difference"]["goodput_bps"], result["runs"], result["baseline"]
    label = f"{arm['label']} against {baseline}"
    if d["p_value"] is None:
        why = "one run has no interval" if runs == 1 else "it is undefined in some of them"
        return f"{label}: nothing can be said of goodput in {runs} run{'s' * (runs != 1)}, {why}"
    by = f"{difference_text(d, 'goodput_bps', 'Mb/s')} Mb/s, {p_text(d['p_value'])}"
    if not d["mean"] and not d["ci95"]:
        return f"{label}: the same goodput in each of {runs} runs"
    if not d["significant"]:
        return f"{label}: no significant difference of goodput in {runs} runs ({by})"
    relative = d["relative_percent"]
    way = "higher" if d["mean"] > 0 else "lower"
    return f"{label}: goodput {'' if relative is None else f'{abs(relative):.3g} % '}{way} ({by})"


def difference_text(d: Mapping[str, Any], name: str, unit: str) -> str:
    """A difference with its sign and half-width, in `unit`; a dash where it is undefined."""
    if d["mean"] is None or not math.isfinite(d["mean"]):
        return "–"
    text = str(Estimate(d["mean"], d["ci95"], 0).scaled(quantity.scale(name, unit)))
    return text if text.startswith("-") else f"+{text}"


def p_text(p: float | None) -> str:
    """A p-value for tables: `p = 0.031`, `p < 0.001`, a dash for none."""
    if p is None or math.isnan(p):
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def mark(d: Mapping[str, Any]) -> str:
    """Significance at a glance: `*`, `n.s.`, or a dash where no test could be made."""
    return "–" if d["significant"] is None else "*" if d["significant"] else "n.s."


COMPARED = {
    "goodput_bps": ("goodput", "Mb/s"),
    "jain": ("Jain", "1"),
    "retransmissions": ("retransmissions", "1"),
    "timeouts": ("timeouts", "1"),
    "rtt_mean_s": ("mean RTT", "ms"),
    "dropped_packets": ("queue drops", "packets"),
}
"""How what is compared is called in tables, and in which unit."""


def compared_name(metric: str) -> str:
    """The head of a column: `goodput, Mb/s`."""
    name, unit = COMPARED[metric]
    return name if unit in ("1", "packets") else f"{name}, {unit}"


def page(c: Paired, result: Mapping[str, Any], svg: str) -> str:
    """A comparison's page: what may be said, figure, arms, differences, flows, and the scenario itself."""
    esc = html.escape
    arms_ = result["arms"]
    shown = list(arms_[0]["compared"])
    sentences = "".join(f"<li>{esc(sentence(arm, result))}.</li>" for arm in arms_[1:])
    values = [[esc(a["label"]), *(_in_unit(a["compared"][m], m) for m in shown)] for a in arms_]
    differences = [
        [
            esc(a["label"]),
            esc(compared_name(m)),
            difference_text(d, m, COMPARED[m][1]),
            "–" if d["relative_percent"] is None else f"{d['relative_percent']:+.3g}",
            esc(p_text(d["p_value"])),
            mark(d),
        ]
        for a in arms_[1:]
        for m, d in a["difference"].items()
    ]
    heads = [("arm", False), ("", False), ("difference", True), ("%", True), ("p", True), ("", False)]
    parts = [
        f"<h1>{esc(c.scenario)}: {esc(', '.join(a['label'] for a in arms_))}</h1>",
        f'<p class="soft">{esc(caption(result))}</p><ul>{sentences}</ul>',
        f"<figure>{svg}</figure>",
        "<h2>Arms</h2>" + report.table([("arm", False), *((compared_name(m), True) for m in shown)], values),
        f"<h2>Differences to {esc(c.baseline.label)}</h2><p>Paired, seed by seed. ± is the half-width of the 95 % "
        "interval of the mean difference; p is corrected by Holm's procedure for the number of arms.</p>"
        + report.table(heads, differences),
    ]
    for arm, found in zip(c.arms, arms_, strict=True):
        what = "as in the file" if arm.tables is None else toml_text.literal(list(arm.tables))
        parts.append(f"<h2>Flows: {esc(arm.label)}</h2><p><code>scheme = {esc(what)}</code></p>")
        parts.append(report.entries(found["flows"]))
    changes = "".join(f"\n# --set {path}={value}" for path, value in c.overrides)
    parts.append(f"<h2>Scenario</h2><pre>{esc(c.text + changes)}</pre>")
    return report.page(f"{c.scenario}: comparison", "\n".join(parts))


def _in_unit(value: Mapping[str, Any], metric: str) -> str:
    if value["mean"] is None or not math.isfinite(value["mean"]):
        return "–"
    return str(Estimate(value["mean"], value["ci95"], 0).scaled(quantity.scale(metric, COMPARED[metric][1])))


def write(c: Paired, result: Mapping[str, Any], folder: Path) -> None:
    """Figure, data, JSON and page of a comparison into `folder`; `result` is its JSON."""
    plots.save(plots.comparison(result, caption(result)), folder / "comparison")
    report.write_frame(frame(c), folder / "comparison")
    report.write_frame(differences_frame(result), folder / "differences")
    svg = report.inline_svg(folder / "comparison.svg")
    (folder / "index.html").write_text(page(c, result, svg), encoding="utf-8")
    (folder / "result.json").write_text(report.dumps(dict(result)), encoding="utf-8")
