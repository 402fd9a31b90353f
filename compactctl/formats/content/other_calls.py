"""Calls and results of tools as Bedrock, the AI SDK and Haystack store them.

They have the fields of everybody else's under other names, in messages that are else those of the
APIs of OpenAI or Anthropic.
"""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.model.message import CallId, JsonPath, MediaPart, ToolCallPart, ToolResultPart

# Where Bedrock keeps the content of a result.
_BEDROCK_CONTENT = ("toolResult", "content")
_AI_SDK_ERRORS = ("error-text", "error-json")


def other_call(block: Mapping[str, Any], path: JsonPath) -> ToolCallPart | None:
    """Return the call in a block of one of these shapes; None for any other block."""
    if isinstance(block.get("toolUse"), Mapping):
        return _call(block["toolUse"], (*path, "toolUse"), "toolUseId", "name", "input")
    if isinstance(block.get("tool_call"), Mapping):
        return _call(block["tool_call"], (*path, "tool_call"), "id", "tool_name", "arguments")
    if block.get("type") == "tool-call":
        key = "input" if "input" in block else "args"
        return _call(block, path, "toolCallId", "toolName", key)
    return None


def _call(
    call: Mapping[str, Any], path: JsonPath, call_id: str, tool: str, arguments: str
) -> ToolCallPart:
    return ToolCallPart(
        call_id=CallId(text_or_empty(call.get(call_id))),
        tool=text_or_empty(call.get(tool)),
        arguments=json_text(call.get(arguments, {})),
        embedded=call.get("providerExecuted") is True,
        path=(*path, arguments),
    )


def other_result(block: Mapping[str, Any], path: JsonPath) -> ToolResultPart | None:
    """Return the result in a block of one of these shapes; None for any other block."""
    if isinstance(block.get("toolResult"), Mapping):
        return _bedrock_result(block["toolResult"], (*path, *_BEDROCK_CONTENT))
    if isinstance(block.get("tool_call_result"), Mapping):
        return _haystack_result(block["tool_call_result"], (*path, "tool_call_result", "result"))
    if block.get("type") == "tool-result":
        return _ai_sdk_result(block, path)
    return None


def _bedrock_result(result: Mapping[str, Any], path: JsonPath) -> ToolResultPart:
    texts: list[str] = []
    media: list[MediaPart] = []
    for item in map(object_or_empty, list_or_empty(result.get("content"))):
        text, found = text_and_media(item.get("text", item.get("json", item)), path)
        texts.append(text)
        media += found
    return ToolResultPart(
        call_id=CallId(text_or_empty(result.get("toolUseId"))),
        tool="",
        text="\n".join(texts),
        is_error=result.get("status") == "error",
        media=tuple(media),
        path=path,
    )


def _haystack_result(result: Mapping[str, Any], path: JsonPath) -> ToolResultPart:
    origin = object_or_empty(result.get("origin"))
    text, media = text_and_media(result.get("result", ""), path)
    return ToolResultPart(
        call_id=CallId(text_or_empty(origin.get("id"))),
        tool=text_or_empty(origin.get("tool_name")),
        text=text,
        is_error=result.get("error") is True,
        media=media,
        path=path,
    )


def _ai_sdk_result(block: Mapping[str, Any], path: JsonPath) -> ToolResultPart:
    """Return a result, which versions before 5 keep as any value without a type."""
    key = "output" if "output" in block else "result"
    value, path = block.get(key, ""), (*path, key)
    kind = value.get("type") if _is_typed(value) else ""
    text, media = text_and_media(value["value"] if _is_typed(value) else value, path)
    return ToolResultPart(
        call_id=CallId(text_or_empty(block.get("toolCallId"))),
        tool=text_or_empty(block.get("toolName")),
        text=text,
        is_error=block.get("isError") is True or kind in _AI_SDK_ERRORS,
        embedded=block.get("providerExecuted") is True,
        media=media,
        path=path,
    )


def new_other_result(path: JsonPath, current: object, text: str) -> object | None:
    """Return what stands for a rewritten result in these shapes; None where text alone does."""
    if path[-2:] == _BEDROCK_CONTENT:
        return [{"text": text}]
    return {"type": "text", "value": text} if _is_typed(current) else None


def _is_typed(value: Any) -> bool:  # noqa: ANN401 - JSON is any value
    """Whether a value is an output of the AI SDK, as versions from 5 on have it."""
    return isinstance(value, Mapping) and value.keys() == {"type", "value"}
