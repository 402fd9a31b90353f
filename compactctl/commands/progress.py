"""How far a use case over many files is, as it tells its caller."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesDone:
    """A file is done: which one, and how many of how many files and of their bytes on disk."""

    path: str
    files: int
    of_files: int
    n_bytes: int
    of_bytes: int


FilesProgress = Callable[[FilesDone], None]
"""Called once for each file, when it is done."""


class ProgressTally:
    """Counts files that are done, of so many with so many bytes, and tells of each."""

    def __init__(self, files: int, n_bytes: int, progress: FilesProgress | None) -> None:
        self._progress = progress
        self._of_files, self._of_bytes = files, n_bytes
        self._files = self._bytes = 0

    def done(self, path: str, n_bytes: int) -> None:
        """Count a file and tell of it."""
        self._files += 1
        self._bytes += n_bytes
        if self._progress is None:
            return
        self._progress(
            FilesDone(
                path=path,
                files=self._files,
                of_files=self._of_files,
                n_bytes=self._bytes,
                of_bytes=self._of_bytes,
            )
        )
