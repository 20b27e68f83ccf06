"""What a person at a terminal sees: tables, and progress that is silent in a pipe."""

from __future__ import annotations

import io
import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from interlayer import quantity
from interlayer.measure import stats
from interlayer.study.verdict import Verdict

from . import comparison_words, joint, plots, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.table import Table

    from interlayer.study.joint import Joint
    from interlayer.study.outcome import Outcome

_COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.DIFFERS: "red",
    Verdict.DEPENDS: "magenta",
    Verdict.UNTESTABLE: "yellow",
    Verdict.ARITHMETIC: "dim",
}


def render(*parts: Any) -> str:
    """Rich renderables as text for stdout: coloured and as wide as the terminal, plain and wide in a pipe."""
    from rich.console import Console

    on_terminal = sys.stdout.isatty()
    into = io.StringIO()
    console = Console(file=into, force_terminal=on_terminal, width=None if on_terminal else 160, highlight=False)
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in into.getvalue().splitlines()) + "\n"


def _table(title: str = "") -> Table:
    from rich import box
    from rich.table import Table

    return Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)


def outcome(o: Outcome) -> str:
    """An experiment: what was measured, then each claim with its verdict and the reason."""
    from rich.text import Text

    e = o.experiment
    measured = _table(f"{e.id}: {e.title} ({e.source}), {e.label(e.metric)} in {e.unit}")
    names, texts, lines = words.measured(o, e.comparisons)
    for i, name in enumerate(names):
        measured.add_column(Text(name), justify="left" if i < texts else "right")
    for line in lines:
        measured.add_row(*map(Text, line))

    claims = _table()
    varied = ["holds in readings"] if any(s.readings for s in o.scored) else []
    for name in ("#", "claim", "paper", "arithmetic", "measured", "verdict", *varied):
        claims.add_column(name)
    reasons = []
    for s in o.scored:
        verdict = Text(words.verdict_text(s), style=_COLOURS[s.verdict] if s.verdict else "dim")
        n = s.claim.id.rpartition("#")[2]
        worked = words.arithmetic_text(s.claim, e)
        cells: list[Any] = [n, s.claim.text, words.expected_text(s.claim), worked, words.measured_text(s), verdict]
        claims.add_row(*cells, *([words.readings_text(s)] if varied else []))
        if s.verdict is not None and (s.verdict is not Verdict.HOLDS or s.contradicts):
            reasons.append(Text(f"  #{n}: {s.why}."))
    derived = _table("Derived: shown, not scored") if e.derived else None
    if derived is not None:
        for name in ("quantity", "list", "here", "formula"):
            derived.add_column(name)
        for d in e.derived:
            value, unit = o.derived(d), words.unit_text(d.unit)
            here = words.number(value.mean, value.half_width) + unit if value else "–"
            printed = "–" if d.expected is None else f"{d.expected:g}{unit}"
            derived.add_row(d.text, printed, here, d.shown())
    return render(
        measured if o.cells() else Text(f"{e.id}: {e.title} ({e.source})"),
        claims,
        *([derived] if derived else []),
        *reasons,
        *([Text(f"{words.run_of(o)}. Base: {words.base_of(o)}.")] if o.readings else []),
        Text(f"{words.tally(o)}. {plots.caption(o)}. {o.wall_s:.1f} s.", style="dim"),
    )


def readings(j: Joint) -> str:
    """The readings of several experiments: what may be said, then every reading with a sign for each claim."""
    from rich.text import Text

    table = _table("Readings of " + ", ".join(e.id for e in j.experiments))
    for name, right in (("true", True), ("95 %", True), ("", False), ("claims", False), ("reading", False)):
        table.add_column(name, justify="right" if right else "left")
    for row in joint.by_truth(j):
        best = "" if row.is_told_from_best else "*"
        shown = [str(row.true), joint.interval(row), best, joint.marks(row), row.reading.id]
        table.add_row(*map(Text, shown))
    order = ", ".join(f"{e.id} ({sum(c.id.startswith(f'{e.id}#') for c in j.claims)})" for e in j.experiments)
    base = ", ".join(f"{p.name} = {p.choices[0].name}" for p in j.parameters)
    return render(
        table,
        Text(f"{joint.LEGEND}; * not told from the best. Claims in the order of {order}. Base: {base}."),
        *(Text(f"{s}.") for s in joint.sentences(j)),
        Text(f"Seeds from {j.seed}. Interlayer {j.version}, {j.wall_s:.1f} s", style="dim"),
    )


