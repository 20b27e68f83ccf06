"""`interlayer readings --over`: a range as a file has it, as a command asks for it, and what is shown of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from interlayer.engine import HERE
from interlayer.errors import InputError
from interlayer.show import files, region, terminal
from interlayer.study import campaign, library, ranges, readings
from interlayer.study.readings import BASE, Choice, Parameter, Range, Reading
from interlayer.study.runs import Cache
from interlayer.study.store import Store
from interlayer.study.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from interlayer.study.experiment import Experiment

SCENARIO = """
[scenario]
duration = "2 s"
[radio]
standard = "802.11b"
max_attempts = 4
[channel]
errors = { model = "packet", per = 0.1, control_per = 0.1 }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
"""
EXPERIMENT = """
id = "x"
base = "s.toml"
metric = "flow.0.goodput"
unit = "Mb/s"
[open]
setup = "open.toml"
[[claim]]
text = "it carries 4 Mb/s at least"
kind = "value"
strength = "number"
low = 4
[[claim]]
text = "it carries something"
kind = "value"
strength = "number"
low = 0
"""
OPEN = """
title = "what"
source = "where"
[[parameter]]
name = "loss"
silent = "the rate of errors is not said"
sets = "channel.errors.per"
base = 0.1
range = { from = 0.05, to = 0.65 }
[[parameter]]
name = "control"
silent = "the rate of errors of control frames is not said"
sets = "channel.errors.control_per"
base = 0.1
range = { from = 0.1, to = 0.6, scale = "log" }
[[parameter]]
name = "attempts"
silent = "the limit is not said"
value = [{ name = "4" }, { name = "7", set = { "radio.max_attempts" = 7 } }]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("s", SCENARIO), ("x", EXPERIMENT), ("open", OPEN)):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def experiment(folder: Path) -> Experiment:
    return library.load(folder / "x.toml")


def opened(e: Experiment) -> dict[str, Parameter]:
    assert e.open is not None
    return {p.name: p for p in e.open.parameters}


def test_a_range_has_its_base_and_its_ends_for_readings(experiment: Experiment) -> None:
    parameters = opened(experiment)
    assert [c.name for c in parameters["loss"].choices] == ["0.1", "0.05", "0.65"]
    assert parameters["loss"].choices[1].settings == (("channel.errors.per", 0.05),)
    assert [c.name for c in parameters["control"].choices] == ["0.1", "0.6"], "the base is an end"
    assert len(campaign.checked(experiment)) == readings.how_many(list(parameters.values())) == 12


def test_the_base_of_a_range_is_the_base_files(experiment: Experiment) -> None:
    """Of the papers' files too: a base that is another value than the cell's would be a reading of its own."""
    for e in [experiment, *(library.load(id_) for id_ in library.known() if not id_.startswith("beyond/"))]:
        for p in e.open.parameters if e.open else ():
            if p.range is None:
                continue
            given = Reading(((p.name, p.range.choice(p.range.low)),)).settings or ((p.range.path, p.range.low),)
            text = p.range.text(p.range.base) if p.range.unit else p.range.base
            study = campaign.Campaign(e, 1, HERE, (), None, Cache())
            base = Reading((("", Choice("", settings=((given[0][0], text),))),))
            for cell in e.cells():
                keys = [study.scenario(campaign.Variant(reading=r), cell)[0] for r in (BASE, base)]
                assert keys[0] == keys[1], (e.id, p.name)


