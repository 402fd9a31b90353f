"""Items of OpenAI's Responses API: messages, reasoning, calls and outputs.

Codex and the Agents SDK for Python store items unchanged. The Agents SDK for JavaScript renames
some fields, and stores what it has no type for under ``providerData``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.media import media_from_base64
from compactctl.clients.content.openai import content_parts, result_content
from compactctl.clients.content.other_calls import CALLS, caller_of, first_name, first_text
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.content.unknown_block import text_and_media
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.model.message import (
    CallId,
    ItemId,
    JsonPath,
    Part,
    ReasoningPart,
    Role,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import replace

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "developer": "system",
    "system": "system",
}
AGENT_MESSAGE = "agent_message"
"""What another agent says, which no user has typed."""
_COMPACTION_TYPES = frozenset({"compaction", "context_compaction", "compaction_summary"})
_IMAGE_CALL = "image_generation_call"
# Calls of tools that the client runs. OpenAI runs all others; these are never rewritten.
_CLIENT_CALL_TYPES = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
# Tools with item types in openai 3.57 and agents-core 0.20.
_API_TOOLS = frozenset(
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
# Calls and results whose types do not end like those of other calls and results.
_OTHER_CALL_TYPES = frozenset({"program", "mcp_approval_request"})
_OTHER_RESULT_TYPES = frozenset({"mcp_approval_response"})
_RESULT_ENDINGS = ("_output", "_result")
_CALL_ENDING = "_call"
# Tools that are defined in the middle of a conversation.
_DEFINITION_TYPES = frozenset({"mcp_list_tools", "additional_tools"})
# Sent, but without text.
_SETTING_TYPES = frozenset({"compaction_trigger", "configuration_update"})
# Items of the JavaScript SDK that wrap an API item: hosted tools, and types it does not know.
_WRAPPER_TYPES = frozenset({"hosted_tool_call", "unknown"})
_PROVIDER_DATA = "providerData"
# Keys of the arguments of calls; then of outputs in the calls of hosted tools, and in results.
_ARGUMENT_KEYS = (
    "arguments",
    "input",
    "action",
    "actions",
    "operation",
    "code",
    "queries",
    "revised_prompt",
)
_HOSTED_OUTPUT_KEYS = ("output", "outputs", "results", "error")
_RESULT_KEYS = ("output", "result")
# Keys of reasoning: its summary, its full text, and the full text in the Agents SDK.
_REASONING_KEYS = ("summary", "content", "rawContent")
_REASONING_TEXT_TYPES = ("summary_text", "reasoning_text", "input_text")


def item_kind(item: Mapping[str, Any]) -> str:
    """Return the type of an item; messages may omit it. "" if unknown."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if isinstance(item.get("role"), str) else ""


def is_item(item: Mapping[str, Any]) -> bool:
    """Whether a record looks like an item of a conversation."""
    kind = item_kind(item)
    if kind == "message":
        return "content" in item and text_or_empty(item.get("role")) in _ROLES
    return kind == "reasoning" or kind in _COMPACTION_TYPES or _is_call_or_result(kind)


def _is_call_or_result(kind: str) -> bool:
    return kind.endswith((_CALL_ENDING, *_RESULT_ENDINGS))


def is_api_item(item: Mapping[str, Any]) -> bool:
    """Whether an item has a shape that only the API and its SDKs write."""
    kind = item_kind(item)
    if kind == "message":
        return any(
            isinstance(part, Mapping) and part.get("type") in ("input_text", "output_text")
            for part in list_or_empty(item.get("content"))
        )
    if kind == "reasoning":
        return any(isinstance(item.get(name), list) for name in _REASONING_KEYS)
    if kind in _COMPACTION_TYPES:
        return isinstance(item.get("encrypted_content"), str)
    if _tool_of(kind) not in _API_TOOLS:
        return False
    needs_call_id = kind in _CLIENT_CALL_TYPES or not kind.endswith(_CALL_ENDING)
    return bool(_call_id(item)) or (not needs_call_id and isinstance(item.get("id"), str))


