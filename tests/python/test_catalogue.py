"""The list of metrics: it names what runs have, in the units that they have it in."""

from __future__ import annotations

import math
from typing import Any

import pytest

import interlayer as il
from interlayer import quantity
from interlayer.measure import catalogue, metrics

SUFFIX = {"b/s": "bps", "s": "s", "bytes": "bytes", "packets": "packets", "1": ""}
TABLES = {"flow": "flows", "node": "nodes", "queue": "queues", "frame": "frames", "link": "links", "window": "windows"}


@pytest.fixture(scope="module")
def run() -> Any:
    """A run with every kind of flow, EDCA, a wire and a window."""
    page = {"model": "http", "page_every": "1 s"}
    flows = [il.tcp("cubic"), il.udp("200 B", "80 kb/s"), il.tcp(traffic=page)]
    more = {"standard": "802.11a", "rate": "54 Mb/s", "radio": {"access": "edca"}, "duration": "1 s", "warmup": "0 s"}
    cell = il.wlan(3, ap=True, flow=flows, scheme="lle-tcp", **more)  # type: ignore[arg-type]
    window = {"name": "rush", "from": "500 ms", "to": "1 s", "every": "50 ms"}
    return il.run(cell.set("flow.0.ack_gaps", True).set("window", [window])).runs[0]


@pytest.fixture(scope="module")
def aggregating() -> Any:
    """A run whose radios aggregate."""
    cell = il.wlan(2, ap=True, standard="802.11n", duration="200 ms", warmup="0 s")
    return il.run(cell.set("channel.propagation", {"model": "log-distance"}), runs=1).runs[0]


def columns(run: Any) -> set[tuple[str, str]]:
    """Table and column of every number of a run, counters of schemes left out."""
    found = {("summary", name) for name in run["summary"]}
    for group, table in TABLES.items():
        for row in metrics.table(run, table):
            if not (group == "window" and "@" in row["id"]):
                found |= {(group, name) for name, value in row.items() if not isinstance(value, str)}
    return found


@pytest.mark.core
def test_what_is_listed_is_in_a_run_in_that_unit(run: Any, aggregating: Any) -> None:
    have = columns(run) | columns(aggregating)
    for entry in catalogue.entries():
        if entry.group not in (*TABLES, "summary") or entry.name in ("SERIES", "COUNTER"):
            continue
        suffix = SUFFIX[entry.unit]
        named = {entry.name} | ({f"{entry.name}_{suffix}"} if suffix else set())
        assert {(entry.group, name) for name in named} & have, entry.id
        if quantity.column_unit(entry.name) == "" and not entry.name.endswith("_total"):
            assert (entry.group, f"{entry.name}_{suffix}" if suffix else entry.name) in have, entry.id


@pytest.mark.core
@pytest.mark.parametrize("name", ["run", "aggregating"])
def test_what_a_run_has_is_listed(name: str, request: pytest.FixtureRequest) -> None:
    run = request.getfixturevalue(name)
    listed = {(entry.group, entry.name) for entry in catalogue.entries()}
    assert [
        (group, name)
        for group, name in sorted(columns(run))
        if not {(group, name), (group, quantity.without_unit(name))} & listed
    ] == []


@pytest.mark.core
def test_every_entry_is_listed_once_and_has_a_summary() -> None:
    ids = [entry.id for entry in catalogue.entries()]
    assert len(ids) == len(set(ids))
    assert all(entry.summary and " " not in entry.id for entry in catalogue.entries())


@pytest.mark.core
def test_every_number_of_a_run_is_one_that_its_metric_can_have(run: Any) -> None:
    seen = 0
    for group, table in (*TABLES.items(), ("scheme", "schemes")):
        for row in metrics.table(run, table):
            key = metrics.TABLES[table]
            for name in row:
                if name == key or metrics.number(row[name]) is None:
                    continue
                path = f"{group}.{row[key]}.{name}"
                support = metrics.support_of(run, path)
                assert support.holds(metrics.read(run, path)[1]), path
                assert support.low == 0.0, path
                seen += 1
    assert seen > 300


@pytest.mark.core
@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [
        ("summary.jain", 1 / 3, 1.0),
        ("jain(flow.0,2.goodput)", 1 / 2, 1.0),
        ("mean(flow.*.goodput)", 0.0, math.inf),
        ("smallest(2, flow.*.goodput)", 0.0, math.inf),
        ("frame.tcp-data.error_rate", 0.0, 1.0),
        ("mean(frame.*.error_rate)", 0.0, 1.0),
        ("sum(frame.*.error_rate)", 0.0, math.inf),
        ("below(0.1, flow.*.goodput)", 0.0, math.inf),
        ("ratio(node.*.failures, node.*.exchanges)", 0.0, math.inf),
        ("correlation(flow.*.goodput, flow.*.delivered_bytes)", -1.0, 1.0),
        ("window.rush.down3.goodput_zero_share", 0.0, 1.0),
    ],
)
def test_what_a_metric_can_be_is_known(run: Any, metric: str, low: float, high: float) -> None:
    found = metrics.support_of(run, metric)
    assert (found.low, found.high) == (low, high)


@pytest.mark.core
def test_an_interval_of_a_metric_stays_inside_what_it_can_be(run: Any) -> None:
    runs = [run | {"summary": run["summary"] | {"jain": j}} for j in (0.98, 0.99, 0.999, 0.6, 0.97)]
    found = metrics.estimate(runs, "summary.jain")
    assert found.half_width is not None
    assert found.mean + found.half_width > 1
    assert found.high < 1
    row = metrics.aggregate_summary(runs)["jain"]
    assert (row["ci95"], row["ci95_high"]) == (found.half_width, found.high)
