"""The command line, a contract that scripts rely on: verbs, JSON, exit statuses.

Exit status: 0 done; 2 the input is wrong (a plain line on stderr for each mistake, nothing written); 1 a failure of
ours; 130 interrupted by Ctrl-C or SIGTERM, finished runs kept. A person gets tables and progress, a pipe what it asked
for; stderr has a line a minute where work is long.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import cli_deploy, cli_explore, cli_live, cli_new, cli_study, cli_sweep
from . import cli_parts as parts
from .cli_parts import File, Force, Jobs, Json, Out, Runs, Seed, Set, StoreFile, Where
from .errors import InputError, InterlayerError, RunError, suggestion
from .show import output
from .study import replications

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType


app = typer.Typer(
    name="interlayer",
    help="""A laboratory for TCP over IEEE 802.11.

    \b
    Examples:
      interlayer run examples/single-hop.toml
      interlayer compare examples/bursty-link.toml --schemes none,lle-tcp --runs 4
      interlayer sweep examples/single-hop.toml --over scheme=none,lle-tcp --quick
      interlayer reproduce lle-fig-3.7b --quick
      interlayer list schemes
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# ----------------------------------------------------------------------------------------------------------- verbs


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("-V", "--version", help="Show the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        from .simulator import version as core_version

        output.to_stdout(f"interlayer {core_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        output.to_stdout(context.get_help())


@app.command("run")
def run_command(
    file: File,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            min=1,
            metavar="N",
            help=f"Replications. By default {replications.RULE}; 1 with --pcap, --series or --animate.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            help="Show this, too: mean(flow.web*.transfer_time_p95). May come again; `interlayer list metrics`.",
        ),
    ] = None,
    seed: Seed = None,
    jobs: Jobs = 0,
    set_: Set = None,
    out: Out = None,
    force: Force = False,
    json: Json = None,
    store: StoreFile = None,
    pcap: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write captures there, one an interface and run.")
    ] = None,
    series: Annotated[
        bool, typer.Option("--series", help="Keep time series (cwnd, rtt, queue, ...) and a timeline of the air.")
    ] = False,
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            metavar="FROM..UNTIL",
            help='Of the timeline: "2 s..2.01 s", or all; by default 10 ms after warm-up. '
            "Needs --series or --animate, and --out.",
        ),
    ] = None,
    animate: Annotated[
        bool,
        typer.Option("--animate", help="Write animation.html, which plays the run, into --out. Implies --series."),
    ] = False,
    advise: Annotated[
        bool, typer.Option("--advise", help="Say where packets waited, who used the air, and what to compare with.")
    ] = False,
) -> None:
    """Run a scenario.

    A store has no captures, series and timelines: with --pcap, --series or --animate all runs are made afresh.

    \b
    Examples:
      interlayer run examples/single-hop.toml --runs 3 --set flow.upload.transport.congestion=veno
      interlayer run examples/lecture-hall.toml --series --out results
      interlayer run examples/walking.toml --animate --out walking
    """
    from . import simulator
    from .measure import timeline
    from .show import as_json, files, terminal
    from .study import measures
    from .study import runs as campaign_runs

    if animate and out is None:
        raise InputError("--animate: writes animation.html into --out; add --out DIR")
    series = series or animate
    if window is not None and not (series and out):
        missing = "--series" if not series else "--out DIR"
        raise InputError(f"--window: is of the timeline, which --series writes into --out; add {missing}")

    text, overrides = parts.read(file), parts.overrides(set_)
    scenario = parts.named(file, lambda: simulator.parse(text, overrides))
    kept = timeline.window(window, scenario, "--window") if series and out else None
    first = scenario.seed if seed is None else seed
    recorded = pcap is not None or series
    wanted, what = runs or (1 if recorded else replications.default(scenario)), scenario.name or parts.stem(file)
    parts.tell(simulator.forecast(scenario, wanted, jobs))
    # A time series is a metric of runs that keep it; all others are known before anything is run.
    probes = measures.Probes(text, [overrides], ()) if metric and not series else ()
    asked = [measures.measure(one, probes) for one in metric or []] if probes else []
    recorded_by = [
        *(["--animate"] if animate else ["--series"] if series else []),
        *(["--window", window] if window else []),
    ]
    also = [word for one in metric or [] for word in ("--metric", one)]
    again = parts.command("run", file, set_, "--seed", first, "--runs", wanted, *also, *recorded_by, "--out", "DIR")
    with (
        output.folder(out, f"run {what}", force=force) as to_folder,
        output.file(parts.json_file(json)) as to_file,
        output.folder(pcap, f"run {what}", "*.pcapng", force=force) as to_pcap,
        parts.opened(store) as stored,
        terminal.progress() as progress,
    ):
        started = time.perf_counter()
        done, ended = campaign_runs.replications(
            scenario,
            first,
            wanted,
            jobs=jobs,
            store=stored,
            progress=partial(progress, what),
            pcap_dir=to_pcap.path if to_pcap else None,
            series=series,
            timeline=kept,
            scene=animate,
        )
        notes: list[str] = []
        if done:
            wall_s = time.perf_counter() - started
            asked = asked or [measures.measure(one, done[:1]) for one in metric or []]
            asked = list(dict.fromkeys(asked))
            result = as_json.run(what, simulator.version(), first, done, wall_s, ended, asked=asked)
            if to_folder:
                with to_folder.filled() as path:
                    played = scenario if animate else None
                    notes = files.write_run(result, done, text + parts.changes(set_), path, again, played)
            if to_pcap:
                parts.drop_unfinished(to_pcap.path, {r["seed"] for r in done})
                to_pcap.commit()
            if to_file:
                to_file.write(as_json.dumps(result))
    if done:
        output.to_stdout(as_json.dumps(result) if json == "-" else terminal.run(result, done))
        if advise and json != "-":
            output.to_stdout(terminal.advised(result, simulator.limited_flows(scenario), scenario.brimming_flows()))
        for line in notes:
            parts.tell(line)
    failures = [(e, ["run", str(file)]) for e in ended.failures]
    parts.end(ended.interrupted, failures, set_, progress, None if recorded else store)


