"""Marks on results of runs with controllers and schemes in Python, and the store under the hash of their source."""

from __future__ import annotations

import importlib.util
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
from interlayer import parts, simulator
from python_parts import Helped, NewReno, cell

if TYPE_CHECKING:
    from interlayer._core import Window

pytestmark = pytest.mark.core


def test_a_run_with_a_part_says_so_in_every_form(tmp_path: Path) -> None:
    result = interlayer.run(cell("mine"), series=True, parts={"mine": NewReno, "unused": Helped})
    (part,) = result.parts
    assert (part.name, part.kind, len(part.source_hash or "")) == ("mine", "congestion control", 16)
    mark = f"In Python: congestion control mine (source {part.source_hash})"
    assert mark in str(result)
    assert mark in result._repr_html_()
    result.save(tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert mark in page
    said = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    assert said["parts"] == [part.as_json()]
    compared = interlayer.compare(
        cell("mine"), arms={"rust": {"flow.*.transport.congestion": "newreno"}}, runs=2, parts={"mine": NewReno}
    )
    assert [p.name for p in compared.parts] == ["mine"]
    assert mark in str(compared)
    assert compared.difference("rust").estimate.mean == 0.0
    swept = interlayer.sweep(
        cell("mine"), {"flow.*.transport.congestion": ["mine", "reno"]}, runs=2, parts={"mine": NewReno}
    )
    assert mark in str(swept)
    none = interlayer.run(cell("newreno"), parts={"mine": NewReno})
    assert none.parts == ()
    assert "In Python" not in str(none)
    assert "parts" not in none._json


def module(path: Path, text: str) -> Any:
    """A module of this text."""
    import linecache

    path.write_text(textwrap.dedent(text))
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


SOURCE = """
    import interlayer

    BETA = 0.5

    def cut(window):
        window.cut_flight_to(BETA)

    class Mine(interlayer.Controller):
        def on_ack(self, ack, window):
            window.slow_start(ack)

        def on_congestion(self, why, window):
            cut(window)
"""


def hash_of(cls: type) -> str | None:
    return parts.parts({"mine": cls})[0].source_hash


def test_the_hash_is_that_of_the_source_and_of_what_it_refers_to(tmp_path: Path) -> None:
    first = hash_of(module(tmp_path / "one.py", SOURCE).Mine)
    assert first is not None
    assert hash_of(module(tmp_path / "other.py", SOURCE).Mine) == first, "wherever it stands"
    assert hash_of(module(tmp_path / "moved.py", "\n\nUNUSED = 3\n" + textwrap.dedent(SOURCE)).Mine) == first
    for old, new in [("BETA = 0.5", "BETA = 0.7"), ("cut_flight_to(BETA)", "cut_to(BETA)"), ("slow_start", "deflate")]:
        assert hash_of(module(tmp_path / "two.py", SOURCE.replace(old, new)).Mine) != first, new
    changed = module(tmp_path / "three.py", SOURCE).Mine
    changed.recovery = "reno"
    assert hash_of(changed) != first
    # A file that was edited after it was imported: the text is another's, the code that runs is not.
    stale = module(tmp_path / "four.py", SOURCE).Mine
    (tmp_path / "four.py").write_text(textwrap.dedent(SOURCE.replace("cut_flight_to(BETA)", "cut_to(BETA)")))
    fresh = module(tmp_path / "five.py", SOURCE.replace("cut_flight_to(BETA)", "cut_to(BETA)")).Mine
    assert hash_of(stale) not in (first, hash_of(fresh))


def test_what_has_no_source_or_refers_to_what_is_no_value_has_no_hash(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(textwrap.dedent(SOURCE), names)
    assert hash_of(names["Mine"]) is None
    opened = SOURCE.replace("BETA = 0.5", "BETA = object()")
    assert hash_of(module(tmp_path / "six.py", opened).Mine) is None

    def factory(beta: Any) -> type:
        class Closed(Helped):
            def on_congestion(self, why: parts.Why, window: Window) -> None:
                window.cut_flight_to(beta)

        return Closed

    assert hash_of(factory(0.5)) == hash_of(factory(0.5))
    assert hash_of(factory(0.5)) not in (None, hash_of(factory(0.7)))
    assert hash_of(factory(iter([]))) is None


def test_a_store_finds_a_run_under_the_hash_of_the_source_alone(tmp_path: Path, monkeypatch: Any) -> None:
    store, made = tmp_path / "runs.store", [0]
    stream = simulator.stream

    def counted(tasks: Any, **options: Any) -> Any:
        for found in stream(tasks, **options):
            made[0] += 1
            yield found

    monkeypatch.setattr(simulator, "stream", counted)

    def run(cls: type, name: str = "mine") -> int:
        made[0] = 0
        interlayer.run(cell("mine"), runs=2, store=store, parts={name: cls})
        return made[0]

    first = module(tmp_path / "seven.py", SOURCE).Mine
    assert [run(first), run(first)] == [2, 0]
    assert run(module(tmp_path / "eight.py", SOURCE).Mine) == 0, "the same source"
    assert run(module(tmp_path / "nine.py", SOURCE.replace("0.5", "0.6")).Mine) == 2
    unknown: dict[str, Any] = {}
    exec(textwrap.dedent(SOURCE), unknown)
    assert [run(unknown["Mine"]), run(unknown["Mine"])] == [2, 2], "nothing of it is stored"
    said = str(interlayer.run(cell("mine"), store=store, parts={"mine": unknown["Mine"]}))
    assert "In Python: congestion control mine (source unknown, so not stored)" in said
    # The key of a scenario without parts is what it was.
    made[0] = 0
    interlayer.run(cell("newreno"), store=store)
    interlayer.run(cell("newreno"), store=store, parts={"mine": first})
    assert made[0] == 1
