"""The one door to the machine: programs, sysfs and the kernel's release. A test puts its own in the place of these."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from interlayer.errors import InterlayerError

PATIENCE_S = 20
"""How long a program may take. Listing thousands of rules takes one second."""


class Done(NamedTuple):
    """What a program said, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def why(self) -> str:
        """The first line of its complaint, without the name of the file that it read."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        first = lines[0] if lines else f"exit status {self.status}"
        return first.partition("Error: ")[2] or first


@dataclass
class System:
    """A machine. `root` is where its files begin; `prefix` stands before each command (`ip netns exec NAME`)."""

    root: Path = Path("/")
    prefix: tuple[str, ...] = ()
    release: str = field(default_factory=lambda: os.uname().release)

    def has(self, program: str) -> bool:
        return shutil.which(program) is not None

    def run(self, *command: str, stdin: str = "") -> Done:
        """Runs a program to its end. Its messages are in English, since some of them are read."""
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                [*self.prefix, *command],
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE_S,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired as e:
            raise InterlayerError(f"{command[0]}: no answer in {PATIENCE_S} s") from e
        return Done(done.returncode, done.stdout, done.stderr)

    def file(self, path: str) -> Path:
        """A file by its absolute path."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str:
        """The content of a small file without the space around it; empty where it cannot be read."""
        try:
            return self.file(path).read_text("utf-8", "replace").strip()
        except OSError:
            return ""

    def devices(self) -> list[str]:
        """The network devices, by name."""
        if self.prefix:
            listed = self.run("ip", "-o", "link", "show").out.splitlines()
            return [line.split(": ")[1].partition("@")[0] for line in listed]
        return [name for _, name in socket.if_nameindex()]

    def is_wireless(self, device: str) -> bool:
        """True for a device of cfg80211, which has a link to its phy, and for one of the older wireless extensions."""
        place = self.file(f"/sys/class/net/{device}")
        return (place / "phy80211").exists() or (place / "wireless").exists()
