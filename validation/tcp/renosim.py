"""A Reno sender and a receiver on a path that only delays and loses: no link rate, no queue, no headers, no bytes.

Written from RFC 5681, 2581 (fast recovery), 6298 and 1122 alone, in segments; it shares nothing with the simulator.
Where the RFCs leave a choice it takes the one the simulator's documentation declares: FlightSize is what is cut (RFC
5681 eq. 4), an ACK counts as one step of growth (eq. 2 and 3), duplicates of what a timeout took back trigger nothing
(RFC 6582 sec. 3.2 step 4), a timeout goes back N, the timer starts anew at a fast retransmit.

Every ACK of new data brings an RTT (timestamps, RFC 7323 sec. 4.3) and so ends a backoff. No RTT here exceeds 0.3 s,
which keeps SRTT + 4 RTTVAR below the least RTO of 1 s: the RTO is 1 s, doubled by each timeout since.
"""

import random
from collections import deque
from dataclasses import dataclass, field

INF = float("inf")


@dataclass
class Count:
    """What was counted since the end of warm-up."""

    sent: int = 0
    delivered: int = 0
    fast_retransmits: int = 0
    timeouts: int = 0
    sequences: int = 0
    rtt_samples: int = 0
    rtt_sum: float = 0.0


@dataclass
class Reno:
    """One run. Times in seconds, sequence numbers and windows in segments."""

    p: float
    b: int
    seed: int
    rtt: float = 0.1
    min_rto: float = 1.0
    delayed_ack: float = 0.2
    cwnd: float = 2.0
    ssthresh: float = INF
    una: int = 0
    nxt: int = 0
    max: int = 0
    dups: int = 0
    inflation: int = 0
    in_recovery: bool = False
    guard: int = -1  # duplicates of an ACK up to here tell nothing
    backoff: int = 1
    timer: float = INF
    # receiver
    next_in: int = 0
    held: set[int] = field(default_factory=set)
    waiting: int = 0
    ack_timer: float = INF
    last_ack: int = 0
    stamp: float = 0.0  # what an ACK echoes: when the first segment it is for was sent
    count: Count = field(default_factory=Count)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.data: deque[tuple[float, int, float]] = deque()
        self.acks: deque[tuple[float, int, float]] = deque()

    def run(self, warmup: float, duration: float) -> Count:
        now = 0.0
        self.fill(now)
        base = None
        while True:
            head_data = self.data[0][0] if self.data else INF
            head_ack = self.acks[0][0] if self.acks else INF
            at = min(head_data, head_ack, self.timer, self.ack_timer)
            if at >= duration:
                break
            if base is None and at >= warmup:
                base = self.next_in
                self.count = Count()
            now = at
            if at == head_ack:
                self.ack_arrives(*self.acks.popleft())
                self.fill(now)
            elif at == head_data:
                self.data_arrives(*self.data.popleft())
            elif at == self.ack_timer:
                self.send_ack(now)
            else:
                self.timeout(now)
                self.fill(now)
        self.count.delivered = self.next_in - (base or 0)
        return self.count

    # ------------------------------------------------------------------------------------------------------- sender

    def transmit(self, now: float, seq: int) -> None:
        self.max = max(self.max, seq + 1)
        self.count.sent += 1
        if self.timer == INF:
            self.timer = now + self.rto()
        if self.random.random() >= self.p:
            self.data.append((now + self.rtt / 2, seq, now))

    def fill(self, now: float) -> None:
        while self.nxt + 1 <= self.una + int(self.cwnd + 1e-9) + self.inflation:
            self.nxt += 1
            self.transmit(now, self.nxt - 1)

    def rto(self) -> float:
        return min(self.min_rto * self.backoff, 60.0)

    def halve(self) -> None:
        flight = self.nxt - self.una
        if self.in_recovery:  # the retransmission itself was lost: not from an inflated flight
            flight = min(flight, max(flight - self.inflation, self.cwnd))
        self.ssthresh = max(flight / 2, 2.0)

    def ack_arrives(self, now: float, ack: int, stamp: float) -> None:
        if ack > self.una:
            self.new_ack(now, ack, stamp)
        elif ack == self.una and self.nxt > self.una:
            self.dups += 1
            if self.in_recovery:
                self.inflation += 1
            elif self.dups == 3 and ack > self.guard:
                self.count.fast_retransmits += 1
                self.halve()
                self.cwnd = self.ssthresh
                self.in_recovery, self.inflation = True, 3
                self.timer = now + self.rto()
                self.transmit(now, self.una)

    def new_ack(self, now: float, ack: int, stamp: float) -> None:
        self.count.rtt_samples += 1
        self.count.rtt_sum += now - stamp
        self.una, self.nxt = ack, max(self.nxt, ack)
        self.backoff, self.dups = 1, 0
        if self.in_recovery:
            self.in_recovery, self.inflation, self.cwnd = False, 0, self.ssthresh
        elif self.cwnd < self.ssthresh:
            self.cwnd += 1
        else:
            self.cwnd += 1 / self.cwnd
        self.timer = now + self.rto() if self.nxt > self.una else INF

    def timeout(self, now: float) -> None:
        self.count.timeouts += 1
        if self.backoff == 1:
            self.count.sequences += 1
            self.halve()
        self.backoff *= 2
        self.in_recovery, self.inflation, self.dups = False, 0, 0
        self.cwnd, self.nxt, self.guard = 1.0, self.una, self.max
        self.timer = INF  # sending starts it

    # ----------------------------------------------------------------------------------------------------- receiver

    def data_arrives(self, now: float, seq: int, stamp: float) -> None:
        if seq <= self.last_ack:
            self.stamp = stamp
        if seq != self.next_in:
            if seq > self.next_in:
                self.held.add(seq)
            return self.send_ack(now)
        self.next_in += 1
        fills = bool(self.held)
        while self.next_in in self.held:
            self.held.remove(self.next_in)
            self.next_in += 1
        self.waiting += 1
        if fills or self.waiting >= self.b:
            self.send_ack(now)
        else:
            self.ack_timer = now + self.delayed_ack
        return None

    def send_ack(self, now: float) -> None:
        self.waiting, self.ack_timer = 0, INF
        self.last_ack = self.next_in
        self.acks.append((now + self.rtt / 2, self.next_in, self.stamp))
