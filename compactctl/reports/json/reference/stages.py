"""``stages`` as a JSON document."""

from typing import Any

from compactctl.commands.reference.stages import StagesResult


def stages_document(result: StagesResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.stages/1",
        "stages": [
            {
                "name": stage.name,
                "title": stage.title,
                "options": {
                    name: list(value) if isinstance(value, tuple) else value
                    for name, value in stage.options.items()
                },
            }
            for stage in result.stages
        ],
    }
