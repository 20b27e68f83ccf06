"""Cells of 802.11n, ac and ax, ours against stored runs of ns-3: UDP and TCP up, down and both ways, RTS, windows.

    python validation/ns3/today.py                    ours against the stored runs
    python validation/ns3/today.py --write            and the table into README.md
    python validation/ns3/today.py --renew [--runs N] [--cell WORD]
                                                      runs ns-3: `make ns3` first; all cells take some ten minutes

The peer is bench/ns3/wlan_today.cc.
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
from pathlib import Path
from typing import NamedTuple

import compare

from interlayer import simulator
from interlayer.measure import stats

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "bench/ns3/wlan_today.cc"
PEER = ROOT / "bench/ns3/build/wlan_today"
REFERENCE = HERE / "today.csv"
RUNS = 6


class Cell(NamedTuple):
    standard: str
    mcs: int
    width: int
    """MHz."""
    gi: int
    """ns."""
    streams: int
    stations: int
    flow: str
    rts: int = 0
    window: int = 64

    @property
    def seconds(self) -> float:
        """Of both; slow radios need more for as many frames."""
        return 4.0 if self.standard == "n" else 2.0

    @property
    def warmup(self) -> float:
        return 1.5 if self.standard == "n" else 0.5 if self.flow.startswith("udp") else 1.0

    @property
    def buffer(self) -> int:
        """Of a socket: five of 2 MB, or two at 40 Mb/s, would wait longer than an MSDU lives."""
        return 500_000 if self.stations == 5 or self.standard == "n" else 2_000_000

    def __str__(self) -> str:
        rts = ", RTS" if self.rts else ""
        streams = f" × {self.streams}" if self.streams > 1 else ""
        window = f", window {self.window}" if self.standard == "ax" else ""
        gi = f", {self.gi / 1000:g} µs" if self.gi != 800 else ""
        return (
            f"{self.standard} MCS {self.mcs}{streams}, {self.width} MHz{gi}{window}: "
            f"{self.stations} {self.flow.replace('-', ' ')}{rts}"
        )


CELLS = [
    Cell("n", 7, 20, 800, 1, 1, "udp-up"),
    Cell("n", 7, 20, 800, 1, 3, "udp-down"),
    Cell("n", 3, 40, 400, 2, 3, "udp-up"),
    Cell("n", 7, 20, 800, 1, 1, "tcp-down"),
    Cell("n", 5, 20, 800, 1, 1, "tcp-both"),
    Cell("ac", 8, 80, 800, 1, 5, "udp-up"),
    Cell("ac", 9, 80, 400, 2, 1, "udp-up"),
    Cell("ac", 9, 80, 400, 2, 1, "tcp-down"),
    Cell("ac", 5, 40, 800, 1, 5, "tcp-up", rts=1),
    Cell("ac", 4, 80, 800, 2, 5, "udp-up", rts=1),
    Cell("ax", 11, 80, 800, 2, 5, "udp-up", window=256),
    Cell("ax", 11, 80, 800, 2, 5, "udp-up", rts=1),
    Cell("ax", 7, 20, 3200, 1, 2, "udp-down"),
    Cell("ax", 2, 20, 800, 1, 5, "udp-up", window=256),
    Cell("ax", 9, 80, 3200, 1, 1, "tcp-down", window=256),
    Cell("ax", 11, 80, 800, 2, 3, "tcp-up"),
    Cell("ax", 11, 80, 800, 2, 2, "tcp-both", window=256),
    Cell("ax", 4, 40, 800, 1, 5, "tcp-both", rts=1),
    Cell("ax", 11, 80, 800, 2, 1, "tcp-up", rts=1, window=256),
]

TCP = (
    'transport = {{ congestion = "newreno", preset = "linux", small_queue = "off", datagram = "1500 B", '
    'send_buffer = "{0} B", receive_buffer = "{0} B", initial_window = 10, '
    'receiver = "delayed-ack", quickack = false, min_rto = "1 s" }}\n'
    'stagger = "10 ms"\n'
)
UDP = 'transport = { protocol = "udp", datagram = "1476 B" }\ntraffic = { model = "saturated" }\n'


def scenario(cell: Cell) -> str:
    """Ours, as a scenario file. `preamble = "ns3"` counts airtimes as ns-3 does, and asks after silence."""
    text = f'[scenario]\nname = "cell"\nduration = "{cell.warmup + cell.seconds} s"\nwarmup = "{cell.warmup} s"\n'
    text += f'[radio]\nstandard = "802.11{cell.standard}"\nmcs = {cell.mcs}\nwidth = "{cell.width} MHz"\n'
    text += f'streams = {cell.streams}\nguard_interval = "{cell.gi / 1000} us"\npreamble = "ns3"\n'
    text += f'rts_threshold = "{"0 B" if cell.rts else "off"}"\nqueue = {{ packets = 3000 }}\n'
    text += f'aggregation = {{ window = {cell.window} }}\n[[node]]\nname = "ap"\nrole = "ap"\n'
    text += f'[[node]]\nname = "sta"\ncount = {cell.stations}\n'
    kind, direction = cell.flow.split("-")
    for way in ("down", "up") if direction == "both" else (direction,):
        ends = ("ap", "sta") if way == "down" else ("sta", "ap")
        text += f'[[flow]]\nname = "{way}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n'
        text += UDP if kind == "udp" else TCP.format(cell.buffer)
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
            numbers = {name: int(row[name]) for name in Cell._fields if name not in ("standard", "flow")}
            cell = Cell(standard=row["standard"], flow=row["flow"], **numbers)
            found[cell].append(float(row["goodput_mbps"]))
    return dict(found)


def pair(theirs: list[float], mine: list[float]) -> compare.Pair:
    return compare.Pair(stats.estimate(mine), stats.estimate(theirs))


def table(theirs: dict[Cell, list[float]]) -> str:
    """Markdown."""
    lines = ["| cell | goodput, Mb/s: ours | ns-3 | difference, % | data again after silence, % |"]
    lines += ["|---|---|---|---|---|"]
    for cell, rows in theirs.items():
        asks, repeats = (pair(rows, ours(cell, overrides=given)) for given in ([], [AGAIN]))
        both = [f"{e.mean:.2f} ± {e.half_width or 0:.2f}" for e in asks]
        differences = [f"{100 * each.difference:+.1f}" for each in (asks, repeats)]
        lines.append(f"| {cell} | {' | '.join(both)} | {' | '.join(differences)} |")
    return "\n".join(lines)


AGAIN = ("radio.aggregation.after_silence", "data")
"""As drivers of Linux do."""


def renew(runs: int, word: str) -> None:
    """Runs ns-3 over the cells that have `word` in their names; the stored runs of the others stay."""
    if not PEER.exists() or PEER.stat().st_mtime < SOURCE.stat().st_mtime:
        sys.exit("today.py: wlan_today is not built, or older than its source: make ns3")
    script = f"wlan_today.cc@{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    columns = (*Cell._fields, "run", "goodput_mbps", "ns3_version", "script", "date")
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        kept = defaultdict(list)
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
                arguments += [f"--run={run}", f"--seconds={cell.seconds}", f"--warmup={cell.warmup}"]
                arguments += ["--queue=3000", f"--buffer={cell.buffer}"]
                done = subprocess.run([str(PEER), *arguments], capture_output=True, text=True, check=True)
                found = json.loads(done.stdout)
                row = {"run": run, "goodput_mbps": f"{sum(found['goodput_mbps']):g}"}
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
        new = re.sub(r"(?s)(<!-- today -->\n).*?(<!-- end today -->)", lambda m: f"{m[1]}{text}\n{m[2]}", old)
        readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
