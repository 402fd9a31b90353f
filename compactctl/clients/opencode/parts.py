"""Reads the parts of OpenCode's messages as ``toModelMessages`` of 1.18.33 sends them."""

import re
from collections.abc import Iterator, Mapping, Sequence
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
from compactctl.records import Record

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
# Kilo has OpenCode's documents with its own version, which is 7 or newer; OpenCode's is 1.
_KILO_VERSION = re.compile(r"(?:[7-9]|[1-9]\d+)\.")
# What Kilo 7.7.9 writes about its own state, and never sends.
_TRANSIENT = ("kilocode.lifecycle", "transient")
ModelName = tuple[str, str]
"""A provider's id, and its model's."""


class NextRequest(Record):
    """What of a session's next request decides which parts it sends.

    ``model`` is None if the session does not say with which model it continues.
    """

    model: ModelName | None = None
    is_of_kilo: bool = False


def next_request(session: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> NextRequest:
    """Return what decides about the next request: it goes to the model that was chosen last."""
    prompts = (message for message in reversed(messages) if message.get("role") == "user")
    of_session = _model_of(object_or_empty(session.get("model")), "id")
    chosen = (_model_of(object_or_empty(prompt.get("model"))) for prompt in prompts)
    return NextRequest(
        model=of_session or next(filter(None, chosen), None),
        is_of_kilo=bool(_KILO_VERSION.match(text_or_empty(session.get("version")))),
    )


def _model_of(fields: Mapping[str, Any], key: str = "modelID") -> ModelName | None:
    provider, model = text_or_empty(fields.get("providerID")), text_or_empty(fields.get(key))
    return (provider, model) if provider and model else None


def is_message(record: object) -> bool:
    """Return whether a record has the ``info`` and ``parts`` of a message."""
    fields = object_or_empty(record)
    return isinstance(fields.get("info"), Mapping) and isinstance(fields.get("parts"), list)


def message_parts(
    record: Mapping[str, Any], path: JsonPath, request: NextRequest
) -> tuple[Part, ...]:
    """Return what a request sends of a message's ``parts``, which are at ``path``."""
    info = record["info"]
    model = _model_of(info)
    is_other_model = None not in (model, request.model) and model != request.model
    return tuple(
        sent
        for index, part in enumerate(record["parts"])
        if isinstance(part, Mapping) and is_sent(part, info, request)
        for sent in _sent_parts(
            _without_sent_file(part) if request.is_of_kilo else part,
            (*path, index),
            is_other_model=is_other_model,
        )
    )


def is_sent(part: Mapping[str, Any], info: Mapping[str, Any], request: NextRequest) -> bool:
    """Return False for a text that is not sent, True for any other part."""
    if part.get("type") != "text":
        return True
    key, value = _TRANSIENT
    if request.is_of_kilo and object_or_empty(part.get("metadata")).get(key) == value:
        return False
    # OpenCode itself sends an answer's texts even so.
    return not part.get("ignored") or (info.get("role") == "assistant" and not request.is_of_kilo)


def is_typed(part: object) -> bool:
    """Return whether the user typed or attached this part of a user message."""
    if not isinstance(part, Mapping) or part.get("type") not in ("text", "file"):
        return False
    return not (part.get("synthetic") or part.get("ignored"))


def _without_sent_file(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part without a file that Kilo shows only to the user."""
    if part.get("tool") != "send_file":
        return part
    return {**part, "state": {**object_or_empty(part.get("state")), "attachments": []}}


def _sent_parts(part: Mapping[str, Any], path: JsonPath, *, is_other_model: bool) -> Iterator[Part]:
    match part.get("type"):
        case "text":
            typed = "" if part.get("synthetic") else None
            if text := json_text(part.get("text") or ""):
                yield TextPart(text=text, typed=typed, path=(*path, "text"))
        case "reasoning" if is_other_model:
            # The client sends another model's reasoning as a text of the answer.
            text = json_text(part.get("text") or "")
            if text.strip():
                yield TextPart(text=text, path=(*path, "text"))
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
        case "error" if (output := interrupted_output(state)) is not None:
            text, key, cleared = output, "metadata", False
        case "error":
            text, inline_media = text_and_media(state.get("error"), path)
            key, cleared = "error", False
        case _:
            text, key, cleared = _INTERRUPTED, "status", True
    media = _attachments(state.get("attachments")) if key == "output" and not cleared else ()
    place = ("metadata", "output") if key == "metadata" else (key,)
    return ToolResultPart(
        call_id=call.call_id,
        tool=call.tool,
        text=text,
        outcome=_OUTCOMES.get(key, "interrupted"),
        exit_code=integer_or_none(object_or_empty(state.get("metadata")).get("exit")),
        cleared=cleared,
        media=(*media, *inline_media),
        # An edit removes the attachments with the output, so it replaces the object around both.
        path=path if media else (*path, *place),
    )


def interrupted_output(state: Mapping[str, Any]) -> str | None:
    """Return the output of a call that was interrupted, which is sent in place of its error."""
    metadata = object_or_empty(state.get("metadata"))
    output = metadata.get("output") if metadata.get("interrupted") is True else None
    return output if state.get("status") == "error" and isinstance(output, str) else None


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
