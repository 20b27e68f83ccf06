"""CoDel and FQ-CoDel against the stored runs of ns-3's.

Time in the queue of all and of a sparse flow, and goodput, within 15 %. As many runs of ours as are stored of theirs.
"""

from __future__ import annotations

import csv
import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import paths
import pytest

from interlayer import simulator
from interlayer.measure import stats

ROOT = Path(__file__).parents[2]
PEER = ROOT / "bench/ns3/build/wired_queue"
AIM = 0.15
RUNS = 10
REPLAYS = 5
SENDING = paths.SPARSE * 8 / paths.RATE
"""What a datagram of the sparse flow takes outside the queue."""


EXPLAINED = {
    "fq-codel-udp-10": {
        "sparse_p95_ms": "a second packet finds its flow still new while the first waits in ns-3's device"
    },
}
"""Figures that are not of the same thing on both sides: README.md says why."""

SENDERS = "the senders differ: on the arrivals of ns-3's own senders the queue does the same"
BEYOND = dict.fromkeys(("codel-tcp-4", "codel-tcp-10", "fq-codel-tcp-4", "fq-codel-tcp-10"), SENDERS)
"""Cells beyond the aim: these fail, and README.md has their figures."""


def reference() -> dict[str, list[dict[str, str]]]:
    """The stored runs of each cell."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (Path(__file__).parent / "reference.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["cell"]].append(row)
    return rows


REFERENCE = reference()


def ours(cell: paths.Cell) -> dict[str, stats.Estimate]:
    """Our figures, named as theirs."""
    scenario = simulator.parse(paths.SCENARIO, cell.settings)
    seeds = range(1, max(RUNS, len(REFERENCE[str(cell)])) + 1)
    runs = [run for run in simulator.run_batch([(scenario, seed) for seed in seeds]).runs if run]
    sparse = [run["flows"][cell.sparse] for run in runs]
    bulk = [run["flows"][: cell.bulks] for run in runs]
    return {
        "goodput_mbps": stats.estimate([sum(flow["goodput_bps"] for flow in flows) / 1e6 for flows in bulk]),
        "wait_ms": stats.estimate([1e3 * run["queues"][0]["mean_wait_s"] for run in runs]),
        "sparse_ms": stats.estimate([1e3 * (flow["latency_mean_s"] - SENDING) for flow in sparse]),
        "sparse_p95_ms": stats.estimate([1e3 * (flow["latency_p95_s"] - SENDING) for flow in sparse]),
    }


def test_every_cell_has_ten_runs_of_one_version() -> None:
    assert set(REFERENCE) == {str(cell) for cell in paths.CELLS}
    for rows in REFERENCE.values():
        assert len({row["run"] for row in rows}) == len(rows) >= RUNS
        assert len({row["script"] for row in rows}) == 1
        assert all(row["ns3_version"] == "3.37" and "@" in row["script"] and row["date"] for row in rows)


def marked(cell: paths.Cell) -> Any:
    """The cell, known to fail if it is beyond."""
    known = pytest.mark.xfail(reason=BEYOND.get(str(cell), ""), strict=True)
    return pytest.param(cell, marks=[known] if str(cell) in BEYOND else [], id=str(cell))


@pytest.mark.parametrize("cell", [marked(cell) for cell in paths.CELLS])
def test_waits_are_theirs(cell: paths.Cell) -> None:
    beyond = []
    for name, estimate in ours(cell).items():
        theirs = stats.estimate([float(row[name]) for row in REFERENCE[str(cell)]])
        mean = estimate.mean / theirs.mean - 1
        print(f"{cell} {name}: ns-3 {theirs.mean:.3f}, ours {estimate.mean:.3f}, {100 * mean:+.1f} %")
        if abs(mean) > AIM and name not in EXPLAINED.get(str(cell), {}):
            beyond.append((name, estimate.mean, theirs.mean))
    assert not beyond


@pytest.mark.skipif(not PEER.exists(), reason="the peer is not built: make ns3")
@pytest.mark.parametrize("cell", [cell for cell in paths.CELLS if cell.discipline != "drop-tail"], ids=str)
def test_what_the_queue_does_to_their_arrivals(cell: paths.Cell, tmp_path: Path) -> None:
    """Arrivals and services are ns-3's own, so that senders play no part: what leaves, and what is dropped, is ours."""
    build = ["cargo", "build", "--quiet", "--release", "-p", "interlayer-queue", "--example", "replay"]
    subprocess.run(build, cwd=ROOT, check=True)
    theirs, ours = defaultdict(list), defaultdict(list)
    for run in range(1, 1 + REPLAYS):
        trace = tmp_path / "trace"
        peer = subprocess.run([PEER, *paths.peer(cell, run), f"--trace={trace}"], capture_output=True, check=True)
        with trace.open("rb") as lines:
            replay = [ROOT / "target/release/examples/replay", cell.discipline, str(paths.PACKETS), str(paths.WARMUP)]
            done = subprocess.run(replay, stdin=lines, capture_output=True, check=True)
        for found, into in ((json.loads(peer.stdout), theirs), (json.loads(done.stdout), ours)):
            for name in ("wait_ms", "sparse_ms", "sparse_p95_ms", "left"):
                into[name].append(found[name])
    off = {name: sum(ours[name]) / sum(theirs[name]) - 1 for name in theirs}
    print(f"{cell}, replayed:", ", ".join(f"{name} {100 * by:+.1f} %" for name, by in off.items()))
    assert max(map(abs, off.values())) <= AIM


def test_a_sparse_flow_waits_for_a_packet_and_not_for_a_queue() -> None:
    """What FQ-CoDel is for: four bulk flows beyond the rate delay the sparse one by less than one of their packets."""
    packet = 1500 * 8 / paths.RATE * 1e3
    found = {
        cell.discipline: ours(cell)["sparse_ms"].mean for cell in paths.CELLS if cell.load == "udp" and cell.bulks == 4
    }
    assert found["fq-codel"] < packet < 50 * packet < found["codel"] < 0.3 * found["drop-tail"]
