"""The messages as they were before earlier runs summarized, hid or rewrote them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compactctl.commands.loading.load import Loaded, parse
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.formats.format import Format
from compactctl.history.standins import group_behind
from compactctl.model.edit import Edit, Insert
from compactctl.model.message import Message, MessageId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import Folded, fold, newest_edit
from compactctl.pipeline.edit_codec import read_edits
from compactctl.stages.support.condensation import in_order

_Messages = tuple[Message, ...]


def originals_of(loaded: Loaded, history: OperationHistory) -> Mapping[MessageId, _Messages]:
    """Return, by the id of each stand-in and rewritten message, the messages it stands for.

    They are in the file itself (inline) or in its archive; what has neither is left out. Stand-ins
    and rewritten messages among them are in turn what those stand for. What a person dropped, by a
    stage or with tags of their own, is behind none of them. Every other message is there too, as
    itself; all have a rank, since the lines of several states mean nothing to one another.
    """
    shown = loaded.transcript.effective
    if not any(group_behind(message) or message.tags.edit_id for message in shown):
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
            group = group_behind(each)
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


def _after(step: ArchivedStep, chosen: Format, past: _Past) -> _Past:
    """Return the past once another step has taken away what it did."""
    rows = tuple(step.rows())
    edits = read_edits((row.edits for row in rows), step.file.path).edits
    messages = _as_sent(parse((row.raw for row in rows), chosen))
    folded, state = fold(edits), _State(messages, past)
    outer = dict(_outer_groups(edits, folded))
    hidden: dict[str, list[Message]] = defaultdict(list)
    rewritten: dict[str, list[_Messages]] = defaultdict(list)
    for message in messages:
        hide, parts = folded.hidden.get(message.id), folded.replaced.get(message.id)
        if hide:
            hidden[_outermost(hide.group, outer)] += state.behind(message)
        elif group := newest_edit(parts).group if parts else message.tags.edit_id:
            rewritten[group].append(tuple(state.behind(message)))
    gone = {group: tuple(found) for group, found in hidden.items()}
    ranks = _ranked(messages, past.ranks)
    return _Past(hidden={**past.hidden, **gone}, rewritten=rewritten, ranks=ranks)


def _ranked(messages: Iterable[Message], known: Mapping[MessageId, int]) -> Mapping[MessageId, int]:
    """Return the ranks of messages of a state: those that were added to it follow all others."""
    ranks = dict(known)
    for message in messages:
        ranks.setdefault(message.id, len(ranks))
    return ranks


def _with_ranks(messages: Iterable[Message], ranks: Mapping[MessageId, int]) -> Iterator[Message]:
    return (replace(message, rank=ranks.get(message.id)) for message in messages)


def _as_sent(transcript: Transcript) -> _Messages:
    """Return all messages of a state; a client may send less of one than is stored."""
    sent = {message.id: message for message in transcript.effective}
    return tuple(sent.get(message.id, message) for message in transcript.messages)


def _outer_groups(edits: Iterable[Edit], folded: Folded) -> Iterator[tuple[str, str]]:
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
