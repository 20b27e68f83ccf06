"""Airtimes of IEEE 802.11 frames from the standard's formulae, in exact arithmetic. Writes table.csv.

Clause numbers are those of IEEE Std 802.11-2016 and -2020, which agree here. Nothing of the simulator is used.
Run: python3 work.py            (writes table.csv beside this file)
"""

import csv
import sys
from fractions import Fraction
from math import ceil
from pathlib import Path

LONG_US = 144 + 48  # 16.2.2.2: SYNC 128 + SFD 16 bits, header 48 bits, all at 1 Mb/s; the same PPDU as 15.2.2
SHORT_US = 72 + 24  # 16.2.2.3: SYNC 56 + SFD 16 bits at 1 Mb/s, header 48 bits at 2 Mb/s
OFDM_US = 16 + 4  # Table 17-5, 20 MHz: T_PREAMBLE 16 us, T_SIGNAL 4 us
T_SYM_US = 4  # Table 17-5, 20 MHz
SERVICE_BITS, TAIL_BITS = 16, 6  # 17.3.5.2, 17.3.5.3; both in the numerator of the 17.4.3 formula
SIGNAL_EXTENSION_US = 6  # clause 18 (ERP-OFDM): 6 us of silence counted in TXTIME

# Table 17-4, 20 MHz: data bits per OFDM symbol by rate in Mb/s.
N_DBPS = {"6": 24, "9": 36, "12": 48, "18": 72, "24": 96, "36": 144, "48": 192, "54": 216}


def dsss_us(mpdu_bytes: int, rate_mbps: str, preamble: str) -> int:
    """16.3.4 with PBCC = 0; for clause 15 the same formula with the long PPDU (15.2.2: LENGTH is in whole us)."""
    if preamble == "short" and rate_mbps == "1":
        raise ValueError("16.2.2.3: the PSDU of a short PPDU goes at 2, 5.5 or 11 Mb/s")
    return {"long": LONG_US, "short": SHORT_US}[preamble] + ceil(Fraction(8 * mpdu_bytes) / Fraction(rate_mbps))


def ofdm_us(mpdu_bytes: int, rate_mbps: str) -> int:
    """17.4.3: T_PREAMBLE + T_SIGNAL + T_SYM * ceil((16 + 8 LENGTH + 6) / N_DBPS)."""
    bits = SERVICE_BITS + 8 * mpdu_bytes + TAIL_BITS
    return OFDM_US + T_SYM_US * ceil(Fraction(bits, N_DBPS[rate_mbps]))


def erp_ofdm_us(mpdu_bytes: int, rate_mbps: str) -> int:
    """18.5 (ERP TXTIME): the clause 17 time and the signal extension."""
    return ofdm_us(mpdu_bytes, rate_mbps) + SIGNAL_EXTENSION_US


HEADER, QOS, LLC_SNAP, FCS = 24, 2, 8, 4  # 9.2.3, 9.3.2.1 (three addresses); 802.2 LLC + SNAP


def data(datagram: int, qos: bool = False) -> int:
    """MPDU octets of a data frame with an IP datagram of so many octets."""
    return HEADER + (QOS if qos else 0) + LLC_SNAP + datagram + FCS


FRAMES = {
    **{f"data_{n}": data(n) for n in (100, 576, 1500)},
    **{f"qos_data_{n}": data(n, qos=True) for n in (100, 576, 1500)},
    "tcp_ack_40": data(40),  # IPv4 20 + TCP 20
    "qos_tcp_ack_40": data(40, qos=True),
    "ack": 14,  # 9.3.1.4
    "cts": 14,  # 9.3.1.3
    "rts": 20,  # 9.3.1.2
    "beacon_100": 100,  # a whole MPDU of 100 octets, FCS included
}

PHYS = [
    ("802.11", "long", ["1", "2"], lambda n, r: dsss_us(n, r, "long")),
    ("802.11b", "long", ["1", "2", "5.5", "11"], lambda n, r: dsss_us(n, r, "long")),
    ("802.11b", "short", ["2", "5.5", "11"], lambda n, r: dsss_us(n, r, "short")),
    ("802.11a", "ofdm", list(N_DBPS), ofdm_us),
    ("802.11g", "ofdm", list(N_DBPS), erp_ofdm_us),
]

COLUMNS = ["standard", "preamble", "rate_mbps", "frame", "mpdu_bytes", "airtime_us"]


def rows() -> list[list[str]]:
    return [
        [standard, preamble, rate, frame, str(octets), str(airtime(octets, rate))]
        for standard, preamble, rates, airtime in PHYS
        for rate in rates
        for frame, octets in FRAMES.items()
    ]


def write(out) -> None:
    w = csv.writer(out, lineterminator="\n")
    w.writerow(COLUMNS)
    w.writerows(rows())


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        write(sys.stdout)
    else:
        with Path(__file__).with_name("table.csv").open("w", newline="") as f:
            write(f)
