"""Items of OpenAI's Responses API as drafts: messages, reasoning, calls and outputs.

Codex stores them in its rollouts, and the Agents SDK for Python as they are; the one for JavaScript
has its own names for some fields, and keeps what it has no name for as ``providerData``.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compactctl.formats.content.media import media_from_base64
from compactctl.formats.content.openai import content_parts, result_content
from compactctl.formats.content.other_calls import CALLS, first_name, first_text
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.message import (
    CallId,
    JsonPath,
    Part,
    ReasoningPart,
    Role,
    ToolCallPart,
    ToolResultPart,
)

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "developer": "system",
    "system": "system",
}
_COMPACTIONS = frozenset({"compaction", "context_compaction", "compaction_summary"})
_IMAGE = "image_generation_call"
# Calls of tools that the client runs. All others are OpenAI's own, and never rewritten.
_CLIENT_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
# Tools whose calls and results the API has types for, as in openai 3.57 and agents-core 0.20.
_TOOLS = frozenset(
    {
        "apply_patch",
        "code_interpreter",
        "computer",
        "custom_tool",
        "file_search",
        "function",
        "hosted_tool",
        "image_generation",
        "local_shell",
        "mcp",
        "shell",
        "tool_search",
        "web_search",
    }
)
# Calls and results whose type does not tell that they are.
_OTHER_CALLS = frozenset({"program", "mcp_approval_request"})
_OTHER_RESULTS = frozenset({"mcp_approval_response"})
_RESULT_ENDINGS = ("_output", "_result")
_CALL_ENDING = "_call"
# Tools of which the model is told on the way.
_DEFINITIONS = frozenset({"mcp_list_tools", "additional_tools"})
# What is sent and has no text.
_SETTINGS = frozenset({"compaction_trigger", "configuration_update"})
# Calls of tools that OpenAI runs, and items that only the SDK has no type for, hold the API's own.
_HELD = frozenset({"hosted_tool_call", "unknown"})
_HOLDER = "providerData"
# Where the kinds of calls keep what the tool is given, and what a tool that OpenAI runs returned.
_ARGUMENTS = (
    "arguments",
    "input",
    "action",
    "actions",
    "operation",
    "code",
    "queries",
    "revised_prompt",
)
_RETURNED = ("output", "outputs", "results", "error")
_RESULTS = ("output", "result")
# Texts of reasoning: what the API shows of it, or all of it, and the latter in the Agents SDK.
_THOUGHTS = ("summary", "content", "rawContent")
_THOUGHT_TYPES = ("summary_text", "reasoning_text", "input_text")
# The exit code stands at the start of an output, or at the end of an older output's JSON text.
_EXIT_CODE = re.compile(r'(?:Exit code: |exited with code |"exit_code": ?)(-?\d+)')
_EXIT_CODE_WITHIN = 300


def item_kind(item: Mapping[str, Any]) -> str:
    """Return an item's type; a message may leave it out."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if isinstance(item.get("role"), str) else ""


def is_item(item: Mapping[str, Any]) -> bool:
    """Tell from its type and its names whether this is an item of a conversation."""
    kind = item_kind(item)
    if kind == "message":
        return "content" in item and item.get("role") in _ROLES
    return kind == "reasoning" or kind in _COMPACTIONS or _is_call_or_result(kind)


def _is_call_or_result(kind: str) -> bool:
    return kind.endswith((_CALL_ENDING, *_RESULT_ENDINGS))


def is_own_item(item: Mapping[str, Any]) -> bool:
    """Tell whether this is an item that nothing but the API and its SDKs would write so."""
    kind = item_kind(item)
    if kind == "message":
        return any(
            isinstance(part, Mapping) and part.get("type") in ("input_text", "output_text")
            for part in list_or_empty(item.get("content"))
        )
    if kind == "reasoning":
        return any(isinstance(item.get(name), list) for name in _THOUGHTS)
    if kind in _COMPACTIONS:
        return isinstance(item.get("encrypted_content"), str)
    if _tool_called(kind) not in _TOOLS:
        return False
    joins = kind in _CLIENT_CALLS or not kind.endswith(_CALL_ENDING)
    return bool(_call_id(item)) or (not joins and isinstance(item.get("id"), str))


def _tool_called(kind: str) -> str:
    """Return which tool a type is of, as the API calls it: ``shell`` for ``shell_call_output``."""
    for ending in (*_RESULT_ENDINGS, _CALL_ENDING):
        kind = kind.removesuffix(ending)
    return kind


def item_draft(
    item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]
) -> MessageDraft | None:
    """Return what an item at ``path`` says, None when its kind is not known.

    ``tools`` names the tools of the calls so far, by call id.
    """
    kind = item_kind(item)
    if kind in _HELD and isinstance(item.get(_HOLDER), Mapping):
        return _held(item, path, tools)
    if kind == "message":
        return _message(item, path)
    if kind == "reasoning":
        return MessageDraft(role="assistant", parts=_reasoning(item, path))
    if kind in _COMPACTIONS:
        return _compaction(item, path)
    if kind in _DEFINITIONS:
        definitions = tool_definitions(item.get("tools"), (*path, "tools"))
        return MessageDraft(role="system", parts=definitions, is_injected=True)
    if kind in _SETTINGS:
        return MessageDraft(role="system", parts=())
    if kind in _OTHER_RESULTS or kind.endswith(_RESULT_ENDINGS):
        return _output(item, path, tools)
    if kind in _OTHER_CALLS or kind.endswith(_CALL_ENDING):
        return MessageDraft(role="assistant", parts=_call(item, kind, path))
    return None


