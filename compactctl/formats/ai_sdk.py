"""UI messages of the AI SDK, as apps keep their chats: rows of a database, arrays or documents."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.formats.api_format import ApiFormat, DialectFit
from compactctl.formats.content.media import media_from_text
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.content.unknown_block import text_and_media, unknown_parts
from compactctl.formats.records.chat_log import ConversationParser
from compactctl.formats.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft, preamble_drafts, text_parts
from compactctl.model.message import (
    CallId,
    FilePart,
    JsonPath,
    MediaPart,
    Part,
    ReasoningPart,
    Role,
    Synthetic,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.pipeline.writer import InsertionContext

ATTACHMENTS = "experimental_attachments"
_UNSENT = frozenset({"step-start", "source", "source-url", "source-document"})
_UNSENT_PREFIX = "data-"
_TOOL_PREFIX = "tool-"
# Calls that were still being written; nothing of them is sent.
_UNFINISHED = frozenset({"input-streaming", "partial-call"})
# Where each state keeps what the tool returned.
_RETURNED = {"output-available": "output", "output-error": "errorText", "result": "result"}
_DENIED, _DENIED_ANSWER = "output-denied", "Tool call execution denied."
_SEALS = ("signature", "redactedData", "reasoningEncryptedContent", "thoughtSignature")
_TYPES = ("mediaType", "mimeType", "contentType")
_TEXT_URL = "data:text/"


def message_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return what the model is sent of a UI message at ``path``."""
    parts, content = list_or_empty(record.get("parts")), record.get("content")
    if parts and not (record.get("role") == "system" and isinstance(content, str)):
        sent = _listed(parts, (*path, "parts"))
    else:
        sent = _without_parts(record, path)
    return (*sent, *_attachments(record, path))


def is_ui_part(part: object) -> bool:
    """Tell whether a part is one that no other API writes so."""
    if not isinstance(part, Mapping):
        return False
    kind = text_or_empty(part.get("type"))
    if kind in {"text", "reasoning"}:
        return isinstance(part.get("text", part.get("reasoning")), str)
    if kind == "tool-invocation":
        return isinstance(part.get("toolInvocation"), Mapping)
    if kind == "file":
        return any(isinstance(part.get(name), str) for name in _TYPES)
    is_tool = kind == "dynamic-tool" or kind.startswith(_TOOL_PREFIX)
    if is_tool and "toolCallId" in part:
        return "state" in part
    return kind in _UNSENT


def _listed(parts: list[Any], path: JsonPath) -> tuple[Part, ...]:
    return tuple(
        sent for index, part in enumerate(parts) for sent in _part_sent(part, (*path, index))
    )


def _part_sent(part: object, path: JsonPath) -> Iterator[Part]:
    fields = object_or_empty(part)
    kind = text_or_empty(fields.get("type"))
    if kind == "text" and isinstance(fields.get("text"), str):
        yield TextPart(text=fields["text"], path=(*path, "text"))
    elif kind == "reasoning":
        yield from _reasoning(fields, path)
    elif kind == "tool-invocation":
        yield from _tool(object_or_empty(fields.get("toolInvocation")), (*path, "toolInvocation"))
    elif kind == "dynamic-tool" or (kind.startswith(_TOOL_PREFIX) and "toolCallId" in fields):
        yield from _tool({"toolName": kind.removeprefix(_TOOL_PREFIX), **fields}, path)
    elif kind == "file":
        yield _file(fields, path)
    elif kind not in _UNSENT and not kind.startswith(_UNSENT_PREFIX):
        yield from unknown_parts(part, path)


def _without_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return what is sent of a message that an older version wrote: calls, then the text."""
    tools = list_or_empty(record.get("toolInvocations"))
    called = tuple(
        part
        for index, tool in enumerate(tools)
        for part in _tool(object_or_empty(tool), (*path, "toolInvocations", index))
    )
    content = record.get("content")
    if not isinstance(content, str) or not content:
        return called
    return (*called, TextPart(text=content, path=(*path, "content")))


def _attachments(record: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    for index, item in enumerate(list_or_empty(record.get(ATTACHMENTS))):
        if isinstance(item, Mapping):
            yield _file(item, (*path, ATTACHMENTS, index))


def _file(part: Mapping[str, Any], path: JsonPath) -> Part:
    """Return a file; one that holds a text is sent as that text."""
    kinds = (text_or_empty(part.get(name)) for name in _TYPES)
    kind = next(filter(None, kinds), "application/octet-stream")
    data = text_or_empty(part.get("url")) or text_or_empty(part.get("data"))
    text = _text_in(data) if data.startswith(_TEXT_URL) else None
    if text is None:
        return media_from_text(data, kind, path)
    name = text_or_empty(part.get("filename")) or text_or_empty(part.get("name"))
    return FilePart(file_path=name, text=text, path=path)


def _text_in(url: str) -> str | None:
    head, _, data = url.partition(",")
    if not head.endswith(";base64"):
        return None
    try:
        return base64.b64decode(data).decode()
    except (binascii.Error, ValueError):
        return None


def _reasoning(part: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    details = list_or_empty(part.get("details"))
    for index, detail in enumerate(map(object_or_empty, details)):
        text, at = text_or_empty(detail.get("text")), (*path, "details", index)
        seal = text_or_empty(detail.get("signature", detail.get("data")))
        key = "text" if text else "data"
        yield ReasoningPart(text=text, opaque=not text, sealed=len(seal), path=(*at, key))
    if not details:
        key = "text" if "text" in part else "reasoning"
        text, sealed = text_or_empty(part.get(key)), _sealed(part.get("providerMetadata"))
        yield ReasoningPart(text=text, opaque=not text, sealed=sealed, path=(*path, key))


def _sealed(metadata: object) -> int:
    providers = map(object_or_empty, object_or_empty(metadata).values())
    return sum(len(text_or_empty(p.get(name))) for p in providers for name in _SEALS)


def _tool(tool: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Return a call with its result, where there is one."""
    state = text_or_empty(tool.get("state"))
    if state in _UNFINISHED:
        return
    # What the model wrote is kept raw where it did not fit the tool.
    keys = ("input", "rawInput", "args")
    key = next((name for name in keys if tool.get(name) is not None), keys[0])
    call = ToolCallPart(
        call_id=CallId(text_or_empty(tool.get("toolCallId"))),
        tool=text_or_empty(tool.get("toolName")),
        arguments=json_text(tool.get(key, {})),
        embedded=tool.get("providerExecuted") is True,
        path=(*path, key),
    )
    yield call
    returned = _RETURNED.get(state)
    if returned is not None:
        text, media = _output(tool.get(returned, ""), path)
        yield ToolResultPart(
            call_id=call.call_id,
            tool=call.tool,
            text=text,
            is_error=returned == "errorText",
            embedded=call.embedded,
            media=media,
            path=(*path, returned),
        )
    elif state == _DENIED:
        reason = text_or_empty(object_or_empty(tool.get("approval")).get("reason"))
        yield ToolResultPart(
            call_id=call.call_id,
            tool=call.tool,
            text=reason or _DENIED_ANSWER,
            said=reason,
            is_error=True,
            embedded=True,
            path=(*path, "approval", "reason"),
        )


