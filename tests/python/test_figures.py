"""Every figure can be read: arms that differ, texts beside each other, legends beside the data, names in words.

Experiments are drawn from samples, not from runs; the layout is what counts.
"""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import interlayer
import sampled
from interlayer import quantity
from interlayer.measure.catalogue import readable, readable_key, readable_value
from interlayer.show import plots, series_plot
from interlayer.study import library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from fake_core import Core
    from interlayer.study.experiment import Experiment

EVERY = {name: library.load(path) for name, path in library.files().items()}
SHIPPED = [name for name, e in EVERY.items() if e.cells() and e.metric]
RAW = re.compile(r"(?<![\w/])[a-z][\w*]*(?:\.[a-z*][\w*@-]*)+|[{}]|\b[a-z]+_[a-z_]+")
"""A dotted path, a table of TOML, a column's name."""


def shown(axes: Axes) -> Iterator[Text]:
    """The texts of axes that are in sight: labels, ticks, notes, the legend."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        margin = 1e-9 * (high - low)
        yield axis.label
        yield from (t.label1 for t in axis.get_major_ticks() if low - margin <= t.get_loc() <= high + margin)
    yield from axes.texts
    yield from (axes.title, axes._left_title, axes._right_title)  # type: ignore[attr-defined]
    if legend := axes.get_legend():
        yield from (legend.get_title(), *legend.get_texts())


def texts(figure: Figure) -> list[Text]:
    """All texts of a figure that say something."""
    found = [text for axes in figure.axes if axes.get_visible() for text in shown(axes)]
    found += figure.texts  # title and note among them
    found += [text for legend in figure.legends for text in legend.get_texts()]
    return [text for text in dict.fromkeys(found) if text.get_visible() and text.get_text().strip()]


def corners(text: Text) -> np.ndarray[Any, Any]:
    """The four corners of a text's box, in pixels, as it is turned."""
    about, angle = text.get_window_extent(), text.get_rotation()
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(angle)
    turn = math.radians(angle)
    across = np.array([math.cos(turn), math.sin(turn)]) * (box.width / 2 - 0.5)
    along = np.array([-math.sin(turn), math.cos(turn)]) * (box.height / 2 - 0.5)
    middle = np.array([(about.x0 + about.x1) / 2, (about.y0 + about.y1) / 2])
    return np.array(
        [middle + across + along, middle + across - along, middle - across - along, middle - across + along]
    )