def _tool_of(kind: str) -> str:
    """Return the tool of an item type: ``shell`` for ``shell_call_output``."""
    for ending in (*_RESULT_ENDINGS, _CALL_ENDING):
        kind = kind.removesuffix(ending)
    return kind


def item_draft(
    item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]
) -> MessageDraft | None:
    """Parse the item at ``path``; None if its type is unknown.

    ``tools`` maps the ids of earlier calls to tool names.
    """
    draft, name = _draft_of(item, path, tools), item.get("id")
    if draft is None or draft.item_id is not None or not isinstance(name, str):
        return draft
    # The id of some items is that of their call.
    is_of_call = any(isinstance(p, ToolCallPart) and p.call_id == name for p in draft.parts)
    if is_of_call or draft.role != "assistant":
        return draft
    return replace(draft, item_id=ItemId(name, (*path, "id")))


def _draft_of(
    item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]
) -> MessageDraft | None:
    kind = item_kind(item)
    if kind in _WRAPPER_TYPES and isinstance(item.get(_PROVIDER_DATA), Mapping):
        return _wrapped_draft(item, path, tools)
    if kind == "message":
        return _message_draft(item, path)
    if kind == AGENT_MESSAGE:
        parts = content_parts(item.get("content"), (*path, "content"))
        return MessageDraft(role="user", parts=parts, is_injected=True)
    if kind == "reasoning":
        return MessageDraft(role="assistant", parts=_reasoning_parts(item, path))
    if kind in _COMPACTION_TYPES:
        return _compaction_draft(item, path)
    if kind in _DEFINITION_TYPES:
        definitions = tool_definitions(item.get("tools"), (*path, "tools"))
        return MessageDraft(role="system", parts=definitions, is_injected=True)
    if kind in _SETTING_TYPES:
        return MessageDraft(role="system", parts=())
    if kind in _OTHER_RESULT_TYPES or kind.endswith(_RESULT_ENDINGS):
        return _output_draft(item, path, tools)
    if kind in _OTHER_CALL_TYPES or kind.endswith(_CALL_ENDING):
        return MessageDraft(role="assistant", parts=_call_parts(item, kind, path))
    return None


def _message_draft(item: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
    role = _ROLES.get(text_or_empty(item.get("role")))
    if role is None:
        return None
    return MessageDraft(role=role, parts=content_parts(item.get("content"), (*path, "content")))


def _reasoning_parts(item: Mapping[str, Any], path: JsonPath) -> tuple[ReasoningPart, ...]:
    texts = tuple(_reasoning_texts(item, path))
    provider_data = object_or_empty(item.get(_PROVIDER_DATA))
    if _sealed_chars(provider_data) and not _sealed_chars(item):
        item, path = provider_data, (*path, _PROVIDER_DATA)
    if texts and not item.get("encrypted_content"):
        return texts
    key = "encrypted_content" if "encrypted_content" in item else "type"
    hidden = ReasoningPart(text="", opaque=True, sealed=_sealed_chars(item), path=(*path, key))
    return (*texts, hidden)


def _reasoning_texts(item: Mapping[str, Any], path: JsonPath) -> Iterator[ReasoningPart]:
    for name in _REASONING_KEYS:
        for index, value in enumerate(map(object_or_empty, list_or_empty(item.get(name)))):
            text = text_or_empty(value.get("text"))
            if text and value.get("type") in _REASONING_TEXT_TYPES:
                yield ReasoningPart(text=text, path=(*path, name, index, "text"))


def _sealed_chars(item: Mapping[str, Any]) -> int:
    return len(text_or_empty(item.get("encrypted_content")))


def _compaction_draft(item: Mapping[str, Any], path: JsonPath) -> MessageDraft:
    path = (*path, "encrypted_content")
    sealed = _sealed_chars(item)
    part = ReasoningPart(text="", opaque=True, sealed=sealed, is_compaction=sealed > 0, path=path)
    reason = "the client's own summary, which only the provider can read"
    return MessageDraft(role="assistant", parts=(part,), is_summary=True, immutable_reason=reason)


def _wrapped_draft(
    item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]
) -> MessageDraft | None:
    """Parse an SDK item that wraps an API item; the output is stored beside the wrapped item."""
    inner = item[_PROVIDER_DATA]
    draft = item_draft({"type": item.get("name"), **inner}, (*path, _PROVIDER_DATA), tools)
    output = item.get("output")
    if draft is None or output is None or not draft.parts:
        return draft
    call, output_path = draft.parts[0], (*path, "output")
    if not isinstance(call, ToolCallPart):
        return draft
    call = replace(call, call_id=CallId(call.call_id or text_or_empty(item.get("id"))))
    if item_kind(inner) == _IMAGE_CALL:
        return replace(draft, parts=(call, *_image_parts(output, output_path)))
    return replace(draft, parts=(call, _hosted_result(call, output, output_path)))


