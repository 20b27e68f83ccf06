"""Comparisons: which arms there are, that they are paired, what is tested, and what is written."""

from __future__ import annotations

import html
import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import interlayer
from interlayer import cli
from interlayer.errors import InputError
from interlayer.measure import stats
from interlayer.study import comparison
from web import FETCHES

if TYPE_CHECKING:
    from pathlib import Path

    from fake_core import Core

SCENARIO = """
[scenario]
name = "toy"
seed = 5
[radio]
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
name = "up"
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc" }
"""
WITH_SCHEME = (
    SCENARIO
    + """
[[scheme]]
name = "lle-tcp"
at = ["a"]
strategy = "every"
"""
)


def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """5 Mb/s with a noise of 10 % common to all arms; each scheme adds `gain` Mb/s, and a little noise of its own."""
    common = 5e6 * (1 + 0.1 * rng.standard_normal())
    own = sum(
        1e6 * s.get("gain", 0.1) + 1e4 * s.get("noise", 1.0) * rng.standard_normal() for s in data.get("scheme", [])
    )
    return {"goodput_bps": common + own, "timeouts": 2 - len(data.get("scheme", []))}


@pytest.fixture
def seen(core: Core) -> list[Any]:
    """The `scheme` tables that the core was given, one a run, in order; over `model`."""
    tables: list[Any] = []

    def watched(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        tables.append(data.get("scheme"))
        return model(data, rng)

    core.model = watched
    return tables


def compared(schemes: Any = "none,lle-tcp", text: str = SCENARIO, **options: Any) -> interlayer.Comparison:
    return interlayer.compare(interlayer.Scenario(text), schemes, **options)


# ------------------------------------------------------------------------------------------------------------- arms


def test_none_is_without_schemes_and_a_name_is_that_scheme_alone(seen: list[Any]) -> None:
    compared("none,lle-tcp", runs=1)
    assert seen == [[], [{"name": "lle-tcp"}]]


def test_an_arm_keeps_what_the_file_says_of_its_scheme(seen: list[Any]) -> None:
    compared("none,lle-tcp,lle-tcp:strategy=follow;gain=2,file", text=WITH_SCHEME, runs=1)
    own = {"name": "lle-tcp", "at": ["a"], "strategy": "every"}
    # The last arm is the second one over again, and is not run twice.
    assert seen == [[], [own], [own | {"strategy": "follow", "gain": 2}]]


def test_without_schemes_it_is_none_and_those_of_the_file(seen: list[Any]) -> None:
    assert [arm.label for arm in compared(None, text=WITH_SCHEME, runs=1).arms] == ["none", "lle-tcp"]
    with pytest.raises(InputError, match=r"no \[\[scheme\]\] to compare"):
        comparison.run(SCENARIO)


@pytest.mark.parametrize(
    ("part", "tables"),
    [
        ("lle-tcp:a=1;b=x", {"a": 1, "b": "x"}),
        ('lle-tcp: at = ["a", "b"] ; b = "x;y,z"', {"at": ["a", "b"], "b": "x;y,z"}),
        ("lle-tcp:rate=1500 B", {"rate": "1500 B"}),
        ("lle-tcp:on=true;f=0.5", {"on": True, "f": 0.5}),
        ({"name": "lle-tcp", "a": 1, "b": "x"}, {"a": 1, "b": "x"}),
    ],
)
def test_parameters_are_toml_values_or_texts(core: Core, part: Any, tables: dict[str, Any]) -> None:
    parts = f"none,{part}" if isinstance(part, str) else ["none", part]
    arm = comparison.arms(SCENARIO, parts)[1]
    assert arm.tables == ({"name": "lle-tcp", **tables},)
    assert arm.scheme == "lle-tcp"


def test_a_table_is_labelled_as_the_command_line_would_spell_it(core: Core) -> None:
    arms = comparison.arms(SCENARIO, ["none", {"name": "lle-tcp", "sack": "keep", "gain": 2}])
    assert arms[1].label == "lle-tcp:sack=keep;gain=2"


# ---------------------------------------------------------------------------------------------------------- pairing


def test_every_arm_has_the_same_seeds_from_the_scenarios_own(seen: list[Any]) -> None:
    found = compared(runs=4)
    assert [[r["seed"] for r in found.runs[arm.label]] for arm in found.arms] == [[5, 6, 7, 8]] * 2
    assert found.seed == 5
    assert compared(runs=2, seed=9).seed == 9


def test_pairing_shows_what_two_intervals_would_hide(seen: list[Any]) -> None:
    found = compared()
    assert found.replications == 10
    none, lle = found.estimate("none"), found.estimate("lle-tcp")
    assert none.high > lle.low  # 10 % of 5 Mb/s of noise a run: the intervals of the means overlap
    d = found.difference("lle-tcp")
    assert d.estimate.mean == pytest.approx(1e5, rel=0.2)
    assert d.estimate.low > 0
    assert d.significant
    assert d.relative == pytest.approx(100 * (lle.mean / none.mean - 1))


def test_what_is_not_there_is_not_significant(seen: list[Any]) -> None:
    found = compared("none,lle-tcp:gain=0;noise=30")
    d = found.difference("lle-tcp:gain=0;noise=30")
    assert not d.significant
    assert d.estimate.low < 0 < d.estimate.high
    assert "no significant difference of goodput in 10 runs" in str(found)
    assert "n.s." in str(found)


def test_identical_arms_are_said_to_be_the_same(seen: list[Any]) -> None:
    found = compared("lle-tcp,file", text=WITH_SCHEME)
    assert found.difference("file").p_value == 1
    assert "file against lle-tcp: the same goodput in each of 10 runs." in str(found)


def test_one_run_has_no_interval_and_no_mark(seen: list[Any]) -> None:
    found = compared(runs=1)
    assert found.difference("lle-tcp").estimate.half_width is None
    assert math.isnan(found.difference("lle-tcp").p_value)
    assert "nothing can be said of goodput in 1 run, one run has no interval" in str(found)


def test_p_values_of_several_arms_are_corrected(seen: list[Any]) -> None:
    labels = ["lle-tcp", "lle-tcp:noise=20", "lle-tcp:gain=0"]
    found = compared(",".join(["none", *labels]))
    old = found.sample("none", "goodput_bps")
    raw = [stats.paired_p(found.sample(label, "goodput_bps"), old) for label in labels]
    assert [found.difference(label).p_value for label in labels] == stats.holm(raw)
    assert "Holm-corrected for 3 comparisons" in str(found)
    assert "Holm" not in str(compared())


def test_unknown_arms_and_metrics_are_suggested(seen: list[Any]) -> None:
    found = compared(runs=2)
    with pytest.raises(InputError, match='no arm "lle-tpc"; did you mean "lle-tcp"'):
        found.difference("lle-tpc")
    with pytest.raises(InputError, match="is what the others are compared with"):
        found.difference("none")
    with pytest.raises(InputError, match='did you mean "goodput"'):
        found.estimate("none", "flow.up.godput")
    assert found.difference("lle-tcp", "flow.up.timeouts").estimate.mean == -1


# ------------------------------------------------------------------------------------------------------- statistics


def test_paired_p_is_that_of_students_t() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3) = 3.4641 with 2 degrees of freedom: p = 0.0742, by the
    # closed form for 2 degrees p = 1 - t / sqrt(2 + t²).
    t = 2 * math.sqrt(3)
    p = stats.paired_p(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert p == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert p == pytest.approx(0.0742, abs=1e-4)


def test_paired_p_without_spread_or_numbers() -> None:
    one = np.ones(5)
    assert stats.paired_p(one, one) == 1
    assert stats.paired_p(2 * one, one) == 0
    assert math.isnan(stats.paired_p(one[:1], one[:1]))
    assert math.isnan(stats.paired_p(one, np.array([1.0, 1.0, np.nan, 1.0, 1.0])))


def test_holms_correction_by_hand() -> None:
    # 3 · 0.01 = 0.03; 2 · 0.04 = 0.08; 1 · 0.03 would be below: in order 0.01, 0.03, 0.04: 0.03, 0.06, max(0.06, 0.04).
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([0.7, 0.6]) == [1.0, 1.0]
    assert stats.holm([0.02]) == [0.02]
    corrected = stats.holm([0.01, math.nan, 0.03])
    assert corrected[0] == pytest.approx(0.02)
    assert math.isnan(corrected[1])
    assert stats.holm([]) == []


# ---------------------------------------------------------------------------------------------- command and formats


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], seen: list[Any]) -> Any:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            cli.main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return call


