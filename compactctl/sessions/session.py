"""A session in a client's store: how it is found, and what can be told of it at a glance."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compactctl.sessions.reading.folders import FolderScanner
from compactctl.store.client_folders import UserEnvironment

SessionKind = Literal["main", "subtask", "headless", "subagent", "empty"]
HIDDEN_KINDS: tuple[SessionKind, ...] = ("headless", "subagent", "empty")
"""Kinds that clients leave out of their own lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetails:
    """What can be told of a session without reading all of it; what cannot is empty or None.

    ``id`` is the client's where the place does not tell it. ``context`` are the tokens of the
    newest request and its answer as the client recorded them, ``window`` the context window if it
    recorded that. ``open`` says that it is known to be open in its client.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """A session as folders, or the rows of a database, name it.

    ``path`` is its file, or the database with ``n_bytes`` None. ``modified`` is in seconds since
    the epoch; ``listing`` is what the place itself tells.
    """

    client: str
    id: str
    path: Path
    modified: float
    n_bytes: int | None = None
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
            listing=listing,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session with what can be told of it."""

    entry: SessionEntry
    details: SessionDetails

    @property
    def id(self) -> str:
        """The client's own id."""
        return self.details.id or self.entry.id


def _anywhere(entry: SessionEntry, folder: Path) -> bool:  # noqa: ARG001
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStore:
    """Where one client keeps sessions, and how its files are read.

    Attributes:
        client: the name in lists and references; ``alias`` is a shorter one.
        title: what people call the client.
        entries: yields what there is; unreadable folders are noted, never raised.
        details: reads a little of one; may raise OSError or sqlite3.Error.
        unsupported_hint: what to do as long as the transcripts cannot be read; "" where they can.
        may_be_in_project: whether the project of an entry may be a folder or below it, as far as
            its place tells.
        resume_command: the command that goes on with a session, {id} standing for its id; "" for
            none.
        resume_model: what asks for another model in that command, {model} standing for its name.
        resumes_in_project_only: whether that finds sessions of the folder alone that it is run in.
        reload_command: what makes a client that has the session open read it again.
        respects_inline_tags: whether it sends nothing that the tags of the inline layout hide.
    """

    client: str
    alias: str
    title: str
    entries: Callable[[UserEnvironment, FolderScanner], Iterator[SessionEntry]]
    details: Callable[[SessionEntry], SessionDetails]
    unsupported_hint: str = ""
    may_be_in_project: Callable[[SessionEntry, Path], bool] = _anywhere
    resume_command: str = ""
    resume_model: str = ""
    resumes_in_project_only: bool = False
    reload_command: str = ""
    respects_inline_tags: bool = False
