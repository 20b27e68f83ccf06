"""The metrics that can be asked for, with units and a line each: `interlayer list metrics`.

The names are those of a run's tables, unit suffix left out; a test holds them against runs. Counters of schemes are by
pattern: each scheme has its own (docs/schemes and `run --json` show them).
"""

from __future__ import annotations

from dataclasses import dataclass

from interlayer import quantity


@dataclass(frozen=True, slots=True)
class Entry:
    """A metric by its pattern, the unit of its column, and what it is."""

    id: str
    unit: str
    summary: str

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


# After warm-up, unless the summary says "of the whole run". One line an entry: unit, name, what it is.
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
1 failed: TCP: 1 if the connection failed
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
1 ack_compressed_share: TCP, with ack_gaps: their share of those compared
1 ack_bursts: TCP, with ack_gaps: runs of compressed ACKs
1 ack_burst_mean: TCP, with ack_gaps: ACKs of a burst, on the mean
1 ack_burst_max: TCP, with ack_gaps: ACKs of the longest burst
bytes ack_burst_max_bytes: TCP, with ack_gaps: bytes that the longest burst acknowledged
"""
_NODE = """
1 is_dead: 1 if the node was switched off at the end
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
1 error_rate: share of the frames that were lost
1 half_duplex_rate: share that was lost, since the addressee transmitted
1 data_collision_rate: share that collided with data
1 tcp_ack_collision_rate: share that collided with a pure TCP ACK
1 rts_cts_collision_rate: share that collided with RTS or CTS
1 captured: received in spite of an overlap
s airtime: time on the air
"""
_WINDOW = """
b/s goodput: of a flow: payload delivered in the window
b/s goodput_min: of a flow: the least goodput of a bucket
b/s goodput_max: of a flow: the greatest
1 goodput_cv: of a flow: standard deviation over the buckets, over their mean
1 goodput_zero_share: of a flow: share of the buckets in which nothing was delivered
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
1 jain: Jain's index of the flows' goodput
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
        found.append(Entry(f"{table}.{name}", unit, summary))
    return found


ENTRIES: tuple[Entry, ...] = (
    *_entries("flow.NAME", _FLOW + _GAPS.lstrip()),
    Entry("flow.NAME.SERIES", "", "with --series: mean of a time series, such as srtt or rto, over the measured time"),
    *_entries("node.NAME", _NODE),
    *_entries("queue.NAME", _QUEUE),
    *_entries("frame.CLASS", _FRAME),
    *_entries("window.WINDOW.NAME", _WINDOW),
    Entry("window.WINDOW.SCHEME@NODE.COUNTER", "1", "what a scheme counted in the window"),
    Entry("scheme.SCHEME@NODE.COUNTER", "1", "a counter of a scheme at a node, such as scheme.lle-tcp@ap.acks_made"),
    Entry("scheme.SCHEME@NODE.packets_held", "1", "packets that a scheme holds at the end"),
    *_entries("summary", _SUMMARY),
    Entry("FUNCTION(flow.up*.NAME)", "", "over several rows: mean, sum, min, max, spread, jain or cv"),
    Entry("smallest(K,flow.*.NAME)", "", "over several rows: the K-th smallest"),
    Entry("below(F,flow.*.NAME)", "1", "how many rows are below F times the mean of all; above(F,…) likewise"),
    Entry("ratio(node.*.A,node.*.B)", "1", "sum of a column over the sum of another"),
    Entry("correlation(flow.*.A,flow.*.B)", "1", "Pearson's coefficient of two columns"),
)
"""Every metric. NAME is a name or an index: `flow.0`, `flow.download`, `queue.ap.air`, `queue.server->ap`."""
