"""A cache of results in one SQLite file per user, shared by several processes.

A cache that cannot be read or written counts as empty: only ``clear_cache`` raises.
"""

import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Self

from compactctl.records import dataclass
from compactctl.store.client_folders import UserEnvironment
from compactctl.store.files.filesystem import PRIVATE_FILE, PRIVATE_FOLDER

VARIABLE = "XDG_CACHE_HOME"
NAME = "results.sqlite3"
MAX_ROWS = 200_000
"""The number of results that are kept: about 300 MB if each is a row about one file."""
_BUSY_TIMEOUT = 2.0
_SCHEMA = 1
_TABLE = (
    "CREATE TABLE IF NOT EXISTS result (key BLOB PRIMARY KEY, used INTEGER, value TEXT)"
    " WITHOUT ROWID"
)
_BATCH_SIZE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheState:
    """The cache's file, its size in bytes, and the number of results in it."""

    path: Path
    n_bytes: int
    results: int


def cache_path(machine: UserEnvironment) -> Path:
    """Return the cache's file by the XDG Base Directory Specification, on all systems.

    The specification ignores relative folders.
    """
    folder = Path(machine.environ.get(VARIABLE, ""))
    return (folder if folder.is_absolute() else machine.home / ".cache") / "compactctl" / NAME


class ResultCache:
    """Maps keys to results; a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with suppress(OSError, sqlite3.Error):
            self._connection = _open(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                _prune(self._connection)
                self._connection.close()
            self._connection = None

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return the cached values by key, and mark them as used."""
        keys, values = list(keys), dict[bytes, str]()
        for start in range(0, len(keys), _BATCH_SIZE):
            values.update(self._query(keys[start : start + _BATCH_SIZE]))
        return values

    def put(self, key: bytes, value: str) -> None:
        """Store a value at once, so that it survives if this process is killed."""
        if self._connection is None:
            return
        with suppress(sqlite3.Error):
            row = (key, int(time.time()), value)
            self._connection.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", row)

    def _query(self, keys: list[bytes]) -> dict[bytes, str]:
        if self._connection is None:
            return {}
        marks = ",".join("?" * len(keys))
        try:
            query = f"SELECT key, value FROM result WHERE key IN ({marks})"  # noqa: S608 - question marks alone
            rows = self._connection.execute(query, keys).fetchall()
            update = f"UPDATE result SET used = ? WHERE key IN ({marks})"  # noqa: S608
            self._connection.execute(update, [int(time.time()), *keys])
        except sqlite3.Error:
            return {}
        return {bytes(key): value for key, value in rows if isinstance(value, str)}


def cache_state(path: Path) -> CacheState:
    """Return size and number of results; 0 for a cache that cannot be read."""
    try:
        size = sum(file.stat().st_size for file in _files(path))
        with closing(
            sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=_BUSY_TIMEOUT)
        ) as connection:
            (results,) = connection.execute("SELECT count(*) FROM result").fetchone()
    except (OSError, sqlite3.Error):
        size, results = 0, 0
    return CacheState(path=path, n_bytes=size, results=results)


def clear_cache(path: Path) -> None:
    """Remove the cache. Raises OSError."""
    for file in _files(path):
        file.unlink()


def _files(path: Path) -> list[Path]:
    return [
        file
        for file in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm")))
        if file.exists()
    ]


def _open(path: Path) -> sqlite3.Connection:
    """Open the file; replace it if it is not a database."""
    path.parent.mkdir(parents=True, mode=PRIVATE_FOLDER, exist_ok=True)
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        clear_cache(path)
        return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    # Created with private permissions, because results name the user's files.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE))
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the newest results, which are then computed again.
        connection.execute("PRAGMA synchronous = OFF")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != _SCHEMA:
            connection.execute("DROP TABLE IF EXISTS result")
            connection.execute(f"PRAGMA user_version = {_SCHEMA}")
        connection.execute(_TABLE)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _prune(connection: sqlite3.Connection) -> None:
    """Delete the least recently used half if there are too many results."""
    (count,) = connection.execute("SELECT count(*) FROM result").fetchone()
    if count > MAX_ROWS:
        connection.execute(
            "DELETE FROM result WHERE key IN (SELECT key FROM result ORDER BY used LIMIT ?)",
            (count - MAX_ROWS // 2,),
        )
