"""`interlayer live` against `interlayer run`: the same scenario with this kernel's TCP and with ours, goodput of both.

`live.py measure [PART...]` runs cells and adds each run to live.csv: `reno`, `cells`, `lle`, all unless named.
`live.py table` writes the tables of README.md from live.csv. `lateness.py` has those of lateness.
"""

from __future__ import annotations

import csv
import datetime
import os
import platform
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import interlayer as il
from interlayer.errors import InterlayerError, ProgramError
from interlayer.realtime import plan, session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HERE = Path(__file__).parent
STORE = HERE / "live.csv"
PAGE = HERE / "README.md"

START_S = 0.5
"""When flows begin: the MTU of the devices is set before."""
RESULTS_S = 6.0
"""Time for iperf3 to tell its results through the same queue, where `session` leaves one second."""
SIMULATED = 10
"""Runs of a cell in the simulation."""

RADIOS = {
    "802.11b 11 Mb/s": 'standard = "802.11b", data_rate = "11 Mb/s", queue = { packets = 50 }',
    "802.11a 54 Mb/s": 'standard = "802.11a", data_rate = "54 Mb/s", queue = { packets = 50 }',
    "802.11ax MCS 7, 20 MHz": 'standard = "802.11ax", mcs = 7, width = "20 MHz", queue = { packets = 200 }',
}
"""Queues in full: the default differs by standard, and a window of TCP is as long as its queue."""

COLUMNS = [
    "date",
    "kernel",
    "core",
    "load",
    "part",
    "radio",
    "scheme",
    "control",
    "flows",
    "way",
    "datagram",
    "extra",
    "how",
    "seed",
    "seconds",
    "goodput_mbps",
    "retransmits",
    "scheduling",
    "p50_us",
    "p99_us",
    "p999_us",
    "max_us",
    "behind_p99_us",
    "behind_p999_us",
    "busy",
    "overloaded",
]


@dataclass(frozen=True)
class Cell:
    """A scenario that runs both ways."""

    radio: str
    """A name of `RADIOS`, or the inside of a table."""
    control: str = "reno"
    flows: int = 1
    way: str = "download"
    datagram: int = 1500
    scheme: str = ""
    extra: str = ""
    """What a counter-run changes: keys of the simulated transport."""
    sysctl: tuple[str, ...] = field(default=())
    """What is set in both hosts before the flows begin."""

    omit_s: float = 2.0
    """What is not counted of a flow, on both sides: the first slow start and the repair of its losses."""

    @property
    def timestamps(self) -> bool:
        """True if segments carry the timestamps option."""
        return "net.ipv4.tcp_timestamps=0" not in self.sysctl

    def text(self, seconds: float) -> str:
        """The scenario, for a live run; `plan.twin` makes that of the simulation."""
        radio = RADIOS.get(self.radio, self.radio)
        ends = ("ap", "sta") if self.way == "download" else ("sta", "ap")
        lines = [
            f'scenario = {{ name = "live", duration = "{START_S + seconds} s", warmup = "{START_S + self.omit_s} s" }}',
            f"radio = {{ {radio} }}",
            '[[node]]\nname = "ap"\nrole = "ap"',
            *(f'[[node]]\nname = "sta{i}"' for i in range(self.flows)),
        ]
        # A queue that refuses a packet is behind the TUN device: the kernel's TCP does not hear of it.
        options = f'preset = "linux", congestion = "{self.control}", local_congestion = false, small_queue = "off"'
        options += f', datagram = "{self.datagram} B"'
        options += "" if self.timestamps else ", timestamps = false"
        options += f", {self.extra}" if self.extra else ""
        for i in range(self.flows):
            source, sink = (f"sta{i}" if end == "sta" else end for end in ends)
            lines += [
                f'[[flow]]\nfrom = "{source}"\nto = "{sink}"\nstart = "{START_S} s"',
                f'transport = {{ {options} }}\ntraffic = {{ model = "iperf3" }}',
            ]
        if self.scheme:
            lines.append(f'[[scheme]]\nname = "{self.scheme}"')
        return "\n".join(lines) + "\n"

    @property
    def key(self) -> tuple[str, ...]:
        """As the recording names it."""
        extra = "; ".join([*self.sysctl, *([self.extra] if self.extra else [])])
        return (self.radio, self.scheme, self.control, str(self.flows), self.way, str(self.datagram), extra)

    def nodes(self) -> list[str]:
        """All hosts."""
        return ["ap", *(f"sta{i}" for i in range(self.flows))]


