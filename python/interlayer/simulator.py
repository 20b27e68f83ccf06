"""The one door to the compiled core: scenarios in, columns out, its errors as ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from . import _core
    from ._core import Run

Registry = Literal["schemes", "congestion", "receivers", "recovery", "rate-controls", "routing"]

_SEEDS = 2**63
"""How many seeds there are: what TOML and a column of a frame can hold."""


class Batch(NamedTuple):
    """One entry a task, in the order given; None where Ctrl-C came first."""

    runs: list[Run | None]
    interrupted: bool


def version() -> str:
    """The version of the core, which is that of the package."""
    from . import _core

    return _core.__version__


def parse(text: str, overrides: Sequence[tuple[str, str]] = ()) -> _core.Scenario:
    """Read and check a scenario; overrides are (path, TOML text), later ones win. Raises `InputError`."""
    from . import _core

    try:
        return _core.Scenario.parse(text, list(overrides))
    except _core.InputError as e:
        raise InputError(str(e), getattr(e, "path", "")) from e


def run_batch(
    tasks: Sequence[tuple[_core.Scenario, int]],
    *,
    jobs: int = 0,
    pcap_dir: Path | None = None,
    series: bool = False,
    timeline: tuple[int, int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Batch:
    """Run each (scenario, seed), `jobs` at a time (0: one a core). Ctrl-C gives what was finished.

    `timeline` is the window in ns in which the timeline of the air is kept (`timeline.window`).
    """
    from . import _core

    if not tasks:
        return Batch([], False)
    for _, seed in tasks:
        if not 0 <= seed < _SEEDS:
            raise InputError(f"seed: {seed} is not from 0 to {_SEEDS - 1}", "seed")
    try:
        batch = _core.run_batch(
            list(tasks),
            jobs=jobs,
            pcap_dir=None if pcap_dir is None else str(pcap_dir),
            series=series,
            timeline=timeline,
            progress=progress,
        )
    except _core.InputError as e:
        raise InputError(str(e), getattr(e, "path", "")) from e
    return Batch(list(batch.runs), batch.interrupted)


def registry(kind: Registry) -> list[dict[str, str]]:
    """What can be named in a scenario: `id`, `summary`, `source` of each, sorted by id."""
    from . import _core

    return [dict(entry) for entry in _core.registry(kind)]


def absent(noun: str, name: str) -> str | None:
    """What to say of a name that is not modelled, such as the scheme `c3tcp`; None of any other."""
    from . import _core

    return _core.absent(noun, name)
