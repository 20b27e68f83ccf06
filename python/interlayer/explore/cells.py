"""A cell of the page: where it comes from, what was changed in it, its two arms, and what can be taken away of it.

The page says changes as `--set` has them, and the one thing that the other arm changes as `--arm` has it. Nothing that
it says is the name of a file.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from interlayer import api, quantity, shipped, simulator, toml_text
from interlayer.errors import InputError, suggestion

if TYPE_CHECKING:
    from interlayer import _core

MOST_CHANGES, MOST_LETTERS, MOST_RUNS, MOST_NODES = 100, 2000, 100, 1000
"""Of a question: changes, letters of one of them, runs of each arm, nodes."""
BASELINE = "file"
"""The label of the cell as it stands, in `interlayer compare` too."""
_NOT_IN_LABELS = str.maketrans("=;,\"'", "     ")
"""Letters that `--arm` and `--schemes` have a use for."""
_ANOTHER = {"flow.+": "another flow", "node.+": "another station"}
"""The name of an arm that has an entry more, by its path."""
_EACH = 4
"""So many flows have a latency of their own in the table."""
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Station:
    """A guided station: a prepared cell, a question, and the answer when it was measured."""

    id: str
    title: str
    said: str
    question: str
    answer: str
    text: str
    other: tuple[tuple[str, str], ...]
    runs: int
    metric: str
    frames: str
    """From when on its single frames are shown; "" for the end of the warm-up."""
    also: tuple[str, ...]
    """Metrics that its answer needs beside the usual ones."""


@cache
def stations() -> tuple[Station, ...]:
    """The guided stations, in the order of a lesson."""
    with (_HERE / "stations.toml").open("rb") as file:
        tables = tomllib.load(file)["station"]
    return tuple(
        Station(
            one["id"],
            one["title"],
            one["said"],
            one["question"],
            one["answer"],
            one["cell"],
            tuple(one["other"].items()),
            one.get("runs", 10),
            one.get("metric", "goodput"),
            one.get("frames", ""),
            tuple(one.get("also", ())),
        )
        for one in tables
    )


@dataclass(frozen=True)
class Source:
    """The cells to explore, by the names that the page has for them."""

    file: api.Scenario | None = None

    def names(self) -> list[str]:
        own = ["file"] if self.file is not None else []
        examples = [f"example:{name}" for name in shipped.EXAMPLES]
        return [*own, *examples, *(f"station:{one.id}" for one in stations())]

    def text(self, name: str) -> str:
        """The text of a cell. Raises `InputError` for a name that there is not."""
        if name not in self.names():
            raise InputError(f'source: no "{name}"{suggestion(name, self.names())}', "source")
        kind, _, rest = name.partition(":")
        if kind == "file":
            return cast(api.Scenario, self.file).text
        if kind == "example":
            return api.example(rest).text
        return next(one.text for one in stations() if one.id == rest)


Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the page, checked in form: a source, changes to it, changes of the other arm, seed and runs."""

    source: str
    changes: Pairs
    other: Pairs
    seed: int
    runs: int

    @staticmethod
    def read(said: Any) -> Question:
        """Raises `InputError` for what is no question."""
        if not isinstance(said, dict):
            raise InputError("expected an object: source, changes, other, seed, runs")
        known = {"source", "changes", "other", "seed", "runs"}
        if wrong := [key for key in said if key not in known]:
            raise InputError(f'no "{wrong[0][:40]}" in a question{suggestion(wrong[0], known)}')
        source, seed, runs = said.get("source"), said.get("seed", 1), said.get("runs", 10)
        if not isinstance(source, str):
            raise InputError("source: expected a text", "source")
        for name, value, least, most in (("seed", seed, 0, 2**63 - 1), ("runs", runs, 1, MOST_RUNS)):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise InputError(f"{name}: expected a whole number from {least} to {most}", name)
        return Question(source, _pairs(said, "changes"), _pairs(said, "other"), seed, runs)


