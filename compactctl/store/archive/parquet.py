"""Read and write the Parquet file of an archive, without regard to what the rows mean."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from compactctl.errors import ArchiveError, IntegrityError, LargeArchiveError, is_out_of_memory
from compactctl.model.operation import Digest
from compactctl.records import Record
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.parquet_pages import (
    chunk_span,
    column_bytes,
    column_chunks,
    is_dictionary_encoded,
    page_sizes,
)

ParquetRow = dict[str, Any]

COLUMNS = {
    "seq": "int64",
    "raw": "large_binary",
    "sha256": "string",
    "fate": "string",
    "after_line": "int64",
    "message_id": "string",
    "role": "string",
    "tool": "string",
    "call_id": "string",
    "tokens": "int64",
    "stage": "string",
    "group": "string",
    "condense_parent": "string",
    "truncation_parent": "string",
    "edit_parent": "string",
    "edits": "string",
}
DICTIONARY_COLUMNS = ["fate", "role", "tool", "stage", "group"]
"""Columns with few distinct values, which dictionaries shrink."""
BATCH_ROWS = 256
"""Rows that are decompressed at a time, since a few bytes of a file can expand to any number."""
GROUP_BYTES = 1 << 20
"""Raw bytes in a row group, which is held in memory; a longer line has a group of its own."""
_VALUE_BYTES = 32
"""The most that a value takes in a page beside its text or data: its length and its levels."""
_NO_THREAD = "launch worker thread"
MAX_ERROR_CHARS = 160
"""Characters of a library's message that are shown."""

# Read when pyarrow is imported. With it, pyarrow reuses memory that Python freed, instead of a pool
# of its own.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# Its other allocator starts a thread when it is loaded, and hangs if there is no memory for one.
os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")


class RowLimits(Record):
    """Limits of an archive's rows: the lines of ``state``, described in ``text`` bytes.

    ``limits`` are the user's. Their longest line also applies to all edits together, which are one
    JSON document spread over the rows.
    """

    state: Digest
    text: int
    limits: ReadLimits


class Sink(Protocol):
    """The part of a binary file that pyarrow needs to write."""

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""

    def write(self, data: bytes, /) -> int:
        """Write all of ``data`` and return its size."""


def write_parquet(
    out: Sink, groups: Iterable[Mapping[str, Sequence[Any]]], metadata: Mapping[str, bytes]
) -> None:
    """Write one row group per group of columns, holding only one in memory."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    schema = _schema().with_metadata(metadata)
    with pq.ParquetWriter(
        out,
        schema,
        compression="zstd",
        use_dictionary=DICTIONARY_COLUMNS,
        write_statistics=["seq", "after_line", "tokens"],
        write_page_checksum=True,
    ) as writer:
        for columns in groups:
            writer.write_batch(pa.RecordBatch.from_pydict(columns, schema=schema))


def read_metadata(path: Path) -> dict[bytes, bytes]:
    """Read the metadata of the schema and no column."""
    from pyarrow import parquet as pq

    with damage_errors(path), open_regular(path) as stream:
        return dict(pq.read_schema(stream).metadata or {})


def read_parquet(
    path: Path, columns: Sequence[str], limits: RowLimits
) -> Iterator[list[ParquetRow]]:
    """Yield batches of rows with these columns.

    Raises IntegrityError as soon as there are more rows or bytes than the state has, before they
    take memory, and at the end if there are fewer rows than the footer says. Raises
    LargeArchiveError for more than the user's limits allow.
    """
    import pyarrow as pa

    columns, schema = list(columns), _schema()
    with (
        damage_errors(path),
        open_regular(path) as stream,
        open_parquet(stream, path, columns, schema) as file,
    ):
        n_rows, sizes = 0, dict.fromkeys(columns, 0)
        _check(path, file.metadata.num_rows <= limits.state.n_lines)
        _check_pages(path, stream, file.metadata, columns, limits)
        for batch in file.iter_batches(BATCH_ROWS, columns=columns, use_threads=False):
            n_rows += batch.num_rows
            sizes = {name: size + column_bytes(batch.column(name)) for name, size in sizes.items()}
            _check(path, n_rows <= limits.state.n_lines)
            _check_sizes(path, sizes, limits)
            yield pa.Table.from_batches([batch]).to_pylist()
        # A document has fewer rows than lines, so only the footer tells how many there are.
        if n_rows < file.metadata.num_rows:
            raise IntegrityError(f"{path}: rows are missing in it; restore the file from a backup")


def _check_pages(
    path: Path,
    stream: BinaryIO,
    metadata: object,
    columns: Sequence[str],
    limits: RowLimits,
) -> None:
    """Raise IntegrityError or LargeArchiveError if decompressed pages would be too large."""
    overhead = _VALUE_BYTES * limits.state.n_lines
    sizes, max_raw_page = dict.fromkeys(columns, 0), 0
    for name, size in page_sizes(stream, metadata, columns):
        sizes[name] += size
        if name == "raw":
            max_raw_page = max(max_raw_page, size)
    _check_sizes(path, sizes, limits, overhead)
    if max_raw_page > limits.limits.max_line_bytes + GROUP_BYTES + overhead:
        raise _too_large(path, "lines", limits)


def _check_sizes(
    path: Path, sizes: Mapping[str, int], limits: RowLimits, overhead: int = 0
) -> None:
    """Check the bytes in each column; up to ``overhead`` of each are not those of values."""
    raw = sizes.get("raw", 0)
    _check(path, raw <= limits.state.n_bytes + overhead)
    _check(path, sum(sizes.values()) - raw <= limits.text + overhead * len(sizes))
    if sizes.get("edits", 0) > limits.limits.max_line_bytes + overhead:
        raise _too_large(path, "edits", limits)


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises ArchiveError for a symbolic link, which may lead to anybody's file, and OSError for a
    pipe or a device, which might never end.
    """
    # Without O_NONBLOCK, opening a pipe waits for a writer.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        stream = os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ArchiveError(
            f"{path}: is a symbolic link, which is not followed; put the file itself there"
        ) from error
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError("it is not a regular file")
    return stream


