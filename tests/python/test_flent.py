"""Flent's test, as a scenario and as a figure."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import interlayer
from interlayer.errors import InputError

pytestmark = pytest.mark.core


def test_rrul_has_a_flow_each_way_in_each_category_and_a_probe_beside_each() -> None:
    scenario = interlayer.rrul(mcs=7, queue="mac80211", duration="2 s", warmup="500 ms")
    flows = tomllib.loads(scenario.text)["flow"]
    loads = {f"{way}-{category}" for way in ("up", "down") for category in ("be", "bk", "vi", "vo")}
    assert {flow["name"] for flow in flows} == loads | {f"probe-{name}" for name in loads}
    assert {flow["dscp"] for flow in flows} == {0, 8, 40, 46}
    result = interlayer.run(scenario, runs=1)
    # 25.6 kb/s of 64 B: nothing is in the way of a probe in the highest category but its own.
    row = result.flows["id"].to_list().index("probe-down-vi")
    assert result.flows["delivered_packets"][row] > 60
    with pytest.raises(interlayer.InputError, match="queue: expected the name of a discipline"):
        interlayer.rrul(queue=3)  # type: ignore[arg-type]


def test_the_example_of_rrul_is_what_rrul_writes() -> None:
    example = (Path(__file__).parents[2] / "examples/rrul.toml").read_text("utf-8")
    written = interlayer.rrul(standard="802.11ac", width="80 MHz", queue="mac80211", duration="8 s", warmup="3 s")
    assert tomllib.loads(example) == tomllib.loads(written.text)


def _rrul(queue: str | dict[str, object]) -> interlayer.Result:
    cell = interlayer.rrul(mcs=7, queue=queue, duration="2500 ms", warmup="500 ms")
    return interlayer.run(cell, runs=2, series=True)


def test_the_figure_of_rrul_has_goodput_over_latency_and_the_distribution_of_latencies() -> None:
    results = {"fair": _rrul("mac80211"), "fifo": _rrul({"packets": 1000})}
    figure = interlayer.rrul_figure(results)
    cloud, shares = figure.get_axes()
    assert [line.get_label() for line in shares.get_lines()] == ["fair", "fifo"]
    for (name, result), line in zip(results.items(), shares.get_lines(), strict=True):
        samples = result.series.filter(pl.col("name").str.contains(r"probe-.*latency_s") & (pl.col("t_s") > 0.5))
        values = np.sort(1e3 * samples["value"].drop_nulls().drop_nans().to_numpy())
        assert values.size > 100, name
        below = np.interp(np.median(values), np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
        assert below == pytest.approx(0.5, abs=0.01), name
    runs = [line for line in cloud.get_lines() if len(line.get_xdata()) == 2]
    flows = results["fair"].flows.filter(~pl.col("id").str.starts_with("probe-"))
    of_first = flows.filter(pl.col("seed") == 1)["goodput_bps"].sum() / 1e6
    assert runs[0].get_ydata()[0] == pytest.approx(of_first)


def test_the_figure_of_rrul_refuses_what_has_no_probes_or_no_series() -> None:
    short = interlayer.run(interlayer.rrul(mcs=7, duration="100 ms", warmup="10 ms"))
    with pytest.raises(InputError, match="no time series were kept"):
        interlayer.rrul_figure({"short": short})
    with pytest.raises(InputError, match='"one" has no flow called probe-'):
        interlayer.rrul_figure(
            {"one": interlayer.run(interlayer.wlan(2, duration="100 ms", warmup="10 ms"), series=True)}
        )
    for wrong in ({}, {"a": 3}, [short]):
        with pytest.raises(InputError, match="results: expected names and what run"):
            interlayer.rrul_figure(wrong)  # type: ignore[arg-type]
