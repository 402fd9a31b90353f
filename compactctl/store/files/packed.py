"""Compressed input, told by its first bytes."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from compactctl.errors import NotUnderstoodError

GZIP_MAGIC = b"\x1f\x8b"  # RFC 1952, 2.3.1
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"  # RFC 8878, 3.1.1


def is_packed(start: bytes) -> bool:
    """Tell whether a file that starts like this is gzip."""
    return start.startswith(GZIP_MAGIC)


def unpacking(stream: io.BufferedReader, name: str) -> BinaryIO:
    """Return a stream of the plain bytes, which is ``stream`` itself when it is not packed."""
    start = stream.peek(len(ZSTD_MAGIC))
    refuse_zstd(start, name)
    if not is_packed(start):
        return stream
    return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=stream)))


@contextmanager
def gzip_errors(name: str) -> Iterator[None]:
    """Turn what a damaged gzip file raises into NotUnderstoodError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NotUnderstoodError(
            f"{name}: is damaged gzip ({error}); unpack what is left with gzip -dc"
        ) from error


def refuse_zstd(start: bytes, name: str) -> None:
    """Raise NotUnderstoodError for a file that starts as zstd-compressed ones do."""
    if start.startswith(ZSTD_MAGIC):
        raise NotUnderstoodError(
            f"{name}: is zstd-compressed; unpack it first: zstd -dc FILE | compactctl … -"
        )
