"""Undoes one group while every other edit stays in effect."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.registry import format_named, request_of
from compactctl.commands.measuring.context_size import recorded_unseen
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.measuring.next_request import restatement
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import inline_fields
from compactctl.commands.operations.inline import without_group as without_inline
from compactctl.commands.operations.periods import state_after
from compactctl.commands.operations.restorable import read_outcome
from compactctl.commands.operations.steps import ArchivedStep, InlineStep, OperationStep
from compactctl.commands.reading.transcript import format_field, parse, split
from compactctl.commands.rewind.result import RewindTarget, rewind_operation
from compactctl.errors import ChangedError, UsageError
from compactctl.history.apply import apply_all, net_edits
from compactctl.history.pairs import find_orphans
from compactctl.history.stand_ins import newest_id
from compactctl.model.edit import (
    CorrectRecord,
    DropPart,
    Edit,
    Hide,
    Insert,
    RemoveUnsent,
    Replace,
    SetField,
    groups_of,
    without_group,
)
from compactctl.model.message import Message, MessageId, Synthetic
from compactctl.model.operation import Operation, OperationId
from compactctl.model.transcript import Transcript
from compactctl.model.usage_fields import UsageRestatement
from compactctl.pipeline.archive_rows import archive_rows, rewind_rows
from compactctl.pipeline.document_records import read_records
from compactctl.pipeline.edit_codec import ArchivedEdits, read_edits
from compactctl.pipeline.layout import Layout, LayoutOptions, NewFile, lay_out
from compactctl.records import Record, replace
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.growth import find_growth, grown
from compactctl.store.files.content import Content
from compactctl.store.files.source import digest_of, split_lines

Names = Mapping[MessageId, MessageId]


class ReplayedOperation(Record):
    """An archived operation to replay: its layout and its edits.

    ``names`` maps the ids before it to those after it; ``appended`` are the ids of messages that
    were appended between it and the next operation.
    """

    operation: Operation
    layout: Layout
    tags: bool
    archived: ArchivedEdits
    names: Names
    appended: tuple[MessageId, ...]

    @property
    def tokens(self) -> dict[MessageId, int]:
        """The tokens of the messages that it hid or rewrote, as recorded then."""
        sizes = self.archived.sizes.values()
        return {name: tokens for messages in sizes for name, tokens in messages.items()}


class OperationReplayer:
    """Replays archived operations one after another.

    ``names`` maps the ids in the state that an operation saw to those in the state so far:

        operation saw:  m1 m2 m3        it hid m2 and m3 behind S
        state so far:   m1 m2' m3'      the same messages under other ids
        names:          {m1: m1, m2: m2', m3: m3'}
    """

    def __init__(
        self, base: bytes, chain: Sequence[OperationId], metadata: Mapping[str, Any], group: str
    ) -> None:
        self.data = base
        self.metadata = metadata
        self.group = group
        self.chain = list(chain)
        self.deposits: list[ArchiveDraft] = []
        self.names: dict[MessageId, MessageId] = {}
        self.carried: list[MessageId] = []

    def start(self, base: Transcript, transcript: Transcript, names: Names) -> None:
        """Set the state to start from: ``base``, and what was appended to it later.

        ``names`` maps the ids in the state that the first operation saw to those in this one.
        """
        self.names = dict(names)
        self.carried = list(_added_ids(base, transcript))

    @property
    def parent(self) -> OperationId | None:
        """The newest compaction in effect so far."""
        return self.chain[-1] if self.chain else None

    def replay(self, replayed: ReplayedOperation, edits: tuple[Edit, ...]) -> None:
        """Apply an operation's remaining edits to the state so far."""
        edits_here = with_names(edits, self.names)
        new_names = self._carry_out(replayed, edits_here) if edits_here else {}
        written = {e.message.id: e.message.id for e in edits_here if isinstance(e, Insert)}
        ids = {**self.names, **written}
        self.carried = [new_names.get(name, name) for name in self.carried]
        appended_ids, self.carried = (
            self.carried[: len(replayed.appended)],
            self.carried[len(replayed.appended) :],
        )
        self.names = {
            later: new_names.get(ids[earlier], ids[earlier])
            for earlier, later in replayed.names.items()
            if earlier in ids
        } | dict(zip(replayed.appended, appended_ids, strict=False))

    def _carry_out(self, replayed: ReplayedOperation, edits: tuple[Edit, ...]) -> Names:
        chosen = format_named(replayed.operation.format)
        lines, _ = split(split_lines(self.data), "the restored state", chosen.name)
        transcript = parse(lines, chosen)
        operation_id = _new_id(replayed.operation, self.data, edits)
        metadata = self._operation_metadata(lines, transcript, replayed)
        style = LayoutOptions(
            layout=replayed.layout,
            operation=operation_id,
            tags=replayed.tags,
            extra_metadata=metadata,
            usage_restatement=self._restated(replayed, transcript, edits)
            if chosen.usage_fields
            else None,
        )
        after = NewFile(lines, lay_out(lines, transcript, net_edits(edits), chosen, style))
        before = digest_of(self.data)
        self.data = b"".join(after)
        result = _read_state(self.data, chosen.name)
        _require_whole(transcript, result, self.group)
        records = replayed.operation.records
        operation = replace(
            replayed.operation,
            id=operation_id,
            head=operation_id,
            parent=self.parent,
            before=before,
            after=digest_of(self.data),
            appended=False,
            records=records and read_records((self.data,), records.path),
            detail=f"{replayed.operation.id} without group {self.group}",
        )
        sizes = {self.names[old]: n for old, n in replayed.tokens.items() if old in self.names}
        edited = replace(replayed.archived, edits=edits)
        rows = tuple(archive_rows(lines, after, transcript, edited, sizes))
        self.chain.append(operation_id)
        self.deposits.append(ArchiveDraft(operation, rows))
        return names_after(transcript.history, edits, result.history)

    def _restated(
        self, replayed: ReplayedOperation, transcript: Transcript, edits: tuple[Edit, ...]
    ) -> UsageRestatement | None:
        """Return the usage to rewrite, from which the client reads its context size, if any."""
        if replayed.layout == "inline" or not replayed.tags:
            return None
        meter = measure(transcript, MeasureOptions()).meter
        after = request_of(transcript.format, apply_all(transcript.history, edits))
        tokens = meter.total(after) + self.metadata.get("unseen", 0)
        return restatement(transcript, after, tokens, meter.message)

    def _operation_metadata(
        self, lines: Sequence[bytes], transcript: Transcript, replayed: ReplayedOperation
    ) -> Mapping[str, Any]:
        newest = newest_id(transcript.effective)
        metadata = {**({"through": newest} if newest else {}), **self.metadata}
        if replayed.layout == "split":
            return metadata
        return {**metadata, **inline_fields(lines, transcript, digest_of(self.data), self.parent)}


