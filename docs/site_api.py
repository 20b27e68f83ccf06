"""The site's reference of the Python package: a page a kind of name, from docstrings, for Sphinx's autodoc."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from typing import Any

import interlayer

TITLES = {
    "questions": ("Questions: functions and scenarios", "What a program calls."),
    "answers": ("Answers: results and estimates", "What comes back."),
    "parts": ("Parts: schemes and controllers in Python", "What a program brings along."),
    "errors": ("Errors", "All are `InterlayerError`; each says in one line what is wrong, and where."),
}
"""The pages, with title and first sentence."""


def kind(name: str) -> str:
    """The page on which a public name stands."""
    found: Any = getattr(interlayer, name)
    if not inspect.isclass(found):
        return "questions"
    if issubclass(found, BaseException):
        return "errors"
    if found.__module__ == "interlayer.api":
        return "questions"
    return "parts" if found.__module__ == "interlayer.parts" else "answers"


def pages() -> dict[str, str]:
    """The text of each page by its name; docstrings are reStructuredText whose `names` are code."""
    found = {page: [f"# {title}", "", first, ""] for page, (title, first) in TITLES.items()}
    for name in interlayer.__all__:
        found[kind(name)] += _entry(name)
    return {page: "\n".join(lines) for page, lines in found.items()}


def _entry(name: str) -> list[str]:
    what: Any = getattr(interlayer, name)
    if inspect.isclass(what):
        lines = [
            f".. autoclass:: interlayer.{name}{_signature(what)}",
            "   :members:",
            "   :inherited-members: Exception, dict, object",
        ]
    elif callable(what):
        lines = [f".. autofunction:: interlayer.{name}"]
    else:
        lines = [f".. py:data:: interlayer.{name}", "   :type: str", "", "   The version of the package."]
    return [f"## {name}", "", "```{eval-rst}", *lines, "```", ""]


def _signature(what: type) -> str:
    """Of a dataclass the names alone: its fields follow with their types, and a default that is made has no text."""
    return f"({', '.join(inspect.signature(what).parameters)})" if is_dataclass(what) else ""
