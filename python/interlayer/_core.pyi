"""The compiled core: it parses, checks and simulates; Python hands it text and gets columns back.

Every quantity's unit is the suffix of its name (`_bps`, `_s`, `_bytes`); names without one are counts or texts.
"""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

__version__: str

outside: tuple[str, str, list[str]] | None
"""The crate outside the repository that it was built with: name, version, and what it adds (`scheme my-scheme`)."""

interface: str
"""The text of this stub when it was built."""

class InputError(ValueError):
    """What the user gave is wrong: `str(e)` is one line, `path: what is wrong; did you mean ...?`."""

    path: str
    mistakes: list[tuple[str, str]]
    """Path and line of each mistake of the text that was read, in its order; the error itself is the first."""

class PartError(Exception):
    """Code of a part in Python has failed: `str(e)` says which part and method, `__cause__` is what it raised."""

class Scenario:
    """A scenario that has been parsed and checked whole; immutable, cheap to share between runs."""

    name: str
    duration_s: float
    warmup_s: float
    seed: int
    run_bytes: int  # of memory that a run takes at most, without what is recorded
    flows: list[str]
    nodes: list[str]
    notes: list[str]  # what is no mistake, but other than a reader of the file may think: a line each
    source: tuple[str, list[tuple[str, str]]]  # what `parse` was given: another process reads the same scenario from it
    parts: list[tuple[str, str, str | None]]  # in Python, that it uses: name, kind, hash of the source

    def to_json(self) -> str:
        """The scenario with every default filled in."""

    def effective_json(self) -> str:
        """The same with every key of each TCP connection written out, as `preset` and the keys beside it make them."""

    def brimming_flows(self) -> list[str]:
        """The TCP flows of the preset `linux` without small queues: windows lie in their hosts' queues."""

    def bound_to_own_tcp(self, seed: int) -> list[tuple[str, str]]:
        """The schemes that work beside TCP ends of the core alone, as (node, scheme). Raises `InputError`."""

class Flow(TypedDict):
    """One flow's results over the measured time (warm-up excluded unless the name says otherwise)."""

    id: str
    # and: "from", "to", "protocol", and the metrics of flows (`metrics`)

class Timeline(TypedDict):
    """Who transmitted what when, in a part of a run; a value a transmission in each column, in order of their begin."""

    from_s: float
    until_s: float
    missed: int  # transmissions beyond the most that are kept
    nodes: list[str]
    has_radio: list[bool]  # of each node
    flows: list[str]
    classes: list[str]
    outcomes: list[str]  # received, captured (although overlapped), noise, collision, ...
    causes: list[str]  # of losses, as in `summary`
    lost_mpdus: list[str]  # of each transmission: places of the MPDUs that were lost, of an A-MPDU ("0 3 4")
    columns: dict[str, npt.NDArray[Any]]
    # start_ns, airtime_ns, from, to, class, outcome, cause, overlap_from, overlap_class, overlap_ns, is_retry,
    # rate_bps, mpdu_bytes, mpdus, mpdus_received, duration_ns (the Duration field), seq, category, user_priority,
    # tx_power_dbm, power_mw (at the addressee), flow, is_reverse, serial, attempt, payload_bytes, tcp_seq,
    # tcp_ack. Names are indices into the lists above; -1 is none.

class Scene(TypedDict):
    """What a picture that moves shows beside legs and series; a value a node, or a row, in each list."""

    nodes: list[str]
    has_radio: list[bool]
    channels: list[str]
    classes: list[str]
    x_m: list[float]  # places as the run begins
    y_m: list[float]
    links: dict[str, npt.NDArray[Any]]  # t_s, channel, one, other, is_up: radio neighbours, by motion or by an event
    bin_s: float
    pulses: dict[str, npt.NDArray[Any]]
    # bin, from, to (-1: all), class, frames, lost: frames that left the air within each bin, counted.

