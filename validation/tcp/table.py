"""Runs every point with the installed package and writes table.csv and the README's tables (minutes).

With `--render` it only writes the tables anew. The package must be built (`make build`).
"""

import csv
import re
import sys
from collections.abc import Callable, Iterable
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

import pftk

HERE = Path(__file__).parent
TABLE = HERE / "table.csv"
README = HERE / "README.md"
P = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
RECEIVERS = {1: "every", 2: "delayed-ack"}
WARMUP_S = 20
REPLICATIONS = 16
KEY = ["congestion", "min_rto_s", "timestamps", "b", "p"]
COUNTS = ["segments_sent", "fast_retransmits", "timeouts", "timeout_sequences"]
MEASURED = ["goodput_sps", "goodput_error", "rtt_s", "t0_s", *COUNTS]
RATIOS = ["pftk", "pftk_throughput", "pftk_indications", "square_root", "square_root_100ms"]
COLUMNS = [*KEY, *MEASURED, "indications", *RATIOS]
SETTINGS = [(c, rto, stamps) for c in ("reno", "newreno") for rto in ("1", "0.2") for stamps in ("on", "off")]
Row = dict[str, str]


def seconds_for(b: int, p: float) -> int:
    """Of a replication: 7000 losses a point, more where they cost few packets."""
    losses = 7000 if p < 0.01 else 24_000 * min(p / 0.01, 2)
    return 40 + round(losses / p / pftk.square_root(p, b, 0.1) / REPLICATIONS)


def derived(row: Row) -> Row:
    """What follows from the measured columns."""
    b, p, rtt, t0 = int(row["b"]), float(row["p"]), float(row["rtt_s"]), float(row["t0_s"])
    goodput = float(row["goodput_sps"])
    indications = (int(row["fast_retransmits"]) + int(row["timeout_sequences"])) / int(row["segments_sent"])
    ratios = (
        goodput / pftk.send_rate(p, b, rtt, t0),
        goodput / pftk.throughput(p, b, rtt, t0),
        goodput / pftk.send_rate(indications, b, rtt, t0),
        goodput / pftk.square_root(p, b, rtt),
        goodput / pftk.square_root(p, b, 0.1),
    )
    return {"indications": f"{indications:.6f}"} | {k: f"{x:.3f}" for k, x in zip(RATIOS, ratios, strict=True)}


def measure(key: tuple[str, str, str, int, float], seeds: Iterable[int], seconds: int) -> Row:
    from interlayer import simulator

    congestion, min_rto, stamps, b, p = key
    changes = {
        "scenario.duration": f'"{seconds + WARMUP_S} s"',
        "scenario.warmup": f'"{WARMUP_S} s"',
        "link.0.loss": f"{p}",
        "flow.0.transport.congestion": f'"{congestion}"',
        "flow.0.transport.receiver": f'"{RECEIVERS[b]}"',
        "flow.0.transport.min_rto": f'"{min_rto} s"',
        "flow.0.transport.timestamps": "true" if stamps == "on" else "false",
    }
    scenario = simulator.parse((HERE / "wire.toml").read_text(), list(changes.items()))
    runs = [run for run in simulator.run_batch([(scenario, seed) for seed in seeds]).runs if run is not None]
    assert all(q["dropped_packets"] == 0 for run in runs for q in run["queues"])
    flows = [run["flows"][0] for run in runs]
    mss = 1448 if stamps == "on" else 1460
    rates = [f["delivered_bytes"] / mss / seconds for f in flows]

    def weighted(value: str, weight: str) -> float:
        total = sum(f[weight] for f in flows)
        return sum(f[value] * f[weight] for f in flows if f[weight]) / total if total else float(min_rto)

    row = dict(zip(KEY, map(str, key), strict=True))
    row |= {
        "goodput_sps": f"{mean(rates):.3f}",
        "goodput_error": f"{stdev(rates) / sqrt(len(rates)) / mean(rates):.5f}",
        "rtt_s": f"{weighted('rtt_mean_s', 'rtt_samples'):.5f}",
        "t0_s": f"{weighted('first_rto_mean_s', 'timeout_sequences'):.5f}",
    }
    row |= {name: str(sum(f[name] for f in flows)) for name in COUNTS}
    return row | derived(row)


