"""The package's modules import each other in one direction. Imports inside functions and for types count too.

docs/design/architecture.md shows the layers.
"""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import interlayer

ROOT = Path(interlayer.__file__).resolve().parent


def name_of(file: Path) -> str:
    """`interlayer.cli` for cli.py, `interlayer` for its __init__.py."""
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


LAYERS = [
    [
        *("_core", "errors", "extras", "core", "given", "machine", "quantity", "scaffold", "shipped", "toml_text"),
        *("simulator", "source_hash", "parts"),
    ],
    ["engine", "cluster", "worker"],
    ["deploy"],
    ["measure"],
    ["study"],
    ["show"],
    ["results"],
    ["api", "bench"],
    ["flent"],
    ["realtime", "explore"],
    ["cli_parts"],
    ["cli_deploy", "cli_explore", "cli_live", "cli_new", "cli_study", "cli_sweep"],
    ["cli", ""],
    ["__main__"],
]
"""The parts of the package, lowest first; the empty name is the package itself."""

FILES = {name_of(file): file for ending in ("py", "pyi") for file in ROOT.rglob(f"*.{ending}")}


def imports(module: str, text: str) -> set[str]:
    """The modules of the package that a module's text imports, wherever in it: at the top, in functions, for types."""
    package = module.split(".") if FILES[module].stem == "__init__" else module.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{origin}.{a.name}" if f"{origin}.{a.name}" in FILES else origin for a in node.names}
    return found & FILES.keys()


GRAPH = {module: imports(module, file.read_text("utf-8")) for module, file in FILES.items()}


def test_imports_of_every_kind_are_seen() -> None:
    text = """
from __future__ import annotations
import math
import interlayer.cli
from . import quantity
from .errors import InputError
if TYPE_CHECKING:
    from ._core import Run
def late():
    from interlayer import api
"""
    names = {"cli", "quantity", "errors", "_core", "api"}
    assert imports("interlayer.simulator", text) == {f"interlayer.{name}" for name in names}
    assert "interlayer.api" in GRAPH["interlayer"]


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(GRAPH).prepare()  # a CycleError names the circle


def layer(module: str) -> int:
    part = module.removeprefix("interlayer").strip(".").partition(".")[0]
    return next(i for i, parts in enumerate(LAYERS) if part in parts)


def test_a_layer_imports_from_those_below_it_only() -> None:
    upward = [f"{m} imports {other}" for m, others in GRAPH.items() for other in others if layer(other) > layer(m)]
    assert upward == []


def test_no_module_has_the_name_of_something_public() -> None:
    # Importing `interlayer.compare` would put the module in the place of the function.
    assert [name for name in interlayer.__all__ if f"interlayer.{name}" in FILES] == []
