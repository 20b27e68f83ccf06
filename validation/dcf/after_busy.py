"""Collision probability of saturated DCF with the slot after a busy period told from the others.

**Source** Vu & Sakurai, "Collision Probability in Saturated IEEE 802.11 Networks", ATNAC 2006 (@VS06), Fig. 3.3 of the
FTCA thesis, asks for a model "that takes into account the previous channel status", because of the "channel capture
following a busy period". Only its abstract could be had; **its equations could not**, and those below are not copied
from it. They are worked out here from the standard's countdown, with the device of Tinnirello, Bianchi & Xiao,
"Refinements on IEEE 802.11 Distributed Coordination Function Modeling Approaches", IEEE Trans. Veh. Technol. 59(3),
2010, as remembered: a slot that is counted down is the busy periods before it and itself. As the abstract says of
theirs, Bianchi's fixed point is the limit of large windows (test_after_busy.py).

**Model.** A counter moves only after an idle slot (@80211-2016 10.3.4.3). So a station that froze holds at least 1
when a busy period ends, and the first slot after it belongs to those who just transmitted: each starts in it if it
drew 0, with chance 1/W.

- After a success that is one station alone, and it cannot collide.
- After a collision of the station at hand with K others, one of them joins it with chance r = E[1/W], over the windows
  drawn after collisions: q = 1 - E[(1 - r)^K | K > 0], K binomial over n - 1 with tau.
- Else it drew b in 1..W-1 and starts b counted slots later, W/2 on average, where it collides with
  p = 1 - (1 - tau)^(n-1).

tau is then the number of such starts over the slots they take. The stages of an MSDU's attempts are a chain, as in
@WPL02, with the three kinds of start beside the stage.

**Assumes** independence of the stations, that all count on one grid (slotsim's reading `aligned`), and for a collision
right after a collision that the number of its transmitters is distributed as that of the first one's.

Run: python3 after_busy.py         (prints 1 to 50 stations, CW 15 and 31 to 1023)
"""

from bianchi import MAX_ATTEMPTS, tau

CW_MAX = 1023
ANCHOR, AFTER_SUCCESS, AFTER_COLLISION = range(3)


def windows(cw_min: int, attempts: int = MAX_ATTEMPTS) -> list[int]:
    """W_i = CW_i + 1 for each attempt. 10.3.3."""
    return [min((cw_min + 1) << i, CW_MAX + 1) for i in range(attempts)]


def bianchi(cw_min: int, n: int, attempts: int = MAX_ATTEMPTS) -> float:
    """p of Bianchi's fixed point with a retry limit. With 200 attempts what is left is below 1e-20: @BIA00's own."""
    w = windows(cw_min, attempts)
    return root(lambda p: 1 - (1 - tau(p, w)) ** (n - 1)) if n > 1 else 0.0


def root(f) -> float:
    """The p in 0..1 with f(p) = p, for an f that falls, by bisection."""
    lo, hi = 0.0, 1.0
    for _ in range(50):
        p = (lo + hi) / 2
        lo, hi = (p, hi) if f(p) > p else (lo, p)
    return (lo + hi) / 2


def visits(w: list[int], p: float, q: float) -> list[list[float]]:
    """How often an MSDU is tried at each stage and in each kind of start."""
    fails = (p, 0.0, q)
    v = [[0.0] * 3 for _ in w]
    lost, before = 0.0, 1.0  # the share of MSDUs given up, whose successors may start right after the last collision
    while abs(lost - before) > 1e-13:
        v[0] = [1 - 1 / w[0], (1 - lost) / w[0], lost / w[0]]
        for i in range(1, len(w)):
            failed = sum(x * f for x, f in zip(v[i - 1], fails, strict=True))
            v[i] = [failed * (1 - 1 / w[i]), 0.0, failed / w[i]]
        lost, before = sum(x * f for x, f in zip(v[-1], fails, strict=True)), lost
    return v


