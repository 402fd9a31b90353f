"""Finds the new session that an earlier rescue made of a session that has not changed since."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from compactctl.commands.archives.found import all_archives
from compactctl.commands.loading.database_path import is_in_database
from compactctl.commands.operations.history import OperationHistory, history_of
from compactctl.errors import CompactctlError
from compactctl.model.operation import Digest
from compactctl.sessions.reading.folders import Folders
from compactctl.sessions.registry import session_at
from compactctl.sessions.session import Session
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.lines import Source, open_input
from compactctl.store.places import Machine, this_machine

# A new session has its own id in each line, of about the same length, and a title behind them.
_MORE_LINES, _MORE_BYTES = 3, 2_000


def earlier_rescue(path: str, limits: ReadLimits) -> Session | None:
    """Return the newest compacted session that was made of the one at ``path`` as it is now.

    None for what is in no store of files, and where no such session is there and in effect.
    """
    machine = this_machine()
    session = None if is_in_database(path) else session_at(Path(path), machine)
    if session is None:
        return None
    source = open_input(path, limits)
    return next(_made_of(session, source, machine, limits), None)


def _made_of(
    session: Session, source: Source, machine: Machine, limits: ReadLimits
) -> Iterator[Session]:
    for archive in all_archives(machine, Folders()):
        try:
            new = session_at(archive.session, machine)
            if new is None or new.entry.client != session.entry.client or new.id == session.id:
                continue
            history = history_of(open_input(str(archive.session), limits), str(archive.session))
            if _begins_as(history, source, new.id.encode(), session.id.encode()):
                yield new
        except CompactctlError:
            continue


def _begins_as(history: OperationHistory, source: Source, new: bytes, old: bytes) -> bool:
    """Tell whether the first state of a history is a session under another id, and compacted."""
    if not history.archived or not _may_be(history.archived[0].operation.before, source.digest):
        return False
    state = [line.replace(new, old) for line in history.archived[0].before()]
    return _is_same(state, source.lines) and bool(history.chain)


def _may_be(state: Digest, source: Digest) -> bool:
    more_lines = state.n_lines - source.n_lines
    more_bytes = abs(state.n_bytes - source.n_bytes)
    return 0 <= more_lines <= _MORE_LINES and more_bytes <= _MORE_BYTES


def _is_same(state: Sequence[bytes], lines: Sequence[bytes]) -> bool:
    """Compare lines; the first of several may say what a session was made of.

    A last line without an end has one where lines were added to it.
    """
    first = len(lines) > 1
    pairs = zip(state[first:], lines[first:], strict=False)
    return all(line.removesuffix(b"\n") == other.removesuffix(b"\n") for line, other in pairs)
