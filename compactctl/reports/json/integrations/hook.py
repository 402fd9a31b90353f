"""``hook`` as a JSON document."""

from typing import Any

from compactctl.commands.integrations.hook import HookResult


def hook_document(result: HookResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.hook/1",
        "client": result.integration.client,
        "event": result.event,
        "message": result.message,
        "context": result.context,
        "refusal": result.refusal,
    }
