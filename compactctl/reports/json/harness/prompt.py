"""``prompt`` as a JSON document."""

from typing import Any

from compactctl.commands.harness.prompt import PromptResult
from compactctl.reports.rendering.json_document import measure_fields, record


def prompt_document(result: PromptResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.prompt/1",
        "path": result.path,
        **measure_fields(result.measure),
        **record(result, only=("prompts", "reasons")),
    }