def _output(value: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the text and the media of an output; a tool of MCP returns a list of contents."""
    listed = _contents(value)
    if listed is None:
        return text_and_media(value, path)
    read = [text_and_media(object_or_empty(item).get("text", item), path) for item in listed]
    return "\n".join(text for text, _ in read), tuple(part for _, media in read for part in media)


def _contents(output: object) -> list[Any] | None:
    listed = object_or_empty(output).get("content")
    return listed if isinstance(listed, list) else None


def new_file(path: JsonPath, current: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return what stands in place of a file or picture: a text, as an attachment where it was."""
    if path[-2] != ATTACHMENTS:
        return {"type": "text", "text": text}
    data = base64.b64encode(text.encode("utf-8", "replace")).decode()
    named = {"name": current["name"]} if "name" in current else {}
    return {**named, "contentType": "text/plain", "url": f"data:text/plain;base64,{data}"}


def new_output(current: object, text: str) -> object:
    """Return a tool's output whose text is ``text``, in the shape of the current one."""
    if _contents(current) is None:
        return text
    fields = object_or_empty(current)
    failed = {"isError": fields["isError"]} if "isError" in fields else {}
    return {"content": [{"type": "text", "text": text}], **failed}


_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
# Messages of version 4 for the app alone.
_DATA = "data"


class AISdk(ApiFormat):
    """Reads and writes the UI messages of versions 4 and newer."""

    name = "ai-sdk"
    title = "AI SDK UI messages"
    can_write_assistant = False

    def fits(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: Mapping[str, Any],
    ) -> DialectFit | None:
        """Recognize messages with parts of a type, or with ``toolInvocations``."""
        chat = [message for message in messages if _is_message(message)]
        return "distinctive" if any(map(_is_own, chat)) and len(chat) * 2 >= len(messages) else None

    def start(self, number: int) -> ConversationParser:
        """Begin to read the conversation of a number."""
        return _UIConversation(number)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message with the fields for its text that its neighbour has."""
        part = {"type": "text", "text": message.text}
        time = (
            {"createdAt": beside.neighbour["createdAt"]} if "createdAt" in beside.neighbour else {}
        )
        content = {"content": message.text} if "content" in beside.neighbour else {}
        parts = {"parts": [part]} if "parts" in beside.neighbour or not content else {}
        return {"id": self.new_id(message), **time, "role": message.role, **content, **parts}

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return a file or an output with ``text`` in it; see ``Format.new_content``."""
        if isinstance(part, MediaPart | FilePart):
            return new_file(part.path, object_or_empty(current), text)
        return new_output(current, text) if isinstance(part, ToolResultPart) else text


class _UIConversation(ConversationParser):
    """Calls and results stand in one part, or name one another."""

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        tools, prompt = (*path, "tools"), (*path, "system")
        definitions = tool_definitions(request.get("tools"), tools)
        system = text_parts(request.get("system"), prompt)
        return preamble_drafts(definitions, tools, system, prompt)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        if not _is_message(record):
            return None
        role = _ROLES.get(text_or_empty(record.get("role")))
        metadata = object_or_empty(record.get("metadata"))
        return MessageDraft(
            role=role or "system",
            parts=message_parts(record, path) if role else (),
            record_id=text_or_none(record.get("id")),
            model=text_or_none(metadata.get("model")) if role == "assistant" else None,
        )


def _is_message(record: Mapping[str, Any]) -> bool:
    role = text_or_empty(record.get("role"))
    has_content = isinstance(record.get("parts"), list) or isinstance(record.get("content"), str)
    return (role in _ROLES or role == _DATA) and has_content


def _is_own(record: Mapping[str, Any]) -> bool:
    if any(map(is_ui_part, list_or_empty(record.get("parts")))):
        return True
    tools = map(object_or_empty, list_or_empty(record.get("toolInvocations")))
    return any("toolCallId" in tool for tool in tools)
