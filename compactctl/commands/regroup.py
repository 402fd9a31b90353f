"""Brings the messages of one group back while every other edit stays in effect."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compactctl.commands.appended import appended
from compactctl.commands.calibrated import recorded_unseen
from compactctl.commands.reading import parse, split
from compactctl.commands.rewind_operation import rewind_operation
from compactctl.errors import UsageError
from compactctl.formats.registry import format_named
from compactctl.history.standins import newest_id
from compactctl.model.edit import Edit, groups_of, without_group
from compactctl.model.message import MessageId
from compactctl.model.operation import Operation, OperationId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.archive_rows import StageEdits, archive_rows, plain_rows
from compactctl.pipeline.edit_text import edits_from_rows, stages_from_rows
from compactctl.pipeline.layout import Style, lay_out
from compactctl.store.archive import archived_lines
from compactctl.store.deposit import Deposit
from compactctl.store.history import Archive
from compactctl.store.lines import digest_of, split_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouped:
    """The state without one group, the chain that leads to it and the archives that record it."""

    data: bytes
    chain: tuple[Operation, ...]
    archives: tuple[Deposit, ...]
    carried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """What an archived operation did: its edits, the stage of each group, the sizes it saw."""

    operation: Operation
    edits: tuple[Edit, ...]
    stages: dict[str, str]
    tokens: dict[MessageId, int]


def without(group: str, archive: Archive, data: bytes, chain: Sequence[Operation]) -> Regrouped:
    """Return the state in which ``group`` was never made; UsageError when it is not in effect.

    The operation that made the group is undone and carried out again without it, and so are all
    later ones. Lines appended since stay at the end.
    """
    made = [_made(archive, operation) for operation in chain]
    place = _place_of(group, made)
    first = chain[place]
    base = archive.undo(first.id)
    carry = appended(archive, first, data, chain)
    kept = tuple(chain[:place])
    replay = _Replay(base + carry, kept, _own_fields(data, first.format), group)
    for each in made[place:]:
        replay.carry_out(each, without_group(each.edits, group))
    return Regrouped(
        data=replay.data,
        chain=tuple(replay.chain),
        archives=tuple(_with_rewind(data, chain, kept, base + carry, replay.archives)),
        carried=len(carry),
    )


def _with_rewind(
    left: bytes,
    chain: Sequence[Operation],
    kept: Sequence[Operation],
    base: bytes,
    archives: Sequence[Deposit],
) -> Iterator[Deposit]:
    operation = rewind_operation(digest_of(left), digest_of(base), chain, kept)
    yield operation, plain_rows(split_lines(left))
    yield from archives


def _made(archive: Archive, operation: Operation) -> _Made:
    lines = tuple(archived_lines(archive.file_of(operation.id)))
    rows = [row for line in lines if line.edits for row in json.loads(line.edits)]
    return _Made(
        operation=operation,
        edits=edits_from_rows(rows),
        stages=stages_from_rows(rows),
        tokens={MessageId(line.message_id): line.tokens or 0 for line in lines if line.message_id},
    )


def _place_of(group: str, made: Sequence[_Made]) -> int:
    for place, each in enumerate(made):
        if group in groups_of(each.edits):
            return place
    names = ", ".join(name for each in made for name in groups_of(each.edits))
    raise UsageError(f"no group {group!r} is in effect; there are {names or 'none'}")


class _Replay:
    """Carries archived operations out again, one after another."""

    def __init__(
        self, base: bytes, kept: Sequence[Operation], own: Mapping[str, Any], group: str
    ) -> None:
        self.data = base
        self.own = own
        self.group = group
        self.chain = list(kept)
        self.archives: list[Deposit] = []

    def carry_out(self, made: _Made, edits: tuple[Edit, ...]) -> None:
        """Carry out one operation's remaining edits on the state so far."""
        if not edits:
            return
        chosen = format_named(made.operation.format)
        lines, _ = split(self.data, "the restored state", chosen.name)
        transcript = parse(lines, chosen)
        folded = fold(edits)
        name = _new_id(made.operation, self.data)
        after = lay_out(lines, transcript, folded, chosen, Style(operation=name, own=self.own))
        before = digest_of(self.data)
        self.data = b"".join(line.data for line in after)
        parent = self.chain[-1].id if self.chain else None
        operation = replace(
            made.operation,
            id=name,
            head=name,
            parent=parent,
            before=before,
            after=digest_of(self.data),
            detail=f"{made.operation.id} without group {self.group}",
        )
        rows = archive_rows(
            lines,
            after,
            transcript,
            StageEdits(edits=edits, stages=made.stages, tokens=made.tokens),
        )
        self.chain.append(operation)
        self.archives.append((operation, rows))


def _own_fields(left: bytes, format_name: str) -> dict[str, Any]:
    """Return what the newest compaction recorded of the requests, to be recorded again."""
    lines, chosen = split(left, "the transcript", format_name)
    messages = parse(lines, chosen).effective
    unseen, newest = recorded_unseen(messages), newest_id(messages)
    fields: dict[str, Any] = {"through": newest} if newest else {}
    return fields | ({"unseen": unseen} if unseen else {})


def _new_id(operation: Operation, base: bytes) -> OperationId:
    content = f"regroup\n{operation.id}\n{digest_of(base).sha256}"
    return OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])
