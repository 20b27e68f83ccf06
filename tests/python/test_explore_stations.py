"""The ten stations of `interlayer explore`: their questions, and answers that the runs give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import interlayer
from explore_client import Client
from interlayer import simulator
from interlayer.explore import cells
from interlayer.explore.cells import Cell, Question, Source

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[2]


def test_ten_stations_are_cells_with_a_question_and_an_answer_with_numbers() -> None:
    found = cells.stations()
    assert len(found) == 10
    assert len({one.id for one in found}) == 10
    for one in found:
        simulator.parse(one.text)
        simulator.parse(one.text, one.other)
        assert one.question.endswith("?")
        assert re.search(r"\d", one.answer)
        assert len(one.said) < 500


@pytest.mark.parametrize("one", cells.stations(), ids=lambda one: one.id)
def test_a_station_s_answer_is_what_its_runs_give(one: cells.Station) -> None:
    """The means that an answer names are those of the version here, to the digits that it has."""
    cell = Cell.of(Question(f"station:{one.id}", (), one.other, 1, one.runs), Source())
    found = interlayer.compare(interlayer.parse(cell.text), arms=cell.arms(), runs=one.runs, metrics=cell.metrics)
    labels = [arm.label for arm in found.arms]
    said = re.findall(r"(\d+\.\d+) (?:Mb/s|ms)", one.answer)
    assert len(said) >= 2
    metric = "rtt_mean_s" if one.metric == "rtt_mean" else "goodput_bps"
    scale = 1e3 if one.metric == "rtt_mean" else 1e-6
    for label, text in zip(labels, said[:2], strict=True):
        digits = len(text.partition(".")[2])
        assert f"{found.estimate(label, metric).mean * scale:.{digits}f}" == text, (one.id, label)
    for metric in one.also:
        old, new = (f"{found.estimate(label, metric).mean / 1e6:.2f}" for label in labels)
        assert f"{old} and {new} Mb/s" in one.answer, metric


@pytest.mark.parametrize(
    ("id_", "path", "value"), [("ack-cost", "radio.data_rate", "1 Mb/s"), ("aggregates", "radio.mcs", "0")]
)
def test_a_second_move_gives_what_the_answer_says(id_: str, path: str, value: str) -> None:
    """The gain of the better arm over the worse, to the digits that the answer has."""
    one = next(one for one in cells.stations() if one.id == id_)
    cell = Cell.of(Question(f"station:{id_}", ((path, value),), one.other, 1, one.runs), Source())
    found = interlayer.compare(interlayer.parse(cell.text), arms=cell.arms(), runs=one.runs)
    worse, better = sorted(found.estimate(arm.label, "goodput_bps").mean for arm in found.arms)
    told = re.findall(rf"{path} .*?(\d+(?:\.\d+)?) %", one.answer)
    assert told == [f"{100 * (better / worse - 1):.1f}"]


def test_the_table_of_ftca_has_the_seat_that_starves(client: Client) -> None:
    one = next(one for one in cells.stations() if one.id == "ftca")
    result = [
        e["result"] for e in client.compare(source="station:ftca", other=one.other, runs=2) if e["event"] == "result"
    ]
    least = next(m for m in result[-1]["metrics"] if m["name"] == "min(flow.*.goodput)")
    assert (least["unit"], least["meaning"]) == ("Mb/s", "min(flow.*.goodput): payload delivered at `to`")
    (old, _, _), (new, _, _) = least["arms"]
    assert old < new / 3


def test_the_lecture_links_to_each_station() -> None:
    assert "(explore.md#ten-stations)" in (ROOT / "docs" / "lecture.md").read_text("utf-8")
    page = (ROOT / "docs" / "explore.md").read_text("utf-8")
    for one in cells.stations():
        assert f"| {one.title} | {one.question} |" in page, one.title
