"""The states a transcript has been in: what hides their messages, and what stands for which."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.formats.format import Format
from compactctl.history.stand_ins import hidden_group
from compactctl.model.edit import Edit, HideKind, Insert
from compactctl.model.message import Message, MessageId, Tags
from compactctl.model.operation import ArchivedLine
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import NetEdits, latest_edit, net_edits
from compactctl.pipeline.edit_codec import read_edits

_TAGS: Mapping[HideKind, str] = {"condense": "condense_parent", "truncate": "truncation_parent"}
_Messages = tuple[Message, ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """What operations took away, as it was before any of them.

    Attributes:
        hidden: the messages behind each group.
        rewritten: for each group, what the messages were that carry its tag, in order.
        ranks: where each message stood that there ever was.
    """

    ranks: Mapping[MessageId, int] = field(default_factory=dict)
    hidden: Mapping[str, _Messages] = field(default_factory=dict)
    rewritten: Mapping[str, Sequence[_Messages]] = field(default_factory=dict)


class _State:
    """A state of the transcript, in which messages stand for others of it or of the past."""

    def __init__(self, messages: Iterable[Message], past: _Past) -> None:
        self._past = past
        self._inside: dict[str, list[Message]] = defaultdict(list)
        rewritten: dict[str, list[Message]] = defaultdict(list)
        rewritings: dict[str, list[Message]] = defaultdict(list)
        for message in messages:
            tags = message.tags
            for group in filter(None, (tags.condense_parent, tags.truncation_parent)):
                self._inside[group].append(message)
            if tags.edit_parent:
                rewritten[tags.edit_parent].append(message)
            if tags.edit_id:
                rewritings[tags.edit_id].append(message)
        self._beside: dict[MessageId, Message] = {}
        self._before: dict[MessageId, _Messages] = {}
        for group, news in rewritings.items():
            # They follow one another in one order; where some are missing nobody knows which.
            olds, gone = rewritten.get(group, ()), past.rewritten.get(group, ())
            if len(olds) == len(news):
                self._beside |= {new.id: old for new, old in zip(news, olds, strict=True)}
            elif len(gone) == len(news):
                self._before |= {new.id: old for new, old in zip(news, gone, strict=True)}

    def behind(self, message: Message) -> Iterator[Message]:
        """Yield what a message stands for, itself where it stands for nothing else.

        No group is followed twice.
        """
        followed: set[str] = set()
        waiting = [message]
        while waiting:
            each = waiting.pop()
            group = hidden_group(each)
            way = group or each.id
            if way in followed:
                yield each
                continue
            followed.add(way)
            here: Sequence[Message] = self._inside.get(group, ()) if group else ()
            if not group and each.id in self._beside:
                here = (self._beside[each.id],)
            before = self._past.hidden.get(group, ()) if group else self._before.get(each.id, ())
            if here:
                waiting += reversed(here)
            else:
                yield from before or (each,)


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


def originals_of(
    loaded: TranscriptFile, history: OperationHistory
) -> Mapping[MessageId, _Messages]:
    """Return, by the id of each stand-in and rewritten message, the messages it stands for.

    They are in the file itself (inline) or in its archive; what has neither is left out. Stand-ins
    and rewritten messages among them are in turn what those stand for. What a person dropped, by a
    stage or with tags of their own, is behind none of them. Every other message is there too, as
    itself; all have a rank, since the lines of several states mean nothing to one another.
    """
    from compactctl.stages.support.condensation import in_order

    shown = loaded.transcript.effective
    if not any(hidden_group(message) or message.tags.edit_id for message in shown):
        return {}
    past = _Past()
    for step in history.chain:
        # What a step inside the transcript took away is there, or in the next archived state.
        if isinstance(step, ArchivedStep):
            past = _after(step, loaded.format, past)
    messages = _as_sent(loaded.transcript)
    state, ranks = _State(messages, past), _ranked(messages, past.ranks)
    found = {message.id: in_order(_with_ranks(state.behind(message), ranks)) for message in shown}
    return {name: messages for name, messages in found.items() if messages}


def _edited(rows: Iterable[ArchivedLine], where: str) -> dict[MessageId, HiddenBy]:
    archived = read_edits((row.edits for row in rows), where)
    folded, stages = net_edits(archived.edits), archived.groups
    found = {name: latest_edit(parts).group for name, parts in folded.replaced.items()}
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


def _by_line(transcript: Transcript) -> dict[int, list[Message]]:
    found: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        found[message.line].append(message)
    return dict(found)


def _left_behind(
    edited: Mapping[MessageId, HiddenBy], before: Transcript, after: Transcript
) -> dict[MessageId, HiddenBy]:
    """Return what an operation took away, without what it only tagged."""
    there, tagged = {message.id for message in after.messages}, _inline(after)
    earlier = {name: by for name, by in _inline(before).items() if name not in there}
    made = {name: by for name, by in edited.items() if name not in tagged}
    return earlier | made


def _inline(transcript: Transcript) -> dict[MessageId, HiddenBy]:
    shown = {message.id for message in transcript.effective}
    return {
        message.id: _by_tag(message.tags)
        for message in transcript.messages
        if message.tags.hidden_by and message.id not in shown
    }


def _by_tag(tags: Tags) -> HiddenBy:
    names = ("condense_parent", "truncation_parent", "edit_parent")
    tag = next(name for name in names if getattr(tags, name))
    return HiddenBy(group=getattr(tags, tag), tag=tag)


def _after(step: ArchivedStep, chosen: Format, past: _Past) -> _Past:
    """Return the past once another step has taken away what it did."""
    rows = tuple(step.rows())
    edits = read_edits((row.edits for row in rows), step.file.path).edits
    messages = _as_sent(parse((row.raw for row in rows), chosen))
    folded, state = net_edits(edits), _State(messages, past)
    outer = dict(_outer_groups(edits, folded))
    hidden: dict[str, list[Message]] = defaultdict(list)
    rewritten: dict[str, list[_Messages]] = defaultdict(list)
    for message in messages:
        hide, parts = folded.hidden.get(message.id), folded.replaced.get(message.id)
        if hide:
            hidden[_outermost(hide.group, outer)] += state.behind(message)
        elif group := latest_edit(parts).group if parts else message.tags.edit_id:
            rewritten[group].append(tuple(state.behind(message)))
    gone = {group: tuple(found) for group, found in hidden.items()}
    ranks = _ranked(messages, past.ranks)
    return _Past(hidden={**past.hidden, **gone}, rewritten=rewritten, ranks=ranks)


def _as_sent(transcript: Transcript) -> _Messages:
    """Return all messages of a state; a client may send less of one than is stored."""
    sent = {message.id: message for message in transcript.effective}
    return tuple(sent.get(message.id, message) for message in transcript.messages)


def _outer_groups(edits: Iterable[Edit], folded: NetEdits) -> Iterator[tuple[str, str]]:
    """Yield the groups of stand-ins that the same operation hid again, each with the hiding one."""
    for edit in edits:
        if isinstance(edit, Insert) and not edit.message.is_final:
            hide = folded.hidden.get(edit.message.id)
            if hide:
                yield edit.message.group, hide.group


def _outermost(group: str, outer: Mapping[str, str]) -> str:
    followed = {group}
    while (found := outer.get(group)) and found not in followed:
        followed.add(found)
        group = found
    return group


def _ranked(messages: Iterable[Message], known: Mapping[MessageId, int]) -> Mapping[MessageId, int]:
    """Return the ranks of messages of a state: those that were added to it follow all others."""
    ranks = dict(known)
    for message in messages:
        ranks.setdefault(message.id, len(ranks))
    return ranks


def _with_ranks(messages: Iterable[Message], ranks: Mapping[MessageId, int]) -> Iterator[Message]:
    return (replace(message, rank=ranks.get(message.id)) for message in messages)
