"""The comparison's path, as a scenario of ours and as a command line of the peer, `bench/ns3/wired_queue.cc`."""

from __future__ import annotations

from dataclasses import dataclass

RATE = 10e6
RTT = 0.05
PACKETS = 1000
WARMUP = 10
SECONDS = 60
SPARSE = 100
"""Bytes of a datagram of the sparse flow."""
EVERY = 0.1
"""Seconds between two of them, on the mean."""
OFFERED = 12e6
"""Payload of all bulk flows of UDP together, in b/s: beyond the rate."""

DISCIPLINES = {
    "drop-tail": ("FifoQueueDisc", ""),
    "codel": ("CoDelQueueDisc", ""),
    "fq-codel": ("FqCoDelQueueDisc", ", ecn = false, flows = 65536"),
}
"""Ours, the TypeId of ns-3, what is set of ours: so many queues that no two flows share one by chance."""


@dataclass(frozen=True)
class Cell:
    """One discipline under so many bulk flows."""

    discipline: str
    load: str
    """Their transport: tcp, udp."""
    bulks: int

    def __str__(self) -> str:
        return f"{self.discipline}-{self.load}-{self.bulks}"

    @property
    def settings(self) -> list[tuple[str, str]]:
        """What is set in `SCENARIO` for it."""
        more = DISCIPLINES[self.discipline][1]
        queue = f'{{ discipline = "{self.discipline}", packets = {PACKETS}{more} }}'
        found = [("link.0.queue", queue), ("flow.0.count", str(self.bulks))]
        if self.load == "udp":
            traffic = f'{{ model = "poisson", rate = "{OFFERED / self.bulks:.0f} b/s" }}'
            found += [("flow.0.transport", '{ protocol = "udp" }'), ("flow.0.traffic", traffic)]
        return found

    @property
    def sparse(self) -> int:
        """The place of the sparse flow among the flows."""
        return self.bulks


CELLS = (
    Cell("drop-tail", "udp", 4),
    *(Cell(discipline, load, n) for discipline in ("codel", "fq-codel") for load in ("udp", "tcp") for n in (4, 10)),
)

# All of the delay is on the way back, so that quantiles of the latency are those of the queue.
SCENARIO = f"""
scenario = {{ duration = "{WARMUP + SECONDS} s", warmup = "{WARMUP} s" }}
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
from = "a"
to = "b"
rate = "{RATE / 1e6:g} Mb/s"
queue = {{ packets = {PACKETS} }}
[[link]]
from = "b"
to = "a"
rate = "{RATE / 1e6:g} Mb/s"
delay = "{RTT * 1e3:g} ms"
queue = {{ packets = 1000 }}
[[flow]]
name = "bulk"
from = "a"
to = "b"
count = 1
start = "50 ms"
stagger = "200 ms"
[flow.transport]
protocol = "tcp"
preset = "rfc"
congestion = "newreno"
receiver = "every"
sack = true
prr = true
initial_window = 10
min_rto = "200 ms"
granularity = "1 ms"
send_buffer = "8 MB"
receive_buffer = "4 MB"
window_scale = "auto"
[[flow]]
name = "sparse"
from = "a"
to = "b"
start = "1 s"
transport = {{ protocol = "udp", datagram = "{SPARSE} B" }}
traffic = {{ model = "poisson", rate = "{(SPARSE - 28) * 8 / EVERY:.0f} b/s" }}
"""


def peer(cell: Cell, run: int) -> list[str]:
    """The same for ns-3."""
    theirs = DISCIPLINES[cell.discipline][0]
    udp = OFFERED / cell.bulks if cell.load == "udp" else 0
    settings = {
        "disc": theirs,
        "bulks": cell.bulks,
        "packets": PACKETS,
        "rate": RATE,
        "rtt": RTT,
        "udp": udp,
        "every": EVERY,
    }
    return [f"--{key}={value}" for key, value in {**settings, "run": run}.items()]
