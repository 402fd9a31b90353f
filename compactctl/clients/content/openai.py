"""Content and tool calls of OpenAI messages, shared by Chat, Responses and Codex.

Exporters add their own shapes: texts under ``value``, and reasoning and tool calls as content.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.anthropic import block_parts
from compactctl.clients.content.media import media_from_base64, media_from_text, media_from_url
from compactctl.clients.content.other_calls import new_other_result
from compactctl.clients.content.unknown_block import text_and_media, unknown_parts
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.model.json_parser import parse_json
from compactctl.model.message import (
    CallId,
    JsonPath,
    MediaPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from compactctl.records import replace

# Text types of the API and of exporters; some exporters leave the type out.
_TEXT_TYPES = frozenset({"", "text", "input_text", "output_text", "tool_output", "refusal"})
_TEXT_KEYS = ("text", "value", "refusal", "thinking", "reasoning")
# The last two are used by the Agents SDK for JavaScript.
_URL_KEYS = ("url", "image_url", "file_data", "data", "image", "file")
_REASONING_TYPES = frozenset({"reasoning", "thinking", "reasoning_text", "summary_text"})
_DEFAULT_TYPES = {
    "image_url": "image/unknown",
    "input_image": "image/unknown",
    "image_file": "image/unknown",
    "video_url": "video/unknown",
    "audio_url": "audio/unknown",
    "input_audio": "audio/unknown",
    "file": "application/pdf",
    "input_file": "application/pdf",
}


def content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Parse a message's content: a string, null or a list of items."""
    if isinstance(content, str):
        return (TextPart(text=content, path=path),) if content else ()
    if not isinstance(content, list):
        return ()
    return tuple(
        part for index, item in enumerate(content) for part in _item_parts(item, (*path, index))
    )


def content_text(parts: tuple[Part, ...]) -> str:
    """Join the texts of the text parts."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def result_content(content: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the text and media of a tool result; an object of unknown shape as JSON text."""
    if _is_single_text(content):
        parts = tuple(_item_parts(content, path))
    elif content is not None and not isinstance(content, str | list):
        return text_and_media(content, path)
    else:
        parts = content_parts(content, path)
    return content_text(parts), tuple(part for part in parts if isinstance(part, MediaPart))


def new_content(part: Part, current: object, text: str, *, kind: str = "text") -> object:
    """Return ``text`` as the new content of a part, in the shape of ``current``.

    Media becomes an item of type ``kind``. A list becomes a list of one item, shaped like its first
    text, or else of type ``kind``. An object becomes a string, as the API takes no objects as
    content, unless it is a text of the Agents SDK.
    """
    if isinstance(part, MediaPart):
        return _new_item({}, text, kind)
    result = new_other_result(part.path, current, text)
    if result is not None:
        return result
    if isinstance(current, list):
        return [_new_item(next(filter(_is_text, current), {}), text, kind)]
    return {**object_or_empty(current), "text": text} if _is_single_text(current) else text


def text_content(neighbor_content: object, text: str) -> object:
    """Return ``text`` as content of the same shape as a neighbor's: a string or a list."""
    if not isinstance(neighbor_content, list):
        return text
    shape = next(filter(_is_text, neighbor_content), {"type": "text"})
    key = "value" if _text_key(shape) == "value" else "text"
    # Haystack's texts have no type.
    return [{"type": "text", key: text} if "type" in shape else {key: text}]


