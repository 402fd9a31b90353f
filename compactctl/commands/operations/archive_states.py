"""The states a transcript has been in, each with its messages and what hides them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compactctl.commands.loading.load import parse
from compactctl.commands.operations.steps import OperationStep
from compactctl.formats.format import Format
from compactctl.model.edit import HideKind
from compactctl.model.message import Message, MessageId, Tags
from compactctl.model.operation import ArchivedLine
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import fold, newest_edit
from compactctl.pipeline.edit_codec import read_edits

_TAGS: Mapping[HideKind, str] = {"condense": "condense_parent", "truncate": "truncation_parent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenBy:
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
class PastMessages:
    """The messages by the index of their line, and what hides some of them, by their id.

    In the newest state those are hidden though the file holds them, as an inline compaction does
    it; in earlier ones the next state does not hold them, or not as they are here.
    """

    messages: Mapping[int, Sequence[Message]]
    hidden: Mapping[MessageId, HiddenBy]


def states_of(
    steps: Sequence[OperationStep],
    rows: Sequence[Sequence[ArchivedLine]],
    newest: Transcript,
    chosen: Format,
) -> tuple[PastMessages, ...]:
    """Return the states before each step, oldest first, and the newest one.

    ``rows`` are the lines of each state before a step.

    ArchiveError for edits that cannot be understood.
    """
    past = [parse((row.raw for row in lines), chosen) for lines in rows]
    edited = (_edited(lines, step.where) for step, lines in zip(steps, rows, strict=True))
    left = (
        PastMessages(messages=_by_line(before), hidden=_left_behind(by_edits, before, after))
        for by_edits, before, after in zip(edited, past, [*past, newest][1:], strict=True)
    )
    return (*left, PastMessages(messages=_by_line(newest), hidden=_inline(newest)))


def _left_behind(
    edited: Mapping[MessageId, HiddenBy], before: Transcript, after: Transcript
) -> dict[MessageId, HiddenBy]:
    """Return what an operation took away, without what it only tagged."""
    there, tagged = {message.id for message in after.messages}, _inline(after)
    earlier = {name: by for name, by in _inline(before).items() if name not in there}
    made = {name: by for name, by in edited.items() if name not in tagged}
    return earlier | made


def _by_line(transcript: Transcript) -> dict[int, list[Message]]:
    found: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        found[message.line].append(message)
    return dict(found)


def _inline(transcript: Transcript) -> dict[MessageId, HiddenBy]:
    shown = {message.id for message in transcript.effective}
    return {
        message.id: _by_tag(message.tags)
        for message in transcript.messages
        if message.tags.parents and message.id not in shown
    }


def _by_tag(tags: Tags) -> HiddenBy:
    names = ("condense_parent", "truncation_parent", "edit_parent")
    tag = next(name for name in names if getattr(tags, name))
    return HiddenBy(group=getattr(tags, tag), tag=tag)


def _edited(rows: Iterable[ArchivedLine], where: str) -> dict[MessageId, HiddenBy]:
    archived = read_edits((row.edits for row in rows), where)
    folded, stages = fold(archived.edits), archived.groups
    found = {name: newest_edit(parts).group for name, parts in folded.replaced.items()}
    edited = {
        MessageId(name): HiddenBy(group=group, tag="edit_parent", stage=stages.get(group))
        for name, group in found.items()
    }
    hidden = {
        MessageId(name): HiddenBy(
            group=hide.group, tag=_TAGS[hide.kind], stage=stages.get(hide.group)
        )
        for name, hide in folded.hidden.items()
    }
    return edited | hidden
