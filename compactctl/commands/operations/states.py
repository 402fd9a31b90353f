"""Past states of a transcript: what hides their messages, and which originals are behind which."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from compactctl.clients.format import Format
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.errors import CompactctlError, IntegrityError
from compactctl.history.apply import NetEdits, latest_edit, net_edits
from compactctl.history.references import first_place
from compactctl.history.stand_ins import hidden_group, is_proven
from compactctl.history.turns import leading_system_count
from compactctl.model.edit import Edit, HideKind, Insert
from compactctl.model.message import FirstPlace, Message, MessageId, Tags, TextPart
from compactctl.model.operation import ArchivedLine
from compactctl.model.transcript import Transcript
from compactctl.pipeline.edit_codec import read_edits
from compactctl.records import Record, field, replace

_TAGS: Mapping[HideKind, str] = {"condense": "condense_parent", "truncate": "truncation_parent"}
_Messages = tuple[Message, ...]


class HiddenBy(Record):
    """The group that hides or rewrote a message, and its stage if known.

    ``tag`` is the field of ``Tags`` that names the group, "" if no tag does, as for clients.
    """

    group: str
    tag: str
    stage: str | None = None

    def add_to(self, tags: Tags) -> Tags:
        """Return ``tags`` with this group added."""
        field_values: dict[str, Any] = {self.tag: self.group} if self.tag else {}
        return replace(tags, **field_values)


class PastMessages(Record):
    """The messages of a state by the index of their line, and what hides some of them, by id.

    In the newest state, those are hidden that the file still holds (inline layout); in earlier
    states, those that the next state does not hold, or holds changed.
    """

    messages: Mapping[int, Sequence[Message]]
    hidden: Mapping[MessageId, HiddenBy]


class _Past(Record):
    """What operations removed, as it was before any of them.

    Attributes:
        ranks: the position of every message there ever was.
        hidden: the messages behind each group.
        rewritten: for each group, the originals of the messages that carry its tag, in order.
        places: where each message stood first.
        groups: the group of each stand-in by its text, for those that have lost their tags.
    """

    ranks: Mapping[MessageId, int] = field(default_factory=dict)
    hidden: Mapping[str, _Messages] = field(default_factory=dict)
    rewritten: Mapping[str, Sequence[_Messages]] = field(default_factory=dict)
    places: Mapping[MessageId, FirstPlace] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)


class _State:
    """A state of the transcript, whose messages may stand for others in it or in the past."""

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
            # Both are in the same order; if some are missing, nobody knows which.
            olds, past_olds = rewritten.get(group, ()), past.rewritten.get(group, ())
            if len(olds) == len(news):
                self._beside |= {new.id: old for new, old in zip(news, olds, strict=True)}
            elif len(past_olds) == len(news):
                self._before |= {new.id: old for new, old in zip(news, past_olds, strict=True)}

    def behind(self, message: Message) -> Iterator[Message]:
        """Yield the originals behind a message, itself if there are none. Follows no group twice.

        A summary and the question that it answers are of one group.

        summary S2 (hides S1, m3); S1 (hides m1, m2)    behind(S2) -> m1, m2, m3
        """
        yield from list(self._behind(message)) or [message]

    def _behind(self, message: Message) -> Iterator[Message]:
        seen: set[str] = set()
        pending = [message]
        while pending:
            current = pending.pop()
            group = hidden_group(current) or self._past.groups.get(_text_of(current))
            key = group or current.id
            if key in seen:
                continue
            seen.add(key)
            members: Sequence[Message] = self._inside.get(group, ()) if group else ()
            if not group and current.id in self._beside:
                members = (self._beside[current.id],)
            originals = (
                self._past.hidden.get(group, ()) if group else self._before.get(current.id, ())
            )
            if members:
                pending += reversed(members)
            else:
                yield from originals or (current,)


class StateBefore(Record):
    """The state before a step; ``rows`` have the bytes of the lines that the step hid."""

    rows: tuple[ArchivedLine, ...]
    transcript: Transcript


def read_before_step(step: OperationStep, chosen: Format) -> StateBefore:
    """Read the state before a step without keeping the bytes of lines that stayed."""
    rows: list[ArchivedLine] = []

    def lines() -> Iterator[bytes]:
        for row in step.rows():
            rows.append(row if row.group is not None else replace(row, raw=b""))
            yield row.raw

    transcript = parse(lines(), chosen)
    return StateBefore(rows=tuple(rows), transcript=transcript)


def states_of(
    steps: Sequence[OperationStep], before_steps: Sequence[StateBefore], newest: Transcript
) -> tuple[PastMessages, ...]:
    """Return the states before each step, oldest first, and the newest one.

    The former only have the messages that are hidden. Raises ArchiveError for invalid edits.
    """
    transcripts = [*(state.transcript for state in before_steps), newest]
    past_states = (
        _hidden(
            before,
            (_left_out(state) if step.is_without_stages else {})
            | _left_behind(_edited(state.rows, step.where), before, after),
        )
        for step, state, (before, after) in zip(
            steps, before_steps, pairwise(transcripts), strict=True
        )
    )
    return (*past_states, PastMessages(messages=_by_line(newest), hidden=_inline(newest)))


def originals_of(
    loaded: TranscriptFile, history: OperationHistory
) -> Mapping[MessageId, _Messages]:
    """Return the originals behind every effective message, by its id.

    Empty if no compaction is in effect. Originals come from the file itself (inline) or its
    archives; messages with neither are left out, other messages map to themselves. Messages that
    the user dropped, by a stage or with tags, are behind none. All have a rank, since the lines of
    different states are not comparable, and their first place.
    """
    from compactctl.stages.support.condensation import in_order

    effective = loaded.transcript.effective
    is_tagged = any(hidden_group(message) or message.tags.edit_id for message in effective)
    chain = history.chain if is_tagged else _known_chain(history)
    if not (is_tagged or chain):
        return {}
    past = _Past()
    for number, step in enumerate(chain):
        past = _after(step, loaded.format, past, number)
    messages = _as_sent(loaded.transcript)
    state, ranks = _State(messages, past), _ranked(messages, past.ranks)
    places = _first_places(messages, past.places, len(chain))
    originals = {
        message.id: in_order(_placed(state.behind(message), ranks, places)) for message in effective
    }
    return {name: messages for name, messages in originals.items() if messages}


def _edited(rows: Iterable[ArchivedLine], where: str) -> dict[MessageId, HiddenBy]:
    archived = read_edits((row.edits for row in rows), where)
    folded, stages = net_edits(archived.edits), archived.groups
    groups_by_id = {name: latest_edit(parts).group for name, parts in folded.replaced.items()}
    edited = {
        MessageId(name): HiddenBy(group=group, tag="edit_parent", stage=stages.get(group))
        for name, group in groups_by_id.items()
    }
    hidden = {
        MessageId(name): HiddenBy(
            group=hide.group, tag=_TAGS[hide.kind], stage=stages.get(hide.group)
        )
        for name, hide in folded.hidden.items()
    }
    return edited | hidden


def _left_out(state: StateBefore) -> dict[MessageId, HiddenBy]:
    """Return the messages that a step left out behind an earlier end."""
    groups = {
        index: HiddenBy(group=row.group, tag="")
        for index, row in enumerate(state.rows)
        if row.group is not None
    }
    return {
        message.id: groups[message.line]
        for message in state.transcript.messages
        if message.line in groups
    }


def _hidden(transcript: Transcript, hidden: Mapping[MessageId, HiddenBy]) -> PastMessages:
    messages_by_line = {
        line: [message for message in messages if message.id in hidden]
        for line, messages in _by_line(transcript).items()
    }
    return PastMessages(messages=messages_by_line, hidden=hidden)


def _by_line(transcript: Transcript) -> dict[int, list[Message]]:
    messages_by_line: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        messages_by_line[message.line].append(message)
    return dict(messages_by_line)


def _left_behind(
    edited: Mapping[MessageId, HiddenBy], before: Transcript, after: Transcript
) -> dict[MessageId, HiddenBy]:
    """Return what an operation removed, except what it only tagged."""
    remaining_ids, tagged = {message.id for message in after.messages}, _inline(after)
    earlier = {name: by for name, by in _inline(before).items() if name not in remaining_ids}
    removed = {name: by for name, by in edited.items() if name not in tagged}
    return earlier | removed


def _inline(transcript: Transcript) -> dict[MessageId, HiddenBy]:
    sent_ids = {message.id for message in transcript.effective}
    return {
        message.id: _by_tag(message.tags)
        for message in transcript.messages
        if message.tags.hidden_by and message.id not in sent_ids
    }


def _by_tag(tags: Tags) -> HiddenBy:
    names = ("condense_parent", "truncation_parent", "edit_parent")
    tag = next(name for name in names if getattr(tags, name))
    return HiddenBy(group=getattr(tags, tag), tag=tag)


def _after(step: OperationStep, chosen: Format, past: _Past, number: int) -> _Past:
    """Return the past extended by what another step, the ``number``-th from 0, removed.

    What an inline step hid is in the transcript, or in the next archived state.
    """
    if not isinstance(step, ArchivedStep):
        return _with_places(step, chosen, past, number)
    rows = tuple(step.rows())
    messages = _as_sent(parse((row.raw for row in rows), chosen))
    places = _first_places(messages, past.places, number)
    edits = read_edits((row.edits for row in rows), step.file.path).edits
    inserted = (e.message for e in edits if isinstance(e, Insert) and not e.message.is_final)
    groups = {message.text: message.group for message in inserted}
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
    hidden_by_group = {group: tuple(messages) for group, messages in hidden.items()}
    ranks = _ranked(messages, past.ranks)
    return _Past(
        hidden={**past.hidden, **hidden_by_group},
        rewritten=rewritten,
        ranks=ranks,
        places=places,
        groups={**past.groups, **groups},
    )


def _known_chain(history: OperationHistory) -> tuple[OperationStep, ...]:
    """Return the operations in effect; none if they cannot be known, and nothing asks for them."""
    try:
        return history.chain
    except CompactctlError:
        return ()


def _with_places(step: OperationStep, chosen: Format, past: _Past, number: int) -> _Past:
    """Return the past with the places before an inline step, unless its lines were edited since."""
    try:
        messages = parse(step.before(), chosen).messages
    except IntegrityError:
        return past
    return replace(past, places=_first_places(messages, past.places, number))


def _as_sent(transcript: Transcript) -> _Messages:
    """Return the messages of a state; effective ones as the client sends them, maybe shortened.

    Those that it leaves out of requests were never said to the model, and are left out here. The
    system prompt comes first: some clients write it anew, long after the first messages.
    """
    sent = {message.id: message for message in transcript.effective}
    first = transcript.effective[: leading_system_count(transcript.effective)]
    names = {message.id for message in first}
    names |= {message.id for message in transcript.history if message.id not in sent}
    rest = (message for message in transcript.messages if message.id not in names)
    return (*first, *(sent.get(message.id, message) for message in rest))


def _outer_groups(edits: Iterable[Edit], folded: NetEdits) -> Iterator[tuple[str, str]]:
    """Yield pairs of groups: a stand-in's, and the one by which the same operation hid it."""
    for edit in edits:
        if isinstance(edit, Insert) and not edit.message.is_final:
            hide = folded.hidden.get(edit.message.id)
            if hide:
                yield edit.message.group, hide.group


