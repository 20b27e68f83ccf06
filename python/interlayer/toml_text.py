"""TOML in small: values written as text, for overrides and for scenarios built in Python. (`tomllib` only reads.)"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeGuard

from .errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def literal(value: object) -> str:
    """`value` as TOML: `"1500 B"` in quotes, `[1, 2]`, `{ name = "lle-tcp" }`.

    Takes what a TOML file can hold except dates; anything else is an `InputError`.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key(k)} = {literal(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(literal(v) for v in value)}]"
    raise InputError(f"{value!r} ({type(value).__name__}) has no place in a scenario")


def key(name: str) -> str:
    """A key, quoted where it has to be."""
    if not isinstance(name, str):
        raise InputError(f"{name!r} ({type(name).__name__}) is no key of a scenario: keys are texts")
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A JSON string is a TOML basic string, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def document(tables: Mapping[str, object]) -> str:
    """A TOML document of one level: plain values first, `[radio]` for a mapping, `[[node]]` for each of a sequence."""
    plain = {name: it for name, it in tables.items() if not (isinstance(it, Mapping) or _has_tables(it))}
    parts = ["".join(f"{key(name)} = {literal(it)}\n" for name, it in plain.items())] if plain else []
    for name, content in tables.items():
        if isinstance(content, Mapping):
            parts.append(_table(f"[{key(name)}]", content))
        elif _has_tables(content):
            parts += [_table(f"[[{key(name)}]]", table) for table in content]
    return "\n".join(parts)


def _has_tables(content: object) -> TypeGuard[Sequence[Mapping[str, object]]]:
    """True of a list of tables, as `[[node]]` makes one; an empty list makes none."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return False
    return all(isinstance(table, Mapping) for table in content)


def _table(head: str, table: Mapping[str, object]) -> str:
    return "\n".join([head, *(f"{key(k)} = {literal(v)}" for k, v in table.items())]) + "\n"


def read_text(path: Path) -> str:
    """The text of a file. Raises `InputError` with one line if there is none to read."""
    try:
        return checked(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError as e:
        raise InputError(f"{path}: no such file or directory{_beside(path)}") from e
    except OSError as e:
        raise InputError(f"{path}: {(e.strerror or str(e)).lower()}") from e
    except UnicodeDecodeError as e:
        raise InputError(f"{path}: not UTF-8 text") from e


def _beside(path: Path) -> str:
    """`; did you mean "examples/single-hop.toml"?`, of the TOML files in the folder."""
    try:
        there = [other.name for other in path.parent.glob("*.toml")]
    except OSError:
        return ""
    near = get_close_matches(path.name, there, n=1, cutoff=0.8)
    return f'; did you mean "{path.with_name(near[0])}"?' if near else ""


def checked(text: str, name: str) -> str:
    """The text of a file, if it can be TOML at all. Raises `InputError` for an empty one, and for NUL bytes."""
    if "\0" in text:
        raise InputError(f"{name}: has NUL bytes, so it is no TOML text")
    if not text.strip():
        raise InputError(f"{name}: is empty")
    return text
