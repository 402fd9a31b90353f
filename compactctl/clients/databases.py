"""Sessions in clients' databases, which are only read; ``opencode:ses_1`` is the path of one.

The stores are imported only for what may be such a path, since every path is looked at.
"""

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compactctl.clients.session import Session
    from compactctl.clients.store import SessionDatabase, SessionStore
    from compactctl.store.client_folders import UserEnvironment
    from compactctl.store.files.limits import ReadLimits


def database_path(client: str, session_id: str) -> str:
    """Return the pseudo path of a session in a client's database."""
    return f"{client}:{session_id}"


def is_in_database(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is the pseudo path of a session in a database, and no existing file."""
    client, colon, _ = os.fspath(path).partition(":")
    return bool(colon) and not os.path.lexists(path) and client in _databases()


def database_store(path: str) -> "SessionStore":
    """Return the store that a pseudo path names."""
    return _databases()[_client_of(path)][0]


def session_in_database(path: str, machine: "UserEnvironment") -> "Session | None":
    """Return the session at a pseudo path, or None."""
    from compactctl.clients.reading.folders import FolderScanner
    from compactctl.clients.stores import load_sessions

    entries = database_store(path).entries(machine, FolderScanner())
    return next(load_sessions(entry for entry in entries if entry.id == _id_of(path)), None)


def export_session(path: str, machine: "UserEnvironment", limits: "ReadLimits") -> bytes | None:
    """Return the session at a pseudo path as one line of JSON; see ``SessionDatabase``."""
    return _database_of(path).export(_id_of(path), machine, limits)


def imported_document(path: str, machine: "UserEnvironment") -> Path:
    """Return where the document is from which a session in a database was imported, if it was."""
    return _database_of(path).document(_id_of(path), machine)


def imported_documents(
    session_id: str, machine: "UserEnvironment"
) -> Iterator[tuple["SessionStore", Path]]:
    """Yield each store with the document from which it would have imported a session."""
    for store, database in _databases().values():
        yield store, database.document(session_id, machine)


def _database_of(path: str) -> "SessionDatabase":
    return _databases()[_client_of(path)][1]


def _client_of(path: str) -> str:
    return path.partition(":")[0]


def _id_of(path: str) -> str:
    return path.partition(":")[2]


@cache
def _databases() -> Mapping[str, tuple["SessionStore", "SessionDatabase"]]:
    from compactctl.clients.stores import ALL_STORES

    return {store.client: (store, store.database) for store in ALL_STORES if store.database}
