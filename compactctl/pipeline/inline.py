"""Undo groups of edits in an inline layout: drop inserted records, strip tags from originals."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from compactctl.history.apply import NetEdits
from compactctl.model.edit import Hide, HideKind
from compactctl.model.message import GroupId, JsonPath, Message, MessageId, Tags
from compactctl.model.tags import tag_fields
from compactctl.model.transcript import Transcript
from compactctl.pipeline.quoted_json import escape, unescape
from compactctl.pipeline.record_splice import with_added_fields, without_fields
from compactctl.pipeline.spans import find_array, find_record, replace_in_step, splice
from compactctl.records import replace


def remove_groups(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> tuple[bytes, ...]:
    """Return the lines without the records and tags of these groups of edits.

    Removing all groups of an operation restores the exact bytes from before it.
    """
    return tuple(
        line for line in lines_without_groups(lines, transcript, groups) if line is not None
    )


def lines_without_groups(
    lines: Sequence[bytes], transcript: Transcript, groups: Collection[str]
) -> tuple[bytes | None, ...]:
    """Return each line as ``remove_groups`` leaves it, None for a line that the groups wrote."""
    tagged: dict[int, list[Message]] = defaultdict(list)
    for message in transcript.messages:
        # A line damaged at the time was never tagged; one damaged since cannot be parsed.
        is_whole = message.line not in transcript.damaged_lines
        if is_whole and _is_tagged_by(message, groups):
            tagged[message.line].append(message)
    return tuple(
        _GroupRemover(groups, _inherited_tags(transcript, groups), transcript.notes).edit_lines(
            lines, tagged
        )
    )


def _is_tagged_by(message: Message, groups: Collection[str]) -> bool:
    return any(group in groups for group in (*message.tags.hiding_ids, *message.tags.hidden_by))


def _inherited_tags(
    transcript: Transcript, groups: Collection[str]
) -> Mapping[MessageId, Mapping[str, str]]:
    """Return the hiding tags that an original takes over when its rewritten record is removed.

    Group g1 rewrote O as R (O: editParent=g1, R: editId=g1); later g2 hid R (R: condenseParent=g2).
    Undoing g1 removes R, so O needs condenseParent=g2, or it would appear beside g2's summary.
    """
    inherited: dict[MessageId, Mapping[str, str]] = {}
    for group in groups:
        rewritten = (m.tags for m in transcript.messages if m.tags.edit_id == group)
        originals = (m.id for m in transcript.messages if m.tags.edit_parent == group)
        pairs = zip(originals, rewritten, strict=False)
        inherited |= {name: _remaining_parents(tags, groups) for name, tags in pairs}
    return inherited


# A line damaged since may hold any bytes; they must come out as they went in.
_TEXT = ("utf-8", "surrogateescape")


class _GroupRemover:
    """Remove groups from records; ``inherited`` are the tags that originals take over.

    For ``notes`` see ``Transcript``.
    """

    def __init__(
        self,
        groups: Collection[str],
        inherited: Mapping[MessageId, Mapping[str, str]],
        notes: Mapping[str, str],
    ) -> None:
        self.groups, self.inherited, self.notes = groups, inherited, notes

    def edit_lines(
        self, lines: Sequence[bytes], tagged: Mapping[int, Sequence[Message]]
    ) -> Iterator[bytes | None]:
        for index, data in enumerate(lines):
            messages = tagged.get(index)
            if not messages:
                yield data
            elif messages[0].record_path:
                yield self.edit_arrays(data.decode(*_TEXT), messages).encode(*_TEXT)
            else:
                text = data.decode(*_TEXT)
                location = find_record(text)
                record = self.edit_record(messages[0], location.cut(text), location.depth)
                changed = "" if record is None else splice(text, {location.span: record})
                yield None if record is None else changed.encode(*_TEXT)

    def edit_arrays(self, text: str, messages: Sequence[Message]) -> str:
        for path in sorted({message.record_path[:-1] for message in messages}, reverse=True):
            members = {m.record_path[-1]: m for m in messages if m.record_path[:-1] == path}
            text = self.edit_array(text, path, members)
        return text

    def edit_array(self, text: str, path: JsonPath, members: Mapping[str | int, Message]) -> str:
        spans, depth = find_array(text, path)
        items: list[tuple[int | None, str]] = []
        for index, (start, end) in enumerate(spans):
            record: str | None = text[start:end]
            if index in members:
                record = self.edit_record(members[index], text[start:end], depth)
            if record is not None:
                items.append((index, record))
        return replace_in_step(text, path, spans, items, self.notes)

    def edit_record(self, message: Message, text: str, depth: int) -> str | None:
        """Return a record as it was before these groups, None when they wrote it.

        Its text is escaped ``depth`` times.
        """
        if any(group in self.groups for group in message.tags.hiding_ids):
            return None
        tags = tag_fields(_parent_tags(message.tags))
        for field, group in tags.items():
            if group in self.groups:
                text = _without_tag(text, field, group, depth)
                if field == "editParent":
                    inherited = self.inherited.get(message.id, {})
                    new = {n: g for n, g in inherited.items() if tags.get(n) != g}
                    text = with_added_fields(text, new, depth)
        return text


def _parent_tags(tags: Tags) -> Tags:
    return Tags(
        condense_parent=tags.condense_parent,
        truncation_parent=tags.truncation_parent,
        edit_parent=tags.edit_parent,
    )


def _remaining_parents(tags: Tags, groups: Collection[str]) -> dict[str, str]:
    """Return the tags of other groups that hide a rewritten record."""
    return {name: g for name, g in tag_fields(_parent_tags(tags)).items() if g not in groups}


def _without_tag(text: str, field: str, group: str, depth: int) -> str:
    """Remove a tag as it was written, or as a client spelled it since."""
    tag = escape(f',"{field}":"{group}"', depth)
    pos = text.rfind(tag)
    if pos >= 0:
        return text[:pos] + text[pos + len(tag) :]
    return escape(without_fields(unescape(text, depth), (field,)), depth)


def hide_exposed_originals(transcript: Transcript, edits: NetEdits, *, tags: bool) -> NetEdits:
    """Also hide originals of earlier groups that the new file would expose.

    A tag hides an original only while a record with that id is in the file. S (condenseId=g1)
    hides A (condenseParent=g1); when a later group hides S, A would be sent again. So hide A too,
    and repeat: A may itself have hidden something. ``tags`` says whether rewritten records get a
    new id.
    """
    history_ids = {message.id for message in transcript.history}
    tagged = [m for m in transcript.messages if m.tags.hidden_by and m.id not in history_ids]
    hidden = dict(edits.hidden)
    while True:
        visible_ids = set(_visible_hider_ids(transcript, replace(edits, hidden=hidden), tags=tags))
        exposed = [
            m for m in tagged if m.id not in hidden and visible_ids.isdisjoint(m.tags.hidden_by)
        ]
        if not exposed:
            return replace(edits, hidden=hidden)
        hidden |= {message.id: _hide(message) for message in exposed}


def _visible_hider_ids(transcript: Transcript, edits: NetEdits, *, tags: bool) -> Iterator[str]:
    for message in transcript.messages:
        if message.id not in edits.hidden:
            renamed = tags and message.id in edits.replaced
            yield from (
                n for n in message.tags.hiding_ids if not (renamed and n == message.tags.edit_id)
            )


def _hide(message: Message) -> Hide:
    kind: HideKind = "truncate" if message.tags.truncation_parent else "condense"
    return Hide(ids=(message.id,), group=GroupId(message.tags.hidden_by[0]), kind=kind)
