"""Assistant messages of Cline and Roo Code: thinking, text, and calls in blocks or in the text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from compactctl.clients.cline.client_texts import result_header
from compactctl.clients.content.anthropic import block_parts
from compactctl.clients.content.openai_reasoning import reasoning_parts
from compactctl.clients.records.containers import ContainedRecord
from compactctl.clients.records.json_values import (
    count_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.model.message import (
    CallId,
    JsonPath,
    Part,
    ReasoningPart,
    ReportedUsage,
    TextPart,
    ToolCallPart,
)
from compactctl.records import replace

# With these the model replies to the user: what comes back is the next prompt, not a result.
_REPLY_TOOLS = frozenset({"attempt_completion", "plan_mode_respond"})

_OPENING = re.compile(r"<(\w+)>")
# Their values are files and patches, which may contain any tag; the last closing tag counts.
_RAW_PARAMETERS = frozenset({"content", "diff"})
# Longer numbers are not line numbers, and Python refuses to parse very long ones.
_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")
_LINE_RANGE = re.compile(r"\s*([0-9]{1,9})-([0-9]{1,9})\s*")
_NUMBER_PARAMETERS = ("start_line", "end_line")
# A request's context is the sum of both: ``cached`` counts cache reads and writes.
_CONTEXT = ("prompt", "cached")
_CACHED = ("cacheReadTokens", "cacheWriteTokens")


class PendingCalls:
    """The calls of the newest response, matched with the results that follow it."""

    def __init__(self, calls: Iterable[ToolCallPart] = ()) -> None:
        self._open = list(calls)
        self._answered: dict[str, ToolCallPart] = {}

    def take(self, tool: str) -> ToolCallPart | None:
        """Return the first open call of a tool, else its call that was answered last."""
        for index, call in enumerate(self._open):
            if call.tool == tool:
                self._answered[tool] = self._open.pop(index)
                break
        return self._answered.get(tool)

    def take_next(self) -> ToolCallPart | None:
        """Return the first open call of any tool."""
        return self._open.pop(0) if self._open else None


def response_parts(
    entry: ContainedRecord, following: Mapping[str, Any], answered: AbstractSet[str], prefix: str
) -> tuple[Part, ...]:
    """Return the parts of an assistant message.

    Args:
        entry: the message.
        following: the record after it, which shows the calls that were answered as text.
        answered: the call ids that some block of the conversation answers.
        prefix: the start of new ids for calls without one.
    """
    content, path = entry.record.get("content"), (*entry.record_path, "content")
    blocks = list_or_empty(content)
    tools = _tools_answered_as_text(following, blocks)
    parts: list[Part] = [*reasoning_parts(entry.record, entry.record_path)]
    if isinstance(content, str):
        return (*parts, *_calls_in_text(content, path, tools, prefix))
    text_indices = [index for index, block in enumerate(blocks) if _text_of(block) is not None]
    for index, block in enumerate(blocks):
        block_path = (*path, index)
        if index in text_indices[-1:]:
            parts += _calls_in_text(block["text"], (*block_path, "text"), tools, prefix)
        elif isinstance(block, Mapping):
            parts += _block(block, block_path, answered, f"{prefix}-block-{index}")
        else:
            parts.append(TextPart(text=json_text(block), path=block_path))
    return tuple(parts)


def encrypted_reasoning(block: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return encrypted reasoning; Roo Code only displays plain reasoning, and never sends it."""
    if not block.get("encrypted_content"):
        return ()
    return (ReasoningPart(text="", opaque=True, path=(*path, "encrypted_content")),)


