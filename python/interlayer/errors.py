"""What can go wrong, as exceptions: one base class and few children, with the core's own text."""

from __future__ import annotations

import re
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class InterlayerError(Exception):
    """Everything this package raises on purpose; `str(e)` is one plain line."""

    status: ClassVar[int] = 1
    """The exit status of a command that ends by it."""


class InputError(InterlayerError, ValueError):
    """What the user gave is wrong: a scenario, an experiment file, an option.

    `path` is the key as the file spells it (`flow[1].transport.congestion`), empty where no key is to blame. It is the
    option (`--over`) where an option of the command line is. `in_python` is the message for callers from Python where
    it is another one by more than the name of that option.
    """

    status = 2

    def __init__(self, message: str, path: str = "", in_python: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.in_python = in_python


_PARAMETERS = {"metric": "metrics", "arm": "arms"}
"""Options whose parameter in Python has another name."""
_OPTION = re.compile(r"^--([a-z]+)")


@contextmanager
def named_as_parameters() -> Iterator[None]:
    """An `InputError` of an option that is raised inside names the parameter of the Python function."""
    try:
        yield
    except InputError as e:

        def parameter(option: re.Match[str]) -> str:
            return _PARAMETERS.get(option[1], option[1])

        message = e.in_python or (_OPTION.sub(parameter, str(e)) if e.path.startswith("--") else str(e))
        e.args = (message,)
        e.path = _OPTION.sub(parameter, e.path)
        raise


class OutputError(InterlayerError, OSError):
    """The operating system refuses: a folder or file cannot be written, the disk is full, memory cannot be had."""


class RunError(InterlayerError):
    """A run failed by a mistake of the program. The other runs of its campaign went on.

    `scenario` and `seed` name it; `result` is what the other runs gave, where there is such a thing.
    """

    def __init__(self, scenario: str, seed: int, why: str) -> None:
        super().__init__(f'scenario "{scenario}", seed {seed}: {" ".join(why.split())}')
        self.scenario = scenario
        self.seed = seed
        self.why = why
        self.result: object = None

    def of(self, result: object) -> RunError:
        """The same error, with what the other runs gave."""
        self.result = result
        return self


class PartError(InterlayerError):
    """The code of a controller or scheme in Python has raised an exception, which is the cause of this one.

    `scenario` and `seed` name the run; None where the scenario was only read. No run of the call is given back.
    """

    status = 2

    def __init__(self, message: str, scenario: str | None = None, seed: int | None = None) -> None:
        of = "" if seed is None else f'scenario "{scenario}", seed {seed}: '
        super().__init__(f"{of}{message}")
        self.scenario = scenario
        self.seed = seed


@contextmanager
def writing(what: object) -> Iterator[None]:
    """What the operating system or a writer of files says inside is an `OutputError` of `what`, in one line."""
    try:
        yield
    except InterlayerError:
        raise
    except OSError as e:
        raise OutputError(f"{what}: {(e.strerror or str(e)).lower()}") from e


def suggestion(word: str, known: Iterable[object]) -> str:
    """`; did you mean "veno"?` when something known is close to `word`, else the short list of what is known."""
    names = [str(name) for name in known]
    if close := get_close_matches(word, names, n=1, cutoff=0.6):
        return f'; did you mean "{close[0]}"?'
    if len(word) > 2 and (within := [name for name in names if word in name]):
        likely = min(within, key=lambda name: (not name.startswith(word), len(name)))
        return f'; did you mean "{likely}"?'
    if 0 < len(names) <= 12:
        return f" (known: {', '.join(names)})"
    return ""
