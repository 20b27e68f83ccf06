"""The age of tables: pages are current, and a change makes exactly those tables stale whose numbers it can move."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interlayer.study import library

ROOT = Path(__file__).parents[2]


def test_all_tables_of_the_pages_are_current(renew: Any) -> None:
    assert renew.stale() == [], "`make docs` makes these tables again"


def test_no_page_has_a_table_that_is_not_renewed(renew: Any) -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [ROOT / name for name in listed.stdout.split()]
    assert {p for p in pages if renew.stamps.MARKER.search(p.read_text("utf-8"))} <= set(renew.PAGES)


def test_golden_fingerprints_are_those_that_the_results_versions_know(renew: Any) -> None:
    assert renew.stamps.unsaid() == ""


def test_every_results_version_has_its_entry_in_the_changelog(renew: Any) -> None:
    said = re.findall(r"\(results (\d+)\)", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert {str(v.number) for v in renew.stamps.versions()[1:]} == set(said)


# ------------------------------------------------------------------------------------------------------ toys to change

FILES = {
    "paper/one.toml": """
id = "one"
title = "First"
base = "cells/own.toml"  # a comment
[open]
setup = "open/all.toml"
stated = { coherence = "page 3" }
[arms]
reno = {}
cubic = { "flow.0.transport.congestion" = "cubic" }
[[claim]]
text = "Reno has more"
order = ["reno", "cubic"]
[[explain]]
claim = 1
text = "since it has"
""",
    "paper/two.toml": 'id = "two"\nbase = "cells/other.toml"\n[[claim]]\ntext = "grows"\n',
    "beyond/both.toml": """
id = "beyond/both"
base = "../paper/cells/other.toml"
[arms]
own = { base = "../paper/cells/own.toml" }
[[claim]]
text = "alike"
""",
    "paper/cells/own.toml": '[scenario]\nduration = "10 s"\n',
    "paper/cells/other.toml": '[scenario]\nduration = "20 s"\n',
    "paper/open/all.toml": """
title = "All"
[[parameter]]
name = "receiver"
silent = "not said"
[[parameter.value]]
name = "delayed"
[[parameter.value]]
name = "every"
why = "as ns-2"
set = { "flow.0.transport.receiver" = "every" }
""",
    "paper/ledger.toml": 'title = "Paper"\n',
    "results.toml": 'golden = ""\n[[version]]\nnumber = 1\ndate = 2026-01-01\nwhat = "first"\nmoves = ["*"]\n',
    "page.md": "".join(
        f"<!-- {asked} -->\n| a | b |\n|---|--:|\n| reno | 1.0 ± 0.1 (10) |\n<!-- end -->\n\nSome text.\n\n"
        for asked in (
            "claims one",
            "rows one flow.0.goodput Mb/s; arm=reno",
            "arms two; flow.0.goodput Mb/s; queue.a->b.dropped 1",
            "rows both summary.jain 1",
        )
    ),
}
ONE, TWO, BOTH = ["claims one", "rows one"], ["arms two"], ["rows both"]


class Toy:
    """A folder with three experiments and a page of their tables, which `renew` takes for the package's."""

    def __init__(self, folder: Path, renew: Any) -> None:
        self.folder, self.renew = folder, renew
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        self.made: list[str] = []
        self.docs("--stamp", "*")

    def change(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert text.count(old) == 1
        (self.folder / name).write_text(text.replace(old, new))

    def version(self, number: int, moves: str) -> None:
        with (self.folder / "results.toml").open("a") as file:
            file.write(f'[[version]]\nnumber = {number}\ndate = 2026-01-02\nwhat = "RACK"\nmoves = {moves}\n')

    def stale(self) -> list[str]:
        """The first two words of the markers of what is stale."""
        return [" ".join(line.split()[1:3]).rstrip(";:") for line in self.renew.stale()]

    def docs(self, *arguments: str) -> list[str]:
        """`make docs`: the tables that were made."""
        self.made.clear()
        assert self.renew.main(arguments) == 0
        return [" ".join(asked.split()[:2]).rstrip(";") for asked in self.made]

    def measured(self, table: Any) -> str:
        self.made.append(str(table))
        return "| a | b |\n|---|--:|\n| reno | 2.0 ± 0.1 (10) |"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renew: Any) -> Toy:
    monkeypatch.setattr(library, "folder", lambda: tmp_path)
    monkeypatch.setattr(renew.stamps, "RESULTS", tmp_path / "results.toml")
    monkeypatch.setattr(renew, "ROOT", tmp_path)
    monkeypatch.setattr(renew, "PAGES", [tmp_path / "page.md"])
    toy = Toy(tmp_path, renew)
    monkeypatch.setattr(renew, "measured", toy.measured)
    return toy