def _message(item: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
    role = _ROLES.get(text_or_empty(item.get("role")))
    if role is None:
        return None
    return MessageDraft(role=role, parts=content_parts(item.get("content"), (*path, "content")))


def _reasoning(item: Mapping[str, Any], path: JsonPath) -> tuple[ReasoningPart, ...]:
    texts, held = tuple(_thoughts(item, path)), object_or_empty(item.get(_HOLDER))
    if _sealed(held) and not _sealed(item):
        item, path = held, (*path, _HOLDER)
    if texts and not item.get("encrypted_content"):
        return texts
    key = "encrypted_content" if "encrypted_content" in item else "type"
    hidden = ReasoningPart(text="", opaque=True, sealed=_sealed(item), path=(*path, key))
    return (*texts, hidden)


def _thoughts(item: Mapping[str, Any], path: JsonPath) -> Iterator[ReasoningPart]:
    for name in _THOUGHTS:
        for index, value in enumerate(map(object_or_empty, list_or_empty(item.get(name)))):
            text = text_or_empty(value.get("text"))
            if text and value.get("type") in _THOUGHT_TYPES:
                yield ReasoningPart(text=text, path=(*path, name, index, "text"))


def _sealed(item: Mapping[str, Any]) -> int:
    return len(text_or_empty(item.get("encrypted_content")))


def _compaction(item: Mapping[str, Any], path: JsonPath) -> MessageDraft:
    path = (*path, "encrypted_content")
    part = ReasoningPart(text="", opaque=True, sealed=_sealed(item), path=path)
    fixed = "the client's own summary, which only the provider can read"
    return MessageDraft(role="assistant", parts=(part,), is_summary=True, immutable_reason=fixed)


def _held(item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]) -> MessageDraft | None:
    """Return what an item of the SDK says that holds one of the API, but for what was returned."""
    inner = item[_HOLDER]
    draft = item_draft({"type": item.get("name"), **inner}, (*path, _HOLDER), tools)
    output = item.get("output")
    if draft is None or output is None or not draft.parts:
        return draft
    call, at = draft.parts[0], (*path, "output")
    if not isinstance(call, ToolCallPart):
        return draft
    call = replace(call, call_id=CallId(call.call_id or text_or_empty(item.get("id"))))
    if item_kind(inner) == _IMAGE:
        return replace(draft, parts=(call, *_image(output, at)))
    return replace(draft, parts=(call, _returned(call, output, at)))


def _call(item: Mapping[str, Any], kind: str, path: JsonPath) -> tuple[Part, ...]:
    key = first_name(item, _ARGUMENTS)
    returned = next((name for name in _RETURNED if item.get(name)), "")
    by_id = returned or kind in _OTHER_CALLS
    call = ToolCallPart(
        call_id=CallId(_call_id(item) or (text_or_empty(item.get("id")) if by_id else "")),
        tool=text_or_empty(item.get("name")) or kind.removesuffix(_CALL_ENDING),
        arguments=json_text(item.get(key, "")),
        embedded=kind not in _CLIENT_CALLS,
        path=(*path, key),
    )
    if returned:
        return (call, _returned(call, item[returned], (*path, returned)))
    if kind == _IMAGE:
        return (call, *_image(item.get("result"), (*path, "result")))
    return (call,)


def _call_id(item: Mapping[str, Any]) -> str:
    return first_text(item, CALLS["function_call"].call_id)


def _image(value: object, path: JsonPath) -> tuple[Part, ...]:
    if not isinstance(value, str):
        return ()
    return (replace(media_from_base64(value, "image/png", path), embedded=True),)


def _returned(call: ToolCallPart, value: object, path: JsonPath) -> ToolResultPart:
    """Return what a tool that OpenAI runs returned, which stands in the same item as its call."""
    text, media = text_and_media(value, path)
    return ToolResultPart(
        call_id=call.call_id,
        tool=call.tool,
        text=text,
        is_error=path[-1] == "error",
        embedded=True,
        media=media,
        path=path,
    )


def _output(item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]) -> MessageDraft:
    kind = item_kind(item)
    asked = next((kind.removesuffix(end) for end in _RESULT_ENDINGS if kind.endswith(end)), "")
    key = first_name(item, _RESULTS)
    if kind in _OTHER_RESULTS:
        call_id, key = CallId(text_or_empty(item.get("approval_request_id"))), "reason"
    else:
        # Of the two ids of this one kind, the API has only this.
        by_id = text_or_empty(item.get("id")) if asked == "local_shell_call" else ""
        call_id = CallId(_call_id(item) or by_id)
    text, media = result_content(item.get(key, ""), (*path, key))
    result = ToolResultPart(
        call_id=call_id,
        tool=tools.get(call_id, "") or text_or_empty(item.get("name")),
        text=text,
        is_error=_failed(text),
        embedded=asked not in _CLIENT_CALLS,
        media=media,
        path=(*path, key),
    )
    definitions = tool_definitions(item.get("tools"), (*path, "tools"))
    return MessageDraft(role="tool", parts=(result, *definitions))


def _failed(text: str) -> bool:
    for piece in (text[:_EXIT_CODE_WITHIN], text[-_EXIT_CODE_WITHIN:]):
        match = _EXIT_CODE.search(piece)
        if match:
            return int(match[1]) != 0
    return False
