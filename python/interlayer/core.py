"""Which compiled core the package uses: its own, or that of an installed crate with schemes of its own.

A crate outside the repository is compiled together with the core into one module, and its wheel names that module in
the entry points "interlayer.core". docs/new-scheme.md shows how to make one, docs/design/command-line.md says why so.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .errors import InputError, suggestion

if TYPE_CHECKING:
    from types import ModuleType

GROUP: Final = "interlayer.core"
"""The entry points by which a wheel names its module."""
VARIABLE: Final = "INTERLAYER_CORE"
"""The variable that chooses among several."""
OWN: Final = "interlayer"
"""The name by which the variable chooses the package's own core."""


def load() -> ModuleType:
    """The module in use. Raises `InputError` if that is not clear, or if it cannot be used."""
    found = _installed()
    chosen = os.environ.get(VARIABLE) or (next(iter(found), OWN) if len(found) < 2 else "")
    if not chosen:
        several = ", ".join(found)
        raise InputError(f"{several}: each brings a core of its own; choose one by {VARIABLE}=NAME, or {OWN} for none")
    if chosen == OWN:
        from . import _core

        return _core
    if chosen not in found:
        hint = suggestion(chosen, [OWN, *found])
        raise InputError(f'{VARIABLE}: no installed package brings a core "{chosen}"{hint}', VARIABLE)
    return _outside(chosen, found[chosen])


@cache
def _installed() -> dict[str, str]:
    """The modules of installed crates, by the crates' names."""
    return {entry.name: entry.value for entry in sorted(metadata.entry_points(group=GROUP))}


@cache
def _outside(name: str, path: str) -> ModuleType:
    remedy = f"build it again against this version, or set {VARIABLE}={OWN} to go without it"
    try:
        module = import_module(path)
    except ImportError as e:
        raise InputError(f"{name}: {' '.join(str(e).split())}; {remedy}") from e
    stub = Path(__file__).with_name("_core.pyi").read_text("utf-8")
    if getattr(module, "interface", None) != stub:
        raise InputError(f"{name}: its core was built for another version of Interlayer; {remedy}")
    return module
