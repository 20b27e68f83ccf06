"""What a person at a terminal sees: tables, and progress that is silent in a pipe."""

from __future__ import annotations

import io
import math
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from interlayer import toml_text
from interlayer.study import ledger
from interlayer.study.verdict import Verdict

from . import advice, comparison_words, joint, plots, region, run_words, words
from .grid import Column, Grid, prose, spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from interlayer._core import Run
    from interlayer.study.experiment import Experiment
    from interlayer.study.joint import Joint
    from interlayer.study.ledger import Assumption
    from interlayer.study.outcome import Outcome
    from interlayer.study.ranges import Surveyed
    from interlayer.study.runs import Standing

_COLOURS = {
    Verdict.HOLDS: "green",
    Verdict.DIFFERS: "red",
    Verdict.DEPENDS: "magenta",
    Verdict.COMPATIBLE: "cyan",
    Verdict.UNTESTABLE: "yellow",
    Verdict.ARITHMETIC: "dim",
}


_PIPE = 160
"""Letters a line in a pipe, of texts and of tables that can do with so many."""


def render(*parts: Any) -> str:
    """Rich renderables and grids as text for stdout: coloured and as wide as the terminal, plain and wide in a pipe."""
    from rich.console import Console

    on_terminal = sys.stdout.isatty() and "ipykernel" not in sys.modules  # a kernel says that it is one
    into = io.StringIO()
    # Rich would show each part in a notebook by itself, beside what it writes into the text.
    plain: Any = {"file": into, "highlight": False, "force_terminal": on_terminal, "force_jupyter": False}
    console = Console(width=None if on_terminal else _PIPE, **plain)
    for part in parts:
        if not isinstance(part, Grid):
            console.print(prose(part) if isinstance(part, str) else part)
            continue
        # A table in a pipe is as wide as it must be.
        on = console if on_terminal else Console(width=max(_PIPE, part.needs), **plain)
        for piece in part.parts(on.width):
            on.print(prose(piece) if isinstance(piece, str) else piece)
    return "\n".join(line.rstrip() for line in spaces(into.getvalue()).splitlines()) + "\n"


def outcome(o: Outcome) -> str:
    """An experiment: what was measured, then each claim with its verdict and the reason."""
    from rich.text import Text

    e = o.experiment
    title = e.id if e.title == e.id else f"{e.id}: {e.title}"
    title += f" ({e.source})" if e.source else ""
    names, texts, lines = words.measured(o, e.comparisons)
    columns = [Column(name, is_text=i < texts) for i, name in enumerate(names)]
    measured = Grid(columns, lines, names=texts, splits=True)

    varied = ["holds in readings"] if any(s.readings for s in o.scored) else []
    heads = ("#", "claim", "paper", "arithmetic", "measured", "verdict", *varied)
    rows, reasons = [], []
    for s in o.scored:
        verdict = Text(words.verdict_text(s, o), style=_COLOURS[s.verdict] if s.verdict else "dim")
        n = s.claim.id.rpartition("#")[2]
        worked = words.arithmetic_text(s.claim, e)
        cells: list[Any] = [n, s.claim.text, words.expected_text(s.claim), worked, words.measured_text(s), verdict]
        rows.append([*cells, *([words.readings_text(s)] if varied else [])])
        if s.verdict is not None and (s.verdict is not Verdict.HOLDS or s.contradicts):
            reasons.append(f"  #{n}: {s.why}.")
        elif tolerance := words.tolerance(s):
            assert s.judgement is not None
            reasons.append(f"  #{n}: {s.judgement.reason[:1].upper()}{s.judgement.reason[1:]}. {tolerance}.")
    folding = ("claim", "paper", "measured")  # an order or a trend is a list of names and numbers
    claims = Grid([Column(h, is_text=True, folds=h in folding) for h in heads], rows, names=2)
    derived = []
    for d in e.derived:
        value, unit = o.derived(d), words.unit_text(d.unit)
        here = str(value) + unit if value else "–"
        printed = "–" if d.expected is None else f"{words.exact(d.expected)}{unit}"
        derived.append([d.text, printed, here, d.shown()])
    of_derived = [
        Column(h, is_text=True, folds=h in ("quantity", "formula")) for h in ("quantity", "paper", "here", "formula")
    ]
    said, ours = words.tally(o), words.not_the_papers(o)
    return render(
        Text(f"{title}, {e.label(e.metric)} in {e.unit}" if o.cells() else title),
        *([prose(f"{ours}.", "bold")] if ours else []),
        *([measured] if o.cells() else []),
        *([f"{recorded}."] if (recorded := words.recorded(o)) else []),
        *([claims] if o.scored else []),
        *([Text("Derived: shown, not scored"), Grid(of_derived, derived)] if derived else []),
        *reasons,
        *([f"{words.run_of(o)}. Base: {words.base_of(o)}."] if o.readings else []),
        prose(f"{f'{said}. ' if said else ''}{plots.caption(o, state=not said)}. {o.wall_s:.1f} s.", "dim"),
    )


