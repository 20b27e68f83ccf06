"""How fast the core is: whole runs of twelve scenes, alone or in turn with ns-3 on the same machine.

Alone, seconds are wall-clock seconds of the event loop, start-up excluded: `sim_s` of a run. Beside ns-3 they are
processor seconds, which a busy machine disturbs less: theirs those in `Simulator::Run` after the flows' start, ours
with the making of the world and of the results, so the ratio is slightly against us. JSON has both kinds of both.
"""

from __future__ import annotations

import json
import math
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from .errors import InputError, InterlayerError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PEERS = ("ns3",)
RUNS, PAIRS = 3, 5
"""Runs of a case alone, and pairs beside a peer."""

_PEER = Path(__file__).parents[2] / "bench/ns3/build/wlan_tcp"

_DOT11A = "standard = '802.11a'\ndata_rate = '54 Mb/s'"
_DOT11B = "standard = '802.11b'\ndata_rate = '11 Mb/s'\nbasic_rate = '1 Mb/s'"

# The peer's TCP, for scenes that it runs too: bench/README.md.
_UPLOAD = (
    "transport = { protocol = 'tcp', preset = 'rfc', datagram = '576 B', initial_window = 1, min_rto = '200 ms', "
    "granularity = '1 ms', "
    "send_buffer = '65535 B' }\ntraffic = { model = 'bulk' }"
)
_DOWNLOAD = "transport = { protocol = 'tcp', preset = 'rfc', datagram = '1500 B' }\ntraffic = { model = 'bulk' }"
_SATURATED = "transport = { protocol = 'udp', datagram = '1500 B' }\ntraffic = { model = 'saturated' }"


@dataclass(frozen=True)
class Case:
    """A scene, how long it lasts in simulated seconds, alone and beside the peer, and the peer's arguments for it."""

    name: str
    body: str
    seconds: float
    paired_seconds: float = 0.0
    peer: tuple[str, ...] = ()

    def scenario(self, seconds: float) -> str:
        """The scenario file of a run of `seconds`."""
        return f"[scenario]\nname = '{self.name}'\nduration = '{seconds} s'\n{self.body}"

    def command(self, seconds: float, run: int) -> list[str]:
        """The peer's command line for the same."""
        return [str(_PEER), "--adhoc=1", "--count=0", f"--seconds={seconds}", f"--run={run}", *self.peer]


def _star(stations: int, radio: str, flow: str, *, queue: int = 500) -> str:
    """`stations` with a flow each to one sink in everybody's reach."""
    text = f"[radio]\n{radio}\nqueue = {{ packets = {queue} }}\n[[node]]\nname = 'sink'\n"
    for i in range(stations):
        text += f"[[node]]\nname = 's{i}'\n[[flow]]\nfrom = 's{i}'\nto = 'sink'\n{flow}\n"
    return text


def _behind_a_wire(stations: int) -> str:
    """Downloads from one server through an access point."""
    text = f"[radio]\n{_DOT11B}\n[[node]]\nname = 'server'\n[[node]]\nname = 'ap'\nposition = [0, 0]\nrole = 'ap'\n"
    text += "[[link]]\nbetween = ['server', 'ap']\nrate = '100 Mb/s'\ndelay = '2 ms'\n"
    for i in range(stations):
        text += f"[[node]]\nname = 's{i}'\nposition = [1, 0]\n[[flow]]\nfrom = 'server'\nto = 's{i}'\n{_DOWNLOAD}\n"
    return text


def _two_hops() -> str:
    """C3TCP over a router: the network tells the sender its window, by options of the MAC and of TCP."""
    text = f"[radio]\n{_DOT11B}\nmax_attempts = 7\n[channel]\nrange = '22.5 m'\n"
    text += "".join(f"[[node]]\nname = 'n{i}'\nposition = [{20 * i}, 0]\n" for i in range(3))
    flow = _DOWNLOAD.replace("'rfc'", "'rfc', receiver = 'every'")
    return text + f"[[flow]]\nfrom = 'n0'\nto = 'n2'\n{flow}\n[[scheme]]\nname = 'c3tcp'\n"


