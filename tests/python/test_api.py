"""The Python API over the test double."""

from __future__ import annotations

import re
import sys
import tomllib
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import interlayer
from interlayer.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from fake_core import Core


def two(**more: object) -> interlayer.Scenario:
    flow = interlayer.tcp("veno", receiver="every", datagram="1500 B")
    return interlayer.wlan(rate="11 Mb/s", flow=flow, **more)  # type: ignore[arg-type]


def test_every_public_name_is_there() -> None:
    for name in set(interlayer.__all__) - {"__version__"}:
        assert getattr(interlayer, name) is not None
    assert set(interlayer.__all__) <= set(dir(interlayer))
    with pytest.raises(AttributeError, match="no attribute 'wlam'"):
        interlayer.wlam  # noqa: B018


def test_wlan_is_the_scenario_one_would_write() -> None:
    found = tomllib.loads(two(loss=0.01, scheme="lle-tcp", radio={"rts_threshold": "0 B"}).text)
    assert found["radio"] == {"standard": "802.11b", "data_rate": "11 Mb/s", "rts_threshold": "0 B"}
    assert found["channel"]["errors"] == {"model": "packet", "per": 0.01, "at": "attempt"}
    assert [n["name"] for n in found["node"]] == ["sta1", "receiver"]
    assert found["scheme"] == [{"name": "lle-tcp"}]
    assert found["flow"] == [
        {
            "from": "sta1",
            "to": "receiver",
            "transport": {"protocol": "tcp", "congestion": "veno", "receiver": "every", "datagram": "1500 B"},
            "traffic": {"model": "bulk"},
        }
    ]


def test_wlan_with_many_stations_has_a_flow_each() -> None:
    flows = [interlayer.tcp("reno"), interlayer.udp(rate="1 Mb/s")]
    found = tomllib.loads(interlayer.wlan(3, flow=flows).text)
    assert [(f["from"], f["to"]) for f in found["flow"]] == [("sta1", "receiver"), ("sta2", "receiver")]
    assert found["flow"][1]["traffic"] == {"model": "cbr", "rate": "1 Mb/s"}
    assert found["flow"][1]["transport"] == {"protocol": "udp", "datagram": "1500 B"}
    assert "scheme" not in found


def test_wlan_with_an_access_point_downloads_from_a_server_behind_it() -> None:
    page = {"model": "http", "page_every": "20 s"}
    found = tomllib.loads(interlayer.wlan(2, ap=True, traffic=page, wire={"rate": "1 Gb/s", "delay": "5 ms"}).text)
    assert found["node"] == [{"name": "ap", "role": "ap"}, {"name": "sta1"}, {"name": "sta2"}, {"name": "server"}]
    assert found["link"] == [{"name": "wire", "between": ["server", "ap"], "rate": "1 Gb/s", "delay": "5 ms"}]
    assert [(f["name"], f["from"], f["to"]) for f in found["flow"]] == [
        ("down1", "server", "sta1"),
        ("down2", "server", "sta2"),
    ]
    assert all(f["traffic"] == page for f in found["flow"])


def test_wlan_in_both_directions_has_those_up_first() -> None:
    found = tomllib.loads(interlayer.wlan(2, ap=True, direction="both", traffic="bulk").text)
    names = [(f["name"], f["from"], f["to"]) for f in found["flow"]]
    assert names[:3] == [("up1", "sta1", "server"), ("up2", "sta2", "server"), ("down1", "server", "sta1")]
    without = tomllib.loads(interlayer.wlan(3, direction="down").text)
    assert [(f["from"], f["to"]) for f in without["flow"]] == [("receiver", "sta1"), ("receiver", "sta2")]


