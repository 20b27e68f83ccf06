"""The ledger of a paper: `ledger.toml` beside its experiments."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from interlayer import simulator, toml_text
from interlayer.errors import InputError
from interlayer.study.ledger import Basis, Ledger, Mark, Unmodelled

from .table import Table

FILE = "ledger.toml"


def read_ledger(beside: Path) -> Ledger | None:
    """The ledger of a folder of experiments, None where there is none. An `InputError` names file and entry."""
    path = beside / FILE
    if not path.exists():
        return None
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(path: Path, written_ns: int) -> Ledger:
    """A ledger as it was written then: an experiment after the other has the same."""
    try:
        t = Table(simulator.tables(toml_text.read_text(path), str(path)), "")
        found = Ledger(
            t.take("title", str),
            tuple(_mark(content, i) for i, content in enumerate(t.take("mark", list))),
            tuple(_unmodelled(content, i) for i, content in enumerate(t.take("unmodelled", list, []))),
        )
        t.done()
    except InputError as e:
        raise e if str(e).startswith(str(path)) else InputError(f"{path}: {e}", e.path) from e
    return found


def _mark(content: object, i: int) -> Mark:
    t = Table(content, f"mark[{i}]")
    keys, values = tuple(t.take("keys", list)), tuple(t.take("values", list, []))
    given = [basis for basis in Basis if t.has(basis.value)]
    if len(given) != 1:
        raise t.error(f"give one of {', '.join(basis.value for basis in Basis)}")
    where = t.take(given[0].value, str)
    what = t.take("what", str) if given[0] is Basis.OPEN else ""
    mark = Mark(keys, given[0], where, what, values, tuple(t.take("experiments", list, [])))
    t.done()
    if not keys or not where:
        raise t.error("names no key, or no place")
    return mark


def _unmodelled(content: object, i: int) -> Unmodelled:
    t = Table(content, f"unmodelled[{i}]")
    found = Unmodelled(t.take("what", str), t.take("why", str), tuple(t.take("experiments", list, [])))
    t.done()
    return found
