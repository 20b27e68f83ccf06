"""Hosts: for each node a process that holds namespaces, with one TUN device of which the loop has the other end.

Namespaces have no names: they last as long as the first process of the host, and that ends when the socket to it does,
whatever has become of whoever made it. Nothing is left that a later run would have to remove.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING

from interlayer.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEVICE = "air0"
"""The name of a host's device."""
MTU = 1500
MOST = 64
"""Hosts of a run at most: each is a process, and the loop asks all devices each time."""

_FIRST = IPv4Address("10.1.0.1")
_FIRST6 = IPv6Address("fd5b:1a7e:4c0d::1")
"""Of node 0, in the order of the scenario: `net::address`, `net::address6` of the core."""
_PREFIX6 = 64
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class Host:
    """A node's namespaces."""

    name: str
    """The node."""
    address: IPv4Address
    address6: IPv6Address
    pid: int
    """The first process of the host, as this process sees it."""
    prefix: list[str] = field(repr=False)
    """What goes before a program and its arguments, so that it runs in the namespaces."""
    device: int = field(repr=False)
    """The descriptor of its TUN device; the loop takes it over."""


def is_root() -> bool:
    """True if namespaces need no user namespace."""
    return os.geteuid() == 0


def _unshare() -> list[str]:
    user = [] if is_root() else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc"]


def _prefix(pid: int) -> list[str]:
    user = [] if is_root() else ["--user", "--preserve-credentials"]
    spaces = ["--net", "--mount", "--pid", "--uts"]
    return ["nsenter", f"--target={pid}", *user, *spaces, f"--wd={Path.cwd()}", "--"]


def obstacle() -> str | None:
    """Why this machine cannot have hosts, in a line; None if it can."""
    if sys.platform != "linux":
        return "a live run needs Linux: network namespaces and TUN devices"
    for tool, package in ("unshare", "util-linux"), ("nsenter", "util-linux"), ("ip", "iproute2"):
        if shutil.which(tool) is None:
            return f"no {tool}: install {package}"
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun: load the module tun"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun may not be opened: run as root, or allow it with chmod 666 /dev/net/tun"
    try:
        with _opened([("probe", 0)], MTU):
            return None
    except InputError as e:
        return str(e)


@contextmanager
def opened(names: Sequence[str], nodes: Sequence[str], mtu: int = MTU) -> Iterator[list[Host]]:
    """Hosts of some of the scenario's nodes, in the order of `names`. Raises `InputError` if there cannot be any.

    Afterwards their programs are gone. `nodes` are all of the scenario's, in its order.
    """
    if len(names) > MOST:
        raise InputError(f"{len(names)} hosts are more than {MOST}: name those that run programs, by --at or --run")
    with _opened([(name, nodes.index(name)) for name in names], mtu, nodes) as hosts:
        yield hosts


def addresses(place: int) -> tuple[IPv4Address, IPv6Address]:
    """The addresses of a node, by its place in the scenario."""
    return _FIRST + place, _FIRST6 + place


@contextmanager
def _opened(wanted: list[tuple[str, int]], mtu: int, nodes: Sequence[str] = ()) -> Iterator[list[Host]]:
    names = "127.0.0.1 localhost\n::1 localhost\n"
    names += "".join("".join(f"{address} {name}\n" for address in addresses(i)) for i, name in enumerate(nodes))
    begun: list[tuple[subprocess.Popen[bytes], socket.socket]] = []
    try:
        for name, place in wanted:
            address, address6 = addresses(place)
            ours, its = socket.socketpair()
            ours.settimeout(_PATIENCE_S)
            with its:
                command = [*_unshare(), sys.executable, "-I", "-S", str(Path(__file__).with_name("_host.py"))]
                begun.append((_begun([*command, str(its.fileno())], its), ours))
            order = {"name": name, "device": DEVICE, "mtu": str(mtu), "names": names}
            order |= {"address": str(address), "address6": f"{address6}/{_PREFIX6}"}
            with suppress(OSError):  # what it says before it ends is read below
                ours.sendall(json.dumps(order).encode())
        hosts = []
        for (name, place), (process, ours) in zip(wanted, begun, strict=True):
            device = _device(name, process, ours)
            pid = _child(process.pid)
            hosts.append(Host(name, *addresses(place), pid, _prefix(pid), device))
        yield hosts
    finally:
        for _, ours in begun:
            ours.close()
        for process, _ in begun:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stderr is not None:
                process.stderr.close()


def _begun(command: list[str], its: socket.socket) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(its.fileno(),),
        # Ctrl-C is for programs: a host ends when it is told to.
        start_new_session=True,
    )


def _device(name: str, process: subprocess.Popen[bytes], ours: socket.socket) -> int:
    """The device that a host hands over. Raises `InputError`."""
    said = b""
    devices: list[int] = []
    with suppress(OSError):
        said, devices, *_ = socket.recv_fds(ours, 1 << 16, 1)
    if devices:
        return devices[0]
    why = json.loads(said)["error"] if said else ""
    if not said and process.stderr is not None:
        process.kill()
        why = process.stderr.read().decode(errors="replace").strip().splitlines()[-1:] or ["it does not answer"]
        why = why[0]
    hint = "" if is_root() else "; run as root, or allow unprivileged user namespaces"
    raise InputError(f'no host for node "{name}": {why}{hint}')


def _child(pid: int) -> int:
    """The one child of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])