def _call_parts(item: Mapping[str, Any], kind: str, path: JsonPath) -> tuple[Part, ...]:
    key = first_name(item, _ARGUMENT_KEYS)
    output_key = next((name for name in _HOSTED_OUTPUT_KEYS if item.get(name)), "")
    has_own_id = output_key or kind in _OTHER_CALL_TYPES
    own_id = text_or_empty(item.get("id")) if has_own_id else ""
    call = ToolCallPart(
        call_id=CallId(_call_id(item) or own_id),
        tool=_tool_name(item) or kind.removesuffix(_CALL_ENDING),
        arguments=json_text(item.get(key, "")),
        caller=caller_of(item),
        embedded=kind not in _CLIENT_CALL_TYPES,
        path=(*path, key),
    )
    if output_key:
        return (call, _hosted_result(call, item[output_key], (*path, output_key)))
    if kind == _IMAGE_CALL:
        return (call, *_image_parts(item.get("result"), (*path, "result")))
    return (call,)


def _tool_name(item: Mapping[str, Any]) -> str:
    """Return the name of a call's tool; that of a server's tool begins with its namespace.

    {"namespace": "mcp__wiki", "name": "ask_user"}  ->  "mcp__wiki__ask_user"
    """
    name, server = text_or_empty(item.get("name")), text_or_empty(item.get("server_label"))
    namespace = text_or_empty(item.get("namespace")) or (server and f"mcp__{server}")
    is_joined = not namespace or namespace.endswith("_") or name.startswith("_")
    return f"{namespace}{'' if is_joined else '__'}{name}"


def _call_id(item: Mapping[str, Any]) -> str:
    return first_text(item, CALLS["function_call"].call_id)


def _image_parts(value: object, path: JsonPath) -> tuple[Part, ...]:
    if not isinstance(value, str):
        return ()
    return (replace(media_from_base64(value, "image/png", path), embedded=True),)


def _hosted_result(call: ToolCallPart, value: object, path: JsonPath) -> ToolResultPart:
    """Return the result of a hosted tool, which is stored in the same item as its call."""
    text, media = text_and_media(value, path)
    return ToolResultPart(
        call_id=call.call_id,
        tool=call.tool,
        text=text,
        outcome="failed" if path[-1] == "error" else "unknown",
        embedded=True,
        media=media,
        path=path,
    )


def _output_draft(
    item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]
) -> MessageDraft:
    kind = item_kind(item)
    call_type = next((kind.removesuffix(end) for end in _RESULT_ENDINGS if kind.endswith(end)), "")
    key = first_name(item, _RESULT_KEYS)
    if kind in _OTHER_RESULT_TYPES:
        call_id, key = CallId(text_or_empty(item.get("approval_request_id"))), "reason"
    else:
        # The output of a local shell call has only ``id``, which is the id of its call.
        shell_id = text_or_empty(item.get("id")) if call_type == "local_shell_call" else ""
        call_id = CallId(_call_id(item) or shell_id)
    text, media = result_content(item.get(key, ""), (*path, key))
    result = ToolResultPart(
        call_id=call_id,
        tool=tools.get(call_id, "") or text_or_empty(item.get("name")),
        text=text,
        embedded=call_type not in _CLIENT_CALL_TYPES,
        media=media,
        path=(*path, key),
    )
    definitions = tool_definitions(item.get("tools"), (*path, "tools"))
    return MessageDraft(role="tool", parts=(result, *definitions))
