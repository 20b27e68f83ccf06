"""The base station's experiments over the compiled core: what their arithmetic says must be seen in the runs."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

import interlayer
from interlayer.study import expression, library

pytestmark = pytest.mark.core

ONE = library.folder() / "kliazovich-2006/cells/infrastructure-80211b.toml"
TEN = library.folder() / "kliazovich-2006/cells/infrastructure-80211b-ten.toml"
WIDE = {
    "flow.0.transport.max_window": 10000,
    "flow.0.transport.send_buffer": "1 MB",
    "flow.0.transport.receive_buffer": "1 MB",
    "flow.0.transport.window_scale": "auto",
}
"""A sender and a receiver that would fill any buffer of the base station."""


def lle(advertise: str = "receiver") -> dict[str, object]:
    return {"scheme": [{"name": "lle-tcp", "advertise": advertise}]}


def run(base: Any, changes: dict[str, object], seconds: int, warmup: int = 0, runs: int = 3) -> interlayer.Result:
    scenario = interlayer.load(base).set("scenario.duration", f"{seconds} s").set("scenario.warmup", f"{warmup} s")
    for path, value in changes.items():
        scenario = scenario.set(path, value)
    return interlayer.run(scenario, runs=runs)


@pytest.mark.parametrize(("datagram", "exchange_us"), [("1000 B", 1619.7), ("1500 B", 1983)])
def test_behind_a_wire_a_segment_of_lle_tcp_is_still_one_exchange(datagram: str, exchange_us: float) -> None:
    # 192 us, 8/11 us for each of datagram + 36 B (rounded up), SIFS 10, ACK 304, DIFS 50, mean backoff 310.
    r = run(ONE, lle("free-buffer") | {"flow.0.transport.datagram": datagram}, 12, warmup=2)
    bits = 8 * float(datagram.removesuffix(" B"))
    assert r.estimate("flow.0.datagram_throughput").mean == pytest.approx(1e6 * bits / exchange_us, rel=5e-3)


def test_ns_2s_window_of_20_cannot_overflow_50_packets_whoever_controls_it() -> None:
    for changes in ({}, lle(), lle("free-buffer")):
        r = run(ONE, changes, 10)
        assert r.sample("queue.ap.air.dropped").tolist() == [0, 0, 0]
        assert max(r.sample("queue.ap.air.max_packets_total")) <= 20


def test_a_window_of_what_is_free_leaves_half_of_the_buffer_empty_and_loses_nothing() -> None:
    r = run(ONE, WIDE | lle("free-buffer"), 12, warmup=2)
    # 1.027 = 1500/1460 of 50 - Q in segments, one of them on the air and two on the wire: Q = (1.027 * 50 - 3)/2.027.
    assert r.estimate("queue.ap.air.mean_packets").mean == pytest.approx(23.86, abs=1)
    whole = run(ONE, WIDE | lle("free-buffer"), 10)
    assert whole.sample("queue.ap.air.dropped").tolist() == [0, 0, 0]


@pytest.mark.parametrize("changes", [{}, lle()], ids=["reno", "lle-tcp"])
def test_without_control_the_same_window_overflows_the_buffer(changes: dict[str, object]) -> None:
    r = run(ONE, WIDE | changes, 10)
    assert min(r.sample("queue.ap.air.dropped")) > 0
    assert max(r.sample("queue.ap.air.max_packets_total")) == 50


def test_ten_flows_told_their_share_lose_nothing_and_divide_the_channel_evenly() -> None:
    r = run(TEN, lle("free-buffer-share") | {"flow.*.transport.datagram": "1000 B"}, 25, warmup=5)
    assert r.sample("queue.ap.air.dropped").tolist() == [0, 0, 0]
    assert min(r.sample("jain(flow.*.datagram_throughput)")) > 0.999
    # A tenth of 8000 bits in 1619.7 us.
    assert r.estimate("mean(flow.*.datagram_throughput)").mean == pytest.approx(0.4939e6, rel=5e-3)


def test_ten_flows_told_the_whole_buffer_overflow_it_though_each_obeys() -> None:
    # 10 windows of 20 segments are 200 packets; the buffer has 50.
    r = run(TEN, lle("free-buffer"), 15)
    assert min(r.sample("queue.ap.air.dropped")) > 0
    assert max(r.sample("jain(flow.*.datagram_throughput)")) < 0.999


def formulas(name: str) -> dict[str, float]:
    """The arithmetic among the evidence of an experiment, by its text."""
    e = library.load(name)
    found = [x for claim in e.claims for x in claim.evidence if x.formula]
    return {x.text: expression.evaluate(x.formula, dict(x.constants)) for x in found}


def test_the_printed_finishing_times_and_bytes_exclude_each_other() -> None:
    worked = formulas("lle-fig-3.17")
    # 9.5 MB in 13 s are 5.85 Mb/s; 2 MB at 0.30 Mb/s take 53 s, at 0.54 Mb/s 30 s; 29.5 MB in 100 s are 2.36 Mb/s.
    for value in (5.846, 53.33, 29.63, 2.36):
        assert any(found == pytest.approx(value, rel=1e-3) for found in worked.values())
    (after,) = (d.quantity.formula for d in library.load("lle-fig-3.17").derived if d.quantity.is_computed)
    assert after is not None
    assert expression.evaluate(after.text, dict(after.constants)) == pytest.approx(18.26, abs=0.01)


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("lle-fig-3.14", 2),
        ("lle-fig-3.15", 2),
        ("lle-fig-3.16-fairness", 2),
        ("lle-fig-3.16-coexistence", 4),
        ("lle-fig-3.17", 6),
    ],
)
def test_no_claim_of_the_list_is_left_out(name: str, claims: int) -> None:
    e = library.load(name)
    assert [claim.id for claim in e.claims] == [f"{name}#{n + 1}" for n in range(claims)]


def test_the_two_bases_differ_in_their_stations_and_length_only() -> None:
    one, ten = (tomllib.loads(path.read_text()) for path in (ONE, TEN))
    for key in ("radio", "channel", "link"):
        assert one[key] == ten[key]
    assert [flow["transport"] for flow in ten["flow"]] == 10 * [one["flow"][0]["transport"]]
    assert len({flow["to"] for flow in ten["flow"]}) == 10
