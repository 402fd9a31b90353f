"""The lines of a file that was read, read again whenever they are needed."""

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, overload

from compactctl.errors import ChangedError

BUFFER = 1 << 20


class StoredLines(Sequence[bytes]):
    """The lines of a file as they were when they were first read; none of them is held.

    Raises ChangedError where a line is not what it was; what was appended since is not seen.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ends = array("Q")
        self._hashes = array("q")

    def taken(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines of the file as they are read for the first time, taking them in."""
        end = 0
        for line in lines:
            end += len(line)
            self._ends.append(end)
            self._hashes.append(hash(line))
            yield line

    def __len__(self) -> int:
        """Return how many lines there are."""
        return len(self._ends)

    def __iter__(self) -> Iterator[bytes]:
        """Read the lines from the first to the last."""
        if not self._ends:
            return
        with self._open() as stream:
            start = 0
            for end, expected in zip(self._ends, self._hashes, strict=True):
                yield self._read(stream, end - start, expected)
                start = end

    @overload
    def __getitem__(self, index: int) -> bytes: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[bytes, ...]: ...

    def __getitem__(self, index: int | slice) -> bytes | tuple[bytes, ...]:
        """Read one line, or some."""
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = range(len(self))[index]
        start = self._ends[place - 1] if place else 0
        with self._open() as stream:
            stream.seek(start)
            return self._read(stream, self._ends[place] - start, self._hashes[place])

    def _open(self) -> BinaryIO:
        try:
            return self._path.open("rb", buffering=BUFFER)
        except OSError as error:
            raise self._unreadable(error) from error

    def _read(self, stream: BinaryIO, size: int, expected: int) -> bytes:
        try:
            line = stream.read(size)
        except OSError as error:
            raise self._unreadable(error) from error
        if hash(line) != expected:
            raise self._changed()
        return line

    def _unreadable(self, error: OSError) -> ChangedError:
        return ChangedError(
            f"{os.fspath(self._path)}: can no longer be read ({error.strerror or error}); "
            "nothing was changed, check the file and its disk"
        )

    def _changed(self) -> ChangedError:
        return ChangedError(
            f"{os.fspath(self._path)}: changed while it was worked on; "
            "nothing was changed, run it again"
        )
