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
MAGIC = max(len(GZIP_MAGIC), len(ZSTD_MAGIC))
"""So many bytes tell what a file is."""


class _UnclosedStream:
    """A stream to read from which pyarrow does not close when it is done with it."""

    closed = False

    def __init__(self, stream: io.BufferedReader) -> None:
        self.read = stream.read

    def close(self) -> None:
        """Leave the stream open."""


def is_compressed(start: bytes) -> bool:
    """Tell whether a file that starts like this is gzip or zstd."""
    return start.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def decompressed(stream: io.BufferedReader) -> BinaryIO:
    """Return a stream of the plain bytes, which is ``stream`` itself when it is not packed."""
    start = stream.peek(MAGIC)
    if start.startswith(GZIP_MAGIC):
        return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=stream)))
    if start.startswith(ZSTD_MAGIC):
        import pyarrow as pa

        packed = pa.PythonFile(_UnclosedStream(stream), mode="r")
        return io.BufferedReader(cast("io.RawIOBase", pa.CompressedInputStream(packed, "zstd")))
    return stream


@contextmanager
def decompression_errors(name: str) -> Iterator[None]:
    """Turn what a damaged compressed file raises into NotUnderstoodError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NotUnderstoodError(
            f"{name}: is damaged gzip ({error}); unpack what is left with gzip -dc"
        ) from error
    except OSError as error:
        # pyarrow's own errors have no number; those of the system go on.
        if error.errno is not None:
            raise
        raise NotUnderstoodError(
            f"{name}: is damaged zstd ({error}); unpack what is left with zstd -dc"
        ) from error
