"""A file compacted half, and what it is read back as."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from formats.jsonl import decoded, raw_lines, texts

from compactctl.clients.detection import detect
from compactctl.history.apply import apply, net_edits
from compactctl.history.conversation_view import ConversationView
from compactctl.history.protection import hideable
from compactctl.model.edit import Edit, Hide, Insert, Replace
from compactctl.model.message import (
    GroupId,
    Message,
    MessageId,
    Synthetic,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout, LayoutOptions, lay_out

SUMMARY = "What came before."
STUB = "[cleared]"
ARGUMENTS = '{"path":"[args truncated]"}'


@dataclass(frozen=True)
class Case:
    """A file's records, and which of its effective messages to hide and which to rewrite."""

    name: str
    records: list[Any]
    hide: range
    rewrite: int


def load(lines: list[bytes]) -> Transcript:
    parsed = decoded(lines)
    return detect(parsed, "test").read(parsed)


def edits_for(case: Case, found: Transcript) -> list[Edit]:
    hidden = [found.effective[index].id for index in case.hide]
    summary = Synthetic(
        id=MessageId("summary-g1"),
        kind="summary",
        role="user",
        text=SUMMARY,
        group=GroupId("g1"),
        details={"summarizesFrom": hidden[0], "summarizesTo": hidden[-1]},
    )
    target = found.effective[case.rewrite]
    part = next(i for i, part in enumerate(target.parts) if part in target.results)
    return [
        Insert(before=hidden[0], message=summary),
        Hide(ids=tuple(hidden), group=GroupId("g1"), kind="condense"),
        Replace(id=target.id, part=part, text=STUB, group=GroupId("e1")),
    ]


def compacted(case: Case, layout: Layout) -> tuple[tuple[bytes, ...], Transcript, list[str]]:
    """Return the new file's lines, what is read from them, and what should be."""
    lines = raw_lines(*case.records)
    found = load(lines)
    edits = edits_for(case, found)
    parsed = decoded(lines)
    style = LayoutOptions(layout=layout, operation="op1")
    new = tuple(lay_out(lines, found, net_edits(edits), detect(parsed, "test"), style))
    data = tuple(line.data for line in new)
    return data, load(list(data)), texts(apply(found.effective, edits))


def with_new_arguments(messages: Iterable[Message]) -> list[Edit]:
    """Put other arguments in place of those that are an object."""
    return [
        Replace(id=message.id, part=index, text=ARGUMENTS, group=GroupId("e2"))
        for message in messages
        if not message.locks.immutable_reason
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolCallPart) and part.arguments.startswith("{") and not part.embedded
    ]


def halved(messages: list[Message]) -> list[Edit]:
    """Put a summary in place of the older half, stubs and new arguments in what is after it."""
    older = [message.id for message in messages[: len(messages) // 2]]
    hidden = hideable(ConversationView(messages=tuple(messages)), older)
    group = GroupId(f"g{messages[0].conversation}")
    summary = Synthetic(
        id=MessageId(f"summary-{group}"), kind="summary", role="user", text=SUMMARY, group=group
    )
    stubs: list[Edit] = [
        Replace(id=message.id, part=index, text=STUB, group=GroupId("e1"))
        for message in messages
        if message.id not in hidden and not message.locks.immutable_reason
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolResultPart) and not part.cleared
    ]
    stubs += with_new_arguments(m for m in messages if m.id not in hidden)
    if not hidden:
        return stubs
    hide = Hide(ids=hidden, group=group, kind="condense")
    return [Insert(before=hidden[0], message=summary), hide, *stubs]
