"""`interlayer live` where no host is needed: the plan of a run, runs as other processes find them, the command line."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from interlayer import cli, cli_live, simulator, toml_text
from interlayer.errors import InputError
from interlayer.realtime import plan, remote

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
scenario = { duration = "5 s" }
radio = { standard = "802.11b" }
[[node]]
name = "a"
[[node]]
name = "b"
"""
MIXED = (
    HEAD
    + """
[[flow]]
name = "file"
from = "a"
to = "b"
start = "500 ms"
traffic = { model = "iperf3", bytes = "2 MB", length = "128 kB" }
transport = { congestion = "bbr", timestamps = true }
[[flow]]
name = "call"
from = "b"
to = "a"
traffic = { model = "iperf3", rate = "64 kb/s", length = "160 B" }
transport = { protocol = "udp" }
[[flow]]
name = "web"
from = "a"
to = "b"
traffic = { model = "command", run = "curl {b}" }
[[flow]]
name = "neighbour"
from = "b"
to = "a"
"""
)


def flow(traffic: str, more: str = 'from = "a"\nto = "b"') -> str:
    return f"{HEAD}[[flow]]\n{more}\ntraffic = {traffic}\n"


# ------------------------------------------------------------------------------------------------------------ the plan


@pytest.mark.core
def test_flows_of_programs_are_live_and_the_rest_is_simulated() -> None:
    read = plan.read(MIXED)
    file, call, web = read.flows
    assert (file.name, file.source, file.sink, file.model) == ("file", "a", "b", "iperf3")
    assert (file.total, file.length, file.start_s, file.congestion) == (2_000_000, 128_000, 0.5, "bbr")
    assert (call.name, call.udp, call.rate_bps, call.length, call.total) == ("call", True, 64_000, 160, None)
    assert (web.name, web.model, web.run) == ("web", "command", "curl {b}")
    assert read.scenario.flows == ["file", "call", "web", "neighbour"]
    assert read.scenario.duration_s == 5
    assert plan.read(HEAD + '[[flow]]\nfrom = "a"\nto = "b"\n').flows == ()


@pytest.mark.core
def test_what_a_program_is_says_nothing_in_the_core() -> None:
    only = MIXED.partition('[[flow]]\nname = "neighbour"')[0]
    [run] = simulator.run_batch([(plan.read(only).scenario, 1)]).runs
    assert run is not None
    assert [row["delivered_bytes_total"] for row in run["flows"]] == [0, 0, 0]


@pytest.mark.core
def test_overrides_and_the_length_of_a_run_are_those_of_the_core() -> None:
    read = plan.read(MIXED, [("radio.data_rate", '"2 Mb/s"')], seconds=7)
    assert read.scenario.duration_s == 7
    with pytest.raises(InputError, match=r"radio\.data_rat"):
        plan.read(MIXED, [("radio.data_rat", '"2 Mb/s"')])


