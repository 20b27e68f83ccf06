"""Claims judged together, in the same reading, and at the means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from interlayer.errors import InputError
from interlayer.show import files, joint, terminal
from interlayer.study import joint as judged
from interlayer.study import library, point, reader
from interlayer.study.experiment import Cell, Claim, Expected, Line, Order, Quantity, Ratio, Shape, Trend, Value
from interlayer.study.verdict import Verdict
from toy_paper import HEAD, claim, model

if TYPE_CHECKING:
    from fake_core import Core

ROOT = Path(__file__).parents[2]

HOLDS, DIFFERS, DEPENDS, UNTESTABLE = Verdict.HOLDS, Verdict.DIFFERS, Verdict.DEPENDS, Verdict.UNTESTABLE


@pytest.fixture
def two(toy: Any, tmp_path: Path) -> list[Any]:
    first = HEAD + claim("0.9") + claim("1.8") + claim("0.45")
    second = HEAD.replace('id = "toy"', 'id = "other"').replace("[open]", '[open.stated]\nhelper = "none"\n[open]')
    return [reader.parse(text, "toy.toml", tmp_path) for text in (first, second + claim("1.8"))]


def test_the_reading_that_makes_most_claims_true_and_all_that_cannot_be_told_from_it(
    two: list[Any], core: Core
) -> None:
    found = judged.run(two)
    assert found is not None
    assert (len(found.rows), found.of) == (8, 8)
    true = {row.reading.id: row.true for row in found.rows}
    # base: 0.9 alone. Fast: both 1.8. Half of the slow: 0.45; half of the fast: 0.9.
    assert true["base"] == 1
    assert true["speed = fast"] == 2
    assert true["counted = half"] == 1
    assert {row.reading.id for row in found.best} == {"speed = fast", "speed = fast, helper = much"}
    assert all((row.low, row.high) == (row.true, row.true) for row in found.rows)
    ids = [(a.id, b.id) for a, b in found.never_together()]
    assert ("toy#1", "toy#2") in ids
    assert ("toy#2", "other#1") not in ids
    assert found.never() == []
    assert sum(core.batches) == 10 * 2  # slow and fast in the plain arm, of both experiments: the same runs


def test_readings_are_shown_as_table_json_picture_and_page(two: list[Any], tmp_path: Path) -> None:
    found = judged.run(two)
    assert found is not None
    shown = terminal.readings(found)
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "2 2 to 2 * ×●×|● speed = fast" in lines
    assert "8 of 8 readings run, 10 runs each" in shown
    data = json.loads(joint.dumps(found))
    assert (data["k"], data["K"], data["runs"]) == (8, 8, 10)
    assert data["best"] == ["speed = fast", "speed = fast, helper = much"]
    fast = next(r for r in data["readings"] if r["reading"] == "speed = fast")
    assert (fast["true"], fast["ci95"], fast["told_from_best"]) == (2, [2, 2], False)
    assert fast["claims"]["toy#2"]["verdict"] == "holds"
    assert "preliminary" not in data
    files.write_readings(found, tmp_path)
    assert {"readings.png", "readings.svg", "readings.json", "index.html"} <= {p.name for p in tmp_path.iterdir()}
    page = (tmp_path / "index.html").read_text()
    assert all(row.reading.id in page for row in found.rows)
    assert "the text does not say how fast" in page
    base = judged.run(two, base_only=True)
    assert base is not None
    assert json.loads(joint.dumps(base))["preliminary"] is True


def test_the_number_of_true_claims_has_an_interval_where_seeds_differ(toy: Any, core: Core, tmp_path: Path) -> None:
    def noisy(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        found = model(data, rng)
        found["flows"][0]["goodput_bps"] *= 1 + 0.05 * rng.standard_normal()
        return found

    core.model = noisy
    # 10 % of 0.9 is the edge of the band: in some resamples 0.99 is inside it, in others it is not.
    e = reader.parse(HEAD + claim("0.99"), "toy.toml", tmp_path)
    found = judged.run([e])
    assert found is not None
    base = found.rows[0]
    assert (base.low, base.high) == (0, 1)
    again = judged.run([e])
    assert again is not None
    assert [(r.true, r.low, r.high) for r in again.rows] == [(r.true, r.low, r.high) for r in found.rows]


def test_where_no_reading_is_better_than_the_others_none_is_named(toy: Any, tmp_path: Path) -> None:
    for expected, says in (
        ("77", "No reading makes any claim true"),
        ("0.9", "No reading can be told from the others"),
    ):
        head = HEAD.replace("[open]", '[open.stated]\ncounted = "goodput"\nspeed = "slow"\n[open]')
        found = judged.run([reader.parse(head + claim(expected), "toy.toml", tmp_path)])
        assert found is not None
        assert len(found.rows) == 2
        assert any(says in s for s in joint.sentences(found))
        assert not any("Most claims are true" in s for s in joint.sentences(found))


def test_nothing_open_is_an_error_and_ctrl_c_gives_nothing(two: list[Any], core: Core) -> None:
    with pytest.raises(InputError, match="beyond/ack-compression: it declares nothing open"):
        judged.run([library.load("beyond/ack-compression")])
    core.stop_after = 3
    assert judged.run(two) is None


def test_patterns_name_experiments() -> None:
    assert library.matching(["lle-fig-3.16-*"]) == ["lle-fig-3.16-coexistence", "lle-fig-3.16-fairness"]
    assert library.matching(["lle-fig-3.17", "lle-fig-3.1*7"]) == ["lle-fig-3.17"]
    with pytest.raises(InputError, match='no experiment is like "lle-figs-\\*"'):
        library.matching(["lle-figs-*"])


# ------------------------------------------------------------------------------------------------------ at the means


def true(test: Any, *lines: list[float], unit: str = "Mb/s", **more: Any) -> bool:
    made = tuple(Line("", tuple(Quantity("", (Cell("a", ()),)) for _ in line)) for line in lines)
    kinds: Any = {Value: "value", Ratio: "ratio", Order: "order", Trend: "trend", Shape: "shape"}
    c = Claim("x#1", "", kinds[type(test)], "number", "flow.0.m", unit, test, made, **more)
    columns = [np.full(10, x) for line in lines for x in line]
    if not (more or (isinstance(test, Value) and test.expected.value == 0)):
        assert point.resampled(c, columns, 5).tolist() == [float(point.is_true(c, columns))] * 5
    return point.is_true(c, columns)


def test_a_claim_is_true_at_the_means_by_the_rules_of_its_verdict() -> None:
    assert true(Value(Expected(6.0)), [6.1])
    assert not true(Value(Expected(6.0)), [7.0])
    assert true(Value(Expected(low=5.0)), [7.0])
    assert true(Value(Expected(0.9996)), [0.9995], unit="1")
    assert not true(Value(Expected(0.9996)), [0.98], unit="1")
    assert true(Value(Expected(0.0)), [0.0])
    assert not true(Value(Expected(0.0)), [0.1])
    assert not true(Value(Expected(6.0)), [float("nan")])
    assert true(Ratio(Expected(20.0)), [25.0], unit="%")
    assert not true(Ratio(Expected(2.0)), [-0.5], unit="%")  # within 3 points, of the other sign
    assert true(Ratio(Expected(low=20.0, high=100.0), spans=True), [22.0, 50.0, 90.0], unit="%")
    assert not true(Ratio(Expected(low=20.0, high=100.0), spans=True), [22.0, 50.0, 60.0], unit="%")
    assert true(Order(), [3.0, 2.0, 1.0])
    assert not true(Order(), [3.0, 1.0, 2.0])
    assert true(Order(lowest_first=True), [1.0, 2.0])
    assert true(Order(or_equal=True), [1.99, 2.0])
    assert not true(Order(), [1.99, 2.0])
    assert true(Trend("x", "increases"), [1.0, 3.0, 2.0, 4.0])
    assert not true(Trend("x", "increases"), [4.0, 2.0, 3.0, 1.0])
    assert true(Trend("x", "decreases"), [2.0, 1.0])
    assert true(Trend("x", "flat", 1.0, "so"), [2.0, 2.9, 2.5])
    assert not true(Trend("x", "flat", 1.0, "so"), [2.0, 3.1])
    assert true(Shape("peak", at=1), [1.0, 3.0, 2.0])
    assert not true(Shape("peak", at=0), [1.0, 3.0, 2.0])
    assert true(Shape("close", margin=0.1, relative=True), [1.0], [1.05])
    assert not true(Shape("close", margin=0.1), [1.0], [1.2])
    assert true(Value(Expected(6.0)), [6.1], one_of=8)
    assert true(Value(Expected(6.1)), [6.1], largest_of=8)
