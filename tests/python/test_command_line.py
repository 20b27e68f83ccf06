"""What makes a command pleasant: short options, standard input, completion, examples and defaults in --help."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

import forked
import interlayer
from interlayer import bench, cli, shipped
from interlayer.realtime import hosts
from interlayer.study import comparison, joint, sweep

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
COMMANDS: Any = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
EXAMPLES = list(
    dict.fromkeys(
        line.strip()
        for command in [typer.main.get_command(cli.app), *COMMANDS.values()]
        for line in (command.help or "").splitlines()
        if line.startswith("  interlayer ")
    )
)

# --------------------------------------------------------------------------------------------------------------- help


def test_short_options_of_help_and_version(call: Callable[..., Any]) -> None:
    assert call("-h") == call("--help")
    assert call("run", "-h") == call("run", "--help")
    assert call("-V") == (0, f"interlayer {interlayer.__version__}\n", "")


def test_every_verb_has_an_example_and_a_summary_that_fits(call: Callable[..., Any]) -> None:
    verbs = set(COMMANDS) - {"store"}
    assert {shlex.split(line)[1] for line in EXAMPLES} >= verbs - {"completion"}
    assert "..." not in call("--help")[1].partition("Commands:")[2]  # no summary is cut
    assert len(verbs) >= 9


def in_good_time(line: str) -> Any:
    """An example of the help with the marks that say what it costs: a range of a paper's figure is minutes."""
    if " --over " in line and " readings " in line:
        return pytest.param(line, marks=pytest.mark.papers)
    if " live " in line:
        return pytest.param(line, marks=pytest.mark.skipif(hosts.obstacle() is not None, reason="no hosts here"))
    return pytest.param(line, marks=pytest.mark.slow) if " bench" in line else line


