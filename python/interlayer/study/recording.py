"""Recorded runs: what arms of an experiment were measured to be, where no simulation can be it.

A recording is a CSV file, a row a run: the cell that it is of, seed, date, kernel and what else bears on it, and the
metrics that were measured. An arm of a recording is judged as any other; it has as many runs as were recorded, and
nothing makes more unless somebody says how (`Maker`). docs/design/verdicts.md says why it is so.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from interlayer import simulator
from interlayer.errors import InputError, writing

if TYPE_CHECKING:
    from pathlib import Path

    from interlayer._core import Run

FACTS = (
    *("base", "cell", "seed", "date", "kernel", "processors", "load", "scheduling", "seconds"),
    *("late_p50_us", "late_p99_us", "late_p999_us", "answer_p50_us", "overloaded"),
)
"""The columns that say of what and on what a run was made; those behind them are metrics, `flow.NAME.goodput_bps`."""

TOLD = ("datagram", "congestion", "timestamps", "send_buffer", "receive_buffer")
"""What a live run takes of a flow's transport: all else is the kernel's own, and no assumption of ours."""


class Place(NamedTuple):
    """A cell as a recording knows it: a hash of its base scenario's content, and what is set over it."""

    base: str
    cell: str


class Wanted(NamedTuple):
    """A run that is to be made: of which cell, its base scenario and what is set over it, and the seed."""

    place: Place
    text: str
    settings: tuple[tuple[str, str], ...]
    seed: int


Maker = Callable[[Sequence[Wanted]], Iterator[tuple[Wanted, Mapping[str, Any]]]]
"""Makes runs, and gives each as a row without `base`, `cell` and `seed` as it is done."""


def place(text: str, settings: Sequence[tuple[str, str]]) -> Place:
    """The place of a cell in a recording. Comments, the order of keys, and what no kernel is told are no part of it."""
    tables = simulator.tables(text)
    for flow in tables.get("flow", ()):
        if isinstance(flow.get("transport"), dict):
            flow["transport"] = {key: told for key, told in flow["transport"].items() if key in ("protocol", *TOLD)}
    content = json.dumps(tables, sort_keys=True)
    cell = "; ".join(f"{path} = {value}" for path, value in sorted(dict(settings).items()))
    return Place(hashlib.sha256(content.encode()).hexdigest()[:6], cell)


