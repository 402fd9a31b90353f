"""``config`` as a JSON document."""

from typing import Any

from compactctl.commands.reference.config import ConfigResult
from compactctl.reports.rendering.json_document import fields_of


def config_document(result: ConfigResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.config/1",
        "command": result.command,
        "files": list(result.files),
        "settings": [fields_of(row) for row in result.rows],
    }
