"""``rescue`` as a JSON document."""

from typing import Any

from compactctl.commands.rescue.rescue import RescueResult
from compactctl.reports.json.compact import compact_document


def rescue_document(result: RescueResult) -> dict[str, Any]:
    """Return the document: what was done is one of ``compact``."""
    return {
        "schema": "compactctl.rescue/1",
        "path": result.compacted.path,
        "continueWith": result.continue_with,
        "earlier": None if result.earlier is None else result.earlier.id,
        "uncountedTokens": result.uncounted,
        "compact": compact_document(result.compacted),
    }
