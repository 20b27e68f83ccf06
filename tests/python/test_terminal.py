"""What a terminal shows, on a pseudo-terminal of 80, 100 and 160 columns: no line is too long, no number is cut."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import forked
from interlayer.measure import stats
from interlayer.show import grid, run_words

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

pytestmark = pytest.mark.core

MANY = """
[scenario]
name = "many"
duration = "3 s"
warmup = "1 s"
[radio]
standard = "802.11a"
[[node]]
name = "ap"
role = "ap"
position = [0, 0]
[[node]]
name = "station-with-a-long-name-"
count = 20
position = [1, 0]
[[flow]]
name = "up"
from = "station-with-a-long-name-"
to = "ap"
[[flow]]
name = "down"
from = "ap"
to = "station-with-a-long-name-"
"""


def on_terminal(columns: int, *arguments: object) -> str:
    """What the command shows on a terminal of so many columns, colours taken off."""
    done = forked.on_terminal(columns, *arguments)
    assert done.returncode == 0, done.stderr
    return plain(done.stdout)


def plain(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r\n", "\n")


def in_pipe(*arguments: object) -> str:
    done = forked.command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def started_on_terminal(columns: int, *arguments: object) -> str:
    """As [`on_terminal`], colours and all, of a program that is started and not forked."""
    parent, child = forked.terminal(columns)
    words = [sys.executable, "-m", "interlayer", *map(str, arguments)]
    environment = forked.on_terminal_environment()
    with subprocess.Popen(words, stdin=child, stdout=child, stderr=subprocess.PIPE, env=environment) as process:
        os.close(child)
        shown = forked.shown_on(parent)
        assert process.stderr is not None
        errors = process.stderr.read().decode()
    assert process.returncode == 0, errors
    return shown


def test_a_command_that_is_forked_shows_what_one_does_that_is_started() -> None:
    """Colours and widths too, the clock apart."""
    for words in (("list", "schemes"), ("run", EXAMPLES / "lecture-hall.toml", "--runs", 2)):
        shown = [forked.on_terminal(100, *words).stdout, started_on_terminal(100, *words)]
        one, other = (re.sub(r"[\d.]+ s\b", "", text) for text in shown)
        assert one == other


def is_whole(shown: str, columns: int | None = None) -> None:
    """No ellipsis but in a span of names, no number with an exponent or broken off, no line too long."""
    lines = shown.splitlines()
    if columns is not None:
        assert max(map(len, lines)) <= columns, shown
    assert "…" not in re.sub(r"\w … ?\w?", "", shown), shown
    assert not re.search(r"\d[eE][+-]?\d", shown), shown
    assert not any(re.search(r"±$|± \D", line.rstrip()) for line in lines), shown


COMPARE = ("compare", EXAMPLES / "bursty-link.toml", "--schemes", "none,lle-tcp,lle-tcp:sack=keep;strategy=every")


@pytest.fixture(scope="module")
def compared() -> dict[str, dict[str, float]]:
    arms = json.loads(in_pipe(*COMPARE, "--runs", 3, "--json", "-"))["arms"]
    return {arm["label"]: arm["compared"] for arm in arms}


def heads(shown: str) -> str:
    return next(line for line in shown.splitlines() if "goodput, Mb/s" in line)


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_compare_leaves_out_the_least_important_columns_and_says_which(columns: int, compared: Any) -> None:
    shown = on_terminal(columns, *COMPARE, "--runs", 3)
    is_whole(shown, columns)
    optional = ["retransmissions", "timeouts", "rtt_mean"]
    here = [name for name in optional if name in heads(shown)]
    missing = [name for name in optional if name not in here]
    assert here == optional[: len(here)]
    assert len(here) >= {80: 0, 100: 0, 160: 3}[columns]
    assert (f"No room for {', '.join(missing)}" in shown) == bool(missing)
    assert ("--json has them." in shown) == bool(missing)
    assert "The same in every arm: jain 1, dropped 0." in shown
    for found in compared.values():  # each arm's goodput as the JSON has it, digit by digit
        one = found["goodput_bps"]
        assert str(stats.Estimate.read(one).scaled(1e-6)) in shown


def test_compare_on_a_very_narrow_terminal_is_a_block_an_arm_with_all_columns(compared: Any) -> None:
    shown = on_terminal(40, *COMPARE, "--runs", 3)
    is_whole(shown)
    assert max(map(len, shown.splitlines())) <= 40
    assert "No room" not in shown
    assert shown.count("  goodput, Mb/s ") == shown.count("  rtt_mean, ms ") == 3
    assert shown.count("  difference, Mb/s ") == 2


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_run_shows_flows_whole_and_leaves_zeros_out(columns: int) -> None:
    shown = on_terminal(columns, "run", EXAMPLES / "lecture-hall.toml")
    is_whole(shown, columns)
    assert "lecture-hall: 10 runs, seeds from 1" in shown
    assert all(f" {flow} " in shown for flow in ("up1", "up2", "up4", "down2", "call"))
    assert "lost_to_noise" not in shown  # 0 in all runs
    single = on_terminal(columns, "run", EXAMPLES / "single-hop.toml", "--runs", 2)
    is_whole(single, columns)
    assert "0 in every flow: retransmissions, timeouts." in single
    assert "jain" not in single  # of one flow it is 1, whatever happens
    assert "goodput_spread" not in single


@pytest.mark.parametrize("columns", [80, 160])
def test_run_with_many_flows_is_a_summary_and_no_wall(columns: int, tmp_path: Path) -> None:
    file = tmp_path / "many.toml"
    file.write_text(MANY)
    shown = on_terminal(columns, "run", file, "--runs", 3)
    is_whole(shown, columns)
    assert len(shown.splitlines()) < 40
    assert "up1 … up20" in shown
    assert "down1 … down20" in shown
    assert "Each of the 40 flows: --json - or --out DIR." in shown
    assert re.search(r"\d+ more queues dropped packets\.", shown)
    found = json.loads(in_pipe("run", file, "--runs", 3, "--json", "-"))
    assert len(found["flows"]) == 40
    ups = [flow["goodput_bps"]["mean"] / 1e6 for flow in found["flows"] if flow["id"].startswith("up")]
    row = next(line for line in shown.splitlines() if "up1 …" in line)
    assert float(re.findall(r"[\d.]+(?= ±)", row)[0]) == pytest.approx(sum(ups) / 20, rel=1e-3)


@pytest.mark.parametrize("arguments", [("run", EXAMPLES / "lecture-hall.toml"), COMPARE], ids=["run", "compare"])
def test_a_pipe_has_every_column(arguments: tuple[object, ...]) -> None:
    shown = in_pipe(*arguments, "--runs", 2)
    is_whole(shown)
    assert "No room" not in shown
    assert all(name in heads(shown) for name in ("retransmissions", "timeouts", "rtt_mean, ms"))


@pytest.mark.parametrize("columns", [80, 160])
def test_an_experiment_leaves_nothing_out(columns: int) -> None:
    shown = on_terminal(columns, "reproduce", "lle-fig-3.9", "--quick")
    is_whole(shown, columns)
    found = json.loads(in_pipe("reproduce", "lle-fig-3.9", "--quick", "--json", "-"))
    for row in found["rows"]:
        assert str(stats.Estimate(row["mean"], row["ci95"], 3)) in shown


LONG_ARM = "scheme=none,lle-tcp:sack=keep;strategy=every"
SHOWN = {
    "run": ("run", EXAMPLES / "lecture-hall.toml", "--runs", 2),
    "compare": (*COMPARE, "--runs", 2),
    "sweep": ("sweep", EXAMPLES / "bursty-link.toml", "--over", LONG_ARM, "--runs", 2),
    "reproduce": ("reproduce", "lle-fig-3.9", "--quick"),
    "readings": ("readings", "lle-fig-3.9", "--runs", 2),
    "experiments": ("list", "experiments"),
    "schemes": ("list", "schemes"),
    "metrics": ("list", "metrics"),
}
NOTES = re.compile(r"^No room for .*?(?<=them\.)$", re.MULTILINE | re.DOTALL)


def words(shown: str) -> set[str]:
    """What is between spaces, without the clock and the rules of tables."""
    plain = re.sub(r"[\d.]+ s\.?$", "", NOTES.sub("", shown), flags=re.MULTILINE)
    return {word for word in plain.split() if not re.fullmatch(r"─+", word)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """What each command shows in a pipe, with a store, so that its runs are made once: by one process for all."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    store, shown = folder / "terminal.db", folder / "terminal.json"
    with (folder / "terminal.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shown.exists():
            found = {
                name: in_pipe(*what, *(() if what[0] == "list" else ("--store", store))) for name, what in SHOWN.items()
            }
            shown.write_text(json.dumps(found))
    return store, json.loads(shown.read_text())


@pytest.mark.parametrize("columns", [80, 100, 160])
@pytest.mark.parametrize("name", SHOWN)
def test_no_word_is_broken_and_columns_go_before_cells_wrap(name: str, columns: int, whole: Any) -> None:
    store, in_a_pipe = whole
    what = SHOWN[name]
    shown = on_terminal(columns, *what, *(() if what[0] == "list" else ("--store", store)))
    lines = [line.rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= columns
    assert words(shown) <= words(in_a_pipe[name]), "a word that a pipe has not is a piece of one"
    left_out = {word.strip(",:") for note in NOTES.findall(shown) for word in note.split()[3:-3]}
    if name in ("run", "compare", "sweep"):
        assert left_out.isdisjoint({"goodput", "difference"})
        assert "--json has them" in shown if left_out else words(in_a_pipe[name]) <= words(shown)
        first = in_a_pipe[name].splitlines()[4].split("  ")[0].strip()
        assert any(line.startswith(f" {first} ") for line in lines), "the first cell stands on one line"
    else:
        heads_of_names = {"#", "claim"}  # a block has none of these
        assert words(in_a_pipe[name]) - heads_of_names <= words(shown), "nothing is left out"
    if what[0] == "list":
        ids = [line.split()[0] for line in in_a_pipe[name].splitlines()]
        assert [line.split()[0] for line in lines if not line.startswith(" ")] == ids


def test_the_summary_of_a_run_has_two_columns(whole: Any) -> None:
    _, in_a_pipe = whole
    lines = in_a_pipe["run"].splitlines()
    found = dict(line.strip().split(None, 1) for line in lines if line.startswith(" summary."))
    assert {"summary.goodput", "summary.jain", "summary.collision_probability"} <= set(found)
    assert re.fullmatch(r"[\d.]+ ± [\d.]+ Mb/s", found["summary.goodput"])
    assert not any(line.startswith("goodput ") for line in lines)


# ------------------------------------------------------------------------------------------------ parts of it, by hand


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (18664.0, "18664"),  # a count is whole
        (18664.4, "18664"),
        (1e7, "10000000"),
        (5.11268, "5.113"),
        (0.000012345, "0.00001234"),
        (-3.0, "-3"),
        (float("nan"), "–"),
    ],
)
def test_a_number_has_no_exponent_and_no_separator(x: float, shown: str) -> None:
    assert stats.plain(x) == shown
    assert str(stats.Estimate(x, None, 1)) == shown


