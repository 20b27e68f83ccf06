"""A run as other processes find it: a tag and a socket in a folder of this user's.

The tag `live-PID-START.json` names the hosts; `live-PID-START` is the socket that takes changes. Both have the id of
the process and the time when it started, so that a run that was killed is told from another process with its number.
"""

from __future__ import annotations

import json
import os
import re
import socket
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from interlayer.errors import InputError, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .hosts import Host

_TAG = re.compile(r"live-(\d+)-(\d+)(\.json)?")
_LONGEST = 4096
_PATIENCE_S = 5.0


def folder() -> Path:
    """The folder of this user's runs."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    return Path(base) / "interlayer" if base else Path(tempfile.gettempdir()) / f"interlayer-{os.geteuid()}"


def started(pid: int) -> str | None:
    """When a process started, in ticks since the machine did: field 22 of its `stat`. None if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else fields[18]


def remove_dead(folder: Path) -> None:
    """Removes the tags of runs that were killed; nothing else of them outlives them."""
    for path in folder.glob("live-*"):
        if (tag := _TAG.fullmatch(path.name)) and started(int(tag[1])) != tag[2]:
            with suppress(OSError):
                path.unlink()


@contextmanager
def reachable(folder: Path, opened: Sequence[Host], change: Callable[[str], None]) -> Iterator[None]:
    """Lets other processes ask for changes, a line each, while it lasts."""
    with writing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = folder / f"live-{os.getpid()}-{started(os.getpid())}"
    tag = own.with_name(own.name + ".json")
    server = socket.socket(socket.AF_UNIX)
    try:
        with writing(own):
            own.unlink(missing_ok=True)
            server.bind(str(own))
            tag.write_text(json.dumps({host.name: host.pid for host in opened}), encoding="utf-8")
        server.listen()
        threading.Thread(target=_serve, args=(server, change), name="live changes", daemon=True).start()
        yield
    finally:
        server.close()
        for path in (own, tag):
            path.unlink(missing_ok=True)


def _serve(server: socket.socket, change: Callable[[str], None]) -> None:
    while True:
        try:
            asked, _ = server.accept()
        except OSError:  # it was closed
            return
        with asked:
            asked.settimeout(_PATIENCE_S)
            with suppress(OSError):
                text = asked.recv(_LONGEST).decode(errors="replace")
                try:
                    change(text)
                    asked.sendall(b"ok")
                except (ValueError, RuntimeError) as e:
                    asked.sendall(str(e).encode())


def running(folder: Path) -> list[int]:
    """The processes of this user's live runs."""
    tags = [_TAG.fullmatch(path.name) for path in folder.glob("live-*.json")]
    return sorted(int(tag[1]) for tag in tags if tag and started(int(tag[1])) == tag[2])


def ask(text: str, pid: int | None = None) -> None:
    """Asks a run for a change. Raises `InputError` if there is no run, more than one, or it refuses."""
    where = folder()
    pids = running(where)
    if pid is not None and pid not in pids:
        raise InputError(f"--pid: no live run of yours is process {pid}{_known(pids)}")
    if not pids:
        raise InputError("no live run of yours is going on: interlayer live FILE.toml starts one")
    if pid is None and len(pids) > 1:
        raise InputError(f"{len(pids)} live runs are going on; add --pid{_known(pids)}")
    chosen = pids[0] if pid is None else pid
    with socket.socket(socket.AF_UNIX) as to:
        to.settimeout(_PATIENCE_S)
        try:
            to.connect(str(where / f"live-{chosen}-{started(chosen)}"))
            to.sendall(text.encode())
            said = to.recv(_LONGEST).decode()
        except OSError as e:
            raise InputError(f"the live run {chosen} does not answer: {e.strerror or e}") from e
    if said != "ok":
        raise InputError(said or "the run is over")


def _known(pids: Sequence[int]) -> str:
    return f"; there are {', '.join(map(str, pids))}" if pids else "; there is none"
