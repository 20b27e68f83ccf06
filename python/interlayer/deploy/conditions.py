"""What must hold for the priority to act, each told in a line with its reason and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlayer.errors import InputError, suggestion

from . import ruleset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .system import System

KERNEL = (5, 16)
"""The first Linux with a netfilter hook at egress of a device (commit 42df6e1d221d)."""
NFT = (1, 0, 1)
"""The first nft that knows that hook (commit 510c4fad7e78, "src: Support netdev egress hook")."""


def version(text: str) -> tuple[int, ...]:
    """The numbers at the beginning of a release: (6, 6, 86) of 6.6.86-rt1."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", text)
    return tuple(map(int, found[1].split("."))) if found else ()


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


# ------------------------------------------------------------------------------------------------ without which no look


def required(system: System) -> None:
    """Kernel, nft and privilege. Nothing else can be found out where one of them is missing."""
    if version(system.release) < KERNEL:
        raise InputError(
            f"Linux {system.release}: the egress hook needs {_dotted(KERNEL)} or newer (OpenWrt 23.05 has 5.15)"
        )
    if not system.has("nft"):
        raise InputError("no nft: install nftables (on OpenWrt: nftables and kmod-nft-netdev)")
    told = system.run("nft", "--version").out.removeprefix("nftables ").partition(" ")[0]
    if version(told) < NFT:
        raise InputError(f"nft {told}: the egress hook needs {_dotted(NFT)} or newer")
    rules(system)


def rules(system: System) -> str:
    """The ruleset of this machine."""
    done = system.run("nft", "list", "ruleset")
    if done.status and "not permitted" in done.err:
        raise InputError("no privilege to read or load rules: run it as root (CAP_NET_ADMIN in this network namespace)")
    if done.status:
        raise InputError(f"nft list ruleset: {done.why}")
    return done.out


# --------------------------------------------------------------------------------------------- each looked at by itself


def failing(system: System, devices: list[str], klass: str, *, any_device: bool) -> list[str]:
    """A line for each condition that does not hold; needs what `required` asks for."""
    found = [line for device in devices for line in _device(system, device, any_device)]
    present = set(system.devices())
    here = [device for device in devices if device in present]
    listed = _tables(rules(system))
    found += [line for look in _LOOKS for line in look(system, listed)]
    found += [line for device in here for line in _by_tc(system, device)]
    # nft finds an absent device itself before Linux 6.16, and says so in its own words.
    return found + (list(_hook(system, here, klass)) if here else [])


def _device(system: System, device: str, any_device: bool) -> Iterator[str]:
    known = system.devices()
    if device not in known:
        near = suggestion(device, [name for name in known if system.is_wireless(name)] or known)
        yield f"--iface: no device {device}{near}"
    elif not any_device and not system.is_wireless(device):
        yield f"--iface: {device} is not wireless: it has no access categories to choose from; --any-device to go on"


def _tables(listed: str) -> list[tuple[str, str]]:
    """Names and bodies of the tables but ours, of what `nft list ruleset` writes."""
    found = re.findall(r"^table (\S+ \S+) \{\n(.*?)^\}", listed, re.MULTILINE | re.DOTALL)
    return [(name, body) for name, body in found if name != f"{ruleset.FAMILY} {ruleset.TABLE}"]


_OFFLOADED = "an offloaded flow need not come by the rule"
"""In hardware it does not. In software `nf_flow_queue_xmit` (Linux, net/netfilter/nf_flow_table_ip.c) hands it to the
device by `dev_queue_xmit`, egress hook included; but which of both a flowtable does can change under the rule."""


def _flowtables(system: System, tables: list[tuple[str, str]]) -> Iterator[str]:
    for name, body in tables:
        if found := re.search(r"^\s*flowtable (\S+)", body, re.MULTILINE):
            yield (
                f"flow offload is on: flowtable {found[1]} in table {name}; {_OFFLOADED}; turn it off "
                "(on OpenWrt: uci set firewall.@defaults[0].flow_offloading=0; uci commit firewall; fw4 reload)"
            )


def _uci(system: System, tables: list[tuple[str, str]]) -> Iterator[str]:
    """Asks OpenWrt's settings: fw4 makes the flowtable of them at its next start (firewall4, fw4.uc)."""
    if not system.has("uci"):
        return
    for key in ("flow_offloading", "flow_offloading_hw"):
        path = f"firewall.@defaults[0].{key}"
        if system.run("uci", "-q", "get", path).out.strip() in ("1", "on", "true", "yes", "enabled"):
            yield f"flow offload is on: {path}; {_OFFLOADED}; uci set {path}=0; uci commit firewall; fw4 reload"


def _wed(system: System, tables: list[tuple[str, str]]) -> Iterator[str]:
    """Asks MediaTek's drivers: `wed_enable` of mt7915e and mt7996e (openwrt/mt76, mmio.c)."""
    for place in sorted(system.file("/sys/module").glob("*/parameters/wed_enable")):
        module = place.parts[-3]
        if system.text(f"/sys/module/{module}/parameters/wed_enable") in ("Y", "1"):
            yield (
                f"WED is on: /sys/module/{module}/parameters/wed_enable; {_OFFLOADED}; load the module "
                "without wed_enable=Y (/etc/modules.conf, /etc/modules.d), and restart"
            )


def _priorities(system: System, tables: list[tuple[str, str]]) -> Iterator[str]:
    for name, body in tables:
        for line in body.splitlines():
            if "meta priority set" in line or 'xt target "CLASSIFY"' in line:
                yield f'table {name} sets the priority, too: "{" ".join(line.split())}"; remove one of the two'
                break


def _by_tc(system: System, device: str) -> Iterator[str]:
    """tc's egress comes after netfilter's (net/core/dev.c): what it sets stays."""
    filters = system.run("tc", "filter", "show", "dev", device, "egress").out if system.has("tc") else ""
    if re.search(r"skbedit\b.*\bpriority\b", filters, re.DOTALL):
        yield f"tc on {device} sets the priority, too (tc filter show dev {device} egress); remove one of the two"


def _hook(system: System, devices: list[str], klass: str) -> Iterator[str]:
    """Has the kernel check the table without loading it.

    It registers the hook for that, and says "not supported" where it has none (Linux, net/netfilter/core.c), or "no
    such file" where it has no chains of that family.
    """
    done = system.run("nft", "-c", "-f", "-", stdin=ruleset.text(devices, klass))
    if done.status and re.search("not supported|No such file", done.err):
        yield (
            f"this kernel has no egress hook ({done.why}): it needs CONFIG_NETFILTER_EGRESS and "
            "CONFIG_NF_TABLES_NETDEV (on OpenWrt: kmod-nft-netdev)"
        )
    elif done.status:
        yield f"nft refuses the table: {done.why}"


_LOOKS: list[Callable[[System, list[tuple[str, str]]], Iterator[str]]] = [_flowtables, _uci, _wed, _priorities]
