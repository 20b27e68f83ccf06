"""The guide: tables of the engineer's page, the lecturer's notebook, links between its pages."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TABLE = re.compile(r"^<!-- (?:rows|arms) .*?<!-- end -->", re.MULTILINE | re.DOTALL)


def loaded(name: str) -> ModuleType:
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_of_the_engineers_page_are_those_of_the_pages_that_explain_them() -> None:
    """One experiment has the same numbers wherever it is shown: all tables are of one `make docs`."""
    others = "".join(p.read_text("utf-8") for p in DOCS.glob("*.md") if p.name != "engineers.md")
    tables = TABLE.findall((DOCS / "engineers.md").read_text("utf-8"))
    assert len(tables) >= 6
    for table in tables:
        name = table.split()[2].rstrip(";")
        assert re.search(rf"<!-- (rows|arms) {re.escape(name)}[ ;]", others), name
        numbers = re.findall(r"[\d.]+ (?:± [\d.]+|\([\d.]+ … [\d.]+\)) \(\d+\)", table)
        assert len(numbers) >= 6
        assert [n for n in numbers if n not in others] == []


@pytest.mark.core
@pytest.mark.papers
def test_tables_of_the_engineers_page_are_what_is_measured(renew: Any) -> None:
    for shown in TABLE.findall((DOCS / "engineers.md").read_text("utf-8")):
        again = renew.ROWS.sub(lambda m: renew.rows(m[1], m[2], m[3], m[4]), shown)
        assert renew.ARMS.sub(lambda m: renew.arms(m[1], m[2]), again) == shown, "make docs, and say why"


# --------------------------------------------------------------------------------------------------------- the notebook


def test_the_notebook_is_that_of_the_page() -> None:
    module = loaded("notebook")
    assert module.NOTEBOOK.read_text("utf-8") == module.notebook(), "run: make docs"
    found = json.loads(module.notebook())
    assert (found["nbformat"], len({cell["id"] for cell in found["cells"]})) == (4, len(found["cells"]))
    text = "".join("".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "markdown")
    page = module.PAGE.read_text("utf-8")
    exercises = re.findall(r"^## (\d)\. ", page, re.MULTILINE)
    assert exercises == [str(i + 1) for i in range(len(exercises))]
    assert text.count("**Exercise.**") == text.count("**Solution.**") == len(exercises) >= 6


@pytest.mark.core
def test_cells_of_the_notebook_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one namespace, as a kernel does. The page's test runs each block alone, and compares what it prints."""
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    printed = io.StringIO()
    for cell in loaded("notebook").cells((DOCS / "lecture.md").read_text("utf-8")):
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(printed):
                exec(compile("".join(cell["source"]), "cell", "exec"), names)
    shown = re.findall(r"```text\n(.*?)^```", (DOCS / "lecture.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert printed.getvalue() == "".join(shown)


# ------------------------------------------------------------------------------------------------------------- glossary


def test_the_glossary_has_the_words_of_the_issue_and_each_once() -> None:
    page = (DOCS / "glossary.md").read_text("utf-8")
    words = [w.strip() for row in re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE) for w in row.split(",")]
    for word in ("arm", "MSDU", "Jain's index", "half-duplex loss", "TX vector", "response", "unit disc", "SINR"):
        assert word in words or any(word in w for w in words), word
    terms = [w for w in words if w not in ("word", "---", "meaning")]
    assert sorted(terms) == sorted(set(terms))
