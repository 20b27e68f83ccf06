"""What a paper leaves open: how it is read, which readings are run, and what a claim is in each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from interlayer.errors import InputError
from interlayer.show import as_json, pages, terminal, words
from interlayer.study import campaign, library, readings
from interlayer.study.experiment import Cell, Claim, Line, Order, Quantity
from interlayer.study.readings import Choice, Parameter, Reading
from interlayer.study.verdict import Judgement, Verdict, holm_step, over_readings
from toy_paper import HEAD, SETUP, claim, model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fake_core import Core

ROOT = Path(__file__).parents[2]

HOLDS, DIFFERS, DEPENDS, UNTESTABLE = Verdict.HOLDS, Verdict.DIFFERS, Verdict.DEPENDS, Verdict.UNTESTABLE


# ------------------------------------------------------------------------------------------------- which are run


def parameter(name: str, values: int) -> Parameter:
    others = (Choice(f"{name}{i}", settings=((name, i),)) for i in range(1, values))
    return Parameter(name, "nowhere", (Choice(f"{name}0"), *others))


def test_few_readings_are_all_run() -> None:
    some = [parameter("a", 2), parameter("b", 3), parameter("c", 4)]  # 24
    found = readings.chosen(some)
    assert len(found) == readings.how_many(some) == 24
    assert len({r.id for r in found}) == 24
    assert found[0].id == "base"


def test_of_many_the_base_every_single_change_and_every_pair_are_run() -> None:
    some = [parameter(name, n) for name, n in (("a", 3), ("b", 2), ("c", 2), ("d", 2), ("e", 2))]  # 48
    found = readings.chosen(some)
    # 6 single changes; pairs: (6² - (4 + 1 + 1 + 1 + 1)) / 2 = 14.
    assert [sum(len(r.changes) == n for r in found) for n in range(4)] == [1, 6, 14, 0]
    assert len({r.id for r in found}) == 21
    single = {r.changes for r in found if len(r.changes) == 1}
    assert single == {((p.name, c),) for p in some for c in p.choices[1:]}


def test_of_many_every_single_change_comes_before_the_pairs() -> None:
    few, many = [parameter("a", 4), parameter("b", 6)], [parameter(name, 2) for name in "abcde"]
    assert readings.first(few) == readings.chosen(few)
    assert [len(r.changes) for r in readings.first(many)] == [0, 1, 1, 1, 1, 1]
    assert readings.first(many) == readings.chosen(many)[:6]


def test_a_reading_of_several_experiments_is_seen_by_each_as_far_as_it_is_open_there() -> None:
    a, b = parameter("a", 2), parameter("b", 2)
    both = readings.chosen([a, b])[-1]
    assert both.id == "a = a1, b = b1"
    assert both.within(["b"]).id == "b = b1"
    assert both.within([]) == readings.BASE


def test_a_metric_is_read_instead_as_a_whole_word_only() -> None:
    r = Reading((("credited", Choice("payload", metrics=(("datagram_throughput", "goodput"),))),))
    assert r.metric("jain(flow.*.datagram_throughput)") == "jain(flow.*.goodput)"
    assert r.metric("flow.0.datagram_throughput_share") == "flow.0.datagram_throughput_share"


# -------------------------------------------------------------------------------------------- one verdict of many


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([DIFFERS, DIFFERS], DIFFERS),
        ([HOLDS, DIFFERS, UNTESTABLE], DEPENDS),
        ([HOLDS, UNTESTABLE], UNTESTABLE),
        ([DIFFERS, UNTESTABLE], UNTESTABLE),
    ],
)
def test_a_verdict_needs_all_readings_resolved_alike(found: list[Verdict], verdict: Verdict) -> None:
    assert over_readings(found) is verdict


def test_readings_share_a_level_by_holms_procedure() -> None:
    def resolved_below(p: float) -> Any:
        return lambda alpha: Judgement(HOLDS if p <= alpha else UNTESTABLE, (), "", "", 10)

    def found(*p: float) -> list[bool]:
        return [j.verdict is HOLDS for j in holm_step([resolved_below(x) for x in p], 0.05)]

    # Of three: the smallest against 0.05/3, the next against 0.05/2, the last against 0.05, up to the first failure.
    assert found(0.016, 0.024, 0.049) == [True, True, True]
    assert found(0.017, 0.001, 0.049) == [True, True, True]
    assert found(0.017, 0.018, 0.019) == [False, False, False]
    assert found(0.026, 0.001, 0.026) == [False, True, False]


# ------------------------------------------------------------------------------------------------ from file to verdict


def by_reading(scored: Any) -> dict[str, str]:
    return {j.reading.id: j.judgement.verdict.value for j in scored.readings}


def test_a_claim_is_judged_in_every_reading_and_depends_on_those_named(toy: Any) -> None:
    outcome = toy(HEAD + claim("0.9") + claim("1.8", "helped"))
    first, second = outcome.scored
    assert len(outcome.readings) == 8
    # 0.9 Mb/s: slow and all counted, or fast and half of it counted; the plain arm has no helper.
    held = ["base", "helper = much", "speed = fast, counted = half", "speed = fast, counted = half, helper = much"]
    assert [name for name, verdict in by_reading(first).items() if verdict == "holds"] == held
    assert (first.verdict, words.readings_text(first)) == (DEPENDS, "4 of 8")
    assert first.in_readings.startswith("8 of 8 readings run: 4 hold (base; helper = much; ")
    assert first.in_readings.endswith("; one change alone turns it: speed, counted")
    assert second.turned_by == ("speed", "helper")
    # 1.8: much help (2 x 0.9), or fast and a little of it (1.98, exactly 10 % more), or all three.
    assert by_reading(second)["helper = much"] == "holds"
    assert by_reading(second)["base"] == "differs"


def test_a_reading_that_changes_nothing_a_claim_sees_costs_no_run_and_no_level(toy: Any, core: Core) -> None:
    outcome = toy(HEAD + claim(arm="fixed"))
    # 2 points, 3 arms; the arm that fixes the speed has no scheme: nothing more to run.
    assert core.batches == [10 * 6]
    assert words.readings_text(outcome.scored[0]) == "4 of 8"  # but half may be counted
    alone = toy(HEAD.replace("[open]", '[open.stated]\ncounted = "goodput"\n[open]') + claim(arm="fixed"))
    assert (alone.scored[0].verdict, words.readings_text(alone.scored[0])) == (HOLDS, "4 of 4")


FLAGS = "abcde"
"""Five parameters of two values: 32 readings, the base, 5 single changes and 10 pairs of which may be run."""


def of_flags(toy: Any, core: Core, tmp_path: Path, text: str, noise: float = 1e-3) -> Any:
    """Runs claims on 1 Mb/s that doubles where a and b are set together, and in the arm `third` where c is set."""

    def rate(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        set_ = data["radio"]
        double = set_.get("c") if set_.get("third") else set_.get("a") and set_.get("b")
        return {"flows": [{"goodput_bps": 1e6 * (2 if double else 1) * (1 + noise * rng.standard_normal())}]}

    core.model = rate
    parameters = "".join(
        f'[[parameter]]\nname = "{f}"\nsilent = "nowhere"\n[[parameter.value]]\nname = "no"\n'
        f'[[parameter.value]]\nname = "yes"\nset = {{ "radio.{f}" = 1 }}\n'
        for f in FLAGS
    )
    (tmp_path / "setup.toml").write_text('title = "Flags"\nsource = "nowhere"\n' + parameters)
    arms = '[arms]\nplain = {}\nthird = { "radio.third" = 1 }\n'
    return toy(HEAD.partition("[arms]")[0] + arms + text)


def test_a_pair_turns_a_claim_that_no_single_change_turns(toy: Any, core: Core, tmp_path: Path) -> None:
    outcome = of_flags(toy, core, tmp_path, claim("1"))
    (s,) = outcome.scored
    assert (s.verdict, words.readings_text(s), s.turned_by) == (DEPENDS, "15 of 16", ())
    assert [name for name, verdict in by_reading(s).items() if verdict == "differs"] == ["a = yes, b = yes"]
    assert core.batches == [10 * (2 * 2 + 5), 10 * 10]  # two points of two arms, single changes, then the pairs


def test_a_claim_that_a_single_change_turns_has_no_pairs(toy: Any, core: Core, tmp_path: Path) -> None:
    outcome = of_flags(toy, core, tmp_path, claim("1", "third"))
    (s,) = outcome.scored
    assert (s.verdict, words.readings_text(s), s.turned_by) == (DEPENDS, "5 of 6", ("c",))
    assert core.batches == [10 * (2 * 2 + 5)]
    assert as_json.outcome(outcome)["open"]["k"] == 6
    # Beside a claim that has them, its own stay without a mark.
    outcome = of_flags(toy, core, tmp_path, claim("1", "third") + claim("1"))
    assert [words.readings_text(s) for s in outcome.scored] == ["5 of 6", "15 of 16"]
    page = pages.outcome(outcome, "<svg></svg>")
    assert sum("<td>–</td>" in row and "= yes, " in row for row in page.split("<tr>")) == 10
    assert "pairs of changes for claims that no single change turned" in words.run_of(outcome)


def test_a_claim_that_is_open_has_no_pairs(toy: Any, core: Core, tmp_path: Path) -> None:
    (s,) = of_flags(toy, core, tmp_path, claim("1"), noise=0.9).scored
    assert (s.verdict, len(s.readings)) == (UNTESTABLE, 6)
    assert max(core.batches[1:]) < 10 * 10


def test_each_stage_of_readings_has_the_whole_level(
    toy: Any, core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def step(judged: Sequence[Any], alpha: float) -> list[Any]:
        seen.append((len(judged), alpha))
        return holm_step(judged, alpha)

    monkeypatch.setattr(campaign, "holm_step", step)
    of_flags(toy, core, tmp_path, claim("1"))
    assert seen[-2:] == [(6, 0.05 / 3), (10, 0.05 / 3)]  # 10, 15, 20 runs: three looks


def test_the_arms_own_setting_and_the_base_samples_stand(toy: Any) -> None:
    outcome = toy(HEAD + claim())
    assert outcome.estimate(Cell("fixed", (0,))).mean == pytest.approx(0.9, rel=2e-3)
    assert outcome.estimate(Cell("plain", (0,))).mean == pytest.approx(0.9, rel=2e-3)
    assert len(outcome.results.runs) == 6


def test_the_base_alone_is_preliminary(toy: Any) -> None:
    outcome = toy(HEAD + claim(), base_only=True)
    found = as_json.outcome(outcome)
    assert (outcome.scored[0].verdict, found["preliminary"]) == (HOLDS, True)
    assert "preliminary" in words.tally(outcome)
    assert (found["open"]["k"], found["open"]["K"]) == (1, 8)
    assert "preliminary" not in as_json.outcome(toy(HEAD + claim()))


def test_unresolved_readings_are_shown_and_no_verdict_is_made_of_the_others(toy: Any, core: Core) -> None:
    def noisy(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        found = model(data, rng)
        if data["radio"].get("speed") == 2:
            found["flows"][0]["goodput_bps"] *= 1 + 0.9 * rng.standard_normal()
        return found

    core.model = noisy
    head = HEAD.replace("[open]", '[open.stated]\ncounted = "goodput"\nhelper = "none"\n[open]')
    outcome = toy(head + claim())
    s = outcome.scored[0]
    assert by_reading(s) == {"base": "holds", "speed = fast": "untestable"}
    assert (s.verdict, words.readings_text(s)) == (UNTESTABLE, "1 of 2, 1 open")
    assert "1 unresolved (speed = fast)" in s.why
    found = as_json.claim(s, outcome.experiment)["readings"]
    assert {k: found[k] for k in ("k", "K", "holds", "differs", "unresolved")} == {
        "k": 2,
        "K": 2,
        "holds": 1,
        "differs": 0,
        "unresolved": 1,
    }
    assert found["of"][1]["set"] == {"speed": "fast"}
    assert found["of"][1]["runs"] == 20  # the file's most
    page = pages.outcome(outcome, "<svg></svg>")
    assert "the text does not say how fast" in page
    assert '<span class="untestable">untestable</span>' in page
    assert "1 of 2, 1 open" in terminal.outcome(outcome)


def test_rounds_and_readings_share_one_level(toy: Any, core: Core) -> None:
    # A difference of 2.5 standard errors in ten runs: shown at 5 %, not at a part of it.
    def model_(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        n = len(made)
        made.append(n)
        return {"flows": [{"goodput_bps": 1e6}], "summary": {}}

    made: list[int] = []
    core.model = model_
    from interlayer.study.verdict import judge_columns

    noise = np.array([-1.0, 1.0] * 5)
    noise *= 1.0 / (noise.std(ddof=1) / np.sqrt(10))
    quantities = (Quantity("a", (Cell("a", ()),)), Quantity("b", (Cell("b", ()),)))
    ranked = Claim("x#1", "", "order", "words", "flow.0.m", "Mb/s", Order(), (Line("", quantities),))
    columns = [100 + 2.5 + noise, np.full(10, 100.0)]
    assert judge_columns(ranked, columns, 0.05).verdict is HOLDS
    assert judge_columns(ranked, columns, 0.05 / 3).verdict is not HOLDS


@pytest.mark.parametrize(
    ("printed", "more", "runs"), [("1", "", 20), ("40", "largest_of = 6\n", 30), ("40", "one_of = 8\n", 35)]
)
def test_a_reading_has_the_runs_that_its_claim_needs(toy: Any, core: Core, printed: str, more: str, runs: int) -> None:
    def noisy(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        return {"flows": [{"goodput_bps": 1e6 * (1 + 0.9 * rng.standard_normal())}]}

    core.model = noisy
    head = HEAD.replace("max_runs = 20", "max_runs = 60").replace("plain = {}", 'plain = { "radio.own" = 1 }')
    head = head.replace("[open]", '[open.stated]\ncounted = "goodput"\nhelper = "none"\n[open]')
    (s,) = toy(head + claim(printed).replace("expected", f"{more}expected")).scored
    assert max(j.judgement.runs for j in s.readings[1:]) == runs


def test_one_picked_run_that_ours_reach_is_compatible_and_no_more(toy: Any, core: Core) -> None:
    core.model = lambda data, rng: {"flows": [{"goodput_bps": 1e6 * (1 + 0.05 * rng.standard_normal())}]}
    for more, verdict in (("one_of = 8\n", Verdict.COMPATIBLE), ("", HOLDS)):
        head = HEAD.replace("max_runs = 20", "max_runs = 400").replace("plain = {}", 'plain = { "radio.own" = 1 }')
        head = head.replace("[open]", '[open.stated]\ncounted = "goodput"\nhelper = "none"\n[open]')
        outcome = toy(head + claim("1").replace("expected", f"{more}expected"))
        (s,) = outcome.scored
        assert (s.verdict, s.readings[0].judgement.verdict) == (verdict, HOLDS)
        assert ("1 compatible" in words.tally(outcome)) == bool(more)
        assert s.why.startswith("Compatible with one run of 8 that was picked, and no more") == bool(more)


def test_what_is_set_by_hand_is_open_no_more(toy: Any) -> None:
    head = HEAD.replace('fixed = { "radio.speed" = 1 }\n', "")
    outcome = toy(head + claim(), overrides=[("radio.speed", "2")])
    assert outcome.experiment.open.names == ("counted", "helper")
    assert dict(outcome.experiment.open.stated) == {"speed": "set on the command line"}


def test_a_tabled_path_is_fixed_by_the_reading(toy: Any, tmp_path: Path) -> None:
    setup = SETUP + (
        '[[parameter]]\nname = "errors"\nsilent = "nowhere"\n[[parameter.value]]\nname = "few"\n'
        '[[parameter.value]]\nname = "many"\nset = { "channel.per" = 0.5 }\n'
    )
    (tmp_path / "setup.toml").write_text(setup)
    with pytest.raises(InputError, match=r'errors sets channel\.per, but "channel.per" is swept'):
        toy(HEAD + claim())
    head = HEAD.replace('setup = "setup.toml"', 'setup = "setup.toml"\ntabled = ["channel.per"]')
    bare = claim().replace(', "channel.per" = 0.1', "")
    outcome = toy(head + bare)
    assert len(outcome.cells()) == 6  # the table keeps both values
    s = outcome.scored[0]
    assert s.judgement.measured[0].mean == pytest.approx(0.9, rel=2e-3)
    found = {j.reading.id: j.judgement.measured[0].mean for j in s.readings}
    assert found["errors = many"] == pytest.approx(0.5, rel=2e-3)
    for wrong in (
        'where = { arm = "plain", "channel.per" = 0.1 }',
        'where = { arm = "plain" }\nmean_over = ["channel.per"]',
    ):
        with pytest.raises(InputError, match="is open: a claim is judged in each reading"):
            toy(head + bare.replace('where = { arm = "plain" }', wrong))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('setup = "setup.toml"', 'setup = "stup.toml"', "no such file"),
        ('setup = "setup.toml"', 'setup = "setup.toml"\ntabled = ["channel.prr"]', 'did you mean "channel.per"'),
        (
            'setup = "setup.toml"',
            'setup = "setup.toml"\nstated = { sped = "so" }',
            'no parameter "sped"; did you mean "speed"',
        ),
        ('setup = "setup.toml"', 'setup = "setup.toml"\nstated = { speed = "" }', "say where it is stated"),
        ('setup = "setup.toml"', 'setup = ["setup.toml", "setup.toml"]', '"speed" comes twice'),
        ('setup = "setup.toml"', 'setup = "setup.toml"\nsteup = 1', "open.steup: unknown key"),
    ],
)
def test_mistakes_in_open_are_named(toy: Any, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        toy(HEAD.replace(old, new) + claim())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "slow"', 'name = "slow"\nset = { "radio.speed" = 1 }', "the first value is the base file's"),
        ('set = { "radio.speed" = 2 }', "", '"fast" changes nothing'),
        ('name = "fast"', 'name = "slow"', "a value comes twice"),
        ('silent = "nor what is counted"', "", 'the key "silent" is missing'),
        ("much = true", 'much = { a = "b" }', ""),
        (
            'set = { "radio.speed" = 2 }',
            'arm = { plian = { "radio.speed" = 2 } }',
            'no arm "plian"; did you mean "plain"',
        ),
        ('set = { "radio.speed" = 2 }', 'let = { x = "2" }', "let.x: expected a number"),
        ('name = "counted"', 'name = "counted"\nsilnt = 1', "parameter[1].silnt: unknown key"),
    ],
)
def test_mistakes_in_a_set_up_are_named_with_its_file(
    toy: Any, tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "setup.toml").write_text(SETUP.replace(old, new, 1))
    if not message:
        toy(HEAD + claim())
        return
    with pytest.raises(InputError) as caught:
        toy(HEAD + claim())
    assert message in str(caught.value)
    assert "setup.toml" in str(caught.value)


# ------------------------------------------------------------------------------------------------- the package's files

PAPERS = [name for name in library.known() if not name.startswith("beyond/") and library.load(name).base]
"""Experiments of papers that run something: what is computed from printed equations leaves nothing open."""


def test_every_experiment_of_a_paper_declares_what_is_open_and_says_where_the_text_is_silent() -> None:
    assert len(PAPERS) == 98
    for name in PAPERS:
        e = library.load(name)
        assert e.open is not None, name
        assert e.open.parameters, name
        assert all(len(p.silent) > 20 for p in e.open.parameters), name
        assert all(reason for _, reason in e.open.stated), name


def test_no_experiment_has_a_scored_claim_without_a_measurement() -> None:
    for name in library.known():
        e = library.load(name)
        for c in e.claims:
            if e.scored and not c.is_arithmetic:
                assert c.cells(), f"{c.id} rests on no run"
    arithmetic = {c.id for name in library.known() for c in library.load(name).claims if c.is_arithmetic}
    assert {"ftca-fig-7.19#6", "ftca-fig-7.4#1", "ftca-fig-7.4#2", "ftca-fig-7.5#1", "ftca-fig-7.5#2"} <= arithmetic


@pytest.mark.core
@pytest.mark.parametrize("name", PAPERS)
def test_every_value_of_what_is_open_is_a_scenario_and_has_an_effect(name: str) -> None:
    e = library.load(name)
    assert e.open is not None
    runner = campaign.Campaign(e, 1, 1, (), None, campaign.Cache())
    base = {c.id: runner.looks_like(campaign.Variant(), c) for c in e.claims}
    for reading in readings.chosen(e.open.parameters):
        if len(reading.changes) == 1:  # `interlayer check` reads the pairs too
            variant = campaign.Variant(reading=reading)
            assert {c.id: runner.looks_like(variant, c) for c in e.claims} != base, reading.id