_WEB = (
    "transport = { protocol = 'tcp', preset = 'linux', small_queue = 'off', congestion = 'cubic', nagle = false }\n"
    "traffic = { model = 'http', page_every = '1 s', objects = 7, object_size = '5 kB', connections = 4, "
    "spread = '1 s' }"
)


def _users(stations: int) -> str:
    """Readers of pages behind an access point: connections that come and go."""
    text = f"[radio]\n{_DOT11A}\n[[node]]\nname = 'server'\n[[node]]\nname = 'ap'\nposition = [0, 0]\nrole = 'ap'\n"
    text += "[[link]]\nbetween = ['server', 'ap']\nrate = '100 Mb/s'\ndelay = '5 ms'\n"
    text += f"[[node]]\nname = 's'\nposition = [1, 0]\ncount = {stations}\n"
    return text + f"[[flow]]\nfrom = 'server'\nto = 's'\n{_WEB}\n"


def _fragments() -> str:
    """Downloads in fragments over fading links, each frame a question to the scheme: which queue is it to wait in?"""
    text = f"[radio]\n{_DOT11A.replace('54', '6')}\nbasic_rate = '6 Mb/s'\nfragmentation_threshold = '320 B'\n"
    text += "max_attempts = 4\nmax_attempts_long = 4\ntx_power = '16 dBm'\nqueue = { bytes = '32 kB' }\n[channel]\n"
    text += "propagation = { model = 'log-distance', exponent = 3.0, reference_loss = '47.1 dB' }\n"
    text += "fading = { model = 'rayleigh', coherence = '10 ms' }\n[layout]\nmodel = 'star'\nradius = '55 m'\n"
    text += "[[node]]\nname = 'server'\n[[node]]\nname = 'ap'\nrole = 'ap'\n[[node]]\nname = 's'\ncount = 6\n"
    text += "[[link]]\nbetween = ['server', 'ap']\nrate = '100 Mb/s'\ndelay = '10 ms'\n"
    flow = _DOWNLOAD.replace("'rfc'", "'rfc', timestamps = true")
    return text + f"[[flow]]\nfrom = 'server'\nto = 's'\n{flow}\n[[scheme]]\nname = 'tcp-aware-arq'\n"


def _download_ax() -> str:
    """Today's radio: a download at an access point's full rate, in A-MPDUs of up to 256 MPDUs, nothing lost."""
    text = "[radio]\nstandard = '802.11ax'\nwidth = '80 MHz'\nmcs = 11\nstreams = 2\npreamble = 'ns3'\n"
    text += "queue = { packets = 1000 }\n[[node]]\nname = 'ap'\nrole = 'ap'\n[[node]]\nname = 's'\n"
    options = "sack = true, timestamps = true, window_scale = 7"
    buffers = "send_buffer = '1 MB', receive_buffer = '1 MB'"
    timer = "initial_window = 1, min_rto = '200 ms', granularity = '1 ms'"
    flow = _DOWNLOAD.replace("'rfc'", f"'rfc', {options}, {buffers}, {timer}")
    return text + f"[[flow]]\nfrom = 'ap'\nto = 's'\n{flow}\n"


_MINSTREL = "rate_control = 'minstrel-ht'"


def _twenty(queue: str, rates: str) -> str:
    """An access point of 802.11n that has more datagrams for twenty stations than the air carries."""
    text = f"[radio]\nstandard = '802.11n'\n{rates}\nqueue = {queue}\n[[node]]\nname = 'ap'\nrole = 'ap'\n"
    text += "[[node]]\nname = 's'\ncount = 20\n[[flow]]\nfrom = 'ap'\nto = 's'\n"
    text += "transport = { protocol = 'udp', datagram = '1500 B' }\ntraffic = { model = 'cbr', rate = '4 Mb/s' }\n"
    return text


_PEER_AX = "--ax=1 --n=1 --download=1 --radius=1 --queue=1000 --options=1 --mss=1448 --window=1000000"

