"""One vocabulary: what a table, JSON, `--metric` and `list metrics` call a metric is the same word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import interlayer
from interlayer.study.measures import METRICS, NAMES

EXAMPLES = Path(__file__).parents[2] / "examples"
CELL = ("--set", "scenario.duration=3 s", "--set", "scenario.warmup=1 s", "--runs", 2)
LECTURE = EXAMPLES / "lecture-hall.toml"

pytestmark = pytest.mark.core


def heads(shown: str) -> set[str]:
    """The heads of all tables, units left out."""
    lines = shown.splitlines()
    above = [lines[i] for i, line in enumerate(lines[1:]) if re.fullmatch(r" ─+", line)]
    return {head.partition(",")[0] for line in above for head in re.split(r"\s{2,}", line.strip())}


def test_every_usual_metric_is_listed_by_the_name_that_tables_have(call: Any) -> None:
    listed = {row["id"]: row for row in json.loads(call("list", "metrics", "--json", "-")[1])}
    assert set(NAMES) <= set(listed)
    assert listed["rtt_mean"] == {
        "id": "rtt_mean",
        "unit": "s",
        "summary": f"what compare and sweep show: {METRICS['rtt_mean_s']}",
    }
    compared = heads(call("compare", LECTURE, "--arm", "short=radio.rts_threshold=0 B", *CELL)[1])
    swept = heads(call("sweep", LECTURE, "--over", "radio.rts_threshold=off,0 B", *CELL)[1])
    run = heads(call("run", LECTURE, *CELL)[1])
    columns = {name.rpartition(".")[2] for name in listed}
    assert compared - {"arm", "difference", "%", "p", ""} <= set(NAMES)
    assert swept - {"radio.rts_threshold"} <= set(NAMES)
    assert run - {"flow", "queue", "metric", "mean"} <= columns
    assert {"rtt_mean", "goodput"} <= compared & swept & run


@pytest.mark.parametrize("name", list(NAMES))
def test_a_name_of_a_table_is_taken_by_every_metric_option(name: str, call: Any) -> None:
    same = ("--metric", name, "--json", "-", *CELL)
    run = json.loads(call("run", LECTURE, *same)[1])
    compared = json.loads(call("compare", LECTURE, "--arm", "short=radio.rts_threshold=0 B", *same)[1])
    swept = json.loads(call("sweep", LECTURE, "--over", "scheme=file", *same)[1])
    column = NAMES[name]
    assert compared["metrics"] == swept["metrics"] == {column: METRICS[column]}
    assert run["metrics"][column]["path"] == METRICS[column]
    assert run["metrics"][column]["mean"] == compared["arms"][0]["compared"][column]["mean"]
    assert run["metrics"][column]["mean"] == swept["cells"][0][column]["mean"]


def test_a_metric_that_was_asked_for_is_shown_though_it_is_the_same_everywhere(call: Any) -> None:
    hop = EXAMPLES / "single-hop.toml"
    asked = ("--metric", "timeouts", "--metric", "jain")
    shown = call("compare", hop, "--schemes", "none,lle-tcp", *CELL, *asked)[1]
    assert "The same in every arm: jain 1, timeouts 0" in shown.replace("retransmissions 0, ", "")
    assert "timeouts, against none" in shown
    assert "jain, against none" in shown
    shown = call("sweep", hop, "--over", "scheme=none,lle-tcp", *CELL, *asked)[1]
    assert {"timeouts", "jain"} <= heads(shown)
    assert "The same in every cell" not in shown
    shown = call("run", hop, *CELL, *asked, "--metric", "mean(flow.*.latency_p95)")[1]
    names = [line.split()[0] for line in shown.splitlines() if line.startswith(" ") and line.strip()]
    assert {"timeouts", "jain", "mean(flow.*.latency_p95)"} <= set(names)
    found = interlayer.compare(hop, "none,lle-tcp", metrics="timeouts", runs=2)
    assert found.difference("lle-tcp", "timeouts").estimate.mean == 0.0
    assert "timeouts, against none" in str(found)


def test_a_metric_of_run_that_is_none_is_refused_before_anything_is_run(call: Any, tmp_path: Path) -> None:
    for wrong, says in (
        ("goodputt", '--metric: no metric "goodputt"; did you mean "goodput"?'),
        ("flow.0.rto", '--metric: "flow.0.rto": rto is a time series; keep it with --series'),
    ):
        status, out, err = call("run", LECTURE, "--metric", wrong, "--out", tmp_path / "out")
        assert (status, out) == (2, "")
        assert says in err
    assert not (tmp_path / "out").exists()


def test_a_metric_of_a_window_is_known_before_anything_is_run(tmp_path: Path, call: Any) -> None:
    file = tmp_path / "windows.toml"
    file.write_text(
        interlayer.wlan(2, duration="3 s", warmup="1 s").text + '[[window]]\nname = "late"\nfrom = "2 s"\nto = "3 s"\n'
    )
    status, out, err = call("run", file, "--runs", 1, "--metric", "window.late.flow0.goodput_max", "--json", "-")
    assert (status, err) == (0, "")
    assert json.loads(out)["metrics"]["window.late.flow0.goodput_max_bps"]["mean"] > 0
