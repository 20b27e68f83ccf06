"""A whole experiment file: grid, figure and bases here, claims in `claims`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

from interlayer import quantity, simulator, toml_text
from interlayer.errors import Collected, InputError, suggestion
from interlayer.measure.stats import MIN_RUNS
from interlayer.study.experiment import ARM, EVIDENCE, Comparison, Contradiction, Curve, Evidence, Experiment, OverTime
from interlayer.study.readings import Missing

from .claims import read_claim, read_derived, read_evidence
from .each import spread
from .grid import Grid, cells_of, where_of
from .ledger import read_ledger
from .open import named_file, read_open
from .table import Table, constants


def parse(text: str, name: str, beside: Path) -> Experiment:
    """Read an experiment from TOML `text`. `name` is for errors; the base scenario is looked for in `beside`."""
    try:
        return _experiment(Table(simulator.tables(text, name), ""), beside, Path(name).stem)
    except InputError as e:
        if not str(e).startswith(name):
            e.behind(f"{name}: ")
        raise


OWN = "measured"
"""The arm of a file that has none: its base scenario as it stands."""


def _experiment(t: Table, beside: Path, stem: str) -> Experiment:
    """`stem` is what a file is called that does not say its id."""
    runs = _needs_runs(t)
    settings = tuple(t.take("set", dict, {}).items())
    sweep = _sweep(t)
    follow = _follow(t, sweep)
    arms_table = t.take("arms", dict, {OWN: {}} if runs else {})
    for arm, change in arms_table.items():
        if not isinstance(change, dict):
            raise InputError(f"arms.{arm}: expected a table of settings", f"arms.{arm}")
    if runs and not arms_table:
        raise InputError("arms: there is none", "arms")
    grid = Grid(sweep, tuple(arms_table))

    figure = Table(t.take("figure", dict, {}), "figure")
    x = figure.one_of("x", grid.paths, grid.paths[0]) if grid.paths else ""
    y_label = figure.take("y", str, "")
    show = cast(Literal["metric", "gain"], figure.one_of("show", ("metric", "gain"), "metric"))
    drawn = _drawn(figure, grid)
    figure.done()

    e = Experiment(
        id=(id_ := t.take("id", str, stem)),
        title=t.take("title", str, id_),
        source=t.take("source", str, ""),
        question=t.take("question", str, ""),
        evidence=t.one_of("evidence", EVIDENCE, EVIDENCE[0]),
        base=toml_text.read_text(named_file(t.take("base", str), beside)) if runs else "",
        metric=t.take("metric", str) if runs else "",
        unit=t.one_of("unit", quantity.UNITS, ... if runs else "1"),
        max_runs=t.take("max_runs", int, MIN_RUNS),
        assumptions=tuple(t.take("assumptions", list, [])),
        note=t.take("note", str, "").strip(),
        settings=settings,
        sweep=sweep,
        arms=tuple((arm, _without_base(change)) for arm, change in arms_table.items()),
        x=x,
        y_label=y_label,
        show=show,
        labels=t.take("labels", dict, {}),
        comparisons=tuple(_comparison(c, i, grid) for i, c in enumerate(t.take("gain", list, []))),
        curves=tuple(_curve(c, i, grid, x) for i, c in enumerate(t.take("curve", list, []))),
        bases=tuple(_bases(arms_table, beside)),
        **_recording(t, grid, beside),
        follow=follow,
        drawn=drawn,
    )
    mistakes, over_time, open_ = Collected(), None, None
    with mistakes.noted():
        if e.max_runs < MIN_RUNS:
            raise InputError(f"max_runs: a verdict needs {MIN_RUNS} runs", "max_runs")
    with mistakes.noted():
        if show == "gain" and not e.comparisons:
            raise InputError('figure.show: "gain" needs a [[gain]] to show', "figure.show")
    with mistakes.noted():
        over_time = _over_time(Table(t.take("over_time", dict), "over_time"), grid) if t.has("over_time") else None
    swept = [*grid.paths, *(path for _, others in follow for path, _ in others)]
    written, derived, contradictions = t.take("claim", list, []), t.take("derived", list, []), []
    claims: list[tuple[int, Any]] = list(enumerate(written))
    with mistakes.noted():
        claims = spread(written, grid, e.label)
    rests_on: dict[int, tuple[Missing, ...]] = {}
    with mistakes.noted():
        if t.has("open"):
            open_, rests_on = read_open(t.take("open", dict), beside, swept, grid.arms, len(claims))
    for i, content in enumerate(t.take("contradiction", list, [])):
        with mistakes.noted():
            contradictions.append(_contradiction(content, i, e.id, len(claims)))
    explained: dict[int, list[Evidence]] = {}
    with mistakes.noted():
        explained = read_evidence(t.take("explain", list, []), len(claims))
    with mistakes.noted():
        t.done()
    of_claims, claims_read, derived_read = replace(grid, fixed=open_.tabled if open_ else ()), [], []
    for i, (place, content) in enumerate(claims):
        with mistakes.noted():
            claims_read.append(
                replace(read_claim(content, place, i + 1, e, of_claims, explained), rests_on=rests_on.get(i + 1, ()))
            )
    for i, content in enumerate(derived):
        with mistakes.noted():
            derived_read.append(read_derived(content, i, e, grid))
    mistakes.told()
    return replace(
        e,
        over_time=over_time,
        open=open_,
        ledger=read_ledger(beside),
        contradictions=tuple(contradictions),
        claims=tuple(claims_read),
        derived=tuple(derived_read),
    )


_OF_RUNS = (
    *("set", "sweep", "follow", "arms", "metric", "max_runs", "gain", "curve", "figure", "over_time"),
    "recording",
)


def _needs_runs(t: Table) -> bool:
    """Whether the file has a scenario to run; without one, what only runs can serve is a mistake."""
    if not t.has("base") and any(t.has(key) for key in _OF_RUNS):
        raise t.error('the key "base" is missing')
    return t.has("base")


def _sweep(t: Table) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    table = t.take("sweep", dict, {})
    for path, values in table.items():
        if not isinstance(values, list) or not values:
            raise InputError(f'sweep."{path}": expected a list of values', f"sweep.{path}")
        if len({toml_text.literal(v) for v in values}) < len(values):
            raise InputError(f'sweep."{path}": a value comes twice', f"sweep.{path}")
    return tuple((path, tuple(values)) for path, values in table.items())


def _follow(
    t: Table, sweep: tuple[tuple[str, tuple[Any, ...]], ...]
) -> tuple[tuple[str, tuple[tuple[str, tuple[Any, ...]], ...]], ...]:
    """What goes with a swept path's values: other paths, each with as many values."""
    swept, found, taken = dict(sweep), [], {path for path, _ in sweep}
    for leader, others in t.take("follow", dict, {}).items():
        where = f'follow."{leader}"'
        if leader not in swept:
            raise InputError(f'{where}: "{leader}" is not swept{suggestion(leader, swept)}', f"follow.{leader}")
        if not isinstance(others, dict):
            raise InputError(f"{where}: expected a table of lists", f"follow.{leader}")
        for path, values in others.items():
            if path in taken:
                raise InputError(f'{where}: "{path}" is set already', f"follow.{leader}")
            if not isinstance(values, list) or len(values) != len(swept[leader]):
                raise InputError(
                    f'{where}: "{path}" needs a list of {len(swept[leader])}, as many as are swept', f"follow.{leader}"
                )
            taken.add(path)
        found.append((leader, tuple((path, tuple(values)) for path, values in others.items())))
    return tuple(found)


