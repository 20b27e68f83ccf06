"""Chains with AODV: goodput within 10 % of stored runs of ns-2, as far as intervals tell, or explained (README.md)."""

from __future__ import annotations

from functools import cache

import chain
import pytest

from interlayer.measure import stats

REFERENCE = chain.reference()
AIM = 0.10
# Without RTS ns-2 waits an EIFS after each frame that it senses and cannot decode; README.md has the counter-run.
WITHOUT_EIFS = 0.20
# The fifth that issue 16 allows.
ERRORS_AIM = 0.20
# Ten hops: ns-2's repairs hang for a third of the time. Three hops beside ns-2's plain queue: +16 %, open (README.md).
OPEN = {cell for cell in REFERENCE if cell.hops == 10 and not cell.plain} | {chain.Cell(3, *chain.KINDS[0], plain=True)}


@cache
def mine(cell: chain.Cell) -> list[dict[str, float]]:
    """Our runs; those beside ns-2's plain queue are the same."""
    return chain.ours(cell._replace(plain=False))


def difference(cell: chain.Cell, of: str = "goodput_kbps") -> tuple[float, float]:
    """Ours over ns-2's, minus 1, and its half-width."""
    rows = (mine(cell), REFERENCE[cell])
    ours, theirs = (stats.estimate([run[of] for run in one]) for one in rows)
    both = ((ours.half_width or 0) ** 2 + (theirs.half_width or 0) ** 2) ** 0.5
    return ours.mean / theirs.mean - 1, both / theirs.mean


@pytest.mark.parametrize("cell", [cell for cell in REFERENCE if cell.hops <= 2], ids=str)
def test_one_and_two_hops_have_no_hidden_station_and_are_within_three_per_cent(cell: chain.Cell) -> None:
    assert abs(difference(cell)[0]) <= 0.03


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, marks=pytest.mark.xfail(strict=True, reason="README.md") if cell in OPEN else ())
        for cell in REFERENCE
        if cell.hops > 2 and cell.rts
    ],
    ids=str,
)
def test_longer_chains_with_rts_are_within_ten_per_cent(cell: chain.Cell) -> None:
    off, half_width = difference(cell)
    assert abs(off) - half_width <= AIM, (off, half_width)


@pytest.mark.parametrize("cell", [cell for cell in REFERENCE if cell.hops > 2 and not cell.rts], ids=str)
def test_longer_chains_without_rts_carry_less_by_what_an_eifs_is_worth(cell: chain.Cell) -> None:
    off, half_width = difference(cell)
    assert -WITHOUT_EIFS - half_width <= off <= half_width, (off, half_width)


@pytest.mark.parametrize("cell", chain.PLAIN, ids=str)
def test_route_errors_are_within_twenty_per_cent_once_ns2_does_not_prefer_them(cell: chain.Cell) -> None:
    off, half_width = difference(cell, "errors")
    assert abs(off) - half_width <= ERRORS_AIM, (off, half_width)
