"""Archives that somebody else made: any content, every checksum right."""

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from compactctl.store.archive.archive_file import CHECKSUM, OPERATION
from compactctl.store.archive.parquet import COLUMNS

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
