"""Decide which files may be overwritten without ``--force``: only those that can be restored."""

import os
from pathlib import Path
from typing import Literal

from compactctl.errors import ChangedError, UsageError
from compactctl.records import Record
from compactctl.store.archive.archive import Archive, lineage_behind, lineage_of
from compactctl.store.archive.displaced import count_archive_links
from compactctl.store.archive.names import SUFFIX, archive_files, archive_folder, check_length
from compactctl.store.files.content import Content, FileChunks
from compactctl.store.files.locks import has_writer
from compactctl.store.files.objects import is_object
from compactctl.store.files.source import FileIdentity, Source, sha256_of


def is_same_place(path: str | os.PathLike[str], output: str | os.PathLike[str]) -> bool:
    """Return whether two paths are the same, symbolic links followed; hard links are different."""
    return os.path.realpath(path) == os.path.realpath(output)


def check_outside_archives(path: str | os.PathLike[str]) -> None:
    """Raise UsageError for a path among archives, which nothing can restore; even with force."""
    folder = Path(os.path.realpath(path)).parent
    if folder.name.endswith(SUFFIX) and archive_files(folder):
        raise UsageError(f"{path}: inside the archive of a transcript; write elsewhere")


def check_output(path: str | os.PathLike[str], shown: str = "") -> None:
    """Raise UsageError for a path that no output can have, even with force.

    It is a folder, its folder does not exist, or it is among archives. ``shown`` is the name of the
    path in the error.
    """
    shown = shown or str(path)
    if is_object(shown):
        raise UsageError(f"{shown}: cannot be written to an object store; name a file")
    real_path = os.path.realpath(path)
    # Unlike those of Path, these functions do not raise for impossible names.
    if os.path.isdir(real_path):  # noqa: PTH112
        raise UsageError(f"{shown}: is a folder; name a file")
    if not os.path.isdir(os.path.dirname(real_path)):  # noqa: PTH112, PTH120
        raise UsageError(f"{shown}: its folder does not exist; create it first")
    check_outside_archives(path)


Existing = Literal["free", "ours", "unknown"]
"""What an output would overwrite.

It is free if no bytes would be lost: those that are there are written again, or were read in this
run from the input or an archive. It is ours if it grew from a state that is archived, and else
unknown.
"""


def existing_at(path: Path, content: Content, archive: Archive, source: Source | None) -> Existing:
    """Return what is at a path, where ``content`` is to be written.

    ``archive`` is that of the output, or of the transcript that it is a state of. Raises
    ArchiveError and IntegrityError if a lineage of it cannot be read: what is at the path may be
    all that is left of an original.
    """
    if not path.exists():
        return "free"
    for lineage in archive.lineages:
        _ = lineage.operations
    sha256 = sha256_of(path)
    read = source.digest.sha256 if source and source.path else ""
    if sha256 in {content.digest.sha256, read}:
        return "free"
    if any(lineage.holds(sha256) for lineage in archive.lineages):
        return "free"
    return "unknown" if lineage_of(archive, FileChunks(path)) is None else "ours"


def check_existing(path: Path, existing: Existing, *, links: int = 1) -> None:
    """Raise unless a file may be overwritten.

    ``links`` is the number of hard links that it may have. Raises UsageError for bytes that would
    be lost or more links, and ChangedError if a program has the file open for writing.
    """
    if existing == "ours":
        raise UsageError(
            f"{path}: holds the only copy of a state; use another name, or --force to overwrite it"
        )
    if existing == "unknown":
        raise unknown_file_error(path)
    if path.exists():
        check_not_shared(path, links=links)


def unknown_file_error(path: Path) -> UsageError:
    """Return the error for a file that compactctl may not have written."""
    return UsageError(
        f"{path}: exists, and may not be compactctl's own output; use another name, or "
        "--force to overwrite it"
    )


def check_not_shared(path: Path, *, links: int) -> None:
    """Raise if a hard link or a running program would keep using the replaced file."""
    if path.stat().st_nlink > links:
        raise UsageError(
            f"{path}: has hard links, which would keep the old content; write a new file with "
            "-o, or use --force"
        )
    if has_writer(path):
        raise ChangedError(
            f"{path}: open for writing in another program, which would keep writing to the old "
            "file; close it first, write a new file with -o, or use --force"
        )


def check_archive_fits(path: Path, content: Content) -> None:
    """Raise UsageError if the archives of ``path`` do not belong to the new content."""
    root = Archive(archive_folder(path))
    try:
        lineage_behind(root, content.chunks).match_transcript(content.chunks)
    except ChangedError as error:
        raise UsageError(
            f"{path}: has its own archive, which would no longer match; use another name, or "
            "--force to overwrite it"
        ) from error


class OutputTarget(Record):
    """Where to publish, symbolic links followed.

    ``replaced_input`` is the input if it is the file that is replaced, and None otherwise.
    ``is_only_copy`` means that the file that is replaced is the only copy of a state.
    """

    path: Path
    replaced_input: FileIdentity | None = None
    is_only_copy: bool = False


def check_target(source: Source, target: Path, content: Content, *, force: bool) -> OutputTarget:
    """Resolve ``target``; UsageError or ChangedError if it must not be written.

    ``content`` is to be written. ``force`` allows overwriting an unknown file, a file with hard
    links, and one that a program has open for writing.
    """
    path = Path(os.path.realpath(target)) if target.is_symlink() else target
    if path.exists() and not path.is_file():
        raise UsageError(f"{target}: is not a regular file; name another one with -o")
    if not path.parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist; create it first")
    check_outside_archives(path)
    check_length(path)
    if source.path and source.identity and path.exists() and path.samefile(source.path):
        _check_in_place(source, path, force=force)
        return OutputTarget(path=path, replaced_input=source.identity)
    folder = archive_folder(path)
    existing = existing_at(path, content, Archive(folder), source)
    if not force:
        # The only copy is linked into the archive folder before it is replaced.
        links = 1 + count_archive_links(path, folder)
        check_existing(path, "free" if existing == "ours" else existing, links=links)
    return OutputTarget(path=path, is_only_copy=existing == "ours")


def _check_in_place(source: Source, path: Path, *, force: bool) -> None:
    if source.is_compressed:
        raise UsageError(f"{path}: is compressed; write a new file with -o instead of in place")
    if not force:
        check_not_shared(path, links=1 + count_archive_links(path, archive_folder(path)))
