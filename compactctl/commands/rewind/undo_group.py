"""Brings the messages of one group back while every other edit stays in effect."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.commands.loading.recorded_format import format_field
from compactctl.commands.operations.appended_lines import appended, carry_behind
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import without_group as without_inline
from compactctl.commands.operations.steps import ArchivedStep, InlineStep, OperationStep
from compactctl.commands.rewind.message_ids import Names
from compactctl.commands.rewind.move import RewindTarget
from compactctl.commands.rewind.operation import rewind_operation
from compactctl.commands.rewind.reapply import (
    OperationReplayer,
    ReplayedOperation,
    operation_at,
    read_state,
)
from compactctl.commands.sizing.context_size import recorded_unseen
from compactctl.errors import ChangedError, UsageError
from compactctl.model.edit import groups_of, without_group
from compactctl.model.message import Message
from compactctl.model.operation import OperationId
from compactctl.pipeline.archive_rows import plain_rows
from compactctl.pipeline.edit_codec import read_edits
from compactctl.store.archive.deposit import Deposit
from compactctl.store.files.carry import carried, is_open
from compactctl.store.files.content import Content
from compactctl.store.files.lines import digest_of, split_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReplayBase:
    """Where to begin: a state without the group and without the operations to carry out again.

    ``kept`` is in effect there. ``names`` maps the ids in the state that the first of these
    operations saw to those here.
    """

    data: bytes
    kept: tuple[OperationId, ...]
    names: Names


def undo_group(group: str, history: OperationHistory) -> RewindTarget:
    """Return the state in which ``group`` was never made; UsageError when it is not in effect.

    The operation that made the group is undone and carried out again without it, and so are all
    later ones. Lines appended since stay at the end. ChangedError when they cannot, or when what
    is left would be a broken conversation.
    """
    chain = history.chain
    place = _place_of(group, chain)
    again = _archived(chain[place:], group)
    operations = _replayed(again, history.data)
    base = _base(group, history, place, again)
    carry = carried(appended(history, again[0]), is_open=is_open(base.data)) if again else b""
    first = base.data + carry
    replay = OperationReplayer(
        first, base.kept, _own_fields(history.data, chain[place].format), group
    )
    replay.start(read_state(first, chain[place].format), digest_of(base.data).n_lines, base.names)
    for operation in operations:
        replay.replay(operation, without_group(operation.archived.edits, group))
    return RewindTarget(
        content=Content.of((replay.data,)),
        chain=tuple(replay.chain),
        archives=tuple(_with_rewind(history, base.kept, first, replay.archives)),
        carried=len(carry),
    )


def _replayed(steps: Sequence[ArchivedStep], now: bytes) -> list[ReplayedOperation]:
    """Return what each step did; ``now`` is the transcript after the last one."""
    following = (*steps[1:], None)
    return [
        operation_at(step, now if later is None else b"".join(later.before()))
        for step, later in zip(steps, following, strict=False)
    ]


def _archived(steps: Sequence[OperationStep], group: str) -> list[ArchivedStep]:
    """Return the operations that are to be carried out again, from the one of the group on.

    Those inside one transcript with the first of all are changed there instead.
    """
    later = list(itertools.dropwhile(lambda step: isinstance(step, InlineStep), steps))
    if any(step.undoes_client for step in later):
        raise ChangedError(
            f"group {group} cannot be taken back alone: a compaction by the client was undone "
            "after it; take that back first"
        )
    found = [step for step in later if isinstance(step, ArchivedStep)]
    if len(found) != len(later):
        raise ChangedError(
            f"group {group} cannot be taken back alone: a later operation has no archive; "
            "take that one back first"
        )
    return found


def _base(
    group: str, history: OperationHistory, place: int, again: Sequence[ArchivedStep]
) -> _ReplayBase:
    step = history.chain[place]
    kept = tuple(each.id for each in history.chain[:place])
    if isinstance(step, InlineStep):
        held = b"".join(again[0].before()) if again else history.data
        return _inline_base(group, history.chain[place:], held, kept)
    data = b"".join(step.before())
    return _ReplayBase(
        data=data,
        kept=kept,
        names={message.id: message.id for message in read_state(data, step.format).messages},
    )


def _inline_base(
    group: str, steps: Sequence[OperationStep], held: bytes, kept: tuple[OperationId, ...]
) -> _ReplayBase:
    """Take a group of the first step out of the state ``held``, which holds its originals."""
    inside = [each for each in steps if isinstance(each, InlineStep)]
    first = inside[0]
    if len(inside) == 1 and set(first.inside.groups) == {group}:
        before = b"".join(first.before())
        data = before + carried(carry_behind(first, (held,)), is_open=is_open(before))
    else:
        operations = [each.inside for each in inside]
        data, renewed = without_inline(held, first.where, first.format, operations, group)
        kept += renewed
    messages = read_state(held, first.format).messages
    now = read_state(data, first.format).messages
    return _ReplayBase(data=data, kept=kept, names=_names_without(group, messages, now))


def _names_without(group: str, before: Sequence[Message], after: Sequence[Message]) -> Names:
    """Map the ids of messages to those without a group; its rewritten ones to their originals."""
    left = [message.id for message in before if group not in message.tags.ids]
    names = dict(zip(left, (message.id for message in after), strict=False))
    rewritten = [message.id for message in before if message.tags.edit_id == group]
    originals = [message.id for message in before if message.tags.edit_parent == group]
    pairs = zip(rewritten, originals, strict=False)
    return names | {new: names[old] for new, old in pairs if old in names}


def _with_rewind(
    history: OperationHistory,
    kept: tuple[OperationId, ...],
    base: bytes,
    archives: Sequence[Deposit],
) -> Iterator[Deposit]:
    left, head = history.data, kept[-1] if kept else None
    operation = rewind_operation(digest_of(left), digest_of(base), history.chain, head)
    yield operation, tuple(plain_rows(split_lines(left)))
    yield from archives


def _place_of(group: str, chain: Sequence[OperationStep]) -> int:
    groups = [_groups(step) for step in chain]
    for place, names in enumerate(groups):
        if group in names:
            return place
    known = ", ".join(name for names in groups for name in names)
    raise UsageError(f"no group {group!r} is in effect; there are {known or 'none'}")


def _groups(step: OperationStep) -> tuple[str, ...]:
    if isinstance(step, InlineStep):
        return step.inside.groups
    if isinstance(step, ArchivedStep):
        archived = read_edits((row.edits for row in step.rows()), step.file.path)
        return groups_of(archived.edits)
    return ()


def _own_fields(left: bytes, format_name: str) -> dict[str, Any]:
    """Return what the newest compaction recorded of the requests, to be recorded again."""
    unseen = recorded_unseen(read_state(left, format_name).effective)
    return {**({"unseen": unseen} if unseen else {}), **format_field(format_name)}
