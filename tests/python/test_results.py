"""Results with a face: what prints, what notebooks show, figures, series by quantity, the page of a run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import interlayer
from interlayer import quantity
from interlayer.errors import InputError
from interlayer.measure import metrics, series
from interlayer.show import series_plot
from test_report import read
from web import FETCHES

if TYPE_CHECKING:
    from collections.abc import Callable

    from fake_core import Core

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hall() -> interlayer.Result:
    """The lecture hall, one run with series."""
    return interlayer.run(ROOT / "examples/lecture-hall.toml", series=True)


@pytest.fixture(scope="module")
def cell() -> interlayer.Result:
    short = interlayer.wlan(rate="11 Mb/s", duration="2 s", warmup="1 s", name="cell").set("radio.rts_threshold", "0 B")
    return interlayer.run(short, runs=3)


# ------------------------------------------------------------------------------------------------------------- series


def columns(**lines: Any) -> dict[str, Any]:
    """Series by name, `__` for a dot."""
    return {name.replace("__", "."): {"t_s": np.arange(3.0), "value": np.array(v)} for name, v in lines.items()}


def test_series_go_by_quantity_and_constants_are_said_instead() -> None:
    nan = float("nan")
    kept = columns(
        flow__up__cwnd_bytes=[1e3, 2e3, 3e3],
        flow__down__cwnd_bytes=[2e3, 2e3, 2e3],
        flow__up__rwnd_bytes=[65535.0] * 3,
        flow__down__rwnd_bytes=[65535.0] * 3,
        flow__up__rto_s=[nan, nan, nan],
        queue__ap__air__packets=[0, 1, 0],
        flow__up__goodput_bps=[0, 1e6, 2e6],
    )
    shown, constant = series.changing(kept)
    assert [q.label for q in shown] == ["goodput, Mb/s", "cwnd, kB", "queue packets"]
    assert [[line.entry for line in q.lines] for q in shown] == [["up"], ["up"], ["ap.air"]]
    assert shown[1].shown(shown[1].lines[0]).tolist() == [1, 2, 3]
    assert sorted(constant) == ["down cwnd 2 kB", "rwnd 65.53 kB in all", "up rto undefined"]


def test_a_controllers_greatest_window_is_a_variable_in_segments() -> None:
    kept = columns(flow__up__cubic_w_max=[10.0, 20.0, 15.0], queue__ap__air__packets=[0, 1, 0])
    figure = series_plot.figure(series.chosen(kept, ["cubic_w_max", "queue.ap.air.packets"]), "t", "n")
    assert [axes.get_ylabel() for axes in figure.axes[:2]] == ["CUBIC's W_max, segments", "queue packets"]


def test_what_does_not_fit_is_named() -> None:
    kept = columns(**{f"flow__up__own{i}": [0.0, 1.0, 2.0] for i in range(10)})
    shown, constant = series.changing(kept)
    assert len(series_plot.figure(shown, "t", "n").axes) == 8
    assert series_plot.note(shown, constant) == "Not shown, but in the data: own8, own9."


@pytest.mark.core
def test_the_lecture_hall_is_at_most_eight_panels(hall: interlayer.Result) -> None:
    figure = hall.plot_series()
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert 4 <= len(panels) <= 8
    goodput = next(axes for axes in panels if axes.get_ylabel() == "goodput, Mb/s")
    assert [t.get_text() for t in goodput.get_legend().get_texts()] == ["up1", "up2", "up4", "down2", "call"]
    assert not any("rwnd" in axes.get_ylabel() for axes in panels)  # it never changes
    for axes in panels:
        assert all(np.ptp(line.get_ydata()[np.isfinite(line.get_ydata())]) > 0 for line in axes.lines)


@pytest.mark.core
def test_every_name_of_a_series_is_a_metric_and_can_be_plotted(hall: interlayer.Result) -> None:
    assert len(hall.runs[0]["series"] or {}) > 30
    for path in hall.runs[0]["series"] or {}:
        assert metrics.read(hall.runs[0], quantity.without_unit(path))[0]
        name = quantity.without_unit(path.rpartition(".")[2])
        assert len(hall.plot_series(name).axes) == 1


@pytest.mark.core
def test_a_series_that_is_not_there_is_told(hall: interlayer.Result, cell: interlayer.Result) -> None:
    with pytest.raises(InputError, match='no time series "cwdn"; did you mean "cwnd"'):
        hall.plot_series("cwdn")
    with pytest.raises(InputError, match="no time series were kept: run with series=True"):
        cell.plot_series("cwnd")


# ------------------------------------------------------------------------------------------------- results in Python


@pytest.mark.core
def test_a_result_prints_the_commands_table_without_a_clock(cell: interlayer.Result) -> None:
    text = str(cell)
    assert text.startswith("cell: 3 runs, seeds from 1\n")
    assert str(cell.estimate("flow.0.goodput").scaled(1e-6)) in text
    assert text.endswith(f"Interlayer {interlayer.__version__}")
    assert "\x1b" not in text


@pytest.mark.core
def test_a_notebook_shows_the_same_numbers_as_html(cell: interlayer.Result) -> None:
    html = cell._repr_html_()
    read(html)
    assert str(cell.estimate("flow.0.goodput").scaled(1e-6)) in html
    assert "<style" not in html
    assert "<html" not in html


@pytest.mark.core
def test_whatever_shows_itself_has_no_sign_of_our_own_and_no_colour(
    cell: interlayer.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """U+E000 holds numbers and units together while a table is set. FORCE_COLOR is what a notebook's kernel sets."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    short = interlayer.wlan(rate="11 Mb/s", duration="1 s", warmup="0 s", loss=0.1)
    changed = short.set("radio.max_attempts", 2)
    objects = [
        cell,
        changed,
        cell.estimate("flow.0.goodput"),
        interlayer.compare(short, "none,lle-tcp", runs=2),
        interlayer.sweep(short, {"radio.max_attempts": [2, 4]}, runs=2),
        interlayer.reproduce("lle-fig-3.7b", quick=True),
    ]
    for one in objects:
        for text in (str(one), repr(one), one._repr_html_()):
            assert text.strip()
            assert not re.search("[\ue000-\uf8ff\x1b]", text), type(one)
        assert len(repr(one).splitlines()) == 1
        read(one._repr_html_())
    assert repr(changed) == f"<Scenario 'wlan': {len(short.text.splitlines())} lines, 1 change>"
    assert str(changed).endswith("# with radio.max_attempts = 2")


