"""A stand-in for the compiled core: a test double with its interface and none of its physics.

Throughput is simple arithmetic on a scenario's settings plus noise by seed, so that tests know what must come out.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

try:
    from interlayer import _core as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]


class InputError(ValueError):
    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class PartError(Exception):
    pass


Model = Callable[[dict[str, Any], np.random.Generator], dict[str, Any]]
"""Columns of every flow; under "flows" a list of those of each."""


@dataclass(frozen=True)
class Scenario:
    data: dict[str, Any]

    @staticmethod
    def parse(text: str, overrides: Sequence[tuple[str, str]] = (), parts: Sequence[object] = ()) -> Scenario:
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as e:
            raise InputError(str(e)) from e
        for path, value in overrides:
            try:
                new = tomllib.loads(f"x = {value}")["x"]
            except tomllib.TOMLDecodeError:
                new = value
            _replace(data, path, new)
        known = {"scenario", "radio", "channel", "node", "flow", "scheme", "event"}
        for key in data:
            if key not in known:
                raise InputError(f'{key}: unknown key; did you mean "{min(known)}"?', key)
        return Scenario(data)

    name = property(lambda self: self.data.get("scenario", {}).get("name", ""))
    duration_s = property(lambda self: 30.0)
    warmup_s = property(lambda self: 5.0)
    parts = property(lambda self: [])
    notes = property(lambda self: [])
    run_bytes = property(lambda self: 1000 * len(self.nodes) ** 2)
    source = property(lambda self: (json.dumps(self.data), []))
    seed = property(lambda self: self.data.get("scenario", {}).get("seed", 1))

    def to_json(self) -> str:
        return json.dumps(self.data)

    def effective_json(self) -> str:
        return self.to_json()

    nodes = property(lambda self: [n["name"] for n in self.data.get("node", [])])
    flows = property(lambda self: [f.get("name", f"flow{i}") for i, f in enumerate(self.data.get("flow", []))])


def _replace(data: Any, path: str, value: Any) -> None:
    if "*" in (steps := path.split(".")):
        array, rest = steps[0], steps[2:]
        for i in range(len(data[array])):
            _replace(data, ".".join([array, str(i), *rest]), value)
        return
    *parents, last = path.split(".")
    for part in parents:
        data = data[int(part)] if part.isdecimal() else data.setdefault(part, {})
    if last == "+":
        data.append(value)
        return
    data[int(last) if last.isdecimal() else last] = value


def airtime_model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Datagram throughput in b/s from exchange times in us, with some parts in a thousand of noise.

    Half the noise is the seed's own, the same for all arms; half is new for each, as in a simulator with common seeds.
    """
    transport = data["flow"][0]["transport"]
    size = float(transport["datagram"].removesuffix("B"))
    rts = 0.0 if data["radio"].get("rts_threshold", "off") == "off" else 676.0
    per = data.get("channel", {}).get("errors", {}).get("per", 0.0)
    acks = 0.0 if data.get("scheme") else 1.0 if transport["receiver"] == "every" else 0.5
    per_segment = (rts + 576.4 + 8 * size / 11 + 310 + acks * 750) / (1 - per)
    own = np.random.default_rng([int(1000 * per_segment), int(1e6 * rng.random())]).standard_normal()
    return {"datagram_throughput_bps": 8e6 * size / per_segment * (1 + 1e-3 * (rng.standard_normal() + own))}


def queue(name: str, dropped: int) -> dict[str, Any]:
    return {
        "id": name,
        "offered_packets": 1000,
        "departed_packets": 1000 - dropped,
        "dropped_packets": dropped,
        "dropped_early_packets": 0,
        "marked_packets": 0,
        "mean_packets": 12.5,
        "max_packets": 50,
        "mean_wait_s": 0.025,
    }


