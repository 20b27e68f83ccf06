"""Claims of every form that the papers make, from file to verdict, over a model whose numbers are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from interlayer.errors import InputError
from interlayer.show import as_json, files, pages, plots, terminal, words
from interlayer.study import campaign, reader
from interlayer.study.experiment import Cell
from interlayer.study.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from fake_core import Core
    from interlayer.study.outcome import Outcome

HOLDS, DIFFERS, UNTESTABLE = Verdict.HOLDS, Verdict.DIFFERS, Verdict.UNTESTABLE

FLOW = """
[[flow]]
name = "down{i}"
from = "server"
to = "sta{i}"
transport = {{ protocol = "tcp", preset = "rfc" }}
"""
CELL = '[scenario]\nname = "cell"\n[radio]\n[channel]\nper = 0.0\n' + "".join(FLOW.format(i=i) for i in range(10))
ALONE = '[scenario]\nname = "alone"\n[radio]\n[channel]\nper = 0.0\n' + FLOW.format(i=0)

HEAD = """
id = "toy"
title = "A toy"
source = "nowhere"
evidence = "simulation"
base = "cell.toml"
metric = "flow.0.goodput"
unit = "Mb/s"
max_runs = 20
[sweep]
"channel.per" = [0.2, 0.1]
[arms]
reno = {}
mixed = { "radio.last" = 1.8 }
alone = { base = "alone.toml" }
[labels]
mixed = "Mixed"
"""


def cell_model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Ten flows of 0.30 Mb/s less what the errors take, the last `radio.last` times as fast; one part in 1000 noise."""
    rate = 3e5 * (1 - data["channel"]["per"]) * (1 + 1e-3 * rng.standard_normal())
    last = data["radio"].get("last", 1.0)
    n = len(data["flow"])
    flows = [{"goodput_bps": rate * (last if i == 9 else 1 + 1e-3 * rng.standard_normal())} for i in range(n)]
    return {"flows": [f | {"timeouts": data["radio"].get("timeouts", 0), "finish_time_s": 10.0} for f in flows]}


@pytest.fixture
def toy(core: Core, tmp_path: Path) -> Any:
    """Reads and runs the experiment of `HEAD` and more text."""
    core.model = cell_model
    (tmp_path / "cell.toml").write_text(CELL)
    (tmp_path / "alone.toml").write_text(ALONE)

    def run(text: str, **options: Any) -> Outcome:
        return campaign.run(reader.parse(text, "toy.toml", tmp_path), **options)

    return run


def claim(text: str) -> str:
    return f'[[claim]]\ntext = "a claim"\nstrength = "words"\n{text}\n'


def verdict(outcome: Outcome, n: int = 0) -> Any:
    return outcome.scored[n].verdict


# ------------------------------------------------------------------------------------------- groups of one run's flows

AT = '"channel.per" = 0.1'


@pytest.mark.parametrize(("arm", "found"), [("mixed", HOLDS), ("reno", DIFFERS)])
def test_a_flow_against_the_mean_of_the_others_in_the_same_run(toy: Any, arm: str, found: Verdict) -> None:
    text = f"""kind = "order"
        where = {{ arm = "{arm}", {AT} }}
        order = [{{ metric = "flow.9.goodput", label = "LLE-TCP" }}, {{ metric = "mean(flow.0-8.goodput)" }}]"""
    outcome = toy(HEAD + claim(text))
    assert verdict(outcome) is found
    assert words.expected_text(outcome.scored[0].claim) == "LLE-TCP > mean(flow.0-8.goodput)"
    # 0.30 Mb/s less a tenth is 0.27, and 1.8 times that 0.486.
    measured = [e.mean for e in outcome.scored[0].judgement.measured]
    assert measured == pytest.approx([0.27 * (1.8 if arm == "mixed" else 1), 0.27], rel=2e-3)


def test_a_group_is_found_by_name_too_and_a_wrong_name_is_suggested(toy: Any) -> None:
    def text(metric: str) -> str:
        return HEAD + claim(f'kind = "value"\nwhere = {{ arm = "reno", {AT} }}\nexpected = 2.7\nmetric = "{metric}"')

    assert verdict(toy(text("sum(flow.down*.goodput)"))) is HOLDS
    assert verdict(toy(text("sum(flow.down0,down1,2-9.goodput)"))) is HOLDS
    with pytest.raises(InputError, match='no flow "dwon1"; did you mean "down1"'):
        toy(text("sum(flow.dwon1.goodput)"))


