"""A store in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlayer import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlayer.study.store import OfCore


def listed(store: Mapping[str, Any]) -> str:
    """A line for each core, its hash first; `store` is the object of `interlayer store list --json`."""
    lines = []
    for one in store["cores"]:
        what = f"{_count(one['runs'], 'run')} of {_count(one['scenarios'], 'scenario')}, {quantity.size(one['bytes'])}"
        lines.append(f"{one['core']}  {what}, version {one['version']}{', this core' * one['is_current']}")
    return "\n".join([*lines, f"{store['store']}: {quantity.size(store['bytes'])} in all"])


def pruned(gone: Sequence[OfCore], freed: int) -> str:
    """What `interlayer store prune` did."""
    if not gone:
        return "nothing to remove: all runs are of this core"
    runs = sum(one.runs for one in gone)
    cores = "another core" if len(gone) == 1 else f"{len(gone)} other cores"
    return f"removed {_count(runs, 'run')} of {cores}: {quantity.size(freed)} less"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
