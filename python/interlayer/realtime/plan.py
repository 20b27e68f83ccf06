"""A scenario as a live run has it: the flows that real programs are, and the rest for the core.

Two traffic models are programs: `iperf3`, and `command` with `run = "curl …"`. In the core such a flow keeps its place,
so that routes lead to its ends and schemes sit where they would, and says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from interlayer import quantity, simulator, toml_text
from interlayer.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlayer import _core

PROGRAMS = ("iperf3", "command")
"""The traffic models that are programs."""

_LAST_MS = 1
"""When a flow begins that must say nothing, before the end of the run: nobody is left to answer."""

_KEYS = {
    "iperf3": {"model", "bytes", "length", "rate", "run", "ipv6"},
    "command": {"model", "run", "node"},
}


@dataclass(frozen=True)
class LiveFlow:
    """A flow of a scenario that a real program is."""

    name: str
    source: str
    """The node that sends: of a command, the one where it runs."""
    sink: str
    model: str
    udp: bool = False
    ipv6: bool = False
    congestion: str | None = None
    """The kernel's, by name; None: its default."""
    total: int | None = None
    """Bytes to write; None: for as long as the run lasts."""
    length: int | None = None
    rate_bps: float | None = None
    start_s: float = 0.0
    run: str = ""


@dataclass(frozen=True)
class Plan:
    """What a live run is made of."""

    scenario: _core.Scenario
    flows: tuple[LiveFlow, ...]


def read(text: str, overrides: Sequence[tuple[str, str]] = (), seconds: float | None = None) -> Plan:
    """A scenario for the core, and its live flows. `seconds` is how long it lasts, whatever the file says.

    Raises `InputError`.
    """
    given = [*overrides]
    if seconds is not None:
        given.append(("scenario.duration", f'"{seconds * 1000:.0f} ms"'))
    tables = simulator.tables(text)
    listed = tables.get("flow", [])
    if "flow" not in tables:
        return Plan(simulator.parse(as_text(_without_flows(tables)), given), ())
    if not isinstance(listed, list) or not any(_model(flow) in PROGRAMS for flow in listed):
        return Plan(simulator.parse(text, given), ())
    flows = [(i, _flow(i, flow)) for i, flow in enumerate(listed) if _model(flow) in PROGRAMS]
    # The core reads the rest of these flows as those of a bulk transfer, and says what is wrong with it.
    silent = [{**flow, "traffic": {"model": "bulk"}} if _model(flow) in PROGRAMS else flow for flow in listed]
    for flow in silent:
        transport = flow.get("transport")
        if flow.get("traffic") == {"model": "bulk"} and isinstance(transport, dict):
            kept = {key: value for key, value in transport.items() if key not in ("congestion", "protocol")}
            flow["transport"] = kept
    core = as_text({**tables, "flow": silent})
    parsed = simulator.parse(core, given)
    last = f'"{parsed.duration_s * 1000 - _LAST_MS:.0f} ms"'
    quiet = [(f"flow[{i}].start", last) for i, _ in flows] + [(f"flow[{i}].traffic.model", '"none"') for i, _ in flows]
    scenario = simulator.parse(core, [*given, *quiet])
    names = scenario.flows
    return Plan(scenario, tuple(replace(flow, name=names[i]) for i, flow in flows))


def _without_flows(tables: dict[str, Any]) -> dict[str, Any]:
    """A scenario whose traffic is that of programs alone: the core wants a flow, and one of no nodes is none."""
    nodes = tables.get("node")
    if not isinstance(nodes, list):
        return tables
    nobody = {"name": "nobody", "count": 0}
    return {**tables, "node": [*nodes, nobody], "flow": [{"from": "nobody", "to": "nobody"}]}


