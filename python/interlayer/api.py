"""The Python API: build or load a scenario, run it, get frames back. `interlayer` re-exports all of it."""

from __future__ import annotations

import html
import json
import os
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import given, shipped, simulator, toml_text
from . import parts as in_python
from .engine import chosen
from .errors import InputError, named_as_parameters, suggestion, writing
from .measure import timeline as windows
from .results import Comparison, Reproduction, Result, Sweep
from .study import comparison
from .study import sweep as grid
from .study.runs import Cache, replications

if TYPE_CHECKING:
    from . import _core
    from .study.arms import Settings
    from .study.runs import Standing
    from .study.store import Store


@dataclass(frozen=True, slots=True, repr=False)
class Scenario:
    """A scenario: TOML text and changes to it. Immutable; it is checked whole when it is run or by `check`."""

    text: str
    changes: tuple[tuple[str, str], ...] = ()
    parts: Mapping[str, type] = field(default_factory=dict, hash=False)
    """Controllers and schemes in Python, by the names that the scenario calls them."""
    file: str = field(default="", compare=False)
    """The file that it was loaded from, which errors name; empty for none."""

    def set(self, path: str, value: object) -> Scenario:
        """The same scenario with one value replaced: `s.set("flow.0.transport.datagram", "500 B")`.

        Paths have dots, and go into arrays by index, by the entry's name (`node.ap.position`), or by `*`: every entry.
        """
        given.check(path=path)
        return replace(self, changes=(*self.changes, (path, toml_text.literal(value))))

    def with_parts(self, parts: Mapping[str, type]) -> Scenario:
        """The same scenario, which may name these controllers and schemes in Python as well."""
        return replace(self, parts={**self.parts, **parts})

    def check(self) -> None:
        """Raise `InputError`, with the path and what was meant, if the scenario is wrong."""
        self._parse()

    def to_toml(self) -> str:
        """The whole scenario as TOML text, which `interlayer run` takes as a file.

        It is the text as given where nothing was changed by `set`. Else it is what `interlayer check --effective`
        prints: every key that applies, the changes in their places. Names of parts in Python stay names. Raises
        `InputError` if a change is wrong.
        """
        if not self.changes:
            return self.text
        return toml_text.document(json.loads(self._parse().effective_json()))

    def __str__(self) -> str:
        """The text as given, and the changes as comments below it."""
        return self._shown().rstrip()

    def __repr__(self) -> str:
        lines, changes = len(self.text.splitlines()), len(self.changes)
        also = f", {changes} change{'s' * (changes != 1)}" if changes else ""
        return f"<Scenario {self._name()!r}: {lines} lines{also}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _name(self) -> str:
        """What the scenario calls itself; its file's name, or nothing, where it does not, or cannot be read."""
        try:
            table = tomllib.loads(self.text).get("scenario", {})
            return str(table.get("name") or Path(self.file).stem)
        except (tomllib.TOMLDecodeError, AttributeError):
            return Path(self.file).stem

    def _shown(self) -> str:
        """The text as given, and the changes as comments below it."""
        changes = "".join(f"# with {path} = {value}\n" for path, value in self.changes)
        return self.text + (f"\n{changes}" if changes else "")

    def _parse(self) -> _core.Scenario:
        with self._named():
            return simulator.parse(self.text, self.changes, in_python.parts(self.parts))

    @contextmanager
    def _named(self) -> Iterator[None]:
        """An `InputError` inside begins with the name of the file, unless a parameter of the call is wrong."""
        try:
            yield
        except InputError as e:
            if self.file and e.path not in _OF_CALLS and not e.path.startswith("--"):
                e.behind(f"{self.file}: ")
            raise


_OF_CALLS = ("seed", "runs", "jobs", "parts", "engine", "store")
"""Parameters that errors of a call may name; no keys of a scenario."""


Table = Mapping[str, object]


def tcp(congestion: str | Table | None = None, **options: object) -> dict[str, object]:
    """A TCP transport: `tcp("newreno", receiver="every", datagram="1000 B")`; a table has a sender's parameters.

    Options are the keys of `transport` in a scenario (docs/design/scenario.md). What is not said is as `preset` has it:
    Linux's choices.
    """
    given.check_if_any(congestion=congestion)
    named = {} if congestion is None else {"congestion": congestion}
    return {"protocol": "tcp", **named, **options}