def _pairs(said: Mapping[str, Any], key: str) -> Pairs:
    """Pairs of path and value, both texts."""
    found = said.get(key, [])
    if not isinstance(found, list) or len(found) > MOST_CHANGES:
        raise InputError(f"{key}: expected a list of {MOST_CHANGES} pairs at most", key)
    for pair in found:
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
        if not is_pair or not pair[0].strip() or any(len(text) > MOST_LETTERS or "\0" in text for text in pair):
            raise InputError(f"{key}: expected pairs of path and value, texts of {MOST_LETTERS} letters at most", key)
    return tuple((path.strip(), value.strip()) for path, value in found)


@dataclass(frozen=True)
class Cell:
    """A question's cell: its tables with the changes in them, no key checked. An empty value takes a key out."""

    question: Question
    base: str
    tables: dict[str, Any] = field(repr=False)

    @staticmethod
    def of(question: Question, source: Source) -> Cell:
        """Raises `InputError` for a change that is none, or that names a file."""
        base = source.text(question.source)
        set_ = tuple(pair for pair in question.changes if pair[1])
        tables = simulator.overridden(base, set_)
        own = _files(simulator.overridden(base, ()))
        for path, value in question.changes:
            if not value:
                _leave_out(tables, path.split("."))
        for pairs in (set_, (*set_, *question.other)):
            for path, name in _files(simulator.overridden(base, pairs)):
                if name not in [one for _, one in own]:
                    raise InputError(f"{path}: the page takes no names of files; change it in the scenario", path)
        return Cell(question, base, tables)

    @property
    def name(self) -> str:
        named = self.tables.get("scenario", {})
        found = named.get("name") if isinstance(named, dict) else None
        return str(found or self.question.source.partition(":")[2] or "cell")

    @property
    def text(self) -> str:
        """The cell as a file: as it was given where nothing was changed."""
        return toml_text.document(self.tables) if self.question.changes else self.base

    @property
    def label(self) -> str:
        """The name of the other arm: the last word of its path, and the value; of a table the name in it."""
        path, value = self.question.other[-1]
        if path.endswith(".+"):
            return _ANOTHER.get(path, f"another {path.split('.')[-2]}")
        try:
            read = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            read = value
        if isinstance(read, dict):
            read = next((word for word in read.values() if isinstance(word, str)), "changed")
        shown = str(read) if isinstance(read, str) else value
        last = next((step for step in reversed(path.split(".")) if not step.isdigit() and step != "*"), path)
        label = shown if path == "scheme" else f"{last} {shown}"
        label = " ".join(label.translate(_NOT_IN_LABELS).split())
        return "changed" if len(label) > 60 or label in ("", BASELINE) else label

    def arms(self) -> dict[str, str]:
        """The other arm as `interlayer compare` takes it. Raises `InputError` where the page named none."""
        if not self.question.other:
            raise InputError("other: nothing is changed in the other arm; press ⇄ beside a control", "other")
        return {self.label: ";".join(f"{path}={value}" for path, value in self.question.other)}

    def parsed(self, arm: int = 0) -> _core.Scenario:
        """The scenario of an arm, checked whole and within the page's limits. Raises `InputError`."""
        pairs = self.question.other if arm else ()
        self._check_size(pairs)
        scenario = simulator.parse(self.text, pairs)
        if len(scenario.nodes) > MOST_NODES:
            raise InputError(f"node: {len(scenario.nodes)} nodes; the page takes {MOST_NODES} at most", "node")
        return scenario

    def _check_size(self, pairs: Pairs) -> None:
        """Raise `InputError` for more nodes than the page takes, before they are made, with the memory of a run."""
        tables = simulator.overridden(self.text, pairs)
        entries = tables.get("node")
        counts = [e.get("count", 1) for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
        nodes = sum(n for n in counts if isinstance(n, int))
        if nodes <= MOST_NODES:
            return
        at = next(i for i, n in enumerate(counts) if n == max(counts))
        few = MOST_NODES // 10
        small = {**tables, "node": [dict(e) for e in entries or ()]}
        for i, n in enumerate(counts):
            if n > few:
                small["node"][i]["count"] = few
        forecast = ""
        try:
            parsed = simulator.parse(toml_text.document(small))
            size = quantity.size(parsed.run_bytes * (nodes / len(parsed.nodes)) ** 2)
            forecast = f", a run of them some {size} of memory"
        except InputError:  # the keys have mistakes of their own: without a forecast
            pass
        path = f"node[{at}].count"
        raise InputError(f"{path}: {nodes} nodes{forecast}; the page takes {MOST_NODES} at most", path)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """What is compared beside the usual metrics: what a station's answer needs, and latencies."""
        station = next((one for one in stations() if f"station:{one.id}" == self.question.source), None)
        return (*(station.also if station else ()), *self._latencies())

    def _latencies(self) -> tuple[str, ...]:
        """Latencies of calls, games and probes.

        They are the flows of UDP that do not send all they can. Of more than `_EACH` it is their mean, where a pattern
        names them and no other.
        """
        try:
            scenario = self.parsed()
        except InputError:
            return ()
        told = json.loads(scenario.to_json())["flow"]
        is_asking = [f["transport"].get("protocol") == "udp" and f["traffic"]["model"] != "bulk" for f in told]
        names = [name for name, is_it in zip(scenario.flows, is_asking, strict=True) if is_it]
        if len(names) <= _EACH:
            return tuple(f"flow.{name}.latency_p95" for name in names)
        first, last = min(names), max(names)
        begin = first[: next(i for i in range(len(last)) if first[i : i + 1] != last[i])]
        is_theirs = begin and sum(name.startswith(begin) for name in scenario.flows) == len(names)
        return (f"mean(flow.{begin}*.latency_p95)",) if is_theirs else ()

    def exports(self) -> dict[str, str]:
        """The cell as TOML, and the comparison as a command and in Python."""
        q, arms = self.question, self.arms() if self.question.other else {}
        command = ["interlayer", "compare", "cell.toml"]
        for name, sets in arms.items():
            command += ["--arm", f"{name}={sets}"]
        command += [word for metric in self.metrics for word in ("--metric", metric)]
        command += ["--seed", str(q.seed), "--runs", str(q.runs)]
        named = ", ".join(
            f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(sets, ensure_ascii=False)}"
            for name, sets in arms.items()
        )
        metrics = f"metrics={json.dumps(self.metrics, ensure_ascii=False)}, " if self.metrics else ""
        python = (
            "import interlayer as il\n\n"
            'cell = il.load("cell.toml")\n'
            f"found = il.compare(cell, arms={{{named}}}, {metrics}seed={q.seed}, runs={q.runs})\n"
            "print(found)\n"
        )
        return {"toml": self.text, "command": shlex.join(command), "python": python}


def _leave_out(tables: Any, steps: Sequence[str]) -> None:
    """Remove the key at a path, as `--set` has paths, or the last entry for `+`; nothing where there is none."""
    first, *rest = steps
    if isinstance(tables, dict):
        if not rest:
            tables.pop(first, None)
        elif first in tables:
            _leave_out(tables[first], rest)
    elif isinstance(tables, list) and first == "+" and not rest:
        del tables[-1:]
    elif isinstance(tables, list) and rest:
        for i, entry in enumerate(tables):
            if first in ("*", str(i)) or (isinstance(entry, dict) and entry.get("name") == first):
                _leave_out(entry, rest)


def _files(tables: Any, path: str = "") -> list[tuple[str, str]]:
    """The names of files in a scenario's tables, with their paths: traces of motion."""
    found: list[tuple[str, str]] = []
    if isinstance(tables, Mapping):
        for key, value in tables.items():
            at = f"{path}.{key}" if path else key
            found += [(at, str(value))] if key == "file" else _files(value, at)
    elif isinstance(tables, Sequence) and not isinstance(tables, str):
        for i, value in enumerate(tables):
            found += _files(value, f"{path}[{i}]")
    return found
