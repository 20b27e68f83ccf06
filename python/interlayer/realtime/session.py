"""A live run from beginning to end: hosts, the loop, programs, what is seen meanwhile, and the result."""

from __future__ import annotations

import os
import platform
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlayer import simulator
from interlayer.errors import InputError, OutputError, ProgramError

from . import hosts as made
from . import kernel_control, plan, remote
from .programs import Command, Iperf3, Programs, Report, listening
from .sockets import Sampler

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlayer import _core

    from .hosts import Host
    from .programs import Program

PRIORITY = 10
"""Of the loop's thread under SCHED_FIFO: before programs, behind what the kernel has at 50 and above."""
SPIN_NS = 120_000
"""For how long the loop looks at the clock at most before something is due.

In one case of a hundred a thread that sleeps wakes some 100 to 700 us late on a virtual machine, one that looks is some
50 us late (validation/linux/README.md). With 60 us and with 120 lateness was compared there; 200 brings no more.
"""
LONG_S = 24 * 3600.0
"""How long a run lasts that ends with its programs, at most."""
_DRAIN_S = 3.0
"""How long a run goes on for flows of iperf3 whose last bytes are still in a queue, at most."""
_TICK_S = 0.1
_LISTEN_S = 3.0
"""How long a command that is waited for waits for those beside it to listen, at most.

Three starts of Python on a busy machine; one that never listens delays the others by no more."""


@dataclass(frozen=True)
class Order:
    """What a live run is asked for beside its scenario."""

    commands: Sequence[tuple[str, str | Sequence[str]]] = ()
    """Programs beside those of the scenario's flows: node, and a text for the shell or a list of arguments."""
    at: tuple[str, Sequence[str]] | None = None
    """A node and the command that somebody waits for: the run ends with it, whatever else goes on."""
    shell: str | None = None
    """A node where somebody works at this terminal: the run ends with the shell."""
    seconds: float | None = None
    """How long it lasts; None: until all programs have ended, or as long as the scenario says if there are none."""
    seed: int | None = None
    results_s: float = 1.0
    """Time at the end in which flows of iperf3 send no more, and tell their results through the same queues."""
    fifo: bool = True
    """Take SCHED_FIFO for the loop, where it is allowed; without it a measurement shows what that is worth."""
    sockets: bool = False
    """Ask each host's kernel for its TCP sockets every 100 ms."""
    record: Path | None = None
    pcap: Path | None = None
    to_terminal: bool = False
    """What programs print goes to this process's own output."""


@dataclass(frozen=True)
class LiveResult:
    """What became of a live run."""

    scenario: str
    seed: int
    seconds: float
    kernel: str
    scheduling: str
    """`fifo`, or `other` where that was not allowed."""
    late: Mapping[str, Any]
    """Wall clock minus model time of every packet that a host was given.

    `count`, `p50_s`, `p99_s`, `p999_s`, `max_s`, and `buckets`: the longest of each size, and how many there were.
    """
    first: Mapping[str, Any]
    """The same of the first packet of each burst: what is behind it is due at the same instant, and waits for it."""
    answers: Mapping[str, Any]
    """Time from a packet's arrival in the model to what its host sends next: what loop and kernel cost; likewise."""
    behind: Mapping[str, Any]
    """How late the loop looked at what was due next; likewise."""
    overloaded: bool
    """More than 1 % of the packets were more than 5 ms late: no verdict may rest on it."""
    busy: float
    """The share of a core that the loop took."""
    packets: Mapping[str, int]
    """What hosts sent, by what became of it."""
    conversations: Sequence[Mapping[str, Any]]
    flows: Mapping[str, Report]
    """Of the scenario's live flows with iperf3."""
    outputs: Mapping[str, str]
    """What commands of flows have printed."""
    run: Mapping[str, Any]
    """The tables of a simulated run: its flows are the neighbours, its nodes, queues and frames are all."""
    series: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """A row each 100 ms: `time_s`, for each host `sent_bps.NAME`, `got_bps.NAME`, `backlog.NAME`, …; `late_p99_s`."""
    sockets: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """What `ss -ti` said of TCP sockets: `time_s`, `host`, `local`, `remote`, `cwnd_packets`, …"""

    def to_json(self) -> dict[str, Any]:
        """The result for files: `flows` by name, no series of 100 ms (they are columns of their own)."""
        flows = {name: report.__dict__ for name, report in self.flows.items()}
        kept = (
            "scenario",
            "seed",
            "seconds",
            "kernel",
            "scheduling",
            "late",
            "first",
            "answers",
            "behind",
            "overloaded",
            "busy",
            "packets",
        )
        found = {name: getattr(self, name) for name in kept}
        rest = ("conversations", "outputs", "run", "series", "sockets")
        return {"live": found | {"flows": flows} | {name: getattr(self, name) for name in rest}}


