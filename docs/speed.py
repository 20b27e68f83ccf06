"""Writes what the pages state of the speed beside ns-3, from bench/ns3.json: `make docs`. A test compares the same.

The file is what `interlayer bench --against ns3 --json bench/ns3.json` wrote; `make speed` runs that, then this. In a
page `<!-- ns3 range -->…<!-- end -->` is filled with the range of the cases' ratios; the other words are `table`,
`conditions`, `aim` and `minutes`. No line begins with one that is followed by text: Markdown would take it for HTML.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from interlayer import bench
from interlayer.measure.stats import plain

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "bench/ns3.json"
PAGES = [ROOT / name for name in ("README.md", "docs/comparison.md", "docs/design/performance.md", "bench/README.md")]
BLOCK = re.compile(r"<!-- ns3 (\w+) -->.*?<!-- end -->", re.DOTALL)

CASES = {
    "6-uploads": "6 TCP uploads, 54 Mb/s, datagrams of 576 B",
    "50-uploads": "50 of them",
    "200-saturated": "200 saturated UDP stations",
    "1000-saturated": "1000 of them",
    "download-ax": "a TCP download, 802.11ax, 80 MHz, two streams",
}
"""The cases in words."""
AIM = 150
"""So many times as fast as ns-3 the project wants to be in each case."""
BUSY_BEFORE, BUSY_AFTER = 0.5, 1.5
"""Loads from which other work was on the machine: the measurement itself is a load of one."""


def of_range(found: dict[str, Any]) -> str:
    """The least and the largest ratio of the cases."""
    ratios = [case["cpu_ratio"] for case in found["cases"]]
    return f"{min(ratios):.0f} to {max(ratios):.0f}"


def of_table(found: dict[str, Any]) -> str:
    """A line for each case: processor seconds of both, their ratio, and the range of the pairs' ratios."""
    peer = f"ns-3 {found['cases'][0]['ns3_version']}"
    lines = [f"| case | simulated | Interlayer, s | {peer}, s | ratio | of the pairs |", "|---|---|--:|--:|--:|---|"]
    for case in found["cases"]:
        seconds = [plain(case[name], 3) for name in ("interlayer_cpu_s", "ns3_cpu_s")]
        ratios = f"{case['cpu_ratio']:.0f} | {case['cpu_ratio_low']:.0f} to {case['cpu_ratio_high']:.0f}"
        simulated = f"{plain(case['simulated_s'])} s"
        lines.append(f"| {CASES[case['name']]} | {simulated} | {' | '.join(seconds)} | {ratios} |")
    return "\n".join(["", *lines, ""])


def of_conditions(found: dict[str, Any]) -> str:
    """The number of pairs, the day, the machine and its load, and a warning where the figures are preliminary."""
    pairs, load = found["cases"][0]["runs"], found["load"]
    made = f"medians of {pairs} pairs" if pairs > 1 else "one pair a case"
    text = f"Processor seconds, {made}, {found['measured']}, Interlayer {found['version']}. {bench.on(found)}."
    if None not in load.values() and (load["before"] > BUSY_BEFORE or load["after"] > BUSY_AFTER):
        text += " **Preliminary:** the machine was busy with other work."
    elif pairs < bench.PAIRS:
        text += f" **Preliminary:** {bench.PAIRS} pairs are asked for."
    return text


def of_aim(found: dict[str, Any]) -> str:
    """The project's aim, and the cases that miss it."""
    missed = [f"`{c['name']}` ({int(c['cpu_ratio'])})" for c in found["cases"] if c["cpu_ratio"] < AIM]
    how = f"missed by {', '.join(missed)}" if missed else "met"
    return f"{AIM} in each case; it is {how}"


def of_minutes(found: dict[str, Any]) -> str:
    """The wall-clock time of all runs."""
    pairs = [pair for case in found["cases"] for pair in case["pairs"]]
    took = sum(pair["interlayer_s"] + pair["ns3_s"] for pair in pairs)
    return f"{round(took / 60)} minutes"


def renewed(page: str, found: dict[str, Any]) -> str:
    """A page with the figures of a measurement."""
    kinds = {"range": of_range, "table": of_table, "conditions": of_conditions, "aim": of_aim, "minutes": of_minutes}
    return BLOCK.sub(lambda m: f"<!-- ns3 {m[1]} -->{kinds[m[1]](found)}<!-- end -->", page)


if __name__ == "__main__":
    measured = json.loads(KEPT.read_text("utf-8"))
    for path in PAGES:
        path.write_text(renewed(path.read_text("utf-8"), measured), "utf-8")