def test_values_along_a_scale() -> None:
    log = Range("x", 1.0, 100.0, 10.0, "ms", "log")
    assert [log.value(x) for x in (0.0, 0.5, 1.0)] == [1.0, 10.0, 100.0]
    assert log.place(10.0) == pytest.approx(0.5)
    assert log.choice(31.6228).settings == (("x", "31.6228 ms"),)
    assert log.choice(10.0).settings == (), "the base changes nothing"
    whole = Range("radio.queue.packets", 5, 50, 50, "", whole=True)
    assert whole.choice(whole.value(0.5)).settings == (("radio.queue.packets", 28),)
    linear = Range("scheme.snoop.buffer", 7.0, 16.0, 16.0, "kB")
    assert linear.value(1 / 3) == 10.0
    assert linear.choice(10.0).schemes == (("snoop", (("buffer", "10 kB"),)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base = 0.1\nrange = { from = 0.6, to = 0.1 }", "expected from < to"),
        ("base = 0.9\nrange = { from = 0.1, to = 0.6 }", "the base 0.9 lies outside"),
        ('base = 0.1\nrange = { from = "1 ms", to = "6 s" }', "expected numbers in one unit"),
        ('base = 0.0\nrange = { from = 0.0, to = 0.6, scale = "log" }', "both above 0"),
        ('base = 0.1\nrange = { from = 0.0, to = 0.6, scale = "lin" }', "none of them"),
    ],
)
def test_a_range_that_is_none_is_an_error(folder: Path, text: str, message: str) -> None:
    wrong = (
        f'title = "t"\nsource = "s"\n[[parameter]]\nname = "loss"\nsilent = "x"\nsets = "channel.errors.per"\n{text}\n'
    )
    (folder / "open.toml").write_text(wrong, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        library.load(folder / "x.toml")


@pytest.mark.parametrize(
    ("over", "at", "message"),
    [
        (["los"], [], 'no such range is open here; did you mean "loss"'),
        (["receiver"], [], "no such range is open here; ranges open here: loss, control"),
        (
            ["attempts"],
            [],
            r"open here with values \(4, 7\) and no range; --over takes ranges only \(ranges open here: loss, ",
        ),
        (["loss", "loss"], [], "comes twice"),
        (["loss=0.3..0.1"], [], r"expected as 0.05\.\.0.65"),
        (["loss=a..b"], [], "is no range"),
        (["loss"], ["attempts=5"], 'attempts has no value "5"'),
        (["loss"], ["attempt=7"], 'no parameter "attempt"'),
    ],
)
def test_what_cannot_be_asked_for_says_why(
    experiment: Experiment, over: list[str], at: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ranges.chosen([experiment], over, at)


def test_along_one_range_a_claim_is_true_up_to_an_end_and_the_store_has_all_of_it(
    experiment: Experiment, tmp_path: Path
) -> None:
    over, fixed = ranges.chosen([experiment], ["loss=0.05..0.35"], [])
    made: list[float] = []

    def count(_: str, standing: Any) -> None:
        made.append(standing.made_s)

    with Store(tmp_path / "runs.db") as store:
        found = ranges.run([experiment], over, fixed, cache=Cache(store), progress=count)
    assert found is not None
    first, second, together = found.along()
    [interval] = first.intervals
    assert first.verdict is together.verdict is Verdict.DEPENDS
    assert interval.begin is None
    assert interval.shown
    assert interval.end is not None
    assert 0 < interval.end.low < interval.end.place < interval.end.high < 1
    assert second.verdict is Verdict.HOLDS
    assert sum(made) > 0
    made.clear()
    with Store(tmp_path / "runs.db") as store:
        again = ranges.run([experiment], over, fixed, cache=Cache(store), progress=count)
    assert again is not None
    assert again.points.places == found.points.places
    assert sum(made) == 0, "nothing was run again"
    shown = terminal.ranges(found)
    assert "x#1" in shown
    assert "depends: true up to 0." in shown
    assert "holds: true throughout" in shown
    files.write_region(found, tmp_path)
    assert {"region.png", "region.svg", "region.json", "index.html"} <= {p.name for p in tmp_path.iterdir()}
    told = region.to_json(found)
    assert told["claims"][0]["true"][0]["from"] is None
    assert 0.05 < told["claims"][0]["true"][0]["to"]["low"] < told["claims"][0]["true"][0]["to"]["high"] < 0.35
    assert [row["at"]["loss"] for row in told["points"]] == sorted(row["at"]["loss"] for row in told["points"])


def test_over_two_ranges_with_another_value_fixed(experiment: Experiment, tmp_path: Path) -> None:
    over, fixed = ranges.chosen([experiment], ["loss", "control"], ["attempts=7"])
    assert fixed.id == "attempts = 7"
    found = ranges.run([experiment], over, fixed, most=30)
    assert found is not None
    assert not found.is_complete
    area = found.areas()[0]
    assert 0 < area.low <= area.true <= area.high < 1
    assert "of the area" in terminal.ranges(found)
    assert "30 points were allowed" in region.caption(found)
    files.write_region(found, tmp_path)
    assert (tmp_path / "region.png").stat().st_size > 10_000


def test_the_command(folder: Path, call: Callable[..., tuple[Any, str, str]]) -> None:
    status, out, _ = call("readings", folder / "x.toml", "--over", "loss=0.05..0.2", "--points", 10, "--json", "-")
    assert status == 0
    assert '"together"' in out
    status, _, err = call("readings", folder / "x.toml", "--at", "attempts=7")
    assert (status, err.strip()) == (2, "interlayer: --at: it goes with --over")
    status, _, err = call("readings", folder / "x.toml", "--over", "loss", "--runs", 5)
    assert status == 2
    assert "a verdict needs 10 runs" in err


@pytest.mark.parametrize(("over", "least"), [(["loss"], 10), (["loss=0.2..0.6"], 9), (["loss", "control"], 30)])
def test_fewer_points_than_a_search_begins_with_are_an_error_before_the_first_run(
    over: list[str], least: int, experiment: Experiment
) -> None:
    found, fixed = ranges.chosen([experiment], over)
    with pytest.raises(InputError, match=rf"^--points: {least - 1} is below {least}, the points that a search begins"):
        ranges.run([experiment], found, fixed, most=least - 1)


def test_the_reading_at_the_base_is_the_base(experiment: Experiment) -> None:
    over, fixed = ranges.chosen([experiment], ["loss"], [])
    found = ranges.run([experiment], over, fixed, most=10)
    assert found is not None
    assert fixed == BASE
    values = [found.value(0, place[0]) for place in found.points.places]
    assert 0.1 in values
