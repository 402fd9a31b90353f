"""Build the rows of an archive: one for each line of the file before an operation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from compactctl.history.apply import NetEdits, latest_edit, net_edits
from compactctl.model.edit import Edit, Hide
from compactctl.model.message import NO_TAGS, Message, MessageId, ToolCallPart, ToolResultPart
from compactctl.model.operation import ArchivedLine, LineFate
from compactctl.model.transcript import Transcript
from compactctl.pipeline.edit_codec import dump_edits, encode_edits
from compactctl.pipeline.layout import NewFile
from compactctl.records import Record, replace


class GroupedEdits(Protocol):
    """Edits, and the stage that made each group of them."""

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
) -> Iterable[ArchivedLine]:
    """Return one row per line, in order.

    Iterators read ``lines`` as they advance, but not the transcript, which can be freed.

    Args:
        lines: the lines before the operation.
        after: the file after it.
        transcript: what the lines hold.
        grouped_edits: what the operation did.
        tokens: the size of each message.
    """
    context = _RowContext(
        edits=net_edits(grouped_edits.edits),
        groups=grouped_edits.groups,
        tokens=tokens,
        edit_rows=encode_edits(grouped_edits.edits, grouped_edits.groups, tokens),
    )
    rows = [
        _row(index, after, messages, context)
        for index, messages in enumerate(_messages_by_line(transcript.messages, len(lines)))
    ]
    return _RowsWithLines(lines, rows)


class _RowsWithLines:
    """Rows that read their lines anew for each iteration."""

    def __init__(self, lines: Sequence[bytes], rows: Sequence[ArchivedLine]) -> None:
        self._lines, self._rows = lines, rows

    def __iter__(self) -> Iterator[ArchivedLine]:
        """Yield the rows in order."""
        pairs = zip(self._lines, self._rows, strict=True)
        return (replace(row, raw=raw) for raw, row in pairs)


def _messages_by_line(messages: Iterable[Message], n_lines: int) -> Iterator[Sequence[Message]]:
    """Yield the messages on each line, an empty sequence where there are none."""
    ordered = sorted(messages, key=lambda message: message.line)
    end = 0
    for line in range(n_lines):
        start = end
        while end < len(ordered) and ordered[end].line == line:
            end += 1
        yield ordered[start:end]


def removal_rows(
    lines: Sequence[bytes], after: NewFile, group: str | None = None
) -> Iterator[ArchivedLine]:
    """Yield the rows for a change that removed records without the edits of a stage.

    ``group`` is the one of what was removed, None if that is not shown as hidden.
    """
    for index, raw in enumerate(lines):
        new_index = after.new_indices.get(index)
        fate: LineFate = (
            "hidden"
            if new_index is None
            else "kept"
            if after.is_unchanged(new_index)
            else "replaced"
        )
        hidden_by = group if new_index is None else None
        yield ArchivedLine(raw=raw, fate=fate, after_line=new_index, group=hidden_by)


def rewind_rows(lines: Iterable[bytes]) -> Iterator[ArchivedLine]:
    """Yield the rows for a change that replaces the whole file, as a rewind does."""
    return (ArchivedLine(raw=raw, fate="replaced", after_line=None) for raw in lines)


class _RowContext(Record):
    """The edits of an operation; ``edit_rows`` are their archived form, by message."""

    edits: NetEdits
    groups: Mapping[str, str]
    tokens: Mapping[MessageId, int]
    edit_rows: dict[MessageId, list[dict[str, Any]]]


def _row(
    index: int, after: NewFile, messages: Sequence[Message], context: _RowContext
) -> ArchivedLine:
    """Return the row of a line, without the line itself."""
    new_index = after.new_indices.get(index)
    fate: LineFate = "hidden"
    if new_index is not None:
        fate = "kept" if after.is_unchanged(new_index) else "replaced"
    if not messages:
        group = _removal_group(context.edits) if new_index is None else None
        stage = context.groups.get(group or "")
        return ArchivedLine(raw=b"", fate=fate, after_line=new_index, stage=stage, group=group)
    first = messages[0]
    part = _tool_part(first)
    hides = [context.edits.hidden[m.id] for m in messages if m.id in context.edits.hidden]
    edit_group = _edit_group(messages, context.edits)
    group = hides[0].group if hides else edit_group
    # An earlier inline layout kept this original beside its stand-in; now both are removed.
    old_tags = first.tags if new_index is None and not hides else NO_TAGS
    group = group or next(iter(old_tags.hidden_by), None)
    # Popped to free memory: the JSON text replaces the rows.
    rows = [row for message in messages for row in context.edit_rows.pop(message.id, ())]
    return ArchivedLine(
        raw=b"",
        fate=fate,
        after_line=new_index,
        message_id=first.id,
        role=first.role,
        tool=part.tool if part else None,
        call_id=part.call_id if part else None,
        tokens=sum(context.tokens.get(message.id, 0) for message in messages),
        stage=context.groups.get(group or ""),
        group=group,
        condense_parent=_hiding_group(hides, "condense") or old_tags.condense_parent,
        truncation_parent=_hiding_group(hides, "truncate") or old_tags.truncation_parent,
        edit_parent=edit_group or old_tags.edit_parent,
        edits=dump_edits(rows) if rows else None,
    )


def _removal_group(edits: NetEdits) -> str | None:
    """Return the group that removes records that are never sent, if there is one."""
    return next((edit.group for edit in edits.removed_unsent.values()), None)


def _tool_part(message: Message) -> ToolCallPart | ToolResultPart | None:
    parts = (part for part in message.parts if isinstance(part, (ToolCallPart, ToolResultPart)))
    return next(parts, None)


def _hiding_group(hides: Sequence[Hide], kind: str) -> str | None:
    return next((hide.group for hide in hides if hide.kind == kind), None)


def _edit_group(messages: Sequence[Message], edits: NetEdits) -> str | None:
    rewrites_by_message = (edits.replaced.get(message.id) for message in messages)
    return next((latest_edit(rewrites).group for rewrites in rewrites_by_message if rewrites), None)
