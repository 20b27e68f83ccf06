"""Runs slotsim and writes reference.csv. Seeds 1 … 8 in every row; 95 % intervals by Student's t over them. A minute on
one core. Run: python3 make_reference.py"""

import csv
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from slotsim import most, simulate

SEEDS = range(1, 9)
PPDUS = 20_000
T_975 = 2.365  # Student's t, 7 degrees of freedom
ENDLESS_US, OCTETS = 1_000_000, 1_048_575
# Window, and what limits a PPDU: its time in us, its octets, its MPDUs.
CASES = {
    "longest": (64, 5484, 65_535, 64),
    "4-ms": (64, 4000, 65_535, 64),
    "16-octets": (64, ENDLESS_US, 16 * 1544, 64),
    "64-of-64": (64, ENDLESS_US, OCTETS, 64),
    "64-of-256": (256, ENDLESS_US, OCTETS, 64),
    "8-of-8": (8, ENDLESS_US, OCTETS, 8),
}
COLUMNS = [
    "case",
    "senders",
    "per",
    "window",
    "time_us",
    "octets",
    "mpdus",
    "goodput_bps",
    "ci95_bps",
    "mean_mpdus",
    "stalled",
]


def row(case: str, senders: int, per: float) -> dict[str, str]:
    window, time_us, octets, mpdus = CASES[case]
    found = [simulate(senders, window, most(time_us, octets, mpdus), per, seed, PPDUS) for seed in SEEDS]
    rates = [one.goodput_bps for one in found]
    values = [case, senders, per, window, time_us, octets, mpdus, f"{mean(rates):.0f}"]
    values += [f"{T_975 * stdev(rates) / sqrt(len(rates)):.0f}", f"{mean(one.mean_mpdus for one in found):.3f}"]
    values += [f"{mean(one.stalled for one in found):.4f}"]
    return dict(zip(COLUMNS, map(str, values), strict=True))


def main() -> None:
    with (Path(__file__).resolve().parent / "reference.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row(case, n, per) for case in CASES for n in (1, 2) for per in (0, 0.01, 0.1, 0.5))


if __name__ == "__main__":
    main()
