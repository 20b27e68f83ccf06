"""Stamps of the tables on pages: of what each was made, in its end marker. docs/design/tables.md says why so.

`<!-- end; results=1 experiment=3f2a9c table=81d0e2 -->`: the results version that last moved the experiment, a hash of
the parts of the experiment that the table shows or rests on, and a hash of the table as it was written. Nothing is run
here, and the compiled core is not needed.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlayer import toml_text
from interlayer.study import library, reader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "crates" / "world" / "results.toml"
GOLDEN = ROOT / "crates" / "world" / "tests" / "all" / "determinism.rs"

MARKER = re.compile(r"^<!-- (?:claims|rows|arms|gains) ", re.MULTILINE)
TABLE = re.compile(
    r"^<!-- (claims|rows|arms|gains) ([^\n]*?) -->\n((?:(?!<!-- ).)*?)\n?<!-- end(?:; ([^\n]*?))? -->",
    re.MULTILINE | re.DOTALL,
)

WORDS = frozenset(
    ("title", "question", "note", "assumptions", "gain", "derived", "explain", "contradiction", "over_time")
)
"""Keys of an experiment that no table of a page shows, and that decide no run which one rests on."""
OF_CLAIMS = frozenset(("source", "figure", "curve"))
"""Keys that tables of claims alone show: the head, and the column of the arithmetic."""
WORDS_OF_A_CLAIM = frozenset(("strength", "band_reason", "margin_reason"))


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the results: the day, the change in a line, and patterns of the experiments that it moved."""

    number: int
    date: str
    what: str
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page. `asked` is the text of its marker, `line` where that stands."""

    kind: str
    asked: str
    body: str
    stamp: str
    line: int

    @property
    def name(self) -> str:
        """The experiment, as the marker names it."""
        return self.asked.split()[0].rstrip(";")

    def __str__(self) -> str:
        return f"{self.kind} {self.asked}"

    def text(self) -> str:
        """The table with its markers, as it stands on a page."""
        return f"<!-- {self} -->\n{self.body}\n<!-- end; {self.stamp} -->"


def of_match(found: re.Match[str]) -> Table:
    """A match of `TABLE` in a page."""
    return Table(found[1], found[2], found[3], found[4] or "", found.string.count("\n", 0, found.start()) + 1)


def tables(page: str) -> list[Table]:
    """The tables of a page. Raises `ValueError` for a marker without an end."""
    found = [of_match(m) for m in TABLE.finditer(page)]
    lines = [page.count("\n", 0, m.start()) + 1 for m in MARKER.finditer(page)]
    if lost := sorted(set(lines) - {t.line for t in found}):
        raise ValueError(f"line {lost[0]}: a table without <!-- end -->")
    return found


class Stamps:
    """The stamps of the present: results versions and experiments as they are when they are first asked for."""

    def __init__(self) -> None:
        self.versions = versions()
        self._experiments: dict[Path, list[str]] = {}

    def stamp(self, table: Table) -> str:
        """The stamp of a table that is current."""
        path, id_ = experiment(table.name)
        parts = {
            "results": max((v.number for v in self._moving(id_)), default=0),
            "experiment": self._experiment(path, table.kind == "claims"),
            "table": _hash(f"{table}\n{table.body}"),
        }
        return " ".join(f"{key}={value}" for key, value in parts.items())

    def why_stale(self, table: Table) -> str:
        """The reasons why a table is not current; empty for one that is."""
        try:
            now, was = _parts(self.stamp(table)), _parts(table.stamp)
        except ValueError as error:
            return str(error)
        if not was:
            return "has no stamp"
        if was.keys() != now.keys() or not was["results"].isdecimal():
            return f'its stamp "{table.stamp}" is none'
        made_with, found = int(was["results"]), []
        for version in self._moving(experiment(table.name)[1]):
            if version.number > made_with:
                found.append(f"moved by results {version.number} ({version.date}, {version.what})")
        if int(now["results"]) < made_with:
            found.append(f"made with results {made_with}, of which the list knows nothing")
        if was["experiment"] != now["experiment"]:
            found.append("its experiment changed")
        if was["table"] != now["table"]:
            found.append("edited by hand")
        return "; ".join(found)

    def _moving(self, id_: str) -> list[Version]:
        return [v for v in self.versions if any(fnmatch.fnmatchcase(id_, pattern) for pattern in v.moves)]

    def _experiment(self, path: Path, of_claims: bool) -> str:
        if path not in self._experiments:
            self._experiments[path] = [_hash(json.dumps(content(path, kind), default=str)) for kind in (False, True)]
        return self._experiments[path][of_claims]


def experiment(name: str) -> tuple[Path, str]:
    """The file and the whole id of an experiment of the package."""
    if (path := library.path_of(name)) is None:
        raise ValueError(f'no experiment "{name}"')
    return path, next(id_ for id_, there in library.files().items() if there == path)


def content(path: Path, of_claims: bool) -> dict[str, Any]:
    """The parts of an experiment that can change a table: of its file, its base scenarios, and what is open.

    Files are parsed, so that comments and spaces are none. Tables keep their order, which is that of rows and arms.
    """
    e, beside = _parsed(path), path.parent
    claims = [_without(c, WORDS_OF_A_CLAIM if of_claims else {*WORDS_OF_A_CLAIM, "text"}) for c in e.get("claim", [])]
    bases = [e.get("base"), *(arm.get("base") for arm in e.get("arms", {}).values())]
    open_ = e.get("open", {})
    setups = open_.get("setup", [])
    kept = _without(e, WORDS if of_claims else WORDS | OF_CLAIMS) | {"claim": claims}
    if open_:
        kept["open"] = open_ | {"stated": list(open_.get("stated", ()))}
    if recording := e.get("recording"):
        kept["recorded"] = reader.named_file(recording["file"], beside).read_text(encoding="utf-8")
    return kept | {
        "scenarios": [_parsed(reader.named_file(name, beside)) for name in bases if name],
        "setups": [
            _setup(_parsed(reader.named_file(name, beside)))
            for name in (setups if isinstance(setups, list) else [setups])
        ],
    }


def _setup(setup: Mapping[str, Any]) -> dict[str, Any]:
    """A file of `open/` without its reasons."""
    parameters = [
        _without(p, {"silent"}) | {"value": [_without(v, {"why"}) for v in p.get("value", [])]}
        for p in setup.get("parameter", [])
    ]
    return {"parameter": parameters, "missing": [_without(m, {"why"}) for m in setup.get("missing", [])]}


def _without(table: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


def _parsed(path: Path) -> dict[str, Any]:
    return tomllib.loads(toml_text.read_text(path))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _parts(stamp: str) -> dict[str, str]:
    return {key: value for key, _, value in (part.partition("=") for part in stamp.split())}


def versions() -> list[Version]:
    """The results versions. Raises `ValueError` for a list that is not whole, or a pattern of no experiment."""
    listed = _parsed(RESULTS)["version"]
    if wrong := [v for v in listed if v.keys() != {"number", "date", "what", "moves"}]:
        raise ValueError(f"{RESULTS.name}: a version has number, date, what and moves: {wrong[0]}")
    found = [Version(v["number"], str(v["date"]), v["what"], tuple(v["moves"])) for v in listed]
    if [v.number for v in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"{RESULTS.name}: the numbers are {[v.number for v in found]}, not 1, 2, 3 …")
    for version in found:
        for pattern in version.moves:
            if not any(fnmatch.fnmatchcase(id_, pattern) for id_ in library.files()):
                raise ValueError(f'{RESULTS.name}: version {version.number}: no experiment is like "{pattern}"')
    return found


def unsaid() -> str:
    """A warning where golden fingerprints moved and the list of results versions was not written since; else empty."""
    table = re.search(r"const GOLDEN\b.*?\];\n", GOLDEN.read_text("utf-8"), re.DOTALL)
    assert table is not None, GOLDEN
    now = _hash(" ".join(re.findall(r"0x[0-9a-f_]+", table[0])))
    if _parsed(RESULTS)["golden"] == now:
        return ""
    return f'golden fingerprints moved. {RESULTS.name}: add the version that says what they moved, and golden = "{now}"'
