"""This machine's TCP over a line of two TUN devices between two network namespaces.

Run as a program it stands inside a namespace of its own (`unshare`): it makes the devices, hands one to a child in
another namespace, starts the line, sends for so long and prints what the receiver got, as JSON. `start` runs it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

LINE = Path(__file__).with_name("line.c")
ADDRESSES = ("10.199.0.1", "10.199.0.2")
PORT = 5001
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
SO_SNDBUFFORCE = 32


def unshare() -> list[str]:
    """A network namespace of its own. Without root it is in a user namespace, without SCHED_FIFO."""
    return ["unshare", "-n" if os.geteuid() == 0 else "-rn"]


def obstacle() -> str | None:
    """Why this machine cannot do it; None if it can."""
    if not sys.platform.startswith("linux"):
        return "no Linux"
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun"
    for tool in ("unshare", "ip", "cc"):
        if subprocess.run(["sh", "-c", f"command -v {tool}"], capture_output=True, check=False).returncode:
            return f"no {tool}"
    probe = "ip tuntap add dev probe mode tun"
    done = subprocess.run([*unshare(), "sh", "-c", probe], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no network namespaces or TUN devices: {done.stderr.strip()}"


def controls() -> list[str]:
    """The kernel's congestion controls."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def build(folder: Path) -> Path:
    """Compiles the line."""
    line = folder / "line"
    subprocess.run(["cc", "-O2", "-Wall", "-o", str(line), str(LINE)], check=True)
    return line


def start(line: Path, control: str, path: dict[str, int], ordinals: list[int], seconds: int) -> subprocess.Popen[str]:
    """Begins one transfer; `path` has rate_bps, delay_us (one way) and buffer_bytes."""
    order = {"line": str(line), "control": control, "path": path, "ordinals": ordinals, "seconds": seconds}
    process = subprocess.Popen(
        [*unshare(), sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(order))
    process.stdin.close()
    return process


def tun(name: str) -> int:
    """A TUN device without packet information, and without any offload."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    os.set_inheritable(fd, True)
    return fd


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def urgent() -> None:
    """Before others and behind the line, if that is allowed: nobody is to wait for a processor."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))


def configure(name: str, own: str, peer: str) -> None:
    run("ip", "link", "set", "lo", "up")
    run("ip", "address", "add", own, "peer", peer, "dev", name)
    run("ip", "link", "set", name, "mtu", "1500", "txqueuelen", "10000", "up")
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")


def receive(ready: int, go: int, out: int, seconds: int) -> None:
    """The child: waits for its device, accepts, and counts bytes by the second after the first SYN could come."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    os.write(ready, b"1")
    os.read(go, 1)
    configure("right", ADDRESSES[1], ADDRESSES[0])
    listener = socket.create_server((ADDRESSES[1], PORT))
    urgent()
    os.write(ready, b"2")
    os.read(go, 1)
    begun = time.monotonic()
    connection, _ = listener.accept()
    by_second = [0] * seconds
    while (since := time.monotonic() - begun) < seconds:
        connection.settimeout(seconds - since)
        try:
            got = len(connection.recv(1 << 20))
        except TimeoutError:
            break
        if not got:
            break
        second = int(time.monotonic() - begun)
        if second < seconds:
            by_second[second] += got
    os.write(out, json.dumps(by_second).encode())
    os._exit(0)


def main() -> None:
    order = json.load(sys.stdin)
    seconds, path = order["seconds"], order["path"]
    left, right = tun("left"), tun("right")
    ready, ready_in = os.pipe()
    go_out, go = os.pipe()
    result, result_in = os.pipe()
    child = os.fork()
    if child == 0:
        receive(ready_in, go_out, result_in, seconds)
    os.close(result_in)
    os.read(ready, 1)
    run("ip", "link", "set", "right", "netns", str(child))
    configure("left", ADDRESSES[0], ADDRESSES[1])
    os.write(go, b"1")
    os.read(ready, 1)
    line = subprocess.Popen(
        [
            order["line"],
            str(left),
            str(right),
            *(str(path[k]) for k in ("rate_bps", "delay_us", "buffer_bytes")),
            str(seconds + 2),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=(left, right),
    )
    assert line.stdin is not None
    line.stdin.write(" ".join(map(str, order["ordinals"])) + "\n")
    line.stdin.close()
    time.sleep(0.3)
    sender = socket.socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, order["control"].encode())
    for option in (SO_SNDBUFFORCE, socket.SO_SNDBUF):
        with contextlib.suppress(OSError):
            sender.setsockopt(socket.SOL_SOCKET, option, 1 << 21)
            break
    urgent()
    os.write(go, b"1")
    end = time.monotonic() + seconds
    sender.connect((ADDRESSES[1], PORT))
    block = bytes(1 << 16)
    sender.settimeout(0.2)
    while time.monotonic() < end:
        try:
            sender.send(block)
        except TimeoutError:
            continue
        except OSError:
            break  # the receiver has counted all it wants
    info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    text = b""
    while piece := os.read(result, 65536):
        text += piece
    os.waitpid(child, 0)
    assert line.stdout is not None
    data, dropped, refused, late, late_99 = map(int, line.stdout.read().split())
    line.wait()
    retransmits = struct.unpack_from("I", info, 100)[0]  # tcpi_total_retrans
    print(
        json.dumps(
            {
                "by_second": json.loads(text),
                "data_packets": data,
                "dropped": dropped,
                "refused": refused,
                "retransmissions": retransmits,
                "late_ns": [late, late_99],
            }
        )
    )


if __name__ == "__main__":
    main()
