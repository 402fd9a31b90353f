"""Content blocks and usage of Anthropic messages, shared by every client that stores them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from compactctl.clients.content.context_edits import applied_edits
from compactctl.clients.content.media import media_from_base64, media_from_text
from compactctl.clients.content.other_calls import (
    OTHER_NAMES,
    caller_of,
    new_other_result,
    other_call,
    other_result,
)
from compactctl.clients.content.unknown_block import text_and_media, unknown_parts
from compactctl.clients.records.json_values import (
    OBJECT,
    count_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.clients.records.outcomes import stated_outcome
from compactctl.clients.records.usage import sum_usages
from compactctl.model.message import (
    CallId,
    CallOutcome,
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
from compactctl.records import replace

_BlockParser = Callable[[Mapping[str, Any], JsonPath], tuple[Part, ...]]

# Calls and results of tools that the client runs, and results that the provider gets over MCP.
# Other types with these endings belong to the provider's own tools.
_CLIENT_CALL, _CLIENT_RESULTS = "tool_use", frozenset({"tool_result", "mcp_tool_result"})
_MEDIA_TYPE_KEYS = ("media_type", "mediaType", "mimeType")
_NO_TOOLS: Mapping[str, str] = MappingProxyType({})
# Disjoint: their sum is the size of the whole request.
_INPUT_FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def content_parts(
    content: object, path: JsonPath, tools: Mapping[str, str] = _NO_TOOLS
) -> tuple[Part, ...]:
    """Parse a message's content: a string or a list of blocks.

    ``tools`` maps call ids to tool names; results in the content are given those names.
    """
    return _parts(content, path, partial(block_parts, tools=tools))


def block_parts(
    block: Mapping[str, Any], path: JsonPath, tools: Mapping[str, str] = _NO_TOOLS
) -> tuple[Part, ...]:
    """Parse one block; a block of unknown type becomes its JSON text, which is never edited."""
    kind = text_or_empty(block.get("type"))
    if kind.endswith("tool_use"):
        call = ToolCallPart(
            call_id=CallId(text_or_empty(block.get("id"))),
            tool=text_or_empty(block.get("name")),
            arguments=json_text(block.get("input", {})),
            caller=caller_of(block),
            embedded=kind != _CLIENT_CALL,
            path=(*path, "input"),
        )
        return (call,)
    if kind.endswith("tool_result"):
        return (_result(block, path, tools, embedded=kind not in _CLIENT_RESULTS),)
    if kind not in OTHER_NAMES and OTHER_NAMES.isdisjoint(block):
        return _content_block(block, path)
    tool_part = other_call(block, path) or other_result(block, path)
    return _content_block(block, path) if tool_part is None else name_results((tool_part,), tools)


def name_results(parts: Iterable[Part], tools: Mapping[str, str]) -> tuple[Part, ...]:
    """Set the tool name of each result; ``tools`` maps call ids to tool names."""
    return tuple(
        _with_tool(part, tools.get(part.call_id, "")) if isinstance(part, ToolResultPart) else part
        for part in parts
    )


def new_content(part: Part, current: object, text: str) -> object:
    """Return ``text`` as the new content of a part, in the shape of ``current``.

    Media becomes a text block. An object becomes a string: the API takes no objects as content.
    """
    if isinstance(part, MediaPart):
        return _text_block(text)
    result = new_other_result(part.path, current, text)
    return text_content(current, text) if result is None else result


def text_content(neighbor_content: object, text: str) -> object:
    """Return ``text`` as content of the same shape as a neighbor's: a string or a list."""
    if not isinstance(neighbor_content, list):
        return text
    is_plain = bool(neighbor_content) and all(isinstance(item, str) for item in neighbor_content)
    # Haystack's blocks have no type.
    blocks = [item for item in neighbor_content if isinstance(item, Mapping)]
    is_bare = any("text" in block and "type" not in block for block in blocks)
    return [text if is_plain else {"text": text} if is_bare else _text_block(text)]


def reported_usage(response: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of a response, or None.

    Without a stop reason the output count is from the start of the stream, so it is dropped.
    """
    usage = response.get("usage")
    if not isinstance(usage, OBJECT) or not usage:
        return None
    is_complete = bool(response.get("stop_reason"))
    output = _output_tokens(usage) if is_complete else None
    is_trimmed = bool(applied_edits(response))
    iterations = usage_iterations(usage)
    if len(iterations) == 1:
        reported = _iteration_usage(usage, output)
        return replace(reported, is_trimmed=True) if is_trimmed else reported
    total = sum_usages([_iteration_usage(entry, _output_tokens(entry)) for entry in iterations])
    growth = total.growth if is_complete else None
    return replace(total, output=output, growth=growth, is_trimmed=is_trimmed)


def usage_iterations(usage: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the usage of each model request behind one answer, oldest first.

    The provider may call the model again after running its own tools. The counts of the response
    are the sums of these.
    """
    if "iterations" not in usage:
        return (usage,)
    entries = map(object_or_empty, list_or_empty(usage["iterations"]))
    iterations = [entry for entry in entries if entry.get("type") == "message"]
    is_sum = sum(map(_input_tokens, iterations)) == _input_tokens(usage)
    return iterations if len(iterations) > 1 and is_sum else (usage,)


def _text_block(text: str) -> Mapping[str, str]:
    return {"type": "text", "text": text}


def _with_tool(part: ToolResultPart, tool: str) -> ToolResultPart:
    return replace(part, tool=tool) if tool else part


def _parts(content: object, path: JsonPath, read_block: _BlockParser) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(text=content, path=path),)
    if not isinstance(content, list):
        return ()
    parts: list[Part] = []
    for index, block in enumerate(content):
        parts += _item_parts(block, (*path, index), read_block)
    return tuple(parts)


