"""Cells of stations that differ, ours against stored runs of ns-3: 802.11b among 802.11g, and transmit opportunities.

    python validation/ns3/cells.py                    ours against the stored runs
    python validation/ns3/cells.py --write            and the table into README.md
    python validation/ns3/cells.py --renew [--runs N] runs ns-3: `make ns3` first

Saturated UDP uploads to one more node. A cell is called by what the peer takes as `--stations`
(bench/ns3/wlan_cell.cc).
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import compare

from interlayer import simulator
from interlayer.measure import stats

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402

ROOT = HERE.parents[1]
SOURCES = (ROOT / "bench/ns3/wlan_cell.cc", ROOT / "bench/ns3/peer.h")
PEER = ROOT / "bench/ns3/build/wlan_cell"
REFERENCE = HERE / "cells.csv"
COLUMNS = (
    "stations",
    "datagram",
    "run",
    "goodput_mbps",
    "exchanges",
    "failures",
    "modes",
    "ns3_version",
    "script",
    "date",
)
WARMUP_S = 1
MEASURED_S = 4
RUNS = 10


class Cell(NamedTuple):
    stations: str
    datagram: int

    @property
    def words(self) -> list[str]:
        return self.stations.split(",")

    def groups(self) -> dict[str, list[int]]:
        """Stations of one kind, by its word."""
        found: dict[str, list[int]] = defaultdict(list)
        for i, word in enumerate(self.words):
            found[word].append(i)
        return dict(found)


MIXED = [
    Cell(words, 1500) for words in ("g54,g54", "b11,b11", "g11,g54", "b11,g54", "b11,b11,g54,g54", "b11,g54,g54,g54")
]
BURSTS = [Cell(words, 1000) for words in ("a54:vo", "a54:vo,a54:be,a54:be,a54:be", "a54:vo,a54:vo,a54:be,a54:be")]

COMMON = """\
after_timeout = "fresh-ifs"             # ns-3 waits a DIFS after the timeout
queue = { packets = 500 }
"""
# What ns-3 3.37 has where a station of 802.11b is: 1 and 2 Mb/s basic, CTS-to-self at 1 Mb/s, long slots.
ERP = COMMON + 'basic_rate_set = ["1 Mb/s", "2 Mb/s"]\nrts_rate = "1 Mb/s"\n'
# Ours announces the next exchange in the Duration of each data frame and needs no CF-End (README.md).
EDCA = COMMON + 'access = "edca"\n[radio.edca]\nvo = { txop_limit = "2.08 ms" }\n'

DSCP = {"vo": 48, "be": 0}


def scenario(cell: Cell) -> str:
    """Ours, as a scenario file."""
    is_mixed = cell in MIXED
    dsss = any(word.startswith("b") or word.endswith("11") for word in cell.words)
    text = f'[scenario]\nname = "cell"\nduration = "{WARMUP_S + MEASURED_S} s"\nwarmup = "{WARMUP_S} s"\n\n[radio]\n'
    text += f'standard = "802.11{"g" if is_mixed else "a"}"\n' + (EDCA if not is_mixed else ERP if dsss else COMMON)
    text += '\n[[node]]\nname = "ap"\n' + ('role = "ap"\n' if is_mixed else "")
    for i, word in enumerate(cell.words):
        standard, rate = word[0], word[1:].partition(":")[0]
        text += f'\n[[node]]\nname = "s{i}"\nstandard = "802.11{standard}"\ndata_rate = "{rate} Mb/s"\n'
    for i, word in enumerate(cell.words):
        text += f'\n[[flow]]\nfrom = "s{i}"\nto = "ap"\ndscp = {DSCP.get(word.partition(":")[2], 0)}\n'
        text += (
            f'transport = {{ protocol = "udp", datagram = "{cell.datagram} B" }}\ntraffic = {{ model = "saturated" }}\n'
        )
    return text


def ours(cell: Cell, runs: int = RUNS, overrides: list[tuple[str, str]] | None = None) -> list[list[float]]:
    """Goodput of each flow in Mb/s, run by run."""
    parsed = simulator.parse(scenario(cell), overrides or [])
    found = simulator.run_batch([(parsed, seed) for seed in range(1, runs + 1)]).runs
    return [[flow["goodput_bps"] / 1e6 for flow in run["flows"]] for run in found if run]


def reference() -> dict[Cell, list[list[float]]]:
    """The same of the stored runs."""
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        found = defaultdict(list)
        for row in csv.DictReader(file):
            cell = Cell(row["stations"], int(row["datagram"]))
            found[cell].append([float(share) for share in row["goodput_mbps"].split()])
    return dict(found)


def pairs(cell: Cell, theirs: list[list[float]], mine: list[list[float]]) -> dict[str, compare.Pair]:
    """The total, and what stations of each kind have together."""

    def of(which: list[int]) -> compare.Pair:
        both = [[sum(shares[i] for i in which) for shares in runs] for runs in (mine, theirs)]
        return compare.Pair(*(stats.estimate(samples) for samples in both))

    groups = cell.groups()
    found = {"total": of(list(range(len(cell.words))))}
    return found | {word: of(which) for word, which in groups.items() if len(groups) > 1}


def table(theirs: dict[Cell, list[list[float]]]) -> str:
    """Markdown."""
    lines = ["| stations | of | goodput, Mb/s: ours | ns-3 | difference, % |", "|---|---|---|---|---|"]
    for cell, rows in theirs.items():
        for word, pair in pairs(cell, rows, ours(cell)).items():
            both = [f"{e.mean:.2f} ± {e.half_width or 0:.2f}" for e in pair]
            difference = f"{100 * pair.difference:+.1f} ± {100 * pair.half_width:.1f}"
            lines.append(f"| {cell.stations.replace(',', ', ')} | {word} | {' | '.join(both)} | {difference} |")
    return "\n".join(lines)


def renew(runs: int) -> None:
    script = peers.script(*SOURCES, built=PEER)
    with REFERENCE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for cell in MIXED + BURSTS:
            for run in range(1, runs + 1):
                arguments = [f"--stations={cell.stations}", f"--datagram={cell.datagram}", f"--run={run}"]
                arguments += [f"--seconds={MEASURED_S}", f"--warmup={WARMUP_S}"]
                done = subprocess.run([str(PEER), *arguments], capture_output=True, text=True, check=True)
                found = json.loads(done.stdout)
                row = {name: found[name] for name in ("run", "exchanges", "failures", "ns3_version")}
                row |= {"goodput_mbps": " ".join(f"{x:g}" for x in found["goodput_mbps"])}
                row |= {"modes": "; ".join(f"{word}: {count}" for word, count in found["modes"].items())}
                row |= {"script": script, "date": peers.today()}
                writer.writerow(cell._asdict() | row)
            print(cell.stations, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if options.renew:
        renew(options.runs)
        return
    text = table(reference())
    print(text)
    if options.write:
        peers.put(HERE / "README.md", "cells", text)


if __name__ == "__main__":
    main()
