"""Where runs are made: by threads of this process, or by the workers of a cluster. It is chosen here and nowhere else.

An engine is given tasks and gives back runs; what is done with them, the store included, is not its
business. docs/many-machines.md tells how a cluster is used.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from . import simulator
from .errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from . import _core
    from ._core import Run
    from .errors import RunError
    from .simulator import Watch


class Engine(Protocol):
    """Makes runs. Which one makes a run changes no bit of it."""

    def stream(
        self, tasks: Iterable[tuple[_core.Scenario, int]], watch: Watch | None = None
    ) -> Generator[tuple[int, Run | RunError]]:
        """Run each (scenario, seed) and give it with its number as it finishes, as `simulator.stream` does."""

    def forecast(self, scenario: _core.Scenario, runs: int) -> str:
        """What so many runs will take of the memory, in words; empty for small ones."""


@dataclass(frozen=True, slots=True)
class Here:
    """This process: `jobs` threads, 0 for one a core. Raises `InputError` for less than no job."""

    jobs: int = 0

    def __post_init__(self) -> None:
        simulator.check_jobs(self.jobs)

    def stream(
        self, tasks: Iterable[tuple[_core.Scenario, int]], watch: Watch | None = None
    ) -> Generator[tuple[int, Run | RunError]]:
        return simulator.stream(tasks, jobs=self.jobs, watch=watch)

    def forecast(self, scenario: _core.Scenario, runs: int) -> str:
        return simulator.forecast(scenario, runs, self.jobs)


HERE: Final = Here()

_CLUSTER: Final = "dask://"
EXAMPLE: Final = f"{_CLUSTER}127.0.0.1:8786"


@contextmanager
def chosen(name: str | None, jobs: int = 0, tell: Callable[[str], None] = lambda line: None) -> Iterator[Engine]:
    """The engine of a name: None is this process, `dask://HOST:PORT` the cluster of that scheduler.

    `tell` gets lines for a person. Raises `InputError` for a name that is none, and where the cluster cannot be had:
    its client is not installed, it is not reached, or a worker has another core.
    """
    if name is None:
        yield Here(jobs)
        return
    if not name.startswith(_CLUSTER):
        known = suggestion(name.partition(":")[0], ["dask"]) if "://" in name else ""
        raise InputError(f'engine: "{name}" is none{known or f"; a cluster of Dask is {EXAMPLE}"}', "--engine")
    if jobs:
        raise InputError(
            "jobs: how many runs a cluster makes at a time is its workers' business; leave it out", "--jobs"
        )
    from .cluster import Cluster

    with Cluster(name.removeprefix(_CLUSTER), tell) as cluster:
        yield cluster
