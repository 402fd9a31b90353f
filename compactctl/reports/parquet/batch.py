"""The rows of a batch as a Parquet file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from compactctl.commands.batch.columns import (
    FILES_VERSION,
    METADATA,
    TABLE_TYPES,
    table_values,
)
from compactctl.commands.batch.row import BatchRow
from compactctl.reports.parquet.table_file import write_table


def write_report(
    rows: Sequence[BatchRow], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per file; see ``write_table``."""
    return write_table(
        map(table_values, rows), TABLE_TYPES, {METADATA: FILES_VERSION}, path, force=force
    )


def write_values(
    rows: Sequence[Mapping[str, object]], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write rows as they stand in other reports; a column that these lack is null."""
    whole = ({**dict.fromkeys(TABLE_TYPES), **row} for row in rows)
    return write_table(whole, TABLE_TYPES, {METADATA: FILES_VERSION}, path, force=force)
