"""The metrics that can be asked for, with units and a line each: `interlayer list metrics`.

The core declares those of a run's tables. Counters of schemes are by pattern: each scheme has its own (docs/schemes and
`run --json` show them).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from interlayer import quantity, simulator, toml_text

from . import support

if TYPE_CHECKING:
    from .support import Support

KINDS = {"any": support.ANY, "amount": support.AMOUNT, "share": support.SHARE, "correlation": support.CORRELATION}
"""What values a metric of a kind can have. That of an `index`, Jain's, depends on how many rows it is of."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A metric by its pattern, the unit of its column, what it is, and what values it can have (`support`)."""

    id: str
    unit: str
    summary: str
    kind: str = "amount"

    def support(self, rows: int = 1) -> Support:
        """What values it can have, in the unit of its column; `rows` are those that an index is of."""
        return support.index_of(rows) if self.kind == "index" else KINDS[self.kind]

    @property
    def group(self) -> str:
        """The table that it is of: `flow`, `node`, …"""
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        """The column, without its unit."""
        return self.id.rpartition(".")[2]


def unit_of(column: str) -> str:
    """The unit of a column by its name, as this list spells it."""
    return {"bps": "b/s", "s": "s", "bytes": "bytes", "packets": "packets"}.get(quantity.column_unit(column), "1")


def _of(table: str) -> list[Entry]:
    """The metrics of a table, as the core declares them: `flow`, `node`, …"""
    own = (m for m in simulator.metrics() if m["table"].partition(".")[0] == table)
    return [Entry(f"{m['table']}.{m['name']}", m["unit"], m["summary"], m["support"]) for m in own]


@cache
def entries() -> tuple[Entry, ...]:
    """Every metric. NAME is a name or an index: `flow.0`, `flow.download`, `queue.ap.air`, `queue.server->ap`.

    They are of the time after warm-up, unless the summary says "of the whole run".
    """
    series = "with --series: mean of a time series, such as srtt or rto, over the measured time"
    counter = "a counter of a scheme at a node, such as scheme.lle-tcp@ap.acks_made"
    return (
        *_of("flow"),
        Entry("flow.NAME.SERIES", "", series, "any"),
        *_of("node"),
        Entry("node.NAME.COUNTER", "1", "counts of the node's router in the whole run, such as rreq_sent of AODV"),
        *_of("link"),
        Entry("link.FROM->TO.mcs", "1", "MCS of data frames as the run begins"),
        Entry("link.FROM->TO.streams", "1", "their spatial streams"),
        Entry("link.FROM->TO.snr_db", "1", "mean SNR of a link in dB as the run begins, over its width", "any"),
        *_of("queue"),
        *_of("frame"),
        *_of("window"),
        Entry("window.WINDOW.SCHEME@NODE.COUNTER", "1", "what a scheme counted in the window"),
        Entry("scheme.SCHEME@NODE.COUNTER", "1", counter),
        *_of("scheme"),
        *_of("summary"),
        Entry("FUNCTION(flow.up*.NAME)", "", "over several rows: mean, sum, min, max, spread, jain or cv", "any"),
        Entry("smallest(K,flow.*.NAME)", "", "over several rows: the K-th smallest", "any"),
        Entry("below(F,flow.*.NAME)", "1", "how many rows are below F times the mean of all; above(F,…) likewise"),
        Entry("ratio(node.*.A,node.*.B)", "1", "sum of a column over the sum of another"),
        Entry("correlation(flow.*.A,flow.*.B)", "1", "Pearson's coefficient of two columns", "correlation"),
    )


@cache
def _by_name() -> dict[tuple[str, str], Entry]:
    return {(entry.group, entry.name): entry for entry in entries()}


def support_of(group: str, column: str, rows: int = 1) -> Support:
    """What values a column of a table can have, its unit's suffix left out or not; `rows`: those of an index.

    Counters of schemes are counts. Of what is not listed, such as the gauges of a controller, nothing is known.
    """
    if group == "scheme" or (group == "window" and column == "COUNTER"):
        return support.AMOUNT
    found = _by_name()
    entry = found.get((group, column)) or found.get((group, quantity.without_unit(column)))
    return entry.support(rows) if entry else support.ANY


_PERCENTILE = re.compile(r"_p\d+$")


