"""Runs slotsim and the model, writes reference.csv and prints the table of README.md. Seeds 1 … 10 in every row; 95 %
intervals by Student's t over them. About six minutes on one core. Run: python3 make_reference.py
"""

import csv
from concurrent.futures import ProcessPoolExecutor
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from model import saturation
from slotsim import Category, simulate

SEEDS = range(1, 11)
CYCLES = 200_000
T_975 = 2.262  # Student's t, 9 degrees of freedom

BE, VO = Category(3, 15, 1023), Category(2, 3, 7)
# What is compared: the lower category, then the higher.
CASES = {
    "same": (Category(2, 15, 1023), Category(2, 15, 1023)),
    "cw-31-15": (Category(2, 31, 1023), Category(2, 15, 1023)),
    "cw-63-15": (Category(2, 63, 1023), Category(2, 15, 1023)),
    "aifsn-3-2": (Category(3, 15, 1023), Category(2, 15, 1023)),
    "aifsn-4-2": (Category(4, 15, 1023), Category(2, 15, 1023)),
    "aifsn-7-2": (Category(7, 15, 1023), Category(2, 15, 1023)),
    "be-vo": (BE, VO),
}
COLUMNS = ["case", "layout", "stations"]
COLUMNS += [f"{of}_{what}" for of in ("low", "high") for what in ("aifsn", "cw_min", "cw_max")]
COLUMNS += [f"{source}_{of}_bps" for source in ("model", "slotsim", "ci95") for of in ("low", "high")]
COLUMNS += ["model_low_p", "model_high_p", "slotsim_low_p", "slotsim_high_p"]


def layouts() -> list[tuple[str, str, int]]:
    """(case, layout, stations of each category): categories in stations of their own, or both in every station."""
    apart = [(case, "apart", n) for case in CASES for n in (2, 5, 10)]
    return apart + [(case, "together", n) for case in ("cw-31-15", "aifsn-4-2", "be-vo") for n in (1, 5)]


def row(what: tuple[str, str, int]) -> dict[str, str]:
    case, layout, n = what
    low, high = CASES[case]
    if layout == "apart":
        stations = [[(0, low)]] * n + [[(1, high)]] * n
        rates, ps = saturation((n, n), low, high)
        model = [f"{r:.0f}" for r in rates], [f"{p:.5f}" for p in ps]
    else:
        stations = [[(0, low), (1, high)]] * n
        model = ["", ""], ["", ""]
    runs = [simulate(stations, seed, CYCLES) for seed in SEEDS]
    of = [[rates[k] for rates, _ in runs] for k in (0, 1)]
    values = [case, layout, n, low.aifsn, low.cw_min, low.cw_max, high.aifsn, high.cw_min, high.cw_max, *model[0]]
    values += [f"{mean(x):.0f}" for x in of] + [f"{T_975 * stdev(x) / sqrt(len(x)):.0f}" for x in of]
    values += [*model[1], *(f"{mean(ps[k] for _, ps in runs):.5f}" for k in (0, 1))]
    return dict(zip(COLUMNS, map(str, values), strict=True))


def main() -> None:
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(row, layouts()))
    with (Path(__file__).resolve().parent / "reference.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print("| case | layout | n | slotsim low, high (Mb/s) | ratio | model low, high | off |")
    print("|---|---|---|---|---|---|---|")
    for r in rows:
        low, high = (float(r[f"slotsim_{k}_bps"]) / 1e6 for k in ("low", "high"))
        line = f"| {r['case']} | {r['layout']} | {r['stations']} | {low:.3f}, {high:.3f} | {high / low:.2f} |"
        if r["model_low_bps"]:
            model = [float(r[f"model_{k}_bps"]) / 1e6 for k in ("low", "high")]
            off = [100 * (m / s - 1) for m, s in zip(model, (low, high), strict=True)]
            line += f" {model[0]:.3f}, {model[1]:.3f} | {off[0]:+.1f} %, {off[1]:+.1f} % |"
        else:
            line += " – | – |"
        print(line)


if __name__ == "__main__":
    main()
