"""Decides what a command works on if only a folder is known: the current one, or a named one."""

from collections.abc import Iterable
from itertools import islice
from typing import Literal

from compactctl.clients.session import Session
from compactctl.commands.reading.candidates import Candidate, Candidates

Purpose = Literal["read", "write", "restore", "rescue"]
"""What becomes of the input: it is read, compacted, restored, or rescued as a new session."""

CLOSE = 300
"""For a command that writes, sessions changed within this many seconds are all the latest."""


def choose_in_folder(
    purpose: Purpose, files: Candidates, sessions: Iterable[Session]
) -> Candidate | Session | None:
    """Return the transcript or the session that is meant in a folder, None if that is not clear.

    It is the only transcript. Else, a command that reads takes the newest session, and so does
    rescue, which takes no other file, if it is clearly the newest. A rewind changes what it takes:
    it must not mean a session as well.

    ``sessions`` are those that were started in the folder and suit the purpose, newest first; no
    more of them are read than needed.
    """
    only = files.files[0] if len(files.files) == 1 and not files.more else None
    match purpose:
        case "read":
            return next(iter(sessions), None) if only is None else only
        case "write":
            return only
        case "restore":
            return None if any(True for _ in sessions) else only
        case "rescue":
            return newest_of(sessions)


def newest_of(sessions: Iterable[Session]) -> Session | None:
    """Return the first session, None if the next one changed at about the same time."""
    newest = tuple(islice(sessions, 2))
    return newest[0] if len(newest) == 1 or (newest and not are_close(*newest)) else None


def are_close(newer: Session, older: Session) -> bool:
    """Return whether two sessions changed at about the same time."""
    return older.entry.modified > newer.entry.modified - CLOSE