class Story(TypedDict):
    """What the stories of the timeline's frames need beside it, as columns; -1 is none. Times are ns of the run."""

    # What data frames carried, an entry an MSDU: start_ns and from of the frame, place of the MPDU, seq, fragment,
    # attempt, serial, flow, is_reverse, payload_bytes, tcp_seq, tcp_ack, tcp_flags (the header's control bits).
    portions: dict[str, npt.NDArray[Any]]
    # MSDUs that left their MACs: node, serial, attempts, enqueued_ns, head_ns, done_ns, is_delivered.
    settled: dict[str, npt.NDArray[Any]]
    # TCP segments that reached their ends: at_ns, flow, is_reverse, tcp_seq, tcp_ack, payload_bytes.
    arrivals: dict[str, npt.NDArray[Any]]
    # Grants that a frame followed: start_ns and from of it, cw, counts_from_ns, slots, stops, stops_left_out.
    accesses: dict[str, npt.NDArray[Any]]
    # Periods for which the medium was busy for those who were granted, one access's after the other's: slots that
    # remained, until_ns, nav_ns.
    stops: dict[str, npt.NDArray[Any]]

class Run(TypedDict):
    """One replication."""

    seed: int
    sim_s: float  # wall-clock seconds of the event loop, start-up excluded
    simulated_s: float
    warmup_s: float
    events: int
    exchanges: int  # frame exchanges in the air
    flows: list[dict[str, Any]]
    nodes: list[dict[str, Any]]  # "id" first
    queues: list[dict[str, Any]]  # per queue, radios first: "id" first
    frames: list[dict[str, Any]]  # per frame class: "class" first
    schemes: list[dict[str, Any]]  # per (scheme, node): "id" ("lle-tcp@sender"), "scheme", "node", then its counters
    windows: list[dict[str, Any]]  # per [[window]] and flow ("rush.download"), then per queue; "id" first
    links: NotRequired[list[dict[str, Any]]]  # of radios with MCSs, per direction ("ap->sta1"): "mode", "mcs", "snr_db"
    summary: dict[str, float]  # goodput_bps, jain, goodput_spread_bps, ...
    fingerprint: dict[Literal["phy", "mac", "tcp"], str] | None
    series: dict[str, dict[str, npt.NDArray[np.float64]]] | None  # "flow.up.cwnd_bytes" -> {"t_s": ..., "value": ...}
    timeline: Timeline | None
    # With series, where nodes move, as columns: node, begins_s, ends_s, from_x_m, from_y_m, to_x_m, to_y_m of each leg;
    # t_s, channel, one, other, is_up of those who became neighbours, or were so no more.
    legs: NotRequired[dict[str, list[Any]]]
    meetings: NotRequired[dict[str, list[Any]]]
    scene: NotRequired[Scene]  # if it was asked for
    story: NotRequired[Story]  # with scene and timeline

class Runner:
    """Makes runs in the background, `jobs` at a time (0: one a core), without the interpreter's lock.

    A run depends on nothing but its scenario and seed. With `pcap_dir`, writes `<node>-<seed>.pcapng` there. `timeline`
    is a window in ns: what is in the air within it is kept. `scene` is for a picture that moves. Threads
    begin as runs are submitted, and end by `stop`.
    """

    jobs: int
    pending: int  # submitted, and not come back

    def __init__(
        self,
        *,
        jobs: int = 0,
        pcap_dir: str | None = None,
        series: bool = False,
        timeline: tuple[int, int] | None = None,
        scene: bool = False,
        fingerprint: bool = False,
    ) -> None: ...
    def submit(self, scenario: Scenario, seed: int) -> int:
        """Ask for a run; gives its number, counted from 0. Raises `OSError` if no thread can be had."""

    def next(self, patience_s: float | None = None) -> tuple[int, Run | str | PartError] | None:
        """Wait for the next run that finishes: its number, and it or what failed in the program.

        None: none is pending, or none finished within `patience_s` of wall-clock time. Ctrl-C while it waits raises
        `KeyboardInterrupt`. Raises `InputError` if the scenario cannot be built, and `OSError` if a capture cannot be
        written.
        """

    def reached_s(self) -> list[tuple[int, float]]:
        """The simulated time that each pending run has reached, by its number; 0 for one that waits."""

    def threads(self) -> list[int]:
        """The threads that make runs with parts in Python now, as `threading.get_ident` numbers them."""

    def stop(self) -> None:
        """Stop the runs under way, forget the others, and wait for the threads: a quarter of a second at most."""

