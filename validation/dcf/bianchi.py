"""The finite-retry Bianchi model of saturated DCF, and the closed form for one station.

Sources: @BIA00 Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC 18(3),
2000 (throughput, eq. 13); @WPL02 Wu, Peng, Long, Cheng, Ma, "Performance of Reliable Transport Protocol over IEEE
802.11 Wireless LAN: Analysis and Enhancement", IEEE INFOCOM 2002 (the retry limit in the chain; also Chatzimisios,
Vitsas, Boucouvalas, "Throughput and delay analysis of IEEE 802.11 protocol", IWNA 2002). tau is written by the
conditional argument of Bianchi & Tinnirello, "Remarks on IEEE 802.11 DCF Performance Analysis", IEEE Comm. Letters
9(8), 2005, which gives @WPL02's tau for uniform windows without its case distinction (test_bianchi.py compares the
two).

Departs from @WPL02: T_c ends with EIFS (SIFS + ACK at the lowest rate + DIFS).

Run: python3 bianchi.py         (prints the model's table)
"""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "airtime"))
from work import FRAMES, data, dsss_us, ofdm_us

MAX_ATTEMPTS = 7  # dot11ShortRetryLimit, 802.11-2016 Annex C: 7 transmissions
STATIONS = (1, 2, 5, 10, 20, 50)


@dataclass(frozen=True)
class Phy:
    """Microseconds. 16.3.3 (b) and 17.4.4 (a) of 802.11-2016."""

    slot: int
    sifs: int
    cw_min: int
    cw_max: int
    lowest_ack: int  # the ACK of EIFS, 10.3.2.3.7
    ack: int  # the ACK that is sent; a CTS takes as long
    rts: int
    data_at: object  # IP datagram octets -> airtime

    @property
    def difs(self) -> int:
        return self.sifs + 2 * self.slot  # 10.3.2.3.5

    @property
    def eifs(self) -> int:
        return self.sifs + self.lowest_ack + self.difs  # 10.3.2.3.7

    def t_success(self, payload: int, rts: bool) -> int:
        """A successful exchange and the DIFS after it. @BIA00 eq. 14, 17 without propagation."""
        t = self.data_at(payload) + self.sifs + self.ack + self.difs
        return t + (self.rts + self.sifs + self.ack + self.sifs if rts else 0)

    def t_collision(self, payload: int, rts: bool) -> int:
        """A collision and the EIFS after it; in @BIA00 listeners wait DIFS."""
        return (self.rts if rts else self.data_at(payload)) + self.eifs


def dsss(rate: str):
    return lambda octets: dsss_us(octets, rate, "long")


def ofdm(rate: str):
    return lambda octets: ofdm_us(octets, rate)


ACK, RTS = FRAMES["ack"], FRAMES["rts"]
PHYS = {
    # Data 11 Mb/s, control 1 Mb/s, long preamble.
    "b": Phy(20, 10, 31, 1023, dsss("1")(ACK), dsss("1")(ACK), dsss("1")(RTS), lambda n: dsss("11")(data(n))),
    # Data 54 Mb/s, control 24 Mb/s; EIFS by the ACK at 6 Mb/s.
    "a": Phy(9, 16, 15, 1023, ofdm("6")(ACK), ofdm("24")(ACK), ofdm("24")(RTS), lambda n: ofdm("54")(data(n))),
}


def windows(phy: Phy, attempts: int = MAX_ATTEMPTS) -> list[int]:
    """W_i = CW_i + 1 for each attempt. 10.3.3."""
    return [min((phy.cw_min + 1) << i, phy.cw_max + 1) for i in range(attempts)]


def tau(p: float, w: list[int]) -> float:
    """Chance that a station starts in a slot: attempts over slots of an MSDU, sum p^i / sum p^i (W_i + 1) / 2."""
    weights = [p**i for i in range(len(w))]
    return sum(weights) / sum(q * (wi + 1) / 2 for q, wi in zip(weights, w, strict=True))


def fixed_point(phy: Phy, n: int) -> tuple[float, float]:
    """(tau, p) with p = 1 - (1 - tau)^(n-1), by bisection: tau falls in p, so the difference has one root."""
    w = windows(phy)
    lo, hi = 0.0, 1.0
    for _ in range(200):
        p = (lo + hi) / 2
        if 1 - (1 - tau(p, w)) ** (n - 1) > p:
            lo = p
        else:
            hi = p
    p = (lo + hi) / 2 if n > 1 else 0.0
    return tau(p, w), p


def saturation(standard: str, n: int, payload: int = 1500, rts: bool = False) -> tuple[float, float, float]:
    """(tau, p, throughput in bit/s of IP datagrams). @BIA00 eq. 13."""
    phy = PHYS[standard]
    t, p = fixed_point(phy, n)
    idle = (1 - t) ** n
    success = n * t * (1 - t) ** (n - 1)
    mean_slot_us = (
        idle * phy.slot + success * phy.t_success(payload, rts) + (1 - idle - success) * phy.t_collision(payload, rts)
    )
    return t, p, 8e6 * payload * success / mean_slot_us


def single(standard: str, payload: int = 1500, rts: bool = False) -> float:
    """Throughput of one saturated station, bit/s, exact: the cycle is a success and on average CWmin / 2 slots."""
    phy = PHYS[standard]
    return 8e6 * payload / (phy.t_success(payload, rts) + phy.cw_min / 2 * phy.slot)


if __name__ == "__main__":
    print("standard rts    n       tau         p  throughput_bps")
    for standard in PHYS:
        for rts in (False, True):
            for n in STATIONS:
                t, p, s = saturation(standard, n, rts=rts)
                print(f"{standard:8} {'on' if rts else 'off':3} {n:4} {t:9.6f} {p:9.6f} {s:15.0f}")
            print(f"{standard:8} {'on' if rts else 'off':3}    1 closed form      {single(standard, rts=rts):17.0f}")
