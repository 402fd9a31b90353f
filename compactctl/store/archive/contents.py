"""List the files in an archive folder by what they are."""

from collections.abc import Callable
from pathlib import Path

from compactctl.records import dataclass
from compactctl.store.archive.displaced import PREFIX
from compactctl.store.archive.lock import LOCK_NAME
from compactctl.store.archive.names import ARCHIVE_NAME, README, ArchiveFile, archive_files
from compactctl.store.files.stale_drafts import DRAFT


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderContents:
    """The files in an archive folder.

    ``misnamed`` are Parquet files without the name of an archive; ``unknown`` is everything else
    that compactctl does not write there.
    """

    archives: tuple[ArchiveFile, ...]
    misnamed: tuple[Path, ...]
    displaced: tuple[Path, ...]
    unknown: tuple[Path, ...]
    has_readme: bool


def read_contents(folder: Path) -> FolderContents:
    """List an archive folder; a missing one is empty. Raises OSError."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    others = [path for path in paths if not _is_known(path)]
    return FolderContents(
        archives=archive_files(folder),
        misnamed=_select(others, lambda path: path.suffix == ".parquet"),
        displaced=_select(paths, lambda path: path.name.startswith(PREFIX)),
        unknown=_select(others, lambda path: path.suffix != ".parquet"),
        has_readme=(folder / README).exists(),
    )


def _select(paths: list[Path], predicate: Callable[[Path], bool]) -> tuple[Path, ...]:
    return tuple(path for path in paths if predicate(path))


def _is_known(path: Path) -> bool:
    if path.name in {README, LOCK_NAME} or path.name.startswith(PREFIX):
        return True
    return bool(ARCHIVE_NAME.fullmatch(path.name) or DRAFT.fullmatch(path.name))
