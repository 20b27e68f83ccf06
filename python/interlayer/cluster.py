"""Runs made by the workers of a Dask cluster. They come back to this process, which stores and counts them.

A worker makes a run as this process would, with a core whose file is the same to the byte; any other is refused by
name. A run whose worker dies is made again by another one.
"""

from __future__ import annotations

import logging
import platform
import queue
import threading
import time
import uuid
import warnings
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from . import extras, simulator
from .errors import InputError, InterlayerError, OutputError, RunError
from .worker import Core, own

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from types import TracebackType

    from . import _core
    from ._core import Run
    from .simulator import Watch

OPTION: Final = "--engine"
"""What is wrong, for the command line: no place in a file."""

_PATIENCE_S: Final = 3.0
"""How long a scheduler has to answer."""

_DEADLINE_S: Final = 5.0
"""After so long an attempt to reach it is given up, whatever it waits for."""

_LOOK_S: Final = 0.2
"""How often is looked for what changed while no run finishes."""

_COUNT_S: Final = 1.0
"""How often threads are counted: workers come and go."""

_AHEAD: Final = 2
"""Runs that are submitted for each thread of a worker: one is made, one waits."""


class Cluster:
    """The workers of the scheduler at `place` (HOST:PORT), from `with` on.

    Entering raises `InputError` if the place is none, if distributed is not installed, if no scheduler answers within a
    few seconds, and for a worker with another core than this process.
    """

    def __init__(self, place: str, tell: Callable[[str], None] = lambda line: None) -> None:
        self.name = f"dask://{place}"
        self._address = _address(place)
        self._tell = tell
        self._client: Any = None
        self._left = ExitStack()
        self._reached: dict[str, dict[str, float]] = {}

    def __enter__(self) -> Cluster:
        extras.distributed()  # or say that it is missing
        self._left.enter_context(_silent())
        with self._left:
            self._client = _connected(self._address, self.name)
            self._left.callback(self._client.close, timeout=1)
            self._check_workers()
            self._left = self._left.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        self._left.close()

    def forecast(self, scenario: _core.Scenario, runs: int) -> str:
        """Nothing: the memory is the workers', and each looks at its own."""
        return ""

    def stream(
        self, tasks: Iterable[tuple[_core.Scenario, int]], watch: Watch | None = None
    ) -> Generator[tuple[int, Run | RunError]]:
        """As `simulator.stream`, on the workers.

        Raises `OutputError` if the scheduler is gone, `InputError` for a scenario with parts in Python.
        """
        campaign, work, core = f"interlayer-{uuid.uuid4().hex}", _asked_for_run(), own()
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        asked: dict[str, tuple[int, str, int, Any]] = {}
        todo, begun, room, counted = iter(tasks), 0, 0, float("-inf")
        reached = self._reached[campaign] = {}
        try:
            if watch is not None:
                self._client.subscribe_topic(campaign, self._heard)
            while True:
                if (now := time.monotonic()) - counted >= _COUNT_S:
                    room, counted = _AHEAD * self._threads(now), now
                while len(asked) < max(room, 1) and (task := next(todo, None)) is not None:
                    scenario, seed = task
                    simulator.check_seeds(seed, 1)
                    if scenario.parts:
                        names = ", ".join(name for name, *_ in scenario.parts)
                        raise InputError(f"engine: {names} is a part in Python, which a cluster does not run", OPTION)
                    key = f"{campaign}-{begun}"
                    told = campaign if watch is not None else ""
                    future = self._client.submit(work, core, *scenario.source, seed, told, key=key, pure=False)
                    asked[key] = (begun, scenario.name, seed, future)
                    future.add_done_callback(finished.put)
                    begun += 1
                if not asked:
                    return
                try:
                    key = finished.get(timeout=_LOOK_S).key
                except queue.Empty:
                    if watch is not None:
                        watch({asked[key][0]: s for key, s in dict(reached).items() if key in asked})
                    continue
                number, name, seed, future = asked[key]
                run = self._result(future, name, seed)
                del asked[key]
                reached.pop(key, None)
                yield number, run
        finally:
            self._reached.pop(campaign, None)
            with suppress(Exception):
                if watch is not None:
                    self._client.unsubscribe_topic(campaign)
                if asked:
                    # Workers see it, and stop the runs under way.
                    self._client.cancel([future for *_, future in asked.values()], force=True, asynchronous=False)

    def _result(self, future: Any, name: str, seed: int) -> Run | RunError:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        try:
            found: tuple[str, Any] = future.result()
        except KilledWorker as e:
            why = f"each of the {self._deaths()} workers that began it died; is their memory enough?"
            return RunError(name, seed, f"{why} ({e.last_worker.address})")
        except (FutureCancelledError, CommClosedError) as e:  # the latter if it goes while a result is on its way
            raise OutputError(f"{self.name}: the scheduler is gone, or has dropped the runs") from e
        except InterlayerError:
            raise
        except Exception as e:
            raise OutputError(f"{self.name}: {' '.join(str(e).split()) or type(e).__name__}") from e
        what, told = found
        if what == "run":
            run: Run = told
            return run
        if what == "failed":
            return RunError(name, seed, told)
        if what == "core":
            raise _other(*told)
        if what == "trouble":
            raise OutputError(f"{self.name}: {told}")
        message, path = told
        raise InputError(message, path)

    @staticmethod
    def _deaths() -> int:
        import dask

        return 1 + int(dask.config.get("distributed.scheduler.allowed-failures", 3))

    def _check_workers(self) -> None:
        """Raise `InputError` for the first, by name, whose Python or core is another than ours."""
        here = ".".join(platform.python_version_tuple()[:2])
        versions = self._client.get_versions()
        for who, told in [("the scheduler", versions["scheduler"]), *sorted(versions["workers"].items())]:
            there = ".".join(str(told["host"]["python"]).split(".")[:2]) if told else here
            if there != here:
                raise InputError(f"engine: {self.name}: {who} has Python {there}, here is {here}", OPTION)
        found = self._client.run(_asked_for_core(), on_error="return")
        for address in sorted(found):
            if isinstance(found[address], BaseException):
                raise InputError(f"engine: worker {address}: {found[address]}", OPTION)
            core = found[address]
            if core is None or tuple(core) != tuple(own()):
                raise _other(address, core)
        if not found:
            self._tell(f"{self.name} has no worker yet; the runs wait for one")

    def _threads(self, now: float) -> int:
        with suppress(Exception):  # a scheduler that is gone is told by what it drops
            return sum(self._client.nthreads().values())
        return 0

    def _heard(self, event: tuple[float, Mapping[str, Any]]) -> None:
        said = event[1]
        with suppress(KeyError):
            self._reached[said["campaign"]][said["key"]] = said["reached_s"]


