"""Raw lines of a file, and what was read with the identity of the file it came from."""

import hashlib
import io
import os
import stat
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast, overload

from compactctl.errors import ChangedError, NoInputError
from compactctl.model.operation import Digest
from compactctl.model.transcript import RawLine
from compactctl.store.files.compression import (
    MAGIC,
    decompressed,
    decompression_errors,
    is_compressed,
)
from compactctl.store.files.content import Content
from compactctl.store.files.limits import NO_LIMITS, READ_LIMITS, ReadLimits
from compactctl.store.files.modes import note_mode

BUFFER = 1 << 20


class FileLines(Sequence[bytes]):
    """The lines of a file as they were when they were first read; none of them is held.

    Raises ChangedError where a line is not what it was; what was appended since is not seen.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ends = array("Q")
        self._hashes = array("q")

    def record(self, lines: Iterable[bytes]) -> Iterator[bytes]:
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


# Standard input as FILE, standard output as --output.
STANDARD_STREAM = "-"
RECENT_SECONDS = 1
WAIT_SECONDS = 0.05
"""How long the rest of a line is waited for in a file that was written to a moment ago."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIdentity:
    """Which file was read, and the size and SHA-256 of its bytes as they were on disk."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was read: its lines, and where they came from.

    ``path`` and ``identity`` are None for standard input. ``is_compressed`` is set when the file is
    compressed, so that its own bytes are not those of ``lines``; ``limits`` hold for it and for all
    earlier states of it. The lines of a plain file are read again whenever they are gone through,
    which raises ChangedError when they are not the same.
    """

    path: Path | None
    lines: Sequence[bytes]
    digest: Digest
    identity: FileIdentity | None = None
    is_compressed: bool = False
    limits: ReadLimits = READ_LIMITS

    @property
    def data(self) -> bytes:
        """All bytes at once; for what is small, or has to be one piece."""
        return b"".join(self.lines)

    @property
    def ends_mid_line(self) -> bool:
        """Whether the last line is not terminated."""
        return bool(self.lines) and not self.lines[-1].endswith(b"\n")

    @property
    def content(self) -> Content:
        """The same bytes, to be written."""
        return Content(chunks=self.lines, digest=self.digest, ends_mid_line=self.ends_mid_line)


def split_lines(data: bytes) -> tuple[bytes, ...]:
    r"""Split at ``\n`` only and keep it; joining the lines gives ``data`` back."""
    return tuple(io.BytesIO(data))


def digest_of(content: bytes | Iterable[bytes]) -> Digest:
    """Return the digest of a file that consists of these bytes, or of these pieces in a row."""
    return Content.from_chunks((content,) if isinstance(content, bytes) else content).digest


