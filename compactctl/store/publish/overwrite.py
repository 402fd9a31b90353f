"""Decide which files may be overwritten without ``--force``: only those that can be restored."""

import os
from collections.abc import Iterable
from pathlib import Path

from compactctl.errors import ChangedError, UsageError
from compactctl.model.operation import Digest
from compactctl.records import dataclass
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.displaced import count_archive_links
from compactctl.store.archive.names import SUFFIX, archive_files, archive_folder
from compactctl.store.files.content import Content
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


def check_overwrite(path: Path, restorable: Iterable[Digest], *, links: int = 1) -> None:
    """Raise unless the file at ``path`` does not exist or may be overwritten by an output.

    ``restorable`` are the states that may be overwritten: those that compactctl wrote or keeps, and
    the new one. ``links`` is the number of hard links that the file may have. Raises UsageError for
    other content or more links, and ChangedError if a program has the file open for writing.
    """
    if not path.exists():
        return
    if sha256_of(path) not in {digest.sha256 for digest in restorable}:
        raise unknown_file_error(path)
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
    try:
        Archive(archive_folder(path)).match_transcript(content.chunks)
    except ChangedError as error:
        raise UsageError(
            f"{path}: has its own archive, which would no longer match; use another name, or "
            "--force to overwrite it"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTarget:
    """Where to publish, symbolic links followed.

    ``replaced_input`` is the input if it is the file that is replaced, and None otherwise.
    """

    path: Path
    replaced_input: FileIdentity | None = None


def check_target(source: Source, target: Path, new_digest: Digest, *, force: bool) -> OutputTarget:
    """Resolve ``target``; UsageError or ChangedError if it must not be written.

    ``new_digest`` is the state to be written. ``force`` allows overwriting an unknown file, a file
    with hard links, and one that a program has open for writing.
    """
    path = Path(os.path.realpath(target)) if target.is_symlink() else target
    if path.exists() and not path.is_file():
        raise UsageError(f"{target}: is not a regular file; name another one with -o")
    if not path.parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist; create it first")
    check_outside_archives(path)
    if source.path and source.identity and path.exists() and path.samefile(source.path):
        _check_in_place(source, path, force=force)
        return OutputTarget(path=path, replaced_input=source.identity)
    if not force:
        _check_new(path, new_digest)
    return OutputTarget(path=path)


def _check_in_place(source: Source, path: Path, *, force: bool) -> None:
    if source.is_compressed:
        raise UsageError(f"{path}: is compressed; write a new file with -o instead of in place")
    if not force:
        check_not_shared(path, links=1 + count_archive_links(path, archive_folder(path)))


def _check_new(path: Path, new_digest: Digest) -> None:
    if path.exists():
        folder = archive_folder(path)
        check_overwrite(
            path, (new_digest, *Archive(folder).states), links=1 + count_archive_links(path, folder)
        )
