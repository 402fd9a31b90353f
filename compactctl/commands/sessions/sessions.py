"""Lists the sessions in clients' stores, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compactctl.commands.sessions.row import SessionRow, ShortIds
from compactctl.commands.sessions.wanted import SessionFilter, is_hidden
from compactctl.sessions.reading.folders import Folders
from compactctl.sessions.registry import ALL_STORES, newest_entries, sessions_of, store_named
from compactctl.sessions.session import HIDDEN, Store
from compactctl.store.places import Machine, editors


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsResult:
    """The newest sessions that are wanted.

    ``found`` is how many lie in the stores; ``hidden`` of those that were looked at were left out
    as clients do, and ``unread`` older ones were not looked at. ``searched`` are the folders that
    sessions would be in, where there is none; ``notes`` name what could not be read.
    """

    rows: tuple[SessionRow, ...]
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


def sessions(wanted: SessionFilter, machine: Machine, now: float) -> SessionsResult:
    """List sessions; ``now`` is in seconds since the epoch.

    Nothing in a store makes it fail; UsageError for an unknown client.
    """
    folders = Folders()
    entries = newest_entries(machine, folders, _stores(wanted))
    # The beginning of an id must mean one session when it is given to a command by itself.
    everywhere = newest_entries(machine, Folders()) if wanted.clients else entries
    in_question = [entry for entry in entries if wanted.may_match(entry)]
    to_read = [e for e in in_question if wanted.hidden or e.known.kind not in HIDDEN]
    rows: list[SessionRow] = []
    short_ids, n_read, n_hidden = ShortIds(everywhere), 0, len(in_question) - len(to_read)
    for session in sessions_of(to_read):
        n_read += 1
        row = short_ids.row(session)
        if not wanted.matches(row):
            continue
        if is_hidden(session) and not wanted.hidden:
            n_hidden += 1
            continue
        rows.append(row)
        if len(rows) == wanted.limit:
            break
    return SessionsResult(
        rows=tuple(rows),
        home=str(machine.home),
        now=now,
        found=len(entries),
        hidden=n_hidden,
        unread=len(to_read) - n_read,
        searched=() if entries else _places(folders.searched, machine),
        notes=tuple(folders.notes),
    )


def _places(searched: Sequence[Path], machine: Machine) -> tuple[str, ...]:
    """Return the folders that were searched; of editors only those of one that is there, if any."""
    absent = [user for user in editors(machine) if not user.is_dir()]
    places = dict.fromkeys(map(str, searched))
    present = [each for each in places if not any(user in Path(each).parents for user in absent)]
    return tuple(present or places)


def _stores(wanted: SessionFilter) -> Sequence[Store]:
    named = [store_named(name) for name in wanted.clients]
    return [store for store in ALL_STORES if store in named or not named]
