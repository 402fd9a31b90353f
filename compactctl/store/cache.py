"""A cache of results in one SQLite file per user, shared by several processes.

A cache that cannot be read or written counts as empty: only ``clear_cache`` raises.
"""

import hashlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Self

from compactctl.records import Record
from compactctl.store.client_folders import UserEnvironment
from compactctl.store.files.filesystem import PRIVATE_FILE, PRIVATE_FOLDER

VARIABLE = "XDG_CACHE_HOME"
NAME = "results.sqlite3"
MAX_ROWS = 200_000
"""The number of results that are kept: about 300 MB if each is a row about one file."""
_BUSY_TIMEOUT = 2.0
_SCHEMA = 2
_TABLE = (
    "CREATE TABLE IF NOT EXISTS result (key BLOB PRIMARY KEY, used INTEGER, value TEXT)"
    " WITHOUT ROWID"
)
# Without it, counting and finding the oldest results reads all values.
_INDEX = "CREATE INDEX IF NOT EXISTS result_used ON result (used)"
_BATCH_SIZE = 500
_SECONDS_PER_USE = 3_600
"""A result that was used less long ago is not marked as used again, which would rewrite it."""
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

FileState = tuple[int, int, int, int, int]
"""Device, inode, size, and the times of the last change of content and of status, in nanoseconds.

Programs cannot set the last, so a file with the same state has the same content.
"""


class CacheState(Record):
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


def file_state(info: os.stat_result) -> FileState:
    """Return the state of a file from its status."""
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def result_key(*parts: object) -> bytes:
    """Return a key for what this version of the program computes from ``parts``."""
    text = repr((program_state(), parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@lru_cache(maxsize=1)
def program_state() -> str:
    """Return a digest of the program's version and files: a changed one may compute differently."""
    # The stub of the package names modules that import this one, so type checkers see a cycle.
    package = import_module("compactctl")
    files: Iterable[Path] = Path(__file__).parents[1].rglob("*.[pt][yo]*")
    states = ((str(path), path.stat()) for path in files if path.suffix in (".py", ".toml"))
    code = sorted((name, info.st_size, info.st_mtime_ns) for name, info in states)
    return hashlib.sha256(repr((package.__version__, code)).encode()).hexdigest()


class ResultCache:
    """Maps keys to results; a context manager.

    ``problem`` says why an existing cache is not used, "" if it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with suppress(OSError, sqlite3.Error):
            self.problem = _folder_problem(self.path.parent)
            if not self.problem:
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

    def remembered(self, key: bytes, compute: Callable[[], str]) -> str:
        """Return the cached value of a key; compute and store it if there is none."""
        cached = self.get_many((key,))
        if key in cached:
            return cached[key]
        value = compute()
        self.put(key, value)
        return value

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
            now = int(time.time())
            update = f"UPDATE result SET used = ? WHERE used <= ? AND key IN ({marks})"  # noqa: S608
            self._connection.execute(update, [now, now - _SECONDS_PER_USE, *keys])
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
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        clear_cache(path)
        return _connect(path)


def _folder_problem(folder: Path) -> str:
    """Create the folder if it is missing; return why results in it cannot be trusted, or ""."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=PRIVATE_FOLDER)
    info = folder.lstat()
    advice = "so nothing is cached; remove it, or name another folder with XDG_CACHE_HOME"
    if stat.S_ISLNK(info.st_mode):
        return f"{folder}: is a link, {advice}"
    if hasattr(os, "getuid") and info.st_uid != os.getuid():
        return f"{folder}: belongs to another user, {advice}"
    if info.st_mode & _WRITABLE_BY_OTHERS:
        return f"{folder}: other users may write to it, {advice}"
    return ""


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
        connection.execute(_INDEX)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _prune(connection: sqlite3.Connection) -> None:
    """Delete the least recently used results if there are too many."""
    (count,) = connection.execute("SELECT count(*) FROM result").fetchone()
    if count > MAX_ROWS:
        connection.execute(
            "DELETE FROM result WHERE key IN (SELECT key FROM result ORDER BY used LIMIT ?)",
            (count - MAX_ROWS,),
        )