def test_wlan_refuses_what_makes_no_cell() -> None:
    with pytest.raises(interlayer.InputError, match="stations: 0 is too few"):
        interlayer.wlan(0, ap=True)
    with pytest.raises(interlayer.InputError, match="1 flows for 4 directions"):
        interlayer.wlan(2, ap=True, direction="both", flow=[interlayer.tcp()])
    with pytest.raises(interlayer.InputError, match='direction: no "sideways"; expected "up", "down" or "both"'):
        interlayer.wlan(2, direction="sideways")  # type: ignore[arg-type]
    with pytest.raises(interlayer.InputError, match="stations: 1 is too few"):
        interlayer.wlan(1)
    with pytest.raises(interlayer.InputError, match="1 flows for 2 senders"):
        interlayer.wlan(3, flow=[interlayer.tcp()])


def test_run_gives_frames_with_a_row_per_run(core: Core) -> None:
    r = interlayer.run(two(scheme="lle-tcp"), seed=5, runs=3, series=True)
    assert r.seeds == [5, 6, 7]
    assert r.flows["seed"].to_list() == [5, 6, 7]
    assert r.flows.columns[:4] == ["seed", "id", "from", "to"]
    assert len(r.nodes) == 6
    assert r.frames["class"].to_list() == ["data"] * 3
    assert r.schemes["scheme"].to_list() == ["lle-tcp"] * 3
    assert r.summary.columns == ["seed", "goodput_bps", "jain"]
    assert r.series.columns == ["seed", "name", "t_s", "value"]
    assert len(r.series) == 15


def test_frames_without_entries_are_empty(core: Core) -> None:
    r = interlayer.run(two())
    assert len(r.schemes) == 0
    assert len(r.series) == 0


def test_seed_is_the_scenarios_own_unless_given(core: Core) -> None:
    own = two().set("scenario.seed", 42)
    assert interlayer.run(own).seeds == [42]
    assert interlayer.run(own, seed=1).seeds == [1]


def test_set_changes_a_copy(core: Core) -> None:
    base = two()
    small = base.set("flow.0.transport.datagram", "500 B")
    assert base.changes == ()
    assert interlayer.run(small).sample("flow.0.goodput")[0] < interlayer.run(base).sample("flow.0.goodput")[0]
    assert interlayer.run(small).text == f'{base.text}\n# with flow.0.transport.datagram = "500 B"\n'
    assert tomllib.loads(small.to_toml())["flow"][0]["transport"]["datagram"] == "500 B"
    assert base.to_toml() == base.text


@pytest.mark.core
def test_a_changed_scenario_is_a_file_that_runs_to_the_same_bits(tmp_path: Path) -> None:
    page = {"model": "http", "page_every": "1 s"}
    cell = interlayer.wlan(2, ap=True, flow=interlayer.tcp("cubic"), traffic=["bulk", page], duration="3 s")
    changed = cell.set("flow.*.transport.congestion", "veno").set("radio.queue", {"discipline": "codel", "packets": 80})
    file = tmp_path / "changed.toml"
    file.write_text(changed.to_toml())
    one, other, base = (repr(interlayer.run(what).runs[0]["flows"]) for what in (changed, file, cell))
    assert one == other  # as texts: what is undefined is nan
    assert one != base
    with pytest.raises(InputError, match=r"radio\.x: no such key"):
        cell.set("radio.x", 1).to_toml()


def test_estimate_and_paired_gain(core: Core) -> None:
    old, new = interlayer.run(two(), runs=10), interlayer.run(two(scheme="lle-tcp"), runs=10)
    mean = new.flows["goodput_bps"].mean()
    assert new.estimate("flow.0.goodput").mean == pytest.approx(mean)
    gain = new.gain_over(old, "flow.0.goodput")
    assert gain.low > 0.3
    with pytest.raises(interlayer.InputError, match="same seeds"):
        new.gain_over(interlayer.run(two(), seed=2, runs=10), "flow.0.goodput")


def test_core_errors_become_ours_with_path_and_text(core: Core) -> None:
    with pytest.raises(interlayer.InputError, match="chanel: unknown key") as caught:
        interlayer.run(two().set("chanel", 1))
    assert caught.value.path == "chanel"
    assert isinstance(caught.value, interlayer.InterlayerError)
    assert isinstance(caught.value, ValueError)


