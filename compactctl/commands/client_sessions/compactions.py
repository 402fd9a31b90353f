"""The compactions by a client that a transcript still holds the originals of."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from compactctl.commands.client_sessions.places import (
    CompactionPlace,
    PastState,
    compaction_places,
    read_after,
    read_before,
)
from compactctl.formats.opencode.compactions import cleared_outputs, compaction_request
from compactctl.formats.records.json_values import object_or_empty, parse_time, record_time
from compactctl.model.message import Message, MessageId, RecordLocation
from compactctl.model.operation import OperationId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.quoted_json import escape, unescape
from compactctl.pipeline.record_splice import without_fields
from compactctl.pipeline.spans import find_places, find_record, splice

# Which field of a record names the summary, or the marker, that stands for it.
_PARENTS = {"condenseParent": "condense_parent", "truncationParent": "truncation_parent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedGroup:
    """A summary or marker of a client, and the messages that name it as what hides them.

    Attributes:
        id: what the tags say.
        what: whether a summary or a marker stands there.
        stand_ins: its records.
        members: the messages that it hides.
    """

    id: str
    what: Literal["summarized", "truncated"]
    stand_ins: tuple[Message, ...]
    members: tuple[Message, ...]


def tagged_groups(transcript: Transcript) -> tuple[TaggedGroup, ...]:
    """Return the groups that a client tagged, in the order of their summaries and markers.

    A group without summary or marker hides nothing, and is none.
    """
    members: dict[str, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        for name in filter(None, (message.tags.condense_parent, message.tags.truncation_parent)):
            members[name].append(message)
    stand_ins: dict[str, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        tags = message.tags
        for name in filter(None, (tags.condense_id, tags.truncation_id)):
            if name in members and not (message.origin.is_synthetic or tags.operation):
                stand_ins[name].append(message)
    return tuple(
        TaggedGroup(
            id=name,
            what="summarized" if found[0].tags.condense_id == name else "truncated",
            stand_ins=tuple(found),
            members=tuple(members[name]),
        )
        for name, found in stand_ins.items()
    )


def places_of(messages: Iterable[Message]) -> tuple[RecordLocation, ...]:
    """Return where messages stand."""
    return tuple((message.line, message.record_path) for message in messages)


def without_tags(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> Mapping[int, bytes]:
    """Return, by index, the lines in which tags of these groups stand, without these tags."""
    found: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        if any(name in groups for name in message.tags.hidden_by):
            found[message.line].append(message)
    return {line: _without_tags(lines[line], found[line], groups) for line in found}


def _without_tags(line: bytes, messages: Sequence[Message], groups: Collection[str]) -> bytes:
    text = line.decode()
    places = find_places(text, [m.record_path for m in messages if m.record_path])
    changes = {}
    for message in messages:
        place = places[message.record_path] if message.record_path else find_record(text)
        record = without_fields(unescape(place.cut(text), place.depth), _fields(message, groups))
        changes[place.span] = escape(record, place.depth)
    return splice(text, changes).encode()


def _fields(message: Message, groups: Collection[str]) -> Iterator[str]:
    return (name for name, tag in _PARENTS.items() if getattr(message.tags, tag) in groups)


Removal = Literal["summarized", "truncated", "cleared", "left out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCompaction:
    """What a client did at one moment to what it sends.

    Attributes:
        id: from what its records say, so that it stays when the file grows.
        client: the format of the client.
        what: whether a summary stands for messages, results were cleared, or neither says more.
        places: its records, without which what it hides would be sent again.
        values: by line and path, values without what says that an output was cleared.
        groups: the tags that its messages carry, where tags alone hide them.
        time: when it was, in seconds since 1970; None where nothing tells.
        hidden: the messages that it took away, or took the content from.
        in_effect: whether that still makes a difference.
    """

    id: OperationId
    client: str
    what: Removal
    places: tuple[RecordLocation, ...] = ()
    values: Mapping[RecordLocation, Any] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    time: float | None
    hidden: tuple[MessageId, ...]
    in_effect: bool

    @property
    def line(self) -> int:
        """The line that it stands on, from 1."""
        return min(line for line, _ in (*self.places, *self.values)) + 1


# Where a person of pi went to another branch, whose summary stands for the one that was left.
_BRANCH = "branch_summary"


def compactions_of(state: PastState) -> tuple[ClientCompaction, ...]:
    """Return the compactions whose originals are in the file, oldest first.

    The part of the file before each of them is read once more.
    """
    tagged = tuple(_tagged(state))
    known = {place for each in tagged for place in each.places}
    found = (_found(state, moment) for moment in compaction_places(state.transcript, 0))
    untagged = (each for each in found if each is not None and known.isdisjoint(each.places))
    in_order = sorted((*tagged, *untagged), key=lambda each: each.line)
    return (*in_order, *_cleared(state))


def _tagged(state: PastState) -> Iterator[ClientCompaction]:
    """Yield what tags alone hide."""
    shown = {message.id for message in state.transcript.effective}
    for group in tagged_groups(state.transcript):
        places = places_of(group.stand_ins)
        yield ClientCompaction(
            id=OperationId(group.id),
            client=state.transcript.format,
            what=group.what,
            places=places,
            groups=frozenset({group.id}),
            time=_time(state, places),
            hidden=tuple(m.id for m in group.members if m.tags.hidden_by == (group.id,)),
            in_effect=any(message.id in shown for message in group.stand_ins),
        )


def _found(state: PastState, moment: CompactionPlace) -> ClientCompaction | None:
    """Return what happened at a moment; None where it took nothing away that is still there."""
    if object_or_empty(_at(state, (moment.last, ()))).get("type") == _BRANCH:
        return None
    before, after = read_before(state, moment).effective, read_after(state, moment).effective
    left = {message.id: message for message in after}
    known = {message.id for message in before}
    new = [message for message in after if message.id not in known]
    hidden = tuple(m.id for m in before if m.id not in left or left[m.id].parts != m.parts)
    if not hidden:
        return None
    places = _places(state, moment)
    return ClientCompaction(
        id=_id(state, places),
        client=state.transcript.format,
        what="summarized" if new else "cleared" if hidden[0] in left else "left out",
        places=places,
        time=_time(state, places),
        hidden=hidden,
        in_effect=_is_in_effect(state, new or [left[name] for name in hidden if name in left]),
    )


def _is_in_effect(state: PastState, made: Sequence[Message]) -> bool:
    """Tell whether anything is sent as it was made then, or was left out without a trace."""
    now = {message.id: message for message in state.transcript.effective}
    same = (m.id in now and now[m.id].parts == m.parts for m in made)
    return any(same) if made else True


def _places(state: PastState, moment: CompactionPlace) -> tuple[RecordLocation, ...]:
    """Return the records of a moment: boundary, summary, and the request for it."""
    marked = set(state.transcript.compactions.lines)
    marked |= {
        m.line
        for m in state.transcript.messages
        if m.origin.is_summary and not m.origin.is_subagent
    }
    lines = [line for line in range(moment.first, moment.last + 1) if line in marked]
    places: list[RecordLocation] = [(line, ()) for line in lines]
    if moment.element:
        places = [moment.place]
    if state.transcript.format == "opencode":
        places += [asked for place in places for asked in compaction_request(state.decoded, place)]
    return tuple(sorted(places))


def _cleared(state: PastState) -> Iterator[ClientCompaction]:
    """Yield what a client cleared where it stands, as one: it clears outputs one by one."""
    if state.transcript.format != "opencode":
        return
    found = {(line, path): rest for line, path, rest in cleared_outputs(state.decoded)}
    shown = (m for m in state.transcript.effective if any(part.cleared for part in m.results))
    hidden = tuple(message.id for message in shown)
    if found:
        yield ClientCompaction(
            id=_id(state, tuple(found)),
            client=state.transcript.format,
            what="cleared",
            values=found,
            time=max(filter(None, (_cleared_time(state, place) for place in found)), default=None),
            hidden=hidden,
            in_effect=bool(hidden),
        )


def _cleared_time(state: PastState, place: RecordLocation) -> float | None:
    return parse_time(object_or_empty(_at(state, place)).get("compacted"))


def _id(state: PastState, places: Sequence[RecordLocation]) -> OperationId:
    text = json.dumps([_named(_at(state, place)) for place in places], sort_keys=True)
    return OperationId(hashlib.sha256(text.encode()).hexdigest()[:12])


def _named(record: object) -> object:
    """Return the name of a record, which stays when it is linked anew; without one all of it."""
    fields = object_or_empty(record)
    names = (fields.get("uuid"), fields.get("id"), object_or_empty(fields.get("info")).get("id"))
    return next(filter(None, names), record)


def _time(state: PastState, places: Sequence[RecordLocation]) -> float | None:
    """Return when the last of the records was written."""
    times = (_time_at(state, place) for place in reversed(places))
    return next((time for time in times if time is not None), None)


def _time_at(state: PastState, place: RecordLocation) -> float | None:
    told = record_time(object_or_empty(_at(state, place)))
    there = (m.timestamp for m in state.transcript.messages if (m.line, m.record_path) == place)
    return told if told is not None else next(there, None)


def _at(state: PastState, place: RecordLocation) -> object:
    line, element = place
    value: Any = state.decoded[line].values[0]
    for step in element:
        value = value[step]
    return value
