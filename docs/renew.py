"""Writes anew what README.md, docs/ and examples/ show of the program's output: `make docs`. Tests compare the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlayer.study.outcome import Outcome

ROOT = Path(__file__).parents[1]
SCHEMES = [ROOT / "docs" / "schemes" / f"{name}.md" for name in ("c3tcp", "tcp-aware-arq")]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *SCHEMES]
SHOWN = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"<!-- claims (\S+)( base)? -->\n.*?<!-- end -->", re.DOTALL)
"""`<!-- claims ID -->`, or `<!-- claims ID base -->`: the base reading alone, seconds and preliminary."""
ROWS = re.compile(r"<!-- rows (\S+) (\S+) (\S+)((?:; [^;]+?)*) -->\n.*?<!-- end -->", re.DOTALL)

ARMS = re.compile(r"<!-- arms (\S+); ([^>]+?) -->\n.*?<!-- end -->", re.DOTALL)
"""`<!-- arms ID; metric unit; metric unit -->`: a line per arm, a column per metric."""


def output(*arguments: str) -> str:
    """What Python prints, run in a folder of its own where the examples are found."""
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
    lines = [f"<!-- claims {name}{base} -->"]
    last = "verdict of the base reading" if base else "verdict | holds in readings"
    lines.append(f"| {o.experiment.source} | paper | arithmetic | measured | {last} |")
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
    return "\n".join([*lines, "<!-- end -->"])


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
    return "\n".join([f"<!-- rows {name} {metric} {unit}{where} -->", shown[0], rule, *shown[1:], "<!-- end -->"])


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
    top = [f"<!-- arms {name}; {metrics} -->", f"| | {' | '.join(head)} |", f"|---{'|--:' * len(columns)}|"]
    return "\n".join([*top, *lines, "<!-- end -->"])


def renewed(page: str) -> str:
    """A page with its outputs and tables as they are now."""
    page = ROWS.sub(lambda m: rows(m[1], m[2], m[3], m[4]), page)
    page = ARMS.sub(lambda m: arms(m[1], m[2]), page)
    page = SHOWN.sub(lambda m: m[0].replace(f"```text\n{m[2]}", f"```text\n{output('-c', m[1])}"), page)
    return TABLE.sub(lambda m: claims(m[1], m[2] or ""), page)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
    for example in sorted((ROOT / "examples").glob("*.py")):
        example.with_suffix(".out").write_text(output(str(example)), "utf-8")
