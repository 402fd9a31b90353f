"""SQLite databases of clients, read while the client goes on writing to them."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

BUSY_TIMEOUT = 1.0
"""How long a locked database is waited for, in seconds."""


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database that is not to be written; raises sqlite3.Error.

    Not as ``immutable``: what the client has written last may be in the log beside the database.
    """
    address = f"file:{quote(os.fsencode(path))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT)) as connection:
        connection.row_factory = sqlite3.Row
        yield connection


def column_names(connection: sqlite3.Connection, table: str) -> set[str]:
    """Return the names of a table's columns, none when there is no such table."""
    return {row["name"] for row in connection.execute(f"pragma table_info({table})")}
