"""Runs ns-3 over every sender of the comparison and stores what it found: `make ns3`, then

    python validation/cc/renew.py [--runs N] [--jobs J] [--peer PATH] [SENDER...]

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
SOURCE = HERE.parents[1] / "bench/ns3/wired_cc.cc"
PEER = HERE.parents[1] / "bench/ns3/build/wired_cc"
REFERENCE = HERE / "reference.csv"
COLUMNS = ("sender", "run", "goodput_mbps", "ns3_version", "script", "date")


def stored(script: str) -> dict[tuple[str, int], dict[str, object]]:
    """The runs of this script that are there, by sender and run."""
    if not REFERENCE.exists():
        return {}
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        return {(row["sender"], int(row["run"])): row for row in csv.DictReader(file) if row["script"] == script}


def store(found: dict[tuple[str, int], dict[str, object]]) -> None:
    """Writes all runs, in the order of the senders."""
    names = [sender.name for sender in paths.SENDERS]
    with REFERENCE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found[key] for key in sorted(found, key=lambda key: (names.index(key[0]), key[1])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("senders", nargs="*", metavar="SENDER", help="all, if none is named")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--peer", type=Path, default=PEER)
    options = parser.parse_args()
    if not options.peer.exists() or options.peer.stat().st_mtime < SOURCE.stat().st_mtime:
        sys.exit(f"renew.py: {options.peer.name} is not built, or older than its source: make ns3")
    known = {sender.name: sender for sender in paths.SENDERS}
    if unknown := [name for name in options.senders if name not in known]:
        sys.exit(f"renew.py: no sender {unknown[0]!r}; there are {', '.join(known)}")
    script = f"wired_cc.cc@{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    found = stored(script)

    def measure(task: tuple[paths.Sender, int]) -> dict[str, object]:
        sender, run = task
        arguments = [str(options.peer), *paths.peer(sender, run)]
        result = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
        print(f"{sender} {run}: {result['goodput_mbps']} Mb/s", flush=True)
        today = datetime.now(UTC).date().isoformat()
        return {"sender": sender.name, "run": run, "script": script, "date": today, **result}

    senders = [known[name] for name in options.senders or known]
    tasks = [
        (sender, run) for run in range(1, options.runs + 1) for sender in senders if (sender.name, run) not in found
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(measure, tasks):
            found[str(row["sender"]), int(str(row["run"]))] = row
            store(found)


if __name__ == "__main__":
    main()
