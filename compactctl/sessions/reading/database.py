"""Read SQLite databases while their client may be writing to them."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

BUSY_TIMEOUT = 1.0
"""Seconds to wait for a locked database."""


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database read-only; raises sqlite3.Error.

    Without ``immutable=1``: the newest rows may still be in the write-ahead log.
    """
    address = f"file:{quote(os.fsencode(path))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT)) as connection:
        connection.row_factory = sqlite3.Row
        yield connection


def column_names(connection: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of a table's columns; empty if there is no such table."""
    return {row["name"] for row in connection.execute(f"pragma table_info({table})")}
