"""Proves every archive in a folder by reading all of it."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compactctl.errors import ArchiveError, CompactctlError, LargeArchiveError, NewerArchiveError
from compactctl.model.operation import ArchivedLine, Digest, Operation
from compactctl.pipeline.edit_codec import read_edits
from compactctl.store.archive.archive import matching_states
from compactctl.store.archive.archive_file import archived_lines, read_operation
from compactctl.store.archive.contents import FolderContents
from compactctl.store.archive.displaced import displaced_state
from compactctl.store.archive.names import archive_name
from compactctl.store.files.limits import ReadLimits

Severity = Literal["note", "repairable", "unknown", "changed", "damaged"]
TranscriptState = Literal["proven", "repairable", "unknown", "changed", "damaged"]
_WORST_FIRST: tuple[TranscriptState, ...] = ("damaged", "changed", "unknown", "repairable")
_NUMBER = re.compile(r"\d{4,}", re.ASCII)
_NOT_LOOKED_INTO = (NewerArchiveError, LargeArchiveError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is worth saying about a transcript or its archive.

    ``note``: nothing is lost and nothing is to be done. ``repairable``: ``--repair`` sets it
    right and loses nothing. ``unknown``: it could not be looked into. ``changed``: the transcript
    is in no state that its archive knows, but the archive is whole. ``damaged``: a state cannot
    be restored. ``rename`` is what a repair renames, and to what.
    """

    severity: Severity
    text: str
    rename: tuple[Path, Path] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenArchives:
    """The archives that were read to their end, and what was found.

    ``operations`` are the proven ones, by number; ``kept`` the outcomes with which the state
    before another operation begins, or a displaced file; ``n_bytes`` the size of the states in
    them, ``on_disk`` that of their files.
    """

    operations: tuple[Operation, ...]
    kept: frozenset[Digest]
    n_bytes: int
    on_disk: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _FoundArchive:
    path: Path
    number: int | None
    operation: Operation


def prove_archives(
    contents: FolderContents, limits: ReadLimits, lines: Iterable[bytes] = ()
) -> ProvenArchives:
    """Read every archive in the folder and prove that it gives the state before its operation.

    What holds more than ``limits`` is not looked into. ``lines`` are those of the transcript.
    """
    findings: list[Finding] = []
    known = [*_operations(contents, limits, findings)]
    outcomes = frozenset(archive.operation.after for archive in known)
    proven: list[_FoundArchive] = []
    kept: set[Digest] = set()
    for archive in known:
        try:
            kept |= _read(archive, limits, outcomes)
        except CompactctlError as error:
            findings.append(_refused(error))
        else:
            proven.append(archive)
    displaced = (each for each in outcomes - kept if displaced_state(contents.displaced, each))
    kept |= frozenset(displaced)
    reached = kept | matching_states(lines, outcomes)
    needed = frozenset(name for archive in proven for name in _needs(archive))
    linked = [
        archive
        for archive in proven
        if archive.operation.after in reached or archive.operation.id in needed
    ]
    findings += _names(contents, proven, linked)
    findings += [*_gaps(contents, proven)] or [*_reversed(proven)]
    return ProvenArchives(
        operations=tuple(each.operation for each in proven),
        kept=frozenset(kept),
        n_bytes=sum(each.operation.before.n_bytes for each in proven),
        on_disk=sum(each.path.stat().st_size for each in proven),
        findings=tuple(findings),
    )


def worst_state(findings: Iterable[Finding]) -> TranscriptState:
    """Return the worst that was found; ``proven`` when there is nothing but notes."""
    found = {finding.severity for finding in findings}
    return next((verdict for verdict in _WORST_FIRST if verdict in found), "proven")


def _operations(
    contents: FolderContents, limits: ReadLimits, findings: list[Finding]
) -> Iterator[_FoundArchive]:
    for file in contents.archives:
        try:
            yield _FoundArchive(file.path, file.number, read_operation(file.path, limits))
        except CompactctlError as error:
            findings.append(_refused(error))
    for path in contents.misnamed:
        try:
            yield _FoundArchive(path, _number_in(path.name), read_operation(path, limits))
        except _NOT_LOOKED_INTO as error:
            findings.append(_refused(error))
        except CompactctlError as error:
            text = f"{error}; it is not named as an archive is, and nothing depends on it"
            findings.append(Finding(severity="note", text=text))


def _refused(error: CompactctlError) -> Finding:
    severity: Severity = "unknown" if isinstance(error, _NOT_LOOKED_INTO) else "damaged"
    return Finding(severity=severity, text=str(error))


def _number_in(name: str) -> int | None:
    match = _NUMBER.match(name)
    return int(match[0]) if match else None


def _read(
    archive: _FoundArchive, limits: ReadLimits, outcomes: Collection[Digest]
) -> frozenset[Digest]:
    """Read an archive to its end; return the outcomes that the state in it begins with."""
    before = archive.operation.before
    edits: list[str] = []
    sizes: list[int] = []
    lines = archived_lines(archive.path, limits)
    found = matching_states(_raw(lines, edits, sizes), {*outcomes, before})
    if before not in found or sum(sizes) != before.n_bytes:
        raise ArchiveError(
            f"{archive.path}: does not give back the state before; restore it from a backup"
        )
    read_edits(edits, archive.path)
    return found & frozenset(outcomes)


