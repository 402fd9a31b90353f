"""Sessions that are not files but rows of a database, addressed as ``opencode:ses_…``."""

import os

from compactctl.errors import NoInputError
from compactctl.store.files.filesystem import PRIVATE_FILE

_PREFIX = "opencode:"


def database_path(session: str) -> str:
    """Return what stands for a path of a session in OpenCode's database."""
    return f"{_PREFIX}{session}"


def is_in_database(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path means a session in a database; an existing file always wins."""
    text = os.fspath(path)
    return text.startswith(_PREFIX) and not os.path.lexists(text)


def session_of(path: str) -> str:
    """Return the id of the session that a path in a database means."""
    return path.removeprefix(_PREFIX)


def read_from_database(path: str) -> bytes:
    """Return a session as one line of JSON. NoInputError when it is not there or locked."""
    import sqlite3

    from compactctl.sessions.opencode_document import opencode_document
    from compactctl.store.files.modes import note_mode
    from compactctl.store.places import this_machine

    note_mode(PRIVATE_FILE)
    try:
        found = opencode_document(session_of(path), this_machine())
    except sqlite3.Error as error:
        is_busy = getattr(error, "sqlite_errorcode", 0) in {
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_LOCKED,
        }
        advice = (
            "run it again when OpenCode rests" if is_busy else "name what opencode export wrote"
        )
        raise NoInputError(
            f"{path}: OpenCode's database cannot be read ({error}); {advice}"
        ) from error
    if found is None:
        raise NoInputError(f"{path}: there is no such session; see compactctl sessions")
    return found