def _outermost(group: str, outer: Mapping[str, str]) -> str:
    seen = {group}
    while (outer_group := outer.get(group)) and outer_group not in seen:
        seen.add(outer_group)
        group = outer_group
    return group


def _ranked(
    messages: Iterable[Message], earlier_ranks: Mapping[MessageId, int]
) -> Mapping[MessageId, int]:
    """Return the ranks of the messages of a state; new ones follow all others."""
    ranks = dict(earlier_ranks)
    for message in messages:
        ranks.setdefault(message.id, len(ranks))
    return ranks


def _first_places(
    messages: Iterable[Message], earlier: Mapping[MessageId, FirstPlace], state: int
) -> Mapping[MessageId, FirstPlace]:
    new = {m.id: first_place(m, state) for m in messages if m.id not in earlier}
    return {**earlier, **new}


def _placed(
    messages: Iterable[Message],
    ranks: Mapping[MessageId, int],
    places: Mapping[MessageId, FirstPlace],
) -> Iterator[Message]:
    for message in messages:
        place = places.get(message.id)
        yield replace(message, rank=ranks.get(message.id), first_place=place)


def _text_of(message: Message) -> str:
    """Return the text of a message by compactctl whose record does not say so, else ""."""
    is_untagged = message.origin.is_synthetic and not is_proven(message)
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return texts[0] if is_untagged and len(texts) == 1 else ""
