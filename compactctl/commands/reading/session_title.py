"""The session that a file is, or that is in a database, and its title."""

from pathlib import Path

from compactctl.clients.databases import is_in_database, session_in_database
from compactctl.clients.session import Session, SessionEntry
from compactctl.clients.stores import is_client, load_sessions, session_at
from compactctl.store.client_folders import UserEnvironment, this_machine


def session_title(path: str, client: str) -> str:
    """Return the title of a session, else its first prompt; "" if it has neither.

    A file outside of all stores is read like one in the store of ``client``.
    """
    session, file = stored_session(path, this_machine()), Path(path)
    if session is None and is_client(client) and file.is_file():
        entry = SessionEntry.of_file(client, file.stem, (file, file.stat()))
        session = next(load_sessions((entry,)))
    return session.details.title if session else ""


def stored_session(path: str, machine: UserEnvironment) -> Session | None:
    """Return the session at a path, or in a client's database; None for any other file."""
    if is_in_database(path):
        return session_in_database(path, machine)
    return session_at(Path(path), machine)
