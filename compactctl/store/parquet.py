"""Reading and writing the Parquet file of an archive; nothing here knows what the rows mean."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from compactctl.errors import ArchiveError

Row = dict[str, Any]

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
REPETITIVE = ["fate", "role", "tool", "stage", "group"]
"""Columns of few different values, which a dictionary makes small."""
SHOWN = 160
"""Characters of a library's message that are shown."""


class Sink(Protocol):
    """Where a file is written to."""

    closed: bool

    def write(self, data: bytes, /) -> int:
        """Take all of ``data`` and return its size."""


def write_parquet(
    out: Sink, groups: Iterable[Sequence[Row]], metadata: Mapping[str, bytes]
) -> None:
    """Write one row group per group of rows; only one group is held at a time."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    schema = _schema().with_metadata(metadata)
    with pq.ParquetWriter(
        out,
        schema,
        compression="zstd",
        use_dictionary=REPETITIVE,
        write_statistics=["seq", "after_line", "tokens"],
        write_page_checksum=True,
    ) as writer:
        for rows in groups:
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))


def read_metadata(path: Path) -> dict[bytes, bytes]:
    """Return the metadata of the schema; no column is read."""
    from pyarrow import parquet as pq

    with _damage_errors(path), path.open("rb") as stream:
        return dict(pq.read_schema(stream).metadata or {})


def read_parquet(path: Path, columns: Sequence[str]) -> Iterator[list[Row]]:
    """Yield the rows of one row group after another, with these columns only."""
    from pyarrow import parquet as pq

    with (
        _damage_errors(path),
        path.open("rb") as stream,
        pq.ParquetFile(stream, page_checksum_verification=True) as file,
    ):
        if not file.schema_arrow.equals(_schema()):
            raise ArchiveError(f"{path}: its columns are not those of an archive; restore a backup")
        for number in range(file.num_row_groups):
            table = file.read_row_group(number, columns=list(columns), use_threads=False)
            yield table.to_pylist()


def _schema() -> Any:  # noqa: ANN401
    import pyarrow as pa

    return pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])


@contextmanager
def _damage_errors(path: Path) -> Iterator[None]:
    """Turn everything a missing, unreadable or damaged file may raise into ArchiveError."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError as error:
        raise ArchiveError(f"{path}: is missing; restore it from a backup") from error
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError) as error:
        why = " ".join(str(error).split())[:SHOWN] or type(error).__name__
        raise ArchiveError(f"{path}: cannot be read ({why}); restore it from a backup") from error