def extra_parts(record: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield the parts of a message outside of its content: images, a refusal, audio."""
    for index, image in enumerate(list_or_empty(record.get("images"))):
        if isinstance(image, str):
            # Ollama accepts only images here, so an image cannot be replaced by text.
            media = media_from_text(image, _DEFAULT_TYPES["image_url"], (*path, "images", index))
            yield replace(media, embedded=True)
    refusal = text_or_empty(record.get("refusal"))
    if refusal:
        yield TextPart(text=refusal, path=(*path, "refusal"))
    audio = object_or_empty(record.get("audio"))
    if audio:
        yield _audio_part(audio, (*path, "audio"))


def _audio_part(audio: Mapping[str, Any], path: JsonPath) -> Part:
    """Return the transcript of a spoken answer, or its recording; only its id is sent again."""
    words = text_or_empty(audio.get("transcript"))
    if words:
        return TextPart(text=words, embedded=True, path=(*path, "transcript"))
    media = media_from_base64(text_or_empty(audio.get("data")), "audio/unknown", path)
    return replace(media, embedded=True)


def call_parts(record: Mapping[str, Any], path: JsonPath) -> Iterator[ToolCallPart]:
    """Yield the calls in ``tool_calls`` or ``function_call``; a missing call id becomes ""."""
    for index, call in enumerate(list_or_empty(record.get("tool_calls"))):
        if isinstance(call, Mapping):
            yield _call_in_list(call, (*path, "tool_calls", index))
    function = record.get("function_call")
    if isinstance(function, Mapping):
        yield _function_call(function, "", (*path, "function_call"))


def _item_parts(item: object, path: JsonPath) -> Iterator[Part]:
    if isinstance(item, str):
        yield TextPart(text=item, path=path)
        return
    if not isinstance(item, Mapping):
        yield from unknown_parts(item, path)
        return
    kind = text_or_empty(item.get("type"))
    key = _text_key(item)
    if kind == "tool_call":
        yield from _content_calls(item, path)
    elif kind in _DEFAULT_TYPES:
        yield _media(item, kind, path)
    elif kind in _REASONING_TYPES:
        yield _reasoning(item, key, path)
    elif _is_text(item):
        yield TextPart(text=item[key], path=(*path, key))
    else:
        # Gateways pass on the blocks of other providers unchanged.
        yield from block_parts(item, path)


def _reasoning(item: Mapping[str, Any], key: str, path: JsonPath) -> ReasoningPart:
    """Parse reasoning; Mistral stores it as a list of texts."""
    text = item[key] if key else content_text(content_parts(item.get("thinking"), ()))
    return ReasoningPart(text=text, opaque=not text, path=(*path, key or "thinking"))


def _media(item: Mapping[str, Any], kind: str, path: JsonPath) -> MediaPart:
    inner = item.get(kind, item)
    if isinstance(inner, str):
        return media_from_url(inner, _DEFAULT_TYPES[kind], path)
    inner = object_or_empty(inner)
    if kind == "input_audio":
        media_type = f"audio/{text_or_empty(inner.get('format')) or 'unknown'}"
        return media_from_base64(text_or_empty(inner.get("data")), media_type, path)
    url = next(filter(None, (text_or_empty(inner.get(key)) for key in _URL_KEYS)), "")
    media_type = text_or_empty(inner.get("mediaType")) or _DEFAULT_TYPES[kind]
    return media_from_text(url, media_type, path)


def _content_calls(item: Mapping[str, Any], path: JsonPath) -> Iterator[ToolCallPart]:
    value = item.get("value")
    if not isinstance(value, str):
        yield _call_in_list(item, path)
        return
    for call in _parse_calls(value):
        part = _call_in_list(call, path)
        yield ToolCallPart(
            call_id=part.call_id,
            tool=part.tool,
            arguments=part.arguments,
            embedded=True,
            path=(*path, "value"),
        )


def _parse_calls(text: str) -> list[Mapping[str, Any]]:
    try:
        value = parse_json(text)
    except ValueError:
        return [{"arguments": text}]
    calls = value if isinstance(value, list) else [value]
    return [call if isinstance(call, Mapping) else {"arguments": call} for call in calls]


def _call_in_list(call: Mapping[str, Any], path: JsonPath) -> ToolCallPart:
    call_id = text_or_empty(call.get("id")) or text_or_empty(call.get("tool_call_id"))
    for key in ("function", "custom"):
        inner = call.get(key)
        if isinstance(inner, Mapping):
            return _function_call(inner, call_id, (*path, key))
    return _function_call(call, call_id, path)


def _function_call(function: Mapping[str, Any], call_id: str, path: JsonPath) -> ToolCallPart:
    key = next((k for k in ("arguments", "input", "args") if k in function), "arguments")
    return ToolCallPart(
        call_id=CallId(call_id),
        tool=text_or_empty(function.get("name")),
        arguments=json_text(function.get(key, "")),
        path=(*path, key),
    )


def _new_item(shape: Mapping[str, Any], text: str, kind: str) -> dict[str, str]:
    key = _text_key(shape)
    if not key:
        return {"type": kind, "text": text}
    if "type" not in shape:
        return {key: text}
    return {"type": text_or_none(shape["type"]) or kind, key: text}


def _is_text(item: object) -> bool:
    """Whether a content item is a text that may be rewritten."""
    if not isinstance(item, Mapping) or not _text_key(item):
        return False
    return text_or_empty(item.get("type")) in _TEXT_TYPES


def _is_single_text(value: object) -> bool:
    """Whether a tool result is a single text object of the Agents SDK for JavaScript."""
    return isinstance(value, Mapping) and value.get("type") == "text" and "text" in value


def _text_key(item: Mapping[str, Any]) -> str:
    return next((key for key in _TEXT_KEYS if isinstance(item.get(key), str)), "")