Watch = "Callable[[Mapping[str, Any]], None]"


def live(
    text: str,
    overrides: Sequence[tuple[str, str]] = (),
    order: Order | None = None,
    watch: Callable[[str], None] | None = None,
) -> LiveResult:
    """Run a scenario live. `watch` is told a line a second.

    Raises `InputError` for what cannot be run, here or at all, `ProgramError` if a program fails, `OutputError`.
    Afterwards no namespace, device or process of it is left, however it ends.
    """
    order = order or Order()
    has_end = order.seconds is not None or not (order.commands or order.at or order.shell)
    own_s = plan.read(text, overrides).scenario.duration_s
    lasts = LONG_S if not has_end else own_s if order.seconds is None else order.seconds
    # The air outlasts the programs, so that none of them sees its network go; a flow that would begin later does not.
    planned = plan.read(text, overrides, max(lasts, own_s) + _DRAIN_S)
    scenario, nodes = planned.scenario, planned.scenario.nodes
    seed = scenario.seed if order.seed is None else order.seed
    simulator.check_seeds(seed, 1)
    for node in _named(order):
        _check_node(node, nodes)
    names = _hosts(planned, order, nodes)
    plan.check_schemes(scenario, seed, names)
    if why := made.obstacle():
        raise InputError(why)
    folder = remote.folder()
    kernel_control.remove_dead(folder)
    remote.remove_dead(folder)
    with ExitStack() as stack:
        opened = stack.enter_context(made.opened(names, nodes))
        return _joined(stack, planned, lasts, opened, order, seed, folder, watch)


def _hosts(planned: plan.Plan, order: Order, nodes: Sequence[str]) -> list[str]:
    """The nodes that become hosts: all of a small scenario, of a large one those that run something."""
    if len(nodes) <= made.MOST:
        return list(nodes)
    named = _named(order) | {end for flow in planned.flows for end in (flow.source, flow.sink)}
    return [node for node in nodes if node in named]


def _named(order: Order) -> set[str]:
    """The nodes that an order names."""
    at = [] if order.at is None else [order.at[0]]
    return {*(node for node, _ in order.commands), *at, *([] if order.shell is None else [order.shell])}


def _check_node(node: str, nodes: Sequence[str]) -> None:
    if node not in nodes:
        raise InputError(f'no node "{node}"; there are {", ".join(nodes[:20])}')


class _Loop:
    """The thread of the loop."""

    def __init__(self, scenario: _core.Scenario, seed: int, opened: Sequence[Host], order: Order) -> None:
        devices = [(host.name, host.device) for host in opened]
        record = None if order.record is None else str(order.record)
        pcap = None if order.pcap is None else str(order.pcap)
        core = simulator.live_module()
        self.live: _core.Live = core.Live(scenario, seed, devices, record=record, pcap_dir=pcap, spin_ns=SPIN_NS)
        self.scheduling = "other"
        self._fifo = order.fifo
        self.outcome: dict[str, Any] | None = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="live loop", daemon=True)

    def start(self) -> None:
        self.begun = time.monotonic()
        self._thread.start()

    def _run(self) -> None:
        try:
            if self._fifo:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
                self.scheduling = "fifo"
        except OSError:
            self._fifo = False
        if not self._fifo:
            # Timers of other threads may be 50 us late, unless they ask for less.
            with suppress(OSError):
                Path("/proc/thread-self/timerslack_ns").write_text("1", encoding="ascii")
        try:
            self.outcome = self.live.run()
        except BaseException as e:  # whatever it is, it is raised where the run is waited for
            self.error = e

    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def end(self) -> None:
        self.live.stop()
        self._thread.join()

    def result(self) -> dict[str, Any]:
        """Raises `OutputError` and what else has ended the loop."""
        self.end()
        if isinstance(self.error, OSError):
            raise OutputError(str(self.error))
        if self.error is not None:
            raise self.error
        assert self.outcome is not None
        return self.outcome