class _ReplayBase(Record):
    """Where to begin: a state without the group and without the operations to replay.

    ``chain`` are the operations in effect there. ``names`` maps the ids in the state that the first
    replayed operation saw to those in this one.
    """

    data: bytes
    chain: tuple[OperationId, ...]
    names: Names


def undo_group(group: str, history: OperationHistory) -> RewindTarget:
    """Return the state in which ``group`` was never made; UsageError if it is not in effect.

    The operation that made the group is undone and replayed without it, and so are all later ones.
    Lines appended since stay at the end. Raises ChangedError if they cannot, or if the result would
    be a broken conversation.
    """
    chain = history.chain
    index = _place_of(group, chain)
    steps_to_replay = _archived(chain[index:], group)
    operations = _replayed(steps_to_replay, history)
    base = _base(group, history, index, steps_to_replay)
    periods = history.timeline.periods_since(steps_to_replay[0]) if steps_to_replay else ()
    growths = tuple(period.growth for period in periods)
    start, format_name = grown(base.data, growths), chain[index].format
    replayer = OperationReplayer(start, base.chain, _own_fields(history.data, format_name), group)
    replayer.start(_read_state(base.data, format_name), _read_state(start, format_name), base.names)
    for operation in operations:
        replayer.replay(operation, without_group(operation.archived.edits, group))
    return RewindTarget(
        content=Content.from_chunks((replayer.data,)),
        chain=tuple(replayer.chain),
        deposits=tuple(_with_rewind(history, base.chain, start, replayer.deposits)),
        carried=sum(growth.n_bytes for growth in growths),
    )


def names_after(
    before: Sequence[Message], edits: Sequence[Edit], after: Sequence[Message]
) -> Names:
    """Map the ids before an operation, and those of its insertions, to the ids when read back.

    ``before`` and ``after`` are histories; ``edits`` lead from one to the other.
    """
    expected = apply_all(before, edits)
    return {old.id: new.id for old, new in zip(expected, after, strict=False)}


