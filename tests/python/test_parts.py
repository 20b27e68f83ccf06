"""Controllers and schemes in Python: to the bit as Rust's, marked, stored under the hash of their source."""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import interlayer
from interlayer import Controller, InputError, PartError, Scheme, parts, simulator
from interlayer.measure import metrics
from interlayer.study.store import Store

if TYPE_CHECKING:
    from interlayer._core import Ack, Node, Packet, Report, Window

pytestmark = pytest.mark.core


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


class Reno(NewReno):
    """Fast recovery that ends at the first new ACK."""

    recovery = "reno"

    def on_recovered(self, window: Window) -> None:
        window.cwnd = window.ssthresh


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


OPTIONS: list[dict[str, Any]] = [
    {"preset": "rfc"},
    {"preset": "rfc", "byte_counting": 2, "limited_transmit": True},
    {"preset": "rfc", "sack": True, "timestamps": True},
    {"preset": "linux"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options)))
@pytest.mark.parametrize(("rust", "mine"), [("newreno", NewReno), ("newreno", Helped), ("reno", Reno)])
def test_in_python_as_in_rust_to_the_bit(rust: str, mine: type, options: dict[str, Any]) -> None:
    for seed in (1, 2):
        prints, windows = printed(cell(rust, **options), seed)
        again, same = printed(cell("mine", **options).with_parts({"mine": mine}), seed)
        assert prints == again
        assert windows.keys() == same.keys()
        for name, values in windows.items():
            assert np.array_equal(values, same[name], equal_nan=True), name
            assert np.nanmin(values) < np.nanmax(values)


def test_marks_of_ecn_come_to_python_too() -> None:
    """Behind a queue that marks, NewReno of Python is NewReno of Rust."""
    text = """
[scenario]
duration = "8 s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "10 Mb/s"
delay = "10 ms"
queue = { discipline = "codel", packets = 200, ecn = true }
[[flow]]
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc", ecn = true, congestion = "newreno" }
"""
    scenario = interlayer.Scenario(text)
    assert interlayer.run(scenario).flows["ecn_cuts"][0] > 5
    mine = scenario.set("flow.0.transport.congestion", "mine").with_parts({"mine": NewReno})
    assert printed(scenario, 1)[0] == printed(mine, 1)[0]


# ------------------------------------------------------------------------------------------------- what comes and goes


class Told(Controller):
    """Writes down what it is told. Its window is that of two segments for ever."""

    gauges: ClassVar = {"acks": "1", "last_rtt": "s"}
    needs_rate = True
    seen: ClassVar[list[Any]] = []

    def __init__(self, segments: int = 2, paced: bool = False) -> None:
        self.segments, self.paced, self.acks, self.last_rtt = segments, paced, 0, None

    def on_ack(self, ack: Ack, window: Window) -> None:
        self.acks += 1
        self.last_rtt = ack.rtt_s
        self.seen.append((ack.now_ns, ack.number, ack.next, ack.acked, ack.prior_flight, ack.rtt_ns, ack.duplicate))
        assert ack.now_s == ack.now_ns / 1e9
        if ack.rate is not None and ack.rate.bps is not None:
            assert ack.rate.bps == ack.rate.delivered * 8 * 10**9 // ack.rate.interval_ns
        window.cwnd = self.segments * window.mss + 0.9

    def on_congestion(self, why: parts.Why, window: Window) -> None:
        self.seen.append(why)

    def on_sent(self, now_ns: int, size: int, window: Window) -> None:
        self.seen.append(("sent", now_ns, size))

    def pacing_rate(self, window: Window) -> float | None:
        return 1e6 if self.paced else None


