"""Where results go: written whole beside their place, then renamed into it, so that nothing is ever half there.

What is being written stands beside its place as `NAME.partial-…`. A process that is killed leaves that, and the next
command that writes there removes it. A folder of results has a list of its files, `interlayer.json`: with it a second
result replaces the first one whole, and whatever else is in the folder is left alone.
"""

from __future__ import annotations

import glob
import json
import os
import secrets
import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from interlayer.errors import InputError, InterlayerError, OutputError, PlaceError, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTENTS: Final = "interlayer.json"
"""The list of the files of a result in its folder."""
PAGE: Final = "index.html"
"""What each result has: its page."""


class Staged:
    """A place being prepared: write below `path`; `commit` moves it into place, leaving without it removes it."""

    def __init__(self, target: Path, path: Path, of: str = "", force: bool = False) -> None:
        self.target = target
        self.path = path
        self.of = of
        self._force = force
        self._found = _contents(target) if path.is_dir() else {}

    @contextmanager
    def filled(self) -> Iterator[Path]:
        """The place to fill; moved to where it belongs if all went well. Raises `OutputError`."""
        with _told_of(self.target):
            yield self.path
        self.commit()

    def write(self, text: str) -> None:
        """Fill the file with a text, and move it to where it belongs. Raises `OutputError`."""
        with self.filled() as path:
            path.write_text(text, encoding="utf-8")

    def commit(self) -> None:
        """Move what was written to where it belongs. In a folder that exists, the files of an earlier result go."""
        try:
            if not self.path.is_dir():
                self.path.replace(self.target)
                return
            files = sorted(str(p.relative_to(self.path)) for p in self.path.rglob("*") if p.is_file())
            if self.target.is_dir():
                self._into_folder(files)
            else:
                _write_contents(self.path, self.of, files)
                self.path.replace(self.target)
        except OSError as e:
            if isinstance(e, InterlayerError):
                raise
            raise _unwritable(self.target, e) from e

    def _into_folder(self, files: list[str]) -> None:
        now = _contents(self.target)
        ours = set(now.get("files", ()))
        foreign = [name for name in files if name not in ours and (self.target / name).exists()]
        if foreign and not self._force:
            raise OutputError(f"{self.target}: {foreign[0]} is no file of ours, and stays; choose another folder")
        # Another part of this command has been here: captures beside the results of the same runs.
        stale = set() if now != self._found else ours - set(files)
        # First the list: whatever is killed on the way leaves files that are known.
        _write_contents(self.target, self.of, sorted(ours | set(files)))
        for name in files:
            to = self.target / name
            to.parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).replace(to)
        for name in stale:
            (self.target / name).unlink(missing_ok=True)
            with suppress(OSError):  # a folder that has something else stays
                (self.target / name).parent.rmdir()
        _write_contents(self.target, self.of, sorted((ours | set(files)) - stale))
        shutil.rmtree(self.path)


def _contents(folder: Path) -> dict[str, Any]:
    """The list of a folder's result; empty where there is none that can be read."""
    try:
        found = json.loads((folder / CONTENTS).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("files"), list) else {}


def _write_contents(folder: Path, of: str, files: list[str]) -> None:
    text = json.dumps({"of": of, "files": files}, indent=2, ensure_ascii=False) + "\n"
    made = folder / f"{CONTENTS}.partial"
    made.write_text(text, encoding="utf-8")
    made.replace(folder / CONTENTS)


@contextmanager
def folder(target: Path | None, of: str = "", writes: str = PAGE, *, force: bool = False) -> Iterator[Staged | None]:
    """A folder to fill for `target`, None for None. Raises at once if it could not be written later.

    `of` says what the result is of: a folder with another's is refused, and so is one with anything else in it. Where
    files of another kind than pages are written (`writes`, a pattern), only files of that kind are in the way. `force`
    allows both: what is written replaces what has its name, and other things stay.
    """
    if target is None:
        yield None
        return
    target = target.absolute()
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file, not a folder")
    if target.is_dir():
        _check_folder(target, of, writes, force)
    made = _make_parent(target)
    try:
        path, held = _beside(target, is_folder=True)
    except OSError as e:
        _unmake(made)
        raise refused(target, e) from e
    staged = Staged(target, path, of, force)
    try:
        yield staged
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(held)
        _unfinished.discard(path)
        if not target.exists():
            _unmake(made)


