"""Carries archived operations out again on another state."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compactctl.commands.loading.load import parse, split
from compactctl.commands.operations.inline import own_fields
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.rewind.message_ids import Names, names_after, with_names
from compactctl.commands.sizing.measure import MeasureOptions, measure
from compactctl.commands.sizing.restating import restatement
from compactctl.errors import ChangedError
from compactctl.formats.registry import format_named
from compactctl.history.pairs import orphans
from compactctl.history.standins import newest_id
from compactctl.model.counts import Restated
from compactctl.model.edit import Edit, Insert, groups_of
from compactctl.model.message import MessageId
from compactctl.model.operation import ArchivedLine, Operation, OperationId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import apply_all, fold
from compactctl.pipeline.archive_rows import archive_rows
from compactctl.pipeline.edit_codec import ArchivedEdits, read_edits
from compactctl.pipeline.layout import Layout, LayoutStyle, lay_out
from compactctl.pipeline.new_file import NewFile
from compactctl.store.files.lines import digest_of, split_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedOperation:
    """An archived operation that is to be carried out again: how it was laid out, and its edits.

    ``names`` maps the ids before it to those after it; ``appended`` are the ids of the messages
    that came between it and the next operation.
    """

    operation: Operation
    layout: Layout
    tags: bool
    archived: ArchivedEdits
    names: Names
    appended: tuple[MessageId, ...]

    @property
    def tokens(self) -> dict[MessageId, int]:
        """The sizes of the messages that it hid or rewrote, as it saw them."""
        sizes = self.archived.sizes.values()
        return {name: tokens for messages in sizes for name, tokens in messages.items()}


def operation_at(step: ArchivedStep, state: bytes) -> ReplayedOperation:
    """Return what a step did; ``state`` is its outcome with what was appended to it."""
    operation = step.operation
    archived = read_edits((line.edits for line in step.rows()), step.file.path)
    edits = archived.edits
    before = read_state(b"".join(step.before()), operation.format)
    after = read_state(state[: operation.after.n_bytes], operation.format)
    return ReplayedOperation(
        operation=operation,
        archived=archived,
        names=names_after(before.effective, edits, after.effective),
        layout="inline" if _any_in(edits, (m.tags.parents for m in after.messages)) else "split",
        tags=_any_in(edits, (m.tags.ids for m in after.messages)),
        appended=_ids_from(read_state(state, operation.format), operation.after.n_lines),
    )


def _any_in(edits: Sequence[Edit], names: Iterable[Sequence[str]]) -> bool:
    """Tell whether a tag names a group of the edits; only inline leaves tagged originals."""
    groups = set(groups_of(edits))
    return any(not groups.isdisjoint(some) for some in names)


def read_state(data: bytes, format_name: str) -> Transcript:
    """Read the messages of a state that the archive knows."""
    lines, chosen = split(split_lines(data), "an archived state", format_name)
    return parse(lines, chosen)


def _ids_from(transcript: Transcript, line: int) -> tuple[MessageId, ...]:
    return tuple(message.id for message in transcript.messages if message.line >= line)


class OperationReplayer:
    """Carries archived operations out again, one after another.

    ``names`` maps the ids in the state that an operation saw to those in the state so far.
    """

    def __init__(
        self, base: bytes, kept: Sequence[OperationId], own: Mapping[str, Any], group: str
    ) -> None:
        self.data = base
        self.own = own
        self.group = group
        self.chain = list(kept)
        self.archives: list[tuple[Operation, tuple[ArchivedLine, ...]]] = []
        self.names: dict[MessageId, MessageId] = {}
        self.carried: list[MessageId] = []

    def start(self, transcript: Transcript, n_lines: int, names: Names) -> None:
        """Take in the state to start from; what stands after ``n_lines`` was appended later.

        ``names`` maps the ids in the state that the first operation saw to those in this one.
        """
        self.names = dict(names)
        self.carried = list(_ids_from(transcript, n_lines))

    @property
    def parent(self) -> OperationId | None:
        """The newest compaction in effect so far."""
        return self.chain[-1] if self.chain else None

    def replay(self, replayed: ReplayedOperation, edits: tuple[Edit, ...]) -> None:
        """Carry out an operation's remaining edits on the state so far."""
        wanted = with_names(edits, self.names)
        new_names = self._carry_out(replayed, wanted) if wanted else {}
        written = {e.message.id: e.message.id for e in wanted if isinstance(e, Insert)}
        known = {**self.names, **written}
        self.carried = [new_names.get(name, name) for name in self.carried]
        came, self.carried = (
            self.carried[: len(replayed.appended)],
            self.carried[len(replayed.appended) :],
        )
        self.names = {
            later: new_names.get(known[earlier], known[earlier])
            for earlier, later in replayed.names.items()
            if earlier in known
        } | dict(zip(replayed.appended, came, strict=False))

    def _carry_out(self, replayed: ReplayedOperation, edits: tuple[Edit, ...]) -> Names:
        chosen = format_named(replayed.operation.format)
        lines, _ = split(split_lines(self.data), "the restored state", chosen.name)
        transcript = parse(lines, chosen)
        name = _new_id(replayed.operation, self.data, edits)
        own = self._own(lines, transcript, replayed)
        style = LayoutStyle(
            layout=replayed.layout,
            operation=name,
            tags=replayed.tags,
            own=own,
            restated=self._restated(replayed, transcript, edits) if chosen.counts else None,
        )
        after = NewFile(lines, lay_out(lines, transcript, fold(edits), chosen, style))
        before = digest_of(self.data)
        self.data = b"".join(after)
        result = read_state(self.data, chosen.name)
        _require_whole(transcript, result, self.group)
        operation = replace(
            replayed.operation,
            id=name,
            head=name,
            parent=self.parent,
            before=before,
            after=digest_of(self.data),
            detail=f"{replayed.operation.id} without group {self.group}",
        )
        sizes = {self.names[old]: n for old, n in replayed.tokens.items() if old in self.names}
        edited = replace(replayed.archived, edits=edits)
        rows = tuple(archive_rows(lines, after, transcript, edited, sizes))
        self.chain.append(name)
        self.archives.append((operation, rows))
        return names_after(transcript.effective, edits, result.effective)

    def _restated(
        self, replayed: ReplayedOperation, transcript: Transcript, edits: tuple[Edit, ...]
    ) -> Restated | None:
        """Return the counts that a client is to find once the edits are carried out."""
        if replayed.layout == "inline" or not replayed.tags:
            return None
        meter = measure(transcript, MeasureOptions()).meter
        after = apply_all(transcript.effective, edits)
        tokens = meter.total(after) + self.own.get("unseen", 0)
        return restatement(transcript, after, tokens, meter.message)

    def _own(
        self, lines: Sequence[bytes], transcript: Transcript, replayed: ReplayedOperation
    ) -> Mapping[str, Any]:
        newest = newest_id(transcript.effective)
        own = {**({"through": newest} if newest else {}), **self.own}
        if replayed.layout == "split":
            return own
        return {**own, **own_fields(lines, transcript, digest_of(self.data), self.parent)}


def _require_whole(before: Transcript, after: Transcript, group: str) -> None:
    """Raise ChangedError when calls or results were parted that were not parted before."""
    known = Counter(orphan.kind for orphan in orphans(before.effective))
    if Counter(orphan.kind for orphan in orphans(after.effective)) - known:
        raise ChangedError(
            f"group {group} cannot be taken back alone: a later operation hides the other half of "
            "a tool call in it; take that one back first, or rewind to the operation before"
        )


def _new_id(operation: Operation, base: bytes, edits: Sequence[Edit]) -> OperationId:
    content = ("regroup", operation.id, digest_of(base).sha256, *groups_of(edits))
    return OperationId(hashlib.sha256("\n".join(content).encode()).hexdigest()[:12])
