"""Read only the first and last lines of a file, so that listing a large session is fast."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from compactctl.clients.records.decode import decode
from compactctl.records import Record
from compactctl.store.beginning import read_beginning

WINDOW = 65_536
"""Bytes to read at each end, as Claude Code's own list of sessions does."""
MAX_SCAN = 1 << 20
"""Bytes to read at most from an end if a line is longer than the window, or a caller reads on."""
_ZSTD = ".zst"
# Decompressing this much takes about a tenth of a second.
_MAX_DECOMPRESSED = 64 << 20


class FileEnds(Record):
    """The complete lines at both ends of a file.

    Attributes:
        path: the file.
        head: the first lines; of a small file, all lines.
        tail: the last lines; the same object as ``head`` for a small file.
        start: the offset of the bytes read for ``tail``; 0 if nothing was left out.
        cut_line: the end of the line that ``start`` cuts, just before ``tail``.
    """

    path: Path
    head: tuple[bytes, ...]
    tail: tuple[bytes, ...]
    start: int = 0
    cut_line: bytes = b""

    def head_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of the first lines, in order; other lines are skipped."""
        for line in self.head:
            yield from _decode_records(line)

    def forward_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records in file order, reading up to ``MAX_SCAN`` bytes as needed."""
        yield from self.head_records()
        if self.start:
            with suppress(OSError):
                yield from self._records_after_head()

    def tail_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of the last lines, newest first."""
        for line in reversed(self.tail):
            yield from _decode_records(line)

    def records_newest_first(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records of both ends, newest first."""
        yield from self.tail_records()
        if self.head is not self.tail:
            for line in reversed(self.head):
                yield from _decode_records(line)

    def backward_records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records newest first, reading up to about ``MAX_SCAN`` bytes as needed."""
        yield from self.tail_records()
        if self.start:
            with suppress(OSError):
                yield from self._records_before_tail()

    def _records_after_head(self) -> Iterator[Mapping[str, Any]]:
        pos = sum(len(line) + 1 for line in self.head)
        with self.path.open("rb", buffering=0) as stream:
            stream.seek(pos)
            cut_line = b""
            while pos < MAX_SCAN and (piece := stream.read(WINDOW)):
                pos += len(piece)
                *lines, cut_line = (cut_line + piece).split(b"\n")
                for line in lines:
                    yield from _decode_records(line)

    def _records_before_tail(self) -> Iterator[Mapping[str, Any]]:
        start, cut_line = self.start, self.cut_line
        with self.path.open("rb", buffering=0) as stream:
            end = os.fstat(stream.fileno()).st_size
            while start > 0 and end - start < MAX_SCAN:
                new_start = max(0, start - WINDOW)
                piece = _read_at(stream.fileno(), new_start, start - new_start)
                cut_line, *lines = (piece + cut_line).split(b"\n")
                start = new_start
                for line in reversed(lines):
                    yield from _decode_records(line)
        if not start:
            yield from _decode_records(cut_line)


def read_ends(path: Path) -> FileEnds:
    """Return both ends of a file; a very large compressed one has no tail. Raises OSError."""
    if path.name.endswith(_ZSTD):
        return _read_compressed_ends(path)
    with path.open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= 2 * WINDOW:
            all_lines = tuple(_read_at(stream.fileno(), 0, size).split(b"\n"))
            return FileEnds(path=path, head=all_lines, tail=all_lines)
        head = _complete_head_lines(_read_at(stream.fileno(), 0, WINDOW))
        tail = _read_tail(stream.fileno(), size)
    cut_line, *lines = tail.split(b"\n")
    return FileEnds(
        path=path, head=head, tail=tuple(lines), start=size - len(tail), cut_line=cut_line
    )


def last_lines(path: Path, n_bytes: int) -> tuple[bytes, ...]:
    """Return the complete lines in the last ``n_bytes`` of a file; raises OSError.

    For a compressed file, return the tail that ``read_ends`` returns.
    """
    if path.name.endswith(_ZSTD):
        return _read_compressed_ends(path).tail
    with path.open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        start = max(0, size - n_bytes)
        lines = _read_at(stream.fileno(), start, size - start).split(b"\n")
    return tuple(lines[1:] if start else lines)


def read_head(path: Path) -> bytes | None:
    """Return the first ``WINDOW`` bytes of a file, or None if it cannot be read."""
    return read_beginning(path, WINDOW)


def read_edges(path: Path) -> tuple[bytes, bytes]:
    """Return the first and last ``WINDOW`` bytes; twice all of a small file. Raises OSError."""
    with path.open("rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= 2 * WINDOW:
            data = _read_at(stream.fileno(), 0, size)
            return data, data
        return _read_at(stream.fileno(), 0, WINDOW), _read_at(
            stream.fileno(), size - WINDOW, WINDOW
        )


def _read_tail(descriptor: int, size: int) -> bytes:
    """Read backwards from the end until a complete line is found, at most ``MAX_SCAN`` bytes."""
    tail = b""
    start = size
    # Two newlines before the last byte enclose a complete line.
    while start > 0 and len(tail) < MAX_SCAN and tail[:-1].count(b"\n") < 2:  # noqa: PLR2004
        new_start = max(0, start - WINDOW)
        tail = _read_at(descriptor, new_start, start - new_start) + tail
        start = new_start
    return tail


def _read_at(descriptor: int, offset: int, n_bytes: int) -> bytes:
    """Read ``n_bytes`` at an offset, or fewer if the file has shrunk."""
    pieces = []
    while n_bytes > 0:
        piece = os.pread(descriptor, n_bytes, offset)
        if not piece:
            break
        pieces.append(piece)
        offset += len(piece)
        n_bytes -= len(piece)
    return b"".join(pieces)


def _read_compressed_ends(path: Path) -> FileEnds:
    """Return both ends of a compressed file, which has to be decompressed from the start.

    At most about ``_MAX_DECOMPRESSED`` bytes are decompressed; a larger file has no tail.
    """
    import pyarrow as pa

    head = tail = b""
    size = 0
    with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, "zstd") as stream:
        while size < _MAX_DECOMPRESSED and (piece := stream.read(MAX_SCAN)):
            head = head or piece[:WINDOW]
            size += len(piece)
            tail = (tail + piece)[-MAX_SCAN:]
    head_lines = _complete_head_lines(head)
    if size <= WINDOW or size >= _MAX_DECOMPRESSED:
        return FileEnds(path=path, head=head_lines, tail=head_lines if size <= WINDOW else ())
    lines = tail.split(b"\n")
    is_cut = size > MAX_SCAN
    return FileEnds(path=path, head=head_lines, tail=tuple(lines[1:] if is_cut else lines))


def _complete_head_lines(data: bytes) -> tuple[bytes, ...]:
    """Split the start of a file into lines, without the last one if the window may cut it."""
    lines = data.split(b"\n")
    return tuple(lines[:-1] if len(data) >= WINDOW else lines)


def _decode_records(line: bytes) -> Iterator[Mapping[str, Any]]:
    values, _ = decode(line)
    return (value for value in values if isinstance(value, Mapping))
