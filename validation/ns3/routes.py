"""Networks whose routes AODV finds, ours against stored runs of ns-3: ten that stand, ten that move.

    python validation/ns3/routes.py                    ours against the stored runs
    python validation/ns3/routes.py --write            and the table into README.md
    python validation/ns3/routes.py --renew [--runs N] runs ns-3: `make ns3` first

Twenty nodes of 802.11b in 300 × 300 m, reach 100 m; five CBR flows of 4 packets a second and one TCP flow. Positions
and legs are drawn here and written in ns-2's format, which both read. Hello and local repair are off, gratuitous RREPs
on, in both.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import compare

from interlayer import simulator
from interlayer.measure import stats

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "bench/ns3/wlan_aodv.cc"
PEER = ROOT / "bench/ns3/build/wlan_aodv"
REFERENCE = HERE / "routes.csv"
COUNTS = ("offered", "delivered", "rreq", "rrep", "rerr", "rrep_ack", "given_up", "frames", "tcp_bytes")
COLUMNS = ("kind", "number", "run", *COUNTS, "ns3_version", "script", "date")
NODES, SIDE_M, REACH_M, SECONDS = 20, 300, 100, 40
CBR = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
TCP = (10, 11)
SPEED_M_S = (1, 5)
RUNS = 20


class Network(NamedTuple):
    kind: str
    number: int


NETWORKS = [Network(kind, number) for kind in ("static", "mobile") for number in range(10)]
Point = tuple[float, float]
Runs = dict[Network, list[dict[str, float]]]


def is_connected(places: list[Point]) -> bool:
    seen, todo = {0}, [0]
    while todo:
        here = places[todo.pop()]
        new = [i for i, there in enumerate(places) if i not in seen and math.dist(here, there) <= REACH_M]
        seen.update(new)
        todo += new
    return len(seen) == len(places)


def places(network: Network) -> list[Point]:
    """Uniform in the square; drawn again until all nodes are joined."""
    draws = random.Random(f"{network.kind} {network.number}")
    while True:
        drawn = [(draws.uniform(0, SIDE_M), draws.uniform(0, SIDE_M)) for _ in range(NODES)]
        if is_connected(drawn):
            return drawn


def trace(network: Network) -> str:
    """In ns-2's format. Nodes that move go from point to point without pauses, each leg at a speed of 1 to 5 m/s."""
    start = places(network)
    lines = []
    for i, (x, y) in enumerate(start):
        lines += [f"$node_({i}) set {axis}_ {at:.3f}" for axis, at in (("X", x), ("Y", y), ("Z", 0))]
    draws = random.Random(f"legs {network.number}")
    for i, here in enumerate(start if network.kind == "mobile" else []):
        now = 0.0
        while now < SECONDS:
            there, speed = (draws.uniform(0, SIDE_M), draws.uniform(0, SIDE_M)), draws.uniform(*SPEED_M_S)
            lines.append(f'$ns_ at {now:.6f} "$node_({i}) setdest {there[0]:.3f} {there[1]:.3f} {speed:.4f}"')
            now += math.dist(here, there) / speed
            here = there
    return "\n".join(lines) + "\n"


def reference() -> Runs:
    """The stored runs of each network."""
    if not REFERENCE.exists():
        sys.exit("routes.py: no run of ns-3 is stored yet: --renew")
    rows: dict[Network, list[dict[str, float]]] = defaultdict(list)
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[Network(row["kind"], int(row["number"]))].append({name: float(row[name]) for name in COUNTS})
    return dict(rows)


def scenario(network: Network, legs: Path) -> str:
    """Ours, as a scenario file. What is unlike our defaults is what ns-3 3.37 has."""
    text = f"""\
routing = {{ name = "aodv", hello = false, local_repair = false, gratuitous_rrep = true }}
[scenario]
name = "routes"
duration = "{SECONDS} s"
[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
basic_rate_set = ["1 Mb/s"]
control_rate = "1 Mb/s"
preamble = "long"
after_timeout = "fresh-ifs"
queue = {{ packets = 50 }}
[channel]
range = "{REACH_M} m"
"""
    start = places(network)
    for i, (x, y) in enumerate(start):
        where = f"position = [{x:.3f}, {y:.3f}]"
        if network.kind == "mobile":
            where = f'mobility = {{ model = "trace", file = "{legs}" }}'
        text += f'[[node]]\nname = "n{i}"\n{where}\n'
    starts = random.Random(f"starts {network.number}")
    for a, b in CBR:
        text += f"""\
[[flow]]
name = "cbr{a}"
from = "n{a}"
to = "n{b}"
start = "{1 + starts.random():.6f} s"
transport = {{ protocol = "udp", datagram = "540 B" }}
traffic = {{ model = "cbr", rate = "16.384 kb/s" }}
"""
    return (
        text
        + f"""\
[[flow]]
name = "tcp"
from = "n{TCP[0]}"
to = "n{TCP[1]}"
start = "{1 + starts.random():.6f} s"
traffic = {{ model = "bulk" }}
[flow.transport]
protocol = "tcp"
congestion = "newreno"
datagram = "1040 B"
send_buffer = "20000 B"
receive_buffer = "20000 B"
"""
    )


