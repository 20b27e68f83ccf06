"""modem.csv against ns-3's tables, its own program and the curves of awgn.rs. Run: pytest validation/phy

Needs cargo. Some ten seconds of one core.
"""

import csv
import json
import subprocess
from collections import defaultdict
from math import sqrt
from pathlib import Path
from statistics import mean

import fit
import pytest

HERE = Path(__file__).resolve().parent
ROWS = fit.read()
CURVES = HERE.parents[1] / "crates/phy/src/curves/awgn.rs"

# SNR in dB at a PER of 10 %, MCS 0, 1, …: interpolated from the tables of ns-3-dev 14064644,
# src/wifi/model/reference/error-rate-tables.cc (MATLAB WLAN Toolbox, 40 000 packets a point).
NS3 = {
    ("bcc", 32): [-0.4, 2.6, 5.1, 8.1, 11.3, 15.3, 16.6, 18.1, 21.7, 23.3],
    ("bcc", 1458): [0.9, 3.9, 6.4, 9.7, 12.8, 17.0, 18.4, 19.6, 23.7, 25.2],
    ("ldpc", 1458): [-0.6, 2.4, 4.9, 7.9, 10.9, 15.1, 16.5, 18.0, 21.7, 23.5, 26.8, 28.9],
}
POINTS = [(*row, mcs, db) for row, dbs in NS3.items() for mcs, db in enumerate(dbs)]


@pytest.fixture(scope="module")
def modem() -> Path:
    cargo = ["cargo", "build", "--release", "--locked", "--quiet", "--message-format=json"]
    built = subprocess.run(cargo, cwd=HERE / "modem", check=True, capture_output=True, text=True).stdout
    return Path(next(m["executable"] for m in map(json.loads, built.splitlines()) if m.get("executable")))


def run(modem: Path, coding: str, mcs: int, octets: int, db: float, *more: str) -> tuple[int, int]:
    """Packets and errors of a point."""
    where = ["--coding", coding, "--mcs", str(mcs), "--bytes", str(octets), "--snr-db", str(db)]
    answer = subprocess.run([modem, "point", *where, *more], check=True, capture_output=True, text=True).stdout
    packets, errors = answer.splitlines()[1].split(",")[4:6]
    return int(packets), int(errors)


def deviation(coding: str, octets: int, mcs: int, ns3_db: float) -> float:
    return fit.measured_db(ROWS[coding, mcs, octets], 0.1) - ns3_db


@pytest.mark.parametrize(("coding", "octets", "mcs", "ns3_db"), POINTS)
def test_a_tenth_is_lost_where_ns3_loses_it_within_three_tenths_of_a_decibel(coding, octets, mcs, ns3_db):
    assert abs(deviation(coding, octets, mcs, ns3_db)) <= 0.3


def test_no_row_of_ns3_allows_noise_over_64_subcarriers_of_ht():
    # Counted so, every threshold of ours is 10 log10 (64 / 56) = 0.58 dB lower.
    for row in NS3:
        found = [deviation(*point) for point in POINTS if point[:2] == row]
        assert abs(mean(found)) < 0.2
        assert abs(mean(found) - 0.58) > 0.3


def test_each_curve_is_bracketed_by_samples():
    for points in ROWS.values():
        rates = [errors / packets for _, packets, errors in points]
        assert rates[0] > 0.9
        assert rates[-1] < 0.005
        assert any(errors >= 150 for _, packets, errors in points if 0.02 < errors / packets < 0.3)


@pytest.mark.parametrize(
    ("coding", "octets", "mcs"), [("bcc", 32, 4), ("bcc", 1458, 9), ("ldpc", 1458, 0), ("ldpc", 1458, 11)]
)
def test_the_program_finds_the_samples_again(modem, coding, octets, mcs):
    near = min(ROWS[coding, mcs, octets], key=lambda point: abs(point[2] / point[1] - 0.2))
    db, packets, errors = near
    # With other noise: statistically.
    again, lost = run(modem, coding, mcs, octets, db, "--packets", "600", "--errors", "600", "--seed", "2")
    p = (errors + lost) / (packets + again)
    assert abs(errors / packets - lost / again) < 4 * sqrt(p * (1 - p) * (1 / packets + 1 / again))


def test_a_row_is_its_seed_s(modem):
    db, packets, errors = next(point for point in ROWS["bcc", 2, 32] if point[2] / point[1] < 0.5)
    # Another platform's logarithm may tip a packet.
    again, lost = run(modem, "bcc", 2, 32, db, "--packets", str(packets), "--errors", str(packets + 1))
    assert again == packets
    assert abs(lost - errors) <= 2


def test_the_format_hardly_matters(modem):
    # Interleaver, pads, shortening and puncturing differ: HT 20 MHz against HE 20 MHz.
    for coding, mcs, db in (("bcc", 4, 12.5), ("ldpc", 4, 10.8)):
        rates = []
        for of in ("ht", "he"):
            packets, lost = run(modem, coding, mcs, 1458, db, "--packets", "800", "--errors", "800", "--format", of)
            rates.append(lost / packets)
        assert rates[0] == pytest.approx(rates[1], rel=0.4)


def test_awgn_rs_has_what_fit_py_prints():
    rust = " ".join(CURVES.read_text().split())  # rustfmt aligns comments
    for line in fit.lines():
        assert line in rust


def test_interference_is_at_worst_noise():
    # A frame under a frame of its own constellation. Gaussian interference of the same power asks for most SIR, and a
    # carrier of its own brings OFDM near to it.
    with (HERE / "capture.csv").open(newline="") as f:
        curves = defaultdict(list)
        for r in csv.DictReader(f):
            curves[int(r["mcs"]), r["interferer"]].append((float(r["sir_db"]), int(r["packets"]), int(r["errors"])))
    for mcs in {mcs for mcs, _ in curves}:
        gaussian, loose = (fit.measured_db(curves[mcs, kind], 0.5) for kind in ("gaussian", "loose"))
        assert -0.2 < gaussian - loose < 1.5
        # And it is what the same modem says of noise, but for the format.
        assert gaussian == pytest.approx(fit.measured_db(ROWS["bcc", mcs, 1458], 0.5), abs=0.25)
