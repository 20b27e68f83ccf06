"""Runs the Monte Carlo, writes reference.csv and the table of README.md.

Seeds 1..8 of 60 s in each row, 95 % half widths by Student's t. Some three minutes on one core.
Run: python3 make_reference.py            (python3 make_reference.py tables: only the table, from reference.csv)
"""

import csv
import re
import sys
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from montecarlo import simulate

HERE = Path(__file__).resolve().parent
SEEDS = range(1, 9)
SECONDS = 60
T_975 = 2.365  # Student's t, 7 degrees of freedom
FRAMES = (("a", "6", 1500), ("a", "6", 500), ("a", "54", 1500), ("a", "54", 300), ("b", "11", 1500), ("b", "11", 500))
WINDOWS = ((31, 31), (127, 127), (1023, 1023), (15, 1023))  # the last is 31, 1023 for b
MEASURED = ("throughput_bps", "data_loss", "rts_loss")
KEY = ["standard", "rate_mbps", "payload", "rts", "cw_min", "cw_max"]
COLUMNS = KEY + [f"{name}{what}" for name in MEASURED for what in ("", "_ci95")] + ["delivered", "dropped"]


def cases():
    """One for each row, but for the key's RTS."""
    for standard, rate, payload in FRAMES:
        for cw_min, cw_max in WINDOWS:
            yield standard, rate, payload, max(cw_min, 31) if standard == "b" else cw_min, cw_max


def row(standard: str, rate: str, payload: int, rts: bool, cw_min: int, cw_max: int) -> dict[str, str]:
    runs = [simulate(standard, rate, payload, rts, cw_min, cw_max, seed, SECONDS) for seed in SEEDS]
    values = [standard, rate, payload, "on" if rts else "off", cw_min, cw_max]
    for name in MEASURED:
        xs = [run[name] for run in runs]
        digits = 0 if name == "throughput_bps" else 6
        values += [f"{mean(xs):.{digits}f}", f"{T_975 * stdev(xs) / sqrt(len(xs)):.{digits}f}"]
    values += [sum(run[name] for run in runs) for name in ("delivered", "dropped")]
    return dict(zip(COLUMNS, map(str, values), strict=True))


def read() -> list[dict[str, str]]:
    with (HERE / "reference.csv").open(newline="") as f:
        return list(csv.DictReader(f))


def table(rows: list[dict[str, str]]) -> str:
    """Without RTS and with it side by side."""
    out = ["| | Mb/s | datagram | CW | without: Mb/s | frames lost | with RTS: Mb/s | RTS lost | data lost | gain |"]
    out.append("|" + "---|" * 10)
    by = {tuple(r[k] for k in KEY): r for r in rows}
    for standard, rate, payload, cw_min, cw_max in cases():
        off, on = (by[standard, rate, str(payload), rts, str(cw_min), str(cw_max)] for rts in ("off", "on"))
        s = [float(r["throughput_bps"]) / 1e6 for r in (off, on)]
        window = str(cw_min) if cw_min == cw_max else f"{cw_min}–{cw_max}"
        gain = f"{s[1] / s[0]:.2f}" if s[0] > 0.01 else "–"
        losses = [100 * float(x) for x in (off["data_loss"], on["rts_loss"], on["data_loss"])]
        cells = [standard, rate, f"{payload} B", window, f"{s[0]:.3f}", f"{losses[0]:.1f} %", f"{s[1]:.3f}"]
        out.append("| " + " | ".join([*cells, f"{losses[1]:.1f} %", f"{losses[2]:.2f} %", gain]) + " |")
    return "\n".join(out)


def write_table(rows: list[dict[str, str]]) -> None:
    readme = HERE / "README.md"
    mark = re.compile(r"(<!-- table -->\n).*?(<!-- end -->)", re.S)
    text, n = mark.subn(lambda m: m[1] + table(rows) + "\n" + m[2], readme.read_text())
    assert n == 1
    readme.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] != ["tables"]:
        with (HERE / "reference.csv").open("w", newline="") as f:
            w = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            w.writeheader()
            for standard, rate, payload, cw_min, cw_max in cases():
                for rts in (False, True):
                    w.writerow(row(standard, rate, payload, rts, cw_min, cw_max))
    write_table(read())
