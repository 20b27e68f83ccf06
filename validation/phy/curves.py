"""Error curves of 802.11 from the papers' formulae. Writes curves.csv: which SINR loses a run of bits how often.

Shares nothing with the simulator: integrals are done numerically as the papers print them, and the weights of the
convolutional code are counted on its trellis instead of being copied.

Sources (README.md has them in full): @PEI09 for DSSS and CCK with @PRO01 eq. 5.2-69, @FER04 eq. 8, @PUR09 eqs. 17, 18;
@MIL03 and @PEI10 for OFDM; the code and its puncturing: 802.11-2020 17.3.5.6 and 17.3.5.7.

Run: python3 curves.py            (writes curves.csv beside this file)
"""

import csv
import sys
from collections import defaultdict
from functools import cache
from itertools import pairwise
from math import erfc, exp, expm1, inf, log, log1p, pi, sqrt
from pathlib import Path

from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import ncx2

# ------------------------------------------------------------------------------------------------------ DSSS and CCK

BANDWIDTH = 22e6  # @PEI09 counts the SINR over 22 MHz
SYMBOLS = 1.375e6  # CCK symbols a second: 11 Mchip/s, 8 chips each. 802.11-2020 16.3.6.6


def dbpsk(sinr: float) -> float:
    """Bit error rate at 1 Mb/s. @PRO01 eq. 5.2-69"""
    return 0.5 * exp(-sinr * BANDWIDTH / 1e6)


def dqpsk(sinr: float) -> float:
    """Bit error rate at 2 Mb/s. @FER04 eq. 8; it exceeds 1/2 where it is no approximation any more."""
    x = sinr * BANDWIDTH / 2e6
    return min(0.5, (sqrt(2) + 1) / sqrt(8 * pi * sqrt(2)) / sqrt(x) * exp(-(2 - sqrt(2)) * x))


def dqpsk_exact(sinr: float) -> float:
    """The same without approximation. @PRO01 eq. 5.2-70

    Q1(a, b) - I0(ab)/2 exp(-(a² + b²)/2) = (Q1(a, b) + 1 - Q1(b, a)) / 2
    """
    x = sinr * BANDWIDTH / 2e6
    a2, b2 = 2 * x * (1 - sqrt(0.5)), 2 * x * (1 + sqrt(0.5))
    # Marcum's Q1(a, b) is the upper tail of a noncentral chi-square with two degrees of freedom.
    return 0.5 * (ncx2.sf(b2, 2, a2) + ncx2.cdf(a2, 2, b2))


def biorthogonal16(e: float) -> float:
    """Symbol error probability of 16 biorthogonal signals. @PUR09 eq. 18, β = √(2 e), as what is missing from 1:

    1 - ∫_(-β)^∞ (2Φ(x + β) - 1)^7 φ(x) dx = Φ(-β) + ∫_(-β)^∞ (1 - (2Φ(x + β) - 1)^7) φ(x) dx: no cancellation.
    """
    beta = sqrt(2 * e)

    def missing(x: float) -> float:
        return -_expm1_power(x + beta) * exp(-x * x / 2) / sqrt(2 * pi)

    peak = -beta / 2
    points = sorted({max(-beta, peak - 3), peak, peak + 3})
    edges = [-beta, *[p for p in points if p > -beta], max(peak, -beta) + 12]
    parts = [quad(missing, a, b, epsabs=0, epsrel=1e-10, limit=200)[0] for a, b in pairwise(edges)]
    return float(ndtr(-beta)) + sum(parts)


def _expm1_power(y: float) -> float:
    """(2Φ(y) - 1)^7 - 1 for y >= 0."""
    outside = 2 * float(ndtr(-y))
    return -1.0 if outside >= 1 else expm1(7 * log1p(-outside))


def cck55_symbol(sinr: float) -> float:
    """A symbol of 4 bits at 5.5 Mb/s: e = 4 Eb/N0 / 2. @PEI09"""
    return biorthogonal16(4 * (sinr * BANDWIDTH / SYMBOLS / 4) / 2)


def cck11_symbol(sinr: float) -> float:
    """A symbol of 8 bits at 11 Mb/s: two of the above, each with half of e = 8 Eb/N0 / 2. @PEI09, @PUR09 eq. 17"""
    half = biorthogonal16(8 * (sinr * BANDWIDTH / SYMBOLS / 8) / 2 / 2)
    return 1 - (1 - half) ** 2


# --------------------------------------------------------------------------------------------------------------- OFDM

GENERATORS = (0o133, 0o171)  # 802.11-2020 17.3.5.6: output A, output B
# Which outputs are sent, per input bit of the period: 802.11-2020 fig. 17-9 (3/4: A0 B0 A1 B2; 2/3: A0 B0 A1).
PUNCTURED = {"1/2": ((1, 1),), "2/3": ((1, 1), (1, 0)), "3/4": ((1, 1), (1, 0), (0, 1))}


