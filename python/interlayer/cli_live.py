"""`interlayer live`: real programs and this kernel's TCP through the modelled air."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import cli_parts as parts
from .cli_parts import Force, Json, Out, Seed, Set
from .errors import InputError
from .show import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .realtime.session import LiveResult

_DURATION = 'such as "30s" or "2 min"'
_BURSTS = 0.9
"""Below so many bursts a packet what their first packets are late by is said apart.

Where nearly all packets stand alone, it is the same number."""
_UNITS_S = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def live_command(
    words: Annotated[
        list[str],
        typer.Argument(metavar="FILE.toml|EXAMPLE [-- COMMAND...]", help="A scenario, and what runs --at a node."),
    ],
    at: Annotated[
        str | None, typer.Option("--at", metavar="NODE", help="Run the command behind -- there, at this terminal.")
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="NODE 'COMMAND'", help="Run a command there, too. {ap} is the address of ap."),
    ] = None,
    shell: Annotated[str | None, typer.Option("--shell", metavar="NODE", help="Open a shell there.")] = None,
    for_: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="End after so long.  [default: with the programs, else the file's]"),
    ] = None,
    seed: Seed = None,
    set_: Set = None,
    out: Out = None,
    force: Force = False,
    json: Json = None,
    series: Annotated[
        bool, typer.Option("--series", help="Ask the kernel for cwnd, srtt, pacing, ... of its sockets every 100 ms.")
    ] = False,
    pcap: Annotated[Path | None, typer.Option("--pcap", metavar="DIR", help="Write captures of the air there.")] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Keep time and bytes of every packet (pcapng).")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="FILE", help="Make a recorded run again, in virtual time.")
    ] = None,
    pid: Annotated[int | None, typer.Option("--pid", metavar="N", help="With set: the run that is meant.")] = None,
) -> None:
    """Send real programs through a scenario's air, in real time.

    Each node becomes a host with a network of its own, where programs of this machine run; the radio between them is
    the model. `interlayer live set node.phone.position=[40,0]` changes a run from another terminal. docs/live.md.

    \b
    Examples:
      interlayer live examples/live/phone.toml --for 3s
      interlayer live examples/live/phone.toml --at phone -- ip route
      interlayer live examples/live/phone.toml --shell phone
    """
    if words[0] == "set":
        _change(words[1:], pid)
        return
    if pid is not None:
        raise InputError("--pid: goes with `interlayer live set`", "--pid")
    file, command = Path(words[0]), words[1:]
    text, overrides = parts.read(file), parts.overrides(set_)
    if replay is not None:
        _replay(file, text, overrides, replay, json)
        return
    if bool(command) != (at is not None):
        missing = "--at: names a node, and there is no command behind --" if at else f"{command[0]}: needs --at NODE"
        raise InputError(missing, "--at")
    if shell is not None and at is not None:
        raise InputError("--shell: does not go with --at; both want this terminal", "--shell")
    from .realtime import session

    order = session.Order(
        commands=[_placed(one) for one in run or []],
        at=None if at is None else (at, command),
        shell=shell,
        seconds=_seconds(for_),
        seed=seed,
        sockets=series,
        record=record,
        pcap=pcap,
        to_terminal=True,
    )
    of = f"live {parts.stem(file)}"
    with output.folder(out, of, force=force) as folder, output.file(parts.json_file(json)) as data:
        result = parts.named(file, lambda: session.live(text, overrides, order, parts.tell))
        from .show import json_text

        found = json_text.dumps(result.to_json())
        if json == "-":
            output.to_stdout(found)
        else:
            output.to_stdout("\n".join(_lines(result)))
        if data is not None:
            data.write(found + "\n")
        if folder is not None:
            with folder.filled() as place:
                _write(result, found, place)
    if result.overloaded:
        parts.tell("overloaded: more than 1 % of the packets were over 5 ms late; no comparison may rest on this run")
        raise typer.Exit(1)


def joined(arguments: Sequence[str]) -> list[str]:
    """Arguments of the command line with the two words behind each `--run` as one: Typer knows no option with two."""
    found: list[str] = []
    rest = list(arguments)
    while rest and rest[0] != "--":
        word = rest.pop(0)
        found.append(word)
        if word == "--run" and len(rest) >= 2:
            found.append(f"{rest.pop(0)} {rest.pop(0)}")
    return found + rest


def _placed(text: str) -> tuple[str, str]:
    node, _, command = text.partition(" ")
    if not command.strip():
        raise InputError(
            f"--run: needs a node and a command, such as --run {node or 'phone'} 'ping -c 3 {{ap}}'", "--run"
        )
    return node, command


def _change(words: list[str], pid: int | None) -> None:
    from .realtime import remote

    if not words:
        raise InputError("live set: needs PATH=VALUE, such as node.phone.position=[40,0]")
    for text in words:
        remote.ask(text, pid)


def _replay(file: Path, text: str, overrides: list[tuple[str, str]], recording: Path, json: str | None) -> None:
    from . import simulator
    from .errors import writing
    from .realtime import plan, session
    from .show import json_text

    with writing(recording):
        data = recording.read_bytes()
    planned = parts.named(file, lambda: plan.read(text, overrides, session.LONG_S))
    try:
        found = simulator.live_module().replay(planned.scenario, data)
    except ValueError as e:
        raise InputError(f"{recording}: {e}") from e
    if json == "-":
        output.to_stdout(json_text.dumps({"replay": found}))
    else:
        output.to_stdout(f"{found['same']} of {found['recorded']} packets as recorded, at the same time, byte for byte")
    if found["same"] != found["recorded"]:
        at, node = found["first_other"]
        parts.tell(f"the first that differs: at {at:.6f} s, for {node}; the scenario or the program is another one")
        raise typer.Exit(1)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(ms|s|min|h)", text)
    seconds = float(found[1]) * _UNITS_S[found[2]] if found else 0.0
    if not 0 < seconds <= 86_400:
        raise InputError(f'--for: expected a time, {_DURATION}; found "{text}"', "--for")
    return seconds


def _lines(result: LiveResult) -> list[str]:
    """The result in a few lines."""
    lines = []
    for name, report in result.flows.items():
        by = f" by {report.congestion}" if report.congestion else ""
        again = "" if report.retransmits is None else f", {report.retransmits} segments again"
        lines.append(f"{name}: {report.goodput_bps / 1e6:.2f} Mb/s of goodput{by}{again}")
    for talk in result.conversations:
        span = talk["last_s"] - talk["first_s"]
        if not result.flows and talk["arrived_bytes"] > 10_000 and span > 0:
            rate = 8e-6 * talk["arrived_bytes"] / span
            port = min(filter(None, talk["ports"]), default=0)  # a server's is the lower one, as a rule
            of = f"{talk['protocol']} of port {port}" if port else talk["protocol"]
            lines.append(f"{talk['from']} to {talk['to']}, {of}: {rate:.2f} Mb/s of IP over {span:.1f} s")
    simulated = [flow for flow in result.run["flows"] if flow["goodput_bps"] > 0]
    lines += [f"{flow['id']} (simulated): {flow['goodput_bps'] / 1e6:.2f} Mb/s of goodput" for flow in simulated]
    late, us = result.late, 1e6
    how = "SCHED_FIFO" if result.scheduling == "fifo" else "no SCHED_FIFO: not allowed here"
    spread = ", ".join(f"{late[key] * us:.0f}" for key in ("p50_s", "p99_s", "p999_s", "max_s"))
    lines.append(f"late by {spread} us at 50, 99, 99.9, 100 % of {late['count']} packets ({how})")
    if result.first["count"] < _BURSTS * late["count"]:
        spread = ", ".join(f"{result.first[key] * us:.0f}" for key in ("p50_s", "p99_s", "p999_s", "max_s"))
        lines.append(f"the first packets of {result.first['count']} bursts by {spread} us")
    lines.append(f"{result.seconds:.1f} s on Linux {result.kernel}; the loop took {100 * result.busy:.0f} % of a core")
    return lines


def _write(result: LiveResult, found: str, folder: Path) -> None:
    """Result, series and figures into a folder."""
    import csv

    from .show import live_plot, plots

    (folder / "live.json").write_text(found + "\n", encoding="utf-8")
    for name, columns in ("series", result.series), ("sockets", result.sockets):
        if columns:
            with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                longest = max(len(column) for column in columns.values())
                padded = [[*column, *[""] * (longest - len(column))] for column in columns.values()]
                writer.writerows(zip(*padded, strict=True))
    title = result.scenario or "A live run"
    note = f"One run of {result.seconds:.0f} s, seed {result.seed}, on Linux {result.kernel}; real TCP, modelled air."
    if result.series:
        plots.save(live_plot.series(result.series, f"{title}, live", note), folder / "series")
    if result.late["count"]:
        how = "SCHED_FIFO." if result.scheduling == "fifo" else "no SCHED_FIFO."
        plots.save(
            live_plot.lateness(result.late, f"{title}: lateness of packets", f"{note} {how}"), folder / "lateness"
        )
