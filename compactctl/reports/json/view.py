"""``view`` as a JSON document: messages and their parts, whatever the transcript's format."""

from typing import Any

from compactctl.commands.inspect.view import ViewedMessage, ViewResult
from compactctl.model.message import MediaPart, Part, ToolResultPart
from compactctl.model.tags import tag_fields
from compactctl.reports.rendering.json_document import fields_of

_KINDS = {
    "TextPart": "text",
    "ReasoningPart": "reasoning",
    "ToolCallPart": "tool_call",
    "ToolResultPart": "tool_result",
    "FilePart": "file",
    "ToolDefinitionPart": "tool_definition",
}
# How a part is stored, which says nothing about what the model reads.
_INNER = ("path", "embedded")


def view_document(result: ViewResult) -> dict[str, Any]:
    """Return the document for ``view``."""
    return {
        "schema": "compactctl.view/1",
        "path": result.path,
        "what": result.what,
        "found": len(result.messages) if result.found is None else result.found,
        "before": result.before,
        "messages": [_message_document(viewed) for viewed in result.messages],
        "warnings": list(result.warnings),
    }


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
    fields = {name: value for name, value in fields_of(part).items() if name not in _INNER}
    if isinstance(part, MediaPart):
        return {"kind": "media", **_media_document(part)}
    if isinstance(part, ToolResultPart):
        fields["media"] = [_media_document(each) for each in part.media]
    return {"kind": _KINDS[type(part).__name__], **fields}


def _media_document(part: MediaPart) -> dict[str, Any]:
    return {
        "mediaType": part.media_type,
        "bytes": part.n_bytes,
        "width": part.width,
        "height": part.height,
        "seconds": part.seconds,
        "pages": part.pages,
    }
