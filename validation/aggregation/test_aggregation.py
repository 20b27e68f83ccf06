"""The slot model against what can be worked by hand; reference.csv against it."""

import csv
from math import isclose
from pathlib import Path

from make_reference import CASES
from slotsim import airtime, length, most, simulate

with (Path(__file__).resolve().parent / "reference.csv").open(newline="") as file:
    ROWS = list(csv.DictReader(file))


def test_lengths_and_airtimes_by_hand():
    # 27 subframes of 4 + 1538 + 2 octets and one of 4 + 1538; 36 + 4 · ⌈(22 + 8 · 43230) / 260⌉ us.
    assert (length(1), length(28), airtime(28), airtime(29)) == (1538, 43_230, 5360, 5548)
    assert [most(*CASES[case][1:]) for case in CASES] == [28, 20, 16, 64, 64, 8]


def test_one_sender_without_errors_by_hand():
    # AIFS 43, a mean backoff of 67.5, the PPDU, SIFS 16, a Block Ack of 32 us.
    for mpdus, lasts in ((28, 5360), (20, 3840)):
        found = simulate(1, 64, mpdus, 0, 1, 4000)
        assert isclose(found.goodput_bps, mpdus * 1472 * 8e6 / (43 + 67.5 + lasts + 16 + 32), rel_tol=1e-3)
        assert (found.mean_mpdus, found.stalled) == (mpdus, 0)


def test_a_window_of_two_by_hand():
    # Two go out (P) unless the first was lost and the second was not: then the first goes alone (Q). From P to Q with
    # p (1 - p), from Q to Q with p, so that Q / P = p (1 - p) / (1 - p) = p.
    for per in (0.1, 0.5):
        found = simulate(1, 2, 2, per, 1, 60_000)
        assert isclose(found.stalled, per / (1 + per), rel_tol=0.03)
        assert isclose(found.mean_mpdus, (2 + per) / (1 + per), rel_tol=0.01)


def test_reference_is_reproducible_and_its_intervals_are_narrow():
    for row in ROWS:
        assert float(row["ci95_bps"]) < 0.006 * float(row["goodput_bps"])
    for row in ROWS[::7]:
        n = most(*(int(row[name]) for name in ("time_us", "octets", "mpdus")))
        found = simulate(int(row["senders"]), int(row["window"]), n, float(row["per"]), 99, 5000)
        assert isclose(found.goodput_bps, float(row["goodput_bps"]), rel_tol=0.015)
        assert isclose(found.mean_mpdus, float(row["mean_mpdus"]), rel_tol=0.05)
