"""``statusline`` as a JSON document."""

from typing import Any

from compactctl.commands.integrations.statusline import StatusLineResult


def statusline_document(result: StatusLineResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.statusline/1",
        "context": result.context,
        "window": result.window,
        "compactsAt": result.compacts_at,
        "compactions": result.compactions,
    }
