"""Proves that every state of one transcript can be restored."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compactctl.commands.loading.load import Loaded, is_compacted, loaded_from, parse
from compactctl.commands.operations.history import history_behind
from compactctl.commands.verify.archives import ProvenArchives, prove_archives
from compactctl.commands.verify.finding import Finding, TranscriptState, worst_state
from compactctl.commands.verify.history import lost_operations, prove_history
from compactctl.commands.verify.surroundings import Surroundings, is_marked
from compactctl.errors import ArchiveError, CompactctlError, NoInputError
from compactctl.formats.registry import ALL_FORMATS
from compactctl.store.archive.contents import FolderContents, contents_of
from compactctl.store.archive.names import SUFFIX, archive_folder
from compactctl.store.archive.private import check_owner, is_open_to_others, strangers_way
from compactctl.store.files.data_set import FORMAT
from compactctl.store.files.leftovers import left_behind
from compactctl.store.files.limits import READ_LIMITS, ReadLimits
from compactctl.store.files.lines import Source, open_input


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedTranscript:
    """What a verification of one transcript came to.

    ``operations`` counts what was proven to be there to take back, ``n_bytes`` what was read of
    archives, unpacked, ``on_disk`` the size of their files. ``repaired`` says what a repair has
    set right.
    """

    path: str
    verdict: TranscriptState
    operations: int
    n_bytes: int
    on_disk: int
    findings: tuple[Finding, ...]
    repaired: tuple[str, ...] = ()


def verify_transcript(
    path: Path, around: Surroundings, limits: ReadLimits = READ_LIMITS
) -> VerifiedTranscript | None:
    """Prove every state of a transcript; None when it is not a compacted one. Writes nothing.

    ``around`` is what stands in its folder.
    """
    folder = archive_folder(path)
    try:
        check_owner(folder)
        contents = contents_of(folder)
    except (ArchiveError, OSError) as error:
        return _verified(path, (Finding(severity="unknown", text=_text(folder, error)),))
    source = _source(path, limits)
    lines = () if isinstance(source, Finding) else source.lines
    archives = prove_archives(contents, limits, lines)
    findings = (*archives.findings, *_folder(folder, contents), *_drafts(path, folder, around))
    if not archives.operations and worst_state(archives.findings) == "proven":
        if isinstance(source, Finding) or not is_marked(source):
            return None
        return _inside(path, source, around, archives, findings)
    if isinstance(source, Finding):
        return _verified(path, (*findings, source), archives)
    return _beside(path, source, archives, findings)


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


def _inside(
    path: Path,
    source: Source,
    around: Surroundings,
    archives: ProvenArchives,
    findings: tuple[Finding, ...],
) -> VerifiedTranscript | None:
    """Judge a transcript without archives that holds records of ours."""
    moved = around.folder_of(source)
    if moved is not None:
        text = f"{moved}: is its archive folder, named for what the transcript was called before"
        place = (moved, moved.with_name(path.name + SUFFIX))
        return _verified(path, (Finding(severity="repairable", text=text, rename=place),))
    try:
        loaded = loaded_from(source, str(path))
    except CompactctlError as error:
        return _verified(path, (Finding(severity="damaged", text=str(error)),))
    if not is_compacted(loaded.lines, loaded.transcript):
        return None
    return _with_history(path, loaded, archives, findings)


def _beside(
    path: Path, source: Source, archives: ProvenArchives, findings: tuple[Finding, ...]
) -> VerifiedTranscript:
    """Judge a transcript with archives beside it."""
    verdict = worst_state(archives.findings)
    if verdict not in ("proven", "repairable"):
        return _verified(path, findings, archives)
    try:
        loaded = _read(source, path, archives.operations[-1].format)
        if verdict == "repairable":
            return _verified(path, (*findings, *lost_operations(loaded, archives)), archives)
    except CompactctlError as error:
        return _verified(path, (*findings, Finding(severity="changed", text=str(error))), archives)
    return _with_history(path, loaded, archives, findings)


def _read(source: Source, path: Path, format_name: str) -> Loaded:
    """Read a transcript; of a data set nothing but its bytes, as nothing in it carries tags."""
    if format_name != FORMAT:
        return loaded_from(source, str(path), format_name or None)
    chosen = ALL_FORMATS[-1]
    return Loaded(source=source, format=chosen, transcript=parse((), chosen))


def _with_history(
    path: Path, loaded: Loaded, archives: ProvenArchives, findings: tuple[Finding, ...]
) -> VerifiedTranscript:
    history = history_behind(loaded)
    found = tuple(prove_history(loaded, history, archives))
    verified = _verified(path, (*findings, *found), archives)
    if verified.verdict in ("damaged", "changed"):
        return verified
    return _verified(path, verified.findings, archives, len(history.steps))


def _source(path: Path, limits: ReadLimits) -> Source | Finding:
    try:
        return open_input(path, limits)
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


def _folder(folder: Path, contents: FolderContents) -> Iterator[Finding]:
    if not contents.archives:
        return
    if not contents.has_readme:
        yield Finding(severity="repairable", text=f"{folder}: has no README")
    yield from _strangers(folder)
    for path in contents.foreign:
        yield Finding(severity="note", text=f"{path}: is not of compactctl, and was left alone")
    known = {file.id for file in contents.archives}
    for path in contents.displaced:
        if not any(path.name.removeprefix("displaced-").startswith(name) for name in known):
            text = f"{path}: was displaced by an operation whose archive is not here"
            yield Finding(severity="note", text=text)


def _strangers(folder: Path) -> Iterator[Finding]:
    """Yield what other users may do in an archive folder, which a repair takes from them."""
    is_open, way = is_open_to_others(folder), strangers_way(folder)
    if way:
        yield Finding(severity="repairable" if is_open else "note", text=way)
    elif is_open:
        yield Finding(severity="repairable", text=f"{folder}: other users may read it")


def _drafts(path: Path, folder: Path, around: Surroundings) -> Iterator[Finding]:
    # A repair of another transcript may have removed some since.
    beside = (each for each in around.drafts if path.name in each.name and each.exists())
    for draft in (*left_behind(folder), *beside):
        yield Finding(severity="repairable", text=f"{draft}: was left behind by a killed run")


def _text(folder: Path, error: Exception) -> str:
    return f"{folder}: {error.strerror}" if isinstance(error, OSError) else str(error)
