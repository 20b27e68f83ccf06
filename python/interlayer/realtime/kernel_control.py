"""A congestion control of the user's own in this kernel, for the time of a run: `congestion = "bpf:FILE.o"`.

`bpftool struct_ops register` puts it there under a name of ours, so that two runs do not collide. What is registered
outlives its process. So a tag in the run's folder names process, start time and congestion control before it is
registered, and the next start removes what a dead process left. Connections that have it keep it until they close.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from interlayer.errors import InterlayerError, KernelError, refused, writing

from .bpf_object import NAME_BYTES, OPS, BpfObject

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "bpf:"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_BTF = Path("/sys/kernel/btf/vmlinux")
_PATIENCE_S = 60
_LOG_LINES = 20
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_TAG = re.compile(r"bpf-(\d+)-(\d+)-(\w+)")
"""The name of a tag: process, its start time, and the congestion control."""
_serials = itertools.count()


def is_own(congestion: str) -> bool:
    """True for `bpf:FILE.o`: a congestion control that is a file."""
    return congestion.startswith(PREFIX)


@contextmanager
def registered(congestion: str, folder: Path) -> Iterator[str]:
    """Has the kernel the congestion control of `bpf:FILE.o`; gives its name there. `folder` is for the tags of runs."""
    file = Path(congestion.removeprefix(PREFIX))
    try:
        data = file.read_bytes()
    except OSError as e:
        raise refused(congestion, e) from e
    own = BpfObject(congestion, data)
    if shutil.which("bpftool") is None:
        raise KernelError(f"{congestion}: no bpftool. On Debian: apt-get install bpftool")
    if not _BTF.exists():
        raise KernelError(f"{congestion}: this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    remove_dead(folder)
    name = _free_name(own.name)
    path = folder / f"bpf-{os.getpid()}-{_start_time(os.getpid())}-{name}"
    with writing(path):
        opened = path.open("x")
    with opened as tag:
        fcntl.flock(tag, fcntl.LOCK_EX)
        try:
            _register(congestion, own.renamed(name), tag)
            yield name
        finally:
            _remove(name)
            path.unlink()


def remove_dead(folder: Path) -> list[str]:
    """Removes what dead runs of this user have left in the kernel; gives the names. Others are not touched."""
    removed = []
    for path in sorted(folder.glob("bpf-*")):
        if (tagged := _TAG.fullmatch(path.name)) is None:
            continue
        pid, start, name = tagged.groups()
        # The lock is bpftool's too: it may register after its parent was killed.
        with suppress(FileNotFoundError, BlockingIOError, PermissionError), path.open() as tag:
            if os.fstat(tag.fileno()).st_uid != os.geteuid() or _start_time(int(pid)) == start:
                continue
            fcntl.flock(tag, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if name.startswith(_of_process(int(pid))):
                _remove(name)
                removed.append(name)
            path.unlink()
    return removed


def _start_time(pid: int) -> str | None:
    """When a process started, in ticks since the machine did: field 22 of its `stat`. None if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else fields[18]


# ---------------------------------------------------------------------------------------------------------------- name


def _of_process(pid: int) -> str:
    """What the names of a process begin with: its id to the base 36, since a name has 15 characters."""
    digits = ""
    while pid:
        pid, digit = divmod(pid, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return f"il_{digits}_"


def _free_name(own: str) -> str:
    """A name that the kernel does not have yet, with the beginning of the author's."""
    known = AVAILABLE.read_text().split()
    plain = re.sub(r"[^A-Za-z0-9_]", "", own)
    names = (f"{_of_process(os.getpid())}{serial}_{plain}"[: NAME_BYTES - 1].rstrip("_") for serial in _serials)
    return next(name for name in names if name not in known)


# ------------------------------------------------------------------------------------------------------------- bpftool


def _bpftool(*arguments: str, lock: IO[str] | None = None) -> subprocess.CompletedProcess[str]:
    command, kept = ["bpftool", *arguments], () if lock is None else (lock.fileno(),)
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S, pass_fds=kept)
    except subprocess.TimeoutExpired as e:
        raise KernelError(f"{' '.join(command[:3])} has not ended within {_PATIENCE_S} s") from e


def _register(congestion: str, data: bytes, tag: IO[str]) -> None:
    with tempfile.NamedTemporaryFile(suffix=".o") as copy:
        copy.write(data)
        copy.flush()
        done = _bpftool("struct_ops", "register", copy.name, lock=tag)
    if done.returncode:
        raise _why(congestion, done.stderr)


def _why(congestion: str, said: str) -> KernelError:
    """What libbpf and bpftool said, as one line; the last lines of the verifier's log are its details."""
    if "Operation not permitted" in said:
        return KernelError(
            f"{congestion}: no privilege to load BPF programs: that needs root outside of user namespaces"
        )
    lines = [line for line in said.splitlines() if line.strip()]
    if "-- BEGIN PROG LOAD LOG --" in said:
        begin = max(i for i, line in enumerate(lines) if "BEGIN PROG LOAD LOG" in line)
        end = next((i for i, line in enumerate(lines) if i > begin and "END PROG LOAD LOG" in line), len(lines))
        program = re.search(r"prog '(\w+)'", lines[begin])
        log = [line for line in lines[begin + 1 : end] if not line.startswith("processed ")]
        failed = next((line for line in lines if "BPF program load failed" in line), "")
        last = (
            log[-1] if log else failed.rpartition("BPF program load failed: ")[2] + " (nothing in the verifier's log)"
        )
        what = f" {program[1]}" if program else ""
        return KernelError(
            f"{congestion}: the kernel refuses{what}: {last}", details="\n".join((log or lines)[-_LOG_LINES:])
        )
    telling = [line for line in lines if "failed to load object" not in line] or ["bpftool failed without a word"]
    why = re.sub(r"^(libbpf|Error): ", "", telling[-1])
    return KernelError(f"{congestion}: {why}", details="\n".join(lines[-_LOG_LINES:]))


def _remove(name: str) -> None:
    """Takes the congestion control out of the kernel, if it is there."""
    if name not in AVAILABLE.read_text().split():
        return
    done = None
    for number in _maps(name):
        done = _bpftool("struct_ops", "unregister", "id", str(number))
    if name in AVAILABLE.read_text().split():
        why = done.stderr.strip().splitlines()[-1:] if done else ["bpftool does not list it"]
        raise InterlayerError(f'the kernel keeps the congestion control "{name}": {"".join(why)}')


def _maps(name: str) -> Iterator[int]:
    """The kernel's maps that hold a congestion control of this name: one, if any."""
    for number in (one["id"] for one in _json("list") if one.get("kernel_struct_ops") == OPS):
        for part in _json("dump", "id", str(number)):
            value = part.get(f"bpf_struct_ops_{OPS}")
            if value is not None and value["data"]["name"] == name:
                yield number


def _json(*arguments: str) -> list[dict[str, Any]]:
    """What `bpftool struct_ops` says; nothing of a map that has gone meanwhile."""
    done = _bpftool("-j", "struct_ops", *arguments)
    said = done.stdout.strip()
    if done.returncode or not said:
        return []
    # A dump by id has the objects of a list without its brackets (bpftool 7.1).
    found: list[dict[str, Any]] = json.loads(said if said.startswith("[") else f"[{said}]")
    return found
