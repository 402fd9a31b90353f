"""The parts of Gemini's contents, in the spelling of its REST API or of its Python SDK."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.formats.content.media import media_from_base64
from compactctl.formats.content.unknown_block import text_and_media, unknown_parts
from compactctl.formats.records.json_values import (
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

# The API knows two of them; the Python SDK puts what a function returned into ``result``.
_OUTCOMES = ("output", "result", "error")
_UNKNOWN = "application/octet-stream"
_CAPITAL = re.compile("[A-Z]")
_RESPONSES = ("functionResponse", "function_response")
_NAMED = ("id", "name")


def key_of(holder: Mapping[str, Any], name: str) -> str:
    """Return under which name a field stands: in camel case, or in snake case as Python has it."""
    if name in holder:
        return name
    other = _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)
    return other if other in holder else name


def field_of(holder: Mapping[str, Any], name: str) -> object:
    """Return a field in either spelling, None where there is none."""
    return holder.get(key_of(holder, name))


def content_parts(content: object, path: JsonPath, *, thoughts: bool) -> tuple[Part, ...]:
    """Return what is sent of a message's content, which is a text, a part, or a list of them.

    A call without an id, and a result of one, has an empty one. ``thoughts`` says whether those are
    sent again: by the API they are, and so is the signature of what was thought before a part.
    """
    return tuple(_each(content, path, thoughts=thoughts))


def _each(content: object, path: JsonPath, *, thoughts: bool) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield TextPart(text=content, path=path)
    elif isinstance(content, Mapping):
        yield from _part(content, path, thoughts=thoughts)
    for index, item in enumerate(list_or_empty(content)):
        yield from _each(item, (*path, index), thoughts=thoughts)


def _part(part: Mapping[str, Any], path: JsonPath, *, thoughts: bool) -> Iterator[Part]:
    text, sealed = part.get("text"), len(text_or_empty(field_of(part, "thoughtSignature")))
    if part.get("thought"):
        if thoughts:
            said = text_or_empty(text)
            yield ReasoningPart(text=said, opaque=not said, sealed=sealed, path=(*path, "text"))
        return
    if thoughts and sealed:
        at = (*path, key_of(part, "thoughtSignature"))
        yield ReasoningPart(text="", opaque=True, sealed=sealed, path=at)
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
        # Code that the provider ran and what came of it, among others.
        yield from unknown_parts(part, path)


def call_part(call: Mapping[str, Any], path: JsonPath) -> ToolCallPart:
    """Return a call of a function; its id is empty where it has none."""
    return ToolCallPart(
        call_id=CallId(text_or_empty(call.get("id"))),
        tool=text_or_empty(call.get("name")),
        arguments=json_text(call.get("args") or {}),
        path=(*path, "args"),
    )


def _result(response: Mapping[str, Any], path: JsonPath) -> ToolResultPart:
    """Return an answer to a call; pictures in it stand beside what it says."""
    said = response.get("response")
    media = tuple(
        _media(object_or_empty(part), ())
        for part in list_or_empty(response.get("parts"))
        if _is_media(object_or_empty(part))
    )
    outcome = next((n for n in _OUTCOMES if isinstance(said, Mapping) and set(said) == {n}), None)
    value = object_or_empty(said).get(outcome) if outcome else said
    inside = ("response", outcome) if outcome else ("response",)
    text, inner = text_and_media(value, path)
    return ToolResultPart(
        call_id=CallId(text_or_empty(response.get("id"))),
        tool=text_or_empty(response.get("name")),
        text=text,
        is_error=outcome == "error",
        media=(*media, *inner),
        # Pictures go together with the text, so that an edit needs the object around both.
        path=path if media or "response" not in response else (*path, *inside),
    )


def new_content(part: Part, current: object, text: str) -> object:
    """Return what stands in the place of a part's content once that is ``text``."""
    if isinstance(part, ToolResultPart):
        if part.path[-1] in _RESPONSES:
            fields = object_or_empty(current)
            named = {name: fields[name] for name in _NAMED if name in fields}
            return {**named, "response": {"output": text}}
        return {"output": text} if part.path[-1] == "response" else text
    if isinstance(part, MediaPart) or isinstance(current, Mapping):
        return {"text": text}
    return text


def _is_media(part: Mapping[str, Any]) -> bool:
    return any(isinstance(field_of(part, name), Mapping) for name in ("inlineData", "fileData"))


def _media(part: Mapping[str, Any], path: JsonPath) -> MediaPart:
    data = object_or_empty(field_of(part, "inlineData"))
    mime = text_or_empty(field_of(data, "mimeType"))
    if data:
        return media_from_base64(text_or_empty(data.get("data")), mime or _UNKNOWN, path)
    mime = text_or_empty(field_of(object_or_empty(field_of(part, "fileData")), "mimeType"))
    return MediaPart(media_type=mime or _UNKNOWN, n_bytes=0, path=path)
