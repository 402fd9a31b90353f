"""The records of a session list: stores, entries and details of sessions."""

import os
from pathlib import Path
from typing import Literal

from compactctl.records import Record
from compactctl.store.cache import FileState, file_state

SessionKind = Literal["main", "subtask", "headless", "subagent", "empty"]
HIDDEN_KINDS: tuple[SessionKind, ...] = ("headless", "subagent", "empty")
"""The kinds that clients hide in their own lists."""


class SessionDetails(Record):
    """What a session list can show without reading the whole file; unknown is empty or None.

    Attributes:
        id: the client's id, if the file name does not have it.
        title: the session's title, else its first prompt.
        project: the folder in which the session was started.
        model: the model of the newest answer.
        context: the tokens of the newest request and its answer, as the client recorded them.
        window: the context window, if the client recorded it.
        kind: who started the session, and whether anything was asked in it.
        open: whether it is known to be open in its client.
    """

    id: str = ""
    title: str = ""
    project: str = ""
    model: str = ""
    context: int | None = None
    window: int | None = None
    kind: SessionKind = "main"
    open: bool = False


NO_DETAILS = SessionDetails()


class SessionEntry(Record):
    """A session as found in a folder or database, before its file is read.

    Attributes:
        client: the name of its store.
        id: the id in the file or folder name, or in the database.
        path: its file, or the database.
        modified: seconds since the epoch.
        n_bytes: the size of its file; None in a database.
        state: the state of its file when it was found; None in a database.
        archived: whether the user archived it in the client.
        listing: details known from the folder, the database row or the client's own list.
    """

    client: str
    id: str
    path: Path
    modified: float
    n_bytes: int | None = None
    state: FileState | None = None
    archived: bool = False
    listing: SessionDetails = NO_DETAILS

    @classmethod
    def of_file(
        cls,
        client: str,
        session_id: str,
        file: tuple[Path, os.stat_result],
        listing: SessionDetails = NO_DETAILS,
    ) -> "SessionEntry":
        """Return the entry of a session that is a file."""
        path, status = file
        return cls(
            client=client,
            id=session_id,
            path=path,
            modified=status.st_mtime,
            n_bytes=status.st_size,
            state=file_state(status),
            listing=listing,
        )


class Session(Record):
    """A session and what a list can show of it."""

    entry: SessionEntry
    details: SessionDetails

    @property
    def id(self) -> str:
        """The client's own id."""
        return self.details.id or self.entry.id