def _check_folder(target: Path, of: str, writes: str, force: bool) -> None:
    if not os.access(target, os.W_OK):
        raise PlaceError(f"{target}: permission denied")
    if force:
        return
    found = _contents(target)
    if found and found.get("of") != of:
        raise _in_the_way(target, f"has the results of `{found.get('of')}`")
    if not found and writes == PAGE and (others := sorted(p.name for p in target.iterdir())):
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise _in_the_way(target, f"has other things in it ({others[0]}{more})")
    ours = found.get("files", ())
    if foreign := sorted(p.name for p in target.glob(writes) if p.name not in ours):
        raise _in_the_way(target, f"has {foreign[0]}, which is no file of ours")


def _in_the_way(target: Path, what: str) -> InputError:
    message = f"{target}: {what}; choose another folder, or "
    return InputError(f"{message}write into it with --force", "", f"{message}write into it with force=True")


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
        path, held = _beside(target, is_folder=False)
    except OSError as e:
        raise refused(target, e) from e
    try:
        yield Staged(target, path)
    finally:
        path.unlink(missing_ok=True)
        os.close(held)
        _unfinished.discard(path)


@contextmanager
def _told_of(target: Path) -> Iterator[None]:
    """What a writer of files says inside is an `OutputError` of `target`."""
    try:
        yield
    except InterlayerError:
        raise
    except OSError as e:
        raise _unwritable(target, e) from e
    except Exception as e:
        if not _is_of_polars(e):
            raise
        # It says "No space left on device (os error 28)", with more around it.
        line = str(e).strip().splitlines()[0]
        raise OutputError(f"{target}: {line.partition(' (os error')[0].lower()}") from e


def _is_of_polars(e: Exception) -> bool:
    """Whether polars could not write. It is not imported for this question."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(e, polars.exceptions.PolarsError)


def _beside(target: Path, *, is_folder: bool) -> tuple[Path, int]:
    """A place beside `target`, and a descriptor that is open, and locked, as long as it is in use.

    Places that nobody uses are removed: a process that was killed has left them.
    """
    prefix = f"{target.name}.partial-"
    for left in target.parent.glob(f"{glob.escape(prefix)}*"):
        with suppress(OSError):
            held = os.open(left, os.O_RDONLY)
            try:
                if _lock(held):
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
            finally:
                os.close(held)
    path = target.parent / f"{prefix}{secrets.token_hex(8)}"
    _unfinished.add(path)  # before it is there: whatever signal ends this process, it is removed
    try:
        if is_folder:
            path.mkdir(0o777)
            held = os.open(path if os.name == "posix" else os.devnull, os.O_RDONLY)  # a folder has one on POSIX alone
        else:
            held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError:
        _unfinished.discard(path)
        raise
    _lock(held)
    return path, held


_unfinished: set[Path] = set()
"""Places of this process that are being prepared."""


def remove_unfinished() -> None:
    """Remove what is being prepared, wherever the process was when a signal came: a command's last act."""
    for path in [*_unfinished]:
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        _unfinished.discard(path)


def _lock(descriptor: int) -> bool:
    """Take it for this process; false if another has it. Where there are no such locks nobody gets one."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


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
                raise refused(target, e) from e
            made.insert(0, folder_)
    return made


def _unmake(made: list[Path]) -> None:
    for path in made:
        try:
            path.rmdir()
        except OSError:
            return


def _unwritable(target: Path, e: OSError) -> OutputError:
    """What goes wrong once a command is under way: a full disk, a folder that has vanished."""
    return OutputError(f"{target}: {(e.strerror or str(e)).lower()}")