@pytest.mark.core
def test_a_figure_is_a_picture_for_a_notebook_and_shares_nothing_with_pyplot(cell: interlayer.Result) -> None:
    picture, about = cell.plot()._repr_png_()  # type: ignore[attr-defined]
    assert picture.startswith(b"\x89PNG")
    assert about == {"width": 768}
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.core
def test_plot_is_a_column_of_every_flow(cell: interlayer.Result) -> None:
    (axes,) = cell.plot("rtt_mean").axes
    assert axes.get_xlabel() == "mean RTT, ms"
    assert axes.patches[0].get_width() == pytest.approx(1e3 * cell.estimate("flow.0.rtt_mean").mean)
    with pytest.raises(InputError, match='no metric "rtt"; did you mean "rtt_mean'):
        cell.plot("rtt")


@pytest.mark.core
def test_save_writes_the_report_of_the_command(
    cell: interlayer.Result, call: Callable[..., Any], tmp_path: Path
) -> None:
    scenario = tmp_path / "cell.toml"
    short = interlayer.wlan(rate="11 Mb/s", duration="2 s", warmup="1 s", name="cell").set("radio.rts_threshold", "0 B")
    scenario.write_text(short.text)
    cell.save(tmp_path / "saved")
    call("run", scenario, "--runs", 3, "--set", "radio.rts_threshold=0 B", "--out", tmp_path / "out")
    files = [sorted(p.name for p in (tmp_path / name).iterdir()) for name in ("saved", "out")]
    assert files[0] == files[1]
    assert (tmp_path / "saved" / "flows.csv").read_text() == (tmp_path / "out" / "flows.csv").read_text()
    page = (tmp_path / "saved" / "index.html").read_text("utf-8")
    assert "# with radio.rts_threshold = &quot;0 B&quot;" in page


@pytest.mark.core
def test_a_comparison_and_a_reproduction_show_and_save_themselves(tmp_path: Path) -> None:
    short = interlayer.wlan(rate="11 Mb/s", duration="2 s", warmup="1 s", loss=0.1)
    compared = interlayer.compare(short, "none,lle-tcp", runs=2)
    read(compared._repr_html_())
    assert "lle-tcp against none" in compared._repr_html_()
    assert len(compared.plot().axes) == 2
    compared.save(tmp_path / "compared")
    page = read((tmp_path / "compared" / "index.html").read_text("utf-8"))
    assert {"comparison.csv", "differences.parquet"} <= set(page.addresses)
    found = interlayer.reproduce("lle-fig-3.7b", quick=True)
    assert str(found).startswith("lle-fig-3.7b: ")
    read(found._repr_html_())
    assert found.plot().axes
    found.save(tmp_path / "reproduced")
    assert (tmp_path / "reproduced" / "lle-fig-3.7b.html").exists()


