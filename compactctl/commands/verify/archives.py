"""Proves every archive in a folder by reading all of it."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compactctl.errors import ArchiveError, CompactctlError, LargeArchiveError, NewerArchiveError
from compactctl.model.operation import ArchivedLine, Digest, Operation
from compactctl.pipeline.edit_codec import read_edits
from compactctl.store.archive.archive_file import archived_lines, read_operation
from compactctl.store.archive.contents import FolderContents
from compactctl.store.archive.displaced import displaced_state
from compactctl.store.archive.growth import matching_states
from compactctl.store.archive.names import archive_name
from compactctl.store.files.limits import ReadLimits

Severity = Literal["note", "repairable", "unknown", "changed", "damaged"]
TranscriptState = Literal["proven", "repairable", "unknown", "changed", "damaged"]
_WORST_FIRST: tuple[TranscriptState, ...] = ("damaged", "changed", "unknown", "repairable")
_NUMBER = re.compile(r"\d{4,}", re.ASCII)
_NOT_LOOKED_INTO = (NewerArchiveError, LargeArchiveError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding about a transcript or its archive.

    ``note``: nothing is lost, nothing to do. ``repairable``: ``--repair`` fixes it without loss.
    ``unknown``: it could not be read. ``changed``: the transcript is in no archived state, but the
    archive is intact. ``damaged``: a state cannot be restored. ``rename`` is what a repair renames,
    and to what.
    """

    severity: Severity
    text: str
    rename: tuple[Path, Path] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenArchives:
    """The archives that were read to their end, and the findings.

    ``operations`` are the proven ones, by number; ``kept_outcomes`` are the outcomes with which the
    state before another operation begins, or a displaced file; ``n_bytes`` is the size of the
    states in them, ``on_disk`` that of their files.
    """

    operations: tuple[Operation, ...]
    kept_outcomes: frozenset[Digest]
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
    """Read every archive in the folder and prove that it restores the state before its operation.

    Archives over ``limits`` are not read. ``lines`` are those of the transcript.
    """
    findings: list[Finding] = []
    candidates = [*_operations(contents, limits, findings)]
    outcomes = frozenset(archive.operation.after for archive in candidates)
    proven: list[_FoundArchive] = []
    kept_outcomes: set[Digest] = set()
    for archive in candidates:
        try:
            kept_outcomes |= _read(archive, limits, outcomes)
        except CompactctlError as error:
            findings.append(_refused(error))
        else:
            proven.append(archive)
    displaced = (
        outcome
        for outcome in outcomes - kept_outcomes
        if displaced_state(contents.displaced, outcome)
    )
    kept_outcomes |= frozenset(displaced)
    reached = kept_outcomes | matching_states(lines, outcomes)
    needed = frozenset(name for archive in proven for name in _needs(archive))
    linked = [
        archive
        for archive in proven
        if archive.operation.after in reached or archive.operation.id in needed
    ]
    findings += _names(contents, proven, linked)
    findings += [*_gaps(contents, proven)] or [*_reversed(proven)]
    return ProvenArchives(
        operations=tuple(archive.operation for archive in proven),
        kept_outcomes=frozenset(kept_outcomes),
        n_bytes=sum(archive.operation.before.n_bytes for archive in proven),
        on_disk=sum(archive.path.stat().st_size for archive in proven),
        findings=tuple(findings),
    )


