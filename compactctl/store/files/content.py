r"""The bytes of a file in chunks, so that they are never all in memory, and what may follow them.

A state may end in the middle of a line. A suffix follows it if it does not continue that line. To
move a suffix from one state to another, its canonical form begins with the line break that ends an
unterminated line:

    state b"a\n",  suffix b"b\n"      canonical b"\nb\n"
    state b"a",    suffix b"\nb\n"    canonical b"\nb\n"
"""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, Self

from compactctl.model.operation import Digest
from compactctl.records import Record

BLOCK = 1 << 20


class Content(Record):
    """The chunks of a file and the digest of all of them.

    The chunks can be iterated more than once and are the same each time. ``ends_mid_line`` means
    that the last line is not terminated.
    """

    chunks: Iterable[bytes]
    digest: Digest
    ends_mid_line: bool

    @classmethod
    def from_chunks(cls, chunks: Iterable[bytes]) -> Self:
        """Compute the digest of chunks that can be iterated more than once."""
        sha256 = hashlib.sha256()
        n_bytes = n_lines = 0
        last_byte = b"\n"
        for chunk in chunks:
            sha256.update(chunk)
            n_bytes += len(chunk)
            n_lines += chunk.count(b"\n")
            last_byte = chunk[-1:] or last_byte
        ends_mid_line = last_byte != b"\n"
        digest = Digest(sha256=sha256.hexdigest(), n_bytes=n_bytes, n_lines=n_lines + ends_mid_line)
        return cls(chunks=chunks, digest=digest, ends_mid_line=ends_mid_line)


def rechunk(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Join chunks to chunks of at least ``BLOCK`` bytes; the last one may be smaller."""
    block: list[bytes] = []
    size = 0
    for chunk in chunks:
        block.append(chunk)
        size += len(chunk)
        if size >= BLOCK:
            yield b"".join(block)
            block, size = [], 0
    if size:
        yield b"".join(block)


def read_first(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first ``size`` bytes of a stream, or all if it has fewer, in chunks.

    Python allocates the whole size before it reads, so a single call could exhaust memory.
    """
    while chunk := stream.read(min(size, BLOCK)):
        size -= len(chunk)
        yield chunk


class ChunksAndTail:
    """The chunks that ``read`` returns, followed by ``tail``; read anew for each iteration."""

    def __init__(self, read: Callable[[], Iterable[bytes]], tail: bytes = b"") -> None:
        self._read, self._tail = read, tail

    def __iter__(self) -> Iterator[bytes]:
        """Yield all chunks."""
        yield from self._read()
        if self._tail:
            yield self._tail


def last_byte_and_rest(chunks: Iterable[bytes], size: int) -> tuple[bytes, bytes]:
    """Return the last of the first ``size`` bytes, and everything that follows them."""
    last_byte, rest = b"", []
    for chunk in chunks:
        head, tail = chunk[:size], chunk[size:]
        last_byte = head[-1:] or last_byte
        size -= len(head)
        if tail:
            rest.append(tail)
    return last_byte, b"".join(rest)


def last_line_of(chunks: Iterable[bytes]) -> bytes:
    """Return the unterminated last line of a file, empty if it ends with a line end."""
    line = b""
    for chunk in chunks:
        line = (line + chunk).rpartition(b"\n")[2]
    return line


class ChunkedLines:
    """The lines of a file in chunks; can be iterated as often as the chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        """Yield all lines."""
        unterminated = b""
        for chunk in self._chunks:
            *lines, unterminated = _split(unterminated + chunk)
            yield from lines
        if unterminated:
            yield unterminated


def _split(data: bytes) -> tuple[bytes, ...]:
    """Return the terminated lines, and what follows them, which may be empty."""
    end = data.find(b"\n") + 1
    if end == len(data):
        return (data, b"") if data else (b"",)
    return (*io.BytesIO(data), b"") if data.endswith(b"\n") else tuple(io.BytesIO(data))


class FileChunks:
    """The chunks of a file, which is read from its start for each iteration."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[bytes]:
        """Yield all chunks."""
        with self._path.open("rb") as stream:
            yield from StreamPieces(stream)


class StreamPieces:
    """The chunks of a stream, which is read from its start for each iteration."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        """Yield all chunks."""
        self._stream.seek(0)
        while chunk := self._stream.read(BLOCK):
            yield chunk


_LINE_ENDS = (b"\n", b"\r\n")


def ends_mid_line(state: bytes) -> bool:
    """Return whether the last line of a state is unterminated; its last byte is enough."""
    return bool(state) and not state.endswith(b"\n")


def can_follow(suffix: bytes, *, is_mid_line: bool) -> bool:
    """Return whether ``suffix`` follows a state without continuing its unterminated last line."""
    return not is_mid_line or not suffix or suffix.startswith(_LINE_ENDS)


def canonical_suffix(suffix: bytes, *, is_mid_line: bool) -> bytes:
    """Return the canonical form of a suffix that can follow a state."""
    return suffix if is_mid_line or not suffix else b"\n" + suffix


def suffix_after(canonical: bytes, *, is_mid_line: bool) -> bytes:
    """Return the bytes that append a canonical suffix to a state."""
    return canonical if is_mid_line else canonical[canonical.find(b"\n") + 1 :]


def join_suffixes(first: bytes, second: bytes) -> bytes:
    """Return the canonical form of two canonical suffixes, one after the other."""
    return first + suffix_after(second, is_mid_line=ends_mid_line(first)) if first else second
