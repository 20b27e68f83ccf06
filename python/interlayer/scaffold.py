"""What `interlayer new` writes: a scheme or a sender in the repository, or a crate of one's own outside it.

Everything is made and checked in memory, then written; what cannot be written whole is taken back.
"""

from __future__ import annotations

import keyword
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from .errors import InputError, OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["scheme", "sender"]

_TEMPLATES: Final = Path(__file__).with_name("templates")
_KEBAB: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_WORDS: Final = """
abstract alloc as async await become box break const continue core crate do dyn else enum extern false final fn for gen
if impl in let lib loop macro main match mod move mut override priv proc-macro pub ref return self static std struct
super test tests trait true try type typeof union unsafe unsized use virtual where while yield
"""
_RUST: Final = frozenset(_WORDS.split())
"""Words of Rust, and the names of its own crates and of a crate's root."""
_OURS: Final = frozenset({"none", "file", "name", "at", "scheme", "sender", "interlayer", "pyo3"})
"""Words that stand for something else in scenarios and in options."""
_LINE: Final = re.compile(r'^    "([^"]+)" => (\w+),$', re.MULTILINE)
"""A line of a registry."""


@dataclass(frozen=True)
class Part:
    """A kind of plug-in: where it lives in the repository, and what its parts are called."""

    kind: Kind
    crate: str
    folder: str
    registry: str
    field: str
    make: str
    list: str


PARTS: Final[Mapping[Kind, Part]] = {
    "scheme": Part(
        "scheme", "schemes", "crates/schemes/src", "crates/schemes/src/lib.rs", "schemes", "install", "schemes"
    ),
    "sender": Part(
        "sender", "tcp", "crates/tcp/src/cc", "crates/tcp/src/cc/mod.rs", "congestion", "make", "congestion"
    ),
}


def checkout(around: Path) -> Path | None:
    """The repository that a folder is in."""
    here = around.resolve()
    return next((folder for folder in (here, *here.parents) if _is_checkout(folder)), None)


def own_checkout() -> Path | None:
    """The repository that this package runs from, if it is installed editable."""
    return checkout(Path(__file__).parent)


def in_tree(kind: Kind, name: str, root: Path | None) -> list[Path]:
    """Write a scheme or sender into the repository `root`; gives the files, new and changed. Raises `InputError`."""
    _check_name(name)
    if root is None:
        raise InputError(
            f"no checkout of Interlayer here: `new {kind}` writes into one; outside it, `interlayer new crate`"
        )
    part = PARTS[kind]
    module = name.replace("-", "_")
    registry = _read(root / part.registry)
    _check_free(part, name, root, registry)
    new = {root / part.folder / f"{module}.rs": _template(f"{kind}.rs", name)}
    changed = {root / part.registry: _with_line(registry, name, module, root / part.registry)}
    if kind == "scheme":
        tests = root / "crates/schemes/tests/all"
        new[tests / f"{module}.rs"] = _template("scheme_test.rs", name)
        new[root / "docs/schemes" / f"{name}.md"] = _template("scheme_page.txt", name)
        changed[tests / "main.rs"] = _with_module(_read(tests / "main.rs"), module, tests / "main.rs")
    else:
        page = root / "docs/senders.md"
        changed[page] = _with_row(_read(page), _template("sender_row.txt", name), page)
    for path in new:
        if path.exists() or path.with_suffix("").is_dir():
            raise InputError(f'"{name}": {path.relative_to(root)} is there already; choose another name')
    if kind == "scheme" and (found := _in_layers(name, root)):
        raise InputError(f'"{name}": is a word of the layers below, which name no scheme ({found}); choose another')
    _write({**new, **changed})
    return [*new, *changed]


