"""Writes anew what README.md, docs/ and examples/ show of the program's output: `make docs`. Tests compare the same.

    python docs/renew.py [--all | --check | --stamp] [EXPERIMENT]...

Tables are made of experiments, which take minutes to hours: those alone are made whose stamp is not the present one
(stamps.py, docs/design/tables.md). Experiments that are named, patterns too, narrow it to their tables, and to nothing
else. --all makes tables that are current, too. --check makes none: it names those that are stale, with status 1.
--stamp makes none either, and stamps those of the experiments named as current.

A page asks for tables by markers, and what stands between a marker and its end is written here:

    <!-- claims ID -->                         the claims that have a number, judged in every reading
    <!-- claims ID base -->                    the same in the base reading alone: seconds, and preliminary
    <!-- rows ID METRIC UNIT; PATH=VALUE -->   a metric, a line per point and a column per arm (see `rows`)
    <!-- arms ID; METRIC UNIT; METRIC UNIT --> several metrics, a line per arm and a column per metric (see `arms`)
    <!-- gains ID; A over B | C over D -->    gains of the metric in %, a line per point, a column per pair
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import stamps
from interlayer.study import library

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from interlayer.study.outcome import Outcome

ROOT = Path(__file__).parents[1]
SCHEMES = [ROOT / "docs" / "schemes" / f"{name}.md" for name in ("c3tcp", "tcp-aware-arq")]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *SCHEMES]
SHOWN = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
ASKED_OF_ROWS = re.compile(r"(\S+) (\S+) (\S+)((?:; [^;]+)*)")


def output(*arguments: str) -> str:
    """The output of Python, run in a folder of its own where the examples are found."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@cache
def reproduced(name: str, readings: str = "all") -> Outcome:
    """An experiment's outcome; several tables of a page share it."""
    import interlayer

    return interlayer.reproduce(name, readings=readings, store=os.environ.get("INTERLAYER_STORE"))


def claims(name: str, base: str = "") -> str:
    """The claims of an experiment that have one number: paper, arithmetic, measurement, verdict."""
    from interlayer.show import words

    o = reproduced(name, "base") if base else reproduced(name)
    last = "verdict of the base reading" if base else "verdict | holds in readings"
    lines = [f"| {o.experiment.source} | paper | arithmetic | measured | {last} |"]
    lines.append("|---" * (5 if base else 6) + "|")
    for s in o.scored:
        if s.claim.kind == "value":
            worked, verdict = words.arithmetic_text(s.claim, o.experiment), words.verdict_text(s)
            cells = [s.claim.text, words.expected_text(s.claim), worked, words.measured_text(s), verdict]
            lines.append(f"| {' | '.join(cells if base else [*cells, words.readings_text(s)])} |")
    if o.readings:
        lines += [
            "",
            f"Measured under assumptions, since the paper does not say: {words.base_of(o)}. {words.run_of(o)}.",
        ]
    return "\n".join(lines)


def rows(name: str, metric: str, unit: str, where: str) -> str:
    """A metric in the cells of an experiment: a line per point, a column per arm; the other way round if arms are many.

    `where` narrows the points, as `; flow.0.from=server; link.wire.delay=2 ms`, and the arms, as `; arm=reno|cubic`.
    Every number has its 95 % interval and the number of its runs.
    """
    from interlayer.show import words
    from interlayer.study.experiment import Cell, plain

    o = reproduced(name)
    e, fixed = o.experiment, dict(part.strip().split("=", 1) for part in where.split(";") if part.strip())
    chosen = fixed.pop("arm", "|".join(arm for arm, _ in e.arms)).split("|")
    assert set(fixed) <= set(e.paths), where
    assert set(chosen) <= {arm for arm, _ in e.arms}, where
    paths = [path for path in e.paths if path not in fixed]
    points, numbers = [], []
    for at in dict.fromkeys(cell.at for cell in e.cells()):
        here = {path: e.value(Cell("", at), path) for path in e.paths}
        if all(plain(here[path]) == value for path, value in fixed.items()):
            found = [o.results.estimate(Cell(arm, at), metric, unit) for arm in chosen]
            points.append([e.label(path, here[path]) for path in paths])
            numbers.append([words.with_runs(f) for f in found])
    arms = [e.label(arm) for arm in chosen]
    head, texts, lines = words.turned([e.label(path) for path in paths], points, arms, numbers, len(arms))
    rule = "|---" * texts + "|--:" * (len(head) - texts) + "|"
    shown = [f"| {' | '.join(line)} |" for line in [head, *lines]]
    said = words.recorded(o) if set(chosen) & set(e.recorded) else ""
    return "\n".join([shown[0], rule, *shown[1:], *(["", f"{said}."] if said else [])])


def arms(name: str, metrics: str) -> str:
    """Several metrics of the arms of an experiment without a sweep: a line per arm, a column per metric.

    `; only=base|ftca` at the end narrows the arms.
    """
    from interlayer.show import words
    from interlayer.study.experiment import Cell

    o = reproduced(name)
    e = o.experiment
    assert not e.paths, f"{name} sweeps {e.paths}"
    parts, _, only = metrics.partition("; only=")
    chosen = only.split("|") if only else [arm for arm, _ in e.arms]
    assert set(chosen) <= {arm for arm, _ in e.arms}, only
    columns = [part.strip().rsplit(" ", 1) for part in parts.split("; ")]
    lines = []
    for arm in chosen:
        found = [o.results.estimate(Cell(arm, ()), metric, unit) for metric, unit in columns]
        lines.append(f"| {' | '.join([e.label(arm), *map(words.with_runs, found)])} |")
    head = [f"{e.label(metric)}{'' if unit == '1' else f', {unit}'}" for metric, unit in columns]
    return "\n".join([f"| | {' | '.join(head)} |", f"|---{'|--:' * len(columns)}|", *lines])


