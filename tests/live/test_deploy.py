"""`interlayer deploy ack-priority`: what it marks of real TCP, what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interlayer.deploy import ack_priority, conditions, openwrt, ruleset
from interlayer.deploy.system import Done, System
from interlayer.errors import InputError, InterlayerError
from networks import command, inside, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# ---------------------------------------------------------------------------------------------------------- the packets

MARKED = "02:00:00:00:01:05"
"""The source address that a second table gives to frames of priority 0:0105, so that a capture shows the priority."""
SYN, RST, FIN, ACK, PSH = 2, 4, 1, 16, 8
TCP, UDP, ROUTING, SACK, TIMESTAMPS = 6, 17, 43, 5, 8


@dataclass(frozen=True)
class Seen:
    """A TCP segment as captured: its kind if it is a control packet (else empty), whether it is marked, its options."""

    kind: str
    is_marked: bool
    dscp: int
    options: frozenset[int]
    is_ipv6: bool
    port: int


def kind_of(flags: int) -> str:
    """By flags alone, as TCP's standard names segments: an oracle that shares nothing with the rules."""
    if flags & SYN:
        return "SYN-ACK" if flags & ACK else "SYN"
    return next((name for bit, name in ((RST, "RST"), (FIN, "FIN"), (ACK, "ACK")) if flags & bit), "")


def seen(frame: bytes) -> Seen | None:
    """Reads a frame; None for what is not TCP. Behind options of IPv4 or an extension header nothing is control."""
    protocol, ip = struct.unpack("!H", frame[12:14])[0], frame[14:]
    if protocol == 0x0800 and ip[9] == TCP:
        start, length, plain = 4 * (ip[0] & 15), struct.unpack("!H", ip[2:4])[0], ip[0] == 0x45
        plain = plain and struct.unpack("!H", ip[6:8])[0] & 0x3FFF == 0
        dscp = ip[1] >> 2
    elif protocol == 0x86DD and ip[6] in (TCP, ROUTING):
        start, length, plain = 40, 40 + struct.unpack("!H", ip[4:6])[0], ip[6] == TCP
        start += 0 if plain else 8
        dscp = struct.unpack("!H", ip[:2])[0] >> 6 & 63
    else:
        return None
    tcp = ip[start:]
    header = 4 * (tcp[12] >> 4)
    kind = kind_of(tcp[13]) if plain and length == start + header else ""
    options, at = set(), 20
    while at < header and tcp[at] != 0:
        options.add(tcp[at])
        at += 1 if tcp[at] == 1 else tcp[at + 1]
    marked = frame[6:12] == bytes.fromhex(MARKED.replace(":", ""))
    return Seen(kind, marked, dscp, frozenset(options), protocol == 0x86DD, struct.unpack("!H", tcp[:2])[0])


class Capture:
    """What arrives at a device, from now on."""

    def __init__(self, name: str, device: str) -> None:
        with inside(name):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.socket.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
            self.socket.bind((device, 0))
        self.socket.settimeout(0.05)
        self.frames: list[bytes] = []
        self.is_over = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        while not self.is_over:
            try:
                frame, (_, _, way, *_) = self.socket.recvfrom(200)
            except TimeoutError:
                continue
            if way != socket.PACKET_OUTGOING:
                self.frames.append(frame)

    def end(self) -> list[Seen]:
        """All TCP segments; none may have been lost by the socket."""
        self.is_over = True
        self.thread.join()
        packets, drops = struct.unpack("II", self.socket.getsockopt(263, 6, 8))  # SOL_PACKET, PACKET_STATISTICS
        self.socket.close()
        assert packets > 0
        assert drops == 0
        return [one for frame in self.frames if (one := seen(frame)) is not None]


# ------------------------------------------------------------------------------------------------------------ the cells


