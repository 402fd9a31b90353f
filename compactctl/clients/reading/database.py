"""Read SQLite databases while their client may be writing to them."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

BUSY_TIMEOUT = 1.0
"""Seconds to wait for a locked database."""
MAX_ROW_BYTES = 16 << 20
"""The maximum size of a row that is read to list sessions."""
_MAX_LIMIT = (1 << 31) - 1


@contextmanager
def read_only(path: Path, max_row_bytes: int = MAX_ROW_BYTES) -> Iterator[sqlite3.Connection]:
    """Open a database read-only; raises sqlite3.Error.

    A query raises it too, with SQLITE_TOOBIG, before a larger row is in memory.

    Without ``immutable=1``: the newest rows may still be in the write-ahead log.
    """
    address = f"file:{quote(os.fsencode(path))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max_row_bytes, _MAX_LIMIT))
        connection.row_factory = sqlite3.Row
        yield connection


def column_names(connection: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of a table's columns; empty if there is no such table."""
    return {row["name"] for row in connection.execute(f"pragma table_info({table})")}