def _raw(lines: Iterable[ArchivedLine], edits: list[str], sizes: list[int]) -> Iterator[bytes]:
    for line in lines:
        if line.edits:
            edits.append(line.edits)
        sizes.append(len(line.raw))
        yield line.raw


def _needs(archive: _FoundArchive) -> frozenset[str]:
    operation = archive.operation
    return frozenset(filter(None, (operation.parent, operation.head))) - {operation.id}


def _names(
    contents: FolderContents, proven: Sequence[_FoundArchive], linked: Collection[_FoundArchive]
) -> Iterator[Finding]:
    """Yield the archives that do not have their own name, and what it is where that is clear.

    Only those that are ``linked`` to the transcript can get it back.
    """
    right = {each.path for each in proven if each.path.name == _name(each, each.number)}
    ids = {each.operation.id for each in proven if each.path in right}
    free = _free_numbers(contents, right)
    for each in proven:
        if each.path in right:
            continue
        if each.operation.id in ids:
            yield _copy(each, is_stray=each.path in contents.misnamed)
            continue
        if each not in linked:
            yield _of_elsewhere(each)
            continue
        number = each.number if each.number in free else free[0] if len(free) == 1 else None
        yield _misnamed(each, number)


def _name(archive: _FoundArchive, number: int | None) -> str:
    return "" if number is None else archive_name(number, archive.operation)


def _free_numbers(contents: FolderContents, right: Collection[Path]) -> list[int]:
    """Return the numbers that no rightly named archive has, up to the next one."""
    taken = {file.number for file in contents.archives if file.path in right}
    n_all = len(contents.archives) + len(contents.misnamed)
    return [number for number in range(1, max(n_all, *taken, 0) + 1) if number not in taken]


def _copy(archive: _FoundArchive, *, is_stray: bool) -> Finding:
    what = f"{archive.path}: holds operation {archive.operation.id}, as another archive does"
    if is_stray:
        return Finding(severity="note", text=what)
    text = f"{what}; restore the one that belongs here from a backup"
    return Finding(severity="damaged", text=text)


def _of_elsewhere(archive: _FoundArchive) -> Finding:
    text = (
        f"{archive.path}: holds operation {archive.operation.id}, which led to no state of this "
        "transcript; restore the archive that belongs here from a backup"
    )
    return Finding(severity="damaged", text=text)


def _misnamed(archive: _FoundArchive, number: int | None) -> Finding:
    what = f"{archive.path}: holds operation {archive.operation.id} under another name"
    if number is None:
        text = f"{what}; give it its name and number back"
        return Finding(severity="damaged", text=text)
    place = archive.path.with_name(_name(archive, number))
    text = f"{what}; its own name is {place.name}"
    return Finding(severity="repairable", text=text, rename=(archive.path, place))


def _gaps(contents: FolderContents, proven: Sequence[_FoundArchive]) -> Iterator[Finding]:
    """Yield the numbers up to the newest archive that are not there under any name."""
    numbers = {file.number for file in contents.archives}
    moved = {each.number for each in proven if each.path in contents.misnamed}
    missing = sorted(set(range(1, max(numbers, default=0) + 1)) - numbers - moved)
    if missing and not contents.misnamed:
        names = ", ".join(f"{number:04}" for number in missing)
        what, files = "before that operation", "the file"
        if len(missing) > 1:
            what, files = "before each of these operations", "the files"
        text = (
            f"{contents.archives[0].path.parent}: has no archive {names}; the state {what} cannot "
            f"be restored, put {files} back from a backup"
        )
        if len(proven) == len(contents.archives) and _is_closed(proven):
            text += f"; if none was lost, {_renumbering(proven)}"
        yield Finding(severity="damaged", text=text)


def _is_closed(proven: Sequence[_FoundArchive]) -> bool:
    """Tell whether all operations build upon one another alone."""
    ids = {each.operation.id for each in proven}
    return all(_needs(each) <= ids for each in proven)


def _renumbering(proven: Sequence[_FoundArchive]) -> str:
    """Return which archives to rename for numbers without gaps, in the order they were written.

    That no number is missing then says nothing any more, so this is left to a person.
    """
    names = ((each.path.name, _name(each, n)) for n, each in enumerate(_in_order(proven), 1))
    return "rename " + ", ".join(f"{old} to {new}" for old, new in names if old != new)


def _in_order(proven: Sequence[_FoundArchive]) -> Iterator[_FoundArchive]:
    """Yield the archives by when they were written, each after those that it builds upon."""
    left = sorted(proven, key=lambda each: (each.operation.recorded_at, each.number or 0))
    while left:
        ids = {each.operation.id for each in left}
        following = next((each for each in left if ids.isdisjoint(_needs(each))), left[0])
        left.remove(following)
        yield following


def _reversed(proven: Sequence[_FoundArchive]) -> Iterator[Finding]:
    """Yield the archives that are numbered before what they build upon."""
    numbers: dict[str, int] = {}
    for each in proven:
        numbers.setdefault(each.operation.id, each.number or 0)
    for each in proven:
        upon = each.operation.parent
        if upon and (each.number or 0) < numbers.get(upon, 0):
            text = (
                f"{each.path}: builds upon operation {upon}, which has a higher number; "
                f"{_renumbering(proven)}"
            )
            yield Finding(severity="damaged", text=text)
