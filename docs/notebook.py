"""Makes the notebooks of docs/lecture.md: lecture.ipynb has a cell for each block of Python and one for each text
between; lecture-exercises.ipynb has no solutions. `--figures` draws the page's figures, too.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE, NOTEBOOK, EXERCISES = HERE / "lecture.md", HERE / "lecture.ipynb", HERE / "lecture-exercises.ipynb"
PART = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
"""A block of Python, with the output that the page shows: the notebook computes its own."""
PICTURE = re.compile(r"^!\[[^\]]*\]\((figures/lecture-[\w-]+\.png)\)\n+", re.MULTILINE)
"""A figure of the page: the notebook draws its own."""
LESSON = re.compile(r"^## \d\. .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BEGIN = "import interlayer as il\n\n# Your measurement:\n"
FOR_STUDENTS = """# Exercises on TCP over a wireless LAN

Guess first, then measure. Seeds are fixed: everybody gets the same numbers. `help(il.wlan)` shows what a function
takes. A result, or a figure, that is the last line of a cell is shown.
"""


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    lines = text.strip().splitlines(keepends=True)
    found: dict[str, Any] = {"cell_type": kind, "id": f"part-{number}", "metadata": {}, "source": lines}
    return found if kind == "markdown" else found | {"execution_count": None, "outputs": []}


def cells(page: str) -> list[dict[str, Any]]:
    """The cells of a page, texts and code in turn."""
    found: list[dict[str, Any]] = []
    for i, text in enumerate(PART.split(PICTURE.sub("", page))):
        if text.strip():
            found.append(_cell("code" if i % 2 else "markdown", text, len(found)))
    return found


def exercises(page: str) -> list[dict[str, Any]]:
    """The cells for students: each exercise, and a cell to begin it with."""
    found = [_cell("markdown", FOR_STUDENTS, 0)]
    for lesson in LESSON.findall(page):
        question = PICTURE.sub("", PART.sub("", lesson)).partition("**Solution.**")[0]
        found += [_cell("markdown", question, len(found)), _cell("code", BEGIN, len(found) + 1)]
    return found


def notebook(parts: list[dict[str, Any]]) -> str:
    """A notebook of these cells as text."""
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    content = {"cells": parts, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def written() -> dict[Path, str]:
    """Each notebook as it should be."""
    page = PAGE.read_text("utf-8")
    return {NOTEBOOK: notebook(cells(page)), EXERCISES: notebook(exercises(page))}


def draw(page: str) -> None:
    """Write the page's figures: what the last line of each block gives."""
    from interlayer.show import plots

    for code, name in zip(PART.findall(page), PICTURE.findall(page), strict=True):
        tree, names = ast.parse(code), dict[str, Any]()
        last = tree.body.pop()
        assert isinstance(last, ast.Expr), code
        exec(compile(tree, "block", "exec"), names)
        figure = eval(compile(ast.Expression(last.value), "block", "eval"), names)
        with plots.style():
            figure.savefig(HERE / name, dpi=100, metadata={"Software": "interlayer"}, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, "utf-8")
    if "--figures" in sys.argv[1:]:
        draw(PAGE.read_text("utf-8"))
