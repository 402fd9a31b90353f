"""Content blocks of Anthropic messages as parts; shared by every client that stores them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from compactctl.formats.content.media import media_from_text
from compactctl.formats.content.other_calls import new_other_result, other_call, other_result
from compactctl.formats.content.unknown_block import text_and_media, unknown_parts
from compactctl.formats.records.json_values import (
    integer_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.formats.records.usage import sum_usages
from compactctl.model.message import (
    CallId,
    FilePart,
    JsonPath,
    MediaPart,
    Part,
    ReasoningPart,
    ReportedUsage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)

_ReadBlock = Callable[[Mapping[str, Any], JsonPath], tuple[Part, ...]]

# Calls and results of tools that the client runs, and results of tools that a provider has run for
# it; all others whose types end like these are the provider's own.
_CALL, _RESULTS = "tool_use", frozenset({"tool_result", "mcp_tool_result"})
_MEDIA_TYPES = ("media_type", "mediaType", "mimeType")
_NO_TOOLS: Mapping[str, str] = MappingProxyType({})


def content_parts(
    content: object, path: JsonPath, tools: Mapping[str, str] = _NO_TOOLS
) -> tuple[Part, ...]:
    """Return the parts of a message's content: a string or a list of blocks.

    ``tools`` names the tools of calls by their ids, for the results among the parts.
    """
    return _parts(content, path, lambda block, at: block_parts(block, at, tools))


def new_content(part: Part, current: object, text: str) -> object:
    """Return ``text`` as the content of a part: a block in place of media, else like ``current``.

    The API takes no objects as content.
    """
    if isinstance(part, MediaPart):
        return _text_block(text)
    other = new_other_result(part.path, current, text)
    return text_content(current, text) if other is None else other


def text_content(like: object, text: str) -> object:
    """Return ``text`` as content of the same shape as ``like``: a list where that is one."""
    if not isinstance(like, list):
        return text
    is_plain = bool(like) and all(isinstance(item, str) for item in like)
    # Haystack's blocks have no type.
    is_bare = any(
        isinstance(item, Mapping) and "text" in item and "type" not in item for item in like
    )
    return [text if is_plain else {"text": text} if is_bare else _text_block(text)]


def _text_block(text: str) -> Mapping[str, str]:
    return {"type": "text", "text": text}


def name_results(parts: Iterable[Part], tools: Mapping[str, str]) -> tuple[Part, ...]:
    """Return the parts with each tool result carrying the name of the tool that was called."""
    return tuple(
        _named(part, tools.get(part.call_id, "")) if isinstance(part, ToolResultPart) else part
        for part in parts
    )


def _named(part: ToolResultPart, tool: str) -> ToolResultPart:
    return replace(part, tool=tool) if tool else part


def _parts(content: object, path: JsonPath, read: _ReadBlock) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(text=content, path=path),)
    if not isinstance(content, list):
        return ()
    return tuple(
        part
        for index, block in enumerate(content)
        for part in _item_parts(block, (*path, index), read)
    )


def _item_parts(block: object, path: JsonPath, read: _ReadBlock) -> tuple[Part, ...]:
    if isinstance(block, str):
        return (TextPart(text=block, path=path),)
    return read(block, path) if isinstance(block, Mapping) else unknown_parts(block, path)


def block_parts(
    block: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str] = _NO_TOOLS
) -> tuple[Part, ...]:
    """Return what one block says; a block of unknown type is its JSON text, which stays."""
    kind = text_or_empty(block.get("type"))
    if kind.endswith("tool_use"):
        call = ToolCallPart(
            call_id=CallId(text_or_empty(block.get("id"))),
            tool=text_or_empty(block.get("name")),
            arguments=json_text(block.get("input", {})),
            embedded=kind != _CALL,
            path=(*path, "input"),
        )
        return (call,)
    if kind.endswith("tool_result"):
        return (_result(block, path, tools, embedded=kind not in _RESULTS),)
    other = other_call(block, path) or other_result(block, path)
    return _plain_block(block, path) if other is None else name_results((other,), tools)


def _plain_block(block: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    kind = block.get("type")
    if kind == "document":
        return _document(block, path)
    part = _plain_part(block, path)
    return unknown_parts(block, path) if part is None else (part,)


def _plain_part(block: Mapping[str, Any], path: JsonPath) -> Part | None:
    match block.get("type"):
        case "text" | None if isinstance(block.get("text"), str):
            return TextPart(text=block["text"], path=(*path, "text"))
        case "compaction":
            # The provider's own summary, which may come with its encrypted form.
            text = text_or_empty(block.get("content"))
            return TextPart(text=text, embedded=True, path=(*path, "content"))
        case "thinking":
            text, sealed = text_or_empty(block.get("thinking")), _length(block.get("signature"))
            return ReasoningPart(
                text=text, opaque=not text, sealed=sealed, path=(*path, "thinking")
            )
        case "redacted_thinking":
            sealed = _length(block.get("data"))
            return ReasoningPart(text="", opaque=True, sealed=sealed, path=(*path, "data"))
        case "image":
            return _media(block, path, "image/unknown")
        case "file":
            name, text = text_or_empty(block.get("path")), text_or_empty(block.get("content"))
            return FilePart(file_path=name, text=text, path=(*path, "content"))
        case _:
            return None


def _length(value: object) -> int:
    return len(text_or_empty(value))


def _result(
    block: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str], *, embedded: bool
) -> ToolResultPart:
    call_id, path = CallId(text_or_empty(block.get("tool_use_id"))), (*path, "content")
    text, media = _result_content(block.get("content"), path)
    return ToolResultPart(
        call_id=call_id,
        tool=tools.get(call_id, ""),
        text=text,
        is_error=block.get("is_error") is True,
        embedded=embedded,
        media=media,
        path=path,
    )


def _result_content(content: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    if isinstance(content, str):
        return content, ()
    if isinstance(content, Mapping):
        return text_and_media(content, path)
    # A result inside a result is not part of its own, so results cannot nest.
    inner = _parts(content, path, _plain_block)
    text = "\n".join(part.text for part in inner if isinstance(part, TextPart | FilePart))
    return text, tuple(part for part in inner if isinstance(part, MediaPart))


def _document(block: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return what a document holds: a text, pages as an image, or blocks of either."""
    source, title = object_or_empty(block.get("source")), text_or_empty(block.get("title"))
    kind, path = source.get("type"), (*path, "source")
    if kind == "text":
        text = text_or_empty(source.get("data"))
        return (FilePart(file_path=title, text=text, path=(*path, "data")),)
    if kind == "content":
        parts = _parts(source.get("content"), (*path, "content"), _plain_block)
        return tuple(_in_file(part, title) for part in parts)
    return (_media(block, path[:-1], "application/pdf"),)


