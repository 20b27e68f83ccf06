"""Real programs of flows in hosts: iperf3, or a command of the user's.

A host is a process that holds namespaces; a program is run in it by an argv prefix. Each program leads a process group
of its own. All of them are taken down together at the end, after an error, and when one of them fails.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from interlayer.errors import InputError, KernelError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from ipaddress import IPv4Address, IPv6Address

GRACE_S = 10.0
"""Time that iperf3 has beyond that of its flow, to connect and to tell its results through the same air."""
TERM_S = 2.0
"""Time between SIGTERM and SIGKILL."""
_FIRST_PORT = 5201
_LISTEN_S = 5.0
"""Time that a server has to listen, and a helper command to end: a start takes 10 ms, on a loaded machine a second."""
_END_S = 3.0
_TICK_S = 0.02
_NOT_EXECUTED = (126, 127)
_DETAILS = 20
_SYSCTL = "/proc/sys/net/ipv4/tcp_"


class Host(Protocol):
    """A node's namespaces."""

    @property
    def name(self) -> str:
        """The node."""

    @property
    def prefix(self) -> Sequence[str]:
        """What goes before a program and its arguments, so that it runs in the namespaces."""

    @property
    def address(self) -> IPv4Address:
        """Its address."""

    @property
    def address6(self) -> IPv6Address:
        """Its address of IPv6."""


# ------------------------------------------------------------------------------------------------- congestion controls

_SET_AND_READ = """
import socket, sys
one = socket.socket()
try:
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
except OSError as e:
    sys.exit(type(e).__name__)
print(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode())
"""


def controls(host: Host, which: str = "available") -> list[str]:
    """The kernel's congestion controls, as the host sees them; `which` is `"allowed"` for those without privilege."""
    return _said(host, "cat", f"{_SYSCTL}{which}_congestion_control").split()


def check_congestion(host: Host, name: str) -> None:
    """Sets a congestion control on a socket in the host and reads it back. The kernel may load a module for it."""
    done = _run(host, sys.executable, "-c", _SET_AND_READ, name)
    said = done.stdout.strip()
    if said and said == name:
        return
    if done.stderr.strip() == "PermissionError":
        allowed = ", ".join(controls(host, "allowed"))
        raise KernelError(f'congestion control "{name}" needs CAP_NET_ADMIN in "{host.name}"; without it: {allowed}')
    raise KernelError(f'no congestion control "{name}" in this kernel; it has {", ".join(controls(host))}')


def set_default_congestion(host: Host, name: str) -> None:
    """Makes a congestion control the host's default, for programs that do not choose, and reads it back."""
    check_congestion(host, name)
    file = f"{_SYSCTL}congestion_control"
    if _said(host, "sh", "-c", 'echo "$1" >"$2" && cat "$2"', "sh", name, file).strip() != name:
        raise KernelError(f'the kernel does not make "{name}" the default of "{host.name}"')


def listening(host: Host) -> int:
    """The number of TCP sockets in the host that listen."""
    return len(_said(host, "ss", "-Hltn").splitlines())


