"""`interlayer sweep`: a grid of one's own over a scenario."""

from __future__ import annotations

from typing import Annotated

import typer

from . import cli_parts as parts
from .cli_parts import File, Force, Jobs, Json, Out, Runs, Seed, Set, StoreFile, Where
from .errors import InputError, suggestion
from .show import output


def sweep(
    file: File,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="PATH=A,B,C",
            help="A key and its values: channel.errors.per=0.01,0.1, or scheme=none,lle-tcp. May come again.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="METRIC", help="A column of the rows: flow.0.goodput. May come again."),
    ] = None,
    x: Annotated[str | None, typer.Option("--x", metavar="PATH", help="The key along the figure's x axis.")] = None,
    y: Annotated[str | None, typer.Option("--y", metavar="METRIC", help="The metric that the figure shows.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="PATH", help="A key whose values are a line each in the figure. May come again."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="3 runs a cell: a first look.")] = False,
    runs: Runs = None,
    seed: Seed = None,
    jobs: Jobs = 0,
    engine: Where = None,
    set_: Set = None,
    out: Out = None,
    force: Force = False,
    json: Json = None,
    store: StoreFile = None,
) -> None:
    """Run every combination of the values of some keys.

    Each combination is a cell of 10 runs; all cells have the same seeds.

    \b
    Examples:
      interlayer sweep examples/single-hop.toml --over flow.0.transport.receiver=every,delayed-ack --quick
      interlayer sweep examples/bursty-link.toml --over scheme=none,lle-tcp --metric flow.0.rtt_mean --runs 3 --out grid
    """
    from .show import as_json, terminal
    from .show import sweep as shown
    from .study import sweep as grid

    if quick and runs is not None:
        raise InputError("--quick: fixes the number of runs itself; leave out --runs")
    axes, overrides = _over(over), parts.overrides(set_)
    for option, paths in (("--x", [x] if x else []), ("--by", by or [])):
        for name in paths:
            if name not in axes:
                raise InputError(f'{option}: "{name}" is not swept{suggestion(name, axes)}', option)
    text = parts.read(file)
    metrics = list(dict.fromkeys([*([y] if y else []), *(metric or [])]))
    with (
        parts.engine(engine, jobs) as made_by,
        output.folder(out, f"sweep {parts.stem(file)}", force=force) as to_folder,
        output.file(parts.json_file(json)) as to_file,
        parts.opened(store) as stored,
        terminal.progress() as progress,
    ):
        found = parts.named(
            file,
            lambda: grid.run(
                text,
                axes,
                metric=metrics,
                overrides=overrides,
                seed=seed,
                runs=runs,
                quick=quick,
                engine=made_by,
                name=parts.stem(file),
                progress=progress,
                store=stored,
                tell=parts.tell,
            ),
        )
        if found is None:  # Ctrl-C before every cell had a run
            raise parts.stopped(progress, store)
        if to_folder:
            with to_folder.filled() as path:
                shown.write(found, path, x=x, y=y, by=by)
        if to_file:
            to_file.write(as_json.dumps(shown.json(found)))
    output.to_stdout(as_json.dumps(shown.json(found)) if json == "-" else shown.table(found))
    again = [word for one in over or [] for word in ("--over", one)]
    failures = [(e, ["sweep", str(file), *again]) for e in found.failures]
    parts.end(found.interrupted, failures, set_, progress, store)


def _over(texts: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts or []:
        path, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not path:
            raise InputError(f'--over: "{text}" is no PATH=A,B,C, as in channel.errors.per=0.01,0.1', "--over")
        if not values:
            raise InputError(f"--over: {path} has no values; give some, as in {path}=A,B", "--over")
        if path in found:
            raise InputError(f"--over: {path} comes twice; give all its values at once", "--over")
        found[path] = values
    if not found:
        raise InputError("nothing to sweep; say what: --over channel.errors.per=0.01,0.1", "--over")
    return found