def without_clock(text: str) -> Any:
    return {k: v for k, v in json.loads(text).items() if k not in ("wall_s", "sim_s")}


def test_json_has_the_contracts_shape(command: Any, toy: Path) -> None:
    status, out, err = command("compare", toy, "--schemes", "none,lle-tcp", "--json", "-")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found) == ["scenario", "version", "seed", "runs", "wall_s", "sim_s", "baseline", "arms"]
    assert (found["scenario"], found["seed"], found["runs"], found["baseline"]) == ("toy", 5, 10, "none")
    none, lle = found["arms"]
    assert [(a["scheme"], a["label"]) for a in (none, lle)] == [("none", "none"), ("lle-tcp", "lle-tcp")]
    assert none["difference"] is None
    assert none["flows"][0]["id"] == "up"
    assert set(none["flows"][0]["goodput_bps"]) == {"mean", "ci95"}
    assert {"goodput_bps", "jain"} <= set(none["summary"])
    d = lle["difference"]["goodput_bps"]
    assert list(d) == ["mean", "ci95", "relative_percent", "p_value", "significant"]
    assert d["mean"] == pytest.approx(
        lle["summary"]["goodput_bps"]["mean"] - none["summary"]["goodput_bps"]["mean"], rel=1e-9
    )
    assert d["relative_percent"] == pytest.approx(100 * d["mean"] / none["summary"]["goodput_bps"]["mean"])
    assert d["significant"] is True
    assert set(lle["difference"]) == {"goodput_bps", "jain", "retransmissions", "timeouts", "rtt_mean_s"}
    same = command("compare", toy, "--schemes", "none,lle-tcp", "--json", "-")[1]
    assert without_clock(out) == without_clock(same)


