"""``prompt`` as a JSON document."""

from typing import Any

from compactctl.commands.harness.prompt import PromptResult
from compactctl.reports.rendering.json_document import fields_of, measure_fields


def prompt_document(result: PromptResult) -> dict[str, Any]:
    """Return the document for ``prompt``."""
    return {
        "schema": "compactctl.prompt/1",
        "path": result.path,
        **measure_fields(result.measure),
        "prompts": [fields_of(prompt) for prompt in result.prompts],
        "reasons": list(result.reasons),
    }
