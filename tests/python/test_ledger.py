"""The ledger of a paper: what each value of its cells rests on, and what a verdict against the paper has left out."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import pytest

from interlayer.errors import InputError
from interlayer.show import as_json, pages, terminal
from interlayer.study import campaign, ledger, library
from interlayer.study.ledger import Basis, Ledger, Mark
from interlayer.study.reader.ledger import read_ledger
from interlayer.study.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

PAPERS = [id_ for id_ in library.known() if not id_.startswith("beyond/")]


def test_of_several_marks_the_most_precise_counts() -> None:
    general = Mark(("flow.transport.*",), Basis.TOOL, "the tool's")
    exact = Mark(("flow.transport.min_rto",), Basis.STANDARD, "RFC 6298 2.4")
    here = Mark(("flow.transport.*",), Basis.PRINTED, "p. 3", experiments=("fig-1*",))
    of_value = Mark(("flow.transport.*",), Basis.OPEN, "not said", what="the sender", values=("reno",))
    book = Ledger("a paper", (of_value, here, exact, general))
    assert book.mark("fig-2", "flow.transport.max_rto", "60 s") is general
    assert book.mark("fig-2", "flow.transport.min_rto", "1 s") is exact
    assert book.mark("fig-1a", "flow.transport.min_rto", "1 s") is here
    assert book.mark("fig-1a", "flow.transport.congestion", "reno") is of_value
    assert book.mark("fig-1a", "radio.slot", "short") is None


def test_a_key_has_no_place_in_a_list() -> None:
    paths = ("flow.*.transport.min_rto", "node.ap.queue", "radio.queue.packets", "channel.errors.per", "scheme.*.delay")
    assert [ledger.key_of(path) for path in paths] == [
        "flow.transport.min_rto",
        "node.queue",
        "radio.queue.packets",
        "channel.errors.per",
        "scheme.delay",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[mark]]\nkeys = ["radio.slot"]\nprinted = "p. 1"\ntool = "ns-2"',
            "give one of printed, standard, tool, open",
        ),
        ('[[mark]]\nkeys = []\nprinted = "p. 1"', "names no key, or no place"),
        ('[[mark]]\nkeys = ["radio.slot"]\nopen = "not said"', 'the key "what" is missing'),
    ],
)
def test_a_mark_says_one_thing_of_some_keys(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "ledger.toml").write_text(f'title = "t"\n{text}\n', encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_ledger(tmp_path)


SCENARIO = """
[scenario]
duration = "1 s"
[radio]
standard = "802.11b"
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
source = "fig. 1"
base = "s.toml"
metric = "flow.0.goodput"
unit = "Mb/s"
[sweep]
"flow.0.transport.datagram" = ["500 B", "1500 B"]
[open]
setup = "open.toml"
[[claim]]
text = "it carries 900 Mb/s"
kind = "value"
strength = "number"
expected = 900
where = { "flow.0.transport.datagram" = "1500 B" }
"""
OPEN = """
title = "what"
source = "where"
[[parameter]]
name = "receiver"
silent = "nothing is said"
value = [{ name = "base" }, { name = "every", set = { "flow.*.transport.receiver" = "every" } }]
"""
LEDGER = """
title = "a paper"
[[mark]]
keys = ["*"]
standard = "the standard"
[[mark]]
keys = ["radio.queue.*"]
open = "the text names no queue, and no figure fills it"
what = "the queue"
[[unmodelled]]
what = "routing"
why = "no routing agent is modelled"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("s", SCENARIO), ("x", EXPERIMENT), ("open", OPEN), ("ledger", LEDGER)):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_what_is_swept_is_printed_and_what_a_reading_sets_is_open(folder: Path) -> None:
    rows = {row.key or row.what: row for row in campaign.assumptions(library.load(folder / "x.toml"))}
    swept, varied = rows["flow.transport.datagram"], rows["flow.transport.receiver"]
    assert (swept.basis, swept.where, swept.values) == (Basis.PRINTED, "fig. 1: swept", ("500 B", "1500 B"))
    assert (varied.basis, varied.varied, varied.is_unvaried) == (Basis.OPEN, ("receiver",), False)
    assert rows["radio.standard"].basis is Basis.STANDARD
    assert rows["radio.queue.packets"].is_unvaried
    assert rows["routing"].is_unvaried
    assert ledger.unvaried(list(rows.values())) == ("the queue", "routing")