def test_what_it_says_of_the_window_is_done_and_parameters_are_the_scenarios() -> None:
    Told.seen = []
    plain = {"name": "told", "segments": 3}
    run = interlayer.run(cell(plain, preset="rfc"), series=True, parts={"told": Told}).runs[0]
    name = run["flows"][0]["id"]
    cwnd = run["series"][f"flow.{name}.cwnd_bytes"]["value"]
    assert set(cwnd) == {3 * 1460.0}, "whole bytes"
    sent = [size for kind, _, size in (s for s in Told.seen if s[0] == "sent")]
    assert len(sent) > 100
    assert set(sent) <= {1460}
    assert "timeout" in Told.seen
    acks = [s for s in Told.seen if isinstance(s[0], int)]
    assert all(acked > 0 and not duplicate for *_, acked, _, _, duplicate in acks)
    gauge = run["series"][f"flow.{name}.told_acks"]["value"]
    assert list(gauge) == sorted(gauge)
    assert gauge[-1] > 100
    assert metrics.read(run, "flow.0.told_last_rtt")[0] == "told_last_rtt_s"
    # A segment of 1460 bytes in 1500 at 1 Mb/s: at most 1e6 / 8 / 1460 a second, each direction of it paced.
    paced = interlayer.run(cell({"name": "told", "segments": 40, "paced": True}), parts={"told": Told})
    assert 0.5e6 < paced.flows["goodput_bps"][0] < 1e6


def test_a_window_is_bounded_and_what_is_no_number_is_the_users_error() -> None:
    class Odd(Helped):
        def on_ack(self, ack: Ack, window: Window) -> None:
            assert window.ssthresh == math.inf or window.ssthresh == int(window.ssthresh) >= 2 * window.mss
            window.cwnd = 0
            assert window.cwnd == 0

    run = interlayer.run(cell("odd", preset="rfc"), series=True, parts={"odd": Odd}).runs[0]
    assert set(run["series"]["flow.flow0.cwnd_bytes"]["value"]) <= {1460.0, 2920.0}, "a segment at least"
    for wrong in (-1.0, math.nan, math.inf, 1e16):

        class Wrong(Helped):
            value = wrong

            def on_ack(self, ack: Ack, window: Window) -> None:
                window.cwnd = self.value

        with pytest.raises(PartError, match="on_ack: ValueError: cwnd = ") as e:
            interlayer.run(cell("wrong"), parts={"wrong": Wrong})
        assert isinstance(e.value.__cause__, ValueError)


