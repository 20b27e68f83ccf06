"""A claim that is made at several points: one table of the file, and a claim of its own at each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from .grid import where_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from .grid import Grid


def spread(contents: Sequence[object], grid: Grid, label: Callable[..., str]) -> list[tuple[int, Any]]:
    """The tables of `[[claim]]` with their places in the file.

    Those with `each` come once for every combination of its paths' values, of those that `where` leaves, in the order
    of the sweep. The text of each says where it is. Raises `InputError` for a path that is not swept.
    """
    found: list[tuple[int, Any]] = []
    for i, content in enumerate(contents):
        if not isinstance(content, dict) or "each" not in content:
            found.append((i, content))
            continue
        t = Table(content, f"claim[{i}]")
        asked, text = t.take("each", list), t.take("text", str)
        where = where_of(t.take("where", dict, {}), t, "where")
        if not asked:
            raise t.error("names no swept path; leave it out", "each")
        if strange := [path for path in asked if path not in grid.paths]:
            raise t.error(f'"{strange[0]}" is not swept: {", ".join(grid.paths)}', "each")
        allowed, values = grid.choices(where, t, "where"), dict(grid.sweep)
        paths = [path for path in grid.paths if path in asked]
        rest = {key: value for key, value in content.items() if key != "each"}
        for picks in product(*(allowed[path] for path in paths)):
            at = {path: values[path][pick] for path, pick in zip(paths, picks, strict=True)}
            said = ", ".join(f"{label(path)} {label(path, value)}" for path, value in at.items())
            there = where | {path: [value] for path, value in at.items()}
            found.append((i, rest | {"text": f"{text} ({said})", "where": there}))
    return found
