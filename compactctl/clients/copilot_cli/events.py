"""Messages drafted from events of Copilot CLI; what is sent is in each event's ``data``."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.unknown_block import text_and_media
from compactctl.clients.copilot_cli.earlier import EarlierEvents
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.outcomes import stated_outcome
from compactctl.model.message import (
    CallId,
    JsonPath,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import replace

# The fields of an attachment that is sent with its data.
_DATA_FIELDS = frozenset({"assetId", "data", "mimeType", "byteLength"})
_DATA: JsonPath = ("data",)
# Of the published sources of user messages, those that the user wrote.
_USER_SOURCES = frozenset({"user", "immediate-prompt", "unknown"})
# Of the published kinds of notifications, those that are sent, and the one that is not.
_NOTIFICATIONS = frozenset(
    {"agent_completed", "agent_idle", "new_inbox_message", "shell_completed"}
    | {"shell_detached_completed", "workflow_completed", "unclassified"}
)
_UNSENT_NOTIFICATION = "instruction_discovered"
# ``structuredContent`` is the same result as its tool returned it.
_OTHER_CONTENT = frozenset({"binaryResultsForLlm", "contents", "structuredContent"})
# How a refused call is marked, and what stands before the reason. Other failures may read alike.
_DENIED = frozenset({"rejected", "denied"})
_FEEDBACK = re.compile(r"The user rejected this tool call\. User feedback: (.+)", re.DOTALL)
_SEALED = ("signature", "data", "encrypted_content")
_OPAQUE = ("reasoningOpaque", "encryptedContent")


def as_text(attachment: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return an attachment without its data, which is sent as a line of text."""
    fields = {name: value for name, value in attachment.items() if name not in _DATA_FIELDS}
    return {**fields, "type": "file", "taggedFilesEntry": text}


def event_draft(kind: str, data: Mapping[str, Any], earlier: EarlierEvents) -> MessageDraft | None:
    """Return the message of an event; None if it is not sent, or empty and not an answer.

    Args:
        kind: the type of the event.
        data: its ``data``.
        earlier: what the events before it hold.
    """
    if is_unsent(kind, data):
        return None
    match kind:
        case "user.message":
            draft = _user(data, earlier)
        case "assistant.message":
            draft = _response(data)
        case "tool.execution_complete" if data.get("isUserRequested") is True:
            draft = _command_output(data, earlier)
        case "tool.execution_complete":
            draft = _result(data, earlier)
        case "skill.context_delivered_ref":
            draft = _skill_context(data, earlier)
        case _:
            draft = _notice(kind, data)
    # Which model answered, and what it was sent, may be recorded elsewhere.
    return draft if draft.parts or kind == "assistant.message" else None


def is_unsent(kind: str, data: Mapping[str, Any]) -> bool:
    """Whether an event is not sent although others of its type are.

    A compaction is not if it failed or has no summary. Prompts of developers are not either: the
    client writes them anew, as it does its system prompt.
    """
    match kind:
        case "session.compaction_complete":
            return data.get("success") is False or data.get("summaryContent") == ""
        case "session.mode_notice_delivered":
            return not data.get("content")
        case "system.message":
            return data.get("role") == "developer"
        case "system.notification":
            return _notification_kind(data) == _UNSENT_NOTIFICATION
        case _:
            return False


def prompt_part(kind: str, data: Mapping[str, Any]) -> TextPart | None:
    """Return what the client repeats of an event's message when it compacts; None for nothing.

    That is the prompts of the user and of other agents, as they were typed.
    """
    source = data.get("source")
    is_listed = source in (None, "user") or text_or_empty(source).startswith("agent-")
    if kind == "user.message" and is_listed:
        return next(iter(text_parts(data, "content")), None)
    if kind == "session.context_cleared":
        return next(iter(text_parts(data, "initialMessage")), None)
    return None


