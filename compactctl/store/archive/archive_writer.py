"""Putting archives into their folder: durable and proven before anything depends on them."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from compactctl.errors import IntegrityError
from compactctl.model.operation import ArchivedLine, Operation
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_file import encode_archive, raw_lines, read_operation
from compactctl.store.archive.names import README, archive_name, readme_text
from compactctl.store.files.filesystem import FileSystem, sync_folder
from compactctl.store.files.stale_drafts import remove_quietly
from compactctl.store.files.temp_file import TempFile


class ArchiveDraft(NamedTuple):
    """What is to become an archive: an operation, and the lines of the state before it."""

    operation: Operation
    rows: Iterable[ArchivedLine]


class DraftSink:
    """Lets pyarrow write into a draft."""

    closed = False

    def __init__(self, draft: TempFile) -> None:
        self._draft = draft
        self._failed = False

    def write(self, data: bytes) -> int:
        """Write to the draft. After an error everything is swallowed.

        A failed Parquet writer writes its footer once more when it is thrown away, which may be
        after the draft was closed.
        """
        if not self._failed:
            self._failed = True
            self._draft.write(data)
            self._failed = False
        return len(data)


def write_archives(
    fs: FileSystem, folder: Path, drafts: Sequence[ArchiveDraft], cleanup: ExitStack
) -> tuple[Path, ...]:
    """Write the README and one archive per operation, each proven to give its lines back.

    ``cleanup`` is given what takes the new files away again. An archive that a run which did not
    come to its end left as the newest one is used as it is.
    """
    if not (folder / README).exists():
        write_readme(fs, folder)
    return tuple(_deposit_one(fs, folder, each, cleanup) for each in drafts)


def write_readme(fs: FileSystem, folder: Path) -> None:
    """Write the README of an archive folder, over one that is there."""
    with TempFile(fs, folder / README) as draft:
        draft.write(readme_text(folder))
        draft.sync()
        draft.close()
        draft.publish()


def _deposit_one(fs: FileSystem, folder: Path, wanted: ArchiveDraft, cleanup: ExitStack) -> Path:
    operation, archive = wanted.operation, Archive(folder)
    if archive.files and archive.files[-1].id == operation.id:
        newest = archive.files[-1].path
        _verify(newest, operation)
        # That run may have been killed before the name was durable.
        sync_folder(fs, folder)
        return newest
    with TempFile(fs, folder / archive_name(archive.next_number, operation)) as draft:
        encode_archive(operation, wanted.rows, DraftSink(draft))
        draft.sync()
        draft.close()
        _verify(draft.path, operation)
        cleanup.callback(remove_quietly, fs, draft.target)
        draft.publish()
    return draft.target


def _verify(path: Path, operation: Operation) -> None:
    """Raise IntegrityError unless the archive restores the state before this operation."""
    found = read_operation(path)
    for _ in raw_lines(path):
        pass
    if (found.id, found.before, found.after) != (operation.id, operation.before, operation.after):
        raise IntegrityError(f"{path}: does not hold operation {operation.id}; move it away")
