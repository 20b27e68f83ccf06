"""Writes collision.csv: collision probability of 1 to 50 saturated stations, by the models and by slotsim.

Seeds 1..5 in every row, 95 % half widths by Student's t. Basic access, 1500 B; p depends on neither (README,
finding 4). Needs cargo; about three minutes on one core.
Run: python3 make_collision.py
"""

import csv
import json
import subprocess
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from after_busy import after_busy, bianchi, exact_two
from make_reference import build, seconds

HERE = Path(__file__).resolve().parent
SEEDS = range(1, 6)
T_975 = 2.776  # Student's t, 4 degrees of freedom
READINGS = ("letter", "aligned")
CW_MIN = {"a": 15, "b": 31}
NO_LIMIT = 200
MODELS = ("bianchi_p", "bianchi_no_limit_p", "after_busy_p", "exact_p")
COLUMNS = ["standard", "cw_min", "stations", *MODELS]
COLUMNS += [f"slotsim_{reading}_{what}" for reading in READINGS for what in ("p", "p_ci95")]


def models(cw_min: int, n: int) -> list[str]:
    """The columns of MODELS; the exact one ends at two stations."""
    exact = f"{exact_two(cw_min) if n == 2 else 0:.6f}" if n <= 2 else ""
    return [f"{f:.6f}" for f in (bianchi(cw_min, n), bianchi(cw_min, n, NO_LIMIT), after_busy(cw_min, n))] + [exact]


def simulated(slotsim: Path, standard: str, n: int, reading: str) -> list[str]:
    """Mean and half width over the seeds."""
    flags = ["--standard", standard, "--stations", str(n), "--timeout-ifs", reading, "--seconds", str(seconds(n))]
    runs = [json.loads(subprocess.check_output([slotsim, *flags, "--seed", str(k)])) for k in SEEDS]
    ps = [r["collision_p"] for r in runs]
    return [f"{mean(ps):.6f}", f"{T_975 * stdev(ps) / sqrt(len(ps)):.6f}"]


def read() -> list[dict[str, str]]:
    with (HERE / "collision.csv").open(newline="") as f:
        return list(csv.DictReader(f))


if __name__ == "__main__":
    slotsim = build()
    with (HERE / "collision.csv").open("w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(COLUMNS)
        for standard, cw_min in CW_MIN.items():
            for n in range(1, 51):
                sims = [cell for reading in READINGS for cell in simulated(slotsim, standard, n, reading)]
                w.writerow([standard, cw_min, n, *models(cw_min, n), *sims])
