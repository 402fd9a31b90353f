"""The states a transcript has been in, each with its messages and what hides them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compactctl.commands.loading.load import parse
from compactctl.formats.format import Format
from compactctl.model.edit import HideKind
from compactctl.model.message import Message, MessageId, Tags
from compactctl.model.operation import ArchivedLine
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import fold, newest_edit
from compactctl.pipeline.edit_codec import read_edits

_TAGS: Mapping[HideKind, str] = {"condense": "condense_parent", "truncate": "truncation_parent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What hides or rewrote a message: a group, and its stage where that is known.

    ``tag`` is the field of ``Tags`` that says so, "" where no tag does, as of clients.
    """

    group: str
    tag: str
    stage: str | None = None

    def tagged(self, tags: Tags) -> Tags:
        """Return ``tags`` with this one among them."""
        found: dict[str, Any] = {self.tag: self.group} if self.tag else {}
        return replace(tags, **found)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The messages by the index of their line, and what hides some of them, by their id.

    In the newest state those are hidden though the file holds them, as an inline compaction does
    it; in earlier ones the next state does not hold them, or not as they are here.
    """

    messages: Mapping[int, Sequence[Message]]
    hidden: Mapping[MessageId, Hidden]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptState:
    """The lines of a state before an operation, and ``where`` they are kept."""

    rows: Sequence[ArchivedLine]
    where: str


def states_of(
    archived: Sequence[KeptState], newest: Transcript, chosen: Format
) -> tuple[State, ...]:
    """Return the states before each operation, oldest first, and the newest one.

    ArchiveError for edits that cannot be understood.
    """
    past = [parse((row.raw for row in kept.rows), chosen) for kept in archived]
    left = (
        State(messages=_by_line(before), hidden=_left_behind(kept, before, after))
        for kept, before, after in zip(archived, past, [*past, newest][1:], strict=True)
    )
    return (*left, State(messages=_by_line(newest), hidden=_inline(newest)))


def _left_behind(kept: KeptState, before: Transcript, after: Transcript) -> dict[MessageId, Hidden]:
    """Return what an operation took away, without what it only tagged."""
    there, tagged = {message.id for message in after.messages}, _inline(after)
    earlier = {name: by for name, by in _inline(before).items() if name not in there}
    made = {name: by for name, by in _edited(kept).items() if name not in tagged}
    return earlier | made


def _by_line(transcript: Transcript) -> dict[int, list[Message]]:
    found: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        found[message.line].append(message)
    return dict(found)


def _inline(transcript: Transcript) -> dict[MessageId, Hidden]:
    shown = {message.id for message in transcript.effective}
    return {
        message.id: _by_tag(message.tags)
        for message in transcript.messages
        if message.tags.parents and message.id not in shown
    }


def _by_tag(tags: Tags) -> Hidden:
    names = ("condense_parent", "truncation_parent", "edit_parent")
    tag = next(name for name in names if getattr(tags, name))
    return Hidden(group=getattr(tags, tag), tag=tag)


def _edited(kept: KeptState) -> dict[MessageId, Hidden]:
    archived = read_edits((row.edits for row in kept.rows), kept.where)
    folded, stages = fold(archived.edits), archived.groups
    found = {name: newest_edit(parts).group for name, parts in folded.replaced.items()}
    edited = {
        MessageId(name): Hidden(group=group, tag="edit_parent", stage=stages.get(group))
        for name, group in found.items()
    }
    hidden = {
        MessageId(name): Hidden(
            group=hide.group, tag=_TAGS[hide.kind], stage=stages.get(hide.group)
        )
        for name, hide in folded.hidden.items()
    }
    return edited | hidden
