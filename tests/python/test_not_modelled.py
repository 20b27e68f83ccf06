"""docs/not-modelled.md against the core: its names are in no registry and no schema, its list is the core's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from interlayer import simulator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/not-modelled.md").read_text("utf-8")

NOUNS = {
    "standards": "standard",
    "widths": "width",
    "congestion controls": "congestion control",
    "loss recoveries": "recovery",
    "receivers of TCP": "receiver",
    "rate controls": "rate control",
    "routing protocols": "router",
    "queue disciplines": "queue discipline",
    "transports": "transport protocol",
    "traffic": "traffic model",
    "propagation": "propagation model",
    "fading": "fading model",
    "schemes": "scheme",
    "keys": "key",
}
"""What the page calls a kind of names, and what `crates/plugin/src/absent.rs` calls it."""


def rows(part: str) -> list[list[str]]:
    """The cells of the one table in a part of the page, without its head."""
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def listed() -> dict[str, list[str]]:
    """The names of the page by kind, as the core calls the kind."""
    return {NOUNS[kind]: re.findall(r"`([^`]+)`", names) for kind, names in rows(PAGE.partition("\n## Names\n")[2])}


def declared() -> dict[str, list[str]]:
    """The names that the core answers with "not modelled yet", by kind."""
    source = (ROOT / "crates/plugin/src/absent.rs").read_text("utf-8")
    table = re.search(r"pub const ABSENT.*?^\];", source, re.MULTILINE | re.DOTALL)
    assert table
    found: dict[str, list[str]] = {}
    for noun, names in re.findall(r'noun: "([^"]+)",\s*names: &\[(.*?)\]', table[0], re.DOTALL):
        found.setdefault(noun, []).extend(re.findall(r'"([^"]+)"', names))
    return found


def plain(name: str) -> tuple[str, ...]:
    """A name in words; case, `-`, `_` and spaces are no difference."""
    return tuple(re.findall(r"[\w.+]+", name.lower().replace("_", " ").replace("-", " ")))


def scenario_words() -> tuple[set[str], set[str]]:
    """The keys of a scenario and the words that they may have, plug-ins among them, by the core's schema."""
    keys: set[str] = set()
    words: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(properties := node.get("properties"), dict):
                keys.update(properties)
            words.update(word for word in (node.get("const"), *(node.get("enum") or ())) if isinstance(word, str))
            # The words of mobility are no other kind's: a trace of motion is no traffic model.
            for key in node.keys() - {"mobility"}:
                walk(node[key])
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(simulator.schema())
    return keys, words


def test_the_page_lists_every_name_that_the_core_calls_absent_and_no_other() -> None:
    assert sum(map(len, declared().values())) > 100
    assert {noun: sorted(names) for noun, names in listed().items()} == {
        noun: sorted(names) for noun, names in declared().items()
    }


@pytest.mark.core
def test_no_name_of_the_page_is_in_a_registry_or_in_the_schema() -> None:
    keys, words = scenario_words()
    ids = {entry["id"] for kind in get_args(simulator.Registry) for entry in simulator.registry(kind)}
    assert {"802.11g", "on-off", "rayleigh"} <= words
    assert "rts_threshold" in keys
    assert {"cubic", "fq-codel", "lle-tcp"} <= ids
    modelled = {"key": {plain(key) for key in keys}}
    others = {plain(name) for name in words | ids}
    wrong = [
        f"{noun}: {name}"
        for noun, names in listed().items()
        for name in names
        if plain(name) in modelled.get(noun, others)
    ]
    assert not wrong, f"modelled now: {wrong}"


def phrases(cell: str) -> list[tuple[str, ...]]:
    """The names in a cell of the first table, in words; code stands for what is modelled."""
    return [plain(part) for part in re.split(r"[,:;()]| and ", re.sub(r"`[^`]*`", "", cell)) if plain(part)]


@pytest.mark.core
def test_nothing_that_the_first_table_leaves_out_begins_a_key_or_a_word_of_scenarios() -> None:
    """`fragmentation` was left out there, long after `fragmentation_threshold` had become a key."""
    keys, words = scenario_words()
    known = {plain(name)[:n] for name in keys | words for n in range(1, len(plain(name)) + 1)}
    assert ("fragmentation",) in known
    left_out = rows(PAGE.partition("\n## Words")[0])
    assert len(left_out) > 20
    wrong = [" ".join(name) for cell, *_ in left_out for name in phrases(cell) if name in known]
    assert not wrong, f"modelled now: {wrong}"
