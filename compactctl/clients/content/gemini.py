"""Parts of Gemini contents, with keys in camel case (REST API) or snake case (Python SDK)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.media import media_from_base64
from compactctl.clients.content.unknown_block import text_and_media, unknown_parts
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
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

# ``result`` is where the Python SDK puts what a function returned; the API defines the others.
_OUTCOME_KEYS = ("output", "result", "error")
_UNKNOWN_TYPE = "application/octet-stream"
_CAPITAL = re.compile("[A-Z]")
_RESPONSE_KEYS = ("functionResponse", "function_response")
_IDENTITY_KEYS = ("id", "name")


def key_of(holder: Mapping[str, Any], name: str) -> str:
    """Return the key under which ``holder`` has a field: ``name`` or its snake case form."""
    if name in holder:
        return name
    snake_case = _CAPITAL.sub(lambda match: f"_{match[0].lower()}", name)
    return snake_case if snake_case in holder else name


def field_of(holder: Mapping[str, Any], name: str) -> object:
    """Return the value of a field in either spelling, or None."""
    return holder.get(key_of(holder, name))


def content_parts(content: object, path: JsonPath, *, thoughts: bool) -> tuple[Part, ...]:
    """Parse what is sent of a message's content: a text, a part, or a list of them.

    A missing call id becomes "". ``thoughts`` is whether thoughts and their signatures are sent
    again, as in requests to the API; otherwise they are left out.
    """
    return tuple(_iter_parts(content, path, thoughts=thoughts))


def call_part(call: Mapping[str, Any], path: JsonPath) -> ToolCallPart:
    """Parse a function call; a missing id becomes ""."""
    return ToolCallPart(
        call_id=CallId(text_or_empty(call.get("id"))),
        tool=text_or_empty(call.get("name")),
        arguments=json_text(call.get("args") or {}),
        path=(*path, "args"),
    )


def new_content(part: Part, current: object, text: str) -> object:
    """Return ``text`` as the new value at the path of a part."""
    if isinstance(part, ToolResultPart):
        if part.path[-1] in _RESPONSE_KEYS:
            fields = object_or_empty(current)
            identity = {name: fields[name] for name in _IDENTITY_KEYS if name in fields}
            return {**identity, "response": {"output": text}}
        return {"output": text} if part.path[-1] == "response" else text
    if isinstance(part, MediaPart) or isinstance(current, Mapping):
        return {"text": text}
    return text


def _iter_parts(content: object, path: JsonPath, *, thoughts: bool) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield TextPart(text=content, path=path)
    elif isinstance(content, Mapping):
        yield from _part(content, path, thoughts=thoughts)
    for index, item in enumerate(list_or_empty(content)):
        yield from _iter_parts(item, (*path, index), thoughts=thoughts)


def _part(part: Mapping[str, Any], path: JsonPath, *, thoughts: bool) -> Iterator[Part]:
    text, sealed = part.get("text"), len(text_or_empty(field_of(part, "thoughtSignature")))
    if part.get("thought"):
        if thoughts:
            text = text_or_empty(text)
            yield ReasoningPart(text=text, opaque=not text, sealed=sealed, path=(*path, "text"))
        return
    if thoughts and sealed:
        signature_path = (*path, key_of(part, "thoughtSignature"))
        yield ReasoningPart(text="", opaque=True, sealed=sealed, path=signature_path)
    call, response = key_of(part, "functionCall"), key_of(part, "functionResponse")
    if isinstance(text, str):
        if text or not sealed:
            yield TextPart(text=text, path=(*path, "text"))
    elif isinstance(part.get(call), Mapping):
        yield call_part(part[call], (*path, call))
    elif isinstance(part.get(response), Mapping):
        yield _result(part[response], (*path, response))
    elif _is_media(part):
        yield _media(part, path)
    else:
        # Such as code that the provider ran, and its output.
        yield from unknown_parts(part, path)


def _result(response: Mapping[str, Any], path: JsonPath) -> ToolResultPart:
    """Parse a function response; its images are stored beside its text."""
    payload = response.get("response")
    media = tuple(
        _media(object_or_empty(part), ())
        for part in list_or_empty(response.get("parts"))
        if _is_media(object_or_empty(part))
    )
    fields = object_or_empty(payload)
    key = next((key for key in _OUTCOME_KEYS if fields.keys() == {key}), None)
    value = fields[key] if key else payload
    value_path = ("response", key) if key else ("response",)
    text, embedded_media = text_and_media(value, path)
    return ToolResultPart(
        call_id=CallId(text_or_empty(response.get("id"))),
        tool=text_or_empty(response.get("name")),
        text=text,
        outcome="failed" if key == "error" else "unknown",
        media=(*media, *embedded_media),
        # An edit removes the images together with the text, so it replaces the object around both.
        path=path if media or "response" not in response else (*path, *value_path),
    )


def _is_media(part: Mapping[str, Any]) -> bool:
    return any(isinstance(field_of(part, name), Mapping) for name in ("inlineData", "fileData"))


def _media(part: Mapping[str, Any], path: JsonPath) -> MediaPart:
    data = object_or_empty(field_of(part, "inlineData"))
    mime = text_or_empty(field_of(data, "mimeType"))
    if data:
        return media_from_base64(text_or_empty(data.get("data")), mime or _UNKNOWN_TYPE, path)
    mime = text_or_empty(field_of(object_or_empty(field_of(part, "fileData")), "mimeType"))
    return MediaPart(media_type=mime or _UNKNOWN_TYPE, n_bytes=0, path=path)