def crate(name: str, kind: Kind, part_name: str, folder: Path, root: Path | None) -> list[Path]:
    """Write a crate with a scheme or sender into `folder`/`name`; gives its files. Raises `InputError`."""
    _check_name(name)
    _check_name(part_name)
    if root is None:
        raise InputError(
            "no checkout of Interlayer here, which the crate is compiled with; name one with --checkout DIR"
        )
    part = PARTS[kind]
    if name.replace("-", "_") in sys.stdlib_module_names | set(keyword.kwlist):
        raise InputError(f'"{name}": Python has a module or a word of that name; choose another')
    if name in _dependencies(_TEMPLATES / "crate/Cargo.toml") or name.startswith("interlayer-"):
        raise InputError(f'"{name}": a crate of Interlayer is called so; choose another name')
    if part_name in _dependencies(_TEMPLATES / "crate/Cargo.toml") or part_name == "add":
        raise InputError(f'"{part_name}": the crate uses that word itself; choose another name')
    if part_name in dict(_LINE.findall(_read(root / part.registry))):
        raise InputError(f'"{part_name}": Interlayer has a {kind} of that name; choose another')
    to = folder / name
    if to.is_symlink() or (to.exists() and not (to.is_dir() and not any(to.iterdir()))):
        raise InputError(f"{to}: is there already; choose another name, or go to another folder")
    module, package = part_name.replace("-", "_"), name.replace("-", "_")
    key, value = (
        ("scheme", f"[{{ name = '{part_name}' }}]") if kind == "scheme" else ("flow.0.transport.congestion", part_name)
    )
    tried = f"none,{part_name}" if kind == "scheme" else f"{part_name}=flow.*.transport.congestion={part_name}"
    words = {
        "my-crate": name,
        "my_crate": package,
        "my-part": part_name,
        "my_part": module,
        "CHECKOUT": _relative(root, to),
        "REGISTRY": part.field,
        "MAKE": part.make,
        "LIST": part.list,
        "TRY": f"--{'schemes' if kind == 'scheme' else 'arm'} {tried}",
        "KEY": key,
        "VALUE": value,
        "VERSION": _version(root),
    }
    source = _template(f"{kind}.rs", part_name).replace("use crate::", f"use {part.crate}::")
    files = {
        to / "Cargo.toml": _fill("crate/Cargo.toml", words),
        to / "Cargo.lock": _read(root / "Cargo.lock"),  # the same versions of others' code, so the same bits
        to / "pyproject.toml": _fill("crate/pyproject.toml", words),
        to / "README.md": _fill("crate/readme.txt", words),
        to / ".gitignore": _fill("crate/gitignore", words),
        to / "scenario.toml": _fill("crate/scenario.toml", words),
        to / f"python/{package}/__init__.py": _fill("crate/init.py", words),
        to / "src/lib.rs": _fill("crate/lib.rs", words),
        to / f"src/{module}.rs": source,
        to / "tests/run.rs": _fill("crate/run_test.rs", words),
    }
    if kind == "scheme":
        test = _template("scheme_test.rs", part_name)
        files[to / "tests/alone.rs"] = test.replace(f"use schemes::{module}::", f"use {package}::{module}::")
    _write(files)
    return list(files)


def _is_checkout(folder: Path) -> bool:
    return all((folder / part.registry).is_file() for part in PARTS.values()) and (folder / "Cargo.lock").is_file()


def _check_name(name: str) -> None:
    if not _KEBAB.fullmatch(name):
        kebab = re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()).strip("-")
        hint = f'; write "{kebab}"' if _KEBAB.fullmatch(kebab) else ""
        raise InputError(f'"{name}": a name is words of small letters and digits with - between them{hint}')
    if name in _RUST | _OURS:
        raise InputError(f'"{name}": is a reserved word; choose another name')


def _check_free(part: Part, name: str, root: Path, registry: str) -> None:
    known = dict(_LINE.findall(registry))
    if name in known or name.replace("-", "_") in known.values():
        raise InputError(f'"{name}": there is a {part.kind} of that name already')
    if name in _dependencies(root / f"crates/{part.crate}/Cargo.toml"):
        raise InputError(f'"{name}": crate {part.crate} uses a crate of that name; choose another')


