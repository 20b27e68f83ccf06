"""The library: the ids of the package's experiments and the file of each. Any other experiment file has its path."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from interlayer import toml_text
from interlayer.errors import InputError, suggestion

from . import reader

if TYPE_CHECKING:
    from .experiment import Experiment


def folder() -> Path:
    """Where the package keeps its experiments."""
    return Path(__file__).parents[1] / "experiments"


def known() -> list[str]:
    """The ids of all experiments of the package: the papers' sorted, then those that have a folder, `beyond/…`."""
    files = [p for p in folder().rglob("*.toml") if "[[claim]]" in p.read_text(encoding="utf-8")]
    return sorted(map(_id_of, files), key=lambda name: (name.count("/"), _natural(name)))


def _id_of(file: Path) -> str:
    return file.relative_to(folder()).as_posix().removesuffix(".toml")


def _natural(text: str) -> list[tuple[int, int, str]]:
    """So that fig-3.7a, fig-3.9, fig-3.10 come in this order."""
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d+)", text) if p]


def load(name: str | Path) -> Experiment:
    """An experiment of the package by its id, whose folder may be left out, or any experiment file by its path."""
    path = Path(name)
    if path.suffix != ".toml":
        there = known()
        found = [id_ for id_ in there if str(name) in (id_, id_.rpartition("/")[2])]
        if not found:
            raise InputError(f'no experiment "{name}"{suggestion(str(name), there)}')
        path = folder() / f"{found[0]}.toml"
    return reader.parse(toml_text.read_text(path), str(path), path.parent)
