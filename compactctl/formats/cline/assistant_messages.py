"""Assistant messages of Cline and Roo Code: thinking, text, and calls in blocks or in the text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from compactctl.formats.cline.calls import SPEAKING, written_calls
from compactctl.formats.cline.client_texts import head_of
from compactctl.formats.content.anthropic import block_parts
from compactctl.formats.content.openai_reasoning import reasoning_parts
from compactctl.formats.records.containers import ContainedRecord
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import (
    integer_or_none,
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
    content, path = entry.record.get("content"), (*entry.element, "content")
    blocks = list_or_empty(content)
    wanted = _answered_in_text(following, blocks)
    parts: list[Part] = [*reasoning_parts(entry.record, entry.element)]
    if isinstance(content, str):
        return (*parts, *written_calls(content, path, wanted, prefix))
    texts = [place for place, block in enumerate(blocks) if _text_of(block) is not None]
    for place, block in enumerate(blocks):
        at = (*path, place)
        if place in texts[-1:]:
            parts += written_calls(block["text"], (*at, "text"), wanted, prefix)
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
    if call.tool in SPEAKING and call.call_id not in answered:
        return TextPart(text=call.arguments, embedded=True, path=call.path)
    return call if call.call_id else replace(call, call_id=CallId(name))


def _answered_in_text(following: Mapping[str, Any], blocks: Sequence[Any]) -> list[str]:
    """Return the tools that the following message answers and no block calls."""
    called = Counter(block.get("name") for block in blocks if isinstance(block, Mapping))
    wanted = []
    for head in filter(None, map(head_of, _texts(following))):
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
