"""The rows of a batch as a Parquet file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from compactctl.commands.batch.row import BatchRow
from compactctl.history.categories import CATEGORIES, Category
from compactctl.reports.parquet.table_file import write_table

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
    "base": "large_string",
    "base_tokens": "int64",
    "used": "float64",
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
    """Write one line per file; see ``write_table``.

    ``stages`` are joined by commas, as ``--stages`` takes them.
    """
    types = {**COLUMNS, **dict.fromkeys(CATEGORY_COLUMNS, "int64")}
    return write_table(map(_flat, rows), types, {METADATA: VERSION}, path, force=force)


def _flat(row: BatchRow) -> dict[str, object]:
    values = {name: getattr(row, name) for name in COLUMNS}
    sizes = {name: row.categories.get(each) for name, each in CATEGORY_COLUMNS.items()}
    return {**values, **sizes}
