"""Network namespaces for tests, taken down whatever happens. Their names carry the process id of the test run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from networks import command, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ATTEMPTS = 3
"""Times that a test is run on a machine that has more to do than it has processors: it measures the clock."""


def pytest_configure() -> None:
    """What a script begins in its background ignores SIGINT, and so would the live runs: tests press Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that fails while the machine is loaded is run again. On an idle machine one failure is enough."""
    if "namespace" in pyfuncitem.fixturenames:
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for attempt in range(1, ATTEMPTS + 1):
        try:
            pyfuncitem.obj(**given)
        except Exception as error:
            load, processors = os.getloadavg()[0], len(os.sched_getaffinity(0))
            if attempt == ATTEMPTS or load <= processors:
                raise
            print(f"failed at a load of {load:.1f} on {processors} processors, and is run again: {error!r}")
            time.sleep(1)
        else:
            break
    return True


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
