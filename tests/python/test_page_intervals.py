"""Intervals on the pages: none leaves what its metric can be, and none is of fewer than five runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlayer.measure import support
from interlayer.measure.support import AMOUNT, ANY, CORRELATION, Support

ROOT = Path(__file__).parents[2]
LISTED = subprocess.run(
    ["git", "ls-files", "docs/*.md", "README.md", "examples/*.out"],
    cwd=ROOT,
    capture_output=True,
    text=True,
    check=True,
)
PAGES = [ROOT / name for name in LISTED.stdout.split()]
MARKER = re.compile(r"<!-- (rows|arms|gains) (\S+)(;?) (.*?) -->")
CELL = re.compile(r"(?P<sign>[+−-]?)(?P<mean>\d+(?:\.\d+)?) ± (?P<half>\d+(?:\.\d+)?)(?: \((?P<runs>\d+)\))?")
ENDS = re.compile(r"(?P<mean>\d+(?:\.\d+)?) \((?P<low>\d+(?:\.\d+)?) … (?P<high>\d+(?:\.\d+)?)\)")
INDEX = support.index_of(1000)  # of how many rows it is the page does not say
FEW = re.compile(r"\b(two|three|four|[1-4]) (runs|seeds)\b")


def of_metric(metric: str) -> Support:
    """What a metric of a marker can be, by its path; of a table's head, by its words."""
    if "correlation" in metric.lower():
        return CORRELATION
    return INDEX if "jain" in metric.lower() else AMOUNT


def tables(page: str) -> Iterator[tuple[str, list[Support], str]]:
    """The lines of each table, what each of its columns can be, and the paragraph before it."""
    for found in re.finditer(r"(?:^\|.*\n)+", page, re.MULTILINE):
        lines = found[0].splitlines()
        before = page[: found.start()].rstrip("\n").split("\n\n")[-1]
        columns = lines[0].count("|") - 1
        if marker := MARKER.search(before.splitlines()[-1]):
            parts = marker[4].split("; ")
            metrics = [parts[0]] * columns if marker[1] == "rows" else ["", *parts]
            kinds = [ANY] * columns if marker[1] == "gains" else [of_metric(m) for m in metrics]
        else:
            heads = lines[0].split("|")[1:-1]
            kinds = [of_metric(h + ("jain" if "index" in before.splitlines()[-1].lower() else "")) for h in heads]
        kinds += [AMOUNT] * (columns - len(kinds))
        for line in lines:
            yield line, kinds, before


def shown(cell: str, kind: Support) -> list[str]:
    """What is wrong with the intervals of a cell. A number with a sign is a difference, and can be anything."""
    wrong = []
    for one in CELL.finditer(cell):
        mean, half = float(one["mean"]), float(one["half"])
        can_be = ANY if one["sign"] or "%" in cell[one.end() : one.end() + 2] else kind
        slack = 1e-12
        if mean - half < can_be.low - slack or mean + half > can_be.high + slack:
            wrong.append(f"{one[0]} leaves {can_be}")
        if one["runs"] and int(one["runs"]) < support.FEWEST:
            wrong.append(f"{one[0]}: an interval of {one['runs']} runs")
    for one in ENDS.finditer(cell):
        if not (kind.low <= float(one["low"]) <= float(one["mean"]) <= float(one["high"]) <= kind.high):
            wrong.append(f"{one[0]} leaves {kind}")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_interval_of_a_table_leaves_what_its_metric_can_be(page: Path) -> None:
    wrong = []
    for line, kinds, before in tables(page.read_text("utf-8")):
        for cell, kind in zip(line.split("|")[1:-1], kinds, strict=False):
            wrong += [f"{line[:50]}: {one}" for one in shown(cell, kind)]
        if "±" in line and FEW.search(before):
            wrong.append(f"{line[:50]}: the text before says {FEW.search(before)}")
    assert not wrong, "\n".join(wrong)


OUTPUT = re.compile(r"(?:^```python\n(?P<code>.*?)^```\n\n)?^```text\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_interval_of_an_output_does_and_none_is_of_fewer_than_five_runs(page: Path) -> None:
    text, wrong = page.read_text("utf-8"), []
    blocks = [("", text)] if page.suffix == ".out" else [(m["code"] or "", m["text"]) for m in OUTPUT.finditer(text)]
    for code, output in blocks:
        for line in output.splitlines():
            for one in CELL.finditer(line):
                before = line[: one.start()].lower()
                if re.search(r"(difference|gain|\()\s*$", before):
                    continue
                index = before.rstrip().endswith("jain")
                wrong += shown(one[0], INDEX if index else AMOUNT)
        few = re.search(r"runs=[2-4]\b", code) or re.search(r"^[2-4] runs", output, re.MULTILINE)
        if few and "±" in output:
            wrong.append(f"an output of {few[0]}: {output.splitlines()[0][:60]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("row", "metric", "problem"),
    [
        ("| 0.4 | 0.0038 ± 0.0040 (10) |", "flow.own1.goodput Mb/s", "leaves"),
        ("| 0.4 | 0.94 ± 0.10 (10) |", "summary.jain 1", "leaves"),
        ("| 0.4 | 0.940 (0.762 … 1.010) (10) |", "summary.jain 1", "leaves"),
        ("| 0.4 | 5.0 ± 0.1 (3) |", "flow.own1.goodput Mb/s", "an interval of 3 runs"),
        ("| 0.4 | -0.2 ± 0.3 (10) |", "flow.own1.goodput Mb/s", ""),
        ("| 0.4 | 0.940 (0.762 … 0.990) (10) |", "summary.jain 1", ""),
    ],
)
def test_the_reader_of_tables_sees_it(row: str, metric: str, problem: str) -> None:
    page = f"<!-- rows beyond/x {metric} -->\n| a | b |\n|---|--:|\n{row}\n<!-- end; results=1 -->\n"
    wrong = [
        w
        for line, kinds, _ in tables(page)
        for c, k in zip(line.split("|")[1:-1], kinds, strict=True)
        for w in shown(c, k)
    ]
    assert len(wrong) == bool(problem)
    assert not problem or problem in wrong[0]