def test_what_an_arm_sets_itself_no_reading_varies(folder: Path) -> None:
    own = '[arms.own]\n"flow.0.transport.receiver" = "delayed-ack"\n'
    for arms, varied in ((f"{own}[arms.plain]\n", ("receiver",)), (own, ())):
        text = EXPERIMENT.replace("[open]", f"{arms}[open]").replace("where = {", 'where = { arm = "own",')
        (folder / "x.toml").write_text(text, encoding="utf-8")
        assert _row(folder, "flow.transport.receiver").varied == varied


def test_a_reading_varies_the_keys_that_it_changes_whatever_it_sets(folder: Path) -> None:
    """`radio.tx_power` is the power of every node; a table of a congestion control has keys that stay as they are."""
    with_power = SCENARIO.replace("[[node]]", '[channel]\npropagation = { model = "free-space" }\n[[node]]', 1)
    vegas = '[flow.transport]\npreset = "rfc"\ncongestion = { name = "vegas", alpha = 1, beta = 3 }\n'
    (folder / "s.toml").write_text(with_power + vegas, encoding="utf-8")
    both = '"radio.tx_power" = "7 dBm", "flow.0.transport.congestion" = { name = "vegas", alpha = 2, beta = 3 }'
    (folder / "open.toml").write_text(OPEN.replace('"flow.*.transport.receiver" = "every"', both), encoding="utf-8")
    assert _row(folder, "node.tx_power").varied == ("receiver",)
    assert _row(folder, "flow.transport.congestion.alpha").varied == ("receiver",)
    assert not _row(folder, "flow.transport.congestion.beta").varied


def _row(folder: Path, key: str) -> ledger.Assumption:
    return next(row for row in campaign.assumptions(library.load(folder / "x.toml")) if row.key == key)


def test_a_verdict_that_differs_shows_what_was_not_varied(folder: Path) -> None:
    outcome = campaign.run(library.load(folder / "x.toml"))
    [scored] = outcome.scored
    assert (scored.verdict, scored.unvaried) == (Verdict.DIFFERS, ("the queue", "routing"))
    assert as_json.outcome(outcome)["claims"][0]["not_varied"] == ["the queue", "routing"]
    assert "Not varied: the queue, routing." in terminal.outcome(outcome)
    assert "<p>Not varied: the queue, routing.</p>" in pages.outcome(outcome, "")


def test_without_a_ledger_nothing_is_marked(folder: Path) -> None:
    (folder / "ledger.toml").unlink()
    rows = campaign.assumptions(library.load(folder / "x.toml"))
    assert ledger.counts(rows)["unmarked"] == len(rows) - 2  # what is swept, and what a reading sets


@cache
def _rows(id_: str) -> list[ledger.Assumption]:
    return campaign.assumptions(library.load(id_))


@pytest.mark.parametrize("id_", PAPERS)
def test_every_value_of_a_papers_cells_has_a_mark(id_: str) -> None:
    e = library.load(id_)
    unmarked = [f"{row.key} = {row.values[0]}" for row in _rows(id_) if row.basis is None]
    assert not unmarked
    assert e.ledger is not None


def test_every_mark_of_a_paper_is_of_some_value() -> None:
    """A mark that no experiment needs is stale."""
    used: dict[str, set[ledger.Mark]] = {}
    for id_ in PAPERS:
        e = library.load(id_)
        if e.ledger is not None:
            found = used.setdefault(e.ledger.title, set())
            for row in _rows(id_):
                found |= {m for v in row.values if (m := e.ledger.mark(e.id, row.key, v)) is not None}
    for id_ in PAPERS:
        if (book := library.load(id_).ledger) is not None:
            assert [m for m in book.marks if m not in used[book.title]] == []


def test_the_command_lists_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from interlayer.cli import app

    app(["check", "--assumptions", str(folder / "x.toml"), "--json", "-"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    assert (found["experiment"], found["counts"]["not varied"], found["counts"]["unmarked"]) == ("x", 3, 0)
    app(["check", "--assumptions", str(folder / "x.toml")], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "open, varied by receiver" in shown
    assert shown.index(" not varied, 0 unmarked") < shown.index("open, varied by"), "the counts come first"
    assert "routing" in shown
