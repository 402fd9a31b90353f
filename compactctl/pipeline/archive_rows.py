"""One archive row per line of the state before an operation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.model.edit import Edit, Hide
from compactctl.model.message import NO_TAGS, Message, MessageId, ToolCallPart, ToolResultPart
from compactctl.model.operation import ArchivedLine, Fate
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import Folded, fold
from compactctl.pipeline.edit_text import dump_edits, edits_by_message
from compactctl.pipeline.layout import NewLine


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEdits:
    """An operation's edits, the stage behind each group, and the sizes of messages in tokens."""

    edits: tuple[Edit, ...]
    stages: Mapping[str, str]
    tokens: Mapping[MessageId, int]


def archive_rows(
    lines: Sequence[bytes],
    after: Sequence[NewLine],
    transcript: Transcript,
    made: StageEdits,
) -> tuple[ArchivedLine, ...]:
    """Return one row per line of the state before, in line order."""
    places = {line.source: place for place, line in enumerate(after) if line.source is not None}
    by_line: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        by_line[message.line].append(message)
    edits = edits_by_message(made.edits, made.stages, made.tokens)
    folded = fold(made.edits)
    return tuple(
        _row(
            raw,
            places.get(index),
            after,
            _Described(by_line.get(index, []), folded, made, edits),
        )
        for index, raw in enumerate(lines)
    )


def plain_rows(lines: Sequence[bytes]) -> tuple[ArchivedLine, ...]:
    """Return rows for a state that is left as a whole, as a rewind does."""
    return tuple(ArchivedLine(raw=raw, fate="replaced", after_line=None) for raw in lines)


@dataclass(frozen=True, slots=True)
class _Described:
    messages: Sequence[Message]
    folded: Folded
    made: StageEdits
    edits: Mapping[MessageId, list[dict[str, Any]]]


def _row(
    raw: bytes, place: int | None, after: Sequence[NewLine], about: _Described
) -> ArchivedLine:
    fate: Fate = "hidden"
    if place is not None:
        fate = "kept" if after[place].data == raw else "replaced"
    if not about.messages:
        return ArchivedLine(raw=raw, fate=fate, after_line=place)
    first = about.messages[0]
    hides = [about.folded.hidden[m.id] for m in about.messages if m.id in about.folded.hidden]
    edit = _edit_group(about)
    group = hides[0].group if hides else edit
    # An earlier inline layout left this original there, and now it went with its stand-in.
    left = first.tags if place is None and not hides else NO_TAGS
    group = group or next(iter(left.parents), None)
    rows = [row for message in about.messages for row in about.edits.get(message.id, ())]
    return ArchivedLine(
        raw=raw,
        fate=fate,
        after_line=place,
        message_id=first.id,
        role=first.role,
        tool=_tool_parts(first)[0].tool if _tool_parts(first) else None,
        call_id=_tool_parts(first)[0].call_id if _tool_parts(first) else None,
        tokens=sum(about.made.tokens.get(message.id, 0) for message in about.messages),
        stage=about.made.stages.get(group or ""),
        group=group,
        condense_parent=_parent(hides, "condense") or left.condense_parent,
        truncation_parent=_parent(hides, "truncate") or left.truncation_parent,
        edit_parent=edit or left.edit_parent,
        edits=dump_edits(rows) if rows else None,
    )


def _tool_parts(message: Message) -> list[ToolCallPart | ToolResultPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart | ToolResultPart)]


def _parent(hides: Sequence[Hide], kind: str) -> str | None:
    return next((hide.group for hide in hides if hide.kind == kind), None)


def _edit_group(about: _Described) -> str | None:
    edits = (about.folded.replaced.get(message.id) for message in about.messages)
    return next((next(iter(found.values())).group for found in edits if found), None)