@pytest.mark.core
@pytest.mark.parametrize("line", [in_good_time(line) for line in EXAMPLES if " explore" not in line])
def test_every_example_of_the_help_runs(line: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = forked.command(*shlex.split(line)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.core
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "examples/single-hop.toml"],
        ["run", "examples/no.toml"],
        ["list", "--json", "-", "schemes"],
        ["live", "-h"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_is_forked_says_and_returns_what_one_does_that_is_started(arguments: list[str]) -> None:
    """Most tests fork theirs: forked.py."""
    started = subprocess.run([sys.executable, "-m", "interlayer", *arguments], cwd=ROOT, capture_output=True, text=True)
    done = forked.command(*arguments, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (started.returncode, started.stdout, started.stderr)


def test_defaults_are_shown_and_are_those_of_the_program() -> None:
    for verb, runs in (("compare", comparison.RUNS), ("sweep", sweep.RUNS), ("readings", joint.RUNS)):
        option = next(p for p in COMMANDS[verb].params if "--runs" in p.opts)
        assert f"[default: {runs}]" in option.help
    option = next(p for p in COMMANDS["bench"].params if "--runs" in p.opts)
    assert f"[default: {bench.RUNS} runs, {bench.PAIRS} pairs]" in option.help
    for verb, command in COMMANDS.items():
        for option in command.params:
            if "--seed" in option.opts:
                assert "[default: " in option.help, verb
    quick = next(p for p in COMMANDS["sweep"].params if "--quick" in p.opts)
    assert quick.help.startswith(f"{sweep.QUICK_RUNS} runs")


# ---------------------------------------------------------------------------------------------- examples by their names


@pytest.mark.core
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "single-hop", "--runs", "1"],
        ["check", "single-hop", "--effective"],
        ["compare", "single-hop", "--schemes", "none,lle-tcp", "--runs", "1"],
        ["sweep", "single-hop", "--over", "scheme=none,lle-tcp", "--runs", "1"],
    ],
    ids=lambda words: words[0],
)
def test_an_example_is_named_as_its_file_is(
    arguments: list[str], call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, name, *words = arguments
    status, out, err = call(verb, name, *words)
    assert (status, err) == (0, "")
    assert without_clock(out) == without_clock(call(verb, shipped.path(name), *words)[1])


def without_clock(text: str) -> str:
    return re.sub(r"(Interlayer \S+), .*", r"\1", text)


@pytest.mark.core
def test_a_file_of_an_example_s_name_comes_first_and_a_folder_does_not(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("single-hop").mkdir()
    assert "single-hop: scenario single-hop, 2 nodes, 1 flow" in call("check", "single-hop")[1]
    Path("single-hop").rmdir()
    Path("single-hop").write_text(interlayer.wlan(3, name="mine").text)
    assert "single-hop: scenario mine, 3 nodes, 2 flows" in call("check", "single-hop")[1]


@pytest.mark.core
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["run", "home-xa"], 'no file or example "home-xa"; did you mean "home-ax"?'),
        (["compare", "cofee-shop"], 'no file or example "cofee-shop"; did you mean "coffee-shop"?'),
        (["run", "own"], 'no file or example "own"; did you mean "own-cell.toml"?'),
        (["check", "lle-fig-3.9x"], 'no file, example or experiment "lle-fig-3.9x"; did you mean "lle-fig-3.9"?'),
        (["run", "home-ax", "--set", "radio.widht=1"], 'home-ax: radio.widht: no such key; did you mean "width"?'),
        (["run", "home-ax.tml"], 'no file or example "home-ax.tml"; did you mean "home-ax"?'),
    ],
)
def test_a_name_of_nothing_is_one_line(
    call: Callable[..., Any], words: list[str], line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own-cell.toml").touch()
    assert call(*words) == (2, "", f"interlayer: {line}\n")


def test_the_examples_of_the_package_are_those_of_its_folder() -> None:
    assert sorted(shipped.EXAMPLES) == sorted(file.stem for file in shipped.FOLDER.glob("*.toml"))


# ----------------------------------------------------------------------------------------------------- standard input


@pytest.mark.core
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "-", "--runs", "1"],
        ["check", "-"],
        ["check", "-", "--effective"],
        ["compare", "-", "--schemes", "none,lle-tcp", "--runs", "1"],
        ["sweep", "-", "--over", "scheme=none,lle-tcp", "--runs", "1"],
    ],
)
def test_a_dash_is_standard_input(
    arguments: list[str], call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = interlayer.wlan(duration="1 s", warmup="500 ms", name="piped").text
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    status, out, err = call(*arguments)
    assert (status, err) == (0, "")
    assert "piped" in out


def test_what_is_wrong_with_standard_input_is_told(call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x ="))
    status, out, err = call("run", "-")
    assert (status, out) == (2, "")
    assert err.startswith("interlayer: standard input: ")
    monkeypatch.setattr("sys.stdin", io.StringIO("[sweep]"))
    status, out, err = call("check", "-")
    assert (status, out, err) == (
        2,
        "",
        "interlayer: standard input: an experiment is read from a file, beside its scenario\n",
    )


# --------------------------------------------------------------------------------------------------------- completion


def completed(shell: str, typed: str) -> list[str]:
    """What the command offers to a shell that asks as its script does."""
    words = typed.split(" ")
    asked = {
        "bash": {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": typed},
        "fish": {"_TYPER_COMPLETE_ARGS": typed, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    return forked.command(_INTERLAYER_COMPLETE=f"complete_{shell}", **asked).stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_verbs_options_and_experiments(shell: str) -> None:
    def offered(typed: str) -> str:
        return "\n".join(completed(shell, typed))

    assert "compare" in offered("interlayer comp")
    assert "--series" in offered("interlayer run --se")
    assert "lle-fig-3.7b" in offered("interlayer reproduce lle-fig-3.7")
    assert "lle-fig-3.9" not in offered("interlayer reproduce lle-fig-3.7")


@pytest.mark.core
def test_schemes_complete_behind_the_last_comma() -> None:
    assert completed("bash", "interlayer compare x --schemes none,lle-t") == ["none,lle-tcp"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_reads(shell: str, call: Callable[..., Any], tmp_path: Path) -> None:
    status, script, err = call("completion", shell)
    assert (status, err) == (0, "")
    assert "_INTERLAYER_COMPLETE=complete_" + shell in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        done = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_bash_itself_completes(tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    (tmp_path / "interlayer").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m interlayer "$@"\n')
    (tmp_path / "interlayer").chmod(0o755)
    script = (
        'eval "$(interlayer completion bash)"; COMP_WORDS=(interlayer reproduce lle-fig-3.7); COMP_CWORD=2; '
        '_interlayer_completion interlayer; echo "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert re.fullmatch(r"lle-fig-3\.7a lle-fig-3\.7b\n", done.stdout), done.stderr


def test_another_shell_is_told(call: Callable[..., Any]) -> None:
    status, out, err = call("completion", "fihs")
    assert (status, out) == (2, "")
    assert 'completion: "fihs" is none of bash, zsh, fish; did you mean "fish"?' in err