def meaning(path: str) -> str:
    """What a metric counts: `summary.jain: Jain's index of the flows' goodput`; "" for what is not listed.

    The summary of a percentile goes on from that of the mean: it comes behind it.
    """
    call = _CALL.fullmatch(path)
    inside = call[2] if call else path
    group, name = inside.partition(".")[0], inside.rpartition(".")[2]
    entry, mean = (_by_name().get((group, one)) for one in (name, _PERCENTILE.sub("_mean", name)))
    if entry is None:
        return ""
    if mean is None or mean == entry:
        return f"{path}: {entry.summary}"
    return f"{path}: {mean.summary}; {entry.summary.rpartition(': ')[2]}"


_FUNCTIONS = {
    "mean": "mean {}",
    "sum": "{}, all together",
    "min": "least {}",
    "max": "greatest {}",
    "spread": "largest less smallest {}",
    "jain": "Jain's index of {}",
    "cv": "variation of {}",
    "smallest": "{1}, number {0} from below",
    "below": "rows with {1} below {0} of the mean",
    "above": "rows with {1} above {0} of the mean",
    "ratio": "{} over {}",
    "correlation": "correlation of {} and {}",
}
_WORDS = {"rtt": "RTT", "srtt": "smoothed RTT", "rto": "RTO", "acks": "ACKs", "ack": "ACK", "rts": "RTS", "ecn": "ECN"}
_WORDS |= {"jain": "Jain's index", "per": "packet error rate", "ber": "bit error rate", "cv": "variation"}
_ENDS = {"mean": "mean {}", "min": "least {}", "max": "greatest {}", "total": "{} of the whole run", "p50": "median {}"}
_GAUGES = {"cubic_w_max": "CUBIC's W_max", "bic_w_max": "BIC's W_max"}
"""Variables of a controller: their end is part of the name."""
_CALL = re.compile(r"(\w+)\((.*)\)")
_OF_TWO = ("smallest", "below", "above", "ratio", "correlation")
_SECOND = re.compile(r",\s*(?=[a-z]+\.)")
"""Where the second argument begins: at a table's name, since names of rows have commas of their own."""


def readable(metric: str) -> str:
    """A metric as the axis of a figure names it: `flow.web.rtt_mean` is `mean RTT, web`."""
    if call := _CALL.fullmatch(metric):
        function, inside = call[1], call[2]
        shape = _FUNCTIONS.get(function, f"{function} of {{}}")
        parts = re.split(_SECOND, inside, maxsplit=1) if function in _OF_TWO else [inside]
        return shape.format(*(readable(part.strip()) for part in parts))
    table, *rest = metric.split(".")
    if not rest or table.isdecimal():
        return _named(metric)
    whose = [part.replace("*", "…") for part in rest[:-1] if not re.fullmatch(r"\d+|\*", part)]
    return f"{_named(rest[-1])}, {' '.join(whose)}" if whose else _named(rest[-1])


def readable_key(path: str) -> str:
    """A scenario's key as the axis of a figure names it: `radio.queue.packets` is `radio queue packets`."""
    parts = [part for part in path.split(".") if not re.fullmatch(r"\d+|\*", part)]
    if parts[-1] in ("per", "ber"):
        parts = [part for part in parts[-2:] if part in ("good", "bad", "per", "ber")]
    return " ".join(map(_named, parts))


def readable_value(value: Any) -> str:
    """A key's value as a figure names it: `{ discipline = "red", packets = 50 }` is `discipline red, packets 50`."""
    if isinstance(value, Mapping):
        return ", ".join(f"{_named(str(key))} {readable_value(v)}" for key, v in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(map(readable_value, value)) or "none"
    return value if isinstance(value, str) else toml_text.literal(value)


def _named(column: str) -> str:
    """A column in words: `transfer_time_p95` is `95th percentile of transfer time`."""
    if column in _GAUGES:
        return _GAUGES[column]
    head, _, end = column.rpartition("_")
    if head and (percent := re.fullmatch(r"p(\d\d)", end)) and end not in _ENDS:
        return f"{percent[1]}th percentile of {_named(head)}"
    if head and end in _ENDS:
        return _ENDS[end].format(_named(head))
    return " ".join(_WORDS.get(word, word) for word in column.split("_"))
