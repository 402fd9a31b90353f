"""The rows of a batch as CSV and as JSON Lines, with the columns of the Parquet report."""

import csv
import io
import json

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.columns import TABLE_TYPES, table_values

# What a spreadsheet takes for the beginning of a formula, as OWASP lists them.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def batch_csv(result: BatchResult) -> str:
    """Return a line per file below one of names; a text that would be a formula begins with '."""
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, TABLE_TYPES, lineterminator="\n")
    writer.writeheader()
    for row in result.rows:
        writer.writerow({name: _cell(value) for name, value in table_values(row).items()})
    return page.getvalue()


def batch_jsonl(result: BatchResult) -> str:
    """Return an object per file, a line each."""
    return "".join(json.dumps(table_values(row)) + "\n" for row in result.rows)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
