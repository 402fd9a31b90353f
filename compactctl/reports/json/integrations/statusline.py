"""``statusline`` as a JSON document."""

from typing import Any

from compactctl.commands.integrations.statusline import StatusLineResult
from compactctl.reports.rendering.json_document import record


def statusline_document(result: StatusLineResult) -> dict[str, Any]:
    """Return the document."""
    return {"schema": "compactctl.statusline/1", **record(result)}
