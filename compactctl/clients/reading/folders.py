"""Scan folders for sessions, collecting warnings instead of raising, and check for processes."""

import os
from collections.abc import Iterator
from pathlib import Path


class FolderScanner:
    """Lists folders; remembers which were searched, and warns of those it could not read."""

    def __init__(self) -> None:
        self.searched: list[Path] = []
        self.warnings: list[str] = []

    def entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """Return the entries of a folder; [] if it does not exist or cannot be read."""
        self.searched.append(folder)
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError) as error:
            self.add_warning(folder, error)
            return []

    def folders(self, folder: Path) -> Iterator[Path]:
        """Yield the subfolders of a folder, including links to folders."""
        for entry in self.entries(folder):
            if _is(entry.is_dir):
                yield Path(entry.path)

    def files(self, folder: Path, *endings: str) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the regular files of a folder with one of these endings, each with its status."""
        for entry in self.entries(folder):
            if not entry.name.endswith(endings) or not _is(entry.is_file):
                continue
            status = stat_or_none(Path(entry.path))
            if status is not None:
                yield Path(entry.path), status

    def add_warning(self, path: Path, error: Exception) -> None:
        """Add a warning that a folder or database could not be read."""
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        self.warnings.append(f"{path}: cannot be read ({reason}); its sessions are skipped")


def stat_or_none(path: Path) -> os.stat_result | None:
    """Return the status of a path, or None if it does not exist or access is denied."""
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
    """Return whether a process with this id exists; False for any other value."""
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
