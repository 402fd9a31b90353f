"""Lists the sessions in clients' stores, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compactctl.commands.sessions.row import Row, ShortIds
from compactctl.commands.sessions.wanted import Wanted, is_hidden
from compactctl.sessions.reading.folders import Folders
from compactctl.sessions.registry import ALL_STORES, newest_entries, sessions_of, store_named
from compactctl.sessions.session import HIDDEN, Entry, Store
from compactctl.store.places import Machine, editors

USUAL = 20
"""How many sessions are listed unless another number is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsOptions:
    """Which sessions, how many of them at most (0 for all), and the time in seconds."""

    wanted: Wanted = field(default_factory=Wanted)
    most: int = USUAL
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsResult:
    """The newest sessions that are wanted.

    ``found`` is how many lie in the stores; ``hidden`` of those that were looked at were left out
    as clients do, and ``unread`` older ones were not looked at. ``searched`` are the folders that
    sessions would be in, where there is none; ``notes`` name what could not be read.
    """

    rows: tuple[Row, ...]
    wanted: Wanted
    home: str
    now: float
    found: int
    hidden: int
    unread: int
    searched: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read, and of how many sessions the recorded size is not believed."""
        doubted = sum(row.at_least is not None for row in self.rows)
        if not doubted:
            return self.notes
        sessions = "1 session holds" if doubted == 1 else f"{doubted:,} sessions hold"
        doubt = (
            f"{sessions} more than the usage recorded in the file; the size after ≥ is counted at"
            " the end of the file, compactctl stats counts all of it"
        )
        return (*self.notes, doubt)


def sessions(options: SessionsOptions, machine: Machine) -> SessionsResult:
    """List sessions. Nothing in a store makes it fail; UsageError for an unknown client."""
    wanted, folders = options.wanted, Folders()
    entries = newest_entries(machine, folders, _stores(wanted))
    # The beginning of an id must mean one session when it is given to a command by itself.
    everywhere = newest_entries(machine, Folders()) if wanted.clients else entries
    in_question = [each for each in entries if wanted.by_place(each)]
    hidden = [] if wanted.hidden else [e for e in in_question if e.known.kind in HIDDEN]
    to_read = [each for each in in_question if wanted.hidden or each.known.kind not in HIDDEN]
    reading = _Reading(wanted=wanted, most=options.most, short_ids=ShortIds(everywhere))
    rows = reading.rows(to_read)
    return SessionsResult(
        rows=rows,
        wanted=wanted,
        home=str(machine.home),
        now=options.now,
        found=len(entries),
        hidden=len(hidden) + reading.hidden,
        unread=len(to_read) - reading.looked_at,
        searched=() if entries else _places(folders.searched, machine),
        notes=tuple(folders.notes),
    )


def _places(searched: Sequence[Path], machine: Machine) -> tuple[str, ...]:
    """Return the folders that were searched; of editors only those of one that is there, if any."""
    absent = [user for user in editors(machine) if not user.is_dir()]
    places = dict.fromkeys(map(str, searched))
    present = [each for each in places if not any(user in Path(each).parents for user in absent)]
    return tuple(present or places)


def _stores(wanted: Wanted) -> Sequence[Store]:
    named = [store_named(name) for name in wanted.clients]
    return [store for store in ALL_STORES if store in named or not named]


@dataclass(slots=True, kw_only=True)
class _Reading:
    """Reads entries until there are enough rows, and counts what it passes by."""

    wanted: Wanted
    most: int
    short_ids: ShortIds
    looked_at: int = 0
    hidden: int = 0

    def rows(self, entries: Sequence[Entry]) -> tuple[Row, ...]:
        """Return the rows that are wanted, at most so many."""
        found: list[Row] = []
        for session in sessions_of(entries):
            self.looked_at += 1
            row = self.short_ids.row(session)
            if not self.wanted.by_contents(row):
                continue
            if is_hidden(session) and not self.wanted.hidden:
                self.hidden += 1
                continue
            found.append(row)
            if len(found) == self.most:
                break
        return tuple(found)