def test_an_error_in_the_users_code_ends_the_call_with_its_traceback_and_stores_nothing(tmp_path: Path) -> None:
    class Faulty(Helped):
        def on_congestion(self, why: parts.Why, window: Window) -> None:
            self.missing += 1  # type: ignore[attr-defined]

    store = tmp_path / "runs.store"
    with pytest.raises(PartError) as e:
        interlayer.run(cell("faulty"), seed=7, runs=4, store=store, parts={"faulty": Faulty})
    said = str(e.value)
    assert said.startswith('scenario "wlan", seed ')
    assert 'congestion control "faulty" in Python, on_congestion: AttributeError: ' in said
    assert f"({__file__}, line " in said
    assert "\n" not in said
    assert (e.value.scenario, e.value.status) == ("wlan", 2)
    assert e.value.seed in range(7, 11)
    cause = e.value.__cause__
    assert isinstance(cause, AttributeError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "on_congestion"
    assert not store.exists() or not Store(store).cores() or not Store(store).cores()[0].runs


def test_every_method_that_fails_is_named() -> None:
    def bad(method: str, base: type) -> type:
        def fails(*_: object) -> None:
            raise RuntimeError("on\npurpose")

        return type("Bad", (base,), {method: fails, "places": ("to-air",)})

    for method in ("__init__", "on_ack", "on_congestion", "on_sent", "on_dup_ack", "on_recovered", "pacing_rate"):
        with pytest.raises(PartError, match=f"in Python, {method}: RuntimeError: on purpose "):
            interlayer.run(cell("bad"), parts={"bad": bad(method, Helped)})
    for method in ("packet", "report"):
        with pytest.raises(PartError, match=f'scheme "bad" in Python, {method}: RuntimeError'):
            interlayer.run(cell("newreno").set("scheme", [{"name": "bad"}]), parts={"bad": bad(method, Scheme)})

    class Unborn(Thinner):
        def __init__(self, node: Node) -> None:
            raise RuntimeError(node.name)

    for faulty in (Unborn, bad("sits", Thinner)):  # tried when the scenario is read
        with pytest.raises(PartError, match='scheme "bad" in Python, __init__: RuntimeError') as e:
            interlayer.run(cell("newreno").set("scheme", [{"name": "bad"}]), parts={"bad": faulty})
        assert e.value.seed is None


def test_the_same_seed_gives_the_same_bits_whatever_runs_beside_it() -> None:
    scenario = cell("mine").with_parts({"mine": NewReno})
    alone = [printed(scenario, seed)[0] for seed in (1, 2, 3)]
    assert alone == [printed(scenario, seed)[0] for seed in (1, 2, 3)]
    beside = interlayer.run(scenario, runs=3, jobs=3).flows["goodput_bps"].to_list()
    one = interlayer.run(scenario, runs=3, jobs=1).flows["goodput_bps"].to_list()
    assert beside == one


# -------------------------------------------------------------------------------------------------------- what is wrong


class Nothing(Controller):
    pass


class Typo(Helped):
    def on_dupack(self, ack: Ack, window: Window) -> None:
        pass


class NoDefault(Helped):
    def __init__(self, beta: float) -> None:
        pass


class OddUnit(Helped):
    gauges: ClassVar = {"x": "segment"}


class OddPlace(Scheme):
    places = ("to_air",)

    def packet(self, place: str, packet: Packet, now_ns: int) -> None:
        pass


class Deaf(Scheme):
    pass


class Nowhere(Scheme):
    def packet(self, place: str, packet: Packet, now_ns: int) -> None:
        pass


class Empty(Nowhere):
    places = ()


class Somewhere(Nowhere):
    places = ("to-air",)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("mine", Nothing, 'parts: "mine": Nothing has no method on_ack'),
        ("mine", Controller, "must derive from interlayer.Controller or interlayer.Scheme"),
        ("mine", int, "int must derive from interlayer.Controller"),
        ("mine", Helped(), "no class; give the class itself"),
        ("mi ne", Helped, "parts: 'mi ne' is no name"),
        ("mine", Typo, 'on_dupack is never called; did you mean "on_dup_ack"?'),
        ("mine", NoDefault, "beta of NoDefault.__init__ needs a number, or True or False, as its default"),
        ("mine", OddUnit, 'the gauge x has the unit "segment"; did you mean "segments"?'),
        ("mine", OddPlace, 'no place "to_air"; did you mean "to-air"?'),
        (
            "mine",
            Nowhere,
            'Nowhere has a method packet and no places; add places = ("to-air",), or others of from-host',
        ),
        ("mine", Empty, "Empty has a method packet and no places"),
        ("mine", Deaf, "neither a method packet nor one called report"),
        ("cubic", Helped, 'parts.cubic: congestion control "cubic": there is one of that name already'),
    ],
)
def test_what_is_no_part_is_told(name: str, given: Any, said: str) -> None:
    with pytest.raises(InputError) as e:
        interlayer.run(cell("newreno"), parts={name: given})
    assert said in str(e.value)


def test_a_scheme_may_have_its_places_from_the_class_above() -> None:
    class Below(Somewhere):
        pass

    scenario = cell("newreno").set("scheme", [{"name": "below"}])
    assert interlayer.run(scenario, parts={"below": Below}).schemes["packets_seen"].min() > 0


def test_a_name_that_nobody_gave_is_told_with_those_that_were() -> None:
    with pytest.raises(InputError, match='no congestion control "mnie"; did you mean "mine"'):
        interlayer.run(cell("mnie"), parts={"mine": Helped})
    with pytest.raises(InputError, match="parts: expected names and classes"):
        interlayer.run(cell("mine"), parts=[Helped])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"congestion\.segments: expected a whole number"):
        interlayer.run(cell({"name": "told", "segments": "many"}), parts={"told": Told})


# ------------------------------------------------------------------------------------------------------ marks and store