@app.command("compare")
def compare_command(
    file: File,
    schemes: Annotated[
        str | None,
        typer.Option(
            "--schemes",
            metavar="none,A,B",
            help="What to compare, the first with each other: none, file, a scheme, a scheme:key=value;key=value.  "
            "[default: none and those of the file]",
            autocompletion=parts.complete_schemes,
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="NAME=PATH=VALUE",
            help='An arm that sets keys: veno="flow.*.transport.congestion=veno;scheme=none". May come again.',
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            help="Compare this, too: mean(flow.web*.transfer_time_p95). May come again; `interlayer list metrics`.",
        ),
    ] = None,
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
    """Compare schemes, or any settings, in one scenario.

    Arms are paired by seed; the table has intervals and significance.

    \b
    Examples:
      interlayer compare examples/bursty-link.toml --schemes none,lle-tcp,lle-tcp:sack=keep --runs 4
      interlayer compare examples/bursty-link.toml --arm "veno=flow.*.transport.congestion=veno" --runs 4
    """
    from .show import as_json, files, terminal
    from .study import comparison

    text, overrides, given = parts.read(file), parts.overrides(set_), parts.arms(arm)
    with (
        parts.engine(engine, jobs) as made_by,
        output.folder(out, f"compare {parts.stem(file)}", force=force) as to_folder,
        output.file(parts.json_file(json)) as to_file,
        parts.opened(store) as stored,
        terminal.progress() as progress,
    ):
        found = parts.named(
            file,
            lambda: comparison.run(
                text,
                schemes,
                given,
                metric=metric or (),
                overrides=overrides,
                seed=seed,
                runs=runs or comparison.RUNS,
                engine=made_by,
                name=parts.stem(file),
                progress=progress,
                store=stored,
                tell=parts.tell,
            ),
        )
        if found is None:  # Ctrl-C before every arm had a run
            raise parts.stopped(progress, store)
        result = as_json.comparison(found)
        if to_folder:
            with to_folder.filled() as path:
                files.write_comparison(found, result, path)
        if to_file:
            to_file.write(as_json.dumps(result))
    output.to_stdout(as_json.dumps(result) if json == "-" else terminal.comparison(result))
    again = [] if schemes is None else ["--schemes", schemes]
    again += [word for text in arm or [] for word in ("--arm", text)]
    again += [word for text in metric or [] for word in ("--metric", text)]
    failures = [(e, ["compare", str(file), *again]) for e in found.failures]
    parts.end(found.interrupted, failures, set_, progress, store)


app.command("sweep")(cli_sweep.sweep)
app.command("explore")(cli_explore.explore)
app.command("reproduce")(cli_study.reproduce)
app.command("readings")(cli_study.readings)
app.add_typer(cli_new.app, name="new")
app.command("live")(cli_live.live_command)
app.add_typer(cli_deploy.app, name="deploy")


_ALSO = {
    "rate-control": "rate-controls",
    "receiver": "receivers",
    "routers": "routing",
    "route-metric": "route-metrics",
    "recoveries": "recovery",
    "queue": "queues",
    "disciplines": "queues",
    "metric": "metrics",
}
"""Other words for lists: the key of a scenario that names what is listed, and the plural."""

_LISTS = (
    "experiments",
    "schemes",
    "congestion",
    "receivers",
    "recovery",
    "rate-controls",
    "queues",
    "routing",
    "route-metrics",
    "traffic",
    "metrics",
)


@app.command("list")
def list_command(
    kind: Annotated[
        str,
        typer.Argument(metavar="|".join(_LISTS), autocompletion=lambda incomplete: parts.starting(incomplete, _LISTS)),
    ],
    json: Json = None,
    store: StoreFile = None,
) -> None:
    """What there is: one id first on each line.

    Of experiments also how long each takes: by the store where it knows, else an estimate.

    \b
    Examples:
      interlayer list schemes
      interlayer list metrics
    """
    from .show import json_text, listing

    kind = _ALSO.get(kind, kind)
    if kind not in _LISTS:
        raise InputError(f'no list of "{kind}"{suggestion(kind, _LISTS)}')
    if kind == "experiments":
        from .study import library

        with parts.opened(store) as stored:
            rows: Sequence[dict[str, Any]] = [
                {"id": e.id, "summary": e.title, "source": e.source, "evidence": e.evidence, "claims": e.claims}
                | parts.cost(e.id, stored)
                for e in library.listed()
            ]
    elif kind == "metrics":
        from .measure import catalogue
        from .study.measures import METRICS, NAMES

        of = "what compare and sweep show:"
        rows = [
            {"id": name, "unit": catalogue.unit_of(column), "summary": f"{of} {METRICS[column]}"}
            for name, column in NAMES.items()
        ]
        rows += [{"id": e.id, "unit": e.unit, "summary": e.summary} for e in catalogue.entries()]
    else:
        from . import simulator
        from .show import references

        found = simulator.registry(kind)  # type: ignore[arg-type]  # checked above
        rows = [entry | {"source": references.told(entry["source"])} for entry in found]
    with output.file(parts.json_file(json)) as to_file:
        if to_file:
            to_file.write(json_text.dumps(rows))
    if json is None or json == "-":
        output.to_stdout(json_text.dumps(rows) if json else listing.entries(rows))


@app.command()
def check(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.toml|EXAMPLE|ID",
            help="A scenario, one of the package's by name, an experiment or its ID; - is standard input.",
        ),
    ],
    set_: Set = None,
    effective: Annotated[
        bool, typer.Option("--effective", help="Print the scenario with every key that applies, presets written out.")
    ] = False,
    assumptions: Annotated[
        bool, typer.Option("--assumptions", help="Of an experiment: list what each value of its cells rests on.")
    ] = False,
    json: Json = None,
) -> None:
    """Say what is wrong in a file, where, and what was meant.

    \b
    Examples:
      interlayer check examples/coffee-shop.toml --effective
      interlayer check --assumptions lle-fig-3.7a
      interlayer check lle-fig-3.9
    """
    from json import loads

    from . import simulator, toml_text
    from .study import campaign, library

    if assumptions:
        _assumptions(str(file), parts.overrides(set_), json)
        return
    if json is not None:
        raise InputError("--json: it goes with --assumptions")
    if not file.exists() and (known := library.path_of(str(file))) is not None:
        file = known
    text, overrides = parts.read(file, "file, example or experiment", library.known), parts.overrides(set_)
    if library.is_experiment(simulator.tables(text, parts.shown(file))):
        if effective:
            raise InputError(f"{file}: an experiment has many scenarios; --effective shows one")
        if file == parts.STDIN:
            raise InputError("standard input: an experiment is read from a file, beside its scenario")
        e = library.load(file)
        readings = parts.named(file, lambda: campaign.checked(e, overrides))
        also = f", {parts.count(readings, 'reading')}" if e.open else ""
        output.to_stdout(f"{file}: experiment {e.id}, {len(e.cells())} cells, {len(e.claims)} claims{also}")
        return
    s = parts.named(file, lambda: simulator.parse(text, overrides))
    if effective:
        output.to_stdout(toml_text.document(loads(s.effective_json())))
        return
    counts = f"{parts.count(s.nodes, 'node')}, {parts.count(s.flows, 'flow')}"
    output.to_stdout(
        f"{parts.shown(file)}: scenario {s.name}, {counts}, {s.duration_s:g} s of which {s.warmup_s:g} s warm-up"
    )
    for note in s.notes:
        output.to_stdout(f"{parts.shown(file)}: {note}")
    if memory := simulator.forecast(s, 1, 1):
        output.to_stdout(f"{parts.shown(file)}: {memory}")


