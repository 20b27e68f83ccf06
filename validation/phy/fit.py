"""Fits the curves of crates/phy/src/curves/awgn.rs to modem.csv, the gains of interference.rs to capture.csv.

Prints them as their rows.

A data bit survives with -ln p = ln 2 · exp(-y), y = Y (snr / reference)^steepness: at snr 0 it is guessed, and Y is
such that a PSDU of 1458 B is lost once in ten at `reference`. The two numbers of a curve are those under which the
lost packets of its rows of 1458 B are likeliest (binomial). Rows of 32 B are not fitted: they test the law of lengths.

An OFDM interferer (`loose`) counts as noise of its power less a + b x² decibels, x what the SIR lies below
`reference`, from 0 to 3.4 dB. a and b are the likeliest that are not negative, to 0.01 dB.

Run: python3 fit.py
"""

import csv
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from math import exp, expm1, log, log1p, log10
from pathlib import Path

from scipy.optimize import brentq, minimize

HERE = Path(__file__).resolve().parent
REFERENCE_BYTES = 1458
REFERENCE_PER = 0.1
Y = log(log(2) * 8 * REFERENCE_BYTES / -log1p(-REFERENCE_PER))

Curve = tuple[float, float]  # reference (a ratio), steepness
Row = tuple[float, int, int]  # SNR in dB, packets, errors


def ratio(db: float) -> float:
    return 10 ** (db / 10)


def read(name: str = "modem.csv") -> dict[tuple[str, int, int], list[Row]]:
    """The rows by coding, MCS and bytes."""
    rows = defaultdict(list)
    with (HERE / name).open(newline="") as f:
        for r in csv.DictReader(f):
            key = r["coding"], int(r["mcs"]), int(r["bytes"])
            rows[key].append((float(r["snr_db"]), int(r["packets"]), int(r["errors"])))
    return {key: sorted(points) for key, points in rows.items()}


def hazard(per: float) -> float:
    """ln(-ln(1 - PER)): nearly linear in the SNR in dB."""
    return log(-log1p(-per))


def measured_db(points: Iterable[Row], per: float) -> float:
    """The SNR in dB at which so many packets are lost, between the two rows around it."""
    rates = [(db, errors / packets) for db, packets, errors in points]
    for (low, p), (high, q) in pairwise(rates):
        if p >= per > q > 0:
            a, b = hazard(min(p, 0.9999)), hazard(q)
            return low + (high - low) * (a - hazard(per)) / (a - b)
    raise ValueError(f"no rows around PER {per}")


def ln_loss(curve: Curve, snr: float, octets: int) -> float:
    """ln(1 - PER)."""
    reference, steepness = curve
    return -8 * octets * log(2) * exp(-Y * (snr / reference) ** steepness)


def fitted_db(curve: Curve, octets: int, per: float) -> float:
    return brentq(lambda db: -expm1(ln_loss(curve, ratio(db), octets)) - per, -20, 45)


def fit(points: list[Row]) -> Curve:
    def surprise(x: tuple[float, float]) -> float:
        curve, sum_ = (ratio(x[0]), exp(x[1])), 0.0
        for db, packets, errors in points:
            ln_right = ln_loss(curve, ratio(db), REFERENCE_BYTES)
            sum_ -= errors * log(max(-expm1(ln_right), 1e-300)) + (packets - errors) * ln_right
        return sum_

    start = (measured_db(points, REFERENCE_PER), 0.5)
    found = minimize(surprise, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 5000})
    return ratio(found.x[0]), exp(found.x[1])


def curves() -> dict[tuple[str, int], Curve]:
    return {(coding, mcs): fit(points) for (coding, mcs, octets), points in read().items() if octets == REFERENCE_BYTES}


def lines() -> list[str]:
    """What awgn.rs has in its tables."""
    shown = []
    for (coding, mcs), (reference, steepness) in sorted(curves().items()):
        decibel = fitted_db((reference, steepness), REFERENCE_BYTES, REFERENCE_PER)
        shown.append(f"curve({reference:#.5g}, {steepness:.3f}), // {coding} {mcs}: {decibel:.2f} dB")
    return shown


def captured(interferer: str) -> dict[int, list[Row]]:
    """The rows of capture.csv by MCS."""
    rows = defaultdict(list)
    with (HERE / "capture.csv").open(newline="") as f:
        for r in csv.DictReader(f):
            if r["interferer"] == interferer:
                rows[int(r["mcs"])].append((float(r["sir_db"]), int(r["packets"]), int(r["errors"])))
    return rows


FARTHEST_DB = 3.4


def gain_db(gain: tuple[float, float], below_db: float) -> float:
    a, b = gain
    return a + b * min(max(below_db, 0), FARTHEST_DB) ** 2


def fit_gain(curve: Curve, points: list[Row]) -> tuple[float, float]:
    def surprise(gain: tuple[float, float]) -> float:
        sum_ = 0.0
        for db, packets, errors in points:
            snr = ratio(db + gain_db(gain, 10 * log10(curve[0]) - db))
            ln_right = ln_loss(curve, snr, REFERENCE_BYTES)
            sum_ -= errors * log(max(-expm1(ln_right), 1e-300)) + (packets - errors) * ln_right
        return sum_

    return minimize(surprise, (0.5, 0.05), method="Nelder-Mead", bounds=[(0, 3), (0, 1)], options={"xatol": 1e-4}).x


def gain_lines() -> list[str]:
    """What interference.rs has in its table."""
    fitted = curves()
    gains = {mcs: fit_gain(fitted["bcc", mcs], points) for mcs, points in sorted(captured("loose").items())}
    return [f"gain({a:.2f}, {b:.2f}), // {mcs}" for mcs, (a, b) in gains.items()]


if __name__ == "__main__":
    print(*lines(), *gain_lines(), sep="\n")
