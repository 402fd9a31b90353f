"""How far a use case over many files is, as it tells its caller."""

from collections import Counter
from collections.abc import Callable, Sequence
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
"""Called for each file when it is done, and for each part of a file that has several."""


class ProgressTally:
    """Counts files that are done, and tells of each.

    ``parts`` are the paths and bytes of what is worked on: a file is done with all of its parts.
    """

    def __init__(
        self, parts: Sequence[tuple[str, int]], progress: FilesProgress | None = None
    ) -> None:
        self._progress = progress
        self._left = Counter(path for path, _ in parts)
        self._of_files, self._of_bytes = len(self._left), sum(size for _, size in parts)
        self._files = self._bytes = 0

    def done(self, path: str, n_bytes: int) -> None:
        """Count a part and tell of it."""
        self._left[path] -= 1
        self._files += not self._left[path]
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
