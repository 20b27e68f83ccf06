"""Rate controls, ours against stored runs of ns-3.

ARF, AARF and CARA over 802.11a, Minstrel-HT with its older sampling over 802.11n.

    python validation/ns3/rates.py                    ours against the stored runs
    python validation/ns3/rates.py --write            and the table into README.md
    python validation/ns3/rates.py --renew [--runs N] [--cell WORD]
                                                      runs ns-3: `make ns3` first; all cells take some five minutes

The peer is bench/ns3/wlan_rates.cc.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime
from math import log10
from pathlib import Path
from typing import NamedTuple

import compare

from interlayer import simulator
from interlayer.measure import stats

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "bench/ns3/wlan_rates.cc"
PEER = ROOT / "bench/ns3/build/wlan_rates"
REFERENCE = HERE / "rates.csv"
RUNS = 6
SECONDS, WARMUP = 4.0, 1.0

CONTROLS = {
    "Arf": '{ name = "arf" }',
    "Aarf": '{ name = "aarf", most_successes = 60 }',
    "Cara": '{ name = "cara" }',
    "MinstrelHt": '{ name = "minstrel-ht", sampling = "counted" }',
}
"""By the name of ns-3's manager."""


class Cell(NamedTuple):
    manager: str
    distance: int
    """Metres."""
    stations: int = 1

    @property
    def standard(self) -> str:
        return "n" if self.manager == "MinstrelHt" else "a"

    @property
    def snr_db(self) -> float:
        """63.31 dB at 1 m (16.02 − 46.68 + 93.97), 30 dB less a decade."""
        return 63.31 - 30 * log10(self.distance)

    def __str__(self) -> str:
        others = f", {self.stations} stations" if self.stations > 1 else ""
        return f"{self.manager}, 802.11{self.standard}, {self.distance} m ({self.snr_db:.1f} dB){others}"


CELLS = [
    *(Cell(manager, distance) for manager in ("Arf", "Aarf", "Cara") for distance in (10, 20, 27, 35, 50)),
    *(Cell(manager, 10, 3) for manager in ("Arf", "Aarf", "Cara")),
    *(Cell("MinstrelHt", distance) for distance in (15, 22, 30, 45, 68)),
    *(Cell("MinstrelHt", distance) for distance in (33, 57)),
]


def scenario(cell: Cell) -> str:
    """Ours, as a scenario file: RTS at 6 Mb/s and a DIFS after a timeout, as in ns-3."""
    text = f'[scenario]\nname = "cell"\nduration = "{WARMUP + SECONDS} s"\nwarmup = "{WARMUP} s"\n'
    text += f'[radio]\nstandard = "802.11{cell.standard}"\nrate_control = {CONTROLS[cell.manager]}\n'
    text += 'tx_power = "16.02 dBm"\nafter_timeout = "fresh-ifs"\nqueue = { packets = 1000 }\nrts_rate = "6 Mb/s"\n'
    text += 'preamble = "ns3"\n' if cell.standard == "n" else ""
    text += '[channel]\npropagation = { model = "log-distance", exponent = 3.0, reference_loss = "46.68 dB" }\n'
    text += '[[node]]\nname = "sink"\nposition = [0, 0]\n'
    for i in range(cell.stations):
        text += f'[[node]]\nname = "s{i}"\nposition = [{cell.distance}, 0]\n[[flow]]\nfrom = "s{i}"\nto = "sink"\n'
        text += 'transport = { protocol = "udp", datagram = "1500 B" }\ntraffic = { model = "saturated" }\n'
    return text


def ours(cell: Cell, runs: int = RUNS, overrides: list[tuple[str, str]] | None = None) -> list[float]:
    """Goodput of all flows in Mb/s, run by run."""
    parsed = simulator.parse(scenario(cell), overrides or [])
    found = simulator.run_batch([(parsed, seed) for seed in range(1, runs + 1)]).runs
    return [sum(flow["goodput_bps"] for flow in run["flows"]) / 1e6 for run in found if run]


def reference() -> dict[Cell, list[float]]:
    """The same of the stored runs."""
    found = defaultdict(list)
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = Cell(row["manager"], int(row["distance"]), int(row["stations"]))
            found[cell].append(float(row["goodput_mbps"]))
    return dict(found)


def pair(theirs: list[float], mine: list[float]) -> compare.Pair:
    return compare.Pair(stats.estimate(mine), stats.estimate(theirs))


def table(theirs: dict[Cell, list[float]]) -> str:
    """Markdown."""
    lines = ["| control | goodput, Mb/s: ours | ns-3 | difference, % |", "|---|---|---|---|"]
    for cell, rows in theirs.items():
        found = pair(rows, ours(cell))
        both = [f"{e.mean:.2f} ± {e.half_width or 0:.2f}" for e in found]
        lines.append(f"| {cell} | {' | '.join(both)} | {100 * found.difference:+.1f} |")
    return "\n".join(lines)


def renew(runs: int, word: str) -> None:
    """Runs ns-3 over the cells that have `word` in their names; the stored runs of the others stay."""
    if not PEER.exists() or PEER.stat().st_mtime < SOURCE.stat().st_mtime:
        sys.exit("rates.py: wlan_rates is not built, or older than its source: make ns3")
    script = f"wlan_rates.cc@{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    columns = (*Cell._fields, "run", "goodput_mbps", "modes", "ns3_version", "script", "date")
    kept = defaultdict(list)
    if REFERENCE.exists():
        with REFERENCE.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                kept[tuple(row[name] for name in Cell._fields)].append(row)
    with REFERENCE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for cell in CELLS:
            if word not in str(cell):
                writer.writerows(kept[tuple(map(str, cell))])
                continue
            for run in range(1, runs + 1):
                arguments = [f"--{name}={value}" for name, value in cell._asdict().items()]
                arguments += [f"--standard={cell.standard}", f"--run={run}", f"--seconds={SECONDS}"]
                done = subprocess.run([str(PEER), *arguments, f"--warmup={WARMUP}"], capture_output=True, check=True)
                found = json.loads(done.stdout)
                modes = " ".join(f"{mode}={count}" for mode, count in found["modes"].items())
                row = {"run": run, "goodput_mbps": f"{found['goodput_mbps']:g}", "modes": modes}
                row |= {"ns3_version": found["ns3_version"], "script": script}
                writer.writerow(cell._asdict() | row | {"date": datetime.now(UTC).date().isoformat()})
                file.flush()
            print(cell, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cell", default="", metavar="WORD")
    options = parser.parse_args()
    if options.renew:
        renew(options.runs, options.cell)
        return
    text = table(reference())
    print(text)
    if options.write:
        readme = HERE / "README.md"
        old = readme.read_text(encoding="utf-8")
        new = re.sub(r"(?s)(<!-- rates -->\n).*?(<!-- end rates -->)", lambda m: f"{m[1]}{text}\n{m[2]}", old)
        readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
