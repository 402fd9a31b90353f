"""Results by key in one SQLite file of the user's, which several processes share.

A cache that cannot be read, written or understood is an empty one: no error leaves this module.
"""

import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from compactctl.store.client_folders import UserEnvironment
from compactctl.store.files.filesystem import PRIVATE_FILE, PRIVATE_FOLDER

VARIABLE = "XDG_CACHE_HOME"
NAME = "results.sqlite3"
MAX_ROWS = 200_000
"""How many results are kept: some 300 MB of rows about one file each."""
_BUSY_TIMEOUT = 2.0
_SCHEMA = 1
_TABLE = (
    "CREATE TABLE IF NOT EXISTS result (key BLOB PRIMARY KEY, used INTEGER, value TEXT)"
    " WITHOUT ROWID"
)
_BATCH_SIZE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheState:
    """What there is: the file, its size in bytes, and how many results it holds."""

    path: Path
    n_bytes: int
    results: int


def cache_path(machine: UserEnvironment) -> Path:
    """Return the file, by the XDG Base Directory Specification, on all systems."""
    chosen = Path(machine.environ.get(VARIABLE, ""))
    return (chosen if chosen.is_absolute() else machine.home / ".cache") / "compactctl" / NAME


class ResultCache:
    """Results of this user by their keys; a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with suppress(OSError, sqlite3.Error):
            self._connection = _opened(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                _prune(self._connection)
                self._connection.close()
            self._connection = None

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return the values that there are, and remember that they were asked for."""
        wanted, found = list(keys), dict[bytes, str]()
        for start in range(0, len(wanted), _BATCH_SIZE):
            found.update(self._known(wanted[start : start + _BATCH_SIZE]))
        return found

    def put(self, key: bytes, value: str) -> None:
        """Keep a value, so that it is there after this process has died as well."""
        if self._connection is None:
            return
        with suppress(sqlite3.Error):
            row = (key, int(time.time()), value)
            self._connection.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", row)

    def _known(self, keys: list[bytes]) -> dict[bytes, str]:
        if self._connection is None:
            return {}
        marks = ",".join("?" * len(keys))
        try:
            query = f"SELECT key, value FROM result WHERE key IN ({marks})"  # noqa: S608 - question marks alone
            rows = self._connection.execute(query, keys).fetchall()
            touched = f"UPDATE result SET used = ? WHERE key IN ({marks})"  # noqa: S608
            self._connection.execute(touched, [int(time.time()), *keys])
        except sqlite3.Error:
            return {}
        return {bytes(key): value for key, value in rows if isinstance(value, str)}


def cache_state(path: Path) -> CacheState:
    """Tell what there is; nothing for a cache that cannot be read."""
    try:
        size = sum(file.stat().st_size for file in _files(path))
        with closing(
            sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=_BUSY_TIMEOUT)
        ) as found:
            (results,) = found.execute("SELECT count(*) FROM result").fetchone()
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


def _opened(path: Path) -> sqlite3.Connection:
    """Open the file, made anew when it is not a database of this version."""
    path.parent.mkdir(parents=True, mode=PRIVATE_FOLDER, exist_ok=True)
    try:
        return _connected(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        clear_cache(path)
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    # So that nobody else can read which files there are.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE))
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the newest results, which are then found out again.
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
    """Forget what was not asked for the longest, where there are too many results."""
    (count,) = connection.execute("SELECT count(*) FROM result").fetchone()
    if count > MAX_ROWS:
        connection.execute(
            "DELETE FROM result WHERE key IN (SELECT key FROM result ORDER BY used LIMIT ?)",
            (count - MAX_ROWS // 2,),
        )