CASES = (
    Case("lle-flow", _star(1, _DOT11B, _DOWNLOAD, queue=50) + "[[scheme]]\nname = 'lle-tcp'\n", 30),
    Case("6-uploads", _star(6, _DOT11A, _UPLOAD), 30, 30, ("--n=6",)),
    Case("50-uploads", _star(50, _DOT11A, _UPLOAD), 30, 10, ("--n=50",)),
    Case("200-saturated", _star(200, _DOT11A, _SATURATED), 10, 2, ("--n=200", "--udp=1")),
    Case("1000-saturated", _star(1000, _DOT11A, _SATURATED), 10, 0.25, ("--n=1000", "--udp=1")),
    Case("10-behind-a-wire", _behind_a_wire(10), 100),
    Case("two-hops-c3tcp", _two_hops(), 30),
    Case("50-users", _users(50), 30),
    Case("fragments", _fragments(), 30),
    Case("download-ax", _download_ax(), 5, 5, tuple(_PEER_AX.split())),
    Case("20-fifo-fixed", _twenty("{ packets = 1000 }", "mcs = 7"), 10),
    Case("20-airtime-minstrel", _twenty("{ discipline = 'mac80211', packets = 8192 }", _MINSTREL), 10),
)


def chosen(names: Sequence[str], against: str | None) -> list[Case]:
    """The cases named, or all, that `against` can run. Raises `InputError`, also if the peer is not there."""
    for name in names:
        if name not in (known := [case.name for case in CASES]):
            raise InputError(f'--case: no case "{name}"{suggestion(name, known)}')
    cases = [case for case in CASES if not names or case.name in names]
    if against is None:
        return cases
    if against not in PEERS:
        raise InputError(f'--against: no peer "{against}"{suggestion(against, PEERS)}')
    if not _PEER.exists():
        raise InputError(
            "--against ns3: the peer is not built. In the source tree: `make ns3`, which needs Debian's "
            "libns3-dev, libgsl-dev, g++ and pkg-config"
        )
    paired = [case for case in cases if case.peer]
    if not paired:
        raise InputError(f"--against ns3: it cannot run {', '.join(names)}")
    return paired


def runs_of(runs: int | None, against: str | None) -> int:
    """The number of runs, or of pairs, that was asked for, or the usual one. Raises `InputError`."""
    if runs is None:
        return PAIRS if against else RUNS
    if runs % 2 == 0:
        raise InputError(f"--runs: {runs} is even; the median of an odd number is a run that happened")
    return runs


def run(cases: Sequence[Case], *, against: str | None, runs: int) -> Iterator[dict[str, Any]]:
    """One row a case, as it is done: medians of `runs`, which in turn with a peer is a number of pairs."""
    for case in cases:
        seconds = case.paired_seconds if against else case.seconds
        ours, theirs = [], []
        for i in range(1, runs + 1):
            ours.append(_ours(case.scenario(seconds), i))
            if against:
                theirs.append(_theirs(case.command(seconds, i)))
        yield _row(case.name, seconds, ours, theirs)


def _ours(text: str, seed: int) -> dict[str, float]:
    from . import simulator

    scenario = simulator.parse(text)
    before = time.process_time()
    batch = simulator.run_batch([(scenario, seed)], jobs=1)
    cpu_s = time.process_time() - before
    found = batch.runs[0]
    if found is None:
        raise KeyboardInterrupt
    return {"wall_s": found["sim_s"], "cpu_s": cpu_s, "events": found["events"], "exchanges": found["exchanges"]}


