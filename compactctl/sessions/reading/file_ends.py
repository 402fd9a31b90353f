"""The first and the last lines of a file: what is read of a session, however large it is."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compactctl.formats.records.decode import decode

WINDOW = 65_536
"""How many bytes are read of each end: what Claude Code's own list of sessions reads."""
MAX_SCAN = 1 << 20
"""How far from an end it is looked where a line is longer than the window, or what is wanted is
not in it."""
_ZSTD = ".zst"
# Unpacking takes about a tenth of a second for so much.
_MAX_DECOMPRESSED = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEnds:
    """The whole lines at both ends of a file; of a small one they are the same, all there are.

    ``tail`` begins at ``start``, an offset in bytes, behind the end of a line in ``cut_line``.
    """

    path: Path
    head: tuple[bytes, ...]
    tail: tuple[bytes, ...]
    start: int = 0
    cut_line: bytes = b""

    def head_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of the first lines in order; anything but a record is passed by."""
        for line in self.head:
            yield from _records(line)

    def forward_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of the first lines and go on behind them, as far as ``MAX_SCAN``.

        No more is read than is asked for.
        """
        yield from self.head_records()
        if self.start:
            with suppress(OSError):
                yield from self._behind()

    def tail_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of the last lines, the last one first."""
        for line in reversed(self.tail):
            yield from _records(line)

    def newest_first(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of both ends, the last one first."""
        yield from self.tail_records()
        if self.head is not self.tail:
            for line in reversed(self.head):
                yield from _records(line)

    def backward_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of the last lines and go on before them, as far as ``MAX_SCAN``.

        No more is read than is asked for.
        """
        yield from self.tail_records()
        if self.start:
            with suppress(OSError):
                yield from self._before()

    def _behind(self) -> Iterator[Mapping[str, Any]]:
        at = sum(len(line) + 1 for line in self.head)
        with self.path.open("rb", buffering=0) as stream:
            stream.seek(at)
            rest = b""
            while at < MAX_SCAN and (piece := stream.read(WINDOW)):
                at += len(piece)
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield from _records(line)

    def _before(self) -> Iterator[Mapping[str, Any]]:
        start, cut = self.start, self.cut_line
        with self.path.open("rb", buffering=0) as stream:
            end = os.fstat(stream.fileno()).st_size
            while start > 0 and end - start < MAX_SCAN:
                before = max(0, start - WINDOW)
                lines = (_read(stream.fileno(), before, start - before) + cut).split(b"\n")
                start, cut = before, lines[0]
                for line in reversed(lines[1:]):
                    yield from _records(line)
        if not start:
            yield from _records(cut)


def read_ends(path: Path) -> FileEnds:
    """Return both ends of a file; raises OSError. A large compressed one has a beginning alone."""
    if path.name.endswith(_ZSTD):
        return _unpacked_ends(path)
    with path.open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= 2 * WINDOW:
            lines = tuple(_read(stream.fileno(), 0, size).split(b"\n"))
            return FileEnds(path=path, head=lines, tail=lines)
        head = _whole_head(_read(stream.fileno(), 0, WINDOW))
        tail = _tail(stream.fileno(), size)
    cut, *lines_behind = tail.split(b"\n")
    return FileEnds(
        path=path, head=head, tail=tuple(lines_behind), start=size - len(tail), cut_line=cut
    )


def last_lines(path: Path, n_bytes: int) -> tuple[bytes, ...]:
    """Return the whole lines in so many bytes at the end of a file. Raises OSError.

    Of a compressed file they are those at its end that ``read_ends`` unpacks.
    """
    if path.name.endswith(_ZSTD):
        return _unpacked_ends(path).tail
    with path.open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        start = max(0, size - n_bytes)
        lines = _read(stream.fileno(), start, size - start).split(b"\n")
    return tuple(lines[1:] if start else lines)


def read_head(path: Path) -> bytes | None:
    """Return how a file begins, None where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(WINDOW)
    except OSError:
        return None


def read_edges(path: Path) -> tuple[bytes, bytes]:
    """Return the first and the last bytes of a file, twice the same of a small one.

    Raises OSError.
    """
    with path.open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= 2 * WINDOW:
            data = _read(stream.fileno(), 0, size)
            return data, data
        return _read(stream.fileno(), 0, WINDOW), _read(stream.fileno(), size - WINDOW, WINDOW)


def _tail(descriptor: int, size: int) -> bytes:
    """Read back from the end until there is a whole line, at most ``MAX_SCAN`` bytes."""
    tail = b""
    start = size
    while start > 0 and len(tail) < MAX_SCAN and tail[:-1].count(b"\n") < 2:  # noqa: PLR2004
        before = max(0, start - WINDOW)
        piece = _read(descriptor, before, start - before)
        tail = piece + tail
        start = before
    return tail


def _read(descriptor: int, offset: int, n_bytes: int) -> bytes:
    """Read from a place; a file that has shrunk gives less."""
    pieces = []
    while n_bytes > 0:
        piece = os.pread(descriptor, n_bytes, offset)
        if not piece:
            break
        pieces.append(piece)
        offset += len(piece)
        n_bytes -= len(piece)
    return b"".join(pieces)


def _unpacked_ends(path: Path) -> FileEnds:
    """Return both ends of a compressed file, which is unpacked to its end if it is not too large.

    A short one, or one that is damaged further on, has the same lines at both ends.
    """
    import pyarrow as pa

    head = tail = b""
    size = 0
    with pa.OSFile(str(path)) as stored, pa.CompressedInputStream(stored, "zstd") as stream:
        while size < _MAX_DECOMPRESSED and (piece := stream.read(MAX_SCAN)):
            head = head or piece[:WINDOW]
            size += len(piece)
            tail = (tail + piece)[-MAX_SCAN:]
    first = _whole_head(head)
    if size <= WINDOW or size >= _MAX_DECOMPRESSED:
        return FileEnds(path=path, head=first, tail=first if size <= WINDOW else ())
    return FileEnds(path=path, head=first, tail=tuple(tail.split(b"\n")[size > MAX_SCAN :]))


def _whole_head(data: bytes) -> tuple[bytes, ...]:
    """Split into lines, without the one that is cut where the window ends."""
    lines = data.split(b"\n")
    return tuple(lines[:-1] if len(data) >= WINDOW else lines)


def _records(line: bytes) -> Iterator[Mapping[str, Any]]:
    values, _ = decode(line)
    return (value for value in values if isinstance(value, Mapping))
