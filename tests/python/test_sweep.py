"""Sweeps: which cells there are, what is refused before anything is run, what is shown and written."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import interlayer
from interlayer.errors import InputError
from interlayer.study import sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fake_core import Core

SCENARIO = """
[scenario]
name = "toy"
seed = 5
[radio]
[channel]
errors = { model = "packet", per = 0.0 }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
name = "up"
from = "a"
to = "b"
transport = { protocol = "tcp", datagram = "1500 B", receiver = "every" }
"""
OVER = {"channel.errors.per": [0.0, 0.1], "scheme": ["none", "lle-tcp"]}


def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """5 Mb/s less the loss, 1 Mb/s more with a scheme, and a noise that is the seed's own."""
    per, schemes = data["channel"]["errors"]["per"], len(data.get("scheme", []))
    return {"goodput_bps": 5e6 * (1 - per) + 1e6 * schemes + 1e5 * rng.standard_normal()}


@pytest.fixture
def seen(core: Core) -> list[tuple[Any, Any]]:
    """(per, scheme) of every run, in order; over `model`."""
    found: list[tuple[Any, Any]] = []

    def watched(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        found.append((data["channel"]["errors"]["per"], data.get("scheme")))
        return model(data, rng)

    core.model = watched
    return found


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(SCENARIO)
    return path


def swept(over: Any = None, **options: Any) -> interlayer.Sweep:
    return interlayer.sweep(interlayer.Scenario(SCENARIO), OVER if over is None else over, **options)


# -------------------------------------------------------------------------------------------------------------- cells


def test_it_is_every_combination_with_common_seeds_from_the_scenarios_own(seen: list[tuple[Any, Any]]) -> None:
    found = swept(runs=3)
    assert found.cells == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [[r["seed"] for r in runs] for runs in found.runs.values()] == [[5, 6, 7]] * 4
    probe, *runs = seen
    assert probe == (0.0, [])
    lle = [{"name": "lle-tcp"}]
    assert sorted(map(str, runs)) == sorted(map(str, [(p, s) for p in (0.0, 0.1) for s in ([], lle)] * 3))


def test_a_row_is_a_cell_and_a_seed_and_the_summary_has_n_mean_and_interval(seen: list[Any]) -> None:
    found = swept(runs=4)
    rows = found.rows
    assert rows.columns[:4] == ["channel.errors.per", "scheme", "seed", "goodput_bps"]
    assert rows.height == 16
    here = rows.filter((pl.col("channel.errors.per") == 0.1) & (pl.col("scheme") == "lle-tcp"))["goodput_bps"]
    line = found.summary.filter(
        (pl.col("channel.errors.per") == 0.1) & (pl.col("scheme") == "lle-tcp") & (pl.col("metric") == "goodput_bps")
    ).row(0, named=True)
    assert line["n"] == 4
    assert line["mean"] == pytest.approx(here.mean())
    std = here.std()
    assert isinstance(std, float)
    assert line["ci95"] == pytest.approx(3.182446 * std / 2, rel=1e-6)  # t of three degrees of freedom


def test_the_noise_of_a_seed_is_that_of_every_cell(seen: list[Any]) -> None:
    found = swept(runs=5)
    differences = found.sample((0, 1), "goodput") - found.sample((0, 0), "goodput")
    assert differences == pytest.approx([1e6] * 5)


def test_values_are_texts_with_commas_lists_tables_or_words(core: Core) -> None:
    parts = {
        "radio.rts_threshold": "off,0 B, 500 B",
        "flow.up.x": '[1, 2],"a,b"',
        "channel.errors.per": np.array([0.5]),
    }
    found = sweep.axes(SCENARIO, parts)
    assert [axis.values for axis in found] == [("off", "0 B", "500 B"), ([1, 2], "a,b"), (0.5,)]
    assert found[0].overrides[1] == (("radio.rts_threshold", '"0 B"'),)
    (schemes,) = sweep.axes(SCENARIO, {"scheme": ["none", {"name": "lle-tcp", "gain": 2}, "lle-tcp:gain=3"]})
    assert schemes.values == ("none", "lle-tcp:gain=2", "lle-tcp:gain=3")


def test_a_store_makes_no_run_twice(seen: list[Any], tmp_path: Path) -> None:
    first = swept(runs=2, store=tmp_path / "runs.db")
    made = len(seen)
    again = swept(runs=3, store=tmp_path / "runs.db")
    assert len(seen) - made == 1 + 4  # the probe, and the third run of each cell
    assert again.rows.filter(pl.col("seed") < 7).equals(first.rows)


# -------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "nothing to sweep; say what: --over"),
        (["--over", "radio.x"], '--over: "radio.x" is no PATH=A,B,C'),
        (["--over", "radio.x="], "--over: radio.x has no values"),
        (["--over", "radio.x=1,,2"], 'an empty part in "1,,2"'),
        (["--over", "radio.x=1,2,1"], "--over: radio.x: 1 comes twice"),
        (["--over", "radio.x=1", "--over", "radio.x=2"], "--over: radio.x comes twice"),
        (["--over", "radio.x=1", "--over", "radio.*=2"], "--over: radio.* and radio.x set the same key"),
        (["--over", "flwo.x=1,2"], "--over: flwo: unknown key; did you mean"),
        (["--over", "scheme=none,lle-tpc"], '--over: no scheme "lle-tpc"; did you mean "lle-tcp"?'),
        (["--over", "radio.x=1,2", "--set", "radio.x=3"], "--set: radio.x is swept by --over radio.x"),
        (["--over", "radio.x=1,2", "--x", "radio.y"], '--x: "radio.y" is not swept; did you mean "radio.x"?'),
        (["--over", "radio.x=1,2", "--quick", "--runs", "2"], "--quick: fixes the number of runs"),
        (
            [
                "--over",
                f"radio.x={','.join(map(str, range(50)))}",
                "--over",
                f"radio.y={','.join(map(str, range(41)))}",
            ],
            "--over: 50 × 41 = 2050 cells are too many; a sweep has at most 2000",
        ),
    ],
)
def test_wrong_input_is_one_plain_line_before_anything_is_run(
    arguments: list[str], says: str, core: Core, call: Callable[..., Any], toy: Path
) -> None:
    status, out, err = call("sweep", toy, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err
    assert core.batches == []


def test_a_metric_that_does_not_exist_is_told_before_the_sweep(core: Core, call: Callable[..., Any], toy: Path) -> None:
    status, _, err = call(
        "sweep", toy, "--over", "radio.x=1,2", "--metric", "flow.0.goodptu", "--out", toy.parent / "o"
    )
    assert status == 2
    assert '--metric: no metric "goodptu"; did you mean "goodput"?' in err
    assert sum(core.batches) == 2  # a probe of each cell, none of the sweep
    assert not (toy.parent / "o").exists()


def test_a_metric_that_one_cell_has_is_a_hole_in_the_others(core: Core) -> None:
    core.model = lambda data, rng: {"flows": [{"acks_made": 7}] if data.get("scheme") else [{}]}
    found = swept({"scheme": ["none", "lle-tcp"]}, metrics=["flow.up.acks_made", "goodput_bps"], runs=2)
    assert found.sample((1,), "flow.up.acks_made").tolist() == [7, 7]
    assert math.isnan(found.sample((0,), "flow.up.acks_made")[0])
    assert found.rows["flow.up.acks_made"].to_list() == [None, None, 7, 7]


@pytest.mark.parametrize(("over", "says"), [({}, "nothing to sweep"), ({"radio.x": []}, "has no values")])
def test_python_refuses_the_same(core: Core, over: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        swept(over)
    with pytest.raises(InputError, match="3 is no list of values"):
        swept({"radio.x": 3})
    assert core.batches == []


# --------------------------------------------------------------------------------------------------- what comes out


def test_json_has_cells_and_rows(seen: list[Any], call: Callable[..., Any], toy: Path) -> None:
    words = ["--over", "channel.errors.per=0.0,0.1", "--over", "scheme=none,lle-tcp", "--runs", 2, "--json", "-"]
    status, out, err = call("sweep", toy, *words)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found)[:8] == ["scenario", "version", "seed", "runs", "wall_s", "sim_s", "over", "metrics"]
    assert found["over"] == OVER
    assert [cell["at"] for cell in found["cells"]] == [
        {"channel.errors.per": p, "scheme": s} for p in (0.0, 0.1) for s in ("none", "lle-tcp")
    ]
    assert set(found["cells"][0]["goodput_bps"]) == {"mean", "ci95"}
    assert len(found["rows"]) == 8
    assert "preliminary" not in found
    _, out, _ = call("sweep", toy, "--over", "channel.errors.per=0.0,0.1", "--quick", "--json", "-")
    assert (json.loads(out)["preliminary"], json.loads(out)["runs"]) == (True, 3)


def test_out_has_figure_data_json_and_a_page_that_links_them(
    seen: list[Any], call: Callable[..., Any], toy: Path
) -> None:
    out = toy.parent / "out"
    words = ["--over", "channel.errors.per=0.0,0.1", "--over", "scheme=none,lle-tcp", "--runs", 2, "--out", out]
    status, text, _ = call("sweep", toy, *words)
    assert status == 0
    assert "toy: 2 channel.errors.per × 2 scheme" in text
    page = (out / "index.html").read_text("utf-8")
    for name in ("sweep.svg", "sweep.png", "rows.csv", "rows.parquet", "cells.csv", "cells.parquet", "result.json"):
        assert (out / name).exists(), name
    assert 'href="rows.csv"' in page
    assert "# --over scheme=none,lle-tcp" in page
    assert pl.read_csv(out / "rows.csv").height == 8


def test_ctrl_c_keeps_the_seeds_that_every_cell_has(
    seen: list[Any], core: Core, call: Callable[..., Any], toy: Path
) -> None:
    core.stop_after = 5
    status, out, _ = call("sweep", toy, "--over", "channel.errors.per=0.0,0.1", "--runs", 4, "--json", "-")
    assert status == 130
    found = json.loads(out)
    assert (found["interrupted"], found["runs"]) == (True, 2)


def test_print_and_notebook_show_the_table(seen: list[Any]) -> None:
    found = swept(runs=2)
    assert "2 runs a cell, common seeds from 5" in str(found)
    assert str(found).count("lle-tcp") == 2
    html = found._repr_html_()
    assert html.count("<tr>") == 5
    assert "<html" not in html


def test_a_cell_says_how_many_of_its_runs_have_a_value(core: Core) -> None:
    def some(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        late = float(rng.random()) < 0.5 and data.get("scheme")
        return {"goodput_bps": 1e6, "finish_time_s": math.nan if late else 2.0 + float(rng.random())}

    core.model = some
    found = swept({"scheme": ["none", "lle-tcp"]}, runs=8, metrics="flow.up.finish_time")
    values = found.sample((1,), "flow.up.finish_time")
    n = int(np.isfinite(values).sum())
    assert 1 < n < 8
    none, lle = (line for line in str(found).splitlines() if line.split()[:1] in (["none"], ["lle-tcp"]))
    assert lle.endswith(f" ({n} of 8)")
    assert " of 8" not in none
    note = "(n of 8): only n runs of the cell have a value, and the mean is of these."
    assert note in str(found)
    assert note in found._repr_html_()
    assert " of 8)" not in str(swept({"scheme": ["none"]}, runs=8, metrics="flow.up.finish_time"))


# ------------------------------------------------------------------------------------------------------- the figure


def lines(axes: Any) -> dict[str, list[float]]:
    """Points of each line that has a name: x values."""
    handles, labels = axes.get_legend_handles_labels()
    return {label: list(h.lines[0].get_xdata()) for h, label in zip(handles, labels, strict=True)}


def test_plot_puts_numbers_along_x_and_a_line_for_each_other_value(seen: list[Any]) -> None:
    figure = swept({"scheme": ["none", "lle-tcp"], "channel.errors.per": [0.0, 0.1]}, runs=2).plot()
    (axes,) = figure.axes
    assert axes.get_xlabel() == "packet error rate"
    assert axes.get_ylabel() == "goodput, Mb/s"
    assert lines(axes) == {"none": [0.0, 0.1], "lle-tcp": [0.0, 0.1]}


def test_what_is_neither_x_nor_a_line_has_a_panel_each(seen: list[Any]) -> None:
    found = swept({**OVER, "radio.x": ["a", "b", "c"]}, runs=1)
    figure = found.plot(x="radio.x", y="rtt_mean_s", by="scheme")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == ["packet error rate = 0.0", "packet error rate = 0.1"]
    assert [tick.get_text() for tick in shown[0].get_xticklabels()] == ["a", "b", "c"]
    every = found.plot(x="radio.x", by=["scheme", "channel.errors.per"]).axes[0]
    assert list(lines(every)) == ["none, 0.0", "none, 0.1", "lle-tcp, 0.0", "lle-tcp, 0.1"]


def test_plot_refuses_what_is_not_swept_or_cannot_be_read(seen: list[Any]) -> None:
    found = swept({"radio.x": list(range(20)), "radio.y": list(range(20))}, runs=1)
    with pytest.raises(InputError, match="is not swept"):
        found.plot(x="radio.z")
    with pytest.raises(InputError, match="20 lines are too many"):
        found.plot(x="radio.x", by="radio.y")
    with pytest.raises(InputError, match="is x already"):
        found.plot(x="radio.x", by="radio.x")
    with pytest.raises(InputError, match="no metric"):
        swept(runs=1).plot(y="flow.0.gootput")


def test_save_is_what_out_writes(seen: list[Any], tmp_path: Path) -> None:
    swept(runs=2).save(tmp_path / "saved")
    assert {"index.html", "rows.csv", "sweep.png", "result.json"} <= {p.name for p in (tmp_path / "saved").iterdir()}


# ---------------------------------------------------------------------------------------------------- the real core


@pytest.mark.core
def test_a_cell_is_the_run_that_run_makes() -> None:
    cell = interlayer.wlan(rate="11 Mb/s", duration="2 s", warmup="1 s", loss=0.1)
    over = {"channel.errors.per": [0.05, 0.2], "scheme": ["none", "lle-tcp"]}
    found = interlayer.sweep(cell, over, runs=2, metrics=["flow.0.goodput", "flow.0.rtt_mean"])
    alone = interlayer.run(cell.set("channel.errors.per", 0.2).set("scheme", [{"name": "lle-tcp"}]), runs=2)
    assert found.sample((1, 1), "flow.0.goodput").tolist() == alone.sample("flow.0.goodput").tolist()
    assert found.rows.columns[-2:] == ["flow.0.goodput_bps", "flow.0.rtt_mean_s"]


@pytest.mark.core
def test_the_probe_of_metrics_goes_around_events_and_windows() -> None:
    later = (
        '[[event]]\nat = "1500 ms"\nkill = "sta1"\n[[window]]\nname = "w"\nfrom = "1 s"\nto = "2 s"\nevery = "50 ms"\n'
    )
    cell = interlayer.wlan(duration="2 s", warmup="1 s")
    text = f"{cell.text}\n{later}"
    with pytest.raises(InputError, match="did you mean"):
        interlayer.sweep(interlayer.Scenario(text), {"radio.rts_threshold": ["off", "0 B"]}, metrics="summary.goodptu")
    found = interlayer.sweep(interlayer.Scenario(text), {"radio.rts_threshold": ["off", "0 B"]}, runs=1)
    assert found.estimate((0,), "goodput").mean > 0


@pytest.mark.core
def test_an_unknown_path_has_a_suggestion_from_the_core(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "cell.toml"
    path.write_text(interlayer.wlan(loss=0.1).text)
    status, _, err = call("sweep", path, "--over", "channel.errors.pre=0.1,0.2")
    assert (status, err) == (2, 'interlayer: --over: channel.errors.pre: no such key; did you mean "per"?\n')
