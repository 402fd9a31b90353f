"""Parquet tables that tell whether they are still what was written."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from compactctl.errors import ArchiveError
from compactctl.store.archive.parquet import (
    BATCH_ROWS,
    damage_errors,
    n_bytes,
    opened,
    page_sizes,
    regular,
)
from compactctl.store.files.limits import TEXT_LIMITS

SEAL = b"compactctl.seal"
TEXT_BYTES = 1 << 30
"""What the text of all columns of a report may take; it is gone through in pieces."""
LEAST_VALUE = len("0, ")
"""Characters that the shortest value takes in the text that is sealed."""
_Columns = Iterable[tuple[str, Iterable[list[Any]]]]


def sealed_table(table: Any) -> bytes:  # noqa: ANN401 - pyarrow has no types
    """Return a pyarrow table as a Parquet file that holds the digest of its columns."""
    from pyarrow import parquet

    columns = ((name, [table.column(name).to_pylist()]) for name in table.column_names)
    metadata = {**(table.schema.metadata or {}), SEAL: _seal(_json(columns))}
    out = BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), out, compression="zstd")
    return out.getvalue()


def is_sealed(path: Path) -> bool:
    """Tell whether a file is a table that was written sealed and holds the same columns still.

    Whoever made the file, only some rows of one column are held. One that unpacks to more than
    this program would write counts as not sealed.
    """
    place = Path(os.path.realpath(path))
    try:
        with damage_errors(place), regular(place) as stream:
            return _is_whole(stream, place)
    except ArchiveError:
        return False


def _is_whole(stream: BinaryIO, path: Path) -> bool:
    from pyarrow import parquet

    schema = parquet.read_schema(stream)
    seal = (schema.metadata or {}).get(SEAL)
    if seal is None or not all(map(_is_plain, schema.types)):
        return False
    with opened(stream, path, schema.names) as file:
        pages = sum(size for _, size in page_sizes(stream, file.metadata, schema.names))
        if max(pages, _least_bytes(file.metadata)) > TEXT_BYTES:
            raise _too_large(path)
        columns = ((name, _batches(file, name, path)) for name in schema.names)
        return bool(seal == _seal(_bounded(_json(columns), path)))


def _least_bytes(metadata: Any) -> int:  # noqa: ANN401
    """Return how many bytes the text of all columns takes at least, as their footer tells."""
    n_values: int = metadata.num_rows * metadata.num_columns
    return n_values * LEAST_VALUE


def _is_plain(kind: Any) -> bool:  # noqa: ANN401
    import pyarrow as pa

    return bool(pa.types.is_large_string(kind) or pa.types.is_int64(kind) or kind == pa.float64())


def _batches(file: Any, name: str, path: Path) -> Iterator[list[Any]]:  # noqa: ANN401
    """Yield the values of a column, some at a time; ArchiveError where they are too large."""
    for batch in file.iter_batches(BATCH_ROWS, columns=[name], use_threads=False):
        column = batch.column(0)
        if n_bytes(column) > TEXT_LIMITS.unpacked:
            raise _too_large(path)
        yield column.to_pylist()


def _bounded(texts: Iterable[bytes], path: Path) -> Iterator[bytes]:
    n_taken = 0
    for text in texts:
        n_taken += len(text)
        if n_taken > TEXT_BYTES:
            raise _too_large(path)
        yield text


def _too_large(path: Path) -> ArchiveError:
    return ArchiveError(f"{path}: unpacks to more than a report holds; move it away")


def _seal(texts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text)
    return digest.hexdigest().encode("ascii")


def _json(columns: _Columns) -> Iterator[bytes]:
    """Yield the JSON object of all columns by their names, in pieces."""
    opening = "{"
    for name, batches in columns:
        yield f"{opening}{json.dumps(name)}: [".encode("ascii")
        between = b""
        for values in filter(None, batches):
            yield between
            yield json.dumps(values)[1:-1].encode("ascii")
            between = b", "
        opening = "], "
    yield b"]}"
