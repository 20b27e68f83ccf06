"""The library: the ids of the package's experiments and the file of each. Any other experiment file has its path."""

from __future__ import annotations

import fnmatch
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from interlayer import toml_text
from interlayer.errors import InputError, suggestion

from . import reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .experiment import Experiment


def folder() -> Path:
    """Where the package keeps its experiments."""
    return Path(__file__).parents[1] / "experiments"


ABSENT = (
    ("lle-fig-3.8?", "Kliazovich 2006, testbed"),
    ("lle-fig-3.12", "Kliazovich 2006, moving nodes"),
)
"""Experiments of the five papers that are not here: patterns of their ids, and what they are of."""


def files() -> dict[str, Path]:
    """The experiment files of the package by id: the papers' in natural order, then those of `beyond/…`.

    An id is what a file calls itself, whatever folder it is in. A file with no claim is a scenario to start from.
    """
    return dict(_files(folder()))


@cache
def _files(folder: Path) -> tuple[tuple[str, Path], ...]:
    """The package's own files do not change under a process: they are looked for once."""
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.toml")}
    found = {_id(text, path): path for path, text in texts.items() if "[[claim]]" in text}
    return tuple(sorted(found.items(), key=lambda entry: (entry[0].count("/"), _natural(entry[0]))))


def known() -> list[str]:
    """The ids of all experiments of the package, in the order of `files`."""
    return list(files())


def _id(text: str, path: Path) -> str:
    """What a file calls itself; its name, for one that does not (`load` then names the missing key)."""
    given = _ID.search(text)
    return given[1] if given else path.stem


_ID = re.compile(r'^id *= *"([^"]+)"', re.MULTILINE)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """So that fig-3.7a, fig-3.9, fig-3.10 come in this order."""
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d+)", text) if p]


def matching(names: Sequence[str]) -> list[str]:
    """Names with their patterns, `lle-fig-3.1*`, replaced by the ids that match, each once."""
    found: list[str] = []
    for name in names:
        if "*" not in name or Path(name).exists():
            found.append(name)
            continue
        ids = fnmatch.filter(files(), name)
        if not ids:
            raise InputError(f'no experiment is like "{name}"')
        found += ids
    return list(dict.fromkeys(found))


_OF_EXPERIMENTS = (
    "base",
    "metric",
    "sweep",
    "arms",
    "claim",
    "evidence",
    "explain",
    "open",
    "derived",
    "gain",
    "curve",
)


def is_experiment(tables: Mapping[str, object]) -> bool:
    """Whether a file is an experiment's, and no scenario's."""
    return "scenario" not in tables and any(key in tables for key in _OF_EXPERIMENTS)


def path_of(name: str) -> Path | None:
    """The file of an experiment of the package by its id, whose folder may be left out; None if there is none."""
    return next((path for id_, path in files().items() if name in (id_, id_.rpartition("/")[2])), None)


def load(name: str | Path) -> Experiment:
    """An experiment of the package by its id, whose folder may be left out, or any experiment file by its path."""
    path = Path(name)
    if path.suffix != ".toml":
        there = files()
        found = [id_ for id_ in there if str(name) in (id_, id_.rpartition("/")[2])]
        if not found and (paper := next((p for pattern, p in ABSENT if fnmatch.fnmatch(str(name), pattern)), "")):
            raise InputError(f'experiment "{name}" ({paper}) is not modelled yet, see docs/not-modelled.md')
        if not found:
            raise InputError(f'no experiment "{name}"{suggestion(str(name), there)}')
        path = there[found[0]]
    return reader.parse(toml_text.read_text(path), str(path), path.parent)