def run(result: Mapping[str, Any]) -> str:
    """A scenario: its flows, its schemes' counters, its summary."""
    from rich.text import Text

    runs = result["runs"]
    flows = _table(f"{result['scenario']}: {runs} run{'s' * (runs != 1)}, seeds from {result['seed']}")
    for name in ("flow", "goodput, Mb/s", "datagrams, Mb/s", "retransmissions", "timeouts", "mean RTT, ms"):
        flows.add_column(name, justify="left" if name == "flow" else "right")
    for f in result["flows"]:
        flows.add_row(
            f"{f['id']}  {f.get('from', '')} → {f.get('to', '')}",
            _cell(f, "goodput_bps", "Mb/s"),
            _cell(f, "datagram_throughput_bps", "Mb/s"),
            _cell(f, "retransmissions", "1"),
            _cell(f, "timeouts", "1"),
            _cell(f, "rtt_mean_s", "ms"),
        )
    summary = "  ".join(f"{quantity.without_unit(n)} {_labelled(result['summary'], n)}" for n in result["summary"])
    full = [q for q in result.get("queues", []) if q["dropped_packets"]["mean"]]
    note = "interrupted: finished runs only. " if result.get("interrupted") else ""
    return render(
        flows,
        *([_queues(full)] if full else []),
        Text(summary),
        Text(f"{note}Interlayer {result['version']}, {result['wall_s']:.2f} s", style="dim"),
    )


def comparison(result: Mapping[str, Any], *, clock: bool = True) -> str:
    """A row per arm, the paired difference of goodput to the first, and a sentence on each."""
    from rich.text import Text

    arms = result["arms"]
    shown = list(arms[0]["compared"])
    table = _table(f"{result['scenario']}: goodput against {result['baseline']}")
    table.add_column("arm")
    for metric in shown:
        table.add_column(comparison_words.compared_name(metric), justify="right")
    for name in ("difference, Mb/s", "%", "p"):
        table.add_column(name, justify="right")
    table.add_column("")
    for arm in arms:
        line: list[Any] = [
            Text(arm["label"]),
            *(_cell(arm["compared"], m, comparison_words.COMPARED[m][1]) for m in shown),
        ]
        if arm["difference"] is None:
            table.add_row(*line, "", "", "", "")
            continue
        d = arm["difference"]["goodput_bps"]
        relative = "–" if d["relative_percent"] is None else f"{d['relative_percent']:+.3g}"
        by = comparison_words.difference_text(d, "goodput_bps", "Mb/s")
        table.add_row(
            *line,
            by,
            relative,
            comparison_words.p_text(d["p_value"]).removeprefix("p ").removeprefix("= "),
            comparison_words.mark(d),
        )
    sentences = [Text(f"{comparison_words.sentence(arm, result)}.") for arm in arms[1:]]
    took = f", {result['wall_s']:.2f} s" if clock else ""
    return render(table, *sentences, Text(f"{comparison_words.caption(result)}{took}", style="dim"))


def _queues(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Where packets were dropped, and how long those that were not had to wait."""
    table = _table()
    for name in ("queue", "offered", "dropped", "of these early", "mean packets", "mean wait, ms"):
        table.add_column(name, justify="left" if name == "queue" else "right")
    for q in rows:
        counts = ("offered_packets", "dropped_packets", "dropped_early_packets", "mean_packets")
        table.add_row(q["id"], *(_cell(q, name, "packets") for name in counts), _cell(q, "mean_wait_s", "ms"))
    return table


def _cell(row: Mapping[str, Any], name: str, unit: str) -> str:
    """A column of a row, in `unit`; a dash if the row has none."""
    value = row.get(name)
    if not isinstance(value, dict) or value["mean"] is None or math.isnan(value["mean"]):
        return "–"
    return str(stats.Estimate(value["mean"], value["ci95"], 0).scaled(quantity.scale(name, unit)))


def _labelled(row: Mapping[str, Any], name: str) -> str:
    """A column of a row with its unit: rates in Mb/s, all else as it is counted."""
    unit = quantity.natural_unit(name)
    return _cell(row, name, unit) + ("" if unit == "1" else f" {unit}")


def entries(rows: Sequence[Mapping[str, Any]]) -> str:
    """A list with the id first on each line."""
    width = max((len(row["id"]) for row in rows), default=0)
    lines = [f"{row['id']:<{width}}  {row['summary']}  {_bracketed(row)}".rstrip() for row in rows]
    return "\n".join(lines) + "\n" if lines else ""


def _bracketed(row: Mapping[str, Any]) -> str:
    """Where an entry is from; of an experiment also the kind of its evidence, and how many claims it has."""
    parts = [row["source"]] if row.get("source") else []
    if "claims" in row:
        parts.append(f"{row['evidence']}, {row['claims']} claim{'s' * (row['claims'] != 1)}")
    return f"[{'; '.join(parts)}]" if parts else ""


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on stderr where that is a terminal; None, and silence, where it is not."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)

        yield show