def _assumptions(name: str, overrides: Sequence[tuple[str, str]], json: str | None) -> None:
    """What the values of experiments rest on: of one by id or file, or of those that are like a pattern."""
    from . import simulator
    from .show import as_json, terminal
    from .study import campaign, library

    if (file := Path(name)).is_file() and "scenario" in simulator.tables(parts.read(file), name):
        raise InputError(f"{name}: this is a scenario; --assumptions needs an experiment")
    found = [(e := library.load(one), campaign.assumptions(e, overrides)) for one in library.matching([name])]
    objects = [as_json.assumptions(e, rows) for e, rows in found]
    text = as_json.dumps(objects[0] if len(objects) == 1 else objects)
    with output.file(parts.json_file(json)) as to_file:
        if to_file:
            to_file.write(text)
    if json is None or json == "-":
        output.to_stdout(text if json else "\n".join(terminal.assumptions(e, rows) for e, rows in found))


_SHELLS = ("bash", "zsh", "fish")
_COMPLETE = "_INTERLAYER_COMPLETE"
"""The variable by which a shell asks for completions."""

_IMPORT_S = 5.0
"""The longest time that a signal waits for the end of an import."""

store_app = typer.Typer(help="Look after a store of finished runs.")
app.add_typer(store_app, name="store")


