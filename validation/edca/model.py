"""Throughput of saturated EDCA with two categories in stations of their own: a fixed point.

Sources: @XIA05 Xiao, "Performance Analysis of Priority Schemes for IEEE 802.11 and IEEE 802.11e Wireless LANs", IEEE
Trans. Wireless Communications 4(4), 2005 (a chain for each class with CWmin, CWmax and a retry limit of its own, on
Bianchi's slots); @ROB04 Robinson & Randhawa, "Saturation Throughput Analysis of IEEE 802.11e Enhanced Distributed
Coordination Function", IEEE JSAC 22(5), 2004 (contention zones: in the first slots after a busy one only the shorter
AIFS contends).

tau is written as in ../dcf/bianchi.py. Assumes, besides Bianchi's independence: a slot is like any other of its zone,
whatever happened before it; so the station that has just sent is as likely as others to send first. That is exact for
nobody and worst for few stations with small windows, and where slots of the second zone are rare.
"""

from slotsim import MAX_ATTEMPTS, PAYLOAD, SLOT, Category, times


def tau(p: float, c: Category) -> float:
    """Chance of a start at a boundary at which the category counts. @XIA05 in the form of Bianchi & Tinnirello 2005."""
    windows = [min((c.cw_min + 1) << i, c.cw_max + 1) for i in range(MAX_ATTEMPTS)]
    weights = [p**i for i in range(MAX_ATTEMPTS)]
    return sum(weights) / sum(q * (w + 1) / 2 for q, w in zip(weights, windows, strict=True))


def saturation(n: tuple[int, int], low: Category, high: Category) -> tuple[list[float], list[float]]:
    """(throughput in bit/s of IP datagrams, collision probability), both (low, high); `high` has the shorter AIFS."""
    lag = low.aifsn - high.aifsn
    p = [0.3, 0.3]
    for _ in range(20000):
        t = [tau(p[0], low), tau(p[1], high)]
        idle = [(1 - ti) ** ni for ti, ni in zip(t, n, strict=True)]
        # Slots of each zone in a cycle that ends with a busy one.
        first = sum(idle[1] ** i for i in range(lag))
        second = idle[1] ** lag / (1 - idle[0] * idle[1])
        free_low = idle[0] * idle[1] / (1 - t[0])
        free_high = (first + second * idle[0]) / (first + second) * idle[1] / (1 - t[1])
        p = [0.9 * old + 0.1 * (1 - free) for old, free in zip(p, (free_low, free_high), strict=True)]
    success = [
        second * n[0] * t[0] * free_low,
        n[1] * t[1] * free_high * (first + second),
    ]
    t_success, t_collision = times(high.aifsn)
    idle_slots = first + second - 1
    won = sum(success)
    cycle_us = idle_slots * SLOT + won * t_success + (1 - won) * t_collision
    return [8e6 * PAYLOAD * s / cycle_us for s in success], p
