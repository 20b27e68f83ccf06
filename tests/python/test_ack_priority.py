"""The leagues of schemes for TCP's ACKs are in the cell of the papers' experiments. `test_end_to_end` runs them."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from interlayer.study import library
from interlayer.study.experiment import Cell

LEAGUES = [name for name in library.known() if name.startswith("beyond/ack-priority-league")]
POINTS = ["star", "grid", "disc", "star+udp", "grid+udp", "disc+udp"]


def scenario(name: str) -> dict[str, Any]:
    return tomllib.loads((library.folder() / name).read_text("utf-8"))


def test_the_cell_is_that_of_the_uploads_with_downloads_beside() -> None:
    paper, ours = scenario("sang-2014/cells/uploads-80211a.toml"), scenario("beyond/cells/ack-priority.toml")
    for part in ("radio", "channel", "layout"):
        assert ours[part] == paper[part]
    times = ("duration", "warmup")
    assert [ours["scenario"][t] for t in times] == [paper["scenario"][t] for t in times]
    up, down, datagrams = ours["flow"]
    paper_up, paper_datagrams = paper["flow"]
    assert (up["transport"], down["transport"]) == (paper_up["transport"], paper_up["transport"])
    assert up | {"name": "up"} == paper_up
    assert datagrams == paper_datagrams


@pytest.mark.parametrize("name", LEAGUES)
def test_half_of_the_stations_send_udp_and_the_number_of_stations_stays(name: str) -> None:
    e = library.load(name)
    assert [value for _, values in e.sweep for value in values] == POINTS
    for i in range(3):
        alone, beside = dict(e.overrides(Cell("base", (i,)))), dict(e.overrides(Cell("base", (i + 3,))))
        assert alone["layout"] == beside["layout"]
        assert beside["node.sta.count"] == beside["node.udp.count"] == alone["node.sta.count"] / 2
        assert alone["node.udp.count"] == 0


@pytest.mark.parametrize("name", LEAGUES)
def test_the_leagues_have_the_same_arms(name: str) -> None:
    assert library.load(name).arms == library.load(LEAGUES[0]).arms