def test_load_and_parse(core: Core, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(two().text)
    assert interlayer.load(tmp_path / "s.toml").text == two().text
    assert interlayer.run(tmp_path / "s.toml").seeds == [1]
    with pytest.raises(interlayer.InputError, match="no such file"):
        interlayer.load(tmp_path / "t.toml")
    with pytest.raises(interlayer.InputError):
        interlayer.parse("[scenario")


def test_interruption_carries_the_finished_runs(core: Core) -> None:
    core.stop_after = 2
    with pytest.raises(interlayer.Interrupted) as caught:
        interlayer.run(two(), runs=5)
    assert caught.value.result is not None
    assert caught.value.result.seeds == [1, 2]
    assert str(caught.value).startswith("2 of 5 runs are finished; this exception has them in .result")
    assert 'with store="FILE" the same call would go on' in str(caught.value)
    assert isinstance(caught.value, KeyboardInterrupt)  # stops a notebook, is not swallowed by `except Exception`
    core.stop_after = 0
    with pytest.raises(interlayer.Interrupted) as caught:
        interlayer.run(two())
    assert caught.value.result is None
    assert str(caught.value).startswith("no run is finished; with store=")


@pytest.mark.parametrize("call", ["compare", "sweep"])
def test_an_interrupted_call_says_how_many_runs_of_how_many_there_are(core: Core, tmp_path: Path, call: str) -> None:
    core.stop_after = 5
    store = tmp_path / "runs.sqlite"
    given: Any = "none,lle-tcp" if call == "compare" else {"scheme": ["none", "lle-tcp"]}
    with pytest.raises(interlayer.Interrupted) as caught:
        getattr(interlayer, call)(two(), given, runs=10, store=store, metrics="goodput")
    assert re.match(r"5 of 20 runs are finished; this exception has them in \.result", str(caught.value))
    assert str(caught.value).endswith(f"the same call goes on from there: {store} has these runs")
    assert caught.value._render_traceback_() == [f"Interrupted: {caught.value}"]


def test_a_notebook_shows_a_mistake_as_its_line_alone(core: Core) -> None:
    with pytest.raises(interlayer.InputError) as caught:
        interlayer.run(two().set("rodio.rts_threshold", "0 B"))
    assert caught.value._render_traceback_() == [f"InputError: {caught.value}"]


def test_the_names_of_tables_are_metrics_of_a_result_as_of_a_comparison(core: Core) -> None:
    r, compared = interlayer.run(two(), runs=3), interlayer.compare(two(), "none,lle-tcp", runs=3)
    for name in ("goodput", "rtt_mean", "retransmissions", "jain"):
        assert r.estimate(name) == compared.estimate("none", name)
    assert r.sample("goodput_bps").tolist() == r.summary["goodput_bps"].to_list()
    with pytest.raises(interlayer.InputError, match='no metric "gootput"; did you mean "goodput"'):
        r.estimate("gootput")


def test_series_that_were_not_kept_are_a_mistake_and_those_kept_go_by_their_names(core: Core) -> None:
    with pytest.raises(interlayer.InputError, match="no time series were kept: run with series=True"):
        interlayer.run(two()).to_pandas("series")
    r = interlayer.run(two(), series=True)
    (name,) = r.series["name"].unique()
    assert len(r.plot_series(name).axes) == len(r.plot_series(name.removesuffix("_bytes")).axes) == 1
    with pytest.raises(interlayer.InputError, match="no time series"):
        r.plot_series(name + "x")


def test_reproduce_returns_claims_with_verdict_and_why(core: Core) -> None:
    outcome = interlayer.reproduce("lle-fig-3.7b", readings="base")
    assert [str(s.verdict) for s in outcome.scored] == ["holds", "differs", "holds", "holds", "differs"]
    # With one ACK per segment, which the paper does not exclude, the gain at 1500 B is twice the printed one.
    varied = interlayer.reproduce("lle-fig-3.7b")
    assert [str(s.verdict) for s in varied.scored] == ["depends", "differs", "holds", "holds", "differs"]


# -------------------------------------------------------------------------------------------------- wrong words to wlan


def test_traffic_is_one_for_all_flows_or_one_for_each() -> None:
    page = {"model": "http", "page_every": "1 s"}
    found = tomllib.loads(interlayer.wlan(3, ap=True, traffic=["bulk", page, "ftp"]).to_toml())
    assert [flow["traffic"] for flow in found["flow"]] == [{"model": "bulk"}, page, {"model": "ftp"}]
    with pytest.raises(InputError, match=r"^traffic: 2 entries for 3 flows; give one, or one for each$"):
        interlayer.wlan(3, ap=True, traffic=["bulk", page])


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_what_losses_are_drawn_for_is_checked_at_once(loss: float) -> None:
    with pytest.raises(InputError, match=r'^loss_at: no "frame"; expected "attempt" or "msdu"$'):
        interlayer.wlan(loss=loss, loss_at="frame")
    assert 'at = "msdu"' in interlayer.wlan(loss=0.1, loss_at="msdu").to_toml()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda c: interlayer.wlan("2"), "stations: expected a whole number, not '2'"),
        (lambda c: interlayer.wlan(True), "stations: expected a whole number, not True"),
        (lambda c: interlayer.wlan(flow=[3]), "flow: expected what tcp() or udp() give, or a list of them, not [3]"),
        (lambda c: interlayer.wlan(flow="cubic"), "flow: expected what tcp() or udp() give"),
        (lambda c: interlayer.wlan(traffic=3), "traffic: expected a model's name or table, or a list of them, not 3"),
        (lambda c: interlayer.wlan(scheme=[3]), "scheme: expected a scheme's name or table"),
        (lambda c: interlayer.wlan(ap=True, wire=3), "wire: expected a table, as in"),
        (lambda c: interlayer.wlan(radio=3), "radio: expected a table, as in"),
        (lambda c: c.set(3, 4), "path: expected a key's path"),
        (lambda c: interlayer.parse(3), "text: expected TOML text, not 3"),
        (lambda c: interlayer.run(3), "scenario: expected a scenario or a file's path, not 3"),
        (lambda c: interlayer.run(c, runs="3"), "runs: expected a whole number, not '3'"),
        (lambda c: interlayer.run(c, runs=None), "runs: expected a whole number, not None"),
        (lambda c: interlayer.run(c, runs=2.5), "runs: expected a whole number, not 2.5"),
        (lambda c: interlayer.run(c, seed="1"), "seed: expected a whole number, not '1'"),
        (lambda c: interlayer.run(c, jobs="1"), "jobs: expected a whole number, not '1'"),
        (lambda c: interlayer.run(c, timeline=3), 'timeline: expected a text such as "2 s..2.01 s", not 3'),
        (lambda c: interlayer.run(c, pcap=3), "pcap: expected a folder's path, not 3"),
        (lambda c: interlayer.run(c, store=3), "store: expected a file's path, not 3"),
        (lambda c: interlayer.compare(c, arms=3), "arms: expected names and what each sets, as in"),
        (lambda c: interlayer.compare(c, arms={"a": 3}), "arms: expected names and what each sets"),
        (lambda c: interlayer.compare(c, arms={3: {"a": 1}}), "arms: expected names and what each sets"),
        (lambda c: interlayer.compare(c, [3, 4]), "schemes: expected names or tables, as in"),
        (lambda c: interlayer.compare(c, "none,lle-tcp", metrics=[3]), "metrics: expected a metric or a list of them"),
        (lambda c: interlayer.compare(c, "none,lle-tcp", engine=3), "engine: expected a text such as"),
        (lambda c: interlayer.compare(c, "none,lle-tcp", runs=None), "runs: expected a whole number, not None"),
        (lambda c: interlayer.sweep(c, [1]), "over: expected paths and their values, as in"),
        (lambda c: interlayer.sweep(c, {3: [1]}), "over: expected paths and their values, as in"),
        (lambda c: interlayer.sweep(c, {"radio.x": [1]}, runs="3"), "runs: expected a whole number"),
        (lambda c: interlayer.reproduce(3), "experiment: expected the id of an experiment, or a file's path, not 3"),
        (lambda c: interlayer.reproduce("lle-fig-3.7b", runs=0), "runs: 0 is too few"),
        (lambda c: interlayer.reproduce("lle-fig-3.7b", readings="x"), "readings: 'x' is none of"),
    ],
)
def test_a_wrong_type_is_one_line_that_names_the_parameter(call: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        call(two())
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_numbers_of_numpy_are_numbers(core: Core) -> None:
    assert len(interlayer.run(two(), runs=np.int64(2), seed=np.int64(3)).runs) == 2


# ------------------------------------------------------------------------------------------- what is no such thing


WRONG = [None, 3, 2.5, [], [1], {1: 2}, b"x", object(), (), [None], float("nan")]


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    cell = interlayer.wlan(2, duration="50 ms", warmup="0 s", rate="11 Mb/s")
    over = {"radio.rts_threshold": ["off", "0 B"]}
    return {
        "run": interlayer.run(cell, runs=2),
        "compare": interlayer.compare(cell, "none,lle-tcp", runs=2),
        "sweep": interlayer.sweep(cell, over, runs=2),
    }


@pytest.mark.core
@pytest.mark.parametrize(
    ("of", "method", "parameter"),
    [
        ("run", "sample", "metric"),
        ("run", "estimate", "metric"),
        ("run", "plot", "metric"),
        ("run", "plot_series", "name"),
        ("run", "to_pandas", "table"),
        ("run", "save", "folder"),
        ("run", "write_trace", "path_of_file"),
        ("compare", "sample", "label"),
        ("compare", "estimate", "label"),
        ("compare", "difference", "label"),
        ("compare", "save", "folder"),
        ("sweep", "measure", "metric"),
        ("sweep", "to_pandas", "table"),
        ("sweep", "save", "folder"),
        ("sweep", "at", "cell"),
        ("sweep", "axis", "path"),
    ],
)
def test_a_wrong_type_is_a_line_that_names_the_parameter(
    of: str, method: str, parameter: str, results: dict[str, Any]
) -> None:
    for wrong in WRONG:
        with pytest.raises(InputError) as caught:
            getattr(results[of], method)(wrong, *(["goodput"] if (of, method) == ("compare", "sample") else []))
        assert str(caught.value).startswith(f"{parameter}: "), caught.value
        assert "\n" not in str(caught.value)


@pytest.mark.core
def test_a_gain_over_what_is_no_result_and_a_cell_that_is_none(results: dict[str, Any]) -> None:
    for wrong in (*WRONG, "x"):
        with pytest.raises(InputError, match=r"^other: expected what run\(\) gave, not "):
            results["run"].gain_over(wrong, "flow.0.goodput")
    for wrong in ((), (9,), (0, 0), "x"):
        with pytest.raises(InputError, match=r"^cell: .* is none of them; \.cells has all"):
            results["sweep"].sample(wrong, "goodput")


@pytest.mark.core
@pytest.mark.parametrize(
    ("function", "parameter"),
    [
        ("wlan", "stations"),
        ("wlan", "ap"),
        ("wlan", "rate"),
        ("wlan", "standard"),
        ("wlan", "flow"),
        ("wlan", "traffic"),
        ("wlan", "wire"),
        ("wlan", "loss"),
        ("wlan", "loss_at"),
        ("wlan", "scheme"),
        ("wlan", "duration"),
        ("wlan", "radio"),
        ("wlan", "name"),
        ("tcp", "congestion"),
        ("udp", "datagram"),
        ("udp", "rate"),
        ("parse", "text"),
        ("load", "path"),
        ("run", "series"),
        ("run", "runs"),
        ("run", "parts"),
        ("run", "store"),
        ("compare", "schemes"),
        ("compare", "arms"),
        ("compare", "metrics"),
        ("sweep", "over"),
        ("sweep", "quick"),
        ("reproduce", "experiment"),
        ("reproduce", "quick"),
    ],
)
def test_a_wrong_type_of_any_parameter_is_the_packages_own_exception(function: str, parameter: str) -> None:
    cell = interlayer.wlan(2, duration="10 ms", warmup="0 s")
    others: dict[str, dict[str, Any]] = {
        "run": {"scenario": cell},
        "compare": {"scenario": cell, "schemes": "none,lle-tcp"},
        "sweep": {"scenario": cell, "over": {"radio.rts_threshold": ["off"]}, "runs": 1},
        "reproduce": {"experiment": "lle-fig-3.9"},
    }
    for wrong in (b"x", object(), {1: 2}, [None], 10**9 if parameter == "stations" else [object()]):
        given = others.get(function, {}) | {parameter: wrong}
        if parameter == "quick":
            given.pop("runs", None)
        with pytest.raises(InputError) as caught:
            getattr(interlayer, function)(**given)
        named = {"path": "scenario"}.get(parameter, parameter)
        assert str(caught.value).startswith((f"{named}:", f"{named}[")) or "no place in a scenario" in str(caught.value)


@pytest.mark.core
def test_a_cell_that_no_memory_holds_is_refused_with_how_many_may_be_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    from interlayer import machine

    monkeypatch.setattr(machine, "free_memory", lambda: 4_000_000_000)
    for stations in (10**9, 10**18):
        with pytest.raises(InputError) as caught:
            interlayer.wlan(stations, ap=True)
        found = re.fullmatch(
            rf"stations: {stations} are too many; (\d+) are the most here: "
            r"a run takes \d+ B of memory for each pair of nodes, and 4 GB are free",
            str(caught.value),
        )
        assert found is not None, caught.value
        assert 8000 < int(found[1]) < 12000
    most = int(found[1])
    assert interlayer.parse(interlayer.wlan(most, ap=True).text) is not None, "so many are allowed, and fit"
    monkeypatch.setattr(machine, "free_memory", lambda: None)
    with pytest.raises(InputError, match=r"are too many; 64998 are the most here: no scenario has more nodes"):
        interlayer.wlan(10**9, ap=True)


@pytest.mark.core
def test_to_pandas_says_what_to_install(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (results["run"], results["sweep"]):
        with pytest.raises(
            InputError, match=r'needs pandas, which is not installed: pip install "interlayer\[pandas\]"'
        ):
            result.to_pandas()
    made: list[dict[str, list[Any]]] = []
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=lambda columns: made.append(columns)))
    results["run"].to_pandas("summary")
    assert made[0]["seed"] == [1, 2]
    results["sweep"].to_pandas()
    assert made[1]["radio.rts_threshold"] == ["off", "off", "0 B", "0 B"]
    with pytest.raises(InputError, match=r'table: no "flow"; did you mean "flows"\?'):
        results["run"].to_pandas("flow")


def test_what_is_no_cell_and_no_comparison_of_an_experiment_is_said(core: Core) -> None:
    found = interlayer.reproduce("lle-fig-3.9", quick=True)
    assert found.estimate(found.cells()[0]).n == 3
    assert found.gain(found.experiment.comparisons[0], found.cells()[0].at) is not None
    for wrong in (*WRONG, "x"):
        for method, named in (("estimate", "cell"), ("derived", "what")):
            with pytest.raises(InputError, match=f"^{named}: "):
                getattr(found, method)(wrong)
        with pytest.raises(InputError, match=r"^comparison: expected one of \.experiment\.comparisons, not "):
            found.gain(wrong, ())  # type: ignore[arg-type]
