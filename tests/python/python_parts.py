"""Controllers in Python that are as Rust's, a scheme, and a cell to run them in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import interlayer
from interlayer import Controller, Scheme, parts

if TYPE_CHECKING:
    from interlayer._core import Ack, Node, Packet, Window


def cell(congestion: Any, **options: Any) -> interlayer.Scenario:
    """Two uploads over a link that loses frames."""
    flow = interlayer.tcp(congestion, **options)
    return interlayer.wlan(stations=3, flow=flow, loss=0.03, loss_at="msdu", duration="12 s", warmup="2 s")


class NewReno(Controller):
    """RFC 5681 and RFC 6582 in nothing but arithmetic on what a controller is shown."""

    def __init__(self) -> None:
        self.fraction = 0.0

    def on_ack(self, ack: Ack, window: Window) -> None:
        if not window.may_grow:
            return
        if window.in_slow_start:
            window.cwnd += min(ack.counted, window.slow_start_limit) // window.slow_start_divisor
            return
        step = window.mss if window.byte_counting is None else ack.counted
        total = self.fraction + step * (window.mss / window.cwnd)
        self.fraction = total - math.floor(total)
        window.cwnd += math.floor(total)

    def on_congestion(self, why: parts.Why, window: Window) -> None:
        half = window.flight_size // 2
        if why == "ecn-mark":
            window.ssthresh = max(half, 2 * window.mss)
            window.cwnd = min(window.cwnd, max(half, window.mss))
            return
        if why != "repeated-timeout":
            window.ssthresh = max(half, 2 * window.mss)
        window.cwnd = window.mss if "timeout" in why else window.ssthresh


class Helped(Controller):
    """The same with the arithmetic that windows offer."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        if window.in_slow_start:
            window.slow_start(ack)
        else:
            window.additive_increase(ack)

    def on_congestion(self, why: parts.Why, window: Window) -> None:
        if why == "ecn-mark":
            window.mark_flight_to(0.5)
        elif why != "repeated-timeout":
            window.cut_flight_to(0.5)
        if "timeout" in why:
            window.cwnd = window.mss


def printed(scenario: interlayer.Scenario, seed: int) -> tuple[Any, Any]:
    """The fingerprints of PHY, MAC and TCP, and every cwnd and ssthresh that was sampled."""
    from interlayer import _core

    runner = _core.Runner(jobs=1, series=True, fingerprint=True)
    parsed = scenario._parse()
    runner.submit(parsed, seed)
    found: Any = runner.next()
    run = found[1]
    windows = {k: v["value"] for k, v in run["series"].items() if "cwnd" in k or "ssthresh" in k}
    return run["fingerprint"], windows


class Thinner(Scheme):
    """Drops every n-th data segment at senders, or holds it back."""

    places = ("to-air",)
    counters = ("data",)

    def __init__(self, node: Node, n: int = 10, delay_s: float = 0.0) -> None:
        super().__init__(node)
        self.n, self.delay_s, self.data = n, delay_s, 0

    @classmethod
    def sits(cls, node: Node) -> bool:
        return node.starts_flows

    def packet(self, place: str, packet: Packet, now_ns: int) -> str | float | None:
        assert place == "to-air"
        if packet.protocol != "tcp" or packet.payload == 0:
            return None
        self.data += 1
        if self.data % self.n:
            return "pass"
        return self.delay_s or "drop"
