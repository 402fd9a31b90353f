"""Folders looked into; one that cannot be is noted instead of raised."""

import os
from collections.abc import Iterator
from pathlib import Path


class FolderScanner:
    """Looks into folders, and keeps which they were and the notes of those it could not read."""

    def __init__(self) -> None:
        self.searched: list[Path] = []
        self.warnings: list[str] = []

    def entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """Return what a folder holds, nothing when there is no such folder."""
        self.searched.append(folder)
        try:
            with os.scandir(folder) as found:
                return list(found)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError) as error:
            self.add_warning(folder, error)
            return []

    def folders(self, folder: Path) -> Iterator[Path]:
        """Yield the folders in a folder, links to folders included."""
        for entry in self.entries(folder):
            if _is(entry.is_dir):
                yield Path(entry.path)

    def files(self, folder: Path, *endings: str) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the regular files in a folder whose names end so, each with what stat says."""
        for entry in self.entries(folder):
            if not entry.name.endswith(endings) or not _is(entry.is_file):
                continue
            status = stat_or_none(Path(entry.path))
            if status is not None:
                yield Path(entry.path), status

    def add_warning(self, place: Path, error: Exception) -> None:
        """Keep that something could not be read."""
        why = error.strerror if isinstance(error, OSError) else None
        self.warnings.append(f"{place}: cannot be read ({why or error}); its sessions are left out")


def stat_or_none(path: Path) -> os.stat_result | None:
    """Return what stat says of a path, None when there is nothing or it may not be asked."""
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _is(question: object) -> bool:
    try:
        return bool(question())  # type: ignore[operator]
    except OSError:
        return False


def is_alive(pid: object) -> bool:
    """Tell whether there is a process with this number; False for anything else."""
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