def test_an_index_over_a_group(toy: Any) -> None:
    # Nine equal flows: 1. With one of ten 1.8 times as fast: 10.8²/(10 (9 + 3.24)) = 0.953. From 0.95 on 1 - J decides.
    for metric, printed in (("jain(flow.0-8.goodput)", 1.0), ("jain(flow.*.goodput)", 0.95)):
        outcome = toy(
            HEAD
            + claim(
                f'kind = "value"\nunit = "1"\nwhere = {{ arm = "mixed", {AT} }}\n'
                f'expected = {printed}\nmetric = "{metric}"'
            )
        )
        assert verdict(outcome) is HOLDS
        assert (
            outcome.scored[0].judgement.band
            == "1 - J within a factor of 1.5, and half of the last printed digit, 0.005"
        )


@pytest.mark.parametrize(
    ("printed", "share", "found"),
    [
        ("expected = 80", "", HOLDS),  # a gain of 80 %
        ("expected = 120", "", DIFFERS),
        ("expected = 180", "share = true", HOLDS),  # 180 % of it
        ("expected = 1.8", 'share = true\nunit = "1"', HOLDS),
        ("expected = 2.0", 'share = true\nunit = "1"', DIFFERS),  # 10 % of 1.8 is 0.18, and 1.8 is no index
        ("high = 200", "share = true", HOLDS),
    ],
)
def test_a_ratio_of_two_metrics_of_the_same_run(toy: Any, printed: str, share: str, found: Verdict) -> None:
    text = f"""kind = "ratio"
        where = {{ arm = "mixed", {AT} }}
        of = {{ metric = "flow.9.goodput" }}
        over = {{ metric = "mean(flow.0-8.goodput)" }}
        {printed}
        {share}"""
    assert verdict(toy(HEAD + claim(text))) is found


def test_a_gain_of_one_thing_over_another_is_refused(toy: Any) -> None:
    text = f"""kind = "ratio"
        where = {{ arm = "reno", {AT} }}
        of = {{ metric = "flow.9.goodput" }}
        over = {{ metric = "flow.9.rtt_mean" }}
        expected = 1"""
    with pytest.raises(InputError, match="not in the same unit"):
        toy(HEAD + claim(text))


# --------------------------------------------------------------------------------------------------- orders and trends


def test_an_order_at_every_swept_point(toy: Any) -> None:
    text = """kind = "order"
        metric = "flow.9.goodput"
        at_every = ["channel.per"]
        order = ["mixed", "reno"]
        low = 7
        high = 23
        printed_unit = "%" """
    outcome = toy(HEAD + claim(text))
    s = outcome.scored[0]
    assert s.verdict is HOLDS
    assert [line.label for line in s.claim.lines] == ["0.2", "0.1"]
    assert s.why.startswith("0.2: Mixed > reno (by ")
    assert "; 0.1: Mixed > reno (by " in s.why
    assert words.expected_text(s.claim) == "Mixed > reno (7 to 23 %)"
    found = as_json.claim(s, outcome.experiment)
    assert (found["expected"], found["printed"]) == (["Mixed", "reno"], {"value": [7, 23], "unit": "%"})
    assert found["of"] == ["0.2, Mixed", "0.2, reno", "0.1, Mixed", "0.1, reno"]


def test_an_order_that_fails_at_one_point_differs(toy: Any, core: Core) -> None:
    usual = core.model

    def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        if data["channel"]["per"] == 0.2:
            data["radio"].pop("last", None)
        return usual(data, rng)

    core.model = model
    text = 'kind = "order"\nmetric = "flow.9.goodput"\nat_every = ["channel.per"]\norder = ["mixed", "reno"]'
    assert verdict(toy(HEAD + claim(text))) is DIFFERS


@pytest.mark.parametrize(("or_equal", "found"), [("true", HOLDS), ("false", DIFFERS)])
def test_at_or_above_is_held_by_what_is_shown_equal(toy: Any, or_equal: str, found: Verdict) -> None:
    text = f'kind = "order"\nor_equal = {or_equal}\nwhere = {{ {AT} }}\norder = ["alone", "reno", "mixed"]'
    outcome = toy(HEAD + claim(text))
    assert verdict(outcome) is found
    assert ("≥" in words.expected_text(outcome.scored[0].claim)) == (or_equal == "true")