def _check(path: Path, is_within: bool) -> None:  # noqa: FBT001 - reads as what is checked
    if not is_within:
        raise IntegrityError(
            f"{path}: contains more than its operation recorded; restore the file from a backup"
        )


def _too_large(path: Path, what: str, limits: RowLimits) -> LargeArchiveError:
    return LargeArchiveError(
        f"{path}: its {what} take more than {limits.limits.max_line_bytes:,} bytes; "
        "allow more with --max-line if you trust it"
    )


def open_parquet(
    stream: BinaryIO,
    path: Path,
    columns: Sequence[str],
    schema: object | None = None,
) -> Any:  # noqa: ANN401
    """Open a Parquet file so that dictionary values are not copied for each row.

    Raises ArchiveError if it has another schema, or if its footer places a column beyond its end.
    """
    from pyarrow import parquet as pq

    file = pq.ParquetFile(stream)
    if schema is not None and not file.schema_arrow.equals(schema):
        raise ArchiveError(
            f"{path}: its columns are not those of an archive; restore it from a backup"
        )
    end, repeating = path.stat().st_size, set()
    for _, chunk in column_chunks(file.metadata, columns.__contains__):
        start, size = chunk_span(chunk)
        if start < 0 or not 0 <= size <= end - start:
            raise ArchiveError(f"{path}: ends too early; restore the file from a backup")
        if is_dictionary_encoded(chunk):
            repeating.add(chunk.path_in_schema)
    return pq.ParquetFile(
        stream,
        metadata=file.metadata,
        read_dictionary=sorted(repeating),
        page_checksum_verification=True,
    )


def _schema() -> Any:  # noqa: ANN401
    import pyarrow as pa

    return pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])


@contextmanager
def damage_errors(path: Path) -> Iterator[None]:
    """Turn every error of a missing, unreadable or damaged file into ArchiveError."""
    import pyarrow as pa

    try:
        yield
    except MemoryError:
        # pyarrow's is also an ArrowException, but says nothing about the file.
        raise
    except pa.ArrowException as error:
        if _NO_THREAD in str(error):
            raise MemoryError from error
        raise _unreadable(path, error) from error
    except FileNotFoundError as error:
        raise ArchiveError(f"{path}: is missing; restore it from a backup") from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        if is_out_of_memory(error):
            raise
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ArchiveError:
    why = " ".join(str(error).split())[:MAX_ERROR_CHARS] or type(error).__name__
    return ArchiveError(f"{path}: cannot be read ({why}); restore it from a backup")
