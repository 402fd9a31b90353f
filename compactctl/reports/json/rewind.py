"""``rewind`` as a JSON document."""

from typing import Any

from compactctl.commands.rewind.result import RewindResult
from compactctl.reports.rendering.json_document import (
    client_compaction_fields,
    digest_fields,
    written_fields,
)


def rewind_document(result: RewindResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.rewind/1",
        "path": result.options.input.path,
        **written_fields(result.written),
        "layout": result.layout,
        "checked": result.options.check,
        "moved": result.moved,
        "undone": list(result.undone),
        "inEffect": list(result.in_effect),
        "carriedBytes": result.appended.carried,
        "byClient": [client_compaction_fields(each) for each in result.by_client],
        "before": digest_fields(result.change.before),
        "after": digest_fields(result.after),
        "warnings": list(result.warnings),
    }