def _item_parts(block: object, path: JsonPath, read_block: _BlockParser) -> tuple[Part, ...]:
    if isinstance(block, str):
        return (TextPart(text=block, path=path),)
    return read_block(block, path) if isinstance(block, OBJECT) else unknown_parts(block, path)


def _content_block(block: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    kind = block.get("type")
    if kind == "document":
        return _document(block, path)
    part = _content_part(block, path)
    return unknown_parts(block, path) if part is None else (part,)


def _content_part(block: Mapping[str, Any], path: JsonPath) -> Part | None:
    match block.get("type"):
        case "text" | None if isinstance(block.get("text"), str):
            return TextPart(text=block["text"], path=(*path, "text"))
        case "compaction":
            # It may also carry an encrypted form of it. Without a text, the compaction failed.
            text = text_or_empty(block.get("content"))
            return TextPart(
                text=text,
                is_summary=bool(text),
                is_compaction=bool(text),
                embedded=True,
                path=(*path, "content"),
            )
        case "thinking":
            text = text_or_empty(block.get("thinking"))
            sealed = _text_length(block.get("signature"))
            return ReasoningPart(
                text=text, opaque=not text, sealed=sealed, path=(*path, "thinking")
            )
        case "redacted_thinking":
            sealed = _text_length(block.get("data"))
            return ReasoningPart(text="", opaque=True, sealed=sealed, path=(*path, "data"))
        case "image":
            return _media(block, path, "image/unknown")
        case "file":
            name, text = text_or_empty(block.get("path")), text_or_empty(block.get("content"))
            return FilePart(file_path=name, text=text, path=(*path, "content"))
        case _:
            return None


def _text_length(value: object) -> int:
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
        outcome=_outcome(block),
        embedded=embedded,
        media=media,
        path=path,
    )


def _outcome(block: Mapping[str, Any]) -> CallOutcome:
    content = object_or_empty(block.get("content"))
    if text_or_empty(content.get("type")).endswith("_error"):
        return "failed"
    return stated_outcome(block.get("is_error"), success=False)


def _result_content(content: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    if not isinstance(content, list):
        return text_and_media(content, path)
    # Tool blocks are not parsed here, so results cannot nest.
    inner = _parts(content, path, _content_block)
    text = "\n".join(part.text for part in inner if isinstance(part, TextPart | FilePart))
    return text, tuple(part for part in inner if isinstance(part, MediaPart))


def _document(block: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Parse a document: plain text, a file, or a list of text and image blocks."""
    source, title = object_or_empty(block.get("source")), text_or_empty(block.get("title"))
    kind, path = source.get("type"), (*path, "source")
    if kind == "text":
        text = text_or_empty(source.get("data"))
        return (FilePart(file_path=title, text=text, path=(*path, "data")),)
    if kind == "content":
        parts = _parts(source.get("content"), (*path, "content"), _content_block)
        return tuple(_as_file_part(part, title) for part in parts)
    return (_media(block, path[:-1], "application/pdf"),)


def _as_file_part(part: Part, title: str) -> Part:
    if isinstance(part, TextPart) and is_replaceable(part):
        return FilePart(file_path=title, text=part.text, path=part.path)
    return part


def _media(block: Mapping[str, Any], path: JsonPath, default_type: str) -> MediaPart:
    """Parse an image or document; MCP and the AI SDK store its data without a ``source``."""
    source = object_or_empty(block.get("source", block))
    names = (text_or_empty(source.get(key)) for key in _MEDIA_TYPE_KEYS)
    media_type = next(filter(None, names), default_type)
    if source.get("data") == "":
        return media_from_base64("", media_type, path)
    data = text_or_empty(source.get("data")) or text_or_empty(source.get("image"))
    return media_from_text(data, media_type, path)


def _iteration_usage(usage: Mapping[str, Any], output: int | None) -> ReportedUsage:
    cache_creation = object_or_empty(usage.get("cache_creation"))
    return ReportedUsage(
        context=_input_tokens(usage),
        output=output,
        cache_read=count_or_none(usage.get("cache_read_input_tokens")),
        cache_write=count_or_none(usage.get("cache_creation_input_tokens")),
        cache_write_1h=count_or_none(cache_creation.get("ephemeral_1h_input_tokens")) or 0,
        is_sum=True,
    )


def _output_tokens(usage: Mapping[str, Any]) -> int | None:
    return count_or_none(usage.get("output_tokens"))


def _input_tokens(usage: Mapping[str, Any]) -> int:
    return sum([count_or_none(usage.get(name)) or 0 for name in _INPUT_FIELDS])
