"""Writes reference.csv: what renosim makes of every point (some minutes)."""

import csv
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

import pftk
from renosim import Reno

HERE = Path(__file__).parent
REFERENCE = HERE / "reference.csv"
COLUMNS = ["b", "p", "goodput_sps", "goodput_error", "rtt_s", "indications"]
REPLICATIONS = 16
WARMUP_S = 20.0
POINTS = [(b, p) for b in (1, 2) for p in (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)]


def one(task: tuple[int, float, int]) -> tuple[float, float, int, int, int]:
    """A replication: segments delivered per second, sum and number of RTT, loss indications, segments sent."""
    b, p, seed = task
    losses = 60_000 if p >= 0.01 else 24_000
    seconds = losses / p / pftk.square_root(p, b, 0.1) / REPLICATIONS
    c = Reno(p=p, b=b, seed=seed).run(WARMUP_S, WARMUP_S + seconds)
    return c.delivered / seconds, c.rtt_sum, c.rtt_samples, c.fast_retransmits + c.sequences, c.sent


def rows(points: list[tuple[int, float]], jobs: int) -> list[list[str]]:
    # Seeds of its own for each point: the same would lose the same packets, and all points would err alike.
    tasks = [(b, p, 1 + i * REPLICATIONS + k) for i, (b, p) in enumerate(points) for k in range(REPLICATIONS)]
    with ProcessPoolExecutor(jobs) as pool:
        done = list(pool.map(one, tasks))
    found = []
    for i, (b, p) in enumerate(points):
        rates, rtt_sums, samples, lost, sent = zip(*done[i * REPLICATIONS : (i + 1) * REPLICATIONS], strict=True)
        error = stdev(rates) / sqrt(REPLICATIONS) / mean(rates)
        rtt, indications = sum(rtt_sums) / sum(samples), sum(lost) / sum(sent)
        found.append([f"{b}", f"{p}", f"{mean(rates):.3f}", f"{error:.5f}", f"{rtt:.5f}", f"{indications:.6f}"])
    return found


if __name__ == "__main__":
    found = rows(POINTS, os.cpu_count() or 1)
    with REFERENCE.open("w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([COLUMNS, *found])
    sys.stdout.write(REFERENCE.read_text())