def test_a_stamped_page_is_current_and_keeps_its_numbers(toy: Toy) -> None:
    assert toy.stale() == []
    page = (toy.folder / "page.md").read_text()
    assert re.sub(r"; results=1 experiment=[0-9a-f]{6} table=[0-9a-f]{6} -->", " -->", page) == FILES["page.md"]


@pytest.mark.parametrize(
    ("name", "old", "new", "stale"),
    [
        ("paper/one.toml", '"cubic" }', '"bbr" }', ONE),
        ("paper/one.toml", 'order = ["reno", "cubic"]', 'order = ["cubic", "reno"]', ONE),
        ("paper/one.toml", "reno = {}\ncubic", "cubic", ONE),
        ("paper/one.toml", "coherence =", "averaging =", ONE),
        ("paper/one.toml", '"Reno has more"', '"Reno carries more"', ["claims one"]),
        ("paper/one.toml", "# a comment", "# another", []),
        ("paper/one.toml", "[arms]\n", "\n\n[ arms ]\n", []),
        ("paper/one.toml", '"First"', '"The first"', []),
        ("paper/one.toml", '"page 3"', '"page 4"', []),
        ("paper/one.toml", '"since it has"', '"for it has"', []),
        ("paper/two.toml", '"cells/other.toml"', '"cells/own.toml"', TWO),
        ("paper/cells/own.toml", "10 s", "11 s", [*ONE, *BOTH]),
        ("paper/cells/other.toml", "20 s", "21 s", [*TWO, *BOTH]),
        ("paper/cells/own.toml", "[scenario]", "# a comment\n[scenario]", []),
        ("paper/open/all.toml", '"every" }', '"dynamic-delayed-ack" }', ONE),
        ("paper/open/all.toml", '"not said"', '"nowhere said"', []),
        ("paper/open/all.toml", '"as ns-2"', '"as in ns-2"', []),
        ("paper/ledger.toml", "Paper", "A paper", []),
    ],
)
def test_a_change_makes_those_tables_stale_whose_numbers_it_can_move(
    toy: Toy, name: str, old: str, new: str, stale: list[str]
) -> None:
    toy.change(name, old, new)
    assert toy.stale() == stale
    assert all("its experiment changed" in line for line in toy.renew.stale())


@pytest.mark.parametrize(
    ("moves", "stale"),
    [
        ('["one"]', ONE),
        ('["t*"]', TWO),
        ('["beyond/*", "two"]', [*TWO, *BOTH]),
        ('["*"]', [*ONE, *TWO, *BOTH]),
        ("[]", []),
    ],
)
def test_a_results_version_makes_the_tables_stale_whose_experiments_it_moved(
    toy: Toy, moves: str, stale: list[str]
) -> None:
    toy.version(2, moves)
    assert toy.stale() == stale
    assert all("moved by results 2 (2026-01-02, RACK)" in line for line in toy.renew.stale())


