"""Two hosts of the tests: namespaces that a veth pair joins. Without root they are in a user namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Host:
    """A host as `interlayer.realtime` makes one."""

    name: str
    prefix: list[str]
    address: IPv4Address
    address6: IPv6Address


def needs(*tools: str) -> None:
    """Skips the test where a tool is missing."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")


@contextmanager
def _holder(inside: list[str], *flags: str) -> Iterator[int]:
    """A process that holds new namespaces; its id. It ends when its standard input does, the test's end included."""
    with subprocess.Popen(
        [*inside, "unshare", *flags, "sh", "-c", "echo; read -r _"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != b"\n":
            pytest.skip("no namespaces here")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        try:
            yield int(children[0]) if children else process.pid
        finally:
            process.stdin.close()


@contextmanager
def pair() -> Iterator[tuple[Host, Host]]:
    """Hosts "left" and "right", each with a device of the pair. Afterwards no process has their network."""
    needs("unshare", "nsenter", "ip")
    with ExitStack() as stack:
        inside: list[str] = []
        user: list[str] = []
        if os.geteuid():
            pid = stack.enter_context(_holder([], "-r"))
            user = ["-U", "--preserve-credentials"]
            inside = ["nsenter", "-t", str(pid), *user, "--"]
        hosts = []
        pids = [stack.enter_context(_holder(inside, "-n", "-m", "-p", "-u", "-f", "--mount-proc")) for _ in range(2)]
        for i, pid in enumerate(pids):
            prefix = ["nsenter", "-t", str(pid), *user, "-n", "-m", "-p", "-u", "--"]
            address, address6 = IPv4Address(f"10.198.0.{i + 1}"), IPv6Address(f"fd00:198::{i + 1}")
            hosts.append(Host(("left", "right")[i], prefix, address, address6))
        # In the namespace of the first, where without root the privilege is; with the ids of processes out here.
        link = ["nsenter", "-t", str(pids[0]), *user, "-n", "--", "ip", "link", "add", "veth", "type", "veth"]
        steps = [[*link, "peer", "name", "veth", "netns", str(pids[1])]]
        for host in hosts:
            act = [
                "ip link set lo up",
                f"ip address add {host.address}/24 dev veth",
                f"ip address add {host.address6}/64 dev veth nodad",
                "ip link set veth up",
            ]
            steps.append([*host.prefix, "sh", "-c", " && ".join(act)])
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"no pair of devices: {done.stderr.strip()}")
        networks = {_network(Path(f"/proc/{pid}")) for pid in pids}
        yield hosts[0], hosts[1]
    assert soon(lambda: not networks & {_network(path) for path in Path("/proc").glob("[0-9]*")})


def _network(process: Path) -> str:
    """A process's network namespace; empty for one that has ended."""
    try:
        return str((process / "ns/net").readlink())
    except OSError:
        return ""


def left_in(host: Host) -> list[str]:
    """The programs that run in a host, its holder and `ps` apart. A zombie runs no more: the holder does not reap."""
    command = [*host.prefix, "ps", "-eo", "pid=,stat=,comm="]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split(None, 2) for line in lines]
    return [name for pid, state, name in found if pid != "1" and state[0] != "Z" and name != "ps"]


def soon(true: Callable[[], bool], seconds: float = 2.0) -> bool:
    """True if a call becomes true within the time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
