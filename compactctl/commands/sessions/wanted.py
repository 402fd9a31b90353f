"""Which sessions are asked for."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from compactctl.commands.sessions.row import SessionRow
from compactctl.errors import UsageError
from compactctl.sessions.registry import store_named
from compactctl.sessions.session import HIDDEN, Entry, Session

_AGE = re.compile(r"(\d+)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


USUAL = 20
"""How many sessions are listed unless another number is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Which sessions to list; without anything the newest of a person are.

    ``clients`` are names of stores, none for all. ``project`` is a folder that the session's
    project is, or lies below. ``over`` is a share of the window; a session whose recorded size is
    too small to be true may be over it. ``since`` is in seconds since the epoch. ``words`` must all
    be in the title, the project or the client, or begin the id. ``hidden`` takes in what clients
    themselves leave out of their lists. ``limit`` is how many are listed at most, 0 for all.
    """

    clients: tuple[str, ...] = ()
    project: str | None = None
    over: float | None = None
    since: float | None = None
    words: tuple[str, ...] = ()
    hidden: bool = False
    limit: int = USUAL

    def may_match(self, entry: Entry) -> bool:
        """Tell whether an entry may be wanted, before anything of it is read."""
        if self.since is not None and entry.modified < self.since:
            return False
        if self.project is None:
            return True
        folder = Path(os.path.realpath(self.project))
        return store_named(entry.client).may_be_below(entry, folder)

    def matches(self, row: SessionRow) -> bool:
        """Tell whether a session is wanted, by what was read of it."""
        return (
            self._may_be_over(row) and self._is_below(row.session) and self._is_named(row.session)
        )

    def _may_be_over(self, row: SessionRow) -> bool:
        if self.over is None or row.at_least is not None:
            return True
        return row.ratio is not None and row.ratio > self.over

    def _is_below(self, session: Session) -> bool:
        if self.project is None:
            return True
        folder = os.path.realpath(self.project)
        own = session.details.project
        return bool(own) and (os.path.realpath(own) + os.sep).startswith(
            folder.rstrip(os.sep) + os.sep
        )

    def _is_named(self, session: Session) -> bool:
        text = f"{session.details.title}\n{session.details.project}\n{session.entry.client}"
        found = text.casefold()
        words = (word.casefold() for word in self.words)
        return all(word in found or session.id.casefold().startswith(word) for word in words)


def is_hidden(session: Session) -> bool:
    """Tell whether a client leaves a session out of its own list."""
    return session.details.kind in HIDDEN


def is_of(session: Session, folder: Path) -> bool:
    """Tell whether a session was begun in this very folder."""
    own = session.details.project
    return bool(own) and os.path.realpath(own) == os.path.realpath(folder)


def parse_since(text: str, now: float) -> float:
    """Return seconds since the epoch for an age such as 2d or 90m, or a date.

    Raises UsageError for what is neither.
    """
    age = _AGE.fullmatch(text.strip().casefold())
    if age is not None:
        return now - int(age[1]) * _SECONDS[age[2]]
    try:
        date = datetime.fromisoformat(text.strip())
        return (date if date.tzinfo else date.astimezone()).astimezone(UTC).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"{text!r} is neither an age (30m, 12h, 2d, 1w) nor a date (2026-01-31)"
        ) from error
