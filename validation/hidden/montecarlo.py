"""Two saturated stations that do not hear each other, the access point between them: a Monte Carlo from the standard.

**Models** DCF (IEEE Std 802.11-2016, clauses on the lines) with and without RTS/CTS, in whole microseconds. Stations
hear the access point alone; it hears both, and any overlap there loses both frames (no capture). It never contends: it
answers a SIFS after what it received, whatever stands on the air, and is half-duplex. No noise, no propagation
time, no sensing latency. Shares no code with the simulator.

**What follows.** A station that does not transmit freezes for the access point's ACK and CTS to the other, and keeps
its NAV after the CTS. A station that transmits meanwhile misses both, and begins again as if nothing were: with RTS, in
the middle of the other's data. EIFS never occurs: the only transmitter that a station hears is the access point, which
nobody garbles; the errors are the access point's, and it does not contend.

Run: python3 montecarlo.py a 6 1500 off 1023 1023       (standard, Mb/s, octets, RTS, CWmin, CWmax)
"""

import heapq
import json
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "airtime"))
from work import FRAMES, data, dsss_us, ofdm_us

SHORT_LIMIT, LONG_LIMIT = 7, 4  # dot11ShortRetryLimit, dot11LongRetryLimit, Annex C
OTHER = (1, 0)


@dataclass(frozen=True)
class Phy:
    """Microseconds. 16.3.3 (b, long preamble), 17.4.4 (a)."""

    slot: int
    sifs: int
    rx_start: int  # aRxPHYStartDelay
    data: int
    ack: int  # a CTS takes as long
    rts: int

    @property
    def difs(self) -> int:
        return self.sifs + 2 * self.slot  # 10.3.2.3.5

    @property
    def timeout(self) -> int:
        return self.sifs + self.slot + self.rx_start  # 10.3.2.9 (ACK), 10.3.2.7 (CTS)

    @property
    def nav_of_cts(self) -> int:
        return self.sifs + self.data + self.sifs + self.ack  # 9.2.5.2, less the CTS and its gap


def phy(standard: str, mbps: str, octets: int) -> Phy:
    """b: control at 1 Mb/s; a: at the highest of 6, 12, 24 Mb/s not above the data's (10.6.6.5.2)."""
    if standard == "b":
        control = [dsss_us(FRAMES[kind], "1", "long") for kind in ("ack", "rts")]
        return Phy(20, 10, 192, dsss_us(data(octets), mbps, "long"), *control)
    rate = str(max(r for r in (6, 12, 24) if r <= int(mbps)))
    control = [ofdm_us(FRAMES[kind], rate) for kind in ("ack", "rts")]
    return Phy(9, 16, 25, ofdm_us(data(octets), mbps), *control)


@dataclass
class Station:
    """What one station knows and does."""

    cw: int
    # Contention. `begin` is when it transmits if nothing happens; None: frozen, or in an exchange.
    is_contending: bool = True
    backoff: int = 0
    count_from: int = 0
    begin: int | None = None
    # Carrier sense: of the access point's signal, and the NAV it set.
    is_sensing: bool = False
    idle_from: int = 0
    not_before: int = 0
    nav: int = 0
    # Its exchange.
    sends: str | None = None  # on the air: "rts" or "data"
    is_spoilt: bool = False
    awaits: str | None = None  # "cts" or "ack"
    sent_at: int = 0
    short: int = 0
    long: int = 0
    # What it follows of the access point's: since when; None: it missed the beginning.
    follows: int | None = None
    waits_for_end: bool = False
    turn: int = 0  # outdates what was scheduled for an earlier state


@dataclass
class Counts:
    """Over the measured time."""

    delivered: int = 0
    dropped: int = 0
    sent: dict = field(default_factory=lambda: {"rts": 0, "data": 0})
    lost: dict = field(default_factory=lambda: {"rts": 0, "data": 0})


END, BETWEEN, START = range(3)  # at one instant frames end before timeouts, and these before frames begin


