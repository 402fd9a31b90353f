"""``config`` as a JSON document."""

from typing import Any

from compactctl.commands.reference.config import ConfigResult
from compactctl.reports.rendering.json_document import record


def config_document(result: ConfigResult) -> dict[str, Any]:
    """Return the document."""
    return {"schema": "compactctl.config/1", **record(result, rows="settings")}
