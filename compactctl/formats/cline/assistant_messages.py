"""Assistant messages of Cline and Roo Code: thinking, text, and calls in blocks or in the text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple

from compactctl.formats.cline.client_texts import result_header
from compactctl.formats.content.anthropic import block_parts
from compactctl.formats.content.openai_reasoning import reasoning_parts
from compactctl.formats.records.containers import ContainedRecord
from compactctl.formats.records.json_values import (
    integer_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
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

# With these the model speaks to the person: what comes back is not a result but the next request.
REPLY_TOOLS = frozenset({"attempt_completion", "plan_mode_respond"})

_OPENING = re.compile(r"<(\w+)>")
# Their values are files and patches, which may hold any tag; the last closing one counts.
_RAW = frozenset({"content", "diff"})
# Longer digits are not line numbers, and Python refuses to read very long ones.
_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")
_LINE_RANGE = re.compile(r"\s*([0-9]{1,9})-([0-9]{1,9})\s*")
_NUMBERS = ("start_line", "end_line")


class _Element(NamedTuple):
    """A tag's place in a text and what stands inside."""

    start: int
    end: int
    inner: str


class PendingCalls:
    """The calls of the newest response, handed out to the answers that follow it."""

    def __init__(self, calls: Iterable[ToolCallPart] = ()) -> None:
        self._open = list(calls)
        self._answered: dict[str, ToolCallPart] = {}

    def take(self, tool: str) -> ToolCallPart | None:
        """Return the first open call of a tool, else the call of it that was answered last."""
        for index, call in enumerate(self._open):
            if call.tool == tool:
                self._answered[tool] = self._open.pop(index)
                break
        return self._answered.get(tool)

    def take_next(self) -> ToolCallPart | None:
        """Return the first open call of any tool."""
        return self._open.pop(0) if self._open else None


def calls_in_text(text: str, path: JsonPath, tools: Sequence[str], prefix: str) -> Iterator[Part]:
    """Yield a text and the calls in it, one for each of ``tools`` that is found, in that order.

    Only calls that are known to be answered are wanted: a text may also quote one.
    """
    at = 0
    for number, tool in enumerate(tools):
        found = None if tool in REPLY_TOOLS else _next_call(text, tool, at)
        if found is None:
            continue
        if found.start > at:
            yield TextPart(text=text[at : found.start], embedded=True, path=path)
        yield ToolCallPart(
            call_id=CallId(f"{prefix}-{number}"),
            tool=tool,
            arguments=json_text(_arguments(found.inner)),
            embedded=True,
            path=path,
        )
        at = found.end
    if at < len(text) or at == 0:
        yield TextPart(text=text[at:], embedded=at > 0, path=path)


def _next_call(text: str, tool: str, at: int) -> _Element | None:
    """Return the next call of a tool; prose may name the tag before it is used."""
    end = text.find(f"</{tool}>", at)
    start = text.rfind(f"<{tool}>", at, end) if end >= 0 else -1
    return None if start < 0 else _enclosed(text, tool, start)


def _enclosed(text: str, name: str, start: int) -> _Element | None:
    closing, inner = f"</{name}>", start + len(name) + 2
    end = (text.rfind if name in _RAW else text.find)(closing, inner)
    return None if end < 0 else _Element(start, end + len(closing), text[inner:end])


def _arguments(body: str) -> Mapping[str, Any]:
    """Return a call's parameters as tools take them; a read of one file names it at the top."""
    found: dict[str, Any] = dict(_children(body))
    files = found.get("args")
    if not isinstance(files, str):
        return _numbered(found)
    named = [_file(inner) for tag, inner in _children(files) if tag == "file"]
    if len(named) == 1 and "line_range" not in named[0]:
        return named[0]
    return {"files": named} if named else found


