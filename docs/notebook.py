"""Makes docs/lecture.ipynb of docs/lecture.md: a cell for each block of Python, and one for the text before it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE, NOTEBOOK = HERE / "lecture.md", HERE / "lecture.ipynb"
PART = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
"""A block of Python, with the output that the page shows: the notebook computes its own."""


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    lines = text.strip().splitlines(keepends=True)
    found: dict[str, Any] = {"cell_type": kind, "id": f"part-{number}", "metadata": {}, "source": lines}
    return found if kind == "markdown" else found | {"execution_count": None, "outputs": []}


def cells(page: str) -> list[dict[str, Any]]:
    """The cells of a page, texts and code in turn."""
    found: list[dict[str, Any]] = []
    for i, text in enumerate(PART.split(page)):
        if text.strip():
            found.append(_cell("code" if i % 2 else "markdown", text, len(found)))
    return found


def notebook() -> str:
    """The notebook as text."""
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    content = {
        "cells": cells(PAGE.read_text("utf-8")),
        "metadata": about,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(), "utf-8")