def with_names(edits: Sequence[Edit], names: Names) -> tuple[Edit, ...]:
    """Rename the ids in edits; edits of messages without a name are left out.

    A summary or marker placed before such a message is placed before the first message it hides. An
    inserted half of a tool pair is left out.
    """
    written = {edit.message.id: edit.message.id for edit in edits if isinstance(edit, Insert)}
    ids = {**names, **written}
    hidden = {e.group: _hidden(e, ids) for e in edits if isinstance(e, Hide)}
    renamed: list[Edit] = []
    for edit in edits:
        match edit:
            case Hide() if hidden[edit.group]:
                renamed.append(replace(edit, ids=hidden[edit.group]))
            case Replace() if edit.id in ids:
                renamed.append(_replace(edit, ids))
            case DropPart() | SetField() if edit.id in ids:
                renamed.append(replace(edit, id=ids[edit.id]))
            case RemoveUnsent() | CorrectRecord():
                renamed.append(replace(edit, id=ids.get(edit.id, edit.id)))
            case Insert() if edit.message.kind in ("call", "result"):
                if edit.before in ids:
                    renamed.append(Insert(before=ids[edit.before], message=_item(edit, ids)))
            case Insert() if hidden.get(edit.message.group):
                before = ids.get(edit.before, hidden[edit.message.group][0])
                renamed.append(Insert(before=before, message=_item(edit, ids)))
    return tuple(renamed)


def _added_ids(before: Transcript, after: Transcript) -> tuple[MessageId, ...]:
    ids = {message.id for message in before.messages}
    return tuple(message.id for message in after.messages if message.id not in ids)


def _new_id(operation: Operation, base: bytes, edits: Sequence[Edit]) -> OperationId:
    content = ("regroup", operation.id, digest_of(base).sha256, *groups_of(edits))
    return OperationId(hashlib.sha256("\n".join(content).encode()).hexdigest()[:12])


def _read_state(data: bytes, format_name: str) -> Transcript:
    """Read the messages of an archived state."""
    lines, chosen = split(split_lines(data), "an archived state", format_name)
    return parse(lines, chosen)


def _require_whole(before: Transcript, after: Transcript, group: str) -> None:
    """Raise ChangedError if a tool call was separated from its result that was not before."""
    orphans_before = Counter(orphan.kind for orphan in find_orphans(before.effective))
    if Counter(orphan.kind for orphan in find_orphans(after.effective)) - orphans_before:
        raise ChangedError(
            f"group {group} cannot be restored alone: a later operation hides the other half of "
            "a tool call in it; undo that one first, or rewind to the operation before"
        )


def _place_of(group: str, chain: Sequence[OperationStep]) -> int:
    groups = [_groups(step) for step in chain]
    for index, names in enumerate(groups):
        if group in names:
            return index
    group_names = ", ".join(name for names in groups for name in names)
    raise UsageError(f"no group {group!r} is in effect; there are {group_names or 'none'}")


def _groups(step: OperationStep) -> tuple[str, ...]:
    if isinstance(step, InlineStep):
        return step.operation.groups
    archived = read_edits((row.edits for row in step.rows()), step.file.path)
    return groups_of(archived.edits)


def _archived(steps: Sequence[OperationStep], group: str) -> list[ArchivedStep]:
    """Return the archived operations to replay, from the one that made the group on.

    Leading operations inside the same transcript are left out: they are changed there instead.
    """
    later = list(itertools.dropwhile(lambda step: isinstance(step, InlineStep), steps))
    if any(step.is_without_stages for step in later):
        raise ChangedError(
            f"group {group} cannot be restored alone: a compaction by the client was undone, or "
            "the end left out, after it; redo that first"
        )
    archived_steps = [step for step in later if isinstance(step, ArchivedStep)]
    if len(archived_steps) != len(later):
        raise ChangedError(
            f"group {group} cannot be restored alone: a later operation has no archive; undo "
            "that one first"
        )
    return archived_steps


def _replayed(steps: Sequence[ArchivedStep], history: OperationHistory) -> list[ReplayedOperation]:
    """Return what each step did; each state but the last is that before the following step."""
    following = (*steps[1:], None)
    return [
        _operation_at(step, history, history.data if later is None else b"".join(later.before()))
        for step, later in zip(steps, following, strict=False)
    ]


