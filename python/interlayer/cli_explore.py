"""`interlayer explore`: a page in the browser that asks the same questions as the command line."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import cli_parts as parts
from . import shipped
from .show import output

if TYPE_CHECKING:
    from .explore.cells import Source


def _complete_examples(incomplete: str) -> list[str]:
    """Examples, for a shell."""
    return parts.starting(incomplete, shipped.EXAMPLES)


def explore(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE.toml|EXAMPLE]",
            help="What the page begins with.  [default: single-hop]",
            autocompletion=_complete_examples,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="P", help="Of the loopback address; 0: a free one.")
    ] = 0,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Explore a cell in the browser, control by control.

    One page on the loopback address, until Ctrl-C. It needs pip install "interlayer[explore]".

    \b
    Examples:
      interlayer explore
      interlayer explore coffee-shop --no-open
      interlayer explore examples/bursty-link.toml --port 8700
    """
    from . import extras

    extras.uvicorn()
    source, begin = _source(what)
    from .explore.server import Server

    server = Server(source, port)
    address = f"{server.address}#from={begin}"
    output.to_stdout(f"interlayer: the page is at {address}\nIt is there until Ctrl-C.")
    sys.stdout.flush()
    if open_:
        import webbrowser

        webbrowser.open(address)
    with suppress(KeyboardInterrupt):  # its end, and no interruption
        server.serve()


def _source(what: str | None) -> tuple[Source, str]:
    """The sources of the page, and the name of the one that it begins with: a file, else an example."""
    from . import api, simulator
    from .explore.cells import Source

    if (example := shipped.EXAMPLES[0] if what is None else shipped.meant(what)) is not None:
        return Source(), f"example:{example}"
    assert what is not None
    text = parts.read(Path(what))
    scenario = api.Scenario(text, file=what)
    parts.named(Path(what), lambda: simulator.parse(text))
    return Source(scenario), "file"
