"""Ours against the stored runs of ns-3.

    python validation/ns3/compare.py [--write] [--set PATH=VALUE]... [--only TEXT]

Goodput is TCP or UDP payload delivered in all flows; the retry rate is the share of frame exchanges that failed, an RTS
without CTS or a data frame without ACK. Intervals are 95 % half-widths over runs. `--write` puts the table into
README.md.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import star

from interlayer import simulator
from interlayer.measure import stats

HERE = Path(__file__).parent
REFERENCE = HERE / "reference.csv"
RUNS = 10

GOODPUT_AIM = 0.03
RETRY_AIM = 0.10


class Pair(NamedTuple):
    """One quantity of one cell: ours and ns-3's."""

    ours: stats.Estimate
    theirs: stats.Estimate

    @property
    def difference(self) -> float:
        """Ours over ns-3's, minus 1; 0 where both are 0."""
        return self.ours.mean / self.theirs.mean - 1 if self.theirs.mean else self.ours.mean

    @property
    def half_width(self) -> float:
        """Of the difference, from both intervals."""
        both = ((self.ours.half_width or 0.0) ** 2 + (self.theirs.half_width or 0.0) ** 2) ** 0.5
        return both / self.theirs.mean if self.theirs.mean else 0.0

    def verdict(self, aim: float) -> str:
        """Whether the difference is within the aim, as far as the intervals can tell."""
        if abs(self.difference) + self.half_width <= aim:
            return "agrees"
        return "differs" if abs(self.difference) - self.half_width > aim else "unresolved"


class Compared(NamedTuple):
    goodput_mbps: Pair
    retry_rate: Pair


def reference(geometry: str = "star") -> dict[star.Cell, list[dict[str, str]]]:
    """The stored runs of each cell."""
    rows: dict[star.Cell, list[dict[str, str]]] = defaultdict(list)
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["geometry"] == geometry:
                rows[cell_of(row)].append(row)
    return dict(rows)


def cell_of(row: dict[str, str]) -> star.Cell:
    return star.Cell(int(row["stations"]), row["direction"], row["variant"], int(row["window"]))


def compare(
    cell: star.Cell, rows: list[dict[str, str]], runs: int = RUNS, overrides: list[tuple[str, str]] | None = None
) -> Compared:
    """Runs ours and puts it beside the stored rows."""
    scenario = simulator.parse(star.scenario(cell), overrides or [])
    found = [run for run in simulator.run_batch([(scenario, seed) for seed in range(1, runs + 1)]).runs if run]

    def share(run: object) -> float:
        nodes = run["nodes"]  # type: ignore[index]
        return sum(n["failures"] for n in nodes) / sum(n["exchanges"] for n in nodes)

    ours = [run["summary"]["goodput_bps"] / 1e6 for run in found]
    theirs = [float(row["total_mbps"]) for row in rows]
    retries = [int(row["failures"]) / int(row["exchanges"]) for row in rows]
    return Compared(
        Pair(stats.estimate(ours), stats.estimate(theirs)),
        Pair(stats.estimate([share(run) for run in found]), stats.estimate(retries)),
    )


def table(compared: dict[star.Cell, Compared], runs: dict[star.Cell, int]) -> str:
    """Markdown."""
    of_each = ("ours", "ns-3", "difference, %", "")
    head = ["n", "flows", "window, B", *of_each, *of_each, "ns-3 runs"]
    head[3] = "goodput, Mb/s: ours"
    head[7] = "retry rate: ours"
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for cell, (goodput, retry) in compared.items():
        cells = [str(cell.stations), f"{cell.direction}, {cell.variant}", str(cell.window or "–")]
        for pair, aim, digits in ((goodput, GOODPUT_AIM, 2), (retry, RETRY_AIM, 4)):
            cells += [f"{e.mean:.{digits}f} ± {e.half_width or 0:.{digits}f}" for e in pair]
            cells += [f"{100 * pair.difference:+.1f} ± {100 * pair.half_width:.1f}", pair.verdict(aim)]
        lines.append("| " + " | ".join([*cells, str(runs[cell])]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    parser.add_argument("--only", default="")
    parser.add_argument("--geometry", default="star")
    options = parser.parse_args()
    overrides = [(path, value) for path, _, value in (text.partition("=") for text in options.set)]
    rows = {cell: r for cell, r in reference(options.geometry).items() if options.only in str(cell)}
    compared = {cell: compare(cell, r, overrides=overrides) for cell, r in rows.items()}
    text = table(compared, {cell: len(r) for cell, r in rows.items()})
    print(text)
    if options.write:
        readme = HERE / "README.md"
        old = readme.read_text(encoding="utf-8")
        new = re.sub(r"(?s)(<!-- table -->\n).*(<!-- end -->)", lambda m: f"{m[1]}{text}\n{m[2]}", old)
        readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