def test_a_trend_goes_along_x_by_size_whatever_the_order_in_the_file(toy: Any) -> None:
    # The file sweeps 0.2 before 0.1.
    text = 'kind = "trend"\nwhere = { arm = "reno" }\nx = "channel.per"\ndirection = "decreases"'
    outcome = toy(HEAD + claim(text))
    assert [q.x for q in outcome.scored[0].claim.quantities()] == [0.1, 0.2]
    assert verdict(outcome) is HOLDS


STEPS = HEAD.replace("[0.2, 0.1]", "[0.05, 0.06, 0.07, 0.08]")


def collapsing(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """0.30 Mb/s, which stop at an error rate of 7 %; at 6 % half the seeds get through."""
    per = data["channel"]["per"]
    alive = per < 0.06 or (per == 0.06 and rng.random() < 0.5)
    return {"flows": [{"goodput_bps": 3e5 * alive * (1 + 1e-3 * rng.standard_normal())}] * len(data["flow"])}


@pytest.mark.parametrize(
    ("printed", "steps", "found", "says"),
    [
        ("expected = 7", "[0.05, 0.06, 0.07, 0.08]", HOLDS, "from 7 % on, and not yet at 6 %"),
        ("expected = 6", "[0.05, 0.06, 0.07, 0.08]", DIFFERS, "printed 6 %"),  # it was alive there
        ("expected = 6.5", "[0.05, 0.06, 0.07, 0.08]", HOLDS, ""),  # between two points nothing is known
        ("expected = 8", "[0.08, 0.07, 0.06, 0.05]", DIFFERS, "from 7 % on"),
        ("low = 4\nhigh = 6.2", "[0.05, 0.06, 0.07]", HOLDS, "printed 4 to 6.2 %"),
        ("high = 5", "[0.05, 0.06, 0.07]", DIFFERS, "printed at most 5 %"),
        ("expected = 6", "[0.05, 0.055]", UNTESTABLE, "owhere shown"),  # printed beyond the sweep
        ("expected = 4", "[0.05, 0.055]", DIFFERS, "owhere shown to be below 0.01 Mb/s, and not yet at 5.5 %"),
        ("expected = 7", "[0.07, 0.08]", UNTESTABLE, "at no x shown not to be"),
    ],
)
def test_the_x_from_which_on_nothing_gets_through(
    toy: Any, core: Core, printed: str, steps: str, found: Verdict, says: str
) -> None:
    core.model = collapsing
    text = f"""kind = "value"
        where = {{ arm = "reno" }}
        x = "channel.per"
        first = {{ below = 0.01 }}
        unit = "%"
        {printed}"""
    outcome = toy(HEAD.replace("[0.2, 0.1]", steps) + claim(text))
    assert verdict(outcome) is found
    assert says in outcome.scored[0].why
    if found is not UNTESTABLE and "0.07" in steps:
        assert as_json.claim(outcome.scored[0], outcome.experiment)["measured"] == pytest.approx(7)


def test_an_x_that_too_few_runs_can_tell_is_a_dash_in_tables(toy: Any, core: Core) -> None:
    core.model = collapsing
    text = """kind = "value"
        where = { arm = "reno" }
        x = "channel.per"
        first = { below = 0.01 }
        unit = "%"
        expected = 7"""
    outcome = toy(HEAD.replace("[0.2, 0.1]", "[0.05, 0.06, 0.07]") + claim(text), runs=3)
    assert words.measured_text(outcome.scored[0]) == "–"


def test_the_x_from_which_on_a_gain_is_gone(toy: Any) -> None:
    # 1.8 times as fast at every x: a gain of 80 % is never below 2 %.
    text = """kind = "value"
        metric = "flow.9.goodput"
        of = "mixed"
        over = "reno"
        x = "channel.per"
        first = { below = 2 }
        unit = "%"
        expected = 5.5"""
    outcome = toy(STEPS + claim(text))
    assert verdict(outcome) is DIFFERS
    assert "owhere shown to be below 2 %" in outcome.scored[0].why
    for wrong, message in (
        ("{}", "give either"),
        ("{ below = 2, above = 3 }", "give either"),
        ("{ bellow = 2 }", "below"),
    ):
        with pytest.raises(InputError, match=message):
            toy(STEPS + claim(text.replace("{ below = 2 }", wrong)))


# -------------------------------------------------------------------------------------- another experiment's results


def test_an_arm_may_have_a_scenario_of_its_own(toy: Any) -> None:
    outcome = toy(HEAD)
    assert len(outcome.results.runs[Cell("reno", (0,))][0]["flows"]) == 10
    assert len(outcome.results.runs[Cell("alone", (0,))][0]["flows"]) == 1
    assert ("base", "alone.toml") not in outcome.experiment.overrides(Cell("alone", (0,)))


@pytest.mark.parametrize(
    ("margin", "last", "found"),
    [("0.01", 1.0, HOLDS), ('"3 %"', 1.0, HOLDS), ('"3 %"', 1.1, DIFFERS), ('"10 %"', 1.1, UNTESTABLE)],
)
def test_results_close_to_those_of_another_scenario(
    toy: Any, core: Core, margin: str, last: float, found: Verdict
) -> None:
    # 1.1 times as fast: 1/1.1 of the larger is 9.1 % away; with "10 %" the noise below decides nothing.
    def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        result = cell_model(data, rng)
        noise = 0.05 if margin == '"10 %"' else 1e-3
        if data["scenario"]["name"] == "alone":
            result["flows"][0]["goodput_bps"] *= last * (1 + noise * rng.standard_normal())
        return result

    core.model = model
    text = f"""kind = "shape"
        test = "close"
        x = "channel.per"
        pairs = [["alone", "reno"]]
        margin = {margin}
        margin_reason = "said to be very close" """
    outcome = toy(HEAD + claim(text))
    assert verdict(outcome) is found
    assert "lone and reno differ by up to" in outcome.scored[0].why


def test_two_lines_left_free_are_compared_and_more_are_to_be_named(toy: Any) -> None:
    close = 'kind = "shape"\ntest = "close"\nmargin = 0.01\nmargin_reason = "so"\n'
    assert verdict(toy(HEAD + claim(close + 'x = "channel.per"\nwhere = { arm = ["reno", "alone"] }'))) is HOLDS
    # Without x: one point each.
    assert verdict(toy(HEAD + claim(close + f'where = {{ arm = ["reno", "alone"], {AT} }}'))) is HOLDS
    with pytest.raises(InputError, match="leaves 3; name them two by two in `pairs`"):
        toy(HEAD + claim(close + 'x = "channel.per"'))
    with pytest.raises(InputError, match=r"pairs\[0\]"):
        toy(HEAD + claim(close + 'x = "channel.per"\npairs = [["reno"]]'))


# ------------------------------------------------------------------------------------- what follows, what is drawn

FOLLOW = HEAD.replace("[arms]", '[follow."channel.per"]\n"radio.last" = [1.5, 3.0]\n[arms]').replace(
    'mixed = { "radio.last" = 1.8 }', "mixed = {}"
)


def test_what_follows_a_swept_path_changes_with_it_and_its_value_can_be_claimed(toy: Any) -> None:
    # The last flow of ten has 1.5 times the others' rate at 0.2, three times at 0.1.
    share = """kind = "ratio"
        share = true
        unit = "1"
        of = { metric = "flow.9.goodput" }
        over = { metric = "mean(flow.0-8.goodput)" }
        expected = EXPECTED
        where = { arm = "reno", "channel.per" = PER }"""
    text = "".join(claim(share.replace("PER", per).replace("EXPECTED", x)) for per, x in (("0.2", "1.5"), ("0.1", "3")))
    assert [s.verdict for s in toy(FOLLOW + text).scored] == [HOLDS, HOLDS]


def test_an_arm_wins_over_what_follows_and_an_override_of_it_is_refused(toy: Any) -> None:
    text = FOLLOW.replace("mixed = {}", 'mixed = { "radio.last" = 1.8 }')
    e = toy(text).experiment
    assert dict(e.overrides(Cell("mixed", (1,)))) == {"channel.per": 0.1, "radio.last": 1.8}
    with pytest.raises(InputError, match="sets it itself"):
        toy(FOLLOW, overrides=[("radio.last", "2")])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[1.5, 3.0]", "[1.5]", "needs a list of 2"),
        ("[1.5, 3.0]", "3.0", "needs a list of 2"),
        ('follow."channel.per"', 'follow."channel.prr"', 'is not swept; did you mean "channel.per"'),
        ('"radio.last" = [1.5, 3.0]', '"channel.per" = [1, 2]', "is set already"),
    ],
)
def test_mistakes_in_what_follows_are_named(toy: Any, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        toy(FOLLOW.replace(old, new))


def test_a_figure_draws_the_part_of_the_grid_that_it_names(toy: Any) -> None:
    text = HEAD.replace("[labels]", '[figure]\nx = "channel.per"\nwhere = { arm = ["reno", "mixed"] }\n[labels]')
    text += '[[curve]]\nlabel = "a"\nformula = "1"\nwhere = { arm = "mixed" }\n'
    text += '[[curve]]\nlabel = "b"\nformula = "2"\nwhere = { arm = "alone" }\n'
    _, labels = plots.experiment(toy(text)).axes[0].get_legend_handles_labels()
    assert sorted(labels) == ["Mixed", "arithmetic: a", "reno"]
    with pytest.raises(InputError, match=r"figure\.where: arm is never moxed; did you mean"):
        toy(text.replace('["reno", "mixed"]', '"moxed"'))


# ------------------------------------------------------------------------------------------------------- none of it

NO_TIMEOUT = 'kind = "value"\nmetric = "sum(flow.*.timeouts)"\nunit = "events"\nexpected = 0\n'


@pytest.mark.parametrize(
    ("timeouts", "found", "says"),
    [(0, HOLDS, "Zero in 10 of 10 runs"), (1, DIFFERS, "Zero in 0 of 10 runs")],
)
def test_nothing_happened_means_zero_in_every_run(toy: Any, timeouts: int, found: Verdict, says: str) -> None:
    text = NO_TIMEOUT + f'where = {{ arm = "reno", {AT} }}'
    outcome = toy(HEAD + f"[set]\n'radio.timeouts' = {timeouts}\n" + claim(text))
    assert (verdict(outcome), outcome.scored[0].judgement.band) == (found, "zero in every run")
    assert outcome.scored[0].why.startswith(says)
    assert outcome.runs == 10  # no interval to narrow


def test_one_run_that_is_not_zero_decides_against_it(toy: Any, core: Core) -> None:
    count = iter(range(1000))

    def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        data["radio"]["timeouts"] = int(next(count) == 7)
        return cell_model(data, rng)

    core.model = model
    text = NO_TIMEOUT + 'mean_over = ["channel.per"]\nwhere = { arm = "reno" }'
    outcome = toy(HEAD.replace("mixed = ", "#").replace("alone = ", "#") + claim(text))
    assert verdict(outcome) is DIFFERS
    assert "Zero in 9 of 10 runs" in outcome.scored[0].why


# --------------------------------------------------------------------------------------------------------- formulas


def test_efficiency_is_a_share_of_a_swept_rate_and_no_gain(toy: Any) -> None:
    head = HEAD.replace('"channel.per" = [0.2, 0.1]', '"radio.data_rate" = ["1 Mb/s", "2 Mb/s"]')
    share = (
        'formula = "100 * t / rate"\nlet = { t = "flow.0.goodput", rate = { value = "radio.data_rate" } }\nunit = "%"\n'
    )
    # 0.30 Mb/s of 1 Mb/s are 30 %, of 2 Mb/s 15 %: 33 % is within 10 % of neither.
    values = "".join(
        claim(f'kind = "ratio"\n{share}expected = {printed}\nwhere = {{ arm = "reno", "radio.data_rate" = "{rate}" }}')
        for printed, rate in ((30, "1 Mb/s"), (15, "2 Mb/s"), (34, "1 Mb/s"))
    )
    trend = claim(f'kind = "trend"\n{share}where = {{ arm = "reno" }}\nx = "radio.data_rate"\ndirection = "decreases"')
    outcome = toy(head + values + trend)
    assert [s.verdict for s in outcome.scored] == [HOLDS, HOLDS, DIFFERS, HOLDS]
    assert [s.claim.kind for s in outcome.scored] == ["ratio", "ratio", "ratio", "trend"]
    assert as_json.claim(outcome.scored[0], outcome.experiment)["formulas"] == ["100 * t / 1000000.0"]
    assert outcome.scored[0].judgement.band == "10 % of our mean"


def test_a_formula_reads_other_cells_and_units(toy: Any) -> None:
    text = f"""kind = "value"
        unit = "%"
        where = {{ arm = "mixed", {AT} }}
        expected = 75
        formula = "100 * sum_reno / (sum_reno + last * 1e6)"
        [claim.let]
        sum_reno = {{ metric = "sum(flow.0-8.goodput)", arm = "reno" }}
        last = {{ metric = "flow.9.goodput", unit = "Mb/s" }}"""
    # Nine times 0.27 and 1.8 times 0.27: 9/10.8 = 83.3 %, and 75 % is 10 % of that away, and no more.
    outcome = toy(HEAD + claim(text))
    assert outcome.scored[0].judgement.measured[0].mean == pytest.approx(100 * 9 / 10.8, rel=1e-3)
    assert verdict(outcome) is HOLDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('formula = "a"', 'no constant "a"'),
        ('formula = "1"\nlet = { b = 1 }', "let.b: the formula does not use it"),
        ('formula = "a"\nlet = { a = { value = "radio.x" } }', '"radio.x" is not swept'),
        ('formula = "a"\nlet = { a = { value = "channel.per" } }\nmean_over = ["channel.per"]', "is not fixed here"),
        ('formula = "a"\nlet = { a = true }', "expected a number, a metric, or a table"),
        ('formula = "a"\nlet = { a = { metric = "flow.0.goodput", unit = "Mbps" } }', '"Mbps" is no unit'),
        ('formula = "1 / 0"', "has no value"),
        ('formula = "1"\nof = "reno"\nover = "mixed"', "give either a `formula` or"),
        ('of = "reno"\nover = "mixed"\nunit = "Mb/s"', 'a gain is no "Mb/s"'),
        ('of = "reno"\nover = "mixed"\nshare = true\nunit = "Mb/s"', 'a share is no "Mb/s"'),
        ("share = true", "a share needs `of` and `over`"),
        ("low = 3\nhigh = 2", "`low` is above `high`"),
        ('values = ["a"]', "expected numbers"),
    ],
)
def test_mistakes_in_formulas_and_ratios_are_named(toy: Any, text: str, message: str) -> None:
    printed = "" if text.startswith("low") else "\nexpected = 1"
    where = '\nwhere = { arm = "mixed" }' if "mean_over" in text else f'\nwhere = {{ arm = "mixed", {AT} }}'
    with pytest.raises(InputError) as caught:
        toy(HEAD + claim(f'kind = "value"\n{text}{printed}{where}'))
    assert message in str(caught.value)
    assert str(caught.value).startswith("toy.toml: claim[0]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "ratio"\nof = "reno"\nover = "mixed"\nexpected = 0\nwhere = { AT }', "a gain of nothing has no sign"),
        ('kind = "order"\norder = ["reno", "mixed"]', "or ask it `at_every` one"),
        ('kind = "order"\norder = ["reno", "mixed"]\nat_every = ["channel.prr"]', '"channel.prr" is not swept'),
        ('kind = "order"\norder = ["reno", { arm = "mixed", AT }]\nat_every = ["channel.per"]', "is in `at_every`"),
        ('kind = "order"\norder = ["reno", { arm = "mixed", metric = 3 }]', "metric: expected a text"),
        ('kind = "order"\norder = ["reno", { arm = "mixed", unit = "s" }]', "unit has no place here"),
        ('kind = "trend"\nx = "channel.per"\ndirection = "flat"\nmargin = "3 %"\nmargin_reason = "s"', "margin"),
        ('kind = "shape"\ntest = "close"\nmargin = "3"\nmargin_reason = "s"', "or a share of the mean"),
    ],
)
def test_mistakes_in_orders_and_shapes_are_named(toy: Any, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        toy(HEAD + claim(text.replace("AT", AT)))
    assert message in str(caught.value)


def test_wrong_base_of_an_arm_is_named(toy: Any) -> None:
    with pytest.raises(InputError, match=r"arms\.alone\.base: expected a scenario file"):
        toy(HEAD.replace('base = "alone.toml"', "base = 3"))
    with pytest.raises(InputError, match="no such file"):
        toy(HEAD.replace('base = "alone.toml"', 'base = "alnoe.toml"'))


def test_a_ceiling_that_is_computed_does_not_limit_the_runs_of_what_lies_under_it(toy: Any, core: Core) -> None:
    # One part in ten of noise, a ceiling 5 % above the mean: ten runs do not tell them apart, some twenty do.
    def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        return {"flows": [{"goodput_bps": 2.7e5 * (1 + 0.1 * rng.standard_normal())} for _ in data["flow"]]}

    core.model = model
    text = f"""kind = "order"
        where = {{ {AT} }}
        order = [{{ label = "ceiling", formula = "top" }}, "reno"]
        let = {{ top = 0.284 }}"""
    outcome = toy(HEAD.replace("max_runs = 20", "max_runs = 100") + claim(text))
    assert verdict(outcome) is HOLDS
    assert outcome.scored[0].judgement.runs == outcome.runs > 10


def test_a_formula_needs_no_place_of_its_own_where_all_that_it_reads_has_one(toy: Any) -> None:
    read = """formula = "100 * a / b"
        [claim.let]
        a = { metric = "flow.9.goodput", arm = "mixed" }
        b = { metric = "flow.9.goodput", arm = "reno" }"""
    assert (
        verdict(toy(HEAD + claim(f'kind = "value"\nunit = "%"\nexpected = 180\nwhere = {{ {AT} }}\n{read}'))) is HOLDS
    )
    wanting = read.replace(', arm = "reno"', "")
    with pytest.raises(InputError, match=r'let\.b: leaves 3 values of "arm"'):
        toy(HEAD + claim(f'kind = "value"\nunit = "%"\nexpected = 180\nwhere = {{ {AT} }}\n{wanting}'))


# ------------------------------------------------------------------------------------- cited, analysis, and derived

ANALYSIS = """
id = "equations"
title = "What follows from the equations"
source = "nowhere"
evidence = "analysis"
"""
PLCP = """kind = "value"
unit = "us"
formula = "8 * (preamble + header) / rate"
let = { preamble = 18, header = 6, rate = 1 }"""


def test_closed_forms_need_no_runs(toy: Any, core: Core) -> None:
    # 24 B at 1 Mb/s last 192 us.
    text = ANALYSIS + claim(f"{PLCP}\nexpected = 192") + claim(f"{PLCP}\nexpected = 150")
    text += claim(
        'kind = "trend"\nunit = "us"\nx = "rate"\nvalues = [2, 1, 11]\ndirection = "decreases"\nformula = "192 / x"'
    )
    text += claim(
        'kind = "order"\nlet = { data = 1310 }\norder = [{ label = "with", formula = "data + 676" }, '
        '{ label = "without", formula = "data" }]'
    )
    outcome = toy(text)
    assert core.batches == []
    assert {s.verdict for s in outcome.scored} == {Verdict.ARITHMETIC}  # no measurement: checked, not scored
    checks = [as_json.claim(s, outcome.experiment)["check"] for s in outcome.scored]
    assert checks == ["holds", "differs", "holds", "holds"]
    first = as_json.claim(outcome.scored[0], outcome.experiment)
    assert (first["expected"], first["measured"], first["ci95"], first["arithmetic"]) == (192, 192, None, 192)
    assert first["formulas"] == ["8 * (18.0 + 6.0) / 1.0"]
    assert first["why"] == "Arithmetic, checked and not scored. Computed 192 us against the printed 192 us (+0.0 %)"
    assert outcome.scored[2].why == "Arithmetic, checked and not scored. From 192 us to 17.45 us"
    assert (as_json.outcome(outcome)["runs"], as_json.outcome(outcome)["rows"]) == (0, [])
    shown = terminal.outcome(outcome)
    assert "No runs: arithmetic alone" in shown
    assert "0 of 0 claims hold, 4 arithmetic" in shown


def test_closed_forms_leave_a_page_without_a_figure(toy: Any, tmp_path: Path) -> None:
    outcome = toy(ANALYSIS + claim(f"{PLCP}\nexpected = 192"))
    files.write_outcomes([outcome], tmp_path / ".")
    assert sorted(p.name for p in tmp_path.glob("[ei][qn]*")) == ["equations.html", "equations.json", "index.html"]
    page = (tmp_path / "equations.html").read_text()
    assert "<svg" not in page
    assert "<code>8 * (18.0 + 6.0) / 1.0</code>" in page


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("max_runs = 10\n", 'the key "base" is missing'),
        ("[sweep]\nx = [1]\n", 'the key "base" is missing'),
        (claim('kind = "value"\nexpected = 1'), "give a `formula`"),
        (claim('kind = "value"\nexpected = 1\nformula = "t"\nlet = { t = "flow.0.goodput" }'), "nothing runs here"),
        (
            claim('kind = "trend"\nx = "r"\nvalues = [1]\ndirection = "increases"\nformula = "x"'),
            "two of them at least",
        ),
    ],
)
def test_what_only_runs_can_serve_is_a_mistake_without_a_base(toy: Any, more: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        toy(ANALYSIS + more)


@pytest.mark.parametrize("evidence", ["cited", "summary"])
def test_what_is_cited_is_shown_with_measurement_and_arithmetic_and_not_scored(toy: Any, evidence: str) -> None:
    curve = '[[curve]]\nlabel = "by hand"\nwhere = { arm = "reno" }\nformula = "0.3 * (1 - x)"\n'
    text = HEAD.replace('"simulation"', f'"{evidence}"') + curve
    text += claim(f'kind = "value"\nexpected = 0.5\nwhere = {{ arm = "reno", {AT} }}')
    text += claim('kind = "value"\nexpected = 9\nunit = "us"\nformula = "3 * 3"')
    outcome = toy(text)
    first, second = (as_json.claim(s, outcome.experiment) for s in outcome.scored)
    assert (first["verdict"], second["verdict"]) == (None, None)
    assert first["measured"] == pytest.approx(0.27, rel=1e-2)
    assert first["arithmetic"] == pytest.approx(0.27)
    assert (second["measured"], second["arithmetic"]) == (9, 9)
    counts = words.counts(outcome)
    assert (counts.pop("shown"), set(counts.values())) == (2, {0})
    assert words.tally(outcome) == f"2 claims, {evidence}: shown, not scored"


DERIVED = """
[[derived]]
text = "the flow over the mean of the others"
unit = "1"
expected = 1.8
formula = "last / others"
let = { last = "flow.9.goodput", others = "mean(flow.0-8.goodput)" }
where = { arm = "mixed", "channel.per" = 0.1 }
[[derived]]
text = "aggregate"
unit = "Mb/s"
expected = 3.24
formula = "9 * 0.30 + 0.54"
"""


def test_derived_quantities_are_shown_and_not_scored(toy: Any, tmp_path: Path) -> None:
    outcome = toy(HEAD + DERIVED)
    measured, computed = as_json.outcome(outcome)["derived"]
    assert measured["measured"] == pytest.approx(1.8, rel=2e-3)
    assert 0 < measured["ci95"] < 0.01
    assert measured["formula"] == "last / others"
    assert (computed["computed"], computed["expected"]) == (pytest.approx(3.24), 3.24)
    assert "measured" not in computed
    assert outcome.scored == []
    assert "aggregate" in terminal.outcome(outcome)
    files.write_outcome(outcome, tmp_path)
    assert "9 * 0.3 + 0.54" in (tmp_path / "toy.html").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('formula = "last / others"\n', "", 'derived[0]: the key "formula" is missing'),
        (', "channel.per" = 0.1 }', " }", 'leaves 2 values of "channel.per"'),
        ("expected = 3.24", "expceted = 3.24", 'derived[1].expceted: unknown key; did you mean "expected"?'),
        ("flow.9.goodput", "flow.11.goodput", 'no flow "11"'),
    ],
)
def test_mistakes_in_what_is_derived_are_named(toy: Any, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        as_json.outcome(toy(HEAD + DERIVED.replace(old, new)))
    assert message in str(caught.value)


def test_a_single_point_needs_no_sweep(toy: Any, tmp_path: Path) -> None:
    head = HEAD.replace('[sweep]\n"channel.per" = [0.2, 0.1]\n', "")
    outcome = toy(head + claim('kind = "value"\nexpected = 0.3\nwhere = { arm = "reno" }'))
    assert verdict(outcome) is HOLDS
    assert outcome.cells() == [Cell(arm, ()) for arm in ("reno", "mixed", "alone")]
    files.write_outcome(outcome, tmp_path)
    assert (tmp_path / "toy.png").exists()
    assert "printed in the paper" in (tmp_path / "toy.svg").read_text()


@pytest.mark.parametrize(("arms", "points"), [(9, 1), (9, 2), (7, 1), (9, 9)])
def test_many_arms_have_a_row_each_unless_the_points_are_as_many(toy: Any, arms: int, points: int) -> None:
    head = HEAD[: HEAD.index("[arms]")].replace("[0.2, 0.1]", str([0.1 * i for i in range(1, points + 1)]))
    own = "[arms]\n" + "".join(f'a{i} = {{ "radio.last" = {i}.0 }}\n' for i in range(arms))
    outcome = toy(head + own, quick=True)
    lines = [line.split() for line in terminal.outcome(outcome).splitlines()]
    page = pages.outcome(outcome, "<svg></svg>")
    if (arms, points) in ((9, 1), (9, 2)):
        (line,) = (line for line in lines if line[:1] == ["a6"])
        assert line.count("±") == points
        assert f"<tr><td>a6</td><td class=n>{outcome.estimate(outcome.experiment.cells()[6])} (3)</td>" in page
    else:
        (line,) = (line for line in lines if line[:1] == ["0.1"] and "±" in line)  # not "0.1 s" of the clock
        assert line.count("±") == arms
        assert f"<tr><td>0.1</td><td class=n>{outcome.estimate(outcome.experiment.cells()[0])} (3)</td>" in page
