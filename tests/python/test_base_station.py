"""The base-station league and the tables of upper bounds: arithmetic by hand, and what docs/base-station.md shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
from interlayer.study import library
from interlayer.study.experiment import Cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlayer.study.outcome import Outcome

ROOT = Path(__file__).parents[2]
BEYOND = [name for name in library.known() if name.startswith("beyond/base-station")]
BY_DESIGN_DOWNLOADS_ONLY = ("lle-tcp", "snoop", "ebsn", "ewa")


# ------------------------------------------------------------------------------------------------- arithmetic by hand


@pytest.mark.parametrize(
    ("number", "at_all", "mbps"),
    [
        # DIFS 50, data 192 + 12288, SIFS 10, ACK 192 + 112; again with 608 for 12288: 14008 us for 11680 bit.
        (1, "1 Mb/s", 11680 / 14008),
        # MAC ACK at 2 Mb/s: 2 · (50 + 192 + 10 + 192 + 56) + 1118 + 56 = 2174 us.
        (4, "11 Mb/s", 11680 / 2174),
        # Of 216 bit 57 symbols and 3, of 96 bit 2 for a MAC ACK: 2 · (34 + 20 + 16 + 28) + 228 + 12 = 436 us.
        (7, "54 Mb/s", 11680 / 436),
    ],
)
def test_the_upper_bound_at_a_rate_is_that_of_its_timing(number: int, at_all: str, mbps: float) -> None:
    e = library.load("lle-table-2.1")
    claim = e.claims[number - 1]
    assert at_all in claim.text
    assert e.arithmetic(claim) == pytest.approx((mbps,), rel=1e-9)


def test_802_11n_is_computed_and_not_simulated() -> None:
    # 2 · (40 + 16 + 28 + 34) + 13 · 3.6 = 282.8 us for 11680 bit.
    e = library.load("lle-table-3.1")
    assert e.claims[5].is_computed
    assert e.arithmetic(e.claims[5]) == pytest.approx((11680 / 282.8,))
    assert "not simulated" in e.claims[5].text


@pytest.mark.parametrize(("lost", "mbps"), [(0.0, 6.203), (0.01, 5.083), (0.05, 2.888), (0.1, 1.812)])
def test_the_ceiling_of_the_league_is_that_of_seven_attempts_a_loss(lost: float, mbps: float) -> None:
    # A segment 1883 us; a loss 7 · 1532 us and 20 us of (31 + 63 + 127 + 255 + 511 + 1023 + 1023)/2 slots: 41054 us.
    per_loss = 7 * 1532 + 20 * sum(min(2**k, 1024) - 1 for k in range(5, 12)) / 2
    assert per_loss == 41054
    (ceiling,) = library.load("base-station-league").curves[0].values(lost)
    assert ceiling == pytest.approx(11680 / (1883 + lost / (1 - lost) * per_loss))
    assert ceiling == pytest.approx(mbps, abs=1e-3)


# ---------------------------------------------------------------------------------------------------- over the core


@pytest.mark.core
def test_the_simulator_meets_the_closed_form_at_every_rate() -> None:
    o = interlayer.reproduce("lle-table-2.1", runs=1)
    for s in o.scored[:7]:
        (worked,) = o.experiment.arithmetic(s.claim)
        (cell,) = s.claim.cells()
        assert o.estimate(cell).mean == pytest.approx(worked, rel=1e-3), s.claim.text


@pytest.mark.core
def test_cures_for_downloads_leave_uploads_as_they_are_to_the_bit() -> None:
    e = library.load("base-station-league")
    at = (e.sweep[0][1].index("mobile"), 1, e.sweep[2][1].index(0.05))

    def upload(arm: str) -> interlayer.Result:
        scenario = interlayer.load(library.folder() / "beyond/cells/base-station.toml")
        for path, value in e.overrides(Cell(arm, at)):
            scenario = scenario.set(path, value)
        return interlayer.run(scenario.set("scenario.duration", "20 s"), seed=1)

    alone, eln = upload("none").flows, upload("eln").flows
    assert alone["goodput_bps"][0] > 0
    assert eln["goodput_bps"][0] != alone["goodput_bps"][0]
    for arm in BY_DESIGN_DOWNLOADS_ONLY:
        assert repr(upload(arm).flows.rows()) == repr(alone.rows()), arm  # a text: an undefined time equals itself


@pytest.mark.core
@pytest.mark.papers
@pytest.mark.parametrize("name", BEYOND)
def test_what_we_say_of_the_cures_holds(name: str, reproduced: Callable[[str], Outcome]) -> None:
    for s in reproduced(name).scored:
        assert s.verdict == "holds", f"{s.claim.id}: {s.why}"


@pytest.mark.core
@pytest.mark.papers
def test_tables_of_the_page_are_what_is_measured(renew: Any) -> None:
    page = (ROOT / "docs" / "base-station.md").read_text("utf-8")
    assert len(renew.stamps.tables(page)) >= 6
    assert renew.renewed(page) == page, "make docs, and say why"
