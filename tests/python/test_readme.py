"""What README.md shows is run: every Python block, and every `interlayer` command that is to be typed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8") if README.exists() else ""
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
PYTHON = [body for language, body in BLOCKS if language == "python"]
COMMANDS = [
    line.removeprefix("$ ").removeprefix(".venv/bin/")
    for language, body in BLOCKS
    if language in ("sh", "console", "bash")
    for line in body.splitlines()
    if re.match(r"(\$ )?(\.venv/bin/)?interlayer ", line)
]

pytestmark = pytest.mark.core


def test_readme_has_examples() -> None:
    if not README.exists():
        pytest.skip("there is no README.md yet")
    assert PYTHON
    assert COMMANDS


@pytest.mark.parametrize("code", PYTHON)
def test_python_block_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout, "an example shows something"


@pytest.mark.parametrize("line", COMMANDS)
def test_command_runs(line: str, tmp_path: Path) -> None:
    """In an empty folder, where the examples' scenario files are found under the same names."""
    (tmp_path / "examples").symlink_to(README.parent / "examples")
    words = shlex.split(line, comments=True)
    command = [str(Path(sys.executable).with_name("interlayer")), *words[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
