"""What the functions of the Python API take: a wrong type is one line that names the parameter."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from reprlib import Repr

from .errors import InputError


def _whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _yes_or_no(value: object) -> bool:
    return isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _parts(value: object) -> bool:
    return _table(value) and isinstance(value, Mapping) and all(isinstance(part, type) for part in value.values())


def _has_runs(value: object) -> bool:
    return isinstance(getattr(value, "runs", None), list)


def _results(value: object) -> bool:
    return _table(value) and isinstance(value, Mapping) and bool(value) and all(map(_has_runs, value.values()))


def _path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _table(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _mcs(value: object) -> bool:
    return _whole(value) or value == "best"


def _word(value: object) -> bool:
    return isinstance(value, str)


def _word_or_table(value: object) -> bool:
    return isinstance(value, str) or _table(value)


def _several(of: Callable[[object], bool]) -> Callable[[object], bool]:
    """One, or a list of them."""

    def test(value: object) -> bool:
        return of(value) or (isinstance(value, Sequence) and not isinstance(value, str) and all(map(of, value)))

    return test


def _arms(value: object) -> bool:
    return _table(value) and isinstance(value, Mapping) and all(map(_several(_word_or_table), value.values()))


_ARMS = 'names and what each sets, as in arms={"veno": {"flow.*.transport.congestion": "veno"}}'
_TAKES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "example": (_word, 'the name of an example, as in "coffee-shop"'),
    "ap": (_yes_or_no, "True or False"),
    "series": (_yes_or_no, "True or False"),
    "quick": (_yes_or_no, "True or False"),
    "force": (_yes_or_no, "True or False"),
    "rate": (_word, 'a text with a unit, as in "11 Mb/s"'),
    "datagram": (_word, 'a text with a unit, as in "1500 B"'),
    "duration": (_word, 'a text with a unit, as in "30 s"'),
    "warmup": (_word, 'a text with a unit, as in "2 s"'),
    "standard": (_word, 'a text, as in "802.11b"'),
    "mcs": (_mcs, 'a whole number or "best"'),
    "streams": (_whole, "a whole number"),
    "width": (_word, 'a text with a unit, as in "80 MHz"'),
    "direction": (_word, '"up", "down" or "both"'),
    "loss_at": (_word, '"attempt" or "msdu"'),
    "name": (_word, "a text"),
    "loss": (_number, "a number from 0 to 1"),
    "congestion": (_word_or_table, "a sender's name or table"),
    "queue": (_word_or_table, "the name of a discipline, or a queue's table"),
    "parts": (_parts, 'names and classes, as in parts={"mine": Mine}'),
    "metric": (_word, 'a metric, as in "flow.0.rtt_mean"'),
    "label": (_word, "an arm's name"),
    "path_of_file": (_path, "a file's path"),
    "x": (_word, "a swept key"),
    "y": (_word, "a metric"),
    "by": (_several(_word), "a swept key or a list of them"),
    "table": (_word, 'a table\'s name, as in "flows"'),
    "other": (_has_runs, "what run() gave"),
    "results": (_results, 'names and what run() gave, as in results={"fifo": run(...)}'),
    "stations": (_whole, "a whole number"),
    "runs": (_whole, "a whole number"),
    "seed": (_whole, "a whole number"),
    "jobs": (_whole, "a whole number"),
    "flow": (_several(_table), "what tcp() or udp() give, or a list of them"),
    "traffic": (_several(_word_or_table), "a model's name or table, or a list of them"),
    "scheme": (_several(_word_or_table), "a scheme's name or table, or a list of them"),
    "wire": (_table, 'a table, as in wire={"rate": "1 Gb/s", "delay": "10 ms"}'),
    "radio": (_table, 'a table, as in radio={"rts_threshold": "500 B"}'),
    "schemes": (_several(_word_or_table), 'names or tables, as in "none,lle-tcp"'),
    "arms": (_arms, _ARMS),
    "over": (_table, 'paths and their values, as in {"channel.errors.per": [0.01, 0.1]}'),
    "metrics": (_several(_word), 'a metric or a list of them, as in "flow.0.rtt_mean"'),
    "timeline": (_word, 'a text such as "2 s..2.01 s"'),
    "engine": (_word, 'a text such as "dask://HOST:PORT"'),
    "pcap": (_path, "a folder's path"),
    "store": (_path, "a file's path"),
    "folder": (_path, "a folder's path"),
    "scenario": (_path, "a scenario or a file's path"),
    "experiment": (_path, "the id of an experiment, or a file's path"),
    "text": (_word, "TOML text"),
    "path": (_word, 'a key\'s path, as in "radio.rts_threshold"'),
}
"""Of each parameter what it may be, and the same in words."""


def check(**given: object) -> None:
    """Raise `InputError` for the first parameter that is not what it has to be."""
    for name, value in given.items():
        test, words = _TAKES[name]
        if not test(value):
            raise InputError(f"{name}: expected {words}, not {_short.repr(value)}", name)


def check_if_any(**given: object) -> None:
    """The same; None is nothing given."""
    check(**{name: value for name, value in given.items() if value is not None})


def expect(name: str, value: object, kind: type, words: str) -> None:
    """Raise `InputError` for what is not of a kind."""
    if not isinstance(value, kind):
        raise InputError(f"{name}: expected {words}, not {_short.repr(value)}", name)


_short = Repr()
_short.maxother = _short.maxstring = 60
