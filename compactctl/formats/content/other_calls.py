"""The names under which APIs and libraries store calls of tools and their results, as one table.

They have the fields of everybody else's under other names, in messages that are else those of the
APIs of OpenAI or Anthropic.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.formats.content.bedrock import result_content
from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.records.json_values import json_text, object_or_empty, text_or_empty
from compactctl.model.message import CallId, JsonPath, MediaPart, ToolCallPart, ToolResultPart


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNames:
    """The fields of a call or of a result; of several names for one, the first that is there.

    ``content`` is what a call gives the tool, or what the tool returned. ``about`` is the object
    that holds the id and the tool, where they do not stand beside the content.
    """

    call_id: tuple[str, ...]
    tool: tuple[str, ...]
    content: tuple[str, ...]
    about: str = ""


# Each is the type of a block, or the field of a block under which the others stand.
CALLS: Mapping[str, CallNames] = {
    # Bedrock Converse.
    "toolUse": CallNames(call_id=("toolUseId",), tool=("name",), content=("input",)),
    # Haystack; LangChain has the fields in the block itself.
    "tool_call": CallNames(
        call_id=("id",), tool=("tool_name", "name"), content=("arguments", "args")
    ),
    # The AI SDK, whose versions before 5 have the last name.
    "tool-call": CallNames(call_id=("toolCallId",), tool=("toolName",), content=("input", "args")),
    # OpenAI's Responses API, and its Agents SDK for JavaScript.
    "function_call": CallNames(
        call_id=("call_id", "callId"), tool=("name",), content=("arguments",)
    ),
}
RESULTS: Mapping[str, CallNames] = {
    "toolResult": CallNames(call_id=("toolUseId",), tool=(), content=("content",)),
    "tool_call_result": CallNames(
        call_id=("id",), tool=("tool_name",), content=("result",), about="origin"
    ),
    "tool-result": CallNames(
        call_id=("toolCallId",), tool=("toolName",), content=("output", "result")
    ),
    "function_call_output": CallNames(call_id=("call_id",), tool=("name",), content=("output",)),
    "function_call_result": CallNames(call_id=("callId",), tool=("name",), content=("output",)),
}
# Where Bedrock keeps the content of a result.
_BEDROCK_CONTENT = ("toolResult", "content")
_AI_SDK_ERRORS = ("error-text", "error-json")


def other_call(block: Mapping[str, Any], path: JsonPath) -> ToolCallPart | None:
    """Return the call in a block of one of these shapes; None for any other block."""
    found = _named(block, path, CALLS)
    if found is None:
        return None
    names, call, path = found
    arguments = first_name(call, names.content)
    return ToolCallPart(
        call_id=CallId(first_text(call, names.call_id)),
        tool=first_text(call, names.tool),
        arguments=json_text(call.get(arguments, {})),
        embedded=call.get("providerExecuted") is True,
        path=(*path, arguments),
    )


def other_result(block: Mapping[str, Any], path: JsonPath) -> ToolResultPart | None:
    """Return the result in a block of one of these shapes; None for any other block."""
    found = _named(block, path, RESULTS)
    if found is None:
        return None
    names, result, path = found
    about = object_or_empty(result.get(names.about)) if names.about else result
    content = first_name(result, names.content)
    value, path = result.get(content, ""), (*path, content)
    text, media = _content(value, path)
    return ToolResultPart(
        call_id=CallId(first_text(about, names.call_id)),
        tool=first_text(about, names.tool),
        text=text,
        is_error=_is_error(result, value),
        embedded=result.get("providerExecuted") is True,
        media=media,
        path=path,
    )


def first_name(holder: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of the names that a field has, else the first one."""
    return next((name for name in names if name in holder), names[0])


def first_text(holder: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first text under one of the names, "" without one."""
    return next((text for name in names if (text := text_or_empty(holder.get(name)))), "")


def _named(
    block: Mapping[str, Any], path: JsonPath, table: Mapping[str, CallNames]
) -> tuple[CallNames, Mapping[str, Any], JsonPath] | None:
    """Return the names for a block, the object that has them, and where that stands."""
    names = table.get(text_or_empty(block.get("type")))
    if names is not None:
        return names, block, path
    for field, names in table.items():
        if isinstance(block.get(field), Mapping):
            return names, block[field], (*path, field)
    return None


def _content(value: Any, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:  # noqa: ANN401 - JSON is any value
    """Return the text and the media of a result, which versions 5 and up of the AI SDK type."""
    if path[-2:] == _BEDROCK_CONTENT:
        return result_content(value, path)
    return text_and_media(value["value"] if _is_typed(value) else value, path)


def _is_error(result: Mapping[str, Any], value: Any) -> bool:  # noqa: ANN401 - JSON is any value
    return (
        any(result.get(name) is True for name in ("isError", "error"))
        or result.get("status") == "error"
        or (_is_typed(value) and value["type"] in _AI_SDK_ERRORS)
    )


def new_other_result(path: JsonPath, current: object, text: str) -> object | None:
    """Return what stands for a rewritten result in these shapes; None where text alone does."""
    if path[-2:] == _BEDROCK_CONTENT:
        return [{"text": text}]
    return {"type": "text", "value": text} if _is_typed(current) else None


def _is_typed(value: Any) -> bool:  # noqa: ANN401 - JSON is any value
    """Whether a value is an output of the AI SDK, as versions from 5 on have it."""
    return isinstance(value, Mapping) and value.keys() == {"type", "value"}