CLASSES = ["tcp-data", "tcp-ack", "tcp-control", "udp", "other", "rts", "cts", "ack"]
OUTCOMES = ["received", "captured", "noise", "collision", "half-duplex", "out-of-reach", "group", "in-the-air"]
CAUSES = ["noise", "data-ack", "ack-data", "data-data", "ack-ack", "rts", "other", "half-duplex"]


def timeline(scenario: Scenario, window: tuple[int, int]) -> dict[str, Any]:
    """A data frame and its ACK every ms of the window; every fifth data frame is lost to noise and sent no ACK."""
    begins = range(window[0], window[1], 1_000_000)
    lost = [i % 5 == 4 for i in range(len(begins))]
    frames = [(at, 300_000, 0, 1, 0, 2 if no else 0) for at, no in zip(begins, lost, strict=True)]
    frames += [(at + 310_000, 20_000, 1, 0, 7, 0) for at, no in zip(begins, lost, strict=True) if not no]
    names = ("start_ns", "airtime_ns", "from", "to", "class", "outcome")
    columns = {name: np.array(column) for name, column in zip(names, zip(*sorted(frames), strict=True), strict=True)}
    some = columns["class"] == 0
    columns["cause"] = np.where(columns["outcome"] == 2, 0, -1)
    for name in ("overlap_from", "overlap_class", "overlap_ns", "category", "user_priority"):
        columns[name] = np.full(len(frames), -1)
    for name in ("seq", "flow", "serial", "tcp_seq", "tcp_ack"):
        columns[name] = np.where(some, 0, -1)
    columns["mpdus_received"] = (columns["outcome"] == 0).astype(int)
    for name, value in (("mpdus", 1), ("rate_bps", 54_000_000), ("duration_ns", 0), ("mpdu_bytes", 1536)):
        columns[name] = np.full(len(frames), value)
    columns["attempt"], columns["payload_bytes"] = np.where(some, 1, -1), np.where(some, 1460, -1)
    columns["is_retry"] = columns["is_reverse"] = np.zeros(len(frames), dtype=bool)
    columns["power_mw"] = columns["tx_power_dbm"] = np.full(len(frames), np.nan)
    return {
        "from_s": window[0] / 1e9,
        "until_s": window[1] / 1e9,
        "missed": 0,
        "nodes": scenario.nodes,
        "has_radio": [True] * len(scenario.nodes),
        "flows": scenario.flows,
        "classes": CLASSES,
        "outcomes": OUTCOMES,
        "causes": CAUSES,
        "lost_mpdus": [""] * len(frames),
        "columns": columns,
    }


class Runner:
    def __init__(
        self,
        core: Core,
        *,
        jobs: int = 0,
        pcap_dir: str | None = None,
        series: bool = False,
        timeline: tuple[int, int] | None = None,
        scene: bool = False,
    ) -> None:
        self.core, self.pcap_dir, self.series, self.timeline = core, pcap_dir, series, timeline
        self.jobs = jobs or 2
        self.waiting: dict[int, tuple[Scenario, int]] = {}
        self.done = 0
        self.is_stopped = False

    @property
    def pending(self) -> int:
        return len(self.waiting)

    def submit(self, scenario: Scenario, seed: int) -> int:
        number = self.core.batches[-1]
        self.core.batches[-1] += 1
        self.waiting[number] = (scenario, seed)
        self.core.most_pending = max(self.core.most_pending, self.pending)
        return number

    def reached_s(self) -> list[tuple[int, float]]:
        return [(number, 0.0) for number in self.waiting]

    def next(self, patience_s: float | None = None) -> tuple[int, dict[str, Any] | str] | None:
        if not self.waiting:
            return None
        if self.core.stop_after is not None and self.done >= self.core.stop_after:
            raise KeyboardInterrupt
        number = self.core.order(list(self.waiting))
        scenario, seed = self.waiting.pop(number)
        self.done += 1
        if number in self.core.fails:
            return number, "panicked: attempt to\nsubtract with overflow (crates/mac/src/station/mod.rs:7)"
        if self.pcap_dir is not None:
            for node in scenario.nodes:
                Path(self.pcap_dir, f"{node}-{seed}.pcapng").write_bytes(b"capture")
        return number, self.core.one(scenario, seed, self.series, self.timeline)

    def threads(self) -> list[int]:
        return []

    def stop(self) -> None:
        self.is_stopped = True


