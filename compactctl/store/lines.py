"""Raw lines of a file, and what was read with the identity of the file it came from."""

import hashlib
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from compactctl.errors import NoInputError
from compactctl.model.operation import Digest
from compactctl.model.transcript import RawLine
from compactctl.store.packed import gzip_errors, is_packed, unpack, unpacking

BUFFER = 1 << 20
STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which file was read, and the size and SHA-256 of its bytes as they were on disk."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was read: the plain bytes, and where they came from.

    ``path`` and ``identity`` are None for standard input. ``packed`` is set when the file is
    compressed, so that its own bytes are not ``data``.
    """

    path: Path | None
    data: bytes
    digest: Digest
    identity: Identity | None = None
    packed: bool = False


def split_lines(data: bytes) -> tuple[bytes, ...]:
    r"""Split at ``\n`` only and keep it; joining the lines gives ``data`` back."""
    return tuple(io.BytesIO(data))


def digest_of(content: bytes | Iterable[bytes]) -> Digest:
    """Return the digest of a file that consists of these bytes, or of these pieces in a row."""
    digest = hashlib.sha256()
    n_bytes = n_lines = 0
    last = b"\n"
    for piece in (content,) if isinstance(content, bytes) else content:
        digest.update(piece)
        n_bytes += len(piece)
        n_lines += piece.count(b"\n")
        last = piece[-1:] or last
    return Digest(sha256=digest.hexdigest(), n_bytes=n_bytes, n_lines=n_lines + (last != b"\n"))


def read_lines(path: str | os.PathLike[str]) -> Iterator[RawLine]:
    """Yield the lines of a file, unpacked, one buffer at a time. NoInputError as in open_input."""
    offset = 0
    with _open_regular(Path(path)) as stream, gzip_errors(str(path)):
        for index, data in enumerate(unpacking(stream, str(path))):
            yield RawLine(index, offset, data)
            offset += len(data)


def open_input(path: str | os.PathLike[str]) -> Source:
    """Read a transcript whole; ``-`` is standard input. Gzip is unpacked.

    Raises NoInputError with a line that helps for everything that is no readable, non-empty
    regular file, and NotUnderstoodError for compressed data that cannot be unpacked.
    """
    if os.fspath(path) == STANDARD_INPUT:
        stored, identity = sys.stdin.buffer.read(), None
    else:
        stored, identity = _read_regular(Path(path))
    data = unpack(stored, str(path))
    if not data:
        raise NoInputError(f"{path}: is empty; there is nothing to read")
    return Source(
        path=None if identity is None else Path(path),
        data=data,
        digest=digest_of(data),
        identity=identity,
        packed=is_packed(stored),
    )


def _read_regular(path: Path) -> tuple[bytes, Identity]:
    with _open_regular(path) as stream:
        info = os.fstat(stream.fileno())
        try:
            stored = stream.read()
        except OSError as error:
            raise NoInputError(f"{path}: cannot be read ({error.strerror})") from error
    return stored, Identity(
        dev=info.st_dev,
        ino=info.st_ino,
        size=len(stored),
        mtime_ns=info.st_mtime_ns,
        sha256=hashlib.sha256(stored).hexdigest(),
    )


def _open_regular(path: Path) -> io.BufferedReader:
    try:
        info = path.stat()
        _check_regular(path, info)
        return io.BufferedReader(path.open("rb", buffering=0), BUFFER)
    except FileNotFoundError as error:
        raise NoInputError(
            f"{path}: no such file; name an existing transcript, or - for standard input"
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
        raise NoInputError(f"{path}: is no regular file; pipe it in and name - instead")
    if not info.st_size:
        raise NoInputError(f"{path}: is empty; there is nothing to read")