def _drops(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return {"goodput_bps": 1e6 * rng.random() * (9.0 if data.get("scheme") else 1.0)}


def test_html_has_the_notes_of_the_printed_table(core: Core) -> None:
    core.model, core.queues = _drops, {f"sta{i}.air": i for i in range(1, 6)}
    r = interlayer.run(interlayer.wlan(rate="11 Mb/s"), runs=2)
    assert "2 more queues dropped packets." in str(r)
    assert "2 more queues dropped packets." in r._repr_html_()


def test_a_sweep_in_a_notebook_has_no_empty_figure(core: Core) -> None:
    core.model = _drops
    swept = interlayer.sweep(interlayer.wlan(), {"scheme": ["none", "lle-tcp"]}, runs=2, metrics="goodput")
    assert "<figure" not in swept._repr_html_()


def test_a_comparison_draws_what_was_asked_for_and_a_star_for_what_is_significant(core: Core) -> None:
    core.model = _drops
    asked = ["goodput", "sum(flow.*.timeouts)"]
    c = interlayer.compare(interlayer.wlan(), "none,lle-tcp", runs=10, metrics=asked)
    for figure, of in (
        (c.plot(), ("goodput, Mb/s", "timeouts, all together")),
        (c.plot("rtt_mean"), ("mean RTT, ms",)),
    ):
        lefts, rights = figure.axes[::2], figure.axes[1::2]
        assert tuple(axes.get_xlabel() for axes in lefts) == of
        stars = [[a.get_label() for a in axes.collections].count("significant") for axes in rights]
        assert stars == [int("goodput" in name) for name in of]
    assert [axes.get_xlabel() for axes in c.plot("flow.0.goodput").axes[:1]] == ["goodput, Mb/s"]
    with pytest.raises(InputError, match='no metric "gootput"; did you mean "goodput"'):
        c.plot("gootput")


def test_uneven_bars_are_said_to_be_so_and_even_ones_are_not() -> None:
    from interlayer.measure import stats

    assert stats.kind([stats.Estimate(1.0, 0.1, 5)]) == "Student t"
    assert stats.kind([stats.Estimate(1.0, 0.9, 5, (0.4, 2.4))]) == (
        "Student t; uneven near an end of what the metric can be"
    )


def test_users_have_the_time_of_their_pages_in_the_table(core: Core) -> None:
    each = [{"transfer_time_mean_s": 0.3, "transfer_time_p95_s": 0.9}]
    for flows in (1, 20):
        core.model = lambda data, rng, n=flows: {"goodput_bps": 1e6, "flows": each * n}  # type: ignore[misc]
        r = interlayer.run(interlayer.wlan(flows + 1, rate="11 Mb/s"))
        for shown in (str(r), r._repr_html_()):
            assert "transfer_time_mean" in shown
            assert "transfer_time_p95" in shown
            assert "300" in shown
            assert "900" in shown
    core.model = _drops
    assert "transfer_time" not in str(interlayer.run(interlayer.wlan()))


# --------------------------------------------------------------------------------------------------- the page of a run


@pytest.mark.core
def test_the_page_of_a_run_has_series_and_data_and_how_to_do_it_again(call: Callable[..., Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, _, _ = call("run", ROOT / "examples/lecture-hall.toml", "--series", "--out", out, "--set",
                        "scenario.duration=4 s")  # fmt: skip
    assert status == 0
    page = (out / "index.html").read_text("utf-8")
    reader = read(page)
    text = "".join(reader.text)
    links = {a for a in reader.addresses if not a.startswith("#")}
    assert {"series.csv", "series.parquet", "timeline.trace.json", "flows.csv", "result.json", "series.svg"} <= links
    assert all((out / name).exists() for name in links)
    assert page.count("<svg") == 3
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert not FETCHES.search(page)
    again = "interlayer run lecture-hall.toml --set 'scenario.duration=4 s' --seed 1 --runs 1 --series --out DIR"
    for part in (
        "Over time",
        "Constant: ",
        "rwnd",
        "Timeline of the air",
        "Do it again",
        again,
        "every column".title(),
    ):
        assert part in text or part.capitalize() in text, part


def test_every_page_is_for_phones_dark_screens_and_paper() -> None:
    from interlayer.show import markup

    page = markup.page("t", "b")
    assert 'name="viewport"' in page
    for medium in ("prefers-color-scheme: dark", "max-width: 36rem", "@media print"):
        assert medium in page
    colours = set(re.findall(r"var\((--\w+)\)", page))
    dark = page.partition("prefers-color-scheme: dark")[2].partition("}")[0]
    assert all(f"{name}:" in dark for name in colours)


@pytest.mark.core
@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("flow.up*.goodput", "2 flows match; write mean(flow.up*.goodput), sum(…), min(…) or max(…)"),
        ("flow.0-1.goodput", "2 flows match; write mean(flow.0-1.goodput), sum(…)"),
        ("flow.up1*.goodput", "a selection; write flow.up1, or mean(flow.up1*.goodput), sum(…)"),
        ("flow.web*.goodput", 'no flow "web*"'),
        ("queue.sta*.dropped", "3 queues match; write mean(queue.sta*.dropped), sum(…)"),
        ("mean(flow.up*.goodput", 'a ")" is missing; write mean(flow.up*.goodput)'),
        ("mean(flow.up*.goodput))", 'a ")" without its "("'),
    ],
)
def test_a_metric_of_several_rows_says_which_functions_there_are(metric: str, says: str) -> None:
    cell = interlayer.wlan(3, ap=True, direction="up", duration="20 ms", warmup="0 s").set("flow.2.name", "last")
    found = interlayer.run(cell)
    with pytest.raises(interlayer.InputError) as caught:
        found.sample(metric)
    assert says in str(caught.value)
