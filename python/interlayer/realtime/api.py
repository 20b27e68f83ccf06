"""`interlayer.live`: a live run from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interlayer.errors import InputError

from . import session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from interlayer.api import Scenario


def live(
    scenario: Scenario,
    run: Mapping[str, str | Sequence[str]] | None = None,
    *,
    seconds: float | None = None,
    seed: int | None = None,
    sockets: bool = False,
    record: str | Path | None = None,
    watch: Callable[[str], None] | None = None,
) -> session.LiveResult:
    """Send this kernel's TCP, and any program, through a scenario's air in real time. Linux, with TUN devices.

    Each node becomes a host in namespaces of its own. `run` says what runs where, a text for the shell or a list of
    arguments: `{"phone": "curl -s http://{ap}:8000/"}`. That is beside flows with traffic model `iperf3` or
    `command`. The run ends after `seconds`, with the programs, or as the scenario says. `sockets` asks the kernel for
    cwnd, srtt, ... each 100 ms; `record` keeps every packet in a file; `watch` is told a line a second.

    Raises `InputError` for what cannot be run here, `InterlayerError` if a program fails. Nothing is left of it.
    """
    if getattr(scenario, "parts", None):
        raise InputError("a live run has no parts in Python: a controller would be this kernel's, see docs/live.md")
    order = session.Order(
        commands=list((run or {}).items()),
        seconds=seconds,
        seed=seed,
        sockets=sockets,
        record=None if record is None else Path(record),
    )
    return session.live(scenario.text, list(scenario.changes), order, watch)
