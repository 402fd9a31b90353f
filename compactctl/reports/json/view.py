"""``view`` as a JSON document: messages and their parts, whatever the transcript's format."""

from typing import Any

from compactctl.commands.inspect.view import ViewedMessage, ViewResult
from compactctl.model.message import MediaPart, Part
from compactctl.model.tags import tag_fields
from compactctl.reports.rendering.json_document import encoded, record

_KINDS = {
    "TextPart": "text",
    "ReasoningPart": "reasoning",
    "ToolCallPart": "tool_call",
    "ToolResultPart": "tool_result",
    "FilePart": "file",
    "ToolDefinitionPart": "tool_definition",
    "MediaPart": "media",
}
# How a part is stored, which says nothing about what the model reads.
_STORAGE = ("path", "embedded")


def view_document(result: ViewResult) -> dict[str, Any]:
    """Return the document for ``view``."""
    return {
        "schema": "compactctl.view/1",
        "path": result.path,
        "what": result.what,
        "found": len(result.messages) if result.found is None else result.found,
        "before": result.before,
        "messages": encoded(result.messages),
        "warnings": encoded(result.warnings),
    }


@encoded.register
def _message_document(viewed: ViewedMessage) -> dict[str, Any]:
    message = viewed.message
    return {
        "id": message.id,
        "line": message.line + 1,
        "conversation": message.conversation + 1,
        "role": message.role,
        "summary": message.summary,
        "injected": message.injected,
        "hiddenBy": viewed.hidden_by,
        "stage": viewed.stage,
        "tags": tag_fields(message.tags),
        "parts": [_part_document(part) for part in message.parts],
    }


def _part_document(part: Part) -> dict[str, Any]:
    return {"kind": _KINDS[type(part).__name__], **record(part, without=_STORAGE)}


@encoded.register
def _media_document(part: MediaPart) -> dict[str, Any]:
    """What a tool returned beside its text: it has no kind of its own there."""
    return record(part, without=_STORAGE)
