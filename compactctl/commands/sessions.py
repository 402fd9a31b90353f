"""Lists the sessions in clients' stores, newest first."""

import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from compactctl.asks import INPUT, ONE_RUN, STATE, ask, flag
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import HIDDEN_KINDS, Session, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.clients.stores import (
    ALL_STORES,
    find_store,
    load_sessions,
    newest_entries,
    store_named,
)
from compactctl.commands.measuring.session_size import SessionSize, session_size
from compactctl.errors import UsageError
from compactctl.records import Record
from compactctl.store.cache import ResultCache, cache_path
from compactctl.store.client_folders import UserEnvironment, editor_folders
from compactctl.tokens.budget import parse_share

MIN_ID_CHARS = 8
"""The minimum number of characters of an id to show."""
_AGE = re.compile(r"(\d+)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
USUAL = 20
"""The number of sessions to list by default."""
_CLIENTS = ", ".join(store.alias for store in ALL_STORES)


class SessionRow(Record):
    """A session, the shortest unique beginning of its id, and its size; None if unknown."""

    session: Session
    short_id: str
    size: SessionSize | None = None

    @property
    def window(self) -> int | None:
        """The context window, None if it or the size is unknown."""
        return self.size.window if self.size else None

    @property
    def context(self) -> int | None:
        """The tokens of the next request, None if unknown."""
        is_known = self.size is not None and self.size.certainty != "at least"
        return self.size.tokens if self.size is not None and is_known else None

    @property
    def at_least(self) -> int | None:
        """The minimum size, if it may be larger than what is known of it; else None."""
        is_bound = self.size is not None and self.size.certainty == "at least"
        return self.size.tokens if self.size is not None and is_bound else None

    @property
    def ratio(self) -> float | None:
        """The share of the window that these take, None if unknown."""
        return _share(self.context, self.window)

    @property
    def least_ratio(self) -> float | None:
        """The minimum share of the window that is in use, None if unknown."""
        return _share(self.size.tokens if self.size else None, self.window)


class ShortIds:
    """Abbreviates ids so that they stay unique; ``cache`` is for the sizes in their rows."""

    def __init__(self, entries: Iterable[SessionEntry], cache: ResultCache | None = None) -> None:
        self._sorted: Sequence[str] = sorted({entry.id for entry in entries})
        self._cache = cache

    def row(self, session: Session) -> SessionRow:
        """Return a row about a session."""
        return SessionRow(
            session=session,
            short_id=self._short(session.entry.id),
            size=session_size(session, self._cache),
        )

    def _short(self, full: str) -> str:
        index = bisect_left(self._sorted, full)
        neighbors = [*self._sorted[max(0, index - 1) : index], *self._sorted[index + 1 : index + 2]]
        needed = max((_shared(full, neighbor) + 1 for neighbor in neighbors), default=0)
        return full[: max(MIN_ID_CHARS, needed)]


class SessionFilter(Record):
    """Which sessions to list; by default the newest interactive ones.

    Each of the ``words`` must be in the title or the project, or begin the id; or it is the name of
    a client, and means nothing else. A session whose recorded size is too small may be ``over`` a
    share. ``since`` is in seconds since the epoch.
    """

    words: tuple[str, ...] = ()
    clients: tuple[str, ...] = ask(
        (),
        f"Only sessions of this client (repeatable): {_CLIENTS}.",
        STATE,
        ONE_RUN,
        flag="--client",
        metavar="NAME",
        check=store_named,
        complete="complete_client",
    )
    project: str | None = ask(
        None,
        "Only sessions started in this folder or below it.",
        INPUT,
        ONE_RUN,
        path="here",
        metavar="DIR",
    )
    over: float | None = ask(
        None,
        "Only sessions that fill more than this share of the window: 70% or 0.7.",
        INPUT,
        ONE_RUN,
        metavar="SHARE",
        parse=parse_share,
    )
    since: float | None = ask(
        None,
        "Only sessions changed since then: 90m, 12h, 2d, 1w, or 2026-01-31.",
        INPUT,
        ONE_RUN,
        metavar="AGE|DATE",
        parse=lambda text: parse_since(text, time.time()),
    )
    hidden: bool = flag(
        "Include sessions that clients hide: subagents, non-interactive runs, empty sessions.",
        STATE,
        ONE_RUN,
        flag="--all",
    )
    limit: int = ask(USUAL, "List at most N sessions; 0 for all.", STATE, ONE_RUN, metavar="N")

    def may_match(self, entry: SessionEntry) -> bool:
        """Return whether an entry may match, before anything of it is read."""
        if self.since is not None and entry.modified < self.since:
            return False
        named = filter(None, map(find_store, self.words))
        if any(store.client != entry.client for store in named):
            return False
        if self.project is None:
            return True
        folder = Path(os.path.realpath(self.project))
        return store_named(entry.client).may_be_in_project(entry, folder)

    def matches(self, row: SessionRow) -> bool:
        """Return whether a session matches, by what was read of it."""
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
        project, folder = _folder_of(session), os.path.realpath(self.project)
        return project is not None and (project + os.sep).startswith(folder.rstrip(os.sep) + os.sep)

    def _is_named(self, session: Session) -> bool:
        folded = f"{session.details.title}\n{session.details.project}".casefold()
        words = (word.casefold() for word in self.words if find_store(word) is None)
        return all(word in folded or session.id.casefold().startswith(word) for word in words)


class SessionsResult(Record):
    """The newest sessions that match.

    Attributes:
        rows: the sessions.
        home: the user's home folder.
        now: in seconds since the epoch.
        n_sessions: the number of sessions in the stores.
        hidden: sessions that match, but that clients leave out of their lists.
        unread: older sessions that were not read.
        searched: the folders searched, if there is no session.
        notes: what could not be read.
    """

    rows: tuple[SessionRow, ...]
    home: str
    now: float
    n_sessions: int
    hidden: int
    unread: int
    searched: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read, and how many sessions have a recorded size that is too small."""
        doubted = sum(row.at_least is not None for row in self.rows)
        if not doubted:
            return self.notes
        sessions = "1 session is" if doubted == 1 else f"{doubted:,} sessions are"
        doubt = (
            f"{sessions} larger than the recorded usage; sizes after ≥ are counted at the end "
            "of the file, compactctl stats counts all of it"
        )
        return (*self.notes, doubt)


def sessions(session_filter: SessionFilter, machine: UserEnvironment, now: float) -> SessionsResult:
    """List sessions; ``now`` is in seconds since the epoch.

    Nothing in a store makes it fail. Raises UsageError for an unknown client.
    """
    folders = FolderScanner()
    entries = newest_entries(machine, folders, _stores(session_filter))
    # An abbreviated id must be unique among all clients, as commands take it without a client.
    everywhere = newest_entries(machine, FolderScanner()) if session_filter.clients else entries
    in_question = [entry for entry in entries if session_filter.may_match(entry)]
    to_read = [
        e for e in in_question if session_filter.hidden or e.listing.kind not in HIDDEN_KINDS
    ]
    rows: list[SessionRow] = []
    n_read, n_hidden = 0, len(in_question) - len(to_read)
    with ResultCache(cache_path(machine)) as cache:
        short_ids = ShortIds(everywhere, cache)
        for session in load_sessions(to_read, cache):
            n_read += 1
            row = short_ids.row(session)
            if not session_filter.matches(row):
                continue
            if is_hidden(session) and not session_filter.hidden:
                n_hidden += 1
                continue
            rows.append(row)
            if len(rows) == session_filter.limit:
                break
    return SessionsResult(
        rows=tuple(rows),
        home=str(machine.home),
        now=now,
        n_sessions=len(entries),
        hidden=n_hidden,
        unread=len(to_read) - n_read,
        searched=() if entries else _places(folders.searched, machine),
        notes=tuple(filter(None, (*folders.warnings, cache.problem))),
    )


def parse_since(text: str, now: float) -> float:
    """Return seconds since the epoch for an age such as 2d or 90m, or a date.

    Raises UsageError for anything else.
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


def is_hidden(session: Session) -> bool:
    """Return whether a client leaves a session out of its own list."""
    return session.details.kind in HIDDEN_KINDS


def is_of(session: Session, folder: Path) -> bool:
    """Return whether a session was started in this very folder."""
    return _folder_of(session) == os.path.realpath(folder)


def _folder_of(session: Session) -> str | None:
    """Return where a session was started; None if unknown, as a relative path means any folder."""
    project = Path(session.details.project)
    return os.path.realpath(project) if project.is_absolute() else None


def _share(context: int | None, window: int | None) -> float | None:
    return context / window if context is not None and window else None


def _shared(first: str, second: str) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def _stores(session_filter: SessionFilter) -> Sequence[SessionStore]:
    named = [store_named(name) for name in session_filter.clients]
    return [store for store in ALL_STORES if store in named or not named]


def _places(searched: Sequence[Path], machine: UserEnvironment) -> tuple[str, ...]:
    """Return the folders that were searched; of editors only those that are installed, if any."""
    absent = [user for user in editor_folders(machine) if not user.is_dir()]
    places = dict.fromkeys(map(str, searched))
    present = [
        folder for folder in places if not any(user in Path(folder).parents for user in absent)
    ]
    return tuple(present or places)
