"""The title of the session in a file or database."""

from pathlib import Path

from compactctl.commands.reading.transcript import is_in_database, session_of
from compactctl.sessions.registry import (
    is_client,
    load_sessions,
    session_at,
    session_in_database,
)
from compactctl.sessions.session import Session, SessionEntry
from compactctl.store.client_folders import this_machine


def session_title(path: str, client: str) -> str:
    """Return the title of a session, else its first prompt; "" if it has neither.

    A file outside of all stores is read like one in the store of ``client``.
    """
    session = _session(path, client)
    return session.details.title if session else ""


def _session(path: str, client: str) -> Session | None:
    machine = this_machine()
    if is_in_database(path):
        return session_in_database(session_of(path), machine)
    file = Path(path)
    session = session_at(file, machine)
    if session is not None or not (is_client(client) and file.is_file()):
        return session
    entry = SessionEntry.of_file(client, file.stem, (file, file.stat()))
    return next(load_sessions((entry,)))