def worst_state(findings: Iterable[Finding]) -> TranscriptState:
    """Return the worst severity found; ``proven`` if there are only notes."""
    severities = {finding.severity for finding in findings}
    return next((verdict for verdict in _WORST_FIRST if verdict in severities), "proven")


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
            text = f"{error}; it is not named like an archive, and nothing depends on it"
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
    """Read an archive to its end; return the outcomes that its state begins with."""
    before = archive.operation.before
    edits: list[str] = []
    sizes: list[int] = []
    lines = archived_lines(archive.path, limits)
    states = matching_states(_raw(lines, edits, sizes), {*outcomes, before})
    if before not in states or sum(sizes) != before.n_bytes:
        raise ArchiveError(
            f"{archive.path}: archive damaged; it does not restore the original; use a backup"
        )
    read_edits(edits, archive.path)
    return states & frozenset(outcomes)


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
    """Yield the archives with a wrong name, and the right one if it is certain.

    Only archives ``linked`` to the transcript can get their name back.
    """
    well_named = {
        archive.path for archive in proven if archive.path.name == _name(archive, archive.number)
    }
    ids = {archive.operation.id for archive in proven if archive.path in well_named}
    free_numbers = _free_numbers(contents, well_named)
    for archive in proven:
        if archive.path in well_named:
            continue
        if archive.operation.id in ids:
            yield _copy(archive, is_stray=archive.path in contents.misnamed)
            continue
        if archive not in linked:
            yield _of_elsewhere(archive)
            continue
        number = (
            archive.number
            if archive.number in free_numbers
            else free_numbers[0]
            if len(free_numbers) == 1
            else None
        )
        yield _misnamed(archive, number)


def _name(archive: _FoundArchive, number: int | None) -> str:
    return "" if number is None else archive_name(number, archive.operation)


def _free_numbers(contents: FolderContents, well_named: Collection[Path]) -> list[int]:
    """Return the numbers that no correctly named archive has, up to the next one."""
    used = {file.number for file in contents.archives if file.path in well_named}
    n_all = len(contents.archives) + len(contents.misnamed)
    return [number for number in range(1, max(n_all, *used, 0) + 1) if number not in used]


def _copy(archive: _FoundArchive, *, is_stray: bool) -> Finding:
    what = f"{archive.path}: holds operation {archive.operation.id}, like another archive"
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
    target = archive.path.with_name(_name(archive, number))
    text = f"{what}; its own name is {target.name}"
    return Finding(severity="repairable", text=text, rename=(archive.path, target))


def _gaps(contents: FolderContents, proven: Sequence[_FoundArchive]) -> Iterator[Finding]:
    """Yield the numbers up to the newest archive that no archive has, under any name."""
    numbers = {file.number for file in contents.archives}
    moved = {archive.number for archive in proven if archive.path in contents.misnamed}
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
    """Return whether all operations build only upon one another."""
    ids = {archive.operation.id for archive in proven}
    return all(_needs(archive) <= ids for archive in proven)


def _renumbering(proven: Sequence[_FoundArchive]) -> str:
    """Return which archives to rename for numbers without gaps, in the order they were written.

    Renaming hides that a number is missing, so this is left to the user.
    """
    names = (
        (archive.path.name, _name(archive, number))
        for number, archive in enumerate(_in_order(proven), 1)
    )
    return "rename " + ", ".join(f"{old} to {new}" for old, new in names if old != new)


def _in_order(proven: Sequence[_FoundArchive]) -> Iterator[_FoundArchive]:
    """Yield the archives by the time they were written, each after those it builds upon."""
    remaining = sorted(
        proven, key=lambda archive: (archive.operation.recorded_at, archive.number or 0)
    )
    while remaining:
        ids = {archive.operation.id for archive in remaining}
        next_archive = next(
            (archive for archive in remaining if ids.isdisjoint(_needs(archive))), remaining[0]
        )
        remaining.remove(next_archive)
        yield next_archive


def _reversed(proven: Sequence[_FoundArchive]) -> Iterator[Finding]:
    """Yield the archives that are numbered before an operation they build upon."""
    numbers: dict[str, int] = {}
    for archive in proven:
        numbers.setdefault(archive.operation.id, archive.number or 0)
    for archive in proven:
        upon = archive.operation.parent
        if upon and (archive.number or 0) < numbers.get(upon, 0):
            text = (
                f"{archive.path}: builds upon operation {upon}, which has a higher number; "
                f"{_renumbering(proven)}"
            )
            yield Finding(severity="damaged", text=text)
