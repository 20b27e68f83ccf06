"""The scenarios that come with the package, by name: what a command takes in place of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FOLDER = Path(__file__).parent / "examples"

EXAMPLES = ("single-hop", "coffee-shop", "bursty-link", "lecture-hall", "walking", "home-ax", "rrul")
"""Simple ones first."""


def path(name: str) -> Path:
    """The file of an example."""
    return FOLDER / f"{name}.toml"


def meant(word: str, kinds: str = "file or example", also: Callable[[], Iterable[str]] = tuple) -> str | None:
    """The example that a word of the command line means; None where it means a file.

    A file of that name comes first, a folder does not. Raises `InputError` for a word that is neither and does not look
    like a path; `kinds` and `also` are what else the command would have taken.
    """
    at = Path(word)
    if word in EXAMPLES and (not _is_there(at) or at.is_dir()):
        return word
    if _is_there(at) or at.suffix == ".toml" or at.name != word:
        return None
    known = [*EXAMPLES, *also(), *(file.name for file in Path().glob("*.toml"))]
    raise InputError(f'no {kinds} "{word}"{suggestion(word, known)}')


def _is_there(at: Path) -> bool:
    """True also of what the system refuses to look at: whoever reads it gets its reason."""
    try:
        return at.exists()
    except OSError:
        return True
