"""The rows of a batch as a Parquet file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from compactctl.commands.batch.row import BatchRow
from compactctl.history.categories import CATEGORIES, Category
from compactctl.store.archive.sealed import is_sealed, sealed_table
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.publish.publish import write_output

METADATA = "compactctl.batch"
VERSION = 1
"""Goes up when a column is removed or changes its meaning."""

# Column -> Arrow type; each is the field of BatchRow of that name.
COLUMNS: Mapping[str, str] = {
    "path": "large_string",
    "status": "large_string",
    "format": "large_string",
    "model": "large_string",
    "counter": "large_string",
    "exactness": "large_string",
    "window": "int64",
    "available": "int64",
    "tokens_before": "int64",
    "tokens_after": "int64",
    "saved": "int64",
    "unseen": "int64",
    "ratio_before": "float64",
    "ratio_after": "float64",
    "level": "large_string",
    "messages": "int64",
    "turns": "int64",
    "steps": "int64",
    "lines": "int64",
    "bytes": "int64",
    "opaque_lines": "int64",
    "stages": "large_string",
    "output": "large_string",
    "archive": "large_string",
    "operation": "large_string",
    "error_class": "large_string",
    "error": "large_string",
    "exit_code": "int64",
}
# Column -> category; null where a file could not be measured.
CATEGORY_COLUMNS: Mapping[str, Category] = {
    f"tokens_{category.replace(' ', '_')}": category for category in CATEGORIES
}


def write_report(
    rows: Sequence[BatchRow], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per file, whole or not at all; return warnings, DiskError when that fails.

    UsageError for a file that is not a report, or was changed since, unless ``force``. Lone
    surrogates, as in names that are not UTF-8, are written as escapes. ``stages`` are joined by
    commas, as ``--stages`` takes them.
    """
    import pyarrow as pa

    types = {**COLUMNS, **dict.fromkeys(CATEGORY_COLUMNS, "int64")}
    schema = pa.schema(
        [(name, getattr(pa, kind)()) for name, kind in types.items()],
        metadata={METADATA: json.dumps({"version": VERSION})},
    )
    table = pa.Table.from_pylist([_flat(row) for row in rows], schema=schema)
    is_ours = force or is_sealed(Path(path))
    content = Content.of((sealed_table(table),))
    return write_output(FileSystem(), Path(path), content, force=is_ours)


def _flat(row: BatchRow) -> dict[str, object]:
    values = {name: _storable(getattr(row, name)) for name in COLUMNS}
    sizes = {name: row.categories.get(each) for name, each in CATEGORY_COLUMNS.items()}
    return {**values, **sizes}


def _storable(value: object) -> object:
    if isinstance(value, tuple):
        value = ",".join(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value