def test_queue_drops_are_compared_where_runs_have_queues(command: Any, toy: Path, core: Core) -> None:
    assert "dropped" not in command("compare", toy, "--schemes", "none,lle-tcp")[1]
    core.queues = {"ap.air": 3, "server->ap": 4}
    assert "dropped" in command("compare", toy, "--schemes", "none,lle-tcp")[1]
    found = json.loads(command("compare", toy, "--schemes", "none,lle-tcp", "--json", "-")[1])
    assert found["arms"][0]["compared"]["dropped_packets"] == {"mean": 7, "ci95": 0}
    assert found["arms"][1]["difference"]["dropped_packets"]["p_value"] == 1
    assert [q["id"] for q in found["arms"][0]["queues"]] == ["ap.air", "server->ap"]


def test_table_has_a_row_an_arm_and_a_sentence_on_each(command: Any, toy: Path) -> None:
    _, out, err = command("compare", toy, "--schemes", "none,lle-tcp,lle-tcp:gain=-1")
    assert err == ""
    assert "\x1b" not in out
    rows = [line.split()[0] for line in out.splitlines() if "±" in line and line.startswith(" ")]
    assert rows == ["none", "lle-tcp", "lle-tcp:gain=-1"]
    assert re.search(
        r"^lle-tcp against none: goodput [\d.]+ % higher \(\+0\.\d+ ± [\d.]+ Mb/s, p < 0\.001\)\.$", out, re.M
    )
    assert re.search(r"^lle-tcp:gain=-1 against none: goodput [\d.]+ % lower \(-", out, re.M)
    assert "10 runs an arm, paired by common seeds from 5" in out
    assert "Holm-corrected for 2 comparisons" in out


