"""Cells of stations that differ: within 3 % of the stored runs of ns-3, or within the limits of what README.md
explains, and transmit opportunities at the closed form of each program."""

from __future__ import annotations

import cells
import compare
import pytest

REFERENCE = cells.reference()


def limit(cell: cells.Cell, word: str) -> float:
    """The aim; of the shares where there are several stations of 802.11g beside one of 802.11b, what EIFS after
    collisions moves between them (README.md)."""
    if word == "total" or len(cell.words) == 2:
        return compare.GOODPUT_AIM
    return 0.25 if word.startswith("b") else 0.18


@pytest.mark.parametrize("cell", cells.MIXED, ids=lambda cell: cell.stations)
def test_a_cell_of_802_11g_meets_ns3_in_total_and_for_each_kind_of_station(cell: cells.Cell) -> None:
    for word, pair in cells.pairs(cell, REFERENCE[cell], cells.ours(cell)).items():
        assert abs(pair.difference) - pair.half_width <= limit(cell, word), (word, pair.difference, pair.half_width)


def opportunity_mbps(truncated: bool) -> float:
    """One AC_VO station alone. MPDU 1038 B at 54 Mb/s: 20 + 4 ceil((22 + 8304) / 216) = 176; exchange
    176 + 16 + 28 = 220. Eight a SIFS apart: 8 * 220 + 7 * 16 = 1872 of 2080 us; before it AIFS 34 and 1.5 slots of 9. A
    CF-End at 6 Mb/s and its SIFS: 52 + 16."""
    return 8 * 972 * 8 / (34 + 13.5 + 1872 + (68 if truncated else 0))


def test_a_lone_ac_vo_station_has_eight_exchanges_an_opportunity_and_in_ns3_a_cf_end_as_well() -> None:
    (cell,) = [cell for cell in cells.BURSTS if len(cell.words) == 1]
    (total,) = cells.pairs(cell, REFERENCE[cell], cells.ours(cell)).values()
    assert total.ours.mean == pytest.approx(opportunity_mbps(truncated=False), rel=2e-3)
    assert total.theirs.mean == pytest.approx(opportunity_mbps(truncated=True), rel=2e-3)


@pytest.mark.parametrize("cell", [cell for cell in cells.BURSTS if len(cell.words) > 1], ids=lambda cell: cell.stations)
def test_beside_others_the_cf_end_is_what_ns3_delivers_less(cell: cells.Cell) -> None:
    total = cells.pairs(cell, REFERENCE[cell], cells.ours(cell))["total"]
    cf_end = opportunity_mbps(truncated=False) / opportunity_mbps(truncated=True) - 1
    assert abs(total.difference - cf_end) - total.half_width <= 0.02, (total.difference, cf_end)
