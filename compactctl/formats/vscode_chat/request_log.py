"""Exported logs of requests (``.chatreplay.json``): what was really sent, and the answers.

Names are those of VS Code Copilot Chat's export of its request logger, 2026.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.formats.content.openai import call_parts, content_parts, content_text
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.formats.vscode_chat.chat import ChatMessage
from compactctl.model.message import (
    CallId,
    JsonPath,
    ReportedUsage,
    Role,
    TextPart,
    ToolResultPart,
)

LOG_REASON = "the log of a request that was sent"
# Roles are numbers in the log, as in the client's own type of messages.
_ROLES: Mapping[object, Role] = {
    0: "system",
    1: "user",
    2: "assistant",
    3: "tool",
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def logged_messages(log: Mapping[str, Any]) -> Iterator[ChatMessage]:
    """Yield the messages of the newest prompt's largest request, and the answer to it."""
    place = _main_request(log)
    if place is None:
        return
    path, request = place
    facts = object_or_empty(request.get("metadata"))
    definitions = tool_definitions(facts.get("tools"), (*path, "metadata", "tools"))
    if definitions:
        draft = MessageDraft(
            role="system", parts=definitions, is_injected=True, immutable_reason=LOG_REASON
        )
        yield ChatMessage(draft=draft, element=(*path, "metadata", "tools", 0), record={})
    at: JsonPath = (*path, "requestMessages", "messages")
    for index, record in enumerate(_sent(request)):
        draft = _message(object_or_empty(record), (*at, index))
        yield ChatMessage(draft=draft, element=(*at, index), record={})
    answer = _answer(request, facts, path)
    if answer is not None:
        yield ChatMessage(draft=answer, element=(*path, "response"), record={})


def logged_model(log: Mapping[str, Any]) -> str | None:
    """Return the model of that request."""
    place = _main_request(log)
    return text_or_none(object_or_empty(place[1].get("metadata")).get("model")) if place else None


def _main_request(log: Mapping[str, Any]) -> tuple[JsonPath, Mapping[str, Any]] | None:
    """Return the request of the agent itself: smaller ones beside it find titles and the like."""
    for number, prompt in reversed(list(enumerate(list_or_empty(log.get("prompts"))))):
        entries = enumerate(
            map(object_or_empty, list_or_empty(object_or_empty(prompt).get("logs")))
        )
        sent = [(len(_sent(entry)), index, entry) for index, entry in entries if _sent(entry)]
        if sent:
            _, index, entry = max(sent, key=lambda each: each[:2])
            return ("prompts", number, "logs", index), entry
    return None


def _sent(entry: Mapping[str, Any]) -> list[Any]:
    return list_or_empty(object_or_empty(entry.get("requestMessages")).get("messages"))


def _message(record: Mapping[str, Any], path: JsonPath) -> MessageDraft:
    content = content_parts(_plain(record.get("content")), (*path, "content"))
    call_id = text_or_none(record.get("toolCallId")) or text_or_none(record.get("tool_call_id"))
    role: Role = _ROLES.get(_hashable(record.get("role")), "user")
    if call_id is not None:
        result = ToolResultPart(
            call_id=CallId(call_id), tool="", text=content_text(content), path=(*path, "content")
        )
        return MessageDraft(role="tool", parts=(result,), immutable_reason=LOG_REASON)
    calls = call_parts({"tool_calls": record.get("toolCalls") or record.get("tool_calls")}, path)
    return MessageDraft(role=role, parts=(*content, *calls), immutable_reason=LOG_REASON)


def _plain(content: object) -> object:
    """Return content without what is not text: marks of the cache and data for providers."""
    if not isinstance(content, list):
        return content
    items = map(object_or_empty, content)
    return [
        {"type": "text", "text": item["text"]}
        for item in items
        if isinstance(item.get("text"), str)
    ]


def _answer(
    request: Mapping[str, Any], facts: Mapping[str, Any], path: JsonPath
) -> MessageDraft | None:
    said = object_or_empty(request.get("response")).get("message")
    text = "\n".join(map(text_or_empty, said)) if isinstance(said, list) else text_or_empty(said)
    if not text:
        return None
    usage = object_or_empty(facts.get("usage"))
    sent = integer_or_none(usage.get("prompt_tokens"))
    output = integer_or_none(usage.get("completion_tokens"))
    return MessageDraft(
        role="assistant",
        parts=(TextPart(text=text, embedded=True, path=(*path, "response")),),
        response_id=text_or_none(request.get("id")) or "answer",
        model=text_or_none(facts.get("model")),
        usage=None if sent is None else ReportedUsage(context=sent, output=output),
        immutable_reason=LOG_REASON,
    )


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int) else None