def test_a_run_with_a_part_says_so_in_every_form(tmp_path: Path) -> None:
    result = interlayer.run(cell("mine"), series=True, parts={"mine": NewReno, "unused": Helped})
    (part,) = result.parts
    assert (part.name, part.kind, len(part.source_hash or "")) == ("mine", "congestion control", 16)
    mark = f"In Python: congestion control mine (source {part.source_hash})"
    assert mark in str(result)
    assert mark in result._repr_html_()
    result.save(tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert mark in page
    said = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    assert said["parts"] == [part.as_json()]
    compared = interlayer.compare(
        cell("mine"), arms={"rust": {"flow.*.transport.congestion": "newreno"}}, runs=2, parts={"mine": NewReno}
    )
    assert [p.name for p in compared.parts] == ["mine"]
    assert mark in str(compared)
    assert compared.difference("rust").estimate.mean == 0.0
    swept = interlayer.sweep(
        cell("mine"), {"flow.*.transport.congestion": ["mine", "reno"]}, runs=2, parts={"mine": NewReno}
    )
    assert mark in str(swept)
    none = interlayer.run(cell("newreno"), parts={"mine": NewReno})
    assert none.parts == ()
    assert "In Python" not in str(none)
    assert "parts" not in none._json


def module(path: Path, text: str) -> Any:
    """A module of this text."""
    import linecache

    path.write_text(textwrap.dedent(text))
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


SOURCE = """
    import interlayer

    BETA = 0.5

    def cut(window):
        window.cut_flight_to(BETA)

    class Mine(interlayer.Controller):
        def on_ack(self, ack, window):
            window.slow_start(ack)

        def on_congestion(self, why, window):
            cut(window)
"""


def hash_of(cls: type) -> str | None:
    return parts.parts({"mine": cls})[0].source_hash


def test_the_hash_is_that_of_the_source_and_of_what_it_refers_to(tmp_path: Path) -> None:
    first = hash_of(module(tmp_path / "one.py", SOURCE).Mine)
    assert first is not None
    assert hash_of(module(tmp_path / "other.py", SOURCE).Mine) == first, "wherever it stands"
    assert hash_of(module(tmp_path / "moved.py", "\n\nUNUSED = 3\n" + textwrap.dedent(SOURCE)).Mine) == first
    for old, new in [("BETA = 0.5", "BETA = 0.7"), ("cut_flight_to(BETA)", "cut_to(BETA)"), ("slow_start", "deflate")]:
        assert hash_of(module(tmp_path / "two.py", SOURCE.replace(old, new)).Mine) != first, new
    changed = module(tmp_path / "three.py", SOURCE).Mine
    changed.recovery = "reno"
    assert hash_of(changed) != first
    # A file that was edited after it was imported: the text is another's, the code that runs is not.
    stale = module(tmp_path / "four.py", SOURCE).Mine
    (tmp_path / "four.py").write_text(textwrap.dedent(SOURCE.replace("cut_flight_to(BETA)", "cut_to(BETA)")))
    fresh = module(tmp_path / "five.py", SOURCE.replace("cut_flight_to(BETA)", "cut_to(BETA)")).Mine
    assert hash_of(stale) not in (first, hash_of(fresh))


def test_what_has_no_source_or_refers_to_what_is_no_value_has_no_hash(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(textwrap.dedent(SOURCE), names)
    assert hash_of(names["Mine"]) is None
    opened = SOURCE.replace("BETA = 0.5", "BETA = object()")
    assert hash_of(module(tmp_path / "six.py", opened).Mine) is None

    def factory(beta: Any) -> type:
        class Closed(Helped):
            def on_congestion(self, why: parts.Why, window: Window) -> None:
                window.cut_flight_to(beta)

        return Closed

    assert hash_of(factory(0.5)) == hash_of(factory(0.5))
    assert hash_of(factory(0.5)) not in (None, hash_of(factory(0.7)))
    assert hash_of(factory(iter([]))) is None


def test_a_store_finds_a_run_under_the_hash_of_the_source_alone(tmp_path: Path, monkeypatch: Any) -> None:
    store, made = tmp_path / "runs.store", [0]
    stream = simulator.stream

    def counted(tasks: Any, **options: Any) -> Any:
        for found in stream(tasks, **options):
            made[0] += 1
            yield found

    monkeypatch.setattr(simulator, "stream", counted)

    def run(cls: type, name: str = "mine") -> int:
        made[0] = 0
        interlayer.run(cell("mine"), runs=2, store=store, parts={name: cls})
        return made[0]

    first = module(tmp_path / "seven.py", SOURCE).Mine
    assert [run(first), run(first)] == [2, 0]
    assert run(module(tmp_path / "eight.py", SOURCE).Mine) == 0, "the same source"
    assert run(module(tmp_path / "nine.py", SOURCE.replace("0.5", "0.6")).Mine) == 2
    unknown: dict[str, Any] = {}
    exec(textwrap.dedent(SOURCE), unknown)
    assert [run(unknown["Mine"]), run(unknown["Mine"])] == [2, 2], "nothing of it is stored"
    said = str(interlayer.run(cell("mine"), store=store, parts={"mine": unknown["Mine"]}))
    assert "In Python: congestion control mine (source unknown, so not stored)" in said
    # The key of a scenario without parts is what it was.
    made[0] = 0
    interlayer.run(cell("newreno"), store=store)
    interlayer.run(cell("newreno"), store=store, parts={"mine": first})
    assert made[0] == 1


# -------------------------------------------------------------------------------------------------------------- schemes


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


# ------------------------------------------------------------------------------------------------- where a run is ended


def test_who_drops_a_runner_does_not_wait_for_a_thread_that_waits_for_python() -> None:
    """In a process of its own: a deadlock would be that of the tests."""
    code = """
import time
from interlayer import _core, wlan, tcp, Controller

class Slow(Controller):
    def on_ack(self, ack, window):
        sum(range(100))
    def on_congestion(self, why, window):
        pass

scenario = wlan(flow=tcp("slow"), duration="100000 s").with_parts({"slow": Slow})._parse()
for way in ("stop", "drop"):
    runner = _core.Runner(jobs=2)
    for seed in (1, 2):
        runner.submit(scenario, seed)
    time.sleep(0.3)
    if way == "stop":
        runner.stop()
    del runner
    print(way, flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stop\ndrop\n", "")


@pytest.mark.parametrize("loop", ["sum(range(100))", "while True: pass", "time.sleep(0.6)"])
def test_ctrl_c_ends_a_run_that_is_in_python_and_the_process_after_it(loop: str) -> None:
    code = f"""
import os, signal, threading, time
import interlayer

class Slow(interlayer.Controller):
    def on_ack(self, ack, window):
        try:
            {loop}
        except Exception:
            pass
    def on_congestion(self, why, window):
        pass
    def on_sent(self, now_ns, size, window):
        global soon
        if soon:
            soon.start()
            soon = None

soon = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
try:
    interlayer.run(interlayer.wlan(flow=interlayer.tcp("slow"), duration="100000 s"), parts={{"slow": Slow}})
except interlayer.Interrupted as e:
    print(e.result)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")


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


def test_connections_of_users_have_controllers_of_their_own() -> None:
    made: list[int] = []

    class Counted(Helped):
        def __init__(self) -> None:
            made.append(1)

    flow = interlayer.tcp("counted", preset="rfc")
    web = {"model": "http", "page_every": "1 s", "objects": 3, "object_size": "20 kB", "connections": 2}
    scenario = interlayer.wlan(ap=True, stations=1, flow=flow, traffic=web, duration="8 s")
    mine = interlayer.run(scenario, parts={"counted": Counted})
    assert len(made) > 4
    rust = interlayer.run(scenario.set("flow.0.transport.congestion", "newreno"))
    assert mine.flows.equals(rust.flows)


@pytest.mark.parametrize("base", [Controller, Scheme])
def test_help_and_the_page_have_a_line_on_each_attribute(base: type) -> None:
    page = (Path(__file__).parents[2] / "docs/python-controllers.md").read_text("utf-8")
    lines = (inspect.getdoc(base) or "").splitlines()
    for name in base.__annotations__:
        at = lines.index(f"{name} = {getattr(base, name)!r}".replace("'", '"'))
        assert lines[at + 1].startswith("    "), name
        assert f"`{name}`" in page, name
