"""The library: the ids of the package's experiments and the file of each. Any other experiment file has its path.

What a list shows of them stands in an index beside them, which `make index` writes. It has a hash of the files that it
was made of. Where it does not fit them, they are read instead: that takes longer and gives the same.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from interlayer import toml_text
from interlayer.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .experiment import Experiment


def folder() -> Path:
    """Where the package keeps its experiments."""
    return Path(__file__).parents[1] / "experiments"


INDEX = "index.json"
"""The index's name in the folder of the experiments."""


class Entry(NamedTuple):
    """A line of the list of experiments."""

    id: str
    title: str
    source: str
    evidence: str
    claims: int


def listed() -> list[Entry]:
    """The experiments of the package, in the order of `files`."""
    known = _index(folder())
    return [entry for _, entry in known] if known else [_entry(path) for path in files().values()]


def files() -> dict[str, Path]:
    """The experiment files of the package by id: the papers' in natural order, then those of `beyond/…`.

    An id is what a file calls itself, whatever folder it is in. A file with no claim is a scenario to start from.
    """
    return dict(_files(folder()))


@cache
def _files(folder: Path) -> tuple[tuple[str, Path], ...]:
    """The package's own files do not change under a process: they are looked for once."""
    if known := _index(folder):
        return tuple((entry.id, folder / file) for file, entry in known)
    return _found(_texts(folder))


def _found(texts: Mapping[Path, str]) -> tuple[tuple[str, Path], ...]:
    found = {_id(text, path): path for path, text in texts.items() if "[[claim]]" in text}
    return tuple(sorted(found.items(), key=lambda entry: (entry[0].count("/"), _natural(entry[0]))))


def _texts(folder: Path) -> dict[Path, str]:
    """The text of every file in the folder: experiments, scenarios, ledgers, what is left open."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.toml"))}


def index() -> str:
    """The text of the index as the files are now: each is read."""
    at, texts = folder(), _texts(folder())
    rows = [{"file": path.relative_to(at).as_posix(), **_entry(path)._asdict()} for _, path in _found(texts)]
    about = "what a list shows of the experiments (make index); `of` is a hash of all files here"
    head = json.dumps({"about": about, "of": _hash(at, texts)}, indent=1).removesuffix("\n}")
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    return f'{head},\n "experiments": [\n{lines}\n ]\n}}\n'


def _entry(path: Path) -> Entry:
    e = load(path)
    return Entry(e.id, e.title, e.source, e.evidence, len(e.claims))


@cache
def _index(folder: Path) -> tuple[tuple[str, Entry], ...]:
    """The file and the entry of each experiment, by the index; empty where there is none that fits the files."""
    try:
        found = json.loads((folder / INDEX).read_text("utf-8"))
    except (OSError, ValueError):
        return ()
    if found.get("of") != _hash(folder, _texts(folder)):
        return ()
    return tuple((row.pop("file"), Entry(**row)) for row in found["experiments"])


def _hash(folder: Path, texts: Mapping[Path, str]) -> str:
    """A hash of names and texts, the same wherever the folder is."""
    found = hashlib.sha256()
    for path, text in texts.items():
        found.update(f"{path.relative_to(folder).as_posix()}\0{text}\0".encode())
    return found.hexdigest()[:16]


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
    from . import reader

    path = Path(name)
    if path.suffix != ".toml":
        there = files()
        found = [id_ for id_ in there if str(name) in (id_, id_.rpartition("/")[2])]
        if not found:
            raise InputError(f'no experiment "{name}"{suggestion(str(name), there)}')
        path = there[found[0]]
    return reader.parse(toml_text.read_text(path), str(path), path.parent)