def _run(host: Host, *command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run([*host.prefix, *command], capture_output=True, text=True, check=False, timeout=_LISTEN_S)
    except OSError as e:
        raise not_begun(host.name, e) from e
    except subprocess.TimeoutExpired as e:
        raise ProgramError(host.name, f"{command[0]} has not ended within {_LISTEN_S:g} s") from e


def _said(host: Host, *command: str) -> str:
    done = _run(host, *command)
    if done.returncode:
        raise ProgramError(host.name, _of_status(command[0], done.returncode, done.stderr), done.stderr)
    return done.stdout


# ------------------------------------------------------------------------------------------------------------- reports


@dataclass(frozen=True)
class Report:
    """What iperf3 measured of a flow."""

    goodput_bps: float
    """Of payload, at the receiver."""
    received_bytes: int
    seconds: float
    """The time that the receiver counted."""
    retransmits: int | None
    """Segments sent again; None over UDP."""
    congestion: str | None
    """The congestion control that the kernel of the sender named; None over UDP."""
    ends: tuple[str, str] = ("", "")
    """The sender's and the receiver's end, as `sockets` prints them."""
    lost_packets: int | None = None
    """Datagrams that the receiver missed; None over TCP."""
    received: Mapping[str, list[float]] = field(default_factory=dict)
    """A row a second at the receiver: `begin_s`, `end_s`, `goodput_bps`."""
    sent: Mapping[str, list[float]] = field(default_factory=dict)
    """A row a second at the sender: `begin_s`, `end_s`, `sent_bps`; over TCP `retransmits`, `cwnd_bytes`, `rtt_s`."""


def report(client: Mapping[str, Any], server: Mapping[str, Any]) -> Report:
    """What the two ends of iperf3 wrote with `-J`. The client is the sender."""
    total = server["end"]["sum_received" if "sum_received" in server["end"] else "sum"]
    udp = server["start"]["test_start"]["protocol"] == "UDP"
    seconds = total["seconds"]
    lost = total.get("lost_packets", 0)
    size = server["start"]["test_start"]["blksize"]
    received = int((total["packets"] - lost) * size) if udp else int(total["bytes"])
    of_sender = {"sent_bps": ("bits_per_second", 1.0)}
    if not udp:
        of_sender |= {"retransmits": ("retransmits", 1.0), "cwnd_bytes": ("snd_cwnd", 1.0), "rtt_s": ("rtt", 1e-6)}
    return Report(
        goodput_bps=8 * received / seconds if seconds else 0.0,
        received_bytes=received,
        seconds=seconds,
        retransmits=None if udp else client["end"]["sum_sent"]["retransmits"],
        congestion=client["end"].get("sender_tcp_congestion"),
        ends=_ends(client["start"]["connected"][0]),
        lost_packets=lost if udp else None,
        received=_rows(server, {"goodput_bps": ("bits_per_second", 1.0)}),
        sent=_rows(client, of_sender),
    )


def _ends(connected: Mapping[str, Any]) -> tuple[str, str]:
    """Address and port of both ends. An address of IPv6 is in brackets."""

    def end(which: str) -> str:
        address = connected[f"{which}_host"]
        port = connected[f"{which}_port"]
        return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

    return end("local"), end("remote")


def _rows(one: Mapping[str, Any], quantities: Mapping[str, tuple[str, float]]) -> dict[str, list[float]]:
    """Columns of the intervals of one end, which has one stream."""
    streams = [interval["streams"][0] for interval in one["intervals"] if interval["streams"]]
    wanted = {"begin_s": ("start", 1.0), "end_s": ("end", 1.0), **quantities}
    return {name: [stream[key] * scale for stream in streams] for name, (key, scale) in wanted.items()}


# ------------------------------------------------------------------------------------------------------------ programs


class _Process:
    """A program under way in a host, with what it writes."""

    def __init__(self, program: str, host: Host, command: Sequence[str], output: IO[bytes] | int | None = None) -> None:
        self._files = [tempfile.TemporaryFile() for _ in range(2 if output is None else 1)]  # noqa: SIM115
        self._texts: list[str] | None = None
        try:
            self._popen = subprocess.Popen(
                [*host.prefix, *command],
                stdin=subprocess.DEVNULL,
                stdout=self._files[-1] if output is None else output,
                stderr=self._files[0],
                start_new_session=True,
            )
        except OSError as e:
            self._close()
            raise not_begun(program, e) from e
        self.group = self._popen.pid

    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._popen.poll()

    def errors(self) -> str:
        """What it has written to its standard error."""
        return self._written()[0]

    def output(self) -> str:
        """What it has written to its standard output, unless that goes elsewhere."""
        return "".join(self._written()[1:])

    def settle(self) -> None:
        """Closes its files, when it has ended. What it has written stays."""
        self.status()
        self._texts = self._written()
        self._close()

    def _written(self) -> list[str]:
        return [_read(file) for file in self._files] if self._texts is None else self._texts

    def _close(self) -> None:
        for file in self._files:
            file.close()


def _read(file: IO[bytes]) -> str:
    # The position in the file is the program's too, which inherits it: `pread` leaves it alone.
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode("utf-8", "replace")


def not_begun(program: str, e: OSError) -> ProgramError:
    """Why the first word of a host's prefix cannot be run."""
    missing = isinstance(e, FileNotFoundError)
    return ProgramError(program, f"no {e.filename}" if missing else f"{e.filename}: {(e.strerror or str(e)).lower()}")


def _of_status(command: str, status: int, errors: str) -> str:
    """A program's end in words."""
    last = (errors.strip().splitlines() or [""])[-1]
    if status in _NOT_EXECUTED:
        return last or f"no {command}"
    how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    return f"{command} {how}" + (f": {last}" if last else "")


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_DETAILS:])


