"""Exported logs of requests (``.chatreplay.json``): the messages as sent, and the answers.

Field names are those of the export of VS Code Copilot Chat's request logger, 2026.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from compactctl.clients.content.openai import call_parts, content_parts, content_text
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.records.json_values import (
    count_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.unread import text_in
from compactctl.clients.vscode_chat.chat import ChatMessage, RequestRest
from compactctl.model.message import (
    CallId,
    JsonPath,
    ReportedUsage,
    Role,
    TextPart,
    ToolResultPart,
)

_LOG_REASON = "the log of a request that was sent"
# Roles may be numbers, as in the client's own message type.
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
    located = _main_request(log)
    if located is None:
        return
    path, request = located
    metadata = object_or_empty(request.get("metadata"))
    definitions = tool_definitions(metadata.get("tools"), (*path, "metadata", "tools"))
    if definitions:
        draft = MessageDraft(
            role="system", parts=definitions, is_injected=True, immutable_reason=_LOG_REASON
        )
        yield ChatMessage(draft=draft, record_path=(*path, "metadata", "tools", 0), record={})
    for index, record in enumerate(_sent_messages(request)):
        record_path: JsonPath = (*path, "requestMessages", "messages", index)
        draft = _message(object_or_empty(record), record_path)
        yield ChatMessage(draft=draft, record_path=record_path, record={})
    answer = _answer(request, metadata, path)
    if answer is not None:
        yield ChatMessage(draft=answer, record_path=(*path, "response"), record={})


def logged_rest(log: Mapping[str, Any], messages: Sequence[ChatMessage]) -> RequestRest:
    """Return what of a log may be sent beside its messages, of the same request.

    Of a log without requests that were understood, that is all of it.
    """
    path, request = _main_request(log) or ((), log)
    metadata = object_or_empty(request.get("metadata"))
    definitions = {"metadata": {"tools": metadata["tools"]}} if "tools" in metadata else {}
    parts = [part for message in messages for part in message.draft.parts if text_in(part)]
    return RequestRest(
        value={**request, "metadata": {}, **definitions} if path else request,
        path=path,
        # The answer is put together, and found by what repeats it.
        paths={part.path for part in parts if part.path[-1:] != ("response",)},
        texts=[text_in(part) for part in parts],
    )


def logged_model(log: Mapping[str, Any]) -> str | None:
    """Return the model of the same request, or None."""
    located = _main_request(log)
    metadata = object_or_empty(located[1].get("metadata")) if located else {}
    return text_or_none(metadata.get("model"))


def _main_request(log: Mapping[str, Any]) -> tuple[JsonPath, Mapping[str, Any]] | None:
    """Return the agent's newest request and its path; smaller ones beside it write titles etc."""
    for prompt_index, prompt in reversed(list(enumerate(list_or_empty(log.get("prompts"))))):
        logs = enumerate(map(object_or_empty, list_or_empty(object_or_empty(prompt).get("logs"))))
        requests = [(len(_sent_messages(r)), index, r) for index, r in logs if _sent_messages(r)]
        if requests:
            _, index, request = max(requests, key=itemgetter(0, 1))
            return ("prompts", prompt_index, "logs", index), request
    return None


def _sent_messages(entry: Mapping[str, Any]) -> list[Any]:
    return list_or_empty(object_or_empty(entry.get("requestMessages")).get("messages"))


def _message(record: Mapping[str, Any], path: JsonPath) -> MessageDraft:
    content = content_parts(_plain(record.get("content")), (*path, "content"))
    call_id = text_or_none(record.get("toolCallId")) or text_or_none(record.get("tool_call_id"))
    role: Role = _ROLES.get(_hashable(record.get("role")), "user")
    if call_id is not None:
        result = ToolResultPart(
            call_id=CallId(call_id), tool="", text=content_text(content), path=(*path, "content")
        )
        return MessageDraft(role="tool", parts=(result,), immutable_reason=_LOG_REASON)
    calls = call_parts({"tool_calls": record.get("toolCalls") or record.get("tool_calls")}, path)
    return MessageDraft(role=role, parts=(*content, *calls), immutable_reason=_LOG_REASON)


def _plain(content: object) -> object:
    """Return only the text of content, without cache breakpoints and data for providers."""
    if not isinstance(content, list):
        return content
    items = map(object_or_empty, content)
    return [
        {"type": "text", "text": item["text"]}
        for item in items
        if isinstance(item.get("text"), str)
    ]


def _answer(
    request: Mapping[str, Any], metadata: Mapping[str, Any], path: JsonPath
) -> MessageDraft | None:
    value = object_or_empty(request.get("response")).get("message")
    text = "\n".join(map(text_or_empty, value)) if isinstance(value, list) else text_or_empty(value)
    usage = object_or_empty(metadata.get("usage"))
    context = count_or_none(usage.get("prompt_tokens"))
    output = count_or_none(usage.get("completion_tokens"))
    part = TextPart(text=text, embedded=True, path=(*path, "response"))
    draft = MessageDraft(
        role="assistant",
        parts=(part,) if text else (),
        response_id=text_or_none(request.get("id")) or "answer",
        model=text_or_none(metadata.get("model")),
        usage=None if context is None else ReportedUsage(context=context, output=output),
        immutable_reason=_LOG_REASON,
    )
    return None if draft.is_empty else draft


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int) else None
