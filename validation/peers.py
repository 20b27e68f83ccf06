"""What comparisons with stored runs of another simulator share: its source by a hash, its runs in a file, ours beside
them, the table on a page.

Found by `sys.path`, as validation/airtime is.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from interlayer import simulator
from interlayer.measure import stats


def script(source: Path, *included: Path, built: Path | None = None) -> str:
    """The other's source by the start of its SHA-256. To be taken before the runs: a file may change under them.

    Exits if what is built of it is not there or older.
    """
    files = (source, *included)
    if built and (not built.exists() or any(built.stat().st_mtime < file.stat().st_mtime for file in files)):
        sys.exit(f"{Path(sys.argv[0]).name}: {built.name} is not built, or older than its source: make ns3")
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    return f"{source.name}@{digest}"


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def options(doc: str | None, runs: int) -> argparse.Namespace:
    """The command line of a comparison; `overrides` are what `--set` gave."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    asked = parser.parse_args()
    asked.overrides = [(path, value) for path, _, value in (text.partition("=") for text in asked.set)]
    return asked


def store(
    file: Path,
    columns: tuple[str, ...],
    cells: Iterable[tuple[object, ...]],
    row: Callable[[Any, int], dict[str, object]],
    runs: int,
    workers: int,
) -> None:
    """Writes a file anew: a row a cell and run, as `row` finds it."""
    with file.open("w", encoding="utf-8", newline="") as out, ThreadPoolExecutor(workers) as pool:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        for cell in cells:
            writer.writerows(pool.map(partial(row, cell), range(1, runs + 1)))
            out.flush()
            print(*cell, flush=True)


def ours(scenario: str, runs: int, overrides: list[tuple[str, str]] | None = None) -> list[Any]:
    """Runs of a scenario, seeds from 1 on."""
    parsed = simulator.parse(scenario, overrides or [])
    return [run for run in simulator.run_batch([(parsed, seed) for seed in range(1, runs + 1)]).runs if run]


def text(one: stats.Estimate, digits: int) -> str:
    """A mean and its half-width."""
    return f"{one.mean:.{digits}f} ± {one.half_width or 0:.{digits}f}"


def put(page: Path, name: str, table: str) -> None:
    """Puts a table between its marks on a page."""
    old = page.read_text(encoding="utf-8")
    new = re.sub(rf"(?s)(<!-- {name} -->\n).*?(<!-- end {name} -->)", lambda m: f"{m[1]}{table}\n{m[2]}", old)
    page.write_text(new, encoding="utf-8")
