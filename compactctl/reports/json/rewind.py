"""``rewind`` as a JSON document."""

from typing import Any

from compactctl.commands.rewind.result import RewindResult
from compactctl.reports.rendering.json_document import client_compaction_fields, digest_fields


def rewind_json(result: RewindResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.rewind/1",
        "path": result.path,
        "output": result.output,
        "layout": result.layout,
        "checked": result.checked,
        "moved": result.moved,
        "undone": list(result.undone),
        "inEffect": list(result.in_effect),
        "carriedBytes": result.carried,
        "carriedLines": result.carried_lines,
        "byClient": [client_compaction_fields(each) for each in result.by_client],
        "archive": result.archive,
        "forkedFrom": result.forked_from,
        "continueWith": result.continue_with,
        "before": digest_fields(result.before),
        "after": digest_fields(result.after),
        "warnings": list(result.warnings),
    }
