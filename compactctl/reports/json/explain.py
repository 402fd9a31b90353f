"""``explain`` as a JSON document."""

from typing import Any

from compactctl.commands.explain.result import ExplainResult
from compactctl.model.tags import tag_fields
from compactctl.reports.rendering.json_document import fields_of, measure_fields


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
        "tools": list(result.tools),
        "tags": tag_fields(message.tags),
        "tokens": result.tokens,
        "category": result.category,
        "sent": result.is_sent,
        "since": fields_of(result.sending) if result.sending else None,
        "profile": result.profile.name,
        "fate": _fate_document(result),
        "hiddenBy": result.hidden_by,
        "stage": result.hider,
        "links": [fields_of(link) for link in result.links],
        "wayBack": fields_of(result.way_back) if result.way_back else None,
        "warnings": list(result.warnings),
    }


def _fate_document(result: ExplainResult) -> dict[str, Any] | None:
    fate = result.fate
    if fate is None:
        return None
    return {
        "fate": fate.fate,
        "stage": fate.stage,
        "reason": fate.reason,
        "tokensAfter": fate.tokens_after,
    }
