"""Runs ns-3 over every sender of the comparison and stores what it found: `make ns3`, then

    python validation/cc/renew.py [--runs N] [--jobs J] [--peer PATH]

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
SOURCE = HERE.parents[1] / "bench/ns3/wired_cc.cc"
PEER = HERE.parents[1] / "bench/ns3/build/wired_cc"
REFERENCE = HERE / "reference.csv"
COLUMNS = ("sender", "run", "goodput_mbps", "ns3_version", "script", "date")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--peer", type=Path, default=PEER)
    options = parser.parse_args()
    if not options.peer.exists() or options.peer.stat().st_mtime < SOURCE.stat().st_mtime:
        sys.exit(f"renew.py: {options.peer.name} is not built, or older than its source: make ns3")
    script = f"wired_cc.cc@{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"

    def measure(task: tuple[paths.Sender, int]) -> dict[str, object]:
        sender, run = task
        arguments = [str(options.peer), *paths.peer(sender, run)]
        found = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
        print(f"{sender} {run}: {found['goodput_mbps']} Mb/s", flush=True)
        today = datetime.now(UTC).date().isoformat()
        return {"sender": sender.name, "run": run, "script": script, "date": today, **found}

    tasks = [(sender, run) for sender in paths.SENDERS for run in range(1, options.runs + 1)]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(measure, tasks))
    with REFERENCE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
