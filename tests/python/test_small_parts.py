"""Arithmetic in files, units, TOML as text, metric paths."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_core import Core, Scenario, queue
from interlayer import quantity, toml_text
from interlayer.errors import InputError, suggestion
from interlayer.measure import metrics
from interlayer.study import expression

# ------------------------------------------------------------------------------------------------------ arithmetic


def test_formula_is_evaluated_over_its_constants() -> None:
    values = {"data": 1667.3, "slots": 15.0}
    assert expression.evaluate("1500 * 8 / (data + slots * 20)", values) == pytest.approx(6.0997, abs=1e-4)
    assert expression.evaluate("-sqrt(16) ** 2 + max(1, 2)", {}) == -14
    assert expression.names("ack / (fixed + 8 * x / 11) + min(x, 1)") == {"ack", "fixed", "x"}


def test_formula_is_shown_with_its_values() -> None:
    assert expression.with_values("8 * x / (a + b)", {"a": 1.5, "b": 2.0, "x": 3.0}) == "8 * 3.0 / (1.5 + 2.0)"


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')",
        "x.real",
        "[1][0]",
        "x if x else 1",
        "lambda: 1",
        "True",
        "'a'",
        "open(x)",
        "f'{x}'",
        "1 <",
        "",
    ],
)
def test_what_is_no_arithmetic_is_refused(formula: str) -> None:
    with pytest.raises(InputError):
        expression.evaluate(formula, {"x": 1.0})


def test_unknown_constant_is_named_with_a_suggestion() -> None:
    with pytest.raises(InputError, match='no constant "bakoff"; did you mean "backoff"'):
        expression.evaluate("bakoff + 1", {"backoff": 300.0})


@pytest.mark.parametrize("formula", ["1 / (x - 1)", "9 ** 9 ** 9", "sqrt(-x)", "(-x) ** 0.5", "sqrt(1, 2)"])
def test_formula_without_a_value_is_an_input_error_and_not_a_hang(formula: str) -> None:
    with pytest.raises(InputError, match="no value"):
        expression.evaluate(formula, {"x": 1.0})


# ----------------------------------------------------------------------------------------------------------- units

COLUMNS = ["id", "goodput_bps", "rtt_mean_s", "timeouts", "delivered_bytes"]


@pytest.mark.parametrize(
    ("metric", "column"),
    [("goodput", "goodput_bps"), ("goodput_bps", "goodput_bps"), ("rtt_mean", "rtt_mean_s"), ("timeouts", "timeouts")],
)
def test_metric_resolves_to_the_column_with_a_unit(metric: str, column: str) -> None:
    assert quantity.column(metric, COLUMNS) == column


def test_unknown_metric_is_suggested_without_its_unit() -> None:
    with pytest.raises(InputError, match='no metric "godput"; did you mean "goodput"'):
        quantity.column("godput", COLUMNS)


def test_scale_takes_a_column_to_the_printed_unit() -> None:
    assert 6_090_000 * quantity.scale("goodput_bps", "Mb/s") == pytest.approx(6.09)
    assert 0.0123 * quantity.scale("rtt_mean_s", "ms") == pytest.approx(12.3)
    assert 0.25 * quantity.scale("loss_rate", "%") == pytest.approx(25)
    with pytest.raises(InputError, match='not measured in "Mb/s"'):
        quantity.scale("rtt_mean_s", "Mb/s")


@pytest.mark.parametrize(
    ("value", "number"),
    [("1500 B", 1500), ("1 kB", 1000), ("20 ms", 0.02), (0.1, 0.1), (3, 3), ("5", 5), ("10 %", 0.1), ("-3 dB", -3)],
)
def test_magnitude_of_a_value(value: object, number: float) -> None:
    assert quantity.magnitude(value) == pytest.approx(number)


@pytest.mark.parametrize("value", ["off", "long", True, {"model": "none"}, "12 parsecs"])
def test_a_word_has_no_magnitude(value: object) -> None:
    assert quantity.magnitude(value) is None


def test_suggestion_names_what_is_near_or_what_there_is() -> None:
    assert suggestion("venno", ["veno", "reno", "cubic"]) == '; did you mean "veno"?'
    figures = ["lle-fig-3.7a", "lle-fig-3.7b", "lle-fig-3.17"]
    assert suggestion("lle-fig-3.7", figures) == '; did you mean "lle-fig-3.7a" or "lle-fig-3.7b"?'
    assert suggestion("que", ["queue", "ques-2"]) == '; did you mean "queue" or "ques-2"?'
    assert suggestion("xyz", ["veno", "reno"]) == " (known: veno, reno)"
    assert suggestion("xyz", [f"name{i}" for i in range(40)]) == ""


# ------------------------------------------------------------------------------------------------------------ TOML

values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(values)
def test_a_literal_reads_back_as_itself(value: Any) -> None:
    assert tomllib.loads(f"x = {toml_text.literal(value)}") == {"x": value}


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), values, max_size=3))
def test_a_document_reads_back_as_itself(table: dict[str, Any]) -> None:
    text = toml_text.document({"one": table, "many": [table, table]})
    assert tomllib.loads(text) == {"one": table, "many": [table, table]}


def test_not_a_number_is_written_as_toml_has_it() -> None:
    assert math.isnan(tomllib.loads(f"x = {toml_text.literal(math.nan)}")["x"])


def test_what_has_no_place_in_a_scenario_is_refused() -> None:
    with pytest.raises(InputError, match="no place in a scenario"):
        toml_text.literal(object())


# --------------------------------------------------------------------------------------------------------- metrics


@pytest.fixture
def a_run(core: Core) -> Any:
    scenario = Scenario(
        {
            "node": [{"name": "ap"}, {"name": "sta"}],
            "radio": {},
            "flow": [
                {"name": "down", "from": "ap", "to": "sta", "transport": {"datagram": "1500 B", "receiver": "every"}}
            ],
            "scheme": [{"name": "lle-tcp"}],
        }
    )
    return core.one(scenario, 1, series=False)


@pytest.mark.parametrize(
    ("metric", "column"),
    [
        ("flow.0.goodput", "goodput_bps"),
        ("flow.down.goodput", "goodput_bps"),
        ("summary.jain", "jain"),
        ("node.ap.queue_drops", "queue_drops"),
        ("frame.data.count", "count"),
    ],
)
def test_metric_paths_reach_every_table(a_run: Any, metric: str, column: str) -> None:
    found, value = metrics.read(a_run, metric)
    assert found == column
    assert math.isfinite(value)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("flow.1.goodput", 'no flow "1"'),
        ("flow.dwon.goodput", 'no flow "dwon"; did you mean "down"'),
        ("flwo.0.goodput", 'did you mean "flow"'),
        ("flow.0.goodputs", 'did you mean "goodput"'),
        ("flow.0.from", "is a text"),
    ],
)
def test_a_wrong_metric_path_says_what_is_wrong(a_run: Any, metric: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.read(a_run, metric)


def test_a_time_series_is_a_metric_its_mean_after_warm_up() -> None:
    t = np.arange(1.0, 7.0)  # of six samples, four are after 2 s of warm-up
    run: Any = {
        "warmup_s": 2.0,
        "flows": [
            {"id": "up", "goodput_bps": 1.0, "protocol": "tcp"},
            {"id": "call", "goodput_bps": 2.0, "protocol": "udp"},
        ],
        "queues": [{"id": "ap.air", "mean_packets": 7.5}],
        "summary": {},
        "series": {
            "flow.up.cwnd_bytes": {"t_s": t, "value": 1000 * t},
            "flow.up.srtt_s": {"t_s": t, "value": np.array([9, 9, math.nan, 1, 2, 3])},
            "flow.up.ssthresh_bytes": {"t_s": t, "value": np.full(6, math.nan)},
            "flow.up.goodput_bps": {"t_s": t, "value": t},
            "queue.ap.air.packets": {"t_s": t, "value": t},
        },
    }
    assert metrics.read(run, "flow.0.cwnd") == metrics.read(run, "flow.up.cwnd_bytes") == ("cwnd_bytes", 4500)
    assert metrics.read(run, "mean(flow.*.cwnd)") == ("cwnd_bytes", 4500)  # the UDP flow has none
    assert metrics.read(run, "flow.up.srtt") == ("srtt_s", 2)
    assert math.isnan(metrics.read(run, "flow.up.ssthresh")[1])
    assert metrics.read(run, "flow.up.goodput") == ("goodput_bps", 1)  # the table's own
    assert metrics.read(run, "queue.ap.air.packets") == ("mean_packets", 7.5)
    assert metrics.by_name(run, "flow.0.cwnd") == "flow.up.cwnd"
    with pytest.raises(InputError, match=r'no metric "cwnd"'):
        metrics.read(run, "flow.call.cwnd")
    run["series"] = None
    with pytest.raises(InputError, match="srtt is a time series; keep it with --series"):
        metrics.read(run, "flow.0.srtt")
    run["flows"][0]["cwnd_mean_bytes"] = 4200.0  # the core's own mean needs no series
    assert metrics.read(run, "flow.0.cwnd") == ("cwnd_mean_bytes", 4200)


def test_an_old_name_is_told_its_new_one() -> None:
    row = {"class": "tcp-ack", "lost_to_half_duplex": 3, "half_duplex_rate": 0.5}
    run: Any = {"frames": [row], "summary": {"goodput_spread_bps": 1.0}}
    for metric, new in (
        ("frame.tcp-ack.deafness_rate", "half_duplex_rate"),
        ("frame.tcp-ack.lost_to_deafness", "lost_to_half_duplex"),
        ("summary.max_min", "goodput_spread"),
        ("summary.max_min_bps", "goodput_spread"),
    ):
        with pytest.raises(InputError, match=f'it is called "{new}" now'):
            metrics.read(run, metric)


QUEUES = {"ap": 1, "ap.air": 2, "server->ap": 4}


@pytest.fixture
def cell_run() -> Any:
    """Ten flows of 1 to 10 Mb/s, the last over UDP without counters of TCP, and three queues."""
    flows = [{"id": f"down{i}", "goodput_bps": (i + 1) * 1e6, "timeouts": i, "finish_time_s": 2.0} for i in range(9)]
    flows += [{"id": "call", "goodput_bps": 1e7, "finish_time_s": None}]
    return {"flows": flows, "queues": [queue(*one) for one in QUEUES.items()], "summary": {}}


# Means over 1 to 9 Mb/s: 45/9 = 5; Jain's index 45²/(9 · 285) = 0.789.
@pytest.mark.parametrize(
    ("metric", "column", "value"),
    [
        ("mean(flow.0-8.goodput)", "goodput_bps", 5e6),
        ("mean(flow.down*.goodput)", "goodput_bps", 5e6),
        ("sum(flow.down0, down2,9.goodput)", "goodput_bps", 14e6),
        ("sum(flow.0,down0,0-1.goodput)", "goodput_bps", 3e6),  # each flow once
        ("max(flow.*.goodput)", "goodput_bps", 1e7),
        ("min(flow.3-8.goodput)", "goodput_bps", 4e6),
        ("spread(flow.0-8.goodput)", "goodput_bps", 8e6),
        ("jain(flow.0-8.goodput)", "jain", 2025 / (9 * 285)),
        ("cv(flow.0-8.goodput)", "cv", math.sqrt(7.5) / 5),  # 60/8 is the variance of 1 to 9
        ("correlation(flow.0-8.goodput, flow.0-8.timeouts)", "correlation", 1.0),
        ("correlation(flow.0,1,2.timeouts, flow.0,2,1.goodput)", "correlation", 1.0),  # rows in the run's order
        ("correlation(flow.0-8.goodput,flow.0-8.finish_time)", "correlation", math.nan),  # one is constant
        ("ratio(flow.0,1.goodput, flow.2.goodput)", "ratio", 1.0),
        ("ratio(flow.*.goodput, flow.0,0.timeouts)", "ratio", math.nan),  # nothing to divide by
        ("below(0.5, flow.0-8.goodput)", "below", 2),  # 1 and 2 of 1 to 9 Mb/s are less than half of 5
        ("smallest(2, flow.0-8.goodput)", "goodput_bps", 2e6),
        ("smallest(2,flow.*.finish_time)", "finish_time_s", math.nan),
        ("above(1.8,flow.0-8.goodput)", "above", 0),  # 9 is 1.8 times 5, not more
        ("above(1.2, flow.0-8.goodput)", "above", 3),
        ("below(1, flow.*.finish_time)", "below", math.nan),
        ("sum(flow.*.timeouts)", "timeouts", 36),  # the UDP flow has none
        ("max(flow.0-8.finish_time)", "finish_time_s", 2.0),
        ("max(flow.*.finish_time)", "finish_time_s", math.nan),  # one has not finished
        ("sum(queue.*.dropped)", "dropped_packets", 7),
        ("queue.ap.dropped", "dropped_packets", 1),
        ("queue.ap.air.dropped", "dropped_packets", 2),
        ("queue.server->ap.mean_packets", "mean_packets", 12.5),
        ("queue.2.mean_wait", "mean_wait_s", 0.025),
    ],
)
def test_aggregates_and_queues(cell_run: Any, metric: str, column: str, value: float) -> None:
    assert metrics.read(cell_run, metric) == (column, pytest.approx(value, nan_ok=True))


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("maen(flow.0-8.goodput)", 'no function "maen"; did you mean "mean"'),
        ("mean(flwo.0-8.goodput)", 'nothing to aggregate in "flwo"; did you mean "flow"'),
        ("mean(summary.jain)", "nothing to aggregate"),
        ("blow(0.5, flow.0-8.goodput)", 'no function "blow"; did you mean "below"'),
        ("below(flow.0-8.goodput)", "below needs a factor of the mean first"),
        ("smallest(flow.0-8.goodput)", "smallest needs a place from 1 on first"),
        ("smallest(0, flow.0-8.goodput)", "smallest needs a place from 1 on first"),
        ("smallest(10, flow.0-8.goodput)", "there are 9 rows"),
        ("ratio(flow.0-8.goodput)", "ratio\\(.*: two columns"),
        ("correlation(flow.0-8.goodput)", "correlation\\(.*: two columns over the same rows"),
        ("correlation(flow.0-8.goodput, flow.0-7.timeouts)", "two columns over the same rows"),
        ("below(half, flow.0-8.goodput)", "below needs a factor of the mean first"),
        ("above(-1, flow.0-8.goodput)", "above needs a factor of the mean first"),
        ("mean(flow.0-10.goodput)", "no flows 0-10; they are 0 to 9"),
        ("mean(flow.8-0.goodput)", "no flows 8-0"),
        ("mean(flow.dwon1.goodput)", 'no flow "dwon1"; did you mean "down1"'),
        ("mean(flow.up*.goodput)", r'no flow "up\*"'),
        ("mean(flow.0-9.timeouts)", 'no metric "timeouts"'),  # named, so it must have it
        ("sum(flow.*.timeuots)", 'no metric "timeuots"; did you mean "timeouts"'),
        ("queue.ap.iar.dropped", r'no metric "iar.dropped"'),
    ],
)
def test_a_wrong_aggregate_says_what_is_wrong(cell_run: Any, metric: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.read(cell_run, metric)


def test_a_run_without_queues_says_so_and_aggregates_without_them(a_run: Any) -> None:
    for metric in ("queue.ap.air.dropped", "sum(queue.*.dropped)", "sum(queue.0.dropped)"):
        with pytest.raises(InputError, match="the run has no queues"):
            metrics.read(a_run, metric)
    assert metrics.aggregate([a_run], "queues") == []
    assert "queues" not in metrics.tables([a_run])


def test_aggregate_gives_means_over_the_runs_that_have_the_entry() -> None:
    runs: Any = [
        {"frames": [{"class": "data", "count": 4}, {"class": "rts", "count": 2}]},
        {"frames": [{"class": "data", "count": 6}]},
    ]
    assert metrics.aggregate(runs, "frames") == [
        {"class": "data", "count": {"mean": 5.0, "ci95": pytest.approx(12.706, abs=1e-3)}},
        {"class": "rts", "count": {"mean": 2.0, "ci95": None}},
    ]
