"""Lateness of `interlayer live`, and the highest rate that it holds: one command, for an idle machine.

`lateness.py` runs every cell twice, some five minutes in all, each after a bare timer (timer.c), which tells what the
machine itself does to a program that sleeps and to one that looks at the clock. It writes lateness.csv anew, and the
tables of README.md and docs/live.md, which it prints. `lateness.py table` writes them from what was measured last.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import live
from interlayer.realtime import hosts
from live import RADIOS, Cell, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

STORE = Path(__file__).with_name("lateness.csv")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "live.md"
PERCENTILES = ("p50", "p99", "p999")
P99_US, P999_US = 100.0, 500.0
"""Lateness within which a rate is held."""
SECONDS, RUNS = 5.0, 2
TIMER = Path(__file__).with_name("timer.c")
TIMER_PERIOD_US, TIMER_S = 250, 1.5
"""A packet of 1500 B at 54 Mb/s comes some 250 us after the last."""
IDLE = 0.5
"""The load of a minute above which a machine is not idle."""


def _ax(mcs: int, width: int, streams: int, mpdus: int = 256) -> str:
    aggregation = "" if mpdus == 256 else f", aggregation = {{ mpdus = {mpdus} }}"
    mode = f'standard = "802.11ax", mcs = {mcs}, width = "{width} MHz", streams = {streams}'
    return f"{mode}{aggregation}, queue = {{ packets = 1000 }}"


MODES = [(3, 20, 1), (7, 20, 1), (11, 20, 1), (7, 40, 1), (7, 80, 1), (11, 80, 1), (11, 80, 2)]
SHORT = [
    (7, 20, 1, 16),
    (7, 40, 1, 16),
    (11, 80, 1, 16),
    (11, 80, 2, 16),
    (11, 80, 2, 32),
    (11, 80, 2, 8),
    (11, 80, 2, 4),
]
"""With fewer MPDUs in an A-MPDU."""
RATES = [
    Cell(RADIOS["802.11a 54 Mb/s"], "cubic"),
    Cell(RADIOS["802.11a 54 Mb/s"], "cubic", way="upload"),
    Cell(RADIOS["802.11a 54 Mb/s"], "cubic", 4, "upload"),
    *(Cell(_ax(*mode), "cubic") for mode in [*MODES, *SHORT]),
]
WITHOUT_FIFO = RATES[:1]
"""Cells that are measured without SCHED_FIFO, too."""


def bare(timer: Path) -> dict[str, float]:
    """How late a bare timer sees its times, asleep and looking at the clock, in us."""
    said = subprocess.run([timer, str(TIMER_PERIOD_US), str(TIMER_S)], capture_output=True, text=True, check=True)
    names = [f"{how}_{at}_us" for how in ("asleep", "looking") for at in PERCENTILES]
    return {name: round(int(ns) / 1e3, 1) for name, ns in zip(names, said.stdout.split(), strict=True)}


def measure(cells: Sequence[Cell] = RATES, without: Sequence[Cell] = WITHOUT_FIFO) -> None:
    """Runs all cells, and replaces what was measured before."""
    if (load := os.getloadavg()[0]) > IDLE:
        print(f"not idle: a load of {load:.1f}; the rows say so", file=sys.stderr, flush=True)
    found: list[dict[str, Any]] = []
    shown = ("radio", "way", "goodput_mbps", "scheduling", "p99_us", "p999_us", "asleep_p99_us", "looking_p99_us")
    with tempfile.TemporaryDirectory() as folder:
        timer = Path(folder) / "timer"
        subprocess.run(["cc", "-O2", "-Wall", "-o", timer, TIMER], check=True)
        for cell, fifo in [*((cell, True) for cell in cells), *((cell, False) for cell in without)]:
            for seed in range(1, RUNS + 1):
                before = bare(timer)
                row = {"part": "lateness", **live.live(cell, SECONDS, seed, fifo=fifo), **before}
                found.append(row)
                print(*(row[key] for key in shown), flush=True)
    with STORE.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, [*found[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def rows() -> list[list[dict[str, str]]]:
    """The runs of each cell, in order."""
    cells: dict[tuple[str, ...], list[dict[str, str]]] = {}
    with STORE.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            key = tuple(row[name] for name in ("radio", "control", "flows", "way", "scheduling"))
            cells.setdefault(key, []).append(row)
    return list(cells.values())


def holds(runs: Sequence[dict[str, str]], which: str = "") -> list[bool]:
    """True for 99 and 99.9 % if every run holds the bound. `which`: `first_` of bursts, a timer's, or all packets."""
    return [max(numbers(runs, f"{which}{key}_us")) <= at for key, at in (("p99", P99_US), ("p999", P999_US))]


