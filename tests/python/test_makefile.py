"""The Makefile's build: what runs side by side, what waits for it, and the line for each failure; over toy tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")

STEP = """
step() {
  echo "begin $1" >> log
  [ "$FAILS" = "$1" ] && { echo "the tool's own words" >&2; exit 1; }
  # A step that is to run beside another waits until that has begun.
  tries=100
  while [ -n "$2" ] && ! grep -q "begin $2" log; do
    tries=$((tries - 1)); [ $tries -gt 0 ] || exit 1; sleep 0.1
  done
  echo "end $1" >> log
}
"""

TOOLS = {
    "python3": f"""
[ "$1 $2" = "-m venv" ] || exec "{sys.executable}" "$@"
mkdir -p "$3/bin" && cp tools/python tools/maturin tools/interlayer "$3/bin"
""",
    "python": """
case "$*" in
  *" maturin=="*) step maturin ;;
  *"-r python/requirements.lock"*) step pins core ;;
  *"--editable ."*) step package ;;
esac
""",
    "maturin": "step core pins\n",
    "interlayer": "echo interlayer 0.toy\n",
    "cargo": "echo cargo 1.99.0\n",
    "rustc": "echo rustc 1.99.0\n",
    "cc": "",
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the Makefile, the pins, and tools that write down when they ran."""
    for name in ("Makefile", "python/requirements.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tools").mkdir()
    for name, does in TOOLS.items():
        (tmp_path / "tools" / name).write_text(f"#!/bin/sh\n{STEP}{does}")
        (tmp_path / "tools" / name).chmod(0o755)
    for name in ("Cargo.toml", "Cargo.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    return tmp_path


def make(clone: Path, *arguments: str, fails: str = "") -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    path = f"{clone / 'tools'}{os.pathsep}{os.environ['PATH']}"
    environment = kept | {"PATH": path, "FAILS": fails}
    return subprocess.run(["make", *arguments], cwd=clone, env=environment, capture_output=True, text=True)


def log(clone: Path) -> list[str]:
    return (clone / "log").read_text().splitlines()


@pytest.mark.parametrize("arguments", [(), ("build",), ("-j3", "build")])
def test_pins_and_core_are_made_side_by_side_and_the_package_after_both(
    arguments: tuple[str, ...], clone: Path
) -> None:
    done = make(clone, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interlayer 0.toy\n", "")
    ran = log(clone)
    assert ran[:2] == ["begin maturin", "end maturin"]
    assert sorted(ran[2:4]) == ["begin core", "begin pins"]
    assert sorted(ran[4:6]) == ["end core", "end pins"]
    assert ran[6:] == ["begin package", "end package"]
    again = make(clone, *arguments)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert log(clone) == ran


PINS = (
    "doctor: pip could not install the pins. No matching distribution means that the Python package registry cannot be "
    "reached: check the network or proxy, then make build"
)
BUILD = (
    "doctor: the build failed, see above. If cargo could not download: the Rust package registry cannot be reached; "
    "check the network or proxy, then make build"
)


@pytest.mark.parametrize(("fails", "says"), [("maturin", PINS), ("pins", PINS), ("core", BUILD), ("package", BUILD)])
def test_whatever_fails_is_one_line_of_the_doctor_and_the_rest_is_kept(fails: str, says: str, clone: Path) -> None:
    done = make(clone, "build", fails=fails)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("doctor: ")] == [says]
    assert lines.index("the tool's own words") < lines.index(says)
    assert not (clone / ".venv/.built").exists()
    other = {"pins": "core", "core": "pins"}.get(fails)
    if other is not None:
        assert f"end {other}" in log(clone)
        # The second time only what failed is made, and nothing for it to run beside.
        (clone / "log").write_text(f"begin {other}\n")
        assert make(clone, "build").returncode == 0
        assert [line for line in log(clone)[1:] if line.startswith("begin")] == [f"begin {fails}", "begin package"]


def test_what_is_missing_is_said_before_anything_is_made(clone: Path) -> None:
    (clone / "tools/rustc").write_text("#!/bin/sh\necho rustc 1.80.0\n")
    done = make(clone, "build")
    assert done.returncode == 2
    assert (
        done.stderr.splitlines()[0]
        == "doctor: needs rustc 1.88 or newer (rustup update stable); rustc says: rustc 1.80.0"
    )
    assert not (clone / "log").exists()


# ---------------------------------------------------------------------------------------------------- parts of validate


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit of one file, with `tools/part`."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    (tmp_path / "source").write_text("1")
    (tmp_path / ".gitignore").write_text("target\nlog\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    return tmp_path


def part(repository: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = [ROOT / "tools/part", "phy/modem", "sh", "-c", command]
    return subprocess.run(words, cwd=repository, capture_output=True, text=True, check=False)


def test_a_part_of_validate_that_has_passed_for_this_tree_is_not_run_again(repository: Path) -> None:
    first, second = (part(repository, "echo ran >> log") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0)
    assert (repository / "log").read_text() == "ran\n"
    assert "phy/modem: passed for this tree, 20" in second.stdout


def test_a_part_that_has_failed_or_whose_files_have_changed_is_run_again(repository: Path) -> None:
    assert part(repository, "echo ran >> log; exit 3").returncode == 3
    part(repository, "echo ran >> log")
    (repository / "source").write_text("2")
    for _ in range(2):  # of no commit, so nothing is noted
        part(repository, "echo ran >> log")
    assert (repository / "log").read_text() == "ran\n" * 4
