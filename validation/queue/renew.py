"""Runs ns-3 over every cell of the comparison and stores what it found: `make ns3`, then

    python validation/queue/renew.py [--runs N] [--jobs J] [--peer PATH]

Runs that are stored already, of the same script, are kept; each new one is stored as it ends.
Nothing of ours runs here.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import paths

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "bench/ns3/wired_queue.cc"
PEER = HERE.parents[1] / "bench/ns3/build/wired_queue"
REFERENCE = HERE / "reference.csv"
COLUMNS = (
    "cell",
    "run",
    "goodput_mbps",
    "wait_ms",
    "sparse_ms",
    "sparse_p95_ms",
    "sparse_packets",
    "left",
    "ns3_version",
    "script",
    "date",
)


def stored(script: str) -> dict[tuple[str, int], dict[str, object]]:
    """The runs of this script that are there, by cell and run."""
    if not REFERENCE.exists():
        return {}
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        return {(row["cell"], int(row["run"])): row for row in csv.DictReader(file) if row["script"] == script}


def store(found: dict[tuple[str, int], dict[str, object]]) -> None:
    """Writes all runs, in the order of the cells."""
    names = [str(cell) for cell in paths.CELLS]
    with REFERENCE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found[key] for key in sorted(found, key=lambda key: (names.index(key[0]), key[1])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--peer", type=Path, default=PEER)
    options = parser.parse_args()
    if not options.peer.exists() or options.peer.stat().st_mtime < SOURCE.stat().st_mtime:
        sys.exit(f"renew.py: {options.peer.name} is not built, or older than its source: make ns3")
    script = f"wired_queue.cc@{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    found = stored(script)

    def measure(task: tuple[paths.Cell, int]) -> dict[str, object]:
        cell, run = task
        arguments = [str(options.peer), *paths.peer(cell, run)]
        result = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
        print(f"{cell} {run}: {result['sparse_ms']} ms", flush=True)
        today = datetime.now(UTC).date().isoformat()
        return {"cell": str(cell), "run": run, "script": script, "date": today, **result}

    everything = [(cell, run) for run in range(1, options.runs + 1) for cell in paths.CELLS]
    tasks = [(cell, run) for cell, run in everything if (str(cell), run) not in found]
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(measure, tasks):
            found[str(row["cell"]), int(str(row["run"]))] = row
            store(found)


if __name__ == "__main__":
    main()
