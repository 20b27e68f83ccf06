"""Runs slotsim and the model, writes reference.csv and the tables of README.md.

Seeds 1..20 in every row; 95 % intervals by Student's t over the 20 replications. Needs cargo; about four minutes.
Run: python3 make_reference.py            (python3 make_reference.py tables: only the tables, from reference.csv)
"""

import csv
import json
import re
import subprocess
import sys
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from bianchi import STATIONS, saturation, single

HERE = Path(__file__).resolve().parent
SEEDS = range(1, 21)
T_975 = 2.093  # Student's t, 19 degrees of freedom
PAYLOADS = (1500, 100)
READINGS = ("letter", "fresh", "aligned")
KEY = ["standard", "rts", "timeout_ifs", "stations", "payload"]
COLUMNS = [
    *KEY,
    "model_throughput_bps",
    "model_p",
    "slotsim_throughput_bps",
    "slotsim_throughput_ci95_bps",  # half width
    "slotsim_p",
    "slotsim_p_ci95",  # half width
    "slotsim_retry_rate",
    "slotsim_drop_rate",  # MSDUs given up over MSDUs finished
    "seeds",
    "seconds",
]


def seconds(stations: int) -> int:
    """Measured time of one replication, so that p is known to about 0.2 % also where collisions are rare."""
    return 2000 if stations <= 5 else 400


def model(standard: str, rts: str, stations: int, payload: int) -> tuple[float, float]:
    """(throughput, p); for one station the closed form."""
    if stations == 1:
        return single(standard, payload, rts == "on"), 0.0
    _, p, s = saturation(standard, stations, payload, rts == "on")
    return s, p


def build() -> Path:
    crate = HERE / "slotsim"
    cargo = ["cargo", "build", "--release", "--quiet", "--message-format=json"]
    lines = subprocess.run(cargo, cwd=crate, check=True, capture_output=True, text=True).stdout.splitlines()
    return Path(next(m["executable"] for m in map(json.loads, lines) if m.get("executable")))


def interval(xs: list[float]) -> float:
    return T_975 * stdev(xs) / sqrt(len(xs))


def row(slotsim: Path, standard: str, rts: str, reading: str, stations: int, payload: int) -> dict[str, str]:
    flags = ["--standard", standard, "--rts", rts, "--timeout-ifs", reading, "--stations", str(stations)]
    flags += ["--payload", str(payload), "--seconds", str(seconds(stations))]
    runs = [json.loads(subprocess.check_output([slotsim, *flags, "--seed", str(k)])) for k in SEEDS]
    rates, ps = [r["throughput_bps"] for r in runs], [r["collision_p"] for r in runs]
    s, p = model(standard, rts, stations, payload)
    done = sum(r["successes"] + r["drops"] for r in runs)
    values = [standard, rts, reading, stations, payload, f"{s:.0f}", f"{p:.6f}"]
    values += [f"{mean(rates):.0f}", f"{interval(rates):.0f}", f"{mean(ps):.6f}", f"{interval(ps):.6f}"]
    values += [f"{mean(r['retry_rate'] for r in runs):.6f}", f"{sum(r['drops'] for r in runs) / done:.3e}"]
    values += [f"{SEEDS[0]}-{SEEDS[-1]}", seconds(stations)]
    return dict(zip(COLUMNS, map(str, values), strict=True))


def read() -> list[dict[str, str]]:
    with (HERE / "reference.csv").open(newline="") as f:
        return list(csv.DictReader(f))


def percent(x: float, of: float) -> str:
    return f"{100 * (x / of - 1):+.1f}" if of else "–"


def half(v: dict[str, float], ci: str, of: str) -> str:
    return f"{100 * v[f'slotsim_{ci}'] / v[f'slotsim_{of}']:.2f}" if v[f"slotsim_{of}"] else "–"


def table(rows: list[dict[str, str]], payload: int, rts: str) -> str:
    """Model and the letter's simulation side by side, and the deviations of all three readings from the model."""
    by = {tuple(r[k] for k in KEY): r for r in rows}
    out = [
        "| | n | model Mb/s | letter Mb/s | ± % | model p | letter p | ± % | Δ thr. % letter | fresh | aligned "
        "| Δ p % letter | fresh | aligned |"
    ]
    out.append("|" + "---|" * 14)
    for standard in ("b", "a"):
        for n in STATIONS:
            r, *others = (by[standard, rts, reading, str(n), str(payload)] for reading in READINGS)
            v = {k: float(r[k]) for k in COLUMNS[5:11]}
            cells = [standard, str(n), f"{v['model_throughput_bps'] / 1e6:.3f}"]
            cells += [f"{v['slotsim_throughput_bps'] / 1e6:.3f}", half(v, "throughput_ci95_bps", "throughput_bps")]
            cells += [f"{v['model_p']:.4f}", f"{v['slotsim_p']:.4f}", half(v, "p_ci95", "p")]
            for col in ("throughput_bps", "p"):
                cells += [percent(float(x[f"slotsim_{col}"]), float(x[f"model_{col}"])) for x in (r, *others)]
            out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def write_tables(rows: list[dict[str, str]]) -> None:
    readme = HERE / "README.md"
    text = readme.read_text()
    for rts in ("off", "on"):
        for payload in PAYLOADS:
            name = f"rts {rts}, {payload} B"
            begin, end = f"<!-- {name} -->\n", "<!-- end -->"
            made = f"{begin}{table(rows, payload, rts)}\n{end}"
            text, n = re.subn(rf"{begin}.*?{end}", lambda _, made=made: made, text, flags=re.DOTALL)
            assert n == 1, name
    readme.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] != ["tables"]:
        slotsim = build()
        with (HERE / "reference.csv").open("w", newline="") as f:
            w = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            w.writeheader()
            for payload in PAYLOADS:
                for rts in ("off", "on"):
                    for reading in READINGS:
                        for standard in ("b", "a"):
                            for n in STATIONS:
                                w.writerow(row(slotsim, standard, rts, reading, n, payload))
    write_tables(read())
