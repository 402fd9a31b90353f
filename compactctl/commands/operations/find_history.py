"""Finds the archives of a transcript, and with them its history."""

from collections.abc import Iterator
from contextlib import suppress
from glob import escape
from itertools import chain, islice
from pathlib import Path

from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import may_name_operation
from compactctl.commands.reading.transcript import TranscriptFile
from compactctl.errors import CompactctlError
from compactctl.store.archive.archive import Archive, lineage_of, origin_among, read_archive
from compactctl.store.archive.displaced import end_of_lineage
from compactctl.store.archive.names import SUFFIX, archive_folder, folders_for
from compactctl.store.client_folders import archives_folder, store_containing, this_machine
from compactctl.store.files.filesystem import is_folder
from compactctl.store.files.source import STANDARD_STREAM, Source

# More archives than a folder of sessions has; each is opened.
_MAX_FOLDERS = 1_000
# The suffix that Codex adds to a session that it compresses.
_PACKED = ".zst"


def history_of(
    source: Source,
    where: str,
    format_name: str | None = None,
    folder: Path | None = None,
    archive: Archive | None = None,
) -> OperationHistory:
    """Return the history behind a source; ``where`` names it in errors.

    ``folder`` is its archive folder if that is not at the default location, ``archive`` what was
    read of it already.
    """
    folder = folder or _archive_of(source)
    if archive is None and folder is not None:
        archive = read_archive(folder, source.lines, source.limits)
    return OperationHistory(archive, source.lines, where, format_name, source.path)


def history_behind(
    loaded: TranscriptFile, folder: Path | None = None, archive: Archive | None = None
) -> OperationHistory:
    """Return the history behind a transcript that was read; see ``history_of``."""
    where = loaded.source.name or str(loaded.source.path or STANDARD_STREAM)
    return history_of(loaded.source, where, loaded.format.name, folder, archive)


def other_histories(history: OperationHistory) -> Iterator[OperationHistory]:
    """Yield the histories of the other lineages of a transcript, each up to when it was replaced.

    One whose end cannot be read ends with no lines.
    """
    for lineage in history.archive.others if history.archive else ():
        try:
            end = end_of_lineage(lineage, history.lines)
        except CompactctlError:
            end = ()
        yield OperationHistory(lineage, end, history.where)


def archive_advice(source: Source, path: str) -> str:
    """Return what the user can do if the archive of a compacted transcript is not in its place."""
    if source.path is None or path == STANDARD_STREAM:
        return "name the file instead"
    archive = _matching_archive(source)
    if archive is not None:
        return f"{archive} matches; pass it with --archive"
    return f"put {archive_folder(source.path)} back, or pass --archive DIR"


def _archive_of(source: Source) -> Path | None:
    """Return the archive folder of a transcript, which need not exist; None for a pipe.

    If a client moved, compressed or renamed its session, the matching archive nearby is used.
    """
    if source.path is None:
        return source.archive
    folder = archive_folder(source.path)
    if is_folder(folder) or store_containing(source.path, this_machine()) is None:
        return folder
    is_compacted = any(map(may_name_operation, source.lines))
    return (_matching_archive(source) if is_compacted else None) or folder


def _matching_archive(source: Source) -> Path | None:
    """Return the archive folder whose digests match a transcript, None if there is none nearby.

    Checks the folders beside the file, and those of the same name in the user's state folder. Of
    several, the one counts that would if they were lineages of one.
    """
    if source.path is None:
        return None
    folders = islice(_nearby_archives(source.path), _MAX_FOLDERS)
    archives = (Archive(folder, source.limits) for folder in folders)
    lineages = (archive.lineages for archive in archives if fits(archive, source))
    origin = origin_among(chain.from_iterable(lineages), source.lines)
    return None if origin is None else origin.root.folder


def _nearby_archives(path: Path) -> Iterator[Path]:
    for parent in folders_for(path.absolute().parent):
        yield from sorted(parent.glob(f"*{SUFFIX}"))
    yield from sorted(
        archives_folder(this_machine()).rglob(f"{escape(path.name.removesuffix(_PACKED))}{SUFFIX}")
    )


def fits(archive: Archive, source: Source) -> bool:
    """Return whether a transcript grew from an outcome of an archive; False if that is damaged."""
    with suppress(CompactctlError, OSError):
        lineage = lineage_of(archive, source.lines)
        return lineage is not None and lineage.match_transcript(source.lines)[0] is not None
    return False
