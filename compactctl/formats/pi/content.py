"""Content of pi messages as parts: texts, thinking, tool calls and images."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.content.media_url import media_from_base64
from compactctl.formats.content.unknown_block import unknown_parts
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import list_or_empty, text_or_empty
from compactctl.model.message import (
    CallId,
    JsonPath,
    MediaPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


def content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the parts of a message's content: a string or a list of blocks."""
    if isinstance(content, str):
        return text_parts(content, path)
    return tuple(
        part
        for index, block in enumerate(list_or_empty(content))
        for part in _block(block, (*path, index))
    )


def text_parts(value: object, path: JsonPath) -> tuple[TextPart, ...]:
    """Return a text as a part; () when there is none."""
    return (TextPart(text=value, path=path),) if isinstance(value, str) and value else ()


def result_part(message: Mapping[str, Any], path: JsonPath, *, cleared: bool) -> ToolResultPart:
    """Return what a ``toolResult`` message at ``path`` answers; its details are never sent."""
    inner = content_parts(message.get("content"), (*path, "content"))
    return ToolResultPart(
        call_id=CallId(text_or_empty(message.get("toolCallId"))),
        tool=text_or_empty(message.get("toolName")),
        text="\n".join(part.text for part in inner if isinstance(part, TextPart)),
        is_error=message.get("isError") is True,
        cleared=cleared,
        media=tuple(part for part in inner if isinstance(part, MediaPart)),
        path=(*path, "content"),
    )


def _block(block: object, path: JsonPath) -> tuple[Part, ...]:
    part = _part(block, path) if isinstance(block, Mapping) else None
    return unknown_parts(block, path) if part is None else (part,)


def _part(block: Mapping[str, Any], path: JsonPath) -> Part | None:
    match block.get("type"):
        case "text":
            return TextPart(text=text_or_empty(block.get("text")), path=(*path, "text"))
        case "thinking":
            text = text_or_empty(block.get("thinking"))
            return ReasoningPart(text=text, opaque=not text, path=(*path, "thinking"))
        case "toolCall":
            return ToolCallPart(
                call_id=CallId(text_or_empty(block.get("id"))),
                tool=text_or_empty(block.get("name")),
                arguments=json_text(block.get("arguments", {})),
                path=(*path, "arguments"),
            )
        case "image":
            media_type = text_or_empty(block.get("mimeType")) or "image/unknown"
            return media_from_base64(text_or_empty(block.get("data")), media_type, path)
        case _:
            return None
