"""Recorded arms of an experiment: judged as any other, never made by the simulator, and said to be recorded."""

from __future__ import annotations

import csv
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from interlayer import quantity
from interlayer.errors import InputError
from interlayer.show import as_json, pages, terminal
from interlayer.study import campaign, library, recording
from interlayer.study.experiment import Cell
from interlayer.study.recording import FACTS, Recording
from interlayer.study.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from interlayer.study.experiment import Experiment

pytestmark = pytest.mark.core

CELL = """
[scenario]
duration = "100 ms"
[radio]
standard = "802.11b"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
name = "transfer"
from = "a"
to = "b"
transport = { datagram = "1500 B" }
"""
TOY = """
title = "A toy"
evidence = "testbed"
base = "cell.toml"
metric = "flow.0.goodput"
unit = "Mb/s"
[recording]
file = "runs.csv"
arms = ["live"]
[sweep]
"flow.0.transport.datagram" = ["500 B", "1500 B"]
[arms]
live = { "flow.0.transport.timestamps" = false }
here = {}
[labels]
live = "Live"
[[claim]]
text = "4 Mb/s"
kind = "value"
strength = "number"
expected = 4
where = { arm = "live", "flow.0.transport.datagram" = "1500 B" }
[[claim]]
text = "apart by 25 %"
kind = "ratio"
strength = "number"
expected = 25
apart = true
of = { arm = "live", "flow.0.transport.datagram" = "500 B" }
over = { arm = "live" }
where = { "flow.0.transport.datagram" = "1500 B" }
"""
ROW = {
    **dict.fromkeys(FACTS, "1"),
    "date": "2026-11-24",
    "kernel": "6.18",
    "processors": "2",
    "scheduling": "fifo",
    "overloaded": "0",
}


def cell_of(size: str) -> str:
    return f'flow.0.transport.datagram = "{size}"; flow.0.transport.timestamps = false'


def row(size: str, seed: int, goodput_bps: float, **more: str) -> dict[str, str]:
    base = recording.place(CELL, []).base
    own = {"base": base, "cell": cell_of(size), "seed": str(seed), "flow.transfer.goodput_bps": str(goodput_bps)}
    return ROW | own | more


def written(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*FACTS, "flow.transfer.goodput_bps"])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def toy(tmp_path: Path) -> Experiment:
    """3 and 4 Mb/s, some 0.5 % about, of ten runs each; one more is overloaded."""
    (tmp_path / "cell.toml").write_text(CELL)
    (tmp_path / "toy.toml").write_text(TOY)
    rows = [
        row(size, seed, mean * (1 + 0.001 * (seed - 5.5)))
        for size, mean in (("500 B", 3e6), ("1500 B", 4e6))
        for seed in range(1, 11)
    ]
    written(tmp_path / "runs.csv", [row("1500 B", 11, 0.0, overloaded="1"), *rows])
    return library.load(tmp_path / "toy.toml")


def test_recorded_arms_are_judged_beside_simulated_ones_and_said_to_be_recorded(toy: Experiment) -> None:
    outcome = campaign.run(toy)
    value, apart = outcome.scored
    assert (value.verdict, apart.verdict) == (Verdict.HOLDS, Verdict.HOLDS)
    # By hand: (4 - 3) / 4 is a loss of 25 %, and apart has no sign.
    assert apart.judgement is not None
    assert apart.judgement.measured[0].mean == pytest.approx(25)
    assert outcome.estimate(Cell("live", (1,))).mean == pytest.approx(4)
    assert len(outcome.results.runs[Cell("here", (1,))]) == 10
    assert outcome.recorded is not None
    assert (outcome.recorded.runs, outcome.recorded.overloaded) == (20, 1)
    said = (
        "Recorded, not run here: Live. 20 live runs, 1 more left out as overloaded (runs.csv), 2026-11-24, Linux 6.18"
    )
    assert said in terminal.outcome(outcome).replace("\n", " ")
    assert said in pages.outcome(outcome, "")
    assert as_json.outcome(outcome)["recorded"]["kernels"] == ("6.18",)


def test_no_more_runs_are_waited_for_than_were_recorded(toy: Experiment, tmp_path: Path) -> None:
    """A claim that is open after all recorded runs stays so: its values are too far apart for a verdict."""
    wild = [row(size, seed, 4e6 * seed) for size in ("500 B", "1500 B") for seed in range(1, 11)]
    written(tmp_path / "runs.csv", wild)
    text = TOY.replace('title = "A toy"', 'title = "A toy"\nmax_runs = 40').replace("expected = 4", "expected = 20")
    (tmp_path / "toy.toml").write_text(text)
    outcome = campaign.run(library.load(tmp_path / "toy.toml"))
    assert outcome.scored[0].verdict is Verdict.UNTESTABLE
    assert len(outcome.results.runs[Cell("live", (1,))]) == 10


