"""Read inputs: raw lines, their digest, and the identity of the file they come from."""

import hashlib
import io
import os
import stat
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast, overload

from compactctl.errors import ChangedMeanwhileError, NoInputError
from compactctl.model.operation import Digest
from compactctl.model.transcript import RawLine
from compactctl.records import Record, replace
from compactctl.store.files.compression import (
    MAGIC,
    decompressed,
    decompression_errors,
    is_compressed,
)
from compactctl.store.files.content import Content
from compactctl.store.files.limits import NO_LIMITS, READ_LIMITS, ReadLimits
from compactctl.store.files.modes import note_mode
from compactctl.store.files.objects import is_object, open_object

BUFFER = 1 << 20


class FileLines(Sequence[bytes]):
    """The lines of a file as they were first read; they are read again and not kept in memory.

    Raises ChangedError if a line has changed since. Lines appended later are not seen.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ends = array("Q")
        self._hashes = array("q")

    def record(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines of the first reading, and record where they end and what they hold."""
        end = 0
        for line in lines:
            end += len(line)
            self._ends.append(end)
            self._hashes.append(hash(line))
            yield line

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._ends)

    def __iter__(self) -> Iterator[bytes]:
        """Read all lines."""
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
        """Read one line or a slice of them."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        index = range(len(self))[index]
        start = self._ends[index - 1] if index else 0
        with self._open() as stream:
            stream.seek(start)
            return self._read(stream, self._ends[index] - start, self._hashes[index])

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

    def _unreadable(self, error: OSError) -> ChangedMeanwhileError:
        return ChangedMeanwhileError(
            f"{os.fspath(self._path)}: can no longer be read ({error.strerror or error}); "
            "nothing was written; check the file and its disk"
        )

    def _changed(self) -> ChangedMeanwhileError:
        return ChangedMeanwhileError(
            f"{os.fspath(self._path)}: changed while compactctl was running; nothing was "
            "written; try again"
        )


STANDARD_STREAM = "-"
"""Standard input as FILE, standard output as --output."""
RECENT_SECONDS = 1
WAIT_SECONDS = 0.05
"""How long to wait for the rest of a line if the file was written to a moment ago."""


class FileIdentity(Record):
    """The file that was read, and the size and SHA-256 of its bytes on disk."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    sha256: str


class Source(Record):
    """An input that was read.

    Attributes:
        path: None for standard input, and for a session in a database.
        lines: the decompressed lines. Those of a plain file are read again for each iteration,
            which raises ChangedError if they have changed.
        digest: of the decompressed lines.
        identity: None for standard input.
        is_compressed: whether the bytes on disk are compressed.
        limits: for this state of the transcript and all earlier ones.
        archive: the archive folder of a session in a database, else None.
        name: what errors call such a session, else "".
    """

    path: Path | None
    lines: Sequence[bytes]
    digest: Digest
    identity: FileIdentity | None = None
    is_compressed: bool = False
    limits: ReadLimits = READ_LIMITS
    archive: Path | None = None
    name: str = ""

    @property
    def data(self) -> bytes:
        """All bytes at once, for small inputs and for those that must be in one piece."""
        return b"".join(self.lines)

    @property
    def ends_mid_line(self) -> bool:
        """Whether the last line is not terminated."""
        return bool(self.lines) and not self.lines[-1].endswith(b"\n")

    @property
    def content(self) -> Content:
        """The same bytes as content to be written."""
        return Content(chunks=self.lines, digest=self.digest, ends_mid_line=self.ends_mid_line)


def split_lines(data: bytes) -> tuple[bytes, ...]:
    r"""Split at ``\n`` only and keep it, so that joining the lines restores ``data``."""
    return tuple(io.BytesIO(data))