def overlap(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two turned boxes meet: no side of either has the other one wholly beyond it."""
    for box in (a, b):
        for i in (0, 1):
            axis = box[i + 1] - box[i]
            one, other = a @ axis, b @ axis
            if one.max() <= other.min() or other.max() <= one.min():
                return False
    return True


def lines(axes: Axes) -> list[Any]:
    """The measured lines: those with error bars."""
    found = [c.lines[0] for c in axes.containers if c.__class__.__name__ == "ErrorbarContainer"]
    return [line for line in found if line is not None]  # that of a bar has none


def faults(figure: Figure) -> list[str]:
    """What cannot be read in a figure."""
    figure.draw_without_rendering()
    found = []
    boxes = {text: corners(text) for text in texts(figure)}
    for one, other in combinations(boxes, 2):
        if overlap(boxes[one], boxes[other]):
            found.append(f"text over text: {one.get_text()!r} and {other.get_text()!r}")
    edge = figure.bbox.padded(1.0)
    found += [f"cut off: {t.get_text()!r}" for t, box in boxes.items() if not all(edge.contains(x, y) for x, y in box)]
    found += [f"raw: {t.get_text()!r}" for t in boxes if RAW.search(t.get_text())]
    for axes in figure.axes:
        looks = [(x.get_color(), x.get_marker(), x.get_linestyle(), x.get_fillstyle()) for x in lines(axes)]
        if axes.get_legend() or figure.legends:
            found += [f"alike: {look}" for look in dict.fromkeys(looks) if looks.count(look) > 1]
        for legend in filter(None, [axes.get_legend(), *figure.legends]):
            if legend.get_window_extent().padded(-1.0).overlaps(axes.get_window_extent()):
                found.append("the legend lies within the axes")
    return found


def joined(figure: Figure) -> bool:
    """Whether a measured line joins its points."""
    return any(
        line.get_linestyle() != "None" and len(line.get_xdata()) > 1 for axes in figure.axes for line in lines(axes)
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_the_figure_of_an_experiment_can_be_read(name: str) -> None:
    e = EVERY[name]
    figure = plots.experiment(sampled.outcome(e))
    assert faults(figure) == []
    if e.x:
        values = next(values for path, values in e.sweep if path == e.x)
        drawn = {cell.at[e.paths.index(e.x)] for cell in e.cells() if e.is_drawn(cell)}
        numbers = [quantity.magnitude(values[i]) for i in drawn]
        assert len(figure.axes[0].get_xticks()) == len(drawn), "a tick where there are points, and nowhere else"
        assert joined(figure) == (None not in numbers and len(numbers) > 1)
    title = figure.get_suptitle().replace("\n", " ")
    if e.over_time is not None:  # the paper shows a run over time; this one shows something else, and says so
        assert plots.y_label(e) in title
    else:
        assert title.startswith(e.title)


SUFFIXES = {"goodput": "bps", "cwnd": "bytes", "rwnd": "bytes", "srtt": "s", "packets": ""}


def over_time(e: Experiment) -> Figure:
    """The second figure, of a run that is made up; a pattern of flows matches eight."""
    assert e.over_time is not None
    t, made, flows = np.linspace(0.0, 30.0, 50), dict[str, Any](), list[dict[str, Any]]()
    for pattern in e.over_time.columns:
        for i in range(8 if "*" in pattern else 1):
            path = pattern.replace("*", str(i + 1))
            suffix = next(unit for name, unit in SUFFIXES.items() if path.endswith(name))
            made[f"{path}_{suffix}".rstrip("_")] = {"t_s": t, "value": 1e5 * (1 + np.sin(t + i))}
            flows.append({"id": path.split(".")[1]})
    o = sampled.outcome(e)
    o.over_time = {"seed": 1, "series": made, "flows": flows}  # type: ignore[typeddict-item]
    return plots.over_time(o)


@pytest.mark.parametrize("name", [name for name in SHIPPED if EVERY[name].over_time])
def test_the_figure_over_time_of_an_experiment_can_be_read(name: str) -> None:
    figure = over_time(EVERY[name])
    assert faults(figure) == []
    assert figure.get_suptitle().replace("\n", " ").startswith(EVERY[name].title)


def test_no_two_of_56_arms_look_alike_nor_of_21_with_many_lines_each() -> None:
    looks = [tuple(map(str, plots.marked(arm).values())) for arm in range(56)]
    assert len(set(looks)) == 56
    looks = [tuple(map(str, plots.marked(arm, other).values())) for arm in range(21) for other in range(8)]
    assert len(set(looks)) == 21 * 8


def test_the_checks_see_what_is_wrong() -> None:
    """A figure with each fault: what finds nothing in it would find nothing in ours."""
    from interlayer.show.drawing import drawing

    figure = drawing(4.0, 3.0)
    axes = figure.add_subplot()
    for label in ("a", "b"):
        axes.errorbar([0, 1], [0, 1], color="black", marker="o", label=label)
    axes.set_xticks([0, 0.01], ["radio.queue.packets", "a neighbour"])
    axes.set_title("a title that is longer than the figure is wide, and is cut off where it ends")
    axes.legend()
    found = " ".join(faults(figure))
    for fault in ("text over text", "cut off", "raw: 'radio.queue.packets'", "alike", "within the axes"):
        assert fault in found
    assert joined(figure)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("flow.0.goodput", "goodput"),
        ("flow.web.transfer_time_p95", "95th percentile of transfer time, web"),
        ("mean(flow.long,short.rtt_mean)", "mean mean RTT, long,short"),
        ("ratio(flow.*.retransmissions, flow.*.segments_sent)", "retransmissions over segments sent"),
        ("smallest(2, flow.*.goodput)", "goodput, number 2 from below"),
        ("summary.jain", "Jain's index"),
        ("window.all.total.goodput_max", "greatest goodput, all total"),
        ("scheme.tcp-aware-arq@ap.rtt_samples", "RTT samples, tcp-aware-arq@ap"),
    ],
)
def test_a_metric_in_words(metric: str, said: str) -> None:
    assert readable(metric) == said


def test_keys_and_their_values_in_words() -> None:
    assert readable_key("radio.queue.packets") == "radio queue packets"
    assert readable_key("channel.errors.bad.per") == "bad packet error rate"
    assert readable_key("flow.*.transport.congestion") == "flow transport congestion"
    assert readable_value({"discipline": "red", "packets": 50}) == "discipline red, packets 50"
    assert [readable_value(v) for v in ("1 Mb/s", 3, [], [{"name": "snoop"}])] == ["1 Mb/s", "3", "none", "name snoop"]


# ------------------------------------------------------------------------------------- what the API's objects draw


def cell(core: Core) -> interlayer.Scenario:
    """Two flows with long names, which the test double runs."""
    flow = {"from": "sta", "to": "server", "transport": {"datagram": "1500B", "receiver": "every"}}
    return interlayer.Scenario(
        "\n".join(
            [
                '[scenario]\nname = "a cell whose name is a sentence, and longer than eight inches, as they may be"',
                '[radio]\nstandard = "802.11b"\n[channel.errors]\nmodel = "packet"\nper = 0.0',
                '[[node]]\nname = "sta"\n[[node]]\nname = "server"',
                *(
                    f'[[flow]]\nname = "{name}"\nfrom = "{flow["from"]}"\nto = "server"\n'
                    'transport = { datagram = "1500B", receiver = "every" }'
                    for name in ("an upload", "another upload, to the same server")
                ),
            ]
        )
    )


def test_figures_of_a_run_a_comparison_and_its_series_can_be_read(core: Core) -> None:
    made = interlayer.run(cell(core), runs=3, series=True)
    assert faults(made.plot("rtt_mean")) == []
    assert faults(made.plot_series()) == []
    arms = {f"arm {i}, with a name that is long": {"channel.errors.per": i / 10} for i in range(6)}
    assert faults(interlayer.compare(cell(core), arms=arms, runs=3).plot()) == []


def test_many_lines_of_a_series_have_their_legend_above() -> None:
    kept = {
        f"{group}.station {i} of the hall.{column}": {"t_s": np.arange(9.0), "value": np.arange(9.0) * i}
        for i in range(1, 13)
        for group, column in (("flow", "cwnd_bytes"), ("flow", "srtt_s"), ("queue", "packets"), ("flow", "rto_s"))
    }
    quantities, _ = interlayer.measure.series.changing(kept)  # type: ignore[attr-defined]
    assert faults(series_plot.figure(quantities, "a hall", "Seed 1.")) == []


@pytest.mark.parametrize(
    ("over", "asked", "is_joined"),
    [
        ({"channel.errors.per": [0, 0.001, 0.01, 0.1, 0.11, 0.12], "radio.retries": list(range(9))}, {}, True),
        (
            {"radio.word": ["a long word", "a longer word than that", "short", "and the last one of five", "x"]},
            {},
            False,
        ),
        (
            {"radio.word": [f"category number {i} of twelve" for i in range(12)], "radio.x": [1, 2, 3]},
            {"x": "radio.word"},
            False,
        ),
        ({"radio.x": list(range(1, 41))}, {}, True),
        ({"radio.rate": ["1 Mb/s", "2 Mb/s"], "radio.word": ["a", "b"], "radio.y": ["c", "d", "e"]}, {}, True),
        ({"scheme": ["none", "lle-tcp"], "channel.errors.per": [0.0, 0.1]}, {"x": "scheme"}, False),
    ],
    ids=["close numbers", "words", "many words", "many numbers", "panels", "schemes"],
)
def test_the_figure_of_a_sweep_can_be_read(core: Core, over: Any, asked: Any, is_joined: bool) -> None:
    figure = interlayer.sweep(cell(core), over, metrics="flow.0.goodput", runs=2).plot(**asked)
    assert faults(figure) == []
    assert joined(figure) == is_joined


@pytest.mark.core
def test_the_timeline_of_a_run_can_be_read(tmp_path: Path) -> None:
    from interlayer.show import timeline_plot

    hall = interlayer.example("lecture-hall").set("scenario.duration", "3 s")
    kept = interlayer.run(hall, timeline="2.004 s..2.009 s").runs[0]["timeline"]
    assert kept is not None
    note = "Seed 1; the figure ends at 2.009 s: it shows the first 400 of 812 transmissions. Interlayer 0.1.0"
    figure = timeline_plot.figure(
        kept, "lecture-hall: who transmitted what when, in a window of five milliseconds", note
    )
    found = [f for f in faults(figure) if "→" not in f and " / " not in f]  # addresses within bars stand over them
    assert found == []
