"""The evidence for a verdict: explanations, contradictions, and what a paper rests on that is not modelled."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from interlayer.errors import InputError
from interlayer.show import as_json, joint, pages, terminal, words
from interlayer.study import joint as judged
from interlayer.study import library, reader
from interlayer.study.outcome import Closes
from interlayer.study.verdict import Verdict
from toy_paper import HEAD, SETUP, claim, model

if TYPE_CHECKING:
    from fake_core import Core

ROOT = Path(__file__).parents[2]

HOLDS, DIFFERS, DEPENDS, UNTESTABLE = Verdict.HOLDS, Verdict.DIFFERS, Verdict.DEPENDS, Verdict.UNTESTABLE


def explain(text: str) -> str:
    return f'[[explain]]\nclaim = 1\ntext = "tried"\n{text}\n'


@pytest.mark.parametrize(
    ("evidence", "expected", "closes"),
    [
        ('set = { "radio.speed" = 2 }', "1.8", Closes.YES),
        ('set = { "radio.speed" = 3 }', "1.8", Closes.NO),
        ('set = { "radio.colour" = 3 }', "1.8", Closes.SAME),
        ('set = { "radio.speed" = 2 }', "0.9", Closes.BREAKS),
        ('set = { "radio.colour" = 3 }', "0.9", Closes.SAME),
        ('formula = "2 * 0.9"\nunit = "Mb/s"', "1.8", Closes.PAPER),
        ('formula = "0.89 * 1"\nunit = "Mb/s"', "1.8", Closes.OURS),
        ('formula = "3 * 1"\nunit = "Mb/s"', "1.8", Closes.NEITHER),
        ('formula = "3 * 1"\nunit = "us"', "1.8", Closes.ARITHMETIC),
    ],
)
def test_an_explanation_says_whether_it_closes_the_gap(toy: Any, evidence: str, expected: str, closes: Closes) -> None:
    outcome = toy(HEAD + claim(expected) + explain(evidence), base_only=True)
    s = outcome.scored[0]
    assert s.found[0].closes is closes
    assert closes.value in s.found[0].sentence("Mb/s")
    (found,) = as_json.claim(s, outcome.experiment)["evidence"]
    assert (found["closes"], found["identical"]) == (closes.value, closes is Closes.SAME)
    assert s.unexplained == (expected == "1.8" and closes is Closes.SAME)  # the same bits explain nothing


def test_claims_that_exclude_each_other_are_pointed_out(toy: Any) -> None:
    text = HEAD + claim() + claim("1.8") + '[[contradiction]]\nclaims = [1, 2]\ntext = "0.9 is not 1.8"\n'
    outcome = toy(text)
    for mine, other in ((0, 2), (1, 1)):
        assert f"cannot hold together with toy#{other}: 0.9 is not 1.8" in outcome.scored[mine].why.lower()
    assert as_json.outcome(outcome)["contradictions"] == [{"claims": ["toy#1", "toy#2"], "text": "0.9 is not 1.8"}]
    assert "0.9 is not 1.8" in pages.outcome(outcome, "")
    with pytest.raises(InputError, match=r"contradiction\[0\]\.claims"):
        toy(text.replace("[1, 2]", "[1, 3]"))


def test_arms_with_the_same_bits_have_the_same_number_of_runs(toy: Any, core: Core) -> None:
    def noisy(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        return {"flows": [{"goodput_bps": 1e6 * (1 + 0.12 * rng.standard_normal())}]}

    core.model = noisy
    outcome = toy(HEAD.replace("max_runs = 20", "max_runs = 60") + claim("1.0"), base_only=True)
    runs = {cell: len(found) for cell, found in outcome.results.runs.items()}
    assert min(runs.values()) == max(runs.values()) > 10
    assert len({str(outcome.estimate(cell)) for cell in outcome.cells()}) == 1


def test_what_cannot_happen_is_no_evidence_and_what_does_happen_is_judged(toy: Any) -> None:
    text = claim("0").replace(
        "expected", 'unit = "packets"\nmetric = "flow.0.drops"\nimpossible = "none ever"\nexpected'
    )
    s = toy(HEAD + text).scored[0]
    assert (s.verdict, s.unexplained) == (UNTESTABLE, False)
    assert "No evidence: none ever" in s.why
    wrong = claim("0.9").replace("expected", 'impossible = "none ever"\nexpected')
    assert toy(HEAD + wrong, base_only=True).scored[0].verdict is HOLDS


MISSING = """
[[missing]]
name = "routing"
why = "a route falls when a packet is lost."
seen = "flow.0.losses"
"""
RESTS = HEAD.replace('setup = "setup.toml"', 'setup = "setup.toml"\nrests_on = { routing = NUMBERS }')


@pytest.fixture
def losing(toy: Any, core: Core, tmp_path: Path) -> Any:
    """The toy with a set-up that lacks routing, whose cell at the higher error rate alone loses packets."""

    def lossy(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        found = model(data, rng)
        found["flows"][0]["losses"] = 3 if data["channel"]["per"] > 0.1 else 0
        return found

    core.model = lossy
    (tmp_path / "setup.toml").write_text(SETUP + MISSING)
    return lambda numbers, claims, **options: toy(RESTS.replace("NUMBERS", numbers) + claims, **options)


@pytest.mark.parametrize("how", [{}, {"base_only": True}])
def test_what_rests_on_something_not_modelled_is_untestable_and_its_readings_stay(losing: Any, how: Any) -> None:
    # At 0.2 the toy has 0.8 Mb/s, as claimed in the first; 3.2 is in none of the readings.
    there = [claim(x).replace('"channel.per" = 0.1', '"channel.per" = 0.2') for x in ("0.8", "3.2")]
    outcome = losing("[1, 2]", "".join(there), **how)
    for s, alone in zip(outcome.scored, (HOLDS, DIFFERS), strict=True):
        assert (s.verdict, s.unexplained) == (UNTESTABLE, False)
        assert s.judgement.verdict is alone
        assert len(s.readings) == (0 if how else 8)
        assert s.why.startswith("Rests on routing, which is not modelled: a route falls when a packet is lost. Measu")
        found = as_json.claim(s, outcome.experiment)
        assert (found["verdict"], found["rests_on"]) == ("untestable", ["routing"])
        assert "rests on routing" in found["why"].lower()
    page, screen = pages.outcome(outcome, ""), terminal.outcome(outcome)
    assert "Rests on routing, which is not modelled: a route falls" in page
    assert "Not modelled, and so not varied" in page
    assert "rests on routing" in " ".join(screen.split()).lower()
    assert as_json.outcome(outcome)["open"]["missing"][0]["name"] == "routing"
    assert words.tally(outcome).startswith("0 of 2 claims hold, 2 untestable")


def test_a_claim_is_judged_where_what_is_missing_would_not_have_acted_or_is_not_named(losing: Any) -> None:
    elsewhere = claim("0.8").replace('"channel.per" = 0.1', '"channel.per" = 0.2')
    outcome = losing("[1]", claim("0.9") + elsewhere, base_only=True)
    assert [s.verdict for s in outcome.scored] == [HOLDS, HOLDS]  # none lost in the first; the second names nothing
    assert "rests_on" not in as_json.claim(outcome.scored[0], outcome.experiment)
    every = losing('"all"', claim("0.9") + elsewhere, base_only=True)
    assert [s.verdict for s in every.scored] == [HOLDS, UNTESTABLE]


@pytest.mark.parametrize(
    ("numbers", "wrong"),
    [("[2]", r"open\.rests_on\.routing: expected numbers of claims, 1 to 1"), ('"some"', r"open\.rests_on\.routing")],
)
def test_a_claim_that_is_not_there_rests_on_nothing(losing: Any, numbers: str, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        losing(numbers, claim())


def test_what_a_set_up_does_not_lack_cannot_be_rested_on(toy: Any) -> None:
    with pytest.raises(InputError, match="routing"):
        toy(RESTS.replace("NUMBERS", "[1]") + claim())


def test_claims_judged_together_say_what_they_rest_on(losing: Any, tmp_path: Path) -> None:
    losing("[1]", claim(), base_only=True)
    e = reader.parse(RESTS.replace("NUMBERS", "[1]") + claim() + claim("1.8"), "toy.toml", tmp_path)
    found = judged.run([e], runs=10, base_only=True)
    assert found is not None
    assert "No verdict, since nothing here models routing: toy#1" in joint.sentences(found)
    assert [c.get("rests_on") for c in joint.to_json(found)["claims"]] == [["routing"], None]


def test_a_formula_that_measures_nothing_of_what_it_says_is_arithmetic(toy: Any) -> None:
    let = 'let = { x = { metric = "flow.0.goodput", unit = "Mb/s" } }'
    more = f'formula = "2 * x"\n{let}\narithmetic = "twice what is measured"\nexpected'
    text = claim("1.8").replace("expected", more)
    outcome = toy(HEAD + text)
    s = outcome.scored[0]
    assert s.verdict is Verdict.ARITHMETIC
    assert s.why.startswith("Arithmetic, checked and not scored: twice what is measured. Measured 1.79")
    found = as_json.claim(s, outcome.experiment)
    assert (found["verdict"], found["check"]) == ("arithmetic", "holds")
    assert words.tally(outcome) == "0 of 0 claims hold, 1 arithmetic"


@pytest.mark.core
def test_bases_that_were_inferred_from_printed_numbers_are_varied_as_the_page_says() -> None:
    text = (ROOT / "docs" / "verdicts.md").read_text("utf-8")
    rows = re.findall(r"^\| ?([^|]*?) ?\| [^|]+ \| [^|]+ \| ((?:`[^|]+|none:[^|]+)) \|$", text, re.MULTILINE)
    assert len(rows) == 12
    assert "these are the twelve. Nine are varied" in text
    assert [row[1].startswith("none:") or "not scored" in row[1] for row in rows].count(True) == 3
    folder, named = "", {"Kliazovich": "kliazovich-2006", "Cheng": "cheng-2011", "Sang": "sang-2014"}
    for paper, what in rows:
        folder = next((f for name, f in named.items() if name in paper), folder)
        files = [path.read_text("utf-8") for path in (library.folder() / folder / "open").glob("*.toml")]
        known = {p["name"] for file in files for p in tomllib.loads(file).get("parameter", [])}
        assert set(re.findall(r"`([\w-]+)`", what)) <= known, what