@store_app.command("list")
def store_list(store: StoreFile = None, json: Json = None) -> None:
    """What is in a store: runs, scenarios and sizes, by the hash of the core that made them."""
    from .show import as_json, store_words

    with parts.needed(store) as stored:
        found = as_json.store(stored)
    with output.file(parts.json_file(json)) as to_file:
        if to_file:
            to_file.write(as_json.dumps(found))
    if json is None or json == "-":
        output.to_stdout(as_json.dumps(found) if json else store_words.listed(found))


@store_app.command("prune")
def store_prune(store: StoreFile = None) -> None:
    """Remove the runs that other cores than this one made: no command of this core reads them."""
    from .show import store_words

    with parts.needed(store) as stored:
        before = stored.size()
        gone = stored.prune()
    output.to_stdout(store_words.pruned(gone, before - stored.size()))


@app.command("completion")
def completion_command(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="|".join(_SHELLS), autocompletion=lambda incomplete: parts.starting(incomplete, _SHELLS)
        ),
    ],
) -> None:
    """Print the completion script of a shell.

    It completes verbs, options, experiments and schemes.

    \b
    Example, for the present bash:
      eval "$(interlayer completion bash)"
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    parts.one_of("completion", shell, _SHELLS)
    output.to_stdout(get_completion_script(prog_name="interlayer", complete_var=_COMPLETE, shell=shell))


@app.command()
def bench(
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="ns3", help="Run it in turn with the peer that `make ns3` builds."),
    ] = None,
    case: Annotated[list[str] | None, typer.Option("--case", metavar="NAME", help="This case. May come again.")] = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", min=1, metavar="N", help="Runs, or pairs, of each: odd.  [default: 3 runs, 5 pairs]"),
    ] = None,
    json: Json = None,
) -> None:
    """Measure how fast the simulator is, alone or against ns-3.

    Against ns-3 in processor seconds: medians of pairs, and the range of the pairs' ratios.

    \b
    Example:
      interlayer bench --runs 1 --case lle-flow
    """
    from . import bench as benchmark
    from . import machine
    from .show import as_json

    each = benchmark.runs_of(runs, against)
    cases = benchmark.chosen(case or [], against)
    load = machine.load()
    rows: list[dict[str, Any]] = []
    interrupted = False
    with output.file(parts.json_file(json)) as to_file:
        try:
            rows.extend(benchmark.run(cases, against=against, runs=each))
        except KeyboardInterrupt:
            interrupted = True
        if rows:
            found = benchmark.to_json(rows, load)
            text = as_json.dumps(found)
            if to_file:
                to_file.write(text)
    if rows:
        output.to_stdout(text if json == "-" else benchmark.table(found))
    if interrupted:
        raise typer.Exit(130)


# ------------------------------------------------------------------------------------------------------------ main


def main(arguments: Sequence[str] | None = None) -> None:
    """The `interlayer` command: runs `arguments` (the process's own by default) and exits with its status."""
    if _COMPLETE in os.environ:  # a shell asks: Typer answers, once it knows its shells
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    try:
        with _stopped_by_signals():
            status = _status(list(sys.argv[1:] if arguments is None else arguments))
    finally:
        output.remove_unfinished()
    sys.exit(status)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Ctrl-C, SIGTERM, and SIGHUP unless it is ignored (`nohup`): finished runs are kept, nothing is left half.

    An import is finished first, if it takes no longer than `_IMPORT_S`: with matplotlib's extension modules left half,
    the interpreter ends by an abort.
    """
    at_most = None

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal at_most
        at_most = at_most or time.monotonic() + _IMPORT_S
        if not _is_importing(frame) or time.monotonic() > at_most:
            raise KeyboardInterrupt
        to = threading.get_ident()
        threading.Timer(0.01, lambda: signal.pthread_kill(to, number)).start()

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in known}
    ours = [number for number in known if before[number] in (signal.SIG_DFL, signal.default_int_handler)]
    if threading.current_thread() is not threading.main_thread():
        ours = []
    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _is_importing(frame: FrameType | None) -> bool:
    """True if this frame was called, however far above, by an import."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib."):
        frame = frame.f_back
    return frame is not None


