"""``rewind`` as a JSON document."""

from typing import Any

from compactctl.commands.rewind.result import RewindResult
from compactctl.reports.rendering.json_document import encoded, record, written_fields


def rewind_document(result: RewindResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.rewind/1",
        "path": result.options.input.path,
        **written_fields(result.written),
        "layout": result.layout,
        "checked": result.options.check,
        "moved": result.moved,
        **record(result, only=("undone", "in_effect")),
        "carriedBytes": result.appended.carried,
        "byClient": encoded(result.by_client),
        "before": encoded(result.change.before),
        "after": encoded(result.after),
        "warnings": encoded(result.warnings),
    }
