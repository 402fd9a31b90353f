"""Where a transcript may be written, and what must be refused before any work is done."""

import os
from dataclasses import dataclass
from pathlib import Path

from compactctl.errors import UsageError
from compactctl.model.operation import Digest
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.displaced import own_links
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.lines import Identity, Source
from compactctl.store.publish.overwrite import check_loose, check_outside_archives, check_overwrite


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTarget:
    """Where to publish, links followed. ``input`` is the file read there, for work in place."""

    path: Path
    input: Identity | None = None


def check_target(source: Source, target: Path, becomes: Digest, *, force: bool) -> OutputTarget:
    """Return the place of ``target``; UsageError or ChangedError when it must not be written.

    ``becomes`` is the state to be written. ``force`` allows to overwrite another file, to break a
    hard link and to work under an open writer.
    """
    path = Path(os.path.realpath(target)) if target.is_symlink() else target
    if path.exists() and not path.is_file():
        raise UsageError(f"{target}: is not a regular file; name another one with -o")
    if not path.parent.is_dir():
        raise UsageError(f"{target}: its folder does not exist; create it first")
    check_outside_archives(path)
    if source.path and source.identity and path.exists() and path.samefile(source.path):
        _check_in_place(source, path, force=force)
        return OutputTarget(path=path, input=source.identity)
    if not force:
        _check_new(path, becomes)
    return OutputTarget(path=path)


def _check_in_place(source: Source, path: Path, *, force: bool) -> None:
    if source.packed:
        raise UsageError(f"{path}: is compressed; write a new file with -o instead of in place")
    if not force:
        check_loose(path, links=1 + own_links(path, archive_folder(path)))


def _check_new(path: Path, becomes: Digest) -> None:
    if path.exists():
        folder = archive_folder(path)
        check_overwrite(path, (becomes, *Archive(folder).states), links=1 + own_links(path, folder))
