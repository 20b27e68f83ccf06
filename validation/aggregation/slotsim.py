"""Saturated senders with A-MPDUs under block acknowledgment, PPDU by PPDU, on a channel that loses MPDUs.

Written from @80211-2020 10.23.2.2, 10.25.6 and clause 19 alone; it shares no line and no random number with the
simulator. Everybody hears everybody. Each MPDU is lost with the same probability, independently; a response is
never lost. An originator keeps what is not acknowledged and fills up with new MPDUs, as far as its limit and
the window let it. A PPDU of which nothing is received is not answered: the contention window doubles. Any Block
Ack, and an Ack, sets it back. After a PPDU without a response its senders count on an EIFS - DIFS + AIFS after
its end (`after_timeout = "eifs"`), as does who could read none of it; who could read an MPDU waits for the
response that it announces, and an AIFS: its slots then lie on a grid of their own."""

import random
from dataclasses import dataclass, field
from math import ceil

SLOT, SIFS, AIFSN = 9, 16, 3
CW_MIN, CW_MAX = 15, 1023
AIFS = SIFS + AIFSN * SLOT
BITS_A_SYMBOL = 260  # HT MCS 7, 20 MHz: 52 subcarriers, 6 bits, rate 5/6; 4 us with the guard interval of 0.8 us
PREAMBLE = 36  # us, HT mixed format of one stream
PAYLOAD = 1472  # octets of UDP payload
MPDU = PAYLOAD + 28 + 8 + 26 + 4  # UDP, IP, LLC and SNAP, header with QoS Control, FCS
BLOCK_ACK, ACK, SLOWEST_ACK = 32, 28, 44  # us: 32 and 14 octets at 24 Mb/s, 14 at 6


def length(mpdus: int) -> int:
    """Octets of a PSDU: delimiters of four, MPDUs padded to fours but for the last."""
    return MPDU if mpdus == 1 else (mpdus - 1) * (4 + MPDU + -MPDU % 4) + 4 + MPDU


def airtime(mpdus: int) -> int:
    return PREAMBLE + 4 * ceil((16 + 8 * length(mpdus) + 6) / BITS_A_SYMBOL)


def most(limit_us: int, limit_octets: int, limit_mpdus: int) -> int:
    """MPDUs of the longest PPDU within all limits; one is always let through."""
    n = 1
    while n < limit_mpdus and airtime(n + 1) <= limit_us and length(n + 1) <= limit_octets:
        n += 1
    return n


@dataclass
class Sender:
    window: int
    most: int
    rng: random.Random
    open: list[int] = field(default_factory=list)  # numbers that were sent and not acknowledged, in order
    next: int = 0
    cw: int = CW_MIN
    counter: int = 0
    late: int = 0  # us from the first boundary of the cycle to its own
    ppdus: int = 0
    mpdus: int = 0
    stalled: int = 0
    acknowledged: int = 0

    def draw(self) -> None:
        self.counter = self.rng.randint(0, self.cw)

    def compose(self) -> list[int]:
        psdu = self.open[: self.most]
        end = (psdu[0] if psdu else self.next) + self.window
        while len(psdu) < self.most and self.next < end:
            psdu.append(self.next)
            self.open.append(self.next)
            self.next += 1
        self.ppdus += 1
        self.mpdus += len(psdu)
        self.stalled += len(psdu) < self.most
        return psdu

    def heard(self, received: set[int]) -> None:
        self.acknowledged += len(received)
        self.open = [seq for seq in self.open if seq not in received]
        self.cw = CW_MIN if received else min(2 * self.cw + 1, CW_MAX)
        self.draw()


@dataclass(frozen=True)
class Found:
    goodput_bps: float
    mean_mpdus: float
    stalled: float  # share of PPDUs that the window kept short


def simulate(senders: int, window: int, n: int, per: float, seed: int, ppdus: int) -> Found:
    """Until all senders together have sent so many PPDUs of `n` MPDUs at most."""
    rng = random.Random(seed)
    all_of_them = [Sender(window, n, rng) for _ in range(senders)]
    for one in all_of_them:
        one.draw()
    time_us = 0
    while sum(one.ppdus for one in all_of_them) < ppdus:
        at = min(one.late + SLOT * one.counter for one in all_of_them)
        ready = [one for one in all_of_them if one.late + SLOT * one.counter == at]
        for one in all_of_them:
            if one.late <= at:
                one.counter -= (at - one.late) // SLOT + 1
        psdus = [one.compose() for one in ready]
        longest = max(airtime(len(psdu)) for psdu in psdus)
        received = {seq for seq in psdus[0] if rng.random() >= per} if len(ready) == 1 else set()
        announced = ACK if len(psdus[0]) == 1 else BLOCK_ACK
        reads = [
            received or (one not in ready and len(ready) == 1 and rng.random() >= per ** len(psdus[0]))
            for one in all_of_them
        ]
        answer = announced if any(reads) else SLOWEST_ACK
        time_us += at + longest + SIFS + answer + AIFS
        for one, read in zip(all_of_them, reads, strict=True):
            one.late = 0 if read else SLOWEST_ACK - answer
        for one in ready:
            one.heard(received)
    ppdus = sum(one.ppdus for one in all_of_them)
    return Found(
        8e6 * PAYLOAD * sum(one.acknowledged for one in all_of_them) / time_us,
        sum(one.mpdus for one in all_of_them) / ppdus,
        sum(one.stalled for one in all_of_them) / ppdus,
    )
