"""The record of a client's session store."""

from collections.abc import Callable, Iterator
from pathlib import Path

from compactctl.clients.fork import Fork, ForkIdentity
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.records import Record
from compactctl.store.client_folders import UserEnvironment
from compactctl.store.files.limits import ReadLimits


def _anywhere(entry: SessionEntry, folder: Path) -> bool:  # noqa: ARG001
    return True


class SessionDatabase(Record):
    """How the sessions in a client's database are read.

    Attributes:
        export: returns a session by its id as one line of JSON, None if no database has it. Raises
            NoInputError for a session that exceeds the limit of a line, before it is in memory, and
            sqlite3.Error if a database cannot be read.
        document: returns the path of the document from which a fork is imported, by its id.
    """

    export: Callable[[str, UserEnvironment, ReadLimits], bytes | None]
    document: Callable[[str, UserEnvironment], Path]


class SessionStore(Record):
    """The sessions of one client: how to list, describe and resume them.

    Attributes:
        client: the name in lists and references.
        alias: a shorter name.
        title: the client's display name.
        entries: yields all sessions; unreadable folders become warnings of the scanner.
        details: reads the details from both ends of a session; may raise OSError, ValueError or
            sqlite3.Error.
        fork: derives a session under a new id, and returns None if it cannot be forked; a client
            without it has its sessions replaced.
        database: how sessions are read from a database; None if they are files.
        is_in_one_file: whether all details of a session are in its file, so that they are the same
            as long as the file is.
        unsupported_hint: what to do instead if transcripts cannot be compacted; "" if they can.
        may_be_in_project: whether an entry may belong to a folder or one below it, judged by its
            path; True if that says nothing.
        resume_command: the shell command that resumes a session, with {id}; "" for none.
        resume_model: the part to add to it for another model, with {model}.
        resumes_in_project_only: whether that command must be run in the session's project folder.
        reload_command: what to type in a client that has the session open, with {id}.
        respects_inline_tags: whether the client hides what the tags of the inline layout hide.
    """

    client: str
    alias: str
    title: str
    entries: Callable[[UserEnvironment, FolderScanner], Iterator[SessionEntry]]
    details: Callable[[SessionEntry], SessionDetails]
    fork: Callable[[Session, ForkIdentity], Fork | None] | None = None
    database: SessionDatabase | None = None
    is_in_one_file: bool = False
    unsupported_hint: str = ""
    may_be_in_project: Callable[[SessionEntry, Path], bool] = _anywhere
    resume_command: str = ""
    resume_model: str = ""
    resumes_in_project_only: bool = False
    reload_command: str = ""
    respects_inline_tags: bool = False
