"""Rounds, pairing, stopping, counter-runs and interruption, over the test double."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from interlayer.errors import InputError
from interlayer.show import files, plots
from interlayer.study import campaign, library, reader
from interlayer.study.experiment import Cell, Experiment
from interlayer.study.runs import Cache, Standing
from interlayer.study.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from fake_core import Core


def load(name: str = "lle-fig-3.7a") -> Experiment:
    return library.load(name)


def test_ten_runs_of_every_cell_and_counter_run_when_all_is_clear(core: Core) -> None:
    outcome = campaign.run(load(), base_only=True)
    # 10 points, 3 arms; two counter-runs of one cell each, one of which is a cell of the grid.
    assert core.batches == [10 * (10 * 3) + 10]
    assert {len(runs) for runs in outcome.results.runs.values()} == {10}
    assert all(s.verdict is not None for s in outcome.scored)


def test_all_cells_share_their_seeds(core: Core) -> None:
    outcome = campaign.run(load(), seed=100)
    for runs in outcome.results.runs.values():
        assert [r["seed"] for r in runs] == list(range(100, 110))


def noisy(where: str, level: float) -> Any:
    """The usual model with a large noise of its own in one arm."""
    from fake_core import airtime_model

    def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, float]:
        found = airtime_model(data, rng)
        arm = "lle-tcp" if data.get("scheme") else data["flow"][0]["transport"]["receiver"]
        if arm == where:
            found["datagram_throughput_bps"] *= 1 + level * float(rng.standard_normal())
        return found

    return model


def test_runs_are_added_only_where_a_claim_is_open(core: Core) -> None:
    core.model = noisy("lle-tcp", 0.12)  # ± 12 % 2.26/sqrt(10) = ± 8.6 %: too wide with 10 runs, narrow enough with 35
    outcome = campaign.run(load())
    runs = {cell.arm: len(found) for cell, found in outcome.results.runs.items() if cell.at == (4, 0)}
    assert runs["reno-one-ack"] == 10  # no claim of 3.7a rests on it
    assert 10 < runs["lle-tcp"] <= 40
    assert len(core.batches) > 1


def test_what_stays_open_at_max_runs_is_untestable_and_says_so(core: Core) -> None:
    core.model = noisy("lle-tcp", 0.5)
    outcome = campaign.run(load())
    first = outcome.scored[0]
    assert first.verdict is Verdict.UNTESTABLE
    assert "Not resolved in 40 runs" in first.why
    assert outcome.runs == 40


def test_a_fixed_number_of_runs_is_kept(core: Core) -> None:
    outcome = campaign.run(load(), runs=4)
    assert outcome.runs == 4
    assert {s.verdict for s in outcome.scored} == {Verdict.UNTESTABLE}
    assert outcome.scored[0].why.startswith("A verdict needs 10 runs, there are 4")


def test_quick_gives_no_verdict_and_runs_no_counter_runs(core: Core) -> None:
    outcome = campaign.run(load(), quick=True)
    assert core.batches == [3 * 30]
    assert outcome.preliminary
    assert {s.verdict for s in outcome.scored} == {None}


def test_every_claim_that_differs_rests_on_evidence(core: Core) -> None:
    # With Table 3.2's airtimes the double disagrees with some printed numbers, as the arithmetic says it must. It knows
    # the single hop only; test_end_to_end asks the same of every experiment.
    for name in ("lle-fig-3.7a", "lle-fig-3.7b", "lle-fig-3.9"):
        outcome = campaign.run(load(name))
        against = [s for s in outcome.scored if s.verdict is Verdict.DIFFERS]
        assert not [s.claim.id for s in against if s.unexplained]
        if name != "lle-fig-3.7a":
            assert against


def test_prose_alone_is_no_evidence(core: Core) -> None:
    core.model = lambda data, rng: {"datagram_throughput_bps": 1e6 + rng.random()}
    outcome = campaign.run(load(), base_only=True)
    unexplained = [s.claim.id for s in outcome.scored if s.unexplained]
    assert "lle-fig-3.7a#1" in unexplained
    assert "lle-fig-3.7a#2" not in unexplained


def test_why_shows_formula_value_and_counter_run(core: Core) -> None:
    outcome = campaign.run(load("lle-fig-3.9"))
    why = outcome.scored[1].why
    assert why.startswith("Measured a gain of ")
    assert "100 * 605.5 / 2 / (1303.6 + 300.0) = 18.88 %" in why
    assert 'with channel.errors.at = "msdu" ' in why
    # The double knows no place where errors are drawn: the counter-run has the claim's own bits, and says so.
    assert "(differs: the same bits as the claim's own runs: no evidence)" in why


def test_counter_runs_measure_what_they_set(core: Core) -> None:
    outcome = campaign.run(load())
    one_ack = outcome.estimate(Cell("reno-one-ack", (4, 0)))
    counter = next(f for f in outcome.scored[1].found if f.evidence.is_counter_run)
    assert counter.judgement is not None
    assert counter.judgement.measured[0].mean == one_ack.mean


def test_gain_is_that_of_the_means(core: Core) -> None:
    outcome = campaign.run(load("lle-fig-3.7b"))
    e = outcome.experiment
    gain = outcome.gain(e.comparisons[0], (5,))
    assert gain is not None
    new, old = outcome.estimate(Cell("lle-tcp", (5,))).mean, outcome.estimate(Cell("reno", (5,))).mean
    assert gain.mean == pytest.approx(100 * (new / old - 1))


def test_interruption_keeps_what_was_finished_without_verdicts(core: Core) -> None:
    core.stop_after = 25
    outcome = campaign.run(load())
    assert outcome.interrupted
    assert sum(len(r) for r in outcome.results.runs.values()) == 25
    assert {s.verdict for s in outcome.scored} == {None}
    assert all(s.why.startswith("Interrupted") for s in outcome.scored)


def test_a_later_seed_without_the_earlier_one_is_not_kept(core: Core) -> None:
    campaign.run(load())
    hole = 3 * core.batches[0] // 10  # the first cell's fourth of ten seeds
    core.order = lambda pending: min((n for n in pending if n != hole), default=hole)
    core.stop_after = 6 * core.batches[0] // 10
    outcome = campaign.run(load())
    assert outcome.interrupted
    first = outcome.experiment.cells()[0]
    assert [r["seed"] for r in outcome.results.runs[first]] == [1, 2, 3]


def test_setting_what_the_experiment_sets_is_a_mistake(core: Core) -> None:
    for path in ("radio.rts_threshold", "flow.0.transport", "scheme"):
        with pytest.raises(InputError, match=r"lle-fig-3\.7a sets it itself"):
            campaign.run(load(), overrides=[(path, '"x"')])
    assert core.batches == []


def test_setting_one_entry_of_what_a_star_sets_is_a_mistake_too(core: Core) -> None:
    e = replace(load(), sweep=(("flow.*.transport.datagram", ("500 B", "1000 B")),), claims=())
    for path in ("flow.3.transport.datagram", "flow.*.transport", "flow.down"):
        with pytest.raises(InputError, match=r"lle-fig-3\.7a sets it itself \(sweep"):
            campaign.run(e, overrides=[(path, '"x"')])
    assert core.batches == []
    campaign.run(e, quick=True, overrides=[("flow.0.transport.nagle", "true")])
    assert core.batches == [3 * 2 * 3]


def test_overrides_reach_every_cell(core: Core) -> None:
    seen = []
    usual = core.model

    def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, float]:
        seen.append(data["scenario"]["duration"])
        return usual(data, rng)

    core.model = model
    campaign.run(load(), quick=True, overrides=[("scenario.duration", '"7 s"')])
    assert set(seen) == {"7 s"}


def test_progress_counts_up_to_the_number_of_runs(core: Core) -> None:
    calls: list[tuple[str, Standing]] = []
    campaign.run(load(), quick=True, progress=lambda *call: calls.append(call))
    assert calls[-1] == ("lle-fig-3.7a", Standing(90, 90, 0.0, 90 * 30.0, 90 * 30.0))


def test_a_reference_that_gets_nothing_is_untestable_and_no_crash(core: Core) -> None:
    usual = core.model

    def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, float]:
        return usual(data, rng) if data.get("scheme") else {"datagram_throughput_bps": 0.0}

    core.model = model
    outcome = campaign.run(load("lle-fig-3.7b"))
    assert outcome.scored[0].verdict is Verdict.UNTESTABLE
    assert "undefined" in outcome.scored[0].why


def test_experiments_that_share_a_store_run_what_they_have_in_common_once(core: Core) -> None:
    cache = Cache()
    first = campaign.run(load(), cache=cache)
    alone = campaign.run(load("lle-fig-3.7b"))
    before = len(core.batches)
    again = campaign.run(load(), cache=cache)
    assert sum(core.batches[before:]) == 0
    for cell, runs in first.results.runs.items():
        assert runs == again.results.runs[cell]
    # The next figure is of the same hop without RTS/CTS: some of its cells are there, and its numbers are as they were.
    before = len(core.batches)
    shared = campaign.run(load("lle-fig-3.7b"), cache=cache)
    assert 0 < sum(core.batches[before:]) < sum(len(runs) for runs in shared.results.runs.values())
    assert [s.judgement for s in shared.scored] == [s.judgement for s in alone.scored]


def test_other_seeds_and_other_settings_are_not_shared(core: Core) -> None:
    cache = Cache()
    campaign.run(load(), cache=cache, runs=2)
    before = sum(core.batches)
    campaign.run(load(), cache=cache, runs=2, seed=3)
    assert sum(core.batches) == 2 * before
    campaign.run(load(), cache=cache, runs=2, overrides=[("channel.per", "0.1")])
    assert sum(core.batches) == 3 * before


def test_a_scenarios_name_and_own_seed_are_no_part_of_its_key(core: Core) -> None:
    from interlayer import simulator

    text = '[scenario]\nname = "{}"\nseed = {}\n[radio]\nrate = {}\n'
    keys = [Cache.key(simulator.parse(text.format(*one))) for one in (("a", 1, 1), ("b", 2, 1), ("a", 1, 2))]
    assert keys[0] == keys[1] != keys[2]


OVER_TIME = """
[over_time]
columns = ["flow.*.cwnd"]
where = { arm = "lle-tcp", "flow.0.transport.datagram" = "1500 B", "radio.rts_threshold" = "off" }
run = { lowest = "flow.0.datagram_throughput" }
"""


def over_time(text: str = OVER_TIME) -> Experiment:
    file = library.files()["lle-fig-3.7a"]
    return reader.parse(file.read_text() + text, "toy.toml", file.parent)


@pytest.mark.parametrize(("how", "rank"), [("lowest", 0), ("median", 4), ("highest", 9)])
def test_the_run_shown_over_time_is_picked_by_a_metric_of_the_runs(core: Core, how: str, rank: int) -> None:
    e = over_time(OVER_TIME.replace("lowest", how))
    outcome = campaign.run(e, over_time=True)
    assert e.over_time is not None
    runs = outcome.results.runs[e.over_time.cell]
    ranked = sorted(runs, key=lambda run: run["flows"][0]["datagram_throughput_bps"])
    assert outcome.over_time is not None
    assert outcome.over_time["seed"] == ranked[rank]["seed"]
    assert core.batches[-1] == 1
    assert outcome.over_time["series"] is not None
    assert campaign.run(e).over_time is None  # only where somebody writes it down


def test_a_run_over_time_is_drawn_and_its_mistakes_are_named(core: Core, tmp_path: Path) -> None:
    outcome = campaign.run(over_time(), over_time=True, quick=True)
    svg = files.write_outcome(outcome, tmp_path)
    assert {f"lle-fig-3.7a-over-time.{kind}" for kind in ("png", "svg", "csv", "parquet")} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert "of 3 the one of lowest throughput" in svg
    by_index = over_time(OVER_TIME.replace("flow.*.cwnd", "flow.0.cwnd"))
    assert plots.over_time(campaign.run(by_index, over_time=True, quick=True)) is not None
    for old, new, message in [
        ('arm = "lle-tcp", ', "", "this leaves 3"),
        ("lowest", "least", 'over_time.run.least: unknown key; did you mean "lowest"?'),
        ('["flow.*.cwnd"]', "[]", "expected a list of patterns"),
        ("run = { ", 'run = { median = "summary.jain", ', "give one of"),
    ]:
        with pytest.raises(InputError) as caught:
            over_time(OVER_TIME.replace(old, new))
        assert message in str(caught.value)
    with pytest.raises(InputError, match=r'over_time.columns: no "flow.\*.cwmd"; did you mean "flow.transfer.cwnd"'):
        plots.over_time(campaign.run(over_time(OVER_TIME.replace("cwnd", "cwmd")), over_time=True, quick=True))
