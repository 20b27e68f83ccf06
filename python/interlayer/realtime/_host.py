"""The first process of a host: it holds the namespaces, has one TUN device, and ends when whoever made it does.

Run by `hosts` inside new namespaces, with the standard library alone. Its argument is a socket: it reads one line of
JSON, hands the device over, and waits there for the end. As process 1 it takes all others of the host with it.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
"""linux/if_tun.h. Without IFF_VNET_HDR packets come one by one, with their checksums."""


def tun(name: str) -> int:
    """A TUN device without packet information or offloads, which does not block."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def configure(order: dict[str, str]) -> None:
    """Addresses, a default route into the device, names of the others, and no cache of past connections."""
    device = order["device"]
    for file, value in [
        ("ipv4/tcp_no_metrics_save", "1"),
        (f"ipv6/conf/{device}/router_solicitations", "0"),
        (f"ipv6/conf/{device}/addr_gen_mode", "1"),
        (f"ipv6/conf/{device}/mldv2_unsolicited_report_interval", "0"),
    ]:
        with contextlib.suppress(OSError):
            Path("/proc/sys/net", file).write_text(value, encoding="ascii")
    steps = [
        "link set lo up",
        f"address add {order['address']}/32 dev {device}",
        f"link set {device} mtu {order['mtu']} txqueuelen 1000 up",
        f"route add default dev {device} src {order['address']}",
    ]
    six = [f"address add {order['address6']} dev {device} nodad", f"route add default dev {device}"]
    for family, lines in (["-4"], steps), (["-6"], six):
        done = subprocess.run(
            ["ip", *family, "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=False
        )
        # A kernel without IPv6 is none that cannot be used.
        if done.returncode and family == ["-4"]:
            raise OSError(done.stderr.strip())
    socket.sethostname(order["name"])
    with tempfile.NamedTemporaryFile("w", prefix="interlayer-hosts-") as table:
        table.write(order["names"])
        table.flush()
        with contextlib.suppress(OSError):
            subprocess.run(["mount", "--bind", table.name, "/etc/hosts"], capture_output=True, check=False)


def main() -> None:
    # What is pressed at a terminal is for programs, and for whoever made this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    order = json.loads(control.recv(1 << 20))
    try:
        device = tun(order["device"])
        configure(order)
    except OSError as e:
        control.sendall(json.dumps({"error": str(e)}).encode())
        return
    socket.send_fds(control, [b"{}"], [device])
    os.close(device)
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    reap()
    while control.recv(1):
        pass


def reap() -> None:
    """Takes leave of those whose parents have gone before them."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main()
