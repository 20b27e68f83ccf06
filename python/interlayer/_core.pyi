"""The compiled core: it parses, checks and simulates; Python hands it text and gets columns back.

Every quantity's unit is the suffix of its name (`_bps`, `_s`, `_bytes`); names without one are counts or texts.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

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

class Scenario:
    """A scenario that has been parsed and checked whole; immutable, cheap to share between runs."""

    name: str
    duration_s: float
    warmup_s: float
    seed: int
    run_bytes: int  # of memory that a run takes at most, without what is recorded
    flows: list[str]
    nodes: list[str]

    def to_json(self) -> str:
        """The scenario with every default filled in."""

    def effective_json(self) -> str:
        """The same with every key of each TCP connection written out, as `preset` and the keys beside it make them."""

class Flow(TypedDict):
    """One flow's results over the measured time (warm-up excluded unless the name says otherwise)."""

    id: str
    # and: "from", "to", "protocol", goodput_bps, datagram_throughput_bps, delivered_bytes, segments_sent,
    # retransmissions, timeouts, fast_retransmits, acks_sent, rtt_mean_s, rtt_samples, acked_undelivered_bytes, ...

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
    columns: dict[str, npt.NDArray[Any]]
    # start_ns, airtime_ns, from, to, class, outcome, cause, overlap_from, overlap_class, overlap_ns, is_retry,
    # rate_bps, mpdu_bytes, duration_ns (the Duration field), seq, category, user_priority, tx_power_dbm,
    # power_mw (at the addressee), flow, is_reverse, serial, attempt, payload_bytes, tcp_seq,
    # tcp_ack. Names are indices into the lists above; -1 is none.

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
    summary: dict[str, float]  # goodput_bps, jain, goodput_spread_bps, ...
    fingerprint: dict[Literal["phy", "mac", "tcp"], str] | None
    series: dict[str, dict[str, npt.NDArray[np.float64]]] | None  # "flow.up.cwnd_bytes" -> {"t_s": ..., "value": ...}
    timeline: Timeline | None

class Runner:
    """Makes runs in the background, `jobs` at a time (0: one a core), without the interpreter's lock.

    A run depends on nothing but its scenario and seed. With `pcap_dir`, writes `<node>-<seed>.pcapng` there. `timeline`
    is a window in ns: what is in the air within it is kept. Threads begin as runs are submitted, and end by `stop`.
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
        fingerprint: bool = False,
    ) -> None: ...
    def submit(self, scenario: Scenario, seed: int) -> int:
        """Ask for a run; gives its number, counted from 0. Raises `OSError` if no thread can be had."""

    def next(self) -> tuple[int, Run | str] | None:
        """Wait for the next run that finishes: its number, and it or what failed in the program. None: none is pending.

        Ctrl-C while it waits raises `KeyboardInterrupt`. Raises `InputError` if the scenario cannot be built, and
        `OSError` if a capture cannot be written.
        """

    def stop(self) -> None:
        """Stop the runs under way, forget the others, and wait for the threads."""

def parse(text: str, overrides: Sequence[tuple[str, str]] = ()) -> Scenario:
    """Read a scenario.

    `text` is TOML. Each override is (path, value): the path has dots, arrays by index or by the entry's name
    (`flow.0.transport.datagram`, `node.ap.position`); the value is a TOML value, and what is no TOML value (`1500 B`,
    `off`) is taken as a string. An override replaces the whole value at its path and may create it.
    Raises `InputError`.
    """

def registry(
    kind: Literal["schemes", "congestion", "receivers", "recovery", "rate-controls", "queues", "routing", "traffic"],
) -> list[dict[str, str]]:
    """The registered plug-ins: `id`, `summary`, `source`; sorted by id.

    Of schemes also what they ask of the nodes where they sit, in words with spaces between: `sits`, `reads`, `turns`.
    Of queue disciplines and traffic models also `parameters`, with their defaults.
    """

def absent(noun: str, name: str) -> str | None:
    """What to say of a name that is not modelled (noun `scheme`, `standard`, `router`, ...); None of any other."""

def schema() -> str:
    """The JSON Schema of a scenario."""