def gains(name: str, asked: str) -> str:
    """Gains of arms over others in the experiment's metric, in percent: a line per point, a column per pair."""
    from interlayer.measure import stats
    from interlayer.show import words
    from interlayer.study.experiment import Cell, Gain

    o = reproduced(name)
    e, pairs = o.experiment, [pair.strip().split(" over ") for pair in asked.split(" | ")]
    assert {arm for pair in pairs for arm in pair} <= {arm for arm, _ in e.arms}, asked
    lines = []
    for at in dict.fromkeys(cell.at for cell in e.cells()):
        point = [e.label(path, e.value(Cell("", at), path)) for path in e.paths]
        found = [o.results.gain(Gain(Cell(of, at), Cell(over, at)), e.metric) for of, over in pairs]
        lines.append(f"| {' | '.join([*point, *(words.with_runs(stats.estimate(one)) for one in found)])} |")
    first = pairs[0][1]
    heads = [e.label(of) + ("" if over == first else f" over {e.label(over)}") for of, over in pairs]
    head = [*map(e.label, e.paths), *heads]
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(e.paths)}{'--:|' * len(pairs)}", *lines])


def measured(table: stamps.Table) -> str:
    """A table as it is now, without its markers."""
    if table.kind == "claims":
        name, _, base = table.asked.partition(" ")
        return claims(name, base)
    if table.kind == "arms":
        name, _, metrics = table.asked.partition("; ")
        return arms(name, metrics)
    if table.kind == "gains":
        name, _, pairs = table.asked.partition("; ")
        return gains(name, pairs)
    asked = ASKED_OF_ROWS.fullmatch(table.asked)
    assert asked is not None, f"{table}: expected ID METRIC UNIT; PATH=VALUE"
    return rows(*asked.groups())


def renewed(page: str, make: Callable[[stamps.Table], str | None] = measured, now: stamps.Stamps | None = None) -> str:
    """A page with its tables made anew and stamped as current. `make` gives None for a table that stays as it is."""
    now = now or stamps.Stamps()

    def table(found: re.Match[str]) -> str:
        was = stamps.of_match(found)
        if (body := make(was)) is None:
            return found[0]
        made = replace(was, body=body)
        return replace(made, stamp=now.stamp(made)).text()

    return stamps.TABLE.sub(table, page)


def renew(
    path: Path, why: Callable[[stamps.Table], str], make: Callable[[stamps.Table], str], now: stamps.Stamps
) -> None:
    """Makes those tables of a page for which there is a reason, and writes each when it is made.

    That may take an hour: the page is read again then, so that edits in the meantime are kept.
    """
    for table in stamps.tables(path.read_text("utf-8")):
        if reason := why(table):
            print(f"{table}: {reason}", flush=True)
            body = make(table)
            page = path.read_text("utf-8")
            path.write_text(renewed(page, lambda t: body if str(t) == str(table) else None, now), "utf-8")  # noqa: B023


def stale(names: Collection[str] = ()) -> list[str]:
    """The tables of all pages that are not current, each with its place and the reasons. Nothing is run."""
    now = stamps.Stamps()
    return [
        f"{path.relative_to(ROOT)}:{table.line}: {table}: {why}"
        for path in PAGES
        for table in stamps.tables(path.read_text("utf-8"))
        if (not names or stamps.experiment(table.name)[1] in names) and (why := now.why_stale(table))
    ]


def main(arguments: Sequence[str]) -> int:
    asked = argparse.ArgumentParser(description="Writes anew what pages and examples show of the program's output.")
    asked.add_argument("experiments", nargs="*", help="tables of these alone, patterns too, and nothing else")
    how = asked.add_mutually_exclusive_group()
    how.add_argument("--all", action="store_true", help="tables that are current, too")
    how.add_argument("--check", action="store_true", help="make nothing; name the tables that are stale")
    how.add_argument("--stamp", action="store_true", help="make nothing; stamp the tables named as current")
    given = asked.parse_args(arguments)
    if given.stamp and not given.experiments:
        asked.error("--stamp needs the experiments whose tables are current")
    named = {stamps.experiment(name)[1] for name in library.matching(given.experiments)}
    if given.check:
        found = [*filter(None, [stamps.unsaid()]), *stale(named)]
        print("\n".join(found) or "all tables are current")
        return int(bool(found))

    now = stamps.Stamps()  # one for all: experiments are stamped as they were before they ran

    def why(table: stamps.Table) -> str:
        if named and stamps.experiment(table.name)[1] not in named:
            return ""
        return now.why_stale(table) or ("asked for" if given.all else "")

    for path in PAGES:
        renew(path, why, (lambda table: table.body) if given.stamp else measured, now)
        if not named:
            page = path.read_text("utf-8")
            page = SHOWN.sub(lambda m: m[0].replace(f"```text\n{m[2]}", f"```text\n{output('-c', m[1])}"), page)
            path.write_text(page, "utf-8")
    for example in () if named else sorted((ROOT / "examples").glob("*.py")):
        example.with_suffix(".out").write_text(output(str(example)), "utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ValueError as error:  # an InputError is one
        sys.exit(f"renew: {error}")
