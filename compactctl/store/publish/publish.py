"""Publish a transcript with its archives, and write any other output."""

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from compactctl.errors import OutputFaultError
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import archive_folder
from compactctl.store.archive.permissions import check_owner
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem, already_written_note, disk_errors
from compactctl.store.files.locks import require_locks
from compactctl.store.files.modes import strictest_mode
from compactctl.store.files.source import STANDARD_STREAM, Source
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.files.temp_file import ExistingFile, TempFile
from compactctl.store.publish.overwrite import (
    OutputTarget,
    check_archive_fits,
    check_existing,
    check_output,
    check_target,
    existing_at,
)
from compactctl.store.publish.publication import Publication, Published

__all__ = ["Published", "publish", "resolve_output", "write_output"]
READABLE_FILE = 0o666


def publish(  # noqa: PLR0913
    fs: FileSystem,
    *,
    source: Source,
    target: Path,
    drafts: Sequence[ArchiveDraft],
    content: Content,
    force: bool = False,
    lineage: Path | None = None,
) -> Published:
    """Write the archives, then publish ``content`` as the transcript ``target``.

    The operations of ``drafts`` lead from the state that was read to ``content``, one after
    another; those of a mere copy may lead to a beginning of it. A crash at any moment leaves the
    old transcript, or the new one with all its archives. An error leaves the old one and removes
    what was written. ``force`` allows what the errors say it allows, but never to lose lines that
    were appended. ``lineage`` is the folder for the archives if the content goes on another lineage
    than the input.

    Raises UsageError for a target that must not be written, ChangedError if a program has the input
    open or changed it, IntegrityError if an archive does not verify, OutputFaultError if one does
    not lead to ``content``, and DiskError.
    """
    is_copy = content.digest == source.digest
    if drafts and not is_copy and drafts[-1].operation.after != content.digest:
        raise OutputFaultError(
            f"{target}: compactctl made a mistake: the new transcript does not match its archive; "
            "nothing was written; please report this"
        )
    with disk_errors(target, "nothing was changed"):
        output = resolve_output(
            source=source,
            target=target,
            content=content,
            is_archived=bool(drafts),
            force=force,
        )
        with locked_folder(fs, archive_folder(output.path)):
            return Publication(
                fs=fs,
                source=source,
                target=target,
                output=output,
                drafts=drafts,
                content=content,
                force=force,
                lineage=lineage,
            ).run()


def resolve_output(
    *, source: Source, target: Path, content: Content, is_archived: bool, force: bool = False
) -> OutputTarget:
    """Return where ``publish`` would write, or raise the error that it would raise before writing.

    ``is_archived`` means that new archives can restore the input.
    """
    with disk_errors(target, "nothing was changed"):
        output = check_target(source, target, content, force=force)
        check_owner(archive_folder(output.path))
        if not (is_archived or output.replaced_input or force):
            check_archive_fits(output.path, content)
        return output


def write_output(  # noqa: PLR0913 - each is said by some caller
    fs: FileSystem,
    path: Path | str,
    content: Content,
    *,
    state_of: tuple[Source, Archive] | None = None,
    force: bool = False,
    on_failure: str = "nothing was written",
) -> tuple[str, ...]:
    """Write an output that is not a transcript completely or not at all; return warnings.

    ``-`` is standard output. A device or a pipe is written to directly. An existing file is
    replaced if no bytes are lost, or by ``force``. ``on_failure`` says in a DiskError what is on
    disk. ``state_of`` is the transcript that the output is a state of, and its archive: the mode is
    that of the transcript then; other outputs grant no more than the transcripts that were read.

    Raises UsageError or ChangedError for a file that must not be overwritten, and DiskError.
    """
    if str(path) == STANDARD_STREAM:
        sys.stdout.buffer.writelines(content.chunks)
        sys.stdout.buffer.flush()
        return ()
    file = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
    check_output(file, str(path))
    if file.exists() and not file.is_file():
        with disk_errors(Path(path), "the output is not complete"), file.open("wb") as stream:
            stream.writelines(content.chunks)
        return ()
    with disk_errors(Path(path), on_failure):
        existing = ExistingFile.at(file)
        if not force:
            check_archive_fits(file, content)
            source, archive = state_of or (None, Archive(archive_folder(file)))
            check_existing(file, existing_at(file, content, archive, source))
        return _write_file(fs, file, content, existing, state_of[0].path if state_of else None)


def _write_file(
    fs: FileSystem, file: Path, content: Content, existing: ExistingFile | None, origin: Path | None
) -> tuple[str, ...]:
    require_locks()
    remove_stale_drafts(fs, file.parent)
    draft = TempFile(fs, file)
    try:
        with draft:
            draft.write_all(content)
            _set_mode(draft, origin)
            draft.sync()
            return draft.publish_over(existing)
    except BaseException as error:
        if draft.published:
            error.add_note(already_written_note(file))
        raise


def _set_mode(draft: TempFile, origin: Path | None) -> None:
    mode = READABLE_FILE & ~_umask()
    if draft.target.exists():
        mode = stat.S_IMODE(draft.target.stat().st_mode)
        draft.copy_attributes(draft.target)
    if origin is not None and origin.exists():
        draft.chmod(stat.S_IMODE(origin.stat().st_mode))
    else:
        draft.chmod(mode & strictest_mode())


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