def _theirs(command: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr or done.stdout).strip().splitlines()
        raise InterlayerError(f"--against ns3: the peer failed: {why[-1] if why else f'status {done.returncode}'}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _row(
    name: str, seconds: float, ours: Sequence[dict[str, float]], theirs: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    wall_s = median(one["wall_s"] for one in ours)
    row: dict[str, Any] = {"name": name, "interlayer_s": wall_s}
    if theirs:
        row["ns3_s"] = median(one["wall_s"] for one in theirs)
        row["ratio"] = row["ns3_s"] / wall_s
        row["ns3_version"] = theirs[0]["ns3_version"]
    cpu_s = median(one["cpu_s"] for one in ours)
    row |= {"runs": len(ours), "simulated_s": seconds, "real_time_ratio": seconds / wall_s, "interlayer_cpu_s": cpu_s}
    if theirs:
        row["ns3_cpu_s"] = median(one["cpu_s"] for one in theirs)
        row["cpu_ratio"] = row["ns3_cpu_s"] / cpu_s
        row["pairs"] = [
            {"interlayer_s": o["wall_s"], "ns3_s": t["wall_s"], "interlayer_cpu_s": o["cpu_s"], "ns3_cpu_s": t["cpu_s"]}
            for o, t in zip(ours, theirs, strict=True)
        ]
        ratios = [pair["ns3_cpu_s"] / pair["interlayer_cpu_s"] for pair in row["pairs"]]
        row["cpu_ratio_low"], row["cpu_ratio_high"] = min(ratios), max(ratios)
        row["ns3_events"] = median(one["events"] for one in theirs)
    for what in ("events", "exchanges"):
        row[what] = median(one[what] for one in ours)
        row[f"{what}_per_s"] = median(one[what] / one["wall_s"] for one in ours)
    return row


def to_json(rows: Sequence[dict[str, Any]], load_before: float | None) -> dict[str, Any]:
    """The object of `interlayer bench --json`: the rows, the machine, and its load before them and now."""
    from . import machine, simulator
    from .show import as_json

    return {
        "version": simulator.version(),
        **as_json.outside(),
        "measured": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": {"cpu": machine.processor(), "cores": machine.cores()},
        "load": {"before": load_before, "after": machine.load()},
        "cases": list(rows),
    }


def table(found: dict[str, Any]) -> str:
    """The same for a person."""
    from .measure.stats import plain
    from .show import terminal
    from .show.grid import Column, Grid

    rows, paired = found["cases"], "pairs" in found["cases"][0]
    lines = []
    if paired:
        heads = ["simulated, s", "Interlayer, s", "ns-3, s", "ratio", "of the pairs"]
        for row in rows:
            seconds = [plain(row["simulated_s"]), plain(row["interlayer_cpu_s"], 3), plain(row["ns3_cpu_s"], 3)]
            ratios = f"{row['cpu_ratio_low']:.0f} to {row['cpu_ratio_high']:.0f}"
            lines.append([row["name"], *seconds, f"{row['cpu_ratio']:.0f}", ratios])
    else:
        heads = ["simulated, s", "wall, s", "x real time", "events/s", "exchanges/s", "ns/exchange"]
        for row in rows:
            per_exchange_ns = 1e9 / row["exchanges_per_s"] if row["exchanges_per_s"] else float("nan")
            cells = [plain(row["simulated_s"]), plain(row["interlayer_s"], 3)]
            cells += [plain(row[name], 3) for name in ("real_time_ratio", "events_per_s", "exchanges_per_s")]
            lines.append([row["name"], *cells, "–" if math.isnan(per_exchange_ns) else f"{per_exchange_ns:.0f}"])
    shown = Grid([Column("case", is_text=True, folds=True), *map(Column, heads)], lines, splits=True)
    n = rows[0]["runs"]
    many = "s" * (n > 1)
    what = f"{n} pair{many}, in processor seconds" if paired else f"{n} run{many}"
    peer = f", ns-3 {rows[0]['ns3_version']}" if paired else ""
    made = f"{'medians of ' if n > 1 else ''}{what}. Interlayer {found['version']}{peer}"
    return terminal.render(shown, f"{made}. {on(found)}.")


def on(found: dict[str, Any]) -> str:
    """The machine of a measurement and its load, in words."""
    of, load = found["machine"], found["load"]
    cores = f"{of['cores']} core{'s' * (of['cores'] != 1)}"
    if None in load.values():
        return f"{of['cpu']}, {cores}"
    return f"{of['cpu']}, {cores}; load {load['before']:.1f} before, {load['after']:.1f} after"
