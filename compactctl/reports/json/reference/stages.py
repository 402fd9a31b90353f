"""``stages`` as a JSON document."""

from typing import Any

from compactctl.commands.reference.stages import StagesResult
from compactctl.reports.rendering.json_document import record


def stages_document(result: StagesResult) -> dict[str, Any]:
    """Return the document."""
    return {"schema": "compactctl.stages/1", **record(result)}