@dataclass
class Cell:
    """A station, an access point and a server; `wlan0` leads to the station, `lan0` to the server."""

    sta: str
    ap: str
    server: str
    is_bridge: bool

    @property
    def system(self) -> System:
        return System(prefix=("ip", "netns", "exec", self.ap))

    def rules(self) -> str:
        return command("ip", "netns", "exec", self.ap, "nft", "list", "ruleset")

    def address(self, host: str, family: socket.AddressFamily) -> str:
        subnet = 1 if self.is_bridge or host == "sta" else 2
        last = {"sta": 2, "server": 3}[host]
        return f"10.0.{subnet}.{last}" if family == socket.AF_INET else f"fd00:{subnet}::{last}"


def nft(name: str, rules: str) -> None:
    command("ip", "netns", "exec", name, "nft", "-f", "-", stdin=rules)


def veth(device: str, index: int, name: str, peer: str, others: str) -> str:
    """Both ends, with indices that differ: Linux then says at once that there is a carrier, and not a second later."""
    return f"link add {device} index {index} netns {name} type veth peer name {peer} index {index + 10} netns {others}"


def built(namespace: Callable[[str], str], *, is_bridge: bool) -> Cell:
    if shutil.which("nft") is None:
        pytest.skip("needs nft: apt-get install nftables")
    made = Cell(namespace("sta"), namespace("ap"), namespace("server"), is_bridge)
    for name in (made.sta, made.ap, made.server):  # a router without a checked link-local address finds no neighbour
        sysctl(name, ipv6__conf__default__accept_dad=0, ipv6__conf__all__accept_dad=0)
    links = [veth("wlan0", 11, made.ap, "sta0", made.sta), veth("lan0", 12, made.ap, "eth0", made.server)]
    command("ip", "-batch", "-", stdin="\n".join(links))
    for name, device, host in ((made.sta, "sta0", "sta"), (made.server, "eth0", "server")):
        ipv4, ipv6 = made.address(host, socket.AF_INET), made.address(host, socket.AF_INET6)
        lines = [f"addr add {ipv4}/24 dev {device}", f"addr add {ipv6}/64 dev {device} nodad", f"link set {device} up"]
        if not is_bridge:
            gateway = ipv4.rpartition(".")[0] + ".1", ipv6.rpartition(":")[0] + ":1"
            lines += [f"route add default via {gateway[0]}", f"route add ::/0 via {gateway[1]}"]
        command("ip", "-n", name, "-batch", "-", stdin="\n".join(lines))
    devices = [f"link set {device} up" for device in ("wlan0", "lan0")]
    if is_bridge:
        devices = ["link add br0 type bridge", "link set wlan0 master br0", "link set lan0 master br0", *devices]
        devices += ["link set br0 up"]
    else:
        for device, subnet in (("wlan0", 1), ("lan0", 2)):
            devices += [f"addr add 10.0.{subnet}.1/24 dev {device}", f"addr add fd00:{subnet}::1/64 dev {device} nodad"]
    command("ip", "-n", made.ap, "-batch", "-", stdin="\n".join(devices))
    return made


@pytest.fixture
def bridge(namespace: Callable[[str], str]) -> Cell:
    return built(namespace, is_bridge=True)


def sysctl(name: str, **values: int) -> None:
    with inside(name):
        for key, value in values.items():
            Path(f"/proc/sys/net/{key.replace('__', '/')}").write_text(str(value))


def deploy(cell: Cell, *options: str) -> subprocess.CompletedProcess[str]:
    """The command itself, in the access point's namespace."""
    words = [sys.executable, "-m", "interlayer", "deploy", "ack-priority", *options]
    whole = ["ip", "netns", "exec", cell.ap, *words]
    return subprocess.run(whole, capture_output=True, text=True, check=False)


# ---------------------------------------------------------------------------------------------------------- the traffic


def listener(name: str, address: str, family: socket.AddressFamily) -> socket.socket:
    with inside(name):
        made = socket.socket(family)
        made.bind((address, 0))
        made.listen()
        return made


