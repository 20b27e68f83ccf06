"""What is open: the files that list it once per set-up, and the `[open]` of an experiment that names them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from interlayer import simulator, toml_text
from interlayer.errors import InputError, suggestion
from interlayer.study.experiment import overlap
from interlayer.study.readings import Choice, Missing, Open, Parameter, Range

from .table import Table


def read_open(
    content: object, beside: Path, swept: Sequence[str], arms: Sequence[str], claims: int
) -> tuple[Open, dict[int, tuple[Missing, ...]]]:
    """The `[open]` of an experiment, and by the number of a claim what it rests on that nothing here models.

    `swept` are the paths that its sweep sets, `arms` its arms, `claims` how many claims it has.
    """
    t = Table(content, "open")
    given = t.take("setup", (str, list))
    names = given if isinstance(given, list) else [given]
    stated = t.take("stated", dict, {})
    tabled = t.take("tabled", list, [])
    rests_on = Table(t.take("rests_on", dict, {}), "open.rests_on")
    t.done()
    for path in tabled:
        if path not in swept:
            raise t.error(f'"{path}" is not swept{suggestion(str(path), swept)}', "tabled")
    titles, sources, parameters, missing = [], [], [], []
    for name in names:
        title, source, found, not_modelled = _setup(named_file(str(name), beside), arms)
        titles.append(title)
        sources.append(source)
        parameters += found
        missing += not_modelled
    known = [p.name for p in parameters]
    if twice := [name for name in known if known.count(name) > 1]:
        raise t.error(f'"{twice[0]}" comes twice', "setup")
    for name, reason in stated.items():
        if name not in known:
            raise t.error(f'no parameter "{name}"{suggestion(name, known)}', "stated")
        if not isinstance(reason, str) or not reason:
            raise t.error("say where it is stated, or why it has no place here", f"stated.{name}")
    left = tuple(p for p in parameters if p.name not in stated)
    for parameter in left:
        _free(parameter, [path for path in swept if path not in tabled], t)
    open_ = Open("; ".join(titles), "; ".join(sources), left, tuple(stated.items()), tuple(tabled), tuple(missing))
    return open_, _rests_on(rests_on, missing, claims)


def _rests_on(t: Table, missing: Sequence[Missing], claims: int) -> dict[int, tuple[Missing, ...]]:
    """What is missing by the numbers of the claims that rest on it: `routing = [1, 2]`, or "all"."""
    found: dict[int, tuple[Missing, ...]] = {}
    for one in missing:
        given = t.take(one.name, (str, list), [])
        numbers = list(range(1, claims + 1)) if given == "all" else given
        if not isinstance(numbers, list) or not all(isinstance(n, int) and 1 <= n <= claims for n in numbers):
            raise t.error(f'expected numbers of claims, 1 to {claims}, or "all"', one.name)
        for n in numbers:
            found[n] = (*found.get(n, ()), one)
    t.done()
    return found


def _free(parameter: Parameter, swept: Sequence[str], t: Table) -> None:
    """What the paper sweeps is not open."""
    for choice in parameter.choices:
        for path, _ in choice.settings:
            if taken := [other for other in swept if overlap(path, other)]:
                raise t.error(f'{parameter.name} sets {path}, but "{taken[0]}" is swept: name it under `stated`')


def named_file(name: str, beside: Path) -> Path:
    """A file that an experiment names: by its path from the experiment's folder, else from the folder above.

    The folder above is that of files which several papers share.
    """
    above = beside.parent / name
    return above if not (beside / name).exists() and above.exists() else beside / name


def _setup(path: Path, arms: Sequence[str]) -> tuple[str, str, list[Parameter], list[Missing]]:
    try:
        t = Table(simulator.tables(toml_text.read_text(path), str(path)), "")
        title, source = t.take("title", str), t.take("source", str)
        found = [_parameter(content, i, arms) for i, content in enumerate(t.take("parameter", list))]
        missing = [_missing(content, i) for i, content in enumerate(t.take("missing", list, []))]
        t.done()
    except InputError as e:
        if not str(e).startswith(str(path)):
            e.behind(f"{path}: ")
        raise
    return title, source, found, missing


def _missing(content: object, i: int) -> Missing:
    t = Table(content, f"missing[{i}]")
    found = Missing(t.take("name", str), t.take("why", str), t.take("seen", str))
    t.done()
    return found


def _parameter(content: object, i: int, arms: Sequence[str]) -> Parameter:
    t = Table(content, f"parameter[{i}]")
    name, silent, range_ = t.take("name", str), t.take("silent", str), _range(t)
    values = t.take("value", list, ... if range_ is None else [])
    t.done()
    choices = tuple(_choice(value, f"{t.where}.value[{j}]", arms) for j, value in enumerate(values))
    if range_ is not None:
        own = [range_.choice(value) for value in dict.fromkeys((range_.base, range_.low, range_.high))]
        choices = (*own, *choices)
    if len(choices) < 2:
        raise t.error("what is open has two values at least", "value")
    if len({c.name for c in choices}) < len(choices):
        raise t.error("a value comes twice", "value")
    if choices[0] != Choice(choices[0].name, choices[0].why):
        raise t.error("the first value is the base file's, and changes nothing", "value")
    for choice in choices[1:]:
        if choice == Choice(choice.name, choice.why):
            raise t.error(f'"{choice.name}" changes nothing', "value")
    return Parameter(name, silent, choices, range_)


def _range(t: Table) -> Range | None:
    """The range of a parameter that has one, with its base and the key that it sets."""
    if not t.has("range"):
        return None
    path, base = t.take("sets", str), t.take("base", (str, int, float))
    r = Table(t.take("range", dict), f"{t.where}.range")
    ends = [r.take(key, (str, int, float)) for key in ("from", "to")]
    scale = cast(Literal["linear", "log"], r.one_of("scale", ("linear", "log"), "linear"))
    r.done()
    return range_of(path, ends[0], ends[1], base, scale, t)


def range_of(path: str, low: object, high: object, base: object, scale: Literal["linear", "log"], t: Table) -> Range:
    """A range of numbers in one unit. Raises `InputError` in the name of `t`."""
    found = [_NUMBER.fullmatch(str(value)) for value in (low, high, base)]
    numbers = [float(match[1]) for match in found if match]
    units = {match[2] for match in found if match}
    if len(numbers) < 3 or len(units) > 1:
        raise t.error(f"expected numbers in one unit, found {low}, {high} and the base {base}", "range")
    if not numbers[0] < numbers[1] or (scale == "log" and numbers[0] <= 0):
        raise t.error("expected from < to, and both above 0 where the scale is log", "range")
    if not numbers[0] <= numbers[2] <= numbers[1]:
        raise t.error(f"the base {base} lies outside of it", "range")
    unit = units.pop()
    whole = unit in ("", "B") and all(str(match[1]).lstrip("+-").isdigit() for match in found if match)
    return Range(path, numbers[0], numbers[1], numbers[2], unit, scale, whole)


_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-z/%]*)\s*")


def _choice(content: object, where: str, arms: Sequence[str]) -> Choice:
    t = Table(content, where)
    constants = t.take("let", dict, {})
    if wrong := [n for n, v in constants.items() if not isinstance(v, int | float) or isinstance(v, bool)]:
        raise t.error("expected a number", f"let.{wrong[0]}")
    found = Choice(
        name=t.take("name", str),
        why=t.take("why", str, ""),
        settings=tuple(t.take("set", dict, {}).items()),
        arms=_tables(t.take("arm", dict, {}), t, "arm"),
        schemes=_tables(t.take("scheme", dict, {}), t, "scheme"),
        metrics=tuple((old, str(new)) for old, new in t.take("metric", dict, {}).items()),
        constants=tuple((n, float(v)) for n, v in constants.items()),
    )
    for arm, _ in found.arms:
        if arm not in arms:
            raise t.error(f'no arm "{arm}"{suggestion(arm, arms)}', "arm")
    t.done()
    return found


def _tables(content: Mapping[str, Any], t: Table, key: str) -> tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]:
    for name, one in content.items():
        if not isinstance(one, dict):
            raise t.error("expected a table of settings", f"{key}.{name}")
    return tuple((name, tuple(one.items())) for name, one in content.items())
