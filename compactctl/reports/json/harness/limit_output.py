"""``limit-output`` as a JSON document."""

from typing import Any

from compactctl.commands.harness.limit_output import LimitOutputResult
from compactctl.reports.rendering.json_document import record


def limit_output_document(result: LimitOutputResult) -> dict[str, Any]:
    """Return the document, with the fields of NeuroLink's truncation result."""
    return {"schema": "compactctl.limit-output/1", **record(result)}
