"""How large the captures of a run are at least, by the run as it was recorded: told before anybody asks for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from interlayer import quantity

if TYPE_CHECKING:
    from interlayer._core import Run

MOST_BYTES = 100_000_000
"""Of all files of a run."""
TERMINAL = "take a shorter scenario.duration, or `interlayer run --pcap` with the saved cell in a terminal"


def refusal(run: Run) -> str:
    """Why the page does not make the captures of a run; empty where it may."""
    return "" if (size := least(run)) <= MOST_BYTES else too_large(size)


def too_large(size: float) -> str:
    return (
        f"captures would take some {quantity.size(round(size))}: the page gives {quantity.size(MOST_BYTES)}; {TERMINAL}"
    )


def least(run: Run) -> float:
    """Bytes of what was delivered, once in the capture of each end of the radio and of the wire to a wired host.

    Headers, ACKs, repetitions and further hops come on top.
    """
    has_radio = dict(zip(run["scene"]["nodes"], run["scene"]["has_radio"], strict=True))
    found = 0.0
    for flow in run["flows"]:
        hops = 1 if has_radio.get(flow["from"]) == has_radio.get(flow["to"]) else 2
        counts = (flow.get(name) for name in ("delivered_bytes_total", "reverse_delivered_bytes_total"))
        found += 2 * hops * sum(n for n in counts if n is not None and math.isfinite(n))
    return found
