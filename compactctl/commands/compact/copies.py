"""Finds the sessions that compactctl wrote as copies of another one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from compactctl.commands.archives import find_archives
from compactctl.commands.operations.find_history import history_of
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.reading.transcript import is_in_database
from compactctl.errors import CompactctlError
from compactctl.model.operation import Digest
from compactctl.sessions.reading.folders import FolderScanner
from compactctl.sessions.registry import session_at
from compactctl.sessions.session import Session
from compactctl.store.client_folders import this_machine
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import Source, open_input

# A new session has its own id in each line, of about the same length, and a title behind them.
_MORE_LINES, _MORE_BYTES = 3, 2_000


def sessions_beside(
    path: str, limits: ReadLimits, *, since: float = 0
) -> Iterator[tuple[Session, Session, OperationHistory]]:
    """Yield the session at ``path`` with each other one of its client that has archives.

    The latter comes with its history; newest first, and only those with archives written ``since``.
    Yields nothing if ``path`` is not a session stored as a file.
    """
    machine = this_machine()
    session = None if is_in_database(path) else session_at(Path(path), machine)
    if session is None:
        return
    for archive in find_archives(machine, FolderScanner()):
        try:
            copy = session_at(archive.session, machine) if archive.modified >= since else None
            if (
                copy is not None
                and copy.entry.client == session.entry.client
                and copy.id != session.id
            ):
                where = str(archive.session)
                yield session, copy, history_of(open_input(where, limits), where)
        except CompactctlError:
            continue


def is_copied(step: ArchivedStep, source: Source, copy: Session, session: Session) -> bool:
    """Return whether the state before a step is ``source`` under the id of its copy."""
    if not _may_be(step.operation.before, source.digest):
        return False
    new, old = copy.id.encode(), session.id.encode()
    return _is_same([line.replace(new, old) for line in step.before()], source.lines)


def _may_be(before: Digest, source: Digest) -> bool:
    more_lines = before.n_lines - source.n_lines
    more_bytes = abs(before.n_bytes - source.n_bytes)
    return 0 <= more_lines <= _MORE_LINES and more_bytes <= _MORE_BYTES


def _is_same(state: Sequence[bytes], lines: Sequence[bytes]) -> bool:
    """Compare lines, except the first of several: it may name the session that was copied.

    Line ends are ignored: an unterminated last line got one when lines were appended to it.
    """
    first = len(lines) > 1
    pairs = zip(state[first:], lines[first:], strict=False)
    return all(line.removesuffix(b"\n") == original.removesuffix(b"\n") for line, original in pairs)
