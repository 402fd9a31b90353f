"""Reads the parts of OpenCode's messages as the client sends them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compactctl.clients.content.media import media_from_url
from compactctl.clients.content.unknown_block import text_and_media
from compactctl.clients.records.json_values import (
    integer_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    parse_time,
    text_or_empty,
)
from compactctl.model.message import (
    CallId,
    CallOutcome,
    JsonPath,
    MediaPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.usage_fields import UsageFields

NAME = "opencode"
COUNTS = UsageFields(
    path=("info", "tokens"),
    input=("input",),
    cached_inputs=(("cache", "read"), ("cache", "write")),
    output=("output",),
    total=("total",),
)
"""OpenCode auto-compacts by the newest answer's total, or the sum of the others without one."""

# How a call ended whose result is stored there.
_OUTCOMES: Mapping[str, CallOutcome] = {"output": "ok", "error": "failed"}
# Texts that the client sends instead of stored content, as in its source.
_CLEARED = "[Old tool result content cleared]"
_INTERRUPTED = "[Tool execution was interrupted]"
_PLACEHOLDER_TEXTS = {
    "compaction": "What did we do so far?",
    "subtask": "The following tool was executed by the user",
}
# The client adds the text of these files to the message as separate parts.
_SENT_AS_TEXT = ("text/plain", "application/x-directory")


def is_message(record: object) -> bool:
    """Return whether a record has the ``info`` and ``parts`` of a message."""
    fields = object_or_empty(record)
    return isinstance(fields.get("info"), Mapping) and isinstance(fields.get("parts"), list)


def message_parts(parts: Iterable[Any], path: JsonPath) -> tuple[Part, ...]:
    """Return the parts to send for a message's stored ``parts``, which are at ``path``."""
    return tuple(
        sent
        for index, part in enumerate(parts)
        if isinstance(part, Mapping)
        for sent in _sent_parts(part, (*path, index))
    )


def is_typed(part: object) -> bool:
    """Return whether the user typed or attached this part of a user message."""
    if not isinstance(part, Mapping) or part.get("type") not in ("text", "file"):
        return False
    return not (part.get("synthetic") or part.get("ignored"))


def _sent_parts(part: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    match part.get("type"):
        case "text" if not part.get("ignored"):
            text = json_text(part.get("text") or "")
            typed = "" if part.get("synthetic") else None
            yield TextPart(text=text, typed=typed, path=(*path, "text"))
        case "reasoning":
            yield from _reasoning(part, path)
        case "tool":
            yield from _tool(part, path)
        case "file" if not is_sent_as_text(part):
            yield _media(part, path)
        case "compaction" | "subtask" as kind:
            yield TextPart(text=_PLACEHOLDER_TEXTS[kind], embedded=True, path=path)
        case _:
            pass


def is_sent_as_text(file: Mapping[str, Any]) -> bool:
    """Whether the client adds the text of an attached file as separate parts."""
    return file.get("mime") in _SENT_AS_TEXT


def _reasoning(part: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    text = json_text(part.get("text") or "")
    if text:
        yield ReasoningPart(text=text, path=(*path, "text"))
    if is_encrypted(part) or not text:
        yield ReasoningPart(text="", opaque=True, path=(*path, "metadata"))


def is_encrypted(part: Mapping[str, Any]) -> bool:
    """Return whether a part has reasoning that OpenAI's Responses API encrypted."""
    providers = object_or_empty(part.get("metadata")).values()
    return any(object_or_empty(p).get("reasoningEncryptedContent") for p in providers)


def _tool(part: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    state = object_or_empty(part.get("state"))
    names = (text_or_empty(part.get(key)) for key in ("callID", "id"))
    call = ToolCallPart(
        call_id=CallId(next(filter(None, names), "call-" + ".".join(map(str, path)))),
        tool=text_or_empty(part.get("tool")),
        arguments=json_text(state.get("input", {})),
        path=(*path, "state", "input"),
    )
    return call, _result(call, state, (*path, "state"))


def _result(call: ToolCallPart, state: Mapping[str, Any], path: JsonPath) -> ToolResultPart:
    inline_media: tuple[MediaPart, ...] = ()
    match state.get("status"):
        case "completed" if _is_compacted(state):
            text, key, cleared = _CLEARED, "output", True
        case "completed":
            text, inline_media = text_and_media(state.get("output"), path)
            key, cleared = "output", False
        case "error":
            text, inline_media = text_and_media(state.get("error"), path)
            key, cleared = "error", False
        case _:
            text, key, cleared = _INTERRUPTED, "status", True
    media = () if cleared or key == "error" else _attachments(state.get("attachments"))
    return ToolResultPart(
        call_id=call.call_id,
        tool=call.tool,
        text=text,
        outcome=_OUTCOMES.get(key, "interrupted"),
        exit_code=integer_or_none(object_or_empty(state.get("metadata")).get("exit")),
        cleared=cleared,
        media=(*media, *inline_media),
        # An edit removes the attachments with the output, so it replaces the object around both.
        path=path if media else (*path, key),
    )


def _is_compacted(state: Mapping[str, Any]) -> bool:
    return bool(object_or_empty(state.get("time")).get("compacted"))


def cleared_at(part: Mapping[str, Any]) -> float | None:
    """Return when the client cleared a part's output, in seconds since the epoch, or None."""
    time = object_or_empty(object_or_empty(part.get("state")).get("time"))
    return parse_time(time.get("compacted"))


def _attachments(values: object) -> tuple[MediaPart, ...]:
    return tuple(_media(item, ()) for item in list_or_empty(values) if isinstance(item, Mapping))


def _media(part: Mapping[str, Any], path: JsonPath) -> MediaPart:
    mime = text_or_empty(part.get("mime")) or "application/octet-stream"
    return media_from_url(text_or_empty(part.get("url")), mime, path)