def test_out_writes_figure_data_json_and_page(command: Any, toy: Path) -> None:
    folder = toy.parent / "out"
    assert (
        command("compare", toy, "--schemes", "none,lle-tcp", "--runs", 3, "--set", "radio.x=1", "--out", folder)[0] == 0
    )
    assert {p.name for p in folder.iterdir()} == {
        "comparison.csv",
        "comparison.parquet",
        "comparison.png",
        "comparison.svg",
        "differences.csv",
        "differences.parquet",
        "index.html",
        "interlayer.json",
        "result.json",
    }
    data = pl.read_parquet(folder / "comparison.parquet")
    assert data.select("arm", "seed").rows() == [(arm, seed) for arm in ("none", "lle-tcp") for seed in (5, 6, 7)]
    result = json.loads((folder / "result.json").read_text())
    differences = pl.read_csv(folder / "differences.csv")
    assert differences["mean"].to_list()[0] == pytest.approx(result["arms"][1]["difference"]["goodput_bps"]["mean"])
    page = (folder / "index.html").read_text()
    assert page.count("<svg") == 1
    beside = "|".join(f"{name}.{kind}" for name in ("comparison", "differences") for kind in ("csv", "parquet"))
    own = re.sub(rf'xlink:href="#[^"]*"|href="#[^"]*"|href="({beside})"', "", page)
    assert not re.search(r"(src|href)=", own)
    assert not FETCHES.search(own)
    for text in ("lle-tcp against none: goodput", "# --set radio.x=1", "scheme = [{ name = &quot;lle-tcp&quot; }]"):
        assert text in page


def test_ctrl_c_keeps_the_seeds_that_every_arm_has(command: Any, toy: Path, core: Core) -> None:
    core.stop_after = 7  # seed by seed over three arms: two seeds whole
    out = toy.parent / "out"
    arguments = ("compare", toy, "--schemes", "none,lle-tcp,lle-tcp:gain=2", "--json", "-", "--out", out)
    status, text, _ = command(*arguments)
    found = json.loads(text)
    assert (status, found["runs"], found["interrupted"]) == (130, 2, True)
    assert json.loads((out / "result.json").read_text())["runs"] == 2
    assert "interrupted: finished runs only" in (out / "index.html").read_text()


def test_ctrl_c_before_every_arm_has_a_run_writes_nothing(command: Any, toy: Path, core: Core) -> None:
    core.stop_after = 1
    arguments = ("--schemes", "none,lle-tcp", "--out", toy.parent / "out", "--json", toy.parent / "r.json")
    status, out, err = command("compare", toy, *arguments)
    assert (status, out) == (130, "")
    assert err.startswith("interlayer: interrupted: 1 of 20 runs are finished; give --store FILE")
    assert sorted(p.name for p in toy.parent.iterdir()) == ["toy.toml"]


# -------------------------------------------------------------------------------------------------------------- API


def test_api_compares_what_was_built_or_loaded(seen: list[Any], toy: Path, core: Core) -> None:
    found = interlayer.compare(toy, ["none", "lle-tcp"], runs=3)
    assert found.difference("lle-tcp").estimate.n == 3
    assert isinstance(found, interlayer.Comparison)
    changed = interlayer.load(toy).set("scenario.seed", 40)
    assert interlayer.compare(changed, "none,lle-tcp", runs=2).seed == 40
    assert str(found).splitlines()[0] == "toy: goodput against none"
    assert " s\n" not in f"{found}\n"  # no clock: the same every time
    with pytest.raises(InputError, match="runs: 0 is too few"):
        interlayer.compare(toy, runs=0)
    core.stop_after = 3
    with pytest.raises(interlayer.Interrupted) as caught:
        interlayer.compare(toy, "none,lle-tcp")
    assert isinstance(caught.value.result, interlayer.Comparison)
    assert caught.value.result.replications == 1


# ------------------------------------------------------------------------------------------------- metrics of one's own


