"""``explain`` as a JSON document."""

from typing import Any

from compactctl.commands.explain.result import ExplainResult
from compactctl.model.tags import tag_fields
from compactctl.reports.rendering.json_document import encoded, measure_fields, record

# The rest says the document of the message itself.
_FATE = ("fate", "stage", "reason", "tokens_after")


def explain_document(result: ExplainResult) -> dict[str, Any]:
    """Return the document."""
    message = result.message
    return {
        "schema": "compactctl.explain/1",
        "path": result.path,
        "format": result.format,
        **measure_fields(result.measure),
        "id": message.id,
        "line": result.line,
        "conversation": message.conversation + 1,
        "role": message.role,
        "tools": encoded(result.tools),
        "tags": tag_fields(message.tags),
        "tokens": result.tokens,
        "category": result.category,
        "sent": result.is_sent,
        "since": encoded(result.sending),
        "profile": result.profile.name,
        "fate": result.fate and record(result.fate, only=_FATE),
        "hiddenBy": result.hidden_by,
        "stage": result.hider,
        **record(result, only=("links", "way_back", "warnings")),
    }