def readings(j: Joint) -> str:
    """The readings of several experiments: what may be said, then every reading with a sign for each claim."""
    from rich.text import Text

    lines = []
    for row in joint.by_truth(j):
        best = "" if row.is_told_from_best else "*"
        lines.append([str(row.true), joint.interval(row), best, joint.marks(row), row.reading.id])
    columns = [Column("true"), Column("95 %"), Column("", is_text=True), Column("claims", is_text=True)]
    table = Grid([*columns, Column("reading", is_text=True, folds=True)], lines)
    order = ", ".join(f"{e.id} ({sum(c.id.startswith(f'{e.id}#') for c in j.claims)})" for e in j.experiments)
    base = ", ".join(f"{p.name} = {p.choices[0].name}" for p in j.parameters)
    return render(
        Text("Readings of " + ", ".join(e.id for e in j.experiments)),
        table,
        prose(f"{joint.LEGEND}; * not told from the best. Claims in the order of {order}. Base: {base}."),
        *(f"{s}." for s in joint.sentences(j)),
        Text(f"Seeds from {j.seed}. Interlayer {j.version}, {j.wall_s:.1f} s", style="dim"),
    )


def ranges(s: Surveyed) -> str:
    """Claims along one range or two: where each is true, and all together."""
    from rich.text import Text

    texts = [*(c.text for c in s.claims), ""]
    rows = [list(row) for row in zip(region.names(s), texts, region.phrases(s), strict=False)]
    columns = [Column(h, is_text=True, folds=h != "id") for h in ("id", "claim", "where it is true")]
    return render(Text(region.title(s)), Grid(columns, rows), prose(f"{region.caption(s)}, {s.wall_s:.1f} s", "dim"))


def assumptions(e: Experiment, rows: Sequence[Assumption]) -> str:
    """What every value of an experiment's cells rests on: counts, what is open and not varied, the rest."""
    from rich.text import Text

    heads = ("value", "key", "rests on", "where")
    lines = []
    for row in sorted(rows, key=lambda row: not row.is_unvaried):
        values = ", ".join(toml_text.literal(v) for v in row.values[:3]) + (", …" if len(row.values) > 3 else "")
        by = f"open, varied by {', '.join(row.varied)}" if row.varied else row.basis or "not marked"
        by = "open, not varied" if row.is_unvaried else by
        lines.append([values or "–", row.key or row.what, by, row.where or "–"])
    counted = ", ".join(f"{n} {basis}" for basis, n in ledger.counts(rows).items())
    columns = [Column(h, is_text=True, folds=h in ("value", "where")) for h in heads]
    return render(Text(f"{e.id}: what its values rest on"), f"{counted}.", Grid(columns, lines))


def run(result: Mapping[str, Any], runs: Sequence[Run], *, clock: bool = True) -> str:
    """A scenario: its flows, or groups of them where they are many, queues that dropped packets, its summary.

    `result` is the JSON of `runs`. What is 0 everywhere is left out.
    """
    many = len(result["flows"]) > run_words.MANY
    flows, zero = (run_words.groups(runs), []) if many else run_words.flows(result)
    queues, links = run_words.queues(result), run_words.links(result)
    summary = run_words.summary_grid(result)
    said = [f"0 in every flow: {', '.join(zero)}" if zero else ""]
    each = f"Each of the {len(result['flows'])} flows: --json - or --out DIR" if many else ""
    said.append(run_words.in_python(result))
    said.append(". ".join(part for part in (run_words.other_queues(result), each) if part))
    state = "interrupted: finished runs only. " if result.get("interrupted") else ""
    took = f", {result['wall_s']:.2f} s" if clock else ""
    return render(
        f"{result['scenario']}: {run_words.runs_of(result)}",
        flows,
        *([links] if links else []),
        *([queues] if queues else []),
        *([summary] if summary else []),
        *(f"{line}." for line in said if line),
        prose(f"{state}Interlayer {result['version']}{took}", "dim"),
    )


def advised(result: Mapping[str, Any], limited: Collection[str] = (), brimming: Collection[str] = ()) -> str:
    """Where packets waited, what the air was used for, and what is worth comparing with.

    `limited` are the flows that are limited by their application, `brimming` those of Linux without small queues.
    """
    found = advice.findings(result, limited, brimming)
    tables = [grid for grid in (advice.waits(result), advice.radios(result)) if grid]
    if not found:
        return render("Where packets waited, and what the air was used for", *tables, "Nothing stands out.")
    ask = "Each is a question: interlayer compare FILE --arm … tells what it buys (docs/engineers.md)."
    return render(
        "Where packets waited, and what the air was used for", *tables, advice.table(found), prose(ask, "dim")
    )


