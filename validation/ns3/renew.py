"""Runs ns-3 over every cell of the comparison and stores what it found: `make ns3`, then

    python validation/ns3/renew.py [--runs N] [--jobs J] [--only TEXT] [--peer PATH]

`reference.csv` is written anew after each round of runs, so an interrupted renewal keeps whole rounds. Ten runs of
every cell are about half an hour of processor time. Nothing of ours runs here.
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

import star

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "bench/ns3/wlan_tcp.cc"
PEER = HERE.parents[1] / "bench/ns3/build/wlan_tcp"
REFERENCE = HERE / "reference.csv"
MEASURED = (
    "total_mbps",
    "jain",
    "exchanges",
    "failures",
    "data_frames",
    "data_frames_retried",
    "given_up",
    "queue_drops",
)
COLUMNS = ("geometry", *star.Cell._fields, "run", *MEASURED, "ns3_version", "script", "date")
GEOMETRIES = {"star": [], "together": ["--together=1"]}


def script(peer: Path) -> str:
    """The peer's source by the start of its SHA-256. To be taken before the runs: the file may change under them."""
    if not peer.exists() or peer.stat().st_mtime < SOURCE.stat().st_mtime:
        sys.exit(f"renew.py: {peer.name} is not built, or older than its source: make ns3")
    return f"wlan_tcp.cc@{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"


def measure(peer: Path, source: str, geometry: str, cell: star.Cell, run: int) -> dict[str, object]:
    """One run of ns-3, as a row."""
    arguments = [str(peer), *star.peer(cell, run), *GEOMETRIES[geometry]]
    found = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    row = {"geometry": geometry, **cell._asdict(), "run": run, **{name: found[name] for name in MEASURED}}
    today = datetime.now(UTC).date().isoformat()
    return row | {"ns3_version": found["ns3_version"], "script": source, "date": today}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--geometry", choices=GEOMETRIES, default="star")
    parser.add_argument("--only", default="", help="cells whose name contains this, as 6-upload-base-10720")
    parser.add_argument("--peer", type=Path, default=PEER)
    parser.add_argument("--out", type=Path, default=REFERENCE)
    options = parser.parse_args()
    source = script(options.peer)
    key = ("geometry", *star.Cell._fields, "run")
    rows: dict[tuple[str, ...], dict[str, object]] = {}
    if options.out.exists():
        with options.out.open(encoding="utf-8", newline="") as file:
            rows = {tuple(row[k] for k in key): dict(row) for row in csv.DictReader(file)}
    cells = [cell for cell in star.CELLS if options.only in str(cell)]
    for run in range(1, options.runs + 1):
        with ThreadPoolExecutor(options.jobs) as pool:
            new = pool.map(lambda cell, run=run: measure(options.peer, source, options.geometry, cell, run), cells)
            rows |= {tuple(str(row[k]) for k in key): row for row in new}
        with options.out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[k] for k in sorted(rows, key=order))
        print(f"run {run} of {options.runs}: {len(cells)} cells", flush=True)


def order(key: tuple[str, ...]) -> tuple[str, int, int, str, int, int]:
    """Rows by geometry, variant, window, direction, stations, run."""
    geometry, stations, direction, variant, window, run = key
    return geometry, star.VARIANTS.index(variant), int(window), direction, int(stations), int(run)


if __name__ == "__main__":
    main()
