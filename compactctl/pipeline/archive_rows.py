"""One archive row per line of the state before an operation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from compactctl.model.edit import Edit, Hide
from compactctl.model.message import NO_TAGS, Message, MessageId, ToolCallPart, ToolResultPart
from compactctl.model.operation import ArchivedLine, LineFate
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import NetEdits, latest_edit, net_edits
from compactctl.pipeline.edit_codec import dump_edits, edits_by_message
from compactctl.pipeline.layout import NewFile


class GroupedEdits(Protocol):
    """Edits, and the stage behind each group of them."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits, in order."""

    @property
    def groups(self) -> Mapping[str, str]:
        """The stages, by group."""


def archive_rows(
    lines: Sequence[bytes],
    after: NewFile,
    transcript: Transcript,
    grouped_edits: GroupedEdits,
    tokens: Mapping[MessageId, int],
) -> Iterator[ArchivedLine]:
    """Return one row per line of the state before, in line order.

    ``tokens`` are the sizes of messages. The transcript is not needed any more to go through the
    rows, the lines are.
    """
    context = _RowContext(
        net_edits=net_edits(grouped_edits.edits),
        groups=grouped_edits.groups,
        tokens=tokens,
        rows=edits_by_message(grouped_edits.edits, grouped_edits.groups, tokens),
    )
    rows = [
        _row(index, after, messages, context)
        for index, messages in enumerate(_on_lines(transcript.messages, len(lines)))
    ]
    return (replace(row, raw=raw) for raw, row in zip(lines, rows, strict=True))


def _on_lines(messages: Iterable[Message], n_lines: int) -> Iterator[Sequence[Message]]:
    """Yield the messages on each line, from the first line to the last."""
    ordered = sorted(messages, key=lambda message: message.line)
    at = 0
    for line in range(n_lines):
        start = at
        while at < len(ordered) and ordered[at].line == line:
            at += 1
        yield ordered[start:at]


def removal_rows(lines: Sequence[bytes], after: NewFile) -> Iterator[ArchivedLine]:
    """Yield rows for a state from which records went without any edit of a stage."""
    for index, raw in enumerate(lines):
        place = after.new_indices.get(index)
        fate: LineFate = (
            "hidden" if place is None else "kept" if after.is_unchanged(place) else "replaced"
        )
        yield ArchivedLine(raw=raw, fate=fate, after_line=place)


def rewind_rows(lines: Iterable[bytes]) -> Iterator[ArchivedLine]:
    """Yield rows for a state that is left as a whole, as a rewind does."""
    return (ArchivedLine(raw=raw, fate="replaced", after_line=None) for raw in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowContext:
    """What all edits come to, and ``rows``: each as it is archived, by its message."""

    net_edits: NetEdits
    groups: Mapping[str, str]
    tokens: Mapping[MessageId, int]
    rows: dict[MessageId, list[dict[str, Any]]]


def _row(
    index: int, after: NewFile, messages: Sequence[Message], context: _RowContext
) -> ArchivedLine:
    """Return the row of a line, without the line itself."""
    place = after.new_indices.get(index)
    fate: LineFate = "hidden"
    if place is not None:
        fate = "kept" if after.is_unchanged(place) else "replaced"
    if not messages:
        group = _unload_group(context.net_edits) if place is None else None
        stage = context.groups.get(group or "")
        return ArchivedLine(raw=b"", fate=fate, after_line=place, stage=stage, group=group)
    first = messages[0]
    part = _tool_part(first)
    hides = [context.net_edits.hidden[m.id] for m in messages if m.id in context.net_edits.hidden]
    edit = _edit_group(messages, context.net_edits)
    group = hides[0].group if hides else edit
    # An earlier inline layout left this original there, and now it went with its stand-in.
    left = first.tags if place is None and not hides else NO_TAGS
    group = group or next(iter(left.hidden_by), None)
    # Taken out, as their text takes their place.
    rows = [row for message in messages for row in context.rows.pop(message.id, ())]
    return ArchivedLine(
        raw=b"",
        fate=fate,
        after_line=place,
        message_id=first.id,
        role=first.role,
        tool=part.tool if part else None,
        call_id=part.call_id if part else None,
        tokens=sum(context.tokens.get(message.id, 0) for message in messages),
        stage=context.groups.get(group or ""),
        group=group,
        condense_parent=_parent(hides, "condense") or left.condense_parent,
        truncation_parent=_parent(hides, "truncate") or left.truncation_parent,
        edit_parent=edit or left.edit_parent,
        edits=dump_edits(rows) if rows else None,
    )


def _unload_group(folded: NetEdits) -> str | None:
    """Return the group of what goes beside the messages."""
    return next((edit.group for edit in folded.removed_unsent.values()), None)


def _tool_part(message: Message) -> ToolCallPart | ToolResultPart | None:
    """Return the first call or result in a message."""
    parts = (part for part in message.parts if isinstance(part, (ToolCallPart, ToolResultPart)))
    return next(parts, None)


def _parent(hides: Sequence[Hide], kind: str) -> str | None:
    return next((hide.group for hide in hides if hide.kind == kind), None)


def _edit_group(messages: Sequence[Message], folded: NetEdits) -> str | None:
    edits = (folded.replaced.get(message.id) for message in messages)
    return next((latest_edit(found).group for found in edits if found), None)
