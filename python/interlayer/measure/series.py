"""Time series of a run by quantity: which flows, queues or schemes have one, and which never change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import quantity
from interlayer.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .stats import Floats

_FIRST = ("goodput", "cwnd", "srtt", "packets", "latency", "flight_size", "ssthresh", "rto", "rwnd")
"""Quantities in the order of interest; others follow by name."""

_UNITS = {"bps": "Mb/s", "s": "ms", "bytes": "kB"}
"""How values are shown, by the suffix of a column."""

_SEGMENTS = frozenset(
    {
        *("bic_w_max", "compound_dwnd", "cubic_w_max", "highspeed_a", "illinois_alpha", "vegas_alpha", "vegas_beta"),
        *("vegas_queue", "vegas_queued", "veno_queued", "yeah_queued", "yeah_reno"),
    }
)
"""Gauges of controllers that count segments; no suffix says so."""


@dataclass(frozen=True, slots=True)
class Line:
    """The values of one entry over time, as the core has them."""

    entry: str
    t_s: Floats
    values: Floats

    @property
    def is_constant(self) -> bool:
        """Whether it never changes; also where it never has a value."""
        found = self.values[np.isfinite(self.values)]
        return found.size == 0 or bool(np.all(found == found[0]))


@dataclass(slots=True)
class Quantity:
    """A quantity over time: `cwnd_bytes` of flows, and the line of each flow that has one."""

    group: str
    column: str
    lines: list[Line] = field(default_factory=list)

    @property
    def name(self) -> str:
        """`cwnd`; of a queue's or a scheme's also whose it is: `queue packets`."""
        bare = quantity.without_unit(self.column)
        return bare if self.group == "flow" else f"{self.group} {bare}"

    @property
    def unit(self) -> str:
        """The unit to show it in, empty for counts."""
        if self.group == "flow" and self.column in _SEGMENTS:
            return "segments"
        suffix = quantity.column_unit(self.column)
        return _UNITS.get(suffix, "" if suffix in ("", "packets") else quantity.natural_unit(self.column))

    @property
    def label(self) -> str:
        """What an axis is called: `cwnd, kB`."""
        return f"{self.name}, {self.unit}" if self.unit else self.name

    def is_of(self, line: Line, path: str) -> bool:
        """Whether a series has this name, with or without unit: `queue.ap.air.packets`."""
        return path in [f"{self.group}.{line.entry}.{c}" for c in (self.column, quantity.without_unit(self.column))]

    def shown(self, line: Line) -> Floats:
        """A line in the unit to show it in."""
        return line.values * (quantity.scale(self.column, self.unit) if self.unit else 1.0)

    def said(self, line: Line) -> str:
        """A line that never changes, in words: `up1 rwnd 65.54 kB`."""
        found = self.shown(line)[np.isfinite(line.values)]
        what = f"{line.entry} {quantity.without_unit(self.column)}"
        return (
            f"{what} undefined" if found.size == 0 else f"{what} {found[0]:.4g}{f' {self.unit}' if self.unit else ''}"
        )


def by_quantity(series: Mapping[str, Mapping[str, Any]]) -> list[Quantity]:
    """The core's series (`flow.up1.cwnd_bytes`) by quantity, the more interesting ones first."""
    found: dict[tuple[str, str], Quantity] = {}
    for path, column in series.items():
        group, _, rest = path.partition(".")
        entry, _, name = rest.rpartition(".")
        line = Line(entry, np.asarray(column["t_s"], float), np.asarray(column["value"], float))
        found.setdefault((group, name), Quantity(group, name)).lines.append(line)
    return sorted(found.values(), key=_rank)


def _rank(q: Quantity) -> tuple[int, str, str]:
    bare = quantity.without_unit(q.column)
    return (_FIRST.index(bare) if bare in _FIRST else len(_FIRST), q.group, q.column)


def changing(series: Mapping[str, Mapping[str, Any]]) -> tuple[list[Quantity], list[str]]:
    """The quantities with the lines that change, and in words the lines that do not."""
    shown, constant = [], []
    for q in by_quantity(series):
        constant += _constant(q)
        if lines := [line for line in q.lines if not line.is_constant]:
            shown.append(Quantity(q.group, q.column, lines))
    return shown, constant


def _constant(q: Quantity) -> list[str]:
    """The lines that never change, each in words; one sentence where they are all of a quantity, and alike."""
    found = [line for line in q.lines if line.is_constant]
    said = [q.said(line) for line in found]
    tails = {text.removeprefix(f"{line.entry} ") for line, text in zip(found, said, strict=True)}
    return [f"{tails.pop()} in all"] if len(found) == len(q.lines) > 1 and len(tails) == 1 else said


NONE_KEPT = "no time series were kept: run with series=True (on the command line --series)"


def chosen(series: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> list[Quantity]:
    """The quantities of these names, with or without unit: `cwnd`, `queue packets`, `packets`.

    The name of a series is that one alone: `queue.ap.air.packets`. Without names those that change, or all if none
    does. Raises `InputError`.
    """
    every = by_quantity(series)
    if not every:
        raise InputError(NONE_KEPT, "series")
    found = [] if names else changing(series)[0] or every
    for name in names:
        matching = [q for q in every if name in (q.name, q.column, quantity.without_unit(q.column))]
        matching = matching or [
            Quantity(q.group, q.column, [line]) for q in every for line in q.lines if q.is_of(line, name)
        ]
        if not matching:
            raise InputError(f'no time series "{name}"{suggestion(name, [q.name for q in every])}', name)
        found += matching
    return found
