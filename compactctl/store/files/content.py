"""The bytes of a file to be written, in pieces, so that they are never held all at once."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, BinaryIO, Self

from compactctl.model.operation import Digest

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Pieces that follow one another in a file, and the digest of all of them together.

    The pieces can be gone through more than once and are the same each time. ``ends_mid_line`` is
    set when the last line is not terminated.
    """

    chunks: Iterable[bytes]
    digest: Digest
    ends_mid_line: bool

    @classmethod
    def from_chunks(cls, pieces: Iterable[bytes]) -> Self:
        """Return pieces that can be gone through more than once, with their digest."""
        digest = hashlib.sha256()
        n_bytes = n_lines = 0
        last = b"\n"
        for piece in pieces:
            digest.update(piece)
            n_bytes += len(piece)
            n_lines += piece.count(b"\n")
            last = piece[-1:] or last
        is_open = last != b"\n"
        whole = Digest(sha256=digest.hexdigest(), n_bytes=n_bytes, n_lines=n_lines + is_open)
        return cls(chunks=pieces, digest=whole, ends_mid_line=is_open)


def rechunk(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of at least ``BLOCK`` bytes, but for the last one."""
    block: list[bytes] = []
    size = 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield b"".join(block)
            block, size = [], 0
    if size:
        yield b"".join(block)


def read_first(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first ``size`` bytes of a stream, or all there are, in pieces.

    Asked for all at once, Python takes that much memory before it reads.
    """
    while piece := stream.read(min(size, BLOCK)):
        size -= len(piece)
        yield piece


class ChunksAndTail:
    """Pieces and what follows them, read anew each time they are gone through."""

    def __init__(self, first: Callable[[], Iterable[bytes]], more: bytes = b"") -> None:
        self._first, self._more = first, more

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces from the first to the last."""
        yield from self._first()
        if self._more:
            yield self._more


def last_byte_and_rest(pieces: Iterable[bytes], size: int) -> tuple[bytes, bytes]:
    """Return the last of the first ``size`` bytes, and everything that follows them."""
    last, rest = b"", []
    for piece in pieces:
        head, tail = piece[:size], piece[size:]
        last = head[-1:] or last
        size -= len(head)
        if tail:
            rest.append(tail)
    return last, b"".join(rest)


class ChunkedLines:
    """The lines of a file that consists of these pieces, as often as those can be gone through."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first to the last."""
        rest = b""
        for piece in self._pieces:
            *whole, rest = _split(rest + piece)
            yield from whole
        if rest:
            yield rest


def _split(data: bytes) -> tuple[bytes, ...]:
    """Return the terminated lines and what follows them, which may be nothing."""
    end = data.find(b"\n") + 1
    if end == len(data):
        return (data, b"") if data else (b"",)
    return (*io.BytesIO(data), b"") if data.endswith(b"\n") else tuple(io.BytesIO(data))


class StreamPieces:
    """The bytes of a stream from its start to its end, as often as they are gone through."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces from the first to the last."""
        self._stream.seek(0)
        while piece := self._stream.read(BLOCK):
            yield piece


_LINE_ENDS = (b"\n", b"\r\n")


def ends_mid_line(state: bytes) -> bool:
    """Tell whether the last line of a state is unterminated; the end of the state is enough."""
    return bool(state) and not state.endswith(b"\n")


def can_follow(suffix: bytes, *, is_mid_line: bool) -> bool:
    """Tell whether ``suffix`` follows a state without growing into its last line."""
    return not is_mid_line or not suffix or suffix.startswith(_LINE_ENDS)


def canonical_suffix(suffix: bytes, *, is_mid_line: bool) -> bytes:
    """Return the carry of ``suffix``, which follows a state and can be carried."""
    return suffix if is_mid_line or not suffix else b"\n" + suffix


def suffix_after(carry: bytes, *, is_mid_line: bool) -> bytes:
    """Return the bytes that bring a carry behind a state, whose last line they end if need be."""
    return carry if is_mid_line else carry[carry.find(b"\n") + 1 :]


def join_suffixes(carry: bytes, later: bytes) -> bytes:
    """Return the carry of one carry and then another."""
    return carry + suffix_after(later, is_mid_line=ends_mid_line(carry)) if carry else later
