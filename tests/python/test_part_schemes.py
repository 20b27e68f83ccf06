"""Schemes in Python: what they drop, delay and count."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
from interlayer import PartError, Scheme, parts
from python_parts import Thinner, cell, printed

if TYPE_CHECKING:
    from interlayer._core import Node, Packet, Report

pytestmark = pytest.mark.core


def test_a_scheme_drops_and_counts_and_the_books_balance() -> None:
    base = cell("newreno", preset="rfc").set("channel.errors", {"model": "none"})
    result = interlayer.run(base.set("scheme", [{"name": "thinner", "n": 20}]), parts={"thinner": Thinner})
    rows = result.schemes
    assert rows["id"].to_list() == ["thinner@sta1", "thinner@sta2"]
    for row in rows.to_dicts():
        assert row["packets_dropped"] == row["data"] // 20
        assert row["packets_seen"] >= row["data"] > 100
        assert row["packets_delayed"] == 0
    plain = interlayer.run(base)
    assert sum(result.flows["retransmissions"]) > sum(plain.flows["retransmissions"])
    assert result.parts[0].kind == "scheme"
    compared = interlayer.compare(base, "none,thinner:n=20", runs=3, parts={"thinner": Thinner})
    assert compared.difference("thinner:n=20").estimate.mean < 0
    swept = interlayer.sweep(base, {"scheme": ["none", "thinner"]}, runs=2, parts={"thinner": Thinner})
    assert len(swept.cells) == 2


def test_a_scheme_that_only_looks_changes_no_bit() -> None:
    class Looks(Scheme):
        places = parts.PLACES
        attempts = True
        counters = ("delivered", "attempts_failed")

        def __init__(self, node: Node) -> None:
            self.delivered = self.attempts_failed = 0

        def packet(self, place: str, packet: Packet, now_ns: int) -> None:
            assert place in parts.PLACES
            assert packet.size >= packet.payload + 28
            assert (packet.seq is None) == (packet.protocol != "tcp")

        def report(self, packet: Packet, report: Report) -> None:
            assert report.done_ns >= report.enqueued_ns
            self.delivered += report.fate == "delivered"
            self.attempts_failed += report.fate == "attempt"

    base = cell("newreno")
    with_it = base.set("scheme", [{"name": "looks"}]).with_parts({"looks": Looks})
    assert printed(base, 3)[0] == printed(with_it, 3)[0]
    result = interlayer.run(with_it.set("scenario.warmup", "0 s"))
    nodes = {row["id"]: row for row in result.nodes.to_dicts()}
    for row in result.schemes.to_dicts():
        assert row["delivered"] == nodes[row["node"]]["msdus_delivered"]
    assert sum(result.schemes["attempts_failed"]) > 50


def test_a_scheme_delays_packets_which_arrive_so_much_later() -> None:
    # One at a time: a segment of 100 bytes each 20 ms, every one of which waits 5 ms.
    class Late(Scheme):
        places = ("to-air",)

        def packet(self, place: str, packet: Packet, now_ns: int) -> float:
            return 0.005

        @classmethod
        def sits(cls, node: Node) -> bool:
            return node.starts_flows

    base = interlayer.wlan(flow=interlayer.udp("128 B", "40 kb/s"), duration="5 s")
    late = interlayer.run(base.set("scheme", [{"name": "late"}]), parts={"late": Late})
    assert late.schemes["packets_delayed"][0] > 100
    delays = [r.flows["latency_mean_s"][0] for r in (interlayer.run(base), late)]
    assert delays[1] - delays[0] == pytest.approx(0.005, abs=2e-4)


def test_what_a_scheme_must_not_return_is_told() -> None:
    for wrong, said in [
        (True, "TypeError: packet returned True: expected"),
        ("dorp", 'returned "dorp": expected'),
        (-1.0, "a delay of -1 s: from 0"),
        (math.nan, "a delay of NaN s"),
    ]:

        class Wrong(Scheme):
            places = ("to-air",)
            value: Any = wrong

            def packet(self, place: str, packet: Packet, now_ns: int) -> Any:
                return self.value

        with pytest.raises(PartError, match=said):
            interlayer.run(cell("newreno").set("scheme", [{"name": "wrong"}]), parts={"wrong": Wrong})


def test_the_seed_of_a_node_is_fixed_by_run_scheme_and_node() -> None:
    seeds: list[tuple[str, int]] = []

    class Seeded(Scheme):
        places = ("to-air",)

        def __init__(self, node: Node) -> None:
            seeds.append((node.name, node.seed))

        def packet(self, place: str, packet: Packet, now_ns: int) -> None:
            pass

    scenario = cell("newreno").set("scheme", [{"name": "seeded"}]).with_parts({"seeded": Seeded})

    def seeds_at(seed: int) -> dict[str, int]:
        seeds.clear()
        interlayer.run(scenario, seed=seed)
        return dict(seeds)

    one, two = seeds_at(1), seeds_at(2)
    assert one == seeds_at(1)
    assert len(one) == len(set(one.values())) == 3
    assert not set(one.values()) & set(two.values())


def test_a_node_that_dies_gives_up_what_it_delays() -> None:
    class Late(Scheme):
        places = ("to-air",)

        def packet(self, place: str, packet: Packet, now_ns: int) -> float:
            return 0.3

    scenario = (
        interlayer.wlan(flow=interlayer.udp("500 B", "400 kb/s"), duration="5 s")
        .set("scheme", [{"name": "late"}])
        .set("event", [{"at": "4 s", "kill": "sta1"}])
    )
    result = interlayer.run(
        scenario, parts={"late": Late}
    )  # a run checks its books, and fails where they do not balance
    row = result.schemes.row(0, named=True)
    assert row["packets_seen"] == row["packets_delayed"] == pytest.approx(4 * 400e3 / 8 / 472, abs=3)
