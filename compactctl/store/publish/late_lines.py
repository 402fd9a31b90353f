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
from compactctl.store.files.content import ends_mid_line
from compactctl.store.files.filesystem import FileSystem, disk_errors, sync_folder
from compactctl.store.files.locks import can_detect_writers, has_writer
from compactctl.store.files.source import open_input


def take_in(fs: FileSystem, transcript: Path, folder: Path | None = None) -> int:
    """Append all late lines to a transcript; return how many bytes.

    ``folder`` is its archive folder if that is not at the default location.

    A last line without an end stays where it is as long as a program may be writing it. A killed
    run leaves names that tell the next one what is in the transcript already.

    Raises ArchiveError for a displaced file that cannot be read, ChangedError while another run is
    writing there, and DiskError.
    """
    path = Path(os.path.realpath(transcript))
    folder = folder or archive_folder(path)
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
    count, link = _n_ready(late), late.file.path
    if late.file.taking is not None:
        link = _rename(fs, late.file, link, late.size)
    if not count:
        return 0
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        is_mid_line = ends_mid_line(stream.read(1))
    taking = _rename(fs, late.file, link, late.size, count, size)
    fd = fs.open_append(path)
    try:
        fs.write(fd, late.block(count, is_mid_line=is_mid_line))
        fs.fsync(fd)
    finally:
        fs.close(fd)
    _rename(fs, late.file, taking, late.size + count)
    return count


def _n_ready(late: LateBytes) -> int:
    """Return how many of the late bytes can be added: up to a line end, or all without a writer."""
    data = late.data or b""
    is_written = not can_detect_writers() or has_writer(late.file.path)
    return data.rfind(b"\n") + 1 if is_written else len(data)


def _rename(fs: FileSystem, file: DisplacedFile, old: Path, *numbers: int) -> Path:
    """Write other numbers into the name of a displaced file, durably; return it."""
    new = displaced_name(old, old.parent, file.operation, *numbers)
    if not new.exists():
        fs.rename(old, new)
    elif new != old:
        fs.unlink(old)
    sync_folder(fs, new.parent)
    return new
