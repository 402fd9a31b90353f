"""Finds compactions by a client whose originals are still in the transcript."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal

from compactctl.clients.records.json_values import object_or_empty, parse_time, record_time
from compactctl.commands.client_sessions.places import (
    CompactionRange,
    PastState,
    find_compactions,
    read_after,
    read_before,
)
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.json_paths import value_at
from compactctl.model.message import (
    Message,
    Part,
    RecordLocation,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.operation import OperationId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.quoted_json import escape, unescape
from compactctl.pipeline.record_splice import without_fields
from compactctl.pipeline.spans import find_locations, find_record, splice
from compactctl.records import Record, replace

# The fields of a record that name the summary or marker that hides it.
_PARENTS = {"condenseParent": "condense_parent", "truncationParent": "truncation_parent"}


class TaggedGroup(Record):
    """A summary or marker of a client, and the messages whose tags name it.

    Attributes:
        id: the value of the tags.
        what: whether it is a summary or a marker.
        stand_ins: its records.
        members: the messages that it hides.
    """

    id: str
    what: Literal["summarized", "truncated"]
    stand_ins: tuple[Message, ...]
    members: tuple[Message, ...]


def tagged_groups(transcript: Transcript) -> tuple[TaggedGroup, ...]:
    """Return the groups that a client tagged, in the order of their summaries and markers.

    Tags that name no summary or marker hide nothing.
    """
    members: dict[str, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        for group in filter(None, (message.tags.condense_parent, message.tags.truncation_parent)):
            members[group].append(message)
    stand_ins: dict[str, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        tags = message.tags
        for group in filter(None, (tags.condense_id, tags.truncation_id)):
            if group in members and not (message.origin.is_synthetic or tags.operation):
                stand_ins[group].append(message)
    return tuple(
        TaggedGroup(
            id=group,
            what="summarized" if group_stand_ins[0].tags.condense_id == group else "truncated",
            stand_ins=tuple(group_stand_ins),
            members=tuple(members[group]),
        )
        for group, group_stand_ins in stand_ins.items()
    )


def locations_of(messages: Iterable[Message]) -> tuple[RecordLocation, ...]:
    """Return the record locations of messages."""
    return tuple((message.line, message.record_path) for message in messages)


def without_tags(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> Mapping[int, bytes]:
    """Return, by index, the lines that hold tags of these groups, with those tags removed.

    A damaged line keeps its tags, which hide nothing once the records that they name are gone.
    """
    messages_by_line: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        is_hidden = any(group in groups for group in message.tags.hidden_by)
        if is_hidden and message.line not in transcript.damaged_lines:
            messages_by_line[message.line].append(message)
    return {
        line: _without_tags(lines[line], messages_by_line[line], groups)
        for line in messages_by_line
    }


def _without_tags(line: bytes, messages: Sequence[Message], groups: Collection[str]) -> bytes:
    text = line.decode()
    places = find_locations(text, [m.record_path for m in messages if m.record_path])
    changes = {}
    for message in messages:
        place = places[message.record_path] if message.record_path else find_record(text)
        record = without_fields(unescape(place.cut(text), place.depth), _fields(message, groups))
        changes[place.span] = escape(record, place.depth)
    return splice(text, changes).encode()


def _fields(message: Message, groups: Collection[str]) -> Iterator[str]:
    return (
        field_name for field_name, tag in _PARENTS.items() if getattr(message.tags, tag) in groups
    )


# A user of pi switched branches: the summary replaces the branch that was left, and hides nothing.
_BRANCH = "branch_summary"


def compactions_of(state: PastState) -> tuple[ClientCompaction, ...]:
    """Return the compactions whose originals are in the file, oldest first.

    For each, the part of the file before it is read again.
    """
    tagged = tuple(_tagged(state))
    tagged_places = {place for compaction in tagged for place in compaction.records}
    candidates = (
        _find_compaction(state, moment) for moment in find_compactions(state.transcript, 0)
    )
    untagged = (
        compaction
        for compaction in candidates
        if compaction is not None and tagged_places.isdisjoint(compaction.records)
    )
    in_order = sorted((*tagged, *untagged), key=lambda compaction: compaction.line)
    return (*in_order, *_cleared(state))


def _tagged(state: PastState) -> Iterator[ClientCompaction]:
    """Yield the compactions that consist of tags only."""
    effective_ids = {message.id for message in state.transcript.effective}
    for group in tagged_groups(state.transcript):
        places = locations_of(group.stand_ins)
        yield ClientCompaction(
            id=OperationId(group.id),
            client=state.transcript.format,
            what=group.what,
            records=places,
            groups=frozenset({group.id}),
            time=_time(state, places),
            hidden=tuple(m.id for m in group.members if m.tags.hidden_by == (group.id,)),
            in_effect=any(message.id in effective_ids for message in group.stand_ins),
        )


def _find_compaction(state: PastState, moment: CompactionRange) -> ClientCompaction | None:
    """Return the compaction at a position, None if it hides nothing that is still in the file."""
    if object_or_empty(_at(state, (moment.last, ()))).get("type") == _BRANCH:
        return None
    before, after = read_before(state, moment).effective, read_after(state, moment).effective
    after_by_id = {message.id: message for message in after}
    ids_before = {message.id for message in before}
    # Nothing is lost with an answer without parts, and no client keeps one.
    removed = [message for message in before if message.parts and message.id not in after_by_id]
    new_messages = [message for message in after if message.id not in ids_before]
    # Some clients write anew, under other ids, what they keep.
    removed, stand_ins = without_copies(removed, new_messages)
    removed_ids = {message.id for message in removed}
    hidden = tuple(
        m.id for m in before if m.id in removed_ids or after_by_id.get(m.id, m).parts != m.parts
    )
    if not hidden:
        return None
    places = _places(state, moment)
    return ClientCompaction(
        id=_id(state, places),
        client=state.transcript.format,
        what="summarized"
        if new_messages
        else "cleared"
        if hidden[0] in after_by_id
        else "left out",
        records=places,
        time=_time(state, places),
        hidden=hidden,
        stand_ins=tuple(stand_ins),
        in_effect=_is_in_effect(
            state, new_messages or [after_by_id[name] for name in hidden if name in after_by_id]
        ),
    )


def without_copies(
    old: Iterable[Message], new: Iterable[Message]
) -> tuple[list[Message], list[Message]]:
    """Return both without the messages of which the other has one with the same content."""
    by_content: dict[object, list[Message]] = defaultdict(list)
    for message in new:
        by_content[_content(message)].append(message)
    remaining: list[Message] = []
    for message in old:
        copies = by_content[_content(message)]
        if copies:
            copies.pop(0)
        else:
            remaining.append(message)
    return remaining, [message for messages in by_content.values() for message in messages]


def _content(message: Message) -> object:
    return message.role, message.origin.is_summary, tuple(map(_without_place, message.parts))


def _without_place(part: Part) -> Part:
    """Return a part without its paths, and without what depends on other messages."""
    match part:
        case ToolCallPart():
            return replace(part, path=(), added="")
        case ToolResultPart(media=media):
            return replace(part, path=(), media=tuple(replace(item, path=()) for item in media))
        case _:
            return replace(part, path=())


def _is_in_effect(state: PastState, new_messages: Sequence[Message]) -> bool:
    """Return whether a message it made is still sent unchanged; always if it left no trace."""
    current_by_id = {message.id: message for message in state.transcript.effective}
    is_unchanged = (
        m.id in current_by_id and current_by_id[m.id].parts == m.parts for m in new_messages
    )
    return any(is_unchanged) if new_messages else True


def _places(state: PastState, moment: CompactionRange) -> tuple[RecordLocation, ...]:
    """Return the records of a compaction: boundary, summary, and the request for it."""
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
    requests = (state.format.compaction_request(state.decoded, place) for place in places)
    return tuple(sorted((*places, *chain.from_iterable(requests))))


def _cleared(state: PastState) -> Iterator[ClientCompaction]:
    """Yield as one compaction all outputs that the client cleared in place, one by one."""
    values = dict(state.format.cleared_outputs(state.decoded))
    if not values:
        return
    cleared_messages = (
        m for m in state.transcript.effective if any(part.cleared for part in m.results)
    )
    hidden = tuple(message.id for message in cleared_messages)
    yield ClientCompaction(
        id=_id(state, tuple(values)),
        client=state.transcript.format,
        what="cleared",
        values=values,
        time=max(filter(None, (_cleared_time(state, place) for place in values)), default=None),
        hidden=hidden,
        in_effect=bool(hidden),
    )


def _cleared_time(state: PastState, place: RecordLocation) -> float | None:
    return parse_time(object_or_empty(_at(state, place)).get("compacted"))


def _id(state: PastState, places: Sequence[RecordLocation]) -> OperationId:
    text = json.dumps([_identity(_at(state, place)) for place in places], sort_keys=True)
    return OperationId(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12])


def _identity(record: object) -> object:
    """Return the id of a record, which relinking does not change; without one the whole record."""
    fields = object_or_empty(record)
    names = (fields.get("uuid"), fields.get("id"), object_or_empty(fields.get("info")).get("id"))
    return next(filter(None, names), record)


def _time(state: PastState, places: Sequence[RecordLocation]) -> float | None:
    """Return the time of the last record that has one."""
    times = (_time_at(state, place) for place in reversed(places))
    return next((time for time in times if time is not None), None)


def _time_at(state: PastState, place: RecordLocation) -> float | None:
    recorded = record_time(object_or_empty(_at(state, place)))
    timestamps = (
        m.timestamp for m in state.transcript.messages if (m.line, m.record_path) == place
    )
    return recorded if recorded is not None else next(timestamps, None)


def _at(state: PastState, place: RecordLocation) -> object:
    line, element = place
    # A damaged line may hold two values.
    members = (value_at(value, element) for value in state.decoded[line].values)
    return next((member for member in members if member is not None), None)
