"""The grid of an experiment, swept values and arms, and how a `where` picks from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from interlayer.errors import suggestion
from interlayer.study.experiment import ARM, Cell, plain

from .table import Table


@dataclass(frozen=True, slots=True)
class Grid:
    """The swept paths and the arms, and how a `where` picks from them."""

    sweep: tuple[tuple[str, tuple[Any, ...]], ...]
    arms: tuple[str, ...]
    fixed: tuple[str, ...] = ()
    """Swept paths that a claim leaves to the reading: its cells are those of the first value."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for path, _ in self.sweep)

    def choices(self, where: Mapping[str, Any], t: Table, key: str) -> dict[str, list[Any]]:
        """Allowed arms and value indices by path, narrowed by `where`."""
        allowed: dict[str, list[Any]] = {ARM: list(self.arms)}
        allowed |= {path: [0] if path in self.fixed else list(range(len(values))) for path, values in self.sweep}
        for path, wanted in where.items():
            if path not in allowed:
                raise t.error(f'"{path}" is not swept{suggestion(path, allowed)}', key)
            if path in self.fixed:
                raise t.error(f"{path} is open: a claim is judged in each reading of it", key)
            there = self.arms if path == ARM else dict(self.sweep)[path]
            picks = []
            for value in wanted if isinstance(wanted, list) else [wanted]:
                if value not in there or isinstance(value, bool) != isinstance(there[there.index(value)], bool):
                    raise t.error(f"{path} is never {plain(value)}{suggestion(plain(value), map(plain, there))}", key)
                picks.append(value if path == ARM else there.index(value))
            allowed[path] = sorted(picks) if path != ARM else picks
        return allowed


def cells_of(allowed: Mapping[str, list[Any]], grid: Grid) -> list[Cell]:
    """The cells that are left of the grid, in its order."""
    points = product(*(allowed[path] for path in grid.paths))
    return [Cell(arm, at) for at in points for arm in allowed[ARM]]


def where_of(content: object, t: Table, key: str) -> dict[str, Any]:
    """A `where` as it stands in the file, which must be a table."""
    if isinstance(content, dict):
        return content
    raise t.error("expected a table", key)
