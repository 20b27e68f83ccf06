"""Pages, figures and tables say what they must, contain nothing from outside, and survive odd numbers."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import interlayer
from interlayer.errors import InputError
from interlayer.measure import stats, support
from interlayer.show import as_json, files, frames, pages, plots, terminal, words
from interlayer.study import campaign, library, reader
from interlayer.study.experiment import Cell, Formula, Quantity
from interlayer.study.outcome import Results
from interlayer.study.runs import Ended
from web import FETCHES

if TYPE_CHECKING:
    from pathlib import Path

    from fake_core import Core
    from interlayer.study.outcome import Outcome


@pytest.fixture
def outcome(core: Core) -> Outcome:
    return campaign.run(library.load("lle-fig-3.7b"), base_only=True)


class Reader(HTMLParser):
    """The text of a page, its tags' balance, and every address it would fetch."""

    VOID = frozenset({"meta", "br", "link", "img", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href", "srcset", "data")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["script"]:
            self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_what_is_undefined_is_null_in_frames_and_files(tmp_path: Path) -> None:
    run: Any = {
        "seed": 1,
        "sim_s": 0.0,
        "flows": [{"id": "up", "goodput_bps": 0.0, "rtt_mean_s": math.nan}],
        "summary": {"goodput_bps": 0.0, "jain": math.nan},
        "series": {"flow.up.ssthresh_bytes": {"t_s": np.arange(2.0), "value": np.array([math.nan, 1.0])}},
    }
    assert frames.table([run], "flows")["rtt_mean_s"].to_list() == [None]
    assert frames.summary([run])["jain"].to_list() == [None]
    assert frames.series([run])["value"].to_list() == [None, 1.0]
    frames.write(frames.table([run], "flows"), tmp_path / "flows")
    assert pl.read_csv(tmp_path / "flows.csv")["rtt_mean_s"].null_count() == 1
    assert "NaN" not in (tmp_path / "flows.csv").read_text()
    assert as_json.dumps(as_json.run("x", "0", 1, [run], 0.0, Ended())).count('"mean": null') == 2


def test_one_run_of_an_experiment_has_no_interval_anywhere(core: Core, tmp_path: Path) -> None:
    for runs, has_intervals in ((1, False), (2, True)):
        one = campaign.run(library.load("lle-fig-3.7b"), base_only=True, runs=runs)
        files.write_outcome(one, tmp_path)
        text = "".join(read((tmp_path / "lle-fig-3.7b.html").read_text()).text)
        measured = text.partition("Measured")[2].partition("What the paper leaves open")[0]
        shown = terminal.outcome(one)
        assert ("bars: 95 %" in text, "±" in measured, "±" in shown, "95 % intervals" in shown) == (has_intervals,) * 4
        assert ("1 run each (seed 1)" in text) != has_intervals


def test_page_is_well_formed_and_self_contained(outcome: Outcome, tmp_path: Path) -> None:
    files.write_outcome(outcome, tmp_path)
    page = (tmp_path / "lle-fig-3.7b.html").read_text()
    reader = read(page)
    # Addresses within the page, links to the data beside it, and nothing that would load something.
    beside = {f"lle-fig-3.7b.{kind}" for kind in ("csv", "parquet", "json", "png", "svg")}
    assert {a for a in reader.addresses if not a.startswith("#")} == beside
    assert all((tmp_path / name).exists() for name in beside)
    assert not FETCHES.search(page)


def test_page_tells_everything_of_every_claim(outcome: Outcome, tmp_path: Path) -> None:
    files.write_outcome(outcome, tmp_path)
    text = "".join(read((tmp_path / "lle-fig-3.7b.html").read_text()).text)
    e = outcome.experiment
    for s in outcome.scored:
        assert s.judgement is not None
        evidence = [f.sentence(s.claim.unit) for f in s.found]
        numbers = [words.expected_text(s.claim), words.arithmetic_text(s.claim, e), words.measured_text(s)]
        for part in [s.claim.text, s.judgement.reason[1:], *numbers, *evidence]:
            assert part in text
    for part in (e.title, e.source, e.question, e.note, outcome.version):
        assert part in text
    assert e.assumptions[-1] in text
    assert "3 of 5 claims hold, 2 differ" in text


def test_page_escapes_what_it_shows() -> None:
    assert pages._prose('a < b & `x = "y"`') == "a &lt; b &amp; <code>x = &quot;y&quot;</code>"


def test_figure_shows_measurement_print_and_arithmetic(outcome: Outcome) -> None:
    figure = plots.experiment(outcome)
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    labels = [t.get_text() for t in legend.get_texts()]
    assert labels[0] == "LLE-TCP over Reno, delayed ACK"
    assert "printed in the paper" in labels
    assert labels[-1].startswith("arithmetic: ")
    assert axes.get_ylabel() == "gain of LLE-TCP, %"
    assert len(axes.containers) == 2  # a line with error bars for each of the two comparisons


def test_figures_points_are_the_rows(core: Core) -> None:
    outcome = campaign.run(library.load("lle-fig-3.7a"))
    (axes,) = plots.experiment(outcome).axes
    drawn = {round(float(y), 9) for c in axes.containers for y in c[0].get_ydata()}
    assert drawn == {round(row["mean"], 9) for row in as_json.rows(outcome)}


def test_caption_states_seeds_interval_and_version(outcome: Outcome) -> None:
    found = plots.caption(outcome)
    assert "10 runs each (seeds from 1" in found
    assert "95 % intervals" in found
    assert "Interlayer 0.0.0-fake" in found


def test_data_are_the_same_in_both_files(outcome: Outcome, tmp_path: Path) -> None:
    files.write_outcome(outcome, tmp_path)
    parquet = pl.read_parquet(tmp_path / "lle-fig-3.7b.parquet")
    csv = pl.read_csv(tmp_path / "lle-fig-3.7b.csv")
    assert parquet.columns == csv.columns
    assert len(parquet) == len(csv) == 6 * 3 * 10
    assert parquet["flow.datagram_throughput_bps"].to_list() == csv["flow.datagram_throughput_bps"].to_list()


def test_means_of_the_data_are_the_rows(outcome: Outcome) -> None:
    path = "flow.0.transport.datagram"
    means = frames.outcome(outcome).group_by("arm", path).agg(pl.col("flow.datagram_throughput_bps").mean())
    by_cell = {(arm, at): mean / 1e6 for arm, at, mean in means.iter_rows()}
    for row in as_json.rows(outcome):
        assert row["mean"] == pytest.approx(by_cell[row["arm"], row[path]])


def test_json_has_no_word_for_infinity() -> None:
    assert json.loads(as_json.dumps({"a": math.nan, "b": [math.inf, 1.5], "c": (1, "x")})) == {
        "a": None,
        "b": [None, 1.5],
        "c": [1, "x"],
    }


def test_terminal_shows_verdicts_and_reasons_of_those_against(outcome: Outcome) -> None:
    text = terminal.outcome(outcome)
    assert "#2: Measured a gain of" in text
    assert "#4: " not in text  # it holds
    assert "#3: Measured a gain of 81.90 ± 0.15 % against the printed 100 %. Tolerance: within 30 points" in text
    assert "#1: " in text  # it holds, and cannot hold together with 5
    assert "3 of 5 claims hold, 2 differ" in text
    assert "\x1b" not in text


def test_what_was_set_is_said_wherever_a_verdict_is(core: Core, tmp_path: Path) -> None:
    e, overrides = library.load("lle-fig-3.7b"), [("radio.data_rate", '"1 Mb/s"')]
    changed = campaign.run(e, base_only=True, overrides=overrides)
    text = terminal.outcome(changed)
    assert text.splitlines()[1].startswith('Not the paper\'s set-up: radio.data_rate = "1 Mb/s" set; ')
    assert 'alone; not the paper\'s: radio.data_rate = "1 Mb/s" set)' in " ".join(text.split())
    assert (text.count("holds, as set"), text.count("differs, as set")) == (3, 2)
    assert "Not the paper's set-up" in plots.experiment(changed).get_supxlabel()
    files.write_outcomes([changed], tmp_path)
    page = "".join(read((tmp_path / "index.html").read_text()).text)
    assert page.count("Not the paper's set-up: radio.data_rate") == 2  # above the claims, and in the figure
    assert (page.count("holds, as set"), page.count("differs, as set")) == (3, 2)
    assert {c["verdict"] for c in as_json.outcome(changed)["claims"]} == {"holds", "differs"}


def test_a_quick_look_is_said_once_and_a_reproduction_links_to_no_file(core: Core) -> None:
    quick = interlayer.reproduce("lle-fig-3.7b", quick=True)
    assert str(quick).count("quick look") == 1
    assert read(quick._repr_html_()).addresses == []
    assert "<figure" not in quick._repr_html_()


def test_a_derived_index_has_the_interval_of_its_metric() -> None:
    cell, index = Cell("a", ()), "jain(flow.*.goodput)"
    rates = ((1e6, 1e6), (1e6, 0.8e6), (1e6, 1e6))
    runs: Any = [{"summary": {}, "flows": [{"id": str(i), "goodput_bps": x} for i, x in enumerate(r)]} for r in rates]
    results = Results()
    results.runs[cell] = runs
    whole = Quantity("", (), formula=Formula("index", inputs=(("index", Quantity("", (cell,), metric=index), ""),)))
    assert results.support(whole, "", "") == support.index_of(2)
    assert results.support(replace(whole, formula=replace(whole.formula, text="index + 1")), "", "") == support.ANY
    found = stats.estimate(results.sample(whole, "", ""), support=results.support(whole, "", ""))
    assert found.high == 1.0 < found.mean + (found.half_width or 0.0)


def test_tally_of_a_paper_that_only_cites(core: Core) -> None:
    cited = replace(library.load("lle-fig-3.9"), evidence="cited")
    outcome = campaign.run(cited)
    assert {s.verdict for s in outcome.scored} == {None}
    assert words.tally(outcome) == "5 claims, cited: shown, not scored"
    assert outcome.scored[0].why.startswith("Cited, not scored. Measured")


def test_one_page_has_the_summary_and_every_experiment_whole(core: Core, outcome: Outcome, tmp_path: Path) -> None:
    other = campaign.run(library.load("lle-fig-3.9"))
    files.write_outcomes([outcome, other], tmp_path)
    page = (tmp_path / "index.html").read_text()
    reader = read(page)
    inside = {a for a in reader.addresses if a.startswith("#")}
    assert {"#lle-fig-3.7b", "#lle-fig-3.9"} <= inside
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert all(a[1:] in ids for a in inside)  # every mark of a figure leads into that figure
    assert len(ids) == len(set(ids))
    assert all((tmp_path / a).exists() for a in reader.addresses if not a.startswith("#"))
    assert not FETCHES.search(page)
    rows = [
        re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", page) if "lle-fig" in row or "all" in row
    ]
    numbers = [[int(n) for n in re.findall(r"\|(\d+)\|", row)] for row in rows[:3]]
    for o, (claims, hold, *others) in zip((outcome, other), numbers, strict=False):
        assert claims == len(o.scored) == hold + sum(others)
        assert len(others) == 1  # differ; nothing depends, is compatible, untestable, arithmetic, or only shown
        assert hold == sum(str(s.verdict) == "holds" for s in o.scored)
    assert numbers[2] == [a + b for a, b in zip(*numbers[:2], strict=True)]
    text = "".join(reader.text)
    for o in (outcome, other):
        for s in o.scored:
            assert s.judgement is not None
            assert s.judgement.reason[1:] in text
            assert all(f.sentence(s.claim.unit) in text for f in s.found)


def test_arithmetic_stands_beside_the_numbers_it_is_for(outcome: Outcome) -> None:
    # 1500 B: 1983.1 us of data with its backoff; half an ACK 305.7 us, 460.7 us with half a backoff.
    first, _, _, trend, _ = (as_json.claim(s, outcome.experiment) for s in outcome.scored)
    assert first["arithmetic"] == pytest.approx([100 * 305.65 / 1983.1, 100 * 460.65 / 1983.1], rel=1e-3)
    assert "arithmetic" not in trend


def test_every_measured_line_of_fig_3_7a_has_its_arithmetic() -> None:
    e = library.load("lle-fig-3.7a")
    single = [c for c in e.claims if c.kind == "value"]
    assert [len(e.arithmetic(c)) for c in single] == [1, 2, 1, 2]
    # 12000 bit: 1983.1 us basic, 2659.1 us with RTS/CTS.
    assert [e.arithmetic(c)[0] for c in single][::2] == pytest.approx([6.051, 4.513], rel=1e-3)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ('{ arm = "renno" }', "arm is never"),
        ('{ "radio.rts_threshold" = "off" }', "names no arm"),
        ('{ arm = "reno", "flow.0.transport.datagram" = "100 B" }', "the curve runs along it"),
    ],
)
def test_curve_for_no_line_is_a_mistake(where: str, message: str) -> None:
    file = library.files()["lle-fig-3.7a"]
    curve = f'[[curve]]\nlabel = "wrong"\nwhere = {where}\nformula = "x"\n\n[[claim]] # 1'
    with pytest.raises(InputError, match=message):
        reader.parse(file.read_text().replace("[[claim]] # 1", curve, 1), "wrong.toml", file.parent)
