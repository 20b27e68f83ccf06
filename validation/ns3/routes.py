"""Networks whose routes AODV finds, ours against stored runs of ns-3: ten that stand, ten that move.

    python validation/ns3/routes.py                    ours against the stored runs
    python validation/ns3/routes.py --write            and the table into README.md
    python validation/ns3/routes.py --renew [--runs N] runs ns-3: `make ns3` first

Twenty nodes of 802.11a at 24 Mb/s in 300 × 300 m, reach 100 m; five CBR flows of 4 packets a second, alone or with a
TCP flow.
Positions and legs are drawn here and written in ns-2's format, which both read. Hello and local repair are off,
gratuitous RREPs on, in both.
"""

from __future__ import annotations

import csv
import json
import math
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import compare

from interlayer.measure import stats

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402

ROOT = HERE.parents[1]
SOURCES = (ROOT / "bench/ns3/wlan_aodv.cc", ROOT / "bench/ns3/peer.h")
PEER = ROOT / "bench/ns3/build/wlan_aodv"
REFERENCE = HERE / "routes.csv"
COUNTS = ("offered", "delivered", "rreq", "rrep", "rerr", "rrep_ack", "given_up", "frames", "tcp_bytes")
COLUMNS = ("kind", "number", "load", "run", *COUNTS, "ns3_version", "script", "date")
NODES, SIDE_M, REACH_M, SECONDS = 20, 300, 100, 20
CBR = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
TCP = (10, 11)
SPEED_M_S = (1, 5)
RUNS = 20


class Network(NamedTuple):
    kind: str
    number: int
    load: str


KINDS = [(kind, load) for load in ("cbr", "cbr+tcp") for kind in ("static", "mobile")]
NETWORKS = [Network(kind, number, load) for kind, load in KINDS for number in range(10)]
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
            rows[Network(row["kind"], int(row["number"]), row["load"])].append(
                {name: float(row[name]) for name in COUNTS}
            )
    return dict(rows)


def scenario(network: Network, legs: Path) -> str:
    """Ours, as a scenario file. What is unlike our defaults is what ns-3 3.37 has: it searches the whole network twice.

    Routes outlive the run in both: ns-3's list of neighbours forgets whom nothing was forwarded to for
    ACTIVE_ROUTE_TIMEOUT, and takes that for a broken link.
    """
    text = f"""\
routing = {{ name = "aodv", hello = false, local_repair = false, gratuitous_rrep = true, rreq_retries = 1, \
active_route_timeout = "100 s" }}
[scenario]
name = "routes"
duration = "{SECONDS} s"
[radio]
standard = "802.11a"
data_rate = "24 Mb/s"
basic_rate_set = ["24 Mb/s"]
control_rate = "24 Mb/s"
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
    if "tcp" not in network.load:
        return text
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
preset = "rfc"
congestion = "newreno"
receiver = "delayed-ack"
delayed_ack_timeout = "200 ms"
initial_window = 1
initial_ssthresh = "unlimited"
datagram = "1040 B"
send_buffer = "20000 B"
receive_buffer = "20000 B"
min_rto = "1 s"
initial_rto = "1 s"
granularity = "1 ms"
nagle = true
timestamps = false
sack = false
window_scale = "off"
limited_transmit = false
"""
    )


def ours(network: Network, runs: int = RUNS, overrides: list[tuple[str, str]] | None = None) -> list[dict[str, float]]:
    """What COUNTS names, run by run."""
    with tempfile.TemporaryDirectory() as folder:
        legs = Path(folder) / "legs.tcl"
        legs.write_text(trace(network), encoding="utf-8")
        return [counts(run) for run in peers.ours(scenario(network, legs), runs, overrides)]


def counts(run: object) -> dict[str, float]:
    flows = {flow["id"]: flow for flow in run["flows"]}  # type: ignore[index]
    cbr = [flow for name, flow in flows.items() if name.startswith("cbr")]
    nodes = run["nodes"]  # type: ignore[index]
    return {
        "offered": sum(flow["datagrams_sent_total"] for flow in cbr),
        "delivered": sum(flow["delivered_packets"] for flow in cbr),
        **{name: sum(node[f"{name}_sent"] for node in nodes) for name in ("rreq", "rrep", "rerr")},
        "given_up": sum(node["msdus_given_up"] for node in nodes),
        "tcp_bytes": flows["tcp"]["delivered_bytes"] if "tcp" in flows else 0,
    }


QUANTITIES = ("delivery", "rreq", "rrep", "rerr")


def quantity(name: str, run: dict[str, float]) -> float:
    return run["delivered"] / run["offered"] if name == "delivery" else float(run[name])


WAYS = ("routing.preset", "ns3")
"""The ways of ns-3's agent."""


def pooled(kind: str, load: str, theirs: Runs, mine: Runs) -> dict[str, compare.Pair]:
    """Each quantity over the ten networks of a kind: a run is the mean of the networks' runs of one seed."""

    def means(of: Runs, name: str) -> list[float]:
        chosen = [runs for network, runs in of.items() if (network.kind, network.load) == (kind, load)]
        return [
            sum(row) / len(row) for row in zip(*([quantity(name, run) for run in one] for one in chosen), strict=True)
        ]

    return {name: compare.Pair(*(stats.estimate(means(of, name)) for of in (mine, theirs))) for name in QUANTITIES}


def renew(runs: int, workers: int) -> None:
    facts = {"script": peers.script(*SOURCES, built=PEER), "date": peers.today()}
    flows = ",".join(f"{a}:{b}" for a, b in CBR)
    with tempfile.TemporaryDirectory() as folder:
        legs = {network: Path(folder) / f"{network.kind}{network.number}{network.load}" for network in NETWORKS}
        for network, file in legs.items():
            file.write_text(trace(network), encoding="utf-8")

        def row(network: Network, run: int) -> dict[str, object]:
            arguments = [f"--trace={legs[network]}", f"--nodes={NODES}", f"--range={REACH_M}", f"--seconds={SECONDS}"]
            arguments += [f"--cbr={flows}", f"--run={run}"]
            arguments += [f"--tcp={TCP[0]}:{TCP[1]}"] if "tcp" in network.load else []
            done = subprocess.run([str(PEER), *arguments], capture_output=True, text=True, check=True)
            return network._asdict() | json.loads(done.stdout) | facts

        peers.store(REFERENCE, COLUMNS, NETWORKS, row, runs, workers)


def table(theirs: Runs, runs: int, overrides: list[tuple[str, str]]) -> str:
    """Markdown."""
    lines = ["| networks | of | ours | ns-3 | difference, % | with its ways, % |", "|---|---|---|---|---|---|"]
    readings = [{network: ours(network, runs, more) for network in theirs} for more in (overrides, [*overrides, WAYS])]
    for kind, load in dict.fromkeys((network.kind, network.load) for network in theirs):
        mine, alike = (pooled(kind, load, theirs, reading) for reading in readings)
        for what, pair in mine.items():
            both = [peers.text(one, 3 if what == "delivery" else 1) for one in pair]
            differences = [f"{100 * it.difference:+.1f} ± {100 * it.half_width:.1f}" for it in (pair, alike[what])]
            lines.append(f"| {kind}, {load} | {what} | {' | '.join(both)} | {' | '.join(differences)} |")
    return "\n".join(lines)


def main() -> None:
    options = peers.options(__doc__, RUNS)
    if options.renew:
        renew(options.runs, options.workers)
        return
    text = table(reference(), options.runs, options.overrides)
    print(text)
    if options.write:
        peers.put(HERE / "README.md", "routes", text)


if __name__ == "__main__":
    main()