def connection(name: str, to: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection from a namespace to a listener."""
    with inside(name):
        end = socket.socket(to.family)
    end.settimeout(5)
    end.connect(to.getsockname()[:2])
    return end, to.accept()[0]


def sent(source: socket.socket, sink: socket.socket, size: int) -> None:
    """Sends bytes and closes that direction with them, so that a FIN can have data."""

    def feed() -> None:
        source.sendall(bytes(size))
        source.shutdown(socket.SHUT_WR)

    feeding = threading.Thread(target=feed)
    feeding.start()
    sink.settimeout(5)
    got = 0
    while part := sink.recv(1 << 16):
        got += len(part)
    feeding.join()
    assert got == size


def traffic(cell: Cell, family: socket.AddressFamily) -> None:
    """An upload with losses, a download, a connection each way, one that is refused and one that is cut."""
    server = listener(cell.server, cell.address("server", family), family)
    station = listener(cell.sta, cell.address("sta", family), family)
    with server, station:
        for size_up, size_down in ((1_500_000, 1), (1, 300_000)):
            near, far = connection(cell.sta, server)
            with near, far:
                sent(near, far, size_up)
                sent(far, near, size_down)
        far, near = connection(cell.server, station)
        with near, far:
            sent(far, near, 5000)
            sent(near, far, 1)
        near, far = connection(cell.sta, server)
        far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        far.close()
        with near, pytest.raises(ConnectionResetError):
            near.recv(1)
    with inside(cell.sta):
        refused = socket.socket(family)
    with refused, pytest.raises(ConnectionRefusedError):
        refused.connect((cell.address("server", family), 9))


CRAFTED = 4000
"""The source port of packets that no socket makes."""


def tcp_header(words: int, flags: int) -> bytes:
    return struct.pack("!HHIIBBHHH", CRAFTED, 9, 7, 9, words << 4, flags, 512, 0, 0) + bytes([1]) * (4 * words - 20)


def ipv4(body: bytes, *, options: bytes = b"", fragment: int = 0, protocol: int = TCP) -> bytes:
    """A packet from the server to the station. A bridge that hands packets to IP's netfilter looks at the checksum."""
    words, length = 5 + len(options) // 4, 20 + len(options) + len(body)
    head = struct.pack("!BBHHHBBH", 0x40 + words, 0, length, 1, fragment, 64, protocol, 0)
    head += socket.inet_aton("10.0.1.3") + socket.inet_aton("10.0.1.2") + options
    total = sum(struct.unpack(f"!{len(head) // 2}H", head))
    total = (total >> 16) + (total & 0xFFFF)
    return head[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + head[12:] + body


def ipv6(body: bytes, *, following: int = TCP, extra: bytes = b"") -> bytes:
    head = struct.pack("!IHBB", 6 << 28, len(extra) + len(body), following, 64)
    ends = [socket.inet_pton(socket.AF_INET6, end) for end in ("fd00:1::3", "fd00:1::2")]
    return head + b"".join(ends) + extra + body


def crafted() -> Iterator[bytes]:
    """IP packets that no socket makes: every header length, options, fragments, extension headers, odd flags, UDP."""
    for words in range(5, 16):
        for payload in (b"", b"x", b"four", b"x" * 40):
            yield ipv4(tcp_header(words, ACK) + payload)
            yield ipv6(tcp_header(words, ACK) + payload)
    for flags in (SYN, SYN | ACK, FIN | ACK, RST, RST | ACK, PSH, 0):
        for payload in (b"", b"x" * 10):
            yield ipv4(tcp_header(5, flags) + payload)
            yield ipv6(tcp_header(5, flags) + payload)
    yield ipv4(tcp_header(5, ACK), options=bytes([1, 1, 1, 1]))
    for fragment in (0x2000, 0x2001, 1):
        yield ipv4(tcp_header(5, ACK), fragment=fragment)
    yield ipv4(tcp_header(5, ACK), fragment=0x4000)  # "do not fragment" is no fragment
    for words in (5, 6, 7, 8):  # a routing header in front, and a length like that of a longer TCP header
        yield ipv6(tcp_header(words, ACK), following=ROUTING, extra=bytes([TCP, 0, 4, 0, 0, 0, 0, 0]))
    yield ipv4(bytes(20), protocol=UDP)


def send(cell: Cell, packets: Iterable[bytes]) -> None:
    """Over the bridge, from the server to the station."""
    station = command("ip", "netns", "exec", cell.sta, "cat", "/sys/class/net/sta0/address").strip()
    ends = bytes.fromhex(station.replace(":", "")) + bytes.fromhex("020000000009")
    with inside(cell.server):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        raw.bind(("eth0", 0))
    with raw:
        for packet in packets:
            raw.send(ends + (b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd") + packet)


# --------------------------------------------------------------------------------------------------- what it marks live


@pytest.mark.parametrize("path", ["bridge", "routed"])
def test_of_real_tcp_exactly_the_control_packets_are_marked(path: str, namespace: Callable[[str], str]) -> None:
    cell = built(namespace, is_bridge=path == "bridge")
    if path == "routed":
        sysctl(cell.ap, ipv4__ip_forward=1, ipv6__conf__all__forwarding=1)
        sysctl(cell.server, ipv4__tcp_timestamps=0)  # over the bridge they are on
    # The air loses packets, one by one. At the sender's own egress TCP would hear of a loss at once.
    command("ip", "-n", cell.sta, "link", "set", "sta0", "gso_max_segs", "1")
    drops = "meta l4proto tcp meta length > 500 numgen inc mod 31 == 7 drop"
    nft(
        cell.ap, f'table netdev lossy {{ chain c {{ type filter hook ingress device "wlan0" priority 0; {drops}; }}; }}'
    )
    show = f"meta priority 0:0105 ether saddr set {MARKED}"
    nft(cell.ap, f'table netdev shown {{ chain c {{ type filter hook egress device "wlan0" priority 9; {show}; }}; }}')
    ack_priority.apply(cell.system, ["wlan0"], "vi", any_device=True)
    capture = Capture(cell.sta, "sta0")
    for family in (socket.AF_INET, socket.AF_INET6):
        traffic(cell, family)
    if path == "bridge":
        send(cell, crafted())
    expected: Counter[str] = Counter()
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:  # the last FIN and its ACK may be on their way
        counts = ack_priority.loaded(cell.system).counts  # type: ignore[union-attr]
        expected = Counter(one.kind for frame in list(capture.frames) if (one := seen(frame)) and one.kind)
        if {kind: n.packets for kind, n in counts.items()} == expected:
            break
        time.sleep(0.02)
    segments = capture.end()

    assert [one for one in segments if one.is_marked != bool(one.kind)] == []
    assert {kind: n.packets for kind, n in counts.items()} == expected
    for of in (False, True):  # IPv4, then IPv6
        kinds = Counter(one.kind for one in segments if one.is_ipv6 == of)
        assert kinds.keys() == {"", *ruleset.KINDS}, "every kind was there, and data"
        assert kinds["ACK"] > 100
        blocks = [one.options for one in segments if one.is_ipv6 == of and one.is_marked and SACK in one.options]
        assert len(blocks) > 5
        assert {TIMESTAMPS in options for options in blocks} == {path == "bridge"}
    assert {one.dscp for one in segments} == {0}
    if path == "bridge":
        assert sum(one.port == CRAFTED for one in segments) == sum(1 for _ in crafted()) - 1  # and one of UDP


# ------------------------------------------------------------------------------------------------ loading and unloading

OTHERS = """
table inet fw4 {
	counter mine { packets 5 bytes 7 }
	chain input { type filter hook input priority 0; tcp dport 22 counter name mine accept; }
}
table netdev other { chain c { type filter hook egress device "wlan0" priority 3; ip dscp ef counter; }; }
"""


def test_remove_gives_the_ruleset_back_byte_for_byte(bridge: Cell) -> None:
    nft(bridge.ap, OTHERS)
    before = bridge.rules()
    printed = deploy(bridge, "--iface", "wlan0", "--print").stdout
    first = deploy(bridge, "--iface", "wlan0", "--any-device", "--apply")
    assert (first.returncode, first.stderr) == (0, "")
    applied = bridge.rules()
    assert "table netdev interlayer" in applied
    ack_priority.apply(bridge.system, ["wlan0"], "vo", any_device=True)
    assert bridge.rules() == applied.replace("0:105", "0:106")
    ack_priority.apply(bridge.system, ["wlan0"], "vi", any_device=True)
    assert bridge.rules() == applied
    ack_priority.remove(bridge.system)
    assert bridge.rules() == before
    # What is printed is what is loaded, and it can be loaded twice.
    nft(bridge.ap, printed)
    nft(bridge.ap, printed)
    assert bridge.rules() == applied
    assert deploy(bridge, "--iface", "wlan0", "--remove").returncode == 0
    assert bridge.rules() == before
    assert ack_priority.remove(bridge.system).startswith("nothing to remove")


def test_check_says_what_is_in_force_and_ends_with_1_if_it_is_not(bridge: Cell) -> None:
    off = deploy(bridge, "--iface", "wlan0", "--check")
    assert off.returncode == 1
    assert off.stdout.splitlines() == [
        "wlan0: not in force: no table netdev interlayer",
        "fails: --iface: wlan0 is not wireless: it has no access categories to choose from; --any-device to go on",
    ]
    ack_priority.apply(bridge.system, ["wlan0", "lan0"], "vo", any_device=True)
    on = ack_priority.check(bridge.system, ["wlan0", "lan0"], any_device=True)
    assert (on.in_force, on.fails) == (True, [])
    assert on.lines[0] == "wlan0: in force, AC_VO, user priority 6"
    assert [line.split()[0] for line in on.lines[2:]] == list(ruleset.KINDS)
    command("ip", "-n", bridge.ap, "link", "delete", "lan0")
    half = ack_priority.check(bridge.system, ["wlan0", "lan0"], any_device=True)
    assert not half.in_force
    assert "lan0: not in force: no such device" in half.lines
    other = ack_priority.check(bridge.system, ["br0"], any_device=True)
    assert other.lines[0].startswith("br0: not in force: the table is for lan0, wlan0")
    command("ip", "netns", "exec", bridge.ap, "nft", "flush", "chain", "netdev", "interlayer", "ipv6")
    assert "changed by hand" in ack_priority.check(bridge.system, ["wlan0"], any_device=True).lines[0]


def test_a_rule_that_sets_the_priority_and_a_missing_privilege_are_found_in_earnest(bridge: Cell) -> None:
    nft(bridge.ap, "table ip mine { chain c { type filter hook postrouting priority 0; meta priority set 0:6 ; }; }")
    with pytest.raises(InputError, match="table ip mine sets the priority, too"):
        ack_priority.apply(bridge.system, ["wlan0"], "vi", any_device=True)
    assert "interlayer" not in bridge.rules()
    if shutil.which("setpriv"):
        nobody = System(prefix=("setpriv", "--reuid", "65534", "--clear-groups"))
        with pytest.raises(InputError, match="no privilege"):
            ack_priority.apply(nobody, ["lo"], "vi", any_device=True)


# -------------------------------------------------------------------------------------------------------------- OpenWrt


def hotplug(cell: Cell, script: Path, action: str, interface: str = "wlan0") -> subprocess.CompletedProcess[str]:
    """As hotplug-call does it: the script is sourced in a subshell."""
    words = ["ip", "netns", "exec", cell.ap, "sh", "-c", f"( . {script} ); exit $?"]
    environment = {**os.environ, "ACTION": action, "INTERFACE": interface}
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)


def acts(cell: Cell) -> bool:
    """True if a SYN to the station is counted. A port of a bridge forwards some time after it is up."""
    deadline = time.monotonic() + 2
    while (table := ack_priority.loaded(cell.system)) and time.monotonic() < deadline:
        if table.counts["SYN"].packets:
            return True
        send(cell, [ipv4(tcp_header(5, SYN))])
        time.sleep(0.01)
    return False


def test_the_hotplug_script_loads_after_wifi_reload_and_after_a_firewall_stop(bridge: Cell, tmp_path: Path) -> None:
    router = bridge.system
    router.root = tmp_path
    script = tmp_path / openwrt.SCRIPT.lstrip("/")
    (tmp_path / "etc/hotplug.d").mkdir(parents=True)
    assert "hotplug" in ack_priority.apply(router, ["wlan0"], "vi", any_device=True, hotplug=True)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written == [script], "no file that fw4 includes, no half of one"
    assert acts(bridge)
    applied = bridge.rules()

    # `service firewall stop` deletes every table; `wifi reload` takes the device away and makes it again.
    for action in ("add", "move"):
        command("ip", "netns", "exec", bridge.ap, "nft", "flush", "ruleset")
        assert not acts(bridge)
        command("ip", "-n", bridge.ap, "link", "delete", "wlan0")
        assert hotplug(bridge, script, "remove").returncode == 0
        gone = hotplug(bridge, script, action)  # the event came late: there is no such device any more
        assert (gone.returncode, gone.stderr) == (0, "")
        command("ip", "-batch", "-", stdin=veth("wlan0", 11, bridge.ap, "sta0", bridge.sta))
        lines = "link set wlan0 master br0\nlink set wlan0 up"
        command("ip", "-n", bridge.ap, "-batch", "-", stdin=lines)
        command("ip", "-n", bridge.sta, "link", "set", "sta0", "up")
        assert hotplug(bridge, script, action, "lan0").returncode == 0, "another device is none of its business"
        assert bridge.rules() == ""
        loaded = hotplug(bridge, script, action)
        assert (loaded.returncode, loaded.stderr) == (0, "")
        # The rule acts again: a frame that leaves through the new device is counted.
        assert acts(bridge)
    numbers = r"packets \d+ bytes \d+"
    assert re.sub(numbers, "", bridge.rules()) == re.sub(numbers, "", applied)

    assert str(script) in ack_priority.remove(router)
    assert bridge.rules() == ""
    assert not script.exists()


def test_the_script_refuses_flow_offload_and_leaves_what_is_not_ours(bridge: Cell, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(openwrt.text(["wlan0"], "vi"))
    (tmp_path / "nft").write_text("#!/bin/sh\n[ $1 = list ] && echo '\tflowtable ft {'\n")
    (tmp_path / "nft").chmod(0o755)
    script.write_text(script.read_text().replace("command -v nft", f"PATH={tmp_path}:$PATH; command -v nft"))
    refused = hotplug(bridge, script, "add")
    assert refused.returncode == 1
    assert "not loaded for wlan0: flow offload is on" in refused.stderr
    assert not openwrt.is_ours(tmp_path / "nft")
    assert openwrt.is_ours(script)


# ------------------------------------------------------------------------------------------------------------- refusals

FLOWTABLE = """table inet fw4 {
	flowtable ft {
		hook ingress priority filter
		devices = { eth0, phy0-ap0 }
	}

	chain forward {
		type filter hook forward priority filter; policy drop;
	}
}
"""


@dataclass
class Router(System):
    """A machine that only says what it is told to: OpenWrt 24.10 with nothing in the way."""

    release: str = "6.6.86"
    programs: set[str] = field(default_factory=lambda: {"nft"})
    said: dict[tuple[str, ...], Done] = field(default_factory=dict)
    given: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    is_wifi: bool = True

    def has(self, program: str) -> bool:
        return program in self.programs

    def run(self, *command: str, stdin: str = "") -> Done:
        self.given.append((command, stdin))
        if command == ("nft", "--version"):
            return self.said.get(command, Done(0, "nftables v1.1.1 (Commodore Bullmoose #2)\n", ""))
        return self.said.get(command, Done(0, "", ""))

    def devices(self) -> list[str]:
        return ["lo", "eth0", "phy0-ap0", "phy1-ap0"]

    def is_wireless(self, device: str) -> bool:
        return self.is_wifi and device.startswith("phy")


LIST, CHECK, LOAD = ("nft", "list", "ruleset"), ("nft", "-c", "-f", "-"), ("nft", "-f", "-")
OFFLOAD = ("uci", "-q", "get", "firewall.@defaults[0].flow_offloading")
REFUSALS = {
    "a device that is not there": ({}, r"^--iface: no device phy0-ap1; did you mean \"phy0-ap0\"\?$"),
    "a device that is not wireless": ({"is_wifi": False}, "^--iface: phy0-ap0 is not wireless.*--any-device"),
    "an old kernel": ({"release": "5.15.150"}, "^Linux 5.15.150: .* needs 5.16 or newer"),
    "no nft": ({"programs": set()}, "^no nft: install nftables"),
    "an old nft": (
        {"said": {("nft", "--version"): Done(0, "nftables v1.0.0 (Fearless Fosdick #2)\n", "")}},
        "^nft v1.0.0: .* needs 1.0.1",
    ),
    "no privilege": (
        {"said": {LIST: Done(1, "", "Operation not permitted (you must be root)\nnetlink: Error: cache\n")}},
        "^no privilege to read or load rules: run it as root",
    ),
    "no hook in the kernel": (
        {"said": {CHECK: Done(1, "", "/dev/stdin:3:1-2: Error: Could not process rule: Operation not supported\n")}},
        "^this kernel has no egress hook .*CONFIG_NETFILTER_EGRESS",
    ),
    "no such family in the kernel": (
        {"said": {CHECK: Done(1, "", "/dev/stdin:3:1-2: Error: Could not process rule: No such file or directory\n")}},
        "^this kernel has no egress hook .*CONFIG_NF_TABLES_NETDEV",
    ),
    "another complaint of nft": (
        {"said": {CHECK: Done(1, "", "/dev/stdin:3:1-2: Error: syntax error, unexpected junk\n")}},
        "^nft refuses the table: syntax error, unexpected junk$",
    ),
    "flow offload": ({"said": {LIST: Done(0, FLOWTABLE, "")}}, "^flow offload is on: flowtable ft in table inet fw4"),
    "flow offload in the settings": (
        {"programs": {"nft", "uci"}, "said": {OFFLOAD: Done(0, "1\n", "")}},
        r"^flow offload is on: firewall.@defaults\[0\].flow_offloading; .*fw4 reload$",
    ),
    "hardware offload in the settings": (
        {"programs": {"nft", "uci"}, "said": {(*OFFLOAD[:3], f"{OFFLOAD[3]}_hw"): Done(0, "1\n", "")}},
        "flow_offloading_hw; ",
    ),
    "another rule": (
        {"said": {LIST: Done(0, "table ip a {\n\tchain c {\n\t\tip dscp ef meta priority set 0:6\n\t}\n}\n", "")}},
        '^table ip a sets the priority, too: "ip dscp ef meta priority set 0:6"; remove one of the two$',
    ),
    "another rule, by iptables": (
        {"said": {LIST: Done(0, 'table ip mangle {\n\tchain c {\n\t\tcounter xt target "CLASSIFY"\n\t}\n}\n', "")}},
        "^table ip mangle sets the priority, too",
    ),
    "another rule, by tc": (
        {
            "programs": {"nft", "tc"},
            "said": {
                ("tc", "filter", "show", "dev", "phy0-ap0", "egress"): Done(
                    0, "filter protocol ip pref 1 u32\n\taction order 1: skbedit  priority :6 pipe\n", ""
                )
            },
        },
        "^tc on phy0-ap0 sets the priority, too",
    ),
}


@pytest.mark.parametrize("why", REFUSALS)
def test_it_refuses_in_one_line_and_loads_nothing(why: str, tmp_path: Path) -> None:
    machine, line = REFUSALS[why]
    router = Router(root=tmp_path, **machine)  # type: ignore[arg-type]
    (tmp_path / "etc/hotplug.d").mkdir(parents=True)
    device = "phy0-ap1" if "not there" in why else "phy0-ap0"
    with pytest.raises(InputError, match=line) as refused:
        ack_priority.apply(router, [device], "vi", hotplug=True)
    assert len(str(refused.value).splitlines()) == 1
    assert refused.value.status == 2
    assert LOAD not in [command for command, _ in router.given]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("module", ["mt7915e", "mt7996e"])
def test_it_refuses_where_wed_is_on(module: str, tmp_path: Path) -> None:
    place = tmp_path / f"sys/module/{module}/parameters/wed_enable"
    place.parent.mkdir(parents=True)
    place.write_text("Y\n")
    with pytest.raises(InputError, match=f"^WED is on: /sys/module/{module}/parameters/wed_enable"):
        ack_priority.apply(Router(root=tmp_path), ["phy0-ap0"], "vi")
    place.write_text("N\n")
    assert ack_priority.apply(Router(root=tmp_path), ["phy0-ap0"], "vi").startswith("phy0-ap0: in force, AC_VI")


def test_what_is_loaded_is_what_is_printed_and_our_own_table_is_no_other_rule(tmp_path: Path) -> None:
    own = "table netdev interlayer {\n\tchain control {\n\t\tcounter meta priority set 0:105 accept\n\t}\n}\n"
    router = Router(root=tmp_path, said={LIST: Done(0, own, "")})
    ack_priority.apply(router, ["phy0-ap0", "phy1-ap0"], "vo")
    text = ruleset.text(["phy0-ap0", "phy1-ap0"], "vo")
    assert [given for command, given in router.given if command == LOAD] == [text]
    assert text.startswith("add table netdev interlayer\ndelete table netdev interlayer\ntable netdev interlayer {\n")
    assert 'devices = { "phy0-ap0", "phy1-ap0" }' in text


def test_all_conditions_that_fail_are_told_together(tmp_path: Path) -> None:
    router = Router(root=tmp_path, is_wifi=False, said={LIST: Done(0, FLOWTABLE, "")})
    with pytest.raises(InputError) as refused:
        ack_priority.apply(router, ["phy0-ap0"], "vi", hotplug=True)
    first, second, third = str(refused.value).splitlines()
    assert "not wireless" in first
    assert "flowtable" in second
    assert "this is no OpenWrt" in third
    assert conditions.failing(router, ["phy0-ap0"], "vi", any_device=True) == [second]


def test_a_load_that_fails_leaves_the_script_that_was_there(tmp_path: Path) -> None:
    script = tmp_path / openwrt.SCRIPT.lstrip("/")
    script.parent.mkdir(parents=True)
    script.write_text("as it was")
    router = Router(root=tmp_path, said={LOAD: Done(1, "", "Error: No buffer space available\n")})
    with pytest.raises(InterlayerError, match=r"^nft refuses the table: No buffer space available$"):
        ack_priority.apply(router, ["phy0-ap0"], "vi", hotplug=True)
    assert [(path, path.read_text()) for path in tmp_path.rglob("*") if path.is_file()] == [(script, "as it was")]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--class", "be"], '--class: no class "be" (known: vi, vo)'),
        (["--iface", "a b"], '--iface: "a b" is no name of a network device, as in phy0-ap0'),
        (["--iface", "$(reboot)"], '--iface: "$(reboot)" is no name of a network device, as in phy0-ap0'),
        (
            ["--print", "--apply"],
            "--apply: it does not go with --print; give one of --print, --apply, --check, --remove",
        ),
        (["--openwrt", "--check"], "--openwrt: it goes with --print or --apply, not with --check"),
    ],
)
def test_a_wrong_option_is_one_line(options: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    from interlayer import cli

    with pytest.raises(SystemExit) as ended:
        cli.main(["deploy", "ack-priority", "--iface", "phy0-ap0", *options])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"interlayer: {line}\n"


def test_vo_warns_with_the_reason_and_vi_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    from interlayer import cli

    for klass, warns in (("vo", True), ("vi", False)):
        with pytest.raises(SystemExit) as ended:
            cli.main(["deploy", "ack-priority", "--iface", "phy0-ap0", "--class", klass])
        assert ended.value.code == 0
        printed = capsys.readouterr()
        assert ("AC_VO has no Block Ack session in mac80211" in printed.err) == warns
        assert printed.out == ruleset.text(["phy0-ap0"], klass)


def test_nothing_is_left_behind_by_a_test_that_fails(tmp_path: Path) -> None:
    if why := missing():
        pytest.skip(why)
    for name in ("conftest.py", "networks.py"):
        (tmp_path / name).write_text(Path(__file__).with_name(name).read_text("utf-8"))
    (tmp_path / "test_it.py").write_text("def test_it(namespace):\n    assert namespace('left') == ''\n")
    done = subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)], capture_output=True, text=True, check=False)
    name = f"il-{done.stdout.partition('assert ' + chr(39) + 'il-')[2].partition('-left')[0]}-left"
    assert done.returncode == 1
    assert name in done.stdout
    assert name not in command("ip", "netns")
