"""Every citation leads to the bibliography, and nothing in the repository refers to what is outside it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from interlayer import simulator
from interlayer.show import references
from interlayer.study import library

ROOT = Path(__file__).parents[2]
TEXTS = {".rs", ".py", ".pyi", ".md", ".toml", ".cc", ".txt", ".csv", ""}
FILES = [
    Path(name)
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    if Path(name).suffix in TEXTS and (ROOT / name).is_file() and Path(name).name != Path(__file__).name
]
KNOWN = references.all_of_them()
LABELS = {reference.label for reference in KNOWN.values()}

KEY = re.compile(r"(?<![\w./-])@([A-Z]+\d+\b|80211-\d{4})")
"""A key as it is cited: letters and a year, a standard's number; no address, no `lle-tcp@sender`."""


def text(path: Path) -> str:
    return (ROOT / path).read_text("utf-8", errors="replace")


def lines(pattern: re.Pattern[str], files: list[Path] | None = None) -> list[str]:
    """Where a pattern is found, as `file:line: what`."""
    return [
        f"{path}:{n}: {match[0]}"
        for path in (FILES if files is None else files)
        for n, line in enumerate(text(path).splitlines(), 1)
        for match in pattern.finditer(line)
    ]


def test_the_bibliography_is_whole() -> None:
    entries = references.parse(references.FILE.read_text("utf-8"))
    written = re.findall(r"^@\w+\{([^,]+),", references.FILE.read_text("utf-8"), re.MULTILINE)
    keys = [entry.key for entry in entries]
    assert keys == written, "an entry stands in one line"
    assert len(set(keys)) == len(keys)
    assert (ROOT / "docs/references.bib").read_bytes() == references.FILE.read_bytes()
    assert all(1940 <= int(entry.year) <= 2030 for entry in entries)
    with pytest.raises(ValueError, match="X99: author, title or year"):
        references.parse("@misc{X99, author = {Nobody}, year = {1999}}")


def test_a_label_is_author_and_year() -> None:
    for key, label in (
        ("SAN14", "Sang 2014"),
        ("LC05", "Leith & Clifford 2005"),
        ("CRS07", "Choi et al. 2007"),
        ("AJ03", "Altman & Jiménez 2003"),
        ("RFC5681", "RFC 5681"),
        ("80211-2020", "IEEE 802.11-2020"),
    ):
        assert KNOWN[key].label == label
    told = references.told("CRS07, in SAN14 chapter 5; 80211-2020 10.6")
    assert told == "Choi et al. 2007, in Sang 2014 chapter 5; IEEE 802.11-2020 10.6"


def test_every_key_that_is_cited_is_in_the_bibliography() -> None:
    cited = lines(KEY)
    assert len(cited) > 500
    assert [found for found in cited if found.rpartition("@")[2] not in KNOWN] == []


def test_nothing_cites_a_paper_by_a_number() -> None:
    assert lines(re.compile(r"\b[Ss]eed 0\d\d\b")) == []


AUTHORS = re.compile(
    r"\b([A-Z][\w'’é-]+(?:(?:, [A-Z][\w'’é-]+)*,? (?:&|and) [A-Z][\w'’é-]+| et al\.)?)"
    r"(?:'s (?:thesis|dissertation))? \(?((?:19|20)\d\d)\b"
)
NOT_AUTHORS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November"),
    *(
        "December",
        "IEEE",
        "ACM",
        "Trento",
        "SIGCOMM",
        "ICDCS",
        "INFOCOM",
        "WiOpt",
        "ICCCN",
        "Conference",
        "PWC",
        "HyStart",
    ),
    *("MobiCom", "REALMAN", "PIMRC", "Mini-Conference", "VTC", "Globecom", "GLOBECOM", "WINSYS", "PFLDnet", "Boeing"),
    *(
        "NIST",
        "ATNAC",
        "University",
        "Annex",
        "Table",
        "Std",
        "WCNC",
        "Spring",
        "Linux",
        "Cooper",
        "Union",
        "Python",
        "Rust",
    ),
)
PROSE = [path for path in FILES if path.suffix == ".md" or "experiments" in path.parts]


def test_author_and_year_in_prose_are_in_the_bibliography() -> None:
    unknown, found = [], 0
    for path in PROSE:
        for match in AUTHORS.finditer(text(path)):
            who, year = match[1].replace(" and ", " & "), match[2]
            if who.split()[-1] in NOT_AUTHORS or who.split()[0] in NOT_AUTHORS:
                continue
            found += 1
            if f"{who} {year}" not in LABELS:
                unknown.append(f"{path}: {who} {year}")
    assert found > 100
    assert unknown == []


@pytest.mark.parametrize("name", library.known())
def test_the_source_of_an_experiment_is_in_the_bibliography(name: str) -> None:
    source = library.load(name).source
    assert source.startswith("no paper's figure") or any(source.startswith(label) for label in LABELS), source


@pytest.mark.core
@pytest.mark.parametrize("kind", get_args(simulator.Registry))
def test_lists_show_author_and_year(kind: str) -> None:
    for entry in simulator.registry(kind):  # type: ignore[arg-type]
        told = references.told(entry["source"])
        assert any(label in told for label in LABELS), f"{entry['id']}: {entry['source']}"
        assert not re.search(r"\b[A-Z]{2,}\d\d\b", told.replace("RFC", "")), told


OUTSIDE = re.compile(
    r"(?<![\w/.-])(?:design|domain|style|modern|schemes)\.md|claims\.toml|(?<![\w-])\.\./shared|(?<![\w.-])seeds/|/work/|/tmp/wt"
)


def test_nothing_refers_to_files_outside_the_repository() -> None:
    assert lines(OUTSIDE) == []


@pytest.mark.core
def test_the_commands_lists_are_in_words() -> None:
    import sys

    command = [sys.executable, "-m", "interlayer", "list", "schemes"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "[Choi et al. 2007, in Sang 2014 chapter 5]" in shown
    assert "without the paper's aggregation" in next(li for li in shown.splitlines() if li.startswith("tap "))
    assert "without the paper's auto-zoom" in next(li for li in shown.splitlines() if li.startswith("ack-agent "))


@pytest.mark.core
def test_the_list_of_schemes_says_which_work_beside_block_acknowledgment() -> None:
    from interlayer import simulator
    from interlayer.show import listing

    page = (ROOT / "docs/schemes/block-acknowledgment.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*) \|$", page, re.MULTILINE)
    told = {name: f"refused: {why}" if verdict == "refused" else verdict for name, verdict, why in rows}
    found = simulator.registry("schemes")
    assert {entry["id"]: entry["block_ack"] for entry in found} == told
    shown = dict(line.split(maxsplit=1) for line in listing.entries(found).splitlines())
    assert all(f"(beside block acknowledgment: {told[name]})" in line for name, line in shown.items())