def after_collision(v: list[list[float]], w: list[int], p: float, q: float, t: float, n: int) -> float:
    """The chance that a start right after a collision collides, from the windows that the others drew from."""
    failed = [x[ANCHOR] * p + x[AFTER_COLLISION] * q for x in v]
    drawn = w[1:] + w[:1]  # after the last attempt the next MSDU draws
    r = sum(f / d for f, d in zip(failed, drawn, strict=True)) / sum(failed)
    nobody = (1 - t) ** (n - 1)
    return 1 - ((1 - t * r) ** (n - 1) - nobody) / (1 - nobody)


def chain(w: list[int], n: int, p: float) -> tuple[float, float, list[list[float]]]:
    """(tau, q, visits) at this p."""
    q, before = 0.0, 1.0
    while abs(q - before) > 1e-13:
        v = visits(w, p, q)
        t = sum(x[ANCHOR] for x in v) / sum(x[ANCHOR] * wi / 2 for x, wi in zip(v, w, strict=True))
        q, before = after_collision(v, w, p, q, t, n), q
    return t, q, v


def solve(cw_min: int, n: int, attempts: int = MAX_ATTEMPTS) -> tuple[float, float, float, float]:
    """(tau, p of a counted slot, q of a slot after a collision, collided attempts over all attempts); n > 1."""
    w = windows(cw_min, attempts)
    p = root(lambda p: 1 - (1 - chain(w, n, p)[0]) ** (n - 1))
    t, q, v = chain(w, n, p)
    collided = sum(x[ANCHOR] * p + x[AFTER_COLLISION] * q for x in v)
    return t, p, q, collided / sum(map(sum, v))


def after_busy(cw_min: int, n: int, attempts: int = MAX_ATTEMPTS) -> float:
    """Collided attempts over attempts."""
    return solve(cw_min, n, attempts)[3] if n > 1 else 0.0


def exact_two(cw_min: int, attempts: int = MAX_ATTEMPTS) -> float:
    """p of two stations, from the whole chain of both: nothing is assumed. No reading of the timeout changes it.

    Between busy periods a state is either (stage, counter) of the one that waits while the other draws for a new MSDU,
    or the stages of both after a collision, when both draw. Power iteration, a step from one busy period to the next.
    """
    w = windows(cw_min, attempts)
    waiting = [[0.0] * wi for wi in w]
    both = [[0.0] * attempts for _ in w]
    both[0][0] = 1.0
    p, before = 0.0, 1.0
    while abs(p - before) > 1e-10:
        waiting, both = cycle(w, waiting, both)
        # A collision is two attempts and leaves both drawing; anything else is one attempt.
        collisions = sum(map(sum, both))
        p, before = 2 * collisions / (1 + collisions), p
    return p


def cycle(w: list[int], waiting: list[list[float]], both: list[list[float]]):
    """One busy period further: the distribution over the states of `exact_two`."""
    new_waiting = [[0.0] * wi for wi in w]
    new_both = [[0.0] * len(w) for _ in w]
    after = [*range(1, len(w)), 0]
    for stage, row in enumerate(waiting):
        for counter, mass in enumerate(row):
            each = mass / w[0]
            for drawn in range(w[0] if each > 0 else 0):
                if drawn < counter:
                    new_waiting[stage][counter - drawn] += each
                elif drawn > counter:
                    new_waiting[0][drawn - counter] += each
                else:
                    new_both[after[0]][after[stage]] += each
    for one, row in enumerate(both):
        for other, mass in enumerate(row):
            each = mass / (w[one] * w[other])
            if each == 0:
                continue
            new_both[after[one]][after[other]] += each * min(w[one], w[other])
            for lead in range(1, w[other]):  # one is first, by so many slots
                new_waiting[other][lead] += each * min(w[one], w[other] - lead)
            for lead in range(1, w[one]):
                new_waiting[one][lead] += each * min(w[other], w[one] - lead)
    return new_waiting, new_both


if __name__ == "__main__":
    print("cw_min   n  bianchi  bianchi, no limit  after busy")
    for cw_min in (15, 31):
        for n in range(1, 51):
            limit, no_limit, ours = bianchi(cw_min, n), bianchi(cw_min, n, 200), after_busy(cw_min, n)
            print(f"{cw_min:6} {n:3} {limit:8.4f} {no_limit:18.4f} {ours:11.4f}")