@cache
def weights(rate: str, terms: int) -> dict[int, int]:
    """Distance -> information bits in error, over all error events of that distance that begin in one period.

    The trellis is that of the k/n code: one branch takes the k bits of a period, so an event leaves the zero state with
    the first period that is not all zero and ends when a period ends there. The sources count so. (Bit by bit, an event
    that touches the zero state inside a period and leaves it again would be two: 0.03 % less weight at the sixth
    distance of rate 3/4.) All prefixes are kept by (state, distance) with their number and their information weight,
    and dropped when they are too far.
    """
    pattern = PUNCTURED[rate]
    found: dict[int, int] = defaultdict(int)
    limit = {"1/2": 10 + 2 * (terms - 1), "2/3": 6 + terms - 1, "3/4": 5 + terms - 1}[rate]

    def branch(state: int, word: int) -> tuple[int, int, int]:
        """The state after a period's bits, the distance it adds, the bits that are 1."""
        distance = 0
        for phase, sent in enumerate(pattern):
            register = (word >> phase & 1) << 6 | state
            distance += sum((register & g).bit_count() % 2 for g, s in zip(GENERATORS, sent, strict=True) if s)
            state = register >> 1
        return state, distance, word.bit_count()

    branches = [[branch(state, word) for word in range(2 ** len(pattern))] for state in range(64)]
    alive = {(0, 0): (1, 0)}
    first = True
    while alive:
        following: dict[tuple[int, int], tuple[int, int]] = {}
        for (state, distance), (number, information) in alive.items():
            for word, (after, more, ones) in enumerate(branches[state]):
                if distance + more > limit or (first and word == 0):
                    continue
                gained = information + ones * number
                if after == 0:
                    found[distance + more] += gained
                    continue
                n, i = following.get((after, distance + more), (0, 0))
                following[after, distance + more] = (n + number, i + gained)
        alive, first = following, False
    return dict(sorted(found.items()))


def decoded(p: float, rate: str) -> float:
    """Bit error rate behind a hard-decision Viterbi decoder: 1/2k Σ c_d D^d, D = √(4 p (1 - p)), at most 1. @MIL03"""
    spectrum = weights(rate, 9 if rate == "1/2" else 10)  # as many terms as the source has
    bound = sum(c * (4 * p * (1 - p)) ** (d / 2) for d, c in spectrum.items())
    return min(1.0, bound / (2 * len(PUNCTURED[rate])))


# Uncoded bit error rates at E_s/N0, Gray mapping. @MIL03, @PEI10
CONSTELLATIONS = {
    "BPSK": lambda s: 0.5 * erfc(sqrt(s)),
    "QPSK": lambda s: 0.5 * erfc(sqrt(s / 2)),
    "16-QAM": lambda s: 0.75 * 0.5 * erfc(sqrt(s / 5 / 2)),
    "64-QAM": lambda s: 7 / 12 * 0.5 * erfc(sqrt(s / 21 / 2)),
}
# 802.11-2020 table 17-4
OFDM = {
    "6": ("BPSK", "1/2"),
    "9": ("BPSK", "3/4"),
    "12": ("QPSK", "1/2"),
    "18": ("QPSK", "3/4"),
    "24": ("16-QAM", "1/2"),
    "36": ("16-QAM", "3/4"),
    "48": ("64-QAM", "2/3"),
    "54": ("64-QAM", "3/4"),
}

# ------------------------------------------------------------------------------------------------------------- frames


def ln(p: float) -> float:
    """ln(1 - p)."""
    return log1p(-p) if p < 1 else -inf


def ln_survival(rate: str, bits: float, sinr: float) -> float:
    """ln of the probability that so many bits at a rate (Mb/s) survive."""
    if rate == "1":
        return bits * ln(dbpsk(sinr))
    if rate == "2":
        return bits * ln(dqpsk(sinr))
    if rate == "5.5":
        return bits / 4 * ln(cck55_symbol(sinr))
    if rate == "11":
        return bits / 8 * ln(cck11_symbol(sinr))
    constellation, code = OFDM[rate]
    return bits * ln(decoded(CONSTELLATIONS[constellation](sinr), code))


def sinr_db(rate: str, bits: int, loss: float) -> float:
    """SINR in dB at which the run is lost so often."""
    wanted = log(1 - loss)
    return brentq(
        lambda db: max(ln_survival(rate, bits, 10 ** (db / 10)), -1e9) - wanted, -25, 45, xtol=1e-9, rtol=1e-12
    )


LOSSES = (0.01, 0.1, 0.5, 0.9)
# A PLCP header is at 1 or 2 Mb/s (48 bits), SIGNAL at 6 Mb/s (24): the rate of a row tells.
RUNS = {
    **{rate: [48, 112, 8 * 1024, 12288] for rate in ("1", "2")},
    **{rate: [112, 8 * 1024, 12288] for rate in ("5.5", "11")},
    "6": [24, 112, 8 * 1000, 12288],
    **{rate: [112, 8 * 1000, 12288] for rate in OFDM if rate != "6"},
}
COLUMNS = ["rate_mbps", "bits", "loss", "sinr_db"]


def rows() -> list[list[str]]:
    return [
        [rate, str(bits), str(loss), f"{sinr_db(rate, bits, loss):.4f}"]
        for rate, lengths in RUNS.items()
        for bits in lengths
        for loss in LOSSES
    ]


def write(out) -> None:
    w = csv.writer(out, lineterminator="\n")
    w.writerow(COLUMNS)
    w.writerows(rows())


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        write(sys.stdout)
    else:
        with Path(__file__).with_name("curves.csv").open("w", newline="") as f:
            write(f)
