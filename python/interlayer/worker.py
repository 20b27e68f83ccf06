"""What a worker of a cluster does: one run, as the process that wants it would make it."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import extras, simulator
from .errors import InputError, InterlayerError, RunError

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPORT_S: Final = 0.5
"""How often it tells how far the run is."""


class Core(NamedTuple):
    """What makes runs: the same in all of it, the same bits."""

    version: str
    hash: str

    def __str__(self) -> str:
        return f"interlayer {self.version}, core {self.hash}"


def own() -> Core:
    """The core of this process."""
    return Core(simulator.version(), simulator.core_hash())


@functools.cache
def core() -> Core:
    """The core of a worker, by its file when it was first asked for."""
    return own()


class _DroppedError(Exception):
    """Nobody waits for the run any more."""


def work(wanted: Core, text: str, overrides: list[tuple[str, str]], seed: int, campaign: str) -> tuple[str, Any]:
    """One run, on a worker: what it is (`run`, `failed`, `input`, `trouble`, or `core`: it has another), and it.

    With a campaign it tells the client how far it is.
    """
    dask = extras.distributed().worker
    worker = dask.get_worker()
    if tuple(wanted) != tuple(core()):
        return "core", (worker.address, tuple(core()))
    key, told = dask.thread_state.key, time.monotonic()

    def watch(reached: Mapping[int, float]) -> None:
        nonlocal told
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise _DroppedError
        if campaign and time.monotonic() - told >= _REPORT_S:
            told = time.monotonic()
            worker.log_event(campaign, {"campaign": campaign, "key": key, "reached_s": reached.get(0, 0.0)})

    try:
        scenario = simulator.parse(text, overrides)
        ((_, run),) = simulator.stream([(scenario, seed)], jobs=1, watch=watch)
    except InputError as e:  # what this process has read: the worker's memory is too small
        return "input", (f"worker {worker.address}: {e}", e.path)
    except InterlayerError as e:
        return "trouble", f"worker {worker.address}: {e}"
    except _DroppedError:
        return "failed", "interrupted"
    return ("failed", run.why) if isinstance(run, RunError) else ("run", run)
