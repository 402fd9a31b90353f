"""Parquet tables that tell whether they are still what was written."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from compactctl.errors import ArchiveError
from compactctl.store.archive.parquet import BATCH_ROWS, damage_errors, open_parquet, open_regular
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.parquet_pages import column_bytes, page_sizes

SEAL = b"compactctl.seal"
TEXT_BYTES = 1 << 30
"""What the text of all columns of a report may take; it is gone through in pieces."""
MIN_VALUE = len("0, ")
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


class SealedWriter:
    """Writes tables one after another into a Parquet file that holds the digest of its columns.

    Each is a row group; of several, the digest is that of their columns, group by group.
    """

    def __init__(self, stream: BinaryIO, schema: Any) -> None:  # noqa: ANN401
        from pyarrow import parquet

        self._schema = schema
        self._file = parquet.ParquetWriter(stream, schema, compression="zstd")
        self._digest = hashlib.sha256()
        self._is_empty = True

    def write(self, table: Any) -> None:  # noqa: ANN401
        """Add the rows of a table, at least one."""
        self._file.write_table(table, row_group_size=table.num_rows)
        self._take(table)

    def close(self) -> None:
        """End the file."""
        if self._is_empty:
            self._take(self._schema.empty_table())
        self._file.add_key_value_metadata({SEAL: self._digest.hexdigest().encode("ascii")})
        self._file.close()

    def _take(self, table: Any) -> None:  # noqa: ANN401
        self._is_empty = False
        for text in _json((name, [table.column(name).to_pylist()]) for name in table.column_names):
            self._digest.update(text)


def is_sealed(path: Path) -> bool:
    """Tell whether a file is a table that was written sealed and holds the same columns still.

    Whoever made the file, only some rows of one column are held. One that unpacks to more than
    this program would write counts as not sealed.
    """
    place = Path(os.path.realpath(path))
    try:
        with damage_errors(place), open_regular(place) as stream:
            return _is_whole(stream, place)
    except ArchiveError:
        return False


def _is_whole(stream: BinaryIO, path: Path) -> bool:
    from pyarrow import parquet

    schema = parquet.read_schema(stream)
    # What was added when all rows were known stands in the footer alone.
    seal = (parquet.read_metadata(stream).metadata or {}).get(SEAL)
    if seal is None or not all(map(_is_plain, schema.types)):
        return False
    with open_parquet(stream, path, schema.names) as file:
        pages = sum(size for _, size in page_sizes(stream, file.metadata, schema.names))
        if max(pages, _min_bytes(file.metadata)) > TEXT_BYTES:
            raise _too_large(path)
        return bool(seal == _seal(_bounded(_groups(file, schema.names, path), path)))


def _groups(file: Any, names: list[str], path: Path) -> Iterator[bytes]:  # noqa: ANN401
    """Yield the JSON objects of all row groups; without any, that of columns without values."""
    n_groups = file.metadata.num_row_groups
    for groups in [[group] for group in range(n_groups)] or [[]]:
        yield from _json((name, _batches(file, name, groups, path)) for name in names)


def _min_bytes(metadata: Any) -> int:  # noqa: ANN401
    """Return how many bytes the text of all columns takes at least, as their footer tells."""
    n_values: int = metadata.num_rows * metadata.num_columns
    return n_values * MIN_VALUE


def _is_plain(kind: Any) -> bool:  # noqa: ANN401
    import pyarrow as pa

    return bool(pa.types.is_large_string(kind) or pa.types.is_int64(kind) or kind == pa.float64())


def _batches(
    file: Any,  # noqa: ANN401
    name: str,
    groups: list[int],
    path: Path,
) -> Iterator[list[Any]]:
    """Yield the values of a column, some at a time; ArchiveError where they are too large."""
    for batch in file.iter_batches(BATCH_ROWS, groups, columns=[name], use_threads=False):
        column = batch.column(0)
        if column_bytes(column) > TEXT_LIMITS.max_bytes:
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


_SEAL = re.compile(rb"<!-- compactctl\.seal ([0-9a-f]{64}) -->\n\Z")
_SEAL_BYTES = len(b"<!-- compactctl.seal  -->\n") + 64
# Far more than any page has; nothing larger is read to find out who wrote it.
_MAX_BYTES = 1 << 27


def sealed_text(text: bytes) -> bytes:
    """Return a text in a markup language with its seal at the end."""
    whole = text if text.endswith(b"\n") else text + b"\n"
    return b"%s<!-- compactctl.seal %s -->\n" % (whole, _digest(whole))


def is_sealed_text(path: Path) -> bool:
    """Tell whether a file was written sealed and is unchanged."""
    place = Path(os.path.realpath(path))
    try:
        if not place.is_file() or place.stat().st_size > _MAX_BYTES:
            return False
        data = place.read_bytes()
    except OSError:
        return False
    seal = _SEAL.search(data, max(0, len(data) - _SEAL_BYTES))
    return seal is not None and seal[1] == _digest(data[: seal.start()])


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode("ascii")