def test_what_was_not_recorded_is_one_line(toy: Experiment, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"runs\.csv has no runs of this cell: .*5500 m.*; --live FILE makes them"):
        campaign.run(toy, overrides=[("channel.range", '"5500 m"')])
    (tmp_path / "cell.toml").write_text(CELL + "\n# a comment is nothing\n")
    campaign.run(library.load(tmp_path / "toy.toml"), quick=True)
    (tmp_path / "cell.toml").write_text(CELL.replace("100 ms", "90 ms"))
    with pytest.raises(InputError, match="no runs of this base scenario, which has been changed"):
        campaign.run(library.load(tmp_path / "toy.toml"), quick=True)


def test_what_no_kernel_is_told_is_no_part_of_a_place() -> None:
    here = recording.place(CELL, ())
    for key, same in (("nagle = false", True), ('congestion = "cubic"', False)):
        told = CELL.replace("datagram =", f"{key}, datagram =")
        assert (recording.place(told, ()) == here) == same, key


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ('arms = ["live"]', 'arms = ["life"]', 'recording.arms: no arm "life"; did you mean "live"'),
        ('file = "runs.csv"', 'file = "run.csv"', "there is no"),
        ("apart = true", "apart = true\nshare = true", "is no share"),
    ],
)
def test_a_mistake_about_a_recording_is_one_line(
    toy: Experiment, tmp_path: Path, was: str, now: str, told: str
) -> None:
    (tmp_path / "toy.toml").write_text(TOY.replace(was, now))
    with pytest.raises(InputError, match=told):
        library.load(tmp_path / "toy.toml")


def test_a_maker_adds_what_is_missing_and_the_file_keeps_it(toy: Experiment, tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    def maker(wanted: Sequence[recording.Wanted]) -> Iterator[tuple[recording.Wanted, dict[str, Any]]]:
        for one in wanted:
            asked.append((one.place.cell, one.seed))
            facts = {name: ROW[name] for name in FACTS[3:]}
            yield one, {**facts, "flow.transfer.goodput_bps": 4e6 + one.seed}

    file = tmp_path / "new.csv"
    campaign.run(toy, quick=True, recording=Recording.read(file, maker))
    sizes = [cell_of("500 B"), cell_of("1500 B")]
    assert asked == [(size, seed) for seed in (1, 2, 3) for size in sizes]
    asked.clear()
    outcome = campaign.run(toy, runs=4, recording=Recording.read(file, maker))
    assert asked == [(size, 4) for size in sizes]
    assert [run["seed"] for run in outcome.results.runs[Cell("live", (0,))]] == [1, 2, 3, 4]
    assert (
        len(Recording.read(file).rows(recording.place(CELL, [tuple(p.split(" = ")) for p in sizes[0].split("; ")])))
        == 4
    )


def test_figure_3_8_is_simulated_with_the_measured_cost_of_the_loop() -> None:
    """`host_delay` is the median of the recorded Reno and LLE-TCP runs, as the files have it: 10 us up or down."""
    for id_ in ("lle-fig-3.8a", "lle-fig-3.8b"):
        e = library.load(id_)
        assert e.recording is not None
        with e.recording.open(encoding="utf-8", newline="") as file:
            measured = median(float(one["answer_p50_us"]) for one in csv.DictReader(file))
        delays = {v for _, arm in e.arms for path, v in arm if path == "node.*.host_delay"}
        assert [quantity.magnitude(one) for one in delays] == [pytest.approx(measured * 1e-6, abs=10e-6)]


def test_the_packages_recording_has_all_its_experiments_ask_for() -> None:
    """Ten runs of each cell in each reading, and none of a machine that was overloaded."""
    for id_ in ("lle-fig-3.8a", "lle-fig-3.8b"):
        e = library.load(id_)
        study = campaign.Campaign(e, 1, campaign.HERE, (), None, campaign.Cache())
        assert study.recording is not None
        for reading in campaign.checked(e):
            for cell in e.cells():
                if cell.arm in e.recorded:
                    found = study.recording.rows(study.place(campaign.Variant(reading=reading), cell)[0])
                    assert len(found) >= 10, (reading.id, cell)
