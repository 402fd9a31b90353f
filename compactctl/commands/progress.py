"""Reports the progress of a use case over many files to its caller."""

from collections import Counter
from collections.abc import Callable, Sequence

from compactctl.records import Record


class FilesDone(Record):
    """A finished file, and how many of all files and bytes are done."""

    path: str
    files: int
    of_files: int
    n_bytes: int
    of_bytes: int


FilesProgress = Callable[[FilesDone], None]
"""Called for each finished part of a file; most files have one."""


class ProgressTally:
    """Counts finished files, and reports each.

    ``parts`` are the paths and sizes of all work items; a file is done when all its parts are.
    """

    def __init__(
        self, parts: Sequence[tuple[str, int]], progress: FilesProgress | None = None
    ) -> None:
        self._progress = progress
        self._left = Counter(path for path, _ in parts)
        self._of_files, self._of_bytes = len(self._left), sum(size for _, size in parts)
        self._files = self._bytes = 0

    def done(self, path: str, n_bytes: int) -> None:
        """Count a finished part and report it."""
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