def _drawn(figure: Table, grid: Grid) -> dict[str, tuple[Any, ...]]:
    """What the figure's `where` leaves of the grid, by the paths it names."""
    where = where_of(figure.take("where", dict, {}), figure, "where")
    allowed = grid.choices(where, figure, "where")
    return {path: tuple(allowed[path]) for path in where}


_BASE = "base"
"""The key of an arm that is no path of its scenario, but names another scenario file."""


def _without_base(change: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((path, value) for path, value in change.items() if path != _BASE)


def _bases(arms: Mapping[str, Mapping[str, Any]], beside: Path) -> list[tuple[str, str]]:
    """The scenario texts of the arms that have one of their own."""
    found = []
    for arm, change in arms.items():
        if _BASE not in change:
            continue
        if not isinstance(change[_BASE], str):
            raise InputError(f"arms.{arm}.base: expected a scenario file beside this one", f"arms.{arm}.base")
        found.append((arm, toml_text.read_text(named_file(change[_BASE], beside))))
    return found


def _recording(t: Table, grid: Grid, beside: Path) -> dict[str, Any]:
    """The file of recorded runs, and the arms that it is of."""
    if not t.has("recording"):
        return {}
    own = Table(t.take("recording", dict), "recording")
    file, arms = named_file(own.take("file", str), beside), own.take("arms", list)
    own.done()
    for arm in arms:
        if arm not in grid.arms:
            raise own.error(f'no arm "{arm}"{suggestion(str(arm), grid.arms)}', "arms")
    if not file.is_file():
        raise own.error(f"there is no {file}", "file")
    return {"recording": file, "recorded": tuple(arms)}


def _comparison(content: object, i: int, grid: Grid) -> Comparison:
    t = Table(content, f"gain[{i}]")
    comparison = Comparison(t.one_of("of", grid.arms), t.one_of("over", grid.arms))
    t.done()
    return comparison


def _contradiction(content: object, i: int, id_: str, claims: int) -> Contradiction:
    t = Table(content, f"contradiction[{i}]")
    numbers, text = t.take("claims", list), t.take("text", str)
    t.done()
    if len(numbers) < 2 or not all(isinstance(n, int) and 1 <= n <= claims for n in numbers):
        raise t.error(f"expected two numbers of claims at least; they are 1 to {claims}", "claims")
    return Contradiction(tuple(f"{id_}#{n}" for n in numbers), text)


def _curve(content: object, i: int, grid: Grid, x: str) -> Curve:
    t = Table(content, f"curve[{i}]")
    formula, to = t.take("formula", str), t.take("to", str, "")
    where = t.take("where", dict, {})
    if where and not isinstance(where.get(ARM), str):
        raise t.error("names no arm", "where")
    if x in where:
        raise t.error(f"{x} is the figure's x: the curve runs along it", "where")
    allowed = grid.choices(where, t, "where")
    curve = Curve(
        label=t.take("label", str),
        formula=formula,
        constants=constants(t, f"({formula}) + ({to})" if to else formula, ["x"]),
        to=to,
        arm=where.get(ARM, ""),
        at=tuple((path, tuple(allowed[path])) for path in where if path != ARM),
    )
    t.done()
    return curve


def _over_time(t: Table, grid: Grid) -> OverTime:
    columns = t.take("columns", list)
    if not columns or not all(isinstance(c, str) for c in columns):
        raise t.error("expected a list of patterns, as flow.*.cwnd", "columns")
    cells = cells_of(grid.choices(where_of(t.take("where", dict, {}), t, "where"), t, "where"), grid)
    if len(cells) != 1:
        raise t.error(f"a run is of one arm at one point, this leaves {len(cells)}", "where")
    run = Table(t.take("run", dict, {}), f"{t.where}.run")
    picked = [(how, metric) for how in ("lowest", "median", "highest") if (metric := run.take(how, str, ""))]
    run.done()
    t.done()
    if len(picked) > 1:
        raise t.error("give one of `lowest`, `median`, `highest`", "run")
    pick, metric = picked[0] if picked else ("first", "")
    return OverTime(tuple(columns), cells[0], cast(Any, pick), metric)
