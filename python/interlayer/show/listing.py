"""The lists of `interlayer list` as text. No heavy package is imported for them."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def entries(rows: Sequence[Mapping[str, Any]]) -> str:
    """A list with the id first on each line. On a terminal, long ones go on in the next line, which is indented."""
    width = max((len(row["id"]) for row in rows), default=0)
    units = max((len(row.get("unit", "")) for row in rows), default=0)
    heads = [f"{row['id']:<{width}}  " + (f"{row.get('unit', ''):<{units}}  " if units else "") for row in rows]
    lines = [
        f"{head}{row['summary']}{_parameters(row)}{_beside(row)}  {_bracketed(row)}".rstrip()
        for head, row in zip(heads, rows, strict=True)
    ]
    if sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        lines = [_within(line, len(head), columns) for line, head in zip(lines, heads, strict=True)]
    return "\n".join(lines) + "\n" if lines else ""


_LEAST_TEXT = 40
"""So many letters of a text at least stand beside an id on a terminal; where there are fewer it begins below."""


def _within(line: str, head: int, columns: int) -> str:
    """A line of a list in so many columns: what goes on stands below what it goes on, or four letters in."""
    if len(line) <= columns:
        return line
    begin, text = line[:head].rstrip(), line[head:]
    beside = columns - head >= _LEAST_TEXT
    room = columns - (head if beside else 4)
    found = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    if beside:
        return "\n".join([line[:head] + found[0], *(" " * head + one for one in found[1:])])
    return "\n".join([begin, *(f"    {one}" for one in found)])


def _parameters(row: Mapping[str, Any]) -> str:
    """The parameters of an entry and their defaults."""
    return f"  ({row['parameters']})" if row.get("parameters") else ""


def _beside(row: Mapping[str, Any]) -> str:
    """Of a scheme: its verdict beside block acknowledgment."""
    return f"  (beside block acknowledgment: {row['block_ack']})" if "block_ack" in row else ""


def _bracketed(row: Mapping[str, Any]) -> str:
    """Where an entry is from; of an experiment also the kind of its evidence, and how many claims it has."""
    parts = [row["source"]] if row.get("source") else []
    if "claims" in row:
        parts.append(f"{row['evidence']}, {row['claims']} claim{'s' * (row['claims'] != 1)}")
    parts += [row["about"]] if "about" in row else []
    return f"[{'; '.join(parts)}]" if parts else ""
