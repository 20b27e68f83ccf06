"""Rate controls within 5 % of the stored runs of ns-3, and what is explained beyond that within its limits."""

from __future__ import annotations

import pytest
import rates

REFERENCE = rates.reference()
AIM = 0.05
EXPLAINED = {
    rates.Cell("Arf", 10, 3): (0.1, 0.55),
    rates.Cell("Aarf", 10, 3): (0.1, 0.65),
    rates.Cell("MinstrelHt", 57): (-0.3, -0.15),
}
"""Differences, least and most: README.md says why."""


def test_every_cell_is_stored() -> None:
    assert set(REFERENCE) == set(rates.CELLS)
    assert sum(cell not in EXPLAINED for cell in REFERENCE) == 22


@pytest.mark.parametrize("cell", REFERENCE, ids=str)
def test_a_rate_control_meets_ns3(cell: rates.Cell) -> None:
    found = rates.pair(REFERENCE[cell], rates.ours(cell))
    low, high = EXPLAINED.get(cell, (-AIM, AIM))
    assert low <= found.difference <= high, (found.difference, found.half_width)
