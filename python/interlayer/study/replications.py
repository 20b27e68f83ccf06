"""How many runs a scenario has if nobody says: several where they are cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlayer import _core

CHEAP, FAIR = 1000.0, 4000.0
"""Nodes times simulated seconds up to which there are `MANY` and `SOME` runs.

A thousand are 50 saturated stations for 20 s: about a second and a half of processor time a run (performance.md).
"""
MANY, SOME, ONE = 10, 5, 1

RULE = f"{MANY} where nodes × simulated seconds are at most {CHEAP:.0f}, {SOME} up to {FAIR:.0f}, else {ONE}"
"""The rule in words, for --help and the documents."""


def default(scenario: _core.Scenario) -> int:
    """The number of runs of a scenario, by its size alone: the same on every machine."""
    work = len(scenario.nodes) * scenario.duration_s
    return MANY if work <= CHEAP else SOME if work <= FAIR else ONE