def _other(worker: str, core: tuple[str, str] | None) -> InputError:
    has = "no interlayer, or an older one" if core is None else str(Core(*core))
    return InputError(f"engine: worker {worker} has {has}; here is {own()}: install the same wheel on both", OPTION)


def _address(place: str) -> str:
    """The scheduler's address as Dask writes it. Raises `InputError`."""
    with suppress(ValueError):
        parts = urlsplit(f"tcp://{place}")
        if parts.hostname and parts.port and parts.netloc == place:
            return f"tcp://{place}"
    raise InputError(f'engine: "dask://{place}" is no dask://HOST:PORT, as in dask://127.0.0.1:8786', OPTION)


def _connected(address: str, name: str) -> Any:
    """A client of the scheduler. Raises `InputError`."""
    client: Any = extras.distributed().Client
    found: list[Any] = []

    def connect() -> None:
        try:
            found.append(client(address, timeout=_PATIENCE_S, set_as_default=False))
        except Exception as e:
            found.append(e)

    # In a thread of its own: a server that takes the connection and says nothing would be waited for without end.
    attempt = threading.Thread(target=connect, daemon=True)
    attempt.start()
    attempt.join(_DEADLINE_S)
    if not found:
        raise InputError(f"engine: {name}: something listens there, but no scheduler of Dask answers", OPTION)
    if isinstance(found[0], Exception):
        raise InputError(f"engine: {name}: no scheduler of Dask is reached there", OPTION) from found[0]
    return found[0]


@contextmanager
def _silent() -> Iterator[None]:
    """Without what Dask would log: what matters of it is said in our one line."""
    from distributed.versions import VersionMismatchWarning

    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "distributed.core")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


# What a worker is sent is nested, so that it goes as code. A name would fail where this package is not installed, the
# scheduler included.


def _asked_for_core() -> Callable[[], tuple[str, str] | None]:
    """Tells the core of a worker; None if it has none."""

    def core() -> tuple[str, str] | None:
        try:
            from interlayer import worker
        except ImportError:
            return None
        return worker.core().version, worker.core().hash

    return core


def _asked_for_run() -> Callable[..., tuple[str, Any]]:
    """`worker.work` by way of whatever is installed there."""

    def work(*arguments: Any) -> tuple[str, Any]:
        try:
            from interlayer import worker
        except ImportError:
            from distributed.worker import get_worker

            return "core", (get_worker().address, None)
        return worker.work(*arguments)

    return work