class Program:
    """A program of a flow. It begins with `start`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.begun = False
        """True from `start` on."""
        self._processes: list[_Process] = []
        self._deadline: float | None = None

    def start(self) -> None:
        """Begins."""
        self.begun = True

    def running(self) -> bool:
        """True while it runs. A program that has failed, or has not ended in its time, is a `ProgramError`."""
        raise NotImplementedError

    def stop(self) -> None:
        """Takes it down, whether it has ended or not."""
        _take_down(self._processes)

    def _late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline


class Iperf3(Program):
    """A flow of iperf3: a client where the data come from, a server where they go to."""

    def __init__(
        self,
        name: str,
        source: Host,
        sink: Host,
        port: int,
        *,
        seconds: float,
        total: int | None,
        udp: bool,
        rate_bps: float | None,
        length: int | None,
        mss: int | None,
        congestion: str | None,
        ipv6: bool,
    ) -> None:
        super().__init__(name)
        self.report: Report | None = None
        """What was measured, when it has ended."""
        self._source, self._sink, self._seconds = source, sink, seconds
        self.port = port
        """Where the server listens."""
        self._congestion = congestion
        address = sink.address6 if ipv6 else sink.address
        amount = ["-t", str(math.ceil(seconds))] if total is None else ["-n", str(total)]
        options = {"-l": length, "-M": mss, "-C": congestion, "-b": None if rate_bps is None else round(rate_bps)}
        given = [text for key, value in options.items() if value is not None for text in (key, str(value))]
        connect = ["--connect-timeout", str(int(GRACE_S * 1000))]
        self._call = ["iperf3", "-J", "-c", str(address), "-p", str(port), *amount, *given, *connect]
        self._call += ["-u"] if udp else []
        self._server = self._begun(sink, ["iperf3", "-J", "-s", "-1", "-p", str(port)])
        self._client: _Process | None = None
        self._client_ended: float | None = None

    def _begun(self, host: Host, command: Sequence[str]) -> _Process:
        process = _Process(self.name, host, command)
        self._processes.append(process)
        return process

    def listen(self) -> None:
        """Waits until the server listens."""
        end = time.monotonic() + _LISTEN_S
        while not _said(self._sink, "ss", "-Hltn", f"sport = :{self.port}").strip():
            if self._server.status() is not None:
                raise self._failed(self._sink, self._server)
            if time.monotonic() > end:
                raise ProgramError(self.name, f'iperf3 in "{self._sink.name}" does not listen after {_LISTEN_S:g} s')
            time.sleep(_TICK_S)

    def start(self) -> None:
        super().start()
        self._client = self._begun(self._source, self._call)
        self._deadline = time.monotonic() + self._seconds + GRACE_S

    def running(self) -> bool:
        if self._client is None:
            if self._server.status() is not None:
                raise self._failed(self._sink, self._server)
            return True
        if self.report is not None:
            return False
        client, server = self._client.status(), self._server.status()
        if client is None:
            if self._late():
                what = f'iperf3 in "{self._source.name}" has not ended {GRACE_S:g} s after its {self._seconds:g} s'
                raise ProgramError(self.name, what, self._details())
            return True
        if client or "error" in self._json(self._source, self._client):
            raise self._failed(self._source, self._client)
        if server is None:
            self._client_ended = self._client_ended or time.monotonic()
            if time.monotonic() > self._client_ended + _END_S:
                what = f'iperf3 in "{self._sink.name}" has not ended with its client'
                raise ProgramError(self.name, what, self._details())
            return True
        of_client, of_server = self._json(self._source, self._client), self._json(self._sink, self._server)
        if server or "error" in of_server:
            raise self._failed(self._sink, self._server)
        self.report = report(of_client, of_server)
        if self._congestion is not None and self.report.congestion != self._congestion:
            raise ProgramError(
                self.name, f'it ran with congestion control "{self.report.congestion}", not "{self._congestion}"'
            )
        return False

    def _json(self, host: Host, process: _Process) -> dict[str, Any]:
        """What an end has written."""
        try:
            said: dict[str, Any] = json.loads(process.output())
        except json.JSONDecodeError as e:
            raise self._failed(host, process) from e
        return said

    def _failed(self, host: Host, process: _Process) -> ProgramError:
        """Why an end of iperf3 is no good."""
        status = process.status() or 0
        where = f'iperf3 in "{host.name}"'
        with suppress(json.JSONDecodeError):
            if (error := json.loads(process.output()).get("error")) is not None:
                return ProgramError(self.name, f"{where}: {error}", self._details())
        if status:
            return ProgramError(self.name, _of_status(where, status, process.errors()), self._details())
        return ProgramError(self.name, f"{where} ended early, without a report", self._details())

    def _details(self) -> str:
        return _tail("\n".join(process.errors() + process.output() for process in self._processes))


class Command(Program):
    """A command of the user's in one host."""

    def __init__(
        self, name: str, host: Host, command: Sequence[str], seconds: float | None, output: IO[bytes] | int | None
    ) -> None:
        super().__init__(name)
        self._host, self._command, self._seconds, self._to = host, command, seconds, output
        self._process: _Process | None = None

    @property
    def output(self) -> str:
        """What it has written to its standard output, unless that goes elsewhere."""
        return "" if self._process is None else self._process.output()

    def start(self) -> None:
        super().start()
        self._process = _Process(self.name, self._host, self._command, self._to)
        self._processes.append(self._process)
        self._deadline = None if self._seconds is None else time.monotonic() + self._seconds

    def running(self) -> bool:
        if self._process is None:
            return True
        status = self._process.status()
        shown = self._command[-1] if self._command[:2] == ["sh", "-c"] else self._command[0]
        if status is None:
            if self._late():
                what = f'{shown} in "{self._host.name}" has not ended within {self._seconds:g} s'
                raise ProgramError(self.name, what, self._details())
            return True
        if status:
            what = _of_status(f'{shown} in "{self._host.name}"', status, self._process.errors())
            raise ProgramError(self.name, what, self._details())
        return False

    def _details(self) -> str:
        return "" if self._process is None else _tail(self._process.errors())


