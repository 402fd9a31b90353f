"""What a client hid by tags alone, as NeuroLink and Roo Code do: its groups, and one taken away."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.model.message import Message, RecordPlace
from compactctl.model.transcript import Transcript
from compactctl.pipeline.quoted import plain, spelled
from compactctl.pipeline.record_splice import without_fields
from compactctl.pipeline.spans import find_places, record_place, splice

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
            if name in members and not (message.synthetic or tags.operation):
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


def places_of(messages: Iterable[Message]) -> tuple[RecordPlace, ...]:
    """Return where messages stand."""
    return tuple((message.line, message.element) for message in messages)


def untagged(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> Mapping[int, bytes]:
    """Return, by index, the lines in which tags of these groups stand, without these tags."""
    found: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        if any(name in groups for name in message.tags.parents):
            found[message.line].append(message)
    return {line: _without_tags(lines[line], found[line], groups) for line in found}


def _without_tags(line: bytes, messages: Sequence[Message], groups: Collection[str]) -> bytes:
    text = line.decode()
    places = find_places(text, [m.element for m in messages if m.element])
    changes = {}
    for message in messages:
        place = places[message.element] if message.element else record_place(text)
        record = without_fields(plain(place.cut(text), place.depth), _fields(message, groups))
        changes[place.span] = spelled(record, place.depth)
    return splice(text, changes).encode()


def _fields(message: Message, groups: Collection[str]) -> Iterator[str]:
    return (name for name, tag in _PARENTS.items() if getattr(message.tags, tag) in groups)
