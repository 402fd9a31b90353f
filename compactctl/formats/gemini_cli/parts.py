"""The parts of Gemini CLI's messages, as the client sends them to the model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.formats.content.media_url import media_from_base64
from compactctl.formats.content.unknown_block import text_and_media, unknown_parts
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.model.message import (
    CallId,
    JsonPath,
    MediaPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_OUTCOMES = ("output", "error")
_UNKNOWN = "application/octet-stream"


def content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Return what is sent of a message's content, which is a text, a part, or a list of them.

    Thoughts are stored and not sent again.
    """
    return tuple(_each(content, path))


def _each(content: object, path: JsonPath) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield TextPart(text=content, path=path)
    elif isinstance(content, Mapping):
        yield from _part(content, path)
    for index, item in enumerate(list_or_empty(content)):
        yield from _each(item, (*path, index))


def _part(part: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    if part.get("thought"):
        return
    if isinstance(part.get("text"), str):
        yield TextPart(text=part["text"], path=(*path, "text"))
    elif isinstance(part.get("functionCall"), Mapping):
        yield _call(part["functionCall"], (*path, "functionCall"))
    elif isinstance(part.get("functionResponse"), Mapping):
        yield _result(part["functionResponse"], (*path, "functionResponse"))
    elif _is_media(part):
        yield _media(part, path)
    else:
        # Code that the provider ran and what came of it, among others.
        yield from unknown_parts(part, path)


def tool_parts(
    tools: Sequence[Any], path: JsonPath, *, are_called: bool
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the calls of a message's ``toolCalls``, and their results.

    ``are_called`` says that the calls stand in the content, which is sent as it is then.
    """
    calls: list[Part] = []
    results: list[Part] = []
    for index, value in enumerate(tools):
        tool, at = object_or_empty(value), (*path, index)
        if not are_called:
            calls.append(_call(tool, at))
        results += _results(tool, at)
    return tuple(calls), tuple(results)


def _call(call: Mapping[str, Any], path: JsonPath) -> ToolCallPart:
    return ToolCallPart(
        call_id=_id(call, path),
        tool=text_or_empty(call.get("name")),
        arguments=json_text(call.get("args", {})),
        path=(*path, "args"),
    )


def _results(tool: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    result, at = tool.get("result"), (*path, "result")
    if isinstance(result, str) and result:
        yield ToolResultPart(
            call_id=_id(tool, path),
            tool=text_or_empty(tool.get("name")),
            text=result,
            is_error=tool.get("status") == "error",
            path=at,
        )
    else:
        yield from _each(result or [], at)


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
        call_id=_id(response, path),
        tool=text_or_empty(response.get("name")),
        text=text,
        is_error=outcome == "error",
        media=(*media, *inner),
        # Pictures go together with the text, so that an edit needs the object around both.
        path=path if media or "response" not in response else (*path, *inside),
    )


def _id(named: Mapping[str, Any], path: JsonPath) -> CallId:
    return CallId(text_or_empty(named.get("id")) or "call-" + ".".join(map(str, path)))


def _is_media(part: Mapping[str, Any]) -> bool:
    return any(isinstance(part.get(name), Mapping) for name in ("inlineData", "fileData"))


def _media(part: Mapping[str, Any], path: JsonPath) -> MediaPart:
    data = object_or_empty(part.get("inlineData"))
    mime = text_or_empty(data.get("mimeType"))
    if data:
        return media_from_base64(text_or_empty(data.get("data")), mime or _UNKNOWN, path)
    mime = text_or_empty(object_or_empty(part.get("fileData")).get("mimeType"))
    return MediaPart(media_type=mime or _UNKNOWN, n_bytes=0, path=path)