def _in_file(part: Part, title: str) -> Part:
    if isinstance(part, TextPart) and is_replaceable(part):
        return FilePart(file_path=title, text=part.text, path=part.path)
    return part


def _media(block: Mapping[str, Any], path: JsonPath, default_type: str) -> MediaPart:
    """Return an image or document; blocks of MCP and the AI SDK have no source around the data."""
    source = object_or_empty(block.get("source", block))
    names = (text_or_empty(source.get(key)) for key in _MEDIA_TYPES)
    media_type = next(filter(None, names), default_type)
    data = text_or_empty(source.get("data")) or text_or_empty(source.get("image"))
    return media_from_text(data, media_type, path)


# The three are disjoint; together they are everything that was sent.
_SENT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def reported_usage(response: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of a response, None when it has none.

    Without a stop reason the number of output tokens is one from early in the stream: no number.
    """
    usage = response.get("usage")
    if not isinstance(usage, Mapping) or not usage:
        return None
    whole = sum_usages([_reported(entry) for entry in usage_iterations(usage)])
    if not response.get("stop_reason"):
        return replace(whole, output=None, growth=None)
    return replace(whole, output=integer_or_none(usage.get("output_tokens")))


def _reported(usage: Mapping[str, Any]) -> ReportedUsage:
    kept = object_or_empty(usage.get("cache_creation"))
    return ReportedUsage(
        context=_sent(usage),
        output=integer_or_none(usage.get("output_tokens")),
        cache_read=integer_or_none(usage.get("cache_read_input_tokens")),
        cache_write=integer_or_none(usage.get("cache_creation_input_tokens")),
        cache_write_1h=integer_or_none(kept.get("ephemeral_1h_input_tokens")) or 0,
        is_sum=True,
    )


def usage_iterations(usage: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the usage of each time that the model itself was asked for one answer, oldest first.

    What is reported for the whole answer adds them up.
    """
    entries = map(object_or_empty, list_or_empty(usage.get("iterations")))
    found = [entry for entry in entries if entry.get("type") == "message"]
    return found if len(found) > 1 and sum(map(_sent, found)) == _sent(usage) else (usage,)


def _sent(usage: Mapping[str, Any]) -> int:
    return sum(n for n in map(usage.get, _SENT) if isinstance(n, int))