class Core:
    """The module's functions over a `model`. `batches` has the number of runs submitted to each runner.

    `stop_after` makes a runner end as Ctrl-C would, `fails` are tasks that fail, `order` chooses which task that is
    pending finishes next.
    """

    def __init__(self) -> None:
        self.model: Model = airtime_model
        self.stop_after: int | None = None
        self.fails: set[int] = set()
        self.order: Callable[[list[int]], int] = min
        self.queues: dict[str, int] | None = None  # packets dropped by queue; None: a core without the table
        self.batches: list[int] = []
        self.most_pending = 0

    def runner(self, **options: Any) -> Runner:
        self.batches.append(0)
        return Runner(self, **options)

    def one(self, scenario: Scenario, seed: int, series: bool, window: tuple[int, int] | None = None) -> dict[str, Any]:
        found = self.model(scenario.data, np.random.default_rng(seed))
        flows = []
        each = found.pop("flows", [{}] * len(scenario.flows))
        for name, flow, own in zip(scenario.flows, scenario.data.get("flow", []), each, strict=True):
            row = {"id": name, "from": flow["from"], "to": flow["to"], "protocol": "tcp"}
            row |= {
                "goodput_bps": found.get("datagram_throughput_bps", 0.0) * 0.97,
                "retransmissions": 3,
                "timeouts": 0,
            }
            flows.append(row | {"rtt_mean_s": 0.02} | found | own)
        return {
            "seed": seed,
            "sim_s": 0.001,
            "simulated_s": 30.0,
            "warmup_s": 2.0,
            "events": 10,
            "exchanges": 5,
            "flows": flows,
            "nodes": [{"id": n, "queue_drops": 0} for n in scenario.nodes],
            "frames": [{"class": "data", "count": 5}],
            "schemes": [{"id": f"{s['name']}@sender", "scheme": s["name"]} for s in scenario.data.get("scheme", [])],
            **({} if self.queues is None else {"queues": [queue(*one) for one in self.queues.items()]}),
            "summary": {"goodput_bps": sum(f["goodput_bps"] for f in flows), "jain": 1.0},
            "fingerprint": None,
            "series": {f"flow.{scenario.flows[0]}.cwnd_bytes": {"t_s": np.arange(5.0), "value": np.arange(5.0)}}
            if series
            else None,
            "timeline": None if window is None else timeline(scenario, window),
        }

    def registry(self, kind: str) -> list[dict[str, str]]:
        return [{"id": "lle-tcp", "summary": "the data sender makes its ACKs", "source": "K06"}]

    @classmethod
    def installed(cls, monkeypatch: pytest.MonkeyPatch) -> Core:
        """A double that the package runs over, until what has been patched is put back."""
        import interlayer

        double = cls()
        module = double.module()
        monkeypatch.setitem(sys.modules, "interlayer._core", module)
        monkeypatch.setattr(interlayer, "_core", module, raising=False)
        return double

    def module(self) -> ModuleType:
        found = ModuleType("interlayer._core")
        found.__dict__.update(
            __version__="0.0.0-fake",
            InputError=InputError,
            outside=None,
            PartError=PartError,
            Scenario=Scenario,
            parse=Scenario.parse,
            Runner=self.runner,
            __file__=__file__,
            registry=self.registry,
            metrics=compiled.metrics if compiled else list,
            absent=lambda noun, name: f'{noun} "{name}" is not modelled yet' if name == "c3tcp" else None,
            schema=lambda: "{}",
        )
        return found
