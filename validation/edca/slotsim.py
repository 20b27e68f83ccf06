"""Saturated EDCA, slot by slot: stations whose categories always have a frame for one sink, on an ideal channel.

Written from @80211-2020 10.23.2.2-10.23.2.4 alone; it shares no line and no random number with the simulator. Every
slot boundary after AIFS counts, the one that ends it and the one at which somebody starts included; of two categories
of a station at one boundary the higher transmits and the lower behaves as if it had collided. After a collision
everybody resumes an EIFS - DIFS + AIFS after its end (`after_timeout = "eifs"`), so that all boundaries lie on one
grid."""

import random
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "airtime"))
from work import FRAMES, data, ofdm_us

SLOT, SIFS = 9, 16  # 802.11a
PAYLOAD = 1500  # octets of an IP datagram
QOS_CONTROL = 2  # octets, 9.2.4.5
DATA = ofdm_us(data(PAYLOAD) + QOS_CONTROL, "54")
ACK, SLOWEST_ACK = ofdm_us(FRAMES["ack"], "24"), ofdm_us(FRAMES["ack"], "6")
MAX_ATTEMPTS = 7


@dataclass(frozen=True)
class Category:
    aifsn: int
    cw_min: int
    cw_max: int


def times(aifsn_min: int) -> tuple[int, int]:
    """Microseconds from the start of a success, and of a collision, to the end of the shortest AIFS after it."""
    aifs = SIFS + aifsn_min * SLOT
    return DATA + SIFS + ACK + aifs, DATA + SIFS + SLOWEST_ACK + aifs


@dataclass
class Entity:
    station: int
    kind: int  # index of its category: the higher wins within a station
    category: Category
    cw: int = 0
    failures: int = 0
    counter: int = 0

    def draw(self, rng: random.Random) -> None:
        self.counter = rng.randint(0, self.cw)

    def end(self, rng: random.Random, success: bool) -> None:
        self.failures = 0 if success else self.failures + 1
        if success or self.failures == MAX_ATTEMPTS:
            self.failures, self.cw = 0, self.category.cw_min
        else:
            self.cw = min(2 * self.cw + 1, self.category.cw_max)
        self.draw(rng)


def simulate(stations: list[list[tuple[int, Category]]], seed: int, cycles: int) -> tuple[list[float], list[float]]:
    """`stations` lists (kind, category) of each, kinds 0 and 1. Returns throughput in bit/s of IP datagrams and the
    share of transmissions that collided, both by kind."""
    rng = random.Random(seed)
    entities = [Entity(i, kind, c) for i, own in enumerate(stations) for kind, c in own]
    for e in entities:
        e.cw = e.category.cw_min
        e.draw(rng)
    least = min(e.category.aifsn for e in entities)
    lag = [e.category.aifsn - least for e in entities]
    t_success, t_collision = times(least)
    time_us, sent, good = 0, [0, 0], [0, 0]
    for _ in range(cycles):
        at = min(late + e.counter for late, e in zip(lag, entities, strict=True))
        ready: dict[int, list[Entity]] = {}
        for late, e in zip(lag, entities, strict=True):
            if late + e.counter == at:
                ready.setdefault(e.station, []).append(e)
            elif late <= at:
                e.counter -= at - late + 1
        success = len(ready) == 1
        time_us += at * SLOT + (t_success if success else t_collision)
        for own in ready.values():
            *lower, winner = sorted(own, key=lambda e: e.kind)
            sent[winner.kind] += 1
            good[winner.kind] += success
            winner.end(rng, success)
            for e in lower:
                e.end(rng, False)
    rates = [8e6 * PAYLOAD * g / time_us for g in good]
    return rates, [1 - g / max(s, 1) for g, s in zip(good, sent, strict=True)]