def ours(network: Network, runs: int = RUNS, overrides: list[tuple[str, str]] | None = None) -> list[dict[str, float]]:
    """What COUNTS names, run by run."""
    with tempfile.TemporaryDirectory() as folder:
        legs = Path(folder) / "legs.tcl"
        legs.write_text(trace(network), encoding="utf-8")
        parsed = simulator.parse(scenario(network, legs), overrides or [])
        found = [run for run in simulator.run_batch([(parsed, seed) for seed in range(1, runs + 1)]).runs if run]
    return [counts(run) for run in found]


def counts(run: object) -> dict[str, float]:
    flows = {flow["id"]: flow for flow in run["flows"]}  # type: ignore[index]
    cbr = [flow for name, flow in flows.items() if name.startswith("cbr")]
    nodes = run["nodes"]  # type: ignore[index]
    return {
        "offered": sum(flow["datagrams_sent_total"] for flow in cbr),
        "delivered": sum(flow["delivered_packets"] for flow in cbr),
        **{name: sum(node[f"{name}_sent"] for node in nodes) for name in ("rreq", "rrep", "rerr")},
        "given_up": sum(node["msdus_given_up"] for node in nodes),
        "tcp_bytes": flows["tcp"]["delivered_bytes"],
    }


QUANTITIES = ("delivery", "rreq", "rrep", "rerr")


def quantity(name: str, run: dict[str, float]) -> float:
    return run["delivered"] / run["offered"] if name == "delivery" else float(run[name])


def pairs(theirs: list[dict[str, float]], mine: list[dict[str, float]]) -> dict[str, compare.Pair]:
    """Each quantity, over runs."""
    return {
        name: compare.Pair(*(stats.estimate([quantity(name, run) for run in runs]) for runs in (mine, theirs)))
        for name in QUANTITIES
    }


def pooled(kind: str, theirs: Runs, mine: Runs) -> dict[str, compare.Pair]:
    """Each quantity over the ten networks of a kind: a run is the mean of the networks' runs of one seed."""

    def means(of: Runs, name: str) -> list[float]:
        columns = [[quantity(name, run) for run in runs] for network, runs in of.items() if network.kind == kind]
        return [sum(row) / len(row) for row in zip(*columns, strict=False)]

    return {name: compare.Pair(*(stats.estimate(means(of, name)) for of in (mine, theirs))) for name in QUANTITIES}


def renew(runs: int, workers: int) -> None:
    if not PEER.exists() or PEER.stat().st_mtime < SOURCE.stat().st_mtime:
        sys.exit("routes.py: wlan_aodv is not built, or older than its source: make ns3")
    script = f"wlan_aodv.cc@{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    date = datetime.now(UTC).date().isoformat()

    def row(network: Network, legs: Path, run: int) -> dict[str, object]:
        flows = ",".join(f"{a}:{b}" for a, b in CBR)
        arguments = [f"--trace={legs}", f"--nodes={NODES}", f"--range={REACH_M}", f"--seconds={SECONDS}"]
        arguments += [f"--cbr={flows}", f"--tcp={TCP[0]}:{TCP[1]}", f"--run={run}"]
        done = subprocess.run([str(PEER), *arguments], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        return network._asdict() | found | {"script": script, "date": date}

    with (
        tempfile.TemporaryDirectory() as folder,
        REFERENCE.open("w", encoding="utf-8", newline="") as file,
        ThreadPoolExecutor(workers) as pool,
    ):
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for network in NETWORKS:
            legs = Path(folder) / f"{network.kind}{network.number}"
            legs.write_text(trace(network), encoding="utf-8")
            writer.writerows(pool.map(partial(row, network, legs), range(1, runs + 1)))
            file.flush()
            print(*network, flush=True)


def table(theirs: Runs, runs: int, overrides: list[tuple[str, str]]) -> str:
    """Markdown."""
    mine = {network: ours(network, runs, overrides) for network in theirs}
    rows = {f"{kind}, all": pooled(kind, theirs, mine) for kind in dict.fromkeys(n.kind for n in theirs)}
    rows |= {f"{n.kind} {n.number}": pairs(theirs[n], mine[n]) for n in theirs}
    lines = ["| network | of | ours | ns-3 | difference, % |", "|---|---|---|---|---|"]
    for name, found in rows.items():
        for what, pair in found.items():
            digits = 3 if what == "delivery" else 1
            both = [f"{e.mean:.{digits}f} ± {e.half_width or 0:.{digits}f}" for e in pair]
            difference = f"{100 * pair.difference:+.1f} ± {100 * pair.half_width:.1f}"
            lines.append(f"| {name} | {what} | {' | '.join(both)} | {difference} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    options = parser.parse_args()
    if options.renew:
        renew(options.runs, options.workers)
        return
    overrides = [(path, value) for path, _, value in (text.partition("=") for text in options.set)]
    text = table(reference(), options.runs, overrides)
    print(text)
    if options.write:
        readme = HERE / "README.md"
        old = readme.read_text(encoding="utf-8")
        new = re.sub(r"(?s)(<!-- routes -->\n).*?(<!-- end routes -->)", lambda m: f"{m[1]}{text}\n{m[2]}", old)
        readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
