"""Brings the messages of one group back while every other edit stays in effect."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.commands.appended import appended, require_carried
from compactctl.commands.calibrated import recorded_unseen
from compactctl.commands.replay import Made, Replay, made_by, read_state
from compactctl.commands.rewind_operation import rewind_operation
from compactctl.errors import UsageError
from compactctl.history.standins import newest_id
from compactctl.model.edit import groups_of, without_group
from compactctl.model.operation import Operation
from compactctl.pipeline.archive_rows import plain_rows
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


def without(group: str, archive: Archive, data: bytes, chain: Sequence[Operation]) -> Regrouped:
    """Return the state in which ``group`` was never made; UsageError when it is not in effect.

    The operation that made the group is undone and carried out again without it, and so are all
    later ones. Lines appended since stay at the end. ChangedError when they cannot, or when what
    is left would be a broken conversation.
    """
    states = [*(archive.undo(operation.id) for operation in chain[1:]), data]
    made = [made_by(archive, *step) for step in zip(chain, states, strict=True)]
    place = _place_of(group, made)
    first = chain[place]
    base = archive.undo(first.id)
    carry = appended(archive, first, data, chain)
    require_carried(base, carry)
    kept = tuple(chain[:place])
    replay = Replay(base + carry, kept, _own_fields(data, first.format), group)
    replay.start(read_state(base + carry, first.format), first.before.n_lines)
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


def _place_of(group: str, made: Sequence[Made]) -> int:
    for place, each in enumerate(made):
        if group in groups_of(each.edits):
            return place
    names = ", ".join(name for each in made for name in groups_of(each.edits))
    raise UsageError(f"no group {group!r} is in effect; there are {names or 'none'}")


def _own_fields(left: bytes, format_name: str) -> dict[str, Any]:
    """Return what the newest compaction recorded of the requests, to be recorded again."""
    messages = read_state(left, format_name).effective
    unseen, newest = recorded_unseen(messages), newest_id(messages)
    fields: dict[str, Any] = {"through": newest} if newest else {}
    return fields | ({"unseen": unseen} if unseen else {})
