"""Resolves references to sessions: the newest, an id or its beginning, or words of a title."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from itertools import chain, islice, takewhile
from pathlib import Path

from compactctl.clients.databases import database_path, imported_document, imported_documents
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import HIDDEN_KINDS, Session, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.clients.stores import (
    ALL_STORES,
    find_store,
    is_client,
    load_sessions,
    newest_entries,
    store_named,
)
from compactctl.commands.folder_choice import Purpose, are_close, choose_in_folder
from compactctl.commands.reading.candidates import NO_CANDIDATES, Candidate, Candidates
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

LATEST = "latest"
HERE = "."
MAX_CHOICES = 15
"""The maximum number of candidates to list."""
_ELSEWHERE = 5
"""The number of sessions of other folders to list where none was started."""
# A shorter abbreviation of an id may as well be a word.
_MIN_ID_LENGTH = 4
_METADATA_OBJECT = re.compile(rf'"{METADATA_KEY}":\s*\{{'.encode())
_FILES = (*TRANSCRIPTS, "*.parquet")
_NONE: Mapping[Purpose, str] = {
    "read": "no session found",
    "write": "no session found",
    "rescue": "no session found",
    "restore": "no compacted session found",
}


class ChosenSession(Record):
    """The meaning of a reference: a path, and the session unless it is a transcript in a folder.

    ``announce`` means that the user should be told what was chosen.
    """

    path: str
    row: SessionRow | None = None
    announce: bool = False


class SessionChoices(Record):
    """The sessions and transcripts that may be meant, and why none of them was chosen.

    ``more`` counts older sessions that are not in ``rows``, and ``files`` are transcripts.
    """

    why: str
    rows: tuple[SessionRow, ...]
    more: int
    now: float
    home: str
    files: Candidates = NO_CANDIDATES

    @property
    def references(self) -> tuple[str, ...]:
        """What to type for each: ids of sessions, then paths of transcripts."""
        ids = (row.short_id for row in self.rows)
        return (*ids, *(path_in(self.files.folder, file) for file in self.files.files))


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
        client = find_store(reference)
        entries, name = self._addressed(
            reference if client is None else f"{client.client}:{LATEST}"
        )
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

    def choose_in(self, files: Candidates, purpose: Purpose) -> ChosenSession | SessionChoices:
        """Return what is meant in the folder of these transcripts, or what may be meant.

        Raises NoInputError if there is nothing, and NotUnderstoodError if sessions of the chosen
        one's client cannot be read.
        """
        sessions = self._suitable(self._started_in(files.folder, self._entries), purpose)
        match choose_in_folder(purpose, files, sessions):
            case Candidate() as file:
                return ChosenSession(path=path_in(files.folder, file), announce=True)
            case Session() as session:
                return self._chosen(str(files.folder), session)
            case None:
                return self._choices_in(files, purpose)

    def choice(self, choices: SessionChoices, number: int) -> ChosenSession:
        """Return one of the choices by its number from 0: the sessions, then the transcripts.

        Raises NotUnderstoodError if sessions of its client cannot be read.
        """
        if number >= len(choices.rows):
            return ChosenSession(path=choices.references[number])
        session = choices.rows[number].session
        return self._chosen(session.id, session, announce=False)

    def _choices_in(self, files: Candidates, purpose: Purpose) -> SessionChoices:
        """Return the transcripts and sessions of a folder; for rescue, else those of others."""
        here = self._suitable(self._started_in(files.folder, self._entries), purpose)
        folder = os.path.realpath(files.folder)
        if purpose == "rescue":
            newest = _close(here)
            if newest:
                return self._choices("name the session; these changed within five minutes", newest)
            for session in self._started_in(files.folder, self._entries):
                _check_readable(folder, store_named(session.entry.client))
            others = [*islice(self._suitable(_in_use(self._entries), purpose), _ELSEWHERE)]
            if not others:
                raise NoInputError(f"{_NONE[purpose]}; see compactctl sessions --all")
            return self._choices(
                f"no session was started in {folder}; the newest of others", others
            )
        rows = () if purpose == "read" else [*here]
        if not (rows or files.files):
            kind = "compacted " if purpose == "restore" else ""
            raise NoInputError(
                f"no {kind}transcript in {folder}, and no {kind}session was started there"
            )
        return self._choices("name the session or transcript", rows, files)

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
        candidates = _in_use(entries)
        if purpose != "read":
            candidates = self._suitable(candidates, purpose)
        newest = next(candidates, None)
        if newest is None:
            name = "" if reference == LATEST else f"{reference}: "
            raise NoInputError(f"{name}{_NONE[purpose]}; see compactctl sessions --all")
        if purpose == "read":
            return self._chosen(reference, newest)
        close = _close(chain([newest], candidates))
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
        sessions = [*self._suitable(self._started_in(self.here, entries), purpose)]
        if not sessions:
            folder = os.path.realpath(self.here)
            raise NoInputError(
                f"{reference}: no session was started in {folder}; see compactctl sessions"
            )
        session = choose_in_folder(purpose, NO_CANDIDATES, sessions)
        if isinstance(session, Session):
            return self._chosen(reference, session)
        return self._choices(f"{reference}: this command takes one of these by its id", sessions)

    def _started_in(self, folder: Path, entries: Iterable[SessionEntry]) -> Iterator[Session]:
        folder = Path(os.path.realpath(folder))
        near = (e for e in entries if store_named(e.client).may_be_in_project(e, folder))
        return (session for session in _in_use(near) if is_of(session, folder))

    def _suitable(self, sessions: Iterable[Session], purpose: Purpose) -> Iterator[Session]:
        """Yield the sessions that a purpose allows, without copies that nobody continued."""
        for session in sessions:
            match purpose:
                case "restore":
                    is_suitable = _is_compacted(session)
                case "rescue":
                    is_suitable = _is_ready(session, purpose)
                    is_suitable = is_suitable and not self._is_unchanged_copy(session)
                case _:
                    is_suitable = not self._is_unchanged_copy(session)
            if is_suitable:
                yield session

    def _is_unchanged_copy(self, session: Session) -> bool:
        """Return whether compactctl wrote a session as a copy of one that is as it was then."""
        if session.entry.n_bytes is None or not archive_files(archive_folder(session.entry.path)):
            return False
        # Imported late: it loads what reads archives, which few sessions have.
        from compactctl.commands.copies import original_of

        others = (e for e in self._entries if e.client == session.entry.client)
        return original_of(session, others) is not None

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

    def _choices(
        self, why: str, sessions: Sequence[Session], files: Candidates = NO_CANDIDATES
    ) -> SessionChoices:
        return SessionChoices(
            why=why,
            rows=tuple(self._ids.row(session) for session in sessions[:MAX_CHOICES]),
            more=max(0, len(sessions) - MAX_CHOICES),
            now=self.now,
            home=str(self.machine.home),
            files=files,
        )

    @cached_property
    def _ids(self) -> ShortIds:
        return ShortIds(self._entries)


def path_in(folder: Path, file: Candidate) -> str:
    """Return the path of a file in a folder; one that starts with a dash gets ./ before it."""
    path = str(folder / file.name)
    return f".{os.sep}{path}" if path.startswith("-") else path


def _close(sessions: Iterable[Session]) -> list[Session]:
    """Return the first session, and those that changed at about the same time."""
    sessions = iter(sessions)
    newest = next(sessions, None)
    if newest is None:
        return []
    return [newest, *takewhile(partial(are_close, newest), sessions)]


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


def _in_use(entries: Iterable[SessionEntry]) -> Iterator[Session]:
    """Yield what may be meant by no name: users did not archive it, and clients list it."""
    return shown(entry for entry in entries if not entry.archived)


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
