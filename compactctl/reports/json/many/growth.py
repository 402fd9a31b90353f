"""What a comparison with a baseline says, in documents of ``batch`` and ``report``."""

from typing import Any

from compactctl.commands.batch.report import BaselineComparison
from compactctl.reports.rendering.json_document import fields_of


def growth_fields(growth: BaselineComparison | None) -> dict[str, Any]:
    """Return the fields of a document, null without a baseline."""
    if growth is None:
        return {"growth": None, "comparedProjects": None}
    return {
        "growth": [fields_of(rise) for rise in growth.rises],
        "comparedProjects": {
            "compared": list(growth.compared),
            "recounted": list(growth.recounted),
            "added": list(growth.added),
            "gone": list(growth.gone),
        },
    }
