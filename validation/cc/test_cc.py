"""Our senders against the stored runs of ns-3's: goodput within 5 %, or within the limit of what README.md explains."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import paths
import pytest

from interlayer import simulator
from interlayer.measure import stats

AIM = 0.05
RUNS = 10

EXPLAINED = {
    # ours over theirs, less 1: README.md says why, by source and line.
    "vegas": (-0.60, -0.20),
    "highspeed": (-0.35, -0.10),
    "yeah": (0.50, 1.50),
}
"""At most three."""

OPEN = {"illinois", "scalable", "highspeed", "hybla", "yeah"}
"""Not ten runs of theirs yet: README.md has the first three."""


def reference() -> dict[str, list[dict[str, str]]]:
    """The stored runs of each sender."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (Path(__file__).parent / "reference.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows[row["sender"]].append(row)
    return rows


REFERENCE = reference()


def goodput(sender: paths.Sender) -> stats.Estimate:
    """Ours, in Mb/s."""
    scenario = simulator.parse(paths.SCENARIO, [("flow.0.transport.congestion", sender.congestion)])
    runs = simulator.run_batch([(scenario, seed) for seed in range(1, RUNS + 1)]).runs
    return stats.estimate([run["summary"]["goodput_bps"] / 1e6 for run in runs if run])


def difference(ours: stats.Estimate, name: str) -> tuple[float, float]:
    """Ours over theirs, less 1, and the half-width of its 95 % interval."""
    theirs = stats.estimate([float(row["goodput_mbps"]) for row in REFERENCE[name]])
    both = ((ours.half_width or 0.0) ** 2 + (theirs.half_width or 0.0) ** 2) ** 0.5
    return ours.mean / theirs.mean - 1, both / theirs.mean


def test_every_sender_has_ten_runs_of_one_version() -> None:
    assert set(REFERENCE) == {sender.name for sender in paths.SENDERS} - OPEN
    assert len(EXPLAINED) <= 3
    for rows in REFERENCE.values():
        assert len({row["run"] for row in rows}) == len(rows) >= RUNS
        assert all(row["ns3_version"] == "3.37" and "@" in row["script"] and row["date"] for row in rows)


@pytest.mark.parametrize("sender", [sender for sender in paths.SENDERS if sender.name not in OPEN], ids=str)
def test_goodput_is_theirs(sender: paths.Sender) -> None:
    mean, half_width = difference(goodput(sender), sender.name)
    print(f"{sender}: {100 * mean:+.1f} ± {100 * half_width:.1f} %")
    if limits := EXPLAINED.get(sender.name):
        assert limits[0] <= mean <= limits[1], (mean, half_width)
    else:
        assert abs(mean) - half_width <= AIM, (mean, half_width)