def live(cell: Cell, seconds: float, seed: int, *, fifo: bool = True) -> dict[str, Any]:
    """One live run, as a row; what lateness needs beside `COLUMNS` stands behind them."""
    setup = [f"ip link set air0 mtu {cell.datagram}"] if cell.datagram != 1500 else []
    setup += [f"sysctl -qw {one}" for one in cell.sysctl]
    order = session.Order(
        commands=[(node, " && ".join(setup)) for node in cell.nodes()] if setup else [],
        seconds=START_S + seconds + RESULTS_S,
        results_s=RESULTS_S,
        seed=seed,
        fifo=fifo,
    )
    result = session.live(cell.text(seconds), [], order)
    if len(result.flows) < cell.flows:
        raise ProgramError(
            "iperf3", f"{cell.flows - len(result.flows)} flows have no result: the run ended before them"
        )
    goodput = 0.0
    for report in result.flows.values():
        rows = zip(*(report.received[key] for key in ("begin_s", "end_s", "goodput_bps")), strict=True)
        # Not the last row, of what was under way when the sender stopped: there a flow may have the air for itself.
        counted = [(end - begin, rate) for begin, end, rate in rows if cell.omit_s - 0.2 < begin < seconds - 0.5]
        goodput += sum(span * rate for span, rate in counted) / sum(span for span, _ in counted)
    late = result.late
    return _row(
        cell, "live", seed, seconds, goodput, sum(report.retransmits or 0 for report in result.flows.values())
    ) | {
        "scheduling": result.scheduling,
        "p50_us": round(late["p50_s"] * 1e6, 1),
        "p99_us": round(late["p99_s"] * 1e6, 1),
        "p999_us": round(late["p999_s"] * 1e6, 1),
        "max_us": round(late["max_s"] * 1e6, 1),
        "behind_p99_us": round(result.behind["p99_s"] * 1e6, 1),
        "behind_p999_us": round(result.behind["p999_s"] * 1e6, 1),
        "busy": round(result.busy, 3),
        "overloaded": int(result.overloaded),
        **{f"first_{key}_us": round(result.first[f"{key}_s"] * 1e6, 1) for key in ("p50", "p99", "p999")},
        "answer_p50_us": round(result.answers["p50_s"] * 1e6, 1),
    }


def simulated(cell: Cell, seconds: float, runs: int = SIMULATED) -> list[dict[str, Any]]:
    """The same in the simulation, a row for each seed."""
    found = il.run(il.parse(plan.twin(cell.text(seconds))), seed=1, runs=runs)
    goodputs, again = found.flows["goodput_bps"], found.flows["retransmissions_total"]
    return [
        _row(
            cell,
            "simulated",
            1 + run,
            seconds,
            sum(goodputs[run * cell.flows : (run + 1) * cell.flows]),
            int(sum(again[run * cell.flows : (run + 1) * cell.flows])),
        )
        for run in range(runs)
    ]


def _row(cell: Cell, how: str, seed: int, seconds: float, goodput: float, again: int) -> dict[str, Any]:
    said = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "kernel": platform.release(),
        "core": os.environ.get("LIVE_CORE", "release"),
        "load": round(os.getloadavg()[0], 2),
        "radio": cell.radio,
        "scheme": cell.scheme,
        "control": cell.control,
        "flows": cell.flows,
        "way": cell.way,
        "datagram": cell.datagram,
        "extra": cell.key[-1],
    }
    return said | {
        "how": how,
        "seed": seed,
        "seconds": seconds,
        "goodput_mbps": round(goodput / 1e6, 4),
        "retransmits": again,
    }


def store(rows: Iterable[dict[str, Any]], part: str, file: Path = STORE) -> None:
    """Adds rows to the recording."""
    is_new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows({"part": part} | row for row in rows)


def tried(cell: Cell, seconds: float, seed: int, part: str, file: Path = STORE) -> None:
    """One live run into the recording. A run whose program fails is said, and made once more with another seed."""
    for one in (seed, seed + 1000):
        try:
            row = live(cell, seconds, one)
        except InterlayerError as e:
            print(f"failed: {cell} {one}: {e}", file=sys.stderr, flush=True)
            continue
        store([row], part, file)
        keys = ("radio", "scheme", "control", "flows", "way", "datagram", "goodput_mbps", "p99_us", "p999_us", "busy")
        print(*(row[key] for key in keys), flush=True)
        return


def both(cell: Cell, seconds: float, runs: int, part: str, file: Path = STORE) -> None:
    """A cell in the simulation and live, each run into the recording. What it has already is not made again."""
    done = {how: len(found) for how, found in rows(part, file).get(cell.key, {}).items()} if file.exists() else {}
    if not done.get("simulated"):
        store(simulated(cell, seconds), part, file)
    for seed in range(1 + done.get("live", 0), runs + 1):
        tried(cell, seconds, seed, part, file)


