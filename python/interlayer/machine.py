"""What the machine has."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Bytes of memory that a process can still have; None where that is not known.

    The least of what the system has available, what the control group leaves (a container's limit), and what the
    process's own limit of address space leaves (`ulimit -v`).
    """
    found = [n for n in (_available(), _of_cgroup(), _of_limit()) if n is not None]
    return max(0, min(found)) if found else None


def cores() -> int:
    """Cores that this process may use."""
    with suppress(AttributeError):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float | None:
    """The mean number of processes that wanted a core in the last minute; None where that is not known."""
    with suppress(OSError, AttributeError):
        return round(os.getloadavg()[0], 2)
    return None


def processor() -> str:
    """The processor's model, as the system calls it."""
    with suppress(OSError):
        for line in _CPUINFO.read_text().splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name":
                return " ".join(model.split())
    return platform.processor() or platform.machine() or "unknown"


def _available() -> int | None:
    with suppress(OSError, ValueError):
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_cgroup() -> int | None:
    """Of version 2, as the process sees its own group at the root."""
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text())
        return limit - int((_CGROUP / "memory.current").read_text())
    return None


def _of_limit() -> int | None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            return soft - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return None
