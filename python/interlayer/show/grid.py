"""Tables that fit where they are shown. No cell is ever cut.

Where a terminal is too narrow, the least important columns are left out, and a line below says which; or the columns
go into several tables, one below the other. Where even the most important do not fit, each row becomes a block of lines
with all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

KEEP = 0
"""The rank of a column that is never left out."""

_PROSE = 18
"""The least width of a column whose text may go on in the next line."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, and its rank; of the columns that do not fit, the one of the highest rank goes first.

    `is_text`: it stands on the left. `folds`: a text that may go on in the next line; numbers never do.
    """

    head: str
    rank: int = KEEP
    is_text: bool = False
    folds: bool = False


@dataclass(frozen=True)
class Grid:
    """Lines of cells under columns; the first `names` columns say what a line is of.

    `splits`: what does not fit goes into further tables, and nothing is left out. `where_else` says where columns that
    are left out can be read.
    """

    columns: Sequence[Column]
    lines: Sequence[Sequence[Text | str]]
    names: int = 1
    splits: bool = False
    where_else: str = "--json has them"

    @property
    def needs(self) -> int:
        """The least width at which it is one table with all columns."""
        return self._width(range(len(self.columns)))

    def parts(self, width: int) -> list[RenderableType]:
        """What to print where `width` characters fit in a line."""
        return self._split(width) if self.splits else self._chosen(width)

    def _chosen(self, width: int) -> list[RenderableType]:
        shown = list(range(len(self.columns)))
        while self._width(shown, wrapped=False) > width:  # columns go before cells wrap
            least = max(shown, key=lambda i: (self.columns[i].rank, i))
            if self.columns[least].rank == KEEP:
                break
            shown.remove(least)
        if self._width(shown) > width:
            return self._blocks()
        missing = [c.head.partition(",")[0] for i, c in enumerate(self.columns) if i not in shown]
        note = [f"No room for {', '.join(missing)}: {self.where_else}."] if missing else []
        return [self._table(shown), *note]

    def _split(self, width: int) -> list[RenderableType]:
        names = list(range(self.names))
        rest, found = list(range(self.names, len(self.columns))), []
        while rest:
            fitting = len(rest)
            while fitting and self._width([*names, *rest[:fitting]]) > width:
                fitting -= 1
            if not fitting:
                return self._blocks()
            found.append(self._table([*names, *rest[:fitting]]))
            rest = rest[fitting:]
        return list(found) or [self._table(names)]

    def _width(self, shown: Sequence[int], *, wrapped: bool = True) -> int:
        """The least width of a table with these columns: theirs, and three letters between two of them."""
        least = [self._narrowest(i) if wrapped else self._widest(i) for i in shown]
        return sum(least) + 3 * len(least) - 1

    def _widest(self, i: int) -> int:
        return max(_text(cell).cell_len for cell in self._cells(i))

    def _narrowest(self, i: int) -> int:
        """The least width of a column: no word is broken."""
        if not self.columns[i].folds:
            return self._widest(i)
        from rich.cells import cell_len

        words = [word for cell in self._cells(i) for word in _text(cell).plain.split()]
        longest = max((cell_len(word) for word in words), default=0)
        return max(longest, min(self._widest(i), _PROSE))

    def _cells(self, i: int) -> list[Text | str]:
        return [self.columns[i].head, *(line[i] for line in self.lines)]

    def _table(self, shown: Sequence[int]) -> Table:
        found = table()
        for i in shown:
            c = self.columns[i]
            side: Literal["left", "right"] = "left" if c.is_text else "right"
            least = self._narrowest(i)
            found.add_column(_text(c.head), justify=side, no_wrap=not c.folds, min_width=least, overflow="fold")
        for line in self.lines:
            found.add_row(*(_text(line[i]) for i in shown))
        return found

    def _blocks(self) -> list[RenderableType]:
        """For each line its names, then a line for each other cell."""
        from rich.text import Text

        heads = [c.head for c in self.columns[self.names :]]
        wide = max(map(len, heads), default=0)  # heads are ours, without wide letters
        found: list[RenderableType] = [""]
        for line in self.lines:
            found.append(Text("  ", overflow="fold").join(_text(cell) for cell in line[: self.names]))
            for head, cell in zip(heads, line[self.names :], strict=True):
                if len(cell) and not head and isinstance(found[-1], Text):  # a mark on the number before it
                    found[-1].append("  ").append_text(_text(cell))
                elif len(cell):
                    found.append(Text(f"  {head:<{wide}}  ", overflow="fold").append_text(_text(cell)))
        return [*found, ""]


def table() -> Table:
    """An empty table in the look of all of them."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False)


_TOGETHER = re.compile(r" ± |(?<=\d) (?=[%\w])|(?<=\bp) ([=<]) |(?<=[=<]) (?=\d)")
_SPACE = "\ue000"


def prose(text: str, style: str = "") -> Text:
    """A text whose lines never end within a number with its interval and unit; `spaces` gives it back its spaces."""
    from rich.text import Text

    return Text(_TOGETHER.sub(lambda m: m[0].replace(" ", _SPACE), text), style=style, overflow="fold")


def spaces(text: str) -> str:
    """What was printed of `prose`, as it is meant."""
    return text.replace(_SPACE, " ")


def _text(cell: Text | str) -> Text:
    return prose(cell) if isinstance(cell, str) else cell
