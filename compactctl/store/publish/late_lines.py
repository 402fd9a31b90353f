"""Add to a transcript what programs wrote to the files that it replaced."""

import os
from pathlib import Path

from compactctl.store.archive.archive import Archive, lineage_of
from compactctl.store.archive.displaced import (
    DisplacedFile,
    LateBytes,
    changed_since,
    displaced_name,
    late_bytes,
)
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.content import FileChunks, last_line_of
from compactctl.store.files.filesystem import FileSystem, disk_errors, sync_folder
from compactctl.store.files.locks import has_writer
from compactctl.store.files.source import open_input
from compactctl.store.publish.append import cut_off


def take_in(fs: FileSystem, transcript: Path, folder: Path | None = None) -> int:
    """Append all late lines to a transcript; return how many bytes.

    ``folder`` is its archive folder if that is not at the default location.

    A line that a program is writing is not cut in two. A killed run leaves names that tell the next
    one what is in the transcript already.

    Raises ArchiveError for a displaced file that cannot be read, ChangedError while another run is
    writing there, and DiskError.
    """
    path = Path(os.path.realpath(transcript))
    folder = folder or archive_folder(transcript)
    if not any(any(changed_since(lineage, path)) for lineage in Archive(folder).lineages):
        return 0
    with disk_errors(path, "late lines were not added"), locked_folder(fs, folder):
        source = open_input(path)
        if source.is_compressed:
            return 0
        archive = lineage_of(Archive(folder), source.lines)
        written = late_bytes(archive, path, source.lines) if archive else ()
        return sum(_take_in(fs, path, late) for late in written)


def _take_in(fs: FileSystem, path: Path, late: LateBytes) -> int:
    """Append the late bytes of one displaced file; return how many."""
    link = late.file.path
    if late.file.taking is not None:
        link = _rename(fs, late.file, link, late.size)
    last_line = last_line_of(FileChunks(path))
    if not late.data or (last_line and has_writer(path)):
        return 0
    fd = fs.open_append(path)
    try:
        size = os.fstat(fd).st_size
        link = _rename(fs, late.file, link, late.size, len(late.data), size)
        _append(fs, fd, size, late.block(last_line))
    finally:
        fs.close(fd)
    _rename(fs, late.file, link, late.size + len(late.data))
    return len(late.data)


def _append(fs: FileSystem, fd: int, size: int, block: bytes) -> None:
    """Append a block to a file of ``size`` bytes; what was written of it is cut off on an error."""
    try:
        fs.write(fd, block)
        fs.fsync(fd)
    except OSError:
        cut_off(fs, fd, size, os.fstat(fd).st_size, block)
        raise


def _rename(fs: FileSystem, file: DisplacedFile, old: Path, *numbers: int) -> Path:
    """Write other numbers into the name of a displaced file, durably; return it."""
    new = displaced_name(old, old.parent, file.operation, *numbers)
    if not new.exists():
        fs.rename(old, new)
    elif new != old:
        fs.unlink(old)
    sync_folder(fs, new.parent)
    return new