def read() -> list[Row]:
    with TABLE.open(newline="") as f:
        return list(csv.DictReader(f))


def reference() -> dict[tuple[str, str], Row]:
    with (HERE / "reference.csv").open(newline="") as f:
        return {(r["b"], r["p"]): r for r in csv.DictReader(f)}


def markdown(head: str, lines: Iterable[list[str]]) -> str:
    names = head.split("|")
    return "\n".join("|" + "|".join(cells) + "|" for cells in ([*names], ["---"] * len(names), *lines))


def main_table(rows: list[Row]) -> str:
    of = reference()
    lines = []
    for r in rows:
        if (r["congestion"], r["min_rto_s"], r["timestamps"]) == ("reno", "1", "on"):
            other = float(r["goodput_sps"]) / float(of[r["b"], r["p"]]["goodput_sps"])
            law = r["square_root"] if float(r["p"]) <= 0.01 else f"({r['square_root']})"
            times = [f"{1000 * float(r[name]):.{digits}f}" for name, digits in (("rtt_s", 1), ("t0_s", 0))]
            goodput, error = f"{float(r['goodput_sps']):.2f}", f"{100 * float(r['goodput_error']):.1f} %"
            p, indications = f"{100 * float(r['p']):g} %", f"{100 * float(r['indications']):.3f} %"
            ratios = [r["pftk"], r["pftk_throughput"], r["pftk_indications"], law, f"{other:.3f}"]
            lines.append([r["b"], p, goodput, error, *times, indications, *(r[name] for name in COUNTS), *ratios])
    head = "b|p|segments/s|±|RTT ms|T0 ms|indications|sent|fast retr.|timeouts|sequences"
    return markdown(head + "|PFTK|PFTK thr.|PFTK, ind.|law|renosim", lines)


def ratio_table(rows: list[Row], column: str, wanted: Callable[[float], bool]) -> str:
    found = {tuple(r[k] for k in KEY): r[column] for r in rows}
    points = [(b, p) for b in (1, 2) for p in P if wanted(p)]
    lines = []
    for congestion, rto, stamps in SETTINGS:
        cells = [found[congestion, rto, stamps, str(b), str(p)] for b, p in points]
        lines.append([congestion, f"{rto} s", stamps, *cells])
    return markdown("|".join(["", "least RTO", "timestamps", *(f"b {b}, {100 * p:g} %" for b, p in points)]), lines)


def tables(rows: list[Row]) -> dict[str, str]:
    return {
        "main": main_table(rows),
        "pftk": ratio_table(rows, "pftk", lambda _: True),
        "indications": ratio_table(rows, "pftk_indications", lambda p: p >= 0.01),
        "law": ratio_table(rows, "square_root", lambda p: p <= 0.01),
        "law100": ratio_table(rows, "square_root_100ms", lambda p: p <= 0.01),
    }


def rendered(text: str, rows: list[Row]) -> str:
    for name, table in tables(rows).items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text, n = re.subn(pattern, lambda m, t=table: f"{m[1]}{t}\n{m[2]}", text, flags=re.S)
        assert n == 1, name
    return text


if __name__ == "__main__":
    if "--render" not in sys.argv:
        keys = [(*setting, b, p) for setting in SETTINGS for b in (1, 2) for p in P]
        # Seeds of its own for each point: the same would lose the same packets, and all points would err alike.
        firsts = range(1, len(keys) * REPLICATIONS, REPLICATIONS)
        made = [
            measure(key, range(first, first + REPLICATIONS), seconds_for(key[3], key[4]))
            for key, first in zip(keys, firsts, strict=True)
        ]
        with TABLE.open("w", newline="") as f:
            out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            out.writeheader()
            out.writerows(made)
    README.write_text(rendered(README.read_text(), read()))
