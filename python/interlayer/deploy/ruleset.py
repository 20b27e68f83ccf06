"""The nftables table, as text: which packets have which priority.

A control packet is a TCP segment without payload: a pure ACK, SYN, SYN-ACK, FIN or RST, as in the scheme `ftca`. A FIN
or a SYN that carries data is data.

The value set is a tc handle in hexadecimal: 0:0105 is 0x105 = 261, user priority 5 for `cfg80211_classify8021d`, which
takes 256 to 263 before the VLAN tag and the DSCP (Linux, net/wireless/util.c). `__dev_queue_xmit` runs the egress hook
before it hands the packet to the device (Linux 5.16, net/core/dev.c), and mac80211 classifies after that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from interlayer.errors import InputError, suggestion

FAMILY, TABLE = "netdev", "interlayer"
HEADERS = range(5, 16)
"""The lengths that a TCP header can have, in words of four bytes (RFC 9293 3.1)."""

KINDS = {
    "SYN": "tcp flags & (syn | ack) == syn",
    "SYN-ACK": "tcp flags & (syn | ack) == (syn | ack)",
    "RST": "tcp flags & rst == rst",
    "FIN": "tcp flags & fin == fin",
    "ACK": "tcp flags & ack == ack",
}
"""Control packets by their flags, and how nft says that. The first that is true counts the packet."""

Class = Literal["vi", "vo"]
USER_PRIORITY = {"vi": 5, "vo": 6}
"""The user priority of an access category (IEEE 802.11-2020 table 10-1)."""

VO_MEASURED = "in the model five uploads over 802.11ac at 80 MHz fall from 374 to 94 Mb/s by it"
"""The measured price of AC_VO as a clause: `beyond/ack-priority-vo`, an ACK for every second segment."""


def warning(klass: str) -> str:
    """What a user of AC_VO should know; empty for AC_VI."""
    if klass != "vo":
        return ""
    return (
        "--class vo: AC_VO has no Block Ack session in mac80211 under minstrel_ht, nor in mt7915 and mt7996, "
        f"so that every ACK is a transmission of its own{VO_MEASURED and f' ({VO_MEASURED})'}; --class vi aggregates"
    )


_NAME = re.compile(r"[A-Za-z0-9_.@+-]{1,15}")
"""Names of devices that need no quotation mark escaped: a part of what the kernel allows (`dev_valid_name`)."""


def checked_devices(names: list[str]) -> list[str]:
    """The devices, each once. Names go into a script that root runs: what is no plain name is refused."""
    for name in names:
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise InputError(f'--iface: "{name}" is no name of a network device, as in phy0-ap0', "--iface")
    return list(dict.fromkeys(names))


def checked_class(klass: str) -> str:
    if klass not in USER_PRIORITY:
        raise InputError(f'--class: no class "{klass}"{suggestion(klass, USER_PRIORITY)}', "--class")
    return klass


def hook(devices: list[str]) -> str:
    """The devices, as the line of the hook names them."""
    quoted = [f'"{name}"' for name in devices]
    return f"device {quoted[0]}" if len(quoted) == 1 else f"devices = {{ {', '.join(quoted)} }}"


def text(devices: list[str], klass: str) -> str:
    """The table as `nft -f` takes it, in one transaction, whatever of it is loaded already.

    One rule a header length: a set over `tcp doff . ip length` loads, and then nft 1.0.6 aborts when it lists it.
    """
    marked = f"counter meta priority set 0:010{USER_PRIORITY[klass]} accept"
    control = [f'{match} {marked} comment "{kind}"' for kind, match in KINDS.items()]
    ipv4 = [f"tcp doff {words} ip length {20 + 4 * words} counter goto control" for words in HEADERS]
    ipv6 = [f"tcp doff {words} ip6 length {4 * words} counter goto control" for words in HEADERS]
    # The ranges spare a data packet the eleven rules. The length of a fragment is not that of its segment. Behind
    # options of IPv4 or extension headers no length would fit; the rules name these so that nobody has to work it out.
    egress = [
        f"type filter hook egress {hook(devices)} priority 0; policy accept;",
        "ip protocol tcp ip hdrlength 5 ip frag-off & 0x3fff == 0 ip length 40-80 goto ipv4",
        "ip6 nexthdr tcp ip6 length 20-60 goto ipv6",
    ]
    chains = {"control": control, "ipv4": ipv4, "ipv6": ipv6, "egress": egress}
    lines = [f"add table {FAMILY} {TABLE}", f"delete table {FAMILY} {TABLE}", f"table {FAMILY} {TABLE} {{"]
    for name, rules in chains.items():
        lines += [f"\tchain {name} {{", *(f"\t\t{rule}" for rule in rules), "\t}"]
    return "\n".join([*lines, "}", ""])


@dataclass(frozen=True)
class Counted:
    """Packets and bytes of one kind of control packet since the table was loaded. Bytes include the Ethernet header."""

    packets: int
    bytes: int


@dataclass(frozen=True)
class Loaded:
    """The table as nft lists it: devices, class (empty if rules differ in it), rules for header lengths, counts."""

    devices: list[str]
    klass: str
    lengths: int
    counts: dict[str, Counted]

    @property
    def is_whole(self) -> bool:
        """False where somebody took rules out by hand."""
        return bool(self.klass) and self.lengths == 2 * len(HEADERS) and self.counts.keys() == KINDS.keys()


_COUNTER = re.compile(r'counter packets (\d+) bytes (\d+) meta priority set 0:([0-9a-f]+) accept comment "([A-Z-]+)"')
_DEVICES = re.compile(r"hook egress devices? (?:= )?(.*?) priority")


def read(listed: str) -> Loaded:
    """Reads what `nft list table netdev interlayer` writes."""
    found = _DEVICES.search(listed)
    rules = _COUNTER.findall(listed)
    classes = {klass for klass, up in USER_PRIORITY.items() for rule in rules if int(rule[2], 16) == 0x100 + up}
    same = len({rule[2] for rule in rules}) == 1 and len(classes) == 1
    return Loaded(
        re.findall(r'[^\s"{},]+', found[1]) if found else [],
        classes.pop() if same else "",
        len(re.findall(r"counter .*goto control", listed)),
        {kind: Counted(int(packets), int(size)) for packets, size, _, kind in rules},
    )
