"""UI messages of the AI SDK, as apps store chats: database rows, arrays or documents."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.apis.api_format import ApiFormat, DialectFit
from compactctl.clients.content.media import media_from_text
from compactctl.clients.content.other_calls import caller_of
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.content.unknown_block import text_and_media, unknown_parts
from compactctl.clients.records.chat_log import ConversationParser
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, preamble_drafts, text_parts
from compactctl.clients.records.unread import UnsentFields
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

_ATTACHMENTS = "experimental_attachments"
_UNSENT_TYPES = frozenset({"step-start", "source", "source-url", "source-document"})
_UNSENT_PREFIX = "data-"
_TOOL_PREFIX = "tool-"
# Calls that were still being streamed; they are not sent.
_UNFINISHED = frozenset({"input-streaming", "partial-call"})
# The key of a tool's output by state.
_OUTPUT_KEYS = {"output-available": "output", "output-error": "errorText", "result": "result"}
_DENIED, _DENIED_TEXT = "output-denied", "Tool call execution denied."
_SIGNATURE_KEYS = ("signature", "redactedData", "reasoningEncryptedContent", "thoughtSignature")
_MEDIA_TYPE_KEYS = ("mediaType", "mimeType", "contentType")
_TEXT_URL = "data:text/"

_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
# The role of messages of version 4 that are not sent.
_APP_ROLE = "data"


def _is_unsent(block: Mapping[str, Any]) -> bool:
    kind = text_or_empty(block.get("type"))
    is_of_app = block.get("role") == _APP_ROLE and "parts" not in block
    return kind in _UNSENT_TYPES or kind.startswith(_UNSENT_PREFIX) or is_of_app


class AISdk(ApiFormat):
    """Reads and writes UI messages of version 4 and later."""

    unsent_fields = UnsentFields(is_unsent=_is_unsent)

    name = "ai-sdk"
    title = "AI SDK UI messages"
    can_write_assistant = False

    def fits(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: Mapping[str, Any],
    ) -> DialectFit | None:
        """Recognize messages with typed parts, or with ``toolInvocations``."""
        chat = [message for message in messages if _is_message(message)]
        return (
            "distinctive"
            if any(map(_is_ui_message, chat)) and len(chat) * 2 >= len(messages)
            else None
        )

    def start(self, number: int) -> ConversationParser:
        """Return the parser of a conversation."""
        return _UIConversation(number)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message with its text in the fields that its neighbor uses."""
        part = {"type": "text", "text": message.text}
        time = {"createdAt": beside.neighbor["createdAt"]} if "createdAt" in beside.neighbor else {}
        content = {"content": message.text} if "content" in beside.neighbor else {}
        parts = {"parts": [part]} if "parts" in beside.neighbor or not content else {}
        return {"id": self.new_id(message), **time, "role": message.role, **content, **parts}

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return ``text`` as a file, an output or a plain text; see ``Format.new_content``."""
        if isinstance(part, MediaPart | FilePart):
            return _new_file(part.path, object_or_empty(current), text)
        return _new_output(current, text) if isinstance(part, ToolResultPart) else text


class _UIConversation(ConversationParser):
    """Calls and results share a part, so nothing is matched."""

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        tools_path, prompt_path = (*path, "tools"), (*path, "system")
        definitions = tool_definitions(request.get("tools"), tools_path)
        system = text_parts(request.get("system"), prompt_path)
        return preamble_drafts(definitions, tools_path, system, prompt_path)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        if not _is_message(record):
            return None
        role = _ROLES.get(text_or_empty(record.get("role")))
        metadata = object_or_empty(record.get("metadata"))
        return MessageDraft(
            role=role or "system",
            parts=_message_parts(record, path) if role else (),
            record_id=text_or_none(record.get("id")),
            model=text_or_none(metadata.get("model")) if role == "assistant" else None,
        )


def _is_message(record: Mapping[str, Any]) -> bool:
    role = text_or_empty(record.get("role"))
    has_content = isinstance(record.get("parts"), list) or isinstance(record.get("content"), str)
    return (role in _ROLES or role == _APP_ROLE) and has_content


def _is_ui_message(record: Mapping[str, Any]) -> bool:
    if any(map(_is_ui_part, list_or_empty(record.get("parts")))):
        return True
    tools = map(object_or_empty, list_or_empty(record.get("toolInvocations")))
    return any("toolCallId" in tool for tool in tools)


def _is_ui_part(part: object) -> bool:
    """Whether a part has a shape that only the AI SDK writes."""
    if not isinstance(part, Mapping):
        return False
    kind = text_or_empty(part.get("type"))
    if kind in {"text", "reasoning"}:
        return isinstance(part.get("text", part.get("reasoning")), str)
    if kind == "tool-invocation":
        return isinstance(part.get("toolInvocation"), Mapping)
    if kind == "file":
        return any(isinstance(part.get(name), str) for name in _MEDIA_TYPE_KEYS)
    is_tool = kind == "dynamic-tool" or kind.startswith(_TOOL_PREFIX)
    if is_tool and "toolCallId" in part:
        return "state" in part
    return kind in _UNSENT_TYPES


def _message_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Parse what is sent of the UI message at ``path``."""
    parts, content = list_or_empty(record.get("parts")), record.get("content")
    if parts and not (record.get("role") == "system" and isinstance(content, str)):
        sent = tuple(
            part
            for index, item in enumerate(parts)
            for part in _sent_parts(item, (*path, "parts", index))
        )
    else:
        sent = _legacy_parts(record, path)
    return (*sent, *_attachment_parts(record, path))


