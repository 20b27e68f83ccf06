"""The same star for both programs: a scenario of ours and a command line of the peer (bench/ns3/wlan_tcp.cc)."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

STATIONS = (2, 6, 10, 20)
DIRECTIONS = ("upload", "download")
VARIANTS = ("base", "rts", "ack1", "udp")
WINDOWS = (10720, 65392)
"""B of each TCP buffer, whole segments. With 20 nothing overflows the queue of 500 and what differs is the MAC's; with
122, the most without scaling, it does from five stations on, and what differs is also how each TCP mends the losses of
its first slow start."""
WARMUP_S = 1
MEASURED_S = 4


class Cell(NamedTuple):
    """One row of the comparison."""

    stations: int
    direction: str
    variant: str
    window: int

    def __str__(self) -> str:
        window = f"-{self.window}" if self.window else ""
        return f"{self.stations}-{self.direction}-{self.variant}{window}"


CELLS = [
    Cell(n, d, v, w)
    for v, w, d, n in product(VARIANTS, (0, *WINDOWS), DIRECTIONS, STATIONS)
    if (v == "udp") == (w == 0)
]

RADIO = """\
[radio]
standard = "802.11a"
data_rate = "54 Mb/s"
control_rate = "basic"                  # 24 Mb/s after 54: what ns-3 does, whatever its ControlMode
rts_threshold = "{rts}"
max_attempts = 7
max_attempts_long = 4
after_timeout = "fresh-ifs"             # ns-3 waits a DIFS after the timeout
queue = {{ packets = 500 }}
"""

TCP = """\
transport = {{ protocol = "tcp", preset = "rfc", datagram = "576 B", congestion = "newreno", receiver = "{receiver}", \
delayed_ack_count = {count}, delayed_ack_timeout = "200 ms", initial_window = 1, initial_ssthresh = "unlimited", \
send_buffer = "{window} B", receive_buffer = "{window} B", min_rto = "200 ms", initial_rto = "1 s", \
granularity = "1 ms", nagle = true, timestamps = false, sack = false, window_scale = "off", limited_transmit = false }}
traffic = {{ model = "bulk" }}
"""

UDP = """\
transport = { protocol = "udp", datagram = "1500 B" }
traffic = { model = "saturated" }
"""


def scenario(cell: Cell) -> str:
    """Ours, as a scenario file."""
    delayed = cell.variant != "ack1"
    tcp = TCP.format(receiver="delayed-ack" if delayed else "every", count=2 if delayed else 1, window=cell.window)
    flow = UDP if cell.variant == "udp" else tcp
    text = f'[scenario]\nname = "{cell}"\nduration = "{WARMUP_S + MEASURED_S} s"\nwarmup = "{WARMUP_S} s"\n\n'
    text += RADIO.format(rts="200 B" if cell.variant == "rts" else "off")
    text += '\n[[node]]\nname = "ap"\nrole = "ap"\n'
    for i in range(cell.stations):
        text += f'\n[[node]]\nname = "s{i}"\n'
    for i in range(cell.stations):
        ends = ("ap", f"s{i}") if cell.direction == "download" else (f"s{i}", "ap")
        start = "" if cell.variant == "udp" else f'start = "{10 * i} ms"\n'
        text += f'\n[[flow]]\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n{start}{flow}'
    return text


def peer(cell: Cell, run: int) -> list[str]:
    """ns-3's, as arguments of the peer."""
    return [
        f"--n={cell.stations}",
        f"--run={run}",
        f"--seconds={MEASURED_S}",
        f"--warmup={WARMUP_S}",
        "--adhoc=1",
        f"--download={int(cell.direction == 'download')}",
        f"--rts={int(cell.variant == 'rts')}",
        f"--udp={int(cell.variant == 'udp')}",
        f"--delack={1 if cell.variant == 'ack1' else 2}",
        f"--window={cell.window or 65535}",
    ]