RENO = [Cell("802.11b 11 Mb/s"), Cell("802.11a 54 Mb/s")]
CELLS = [
    Cell(radio, control, flows, way)
    for radio in RADIOS
    for control in ("reno", "cubic", "bbr")
    for flows in (1, 4)
    for way in ("download", "upload")
    if Cell(radio, control, flows, way) not in RENO
]
LLE = [
    Cell("802.11b 11 Mb/s", scheme=scheme, datagram=size, omit_s=5.0)
    for size in (1500, 500)
    for scheme in ("", "lle-tcp")
]
"""Without the first slow start, however it is repaired: without SACK that takes three seconds."""


def measure(parts: Sequence[str]) -> None:
    """Runs what is named."""
    if "reno" in parts:
        for cell in RENO:
            both(cell, 10.0, 10, "reno")
    if "lle" in parts:
        for cell in LLE:
            both(cell, 10.0, 4, "lle")
    if "cells" in parts:
        for cell in CELLS:
            both(cell, 6.0, 3, "cells")


# -------------------------------------------------------------------------------------------------------------- tables

_T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Student's t at 97.5 %, by the number of runs."""


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and half of the 95 % interval."""
    half = _T[len(values)] * stdev(values) / len(values) ** 0.5 if len(values) in _T else float("nan")
    return mean(values), half


def rows(part: str, file: Path = STORE) -> dict[tuple[str, ...], dict[str, list[dict[str, str]]]]:
    """Runs of a part by cell, in order, and by how they ran."""
    found: dict[tuple[str, ...], dict[str, list[dict[str, str]]]] = {}
    with file.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            if row["part"] == part:
                keys = ("radio", "scheme", "control", "flows", "way", "datagram", "extra")
                key = tuple(row[name] for name in keys)
                found.setdefault(key, {}).setdefault(row["how"], []).append(row)
    return found


def numbers(runs: Sequence[dict[str, str]], name: str) -> list[float]:
    """A column as numbers."""
    return [float(run[name]) for run in runs]


def lateness(runs: Sequence[dict[str, str]]) -> str:
    """Lateness of runs in microseconds: the median run's at 50, 99 and 99.9 %."""
    return ", ".join(f"{sorted(numbers(runs, key))[len(runs) // 2]:.0f}" for key in ("p50_us", "p99_us", "p999_us"))


def _pm(values: Sequence[float]) -> str:
    centre, half = interval(values)
    return f"{centre:.2f} ± {half:.2f}"


NAMES = {"reno": "Reno", "cubic": "CUBIC", "bbr": "BBR"}


def comparison() -> list[str]:
    """The table of differences."""
    lines = [
        "| | | flows | simulated, Mb/s | live, Mb/s | difference | late at 50, 99, 99.9 %, µs |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in ("reno", "cells"):
        for (radio, _, control, flows, way, *_), both_ways in rows(part).items():
            if len(both_ways) < 2:
                continue
            here, there = (numbers(both_ways[how], "goodput_mbps") for how in ("live", "simulated"))
            share = 100 * (mean(here) / mean(there) - 1)
            what = f"{NAMES[control]}, {way}"
            lines.append(
                f"| {radio} | {what} | {flows} | {_pm(there)} | {_pm(here)} | {share:+.1f} % "
                f"| {lateness(both_ways['live'])} |"
            )
    return lines


def gains() -> list[str]:
    """The table of LLE-TCP's gain."""
    lines = [
        "| datagram | | Reno, Mb/s | LLE-TCP, Mb/s | gain | late at 50, 99, 99.9 %, µs |",
        "|---|---|---|---|---|---|",
    ]
    found = rows("lle")
    for size in ("1500", "500"):
        arms = {key[1]: runs for key, runs in found.items() if key[5] == size}
        if set(arms) != {"", "lle-tcp"}:
            continue
        for how in ("simulated", "live"):
            plain, with_it = (numbers(arms[scheme][how], "goodput_mbps") for scheme in ("", "lle-tcp"))
            late = lateness(arms["lle-tcp"][how]) if how == "live" else ""
            gain = 100 * (mean(with_it) / mean(plain) - 1)
            lines.append(f"| {size} B | {how} | {_pm(plain)} | {_pm(with_it)} | {gain:+.1f} % | {late} |")
    return lines


def write(tables: dict[str, list[str]], page: Path = PAGE) -> None:
    """Puts each table between its markers."""
    text = page.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin, end = f"<!-- live: {name} -->\n", f"<!-- live: end of {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise SystemExit(f"{page}: no markers of {name}")
        text = f"{before}{begin}\n" + "\n".join(lines) + f"\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def main() -> None:
    match sys.argv[1:]:
        case ["measure", *parts]:
            measure(parts or ["reno", "lle", "cells"])
        case ["table"]:
            write({"differences": comparison(), "gains": gains()})
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
