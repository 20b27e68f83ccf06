"""What the verbs of the command line share: options, how they are read, how a command ends."""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from .errors import InputError, InterlayerError, RunError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .engine import Engine
    from .show.terminal import Progress
    from .study.store import Store

T = TypeVar("T")

Runs = Annotated[int | None, typer.Option("--runs", min=1, metavar="N", help="Replications of each.  [default: 10]")]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, metavar="S", help="Seed of the first run; others follow.  [default: the file's, else 1]"
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", min=0, metavar="J", help="Runs at a time; 0: one a core.")]
Where = Annotated[
    str | None,
    typer.Option("--engine", metavar="dask://HOST:PORT", help="Make the runs on a cluster, that of this scheduler."),
]
File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE.toml|EXAMPLE",
        help="A scenario, or by its name one that comes with the package: home-ax; - is standard input.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Replace a value: radio.rts_threshold=off. May come again."),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write figure, data, JSON and page there.")]
Force = Annotated[
    bool, typer.Option("--force", help="Write into a folder for --out that has other things; these stay.")
]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON; ci95 is a half-width.")
]


StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        envvar="INTERLAYER_STORE",
        help="Keep finished runs there, and do not repeat those that are there.",
    ),
]
Readings = Annotated[
    str,
    typer.Option(
        "--readings",
        metavar="all|base",
        help="What the papers leave open: varied, or as the files have it.",
        autocompletion=lambda incomplete: starting(incomplete, ("all", "base")),
    ),
]


def starting(incomplete: str, words: Iterable[str]) -> list[str]:
    """The words that complete what was typed."""
    return [word for word in words if word.startswith(incomplete)]


def complete_ids(incomplete: str) -> list[str]:
    """Experiments, for a shell."""
    from .study import library

    return starting(incomplete, library.known())


def complete_schemes(incomplete: str) -> list[str]:
    """Schemes for a shell, behind the last comma."""
    from .simulator import registry

    before, comma, last = incomplete.rpartition(",")
    known = ["none", "file", *(entry["id"] for entry in registry("schemes"))]
    return [f"{before}{comma}{word}" for word in starting(last, known)]


