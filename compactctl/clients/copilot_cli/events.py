"""Messages drafted from events of Copilot CLI; what is sent is in each event's ``data``."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.media import media_from_base64
from compactctl.clients.content.unknown_block import text_and_media
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.outcomes import stated_outcome
from compactctl.model.message import (
    CallId,
    JsonPath,
    MediaPart,
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
# ``structuredContent`` is the same result as its tool returned it.
_OTHER_CONTENT = frozenset({"binaryResultsForLlm", "contents", "structuredContent"})
# How a refused call is marked, and what stands before the reason. Other failures may read alike.
_DENIED = frozenset({"rejected", "denied"})
_FEEDBACK = re.compile(r"The user rejected this tool call\. User feedback: (.+)", re.DOTALL)
_OPAQUE = ("reasoningOpaque", "encryptedContent")


class AssetStore:
    """Stores recorded binary data, to which later events refer by id."""

    def __init__(self) -> None:
        self._media_by_id: dict[str, MediaPart] = {}

    def add(self, data: Mapping[str, Any]) -> None:
        """Add the data of a ``session.binary_asset`` event."""
        self._media_by_id[text_or_empty(data.get("assetId"))] = _inline(data, ())

    def result_media(self, result: Mapping[str, Any], path: JsonPath) -> tuple[MediaPart, ...]:
        """Return the media that are sent with the text of a tool's result at ``path``."""
        items = list_or_empty(result.get("binaryResultsForLlm"))
        return tuple(
            self._part(item, (*path, "binaryResultsForLlm", index))
            for index, item in enumerate(items)
            if isinstance(item, Mapping)
        )

    def attachments(self, data: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
        """Yield the parts of a user message's attachments.

        A file that is not sent with its data is a line of text with its path.
        """
        for index, item in enumerate(list_or_empty(data.get("attachments"))):
            if not isinstance(item, Mapping):
                continue
            item_path = (*path, "attachments", index)
            text = text_or_empty(item.get("taggedFilesEntry"))
            if text:
                yield TextPart(text=text, path=(*item_path, "taggedFilesEntry"))
            elif item.keys() & {"assetId", "data"}:
                yield self._part(item, item_path)

    def _part(self, item: Mapping[str, Any], path: JsonPath) -> MediaPart:
        media = self._media_by_id.get(text_or_empty(item.get("assetId")))
        return replace(media, path=path) if media else _inline(item, path)


def as_text(attachment: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return an attachment without its data, which is sent as a line of text."""
    fields = {name: value for name, value in attachment.items() if name not in _DATA_FIELDS}
    return {**fields, "type": "file", "taggedFilesEntry": text}


def _inline(item: Mapping[str, Any], path: JsonPath) -> MediaPart:
    """Return binary data as media; if the data was omitted, only its size is recorded."""
    media_type = text_or_empty(item.get("mimeType")) or "application/octet-stream"
    data = text_or_empty(item.get("data"))
    if data:
        return media_from_base64(data, media_type, path)
    size = item.get("byteLength")
    return MediaPart(media_type=media_type, n_bytes=size if isinstance(size, int) else 0, path=path)


def event_draft(
    kind: str, data: Mapping[str, Any], assets: AssetStore, tools: Mapping[str, str]
) -> MessageDraft | None:
    """Return the message of an event; None if it is not sent, or empty and not an answer.

    Tools that the user ran by hand are not sent.

    Args:
        kind: the type of the event.
        data: its ``data``.
        assets: the binary data recorded so far.
        tools: the tools of the calls so far, by call id.
    """
    match kind:
        case "system.message":
            draft = MessageDraft(role="system", parts=text_parts(data, "content"))
        case "user.message":
            draft = _user(data, assets)
        case "assistant.message":
            draft = _response(data)
        case "tool.execution_complete" if data.get("isUserRequested") is not True:
            draft = _result(data, assets, tools)
        case "session.compaction_complete" if data.get("success") is True:
            parts = text_parts(data, "summaryContent")
            reason = "the client's own compaction"
            draft = MessageDraft(role="user", parts=parts, is_summary=True, unmovable_reason=reason)
        case "session.context_cleared":
            parts = text_parts(data, "initialMessage")
            reason = "the client starts its context there"
            draft = MessageDraft(
                role="user", parts=parts, is_injected=True, unmovable_reason=reason
            )
        case _:
            return None
    # Which model answered, and what it was sent, may be recorded elsewhere.
    return draft if draft.parts or kind == "assistant.message" else None


def is_unsent(kind: str, data: Mapping[str, Any]) -> bool:
    """Whether an event of a message's type says that it is none."""
    if kind == "tool.execution_complete":
        return data.get("isUserRequested") is True
    return kind == "session.compaction_complete" and data.get("success") is False


def new_result(current: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return a result of which only ``text`` is sent."""
    fields = {name: value for name, value in current.items() if name not in _OTHER_CONTENT}
    return {**fields, "content": text}


def text_parts(data: Mapping[str, Any], name: str) -> tuple[TextPart, ...]:
    """Return a text of an event's data as a part; () if there is none."""
    text = text_or_empty(data.get(name))
    return (TextPart(text=text, path=(*_DATA, name)),) if text else ()


def _user(data: Mapping[str, Any], assets: AssetStore) -> MessageDraft:
    parts = text_parts(data, "transformedContent") or text_parts(data, "content")
    typed = data.get("content")
    if isinstance(typed, str):
        parts = tuple(replace(part, typed=typed) for part in parts)
    source = data.get("source")
    is_from_client = isinstance(source, str) and source != "" and source not in _USER_SOURCES
    return MessageDraft(
        role="user",
        parts=(*parts, *assets.attachments(data, _DATA)),
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


def _result(data: Mapping[str, Any], assets: AssetStore, tools: Mapping[str, str]) -> MessageDraft:
    result, error = data.get("result"), data.get("error")
    media = assets.result_media(result, (*_DATA, "result")) if isinstance(result, Mapping) else ()
    path: JsonPath = ()
    content: object = None
    if isinstance(result, Mapping) and "content" in result:
        path, content = (*_DATA, "result", "content"), result["content"]
    elif isinstance(error, Mapping) and "message" in error:
        path, content = (*_DATA, "error", "message"), error["message"]
    text, inline_media = text_and_media(content, path)
    is_denied = isinstance(error, Mapping) and text_or_empty(error.get("code")) in _DENIED
    reason = _FEEDBACK.fullmatch(text) if is_denied else None
    call_id = CallId(text_or_empty(data.get("toolCallId")))
    part = ToolResultPart(
        call_id=call_id,
        tool=tools.get(call_id, ""),
        text=text,
        said=reason[1] if reason else "",
        outcome="denied" if is_denied else stated_outcome(data.get("success")),
        media=(*media, *inline_media),
        path=(*_DATA, "result") if media else path,
    )
    immutable_reason = None if part.path else "it records no result"
    return MessageDraft(role="tool", parts=(part,), immutable_reason=immutable_reason)


def _reasoning(data: Mapping[str, Any]) -> tuple[Part, ...]:
    text = text_or_empty(data.get("reasoningText"))
    if text:
        return (ReasoningPart(text=text, path=(*_DATA, "reasoningText")),)
    opaque = next((name for name in _OPAQUE if text_or_empty(data.get(name))), None)
    return (ReasoningPart(text="", opaque=True, path=(*_DATA, opaque)),) if opaque else ()


def _calls(data: Mapping[str, Any]) -> Iterator[ToolCallPart]:
    for index, request in enumerate(list_or_empty(data.get("toolRequests"))):
        if isinstance(request, Mapping):
            yield ToolCallPart(
                call_id=CallId(text_or_empty(request.get("toolCallId"))),
                tool=text_or_empty(request.get("name")),
                arguments=json_text(request.get("arguments", {})),
                path=(*_DATA, "toolRequests", index, "arguments"),
            )
