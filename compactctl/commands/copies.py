"""Finds the sessions that compactctl wrote as copies of another one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from compactctl.clients.databases import is_in_database
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import Session, SessionEntry
from compactctl.clients.stores import load_sessions, newest_entries, session_at, store_named
from compactctl.commands.archives import find_archives
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.errors import CompactctlError
from compactctl.model.operation import Digest
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.names import archive_folder
from compactctl.store.client_folders import this_machine
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.source import Source, open_input

# A new session has its own id in each line, of about the same length, and a title behind them.
_MORE_LINES, _MORE_BYTES = 3, 2_000


def copies_of(
    path: str,
    source: Source,
    index: Literal[0, -1],
    accepts: Callable[[Session, ArchivedStep], bool],
    *,
    since: float = 0,
) -> Iterator[Session]:
    """Yield the sessions whose first or newest archived operation compacted a copy of ``source``.

    They are in the store of the session at ``path``, or there are none if that is not one stored as
    a file. Newest first, only those with archives written ``since``, and that ``accepts`` returns
    true for; unreadable ones are left out.
    """
    machine = this_machine()
    session = None if is_in_database(path) else session_at(Path(path), machine)
    if session is None:
        return
    for entry in find_archives(machine, FolderScanner()):
        with suppress(CompactctlError):
            copy = session_at(entry.session, machine) if entry.modified >= since else None
            step = None if copy is None else _step(Archive(entry.folder, source.limits), index)
            if copy is None or step is None or copy.id == session.id:
                continue
            is_alike = copy.entry.client == session.entry.client
            is_alike = is_alike and _may_be(step.operation.before, source.digest)
            if is_alike and accepts(copy, step) and _is_copied(step, source, copy, session):
                yield copy


def original_of(session: Session, others: Iterable[SessionEntry]) -> Session | None:
    """Return the one of ``others`` that a session was copied from by compactctl.

    None unless both are as they were written then, and for what cannot be read.
    """
    with suppress(CompactctlError):
        archive = Archive(archive_folder(session.entry.path), READ_LIMITS)
        steps = [
            ArchivedStep(archive=archive, operation=operation, file=file)
            for file, operation in archive.readable
        ]
        written = {step.operation.after for step in steps}
        if steps and open_input(session.entry.path).digest in written:
            alike = (entry for entry in others if any(_may_hold(entry, step) for step in steps))
            originals = load_sessions(alike)
            copied = (o for o in originals for step in steps if _is_copy(session, step, o))
            return next(copied, None)
    return None


def stored_original(path: str) -> Session | None:
    """Return the session that the one at ``path`` was copied from, as ``original_of`` does."""
    machine = this_machine()
    copy = None if is_in_database(path) else session_at(Path(path), machine)
    if copy is None:
        return None
    store = store_named(copy.entry.client)
    return original_of(copy, newest_entries(machine, FolderScanner(), [store]))


def _may_hold(entry: SessionEntry, step: ArchivedStep) -> bool:
    """Return whether a file is about as large as the state before a step."""
    n_bytes = entry.n_bytes
    return n_bytes is not None and abs(step.operation.before.n_bytes - n_bytes) <= _MORE_BYTES


def _is_copy(copy: Session, step: ArchivedStep, original: Session) -> bool:
    """Return whether the state before a step is that of another session, which is still in it."""
    if original.id == copy.id or not _may_hold(original.entry, step):
        return False
    source = open_input(original.entry.path)
    is_alike = _may_be(step.operation.before, source.digest)
    return is_alike and _is_copied(step, source, copy, original)


def _step(archive: Archive, index: int) -> ArchivedStep | None:
    """Return a step of an archive, None if it has none."""
    if not archive.readable:
        return None
    file, operation = archive.readable[index]
    return ArchivedStep(archive=archive, operation=operation, file=file)


def _is_copied(step: ArchivedStep, source: Source, copy: Session, session: Session) -> bool:
    """Return whether the state before a step is ``source`` under the id of its copy."""
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