@pytest.mark.core
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (flow('{ model = "iperf3", lenght = "1 B" }'), r'flow\[0\].traffic.lenght: no key of iperf3.*"length"'),
        (flow('{ model = "iperf3", bytes = "2 Mb/s" }'), r"flow\[0\].traffic.bytes: expected a value in B"),
        (flow('{ model = "iperf3", rate = 3 }'), r"flow\[0\].traffic.rate: expected a value in b/s"),
        (flow('{ model = "command" }'), r"flow\[0\].traffic.run: missing"),
        (flow('{ model = "command", run = 3 }'), r"flow\[0\].traffic.run: missing"),
        (flow('{ model = "iperf3" }', 'from = ["a"]\nto = "b"'), r"flow\[0\].from: a live flow has one node there"),
        (flow('{ model = "iperf3" }', 'from = "a"'), r"flow\[0\].to: a live flow has one node there"),
        (flow('{ model = "iperf3" }', 'from = "a"\nto = "c"'), r'flow\[0\].to: no node "c"'),
    ],
)
def test_a_mistake_in_a_live_flow_is_told_with_its_path(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        plan.read(text)
    assert "\n" not in str(caught.value)


@pytest.mark.core
def test_the_twin_is_the_same_scenario_for_the_simulator() -> None:
    without_command = MIXED.replace('{ model = "command", run = "curl {b}" }', '{ model = "bulk" }')
    of_twin = simulator.tables(plan.twin(without_command))
    given = simulator.tables(without_command)
    file, call, *rest = of_twin["flow"]
    assert file["traffic"] == {"model": "bulk", "bytes": "2 MB"}
    assert file["transport"] == given["flow"][0]["transport"]
    assert call["traffic"] == {"model": "cbr", "rate": "64 kb/s"}
    assert rest == given["flow"][2:]
    assert {key: value for key, value in of_twin.items() if key != "flow"} == {
        key: value for key, value in given.items() if key != "flow"
    }
    with pytest.raises(InputError, match=r"flow\[2\].traffic.model: a command runs live only"):
        plan.twin(MIXED)


def test_tables_as_text_are_the_tables() -> None:
    tables = {"a b": {"c": [1, {"d": 'e\n"'}]}, "f": True}
    assert simulator.tables(plan.as_text(tables)) == tables
    assert toml_text.key("a b") == '"a b"'


# ------------------------------------------------------------------------------------------------------ other processes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "interlayer"


def test_the_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    assert remote.folder() == folder
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert remote.folder().name == f"interlayer-{os.geteuid()}"


def test_a_run_is_asked_for_changes_and_answers_in_a_line(folder: Path) -> None:
    asked: list[str] = []

    def change(text: str) -> None:
        asked.append(text)
        if text == "no":
            raise ValueError("no such thing")
        if text == "over":
            raise RuntimeError("it is over")

    with pytest.raises(InputError, match="no live run of yours is going on"):
        remote.ask("node.a.dead=true")
    with remote.reachable(folder, [], change):
        assert remote.running(folder) == [os.getpid()]
        assert folder.stat().st_mode & 0o777 == 0o700
        remote.ask("yes")
        remote.ask("yes", os.getpid())
        for text, told in ("no", "no such thing"), ("over", "it is over"):
            with pytest.raises(InputError, match=told):
                remote.ask(text)
        with pytest.raises(InputError, match=f"--pid: no live run of yours is process 1; there are {os.getpid()}"):
            remote.ask("yes", 1)
        # Who says nothing holds up nobody for ever, and who hangs up neither.
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(str(next(path for path in folder.iterdir() if path.suffix != ".json")))
        remote.ask("yes")
    assert asked.count("yes") == 3
    assert list(folder.iterdir()) == []
    assert remote.running(folder) == []


def test_the_dead_are_removed_and_nothing_else(folder: Path) -> None:
    folder.mkdir()
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        begun = remote.started(ended.pid)
        ended.wait()
    own, other = remote.started(os.getpid()), remote.started(os.getppid())
    names = {
        f"live-{ended.pid}-{begun}.json": False,
        f"live-{ended.pid}-{begun}": False,
        # Another process has the number now.
        f"live-{os.getpid()}-1.json": False,
        f"live-{os.getpid()}-{own}.json": True,
        f"live-{os.getppid()}-{other}": True,
        "live-notes.json": True,
        "bpf-1-2": True,
    }
    for name in names:
        (folder / name).touch()
    remote.remove_dead(folder)
    assert {path.name for path in folder.iterdir()} == {name for name, stays in names.items() if stays}
    assert remote.started(ended.pid) is None
    remote.remove_dead(folder / "nowhere")


def test_a_run_that_does_not_answer_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PATIENCE_S", 0.1)
    held = threading.Event()
    with remote.reachable(folder, [], lambda _: held.wait(1) and None):
        with pytest.raises(InputError, match=f"the live run {os.getpid()} does not answer: ") as caught:
            remote.ask("yes")
        held.set()
    assert "\n" not in str(caught.value)


# -------------------------------------------------------------------------------------------------------- command line


@pytest.mark.parametrize(
    ("given", "joined"),
    [
        ([], []),
        (["live", "f", "--run", "a", "ping b"], ["live", "f", "--run", "a ping b"]),
        (["live", "--run", "a", "x", "--run", "b", "y", "f"], ["live", "--run", "a x", "--run", "b y", "f"]),
        (["live", "f", "--run", "a"], ["live", "f", "--run", "a"]),
        (["live", "f", "--run"], ["live", "f", "--run"]),
        # Behind -- all is the command's.
        (["live", "f", "--at", "a", "--", "docker", "--run", "a", "b"],) * 2,
    ],
)
def test_the_words_behind_run_are_one(given: list[str], joined: list[str]) -> None:
    assert cli_live.joined(given) == joined


@pytest.mark.core
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--at", "a"], "--at: names a node, and there is no command behind --"),
        (["--", "curl", "x"], "curl: needs --at NODE"),
        (["--for", "banana"], '--for: expected a time, such as "30s" or "2 min"; found "banana"'),
        (["--for", "0s"], '--for: expected a time, such as "30s" or "2 min"; found "0s"'),
        (["--for", "-1 s"], '--for: expected a time, such as "30s" or "2 min"; found "-1 s"'),
        (["--for", "5 Mb/s"], "--for: expected a time"),
        (["--run", "phone"], "--run: needs a node and a command"),
        (["--run", "phone", ""], "--run: needs a node and a command"),
        (["--run", "tablet", "true"], 'no node "tablet"; there are a, b'),
        (["--shell", "a", "--at", "b", "--", "true"], "--shell: does not go with --at"),
        (["--pid", "3"], "--pid: goes with `interlayer live set`"),
        (["--at", "tablet", "--", "true"], 'no node "tablet"; there are a, b'),
        (["--replay", "no-such-file"], "no-such-file"),
    ],
)
def test_bad_options_are_one_line_and_status_2(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cell.toml"
    file.write_text(HEAD + '[[flow]]\nfrom = "a"\nto = "b"\n', encoding="utf-8")
    assert run_cli("live", str(file), *options) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def run_cli(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    return int(ended.value.code or 0)


@pytest.mark.core
def test_a_missing_file_and_a_missing_change_are_one_line(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    for words, told in [
        (("no-such-file.toml",), "no-such-file.toml"),
        (("set",), "live set: needs PATH=VALUE"),
        (("set", "node.a.dead=true"), "no live run of yours is going on"),
        (("set", "--pid", "1", "node.a.dead=true"), "no live run of yours is process 1"),
    ]:
        assert run_cli("live", *words) == 2
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1


@pytest.mark.core
def test_durations_may_stand_without_a_space() -> None:
    assert [cli_live._seconds(text) for text in ("30s", "2 min", "2min", "500ms", "1.5 s")] == [30, 120, 120, 0.5, 1.5]
    assert cli_live._seconds(None) is None
