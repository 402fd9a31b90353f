"""``integrate`` as a JSON document."""

from typing import Any

from compactctl.commands.integrations.integrate import IntegrateResult
from compactctl.reports.rendering.json_document import encoded, record


def integrate_document(result: IntegrateResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.integrate/1",
        "client": result.request.client,
        **record(result, without=("request",)),
    }


@encoded.register
def _file_text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
