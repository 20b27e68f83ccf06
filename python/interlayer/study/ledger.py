"""What each value of a paper's cells rests on: the ledger of its folder, and the list of one experiment.

A value is *printed* (by the paper, at a page), the *standard*'s (clause), the *tool*'s of that day (its default, with
release and file), or *open*. What is open is varied as a reading (`readings`), or is not, with a reason. What has no
key in a scenario (routing agents, a version of TCP) stands in the same list. `unvaried` is what a verdict against the
paper leaves out.

`reader.ledger` reads the file; `campaign.assumptions` asks the scenarios of an experiment for their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from interlayer import toml_text


class Basis(StrEnum):
    """What a value rests on."""

    PRINTED = "printed"
    STANDARD = "standard"
    TOOL = "tool"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Mark:
    """The basis of some keys: the page, the clause, release and file, or why what is open is not varied."""

    keys: tuple[str, ...]
    """Keys of an effective scenario without the places of its lists, `flow.transport.min_rto`; `*` is any text."""
    basis: Basis
    where: str
    what: str = ""
    """The name of what is open, in the field's words."""
    values: tuple[Any, ...] = ()
    """The values that it is of; any if empty."""
    experiments: tuple[str, ...] = ()
    """Patterns of the ids that it is for; all of the paper if empty."""

    def is_of(self, id_: str, key: str, value: Any) -> bool:
        """Whether it says what this value rests on."""
        here = not self.experiments or any(fnmatchcase(id_, pattern) for pattern in self.experiments)
        return here and (not self.values or value in self.values) and any(fnmatchcase(key, k) for k in self.keys)

    def precision(self, key: str) -> tuple[bool, bool, int]:
        """Of several marks of a value the most precise counts: by value, by experiment, by the pattern's length."""
        longest = max(len(k.replace("*", "")) for k in self.keys if fnmatchcase(key, k))
        return bool(self.values), bool(self.experiments), longest


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """Something that decides results, is open, and has no key: what it is, and why it is not varied."""

    what: str
    why: str
    experiments: tuple[str, ...] = ()

    def is_of(self, id_: str) -> bool:
        """Whether it is open in this experiment."""
        return not self.experiments or any(fnmatchcase(id_, pattern) for pattern in self.experiments)

    def as_assumption(self) -> Assumption:
        """Its row in the list of an experiment: without key and values."""
        return Assumption("", (), Basis.OPEN, self.why, self.what)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the values of a paper's cells rest on."""

    title: str
    marks: tuple[Mark, ...]
    unmodelled: tuple[Unmodelled, ...] = ()

    def mark(self, id_: str, key: str, value: Any) -> Mark | None:
        """The most precise mark of a value; None if it has none."""
        found = [m for m in self.marks if m.is_of(id_, key, value)]
        return max(found, key=lambda m: m.precision(key), default=None)


@dataclass(frozen=True, slots=True)
class Assumption:
    """A key of an experiment's cells with its values, and what they rest on; `basis` is None where nothing says so."""

    key: str
    values: tuple[Any, ...]
    basis: Basis | None
    where: str = ""
    what: str = ""
    varied: tuple[str, ...] = ()
    """The parameters of the readings that vary it."""

    @property
    def is_unvaried(self) -> bool:
        return self.basis is Basis.OPEN and not self.varied


def key_of(path: str) -> str:
    """A path of a scenario as the ledger spells it, without the place in a list: `flow.*.start` is `flow.start`."""
    parts = path.split(".")
    return ".".join([parts[0], *parts[2:]]) if parts[0] in _LISTS and len(parts) > 1 else path


_LISTS = ("node", "link", "flow", "scheme", "event", "window", "web", "group")
"""Keys of a scenario that are lists of tables."""


def values_of(scenario: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every key of an effective scenario with its value, as the ledger spells it; names of its parts are none."""
    for key, value in _flat(scenario, ""):
        if not _is_name(key):
            yield key, value


@lru_cache(maxsize=4096)  # a scenario has a hundred keys, and each of them for every node and flow
def _is_name(key: str) -> bool:
    return any(fnmatchcase(key, name) for name in _NAMES)


_NAMES = (
    "scenario.*",
    "*.name",
    "*.between",
    "*.from",
    "*.to",
    "window",
    "window.*",
    "scheme",
    "scheme.at",
    "flow.ack_gaps",
)
"""What a scenario calls its parts and what is observed of it: no assumption on what was run."""


def _flat(content: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from _flat(value, f"{path}.{key}" if path else key)
    elif isinstance(content, list) and content and all(isinstance(one, Mapping) for one in content):
        for one in content:
            yield from _flat(one, path)
    else:
        yield path, content


def gathered(found: Iterable[tuple[str, Any, Basis | None, str, str, tuple[str, ...]]]) -> list[Assumption]:
    """One row for each key and basis, with all values that it has."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for key, value, basis, where, what, varied in found:
        rows.setdefault((key, basis, where, what, varied), {})[toml_text.literal(value)] = value
    return [
        Assumption(key, tuple(values.values()), basis, where, what, varied)
        for (key, basis, where, what, varied), values in rows.items()
    ]


def unvaried(rows: Sequence[Assumption]) -> tuple[str, ...]:
    """What is open and was not varied, each once, in the field's words."""
    return tuple(dict.fromkeys(row.what for row in rows if row.is_unvaried))


def counts(rows: Sequence[Assumption]) -> dict[str, int]:
    """How many rows there are of each basis; `unmarked` are those without one."""
    found = {basis.value: sum(row.basis is basis for row in rows) for basis in Basis}
    return {
        **found,
        "not varied": sum(row.is_unvaried for row in rows),
        "unmarked": sum(row.basis is None for row in rows),
    }
