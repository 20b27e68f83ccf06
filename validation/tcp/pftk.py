"""The models, in segments per second.

Sections and equations are those of Padhye, Firoiu, Towsley, Kurose, IEEE/ACM ToN 8(2), 2000.
"""

from math import sqrt


def window(p: float, b: int) -> float:
    """Expected window when a triple duplicate ends a period. Sec. II-A"""
    c = (2 + b) / (3 * b)
    return c + sqrt(8 * (1 - p) / (3 * b * p) + c * c)


def timeout(p: float, w: float) -> float:
    """Probability that a loss in a window of w is told by a timeout. Sec. II-B"""
    q = 1 - p
    return min(1.0, (1 - q**3) * (1 + q**3 * (1 - q ** (w - 3))) / (1 - q**w))


def backoff(p: float) -> float:
    """Length of a sequence of timeouts over its first, times 1 - p. Sec. II-B"""
    return 1 + sum(2**i * p ** (i + 1) for i in range(6))


def period(p: float, b: int, rtt: float, t0: float) -> float:
    """Mean time of a period and of the timeouts that fall to it."""
    w = window(p, b)
    return rtt * (b / 2 * w + 1) + timeout(p, w) * t0 * backoff(p) / (1 - p)


def send_rate(p: float, b: int, rtt: float, t0: float) -> float:
    """The full model, eq. 32, of a window that nothing but losses limits."""
    w = window(p, b)
    return ((1 - p) / p + w + timeout(p, w) / (1 - p)) / period(p, b, rtt, t0)


def throughput(p: float, b: int, rtt: float, t0: float) -> float:
    """What arrives of it. Sec. V"""
    w = window(p, b)
    return ((1 - p) / p + w / 2 + timeout(p, w)) / period(p, b, rtt, t0)


def approximation(p: float, b: int, rtt: float, t0: float) -> float:
    """Send rate, eq. 33; also RFC 5348 sec. 3.1."""
    return 1 / (rtt * sqrt(2 * b * p / 3) + t0 * min(1, 3 * sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p))


def square_root(p: float, b: int, rtt: float) -> float:
    """Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997: sqrt(3/2) for b = 1, sqrt(3/4) for b = 2, over RTT sqrt(p)."""
    return sqrt(1.5 / (b * p)) / rtt
