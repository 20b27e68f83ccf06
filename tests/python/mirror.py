"""Crates outside the repository, compiled as if they were members of it.

Cargo knows a crate by where it stands in its workspace. A folder with the repository's manifest and lock, its crates as
links, and the crate outside as one member more, is to cargo the repository itself: only the crate outside is compiled.
That it compiles as a project of its own is seen by tests with the mark `whole`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def workspace(name: str, members: list[str]) -> Path:
    """A folder for crates outside, those `members` among them, at a place of its own in target/."""
    mirror = ROOT / "target/mirror" / name
    shutil.rmtree(mirror, ignore_errors=True)
    mirror.mkdir(parents=True)
    manifest = (ROOT / "Cargo.toml").read_text("utf-8")
    listed = ", ".join(f'"{member}"' for member in members)
    manifest, found = re.subn(r"(?m)^members = \[(.*)\]$", rf"members = [\1, {listed}]", manifest)
    assert found == 1
    (mirror / "Cargo.toml").write_text(manifest)
    shutil.copy(ROOT / "Cargo.lock", mirror)
    for folder in ("crates", "bench"):
        (mirror / folder).symlink_to(ROOT / folder)
    return mirror


def join(crate: Path) -> None:
    """Makes a crate that is a workspace of its own a member of the one around it."""
    manifest = (crate / "Cargo.toml").read_text("utf-8")
    manifest, found = re.subn(r"(?m)^\[workspace\].*\n", "", manifest)
    assert found == 1
    (crate / "Cargo.toml").write_text(re.sub(r'path = "(?:\.\./)+crates/', 'path = "../crates/', manifest))


def cargo(*arguments: str, cwd: Path, variables: dict[str, str] | None = None) -> str:
    """Runs cargo on the target folder of the repository as `make` does; gives what it said."""
    python = {"PYO3_BUILD_EXTENSION_MODULE": "1", "PYO3_PYTHON": str(ROOT / ".venv/bin/python")}
    environment = {**os.environ, **python, "CARGO_TARGET_DIR": str(ROOT / "target"), **(variables or {})}
    done = subprocess.run(["cargo", *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr
