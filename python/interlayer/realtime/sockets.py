"""What the kernel says of TCP sockets while a run lasts: `ss -tiHO`, parsed, and a sampler.

`ss` prints windows in segments and rates with three digits (iproute2 6.1).
"""

from __future__ import annotations

import math
import re
import select
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import IO, TYPE_CHECKING

from interlayer.errors import ProgramError

from .programs import not_begun

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .programs import Host

_FLAG = re.compile("ts|sack|ecn|ecnseen|fastopen")
_RATE = re.compile(r"([\d.]+)([KMGT]?)bps")
_MAPPED = re.compile(r"\[::ffff:([\d.]+)\]")
"""An address of IPv4 at a socket of IPv6."""
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Socket:
    """One TCP socket at one moment. What the kernel does not say is NaN, as ssthresh before the first loss."""

    local: str
    remote: str
    state: str
    congestion: str
    cwnd_segments: float
    ssthresh_segments: float
    mss_bytes: float
    srtt_s: float
    rttvar_s: float
    rto_s: float
    pacing_rate_bps: float
    delivery_rate_bps: float
    acked_bytes: float
    retransmits: float
    """Segments sent again since the connection began."""
    unacked_segments: float


COLUMNS = ("time_s", "host", *(field.name for field in fields(Socket)))


def parse(text: str) -> list[Socket]:
    """The sockets of what `ss -tiHO` prints, one to a line."""
    return [_socket(line.split()) for line in text.splitlines() if line.strip()]


def _socket(words: list[str]) -> Socket:
    state, _, _, local, remote, *rest = words
    pairs: dict[str, str] = {}
    bare = []
    for i, word in enumerate(rest):
        key, colon, value = word.partition(":")
        if colon:
            pairs.setdefault(key, value)
        elif _RATE.fullmatch(word) and i:
            pairs.setdefault(rest[i - 1], word)  # `pacing_rate 6.02Gbps`
        elif not pairs:
            bare.append(word)  # before the first pair: flags, and the congestion control

    def number(key: str, absent: float = math.nan, scale: float = 1.0, part: int = 0) -> float:
        value = pairs.get(key)
        return absent if value is None else scale * float(value.split("/")[part])

    none = 0.0 if "cwnd" in pairs else math.nan  # a count of zero is not printed
    return Socket(
        local=_MAPPED.sub(r"\1", local),
        remote=_MAPPED.sub(r"\1", remote),
        state=state,
        congestion=next((word for word in reversed(bare) if not _FLAG.fullmatch(word)), ""),
        cwnd_segments=number("cwnd"),
        ssthresh_segments=number("ssthresh"),
        mss_bytes=number("mss"),
        srtt_s=number("rtt", scale=1e-3),
        rttvar_s=number("rtt", scale=1e-3, part=1),
        rto_s=number("rto", scale=1e-3),
        pacing_rate_bps=_rate(pairs.get("pacing_rate", "")),
        delivery_rate_bps=_rate(pairs.get("delivery_rate", "")),
        acked_bytes=number("bytes_acked", none),
        retransmits=number("retrans", none, part=1),
        unacked_segments=number("unacked", none),
    )


def _rate(text: str) -> float:
    """A rate in bit/s; NaN for none."""
    found = _RATE.fullmatch(text)
    return float(found[1]) * _SCALE[found[2]] if found else math.nan


class Sampler:
    """Asks for the TCP sockets of hosts at every tick, in a thread, and keeps the answers in columns.

    One shell in each host runs `ss` when it is told to: to enter namespaces costs more than `ss` does. `time_s` counts
    from `origin`, a time of `time.monotonic`, to the moment of asking. A tick that comes too late is left out.
    """

    def __init__(self, hosts: Iterable[Host], every_s: float = 0.1, origin: float | None = None) -> None:
        self._hosts = list(hosts)
        self._every = every_s
        self._origin = time.monotonic() if origin is None else origin
        self._rows: list[tuple[float, str, Socket]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sockets", daemon=True)
        self._shells: list[subprocess.Popen[bytes]] = []
        self.failed: ProgramError | None = None
        """Why it stopped asking, if it did."""

    def __enter__(self) -> Sampler:
        try:
            for host in self._hosts:
                self._shells.append(_shell(host))
        except BaseException:
            self._end()
            raise
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._end()

    def columns(self) -> dict[str, list[float | str]]:
        """What was seen so far: a row for each socket and tick, a column for each of `COLUMNS`."""
        rows = list(self._rows)
        found: dict[str, list[float | str]] = {
            "time_s": [at for at, _, _ in rows],
            "host": [host for _, host, _ in rows],
        }
        for name in COLUMNS[2:]:
            found[name] = [getattr(one, name) for _, _, one in rows]
        return found

    def _run(self) -> None:
        tick = time.monotonic()
        while not self._stop.wait(max(0.0, tick - time.monotonic())):
            try:
                self._ask()
            except (OSError, ValueError, IndexError) as e:
                self.failed = ProgramError("sockets", f"ss: {e}")
                return
            tick = max(tick + self._every, time.monotonic())

    def _ask(self) -> None:
        """Asks all hosts at once, and takes the answers one after another."""
        at = time.monotonic() - self._origin
        for shell in self._shells:
            _pipe(shell.stdin).write(b"\n")
        for host, shell in zip(self._hosts, self._shells, strict=True):
            self._rows += [(at, host.name, one) for one in parse(_answer(host, shell))]

    def _end(self) -> None:
        for shell in self._shells:
            with suppress(OSError):
                _pipe(shell.stdin).close()
        for shell in self._shells:
            try:
                shell.wait(timeout=1.0)
            except subprocess.TimeoutExpired:
                shell.kill()
                shell.wait()
            _pipe(shell.stdout).close()
        self._shells = []


_END = b".\n"
_LOOP = "while read -r _; do ss -tiHO || exit; echo .; done"
_ANSWER_S = 2.0


def _shell(host: Host) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [*host.prefix, "sh", "-c", _LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as e:
        raise not_begun("sockets", e) from e


def _answer(host: Host, shell: subprocess.Popen[bytes]) -> str:
    """What `ss` prints in a host."""
    out = _pipe(shell.stdout)
    text = b""
    while not (text == _END or text.endswith(b"\n" + _END)):
        if not select.select([out], [], [], _ANSWER_S)[0]:
            raise ValueError(f'no answer in "{host.name}" within {_ANSWER_S:g} s')
        piece = out.read(1 << 16)
        if not piece:
            raise ValueError(f'it failed in "{host.name}"')
        text += piece
    return text[: -len(_END)].decode("utf-8", "replace")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
