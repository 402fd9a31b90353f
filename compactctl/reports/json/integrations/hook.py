"""``hook`` as a JSON document."""

from typing import Any

from compactctl.commands.integrations.hook import HookResult
from compactctl.reports.rendering.json_document import record


def hook_document(result: HookResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.hook/1",
        "client": result.integration.client,
        **record(result, without=("integration",)),
    }