def twin(text: str) -> str:
    """The same scenario for `interlayer run`: flows of iperf3 are bulk transfers, or datagrams at their rate.

    Raises `InputError` for a command, which nobody but itself can be.
    """
    tables = simulator.tables(text)
    listed = tables.get("flow", [])
    for i, flow in enumerate(listed if isinstance(listed, list) else []):
        if (model := _model(flow)) not in PROGRAMS:
            continue
        live = _flow(i, flow)
        if model == "command":
            raise InputError(f"flow[{i}].traffic.model: a command runs live only; iperf3 has a twin in the simulation")
        if live.udp:
            flow["traffic"] = {"model": "cbr", "rate": flow["traffic"].get("rate", "1 Mb/s")}
        else:
            flow["traffic"] = {"model": "bulk", **({"bytes": flow["traffic"]["bytes"]} if live.total else {})}
    return as_text(tables)


def check_schemes(scenario: _core.Scenario, seed: int, hosts: Sequence[str]) -> None:
    """Raise `InputError` for schemes that need the TCP of the core at a node whose TCP is this kernel's."""
    bound = [(node, scheme) for node, scheme in scenario.bound_to_own_tcp(seed) if node in hosts]
    if bound:
        schemes = ", ".join(sorted({scheme for _, scheme in bound}))
        raise InputError(
            f"scheme {schemes} at node {bound[0][0]}: acts inside the TCP sender, which is this kernel's here; "
            "schemes that read and rewrite packets run live, as lle-tcp does"
        )


def _model(flow: object) -> str:
    traffic = flow.get("traffic") if isinstance(flow, dict) else None
    return str(traffic.get("model", "")) if isinstance(traffic, dict) else ""


def _flow(i: int, flow: Mapping[str, Any]) -> LiveFlow:
    traffic, transport = flow["traffic"], flow.get("transport", {})
    model = str(traffic["model"])
    for key in traffic:
        if key not in _KEYS[model]:
            raise InputError(f"flow[{i}].traffic.{key}: no key of {model}{suggestion(key, sorted(_KEYS[model]))}")
    if model == "command" and not isinstance(traffic.get("run"), str):
        raise InputError(f'flow[{i}].traffic.run: missing; the command, such as run = "curl -s http://{{ap}}:8000/"')
    for key in ("from", "to"):
        if not isinstance(flow.get(key), str):
            raise InputError(f"flow[{i}].{key}: a live flow has one node there")
    if not isinstance(traffic.get("ipv6", False), bool):
        raise InputError(f"flow[{i}].traffic.ipv6: expected true or false; found {traffic['ipv6']!r}")
    congestion = transport.get("congestion") if isinstance(transport, dict) else None
    if congestion is not None and not isinstance(congestion, str):
        raise InputError(f"flow[{i}].transport.congestion: live, a name that the kernel has, or bpf:FILE.o")
    return LiveFlow(
        name="",
        source=flow["from"],
        sink=flow["to"],
        model=model,
        ipv6=bool(traffic.get("ipv6", False)),
        udp=isinstance(transport, dict) and transport.get("protocol") == "udp",
        congestion=congestion,
        total=_int(_number(traffic.get("bytes"), "B", f"flow[{i}].traffic.bytes")),
        length=_int(_number(traffic.get("length"), "B", f"flow[{i}].traffic.length")),
        rate_bps=_number(traffic.get("rate"), "b/s", f"flow[{i}].traffic.rate"),
        start_s=_number(flow.get("start"), "s", f"flow[{i}].start") or 0.0,
        run=str(traffic.get("run", "")),
    )


def _int(value: float | None) -> int | None:
    return None if value is None else round(value)


def _number(value: object, unit: str, where: str) -> float | None:
    if value is None:
        return None
    found = quantity.magnitude(value)
    if found is None or quantity.base_unit(value) != unit:
        raise InputError(f'{where}: expected a value in {unit}, such as "10 {unit}"; found {value!r}')
    return found


def as_text(tables: Mapping[str, Any]) -> str:
    """Tables as TOML, each key of the top on a line."""
    return "".join(f"{toml_text.key(name)} = {toml_text.literal(content)}\n" for name, content in tables.items())
