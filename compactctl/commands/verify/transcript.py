"""Proves that every state of one transcript can be restored."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from compactctl.clients.registry import ALL_FORMATS
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import inline_operations, missing_archive_text
from compactctl.commands.operations.restorable import (
    doubtful_outcomes,
    lost_before_newest,
    lost_states,
)
from compactctl.commands.reading.transcript import (
    TranscriptFile,
    is_compacted,
    loaded_from,
    open_transcript,
    parse,
)
from compactctl.commands.verify.archives import (
    Finding,
    ProvenArchives,
    TranscriptState,
    prove_archives,
    worst_state,
)
from compactctl.commands.verify.surroundings import Surroundings, is_marked
from compactctl.errors import (
    ArchiveError,
    ChangedError,
    ChangedMeanwhileError,
    CompactctlError,
    MissingArchiveError,
    NoInputError,
)
from compactctl.model.operation import Operation
from compactctl.records import Record, replace
from compactctl.store.archive.archive import Archive, read_archive
from compactctl.store.archive.displaced import displaced_files, end_of_lineage
from compactctl.store.archive.names import SUFFIX, archive_folder
from compactctl.store.archive.permissions import is_open_to_others, tamper_warning
from compactctl.store.files.limits import READ_LIMITS, ReadLimits
from compactctl.store.files.parquet_dataset import FORMAT
from compactctl.store.files.source import Source, split_lines
from compactctl.store.files.stale_drafts import stale_drafts


class VerifiedTranscript(Record):
    """The result of verifying one transcript.

    ``operations`` counts those proven to be reversible, ``n_bytes`` the decompressed bytes read
    from archives, ``on_disk`` the size of their files. ``repaired`` lists what a repair has fixed.
    """

    path: str
    verdict: TranscriptState
    operations: int
    n_bytes: int
    on_disk: int
    findings: tuple[Finding, ...]
    repaired: tuple[str, ...] = ()


def verify_transcript(
    path: Path, around: Surroundings, limits: ReadLimits = READ_LIMITS, session: str = ""
) -> VerifiedTranscript | None:
    """Prove every state of a transcript; None if it is not compacted. Writes nothing.

    ``around`` describes its folder. ``session`` is read instead if it was imported from the file.
    """
    # An operation that is published meanwhile is not carried out in what is read first.
    source = _source(path, session or str(path), limits)
    lines = () if isinstance(source, Finding) else source.lines
    folder = archive_folder(path)
    archive = read_archive(folder, lines, limits)
    try:
        _ = archive.root.contents
    except ArchiveError as error:
        return _verified(path, (Finding(severity="unknown", text=str(error)),))
    archives = prove_archives(archive, lines)
    others = [prove_archives(lineage, ()) for lineage in archive.others]
    findings = (
        *archives.findings,
        *_folder(folder, archive),
        *_drafts(path, folder, around),
        *chain.from_iterable(_of_lineage(other, lines) for other in others),
    )
    if not archives.operations and worst_state(archives.findings) == "proven":
        if isinstance(source, Finding) or not is_marked(source):
            return None
        return _inside(path, source, around, archives, findings)
    if isinstance(source, Finding):
        return _verified(path, (*findings, source), archives)
    verified = _beside(path, source, archives, findings)
    return replace(
        verified,
        operations=verified.operations + sum(len(proven.operations) for proven in others),
        n_bytes=verified.n_bytes + sum(proven.n_bytes for proven in others),
        on_disk=verified.on_disk + sum(proven.on_disk for proven in others),
    )


def _of_lineage(proven: ProvenArchives, lines: Sequence[bytes]) -> Iterator[Finding]:
    """Yield what cannot be restored of another first state, which the transcript replaced.

    ``lines`` are those of the transcript.
    """
    yield from proven.findings
    if worst_state(proven.findings) == "proven":
        lineage = proven.archive
        end = end_of_lineage(lineage, lines)
        history = OperationHistory(lineage, end, str(lineage.folder))
        yield from _not_kept(history, proven)


def _not_kept(history: OperationHistory, archives: ProvenArchives) -> Iterator[Finding]:
    """Yield the states that cannot be restored, and outcomes that may never have been written."""
    lost = lost_states(history)
    yield from (Finding(severity="damaged", text=state.why) for state in lost)
    doubtful = doubtful_outcomes(history, lost, archives.kept_outcomes)
    yield from (Finding(severity="note", text=state.why) for state in doubtful)


def _verified(
    path: Path,
    findings: tuple[Finding, ...],
    archives: ProvenArchives | None = None,
    operations: int | None = None,
) -> VerifiedTranscript:
    proven = archives.operations if archives else ()
    return VerifiedTranscript(
        path=str(path),
        verdict=worst_state(findings),
        operations=len(proven) if operations is None else operations,
        n_bytes=archives.n_bytes if archives else 0,
        on_disk=archives.on_disk if archives else 0,
        findings=tuple(dict.fromkeys(findings)),
    )


def _source(path: Path, name: str, limits: ReadLimits) -> Source | Finding:
    try:
        return open_transcript(name, limits)
    except NoInputError as error:
        if not path.exists():
            text = (
                f"{path}: is missing, and its archive is there; put it back from a backup, or "
                f"restore a state by hand as {archive_folder(path)}/README says"
            )
            return Finding(severity="damaged", text=text)
        empty = path.is_file() and path.stat().st_size == 0
        return Finding(severity="changed" if empty else "unknown", text=str(error))
    except CompactctlError as error:
        return Finding(severity="unknown", text=str(error))


def _folder(folder: Path, archive: Archive) -> Iterator[Finding]:
    contents = archive.root.contents
    if not contents.archives:
        return
    if not contents.has_readme:
        yield Finding(severity="repairable", text=f"{folder}: has no README")
    yield from _strangers(folder)
    for path in contents.unknown:
        yield Finding(
            severity="note", text=f"{path}: was not written by compactctl and was left alone"
        )
    operation_ids = {file.id for lineage in archive.lineages for file in lineage.files}
    for file in displaced_files(contents.displaced):
        if file.size is not None and file.operation not in operation_ids:
            text = f"{file.path}: was displaced by an operation whose archive is not here"
            yield Finding(severity="note", text=text)


def _strangers(folder: Path) -> Iterator[Finding]:
    """Yield the access of other users to an archive folder, which a repair removes."""
    is_open, warning = is_open_to_others(folder), tamper_warning(folder)
    if warning:
        yield Finding(severity="repairable" if is_open else "note", text=warning)
    elif is_open:
        yield Finding(severity="repairable", text=f"{folder}: other users may read it")


def _drafts(path: Path, folder: Path, around: Surroundings) -> Iterator[Finding]:
    # The repair of another transcript may have removed some.
    beside = (draft for draft in around.drafts if path.name in draft.name and draft.exists())
    for draft in (*stale_drafts(folder), *beside):
        yield Finding(severity="repairable", text=f"{draft}: was left behind by a killed run")


def _inside(
    path: Path,
    source: Source,
    around: Surroundings,
    archives: ProvenArchives,
    findings: tuple[Finding, ...],
) -> VerifiedTranscript | None:
    """Verify a transcript without archives that holds records of ours."""
    moved = around.folder_of(source)
    if moved is not None:
        text = f"{moved}: is its archive folder, under an earlier name of the transcript"
        place = (moved, moved.with_name(path.name + SUFFIX))
        return _verified(path, (Finding(severity="repairable", text=text, rename=place),))
    try:
        loaded = loaded_from(source, str(path))
    except CompactctlError as error:
        return _verified(path, (Finding(severity="damaged", text=str(error)),))
    if not is_compacted(loaded.lines, loaded.transcript):
        return None
    return _with_history(path, loaded, archives, findings)


def _with_history(
    path: Path, loaded: TranscriptFile, archives: ProvenArchives, findings: tuple[Finding, ...]
) -> VerifiedTranscript:
    # A client may have moved its session without the archives.
    archive = archives.archive if archives.archive.root.files else None
    history = history_behind(loaded, archive=archive)
    history_findings = tuple(_prove_history(loaded, history, archives))
    verified = _verified(path, (*findings, *history_findings), archives)
    if verified.verdict in ("damaged", "changed"):
        return verified
    return _verified(path, verified.findings, archives, len(history.timeline.steps))


def _prove_history(
    loaded: TranscriptFile, history: OperationHistory, archives: ProvenArchives
) -> Iterator[Finding]:
    """Yield what is wrong with the operations from the transcript back to its first state.

    ``archives`` are the transcript's, all of them proven.
    """
    try:
        steps, _ = history.timeline.steps, history.chain
    except ChangedMeanwhileError:
        raise
    except (ChangedError, MissingArchiveError) as error:
        lost = tuple(_without_archive(loaded, archives))
        whole = "every state in the archive can be restored" if archives.operations else ""
        text = f"{error}; {whole}" if whole else str(error)
        if isinstance(error, ChangedError):
            yield from (*lost, Finding(severity="changed", text=text))
        else:
            yield Finding(severity="damaged" if lost else "changed", text=text)
        earlier = lost_before_newest(history)
        yield from (Finding(severity="damaged", text=state.why) for state in earlier)
        yield from _late(history, "it has the only copy")
        return
    except CompactctlError as error:
        yield Finding(severity="damaged", text=str(error))
        return
    lost = tuple(_without_archive(loaded, archives, {step.id for step in steps}))
    if not (steps or lost):
        yield _nothing_to_restore(loaded)
    yield from lost
    yield from _not_kept(history, archives)
    newest = history.archived[-1] if history.archived else None
    # An interrupted operation leaves the transcript in the state before it.
    if newest and not history.is_around(newest):
        yield _changed(loaded, newest.operation)
    yield from _late(history, "the next rewind or compact --in-place merges it")


def _without_archive(
    loaded: TranscriptFile, archives: ProvenArchives, known_ids: Collection[str] = ()
) -> Iterator[Finding]:
    """Yield the operations that records of the transcript name and that nothing can undo.

    Those with an archive in any lineage can be undone.
    """
    named = {m.tags.operation for m in loaded.transcript.messages if m.tags.operation}
    archived = {operation.id for operation in archives.operations} | archives.archive.all_ids
    missing = named - archived - {*known_ids}
    if missing:
        text = missing_archive_text(loaded.source.path, missing)
        yield Finding(severity="damaged", text=text)


def _nothing_to_restore(loaded: TranscriptFile) -> Finding:
    """Return the finding for a compacted transcript without a known operation."""
    path = loaded.source.path
    folder = archive_folder(path) if path is not None else "it"
    text = f"{path}: was compacted, but its archive is not here; put {folder} back"
    return Finding(severity="damaged", text=text)


def _changed(loaded: TranscriptFile, operation: Operation) -> Finding:
    """Return the finding for a transcript in no state around its newest operation."""
    text = (
        f"{loaded.source.path}: was edited since operation {operation.id}, or restored from a "
        "backup; every state in the archive can be restored"
    )
    return Finding(severity="changed", text=text)


def _late(history: OperationHistory, outcome: str) -> Iterator[Finding]:
    """Yield what was written to replaced files; ``outcome`` says what becomes of it."""
    try:
        written = history.late
    except CompactctlError as error:
        yield Finding(severity="unknown", text=str(error))
        return
    for late in written:
        if late.data:
            n_lines = len(split_lines(late.block(b"")))
            what = "1 line was" if n_lines == 1 else f"{n_lines:,} lines were"
            text = f"{what} written to {late.file.path} after it was replaced; {outcome}"
            yield Finding(severity="note", text=text)


def _beside(
    path: Path, source: Source, archives: ProvenArchives, findings: tuple[Finding, ...]
) -> VerifiedTranscript:
    """Verify a transcript with archives beside it."""
    verdict = worst_state(archives.findings)
    if verdict not in ("proven", "repairable"):
        return _verified(path, findings, archives)
    try:
        loaded = _read(source, path, archives.operations[-1].format)
        if verdict == "repairable":
            return _verified(path, (*findings, *_lost_operations(loaded, archives)), archives)
    except ChangedMeanwhileError:
        raise
    except CompactctlError as error:
        return _verified(path, (*findings, Finding(severity="changed", text=str(error))), archives)
    return _with_history(path, loaded, archives, findings)


def _read(source: Source, path: Path, format_name: str) -> TranscriptFile:
    """Read a transcript; of a data set only the bytes, since it holds no tags."""
    if format_name != FORMAT:
        return loaded_from(source, str(path), format_name or None)
    chosen = ALL_FORMATS[-1]
    return TranscriptFile(source=source, format=chosen, transcript=parse((), chosen))


def _lost_operations(loaded: TranscriptFile, archives: ProvenArchives) -> Iterator[Finding]:
    """Yield the operations that the transcript names and that have no archive under any name."""
    inside = {operation.id for operation in inline_operations(loaded.lines, loaded.transcript)}
    yield from _without_archive(loaded, archives, inside)