def test_a_grid_drops_by_rank_then_stacks() -> None:
    columns = [grid.Column("arm", is_text=True), grid.Column("a"), grid.Column("b", 2), grid.Column("c", 1)]
    table = grid.Grid(columns, [["one", "1.000 ± 0.001", "2", "3"], ["two", "4.000 ± 0.001", "5", "6"]])
    console = Console(width=table.needs, file=io.StringIO())
    console.print(*table.parts(table.needs))
    assert max(map(len, console.file.getvalue().splitlines())) == table.needs
    assert table.parts(table.needs - 1)[1] == "No room for b: --json has them."
    assert table.parts(table.needs - 5)[1] == "No room for b, c: --json has them."
    lines = [grid.spaces(str(part)) for part in table.parts(15)]
    assert lines == [
        "",
        "one",
        "  a  1.000 ± 0.001",
        "  b  2",
        "  c  3",
        "two",
        "  a  4.000 ± 0.001",
        "  b  5",
        "  c  6",
        "",
    ]


def test_columns_go_before_a_text_wraps_and_a_text_wraps_between_words() -> None:
    columns = [grid.Column("arm", is_text=True, folds=True), grid.Column("goodput"), grid.Column("p", 1)]
    table = grid.Grid(columns, [["an arm of several words, thirty", "1.000 ± 0.001", "0.5"]])

    def shown(width: int) -> list[str]:
        console = Console(width=width, file=io.StringIO())
        console.print(*table.parts(width), sep="\n")
        assert isinstance(console.file, io.StringIO)
        lines = grid.spaces(console.file.getvalue()).splitlines()
        return [re.sub("  +", "   ", line.strip()) for line in lines if line.strip()]

    assert "an arm of several words, thirty   1.000 ± 0.001   0.5" in shown(60)
    assert "an arm of several words, thirty   1.000 ± 0.001" in shown(52)
    assert "No room for p: --json has them." in shown(52)
    assert "an arm of several   1.000 ± 0.001" in shown(40)
    assert "words, thirty" in shown(40)


def test_what_is_undefined_is_a_dash_and_never_an_interval() -> None:
    row = {"rtt_mean_s": {"mean": None, "ci95": None}, "timeouts": {"mean": 12.0, "ci95": None}}
    assert run_words.cell(row, "rtt_mean_s", "ms") == run_words.cell(row, "goodput_bps", "Mb/s") == "–"
    assert run_words.cell(row, "timeouts", "1") == "12"