def _sent_parts(part: object, path: JsonPath) -> Iterator[Part]:
    fields = object_or_empty(part)
    kind = text_or_empty(fields.get("type"))
    if kind == "text" and isinstance(fields.get("text"), str):
        yield TextPart(text=fields["text"], path=(*path, "text"))
    elif kind == "reasoning":
        yield from _reasoning(fields, path)
    elif kind == "tool-invocation":
        yield from _tool_parts(
            object_or_empty(fields.get("toolInvocation")), (*path, "toolInvocation")
        )
    elif kind == "dynamic-tool" or (kind.startswith(_TOOL_PREFIX) and "toolCallId" in fields):
        yield from _tool_parts({"toolName": kind.removeprefix(_TOOL_PREFIX), **fields}, path)
    elif kind == "file":
        yield _file(fields, path)
    elif kind not in _UNSENT_TYPES and not kind.startswith(_UNSENT_PREFIX):
        yield from unknown_parts(part, path)


def _legacy_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Parse a message of an older version without parts: its calls, then its text."""
    tools = list_or_empty(record.get("toolInvocations"))
    tool_parts = tuple(
        part
        for index, tool in enumerate(tools)
        for part in _tool_parts(object_or_empty(tool), (*path, "toolInvocations", index))
    )
    content = record.get("content")
    if not isinstance(content, str) or not content:
        return tool_parts
    return (*tool_parts, TextPart(text=content, path=(*path, "content")))


def _attachment_parts(record: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    for index, item in enumerate(list_or_empty(record.get(_ATTACHMENTS))):
        if isinstance(item, Mapping):
            yield _file(item, (*path, _ATTACHMENTS, index))


def _file(part: Mapping[str, Any], path: JsonPath) -> Part:
    """Parse a file; a text file is sent as its text."""
    kinds = (text_or_empty(part.get(name)) for name in _MEDIA_TYPE_KEYS)
    kind = next(filter(None, kinds), "application/octet-stream")
    data = text_or_empty(part.get("url")) or text_or_empty(part.get("data"))
    text = _text_of_url(data) if data.startswith(_TEXT_URL) else None
    if text is None:
        return media_from_text(data, kind, path)
    name = text_or_empty(part.get("filename")) or text_or_empty(part.get("name"))
    return FilePart(file_path=name, text=text, path=path)


def _text_of_url(url: str) -> str | None:
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
        text, detail_path = text_or_empty(detail.get("text")), (*path, "details", index)
        signature = text_or_empty(detail.get("signature", detail.get("data")))
        key = "text" if text else "data"
        yield ReasoningPart(
            text=text, opaque=not text, sealed=len(signature), path=(*detail_path, key)
        )
    if not details:
        key = "text" if "text" in part else "reasoning"
        text, sealed = text_or_empty(part.get(key)), _signature_chars(part.get("providerMetadata"))
        yield ReasoningPart(text=text, opaque=not text, sealed=sealed, path=(*path, key))


def _signature_chars(metadata: object) -> int:
    providers = map(object_or_empty, object_or_empty(metadata).values())
    return sum(len(text_or_empty(p.get(name))) for p in providers for name in _SIGNATURE_KEYS)


def _tool_parts(tool: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield a call and its result, if it has one."""
    state = text_or_empty(tool.get("state"))
    if state in _UNFINISHED:
        return
    # ``rawInput`` has arguments that did not fit the tool's schema.
    keys = ("input", "rawInput", "args")
    key = next((name for name in keys if tool.get(name) is not None), keys[0])
    call = ToolCallPart(
        call_id=CallId(text_or_empty(tool.get("toolCallId"))),
        tool=text_or_empty(tool.get("toolName")),
        arguments=json_text(tool.get(key, {})),
        caller=caller_of(tool),
        embedded=tool.get("providerExecuted") is True,
        path=(*path, key),
    )
    yield call
    output_key = _OUTPUT_KEYS.get(state)
    if output_key is not None:
        text, media = _output_content(tool.get(output_key, ""), path)
        yield ToolResultPart(
            call_id=call.call_id,
            tool=call.tool,
            text=text,
            outcome="failed" if output_key == "errorText" else "unknown",
            embedded=call.embedded,
            media=media,
            path=(*path, output_key),
        )
    elif state == _DENIED:
        reason = text_or_empty(object_or_empty(tool.get("approval")).get("reason"))
        yield ToolResultPart(
            call_id=call.call_id,
            tool=call.tool,
            text=reason or _DENIED_TEXT,
            said=reason,
            outcome="denied",
            embedded=True,
            path=(*path, "approval", "reason"),
        )


def _output_content(value: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the text and media of an output; MCP tools return a list of contents."""
    contents = _mcp_contents(value)
    if contents is None:
        return text_and_media(value, path)
    items = [text_and_media(object_or_empty(item).get("text", item), path) for item in contents]
    return "\n".join(text for text, _ in items), tuple(part for _, media in items for part in media)


def _mcp_contents(output: object) -> list[Any] | None:
    contents = object_or_empty(output).get("content")
    return contents if isinstance(contents, list) else None


def _new_file(path: JsonPath, current: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return ``text`` in place of a file: as an attachment if it was one, else as a text part."""
    if path[-2] != _ATTACHMENTS:
        return {"type": "text", "text": text}
    data = base64.b64encode(text.encode("utf-8", "replace")).decode()
    name = {"name": current["name"]} if "name" in current else {}
    return {**name, "contentType": "text/plain", "url": f"data:text/plain;base64,{data}"}


def _new_output(current: object, text: str) -> object:
    """Return ``text`` as a tool output, in the shape of the current one."""
    if _mcp_contents(current) is None:
        return text
    fields = object_or_empty(current)
    error_flag = {"isError": fields["isError"]} if "isError" in fields else {}
    return {"content": [{"type": "text", "text": text}], **error_flag}