def sha256_of(path: Path) -> str:
    """Return the digest of a file's bytes as they are on disk, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_lines(path: str | os.PathLike[str], limits: ReadLimits = READ_LIMITS) -> Iterator[RawLine]:
    """Yield the lines of a file, unpacked, one buffer at a time. NoInputError as in open_input."""
    name = str(path)
    with _open_regular(Path(path), limits) as stream, decompression_errors(name):
        _note_mode(stream, limits)
        for index, data in enumerate(limits.limited_lines(decompressed(stream), name)):
            yield RawLine(index, data)


def read_head(path: str | os.PathLike[str], n_bytes: int) -> bytes:
    """Return the first bytes of a file, unpacked, all when it has fewer. Raises as open_input."""
    with (
        _open_regular(Path(path), NO_LIMITS) as stream,
        decompression_errors(str(path)),
        _read_errors(Path(path)),
    ):
        return decompressed(stream).read(n_bytes)


def open_input(path: str | os.PathLike[str], limits: ReadLimits = READ_LIMITS) -> Source:
    """Read a transcript once, from its start to its end; ``-`` is standard input.

    Gzip and zstd are unpacked. The lines of a plain file are not kept in memory, those of anything
    else are.

    Raises NoInputError with a line that helps for everything that is not a readable, non-empty
    regular file within the limits, and NotUnderstoodError for compressed data that cannot be
    unpacked.
    """
    if os.fspath(path) == STANDARD_STREAM:
        return _read_stdin(limits)
    place = Path(path)
    with _open_regular(place, limits) as stream, _read_errors(place):
        info = os.fstat(stream.fileno())
        _note_mode(stream, limits)
        if is_compressed(stream.peek(MAGIC)):
            stored = stream.read()
            identity = _identity(info, digest_of(stored))
            held = _read_into_memory(io.BufferedReader(io.BytesIO(stored)), str(path), limits)
            return replace(held, path=place, identity=identity)
        lines = FileLines(place)
        digest = digest_of(lines.record(_whole_lines(stream, str(path), limits)))
    _require_content(digest, str(path))
    return Source(
        path=place, lines=lines, digest=digest, identity=_identity(info, digest), limits=limits
    )


def _read_stdin(limits: ReadLimits) -> Source:
    if sys.stdin is None:
        raise NoInputError("standard input: is closed; name a file, or pipe one in")
    stream = io.BufferedReader(cast("Any", sys.stdin.buffer), BUFFER)
    try:
        return _read_into_memory(stream, "standard input (-)", limits)
    except OSError as error:
        why = error.strerror or error
        raise NoInputError(f"standard input: cannot be read ({why}); name a file") from error
    finally:
        # Or standard input would be closed with it.
        stream.detach()


def _whole_lines(stream: io.BufferedReader, name: str, limits: ReadLimits) -> Iterator[bytes]:
    """Yield the lines up to the end; a last one that is being written just now is waited for."""
    for line in limits.limited_lines(stream, name):
        if line.endswith(b"\n"):
            yield line
            continue
        if time.time() - os.fstat(stream.fileno()).st_mtime < RECENT_SECONDS:
            time.sleep(WAIT_SECONDS)
        # What is written after that is not read, or the rest of a line would be taken for a line.
        yield line + stream.readline(limits.max_line_bytes)
        return


def _read_into_memory(stream: io.BufferedReader, name: str, limits: ReadLimits) -> Source:
    packed = is_compressed(stream.peek(MAGIC))
    with decompression_errors(name):
        lines = tuple(limits.limited_lines(decompressed(stream), name))
    digest = digest_of(lines)
    _require_content(digest, name)
    return Source(path=None, lines=lines, digest=digest, is_compressed=packed, limits=limits)


def _require_content(digest: Digest, name: str) -> None:
    if not digest.n_bytes:
        raise NoInputError(f"{name}: is empty; there is nothing to read")


def _identity(info: os.stat_result, stored: Digest) -> FileIdentity:
    return FileIdentity(
        dev=info.st_dev,
        ino=info.st_ino,
        size=stored.n_bytes,
        mtime_ns=info.st_mtime_ns,
        sha256=stored.sha256,
    )


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NoInputError(f"{path}: cannot be read ({error.strerror})") from error


def _note_mode(stream: io.BufferedReader, limits: ReadLimits) -> None:
    # What has limits of its own is read beside transcripts: prompts, tables, definitions.
    if not limits.is_fixed:
        note_mode(os.fstat(stream.fileno()).st_mode)


def _open_regular(path: Path, limits: ReadLimits) -> io.BufferedReader:
    try:
        info = path.stat()
        _check_regular(path, info)
        limits.check_size(info.st_size, str(path))
        return io.BufferedReader(path.open("rb", buffering=0), BUFFER)
    except FileNotFoundError as error:
        raise NoInputError(
            f"{path}: no such file; name one that exists, or - for standard input"
        ) from error
    except PermissionError as error:
        raise NoInputError(f"{path}: no permission to read it; change its mode or user") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise NoInputError(f"{path}: cannot be opened ({why}); name a readable file") from error


def _check_regular(path: Path, info: os.stat_result) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise NoInputError(
            f"{path}: is a folder; name a file in it, or use compactctl batch for all of it"
        )
    if not stat.S_ISREG(info.st_mode):
        raise NoInputError(f"{path}: is not a regular file; pipe it in and name - instead")
    if not info.st_size:
        raise NoInputError(f"{path}: is empty; there is nothing to read")


def append_lines(stream: BinaryIO, lines: bytes) -> None:
    """Write lines behind a file that is open to append and read, on lines of their own.

    What another program wrote last may lack its line break.
    """
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - 1))
    stream.write(lines if stream.read(1) in (b"", b"\n") else b"\n" + lines)


HEAD_BYTES = 8_192


def size_and_head(path: str) -> tuple[int, bytes]:
    """Return a regular file's size in bytes and its first bytes; it may be empty.

    Raises:
        NoInputError: there is no such file, it is not a regular one, or cannot be opened.
    """
    try:
        info = Path(path).stat()
        if not stat.S_ISREG(info.st_mode):
            raise NoInputError(f"{path}: is not a regular file; name files only")
        with Path(path).open("rb") as stream:
            return info.st_size, stream.read(HEAD_BYTES)
    except FileNotFoundError as error:
        raise NoInputError(f"{path}: no such file; name existing files") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise NoInputError(f"{path}: cannot be opened ({why}); name a readable file") from error
