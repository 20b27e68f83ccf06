"""What README.md and the pages of docs/ show is run: Python blocks, with the output shown below them, and commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import forked
from interlayer.realtime import hosts
from test_command_line import EXAMPLES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    (page.name, *block)
    for page in PAGES
    for block in re.findall(
        r"^```(\w+)\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
]
PYTHON = [(name, body, shown) for name, language, body, shown in BLOCKS if language == "python"]
BUILDS = {"new-scheme.md": "its commands write and compile: test_new.py and test_outside.py run the same ones"}
COMMANDS = list(
    dict.fromkeys(
        line.removeprefix("$ ").removeprefix(".venv/bin/")
        for name, language, body, _ in BLOCKS
        if language in ("sh", "console", "bash") and name not in BUILDS
        for line in body.splitlines()
        if re.match(r"(\$ )?(\.venv/bin/)?interlayer ", line)
    )
)
IN_HELP = [shlex.split(line) for line in EXAMPLES]
"""Commands that `test_command_line` runs."""
LINKS = [
    (page, link)
    for page in [*PAGES, *(ROOT / "docs" / "design").glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    if "://" not in link
]


def test_readme_has_examples_with_output() -> None:
    assert [shown for name, _, shown in PYTHON if name == "README.md"] != []
    assert all(shown for name, _, shown in PYTHON if name == "README.md")
    assert COMMANDS


def test_links_lead_somewhere() -> None:
    assert [f"{page.name}: {link}" for page, link in LINKS if not (page.parent / link).exists()] == []


@pytest.mark.core
@pytest.mark.parametrize(("name", "code", "shown"), PYTHON, ids=[f"{n}-{i}" for i, (n, *_) in enumerate(PYTHON)])
def test_python_block_prints_what_is_shown(
    name: str, code: str, shown: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if "il.live(" in code and (why := hosts.obstacle()):
        pytest.skip(why)
    if "reproduce(" in code:
        request.getfixturevalue("common_store")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = forked.code(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout, "an example shows something"
    if shown:
        assert done.stdout == shown


@pytest.mark.core
@pytest.mark.usefixtures("common_store")
def test_table_of_claims_is_what_is_measured(renew: Any) -> None:
    page = PAGES[0].read_text("utf-8")
    assert [table.kind for table in renew.stamps.tables(page)] == ["claims"]
    assert renew.renewed(page) == page, "if this is meant: make docs, and say why"


def is_server(line: str) -> bool:
    """Whether a command runs until Ctrl-C; test_explore.py has them."""
    return line.startswith("interlayer explore")


def is_of_papers(line: str) -> bool:
    """Whether a command runs whole experiments, other than the figure of README.md and the examples."""
    own = "lle-fig-3.7a" in line or "examples/" in line
    return ("interlayer reproduce" in line and not own) or "interlayer readings" in line


@pytest.mark.parametrize("line", [line for line in COMMANDS if is_of_papers(line)])
def test_the_experiments_a_command_names_are_there(line: str) -> None:
    from interlayer.study import library

    words = shlex.split(line, comments=True)[2:]
    names = words[: next((i for i, word in enumerate(words) if word.startswith("-")), None)]
    assert names
    for name in library.matching(names):
        assert library.load(name).claims is not None


@pytest.mark.core
@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=pytest.mark.papers) if is_of_papers(line) else line
        for line in COMMANDS
        if shlex.split(line, comments=True) not in IN_HELP and not is_server(line)
    ],
)
def test_command_runs(line: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """In an empty folder, where the examples' scenario files are found under the same names."""
    if "interlayer reproduce" in line:
        request.getfixturevalue("common_store")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    words = shlex.split(line, comments=True)
    done = forked.command(*words[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
