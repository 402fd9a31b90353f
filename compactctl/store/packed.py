"""Compressed input, told by its first bytes."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from compactctl.errors import NoInputError, NotUnderstoodError

GZIP_MAGIC = b"\x1f\x8b"  # RFC 1952, 2.3.1
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"  # RFC 8878, 3.1.1
UNPACKED_LIMIT = 2 << 30
"""Bytes; gzip packs up to 1,032 to 1, and what is unpacked is held in memory."""


def is_packed(start: bytes) -> bool:
    """Tell whether a file that starts like this is gzip."""
    return start.startswith(GZIP_MAGIC)


def unpacking(stream: io.BufferedReader, name: str) -> BinaryIO:
    """Return a stream of the plain bytes, which is ``stream`` itself when it is not packed."""
    start = stream.peek(len(ZSTD_MAGIC))
    _refuse_zstd(start, name)
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream)) if is_packed(start) else stream


def unpack(data: bytes, name: str, limit: int = UNPACKED_LIMIT) -> bytes:
    """Return the plain bytes of ``data``; to unpack more than ``limit`` raises NoInputError."""
    _refuse_zstd(data, name)
    if not is_packed(data):
        return data
    with gzip_errors(name):
        plain = gzip.GzipFile(fileobj=io.BytesIO(data)).read(limit + 1)
    if len(plain) > limit:
        raise NoInputError(f"{name}: unpacks to more than {limit:,} bytes; unpack and split it")
    return plain


@contextmanager
def gzip_errors(name: str) -> Iterator[None]:
    """Turn what a damaged gzip file raises into NotUnderstoodError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NotUnderstoodError(
            f"{name}: is damaged gzip ({error}); unpack what is left with gzip -dc"
        ) from error


def _refuse_zstd(start: bytes, name: str) -> None:
    if start.startswith(ZSTD_MAGIC):
        raise NotUnderstoodError(
            f"{name}: is zstd-compressed; unpack it first: zstd -dc FILE | compactctl … -"
        )
