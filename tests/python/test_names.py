"""One name for one thing: in keys of scenarios, results, series, the timeline, comparisons and documents."""

from __future__ import annotations

import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import interlayer
from interlayer import quantity, simulator
from interlayer.measure import metrics
from interlayer.study import comparison

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.core

SCHEMES = ["lle-tcp", "snoop", "eln", "ebsn", "ewa", "i-tcp"]

RETIRED = {
    r"[Dd]eaf": "half_duplex",
    r"transmitter.?busy": "half_duplex",
    r"\bmax_min\b": "goodput_spread",
    r"duplicate_ack": "dup_ack",
    r"(?<!segments_)acknowledged_": "acked_",
    r"lost_noise": "lost_to_noise",
}
"""What things were also called, and what they are called."""


@pytest.fixture(scope="module")
def run() -> Any:
    cell = (
        interlayer.load(ROOT / "examples/coffee-shop.toml")
        .set("scenario.duration", "3 s")
        .set("scenario.warmup", "1 s")
    )
    kept = interlayer.run(cell, series=True, timeline="all").runs[0]
    found = dict(kept)
    for scheme in SCHEMES:
        more = interlayer.run(cell.set("scheme", [{"name": scheme}])).runs[0]
        found["schemes"] = [*found["schemes"], *more["schemes"]]
    return found


@pytest.fixture(scope="module")
def names(run: Any) -> set[str]:
    from interlayer import _core

    found = {name for table in metrics.TABLES for row in metrics.table(run, table) for name in row}
    found |= set(run["summary"]) | set(run["timeline"]["columns"]) | set(comparison.METRICS)
    found |= {name.rpartition(".")[2] for name in run["series"]}
    found |= {word.replace("-", "_") for kind in ("outcomes", "causes", "classes") for word in run["timeline"][kind]}
    schema = json.loads(_core.schema())

    def keys(node: Any) -> None:
        if isinstance(node, dict):
            found.update(node.get("properties", {}) if isinstance(node.get("properties"), dict) else {})
            for value in node.values():
                keys(value)
        elif isinstance(node, list):
            for value in node:
                keys(value)

    keys(schema)
    return found


def test_no_retired_name_is_left(names: set[str]) -> None:
    assert {"lost_to_half_duplex", "cwnd_bytes", "rts_threshold", "dup_acks_received", "dup_acks_made"} <= names
    for old, new in RETIRED.items():
        assert not [name for name in names if re.search(old, name)], f"it is called {new}"


def test_an_old_metric_is_told_its_new_name_and_the_new_one_exists(names: set[str]) -> None:
    columns = {quantity.without_unit(name) for name in names} | names
    for old, new in quantity.RENAMED.items():
        assert new in columns, new
        assert old not in columns, old


def test_two_names_do_not_differ_in_a_unit_or_an_ending_alone(names: set[str]) -> None:
    """`packet` beside `packets`, `goodput` beside `goodput_bps`: one would be taken for the other."""
    plural = {name for name in names if f"{name}s" in names and not name.endswith("s")}
    # Tables; and words that are a choice in one place and counted in another.
    tables = {"channel", "event", "flow", "link", "node", "pair", "queue", "scheme"}
    counted = {"ack", "attempt", "dup_ack", "file", "loss", "pause", "slot", "stale_piggyback", "timeout"}
    assert plural <= tables | counted
    unitless = {name for name in names if any(f"{name}_{unit}" in names for unit in ("bps", "bytes", "packets", "dbm"))}
    assert unitless <= {"rate", "tx_power", "sent", "mean"}, "keys beside columns; frames beside bytes"


def test_every_time_series_is_a_metric(run: Any) -> None:
    assert len(run["series"]) > 8
    for name in run["series"]:
        column, value = metrics.read(run, quantity.without_unit(name))
        assert column
        assert value >= 0 or math.isnan(value), name
    first = run["flows"][0]["id"]
    assert metrics.read(run, "flow.0.cwnd") == metrics.read(run, f"flow.{first}.cwnd_bytes")


def test_gauges_of_every_controller_are_series_metrics_and_in_the_list_of_the_page() -> None:
    page = (ROOT / "docs/senders.md").read_text("utf-8").partition("\n## Gauges\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?`) \| (`.*) \|$", page, re.MULTILINE)
    listed = {
        name: set(re.findall(r"`(\w+)`", series)) for names, series in rows for name in re.findall(r"`([^`]+)`", names)
    }
    for name in (entry["id"] for entry in simulator.registry("congestion")):
        cell = interlayer.wlan(flow=interlayer.tcp(name), duration="3 s", warmup="1 s", loss=0.05, loss_at="msdu")
        result = interlayer.run(cell, series=True)
        kept = result.runs[0]["series"]
        assert kept is not None
        found = {path.rpartition(".")[2] for path in kept if path.startswith("flow.")}
        plain = {f"{one}_bytes" for one in ("cwnd", "ssthresh", "flight_size", "rwnd")} | {
            "rto_s",
            "srtt_s",
            "goodput_bps",
            "latency_s",
        }
        assert found - plain == listed.get(name, set()), name
        for gauge in listed.get(name, ()):
            bare = quantity.without_unit(gauge)
            column, value = metrics.read(result.runs[0], f"flow.0.{bare}")
            assert (column, math.isfinite(value)) == (gauge, True)
            assert len(result.plot_series(bare).axes) == 1


def test_what_a_frame_is_lost_to_is_called_the_same_in_summary_frames_and_timeline(run: Any) -> None:
    lost = {name for name in run["summary"] if name.startswith("lost_")}
    causes = {cause.replace("-", "_") for cause in run["timeline"]["causes"]}
    assert {re.sub(r"^lost_(to_)?", "", name) for name in lost} == causes
    of_frames = {name for row in run["frames"] for name in row if name.startswith("lost_to_")}
    for outcome in ("noise", "collision", "half-duplex"):
        assert outcome in run["timeline"]["outcomes"]
        assert f"lost_to_{outcome.replace('-', '_')}" in of_frames
    assert lost & of_frames == {"lost_to_noise", "lost_to_half_duplex"}


def test_no_document_uses_a_retired_name() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    pages = [name for name in listed if name.endswith((".md", ".toml")) and name != "CHANGELOG.md"]
    left = [
        f"{name}: {match[0]}"
        for name in pages
        for old in RETIRED
        for match in re.finditer(rf"{old}\w*", (ROOT / name).read_text("utf-8"))
        if "duplicate_ack" not in match[0] or not name.startswith("validation/")
    ]
    assert not left, "\n".join(left)