def _joined(
    stack: ExitStack,
    planned: plan.Plan,
    lasts: float,
    opened: Sequence[Host],
    order: Order,
    seed: int,
    folder: Path,
    watch: Callable[[str], None] | None,
) -> LiveResult:
    loop = _Loop(planned.scenario, seed, opened, order)
    loop.start()
    stack.callback(loop.end)
    stack.enter_context(remote.reachable(folder, opened, loop.live.change))
    programs = stack.enter_context(Programs(opened))
    flows = [flow for flow in planned.flows if flow.start_s < lasts]
    begun = [(flow.start_s, *_program(stack, programs, flow, lasts, order.results_s, folder)) for flow in flows]
    for i, (node, run) in enumerate(order.commands):
        output = 1 if order.to_terminal else None
        begun.append((0.0, f"{node}#{i + 1}", programs.command(_called(run), node, run, output=output)))
    awaited = None
    if order.at is not None:
        node, words = order.at
        awaited = programs.command(_called(words), node, words, output=1 if order.to_terminal else None)
        begun.append((0.0, node, awaited))
    beside = [(node, program) for (node, _), (*_, program) in zip(order.commands, begun[len(flows) :], strict=False)]
    ready = _Listening(opened, beside) if awaited is not None else None
    sampler = stack.enter_context(Sampler(opened, origin=loop.begun)) if order.sockets else None
    seen = _Seen(opened)
    if order.shell is not None:
        seen.shell(loop, next(host for host in opened if host.name == order.shell))
    else:
        _watched(loop, begun, lasts, awaited, ready, seen, watch)
    outcome = loop.result()
    reports = {name: program.report for _, name, program in begun if isinstance(program, Iperf3) and program.report}
    outputs = {name: program.output for _, name, program in begun if isinstance(program, Command)}
    run = outcome["run"]
    seconds = float(run["simulated_s"])
    return LiveResult(
        scenario=planned.scenario.name,
        seed=seed,
        seconds=seconds,
        kernel=platform.release(),
        scheduling=loop.scheduling,
        late=outcome["late"],
        first=outcome["first"],
        answers=outcome["answers"],
        behind=outcome["behind"],
        overloaded=outcome["overloaded"],
        busy=outcome["busy_s"] / seconds if seconds else 0.0,
        packets=outcome["packets"] | {"refused": outcome["refused"]},
        conversations=outcome["conversations"],
        flows=reports,
        outputs=outputs,
        run=run,
        series=seen.columns,
        sockets=sampler.columns() if sampler else {},
    )


def _called(run: str | Sequence[str]) -> str:
    words = run.split() if isinstance(run, str) else list(run)
    return words[0] if words else "command"


def _program(
    stack: ExitStack, programs: Programs, flow: plan.LiveFlow, lasts: float, results_s: float, folder: Path
) -> tuple[str, Program]:
    """The program of a flow, prepared. One with a congestion control of the user's own has the kernel know it."""
    if flow.model == "command":
        return flow.name, programs.command(flow.name, flow.source, flow.run)
    congestion = flow.congestion
    if congestion is not None and kernel_control.is_own(congestion):
        congestion = stack.enter_context(kernel_control.registered(congestion, folder))
    left = min(lasts, LONG_S) - flow.start_s - results_s
    program = programs.iperf3(
        flow.name,
        flow.source,
        flow.sink,
        seconds=max(1.0, float(int(left))),
        total=flow.total,
        udp=flow.udp,
        ipv6=flow.ipv6,
        rate_bps=flow.rate_bps,
        length=flow.length,
        congestion=congestion,
    )
    return flow.name, program


def _watched(
    loop: _Loop,
    begun: Sequence[tuple[float, str, Program]],
    lasts: float,
    awaited: Program | None,
    ready: _Listening | None,
    seen: _Seen,
    watch: Callable[[str], None] | None,
) -> None:
    """Waits until the awaited program has ended, else all, or the run has. A program that fails ends it.

    Commands are taken down when the run has lasted as long as it should; flows of iperf3 end by themselves, or hang.
    """
    told = 0
    # Each program begins at its time, and all are asked whether they have failed.
    todo = sorted(begun, key=lambda one: one[0])
    running: list[Program] = []
    while not loop.is_over():
        since = time.monotonic() - loop.begun
        if since >= lasts and not any(isinstance(program, Iperf3) for program in running):
            loop.live.stop()
            break
        while todo and todo[0][0] <= since:
            if todo[0][2] is awaited and ready is not None and since < _LISTEN_S and not ready.all(running):
                # Those behind it are flows that begin later.
                break
            program = todo.pop(0)[2]
            program.start()
            running.append(program)
        running = [program for program in running if program.running()]
        seen.look(loop)
        if watch is not None and int(since) > told:
            told = int(since)
            watch(seen.line())
        if awaited is not None and awaited.begun and awaited not in running:
            break
        if begun and not running and not todo:
            return
        time.sleep(min(_TICK_S, max(0.0, lasts - since)) or _TICK_S)
    if loop.is_over() and loop.error is None:
        for program in running:
            if isinstance(program, Iperf3):
                raise ProgramError(program.name, f"iperf3 has not ended {_DRAIN_S:g} s after the run should have")
    for program in running:
        with suppress(ProgramError):
            program.stop()


