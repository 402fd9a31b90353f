"""Content blocks of Anthropic messages as parts; shared by every client that stores them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from compactctl.formats.content.media_url import media_from_base64
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.model.message import (
    CallId,
    FilePart,
    JsonPath,
    MediaPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_ReadBlock = Callable[[Mapping[str, Any], JsonPath], Part]

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_NO_TOOLS: Mapping[str, str] = MappingProxyType({})


def content_parts(
    content: object, path: JsonPath, tools: Mapping[str, str] = _NO_TOOLS
) -> tuple[Part, ...]:
    """Return the parts of a message's content: a string or a list of blocks.

    ``tools`` names the tools of calls by their ids, for the results among the parts.
    """
    return _parts(content, path, lambda block, at: block_part(block, at, tools))


def new_content(current: object, text: str) -> object:
    """Return ``text`` as content of the same shape as ``current``: a string, block or list."""
    block = {"type": "text", "text": text}
    if isinstance(current, list):
        is_plain = bool(current) and all(isinstance(item, str) for item in current)
        return [text if is_plain else block]
    return block if isinstance(current, Mapping) else text


def name_results(parts: Iterable[Part], tools: Mapping[str, str]) -> tuple[Part, ...]:
    """Return the parts with each tool result carrying the name of the tool that was called."""
    return tuple(
        _named(part, tools.get(part.call_id, "")) if isinstance(part, ToolResultPart) else part
        for part in parts
    )


def _named(part: ToolResultPart, tool: str) -> ToolResultPart:
    return replace(part, tool=tool) if tool else part


def _parts(content: object, path: JsonPath, read: _ReadBlock) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(text=content, path=path),)
    if not isinstance(content, list):
        return ()
    parts = [
        read(block, (*path, index))
        if isinstance(block, dict)
        else TextPart(text=json_text(block), path=(*path, index))
        for index, block in enumerate(content)
    ]
    return tuple(parts)


def block_part(
    block: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str] = _NO_TOOLS
) -> Part:
    """Return what one block says; a block of unknown type is its JSON text."""
    kind = text_or_empty(block.get("type"))
    if kind in _CALLS:
        return ToolCallPart(
            call_id=CallId(text_or_empty(block.get("id"))),
            tool=text_or_empty(block.get("name")),
            arguments=json_text(block.get("input", {})),
            path=(*path, "input"),
        )
    if kind.endswith("tool_result"):
        return _result(block, path, tools)
    return _plain_block(block, path)


def _plain_block(block: Mapping[str, Any], path: JsonPath) -> Part:
    match block.get("type"):
        case "text" | "compaction" as kind:
            key = "text" if kind == "text" else "content"
            return TextPart(text=text_or_empty(block.get(key)), path=(*path, key))
        case "thinking":
            text, sealed = text_or_empty(block.get("thinking")), _length(block.get("signature"))
            return ReasoningPart(
                text=text, opaque=not text, sealed=sealed, path=(*path, "thinking")
            )
        case "redacted_thinking":
            sealed = _length(block.get("data"))
            return ReasoningPart(text="", opaque=True, sealed=sealed, path=(*path, "data"))
        case "image" | "document":
            return _media(block, path)
        case "file":
            name, text = text_or_empty(block.get("path")), text_or_empty(block.get("content"))
            return FilePart(file_path=name, text=text, path=(*path, "content"))
        case _:
            return TextPart(text=json_text(block), path=path)


def _length(value: object) -> int:
    return len(text_or_empty(value))


def _result(block: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]) -> ToolResultPart:
    call_id, path = CallId(text_or_empty(block.get("tool_use_id"))), (*path, "content")
    text, media = _result_content(block.get("content"), path)
    return ToolResultPart(
        call_id=call_id,
        tool=tools.get(call_id, ""),
        text=text,
        is_error=block.get("is_error") is True,
        media=media,
        path=path,
    )


def _result_content(content: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    if isinstance(content, str):
        return content, ()
    if isinstance(content, Mapping):
        return json_text(content), ()
    # A result inside a result is not part of its own, so results cannot nest.
    inner = _parts(content, path, _plain_block)
    text = "\n".join(part.text for part in inner if isinstance(part, TextPart | FilePart))
    return text, tuple(part for part in inner if isinstance(part, MediaPart))


def _media(block: Mapping[str, Any], path: JsonPath) -> Part:
    source = object_or_empty(block.get("source"))
    data = text_or_empty(source.get("data"))
    if source.get("type") == "text":
        title = text_or_empty(block.get("title"))
        return FilePart(file_path=title, text=data, path=(*path, "source", "data"))
    default = "image/unknown" if block.get("type") == "image" else "application/pdf"
    media_type = text_or_empty(source.get("media_type")) or default
    return media_from_base64(data, media_type, path)