class Window:
    """The windows of a TCP sender, in bytes: what a controller may set, and what it may only read.

    It is the sender's while a method runs, and nobody's after that: what is to be remembered is copied.
    """

    cwnd: float  # congestion window; whole bytes, and a segment at least, when the method has returned
    ssthresh: float  # slow-start threshold; `inf` while unlimited
    mss: int  # payload of a full segment
    initial: int  # the initial window
    segments: float  # cwnd in segments
    flight_size: int  # what is in flight; after an ACK, what is left of it
    pipe: int  # what is in the network, lost segments left out; for `on_congestion` of a loss (RFC 6675)
    in_recovery: bool
    in_slow_start: bool  # cwnd < ssthresh
    after_timeout_lasts: bool  # not all that had been sent at the last timeout is acknowledged
    may_grow: bool  # not in recovery, and cwnd is what keeps the sender back
    app_limited: bool
    handshake_rtt_s: float | None
    timestamp_tick_s: float
    byte_counting: int | None  # the limit L of RFC 3465, if bytes are counted
    slow_start_limit: int  # what one ACK may add in slow start
    slow_start_divisor: int  # 1, but for the conservative phase of HyStart++ (RFC 9406)

    def grow(self, size: float) -> None:
        """Add so many bytes to cwnd; what is below one byte is kept for the next time."""

    def slow_start(self, ack: Ack) -> None:
        """Grow as in slow start, if `may_grow` (RFC 5681 eq. 2)."""

    def additive_increase(self, ack: Ack, per_rtt: float = 1.0) -> None:
        """Grow by so many segments a round trip, if `may_grow` (RFC 5681 eq. 3)."""

    def cut_flight_to(self, factor: float) -> None:
        """ssthresh and cwnd become `factor` of what is in flight, at least two segments (RFC 5681 eq. 4)."""

    def mark_flight_to(self, factor: float) -> None:
        """The same for a mark: cwnd goes down to one segment, and never up (RFC 3168 6.1.2)."""

    def cut_to(self, size: float) -> None:
        """ssthresh becomes `size` bytes, at least two segments, and cwnd no more than that."""

    def mark_to(self, size: float) -> None:
        """The same for a mark: cwnd may go down to one segment."""

    def deflate(self) -> None:
        """The end of fast recovery: cwnd is ssthresh, less what would leave in one burst (RFC 6582 3.2)."""

    def mark_app_limited(self) -> None:
        """Samples of what is in flight now are to be taken as limited by the application."""

class Ack:
    """One acknowledgment."""

    now_ns: int
    now_s: float
    number: int  # the next sequence number that the receiver waits for
    next: int  # what is sent next; a round trip lasts until an ACK reaches what this was at its begin
    acked: int  # bytes that it newly acknowledges; 0 for a duplicate
    counted: int  # of them, what growth counts; with `count_delivered` the bytes that it newly delivers
    prior_flight: int  # bytes in flight before it
    rtt_ns: int | None  # the RTT that it measured, if it did
    rtt_s: float | None
    duplicate: bool
    local: bool  # made at this node by a scheme, and never seen on the wire
    ece: bool  # it echoes a congestion mark
    sacked: int  # bytes that its SACK blocks newly report
    lost: int  # bytes that it made the sender take for lost
    rate: RateSample | None  # with `needs_rate`, or if recovery is by SACK
    timestamps: tuple[int, int] | None  # TSval, TSecr

class RateSample:
    """What an ACK tells of the delivery rate."""

    delivered: int  # bytes in the interval
    interval_ns: int
    prior_delivered: int  # what had been delivered when the youngest segment that this ACK delivers left
    app_limited: bool
    bps: int | None

class Node:
    """The node where a scheme sits."""

    id: int
    name: str
    address: str
    has_radio: bool
    forwards: bool
    is_access_point: bool
    access_point: int | None  # the id of a station's
    starts_flows: bool
    ends_flows: bool
    seed: int  # of the run, the scheme and this node: for `random.Random(node.seed)`

class Packet:
    """A packet as it was when it was shown."""

    protocol: Literal["tcp", "udp", "icmp", "other"]
    src: str
    dst: str
    size: int  # bytes of the IP packet, headers included
    payload: int  # bytes behind the transport header
    flow: int | None  # the flow's place in the scenario
    is_reverse: bool  # it runs back to the end that opened the flow
    serial: int  # the same at all places of its node, and in reports
    neighbour: int | None  # next hop on the way out, previous hop on the way in
    seq: int | None  # of TCP, as all below
    ack: int | None
    window: int | None  # as it stands in the header, not scaled
    syn: bool
    fin: bool
    rst: bool
    ece: bool
    is_pure_ack: bool