def test_a_metric_that_is_asked_for_is_compared_beside_the_usual_ones(command: Any, toy: Path) -> None:
    asked = ("--metric", "mean(flow.*.timeouts)", "--metric", "flow.up.rtt_mean", "--metric", "summary.goodput")
    base = ("compare", toy, "--schemes", "none,lle-tcp,file", "--json", "-")
    plain, found = json.loads(command(*base)[1]), json.loads(command(*base, *asked)[1])
    # What was asked for is said, also where it is always compared.
    assert found["metrics"] == {
        "mean(flow.*.timeouts)": "mean(flow.*.timeouts)",
        "flow.up.rtt_mean_s": "flow.up.rtt_mean",
        "summary.goodput_bps": "summary.goodput",
    }
    for before, arm in zip(plain["arms"], found["arms"], strict=True):
        assert list(arm["compared"]) == [*before["compared"], *found["metrics"]]
        assert {name: arm["compared"][name] for name in before["compared"]} == before["compared"]
    lle = found["arms"][1]
    assert lle["compared"]["mean(flow.*.timeouts)"] == {"mean": 1, "ci95": 0}
    assert lle["difference"]["mean(flow.*.timeouts)"] == {
        "mean": -1,
        "ci95": 0,
        "relative_percent": -50,
        "p_value": 0,
        "significant": True,
    }
    assert "metrics" not in plain


def test_the_table_has_a_metric_that_is_asked_for_in_each_arm(command: Any, toy: Path) -> None:
    out = command("compare", toy, "--schemes", "none,lle-tcp", "--metric", "mean(flow.*.rtt_mean)")[1]
    assert "mean(flow.*.rtt_mean) in ms, against none" in out  # asked for, though it is compared already
    out = command("compare", toy, "--schemes", "none,lle-tcp", "--metric", "flow.up.rtt_mean")[1]
    below = out.partition("flow.up.rtt_mean in ms, against none")[2]
    assert re.search(r"^ none +20 ± 0\n lle-tcp +20 ± 0 +0 ± 0 +0 +1\.000 +n\.s\.$", below.replace("+", ""), re.M)
    folder = toy.parent / "out"
    command("compare", toy, "--schemes", "none,lle-tcp", "--metric", "flow.up.timeouts", "--runs", 2, "--out", folder)
    assert "flow.up.timeouts" in (folder / "index.html").read_text()
    assert "flow.up.timeouts" in pl.read_csv(folder / "differences.csv")["metric"].to_list()


def test_python_takes_metrics_as_a_sweep_does(core: Core, seen: list[Any], toy: Path) -> None:
    found = interlayer.compare(toy, "none,lle-tcp", metrics="flow.up.timeouts", runs=2)
    assert found.difference("lle-tcp", "flow.up.timeouts").estimate.mean == -1
    assert [m.name for m in found.measures] == ["flow.up.timeouts"]


def test_a_metric_that_is_unknown_is_told_before_anything_is_run(command: Any, toy: Path, core: Core) -> None:
    asked = ("--schemes", "none,lle-tcp", "--metric", "flow.up.rtt_maen")
    status, out, err = command("compare", toy, *asked)
    assert (status, out) == (2, "")
    assert err == 'interlayer: --metric: no metric "rtt_maen"; did you mean "rtt_mean"?\n'
    assert sum(core.batches) <= 2  # a millisecond of each arm


@pytest.mark.core
def test_with_the_core_an_arm_that_has_no_such_counter_has_a_dash() -> None:
    cell = interlayer.wlan(rate="11 Mb/s", flow=interlayer.tcp("reno", preset="rfc"), duration="2 s", warmup="0 s")
    found = interlayer.compare(cell, "none,lle-tcp", metrics="scheme.lle-tcp@sta1.acks_made", runs=2)
    assert not np.isfinite(found.sample("none", "scheme.lle-tcp@sta1.acks_made")).any()
    assert found.sample("lle-tcp", "scheme.lle-tcp@sta1.acks_made").min() > 0
    rows = [line.split() for line in str(found).partition("acks_made, against none")[2].splitlines()]
    assert ["none", "–"] in rows
    assert next(row[1] for row in rows if row[:1] == ["lle-tcp"]) != "–"


# ---------------------------------------------------------------------------------------------------- errors in Python


