"""Write archives: durable and verified before anything depends on them."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from compactctl.errors import ArchiveError, IntegrityError, OutputFaultError
from compactctl.model.operation import ArchivedLine, Operation
from compactctl.store.archive.archive import archive_at
from compactctl.store.archive.archive_file import encode_archive, raw_lines, read_operation
from compactctl.store.archive.names import README, archive_name, is_lineage, readme_text
from compactctl.store.files.filesystem import FileSystem, sync_folder
from compactctl.store.files.stale_drafts import remove_quietly
from compactctl.store.files.temp_file import TempFile


class ArchiveDraft(NamedTuple):
    """The content of a new archive: an operation, and the lines of the state before it.

    ``block`` are the first bytes of what the operation appends.
    """

    operation: Operation
    rows: Iterable[ArchivedLine]
    block: bytes = b""


class DraftSink:
    """Lets pyarrow write into a temporary file."""

    closed = False

    def __init__(self, draft: TempFile) -> None:
        self._draft = draft
        self._failed = False

    def write(self, data: bytes) -> int:
        """Write to the file; discard everything after an error.

        A failed Parquet writer writes its footer once more when it is garbage collected, which may
        be after the file was closed.
        """
        if not self._failed:
            self._failed = True
            self._draft.write(data)
            self._failed = False
        return len(data)


def write_archives(
    fs: FileSystem, folder: Path, drafts: Sequence[ArchiveDraft], cleanup: ExitStack
) -> tuple[Path, ...]:
    """Write the README and one archive per operation, each verified to restore its lines.

    A lineage has no README of its own. ``cleanup`` gets the callbacks that remove the new files. If
    an interrupted run left the archive of the operation as the newest one of all lineages, it is
    verified and used.
    """
    if not (is_lineage(folder) or (folder / README).exists()):
        write_readme(fs, folder)
    return tuple(_write_archive(fs, folder, draft, cleanup) for draft in drafts)


def write_readme(fs: FileSystem, folder: Path) -> None:
    """Write the README of an archive folder, replacing an existing one."""
    with TempFile(fs, folder / README) as draft:
        draft.write(readme_text(folder))
        draft.sync()
        draft.close()
        draft.publish()


def _write_archive(fs: FileSystem, folder: Path, draft: ArchiveDraft, cleanup: ExitStack) -> Path:
    operation, archive = draft.operation, archive_at(folder)
    if archive.files and archive.files[-1].id == operation.id and archive.is_newest:
        newest = archive.files[-1].path
        verify_archive(newest, operation)
        # That run may have been killed before the name was durable.
        sync_folder(fs, folder)
        return newest
    number = archive.next_number
    with TempFile(fs, folder / archive_name(number, operation)) as file:
        encode_archive(operation, draft.rows, DraftSink(file), number, draft.block)
        file.sync()
        file.close()
        _verify_new(file.path, operation, file.target)
        cleanup.callback(remove_quietly, fs, file.target)
        file.publish()
    return file.target


def _verify_new(path: Path, operation: Operation, target: Path) -> None:
    """Raise OutputFaultError unless an archive that was just written restores its lines."""
    try:
        verify_archive(path, operation)
    except (ArchiveError, IntegrityError) as error:
        raise OutputFaultError(
            f"{target}: compactctl made a mistake, or the disk did: the new archive does not "
            "restore the transcript; nothing was written; check the disk, or report this"
        ) from error


def verify_archive(path: Path, operation: Operation) -> None:
    """Raise IntegrityError unless the archive holds this operation and restores its lines."""
    archived = read_operation(path)
    for _ in raw_lines(path):
        pass
    key = attrgetter("id", "before", "after")
    if key(archived) != key(operation):
        raise IntegrityError(f"{path}: does not hold operation {operation.id}; move it away")
