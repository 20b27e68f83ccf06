"""A trace of motion of 100 MB in ns-2's format: it is streamed, so that memory does not grow with the file."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

NODES = 50
SIDE_M = 2000
PEAK = """
import resource, sys
from interlayer import simulator
parsed = simulator.parse(open(sys.argv[1]).read(), [])
run, = simulator.run_batch([(parsed, 1)]).runs
assert run["flows"][0]["datagrams_sent_total"] > 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write(file: Path, least_bytes: int, by_node: bool) -> int:
    """A trace of about so many bytes, in order of time as setdest writes it, or node by node as BonnMotion does.

    Each leg lasts 10 s. Returns the length in seconds.
    """
    draws = random.Random(0)

    def command(node: int, leg: int) -> str:
        x, y = draws.uniform(0, SIDE_M), draws.uniform(0, SIDE_M)
        return f'$ns_ at {leg * 10 + 1:.12f} "$node_({node}) setdest {x:.12f} {y:.12f} {draws.uniform(5, 20):.12f}"\n'

    legs = least_bytes // (len(command(10, 9999)) * NODES) + 1
    with file.open("w", encoding="utf-8") as out:
        for node in range(NODES):
            for axis in "XYZ":
                out.write(f"$node_({node}) set {axis}_ {0 if axis == 'Z' else draws.uniform(0, SIDE_M):.12f}\n")
        if by_node:
            out.writelines(command(node, leg) for node in range(NODES) for leg in range(legs))
        else:
            out.writelines(command(node, leg) for leg in range(legs) for node in range(NODES))
    return legs * 10


def peak_kb(folder: Path, megabytes: int, by_node: bool) -> int:
    """Peak RSS of a process that checks the trace and plays it to its end."""
    trace, scenario = folder / f"{megabytes}.ns_movements", folder / f"{megabytes}.toml"
    seconds = write(trace, megabytes * 1_000_000, by_node)
    assert trace.stat().st_size > 0.95 * megabytes * 1e6
    scenario.write_text(
        f'[scenario]\nduration = "{seconds} s"\n[radio]\nstandard = "802.11b"\n[channel]\nrange = "100 m"\n'
        f'[[node]]\nname = "n"\ncount = {NODES}\nmobility = {{ model = "trace", file = "{trace}" }}\n'
        '[[flow]]\nfrom = "n1"\nto = "n2"\ntransport = { protocol = "udp" }\n'
        'traffic = { model = "cbr", rate = "100 b/s" }\n',
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "-c", PEAK, str(scenario)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.parametrize("by_node", [False, True], ids=["by time", "node by node"])
def test_memory_is_flat_over_a_trace_of_100_mb(tmp_path: Path, by_node: bool) -> None:
    small, large = (peak_kb(tmp_path, megabytes, by_node) for megabytes in (5, 100))
    print(f"peak RSS: {small / 1000:.1f} MB over a trace of 5 MB, {large / 1000:.1f} MB over one of 100 MB")
    # A twentieth of what there is more to read.
    assert large - small < 95_000 / 20
