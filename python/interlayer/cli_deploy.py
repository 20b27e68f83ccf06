"""`interlayer deploy`: what of the laboratory a Linux access point can run today."""

from __future__ import annotations

from typing import Annotated

import typer

from . import cli_parts as parts
from .errors import InputError
from .show import output

app = typer.Typer(
    help="""Run a scheme on a real access point.

    \b
    Example:
      interlayer deploy ack-priority --iface phy0-ap0 --print
    """
)


@app.callback()
def _group() -> None:
    """Keeps the name of the one verb."""


@app.command("ack-priority")
def ack_priority(
    iface: Annotated[
        list[str], typer.Option("--iface", metavar="IF", help="A wireless device: phy0-ap0. May come again.")
    ],
    klass: Annotated[
        str, typer.Option("--class", metavar="vi|vo", help="The access category of TCP's control packets.")
    ] = "vi",
    print_: Annotated[bool, typer.Option("--print", help="Write what --apply loads.  [default]")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Load it into this machine.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Say what is in force, with counters; status 1 if it is not.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again, the script of --openwrt too.")] = False,
    openwrt: Annotated[
        bool,
        typer.Option("--openwrt", help="With --print or --apply: a hotplug script that loads it when IF comes up."),
    ] = False,
    any_device: Annotated[bool, typer.Option("--any-device", help="IF need not be wireless.")] = False,
) -> None:
    """Give TCP's control packets a higher access category.

    An nftables table does it for SYN, SYN-ACK, FIN, RST and pure ACKs that leave through IF, whether routed, bridged or
    local. docs/deploy.md says what to try first, how to see that it works, and what its limits are.

    \b
    Examples:
      interlayer deploy ack-priority --iface phy0-ap0 --print
      interlayer deploy ack-priority --iface phy0-ap0 --openwrt --print
    """
    from .deploy import ack_priority as verb
    from .deploy import openwrt as router
    from .deploy import ruleset
    from .deploy.system import System

    devices, klass = ruleset.checked_devices(iface), ruleset.checked_class(klass)
    named = {"--print": print_, "--apply": apply, "--check": check, "--remove": remove}
    chosen = [option for option, is_given in named.items() if is_given]
    if len(chosen) > 1:
        raise InputError(f"{chosen[1]}: it does not go with {chosen[0]}; give one of {', '.join(named)}", chosen[1])
    if openwrt and (check or remove):
        raise InputError(f"--openwrt: it goes with --print or --apply, not with {chosen[0]}", "--openwrt")

    system = System()
    if check:
        state = verb.check(system, devices, any_device=any_device)
        output.to_stdout("\n".join([*state.lines, *(f"fails: {line}" for line in state.fails)]))
        if not state.in_force:
            raise typer.Exit(1)
    elif remove:
        output.to_stdout(verb.remove(system))
    elif apply:
        done = verb.apply(system, devices, klass, any_device=any_device, hotplug=openwrt)
        parts.tell(ruleset.warning(klass))
        output.to_stdout(done)
    else:
        parts.tell(ruleset.warning(klass))
        output.to_stdout((router if openwrt else ruleset).text(devices, klass).rstrip("\n"))