class Programs:
    """The programs of a run. As a context manager it leaves none behind."""

    def __init__(self, hosts: Iterable[Host]) -> None:
        self._hosts = {host.name: host for host in hosts}
        self._programs: list[Program] = []

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def iperf3(
        self,
        name: str,
        source: str,
        sink: str,
        *,
        seconds: float,
        total: int | None = None,
        udp: bool = False,
        rate_bps: float | None = None,
        length: int | None = None,
        mss: int | None = None,
        congestion: str | None = None,
        ipv6: bool = False,
    ) -> Iperf3:
        """Prepares a flow of iperf3 from `source` to `sink`: its server listens when this returns.

        `seconds` is rounded up to whole ones, as iperf3 has them.
        `total` is what to write, in bytes: `seconds` is then the time that it may take. iperf3 ends when all is
        written, and its receiver does not count what is still under way. `length` is that of a datagram or of a write,
        `rate_bps` what the application offers (1 Mb/s over UDP unless given).
        """
        sender, receiver = self._host(source), self._host(sink)
        if congestion is not None:
            check_congestion(sender, congestion)
        program = Iperf3(
            name,
            sender,
            receiver,
            _free_port(receiver),
            seconds=seconds,
            total=total,
            udp=udp,
            rate_bps=rate_bps,
            length=length,
            mss=mss,
            congestion=congestion,
            ipv6=ipv6,
        )
        self._programs.append(program)
        self._or_close(program.listen)
        return program

    def command(
        self,
        name: str,
        node: str,
        run: str | Sequence[str],
        *,
        seconds: float | None = None,
        output: IO[bytes] | int | None = None,
    ) -> Command:
        """Prepares a command in a host: a text for the shell, or a list of arguments.

        `{ap}` is the address of host "ap", `{ap:6}` that of IPv6; `{{ap}}` and `${ap}` are left to the command. Without
        `seconds` it may run as long as the others. Its standard output is kept, unless it goes to `output`.
        """
        host = self._host(node)
        call = ["sh", "-c", self.addressed(run)] if isinstance(run, str) else [self.addressed(text) for text in run]
        program = Command(name, host, call, seconds, output)
        self._programs.append(program)
        return program

    def addressed(self, text: str) -> str:
        """A command with the addresses of hosts in the place of their names."""

        def one(found: re.Match[str]) -> str:
            if found["kept"] is not None:
                return "{" + found["kept"] + "}"
            host = self._hosts.get(found["name"])
            if host is None:
                known = ", ".join(f"{{{name}}}" for name in self._hosts)
                raise InputError(f'no node "{found["name"]}" for {found[0]} in "{text}" (known: {known})')
            return str(host.address6 if found["six"] else host.address)

        return re.sub(r"\{\{(?P<kept>[\w.:-]+)\}\}|(?<![\$])\{(?P<name>[\w.-]+)(?P<six>:6)?\}", one, text)

    def start(self) -> None:
        """Begins all that were prepared and have not begun."""
        for program in self._programs:
            if not program.begun:
                self._or_close(program.start)

    def running(self) -> int:
        """The number of programs that have not ended. If one has failed all are taken down, and it is raised."""
        count = 0
        for program in self._programs:
            try:
                count += program.running()
            except ProgramError:
                self.close()
                raise
        return count

    def wait(self) -> None:
        """Begins those that have not begun, and waits until all have ended."""
        self.start()
        while self.running():
            time.sleep(_TICK_S)

    def close(self) -> None:
        """Takes down all that runs, together."""
        _take_down([process for program in self._programs for process in program._processes])

    def _or_close(self, act: Any) -> None:
        try:
            act()
        except BaseException:
            self.close()
            raise

    def _host(self, name: str) -> Host:
        if name not in self._hosts:
            raise InputError(f'no node "{name}" (known: {", ".join(self._hosts)})')
        return self._hosts[name]


