"""Proves that everything compactctl removed from transcripts can be restored."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compactctl.asks import INPUT, OUTPUT, READS, WRITES, ask, flag
from compactctl.clients.databases import imported_document, is_in_database
from compactctl.commands.progress import FilesProgress, ProgressTally
from compactctl.commands.reading.discover import TRANSCRIPTS
from compactctl.commands.reading.trees import matches
from compactctl.commands.verify.archives import Finding, TranscriptState, worst_state
from compactctl.commands.verify.surroundings import Surroundings, SurroundingsByFolder
from compactctl.commands.verify.transcript import VerifiedTranscript, verify_transcript
from compactctl.errors import (
    GATE_FAILED,
    ArchiveError,
    ChangedError,
    ChangedMeanwhileError,
    CompactctlError,
    IntegrityError,
    NoInputError,
)
from compactctl.records import Record, replace
from compactctl.store.archive.archive_writer import write_readme
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import (
    README,
    SUFFIX,
    archive_files,
    archive_folder,
    lineage_folders,
    transcript_of,
)
from compactctl.store.archive.permissions import restrict_to_owner
from compactctl.store.client_folders import this_machine
from compactctl.store.files.filesystem import FileSystem, disk_errors, is_folder, sync_folder
from compactctl.store.files.limits import READ_LIMITS, ReadLimits
from compactctl.store.files.stale_drafts import DRAFT, remove_stale_drafts

# A transcript that is being worked on has changed when it is read a second time.
_TRIES = 3
__all__ = ["VerifiedTranscript", "VerifyOptions", "VerifyResult", "verify"]
EXIT_CODES: Mapping[TranscriptState, int] = {
    "damaged": IntegrityError.exit_code,
    "changed": ChangedError.exit_code,
    "unknown": ArchiveError.exit_code,
    "repairable": GATE_FAILED,
    "proven": 0,
}
"""The exit code by the worst verdict, worst first."""


class VerifyOptions(Record):
    """What to verify; ``limits`` apply to the transcripts and to the states in their archives."""

    paths: tuple[str, ...]
    limits: ReadLimits = READ_LIMITS
    repair: bool = flag(
        "Fix what can be fixed without losing data: archive names and permissions, temporary files "
        "of killed runs.",
        OUTPUT,
        WRITES,
    )
    exclude: tuple[str, ...] = ask(
        (), "Skip files matching GLOB (repeatable).", INPUT, READS, metavar="GLOB"
    )


class VerifyResult(Record):
    """The results of all compacted transcripts, in the order of the paths.

    ``looked_at`` counts all files that were examined.
    """

    transcripts: tuple[VerifiedTranscript, ...]
    looked_at: int

    @property
    def verdicts(self) -> Mapping[TranscriptState, int]:
        """The number of transcripts by verdict."""
        counts = Counter(transcript.verdict for transcript in self.transcripts)
        return {verdict: counts[verdict] for verdict in EXIT_CODES}

    @property
    def exit_code(self) -> int:
        """The code of the worst verdict: 7 if anything is damaged, 0 if everything is proven."""
        verdicts = {transcript.verdict for transcript in self.transcripts}
        return next((code for verdict, code in EXIT_CODES.items() if verdict in verdicts), 0)


def verify(options: VerifyOptions, progress: FilesProgress | None = None) -> VerifyResult:
    """Verify every compacted transcript among files and below folders.

    Raises NoInputError if there is none, and for a path that does not exist; DiskError and
    ChangedError if a repair fails.
    """
    places = SurroundingsByFolder()
    paths = tuple(dict.fromkeys(_find_transcripts(options, places)))
    sizes = [_size(path) for path in paths]
    tally = ProgressTally(
        [(_name(path), n) for path, n in zip(paths, sizes, strict=True)], progress
    )
    results: list[VerifiedTranscript] = []
    for path, n_bytes in zip(paths, sizes, strict=True):
        result = path if isinstance(path, VerifiedTranscript) else _verified(path, options, places)
        if result is not None:
            results.append(result)
        tally.done(_name(path), n_bytes)
    if not results:
        names = ", ".join(options.paths)
        raise NoInputError(
            f"{names}: no compacted transcript found; name transcripts that compactctl wrote, or "
            "folders that hold them"
        )
    return VerifyResult(transcripts=tuple(results), looked_at=len(paths))


def repair(fs: FileSystem, path: Path, findings: Sequence[Finding], around: Surroundings) -> None:
    """Carry out the repairs named by findings; no archive and no transcript is changed.

    Archives and their folder get their names back, drafts of killed runs are removed, the folder is
    made private and gets its README. ``around`` describes the folder of the transcript. Raises
    DiskError, and ChangedError while another run is writing there.
    """
    folder = archive_folder(path)
    renames = [finding.rename for finding in findings if finding.rename]
    with disk_errors(folder, "repaired in part"):
        around.sweep(fs)
        moved = [(source, place) for source, place in renames if place.name.endswith(SUFFIX)]
        for source, place in moved:
            _rename(fs, source, place)
        folder = archive_folder(path)
        if not is_folder(folder):
            return
        with locked_folder(fs, folder):
            lineages = lineage_folders(folder)
            _exchange(fs, [rename for rename in renames if rename[1].parent in lineages])
            for lineage in lineages:
                remove_stale_drafts(fs, lineage)
            if moved or not (folder / README).exists():
                write_readme(fs, folder)
            restrict_to_owner(fs, folder)


def _find_transcripts(
    options: VerifyOptions, places: SurroundingsByFolder
) -> Iterator[Path | VerifiedTranscript]:
    for name in options.paths:
        path = Path(name)
        if path.name.endswith(SUFFIX) and path.is_dir():
            yield _transcript_of(path, places)
        elif path.is_dir():
            yield from _below(path, options.exclude, places)
        elif is_in_database(name):
            yield from _in_database(name, options, places)
        elif not os.path.lexists(path) and not _is_archived(path):
            raise NoInputError(f"{name}: no such file or folder; name existing ones")
        else:
            yield path


def _in_database(
    name: str, options: VerifyOptions, places: SurroundingsByFolder
) -> Iterator[VerifiedTranscript]:
    path = imported_document(name, this_machine())
    result = verify_transcript(path, places[path.parent], options.limits, name)
    if result is not None:
        yield replace(result, path=name)


def _transcript_of(folder: Path, places: SurroundingsByFolder) -> Path:
    """Return the transcript of an archive folder, even if it was renamed."""
    path = transcript_of(folder)
    return path if path.exists() else places[path.parent].transcript_of(folder) or path


def _below(
    root: Path, exclude: Sequence[str], places: SurroundingsByFolder
) -> Iterator[Path | VerifiedTranscript]:
    """Yield the files below a folder that may be compacted, and folders that could not be read."""
    problems: list[OSError] = []
    for parent, folders, files in os.walk(root, onerror=problems.append):
        folder = Path(parent)
        remaining_names = sorted(
            name for name in folders if not _is_excluded(root, folder / name, exclude)
        )
        archives = {
            name for name in remaining_names if name.endswith(SUFFIX) and _is_archive(folder / name)
        }
        folders[:] = [name for name in remaining_names if name not in archives]
        paths = {_named_below(root, _transcript_of(folder / name, places)) for name in archives}
        paths |= {folder / name for name in files if _may_be_compacted(name)}
        yield from sorted(path for path in paths if not _is_excluded(root, path, exclude))
    for problem in problems:
        yield _unreadable(problem)


def _named_below(root: Path, path: Path) -> Path:
    """Return a path as the walk from ``root`` names it, unless it is elsewhere.

    The archives of a session are not beside it.
    """
    real_root = os.path.realpath(root)
    return root / path.relative_to(real_root) if path.is_relative_to(real_root) else path


def _is_excluded(root: Path, path: Path, exclude: Sequence[str]) -> bool:
    name = path.relative_to(root) if path.is_relative_to(root) else path
    return matches(name.as_posix(), exclude)


def _is_archive(folder: Path) -> bool:
    return bool(archive_files(folder)) or any(folder.glob("*.parquet"))


def _may_be_compacted(name: str) -> bool:
    return matches(name, TRANSCRIPTS) and not DRAFT.fullmatch(name)


def _unreadable(problem: OSError) -> VerifiedTranscript:
    text = f"{problem.filename}: cannot be read ({problem.strerror}); check its permissions"
    return _unread(str(problem.filename), Finding(severity="unknown", text=text))


def _unread(path: str, finding: Finding) -> VerifiedTranscript:
    return VerifiedTranscript(
        path=path,
        verdict=worst_state((finding,)),
        operations=0,
        n_bytes=0,
        on_disk=0,
        findings=(finding,),
    )


def _is_archived(path: Path) -> bool:
    return is_folder(archive_folder(path))


def _size(path: Path | VerifiedTranscript) -> int:
    try:
        return 0 if isinstance(path, VerifiedTranscript) else path.stat().st_size
    except OSError:
        return 0


def _name(target: Path | VerifiedTranscript) -> str:
    return str(target.path if isinstance(target, VerifiedTranscript) else target)


def _verified(
    path: Path, options: VerifyOptions, places: SurroundingsByFolder
) -> VerifiedTranscript | None:
    first = _verdict(path, options, places)
    repairable = (
        [finding for finding in first.findings if finding.severity == "repairable"] if first else []
    )
    if first is None or not repairable or not options.repair:
        return first
    repair(FileSystem(), path, repairable, places[path.parent])
    if any(finding.rename for finding in repairable):
        del places[path.parent]
    second = _verdict(path, options, places)
    if second is None:
        return first
    done = tuple(finding.text for finding in repairable if finding not in second.findings)
    return replace(second, repaired=done)


def _verdict(
    path: Path, options: VerifyOptions, places: SurroundingsByFolder, tries: int = _TRIES
) -> VerifiedTranscript | None:
    """Verify a transcript, once more if it changes meanwhile; an error is a finding."""
    try:
        return verify_transcript(path, places[path.parent], options.limits)
    except ChangedMeanwhileError as error:
        if tries > 1:
            return _verdict(path, options, places, tries - 1)
        return _unread(str(path), Finding(severity="changed", text=str(error)))
    except CompactctlError as error:
        return _unread(str(path), Finding(severity="unknown", text=str(error)))
    except OSError as error:
        return _unreadable(error)


def _exchange(fs: FileSystem, renames: Sequence[tuple[Path, Path]]) -> None:
    """Rename files whose new names others of them may still have."""
    sources = {source for source, _ in renames}
    for _, place in renames:
        if place in sources:
            _rename(fs, place, place.with_name(f"moved-{place.name}"))
    for source, place in renames:
        moved = source.with_name(f"moved-{source.name}")
        _rename(fs, moved if moved.exists() else source, place)


def _rename(fs: FileSystem, source: Path, place: Path) -> None:
    if not place.exists():
        fs.rename(source, place)
        sync_folder(fs, place.parent)
