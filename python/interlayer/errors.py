"""What can go wrong, as exceptions: one base class and few children, with the core's own text."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class InterlayerError(Exception):
    """Everything this package raises on purpose; `str(e)` is one plain line, or one for each mistake of a file."""

    status: ClassVar[int] = 1
    """The exit status of a command that ends by it."""


class Mistake(NamedTuple):
    """One of the mistakes of a file: its key as the file spells it, and the line that says what is wrong."""

    path: str
    line: str


class InputError(InterlayerError, ValueError):
    """What the user gave is wrong: a scenario, an experiment file, an option.

    A file is read to its end: `mistakes` has all that were found, in its order, and `str(e)` a line for each.

    `path` is the key as the file spells it (`flow[1].transport.congestion`), empty where no key is to blame. It is the
    option (`--over`) where an option of the command line is. `in_python` is the message for callers from Python where
    it is another one by more than the name of that option.
    """

    status = 2

    def __init__(
        self, message: str, path: str = "", in_python: str = "", mistakes: Iterable[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message)
        self.path = path
        self.in_python = in_python
        self.mistakes: tuple[Mistake, ...] = tuple(Mistake(*one) for one in mistakes) or (Mistake(path, message),)

    def __str__(self) -> str:
        return "\n".join(one.line for one in self.mistakes)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: the mistake is in what was given, not in code of ours."""
        return [f"InputError: {self}"]

    def behind(self, prefix: str) -> InputError:
        """The same, each line with `prefix` before it: the name of a file, of an arm."""
        return self._with(lambda line: f"{prefix}{line}")

    def _with(self, change: Callable[[str], str]) -> InputError:
        self.mistakes = tuple(Mistake(one.path, change(one.line)) for one in self.mistakes)
        self.in_python = self.in_python and change(self.in_python)
        self.args = (str(self),)
        return self


class Collected:
    """The mistakes of several parts of a file that are read one by one, each whatever is wrong with the others."""

    def __init__(self) -> None:
        self._found: dict[Mistake, None] = {}

    @contextmanager
    def noted(self) -> Iterator[None]:
        """An `InputError` inside is noted, and ends nothing but what is inside."""
        try:
            yield
        except InputError as e:
            self._found.update(dict.fromkeys(e.mistakes))

    def told(self) -> None:
        """Raise all of them as one `InputError`; nothing where there is none."""
        if self._found:
            first = next(iter(self._found))
            raise InputError(first.line, first.path, mistakes=self._found)


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

        if e.in_python:
            e.mistakes = (Mistake(e.path, e.in_python),)
        elif e.path.startswith("--"):
            e.mistakes = tuple(Mistake(one.path, _OPTION.sub(parameter, one.line)) for one in e.mistakes)
        e.path = _OPTION.sub(parameter, e.path)
        e.mistakes = tuple(Mistake(_OPTION.sub(parameter, one.path), one.line) for one in e.mistakes)
        e.args = (str(e),)
        raise


class OutputError(InterlayerError, OSError):
    """The operating system refuses: a folder or file cannot be written, the disk is full, memory cannot be had."""


_OF_THE_PLACE = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
        errno.ENAMETOOLONG,
        errno.ELOOP,
    }
)
"""What the system says of a place that the user named wrongly, whatever is written there."""


def refused(what: object, e: OSError) -> OutputError:
    """What the operating system says of a place, as an error in one line."""
    kind = PlaceError if e.errno in _OF_THE_PLACE else OutputError
    return kind(f"{what}: {(e.strerror or str(e)).lower()}")


class PlaceError(OutputError):
    """A place that the user named cannot be used: a folder that may not be written, a store that is damaged."""

    status = 2


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

    def with_result(self, result: object) -> RunError:
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


class ProgramError(InterlayerError):
    """A program that a live run started is missing, has failed, or has not ended when it should have.

    `program` is the name of its flow; `details` has the last lines that the program wrote.
    """

    def __init__(self, program: str, why: str, details: str = "") -> None:
        super().__init__(f'program of "{program}": {" ".join(why.split())}')
        self.program = program
        self.why = why
        self.details = details


class KernelError(InputError):
    """The kernel does not take what a live run asks of it: a congestion control that it lacks or refuses.

    `details` has what the kernel or its tool said, where that is more than a line.
    """

    def __init__(self, message: str, path: str = "", details: str = "") -> None:
        super().__init__(" ".join(message.split()), path)
        self.details = details


@contextmanager
def writing(what: object) -> Iterator[None]:
    """What the operating system or a writer of files says inside is an `OutputError` of `what`, in one line."""
    try:
        yield
    except InterlayerError:
        raise
    except OSError as e:
        raise refused(what, e) from e


def suggestion(word: str, known: Iterable[object]) -> str:
    """`; did you mean "veno"?` when something known is close to `word`, else the short list of what is known."""
    names = [str(name) for name in known]
    # `lle-fig-3.7` where there are `lle-fig-3.7a` and `lle-fig-3.7b`, `rts` where there is `rts_threshold`.
    longer = sorted((name for name in names if len(word) > 2 and name.startswith(word)), key=len)
    if 0 < len(longer) <= 3:
        quoted = [f'"{name}"' for name in longer]
        return f"; did you mean {' or '.join([', '.join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)}?"
    if close := get_close_matches(word, names, n=1, cutoff=0.6):
        return f'; did you mean "{close[0]}"?'
    if len(word) > 2 and (within := [name for name in names if word in name]):
        likely = min(within, key=lambda name: (not name.startswith(word), len(name)))
        return f'; did you mean "{likely}"?'
    if 0 < len(names) <= 12:
        return f" (known: {', '.join(names)})"
    return ""