def new_result(current: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return a result of which only ``text`` is sent."""
    fields = {name: value for name, value in current.items() if name not in _OTHER_CONTENT}
    return {**fields, "content": text}


def text_parts(data: Mapping[str, Any], name: str) -> tuple[TextPart, ...]:
    """Return a text of an event's data as a part; () if there is none."""
    text = text_or_empty(data.get(name))
    return (TextPart(text=text, path=(*_DATA, name)),) if text else ()


def _notice(kind: str, data: Mapping[str, Any]) -> MessageDraft:
    """Return what an event says in the client's own words; without parts if it says nothing."""
    match kind:
        case "system.message":
            return MessageDraft(role="system", parts=text_parts(data, "content"))
        case "session.compaction_complete" if data.get("success") is True:
            names = ("summaryContent", "activeWorkflowSummary")
            return MessageDraft(
                role="user",
                parts=tuple(part for name in names for part in text_parts(data, name)),
                is_summary=True,
                unmovable_reason="the client's own compaction",
            )
        case "session.context_cleared":
            return MessageDraft(
                role="user",
                parts=text_parts(data, "initialMessage"),
                is_injected=True,
                unmovable_reason="the client starts its context there",
            )
        case "system.notification":
            is_sent = _notification_kind(data) in _NOTIFICATIONS
        case _:
            is_sent = kind in ("skill.context_delivered", "session.mode_notice_delivered")
    parts = text_parts(data, "content") if is_sent else ()
    return MessageDraft(role="user", parts=parts, is_injected=True)


def _notification_kind(data: Mapping[str, Any]) -> str:
    return text_or_empty(object_or_empty(data.get("kind")).get("type"))


def _user(data: Mapping[str, Any], earlier: EarlierEvents) -> MessageDraft:
    is_transformed = isinstance(data.get("transformedContent"), str)
    parts = text_parts(data, "transformedContent" if is_transformed else "content")
    typed = data.get("content")
    if isinstance(typed, str):
        parts = tuple(replace(part, typed=typed) for part in parts)
    source = data.get("source")
    is_from_client = isinstance(source, str) and source != "" and source not in _USER_SOURCES
    return MessageDraft(
        role="user",
        parts=(*parts, *earlier.attachments(data, _DATA)),
        is_injected=is_from_client or data.get("isAutopilotContinuation") is True,
    )


def _response(data: Mapping[str, Any]) -> MessageDraft:
    return MessageDraft(
        role="assistant",
        parts=(*_reasoning(data), *text_parts(data, "content"), *_calls(data)),
        # A response may consist of several events.
        response_id=text_or_none(data.get("apiCallId")) or text_or_none(data.get("messageId")),
        model=text_or_none(data.get("model")),
    )


def _skill_context(data: Mapping[str, Any], earlier: EarlierEvents) -> MessageDraft:
    """Return the text of a skill that an earlier event has, with what the client puts around it."""
    texts = (data.get("prefix"), earlier.skill_text(data), data.get("suffix"))
    text = "".join(map(text_or_empty, texts))
    parts = (TextPart(text=text, embedded=True, path=(*_DATA, "contentId")),) if text else ()
    return MessageDraft(
        role="user", parts=parts, is_injected=True, immutable_reason="its text is in another event"
    )


def _command_output(data: Mapping[str, Any], earlier: EarlierEvents) -> MessageDraft:
    """Return what a command printed that the user ran by hand; it is sent with the command."""
    path, content = _result_content(data)
    text, media = text_and_media(content, path)
    command = earlier.command(text_or_empty(data.get("toolCallId")))
    output = TextPart(text=text, typed="", added=command, path=path)
    return MessageDraft(role="user", parts=(output, *media) if path else (), is_injected=True)


def _result_content(data: Mapping[str, Any]) -> tuple[JsonPath, object]:
    """Return what is sent of a result and its path: of a failure its error, if there is one."""
    result, error = object_or_empty(data.get("result")), object_or_empty(data.get("error"))
    if "message" in error and (data.get("success") is False or "content" not in result):
        return (*_DATA, "error", "message"), error["message"]
    if "content" in result:
        return (*_DATA, "result", "content"), result["content"]
    return (), None


def _result(data: Mapping[str, Any], earlier: EarlierEvents) -> MessageDraft:
    result, error = data.get("result"), data.get("error")
    media = earlier.result_media(result, (*_DATA, "result")) if isinstance(result, Mapping) else ()
    path, content = _result_content(data)
    text, inline_media = text_and_media(content, path)
    is_denied = isinstance(error, Mapping) and text_or_empty(error.get("code")) in _DENIED
    reason = _FEEDBACK.fullmatch(text) if is_denied else None
    call_id = CallId(text_or_empty(data.get("toolCallId")))
    part = ToolResultPart(
        call_id=call_id,
        tool=earlier.tools.get(call_id, ""),
        text=text,
        said=reason[1] if reason else "",
        outcome="denied" if is_denied else stated_outcome(data.get("success")),
        media=(*media, *inline_media),
        path=(*_DATA, "result") if media else path,
    )
    immutable_reason = None if part.path else "it records no result"
    return MessageDraft(role="tool", parts=(part,), immutable_reason=immutable_reason)


def _reasoning(data: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the reasoning of an answer; it is sealed if its provider's own blocks are recorded."""
    blocks = list_or_empty(object_or_empty(data.get("reasoningBlocks")).get("blocks"))
    sealed = sum(map(_sealed_size, blocks))
    text = text_or_empty(data.get("reasoningText"))
    if text:
        return (ReasoningPart(text=text, sealed=sealed, path=(*_DATA, "reasoningText")),)
    name = next((name for name in _OPAQUE if text_or_empty(data.get(name))), None)
    if name is None and not sealed:
        return ()
    path = (*_DATA, name or "reasoningBlocks")
    return (ReasoningPart(text="", opaque=True, sealed=sealed, path=path),)


def _sealed_size(block: object) -> int:
    """Return the length of what only the provider can read in a block of reasoning, at least 1."""
    fields = object_or_empty(block)
    return max(1, sum(len(text_or_empty(fields.get(name))) for name in _SEALED))


def _calls(data: Mapping[str, Any]) -> Iterator[ToolCallPart]:
    for index, request in enumerate(list_or_empty(data.get("toolRequests"))):
        if isinstance(request, Mapping):
            yield ToolCallPart(
                call_id=CallId(text_or_empty(request.get("toolCallId"))),
                tool=text_or_empty(request.get("name")),
                arguments=json_text(request.get("arguments", {})),
                path=(*_DATA, "toolRequests", index, "arguments"),
            )