def udp(datagram: str = "1500 B", rate: str | None = None) -> dict[str, object]:
    """A UDP transport, and its traffic: constant at `rate` of payload, or saturated without one."""
    given.check(datagram=datagram)
    given.check_if_any(rate=rate)
    traffic = {"model": "saturated"} if rate is None else {"model": "cbr", "rate": rate}
    return {"protocol": "udp", "datagram": datagram, "traffic": traffic}


WIRE: Table = {"rate": "1 Gb/s", "delay": "10 ms"}
"""The link behind the access point of `wlan`: what crosses it and comes back takes 20 ms."""
_LONG: Table = {"queue": {"packets": 1000}}
"""The wire's queue where radios aggregate: Linux's. A hundred packets, its default, fill no aggregates behind 20 ms."""
AGGREGATING = ("802.11n", "802.11n-2.4", "802.11ac", "802.11ax")
DIRECTIONS = ("up", "down", "both")
LOST = ("attempt", "msdu")
"""What `loss` is drawn for."""


def wlan(
    stations: int = 2,
    *,
    ap: bool = False,
    direction: Literal["up", "down", "both"] | None = None,
    rate: str | None = None,
    standard: str = "802.11b",
    mcs: int | Literal["best"] | None = None,
    streams: int | None = None,
    width: str | None = None,
    flow: Table | Sequence[Table] | None = None,
    traffic: str | Table | Sequence[str | Table] | None = None,
    wire: Table = WIRE,
    loss: float = 0.0,
    loss_at: str = "attempt",
    scheme: str | Table | Sequence[str | Table] = (),
    duration: str = "30 s",
    warmup: str = "2 s",
    radio: Table | None = None,
    name: str = "wlan",
) -> Scenario:
    """One cell of stations that all hear each other, with a flow for each, or two with `direction="both"`.

    Without `ap` the last station is the other end of all flows, and the others send to it ("up"). With it so many
    stations stand around an access point, and the other end is a server behind it, over a link with the keys of
    `wire`; they download ("down").

    `rate` is of 802.11b, a and g. 802.11n, ac and ax have `mcs` (a number of each stream, or "best"), `streams` and
    `width` ("80 MHz"); what is not said is the best MCS, one stream and 20 MHz. The wire's queue then holds 1000
    packets, if `wire` says nothing of it.

    `flow` is what `tcp` or `udp` give: one for all flows, or one for each, those up first. `traffic` is what
    applications do, for all flows or for each: a model's name ("bulk"), or a table such as
    `{"model": "http", "page_every": "20 s"}`.
    `loss` is the packet error rate of every attempt (`loss_at="msdu"`: of every MSDU, past the MAC's retries). `scheme`
    is a name, a table with a scheme's parameters, or several. `radio` adds keys of that table. Times and rates are
    texts with units. Raises `InputError` for too few stations, a wrong number of flows or of their traffic, an
    unknown direction, an unknown `loss_at`; the rest is checked by `run`.
    """
    given.check(stations=stations, ap=ap, wire=wire, scheme=scheme, standard=standard, loss=loss, loss_at=loss_at)
    given.check(duration=duration, warmup=warmup, name=name)
    given.check_if_any(flow=flow, traffic=traffic, radio=radio, rate=rate, direction=direction)
    given.check_if_any(mcs=mcs, streams=streams, width=width)
    if stations < (least := 1 if ap else 2):
        raise InputError(f"stations: {stations} is too few for a flow; give {least} or more", "stations")
    direction = direction or ("down" if ap else "up")
    if direction not in DIRECTIONS:
        raise InputError(f'direction: no "{direction}"; expected "up", "down" or "both"', "direction")
    _check_room(stations, ap)
    names = [f"sta{i + 1}" for i in range(stations if ap else stations - 1)]
    hub = "server" if ap else "receiver"
    up = [(f"up{n + 1}", sta, hub) for n, sta in enumerate(names) if direction != "down"]
    ends = up + [(f"down{n + 1}", hub, sta) for n, sta in enumerate(names) if direction != "up"]
    carried = tcp() if flow is None else flow
    flows = [carried] * len(ends) if isinstance(carried, Mapping) else list(carried)
    if len(flows) != len(ends):
        of = f"{len(ends)} {'directions' if direction == 'both' else 'stations' if ap else 'senders'}"
        raise InputError(f"flow: {len(flows)} flows for {of}; give one, or one for each", "flow")
    does = [traffic] * len(ends) if traffic is None or isinstance(traffic, str | Mapping) else list(traffic)
    if len(does) != len(ends):
        raise InputError(f"traffic: {len(does)} entries for {len(ends)} flows; give one, or one for each", "traffic")
    if loss_at not in LOST:
        raise InputError(f'loss_at: no "{loss_at}"; expected "attempt" or "msdu"', "loss_at")
    named = [scheme] if isinstance(scheme, str | Mapping) else list(scheme)
    named_flows = ap or direction != "up"
    modes = {"data_rate": rate or None, "mcs": mcs, "streams": streams, "width": width}
    nodes: list[dict[str, object]] = [{"name": "ap", "role": "ap"}] if ap else []
    long = _LONG if standard in AGGREGATING else {}
    tables: dict[str, Any] = {
        "scenario": {"name": name, "duration": duration, "warmup": warmup},
        "radio": {"standard": standard, **{k: v for k, v in modes.items() if v is not None}, **(radio or {})},
        "channel": {"errors": {"model": "packet", "per": loss, "at": loss_at} if loss else {"model": "none"}},
        "node": [*nodes, *({"name": n} for n in [*names, hub])],
        "link": [{"name": "wire", "between": [hub, "ap"], **long, **wire}] if ap else [],
        "flow": [_flow(end if named_flows else end[1:], f, t) for end, f, t in zip(ends, flows, does, strict=True)],
        "scheme": [{"name": s} if isinstance(s, str) else dict(s) for s in named],
    }
    return Scenario(toml_text.document(tables))