@pytest.mark.parametrize("old", ["1.0 ± 0.1", "summary.jain 1"])
def test_an_edit_by_hand_is_seen(toy: Toy, old: str) -> None:
    page = (toy.folder / "page.md").read_text()
    before, _, after = page.rpartition(old)
    (toy.folder / "page.md").write_text(f"{before}summary.goodput Mb/s{after}")
    assert toy.stale() == BOTH
    assert toy.renew.stale()[0].endswith(": edited by hand")


def test_a_table_without_a_stamp_is_stale(toy: Toy) -> None:
    page = (toy.folder / "page.md").read_text()
    (toy.folder / "page.md").write_text(re.sub("; results=.* -->", " -->", page, count=1))
    assert toy.stale() == ONE[:1]


def test_only_what_is_stale_is_made_again_and_then_is_current(toy: Toy) -> None:
    assert toy.docs() == []
    toy.change("paper/two.toml", '"cells/other.toml"', '"cells/own.toml"')
    toy.version(2, '["beyond/both"]')
    assert toy.docs("two") == TWO
    assert toy.stale() == BOTH
    assert toy.docs() == BOTH
    assert toy.stale() == []
    assert (toy.folder / "page.md").read_text().count("2.0 ± 0.1") == 2
    assert toy.docs("--all") == [*ONE, *TWO, *BOTH]


def test_what_is_edited_while_a_table_is_made_is_kept_and_not_taken_for_what_ran(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(table: Any) -> str:
        page = toy.folder / "page.md"
        page.write_text(f"{page.read_text()}A sentence more.\n")
        toy.change("paper/two.toml", "own.toml", "other.toml")
        return toy.measured(table)

    monkeypatch.setattr(toy.renew, "measured", measured)
    toy.change("paper/two.toml", "other.toml", "own.toml")
    assert toy.docs("two") == TWO
    assert (toy.folder / "page.md").read_text().endswith("A sentence more.\n")
    assert toy.stale() == TWO


def test_check_makes_nothing_and_says_by_its_status_whether_all_is_current(
    toy: Toy, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy.renew.stamps, "unsaid", lambda: "")
    assert toy.renew.main(["--check"]) == 0
    toy.change("paper/cells/other.toml", "20 s", "21 s")
    capsys.readouterr()
    assert toy.renew.main(["--check", "two"]) == 1
    assert capsys.readouterr().out == (
        "page.md:17: arms two; flow.0.goodput Mb/s; queue.a->b.dropped 1: its experiment changed\n"
    )
    assert toy.made == []


def test_a_list_that_is_not_whole_is_refused(toy: Toy) -> None:
    toy.version(3, "[]")
    with pytest.raises(ValueError, match="the numbers are"):
        toy.renew.stale()
    toy.change("results.toml", "number = 3", "number = 2")
    toy.change("results.toml", "moves = []", 'moves = ["dynark-*"]')
    with pytest.raises(ValueError, match='version 2: no experiment is like "dynark-\\*"'):
        toy.renew.stale()


def test_a_marker_without_an_end_is_an_error(toy: Toy) -> None:
    with (toy.folder / "page.md").open("a") as page:
        page.write("<!-- rows one summary.jain 1 -->\n| a |\n")
    with pytest.raises(ValueError, match="line 33: a table without <!-- end -->"):
        toy.renew.stale()


def test_golden_fingerprints_that_moved_ask_for_a_version(toy: Toy, tmp_path: Path, monkeypatch: Any) -> None:
    rust = tmp_path / "determinism.rs"
    monkeypatch.setattr(toy.renew.stamps, "GOLDEN", rust)
    rust.write_text("const GOLDEN: [[u64; 3]; 1] = [\n    [0x1f, 0x2a, 0x3b],\n];\nlet x = 0x99;\n")
    asked = re.search('golden = "([0-9a-f]{6})"', toy.renew.stamps.unsaid())
    assert asked is not None
    toy.change("results.toml", 'golden = ""', asked[0])
    assert toy.renew.stamps.unsaid() == ""
    toy.change("determinism.rs", "0x2a", "0x2b")
    assert "golden fingerprints moved" in toy.renew.stamps.unsaid()
