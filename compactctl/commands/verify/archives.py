"""Proves every archive in a folder by reading all of it."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from compactctl.errors import ArchiveError, CompactctlError, LargeArchiveError, NewerArchiveError
from compactctl.model.operation import ArchivedLine, Digest, Operation
from compactctl.pipeline.edit_codec import read_edits
from compactctl.records import Record
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_file import archived_lines, read_numbered
from compactctl.store.archive.contents import FolderContents
from compactctl.store.archive.displaced import displaced_files, displaced_state
from compactctl.store.archive.growth import matching_states
from compactctl.store.archive.names import archive_name
from compactctl.store.files.limits import ReadLimits

Severity = Literal["note", "repairable", "unknown", "changed", "damaged"]
TranscriptState = Literal["proven", "repairable", "unknown", "changed", "damaged"]
_WORST_FIRST: tuple[TranscriptState, ...] = ("damaged", "changed", "unknown", "repairable")
_NUMBER = re.compile(r"\d{4,}", re.ASCII)
_NOT_LOOKED_INTO = (NewerArchiveError, LargeArchiveError)


class Finding(Record):
    """A finding about a transcript or its archive.

    ``note``: nothing is lost, nothing to do. ``repairable``: ``--repair`` fixes it without loss.
    ``unknown``: it could not be read. ``changed``: the transcript is in no archived state, but the
    archive is intact. ``damaged``: a state cannot be restored. ``rename`` is what a repair renames,
    and to what.
    """

    severity: Severity
    text: str
    rename: tuple[Path, Path] | None = None


class ProvenArchives(Record):
    """The archives that were read to their end, and the findings.

    ``operations`` are the proven ones, by number; ``kept_outcomes`` are the outcomes with which the
    state before another operation begins, or a displaced file; ``n_bytes`` is the size of the
    states in them, ``on_disk`` that of their files.
    """

    archive: Archive
    operations: tuple[Operation, ...]
    kept_outcomes: frozenset[Digest]
    n_bytes: int
    on_disk: int
    findings: tuple[Finding, ...]


class _FoundArchive(Record, kw_only=False):
    path: Path
    number: int | None
    operation: Operation

    @property
    def own_name(self) -> str:
        """Its name in the folder, "" if its number is unknown."""
        return "" if self.number is None else archive_name(self.number, self.operation)


def prove_archives(archive: Archive, lines: Iterable[bytes]) -> ProvenArchives:
    """Read every archive of a lineage and prove that it restores the state before its operation.

    Archives over its limits are not read. ``lines`` are those of the transcript.
    """
    contents, limits = archive.contents, archive.limits
    findings: list[Finding] = []
    candidates = [*_operations(archive, findings)]
    outcomes = frozenset(file.operation.after for file in candidates)
    proven: list[_FoundArchive] = []
    kept_outcomes: set[Digest] = set()
    for file in candidates:
        try:
            kept_outcomes |= _read(file, limits, outcomes)
        except CompactctlError as error:
            findings.append(_refused(error))
        else:
            proven.append(file)
    displaced = (
        outcome
        for outcome in outcomes - kept_outcomes
        if displaced_state(archive.root.contents.displaced, outcome)
    )
    kept_outcomes |= frozenset(displaced)
    reached = kept_outcomes | matching_states(lines, outcomes)
    needed = frozenset(name for file in proven for name in _needs(file))
    needed |= {file.operation for file in displaced_files(archive.root.contents.displaced)}
    linked = [
        file for file in proven if file.operation.after in reached or file.operation.id in needed
    ]
    findings += [*_names(contents, proven, linked), *_gaps(archive, proven)]
    return ProvenArchives(
        archive=archive,
        operations=tuple(file.operation for file in proven),
        kept_outcomes=frozenset(kept_outcomes),
        n_bytes=sum(file.operation.before.n_bytes for file in proven),
        on_disk=sum(file.path.stat().st_size for file in proven),
        findings=tuple(findings),
    )


def worst_state(findings: Iterable[Finding]) -> TranscriptState:
    """Return the worst severity found; ``proven`` if there are only notes."""
    severities = {finding.severity for finding in findings}
    return next((verdict for verdict in _WORST_FIRST if verdict in severities), "proven")


def _operations(archive: Archive, findings: list[Finding]) -> Iterator[_FoundArchive]:
    contents, limits = archive.contents, archive.limits
    for file in contents.archives:
        if file not in archive.files:
            note = Finding(severity="note", text=f"{file.path}: nothing depends on it")
            findings.append(note)
            continue
        try:
            number, operation = read_numbered(file.path, limits)
        except CompactctlError as error:
            findings.append(_refused(error))
        else:
            yield _FoundArchive(file.path, number or file.number, operation)
    for path in contents.misnamed:
        try:
            number, operation = read_numbered(path, limits)
            yield _FoundArchive(path, number or _number_in(path.name), operation)
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
    """Yield the archives with a wrong name; only those ``linked`` to the transcript get it back."""
    well_named = [archive for archive in proven if archive.path.name == archive.own_name]
    in_place = {archive.own_name for archive in well_named}
    ids = {archive.operation.id for archive in well_named}
    for archive in proven:
        if archive.path.name == archive.own_name:
            continue
        is_copy = archive.number is None and archive.operation.id in ids
        if is_copy or archive.own_name in in_place:
            yield _copy(archive, is_stray=archive.path in contents.misnamed)
        elif archive not in linked:
            yield _of_elsewhere(archive)
        else:
            yield _misnamed(archive)


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


def _misnamed(archive: _FoundArchive) -> Finding:
    what = f"{archive.path}: holds operation {archive.operation.id} under another name"
    if not archive.own_name:
        text = f"{what}; give it its name and number back"
        return Finding(severity="damaged", text=text)
    target = archive.path.with_name(archive.own_name)
    text = f"{what}; its own name is {target.name}"
    return Finding(severity="repairable", text=text, rename=(archive.path, target))


def _gaps(archive: Archive, proven: Sequence[_FoundArchive]) -> Iterator[Finding]:
    """Yield the numbers up to the newest archive that no archive has, under any name."""
    contents = archive.contents
    own_numbers = {archive.path: archive.number or 0 for archive in proven}
    numbers = {own_numbers.get(file.path, file.number) for file in contents.archives}
    numbers |= {own_numbers.get(path, 0) for path in contents.misnamed}
    newest = max(numbers, default=1 if contents.lineages else 0)
    missing = sorted({*range(1, newest + 1)} - numbers)
    if missing:
        names = ", ".join(f"{number:04}" for number in missing)
        what, files = "before that operation", "the file"
        if len(missing) > 1:
            what, files = "before each of these operations", "the files"
        yield Finding(
            severity="damaged",
            text=f"{archive.folder}: has no archive {names}; the state {what} cannot be restored, "
            f"put {files} back from a backup",
        )
