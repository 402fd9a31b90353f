"""Items of a Codex conversation: messages, reasoning, calls and outputs as drafts.

They are those of OpenAI's Responses API, and of it alone what Codex stores.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compactctl.formats.content.media_url import media_from_base64
from compactctl.formats.content.openai import content_parts, result_content
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import text_or_empty
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
# Calls of tools that the client runs. All others are OpenAI's own, and never rewritten.
_CLIENT_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
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
    """Tell from its type alone whether this is an item of a conversation."""
    kind = item_kind(item)
    return (
        kind in _COMPACTIONS
        or kind in ("message", "reasoning")
        or kind.endswith(("_call", "_output"))
    )


def item_draft(
    item: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str]
) -> MessageDraft | None:
    """Return what an item at ``path`` says, None when its kind is not known.

    ``tools`` names the tools of the calls so far, by call id.
    """
    kind = item_kind(item)
    if kind == "message":
        return _message(item, path)
    if kind == "reasoning":
        return MessageDraft(role="assistant", parts=_reasoning(item, path))
    if kind in _COMPACTIONS:
        return _compaction(item, path)
    if kind.endswith("_output"):
        return _output(item, path, tools)
    if kind.endswith("_call"):
        return MessageDraft(role="assistant", parts=_call(item, kind, path))
    return None


def _message(item: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
    role = _ROLES.get(text_or_empty(item.get("role")))
    if role is None:
        return None
    parts = content_parts(item.get("content"), (*path, "content"))
    # In a rollout, the client or one of its hooks wrote what has this role.
    injected = role == "system" and path[:1] == ("payload",)
    return MessageDraft(role=role, parts=parts, injected=injected)


def _reasoning(item: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    parts: list[Part] = []
    for name in ("summary", "content"):
        texts = content_parts(item.get(name), (*path, name))
        parts += (part for part in texts if isinstance(part, ReasoningPart))
    if item.get("encrypted_content") or not parts:
        key = "encrypted_content" if "encrypted_content" in item else "type"
        sealed = _sealed(item)
        parts.append(ReasoningPart(text="", opaque=True, sealed=sealed, path=(*path, key)))
    return tuple(parts)


def _sealed(item: Mapping[str, Any]) -> int:
    return len(text_or_empty(item.get("encrypted_content")))


def _compaction(item: Mapping[str, Any], path: JsonPath) -> MessageDraft:
    path = (*path, "encrypted_content")
    part = ReasoningPart(text="", opaque=True, sealed=_sealed(item), path=path)
    fixed = "the client's own summary, which only the provider can read"
    return MessageDraft(role="assistant", parts=(part,), summary=True, fixed=fixed)


def _call(item: Mapping[str, Any], kind: str, path: JsonPath) -> tuple[Part, ...]:
    key = next((name for name in _ARGUMENTS if name in item), "arguments")
    returned = next((name for name in _RETURNED if item.get(name)), "")
    call = ToolCallPart(
        call_id=CallId(text_or_empty(item.get("call_id") or (returned and item.get("id")))),
        tool=text_or_empty(item.get("name")) or kind.removesuffix("_call"),
        arguments=json_text(item.get(key, "")),
        embedded=kind not in _CLIENT_CALLS,
        path=(*path, key),
    )
    if returned:
        return (call, _returned(call, item[returned], (*path, returned)))
    image = item.get("result") if kind == "image_generation_call" else None
    if not isinstance(image, str):
        return (call,)
    media = media_from_base64(image, "image/png", (*path, "result"))
    return (call, replace(media, embedded=True))


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
    call_id = CallId(text_or_empty(item.get("call_id")))
    text, media = result_content(item.get("output", ""), (*path, "output"))
    result = ToolResultPart(
        call_id=call_id,
        tool=tools.get(call_id, ""),
        text=text,
        is_error=_failed(text),
        embedded=item_kind(item).removesuffix("_output") not in _CLIENT_CALLS,
        media=media,
        path=(*path, "output"),
    )
    definitions = tool_definitions(item.get("tools"), (*path, "tools"))
    return MessageDraft(role="tool", parts=(result, *definitions))


def _failed(text: str) -> bool:
    for piece in (text[:_EXIT_CODE_WITHIN], text[-_EXIT_CODE_WITHIN:]):
        match = _EXIT_CODE.search(piece)
        if match:
            return int(match[1]) != 0
    return False