def blocks_of(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the content blocks of a message; [] if its content is a text."""
    return [block for block in list_or_empty(record.get("content")) if isinstance(block, Mapping)]


def model_of(record: Mapping[str, Any]) -> str | None:
    """Return the model that wrote a message, as tasks or the SDK record it, or None."""
    info = object_or_empty(record.get("modelInfo"))
    return text_or_none(info.get("modelId")) or text_or_none(info.get("id"))


def usage_of(record: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage reported for the request that a message answers, or None."""
    metrics = object_or_empty(record.get("metrics"))
    tokens = object_or_empty(metrics.get("tokens"))
    if tokens:
        context = sum(count_or_none(tokens.get(name)) or 0 for name in _CONTEXT)
        return ReportedUsage(context=context, output=count_or_none(tokens.get("completion")))
    context_of_sdk = sent_tokens(metrics)
    if context_of_sdk is None:
        return None
    return ReportedUsage(
        context=context_of_sdk,
        output=count_or_none(metrics.get("outputTokens")),
        cache_read=count_or_none(metrics.get("cacheReadTokens")),
        cache_write=count_or_none(metrics.get("cacheWriteTokens")),
    )


def sent_tokens(metrics: Mapping[str, Any]) -> int | None:
    """Return the size of a request by the SDK's metrics, or None.

    Since 3.0.65 or earlier the input includes what was cached; before, it did not.
    """
    new = count_or_none(metrics.get("inputTokens"))
    if new is None:
        return None
    cached = sum(count_or_none(metrics.get(name)) or 0 for name in _CACHED)
    return new if new >= cached else new + cached


def _block(
    block: Mapping[str, Any], path: JsonPath, answered: AbstractSet[str], name: str
) -> tuple[Part, ...]:
    kind = block.get("type")
    if kind == "reasoning":
        return encrypted_reasoning(block, path)
    if kind == "thoughtSignature":
        return (ReasoningPart(text="", opaque=True, path=path),)
    return tuple(
        _call(part, answered, name) if isinstance(part, ToolCallPart) else part
        for part in block_parts(block, path)
    )


def _call(call: ToolCallPart, answered: AbstractSet[str], name: str) -> Part:
    if call.tool in _REPLY_TOOLS and call.call_id not in answered:
        return TextPart(text=call.arguments, embedded=True, path=call.path)
    return call if call.call_id else replace(call, call_id=CallId(name))


def _tools_answered_as_text(following: Mapping[str, Any], blocks: Sequence[Any]) -> list[str]:
    """Return the tools that the following message answers although no block calls them."""
    objects = (block for block in blocks if isinstance(block, Mapping))
    calls = Counter(text_or_empty(block.get("name")) for block in objects)
    tools = []
    for header in filter(None, map(result_header, _texts(following))):
        if calls[header.tool]:
            calls[header.tool] -= 1
        else:
            tools.append(header.tool)
    return tools


def _texts(record: Mapping[str, Any]) -> Iterator[str]:
    content = record.get("content") if record.get("role") == "user" else None
    if isinstance(content, str):
        yield content
    blocks = blocks_of(record) if record.get("role") == "user" else []
    yield from (text for block in blocks if (text := _text_of(block)) is not None)


def _text_of(block: object) -> str | None:
    if not isinstance(block, Mapping) or block.get("type") != "text":
        return None
    return block["text"] if isinstance(block.get("text"), str) else None


class _Element(NamedTuple):
    """An XML element in a text: its offsets and its content."""

    start: int
    end: int
    content: str


def _calls_in_text(text: str, path: JsonPath, tools: Sequence[str], prefix: str) -> Iterator[Part]:
    """Yield a text and the calls in it, one for each of the answered ``tools``, in that order.

    A call that was not answered may only be a quotation, so it stays text.

        "I'll look.<list_files><path>.</path></list_files>", ["list_files"]
        ->  text "I'll look.", call list_files {"path": "."}
    """
    pos = 0
    for index, tool in enumerate(tools):
        element = None if tool in _REPLY_TOOLS else _next_call(text, tool, pos)
        if element is None:
            continue
        if element.start > pos:
            yield TextPart(text=text[pos : element.start], embedded=True, path=path)
        yield ToolCallPart(
            call_id=CallId(f"{prefix}-{index}"),
            tool=tool,
            arguments=json_text(_arguments(element.content)),
            embedded=True,
            path=path,
        )
        pos = element.end
    if pos < len(text) or pos == 0:
        yield TextPart(text=text[pos:], embedded=pos > 0, path=path)


def _next_call(text: str, tool: str, pos: int) -> _Element | None:
    """Return the next call of a tool; prose may mention the tag before the call's own."""
    end = text.find(f"</{tool}>", pos)
    start = text.rfind(f"<{tool}>", pos, end) if end >= 0 else -1
    return None if start < 0 else _element_at(text, tool, start)


def _element_at(text: str, name: str, start: int) -> _Element | None:
    closing, inner = f"</{name}>", start + len(name) + 2
    end = (text.rfind if name in _RAW_PARAMETERS else text.find)(closing, inner)
    return None if end < 0 else _Element(start, end + len(closing), text[inner:end])


def _arguments(body: str) -> Mapping[str, Any]:
    """Return a call's parameters as JSON arguments; a read of a single file is flattened."""
    parameters: dict[str, Any] = dict(_children(body))
    file_list = parameters.get("args")
    if not isinstance(file_list, str):
        return _with_numbers(parameters)
    files = [_file(content) for tag, content in _children(file_list) if tag == "file"]
    if len(files) == 1 and "line_range" not in files[0]:
        return files[0]
    return {"files": files} if files else parameters


def _file(body: str) -> dict[str, Any]:
    """Return one file of a read; several line ranges stay a list."""
    fields: dict[str, Any] = dict(_children(body))
    ranges = [content for tag, content in _children(body) if tag == "line_range"]
    match = _LINE_RANGE.fullmatch(ranges[0]) if len(ranges) == 1 else None
    if match is not None:
        del fields["line_range"]
        return {**fields, "start_line": int(match[1]), "end_line": int(match[2])}
    return {**fields, "line_range": ranges} if ranges else fields


def _with_numbers(parameters: dict[str, Any]) -> dict[str, Any]:
    return parameters | {
        name: int(parameters[name])
        for name in _NUMBER_PARAMETERS
        if _NUMBER.fullmatch(parameters.get(name, ""))
    }


def _children(body: str) -> Iterator[tuple[str, str]]:
    pos = 0
    while match := _OPENING.search(body, pos):
        element = _element_at(body, match[1], match.start())
        if element is None:
            return
        yield match[1], element.content.removeprefix("\n").removesuffix("\n")
        pos = element.end
