"""What is open: the files that list it once per set-up, and the `[open]` of an experiment that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interlayer import simulator, toml_text
from interlayer.errors import InputError, suggestion
from interlayer.study.experiment import overlap
from interlayer.study.readings import Choice, Open, Parameter

from .table import Table


def read_open(content: object, beside: Path, swept: Sequence[str], arms: Sequence[str]) -> Open:
    """The `[open]` of an experiment. `swept` are the paths that its sweep sets, `arms` its arms."""
    t = Table(content, "open")
    given = t.take("setup", (str, list))
    names = given if isinstance(given, list) else [given]
    stated = t.take("stated", dict, {})
    tabled = t.take("tabled", list, [])
    t.done()
    for path in tabled:
        if path not in swept:
            raise t.error(f'"{path}" is not swept{suggestion(str(path), swept)}', "tabled")
    titles, sources, parameters = [], [], []
    for name in names:
        title, source, found = _setup(_found(str(name), beside), arms)
        titles.append(title)
        sources.append(source)
        parameters += found
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
    return Open("; ".join(titles), "; ".join(sources), left, tuple(stated.items()), tuple(tabled))


def _free(parameter: Parameter, swept: Sequence[str], t: Table) -> None:
    """What the paper sweeps is not open."""
    for choice in parameter.choices:
        for path, _ in choice.settings:
            if taken := [other for other in swept if overlap(path, other)]:
                raise t.error(f'{parameter.name} sets {path}, but "{taken[0]}" is swept: name it under `stated`')


def _found(name: str, beside: Path) -> Path:
    """A set-up's file by its path from an experiment's folder, else from the folder above."""
    above = beside.parent / name
    return above if not (beside / name).exists() and above.exists() else beside / name


def _setup(path: Path, arms: Sequence[str]) -> tuple[str, str, list[Parameter]]:
    try:
        t = Table(simulator.tables(toml_text.read_text(path), str(path)), "")
        title, source = t.take("title", str), t.take("source", str)
        found = [_parameter(content, i, arms) for i, content in enumerate(t.take("parameter", list))]
        t.done()
    except InputError as e:
        if not str(e).startswith(str(path)):
            e.behind(f"{path}: ")
        raise
    return title, source, found


def _parameter(content: object, i: int, arms: Sequence[str]) -> Parameter:
    t = Table(content, f"parameter[{i}]")
    name, silent, values = t.take("name", str), t.take("silent", str), t.take("value", list)
    t.done()
    choices = tuple(_choice(value, f"{t.where}.value[{j}]", arms) for j, value in enumerate(values))
    if len(choices) < 2:
        raise t.error("what is open has two values at least", "value")
    if len({c.name for c in choices}) < len(choices):
        raise t.error("a value comes twice", "value")
    if choices[0] != Choice(choices[0].name, choices[0].why):
        raise t.error("the first value is the base file's, and changes nothing", "value")
    for choice in choices[1:]:
        if choice == Choice(choice.name, choice.why):
            raise t.error(f'"{choice.name}" changes nothing', "value")
    return Parameter(name, silent, choices)


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
