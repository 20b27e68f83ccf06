"""Where results go: written whole beside their place, then renamed into it, so that nothing is ever half there."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from interlayer.errors import InputError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Staged:
    """A place being prepared: write below `path`; `commit` moves it into place, leaving without it removes it."""

    def __init__(self, target: Path, path: Path) -> None:
        self.target = target
        self.path = path

    def commit(self) -> None:
        """Move what was written to where it belongs. In a folder that exists, files of the same name are replaced."""
        try:
            if self.path.is_dir() and self.target.is_dir():
                for file in sorted(p for p in self.path.rglob("*") if p.is_file()):
                    to = self.target / file.relative_to(self.path)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    file.replace(to)
                shutil.rmtree(self.path)
            else:
                self.path.replace(self.target)
        except OSError as e:
            raise _unwritable(self.target, e) from e


@contextmanager
def folder(target: Path | None) -> Iterator[Staged | None]:
    """A folder to fill for `target`, None for None. Raises at once if it could not be written later."""
    if target is None:
        yield None
        return
    target = target.absolute()
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file, not a folder")
    if target.is_dir() and not os.access(target, os.W_OK):
        raise OutputError(f"{target}: permission denied")
    made = _make_parent(target)
    try:
        path = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        path.chmod(0o777 & ~_umask())
    except OSError as e:
        _unmake(made)
        raise _unwritable(target, e) from e
    staged = Staged(target, path)
    try:
        yield staged
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if not target.exists():
            _unmake(made)


@contextmanager
def file(target: Path | None) -> Iterator[Staged | None]:
    """A file to fill for `target`, None for None. Raises at once if it could not be written later."""
    if target is None:
        yield None
        return
    target = target.absolute()
    if target.is_dir():
        raise InputError(f"{target}: is a folder, not a file")
    if not target.parent.is_dir():
        raise InputError(f"{target}: no folder {target.parent}")
    if target.exists() and not target.is_file():  # /dev/stderr, a pipe: written in place, there is nothing to rename
        yield Staged(target, target)
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        os.close(handle)
        Path(name).chmod(0o666 & ~_umask())
    except OSError as e:
        raise _unwritable(target, e) from e
    path = Path(name)
    try:
        yield Staged(target, path)
    finally:
        path.unlink(missing_ok=True)


def to_stdout(text: str) -> None:
    """Print, quietly giving up when the reader has gone (`| head`): what it wanted it has."""
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's own flush at exit finds no broken pipe."""
    with open(os.devnull, "w") as nothing:  # noqa: PTH123 - a descriptor is what is wanted
        os.dup2(nothing.fileno(), 1)


def _make_parent(target: Path) -> list[Path]:
    """Make the folders above `target`; returns those that were not there, innermost first."""
    made: list[Path] = []
    for folder_ in [*reversed(target.parents)]:
        if not folder_.exists():
            try:
                folder_.mkdir()
            except OSError as e:
                _unmake(made)
                raise _unwritable(target, e) from e
            made.insert(0, folder_)
    return made


def _unmake(made: list[Path]) -> None:
    for path in made:
        try:
            path.rmdir()
        except OSError:
            return


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(target: Path, e: OSError) -> OutputError:
    return OutputError(f"{target}: {(e.strerror or str(e)).lower()}")
