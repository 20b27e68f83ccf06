"""`interlayer reproduce` and `interlayer readings`: experiments, their claims, and what papers leave open."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import cli_parts as parts
from .cli_parts import Force, Jobs, Json, Out, Readings, Seed, Set, StoreFile, Where
from .errors import InputError
from .show import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .study.experiment import Experiment
    from .study.outcome import Outcome
    from .study.recording import Recording


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help="Experiments, files, or patterns: lle-fig-3.1*.", autocompletion=parts.complete_ids
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every experiment.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="3 runs, no verdicts.")] = False,
    readings: Readings = "all",
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs", min=1, metavar="N", help="Replications of each.  [default: as the verdicts need, from 10]"
        ),
    ] = None,
    seed: Seed = None,
    jobs: Jobs = 0,
    engine: Where = None,
    set_: Set = None,
    out: Out = None,
    force: Force = False,
    json: Json = None,
    store: StoreFile = None,
    live: Annotated[
        Path | None,
        typer.Option(
            "--live",
            metavar="FILE",
            help="Make the runs of recorded arms here, live; FILE (CSV) keeps them, and what it has is not made again.",
        ),
    ] = None,
) -> None:
    """Run an experiment of the papers and judge its claims.

    \b
    Examples:
      interlayer reproduce lle-fig-3.7b --quick
      interlayer reproduce lle-fig-3.9 --readings base --runs 3 --out figures
    """
    from .show import as_json, files, terminal
    from .simulator import check_seeds
    from .study import campaign, costs, library
    from .study.runs import Cache

    if all_ and ids:
        raise InputError("--all: name experiments or take all, not both")
    if not all_ and not ids:
        raise InputError("which experiment? Name one or more, or --all; `interlayer list experiments` shows them")
    parts.one_of("--readings", readings, ("all", "base"))
    if quick and runs is not None:
        raise InputError("--quick: fixes the number of runs itself; leave out --runs")
    check_seeds(1 if seed is None else seed, runs or 1)
    names = library.known() if all_ else library.matching(ids or [])
    chosen = [library.load(name) for name in names]
    overrides = parts.overrides(set_)
    for name, experiment in zip(names, chosen, strict=True):
        # The package's are checked by its tests. A look judges nothing, and what --live makes is not there yet.
        if Path(name).suffix == ".toml" and not quick and live is None:
            parts.named(Path(name), partial(campaign.checked, experiment, overrides))
    recording = None if live is None else _live(live, chosen, jobs)
    outcomes: list[Outcome] = []
    with (
        parts.engine(engine, jobs) as made_by,
        output.folder(out, " ".join(["reproduce", *(["--all"] if all_ else names)]), force=force) as to_folder,
        output.file(parts.json_file(json)) as to_file,
        parts.opened(store) as stored,
        terminal.progress() as progress,
    ):
        cache, mode = Cache(stored), "quick" if quick else readings
        first = 1 if seed is None else seed

        def counted() -> tuple[int, int]:
            keys = campaign.scenarios(chosen[0], quick=quick, base_only=readings == "base", overrides=overrides)
            each = runs or costs.first_runs(mode)
            return each * len(keys), sum(stored.count(key, first, each) for key in keys) if stored else 0

        counts = counted if len(chosen) == 1 else None
        parts.tell_cost([e.id for e in chosen], mode, stored, runs, jobs, made_by, counts)
        for experiment in chosen:
            outcome = campaign.run(
                experiment,
                seed=first,
                runs=runs,
                quick=quick,
                engine=made_by,
                overrides=overrides,
                progress=progress,
                cache=cache,
                over_time=to_folder is not None,
                base_only=readings == "base",
                recording=recording if experiment.recorded else None,
            )
            if outcome.cells() or not experiment.cells():
                outcomes.append(outcome)
            if outcome.interrupted:
                break
        if outcomes:
            objects = [as_json.outcome(o) for o in outcomes]
            text = as_json.dumps(objects[0] if len(chosen) == 1 else objects)
            if to_folder:
                with to_folder.filled() as path:
                    files.write_outcomes(outcomes, path)
            if to_file:
                to_file.write(text)
    if outcomes:
        output.to_stdout(text if json == "-" else "\n".join(terminal.outcome(o) for o in outcomes))
    failures = [(e, ["reproduce", o.experiment.id]) for o in outcomes for e in o.failures]
    whole = [o.experiment.id for o in outcomes if not o.interrupted]
    complete = f"complete: {len(whole)} of {parts.count(chosen, 'experiment')}{': ' * bool(whole)}{', '.join(whole)}"
    parts.end(outcome.interrupted, failures, set_, progress, store, complete)


def _live(file: Path, chosen: Sequence[Experiment], jobs: int) -> Recording:
    """A recording to which the runs that it lacks are added, live; `jobs` beside each other, else one by one."""
    from .realtime import hosts, measured
    from .study.recording import Recording

    if not any(e.recorded for e in chosen):
        raise InputError("--live: none of these experiments has recorded arms", "--live")
    if why := hosts.obstacle():
        raise InputError(why)
    return Recording.read(file, measured.maker(jobs or 1))


def readings(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID", help="Experiments, files, or patterns: lle-fig-3.1*.", autocompletion=parts.complete_ids
        ),
    ],
    readings: Readings = "all",
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs", min=1, metavar="N", help="Replications of each; 2 at least, with --over 10.  [default: 10]"
        ),
    ] = None,
    seed: Seed = None,
    jobs: Jobs = 0,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME[=FROM..TO]",
            help="Along a range that is open, of one or two: where are the claims true? May come twice.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=VALUE", help="With --over: another value than the base's. May come again."),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            "--points",
            min=1,
            metavar="N",
            help="With --over: points at most; from 9 or 10 for one range, from 25 to 36 for two.  [default: 33, 65]",
        ),
    ] = None,
    engine: Where = None,
    out: Out = None,
    force: Force = False,
    json: Json = None,
    store: StoreFile = None,
) -> None:
    """Show which readings of a paper make its claims true.

    A reading fixes what the paper leaves open.

    \b
    Examples:
      interlayer readings lle-fig-3.9 --runs 2
      interlayer readings dynarq-scenario-4 --over coherence --out region
    """
    from .show import files, joint, terminal
    from .simulator import check_seeds
    from .study import joint as judged
    from .study import library
    from .study.runs import Cache

    parts.one_of("--readings", readings, ("all", "base"))
    if runs == 1:
        raise InputError(
            "--runs: readings are told apart by a bootstrap over seeds; one run has no interval, give 2 or more"
        )
    check_seeds(1 if seed is None else seed, runs or 1)
    chosen = [library.load(name) for name in library.matching(ids)]
    if over:
        if readings == "base":
            raise InputError("--readings base: with --over the rest is as the base has it")
        _over(chosen, over, at or [], points, runs, 1 if seed is None else seed, jobs, engine, out, force, json, store)
        return
    if at or points is not None:
        raise InputError(f"--{'at' if at else 'points'}: it goes with --over")
    with (
        parts.engine(engine, jobs) as made_by,
        output.folder(out, " ".join(["readings", *ids]), force=force) as to_folder,
        output.file(parts.json_file(json)) as to_file,
        parts.opened(store) as stored,
        terminal.progress() as progress,
    ):
        parts.tell_cost([e.id for e in chosen], readings, stored, runs or judged.RUNS, jobs, made_by)
        found = judged.run(
            chosen,
            seed=1 if seed is None else seed,
            runs=judged.RUNS if runs is None else runs,
            engine=made_by,
            progress=progress,
            cache=Cache(stored),
            base_only=readings == "base",
        )
        if found is None:  # Ctrl-C
            raise parts.stopped(progress, store, "a joint judgement needs all of them")
        if to_folder:
            with to_folder.filled() as path:
                files.write_readings(found, path)
        if to_file:
            to_file.write(joint.dumps(found))
    output.to_stdout(joint.dumps(found) if json == "-" else terminal.readings(found))


def _over(
    chosen: Sequence[Experiment],
    over: Sequence[str],
    at: Sequence[str],
    points: int | None,
    runs: int | None,
    seed: int,
    jobs: int,
    engine: str | None,
    out: Path | None,
    force: bool,
    json: str | None,
    store: Path | None,
) -> None:
    """`readings --over`: claims along one range or two."""
    from .show import files, region, terminal
    from .study import joint, ranges
    from .study.runs import Cache

    along, fixed = ranges.chosen(chosen, over, at)
    with (
        parts.engine(engine, jobs) as made_by,
        output.folder(out, " ".join(["readings", *(e.id for e in chosen), "--over", *over]), force=force) as to_folder,
        output.file(parts.json_file(json)) as to_file,
        parts.opened(store) as stored,
        terminal.progress() as progress,
    ):
        found = ranges.run(
            chosen,
            along,
            fixed,
            seed=seed,
            runs=joint.RUNS if runs is None else runs,
            most=points,
            engine=made_by,
            progress=progress,
            cache=Cache(stored),
        )
        if found is None:  # Ctrl-C
            raise parts.stopped(progress, store, "where a claim is true needs all points")
        if to_folder:
            with to_folder.filled() as path:
                files.write_region(found, path)
        if to_file:
            to_file.write(region.dumps(found))
    output.to_stdout(region.dumps(found) if json == "-" else terminal.ranges(found))
