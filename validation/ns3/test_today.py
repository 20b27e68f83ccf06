"""Cells of 802.11n, ac and ax within 3 % of the stored runs of ns-3."""

from __future__ import annotations

import compare
import pytest
import today

REFERENCE = today.reference()


@pytest.mark.parametrize("cell", REFERENCE, ids=str)
def test_a_cell_of_todays_radio_meets_ns3(cell: today.Cell) -> None:
    found = today.pair(REFERENCE[cell], today.ours(cell))
    assert abs(found.difference) - found.half_width <= compare.GOODPUT_AIM, (found.difference, found.half_width)
