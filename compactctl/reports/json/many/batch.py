"""``batch`` as a JSON document."""

from typing import Any

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.row import BatchRow
from compactctl.reports.json.many.growth import growth_fields
from compactctl.reports.rendering.json_document import camel_keys, fields_of, tokens_by


def batch_document(result: BatchResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.batch/1",
        "compacted": result.compacted,
        "written": result.written,
        "failOver": result.fail_over,
        "failOverTokens": result.fail_over_tokens,
        "failOn": list(result.fail_on),
        **growth_fields(result.growth),
        "exitCode": result.exit_code,
        "totals": {**fields_of(result.totals), "counters": list(result.totals.counters)},
        "files": [_row(row) for row in result.rows],
    }


def _row(row: BatchRow) -> dict[str, Any]:
    listed = {"stages": list(row.stages), "flags": list(row.flags), "tools": tokens_by(row.tools)}
    return {**camel_keys(row_values(row)), **listed}