def _late(runs: Sequence[dict[str, str]], which: str = "") -> str:
    """The median run's lateness at 50, 99 and 99.9 %."""
    middle = (sorted(numbers(runs, f"{which}{key}_us"))[len(runs) // 2] for key in PERCENTILES)
    return ", ".join(f"{value:.0f}" for value in middle)


def _name(runs: Sequence[dict[str, str]]) -> str:
    one = runs[0]
    radio = one["radio"].replace("standard = ", "").replace('"', "").split(", queue")[0].replace(" = ", " ")
    flows = "" if one["flows"] == "1" else f", {one['flows']} flows"
    return f"{radio}, {one['way']}{flows}{'' if one['scheduling'] == 'fifo' else ', no SCHED_FIFO'}"


_HEAD = [
    "| radio | goodput, Mb/s | late at 50, 99, 99.9 %, µs | first of a burst, µs | timer asleep, µs "
    "| timer looking, µs | of a core | held at 99, 99.9 % |",
    "|---|---|---|---|---|---|---|---|",
]


def _line(runs: Sequence[dict[str, str]]) -> str:
    held = ", ".join("yes" if one else "no" for one in holds(runs))
    busy = f"{100 * mean(numbers(runs, 'busy')):.0f} %"
    cells = [
        _name(runs),
        f"{mean(numbers(runs, 'goodput_mbps')):.1f}",
        *(_late(runs, which) for which in ("", "first_", "asleep_", "looking_")),
    ]
    return f"| {' | '.join([*cells, busy, held])} |"


def table() -> list[str]:
    """All cells."""
    return [*_HEAD, *map(_line, rows())]


def short() -> list[str]:
    """802.11a at 54 Mb/s with and without SCHED_FIFO, and the highest rates that hold both bounds."""
    found = rows()
    legacy, today = ([runs for runs in found if ("802.11ax" in runs[0]["radio"]) is ax] for ax in (False, True))

    def rate(runs: Sequence[dict[str, str]]) -> float:
        return mean(numbers(runs, "goodput_mbps"))

    best = [max((runs for runs in of if all(holds(runs))), key=rate, default=None) for of in (legacy, today)]
    said = [
        f"{what}: {f'{rate(runs):.0f} Mb/s of goodput ({_name(runs)})' if runs else 'none here'}"
        for what, runs in zip(("legacy", "802.11ax"), best, strict=True)
    ]
    all_runs = [run for runs in found for run in runs]
    loads = numbers(all_runs, "load")
    where = f"{all_runs[0]['date']}, Linux {all_runs[0]['kernel']}, a load of {min(loads):.1f} to {max(loads):.1f}"
    shown = [runs for runs in legacy if runs[0]["flows"] == "1"]
    highest = f"The highest rate with 99 % below {P99_US:.0f} µs and 99.9 % below {P999_US:.0f} µs, {'; '.join(said)}."
    asleep, looking = (sum(all(holds([run], which)) for run in all_runs) for which in ("asleep_", "looking_"))
    bare_timer = (
        f"Of {len(all_runs)} bare timers, one before each run, {asleep} hold both asleep and {looking} looking."
    )
    return [*_HEAD, *map(_line, shown), "", f"{highest} {bare_timer} Measured on {where}."]


def main() -> None:
    """Measures and writes tables, or writes tables."""
    match sys.argv[1:]:
        case []:
            if why := hosts.obstacle():
                raise SystemExit(why)
            measure()
        case ["table"]:
            pass
        case _:
            raise SystemExit(__doc__)
    live.write({"rates": table()})
    live.write({"lateness": short()}, PAGE)
    print("\n".join([*table(), "", *short()]))


if __name__ == "__main__":
    main()
