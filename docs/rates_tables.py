"""Measures what rate controls are worth, and writes the tables and the figure of docs/rates.md: half a minute.

python docs/rates_tables.py [--write]
"""

from __future__ import annotations

import re
import statistics
import sys
from math import log10
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from interlayer import simulator

PAGE = Path(__file__).parent / "rates.md"
CONTROLS = {
    "ideal": '"ideal"',
    "minstrel-ht": '"minstrel-ht"',
    "counted": '{ name = "minstrel-ht", sampling = "counted" }',
    "aarf": '"aarf"',
    "arf": '"arf"',
    "cara": '"cara"',
}
SEEDS = (1, 2, 3)


def cell(
    radio: str, metres: float, stations: int = 1, seconds: float = 3.5, warmup: float = 0.5, rest: str = ""
) -> str:
    """Stations at one distance that send as fast as they can."""
    text = (
        f'[scenario]\nduration = "{seconds} s"\nwarmup = "{warmup} s"\n[radio]\nqueue = {{ packets = 200 }}\n{radio}\n'
    )
    text += '[channel]\npropagation = { model = "log-distance" }\n[[node]]\nname = "sink"\nposition = [0, 0]\n'
    for i in range(stations):
        text += f'[[node]]\nname = "s{i}"\nposition = [{metres}, 0]\n[[flow]]\nfrom = "s{i}"\nto = "sink"\n'
        text += 'transport = { protocol = "udp" }\ntraffic = { model = "saturated" }\n'
    return text + rest


def goodput(texts: list[str]) -> list[float]:
    """Mb/s of all flows, the mean over the seeds, of each scenario."""
    parsed = [simulator.parse(text, []) for text in texts]
    runs = simulator.run_batch([(scenario, seed) for scenario in parsed for seed in SEEDS]).runs
    sums = [sum(flow["goodput_bps"] for flow in run["flows"]) / 1e6 for run in runs if run]
    return [statistics.mean(sums[i : i + len(SEEDS)]) for i in range(0, len(sums), len(SEEDS))]


def distances() -> str:
    lines = ["| distance, m | SNR, dB | best MCS | Mb/s | " + " | ".join(CONTROLS) + " |"]
    lines += ["|--:" * (4 + len(CONTROLS)) + "|"]
    for metres in range(6, 61, 6):
        radio = 'standard = "802.11n"\n'
        fixed = goodput([cell(f"{radio}mcs = {mcs}", metres) for mcs in range(8)])
        best = max(fixed)
        shares = goodput([cell(f"{radio}rate_control = {control}", metres) for control in CONTROLS.values()])
        row = [metres, f"{63.31 - 30 * log10(metres):.0f}", fixed.index(best), f"{best:.1f}"]
        lines.append(f"| {' | '.join(map(str, row))} | {' | '.join(f'{100 * share / best:.0f}' for share in shares)} |")
    return "\n".join(lines)


def collisions() -> str:
    names = ["fixed", *CONTROLS]
    lines = ["| standard | stations | " + " | ".join(names) + " |", "|---|--:" + "|--:" * len(names) + "|"]
    for standard in ("802.11a", "802.11n"):
        for stations in (1, 2, 3, 6, 10):
            radio = [f"rate_control = {control}" for control in ('"fixed"', *CONTROLS.values())]
            found = goodput([cell(f'standard = "{standard}"\n{keys}', 10, stations, 16, 8) for keys in radio])
            lines.append(f"| {standard} | {stations} | {' | '.join(f'{value:.1f}' for value in found)} |")
    return "\n".join(lines)


NEAR, FAR = 18.9, 40.7
"""25 and 15 dB."""
DOWN_S, UP_S, END_S = 2.0, 4.0, 9.0
EVERY_MS, SPAN_MS = 5, 100


def step(control: str, seed: int) -> np.ndarray:
    """Goodput in Mb/s, sample by sample, of a station that is moved away at 2 s and back at 4 s."""
    moves = [(DOWN_S, FAR), (UP_S, NEAR)]
    events = "".join(f'[[event]]\nat = "{at} s"\nmove = "s0"\nto = [{metres}, 0]\n' for at, metres in moves)
    text = cell(f'standard = "802.11n"\nrate_control = {control}', NEAR, seconds=END_S, rest=events)
    scenario = simulator.parse(text, [("scenario.series_every", f"{EVERY_MS} ms")])
    (run,) = simulator.run_batch([(scenario, seed)], series=True).runs
    assert run is not None
    assert run["series"] is not None
    return run["series"]["flow.flow0.goodput_bps"]["value"] / 1e6


def follows_ms(values: np.ndarray, from_s: float, until_s: float) -> int:
    """Time after a move until the 100 ms that follow have nine tenths of the last second before the next."""
    first, last, span = (int(s * 1000) // EVERY_MS for s in (from_s, until_s, SPAN_MS / 1000))
    settled = values[last - 1000 // EVERY_MS : last].mean()
    there = (i for i in range(first, last - span) if values[i : i + span].mean() >= 0.9 * settled)
    return (next(there) - first) * EVERY_MS


def steps() -> str:
    figure, axes = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    lines = ["| | down, ms | up, ms |", "|---|--:|--:|"]
    for name, control in CONTROLS.items():
        runs = [step(control, seed) for seed in range(1, 10)]
        told = [
            f"{statistics.median(times):.0f} ({min(times)} … {max(times)})"
            for times in ([follows_ms(run, *span) for run in runs] for span in ((DOWN_S, UP_S), (UP_S, END_S)))
        ]
        lines.append(f"| {name} | {' | '.join(told)} |")
        smooth = np.convolve(runs[0], np.ones(10) / 10, "same")
        axes.plot(np.arange(len(smooth)) * EVERY_MS / 1000, smooth, label=name, linewidth=1)
    axes.set(xlim=(1.8, 5.0), xlabel="s", ylabel="goodput over 50 ms, Mb/s", ylim=(0, None))
    axes.legend(loc="lower right", fontsize="small", ncols=2)
    if "--write" in sys.argv:
        figure.savefig(PAGE.parent / "figures/rates-step.png", dpi=120, metadata={"Software": None})
    return "\n".join(lines)


def main() -> None:
    tables = {"distances": distances(), "collisions": collisions(), "steps": steps()}
    for table in tables.values():
        print(table, end="\n\n")
    if "--write" in sys.argv:
        page = PAGE.read_text("utf-8")
        for name, table in tables.items():
            page = re.sub(rf"(?s)(<!-- {name} -->\n).*?(<!-- end -->)", lambda m, t=table: f"{m[1]}{t}\n{m[2]}", page)
        PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
