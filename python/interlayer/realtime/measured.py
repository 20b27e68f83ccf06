"""Cells of an experiment, measured live: this kernel's TCP in the place of the simulated one, for a recording.

The cell's scenario says what both do. Its bulk transfers become flows of iperf3, and what this kernel can be told of
their transport it is told: the congestion control, the size of datagrams (by the devices' MTU, since `iperf3 -M` takes
none below 88 B), timestamps, and the buffers, as defaults of the hosts. All else of the transport is the kernel's own.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from interlayer import quantity, simulator
from interlayer.errors import InputError, InterlayerError, ProgramError
from interlayer.study.recording import TOLD

from . import plan, session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from interlayer.study.recording import Maker, Wanted

RESULTS_S = 6.0
"""Time for iperf3 to tell its results through the queue of its own flow."""
_TRIES = 3
"""So often a run is made whose program fails, or that is overloaded."""
_HEADERS, _TIMESTAMPS = 40, 12
"""Bytes of a segment that are no payload: IPv4 and TCP, and the option of timestamps. @RFC7323 sec. 3.2"""


def maker(at_once: int = 1) -> Maker:
    """Makes live runs, so many beside each other."""

    def made(wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Mapping[str, Any]]]:
        if not wanted:
            return
        # Processes and not threads: a run's tag names its process.
        with ProcessPoolExecutor(max_workers=at_once, mp_context=get_context("spawn")) as pool:
            asked = {pool.submit(_tried, one.text, one.settings, one.seed): one for one in wanted}
            try:
                for count, done in enumerate(as_completed(asked), 1):
                    print(f"live run {count} of {len(asked)}", file=sys.stderr, flush=True)
                    yield asked[done], done.result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    return made


def _tried(text: str, settings: Sequence[tuple[str, str]], seed: int) -> dict[str, Any]:
    """A run; one whose program fails or that is overloaded is made again."""
    for tries in range(1, _TRIES + 1):
        try:
            row = run(text, settings, seed)
        except ProgramError as e:
            if tries == _TRIES:
                raise InputError(f"live run with seed {seed}: {e}") from e
            print(f"live run with seed {seed}, again: {e}", file=sys.stderr, flush=True)
            continue
        if not row["overloaded"]:
            break
    return row


def run(text: str, settings: Sequence[tuple[str, str]], seed: int) -> dict[str, Any]:
    """One live run of a cell, as a row of a recording. Raises `InputError`, `ProgramError`."""
    scenario = simulator.parse(text, settings)
    effective = json.loads(scenario.effective_json())
    flows = effective["flow"]
    one, told = _told(flows), simulator.tables(text)
    for flow, as_read in zip(told["flow"], flows, strict=True):
        flow |= {"traffic": {"model": "iperf3"}, "start": as_read["start"]}
        flow["transport"] = {**flow.get("transport", {}), "congestion": _name(as_read["transport"]["congestion"])}
    setup = [
        f"ip link set air0 mtu {_bytes(one['datagram'])}",
        f"sysctl -qw net.ipv4.tcp_timestamps={int(one['timestamps'])}",
        f"sysctl -qw net.ipv4.tcp_wmem='4096 16384 {max(16384, _bytes(one['send_buffer']))}'",
        f"sysctl -qw net.ipv4.tcp_rmem='4096 {_bytes(one['receive_buffer'])} {2 * _bytes(one['receive_buffer'])}'",
    ]
    begin, end = (quantity.magnitude(effective["scenario"][key]) for key in ("warmup", "duration"))
    assert begin is not None
    assert end is not None
    order = session.Order(
        commands=[(node, " && ".join(setup)) for node in scenario.nodes],
        seconds=end + RESULTS_S,
        results_s=RESULTS_S,
        seed=seed,
    )
    kept = [(path, value) for path, value in settings if not path.startswith(("flow.", "scenario."))]
    result = session.live(plan.as_text(told), kept, order)
    if len(result.flows) < len(flows):
        missing = len(flows) - len(result.flows)
        raise ProgramError("iperf3", f"{missing} flows have no result: the run ended before them")
    late, row = result.late, {"date": datetime.datetime.now(datetime.UTC).date().isoformat()}
    found: dict[str, Any] = row | {
        "kernel": platform.release(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "scheduling": result.scheduling,
        "seconds": round(result.seconds, 2),
        **{f"late_{key}_us": round(late[f"{key}_s"] * 1e6, 1) for key in ("p50", "p99", "p999")},
        "answer_p50_us": round(result.answers["p50_s"] * 1e6, 1),
        "overloaded": int(result.overloaded),
    }
    for name, flow in zip(scenario.flows, flows, strict=True):
        start = quantity.magnitude(flow["start"]) or 0.0
        found |= _metrics(name, result.flows[name], flow["transport"], begin - start, end - start)
    return found


def _told(flows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The transport that all flows have, of which the kernel is told a part."""
    told = [{key: flow["transport"].get(key) for key in TOLD if key != "congestion"} for flow in flows]
    if any(flow["traffic"]["model"] != "bulk" or flow["transport"]["protocol"] != "tcp" for flow in flows):
        raise InputError("flow: live, an experiment's flows are bulk transfers over TCP")
    if any(one != told[0] for one in told):
        raise InputError(f"flow: live, all flows have the same {', '.join(told[0])}, which the hosts are told")
    return flows[0]["transport"]  # type: ignore[no-any-return]


def _metrics(name: str, report: Any, transport: Mapping[str, Any], begin: float, end: float) -> dict[str, Any]:
    """What was measured of a flow between two instants of its own clock, as the columns of a simulated one."""
    rows = zip(*(report.received[key] for key in ("begin_s", "end_s", "goodput_bps")), strict=True)
    # Not the last row, of what was under way when the sender stopped.
    counted = [(last - first, rate) for first, last, rate in rows if begin - 0.2 < first < end - 0.5]
    if not counted:
        raise InterlayerError("scenario.duration: no whole second of iperf3 is behind the warm-up")
    goodput = sum(span * rate for span, rate in counted) / sum(span for span, _ in counted)
    size = _bytes(transport["datagram"])
    payload = size - _HEADERS - (_TIMESTAMPS if transport["timestamps"] else 0)
    return {
        f"flow.{name}.goodput_bps": round(goodput),
        f"flow.{name}.datagram_throughput_bps": round(goodput * size / payload),
        f"flow.{name}.retransmissions_total": report.retransmits or 0,
    }


def _bytes(value: object) -> int:
    return round(quantity.magnitude(value) or 0)


def _name(congestion: object) -> str:
    """The kernel's name of a congestion control."""
    name = congestion["name"] if isinstance(congestion, dict) else congestion
    return str(name)