def overrides(texts: Sequence[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for text in texts or []:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise InputError(f'--set: "{text}" is no PATH=VALUE, as in radio.rts_threshold=off')
        pairs.append((path.strip(), value.strip()))
    return pairs


def arms(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """Arms by name, each with its assignments; a name may come again."""
    found: dict[str, list[str]] = {}
    for text in texts or []:
        name, equals, rest = text.partition("=")
        if not equals or not name.strip() or not rest.strip():
            example = 'veno="flow.*.transport.congestion=veno"'
            raise InputError(f'--arm: "{text}" is no NAME=PATH=VALUE, as in {example}', "--arm")
        found.setdefault(name.strip(), []).append(rest)
    return found


def command(verb: str, file: Path, set_: Sequence[str] | None, *words: object) -> str:
    """A command as one would type it beside the file."""
    sets = [word for text in set_ or [] for word in ("--set", text)]
    return shlex.join(["interlayer", verb, file.name, *sets, *map(str, words)])


def one_of(option: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f'{option}: "{value}" is none of {", ".join(known)}{suggestion(value, known)}')


def count(things: Sequence[object], noun: str) -> str:
    return f"{len(things)} {noun}{'s' * (len(things) != 1)}"


def changes(texts: Sequence[str] | None) -> str:
    return "".join(f"\n# --set {text}" for text in texts or [])


def engine(name: str | None, jobs: int) -> AbstractContextManager[Engine]:
    """What makes the runs."""
    from .engine import chosen

    return chosen(name, jobs, tell)


def opened(store: Path | None) -> AbstractContextManager[Store | None]:
    if store is None:
        return nullcontext()
    from .study.store import Store

    return Store(store)


def needed(store: Path | None) -> Store:
    from .study.store import Store

    if store is None:
        raise InputError("which store? Name its file with --store, or in the variable INTERLAYER_STORE")
    if not (found := Store(store)).exists():
        raise InputError(f"--store: no file {store}")
    return found


def end(
    interrupted: bool,
    failures: Sequence[tuple[RunError, Sequence[str]]],
    set_: Sequence[str] | None,
    progress: Progress,
    store: Path | None,
    complete: str = "",
) -> None:
    """The end of a command some of whose runs are missing. With each failure comes what to call for it alone.

    After Ctrl-C it says how many runs there are, what is `complete` of a campaign, and how to go on.
    """
    if failures:
        e, words = failures[0]
        overrides = [word for text in set_ or [] for word in ("--set", text)]
        again = shlex.join(["interlayer", *words, *overrides, "--seed", str(e.seed), "--runs", "1"])
        others = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise typer.Exit(complain(f"{e}{others}; to repeat it: {again}", e.status))
    if interrupted:
        raise stopped(progress, store, complete)


_stops: list[str] = []
"""What was said of an interruption."""


def forget_stop() -> None:
    """A command begins."""
    _stops.clear()


def is_stop_told() -> bool:
    """Whether the line on an interruption stands on stderr."""
    return bool(_stops)


def stopped(progress: Progress, store: Path | None, complete: str = "") -> typer.Exit:
    """The end by Ctrl-C or SIGTERM: a line on what there is, and how to go on."""
    done, of = progress.counts()
    runs = f"{done} of {of} runs are finished" if done else "no run is finished"
    kept = f"the same command goes on from there: {store} has these runs"
    lost = "give --store FILE, and the same command goes on where it was stopped"
    _stops.append(f"interrupted: {runs}{complete and f'; {complete}'}; {kept if store else lost}")
    tell(_stops[-1])
    return typer.Exit(130)


def cost(id_: str, store: Store | None) -> dict[str, Any]:
    """What an experiment costs in all its readings, for a list; empty where nothing is known, or nothing is run."""
    from .study import costs

    found = costs.cost(id_, "all", store)
    if found is None or not found.runs:
        return {}
    measured = {"runs": found.runs, "processor_s": found.processor_s, "measured": found.is_measured}
    return {"cost": measured, "about": f"about {costs.duration(found.wall_s(0))}"}


_LONG_S = 60.0
"""Work that takes longer says so when it begins, also where nobody sees a terminal."""


def tell_cost(
    ids: Sequence[str],
    mode: str,
    store: Store | None,
    runs: int | None,
    jobs: int,
    engine: Engine,
    counted: Callable[[], tuple[int, int]] | None = None,
) -> None:
    """A line on what experiments will cost, where somebody looks or it is long.

    `counted` gives the runs of the first round, and how many of them the store has: it is asked where a line is said.
    """
    from . import machine
    from .engine import Here
    from .study import costs

    found, unknown = costs.together(ids, mode, store, runs)
    here = isinstance(engine, Here)
    seconds = found.wall_s(jobs) if here else found.processor_s
    if not found.runs or (seconds < _LONG_S and not sys.stderr.isatty()):
        return
    in_store = ""
    if counted is not None:
        wanted, there = counted()
        found = costs.left(found, wanted, there)
        if not found.runs:
            return
        seconds = found.wall_s(jobs) if here else found.processor_s
        in_store = f" to make, {there} in the store" if there else ""
    used = min(jobs or machine.cores(), machine.cores())
    on = count(range(used), "core") if here else "one core of the cluster"
    says = "as they took before" if found.is_measured else "an estimate; claims that stay open ask for more"
    less = "; runs that the store has are not made again" if store is not None and counted is None else ""
    more = f"; of {unknown} more nothing is known yet" if unknown else ""
    runs_ = f"{count(ids, 'experiment')}, {found.runs} runs{in_store}"
    tell(f"{runs_}: about {costs.duration(seconds)} on {on} ({says}{less}{more})")


STDIN = Path("-")
"""The file name that means standard input."""


def read(file: Path, kinds: str = "file or example", also: Callable[[], Iterable[str]] = tuple) -> str:
    """The text of a file, of an example of the package, or of standard input for `-`. Raises `InputError`.

    `kinds` and `also` are what the command takes, where it takes more by name.
    """
    from . import shipped, toml_text

    if file != STDIN:
        example = shipped.meant(str(file), kinds, also)
        return toml_text.read_text(file if example is None else shipped.path(example))
    try:
        return toml_text.checked(sys.stdin.read(), shown(file))
    except UnicodeDecodeError as e:
        raise InputError("standard input: not UTF-8 text") from e


def shown(file: Path) -> str:
    """What a file is called in an error."""
    return "standard input" if file == STDIN else str(file)


def stem(file: Path) -> str:
    """What a scenario without a name is called."""
    return "scenario" if file == STDIN else file.stem


def json_file(json: str | None) -> Path | None:
    return None if json in (None, "-") else Path(str(json))


def named(file: Path, parse: Callable[[], T]) -> T:
    """The core's errors, with the file's name before the path; those in an option stay as they are."""
    try:
        return parse()
    except InputError as e:
        if e.path.startswith("--"):
            raise
        raise e.behind(f"{shown(file)}: ") from e.__cause__


def drop_unfinished(folder: Path, seeds: set[int]) -> None:
    """Captures of runs that Ctrl-C cut short are not results."""
    for capture in folder.glob("*.pcapng"):
        if capture.stem.rpartition("-")[2] not in map(str, seeds):
            capture.unlink()


def tell(line: str) -> None:
    if line:
        print(f"interlayer: {line}", file=sys.stderr)


def complain(line: str, status: int) -> int:
    print(f"interlayer: {' '.join(line.split())}", file=sys.stderr)
    return status


def complain_of(e: InterlayerError) -> int:
    """A line on stderr, or one for each mistake of a file; gives the exit status."""
    for line in [one.line for one in e.mistakes] if isinstance(e, InputError) else [str(e)]:
        complain(line, e.status)
    return e.status