@pytest.mark.parametrize(
    ("call", "path", "says"),
    [
        (lambda s: interlayer.compare(s, "none"), "schemes", "schemes: it takes two to compare, as in none,lle-tcp"),
        (lambda s: interlayer.compare(s, "none,lle-tpc"), "schemes", 'schemes: no scheme "lle-tpc"; did you mean'),
        (lambda s: interlayer.compare(s, arms={"a": {}}), "arms", 'arms: "a" sets nothing'),
        (lambda s: interlayer.compare(s, arms={"a": {"scheme": "lle-tpc"}}), "arms a", 'arms a: no scheme "lle-tpc"'),
        (lambda s: interlayer.compare(s, "none,lle-tcp", metrics="flow.0.x"), "metrics", 'metrics: no metric "x"'),
        (lambda s: interlayer.compare(s), "scheme", 'say which: schemes="none,lle-tcp" (`interlayer list schemes`'),
        (lambda s: interlayer.compare(s.set("scheme", []), "none,lle-tcp"), "scheme", 'so: schemes="none,lle-tcp'),
        (lambda s: interlayer.sweep(s, {}), "over", "over: nothing to sweep"),
        (lambda s: interlayer.sweep(s, {"radio.x": [1, 1]}), "over", "over: radio.x: 1 comes twice"),
        (lambda s: interlayer.sweep(s.set("radio.x", 3), {"radio.x": [1, 2]}), "radio.x", "over: radio.x is set, and"),
        (lambda s: interlayer.sweep(s, {"radio.x": [1]}, metrics="flow.0.x"), "metrics", 'metrics: no metric "x"'),
        (lambda s: interlayer.run(s, store="/nowhere/runs"), "store", "store: no folder /nowhere"),
        (lambda s: interlayer.compare(s, "none,lle-tcp", engine="dsak://x"), "engine", "engine: "),
    ],
)
def test_in_python_an_error_names_the_parameter(seen: list[Any], call: Any, path: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        call(interlayer.Scenario(SCENARIO))
    assert says in str(caught.value)
    assert "--" not in str(caught.value)
    assert caught.value.path == path


def test_a_result_names_no_option(seen: list[Any]) -> None:
    swept = interlayer.sweep(interlayer.Scenario(SCENARIO), {"radio.x": [1]}, runs=1)
    with pytest.raises(InputError, match=r'^no metric "rtt_maen"; did you mean "rtt_mean"\?$'):
        swept.estimate(swept.cells[0], "flow.0.rtt_maen")


# ------------------------------------------------------------------------------------------------------ the real core


@pytest.mark.core
def test_with_the_core_the_gain_is_that_of_two_runs_side_by_side() -> None:
    cell = interlayer.wlan(rate="11 Mb/s", flow=interlayer.tcp("reno", preset="rfc"), duration="4 s", warmup="1 s")
    cured = interlayer.wlan(
        rate="11 Mb/s", flow=interlayer.tcp("reno", preset="rfc"), duration="4 s", warmup="1 s", scheme="lle-tcp"
    )
    found = interlayer.compare(cell, "none,lle-tcp", seed=1, runs=5)
    gain = interlayer.run(cured, seed=1, runs=5).gain_over(interlayer.run(cell, seed=1, runs=5), "summary.goodput")
    d = found.difference("lle-tcp")
    assert d.relative == pytest.approx(100 * gain.mean)
    assert d.significant


@pytest.mark.core
def test_with_the_core_a_wrong_parameter_is_named_with_its_arm() -> None:
    cell = interlayer.wlan(duration="1 s", warmup="0 s")
    with pytest.raises(InputError, match=r'lle-tcp:sakc=keep: scheme\[0\]\.sakc: no such key; did you mean "sack"'):
        interlayer.compare(cell, "none,lle-tcp:sakc=keep")


# --------------------------------------------------------------------------------------------------- arms that set keys


def test_an_arm_sets_any_key_and_is_compared_with_the_file(core: Core) -> None:
    seen: list[Any] = []

    def watched(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        seen.append((data["flow"][0]["transport"].get("congestion"), data.get("scheme")))
        return model(data, rng)

    core.model = watched
    found = compared(None, arms={"veno": {"flow.*.transport.congestion": "veno"}}, runs=1)
    assert [arm.label for arm in found.arms] == ["file", "veno"]
    assert seen == [(None, None), ("veno", None)]


def test_a_comparison_of_arms_says_that_the_scenario_itself_is_not_among_them(seen: list[Any]) -> None:
    one, two = {"radio.x": 1}, {"radio.x": 2}
    note = 'The scenario as it stands is not one of the arms; name it: --schemes file, in Python schemes="file".'
    assert note in str(compared(None, arms={"one": one, "two": two}, runs=2))
    assert html.escape(note) in compared(None, arms={"one": one, "two": two}, runs=2)._repr_html_()
    assert "as it stands" not in str(compared(None, arms={"one": one}, runs=2))
    assert "as it stands" not in str(compared("file", arms={"one": one, "two": two}, runs=2))
    assert "as it stands" not in str(compared("none,lle-tcp", runs=2))


def test_of_several_arms_the_first_is_the_baseline_and_schemes_come_before_them(seen: list[Any]) -> None:
    two = {"lle": {"scheme": "lle-tcp:gain=2", "radio.rts_threshold": "0 B"}, "off": {"scheme": "none"}}
    assert [a.label for a in compared(None, arms=two, runs=1).arms] == ["lle", "off"]
    assert seen == [[{"name": "lle-tcp", "gain": 2}], []]
    assert [a.label for a in compared("none,lle-tcp", arms=two, runs=1).arms] == ["none", "lle-tcp", "lle", "off"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["veno"], '--arm: "veno" is no NAME=PATH=VALUE'),
        (["=radio.x=1"], "is no NAME=PATH=VALUE"),
        (["veno=radio.x"], '--arm: "radio.x" in "veno" is no PATH=VALUE'),
        (["veno=radio.x=1;;radio.y=2"], 'an empty part in "radio.x=1;;radio.y=2"'),
        (["veno=radio.x=1;radio.x=2"], '--arm: radio.x comes twice in "veno"'),
        (["veno=radio.x=1", "veno=radio.x=2"], '--arm: radio.x comes twice in "veno"'),
        (["veno=scheme=lle-tpc"], '--arm veno: no scheme "lle-tpc"; did you mean "lle-tcp"?'),
        (["veno=flwo.x=1"], "toy.toml: veno: flwo: unknown key"),
        (["none=radio.x=1"], None),
    ],
)
def test_wrong_arms_are_one_plain_line(
    given: list[str], says: str | None, core: Core, call: Any, tmp_path: Path
) -> None:
    (tmp_path / "toy.toml").write_text(SCENARIO)
    words = [word for text in given for word in ("--arm", text)]
    schemes = ["--schemes", "none"] if says is None else []
    status, out, err = call("compare", tmp_path / "toy.toml", *schemes, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert (says or '--arm: "none" comes twice') in err
    assert core.batches == []


def test_an_arm_may_append_several_entries(core: Core, call: Any, tmp_path: Path) -> None:
    core.model = model
    (tmp_path / "toy.toml").write_text(SCENARIO)
    first, second = 'flow.+={ from = "a", to = "b" }', 'flow.+={ from = "b", to = "a" }'
    status, out, _ = call("compare", tmp_path / "toy.toml", "--arm", f"two={first};{second}", "--set", first, "--set",
                          second, "--json", "-")  # fmt: skip
    assert status == 0
    texts = [text.removeprefix("flow.+=") for text in (first, second)]
    found = json.loads(out)
    assert (found["arms"][1]["set"], found["set"]) == ({"flow.+": texts}, {"flow.+": texts})


def test_json_and_page_say_what_an_arm_sets(core: Core, call: Any, tmp_path: Path) -> None:
    core.model = model
    (tmp_path / "toy.toml").write_text(SCENARIO)
    arm = 'a=radio.rts_threshold="0 B"'
    status, out, _ = call("compare", tmp_path / "toy.toml", "--arm", arm, "--arm", "a=scheme=none", "--json", "-",
                          "--out", tmp_path / "out")  # fmt: skip
    assert status == 0
    first, second = json.loads(out)["arms"]
    assert (first["label"], "set" in first) == ("file", False)
    assert (second["scheme"], second["set"]) == ("none", {"radio.rts_threshold": '"0 B"'})
    assert "radio.rts_threshold = &quot;0 B&quot;" in (tmp_path / "out" / "index.html").read_text("utf-8")
