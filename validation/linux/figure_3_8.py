"""Kliazovich 2006, Fig. 3.8, LLE-TCP and Reno on a testbed of 802.11b: here this kernel's TCP live, and simulated.

`figure_3_8.py measure [PART...]` adds runs to figure_3_8.csv: `basic`, `rts`, `no-timestamps`, `cubic`, `every`,
all unless named.
`figure_3_8.py table` writes the tables of docs/lle-tcp.md from it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import live

if TYPE_CHECKING:
    from collections.abc import Sequence

STORE = Path(__file__).with_name("figure_3_8.csv")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "lle-tcp.md"

SIZES = (100, 250, 500, 1000, 1500)
"""IP datagrams, all headers included. The devices' MTU sets them: TCP_MAXSEG, iperf3's -M, takes no MSS below 88 B."""
SECONDS, RUNS = 6.0, 3

_RADIO = (
    'standard = "802.11b", data_rate = "11 Mb/s", basic_rate = "1 Mb/s", control_rate = "1 Mb/s", preamble = "long", '
    'max_attempts = 7, max_attempts_long = 4, rts_for = "data", queue = { packets = 3000 }'
)
RADIOS = {"basic": _RADIO, "rts": f'{_RADIO}, rts_threshold = "0 B"'}
"""As of experiment lle-fig-3.7a, but for the queue: the windows below cannot fill it."""

MEMORY = ("net.ipv4.tcp_wmem='4096 16384 131072'", "net.ipv4.tcp_rmem='4096 87380 174760'")
"""Defaults of Linux 2.6.9."""
PAPER = {("basic", ""): 5.08, ("basic", "lle-tcp"): 6.09, ("rts", ""): 4.1, ("rts", "lle-tcp"): 4.71}
"""Mb/s at 1500 B, printed of Fig. 3.7, which Fig. 3.8 is said to differ from by about 3 %."""


@dataclass(frozen=True)
class Pair(live.Cell):
    """Two stations without an access point, as the laptops were."""

    def text(self, seconds: float) -> str:
        """The scenario."""
        return super().text(seconds).replace('role = "ap"\n', "").replace('role = "ap"', "")


def cell(radio: str, size: int, scheme: str, *, control: str = "reno", timestamps: bool = True) -> Pair:
    """A point of the figure."""
    off = () if timestamps else ("net.ipv4.tcp_timestamps=0",)
    return Pair(RADIOS[radio], control, datagram=size, scheme=scheme, sysctl=(*MEMORY, *off), extra=_BUFFERS)


_BUFFERS = 'send_buffer = "131072 B", receive_buffer = "87380 B"'
ARMS = ("", "lle-tcp")
PARTS = {
    "basic": [cell("basic", size, scheme) for size in SIZES for scheme in ARMS],
    "rts": [cell("rts", size, scheme) for size in SIZES for scheme in ARMS],
    "no-timestamps": [cell("basic", size, scheme, timestamps=False) for size in SIZES for scheme in ARMS],
    "cubic": [cell("basic", size, scheme, control="cubic") for size in (500, 1500) for scheme in ARMS],
}


EVERY = [
    Pair(RADIOS[access], datagram=100, scheme=scheme, sysctl=MEMORY, extra=f'{_BUFFERS}, receiver = "every"')
    for access in RADIOS
    for scheme in ARMS
]
"""Simulated alone: the kernel acknowledges each segment below TCP_MIN_MSS (88 B of payload) that is read."""


def measure(parts: Sequence[str]) -> None:
    """Runs what is named, live and simulated."""
    for one in EVERY if "every" in parts else ():
        live.store(live.simulated(one, SECONDS), "every", STORE)
    for part in (part for part in parts if part != "every"):
        for one in PARTS[part]:
            live.both(one, SECONDS, RUNS, part, STORE)


def throughput(part: str, size: int, scheme: str, how: str) -> list[float]:
    """Mb/s with whole datagrams credited, as Fig. 3.7 counts."""
    options = 0 if part == "no-timestamps" else 12
    for key, ways in live.rows(part, STORE).items():
        if key[1] == scheme and key[5] == str(size) and how in ways:
            return [value * size / (size - 40 - options) for value in live.numbers(ways[how], "goodput_mbps")]
    return []


def late(part: str, size: int) -> str:
    """Lateness of the live runs of a point, both arms."""
    found = [ways["live"] for key, ways in live.rows(part, STORE).items() if key[5] == str(size) and "live" in ways]
    return live.lateness([run for runs in found for run in runs])


def table() -> list[str]:
    """Throughput and gain, live beside simulated."""
    lines = [
        "| | datagram | Reno simulated, Mb/s | live | LLE-TCP simulated, Mb/s | live | gain simulated | live "
        "| late at 50, 99, 99.9 %, µs |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    said = {
        "basic": "basic access",
        "rts": "RTS/CTS",
        "no-timestamps": "basic access, no timestamps",
        "cubic": "basic access, CUBIC for Reno",
    }
    for part, name in said.items():
        for size in SIZES:
            values = [throughput(part, size, scheme, how) for scheme in ARMS for how in ("simulated", "live")]
            if not all(values):
                continue
            plain, plain_live, lle, lle_live = map(mean, values)
            cells = [f"{one:.2f}" for one in (plain, plain_live, lle, lle_live)]
            gains = [f"{100 * (lle / plain - 1):.1f} %", f"{100 * (lle_live / plain_live - 1):.1f} %"]
            lines.append(f"| {' | '.join([name, f'{size} B', *cells, *gains, late(part, size)])} |")
    for access in RADIOS:
        plain, lle = (
            mean(live.numbers(ways["simulated"], "goodput_mbps")) * 100 / 48
            for scheme in ARMS
            for key, ways in live.rows("every", STORE).items()
            if key[0] == RADIOS[access] and key[1] == scheme
        )
        name = f"{said[access]}, one ACK per segment"
        lines.append(f"| {name} | 100 B | {plain:.2f} | | {lle:.2f} | | {100 * (lle / plain - 1):.1f} % | | |")
    return lines


def summary() -> list[str]:
    """What the thesis printed beside both."""
    lines = ["| 1500 B | Fig. 3.7, printed | simulated | live |", "|---|---|---|---|"]
    for (part, scheme), printed in PAPER.items():
        name = f"{'LLE-TCP' if scheme else 'Reno'}, {'RTS/CTS' if part == 'rts' else 'basic access'}"
        found = [throughput(part, 1500, scheme, how) for how in ("simulated", "live")]
        if all(found):
            lines.append(f"| {name}, Mb/s | {printed} | {mean(found[0]):.2f} | {mean(found[1]):.2f} |")
    apart = []
    for part in ("basic", "rts"):
        for size in SIZES:
            for scheme in ARMS:
                here, there = (throughput(part, size, scheme, how) for how in ("live", "simulated"))
                if here and there:
                    apart.append(abs(mean(here) / mean(there) - 1))
    if apart:
        lines.append(
            f"| mean difference of testbed and simulation, all sizes | about 3 % | | {100 * mean(apart):.1f} % |"
        )
    return lines


def main() -> None:
    """Measures, or writes tables."""
    match sys.argv[1:]:
        case ["measure", *parts]:
            measure(parts or [*PARTS, "every"])
        case ["table"]:
            live.write({"figure 3.8 at 1500 B": summary(), "figure 3.8": table()}, PAGE)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
