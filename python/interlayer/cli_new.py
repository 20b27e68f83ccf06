"""`interlayer new`: the beginning of a scheme, of a sender, or of a crate of one's own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from . import scaffold
from .errors import InputError
from .show import output

app = typer.Typer(
    help="""Write the beginning of a scheme or a sender.

    In a checkout of the repository `new scheme` and `new sender` put it there; `new crate` writes a project.

    \b
    Example:
      interlayer new crate my-schemes --scheme my-scheme
    """
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Words of small letters and digits with - between them.")]
Checkout = Annotated[
    Path | None,
    typer.Option("--checkout", metavar="DIR", help="The repository.  [default: the one around the working folder]"),
]


@app.command("scheme")
def scheme(name: Name, checkout: Checkout = None) -> None:
    """A cross-layer scheme, in the repository.

    Writes its source, its line in the registry, its test and its page. It works as it stands: it counts segments.
    CHANGE marks what is yours.

    \b
    Example, in a checkout:
      interlayer new scheme my-scheme
    """
    root = _root(checkout)
    _told(scaffold.in_tree("scheme", name, root), root)
    module = name.replace("-", "_")
    output.to_stdout(
        f"next: cargo test --test schemes {module}, then make build and make docs\n"
        "      docs/new-scheme.md shows the way, docs/design/contract.md has every call"
    )


@app.command("sender")
def sender(name: Name, checkout: Checkout = None) -> None:
    """A TCP congestion control, in the repository.

    Writes its source with tests, its line in the registry and its row in docs/senders.md. It works as it stands: it is
    NewReno. CHANGE marks what is yours.

    \b
    Example, in a checkout:
      interlayer new sender my-sender
    """
    root = _root(checkout)
    _told(scaffold.in_tree("sender", name, root), root)
    module = name.replace("-", "_")
    output.to_stdout(
        f"next: cargo test -p interlayer-tcp --lib {module}, then make build and make docs\n"
        "      docs/new-scheme.md shows the way, crates/tcp/src/cc/mod.rs has the trait"
    )


@app.command("crate")
def crate(
    name: Name,
    scheme: Annotated[
        str | None, typer.Option("--scheme", metavar="X", help="With this scheme.  [default: NAME]")
    ] = None,
    sender: Annotated[str | None, typer.Option("--sender", metavar="Y", help="With this sender instead.")] = None,
    checkout: Annotated[
        Path | None,
        typer.Option(
            "--checkout",
            metavar="DIR",
            help="The repository.  [default: the one around the working folder, or that of this installation]",
        ),
    ] = None,
) -> None:
    """A crate of your own, outside the repository.

    It is compiled with the core. Its wheel adds the scheme or sender to `interlayer`.

    \b
    Example:
      interlayer new crate my-schemes --scheme my-scheme
    """
    if scheme is not None and sender is not None:
        raise InputError("--sender: a new crate begins with a scheme or a sender; add the other one by hand")
    kind: scaffold.Kind = "scheme" if sender is None else "sender"
    root = _root(checkout) or scaffold.own_checkout()
    here = Path.cwd()
    _told(scaffold.crate(name, kind, sender or scheme or name, here, root), here)
    output.to_stdout(f"next: cd {shlex.quote(name)}, cargo test; its README.md says how `interlayer` gets it")


def _root(given: Path | None) -> Path | None:
    if given is None:
        return scaffold.checkout(Path.cwd())
    if (found := scaffold.checkout(given)) is None:
        raise InputError(f"--checkout: {given} is in no checkout of Interlayer", "--checkout")
    return found


def _told(files: list[Path], root: Path | None) -> None:
    for path in files:
        output.to_stdout(str(path.relative_to(root) if root else path))
