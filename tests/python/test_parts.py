"""Controllers in Python: to the bit as Rust's; mistakes in them and in schemes; the end of their runs."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import interlayer
from interlayer import Controller, InputError, PartError, Scheme, parts
from interlayer.measure import metrics
from interlayer.study.store import Store
from python_parts import Helped, NewReno, Thinner, cell, printed

if TYPE_CHECKING:
    from interlayer._core import Ack, Node, Packet, Window

pytestmark = pytest.mark.core


class Reno(NewReno):
    """Fast recovery that ends at the first new ACK."""

    recovery = "reno"

    def on_recovered(self, window: Window) -> None:
        window.cwnd = window.ssthresh


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
