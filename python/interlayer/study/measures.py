"""What is measured beside the tables: metrics by name, found before anything is run."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlayer import quantity, simulator, toml_text
from interlayer.errors import InputError, suggestion
from interlayer.measure import metrics
from interlayer.measure.support import ANY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlayer._core import Run
    from interlayer.measure.support import Support
    from interlayer.parts import Part

METRIC = "--metric"
"""The option that errors name."""

METRICS = {
    "goodput_bps": "summary.goodput",
    "jain": "summary.jain",
    "retransmissions": "sum(flow.*.retransmissions)",
    "timeouts": "sum(flow.*.timeouts)",
    "rtt_mean_s": "mean(flow.*.rtt_mean)",
    "dropped_packets": "sum(queue.*.dropped)",
}
"""What is compared, as metric paths. An arm whose runs have no such numbers goes without."""
NAMES = {quantity.without_unit(name): name for name in METRICS}
"""How tables call them: `rtt_mean`, whose column is `rtt_mean_s`."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured: the name of its column, with its unit, and the path of the metric."""

    name: str
    path: str

    @property
    def unit(self) -> str:
        """The unit to show it in; "1" for counts and indices."""
        return quantity.natural_unit(self.name)

    @property
    def label(self) -> str:
        """Its name without unit, for tables and figures."""
        return quantity.without_unit(self.name)


def read(run: Run, path: str) -> float:
    """A metric of a run by its path; nan where the run has none."""
    try:
        return metrics.read(run, path)[1]
    except InputError:
        return math.nan


def support_of(runs: Sequence[Run], path: str) -> Support:
    """What values a metric can have, by the first of the runs that has it; anything where none has."""
    for run in runs:
        try:
            return metrics.support_of(run, path)
        except InputError:
            continue
    return ANY


def measure(metric: str, runs: Any, *, option: str = METRIC) -> Measure:
    """A metric as a column, by the first of the runs that has it. Raises `InputError` of the first run if none has.

    `option` is what the error names first; empty for none.
    """
    metric = NAMES.get(metric, metric)
    path, error = METRICS.get(metric, metric), None
    for run in runs:
        try:
            unit = quantity.column_unit(metrics.read(run, path)[0])
        except InputError as e:
            error = error or e
            continue
        head = f"{metric}_{unit}"
        return Measure(metric if not unit or quantity.column_unit(metric) == unit else head, path)
    assert error is not None
    if "." not in metric and (hint := suggestion(metric, NAMES)).startswith(";"):
        error = InputError(f'no metric "{metric}"{hint}', metric)
    if not option:
        raise error
    raise InputError(f"{option}: {str(error).removeprefix('metric ')}", option) from error


class Probes:
    """A very short run of each cell, made when it is asked for: it has the columns of a long one."""

    SHORT = (("scenario.duration", '"1 ms"'), ("scenario.warmup", '"0 s"'))

    def __init__(self, text: str, cells: Sequence[Sequence[tuple[str, str]]], parts: Sequence[Part]) -> None:
        self._text, self._cells, self._parts, self._made = text, cells, parts, list[Any]()

    def __iter__(self) -> Any:
        for i, cell in enumerate(self._cells):
            if i == len(self._made):
                self._made.append(self._run(cell))
            yield self._made[i]

    def _run(self, cell: Sequence[tuple[str, str]]) -> Run:
        whole = simulator.parse(self._text, cell, self._parts)
        names = [one["name"] for one in json.loads(whole.to_json()).get("window", [])]
        short_ones = [{"name": name, "to": "1 ms", "every": "1 ms"} for name in names]
        windows = ("window", toml_text.literal(short_ones))
        for later in ((), (("event", "[]"),), (("event", "[]"), windows)):
            try:
                short = simulator.parse(self._text, [*cell, *self.SHORT, *later], self._parts)
            except InputError:
                continue
            if (found := simulator.run_batch([(short, 1)], jobs=1).runs[0]) is not None:
                return found
            raise KeyboardInterrupt
        long = simulator.run_batch([(whole, 1)], jobs=1).runs[0]
        if long is None:
            raise KeyboardInterrupt
        return long


def usual(probes: Any) -> tuple[Measure, ...]:
    """Of what `compare` compares, that which the first cell has."""
    first = next(iter(probes))
    return tuple(Measure(name, path) for name, path in METRICS.items() if _has(first, path))


def _has(run: Run, path: str) -> bool:
    try:
        metrics.read(run, path)
    except InputError:
        return False
    return True
