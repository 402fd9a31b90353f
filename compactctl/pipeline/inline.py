"""Takes an inline layout back: written records go, tags on originals are cut off again."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from compactctl.model.edit import Hide, HideKind
from compactctl.model.message import GroupId, JsonPath, Message, MessageId, Tags
from compactctl.model.tags import tag_fields
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import NetEdits
from compactctl.pipeline.quoted_json import spelled
from compactctl.pipeline.record_splice import with_added_fields
from compactctl.pipeline.spans import find_array, rebuild, record_place, splice


def remove_groups(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> tuple[bytes, ...]:
    """Return the lines without what these groups of edits wrote and tagged.

    Taking back all groups of an operation gives the exact bytes from before it.
    """
    return tuple(
        line for line in lines_without_groups(lines, transcript, groups) if line is not None
    )


def lines_without_groups(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> tuple[bytes | None, ...]:
    """Return what ``remove_groups`` makes of each line, None of those that these groups wrote."""
    touched: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        if _is_tagged_by(message, groups):
            touched[message.line].append(message)
    for opaque in transcript.opaque:
        # Nothing was ever spliced into a damaged line; one that was damaged since stays as it is.
        touched.pop(opaque.line, None)
    return tuple(_GroupRemover(groups, _inherited_tags(transcript, groups)).lines(lines, touched))


def _is_tagged_by(message: Message, groups: Collection[str]) -> bool:
    return any(name in groups for name in (*message.tags.hiding_ids, *message.tags.hidden_by))


def _inherited_tags(
    transcript: Transcript, groups: Collection[str]
) -> Mapping[MessageId, Mapping[str, str]]:
    """Return by original the tags that hide its rewritten record and now have to hide itself.

    Rewritten records and their originals follow one another in one order, whichever comes first.
    """
    found: dict[MessageId, Mapping[str, str]] = {}
    for group in groups:
        rewritten = (m.tags for m in transcript.messages if m.tags.edit_id == group)
        originals = (m.id for m in transcript.messages if m.tags.edit_parent == group)
        pairs = zip(originals, rewritten, strict=False)
        found |= {name: _remaining_parents(tags, groups) for name, tags in pairs}
    return found


# A line that was damaged since may hold any bytes; they come out as they went in.
_TEXT = ("utf-8", "surrogateescape")


class _GroupRemover:
    """Takes groups out of records; ``inherited`` are the tags that originals get instead."""

    def __init__(
        self, groups: Collection[str], inherited: Mapping[MessageId, Mapping[str, str]]
    ) -> None:
        self.groups, self.inherited = groups, inherited

    def lines(
        self, lines: Sequence[bytes], touched: Mapping[int, Sequence[Message]]
    ) -> Iterator[bytes | None]:
        for index, data in enumerate(lines):
            messages = touched.get(index)
            if not messages:
                yield data
            elif messages[0].record_path:
                yield self.array_line(data.decode(*_TEXT), messages).encode(*_TEXT)
            else:
                text = data.decode(*_TEXT)
                place = record_place(text)
                record = self.record(messages[0], place.cut(text), place.depth)
                changed = "" if record is None else splice(text, {place.span: record})
                yield None if record is None else changed.encode(*_TEXT)

    def array_line(self, text: str, messages: Sequence[Message]) -> str:
        for path in sorted({message.record_path[:-1] for message in messages}, reverse=True):
            members = {m.record_path[-1]: m for m in messages if m.record_path[:-1] == path}
            text = self.array(text, path, members)
        return text

    def array(self, text: str, path: JsonPath, members: Mapping[str | int, Message]) -> str:
        spans, depth = find_array(text, path)
        items: list[tuple[int | None, str]] = []
        for position, (start, end) in enumerate(spans):
            record: str | None = text[start:end]
            if position in members:
                record = self.record(members[position], text[start:end], depth)
            if record is not None:
                items.append((position, record))
        return splice(text, {(spans[0][0], spans[-1][1]): rebuild(text, spans, items)})

    def record(self, message: Message, text: str, depth: int) -> str | None:
        """Return a record as it was before these groups; None when they wrote it.

        It is spelled as within ``depth`` texts.
        """
        if any(name in self.groups for name in message.tags.hiding_ids):
            return None
        own = tag_fields(_parents(message.tags))
        for field, group in own.items():
            if group in self.groups:
                text = _without(text, spelled(f',"{field}":"{group}"', depth))
                if field == "editParent":
                    inherited = self.inherited.get(message.id, {})
                    new = {n: g for n, g in inherited.items() if own.get(n) != g}
                    text = with_added_fields(text, new, depth)
        return text


def _parents(tags: Tags) -> Tags:
    return Tags(
        condense_parent=tags.condense_parent,
        truncation_parent=tags.truncation_parent,
        edit_parent=tags.edit_parent,
    )


def _remaining_parents(tags: Tags, groups: Collection[str]) -> dict[str, str]:
    """Return the tags that hid a rewritten record and now have to hide its original."""
    return {name: g for name, g in tag_fields(_parents(tags)).items() if g not in groups}


def _without(text: str, field: str) -> str:
    at = text.rfind(field)
    return text if at < 0 else text[:at] + text[at + len(field) :]


def hide_exposed_originals(transcript: Transcript, folded: NetEdits, *, tags: bool) -> NetEdits:
    """Return the edits for a layout without originals: those left behind are hidden as well.

    A tag hides an original only as long as a record with the id is there. ``tags`` tells whether
    rewritten records get a new id.
    """
    shown = {message.id for message in transcript.effective}
    tagged = [m for m in transcript.messages if m.tags.hidden_by and m.id not in shown]
    hidden = dict(folded.hidden)
    while True:
        present = set(_visible_hider_ids(transcript, replace(folded, hidden=hidden), tags=tags))
        found = [m for m in tagged if m.id not in hidden and present.isdisjoint(m.tags.hidden_by)]
        if not found:
            return replace(folded, hidden=hidden)
        hidden |= {message.id: _hide(message) for message in found}


def _visible_hider_ids(transcript: Transcript, folded: NetEdits, *, tags: bool) -> Iterator[str]:
    for message in transcript.messages:
        if message.id not in folded.hidden:
            renamed = tags and message.id in folded.replaced
            yield from (
                n for n in message.tags.hiding_ids if not (renamed and n == message.tags.edit_id)
            )


def _hide(message: Message) -> Hide:
    kind: HideKind = "truncate" if message.tags.truncation_parent else "condense"
    return Hide(ids=(message.id,), group=GroupId(message.tags.hidden_by[0]), kind=kind)
