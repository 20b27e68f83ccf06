"""What a paper leaves open, with its plausible values, and the readings that follow from it.

A *parameter* is something the paper does not state; its *choices* are plausible values, the first of which is the base
file's. A *reading* takes one choice of each. Of K readings k are run: all of them where they are few; else the base and
every single change, then every pair of changes for the claims that none of these turned. No reading is preferred
because it fits: all that are run are shown.

`reader.open` reads them, `campaign` runs them for the verdicts of one experiment, `joint` for the claims of several.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod
from typing import Any, Literal

ALL_UP_TO = 24
"""So many readings are all run; of more the base and every single change, then every pair."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A plausible value of a parameter, and what it changes: the scenario, an arm, or what is read from a run."""

    name: str
    why: str = ""
    settings: tuple[tuple[str, Any], ...] = ()
    """Scenario keys. The sweep and the arms, which the paper states, go over them."""
    arms: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()
    """Scenario keys of single arms, over the arm's own."""
    schemes: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()
    """Parameters of schemes, in every arm that has the scheme."""
    metrics: tuple[tuple[str, str], ...] = ()
    """Columns that are read instead of others."""
    constants: tuple[tuple[str, float], ...] = ()
    """Constants of formulas, by name."""


@dataclass(frozen=True, slots=True)
class Range:
    """The plausible values of a number: all between `low` and `high`, in `unit`. `path` is the key that it sets.

    A place in it goes from 0 to 1, evenly on its scale.
    """

    path: str
    low: float
    high: float
    base: float
    unit: str
    scale: Literal["linear", "log"] = "linear"
    whole: bool = False
    """True if it has whole numbers only, as bytes and packets."""

    def value(self, place: float) -> float:
        """The value at a place, to six digits, so that it is the same number wherever it comes from."""
        along = (
            self.low * (self.high / self.low) ** place
            if self.scale == "log"
            else self.low + (self.high - self.low) * place
        )
        return float(round(along)) if self.whole else float(f"{along:.6g}")

    def place(self, value: float) -> float:
        """The place of a value."""
        if self.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def text(self, value: float) -> str:
        """A value as a scenario has it."""
        return f"{value:g} {self.unit}".rstrip()

    def choice(self, value: float) -> Choice:
        """One of its values; the base's changes nothing."""
        text: str | float = self.text(value) if self.unit else int(value) if self.whole else value
        if value == self.base:
            return Choice(str(text))
        head, _, rest = self.path.partition(".")
        if head == "scheme":
            scheme, _, key = rest.partition(".")
            return Choice(str(text), schemes=((scheme, ((key, text),)),))
        return Choice(str(text), settings=((self.path, text),))


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something that a paper does not state: where it is silent, and its plausible values, the base file's first.

    Of a `range` the choices are its base, its ends, and what is listed between them.
    """

    name: str
    silent: str
    choices: tuple[Choice, ...]
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One choice of each parameter: those that are not the base's, in the order of the parameters."""

    changes: tuple[tuple[str, Choice], ...] = ()

    @property
    def id(self) -> str:
        """`base`, or what differs from it: `datagram = 500 B, receiver = every`."""
        return ", ".join(f"{name} = {choice.name}" for name, choice in self.changes) or "base"

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        return tuple(s for _, choice in self.changes for s in choice.settings)

    def of_arm(self, arm: str, own: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """What it changes in an arm, over the arm's `own` settings."""
        found = [s for _, choice in self.changes for name, settings in choice.arms if name == arm for s in settings]
        schemes: dict[str, dict[str, Any]] = {}
        for _, choice in self.changes:
            for name, parameters in choice.schemes:
                schemes.setdefault(name, {}).update(parameters)
        tables = dict(own).get("scheme")
        if schemes and isinstance(tables, list):
            found.append(("scheme", [{**one, **schemes.get(one.get("name", ""), {})} for one in tables]))
        return found

    def metric(self, name: str) -> str:
        """What is read where a claim names a metric."""
        for _, choice in self.changes:
            for old, new in choice.metrics:
                name = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, name)
        return name

    @property
    def constants(self) -> dict[str, float]:
        return {name: value for _, choice in self.changes for name, value in choice.constants}

    def within(self, names: Iterable[str]) -> Reading:
        """What it says of the parameters named: a reading of several experiments, as one of them sees it."""
        known = set(names)
        return Reading(tuple(change for change in self.changes if change[0] in known))


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that the paper's runs had, or may have had, and no scenario of ours can have yet.

    What depends on it cannot be judged by runs without it, however many. `seen` is a metric that is not 0 in a run in
    which it would have acted: a claim that names it is judged as any other where none of its runs has that.
    """

    name: str
    why: str
    seen: str


BASE = Reading()
"""Everything as the base file has it."""


@dataclass(frozen=True, slots=True)
class Open:
    """What is open in an experiment."""

    title: str
    source: str
    parameters: tuple[Parameter, ...]
    stated: tuple[tuple[str, str], ...] = ()
    """Parameters of the set-up that are not open here, with the reason: stated, swept, or without a place."""
    tabled: tuple[str, ...] = ()
    """Swept paths that the paper does not sweep: the table shows their values, a claim is judged in each reading."""
    missing: tuple[Missing, ...] = ()
    """What cannot be varied, since nothing here models it."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    def without(self, names: Mapping[str, str]) -> Open:
        """The same with more parameters stated, by their reasons."""
        left = tuple(p for p in self.parameters if p.name not in names)
        return replace(self, parameters=left, stated=(*self.stated, *names.items()))


def how_many(parameters: Sequence[Parameter]) -> int:
    """K: of how many readings those that are run are."""
    return prod(len(p.choices) for p in parameters)


def chosen(parameters: Sequence[Parameter]) -> list[Reading]:
    """The readings that may be run: the base, every single change, every pair; all of at most `ALL_UP_TO`."""
    at_once = len(parameters) if how_many(parameters) <= ALL_UP_TO else 2
    found = []
    for changed in range(min(at_once, len(parameters)) + 1):
        for some in combinations(parameters, changed):
            found += [
                Reading(tuple(zip((p.name for p in some), picks, strict=True)))
                for picks in product(*(p.choices[1:] for p in some))
            ]
    return found


def first(parameters: Sequence[Parameter]) -> list[Reading]:
    """Those of `chosen`, at its beginning, in which every claim is judged: without the pairs where there are many."""
    found = chosen(parameters)
    return found if how_many(parameters) <= ALL_UP_TO else [r for r in found if len(r.changes) <= 1]


def together(opens: Sequence[Open]) -> tuple[Parameter, ...]:
    """The parameters of several experiments, each once."""
    return tuple({p.name: p for o in opens for p in o.parameters}.values())
