"""What can go wrong, as exceptions: one base class and few children, with the core's own text."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class InterlayerError(Exception):
    """Everything this package raises on purpose; `str(e)` is one plain line."""


class InputError(InterlayerError, ValueError):
    """What the user gave is wrong: a scenario, an experiment file, an option.

    `path` is the key as the file spells it (`flow[1].transport.congestion`), empty where no key is to blame.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class OutputError(InterlayerError, OSError):
    """A result has nowhere to go: the folder or file cannot be written."""


def suggestion(word: str, known: Iterable[object]) -> str:
    """`; did you mean "veno"?` when something known is close to `word`, else the short list of what is known."""
    names = [str(name) for name in known]
    if close := get_close_matches(word, names, n=1, cutoff=0.6):
        return f'; did you mean "{close[0]}"?'
    if 0 < len(names) <= 12:
        return f" (known: {', '.join(names)})"
    return ""
