"""Decompress input, which is recognized by its first bytes."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from compactctl.errors import NotUnderstoodError

GZIP_MAGIC = b"\x1f\x8b"  # RFC 1952, 2.3.1
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"  # RFC 8878, 3.1.1
MAGIC = max(len(GZIP_MAGIC), len(ZSTD_MAGIC))
"""The number of bytes that tell whether a file is compressed."""


class _UnclosedStream:
    """Protects a stream from being closed by pyarrow."""

    closed = False

    def __init__(self, stream: io.BufferedReader) -> None:
        self.read = stream.read

    def close(self) -> None:
        """Do nothing, which leaves the stream open."""


def is_compressed(start: bytes) -> bool:
    """Return whether a file that starts like this is gzip or zstd."""
    return start.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def decompressed(stream: io.BufferedReader) -> BinaryIO:
    """Return a stream of the decompressed bytes; ``stream`` itself if it is not compressed."""
    start = stream.peek(MAGIC)
    if start.startswith(GZIP_MAGIC):
        return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=stream)))
    if start.startswith(ZSTD_MAGIC):
        import pyarrow as pa

        compressed = pa.PythonFile(_UnclosedStream(stream), mode="r")
        return io.BufferedReader(cast("io.RawIOBase", pa.CompressedInputStream(compressed, "zstd")))
    return stream


@contextmanager
def decompression_errors(name: str) -> Iterator[None]:
    """Turn the errors of a damaged compressed file into NotUnderstoodError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NotUnderstoodError(
            f"{name}: is damaged gzip ({error}); unpack what is left with gzip -dc"
        ) from error
    except OSError as error:
        # pyarrow's errors have no errno; those of the system are not about damage.
        if error.errno is not None:
            raise
        raise NotUnderstoodError(
            f"{name}: is damaged zstd ({error}); unpack what is left with zstd -dc"
        ) from error
