"""List the files in an archive folder by what they are, once for everything that asks."""

import errno
from collections.abc import Callable
from pathlib import Path

from compactctl.records import Record
from compactctl.store.archive.lock import LOCK_NAME
from compactctl.store.archive.names import (
    DISPLACED,
    README,
    ArchiveFile,
    archive_file,
    is_lineage,
)
from compactctl.store.files.stale_drafts import DRAFT

_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL})


class FolderContents(Record):
    """The files in an archive folder.

    ``misnamed`` are Parquet files without the name of an archive, ``lineages`` the folders of other
    first states; ``unknown`` is everything else that compactctl does not write there.
    """

    archives: tuple[ArchiveFile, ...] = ()
    misnamed: tuple[Path, ...] = ()
    displaced: tuple[Path, ...] = ()
    lineages: tuple[Path, ...] = ()
    unknown: tuple[Path, ...] = ()
    has_readme: bool = False


def read_contents(folder: Path) -> FolderContents:
    """List an archive folder; a missing one is empty. Raises OSError."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        if error.errno in _MISSING:
            return FolderContents()
        raise
    others = [path for path in paths if not _is_known(path)]
    return FolderContents(
        archives=tuple(sorted(filter(None, map(archive_file, paths)))),
        misnamed=_select(others, lambda path: path.suffix == ".parquet"),
        displaced=_select(paths, lambda path: path.name.startswith(DISPLACED)),
        lineages=_select(paths, is_lineage),
        unknown=_select(others, lambda path: path.suffix != ".parquet"),
        has_readme=folder / README in paths,
    )


def _select(paths: list[Path], predicate: Callable[[Path], bool]) -> tuple[Path, ...]:
    return tuple(path for path in paths if predicate(path))


def _is_known(path: Path) -> bool:
    if path.name in {README, LOCK_NAME} or path.name.startswith(DISPLACED) or is_lineage(path):
        return True
    return archive_file(path) is not None or DRAFT.fullmatch(path.name) is not None
