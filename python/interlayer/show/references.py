"""The bibliography: keys, as the code cites them, as author and year.

The file is references.bib of the package: BibTeX, an entry a line. Leaves out the rest of BibTeX: no entry over several
lines, no strings, no cross-references.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parents[1] / "references.bib"


class Reference(NamedTuple):
    """A work: its key, the last names of its authors (of a standard: whose it is), its year and title."""

    key: str
    names: tuple[str, ...]
    year: str
    title: str

    @property
    def label(self) -> str:
        """`Sang 2014`, `Leith & Clifford 2005`, `Choi et al. 2007`, `RFC 5681`, `IEEE 802.11-2020`."""
        if number := re.fullmatch(r"RFC(\d+)", self.key):
            return f"RFC {number[1]}"
        if edition := re.fullmatch(r"(802)(11)-(\d{4})", self.key):
            return f"IEEE {edition[1]}.{edition[2]}-{edition[3]}"
        if len(self.names) > 2:
            return f"{self.names[0]} et al. {self.year}"
        return f"{' & '.join(self.names)} {self.year}"


_ENTRY = re.compile(r"^@\w+\{([^,]+), (.*)\}$", re.MULTILINE)
_FIELD = re.compile(r"(\w+) = \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_ACCENTS = {r"{\'e}": "é", r"{\c s}": "ş", r"{\"u}": "ü"}


def parse(text: str) -> list[Reference]:
    """The entries of a bibliography, in its order. `ValueError` for one without author, title or year."""
    found = []
    for match in _ENTRY.finditer(text):
        fields = dict(_FIELD.findall(match[2]))
        who = fields.get("author") or fields.get("organization")
        if not (who and fields.get("title") and fields.get("year")):
            raise ValueError(f"{match[1]}: author, title or year is missing")
        for code, letter in _ACCENTS.items():
            who = who.replace(code, letter)
        names = tuple(name.partition(",")[0].strip("{}") for name in who.split(" and "))
        found.append(Reference(match[1], names, fields["year"], re.sub(r"[{}]", "", fields["title"])))
    return found


@cache
def all_of_them() -> dict[str, Reference]:
    """The package's bibliography by key."""
    return {reference.key: reference for reference in parse(FILE.read_text(encoding="utf-8"))}


def told(source: str) -> str:
    """A source with author and year for every key: `Choi et al. 2007, in Sang 2014 ...` for `CRS07, in SAN14 ...`."""
    known = all_of_them()
    return re.sub(r"@?\b(?:80211-\d{4}|[A-Z]+\d+)\b", lambda m: _label(known, m[0]), source)


def _label(known: dict[str, Reference], key: str) -> str:
    reference = known.get(key.lstrip("@"))
    return reference.label if reference else key
