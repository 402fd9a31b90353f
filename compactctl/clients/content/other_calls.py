"""Tool calls and results as other APIs and libraries store them: one table of their field names.

Their messages otherwise look like those of the APIs of OpenAI or Anthropic.
"""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.content.bedrock import result_content
from compactctl.clients.content.unknown_block import text_and_media
from compactctl.clients.records.json_values import json_text, object_or_empty, text_or_empty
from compactctl.model.message import (
    CallId,
    CallOutcome,
    JsonPath,
    MediaPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import Record


class CallNames(Record):
    """The keys of a call or a result; the first key that is present counts.

    Attributes:
        call_id: keys of the call id.
        tool: keys of the tool name.
        content: keys of a call's arguments, or of a result's output.
        identity_key: the key of the object that holds the id and the tool; "" if they are stored
            beside the content.
    """

    call_id: tuple[str, ...]
    tool: tuple[str, ...]
    content: tuple[str, ...]
    identity_key: str = ""


# By the type of a block, or the key in a block whose value has these fields.
CALLS: Mapping[str, CallNames] = {
    # Bedrock Converse.
    "toolUse": CallNames(call_id=("toolUseId",), tool=("name",), content=("input",)),
    # Haystack; LangChain has the fields in the block itself.
    "tool_call": CallNames(
        call_id=("id",), tool=("tool_name", "name"), content=("arguments", "args")
    ),
    # The AI SDK; ``args`` before version 5.
    "tool-call": CallNames(call_id=("toolCallId",), tool=("toolName",), content=("input", "args")),
    # OpenAI's Responses API, and its Agents SDK for JavaScript.
    "function_call": CallNames(
        call_id=("call_id", "callId"), tool=("name",), content=("arguments",)
    ),
}
RESULTS: Mapping[str, CallNames] = {
    "toolResult": CallNames(call_id=("toolUseId",), tool=(), content=("content",)),
    "tool_call_result": CallNames(
        call_id=("id",), tool=("tool_name",), content=("result",), identity_key="origin"
    ),
    "tool-result": CallNames(
        call_id=("toolCallId",), tool=("toolName",), content=("output", "result")
    ),
    "function_call_output": CallNames(call_id=("call_id",), tool=("name",), content=("output",)),
    "function_call_result": CallNames(call_id=("callId",), tool=("name",), content=("output",)),
}
OTHER_NAMES = frozenset({*CALLS, *RESULTS})
"""A call or a result in one of these shapes has such a type or such a field."""
# The end of a path to the content of a Bedrock result.
_BEDROCK_RESULT = ("toolResult", "content")
_AI_SDK_ERRORS = ("error-text", "error-json")
_AI_SDK_DENIAL = "execution-denied"
# Keys of the call of the code that made a call: Anthropic, OpenAI, and their SDKs for JavaScript.
_CALLER_KEYS = ("tool_id", "toolId", "caller_id", "callerId")
# Where the AI SDK stores fields of one provider.
_OPTION_KEYS = ("providerOptions", "providerMetadata", "callProviderMetadata")


def other_call(block: Mapping[str, Any], path: JsonPath) -> ToolCallPart | None:
    """Return the call in a block of one of these shapes, or None."""
    match = _match_names(block, path, CALLS)
    if match is None:
        return None
    names, call, path = match
    key = first_name(call, names.content)
    return ToolCallPart(
        call_id=CallId(first_text(call, names.call_id)),
        tool=first_text(call, names.tool),
        arguments=json_text(call.get(key, {})),
        caller=caller_of(call),
        embedded=call.get("providerExecuted") is True,
        path=(*path, key),
    )


def caller_of(call: Mapping[str, Any]) -> CallId:
    """Return the id of the call whose code made a call; "" if the model made it directly."""
    options = (object_or_empty(call.get(key)).get("anthropic") for key in _OPTION_KEYS)
    callers = (object_or_empty(holder).get("caller") for holder in (call, *options))
    ids = (first_text(object_or_empty(caller), _CALLER_KEYS) for caller in callers)
    return CallId(next(filter(None, ids), ""))


def other_result(block: Mapping[str, Any], path: JsonPath) -> ToolResultPart | None:
    """Return the result in a block of one of these shapes, or None."""
    match = _match_names(block, path, RESULTS)
    if match is None:
        return None
    names, result, path = match
    identity = object_or_empty(result.get(names.identity_key)) if names.identity_key else result
    key = first_name(result, names.content)
    value, path = result.get(key, ""), (*path, key)
    text, media = _content(value, path)
    return ToolResultPart(
        call_id=CallId(first_text(identity, names.call_id)),
        tool=first_text(identity, names.tool),
        text=text,
        outcome=_outcome(result, value),
        embedded=result.get("providerExecuted") is True,
        media=media,
        path=path,
    )


def first_name(holder: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of ``names`` that is a key of ``holder``; ``names[0]`` if none is."""
    return next((name for name in names if name in holder), names[0])


def first_text(holder: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first non-empty text under one of ``names``, or ""."""
    return next((text for name in names if (text := text_or_empty(holder.get(name)))), "")


def _match_names(
    block: Mapping[str, Any], path: JsonPath, table: Mapping[str, CallNames]
) -> tuple[CallNames, Mapping[str, Any], JsonPath] | None:
    """Return the keys that fit a block, the object that has them, and its path."""
    names = table.get(text_or_empty(block.get("type")))
    if names is not None:
        return names, block, path
    for field, names in table.items():
        if isinstance(block.get(field), Mapping):
            return names, block[field], (*path, field)
    return None


def _content(value: Any, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:  # noqa: ANN401 - JSON is any value
    """Return the text and media of a result."""
    if path[-2:] == _BEDROCK_RESULT:
        return result_content(value, path)
    return text_and_media(value["value"] if _is_typed(value) else value, path)


def _outcome(result: Mapping[str, Any], value: Any) -> CallOutcome:  # noqa: ANN401 - JSON is any value
    if isinstance(value, Mapping) and value.get("type") == _AI_SDK_DENIAL:
        return "denied"
    has_failed = (
        any(result.get(name) is True for name in ("isError", "error"))
        or result.get("status") == "error"
        or (isinstance(value, Mapping) and value.get("type") in _AI_SDK_ERRORS and "value" in value)
    )
    return "failed" if has_failed else "unknown"


def new_other_result(path: JsonPath, current: object, text: str) -> object | None:
    """Return ``text`` as a result in one of these shapes; None if plain text is right."""
    if path[-2:] == _BEDROCK_RESULT:
        return [{"text": text}]
    return {"type": "text", "value": text} if _is_typed(current) else None


def _is_typed(value: Any) -> bool:  # noqa: ANN401 - JSON is any value
    """Whether a value is a tool output of the AI SDK, version 5 or later."""
    return isinstance(value, Mapping) and value.keys() == {"type", "value"}
