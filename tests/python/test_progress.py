"""How far a command is: runs that are done, the simulated time of those under way, and what is left by that."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

import interlayer
from interlayer import simulator
from interlayer.show import terminal
from interlayer.study.runs import Standing

SHOWN = re.compile(r"(\d+) % · (\d+)/(\d+) runs")


def started(columns: int, *arguments: object) -> tuple[subprocess.Popen[bytes], int]:
    """The command with stderr on a terminal of so many columns, and the terminal's other end."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm"}
    words = [sys.executable, "-m", "interlayer", *map(str, arguments)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=child, env=environment)
    os.close(child)
    return process, parent


def lines(parent: int, until: Any = None) -> list[str]:
    """What the terminal is shown, line by line as it is redrawn; up to the end, or until something is shown."""
    shown = bytearray()
    while until is None or not until(shown):
        try:
            part = os.read(parent, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        shown += part
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", shown.decode("utf-8", "replace"))
    return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A scenario whose run takes some seconds."""
    path = tmp_path / "long.toml"
    path.write_text(interlayer.wlan(3, rate="11 Mb/s", duration="1000 s", name="long").text)
    return path


@pytest.mark.core
def test_one_long_run_shows_its_share_of_the_simulated_time(long: Path) -> None:
    columns = 80
    # Twice a second, so that five are seen on a machine that runs 600 s in one.
    process, parent = started(columns, "run", long, "--runs", 1, "--set", "scenario.duration=2500 s")
    shown = lines(parent)
    os.close(parent)
    assert process.wait() == 0
    assert max(map(len, shown)) <= columns
    found = [tuple(map(int, m.groups())) for line in shown if (m := SHOWN.search(line))]
    shares = [share for share, *_ in found]
    assert shares == sorted(shares)
    under_way = {share for share, done, runs in found if done == 0 and runs == 1}
    assert len(under_way) >= 5, "it moves while the only run is under way"
    assert max(under_way) > 50
    assert any(re.search(r"· 0:\d\d:\d\d to go$", line) for line in shown)


@pytest.mark.core
def test_of_many_runs_both_are_shown_and_what_was_there_before_is_no_speed(long: Path, tmp_path: Path) -> None:
    command = ("run", long, "--jobs", 1, "--set", "scenario.duration=500 s", "--store", tmp_path / "runs")
    process, parent = started(100, *command, "--runs", 2)
    lines(parent)
    os.close(parent)
    assert process.wait() == 0
    process, parent = started(100, *command, "--runs", 4)
    shown = lines(parent)
    os.close(parent)
    assert process.wait() == 0
    found = [tuple(map(int, m.groups())) for line in shown if (m := SHOWN.search(line))]
    assert found == sorted(found)
    assert {done for _, done, _ in found} >= {2, 3}
    assert {runs for *_, runs in found} - {0} == {4}
    assert any(50 < share < 75 for share, done, _ in found if done == 2), "between two runs that finish it moves"


def test_what_is_left_is_by_simulated_time_that_was_made_here() -> None:
    # 25 of 100 s in 10 s: the other 75 take 30. Of 100 s, 50 were there: 25 were made in 10 s, and 25 are left.
    assert Standing(1, 4, 0.0, 25.0, 100.0).left_s(10.0) == 30.0
    assert Standing(3, 4, 50.0, 25.0, 100.0).left_s(10.0) == 10.0
    assert Standing(2, 4, 50.0, 0.0, 100.0).left_s(10.0) is None, "nothing was made: nothing is known"
    assert Standing(4, 4, 0.0, 100.0, 100.0).left_s(10.0) == 0.0
    assert Standing(3, 4, 50.0, 25.0, 100.0).share == 0.75
    assert [terminal.left_text(s) for s in (None, 0.0, 0.2, 59.5, 3725.0)] == [
        "",
        "",
        "· 0:00:01 to go",
        "· 0:01:00 to go",
        "· 1:02:05 to go",
    ]


@pytest.mark.core
def test_the_core_tells_how_far_a_run_is() -> None:
    from interlayer import _core

    scenario = simulator.parse(interlayer.wlan(3, rate="11 Mb/s", duration="2000 s").text)
    runner = _core.Runner(jobs=1)
    begun = [runner.submit(scenario, seed) for seed in (1, 2)]
    told: list[dict[int, float]] = []
    while len(told) < 5:
        assert runner.next(0.05) is None
        told.append(dict(runner.reached_s()))
    runner.stop()
    assert all(list(one) == begun for one in told)
    first = [one[begun[0]] for one in told]
    assert first == sorted(first)
    assert 0.0 < first[1] < first[-1] < 2000.0
    assert [one[begun[1]] for one in told] == [0.0] * 5, "it waits"
    assert runner.reached_s() == []


@pytest.mark.core
def test_a_runs_bits_do_not_depend_on_who_looks() -> None:
    scenario = simulator.parse(interlayer.wlan(3, rate="11 Mb/s", duration="300 s", loss=0.01).text)
    looks: list[int] = []
    (seen,) = simulator.stream([(scenario, 1)], watch=lambda reached: looks.append(len(reached)))
    (unseen,) = simulator.stream([(scenario, 1)])
    for run in (seen[1], unseen[1]):
        assert isinstance(run, dict)
        run.pop("sim_s")
    assert json.dumps(seen[1]) == json.dumps(unseen[1])


@pytest.mark.core
@pytest.mark.parametrize(
    "verb", [("run",), ("compare", "--schemes", "none,lle-tcp"), ("sweep", "--over", "radio.rts_threshold=off")]
)
def test_ctrl_c_within_one_long_run_ends_it_within_a_second(verb: tuple[str, ...], long: Path) -> None:
    name, *more = verb
    words = (name, long, *more, "--runs", 2, "--set", "scenario.duration=300000 s")
    process, parent = started(100, *words)
    lines(parent, until=lambda shown: "to go" in shown.decode("utf-8", "replace"))  # runs are under way
    ended_s = interrupted(process)
    os.close(parent)
    assert ended_s < 1.0


def interrupted(process: subprocess.Popen[Any]) -> float:
    """Ctrl-C; gives the processor time that the command takes to end by it.

    That is the wait on an idle machine, whatever else this one is doing: its runs would use more of it until it ends.
    """
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    before_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    process.send_signal(signal.SIGINT)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 130
    return used.ru_utime + used.ru_stime - before_s


@pytest.mark.core
def test_a_large_run_that_is_still_put_together_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text(interlayer.wlan(2).text + '[[node]]\nname = "more"\ncount = 3000\nposition = [1, 0]\n')
    words = [sys.executable, "-m", "interlayer", "run", str(path), "--runs", "1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "3002 nodes: a run takes up to" in process.stderr.readline()
        assert interrupted(process) < 1.0
