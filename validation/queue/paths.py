"""The comparison's path, as a scenario of ours and as a command line of the peer, `bench/ns3/wired_queue.cc`."""

from __future__ import annotations

from dataclasses import dataclass

RATE = 10e6
RTT = 0.05
PACKETS = 1000
WARMUP = 10
SECONDS = 60
SPARSE = 100
"""Bytes of a datagram of the sparse flow, one every 20 ms on the mean."""

DISCIPLINES = {
    "drop-tail": ("FifoQueueDisc", ""),
    "codel": ("CoDelQueueDisc", ""),
    "fq-codel": ("FqCoDelQueueDisc", ", ecn = false"),
}
"""Ours, the TypeId of ns-3, what is set of ours."""


@dataclass(frozen=True)
class Cell:
    """One discipline under so many bulk flows."""

    discipline: str
    bulks: int

    def __str__(self) -> str:
        return f"{self.discipline}-{self.bulks}"

    @property
    def settings(self) -> list[tuple[str, str]]:
        """What is set in `SCENARIO` for it."""
        more = DISCIPLINES[self.discipline][1]
        queue = f'{{ discipline = "{self.discipline}", packets = {PACKETS}{more} }}'
        return [("link.0.queue", queue), ("flow.0.count", str(self.bulks))]

    @property
    def sparse(self) -> int:
        """The place of the sparse flow among the flows."""
        return self.bulks


CELLS = tuple(Cell(discipline, bulks) for discipline in DISCIPLINES for bulks in (1, 4, 10))

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
delay = "{RTT / 2 * 1e3:g} ms"
queue = {{ packets = {PACKETS} }}
[[link]]
from = "b"
to = "a"
rate = "{RATE / 1e6:g} Mb/s"
delay = "{RTT / 2 * 1e3:g} ms"
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
traffic = {{ model = "poisson", rate = "28800 b/s" }}
"""


def peer(cell: Cell, run: int) -> list[str]:
    """The same for ns-3."""
    theirs = DISCIPLINES[cell.discipline][0]
    settings = {"disc": theirs, "bulks": cell.bulks, "packets": PACKETS, "rate": RATE, "rtt": RTT}
    return [f"--{key}={value}" for key, value in {**settings, "run": run}.items()]
