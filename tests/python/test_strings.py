"""Strings and grids of stations: the scenes are those of the dissertation, and the page says what is measured."""

from __future__ import annotations

import re
import tomllib
from math import dist
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interlayer.study import library, readings

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlayer.study.outcome import Outcome

ROOT = Path(__file__).parents[2]
OURS = ["beyond/c3tcp-today", "beyond/c3tcp-grid"]
PAGES = ["strings-and-c3tcp.md", "schemes/c3tcp.md"]


def scene(name: str) -> dict[str, Any]:
    return tomllib.loads((library.folder() / name).read_text("utf-8"))


def neighbours(cell: dict[str, Any]) -> dict[str, set[str]]:
    """Who hears whom, by distance and the pairs that are cut."""
    reach = float(cell["channel"]["range"].removesuffix(" m"))
    cut = {frozenset(pair["between"]) for pair in cell["channel"].get("pair", []) if not pair["reach"]}
    at = {node["name"]: node["position"] for node in cell["node"]}
    return {a: {b for b in at if b != a and {a, b} not in cut and dist(at[a], at[b]) <= reach} for a in at}


def test_n5_is_heard_by_n3_and_n4_and_not_by_n2() -> None:
    heard = neighbours(scene("kliazovich-2006/cells/string-80211b.toml"))
    assert heard == {
        "n1": {"n2"},
        "n2": {"n1", "n3"},
        "n3": {"n2", "n4", "n5"},
        "n4": {"n3", "n5"},
        "n5": {"n3", "n4", "n6"},
        "n6": {"n5"},
    }


def shortest(heard: dict[str, set[str]], ends: tuple[str, str]) -> list[list[str]]:
    """All routes of the least number of hops."""
    paths = [[ends[0]]]
    while not any(path[-1] == ends[1] for path in paths):
        paths = [[*path, next_] for path in paths for next_ in sorted(heard[path[-1]] - set(path))]
    return [path for path in paths if path[-1] == ends[1]]


@pytest.mark.parametrize(
    ("ends", "route"),
    [
        (("n10", "n14"), "n10 n11 n12 n13 n14"),
        (("n5", "n17"), "n5 n10 n11 n12 n17"),
        (("n8", "n4"), "n8 n9 n4"),
        (("n7", "n17"), "n7 n12 n17"),
    ],
)
def test_routes_on_the_grid_have_no_choice(ends: tuple[str, str], route: str) -> None:
    heard = neighbours(scene("kliazovich-2006/cells/grid-80211b.toml"))
    assert shortest(heard, ends) == [route.split()]


def test_the_window_that_is_set_is_all_that_its_arms_change() -> None:
    arms = dict(library.load("c3tcp-today").arms)
    assert [dict(arms[name]) for name in ("one", "two", "three")] == [
        {"flow.tcp.transport.max_window": n} for n in (1, 2, 3)
    ]
    assert dict(arms["one+options"])["scheme"] == dict(arms["c3tcp"])["scheme"]


C3TCP = sorted(path.stem for path in (library.folder() / "kliazovich-2006").glob("c3tcp-*.toml"))


@pytest.mark.core
@pytest.mark.parametrize("id_", C3TCP)
def test_the_delay_of_the_window_and_what_ns2_left_open_are_readings_or_have_no_place(id_: str) -> None:
    e = library.load(id_)
    assert e.open is not None
    varied, stated = set(e.open.names), dict(e.open.stated)
    assert {"delay", "sense", "timeout", "dupacks"} <= varied | set(stated)
    if (
        any("c3tcp" in str(change) for _, change in e.arms) and id_ != "c3tcp-fig-4.14"
    ):  # there the curve is standard TCP's
        assert "delay" in varied
        forward = next(r for r in readings.chosen(e.open.parameters) if r.id == "delay = of the forward one")
        arm, own = next((name, change) for name, change in e.arms if "scheme" in dict(change))
        ((path, schemes),) = forward.of_arm(arm, own)
        assert (path, schemes[0]["name"], schemes[0]["delay"]) == ("scheme", "c3tcp", "forward")
    assert ("vegas" in varied) == any(name == "vegas" for name, _ in e.arms)


@pytest.mark.core
@pytest.mark.parametrize("id_", C3TCP)
def test_routing_is_a_reading_with_the_delay_and_no_claim_rests_on_what_is_not_modelled(id_: str) -> None:
    e = library.load(id_)
    assert e.open is not None
    (routing,) = [p for p in e.open.parameters if p.name == "routing"]
    agents = [dict(value.settings).get("routing", {"name": "static"}) for value in routing.choices]
    assert agents == [{"name": "static"}, {"name": "aodv"}, {"name": "aodv", "preset": "ns2"}]
    assert not any(c.rests_on for c in e.claims)


@pytest.mark.core
@pytest.mark.papers
@pytest.mark.parametrize("name", OURS)
def test_what_we_say_of_strings_holds(name: str, reproduced: Callable[[str], Outcome]) -> None:
    for s in reproduced(name).scored:
        assert s.verdict == "holds", f"{s.claim.id}: {s.why}"


@pytest.mark.core
@pytest.mark.papers
@pytest.mark.parametrize("page", PAGES)
def test_tables_of_the_pages_are_what_is_measured(page: str, renew: Any) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert re.search(r"<!-- (rows|arms|claims) ", text)
    assert renew.renewed(text) == text, "make docs, and say why"