def _file(body: str) -> dict[str, Any]:
    """Return one file of a read; several ranges of it stay a list."""
    found: dict[str, Any] = dict(_children(body))
    ranges = [inner for tag, inner in _children(body) if tag == "line_range"]
    match = _LINE_RANGE.fullmatch(ranges[0]) if len(ranges) == 1 else None
    if match is not None:
        del found["line_range"]
        return {**found, "start_line": int(match[1]), "end_line": int(match[2])}
    return {**found, "line_range": ranges} if ranges else found


def _numbered(found: dict[str, Any]) -> dict[str, Any]:
    numbers = {
        name: int(found[name]) for name in _NUMBERS if _NUMBER.fullmatch(found.get(name, ""))
    }
    return found | numbers


def _children(body: str) -> Iterator[tuple[str, str]]:
    at = 0
    while match := _OPENING.search(body, at):
        found = _enclosed(body, match[1], match.start())
        if found is None:
            return
        yield match[1], found.inner.removeprefix("\n").removesuffix("\n")
        at = found.end


# What was sent is the sum of both: ``cached`` counts cache reads and writes.
_SENT = ("prompt", "cached")


def response_parts(
    entry: ContainedRecord, following: Mapping[str, Any], answered: AbstractSet[str], prefix: str
) -> tuple[Part, ...]:
    """Return the parts of an assistant message.

    Args:
        entry: the message.
        following: the record behind it, which tells the calls that were answered in a text.
        answered: the call ids that some block of the conversation answers.
        prefix: what the ids of calls without one start with.
    """
    content, path = entry.record.get("content"), (*entry.record_path, "content")
    blocks = list_or_empty(content)
    wanted = _answered_in_text(following, blocks)
    parts: list[Part] = [*reasoning_parts(entry.record, entry.record_path)]
    if isinstance(content, str):
        return (*parts, *calls_in_text(content, path, wanted, prefix))
    texts = [place for place, block in enumerate(blocks) if _text_of(block) is not None]
    for place, block in enumerate(blocks):
        at = (*path, place)
        if place in texts[-1:]:
            parts += calls_in_text(block["text"], (*at, "text"), wanted, prefix)
        elif isinstance(block, Mapping):
            parts += _block(block, at, answered, f"{prefix}-block-{place}")
        else:
            parts.append(TextPart(text=json_text(block), path=at))
    return tuple(parts)


def encrypted_reasoning(block: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return encrypted thinking; Roo Code keeps plain thinking for the screen and sends none."""
    if not block.get("encrypted_content"):
        return ()
    return (ReasoningPart(text="", opaque=True, path=(*path, "encrypted_content")),)


def blocks_of(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the blocks of a message's content; none where it is a text."""
    return [block for block in list_or_empty(record.get("content")) if isinstance(block, Mapping)]


def model_of(record: Mapping[str, Any]) -> str | None:
    """Return the model that wrote a message, under the names of the tasks and of the SDK."""
    info = object_or_empty(record.get("modelInfo"))
    return text_or_none(info.get("modelId")) or text_or_none(info.get("id"))


def usage_of(record: Mapping[str, Any]) -> ReportedUsage | None:
    """Return what was reported for the request that a message answers."""
    tokens = object_or_empty(object_or_empty(record.get("metrics")).get("tokens"))
    context = sum(number for number in map(tokens.get, _SENT) if isinstance(number, int))
    if not tokens:
        return None
    return ReportedUsage(context=context, output=integer_or_none(tokens.get("completion")))


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
    if call.tool in REPLY_TOOLS and call.call_id not in answered:
        return TextPart(text=call.arguments, embedded=True, path=call.path)
    return call if call.call_id else replace(call, call_id=CallId(name))


def _answered_in_text(following: Mapping[str, Any], blocks: Sequence[Any]) -> list[str]:
    """Return the tools that the following message answers and no block calls."""
    called = Counter(block.get("name") for block in blocks if isinstance(block, Mapping))
    wanted = []
    for head in filter(None, map(result_header, _texts(following))):
        if called[head.tool]:
            called[head.tool] -= 1
        else:
            wanted.append(head.tool)
    return wanted


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
