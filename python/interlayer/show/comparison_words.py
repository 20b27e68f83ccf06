"""A comparison in the words and numbers of a table. All of it is read from its JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from interlayer import quantity
from interlayer.measure.stats import Estimate

from .run_words import in_python, student

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def caption(result: Mapping[str, Any], *, bars: bool = True) -> str:
    """Pairing, interval, test and correction: what a table or figure of a comparison must say of itself.

    A figure, with its `bars`, also says what those that are not symmetric are; a table shows their ends.
    """
    runs, others = result["runs"], len(result["arms"]) - 1
    holm = f", Holm-corrected for {others} comparisons" if others > 1 else ""
    state = "; interrupted: finished runs only" if result.get("interrupted") else ""
    state += f". {said}" if (said := in_python(result)) else ""
    of = student(arm["compared"] for arm in result["arms"] if bars)
    if runs == 1:
        return f"1 run an arm, seed {result['seed']}: no interval and no test{state}. Interlayer {result['version']}"
    return (
        f"{runs} runs an arm, paired by common seeds from {result['seed']}; ± 95 % ({of}); "
        f"* p < 0.05 by the paired t-test{holm}{state}. Interlayer {result['version']}"
    )


def without_file(result: Mapping[str, Any]) -> str:
    """A note where all is compared with an arm that sets keys, and no arm is the scenario as it stands; else empty."""
    arms = result["arms"]
    if "set" not in arms[0] or any(arm["scheme"] == "file" and "set" not in arm for arm in arms):
        return ""
    return 'The scenario as it stands is not one of the arms; name it: --schemes file, in Python schemes="file".'


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
    text = str(Estimate.read(d).scaled(quantity.scale(name, unit)))
    return text if text.startswith("-") else f"+{text}"


def p_text(p: float | None) -> str:
    """A p-value for tables: `p = 0.031`, `p < 0.001`, a dash for none."""
    if p is None or math.isnan(p):
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def mark(d: Mapping[str, Any]) -> str:
    """Significance at a glance: `*`, `n.s.`, or a dash where no test could be made."""
    return "–" if d["significant"] is None else "*" if d["significant"] else "n.s."


COMPARED = ("goodput_bps", "jain", "retransmissions", "timeouts", "rtt_mean_s", "dropped_packets")
"""What is always compared, in the order in which it is left out where there is no room: the last goes first."""


def name_and_unit(metric: str) -> tuple[str, str]:
    """What a metric is called in tables, and its unit there: the column's name without unit, or the path that was asked
    for; times are in ms."""
    unit = "ms" if quantity.column_unit(metric) == "s" else quantity.natural_unit(metric)
    return quantity.without_unit(metric), unit


def compared_name(metric: str) -> str:
    """The head of a column: `goodput, Mb/s`."""
    name, unit = name_and_unit(metric)
    return name if unit in ("1", "packets") else f"{name}, {unit}"


def same_in_all(arms: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What every run of every arm has alike, as text: `jain 1`, `dropped 0`. Goodput always stands in the table.

    Of one run it is what is 0 or undefined in every arm, and the index of a single flow: no more is known to be so.
    """
    found, several = {}, len(arms[0]["flows"]) > 1
    for metric in (one for one in arms[0]["compared"] if one in COMPARED):
        values = [(arm["compared"][metric]["mean"], arm["compared"][metric]["ci95"]) for arm in arms]
        mean, half = values[0]
        constant = half == 0 or mean in (0, None) or (metric == "jain" and not several)
        if metric != "goodput_bps" and constant and all(value == values[0] for value in values):
            name, unit = name_and_unit(metric)
            shown = in_unit({"mean": mean, "ci95": None}, metric)
            found[metric] = f"{name} {shown}{'' if unit in ('1', 'packets') else f' {unit}'}"
    return found


def in_unit(value: Mapping[str, Any], metric: str) -> str:
    """A mean with its half-width, in the unit of tables; a dash where it is undefined."""
    if value["mean"] is None or not math.isfinite(value["mean"]):
        return "–"
    return str(Estimate.read(value).scaled(quantity.scale(metric, name_and_unit(metric)[1])))