class Air:
    """Everything on one channel."""

    def __init__(self, phy: Phy, rts: bool, cw_min: int, cw_max: int, seed: int, cts_resets_src: bool = True):
        self.phy, self.rts, self.cw_min, self.cw_max = phy, rts, cw_min, cw_max
        self.cts_resets_src = cts_resets_src
        self.random = random.Random(seed)
        self.events = []
        self.order = 0
        self.is_answering = False
        self.counts = Counts()
        self.stations = [Station(cw_min), Station(cw_min)]
        for i in (0, 1):
            self.draw(i)
            self.count(i)

    def at(self, when: int, rank: int, what, *args):
        self.order += 1
        heapq.heappush(self.events, (when, rank, self.order, what, args))

    def run(self, warmup_us: int, us: int) -> Counts:
        end = warmup_us + us
        is_warm = False
        while True:
            now, _, _, what, args = heapq.heappop(self.events)
            if not is_warm and now >= warmup_us:
                self.counts, is_warm = Counts(), True
            if now >= end:
                return self.counts
            what(now, *args)

    # ------------------------------------------------------------------------------------------------ contention

    def draw(self, i: int):
        """10.3.3: uniform over 0..CW."""
        self.stations[i].backoff = self.random.randrange(self.stations[i].cw + 1)

    def count(self, i: int):
        """10.3.4.3: slots count after a DIFS of idle medium, virtual carrier sense included."""
        s = self.stations[i]
        s.turn += 1
        s.begin = None
        if s.is_contending and not s.is_sensing:
            s.count_from = max(max(s.idle_from, s.nav) + self.phy.difs, s.not_before)
            s.begin = s.count_from + s.backoff * self.phy.slot
            self.at(s.begin, START, self.begin, i, s.turn)

    def freeze(self, now: int, i: int):
        """Whole idle slots are gone; who begins at this very instant does."""
        s = self.stations[i]
        if s.begin is None or s.begin == now:
            return
        s.backoff -= max(0, now - s.count_from) // self.phy.slot
        s.begin = None
        s.turn += 1

    def begin(self, now: int, i: int, turn: int):
        if turn == self.stations[i].turn:
            self.send(now, i, "rts" if self.rts else "data")

    # ------------------------------------------------------------------------------------------------- stations

    def send(self, now: int, i: int, kind: str):
        s, other = self.stations[i], self.stations[OTHER[i]]
        s.is_contending, s.begin, s.sends = False, None, kind
        s.turn += 1
        s.follows = None
        s.is_spoilt = self.is_answering or other.sends is not None
        if other.sends is not None:
            other.is_spoilt = True
        self.counts.sent[kind] += 1
        length = self.phy.rts if kind == "rts" else self.phy.data
        self.at(now + length, END, self.sent, i)

    def sent(self, now: int, i: int):
        s = self.stations[i]
        kind, s.sends, s.sent_at, s.idle_from = s.sends, None, now, now
        s.awaits = "cts" if kind == "rts" else "ack"
        s.turn += 1
        self.at(now + self.phy.timeout, BETWEEN, self.timed_out, i, s.turn)
        if s.is_spoilt:
            self.counts.lost[kind] += 1
        else:
            self.at(now + self.phy.sifs, START, self.answer, i, s.awaits)

    def timed_out(self, now: int, i: int, turn: int):
        """10.3.2.9: a preamble that has begun by now is waited out."""
        s = self.stations[i]
        if turn != s.turn:
            return
        if s.follows is not None and s.follows >= s.sent_at:
            s.waits_for_end = True
        else:
            self.fail(now, i)

    def fail(self, now: int, i: int):
        """10.3.4.4; an RTS and a frame without one count short, data behind a CTS long."""
        s = self.stations[i]
        if self.rts and s.awaits == "ack":
            s.long += 1
        else:
            s.short += 1
        s.cw = min(2 * s.cw + 1, self.cw_max)
        if s.short == SHORT_LIMIT or s.long == LONG_LIMIT:
            self.counts.dropped += 1
            self.next_frame(i)
        # 10.3.4.3 to the letter: a DIFS that has passed by now counts.
        self.contend(now, i)

    def next_frame(self, i: int):
        s = self.stations[i]
        s.short, s.long, s.cw = 0, 0, self.cw_min

    def contend(self, now: int, i: int):
        s = self.stations[i]
        s.awaits, s.is_contending, s.waits_for_end, s.not_before = None, True, False, now
        self.draw(i)
        self.count(i)

    def answered(self, now: int, i: int):
        s = self.stations[i]
        if s.awaits == "cts":
            if self.cts_resets_src:
                s.short = 0  # 10.3.4.4 says so of the station's counter, see README
            s.awaits, s.waits_for_end = None, False
            s.turn += 1
            self.at(now + self.phy.sifs, START, self.send, i, "data")
        else:
            self.counts.delivered += 1
            self.next_frame(i)
            self.contend(now, i)

    # --------------------------------------------------------------------------------------------- access point

    def answer(self, now: int, to: int, kind: str):
        self.is_answering = True
        for i, s in enumerate(self.stations):
            s.is_sensing = True
            if s.sends is not None or s.begin == now:
                s.is_spoilt = True  # half-duplex: it receives nothing of what stands or begins now
                s.follows = None
            else:
                s.follows = now
                self.freeze(now, i)
        self.at(now + self.phy.ack, END, self.answer_over, to, kind)

    def answer_over(self, now: int, to: int, kind: str):
        self.is_answering = False
        for i, s in enumerate(self.stations):
            s.is_sensing = False
            if s.sends is not None:
                continue
            s.idle_from = now
            has_received, s.follows = s.follows is not None, None
            if has_received and i != to and kind == "cts":
                s.nav = max(s.nav, now + self.phy.nav_of_cts)  # 10.3.2.4
            if has_received and i == to and s.awaits == kind:
                self.answered(now, i)
            elif has_received and s.waits_for_end:
                self.fail(now, i)
            elif s.is_contending:
                self.count(i)


def simulate(standard, mbps, octets, rts, cw_min, cw_max, seed, seconds, warmup=1, cts_resets_src=True) -> dict:
    """Datagram throughput, and lost over sent of either kind of frame."""
    air = Air(phy(standard, mbps, octets), rts, cw_min, cw_max, seed, cts_resets_src)
    counts = air.run(warmup * 1_000_000, seconds * 1_000_000)
    return {
        "throughput_bps": counts.delivered * 8 * octets / seconds,
        "delivered": counts.delivered,
        "dropped": counts.dropped,
        "data_loss": counts.lost["data"] / max(1, counts.sent["data"]),
        "rts_loss": counts.lost["rts"] / max(1, counts.sent["rts"]),
        "attempts": sum(counts.sent.values()),
    }


if __name__ == "__main__":
    standard, mbps, octets, rts, cw_min, cw_max = sys.argv[1:7]
    print(json.dumps(simulate(standard, mbps, int(octets), rts == "on", int(cw_min), int(cw_max), 1, 20)))