def _free_port(host: Host) -> int:
    """A port that nobody in the host has. Servers of flows listen before the next one is asked for."""
    local = (line.split()[4] for line in _said(host, "ss", "-Hltun").splitlines())
    used = {end.rpartition(":")[2] for end in local}
    return next(port for port in range(_FIRST_PORT, 65536) if str(port) not in used)


# ----------------------------------------------------------------------------------------------------------- take down


def _take_down(processes: Iterable[_Process]) -> None:
    """SIGTERM to the groups that still have members, and SIGKILL to what is left."""
    processes = list(processes)
    groups = {process.group for process in processes}
    for number, patience in ((signal.SIGTERM, TERM_S), (signal.SIGKILL, 1.0)):
        left = _alive(groups)
        for group in left:
            with suppress(ProcessLookupError):
                os.killpg(group, number)
        end = time.monotonic() + patience
        while left and time.monotonic() < end:
            time.sleep(_TICK_S / 4)
            left = _alive(left)
    for process in processes:
        process.settle()


def _alive(groups: set[int]) -> set[int]:
    """Those of the process groups that have a member which is no zombie, whoever has to reap it."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat") if groups else ():
        with suppress(OSError):
            state, _, group, *_ = path.read_text().rpartition(")")[2].split()
            if state not in "ZX":
                found.add(int(group))
    return groups & found
