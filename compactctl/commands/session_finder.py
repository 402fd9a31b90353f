"""Resolves references to sessions: the newest, an id or its beginning, or words of a title."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Literal

from compactctl.clients.databases import database_path, imported_document, imported_documents
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import HIDDEN_KINDS, Session, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.clients.stores import (
    ALL_STORES,
    is_client,
    load_sessions,
    newest_entries,
    store_named,
)
from compactctl.commands.reading.discover import TRANSCRIPTS
from compactctl.commands.reading.transcript import is_tagged, open_transcript
from compactctl.commands.sessions import SessionRow, ShortIds, is_hidden, is_of
from compactctl.errors import CompactctlError, NoInputError, NotUnderstoodError
from compactctl.model.tags import METADATA_KEY
from compactctl.records import Record
from compactctl.store.archive.names import archive_files, archive_folder
from compactctl.store.cache import ResultCache, cache_path
from compactctl.store.client_folders import UserEnvironment, this_machine
from compactctl.store.files.source import open_input, read_lines

Purpose = Literal["read", "write", "restore"]
"""The use of the session: it is read, compacted, or restored."""

LATEST = "latest"
HERE = "."
CLOSE = 300
"""For a command that writes, sessions changed within this many seconds are all the latest."""
MAX_CHOICES = 15
"""The maximum number of candidates to list."""
# A shorter abbreviation of an id may as well be a word.
_MIN_ID_LENGTH = 4
_METADATA_OBJECT = re.compile(rf'"{METADATA_KEY}":\s*\{{'.encode())
_FILES = (*TRANSCRIPTS, "*.parquet")
_NONE: Mapping[Purpose, str] = {
    "read": "no session found",
    "write": "no session found",
    "restore": "no compacted session found",
}


class ChosenSession(Record):
    """The meaning of a reference: a path, and the session unless the reference is a path.

    ``announce`` means that the user should be told which session it is.
    """

    path: str
    row: SessionRow | None = None
    announce: bool = False


class SessionChoices(Record):
    """The sessions that a reference may mean, and why none of them was chosen.

    ``more`` counts older ones that are not in ``rows``.
    """

    why: str
    rows: tuple[SessionRow, ...]
    more: int
    now: float
    home: str


def is_file(reference: str) -> bool:
    """Return whether a reference can only mean a file: it exists, or looks like a file name."""
    if reference == HERE:
        return False
    name = reference.casefold()
    is_written = os.sep in reference or any(fnmatchcase(name, pattern) for pattern in _FILES)
    return is_written or reference == "-" or os.path.lexists(reference)


class SessionFinder(Record, dict=True, gc=True):
    """Finds the sessions of a machine by reference; ``now`` is in seconds since the epoch."""

    machine: UserEnvironment
    here: Path
    now: float

    def resolve(self, reference: str, purpose: Purpose = "read") -> ChosenSession | SessionChoices:
        """Return the session that a reference means, or those it may mean.

        Raises NoInputError if it means none, and NotUnderstoodError if sessions of that client
        cannot be read.
        """
        if is_file(reference):
            return ChosenSession(path=reference)
        entries, name = self._addressed(reference)
        if name == LATEST:
            return self._latest(reference, entries, purpose)
        if name == HERE:
            return self._newest_here(reference, entries, purpose)
        matching = list(self._with_id(entries, name))
        exact = [session for session in matching if session.id == name]
        if exact or matching:
            return self._one_of(reference, exact or matching, announce=not exact)
        for _, document in imported_documents(name, self.machine):
            if document.is_file():
                return ChosenSession(path=str(document))
        return self._titled(reference, entries, name, purpose)

    def all_of(self, client: str, purpose: Purpose = "read") -> tuple[str, ...]:
        """Return the paths of all sessions that a client itself would list, oldest first.

        Raises NoInputError if there are none, and NotUnderstoodError if they cannot be read.
        """
        store = store_named(client)
        entries = [entry for entry in self._entries if entry.client == store.client]
        with ResultCache(cache_path(self.machine)) as cache:
            listed = list(shown(entries, cache))
        sessions = [s for s in listed if s.entry.n_bytes is not None or _is_fit(s, purpose)]
        if not sessions:
            raise NoInputError(f"{client}: {store.title} has no session here")
        _check_readable(f"{client}:", store)
        return tuple(map(path_of, sessions[::-1]))

    def newest_here(self) -> ChosenSession | None:
        """Return the newest session that was started in this folder, None if there is none.

        Raises NotUnderstoodError if sessions of its client cannot be read.
        """
        newest = next(self._here(self._entries), None)
        return None if newest is None else self._chosen(HERE, newest)

    def sessions_here(self, why: str, *, compacted: bool) -> SessionChoices:
        """Return the sessions that were started in this folder, or only the compacted ones."""
        sessions = self._here(self._entries)
        return self._choices(why, [s for s in sessions if not compacted or _is_compacted(s)])

    def references(self, beginning: str) -> Iterator[tuple[str, str]]:
        """Yield references with this beginning, each with a description; newest first."""
        if LATEST.startswith(beginning):
            yield LATEST, "the newest session"
        present = {entry.client for entry in self._entries}
        stores = [store for store in ALL_STORES if store.client in present]
        for store in stores:
            if f"{store.alias}:{LATEST}".startswith(beginning):
                yield f"{store.alias}:{LATEST}", f"the newest session of {store.title}"
        for session in shown(e for e in self._entries if e.id.startswith(beginning)):
            yield session.id, session.details.title

    @cached_property
    def _entries(self) -> list[SessionEntry]:
        return newest_entries(self.machine, FolderScanner())

    def _addressed(self, reference: str) -> tuple[list[SessionEntry], str]:
        """Return the entries that a reference is about, and the reference without the client."""
        client, colon, name = reference.partition(":")
        if not colon or not is_client(client):
            return self._entries, reference
        client_name = store_named(client).client
        return [entry for entry in self._entries if entry.client == client_name], name

    def _latest(
        self, reference: str, entries: Sequence[SessionEntry], purpose: Purpose
    ) -> ChosenSession | SessionChoices:
        candidates = (session for session in shown(entries) if _is_fit(session, purpose))
        newest = next(candidates, None)
        if newest is None:
            name = "" if reference == LATEST else f"{reference}: "
            raise NoInputError(f"{name}{_NONE[purpose]}; see compactctl sessions --all")
        if purpose == "read":
            return self._chosen(reference, newest)
        limit = newest.entry.modified - CLOSE
        close = [newest, *takewhile(lambda session: session.entry.modified > limit, candidates)]
        ready = close if len(close) == 1 else [s for s in close if _is_ready(s, purpose)]
        if len(ready) == 1:
            return self._chosen(reference, ready[0])
        return self._choices(
            f"{reference}: ambiguous; these sessions changed within five minutes of each other",
            ready or close,
        )

    def _newest_here(
        self, reference: str, entries: Sequence[SessionEntry], purpose: Purpose
    ) -> ChosenSession | SessionChoices:
        sessions = self._here(entries)
        newest = next(sessions, None)
        if newest is None:
            raise NoInputError(
                f"{reference}: no session was started in {self.here}; see compactctl sessions"
            )
        if purpose == "read":
            return self._chosen(reference, newest)
        why = f"{reference}: a command that writes takes one of these by its id"
        suitable = [session for session in (newest, *sessions) if _is_fit(session, purpose)]
        return self._choices(why, suitable or [newest])

    def _here(self, entries: Iterable[SessionEntry]) -> Iterator[Session]:
        folder = Path(os.path.realpath(self.here))
        near = (e for e in entries if store_named(e.client).may_be_in_project(e, folder))
        return (session for session in shown(near) if is_of(session, folder))

    def _with_id(self, entries: Iterable[SessionEntry], beginning: str) -> Iterator[Session]:
        """Yield the sessions whose id begins so; a file name may hold only a part of an id."""
        if len(beginning) < _MIN_ID_LENGTH:
            return
        for session in load_sessions(e for e in entries if _may_be_called(e, beginning)):
            if session.id.startswith(beginning):
                yield session

    def _one_of(
        self, reference: str, sessions: list[Session], *, announce: bool
    ) -> ChosenSession | SessionChoices:
        if len(sessions) == 1:
            return self._chosen(reference, sessions[0], announce=announce)
        return self._choices(f"{reference}: ambiguous; several ids begin with it", sessions)

    def _titled(
        self, reference: str, entries: Sequence[SessionEntry], title: str, purpose: Purpose
    ) -> ChosenSession | SessionChoices:
        sessions = _titled(shown(entries), title)
        if not sessions:
            raise NoInputError(f"{reference}: no such file or session; see compactctl sessions")
        sessions = [session for session in sessions if _is_fit(session, purpose)] or sessions
        if len(sessions) > 1:
            return self._choices(
                f"{reference}: ambiguous; several titles contain these words", sessions
            )
        return self._chosen(reference, sessions[0])

    def _chosen(self, reference: str, session: Session, *, announce: bool = True) -> ChosenSession:
        _check_readable(reference, store_named(session.entry.client))
        return ChosenSession(path=path_of(session), row=self._ids.row(session), announce=announce)

    def _choices(self, why: str, sessions: Sequence[Session]) -> SessionChoices:
        return SessionChoices(
            why=why,
            rows=tuple(self._ids.row(session) for session in sessions[:MAX_CHOICES]),
            more=max(0, len(sessions) - MAX_CHOICES),
            now=self.now,
            home=str(self.machine.home),
        )

    @cached_property
    def _ids(self) -> ShortIds:
        return ShortIds(self._entries)


def _check_readable(reference: str, store: SessionStore) -> None:
    if store.unsupported_hint:
        raise NotUnderstoodError(
            f"{reference}: sessions of {store.title} are listed, but cannot be read yet; "
            f"{store.unsupported_hint}"
        )


def shown(entries: Iterable[SessionEntry], cache: ResultCache | None = None) -> Iterator[Session]:
    """Yield the sessions that clients themselves would list."""
    visible = (entry for entry in entries if entry.listing.kind not in HIDDEN_KINDS)
    read = load_sessions(visible, cache)
    return (session for session in read if not is_hidden(session))


def _is_compacted(session: Session) -> bool:
    """Return whether compactctl wrote a session: it has an archive, or records with tags."""
    path = session.entry.path
    if session.entry.n_bytes is None:
        path = imported_document(path_of(session), this_machine())
    return bool(archive_files(archive_folder(path))) or _has_tags(str(path))


def _has_tags(path: str) -> bool:
    """Return whether records have tags of compactctl; only files with its key are parsed."""
    try:
        is_marked = any(_METADATA_OBJECT.search(line.data) for line in read_lines(path))
        return is_marked and is_tagged(open_input(path).lines, path)
    except CompactctlError:
        return False


def _is_fit(session: Session, purpose: Purpose) -> bool:
    """Return whether a session can be meant: only a compacted one can be restored."""
    return purpose != "restore" or _is_compacted(session)


def _is_ready(session: Session, purpose: Purpose) -> bool:
    """Return whether there is something to do: a compaction to undo, or a transcript to compact."""
    if purpose == "restore":
        return _is_in_effect(session)
    return not store_named(session.entry.client).unsupported_hint


def _is_in_effect(session: Session) -> bool:
    """Return whether a compaction is in effect; True if unknown, as rewind explains the problem."""
    # Imported late: it loads what reads archives, which commands that only read do not need.
    from compactctl.commands.operations.find_history import history_of

    path = path_of(session)
    try:
        return bool(history_of(open_transcript(path), path).chain)
    except CompactctlError:
        return True


def _may_be_called(entry: SessionEntry, beginning: str) -> bool:
    return entry.id.startswith(beginning) or bool(entry.id and beginning.startswith(entry.id))


def _titled(sessions: Iterable[Session], text: str) -> list[Session]:
    """Return the sessions with this title, else those with a word beginning with each given one."""
    words = [rf"\b{re.escape(word)}" for word in text.casefold().split()]
    titles = [(session, session.details.title.casefold()) for session in sessions]
    same = [session for session, title in titles if title == text.casefold()]
    matching = [s for s, title in titles if words and all(re.search(w, title) for w in words)]
    return same or matching


def path_of(session: Session) -> str:
    """Return the path by which commands read a session."""
    if session.entry.n_bytes is None:
        return database_path(session.entry.client, session.id)
    return str(session.entry.path)
