"""Lists the sessions in clients' stores, newest first."""

import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from compactctl.asks import INPUT, ONE_RUN, STATE, ask, flag
from compactctl.clients.format import Format
from compactctl.clients.reading.file_ends import WINDOW, last_lines
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.registry import ALL_FORMATS
from compactctl.clients.session import HIDDEN_KINDS, Session, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.clients.stores import (
    ALL_STORES,
    find_store,
    load_sessions,
    newest_entries,
    store_named,
)
from compactctl.commands.measuring.context_size import believed_reports
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.reading.transcript import parse
from compactctl.errors import UsageError
from compactctl.history.turns import split_conversations
from compactctl.model.transcript import Transcript
from compactctl.records import Record, replace
from compactctl.store.cache import ResultCache, cache_path, result_key
from compactctl.store.client_folders import UserEnvironment, editor_folders
from compactctl.tokens.budget import parse_share
from compactctl.tokens.models.lookup import resolve_model, smallest_window_for

_FORMATS = {candidate.name: candidate for candidate in ALL_FORMATS}
_LINE_FILES = (".jsonl", ".zst")
# Long tool results may fill the end of a file, so that the last answer is before it.
_LONGER = 4 * WINDOW
_CHARS_PER_TOKEN = 4.0
# Larger reports are not checked, so that for most sessions no more is read than for the list.
_MAX_CHECKED_TOKENS = WINDOW // 2
# The unread beginning of a file may explain a report that is too large, but not one too small.
_TOO_SMALL = ("below its contents", "does not grow", "no number")
CLIENT_RECORD = "recorded by the client"
"""The source of the sizes in a list of sessions."""
MIN_ID_CHARS = 8
"""The minimum number of characters of an id to show."""
_AGE = re.compile(r"(\d+)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
USUAL = 20
"""The number of sessions to list by default."""
_CLIENTS = ", ".join(store.alias for store in ALL_STORES)


class SessionRow(Record):
    """A session, the shortest unique beginning of its id, and its context window.

    ``window`` is the recorded one, else that of its model; None if the model is unknown.
    ``at_least`` is the minimum size in tokens, if its client recorded a size that is too small to
    be true; else None.
    """

    session: Session
    short_id: str
    window: int | None
    at_least: int | None = None

    @property
    def context(self) -> int | None:
        """The tokens of the newest request and its answer, None if unknown."""
        return self.session.details.context if self.at_least is None else None

    @property
    def ratio(self) -> float | None:
        """The share of the window that these take, None if unknown."""
        return _share(self.context, self.window)

    @property
    def least_ratio(self) -> float | None:
        """The minimum share of the window that is in use, None if unknown."""
        tokens = self.context if self.at_least is None else self.at_least
        return _share(tokens, self.window)


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
            window=_window(session),
            at_least=least_size(session, self._cache),
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
        folder = os.path.realpath(self.project)
        project = session.details.project
        return bool(project) and (os.path.realpath(project) + os.sep).startswith(
            folder.rstrip(os.sep) + os.sep
        )

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
    project = session.details.project
    return bool(project) and os.path.realpath(project) == os.path.realpath(folder)


def least_size(session: Session, cache: ResultCache | None = None) -> int | None:
    """Return the minimum tokens of a session whose newest report is too small to be true.

    That is so as well if text at its end was not read. The minimum is the count of the last lines
    of the file, at four characters per token, or the report if that is larger. None if the report
    may be true or is over 32,768, and for a document or a database, whose end cannot be read
    separately. ``cache`` remembers the count of an unchanged file.
    """
    path, chosen = session.entry.path, _FORMATS.get(session.entry.client)
    reported = session.details.context or 0
    if chosen is None or path.suffix not in _LINE_FILES or reported > _MAX_CHECKED_TOKENS:
        return None

    def counted() -> str:
        end = _end(path, chosen)
        least = _lower_bound(end) if end.effective else None
        if least is None and end.unread.lost:
            least = 0
        return "" if least is None else str(least)

    state = session.entry.state
    try:
        if cache is None or state is None:
            size = counted()
        else:
            size = cache.remembered(result_key("least size", chosen.name, state), counted)
    except (OSError, ValueError):
        return None
    return max(int(size), reported) if size else None


def _share(context: int | None, window: int | None) -> float | None:
    return context / window if context is not None and window else None


def _window(session: Session) -> int | None:
    """Return the window, enlarged to hold what was answered, None if nothing is known."""
    details = session.details
    if details.window:
        return details.window
    model = resolve_model(details.model)
    if not (model.is_known or model.is_inferred):
        return None
    if details.context is not None and details.context > model.window:
        return smallest_window_for(model, details.context)
    return model.window


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


def _end(path: Path, chosen: Format) -> Transcript:
    """Read the end of a file back to a usage report, but no further than necessary."""
    end = _last(path, WINDOW, chosen)
    has_usage = any(message.usage for message in end.effective)
    return end if has_usage else _last(path, _LONGER, chosen)


def _last(path: Path, n_bytes: int, chosen: Format) -> Transcript:
    end = parse([line + b"\n" for line in last_lines(path, n_bytes) if line], chosen)
    # What a client leaves out without its call is sent if the call is further up.
    return replace(end, effective=end.history)


def _lower_bound(end: Transcript) -> int | None:
    conversation = max(split_conversations(end.effective), key=len)
    measured = measure(end, MeasureOptions(chars_per_token=_CHARS_PER_TOKEN))
    reports = believed_reports(conversation, measured)
    doubt = reports.doubt
    if doubt is None or doubt.reason not in _TOO_SMALL:
        return None
    if reports.requests and reports.requests[-1].first_index > doubt.index:
        return None
    return round(sum(map(measured.framed.visible, conversation)))
