"""What stands in an archive folder, sorted by what it is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compactctl.store.archive.displaced import PREFIX
from compactctl.store.archive.lock import LOCK
from compactctl.store.archive.names import NAME, README, ArchiveFile, archive_files
from compactctl.store.files.stale_drafts import DRAFT


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderContents:
    """The files in an archive folder.

    ``strays`` are Parquet files that are not named as an archive is; ``foreign`` is everything
    that compactctl never puts there.
    """

    archives: tuple[ArchiveFile, ...]
    strays: tuple[Path, ...]
    displaced: tuple[Path, ...]
    foreign: tuple[Path, ...]
    has_readme: bool


def contents_of(folder: Path) -> FolderContents:
    """Look into an archive folder; one that is not there holds nothing. Raises OSError."""
    names = sorted(folder.iterdir()) if folder.is_dir() else []
    others = [path for path in names if not _is_known(path)]
    return FolderContents(
        archives=archive_files(folder),
        strays=_those(others, lambda path: path.suffix == ".parquet"),
        displaced=_those(names, lambda path: path.name.startswith(PREFIX)),
        foreign=_those(others, lambda path: path.suffix != ".parquet"),
        has_readme=(folder / README).exists(),
    )


def _those(paths: list[Path], wanted: Callable[[Path], bool]) -> tuple[Path, ...]:
    return tuple(path for path in paths if wanted(path))


def _is_known(path: Path) -> bool:
    if path.name in {README, LOCK} or path.name.startswith(PREFIX):
        return True
    return bool(NAME.fullmatch(path.name) or DRAFT.fullmatch(path.name))
