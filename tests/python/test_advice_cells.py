"""The advice of the pages in cells that it did not come from: every sentence has its claims, and they hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from interlayer.study import library
from interlayer.study.outcome import Outcome

DOCS = Path(__file__).parents[2] / "docs"
ADVICE = [name for name in library.known() if name.startswith("beyond/advice-")]
PAGES = {
    "engineers.md": 7,
    "link-recovery.md": 2,
    "senders-on-the-radio.md": 2,
    "queues.md": 1,
}
"""Pages that give advice, and to how many of the experiments each leads."""


def test_the_pages_that_give_advice_lead_to_the_cells_where_it_ends() -> None:
    assert len(ADVICE) == 7
    for page, number in PAGES.items():
        text = (DOCS / page).read_text("utf-8")
        assert re.search(r"^##+ Where (it|the advice) ends$", text, re.MULTILINE), page
        assert sum(f"beyond/{name}" in text for name in (a.removeprefix("beyond/") for a in ADVICE)) >= number, page


@pytest.mark.parametrize("name", ADVICE)
def test_each_has_a_cell_with_a_bad_link_and_one_beside_bulk_flows(name: str) -> None:
    e = library.load(name)
    cells = " ".join([e.label(arm) for arm, _ in e.arms] + [str(v) for _, values in e.sweep for v in values])
    assert re.search(r"fade|lost", cells)
    assert re.search(r"beside|four|uploads|windows", cells)
    assert all(claim.strength == "words" for claim in e.claims)


@pytest.mark.parametrize("page", ["engineers.md", "queues.md", "senders.md", "not-modelled.md"])
def test_a_reader_who_meets_an_uploads_delay_is_told_of_small_queues(page: str) -> None:
    text = " ".join((DOCS / page).read_text("utf-8").split())
    assert "TCP small queues" in text
    assert "no Linux host" in text


@pytest.mark.core
@pytest.mark.papers
@pytest.mark.parametrize("name", ADVICE)
def test_what_we_say_of_the_advice_holds(name: str, reproduced: Callable[[str], Outcome]) -> None:
    for s in reproduced(name).scored:
        assert s.verdict == "holds", f"{s.claim.id}: {s.why}"
