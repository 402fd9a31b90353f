"""The rows of a batch as a Parquet file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from compactctl.commands.batch.row import BatchRow
from compactctl.reports.parquet.table_file import write_table
from compactctl.reports.rendering.batch_rows import TYPES, flat

METADATA = "compactctl.batch"
FILES_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""


def write_report(
    rows: Sequence[BatchRow], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per file; see ``write_table``.

    ``stages`` are joined by commas, as ``--stages`` takes them.
    """
    return write_table(map(flat, rows), TYPES, {METADATA: FILES_VERSION}, path, force=force)


def write_values(
    rows: Sequence[Mapping[str, object]], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write rows as they stand in other reports; a column that these lack is null."""
    whole = ({**dict.fromkeys(TYPES), **row} for row in rows)
    return write_table(whole, TYPES, {METADATA: FILES_VERSION}, path, force=force)
