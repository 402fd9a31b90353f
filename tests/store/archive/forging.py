"""Archives that somebody else made: any content, every checksum right."""

import hashlib
import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from compactctl.store.archive.archive_file import CHECKSUM, OPERATION
from compactctl.store.archive.parquet import COLUMNS

# How data packed with Zstandard begins.
_ZSTD = b"\x28\xb5\x2f\xfd"
Record = dict[str, Any]
Rows = list[dict[str, Any]]


def record_of(archive: Path) -> Record:
    """Return the operation of an archive as the JSON object that it is."""
    found: Record = json.loads(parquet.read_schema(archive).metadata[OPERATION.encode()])
    return found


def rows_of(archive: Path) -> Rows:
    """Return the rows of an archive."""
    found: Rows = parquet.read_table(archive).to_pylist()
    return found


def forge(archive: Path, record: Record | bytes, rows: Rows) -> None:
    """Write an archive with this operation and these rows, and the checksums that they need."""
    text = record if isinstance(record, bytes) else json.dumps(record).encode()
    checksum = hashlib.sha256(text).hexdigest().encode()
    sha256 = cache(lambda raw: hashlib.sha256(raw).hexdigest())
    rows = [row | {"sha256": sha256(row["raw"])} if row["raw"] else row for row in rows]
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])
    schema = schema.with_metadata({OPERATION: text, CHECKSUM: checksum})
    parquet.write_table(pa.Table.from_pylist(rows, schema), archive, compression="zstd")


def change_operation(archive: Path, change: Callable[[Record], None]) -> None:
    """Change the operation of an archive in place."""
    record = record_of(archive)
    change(record)
    forge(archive, record, rows_of(archive))


def change_rows(archive: Path, change: Callable[[Rows], object]) -> None:
    """Change the rows of an archive in place."""
    rows = rows_of(archive)
    change(rows)
    forge(archive, record_of(archive), rows)


def claim(archive: Path, column: str, **sizes: int) -> None:
    """Let the page of a column claim another size: ``unpacked``, ``packed`` or ``n_values``.

    The column has one page, and no dictionary. A longer header takes the end of the page's data;
    the checksum of what is left is right.
    """
    chunk = parquet.read_metadata(archive).row_group(0).column(list(COLUMNS).index(column))
    start, size = chunk.data_page_offset, chunk.total_compressed_size
    data = archive.read_bytes()
    page = data[start : start + size]
    length = page.index(_ZSTD)
    body, header = page[length:], b""
    for _ in range(2):
        numbers = (
            sizes.get("unpacked", chunk.total_uncompressed_size - length),
            sizes.get("packed", len(body)),
            zlib.crc32(body),
            sizes.get("n_values", chunk.num_values),
        )
        header = _page_header(*numbers, length)
        body = body[: size - len(header)]
    new = header + body
    archive.write_bytes(data[:start] + new + data[start + size :])


def _page_header(unpacked: int, packed: int, crc32: int, n_values: int, least: int) -> bytes:
    """Return the header of a data page of plain values, in Thrift's compact protocol.

    It is at least so many bytes long: its first number has pieces that add nothing.
    """
    number, structure, end = b"\x15", b"\x1c", b"\0"
    crc32 -= crc32 >> 31 << 32
    page = b"".join(number + _integer(each) for each in (unpacked, packed, crc32))
    plain, levels = 0, 3
    inner = b"".join(number + _integer(each) for each in (n_values, plain, levels, levels))
    rest = page + structure + inner + end + end
    kind = number + b"\x80" * (least - len(rest) - 2) + _integer(0)
    return kind + rest


def _integer(value: int) -> bytes:
    """Return a number of 32 bits, its sign in the lowest one, in pieces of seven bits."""
    rest, pieces = (value << 1) ^ (value >> 31), []
    while rest > 0x7F:
        pieces.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*pieces, rest])
