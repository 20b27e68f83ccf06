"""The guide: tables of the engineer's page, the lecturer's notebook, links between its pages."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TABLE = re.compile(r"^<!-- (?:rows|arms) .*?<!-- end\b", re.MULTILINE | re.DOTALL)


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
    page = (DOCS / "engineers.md").read_text("utf-8")
    assert renew.renewed(page) == page, "make docs, and say why"


# --------------------------------------------------------------------------------------------------------- the notebook


def test_the_notebook_is_that_of_the_page() -> None:
    module = loaded("notebook")
    for path, whole in module.written().items():
        assert path.read_text("utf-8") == whole, "run: make docs"
    found = json.loads(module.NOTEBOOK.read_text("utf-8"))
    assert (found["nbformat"], len({cell["id"] for cell in found["cells"]})) == (4, len(found["cells"]))
    text = "".join("".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "markdown")
    page = module.PAGE.read_text("utf-8")
    exercises = re.findall(r"^## (\d)\. ", page, re.MULTILINE)
    assert exercises == [str(i + 1) for i in range(len(exercises))]
    parts = ("**Exercise.**", "**Begin with**", "**Solution.**")
    assert [text.count(part) for part in parts] == [len(exercises)] * 3
    assert len(exercises) >= 6


def test_the_students_copy_has_every_exercise_and_no_solution() -> None:
    module = loaded("notebook")
    found = json.loads(module.EXERCISES.read_text("utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in found)
    whole = module.PAGE.read_text("utf-8")
    assert text.count("**Exercise.**") == text.count("**Begin with**") == whole.count("**Exercise.**")
    assert "Solution" not in text
    begun = ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]
    assert set(begun) == {module.BEGIN.strip()}
    # Nothing that the solutions compute is in it: no line of their code, no number of their outputs.
    for code in module.PART.findall(whole):
        assert not [line for line in code.splitlines()[1:] if len(line) > 30 and line.strip() in text]


def test_the_plan_of_a_lesson_fills_45_minutes() -> None:
    rows = re.findall(r"^\| (\d+)–(\d+) \|", (DOCS / "lecture.md").read_text("utf-8"), re.MULTILINE)
    ends = [(int(a), int(b)) for a, b in rows]
    assert [a for a, _ in ends] == [0, *(b for _, b in ends[:-1])]
    assert ends[-1][1] == 45


@pytest.mark.core
def test_the_notebook_runs_in_its_folder_and_every_lesson_shows_its_figure() -> None:
    """As Jupyter runs it: a kernel in docs/, without a display. The page's test runs each block alone."""
    found = executed(loaded("notebook").NOTEBOOK)
    cells = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    printed = ["".join(o["text"] for o in cell["outputs"] if o["output_type"] == "stream") for cell in cells]
    shown = re.findall(r"```text\n(.*?)^```", (DOCS / "lecture.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert printed == shown
    for cell in cells:
        pictures = [o for o in cell["outputs"] if "image/png" in o.get("data", {})]
        assert len(pictures) == 1, cell["source"]
        assert len(base64.b64decode(pictures[0]["data"]["image/png"])) > 10_000
        assert not [o for o in cell["outputs"] if o["output_type"] not in ("stream", "execute_result")]


SHOWS = """
import matplotlib
import interlayer as il
from IPython.display import display
cell = il.wlan(duration="1 s", warmup="0 s")
result = il.run(cell, runs=2, series=True)
found = il.compare(cell, arms={"a": {"radio.max_attempts": 2}, "b": {"radio.max_attempts": 3}}, runs=2)
swept = il.sweep(cell, {"radio.max_attempts": [2, 3]}, runs=2)
made = il.reproduce("lle-fig-3.7b", quick=True)
---
print(result)
---
result
---
print(found); print(swept); print(made); print(cell); print(result.estimate("flow.0.goodput"))
---
found
---
swept
---
made
---
cell
---
result.estimate("flow.0.goodput")
---
display(result.plot())
---
display(result.plot_series("cwnd")); display(found.plot()); display(swept.plot()); display(made.plot())
---
import sys
"matplotlib.pyplot" in sys.modules
---
%matplotlib inline
import matplotlib.pyplot as plt
plt.get_fignums()
---
result.plot()
---
display(result.plot())
"""


@pytest.mark.core
def test_a_notebook_shows_every_object_once_whether_or_not_its_figures_are_inline(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": code.strip(), "outputs": [],
              "execution_count": None} for i, code in enumerate(SHOWS.split("---"))]  # fmt: skip
    path = tmp_path / "shows.ipynb"
    path.write_text(loaded("notebook").notebook(cells), "utf-8")
    outputs = [cell["outputs"] for cell in executed(path)["cells"]]
    kinds = [[o["output_type"] if "data" not in o else min(set(o["data"]) & WANTED) for o in out] for out in outputs]
    html, png, plain = "text/html", "image/png", "text/plain"
    figures = [[png], [png] * 4, [plain], [plain], [png], [png]]
    assert kinds == [[], ["stream"], [html], ["stream"], *([[html]] * 5), *figures]
    assert outputs[11][0]["data"][plain] == "False", "pyplot is not imported"
    assert outputs[12][0]["data"][plain] == "[]", "no figure is pyplot's"
    texts = json.dumps(outputs, ensure_ascii=False)
    assert not re.search("[\ue000-\uf8ff]", texts)
    assert outputs[1][0]["text"].count("wlan: 2 runs, seeds from 1") == 1


WANTED = {"text/html", "image/png", "text/plain"}


def executed(path: Path) -> Any:
    """A notebook after a kernel has run it in its own folder, as `jupyter nbconvert --execute` would.

    A process of its own, whose warnings are not ours.
    """
    code = (
        "import json, sys, nbformat, nbclient\n"
        "book = nbformat.read(sys.argv[1], as_version=4)\n"
        "nbclient.NotebookClient(book, timeout=120, resources={'metadata': {'path': sys.argv[2]}}).execute()\n"
        "print(json.dumps(book))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    command = [sys.executable, "-c", code, str(path), str(path.parent)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


# ------------------------------------------------------------------------------------------------------------- glossary


def test_the_glossary_has_the_words_of_the_issue_and_each_once() -> None:
    page = (DOCS / "glossary.md").read_text("utf-8")
    words = [w.strip() for row in re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE) for w in row.split(",")]
    for word in ("arm", "MSDU", "Jain's index", "half-duplex loss", "TX vector", "response", "unit disc", "SINR"):
        assert word in words or any(word in w for w in words), word
    terms = [w for w in words if w not in ("word", "---", "meaning")]
    assert sorted(terms) == sorted(set(terms))
