"""Programs over the package, each in a process of its own, without a start of Python for each.

A process imports once what commands import, and forks for every request, as `multiprocessing`'s fork server does. A
program has its own folder, environment, standard streams and exit; the start of the interpreter and the imports are
shared. `test_command_line` holds a forked command against one that was started.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import pty
import runpy
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAVY = (
    *("interlayer._core", "interlayer.cli", "interlayer.show.as_json", "interlayer.study.campaign"),
    *("interlayer.study.comparison", "interlayer.study.sweep"),
    *("matplotlib.backends.backend_agg", "pydantic", "rich.console", "rich.table", "typer._adapters", "typer.main"),
)
"""Imported before anything is forked. polars is not: it has threads, which a fork leaves behind."""


def command(*arguments: object, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python -m interlayer` with these arguments; keywords are variables of its environment."""
    return _done(["-m", "interlayer", *map(str, arguments)], cwd, variables)


def code(text: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`python -c` of a text."""
    return _done(["-c", text], cwd)


def script(path: Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`python` of a file."""
    return _done([str(path)], cwd)


def terminal(columns: int) -> tuple[int, int]:
    """A pseudo-terminal so wide: the end that is read, and the program's."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    return parent, child


def on_terminal_environment() -> dict[str, str]:
    """Variables of a program whose terminal is to tell its width itself."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")} | {"TERM": "xterm"}


def shown_on(parent: int) -> str:
    """All that a program shows on a terminal until its end is closed."""
    shown = bytearray()
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(parent)
    return shown.decode()


def on_terminal(columns: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`python -m interlayer` with these arguments on a pseudo-terminal so wide: its output as it is sent."""
    parent, child = terminal(columns)
    words = ["-m", "interlayer", *map(str, arguments)]
    # It is read meanwhile: a terminal holds little.
    with ThreadPoolExecutor(1) as reader, tempfile.TemporaryFile() as err:
        shown = reader.submit(shown_on, parent)
        status = _asked(words, Path.cwd(), on_terminal_environment(), [child, err.fileno()])
        os.close(child)
        return subprocess.CompletedProcess(words, status, shown.result(), _text(err))


@cache
def _starter() -> socket.socket:
    """The way to the process that forks. It is begun with the first program and ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        words = [sys.executable, __file__, str(theirs.fileno())]
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _done(
    words: list[str], cwd: Path | None, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        environment = {**os.environ, **(variables or {})}
        status = _asked(words, cwd or Path.cwd(), environment, [out.fileno(), err.fileno()])
        said = [_text(file) for file in (out, err)]
    return subprocess.CompletedProcess(words, status, *said)


def _asked(words: list[str], cwd: Path, environment: Mapping[str, str], files: list[int]) -> int:
    """Has a program run that writes to these files, and returns how it ended."""
    request = json.dumps([words, str(cwd), dict(environment)]).encode()
    socket.send_fds(_starter(), [len(request).to_bytes(4, "big")], files)
    _starter().sendall(request)
    return int.from_bytes(_read(_starter(), 4), "big", signed=True)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _read(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        assert part, "the starter has ended"
        found += part
    return found


def _serve(connection: socket.socket) -> None:
    """Forks for each request until the other end closes."""
    while True:
        head, files, _, _ = socket.recv_fds(connection, 4, 2)
        if not head:
            sys.exit(0)
        words, cwd, environment = json.loads(_read(connection, int.from_bytes(head, "big")))
        child = os.fork()
        if child == 0:
            for number, file in enumerate(files, 1):
                os.dup2(file, number)
            connection.close()
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(environment)
            _end(words)
        for file in files:
            os.close(file)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(status.to_bytes(4, "big", signed=True))


def _end(words: list[str]) -> NoReturn:
    """Runs a program and ends this process as Python does, but clears no memory: that takes as long as a start."""
    status: Any = 1
    try:
        _run(words)
        status = 0
    except SystemExit as stop:
        status = stop.code
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else status is not None)


def _run(words: list[str]) -> None:
    match words:
        case ["-m", module, *arguments]:
            sys.argv = [module, *arguments]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", text]:
            sys.argv, sys.path[0] = ["-c"], ""
            exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
        case [path]:
            sys.argv, sys.path[0] = [path], str(Path(path).parent)
            runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    import importlib

    sys.path.pop(0)  # the folder of the tests
    sys.path.insert(0, "")
    for name in HEAVY:
        importlib.import_module(name)
    gc.freeze()  # a collection in a child would copy every page
    _serve(socket.socket(fileno=int(sys.argv[1])))