def comparison(result: Mapping[str, Any], *, clock: bool = True) -> str:
    """A row per arm, the paired difference of goodput to the first, and a sentence on each.

    What is the same in every arm is said in a line below.
    """
    arms = result["arms"]
    same = comparison_words.same_in_all(arms)
    usual = [metric for metric in arms[0]["compared"] if metric in comparison_words.COMPARED]
    shown = [metric for metric in usual if metric not in same]
    ranks = {metric: 2 + i for i, metric in enumerate(comparison_words.COMPARED)} | {"goodput_bps": 0}
    columns = [Column("arm", is_text=True, folds=True)]
    columns += [Column(comparison_words.compared_name(m), ranks[m]) for m in shown]
    columns += [Column("difference, Mb/s"), Column("%", 2), Column("p", 1), Column("", is_text=True)]
    lines = []
    for arm in arms:
        line = [arm["label"], *(comparison_words.in_unit(arm["compared"][m], m) for m in shown)]
        if arm["difference"] is None:
            lines.append([*line, "", "", "", ""])
            continue
        lines.append([*line, *_difference(arm["difference"]["goodput_bps"], "goodput_bps")])
    sentences = [f"{comparison_words.sentence(arm, result)}." for arm in arms[1:]]
    sentences += [said] if (said := comparison_words.without_file(result)) else []
    sentences += [f"The same in every arm: {', '.join(same.values())}."] if same else []
    took = f", {result['wall_s']:.2f} s" if clock else ""
    return render(
        f"{result['scenario']}: goodput against {result['baseline']}",
        Grid(columns, lines),
        *sentences,
        *_asked(result),
        prose(f"{comparison_words.caption(result, bars=False)}{took}", "dim"),
    )


def _difference(d: Mapping[str, Any], metric: str) -> list[str]:
    """A difference in cells: with its interval, in percent, its p-value, its mark."""
    relative = "–" if d["relative_percent"] is None else f"{d['relative_percent']:+.3g}"
    p = comparison_words.p_text(d["p_value"]).removeprefix("p ").removeprefix("= ")
    by = comparison_words.difference_text(d, metric, comparison_words.name_and_unit(metric)[1])
    return [by, relative, p, comparison_words.mark(d)]


def _asked(result: Mapping[str, Any]) -> list[Any]:
    """For each metric that was asked for a table of its own: a row per arm, and the paired difference to the first."""
    found: list[Any] = []
    for metric in result.get("metrics", {}):
        columns = [Column("arm", is_text=True, folds=True), Column("mean"), Column("difference")]
        columns += [Column("%", 2), Column("p", 1), Column("", is_text=True)]
        lines = []
        for arm in result["arms"]:
            line = [arm["label"], comparison_words.in_unit(arm["compared"][metric], metric)]
            d = arm["difference"]
            lines.append([*line, *([""] * 4 if d is None else _difference(d[metric], metric))])
        name, unit = comparison_words.name_and_unit(metric)
        head = f"{name}{'' if unit in ('1', 'packets') else f' in {unit}'}, against {result['baseline']}"
        found += ["", head, Grid(columns, lines)]
    return found


EVERY_S = 60.0
"""So often long work says how far it is, where nobody sees a bar. What takes less says nothing."""


class Progress:
    """How far a command's work is: it is called with what is done and its standing, and keeps the last of each."""

    def __init__(self, show: Callable[[str, Standing], None]) -> None:
        self.standings: dict[str, Standing] = {}
        self._show = show

    def __call__(self, what: str, standing: Standing) -> None:
        self.standings[what] = standing
        self._show(what, standing)

    def counts(self) -> tuple[int, int]:
        """Runs that are finished, of those wanted so far."""
        told = self.standings.values()
        return sum(one.done for one in told), sum(one.runs for one in told)


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on stderr where that is a terminal; a line a minute where it is not.

    A bar is as long as the share of the simulated time that is done, the parts of runs under way included. What is left
    is estimated by it, from what this command has made: runs that were there before do not count.
    """
    if not sys.stderr.isatty():
        yield Progress(_by_the_minute())
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    counted = TextColumn("{task.percentage:>3.0f} % · {task.fields[done]}/{task.fields[runs]} runs")
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), counted, TimeElapsedColumn())
    with Bars(*columns, TextColumn("{task.fields[left]}"), console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, tuple[Any, float]] = {}

        def show(what: str, standing: Standing) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=1.0, done=0, runs=0, left=""), time.monotonic()
            task, begun = tasks[what]
            left = left_text(standing.left_s(time.monotonic() - begun))
            bars.update(task, completed=standing.share, done=standing.done, runs=standing.runs, left=left)

        yield Progress(show)


def _by_the_minute() -> Callable[[str, Standing], None]:
    """Tells on stderr how far the work is, a minute after its begin and each minute from then on."""
    told, begun = time.monotonic(), dict[str, float]()

    def show(what: str, standing: Standing) -> None:
        nonlocal told
        now = time.monotonic()
        since = begun.setdefault(what, now)
        if now - told < EVERY_S:
            return
        told = now
        left = left_text(standing.left_s(now - since)).replace("· ", ", ")
        share = f"{100 * standing.share:.0f} % · {standing.done}/{standing.runs} runs"
        print(f"interlayer: {what}: {share}{left}", file=sys.stderr, flush=True)

    return show


def left_text(left_s: float | None) -> str:
    """What is left, in words; empty where nothing is known, or left."""
    if not left_s:
        return ""
    minutes, seconds = divmod(math.ceil(left_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"· {hours}:{minutes:02}:{seconds:02} to go"
