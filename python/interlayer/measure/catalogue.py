"""The metrics that can be asked for, with units and a line each: `interlayer list metrics`.

The names are those of a run's tables, unit suffix left out; a test holds them against runs. Counters of schemes are by
pattern: each scheme has its own (docs/schemes and `run --json` show them).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlayer import quantity, toml_text

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


# After warm-up, unless the summary says "of the whole run". One line an entry: unit, name, what it is. In place of the
# unit "1": share, a number from 0 to 1, and index, Jain's, from 1/n to 1. All else is an amount, from 0 on.
_FLOW = """
b/s goodput: payload delivered at `to`
b/s datagram_throughput: the same with TCP or UDP and IP headers
bytes delivered_bytes: payload delivered at `to`
packets delivered_packets: packets delivered at `to`
bytes delivered_bytes_total: payload delivered, of the whole run
s finish_time: when the last byte of a flow with an end was delivered
s latency_mean: from first sending to delivery in order, queues and repetitions of MAC and TCP included
s latency_p50: its median
s latency_p95: its 95th percentile
s latency_p99: its 99th percentile
s jitter_mean: mean difference of the latencies of two packets in a row
b/s reverse_goodput: payload delivered at `from`
bytes reverse_delivered_bytes_total: payload delivered at `from`, of the whole run
1 datagrams_sent_total: UDP: datagrams sent, of the whole run
1 transfers: users: files, pages or messages that ended
s transfer_time_mean: users: from the first SYN or request to the last byte
s transfer_time_p50: users: its median
s transfer_time_p95: users: its 95th percentile
s transfer_time_p99: users: its 99th percentile
bytes transfer_bytes: users: bytes of all transfers
b/s transfer_rate: users: bytes of all transfers over the time that they took
1 connections_total: users: connections opened, of the whole run
1 connections_lost_total: users: connections that failed, of the whole run
1 connections_open_most_total: users: the most connections open at once, of the whole run
1 segments_sent: TCP: data segments sent, retransmissions included
1 retransmissions: TCP: segments sent again
1 retransmissions_total: TCP: the same, of the whole run
1 timeouts: TCP: expiries of the retransmission timer
1 timeout_sequences: TCP: timeouts that did not follow another one
s first_rto_mean: TCP: RTO of the first timeout of each sequence
1 fast_retransmits: TCP: losses found without a timeout
1 spurious_losses: TCP: losses that were none; their cuts were undone
1 dup_acks_received: TCP: duplicate ACKs at the sender
1 ecn_marks_received: TCP: data segments received with a congestion mark
1 ecn_cuts: TCP: window cuts that answered a mark
1 zero_window_probes: TCP: probes of a closed window
1 acks_sent: TCP: pure ACKs of the receiver
1 out_of_order_segments: TCP: segments received out of order
1 duplicate_segments: TCP: segments received again
1 rtt_samples: TCP: measured round trips
s rtt_mean: TCP: their mean
bytes cwnd_mean: TCP: congestion window, mean over time
bytes window_mean: TCP: the smaller of the congestion and the receiver's window, mean over time
b/s cwnd_per_srtt: TCP: congestion window over smoothed RTT, mean over time
bytes acked_bytes_total: TCP: bytes acknowledged to the sender, of the whole run
bytes acked_undelivered: TCP: bytes acknowledged and not delivered
bytes reverse_acked_undelivered: TCP: the same of the other direction
share failed: TCP: 1 if the connection failed
s until_first_loss: TCP: from the start to the first loss found
s until_second_loss: TCP: from the start to the second loss found
"""
_GAPS = """
s ack_leaving_gap_p10: TCP, with ack_gaps: between two ACKs where they leave, 10th percentile
s ack_leaving_gap_p50: TCP, with ack_gaps: between two ACKs where they leave, median
s ack_leaving_gap_p90: TCP, with ack_gaps: between two ACKs where they leave, 90th percentile
s ack_leaving_gap_p99: TCP, with ack_gaps: between two ACKs where they leave, 99th percentile
s ack_arriving_gap_p10: TCP, with ack_gaps: between two ACKs where they arrive, 10th percentile
s ack_arriving_gap_p50: TCP, with ack_gaps: between two ACKs where they arrive, median
s ack_arriving_gap_p90: TCP, with ack_gaps: between two ACKs where they arrive, 90th percentile
s ack_arriving_gap_p99: TCP, with ack_gaps: between two ACKs where they arrive, 99th percentile
1 acks_compared: TCP, with ack_gaps: ACKs whose gaps at both ends were compared
1 acks_compressed: TCP, with ack_gaps: ACKs that arrived closer together than half their spacing
share ack_compressed_share: TCP, with ack_gaps: their share of those compared
1 ack_bursts: TCP, with ack_gaps: runs of compressed ACKs
1 ack_burst_mean: TCP, with ack_gaps: ACKs of a burst, on the mean
1 ack_burst_max: TCP, with ack_gaps: ACKs of the longest burst
bytes ack_burst_max_bytes: TCP, with ack_gaps: bytes that the longest burst acknowledged
"""
_NODE = """
share is_dead: 1 if the node was switched off at the end
1 msdus_offered: MSDUs handed to its MAC
1 msdus_delivered: MSDUs acknowledged, or sent to a group
1 msdus_given_up: MSDUs dropped after the last attempt
1 msdus_expired: MSDUs that a queue dropped on purpose before an attempt
1 msdus_refused: MSDUs that the queue refused: full, or dropped early
1 msdus_queued: MSDUs in the queue at the end
1 exchanges: frame exchanges begun
1 failures: frames without the response they asked for
1 data_frames_sent: data frames sent, repetitions included
1 data_frames_retried: data frames sent again
1 rts_sent: RTS sent
1 msdus_received: MSDUs received, duplicates left out
1 duplicates: data frames received again
s airtime: time on the air
"""
_QUEUE = """
packets offered: packets that came
packets departed: packets that left
packets dropped: packets dropped, for whatever reason
packets dropped_early: packets that an AQM dropped
packets marked: packets marked with ECN
packets mean_packets: length, mean over time
packets max_packets_total: the greatest length, of the whole run
s mean_wait: mean wait of a packet
1 txops_total: EDCA: TXOPs won, of the whole run
1 internal_collisions_total: EDCA: collisions with a higher category of the same station, of the whole run
bytes sent_bytes: a wire: bytes sent
packets lost_packets: a wire: packets lost on the way
"""
_FRAME = """
1 sent: frames sent
1 received: frames received
1 lost_to_noise: lost to noise
1 lost_to_collision: lost to another transmission
1 lost_to_half_duplex: lost, since the addressee transmitted
1 lost_to_data: of the collisions: with data
1 lost_to_tcp_ack: of the collisions: with a pure TCP ACK
1 lost_to_rts_cts: of the collisions: with RTS or CTS
1 lost_to_other: of the collisions: with other frames
share error_rate: share of the frames that were lost
share half_duplex_rate: share that was lost, since the addressee transmitted
share data_collision_rate: share that collided with data
share tcp_ack_collision_rate: share that collided with a pure TCP ACK
share rts_cts_collision_rate: share that collided with RTS or CTS
1 captured: received in spite of an overlap
s airtime: time on the air
"""
_WINDOW = """
b/s goodput: of a flow: payload delivered in the window
b/s goodput_min: of a flow: the least goodput of a bucket
b/s goodput_max: of a flow: the greatest
1 goodput_cv: of a flow: standard deviation over the buckets, over their mean
share goodput_zero_share: of a flow: share of the buckets in which nothing was delivered
bytes cwnd_mean: of a TCP flow: congestion window, mean over time
bytes cwnd_max: of a TCP flow: the greatest mean of a bucket
1 cwnd_cv: of a TCP flow: standard deviation over the buckets, over their mean
s rtt_mean: of a TCP flow: mean of the measured round trips
s rtt_max: of a TCP flow: the greatest mean of a bucket
1 rtt_cv: of a TCP flow: standard deviation over the buckets, over their mean
b/s cwnd_per_srtt: of a TCP flow: congestion window over smoothed RTT, mean over time
packets mean_packets: of a queue: length, mean over time
packets max_packets: of a queue: the greatest mean of a bucket
1 packets_cv: of a queue: standard deviation over the buckets, over their mean
"""
_SUMMARY = """
b/s goodput: of all flows together
b/s datagram_throughput: of all flows together
index jain: Jain's index of the flows' goodput
b/s goodput_spread: largest less smallest goodput of a flow
1 retransmissions: of all flows together
1 timeouts: of all flows together
1 collision_probability: data frames and RTS lost to another transmission, over exchanges begun
1 lost_to_noise: frames lost to noise
1 lost_data_ack: data lost to a TCP ACK
1 lost_ack_data: TCP ACKs lost to data
1 lost_data_data: data lost to data
1 lost_ack_ack: TCP ACKs lost to TCP ACKs
1 lost_rts: frames lost to RTS or CTS, and these
1 lost_other: frames lost in all other collisions
1 lost_to_half_duplex: frames lost, since the addressee transmitted
"""


def _entries(table: str, lines: str) -> list[Entry]:
    """The entries of a table from lines of unit, name and what it is."""
    found = []
    for line in lines.strip().splitlines():
        named, _, summary = line.partition(": ")
        unit, name = named.split()
        kind = unit if unit in ("share", "index") else "amount"
        found.append(Entry(f"{table}.{name}", "1" if kind == unit else unit, summary, kind))
    return found


ENTRIES: tuple[Entry, ...] = (
    *_entries("flow.NAME", _FLOW + _GAPS.lstrip()),
    Entry(
        "flow.NAME.SERIES",
        "",
        "with --series: mean of a time series, such as srtt or rto, over the measured time",
        "any",
    ),
    *_entries("node.NAME", _NODE),
    *_entries("queue.NAME", _QUEUE),
    *_entries("frame.CLASS", _FRAME),
    *_entries("window.WINDOW.NAME", _WINDOW),
    Entry("window.WINDOW.SCHEME@NODE.COUNTER", "1", "what a scheme counted in the window"),
    Entry("scheme.SCHEME@NODE.COUNTER", "1", "a counter of a scheme at a node, such as scheme.lle-tcp@ap.acks_made"),
    Entry("scheme.SCHEME@NODE.packets_held", "1", "packets that a scheme holds at the end"),
    *_entries("summary", _SUMMARY),
    Entry("FUNCTION(flow.up*.NAME)", "", "over several rows: mean, sum, min, max, spread, jain or cv", "any"),
    Entry("smallest(K,flow.*.NAME)", "", "over several rows: the K-th smallest", "any"),
    Entry("below(F,flow.*.NAME)", "1", "how many rows are below F times the mean of all; above(F,…) likewise"),
    Entry("ratio(node.*.A,node.*.B)", "1", "sum of a column over the sum of another"),
    Entry("correlation(flow.*.A,flow.*.B)", "1", "Pearson's coefficient of two columns", "correlation"),
)
"""Every metric. NAME is a name or an index: `flow.0`, `flow.download`, `queue.ap.air`, `queue.server->ap`."""

_BY_NAME = {(entry.group, entry.name): entry for entry in ENTRIES}


def support_of(group: str, column: str, rows: int = 1) -> Support:
    """What values a column of a table can have, its unit's suffix left out or not; `rows`: those of an index.

    Counters of schemes are counts. Of what is not listed, such as the gauges of a controller, nothing is known.
    """
    if group == "scheme" or (group == "window" and column == "COUNTER"):
        return support.AMOUNT
    entry = _BY_NAME.get((group, column)) or _BY_NAME.get((group, quantity.without_unit(column)))
    return entry.support(rows) if entry else support.ANY


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