def _operation_at(step: ArchivedStep, history: OperationHistory, state: bytes) -> ReplayedOperation:
    """Return what a step did; ``state`` is its outcome plus what was appended to it."""
    operation = step.operation
    archived = read_edits((line.edits for line in step.rows()), step.file.path)
    edits = archived.edits
    before = _read_state(b"".join(step.before()), operation.format)
    after = _read_state(read_outcome(history, step), operation.format)
    return ReplayedOperation(
        operation=operation,
        archived=archived,
        names=names_after(before.history, edits, after.history),
        layout="inline" if _any_in(edits, (m.tags.hidden_by for m in after.messages)) else "split",
        tags=_any_in(edits, (m.tags.hiding_ids for m in after.messages)),
        appended=_added_ids(after, _read_state(state, operation.format)),
    )


def _any_in(edits: Sequence[Edit], names: Iterable[Sequence[str]]) -> bool:
    """Return whether a tag names a group of the edits."""
    groups = set(groups_of(edits))
    return any(not groups.isdisjoint(group_names) for group_names in names)


def _base(
    group: str, history: OperationHistory, index: int, steps_to_replay: Sequence[ArchivedStep]
) -> _ReplayBase:
    step = history.chain[index]
    chain = tuple(step_before.id for step_before in history.chain[:index])
    if isinstance(step, InlineStep):
        state = b"".join(steps_to_replay[0].before()) if steps_to_replay else history.data
        return _inline_base(group, history.chain[index:], state, chain)
    data = b"".join(step.before())
    return _ReplayBase(
        data=data,
        chain=chain,
        names={message.id: message.id for message in _read_state(data, step.format).messages},
    )


def _inline_base(
    group: str, steps: Sequence[OperationStep], state: bytes, chain: tuple[OperationId, ...]
) -> _ReplayBase:
    """Remove a group of the first step from ``state``, which holds its originals."""
    inline_steps = [step for step in steps if isinstance(step, InlineStep)]
    first = inline_steps[0]
    if len(inline_steps) == 1 and set(first.operation.groups) == {group}:
        match = find_growth((state,), (state_after(first),))
        data = grown(b"".join(first.before()), () if match is None else (match[1],))
    else:
        operations = [step.operation for step in inline_steps]
        data, new_ids = without_inline(state, first.where, first.format, operations, group)
        chain += new_ids
    messages = _read_state(state, first.format).messages
    messages_after = _read_state(data, first.format).messages
    return _ReplayBase(
        data=data, chain=chain, names=_names_without(group, messages, messages_after)
    )


def _names_without(group: str, before: Sequence[Message], after: Sequence[Message]) -> Names:
    """Map the ids of messages to those without a group; rewritten ones map to their originals."""
    remaining_ids = [message.id for message in before if group not in message.tags.hiding_ids]
    names = dict(zip(remaining_ids, (message.id for message in after), strict=False))
    rewritten = [message.id for message in before if message.tags.edit_id == group]
    originals = [message.id for message in before if message.tags.edit_parent == group]
    pairs = zip(rewritten, originals, strict=False)
    return names | {new: names[old] for new, old in pairs if old in names}


def _own_fields(data: bytes, format_name: str) -> dict[str, Any]:
    """Return what the newest compaction recorded about requests, to be recorded again."""
    unseen = recorded_unseen(_read_state(data, format_name).effective)
    return {**({"unseen": unseen} if unseen else {}), **format_field(format_name)}


def _with_rewind(
    history: OperationHistory,
    chain: tuple[OperationId, ...],
    base: bytes,
    deposits: Sequence[ArchiveDraft],
) -> Iterator[ArchiveDraft]:
    current, head = history.data, chain[-1] if chain else None
    operation = rewind_operation(history, digest_of(current), Content.from_chunks((base,)), head)
    yield ArchiveDraft(operation, tuple(rewind_rows(split_lines(current))))
    yield from deposits


def _hidden(edit: Hide, names: Names) -> tuple[MessageId, ...]:
    return tuple(names[name] for name in edit.ids if name in names)


def _replace(edit: Replace, names: Names) -> Replace:
    target = names.get(edit.refers_to) if edit.refers_to else None
    return replace(edit, id=names[edit.id], refers_to=target)


def _item(edit: Insert, names: Names) -> Synthetic:
    item = edit.message
    through = names.get(item.through, item.through) if item.through else None
    return replace(item, through=through)