class Report:
    """What the MAC tells of a packet that it was given."""

    fate: Literal["delivered", "attempt", "given-up", "expired", "queue-full"]
    to: int  # the neighbour
    category: int  # access category, lowest 0
    attempts: int  # exchanges begun so far
    ppdu: int | None  # the PPDU whose outcome this tells, counted by its station; None: none carried it
    place: int | None  # of its MPDU in that, the first 0
    mpdus: int | None  # MPDUs in that
    rate_bps: int | None  # the rate of that
    enqueued_ns: int
    head_ns: int  # when it first came to the head of its queue
    first_ns: int  # when its first exchange began
    done_ns: int
    airtime_ns: int

def parse(text: str, overrides: Sequence[tuple[str, str]] = (), parts: Sequence[object] = ()) -> Scenario:
    """Read a scenario.

    `text` is TOML. Each override is (path, value): the path has dots, arrays by index or by the entry's name
    (`flow.0.transport.datagram`, `node.ap.position`); the value is a TOML value, and what is no TOML value
    (`1500 B`, `off`) is taken as a string. An override replaces the whole value at its path and may create it.
    `parts` are `interlayer.parts.Part`s: controllers and schemes in Python. Raises `InputError`, `PartError`.
    """

def overridden(text: str, overrides: Sequence[tuple[str, str]] = ()) -> str:
    """The tables of a scenario's text as JSON, with the overrides of `parse` in them. Raises `InputError`."""

def registry(
    kind: Literal[
        "schemes",
        "congestion",
        "receivers",
        "recovery",
        "rate-controls",
        "queues",
        "routing",
        "route-metrics",
        "traffic",
    ],
) -> list[dict[str, str]]:
    """The registered plug-ins: `id`, `summary`, `source`; sorted by id.

    Of schemes also what they ask of the nodes where they sit, in words with spaces between: `sits`, `reads`, `turns`;
    and `block_ack`: "works" beside block acknowledgment, or "refused: " and the reason, with default parameters.
    Of queue disciplines and traffic models also `parameters`, with their defaults.
    """

class Metric(TypedDict):
    """A column of numbers in the tables of a run."""

    table: str  # "flow.NAME", "node.NAME", ..., "summary"
    name: str  # without its unit, where that says enough
    unit: str  # "b/s", "s", "bytes", "packets"; "1": a count, share or index
    summary: str
    support: Literal["amount", "share", "index"]  # from 0 on, from 0 to 1, Jain's index

def metrics() -> list[Metric]:
    """Every metric, in the order of tables and columns; what schemes count is not among them."""

def absent(noun: str, name: str) -> str | None:
    """What to say of a name that is not modelled (noun `scheme`, `standard`, `router`, ...); None of any other."""

def schema() -> str:
    """The JSON Schema of a scenario."""

class Live:
    """A live run: joins TUN devices of hosts by the network of a scenario, in real time. Linux only."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        hosts: list[tuple[str, int]],
        *,
        record: str | None = None,
        pcap_dir: str | None = None,
        spin_ns: int = 0,
    ) -> None:
        """`hosts`: nodes with the descriptors of their devices, which do not block; they are this object's from now on.

        `record` is the file for time and bytes of every packet, `pcap_dir` the folder for captures. For up to `spin_ns`
        the loop looks at the clock instead of sleeping.
        """

    def run(self) -> dict[str, Any]:
        """Join the hosts until the scenario ends or `stop` is called, on this thread, without the interpreter's lock.

        Gives `run` (as of a simulated run), `late`, `first` (late of bursts' first packets), `answers` and `behind`
        (`count`, `p50_s`, `p99_s`, `p999_s`, `max_s`, `buckets`), `overloaded`,
        `packets` by fate, `refused`, `busy_s`, `conversations`. Raises `OSError`.
        """

    def stop(self) -> None:
        """End the run soon. Callable from any thread, as the next two are."""

    def change(self, text: str) -> None:
        """Change the network: `node.phone.position=[40, 0]`. Raises `ValueError`, `RuntimeError` at the end."""

    def gauge(self) -> dict[str, Any]:
        """The state of the run, some 100 ms old.

        `t_s`, `up` and `down` (packets, bytes) of each host, `late_s` (at 99 %, the longest), `interfaces`.
        """

def replay(scenario: Scenario, recording: bytes) -> dict[str, Any]:
    """Make a recorded live run again in virtual time.

    Gives `run`, the packets `recorded`, how many were the `same`, and the `first_other` (time, node).

    Raises `ValueError` with one line.
    """
