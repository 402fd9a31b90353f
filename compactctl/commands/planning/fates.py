"""The fate of each message in a compaction: kept, hidden, rewritten or written, by which stage."""

from collections.abc import Mapping, Sequence
from typing import Literal

from compactctl.commands.planning.run_stages import AppliedEdits
from compactctl.history.apply import latest_edit, net_edits
from compactctl.history.categories import Category, category_tokens
from compactctl.history.reads import find_file_reads
from compactctl.model.message import Message, Role, ToolCallPart, ToolResultPart
from compactctl.records import Record, replace
from compactctl.tokens.meter import Meter

Fate = Literal["kept", "hidden", "rewritten", "written"]


class MessageFate(Record):
    """A message, its size before and after, its fate, and the reason.

    ``line`` counts from 1; ``tokens_after`` is 0 for a hidden message.
    """

    line: int
    id: str
    role: Role
    tools: tuple[str, ...]
    tokens: int = 0
    tokens_after: int = 0
    fate: Fate
    stage: str
    reason: str


def message_fates(applied: AppliedEdits, meter: Meter) -> tuple[MessageFate, ...]:
    """Return a row for each message before and each inserted one, in the order of the file."""
    folded = net_edits(applied.edits)
    after_by_id = {message.id: message for message in applied.after}
    rows: list[MessageFate] = []
    for message in applied.before:
        for item in folded.inserted.get(message.id, ()):
            if item.id in after_by_id:
                written = after_by_id[item.id]
                stage = applied.groups.get(item.group, "")
                row = _row(written, "written", stage, item.kind)
                rows.append(replace(row, tokens_after=meter.message(written)))
        hide = folded.hidden.get(message.id)
        edits = folded.replaced.get(message.id)
        if hide is not None:
            row = _row(message, "hidden", applied.groups.get(hide.group, ""), hide.reason)
        elif edits:
            edit = latest_edit(edits)
            row = _row(message, "rewritten", applied.groups.get(edit.group, ""), edit.reason)
        else:
            row = _row(
                message, "kept", "", applied.protected.get(message.id, "not selected by any stage")
            )
        after = meter.message(after_by_id[message.id]) if message.id in after_by_id else 0
        rows.append(replace(row, tokens=meter.message(message), tokens_after=after))
    return tuple(rows)


def _row(message: Message, fate: Fate, stage: str, reason: str) -> MessageFate:
    parts = [part for part in message.parts if isinstance(part, ToolCallPart | ToolResultPart)]
    return MessageFate(
        line=message.line + 1,
        id=message.id,
        role=message.role,
        tools=tuple(dict.fromkeys(part.tool for part in parts if part.tool)),
        fate=fate,
        stage=stage,
        reason=reason,
    )


class ComparedMessage(Record):
    """A message before and after; ``before`` is None if inserted, ``after`` if hidden."""

    explained: MessageFate
    before: Message | None
    after: Message | None


class Comparison(Record):
    """The messages in the order of the file, and tokens by category before and after.

    The tokens are those of the largest next request before, and of the largest after.
    """

    messages: tuple[ComparedMessage, ...]
    before: Mapping[Category, int]
    after: Mapping[Category, int]


def compare(
    applied: AppliedEdits, explained: Sequence[MessageFate], meter: Meter, cwd: str | None
) -> Comparison:
    """Return the messages before and after; ``explained`` has a row for each."""
    before = {str(message.id): message for message in applied.before}
    after = {str(message.id): message for message in applied.after}
    return Comparison(
        messages=tuple(
            ComparedMessage(explained=fate, before=before.get(fate.id), after=after.get(fate.id))
            for fate in explained
        ),
        before=_categories(applied.largest_before, meter, cwd),
        after=_categories(applied.largest_after, meter, cwd),
    )


def _categories(
    messages: Sequence[Message], meter: Meter, cwd: str | None
) -> Mapping[Category, int]:
    return category_tokens(messages, find_file_reads(messages, cwd=cwd), meter)
