"""Loads the table, says what is in force, and removes it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlayer.errors import InputError, InterlayerError, writing

from . import conditions, openwrt, ruleset

if TYPE_CHECKING:
    from .system import System

_TABLE = (ruleset.FAMILY, ruleset.TABLE)


def apply(system: System, devices: list[str], klass: str, *, any_device: bool = False, hotplug: bool = False) -> str:
    """Loads the table, in place of one that is there, and says so. With `hotplug` it writes OpenWrt's script, too.

    Where a condition does not hold, nothing is written and nothing is loaded.
    """
    script = system.file(openwrt.SCRIPT)
    conditions.required(system)
    lines = conditions.failing(system, devices, klass, any_device=any_device)
    if hotplug and not script.parent.parent.is_dir():
        lines.append(f"--openwrt: no folder {script.parent.parent}: this is no OpenWrt; --print it, and copy it there")
    if lines:
        raise InputError(lines[0], mistakes=[("--iface" if line.startswith("--iface") else "", line) for line in lines])
    with openwrt.written(script, openwrt.text(devices, klass)) if hotplug else nullcontext():
        done = system.run("nft", "-f", "-", stdin=ruleset.text(devices, klass))
        if done.status:
            raise InterlayerError(f"nft refuses the table: {done.why}")
    also = f"; {script} loads it again when a device comes up" if hotplug else ""
    return f"{', '.join(devices)}: in force, AC_{klass.upper()}, user priority {ruleset.USER_PRIORITY[klass]}{also}"


def remove(system: System) -> str:
    """Removes the table and the hotplug script, each if it is there. Says what it did."""
    conditions.required(system)
    gone = []
    if loaded(system):
        done = system.run("nft", "delete", "table", *_TABLE)
        if done.status:
            raise InterlayerError(f"nft delete table: {done.why}")
        gone.append(f"table {' '.join(_TABLE)}")
    script = system.file(openwrt.SCRIPT)
    if openwrt.is_ours(script):
        with writing(script):
            script.unlink()
        gone.append(str(script))
    return f"removed: {', '.join(gone)}" if gone else f"nothing to remove: no table {' '.join(_TABLE)}"


def loaded(system: System) -> ruleset.Loaded | None:
    """The table, where there is one."""
    if f"table {' '.join(_TABLE)}" not in system.run("nft", "list", "tables").out.splitlines():
        return None
    return ruleset.read(system.run("nft", "list", "table", *_TABLE).out)


@dataclass(frozen=True)
class State:
    """What is in force of a device, in lines for people; `fails` are the conditions that do not hold."""

    in_force: bool
    lines: list[str]
    fails: list[str]


def check(system: System, devices: list[str], *, any_device: bool = False) -> State:
    """What is in force on these devices, with counters, and the conditions that fail."""
    conditions.required(system)
    table = loaded(system)
    fails = conditions.failing(system, devices, (table and table.klass) or "vi", any_device=any_device)
    present = system.devices()
    # Since Linux 6.14 a chain stays without its device; since 6.16 it takes one of that name that comes.
    on = [name for name in devices if table and table.is_whole and name in table.devices and name in present]
    if table is None:
        lines = [f"{name}: not in force: no table {' '.join(_TABLE)}" for name in devices]
    else:
        why = "the table was changed by hand; --apply loads it anew" if not table.is_whole else ""
        lines = [
            f"{name}: in force, AC_{table.klass.upper()}, user priority {ruleset.USER_PRIORITY[table.klass]}"
            if name in on
            else f"{name}: not in force: {why or _missing(name, table, present)}"
            for name in devices
        ]
        if on:
            lines += [f"  {kind:<8}{n.packets:>12} packets{n.bytes:>14} bytes" for kind, n in table.counts.items()]
    return State(len(on) == len(devices), lines, fails)


def _missing(name: str, table: ruleset.Loaded, present: list[str]) -> str:
    if name not in present:
        return "no such device"
    return f"the table is for {', '.join(table.devices) or 'no device'}"
