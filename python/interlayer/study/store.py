"""Finished runs on disk: an SQLite file, one for a project, that many commands may use at once.

A run is found by what fixes each of its bits: the scenario with its defaults filled in, the seed, what is recorded, and
the compiled core that made it. docs/design/store.md says why it is so.
"""

from __future__ import annotations

import json
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from interlayer import simulator
from interlayer.errors import InputError, OutputError, PlaceError, refused

try:
    import sqlite3
except ImportError as e:
    raise OutputError("--store: this Python was built without sqlite3") from e

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    from interlayer._core import Run

_SQLITE: Final = b"SQLite format 3\x00"
_IS_OURS: Final = 0x494C5254  # "ILRT", SQLite's application id
_FORMAT: Final = 1
_TABLES: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS core (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, version TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS run (
    core INTEGER NOT NULL REFERENCES core, scenario BLOB NOT NULL, recorded TEXT NOT NULL, seed INTEGER NOT NULL,
    result BLOB NOT NULL, PRIMARY KEY (core, scenario, recorded, seed)
);
PRAGMA application_id = {_IS_OURS};
PRAGMA user_version = {_FORMAT};
COMMIT;
"""
_COSTS: Final = (
    "CREATE TABLE IF NOT EXISTS cost (experiment TEXT NOT NULL, mode TEXT NOT NULL, runs INTEGER NOT NULL, "
    "processor_s REAL NOT NULL, PRIMARY KEY (experiment, mode))"
)
"""What whole experiments cost; written when one is finished."""
_RECORDED: Final = "tables"
"""What is kept of a run: its tables and its summary. Captures, series and timelines are not."""
_PATIENCE_S: Final = 60.0
"""How long a command waits for another that writes; each writes for less than a millisecond."""


@dataclass(frozen=True, slots=True)
class OfCore:
    """What a store has of one core."""

    hash: str
    version: str
    is_current: bool
    scenarios: int
    runs: int
    bytes: int


class Store:
    """The runs of a project. Nothing is written before the first run has finished.

    Raises `InputError` if `path` cannot be a store, `OutputError` if it is damaged or cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._core_hash = simulator.core_hash()
        self._core: int | None = None
        self._database: sqlite3.Connection | None = None
        self._names: dict[str, bytes] = {}
        if self.path.is_dir():
            raise InputError(f"--store: {path} is a folder, not a file", "--store")
        if not self.path.parent.is_dir():
            raise InputError(f"--store: no folder {self.path.parent}", "--store")
        if self.exists():
            self._open()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Leave the file, and nothing beside it."""
        if self._database is not None:
            with self._plainly():
                self._database.close()
            self._database = None

    def exists(self) -> bool:
        """Whether the file is there. An empty one is none yet: so a command that was killed at its begin leaves it."""
        try:
            return self.path.stat().st_size > 0
        except FileNotFoundError:
            return False
        except OSError as e:
            raise refused(self.path, e) from e

    def size(self) -> int:
        """Bytes that it takes on disk."""
        return sum(p.stat().st_size for p in (self.path, self.path.with_name(f"{self.path.name}-wal")) if p.exists())

    def get(self, key: str, seed: int) -> Run | None:
        """The run of a scenario (`Cache.key`) and seed by this core, to the bit as it was made; None: there is none."""
        if self._database is None or self._core is None:
            return None
        with self._plainly():
            found = self._database.execute(
                "SELECT result FROM run WHERE core = ? AND scenario = ? AND recorded = ? AND seed = ?",
                (self._core, self._name(key), _RECORDED, seed),
            ).fetchone()
            return None if found is None else json.loads(zlib.decompress(found[0]))

    def put(self, key: str, seed: int, run: Run) -> None:
        """Keep a run. It is on disk when this returns, whatever happens to the process then."""
        if self._database is None:
            self._open()
        assert self._database is not None
        # Numbers as JSON has them come back to the bit: Python writes the shortest text that is read as the same float.
        text = json.dumps(run, separators=(",", ":")).encode()
        with self._plainly():
            if self._core is None:
                core = (self._core_hash, simulator.version())
                self._database.execute("INSERT OR IGNORE INTO core (hash, version) VALUES (?, ?)", core)
                self._core = self._id()
            self._database.execute(
                "INSERT OR IGNORE INTO run VALUES (?, ?, ?, ?, ?)",
                (self._core, self._name(key), _RECORDED, seed, zlib.compress(text, 1)),
            )

    def cost(self, id_: str, mode: str) -> tuple[int, float] | None:
        """Runs and processor seconds of an experiment that was finished with this store; None: there is none."""
        if self._database is None:
            return None
        with self._plainly():
            [[has]] = self._database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'cost'")
            asked = "SELECT runs, processor_s FROM cost WHERE experiment = ? AND mode = ?"
            found = self._database.execute(asked, (id_, mode)).fetchone() if has else None
        return None if found is None else (int(found[0]), float(found[1]))

    def count(self, key: str, first: int, runs: int) -> int:
        """How many of the runs of a scenario with the seeds `first`, `first + 1`, ... are there, by this core."""
        if self._database is None or self._core is None:
            return 0
        asked = "SELECT count(*) FROM run WHERE core = ? AND scenario = ? AND recorded = ? AND seed BETWEEN ? AND ?"
        with self._plainly():
            found = self._database.execute(asked, (self._core, self._name(key), _RECORDED, first, first + runs - 1))
            return int(found.fetchone()[0])

    def put_cost(self, id_: str, mode: str, runs: int, processor_s: float) -> None:
        """Remember what a finished experiment cost, the runs that were there before included."""
        if self._database is None:
            return
        with self._plainly():
            # A table of its own: an older version of the package goes on with the file, and knows nothing of it.
            self._database.execute(_COSTS)
            kept = "INSERT OR REPLACE INTO cost (experiment, mode, runs, processor_s) VALUES (?, ?, ?, ?)"
            self._database.execute(kept, (id_, mode, runs, processor_s))

    def cores(self) -> list[OfCore]:
        """What there is of each core, the latest first."""
        if self._database is None:
            return []
        with self._plainly():
            rows = self._database.execute(
                "SELECT hash, version, count(DISTINCT scenario), count(seed), coalesce(sum(length(result)), 0) "
                "FROM core LEFT JOIN run ON run.core = core.id GROUP BY core.id ORDER BY core.id DESC"
            ).fetchall()
        return [OfCore(name, version, name == self._core_hash, *numbers) for name, version, *numbers in rows]

    def prune(self) -> list[OfCore]:
        """Remove what other cores made, and give the room back; returns what was removed."""
        gone = [one for one in self.cores() if not one.is_current]
        if gone and self._database is not None:
            with self._plainly():
                self._database.execute("BEGIN IMMEDIATE")
                self._database.execute("DELETE FROM run WHERE core IS NOT ?", (self._core,))
                self._database.execute("DELETE FROM core WHERE id IS NOT ?", (self._core,))
                self._database.execute("COMMIT")
                self._database.execute("VACUUM")
        return gone

    def _id(self) -> int | None:
        """The number of this core here; None if it has made nothing."""
        assert self._database is not None
        found = self._database.execute("SELECT id FROM core WHERE hash = ?", (self._core_hash,)).fetchone()
        return None if found is None else found[0]

    def _name(self, key: str) -> bytes:
        if key not in self._names:
            self._names[key] = blake2b(key.encode(), digest_size=16).digest()
        return self._names[key]

    def _open(self) -> None:
        self._check_header()
        with self._plainly():
            # Without an isolation level each statement is a transaction of its own.
            database = sqlite3.connect(self.path, timeout=_PATIENCE_S, isolation_level=None)
        self._database = database
        try:
            with self._plainly():
                database.execute("BEGIN")  # all three of one moment: another may be making it a store
                [[tables]] = database.execute("SELECT count(*) FROM sqlite_master")
                [[application]] = database.execute("PRAGMA application_id")
                [[format_]] = database.execute("PRAGMA user_version")
                database.execute("COMMIT")
            if application != _IS_OURS and (application or tables):
                raise InputError(f"--store: {self.path} is an SQLite file, and no store of Interlayer", "--store")
            if format_ > _FORMAT:
                raise InputError(f"--store: {self.path} is of a later version of Interlayer", "--store")
            with self._plainly():
                database.execute("PRAGMA journal_mode = WAL")
                # A commit is safe from the death of the process at once, and from that of the machine a little later.
                database.execute("PRAGMA synchronous = NORMAL")
                if not format_:
                    database.executescript(_TABLES)
                self._core = self._id()
        except BaseException:
            self.close()
            raise

    def _check_header(self) -> None:
        try:
            with self.path.open("rb") as file:
                begin = file.read(len(_SQLITE))
        except FileNotFoundError:
            return
        except OSError as e:
            raise refused(self.path, e) from e
        if begin and begin != _SQLITE:
            raise InputError(f"--store: {self.path} is no store of Interlayer", "--store")

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """What SQLite says, in one line with a remedy."""
        damaged = f"{self.path}: the store is damaged; move it away, or remove it: its runs are then made again"
        try:
            yield
        except (zlib.error, json.JSONDecodeError) as e:
            raise PlaceError(damaged) from e
        except sqlite3.OperationalError as e:
            of_the_place = any(said in str(e).lower() for said in ("readonly", "unable to open"))
            raise (PlaceError if of_the_place else OutputError)(f"{self.path}: {str(e).lower()}") from e
        except sqlite3.DatabaseError as e:
            raise PlaceError(f"{damaged} ({str(e).lower()})") from e
