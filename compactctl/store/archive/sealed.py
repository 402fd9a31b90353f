"""Sealed tables and pages: reports that carry a digest, so that an edit of them is detected."""

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
"""The limit for the text of all columns of a report, which is read in pieces."""
MIN_VALUE = len("0, ")
"""Characters of the shortest value in the sealed text."""
_Columns = Iterable[tuple[str, Iterable[list[Any]]]]


def sealed_table(table: Any) -> bytes:  # noqa: ANN401 - pyarrow has no types
    """Encode a pyarrow table as a Parquet file that holds the digest of its columns."""
    from pyarrow import parquet

    columns = ((name, [table.column(name).to_pylist()]) for name in table.column_names)
    metadata = {**(table.schema.metadata or {}), SEAL: _seal(_json(columns))}
    out = BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), out, compression="zstd")
    return out.getvalue()


class SealedWriter:
    """Writes tables as the row groups of a Parquet file that holds the digest of its columns.

    The digest of several groups is that of their columns, group by group.
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
        """Write the digest and the footer."""
        if self._is_empty:
            self._take(self._schema.empty_table())
        self._file.add_key_value_metadata({SEAL: self._digest.hexdigest().encode("ascii")})
        self._file.close()

    def _take(self, table: Any) -> None:  # noqa: ANN401
        self._is_empty = False
        for text in _json((name, [table.column(name).to_pylist()]) for name in table.column_names):
            self._digest.update(text)


def is_sealed(path: Path) -> bool:
    """Return whether a file is a sealed table that is unchanged.

    The file may be hostile: only some rows of one column are held in memory, and one that
    decompresses to more than compactctl would write counts as not sealed.
    """
    real_path = Path(os.path.realpath(path))
    try:
        with damage_errors(real_path), open_regular(real_path) as stream:
            return _is_unchanged(stream, real_path)
    except ArchiveError:
        return False


def _is_unchanged(stream: BinaryIO, path: Path) -> bool:
    from pyarrow import parquet

    schema = parquet.read_schema(stream)
    # Metadata added after the rows is in the footer and not in the schema.
    seal = (parquet.read_metadata(stream).metadata or {}).get(SEAL)
    if seal is None or not all(map(_is_plain, schema.types)):
        return False
    with open_parquet(stream, path, schema.names) as file:
        pages = sum(size for _, size in page_sizes(stream, file.metadata, schema.names))
        if max(pages, _min_bytes(file.metadata)) > TEXT_BYTES:
            raise _too_large(path)
        return bool(seal == _seal(_bounded(_groups(file, schema.names, path), path)))


def _groups(file: Any, names: list[str], path: Path) -> Iterator[bytes]:  # noqa: ANN401
    """Yield the JSON object of each row group, or one with empty columns if there is none."""
    n_groups = file.metadata.num_row_groups
    for groups in [[group] for group in range(n_groups)] or [[]]:
        yield from _json((name, _batches(file, name, groups, path)) for name in names)


def _min_bytes(metadata: Any) -> int:  # noqa: ANN401
    """Return the minimum size of the text of all columns by the file's footer."""
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
    """Yield the values of a column in batches; ArchiveError for a batch that is too large."""
    for batch in file.iter_batches(BATCH_ROWS, groups, columns=[name], use_threads=False):
        column = batch.column(0)
        if column_bytes(column) > TEXT_LIMITS.max_bytes:
            raise _too_large(path)
        yield column.to_pylist()


def _bounded(texts: Iterable[bytes], path: Path) -> Iterator[bytes]:
    n_bytes = 0
    for text in texts:
        n_bytes += len(text)
        if n_bytes > TEXT_BYTES:
            raise _too_large(path)
        yield text


def _too_large(path: Path) -> ArchiveError:
    return ArchiveError(f"{path}: is too large when unpacked; move it away")


def _seal(texts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text)
    return digest.hexdigest().encode("ascii")


def _json(columns: _Columns) -> Iterator[bytes]:
    """Yield the JSON object ``{"name": [values, …], …}`` of all columns in pieces."""
    opening = "{"
    for name, batches in columns:
        yield f"{opening}{json.dumps(name)}: [".encode("ascii")
        separator = b""
        for values in filter(None, batches):
            yield separator
            yield json.dumps(values)[1:-1].encode("ascii")
            separator = b", "
        opening = "], "
    yield b"]}"


_SEAL = re.compile(rb"<!-- compactctl\.seal ([0-9a-f]{64}) -->\n")
_SEAL_BYTES = len(b"<!-- compactctl.seal  -->\n") + 64
# Far more than any page has. Larger files are not read.
_MAX_BYTES = 1 << 27


def sealed_text(text: bytes) -> bytes:
    """Append a seal, as a comment, to HTML or Markdown."""
    text = text if text.endswith(b"\n") else text + b"\n"
    return b"%s<!-- compactctl.seal %s -->\n" % (text, _digest(text))


def is_sealed_text(path: Path) -> bool:
    """Return whether a file ends with a seal and is unchanged."""
    real_path = Path(os.path.realpath(path))
    try:
        if not real_path.is_file() or real_path.stat().st_size > _MAX_BYTES:
            return False
        data = real_path.read_bytes()
    except OSError:
        return False
    seal = _SEAL.fullmatch(data[-_SEAL_BYTES:])
    return seal is not None and seal[1] == _digest(data[:-_SEAL_BYTES])


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode("ascii")
