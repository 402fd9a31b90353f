"""Where a transcript may be written, and what must be refused before any work is done."""

import os
from dataclasses import dataclass
from pathlib import Path

from compactctl.errors import ChangedError, UsageError
from compactctl.store.displaced import own_links
from compactctl.store.folder import archive_folder
from compactctl.store.history import Archive
from compactctl.store.lines import Identity, Source, digest_of
from compactctl.store.writers import has_writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to publish, links followed. ``input`` is the file read there, for work in place."""

    path: Path
    input: Identity | None = None


def check_target(source: Source, target: Path, *, force: bool) -> Target:
    """Return the place of ``target``; UsageError or ChangedError when it must not be written.

    ``force`` allows to overwrite another file, to break a hard link and to work under an open
    writer.
    """
    path = Path(os.path.realpath(target)) if target.is_symlink() else target
    if path.exists() and not path.is_file():
        raise UsageError(f"{target}: is no regular file; name another one with -o")
    if not path.parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist; create it first")
    if source.path and source.identity and path.exists() and path.samefile(source.path):
        _check_in_place(source, path, force=force)
        return Target(path=path, input=source.identity)
    _check_new(path, force=force)
    return Target(path=path)


def _check_in_place(source: Source, path: Path, *, force: bool) -> None:
    if source.packed:
        raise UsageError(f"{path}: is compressed; write a new file with -o instead of in place")
    if force:
        return
    if path.stat().st_nlink > 1 + own_links(path, archive_folder(path)):
        raise UsageError(
            f"{path}: has other names (hard links), which would keep the old content; "
            "write a new file with -o, or cut it loose with --force"
        )
    if has_writer(path):
        raise ChangedError(
            f"{path}: a running program has it open for writing and would go on writing to the old "
            "file; end it first, write a new file with -o, or use --force"
        )


def _check_new(path: Path, *, force: bool) -> None:
    if force or not path.exists():
        return
    states = {operation.after for operation in Archive(archive_folder(path)).operations}
    if digest_of(path.read_bytes()) not in states:
        raise UsageError(
            f"{path}: exists and is not what compactctl wrote there; "
            "name another file with -o, or overwrite it with --force"
        )