def _status(arguments: list[str]) -> int:
    parts.forget_stop()
    try:
        try:
            if arguments[:1] == ["live"]:
                arguments = cli_live.joined(arguments)
            status: Any = app(arguments, prog_name="interlayer", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except typer.TyperException as e:  # a wrong option or argument: same line, same status as any wrong input
        return parts.complain(_usage(e), 2)
    except RunError as e:
        return parts.complain(f"{e}; to repeat it: the same command with --seed {e.seed} --runs 1", e.status)
    except InterlayerError as e:
        return parts.complain_of(e)
    except BrokenPipeError:
        output.silence_stdout()
        return 0
    except OSError as e:  # of a place that no command named: stdout on a full disk, a vanished working folder
        output.silence_stdout()
        return parts.complain(f"{e.filename or 'output'}: {(e.strerror or str(e)).lower()}", 1)
    except MemoryError:
        return parts.complain("out of memory", 1)
    except KeyboardInterrupt:
        return 130 if parts.is_stop_told() else parts.complain("interrupted", 130)
    if status == 130 and not parts.is_stop_told():  # it came while no run was under way, and Typer took it
        parts.tell("interrupted")
    return status if isinstance(status, int) else 0


def _usage(e: typer.TyperException) -> str:
    """Typer's message as a clause of our line, with what was meant, or where to look."""
    message = e.format_message().rstrip(".").replace(": Input ", ": input ")
    context = getattr(e, "ctx", None)
    if context is None:
        return f"{message[:1].lower()}{message[1:]}"
    known: list[str] = []
    if (word := getattr(e, "option_name", "")).startswith("-") and message.startswith("No such option"):
        message = f"No such option: {word}"
        known = [option for parameter in context.command.params for option in parameter.opts]
    elif match := re.match(r"No such command '(.*?)'", message):
        message, word, known = match[0], match[1], list(context.command.commands)
    hint = suggestion(word, known) if known else ""
    if not hint.startswith(";"):
        hint = f" (see `{context.command_path} --help`)"
    return f"{message[:1].lower()}{message[1:]}{hint}"


if __name__ == "__main__":
    main()