def digest_of(content: bytes | Iterable[bytes]) -> Digest:
    """Return the digest of bytes, or of joined chunks."""
    return Content.from_chunks((content,) if isinstance(content, bytes) else content).digest


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes on disk, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_lines(path: str | os.PathLike[str], limits: ReadLimits = READ_LIMITS) -> Iterator[RawLine]:
    """Yield the decompressed lines of a file, one buffer at a time. Raises as ``open_input``."""
    name = str(path)
    with _open_regular(path, limits) as stream, decompression_errors(name):
        _note_mode(stream, limits)
        for index, data in enumerate(limits.limited_lines(decompressed(stream), name)):
            yield RawLine(index, data)


def read_head(path: str | os.PathLike[str], n_bytes: int) -> bytes:
    """Return the first bytes of a file, decompressed. Raises as ``open_input``."""
    with (
        _open_regular(path, NO_LIMITS) as stream,
        decompression_errors(str(path)),
        _read_errors(Path(path)),
    ):
        return decompressed(stream).read(n_bytes)


def open_input(path: str | os.PathLike[str], limits: ReadLimits = READ_LIMITS) -> Source:
    """Read a transcript once, from start to end; ``-`` is standard input.

    Gzip and zstd are decompressed. Only the lines of a plain file are not kept in memory.

    Raises NoInputError for everything but a readable, non-empty regular file within the limits, and
    NotUnderstoodError for damaged compressed data.
    """
    if os.fspath(path) == STANDARD_STREAM:
        return _read_stdin(limits)
    if is_object(path):
        with open_object(os.fspath(path), limits) as stream:
            return _read_into_memory(stream, os.fspath(path), limits)
    file = Path(path)
    with _open_regular(file, limits) as stream, _read_errors(file):
        info = os.fstat(stream.fileno())
        _note_mode(stream, limits)
        if is_compressed(stream.peek(MAGIC)):
            compressed = stream.read()
            identity = _identity(info, digest_of(compressed))
            source = _read_into_memory(io.BufferedReader(io.BytesIO(compressed)), str(path), limits)
            return replace(source, path=file, identity=identity)
        lines = FileLines(file)
        digest = digest_of(lines.record(_whole_lines(stream, str(path), limits)))
    _require_content(digest, str(path))
    return Source(
        path=file, lines=lines, digest=digest, identity=_identity(info, digest), limits=limits
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
        # Otherwise standard input would be closed with the reader.
        stream.detach()


def _whole_lines(stream: io.BufferedReader, name: str, limits: ReadLimits) -> Iterator[bytes]:
    """Yield the lines up to the end; wait for the rest of a last line that is being written."""
    for line in limits.limited_lines(stream, name):
        if line.endswith(b"\n"):
            yield line
            continue
        if time.time() - os.fstat(stream.fileno()).st_mtime < RECENT_SECONDS:
            time.sleep(WAIT_SECONDS)
        # Stop here: a later rest of this line would be taken for a line.
        yield line + stream.readline(limits.max_line_bytes)
        return


def _read_into_memory(stream: io.BufferedReader, name: str, limits: ReadLimits) -> Source:
    has_magic = is_compressed(stream.peek(MAGIC))
    with decompression_errors(name):
        lines = tuple(limits.limited_lines(decompressed(stream), name))
    digest = digest_of(lines)
    _require_content(digest, name)
    return Source(path=None, lines=lines, digest=digest, is_compressed=has_magic, limits=limits)


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
    # Inputs with fixed limits are not transcripts but prompts, tables, definitions.
    if not limits.is_fixed:
        note_mode(os.fstat(stream.fileno()).st_mode)


def _open_regular(path: str | os.PathLike[str], limits: ReadLimits) -> io.BufferedReader:
    if is_object(path):
        return open_object(os.fspath(path), limits)
    path = Path(path)
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
        raise NoInputError(f"{path}: permission denied; check its mode and owner") from error
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
    """Append lines to a file that is open for reading and appending.

    If the last line of the file is unterminated, it is terminated first.
    """
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - 1))
    stream.write(lines if stream.read(1) in (b"", b"\n") else b"\n" + lines)


HEAD_BYTES = 8_192


def size_and_head(path: str) -> tuple[int, bytes]:
    """Return the size and the first bytes of a regular file, which may be empty.

    Raises:
        NoInputError: the file does not exist, is not regular, or cannot be opened.
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
