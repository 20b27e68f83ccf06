"""AODV in networks that stand and move, ours against stored runs of ns-3.

Shares delivered and control packets of CBR alone are within 10 %, as far as intervals tell, or so by the ways of ns-3's
agent. With a TCP flow beside they come near it by those ways alone (README.md).
"""

from __future__ import annotations

from functools import cache

import compare
import pytest
import routes

REFERENCE = routes.reference()
AIM = 0.10
# RFC 3561 6.11 counts numbers of routes that end up, ns-3 does not: its relays answer where ours pass a request on.
BY_ITS_WAYS = {("mobile", "cbr", "rreq"), ("mobile", "cbr", "rrep")}
# With a TCP flow beside, by its ways: measured 0.37 at most, 1.7 by the RFC's.
NEAR = 0.4


@cache
def pooled(kind: str, load: str, *overrides: tuple[str, str]) -> dict[str, compare.Pair]:
    theirs = {n: runs for n, runs in REFERENCE.items() if (n.kind, n.load) == (kind, load)}
    return routes.pooled(kind, load, theirs, {n: routes.ours(n, overrides=list(overrides)) for n in theirs})


def is_within(pair: compare.Pair) -> bool:
    return abs(pair.difference) - pair.half_width <= AIM


@pytest.mark.parametrize("kind", ["static", "mobile"])
@pytest.mark.parametrize("what", routes.QUANTITIES)
def test_cbr_alone_is_within_ten_per_cent_or_so_by_the_ways_of_its_agent(kind: str, what: str) -> None:
    by_rfc, by_its_ways = pooled(kind, "cbr")[what], pooled(kind, "cbr", routes.WAYS)[what]
    assert is_within(by_its_ways), (what, by_its_ways.difference, by_its_ways.half_width)
    assert is_within(by_rfc) != ((kind, "cbr", what) in BY_ITS_WAYS), (what, by_rfc.difference)


@pytest.mark.parametrize("kind", ["static", "mobile"])
@pytest.mark.parametrize("what", ["rreq", "rrep", "rerr"])
def test_with_tcp_beside_control_packets_come_near_by_the_ways_of_its_agent(kind: str, what: str) -> None:
    by_rfc, by_its_ways = pooled(kind, "cbr+tcp")[what], pooled(kind, "cbr+tcp", routes.WAYS)[what]
    assert not is_within(by_rfc), (what, by_rfc.difference)
    assert abs(by_its_ways.difference) <= NEAR, (what, by_its_ways.difference)


@pytest.mark.parametrize("kind", ["static", "mobile"])
def test_with_tcp_beside_as_much_is_delivered(kind: str) -> None:
    assert is_within(pooled(kind, "cbr+tcp")["delivery"])
