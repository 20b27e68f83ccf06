"""Network namespaces for tests, taken down whatever happens. Their names carry the process id of the test run."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from networks import command, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def namespace() -> Iterator[Callable[[str], str]]:
    """Makes namespaces; gives their full names."""
    if why := missing():
        pytest.skip(why)
    made: list[str] = []

    def make(name: str) -> str:
        made.append(f"il-{os.getpid()}-{name}")
        command("ip", "netns", "add", made[-1])
        command("ip", "-n", made[-1], "link", "set", "lo", "up")
        return made[-1]

    yield make
    for name in made:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