_MANY = 2000
"""Up to so many stations nobody asks whether there is room: a run of them takes some 200 MB."""


def _check_room(stations: int, ap: bool) -> None:
    """Raise `InputError` for more stations than this machine's memory holds: before a text of them is made."""
    if stations <= _MANY:
        return
    small, large = (simulator.parse(wlan(n, ap=ap).text) for n in (_MANY // 2, _MANY))
    most, why = simulator.most_nodes(small, large)
    most -= len(large.nodes) - _MANY  # the access point, and the server behind it
    if stations > most:
        raise InputError(f"stations: {stations} are too many; {most} are the most here: {why}", "stations")


def _flow(ends: tuple[str, ...], transport: Table, traffic: str | Table | None) -> dict[str, object]:
    *name, sender, receiver = ends
    of_transport = {k: v for k, v in transport.items() if k != "traffic"}
    does = {"model": traffic} if isinstance(traffic, str) else traffic
    writes = transport.get("traffic", {"model": "bulk"}) if does is None else does
    named = {"name": name[0]} if name else {}
    return {**named, "from": sender, "to": receiver, "transport": of_transport, "traffic": writes}


def load(path: str | Path) -> Scenario:
    """A scenario file. Raises `InputError` if it cannot be read; its content is checked by `run`."""
    given.check(scenario=path)
    name = os.fspath(path)
    if not name.strip():
        raise InputError('scenario: "" names no file; give a path, or a scenario', "scenario")
    if "\n" in name:
        raise InputError("scenario: expected a file's path; for TOML text there is interlayer.parse(text)", "scenario")
    if "\0" in name:
        raise InputError(f"scenario: {name!r} names no file", "scenario")
    return Scenario(toml_text.read_text(Path(name)), file=name)


def example(name: str) -> Scenario:
    """A scenario that comes with the package: `example("coffee-shop")`; the repository has them in `examples/`.

    Raises `InputError` for a name that there is not.
    """
    given.check(example=name)
    if name not in shipped.EXAMPLES:
        raise InputError(f'example: no "{name}"{suggestion(name, shipped.EXAMPLES)}', "example")
    return load(shipped.path(name))


def parse(text: str) -> Scenario:
    """A scenario from TOML text, checked. Raises `InputError`."""
    given.check(text=text)
    scenario = Scenario(text)
    scenario.check()
    return scenario


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; `result` has the runs that were finished, None if there is none. `str(e)` says how many."""

    def __init__(
        self,
        result: Result | Comparison | Sweep | None,
        finished: tuple[int, int] | None = None,
        store: str | Path | None = None,
    ) -> None:
        super().__init__(_interrupted(result, finished, store))
        self.result = result

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return [f"Interrupted: {self}"]


def _interrupted(result: object, finished: tuple[int, int] | None, store: str | Path | None) -> str:
    """What there is after Ctrl-C, and how to go on; `finished` are runs, of those wanted."""
    done, of = finished or (0, 0)
    said = [f"{done} of {of} runs are finished" if done else "no run is finished"]
    if result is not None:
        said.append("this exception has them in .result (in a notebook: sys.last_value.result)")
    elif done:
        said.append("there is no result before every arm or cell has one of them")
    if store is not None:
        said.append(f"the same call goes on from there: {os.fspath(store)} has these runs")
    else:
        said.append('with store="FILE" the same call would go on where it was stopped')
    return "; ".join(said)


@named_as_parameters()
def run(
    scenario: Scenario | str | Path,
    *,
    seed: int | None = None,
    runs: int = 1,
    jobs: int = 0,
    series: bool = False,
    timeline: str | None = None,
    pcap: str | Path | None = None,
    store: str | Path | None = None,
    parts: Mapping[str, type] | None = None,
) -> Result:
    """Run a scenario: one that was built, or a file's path.

    Run i has the seed `seed + i`; `seed` is the scenario's own (1) unless given. `jobs` runs at a time, 0 for one a
    core. `timeline` is the window in which transmissions are kept (`"2 s..2.01 s"`, `"all"`). `pcap` is a folder for
    `<node>-<seed>.pcapng`; a node with a radio and a wire has `<node>.air-…` and `<node>.wire-…`. `store` is a file of
    finished runs: those that are there are not made again, unless series, timeline or captures are asked for. `parts`
    are controllers and schemes in Python by name: `{"mine": Mine}`. Raises `InputError`, `OutputError`, `PartError` if
    such a part raises, `Interrupted` on Ctrl-C, and the `RunError` of a run that failed, after all others.
    """
    given.check(runs=runs, jobs=jobs, series=series)
    given.check_if_any(seed=seed, timeline=timeline, pcap=pcap, store=store)
    if runs < 1:
        raise InputError(f"runs: {runs} is too few", "runs")
    started, loaded = time.perf_counter(), _loaded(scenario, parts)
    parsed = loaded._parse()
    kept = None if timeline is None else windows.window(timeline, parsed, "timeline")
    pcap_dir = None if pcap is None else Path(pcap)
    if pcap_dir is not None:
        with writing(pcap_dir):
            pcap_dir.mkdir(parents=True, exist_ok=True)
    first = parsed.seed if seed is None else seed
    with _opened(store) as stored:
        done, ended = replications(
            parsed, first, runs, jobs=jobs, store=stored, series=series, timeline=kept, pcap_dir=pcap_dir
        )
    used = in_python.used(in_python.parts(loaded.parts), [parsed])
    result = Result(done, loaded._shown(), parsed.name, time.perf_counter() - started, used) if done else None
    if ended.interrupted:
        raise Interrupted(result, (len(done), runs), store)
    if ended.failures or result is None:
        raise ended.failures[0].with_result(result)
    return result


def _opened(store: str | Path | None) -> AbstractContextManager[Store | None]:
    if store is None:
        return nullcontext()
    from .study.store import Store

    return Store(Path(store))


class _Counted:
    """Counts the runs of a call."""

    def __init__(self) -> None:
        self.finished = (0, 0)

    def __call__(self, what: str, standing: Standing) -> None:
        self.finished = (standing.done, standing.runs)


@named_as_parameters()
def compare(
    scenario: Scenario | str | Path,
    schemes: str | Sequence[str | Table] | None = None,
    *,
    arms: Mapping[str, Settings] | None = None,
    metrics: str | Sequence[str] = (),
    seed: int | None = None,
    runs: int = 10,
    jobs: int = 0,
    engine: str | None = None,
    store: str | Path | None = None,
    parts: Mapping[str, type] | None = None,
) -> Comparison:
    """Run a scenario with one arm after the other, the same seeds for each, and compare them in pairs.

    `schemes` names the arms, the first being what the others are compared with: `"none,lle-tcp"`, or a list of names
    and of tables with parameters; `"none"` is the scenario without schemes, `"file"` as it stands. `arms` are
    more of them, by name, that set any keys: `{"veno": {"flow.*.transport.congestion": "veno"}}`. A single one is
    compared with the scenario as it stands; of several the first is what the others are compared with. Without both:
    `none` and each scheme of the scenario. `metrics` are compared beside goodput and the other standard ones:
    `"mean(flow.web*.transfer_time_p95)"`. `print` shows the table; `.difference("lle-tcp", "rtt_mean_s")` has interval
    and p-value. `store` and `parts` are as in `run`. `engine` is where the runs are made: here, or by the cluster of a
    scheduler, `"dask://HOST:PORT"`. Raises what `run` raises.
    """
    given.check(runs=runs, jobs=jobs, metrics=metrics)
    given.check_if_any(schemes=schemes, arms=arms, seed=seed, engine=engine, store=store)
    if runs < 1:
        raise InputError(f"runs: {runs} is too few", "runs")
    of, named = _loaded(scenario, parts), [metrics] if isinstance(metrics, str) else metrics
    counted = _Counted()
    with _opened(store) as stored, chosen(engine, jobs) as made_by, of._named():
        found = comparison.run(
            of.text,
            schemes,
            arms,
            metric=named,
            overrides=of.changes,
            seed=seed,
            runs=runs,
            engine=made_by,
            progress=counted,
            store=stored,
            parts=in_python.parts(of.parts),
        )
    compared = None if found is None else Comparison._of(found)
    if compared is None or compared.interrupted:
        raise Interrupted(compared, counted.finished, store)
    if compared.failures:
        raise compared.failures[0].with_result(compared)
    return compared


@named_as_parameters()
def sweep(
    scenario: Scenario | str | Path,
    over: Mapping[str, str | Iterable[object]],
    *,
    metrics: str | Sequence[str] = (),
    seed: int | None = None,
    runs: int | None = None,
    quick: bool = False,
    jobs: int = 0,
    engine: str | None = None,
    store: str | Path | None = None,
    parts: Mapping[str, type] | None = None,
) -> Sweep:
    """Run a scenario with every combination of the values of some keys, the same seeds for each cell.

    `over` is paths and their values: `{"channel.errors.per": [0.001, 0.01], "scheme": ["none", "lle-tcp"]}`; values of
    `scheme` are as `compare` has them. `metrics` are the columns of the rows, without it those that `compare` compares;
    any other metric can be plotted, too. 10 runs a cell unless `runs` says otherwise, 3 with `quick`. `store` and
    `parts` are as in `run`, `engine` as in `compare`. A wrong path, value or metric is an `InputError` before anything
    is run; raises else what `run` raises.
    """
    given.check(over=over, jobs=jobs, metrics=metrics, quick=quick)
    given.check_if_any(runs=runs, seed=seed, engine=engine, store=store)
    if runs is not None and runs < 1:
        raise InputError(f"runs: {runs} is too few", "runs")
    if quick and runs is not None:
        raise InputError("quick: fixes the number of runs itself; leave out runs", "quick")
    of, named = _loaded(scenario, parts), [metrics] if isinstance(metrics, str) else metrics
    counted = _Counted()
    with _opened(store) as stored, chosen(engine, jobs) as made_by, of._named():
        found = grid.run(
            of.text,
            over,
            metric=named,
            overrides=of.changes,
            seed=seed,
            runs=runs,
            quick=quick,
            engine=made_by,
            progress=counted,
            store=stored,
            parts=in_python.parts(of.parts),
        )
    swept = None if found is None else Sweep._of(found)
    if swept is None or swept.interrupted:
        raise Interrupted(swept, counted.finished, store)
    if swept.failures:
        raise swept.failures[0].with_result(swept)
    return swept


def _loaded(scenario: Scenario | str | Path, parts: Mapping[str, type] | None) -> Scenario:
    found = scenario if isinstance(scenario, Scenario) else load(scenario)
    if parts is not None and not isinstance(parts, Mapping):
        raise InputError('parts: expected names and classes, as in parts={"mine": Mine}', "parts")
    return found.with_parts(parts) if parts else found


@named_as_parameters()
def reproduce(
    experiment: str | Path,
    *,
    seed: int = 1,
    runs: int | None = None,
    quick: bool = False,
    jobs: int = 0,
    engine: str | None = None,
    readings: Literal["all", "base"] = "all",
    store: str | Path | None = None,
) -> Reproduction:
    """Run an experiment of the papers, by id or file, and judge its claims: `.scored` has each with verdict and why.

    `runs` fixes the number of replications, `quick` takes few and gives no verdicts, `readings = "base"` varies nothing
    of what the paper leaves open: the verdicts are then preliminary. `store` is a file of finished runs, as in `run`,
    `engine` as in `compare`. Raises `InputError`, `OutputError`. After Ctrl-C, or if a run failed, the outcome is
    `preliminary` and says why.
    """
    from .study import campaign, library

    given.check(experiment=experiment, seed=seed, jobs=jobs, quick=quick)
    given.check_if_any(runs=runs, engine=engine, store=store)
    if runs is not None and runs < 1:
        raise InputError(f"runs: {runs} is too few", "runs")
    if readings not in ("all", "base"):
        raise InputError(f'readings: {readings!r} is none of "all" and "base"', "readings")
    with _opened(store) as stored, chosen(engine, jobs) as made_by:
        found = campaign.run(
            library.load(experiment),
            seed=seed,
            runs=runs,
            quick=quick,
            engine=made_by,
            base_only=readings == "base",
            cache=Cache(stored),
        )
    return Reproduction._of(found)