def _in_layers(name: str, root: Path) -> str:
    """The source below the schemes that has the name, as `crates/world/tests/all/layering.rs` looks for it."""
    spelt = [rf'"{name}"', rf"(?<![\w-]){name}::"]
    if "-" in name:
        spelt = [rf"(?<![\w-]){word}(?![\w-])" for word in (name, name.replace("-", "_"))]
    pattern = re.compile("|".join(spelt))
    above = {"schemes", "node", "world", "live", "py", "module"}
    for crate in sorted(path for path in (root / "crates").iterdir() if path.name not in above):
        for path in sorted((crate / "src").rglob("*.rs")):
            if pattern.search(_read(path)):
                return str(path.relative_to(root))
    return ""


def _dependencies(manifest: Path) -> set[str]:
    import tomllib

    return set(tomllib.loads(_read(manifest)).get("dependencies", {}))


def _version(root: Path) -> str:
    import tomllib

    return str(tomllib.loads(_read(root / "Cargo.toml"))["workspace"]["package"]["version"])


def _relative(root: Path, to: Path) -> str:
    """The way from a crate to the repository, as cargo takes it on any system."""
    try:
        return Path(os.path.relpath(root, to.resolve())).as_posix()
    except ValueError:  # another drive
        return root.as_posix()


def _with_line(text: str, name: str, module: str, path: Path) -> str:
    """A registry with one line more, in its place by the alphabet."""
    lines = list(_LINE.finditer(text))
    if not lines:
        raise InputError(f"{path}: no lines of a registry in it")
    behind = next((found for found in lines if found[1] > name), None)
    at = behind.start() if behind else lines[-1].end() + 1
    return f'{text[:at]}    "{name}" => {module},\n{text[at:]}'


def _with_module(text: str, module: str, path: Path) -> str:
    lines = list(re.finditer(r"^mod (\w+);\n", text, re.MULTILINE))
    if not lines:
        raise InputError(f"{path}: no modules in it")
    behind = next((found for found in lines if found[1] > module), None)
    at = behind.start() if behind else lines[-1].end()
    return f"{text[:at]}mod {module};\n{text[at:]}"


def _with_row(text: str, row: str, path: Path) -> str:
    """The page with one row more at the end of its first table."""
    table = re.search(r"^\|.*\n(?:\|.*\n)+", text, re.MULTILINE)
    if table is None:
        raise InputError(f"{path}: no table in it")
    return f"{text[: table.end()]}{row}{text[table.end() :]}"


def _template(file: str, name: str) -> str:
    text = _read(_TEMPLATES / file)
    for kind in PARTS:
        text = text.replace(f"my-{kind}", name).replace(f"my_{kind}", name.replace("-", "_"))
    return text


def _fill(file: str, words: Mapping[str, str]) -> str:
    """A template with its words replaced, all at once: what is put in is not looked at again."""
    pattern = re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))
    return pattern.sub(lambda found: words[found[0]], _read(_TEMPLATES / file))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as e:
        raise OutputError(f"{path}: {(e.strerror or str(e)).lower()}") from e


def _write(files: Mapping[Path, str]) -> None:
    """Write all or none."""
    before = {path: path.read_bytes() if path.is_file() else None for path in files}
    made: list[Path] = []
    written: list[Path] = []
    try:
        for path, text in files.items():
            missing = [folder for folder in (path.parent, *path.parents) if not folder.exists()]
            for folder in reversed(missing):
                folder.mkdir(exist_ok=True)
                made.append(folder)
            written.append(path)
            path.write_text(text, encoding="utf-8", newline="\n")
    except BaseException as e:
        for done in reversed(written):
            old = before[done]
            with suppress(FileNotFoundError, NotADirectoryError):  # it was not even begun
                done.unlink() if old is None else done.write_bytes(old)
        for folder in reversed(made):
            folder.rmdir()
        if isinstance(e, OSError):
            raise OutputError(f"{path}: {(e.strerror or str(e)).lower()}; nothing was written") from e
        raise
