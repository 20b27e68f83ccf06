"""Captures of a recorded run: the files that `interlayer run --pcap` writes for its scenario and seed, in one archive.

The run is made again, since no bit of it depends on who listens, and nobody pays for captures that nobody asks for.
"""

from __future__ import annotations

import tempfile
import time
import zipfile
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from interlayer.errors import InputError
from interlayer.study import costs

from . import capture_size, work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .work import Answer

_one = Lock()
"""One at a time, whoever asks."""


class BusyError(Exception):
    """Another capture is being written."""


def archive(answer: Answer, arm: int, still: Callable[[], None]) -> bytes:
    """The captures of the recorded run of an arm, as a zip file. `still` raises `InputError` once nobody wants them.

    Raises `InputError` for a run that was not recorded, for captures that would be too large or take too long, and
    `BusyError` while others are written.
    """
    if arm not in answer.recorded:
        raise InputError("this run was not recorded", "arm")
    if why := capture_size.refusal(answer.recorded[arm][0]):
        raise InputError(why, "scenario.duration")
    if not _one.acquire(blocking=False):
        raise BusyError
    try:
        with tempfile.TemporaryDirectory(prefix="interlayer-") as folder:
            _write(answer, arm, Path(folder), still)
            return _packed(Path(folder))
    finally:
        _one.release()


def _write(answer: Answer, arm: int, folder: Path, still: Callable[[], None]) -> None:
    run, scenario = answer.recorded[arm]
    began = time.monotonic()

    def watch(reached: Mapping[int, float]) -> None:
        still()
        part = max(reached.values(), default=0.0) / scenario.duration_s
        if (size := _size(folder)) > capture_size.MOST_BYTES:
            raise InputError(capture_size.too_large(size / (part or 1)), "scenario.duration")
        if (waited := time.monotonic() - began) > work.MOST_S:
            about = f"captures would take about {costs.duration(waited / max(part, 1e-9))}"
            raise InputError(
                f"{about}, and the page waits {work.MOST_S:g} s; {capture_size.TERMINAL}", "scenario.duration"
            )

    work.one_run(scenario, run["seed"], watch, pcap_dir=folder)
    watch({0: scenario.duration_s})


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def _packed(folder: Path) -> bytes:
    """The files of a folder in order of their names; the same bytes each time."""
    found = BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as into:
        for file in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(file.name)  # of 1980, since a capture has no date
            entry.compress_type = zipfile.ZIP_DEFLATED
            into.writestr(entry, file.read_bytes())
    return found.getvalue()
