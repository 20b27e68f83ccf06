"""A TOML table being read, and the constants of a formula in it: what is wrong is named with its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from interlayer import toml_text
from interlayer.errors import Collected, InputError, suggestion
from interlayer.study import expression


class Table:
    """A table being read: every key is taken once, what is left over at the end is a mistake."""

    def __init__(self, content: object, where: str) -> None:
        if not isinstance(content, Mapping):
            raise InputError(f"{where}: expected a table", where)
        self._left: dict[str, Any] = dict(content)
        self._seen: list[str] = []
        self.where = where

    def error(self, message: str, key: str = "") -> InputError:
        """An error that names the table, and the key in it."""
        path = f"{self.where}.{key}" if self.where and key else self.where or key
        return InputError(f"{path}: {message}", path)

    def has(self, key: str) -> bool:
        """Whether a key is there, and not taken yet."""
        return key in self._left

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """The value of a key, of the type asked for. A key without a default must be there."""
        self._seen.append(key)
        if key not in self._left:
            if default is ...:
                raise self.error(f'the key "{key}" is missing')
            return default
        value = self._left.pop(key)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(dict.fromkeys(_NAMES[k] for k in kinds))
            raise self.error(f"expected {names}, found {toml_text.literal(value)}", key)
        return value

    def one_of(self, key: str, known: Sequence[str], default: Any = ...) -> str:
        """A text that is among those known."""
        value = self.take(key, str, default)
        if value not in known:
            raise self.error(f'"{value}" is none of them{suggestion(value, known)}', key)
        return cast(str, value)

    def number(self, key: str) -> float | None:
        """A number, None for none."""
        value = self.take(key, (int, float), None)
        return None if value is None else float(value)

    def done(self) -> None:
        """Keys that nobody took are mistakes."""
        mistakes = Collected()
        for key in self._left:
            with mistakes.noted():
                raise self.error(f"unknown key{suggestion(key, self._seen)}", key)
        mistakes.told()


_NAMES = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


def constants(t: Table, formula: str, free: Sequence[str] = ()) -> tuple[tuple[str, float], ...]:
    """The numbers of `let`: those that a formula names, and no others. Names in `free` get their value later."""
    constants = t.take("let", dict, {})
    for name, value in constants.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise t.error("expected a number", f"let.{name}")
    for name in sorted(expression.names(formula)):
        if name not in constants and name not in free:
            raise t.error(f'no constant "{name}"{suggestion(name, [*constants, *free])}', "formula")
    if unused := [name for name in constants if name not in expression.names(formula)]:
        raise t.error("the formula does not use it", f"let.{unused[0]}")
    return tuple((name, float(value)) for name, value in constants.items())