@dataclass(slots=True)
class Recording:
    """The runs of a file, and those that are made now."""

    path: Path
    maker: Maker | None = None
    """Makes what is missing; without one nothing is made."""
    _rows: dict[Place, list[dict[str, str]]] = field(default_factory=dict)
    _columns: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path, maker: Maker | None = None) -> Recording:
        """The recording in a file; with a maker it may be missing. Raises `InputError`."""
        found = cls(path, maker)
        if maker is not None and not path.exists():
            return found
        try:
            with path.open(encoding="utf-8", newline="") as file:
                reader = csv.DictReader(file)
                found._columns = list(reader.fieldnames or ())
                rows = list(reader)
        except (OSError, UnicodeDecodeError, csv.Error) as e:
            raise InputError(f"recording.file: cannot read {path}: {e}", "recording.file") from e
        if found._columns and tuple(found._columns[: len(FACTS)]) != FACTS:
            raise InputError(f"recording.file: {path} is no recording: its columns begin otherwise", "recording.file")
        for row in rows:
            found._rows.setdefault(Place(row["base"], row["cell"]), []).append(row)
        return found

    def rows(self, at: Place) -> list[dict[str, str]]:
        """The rows of a cell that a verdict may rest on: none of a run whose packets were late."""
        return [row for row in self._rows.get(at, ()) if row["overloaded"] == "0"]

    def runs(self, at: Place, flows: Sequence[str]) -> list[Run]:
        """The runs of a cell; `flows` are the names of its flows. Raises `InputError` where nothing was recorded."""
        found = self.rows(at)
        if not found:
            others = {place.cell for place in self._rows if place.base == at.base}
            why = "of this cell" if others or not self._rows else "of this base scenario, which has been changed"
            raise InputError(f"{self.path.name} has no runs {why}: {at.cell}; --live FILE makes them", "recording")
        return [_run(row, self._columns[len(FACTS) :], flows) for row in found]

    def make(self, wanted: Sequence[tuple[Place, str, Sequence[tuple[str, str]], int]]) -> None:
        """Bring each cell (place, base, settings) to a number of runs, each written as it is done."""
        if self.maker is None:
            return
        missing = []
        for at, text, settings, runs in {one[0]: one for one in sorted(wanted, key=lambda one: one[3])}.values():
            seeds = {int(row["seed"]) for row in self._rows.get(at, ())}
            free = (seed for seed in range(1, 100_000) if seed not in seeds)
            missing += [Wanted(at, text, tuple(settings), next(free)) for _ in range(runs - len(self.rows(at)))]
        # A seed of all cells before the next: what is left after Ctrl-C is the whole picture with fewer runs.
        for done, row in self.maker(sorted(missing, key=lambda one: one.seed)):
            self._add({**done.place._asdict(), "seed": done.seed, **row})

    def _add(self, row: Mapping[str, Any]) -> None:
        text = {name: str(value) for name, value in row.items()}
        with writing(self.path), self.path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self._columns or list(text), lineterminator="\n")
            if not self._columns:
                self._columns = list(text)
                writer.writeheader()
            writer.writerow(text)
        self._rows.setdefault(Place(text["base"], text["cell"]), []).append(text)

    def facts(self, places: Sequence[Place]) -> Facts:
        """What is to be said of the runs of cells."""
        rows = [row for at in dict.fromkeys(places) for row in self.rows(at)]
        every = [row for at in dict.fromkeys(places) for row in self._rows.get(at, ())]

        def several(name: str) -> tuple[str, ...]:
            return tuple(sorted({row[name] for row in rows}))

        def middle(name: str) -> float:
            return median(float(row[name]) for row in rows) if rows else 0.0

        return Facts(
            file=self.path.name,
            runs=len(rows),
            overloaded=len(every) - len(rows),
            dates=several("date"),
            kernels=several("kernel"),
            processors=several("processors"),
            scheduling=several("scheduling"),
            late_us=(middle("late_p50_us"), middle("late_p99_us"), middle("late_p999_us")),
            answer_us=middle("answer_p50_us"),
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What bears on recorded runs. Lateness and answers are the median run's, in microseconds."""

    file: str
    runs: int
    overloaded: int
    """Runs that were left out, since more than 1 % of their packets were late."""
    dates: tuple[str, ...]
    kernels: tuple[str, ...]
    processors: tuple[str, ...]
    scheduling: tuple[str, ...]
    late_us: tuple[float, float, float]
    """At 50, 99 and 99.9 % of the packets."""
    answer_us: float
    """From a packet's arrival in the model to what its host sends next, at 50 %."""

    def sentence(self, arms: Sequence[str]) -> str:
        """All of it in words; `arms` are the names of the recorded ones."""
        days = self.dates[0] if len(self.dates) == 1 else f"{self.dates[0]} to {self.dates[-1]}" if self.dates else "–"
        how = {"fifo": "SCHED_FIFO", "other": "no SCHED_FIFO"}
        by = ", ".join(how.get(one, one) for one in self.scheduling)
        late = ", ".join(f"{value:.0f}" for value in self.late_us)
        left = f", {self.overloaded} more left out as overloaded" if self.overloaded else ""
        return (
            f"Recorded, not run here: {', '.join(arms)}. {self.runs} live runs{left} ({self.file}), {days}, Linux "
            f"{', '.join(self.kernels)}, {', '.join(self.processors)} processors, {by}; packets late by {late} us at "
            "50, 99, 99.9 %"
        )

    def as_json(self) -> dict[str, Any]:
        """The same as data."""
        return {name: getattr(self, name) for name in self.__slots__}


def _run(row: Mapping[str, str], columns: Sequence[str], flows: Sequence[str]) -> Run:
    """A recorded run with what metrics read of a run."""
    tables: dict[str, dict[str, Any]] = {name: {"id": name} for name in flows}
    for column in columns:
        group, _, rest = column.partition(".")
        name, _, key = rest.rpartition(".")
        if group == "flow" and name in tables:
            tables[name][key] = float(row[column])
    found: Run = {  # type: ignore[typeddict-item]
        "seed": int(row["seed"]),
        "sim_s": 0.0,
        "simulated_s": float(row["seconds"]),
        "events": 0,
        "flows": list(tables.values()),
        "nodes": [],
        "frames": [],
        "summary": {},
        "series": None,
    }
    return found