class _Listening:
    """Servers among the commands beside one that is waited for: `curl` would come before a server listens."""

    def __init__(self, opened: Sequence[Host], beside: Sequence[tuple[str, Program]]) -> None:
        hosts = {host.name: host for host in opened}
        self._beside = [(hosts[node], program) for node, program in beside]
        self._before = {host.name: listening(host) for host, _ in self._beside}

    def all(self, running: Sequence[Program]) -> bool:
        """True if each of them has ended, or has a socket that listens in its host."""
        return all(
            (program.begun and program not in running) or listening(host) > self._before[host.name]
            for host, program in self._beside
        )


class _Seen:
    """What was seen of a run while it went on: a row each 100 ms."""

    def __init__(self, opened: Sequence[Host]) -> None:
        self._names = [host.name for host in opened]
        self._last: dict[str, Any] = {"t_s": 0.0, "up": [(0, 0)] * len(opened), "down": [(0, 0)] * len(opened)}
        self.columns: dict[str, list[float]] = {}

    def look(self, loop: _Loop) -> None:
        """Takes a row, if the loop has shown something new."""
        now = loop.live.gauge()
        span = now["t_s"] - self._last["t_s"]
        if span <= 0 or not now["up"]:
            return
        row = {"time_s": now["t_s"]}
        for i, name in enumerate(self._names):
            for which, name_of in (("up", "sent_bps"), ("down", "got_bps")):
                row[f"{name_of}.{name}"] = 8 * (now[which][i][1] - self._last[which][i][1]) / span
        before = {one["node"]: one for one in self._last.get("interfaces", [])}
        for one in now["interfaces"]:
            name, old = one["node"], before.get(one["node"], {})
            row[f"backlog.{name}"] = float(one["backlog"])
            for key in ("data_frames", "retries"):
                row[f"{key}.{name}"] = one[key] - old.get(key, 0)
            row[f"airtime.{name}"] = (one["on_air_s"] - old.get("on_air_s", 0.0)) / span
        row["late_p99_s"], row["late_max_s"] = now["late_s"]
        for name, value in row.items():
            self.columns.setdefault(name, []).append(value)
        self._last = now

    def line(self) -> str:
        """The last second in a line."""
        rows = self.columns
        if not rows:
            return "nothing yet"
        tail = slice(-10, None)

        def mean(name: str) -> float:
            found = rows.get(name, [0.0])[tail]
            return sum(found) / len(found)

        parts = []
        for name in self._names:
            up, down = mean(f"sent_bps.{name}") / 1e6, mean(f"got_bps.{name}") / 1e6
            if up + down >= 0.001:
                parts.append(f"{name} sends {up:.2f} and gets {down:.2f} Mb/s")
        frames = sum(sum(v[tail]) for k, v in rows.items() if k.startswith("data_frames."))
        again = sum(sum(v[tail]) for k, v in rows.items() if k.startswith("retries."))
        queue = sum(v[-1] for k, v in rows.items() if k.startswith("backlog."))
        late = max(rows["late_p99_s"][tail]) * 1e6
        share = f"{100 * again / frames:.0f} %" if frames else "–"
        rest = f"queued {queue:.0f}, retries {share}, late {late:.0f} us"
        return f"{rows['time_s'][-1]:.0f} s: {'; '.join([*parts, rest])}"

    def shell(self, loop: _Loop, host: Host) -> None:
        """A shell at this terminal, in the host. The run ends with it, or takes it down when it is over."""
        import subprocess

        command = [*host.prefix, os.environ.get("SHELL", "/bin/sh")]
        with subprocess.Popen(command) as process:
            while process.poll() is None and not loop.is_over():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_TICK_S)
                self.look(loop)
            if process.poll() is None:
                process.terminate()
