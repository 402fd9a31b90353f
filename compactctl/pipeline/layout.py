"""Lays out the lines of the new file from the old lines and the edits.

``split``: hidden records go (they are in the archive), rewritten ones take the place of their
originals, and what follows a hidden record is linked to what precedes it.
``inline``: originals stay, byte for byte but for a tag before the closing brace; summaries,
markers and rewritten records are inserted before them. Where records are linked by ids, rewritten
ones come after their originals: of two records with one id, the clients take the later one.
Where records behind the old lines are to bring a new state about, it is laid out as ``split``.
"""

import json
from array import array
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from compactctl.history.stand_ins import base_id, occurrence, same_name_indices
from compactctl.model.conversation_fields import placing_fields
from compactctl.model.json_paths import value_at
from compactctl.model.message import JsonPath, Message, Synthetic
from compactctl.model.summary import BUILTIN_SUMMARIZER
from compactctl.model.tags import METADATA_KEY, tag_fields
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentValue
from compactctl.model.usage_fields import UsageRestatement
from compactctl.pipeline.apply import NetEdits, latest_edit, synthetic_tags
from compactctl.pipeline.inline import hide_exposed_originals
from compactctl.pipeline.quoted_json import Span, ValuePlace, plain, spelled
from compactctl.pipeline.record_splice import (
    dump,
    part_replacements,
    reported_usage,
    restate_usage,
    value_replacements,
    with_added_fields,
    with_fields,
)
from compactctl.pipeline.relink import InsertedRecord, NewParents, relink
from compactctl.pipeline.spans import find_array, line_place, rebuild, record_place, splice
from compactctl.pipeline.unsent import find_unsent, without_unsent
from compactctl.pipeline.writer import InsertionContext, RecordWriter

Layout = Literal["split", "inline"]
# What a summary says of who wrote it, unless that was the built-in summarizer as it should be.
_ORIGIN_FIELDS = ("summarizer", "fallback")
_PARENT_FIELD = {"condense": "condenseParent", "truncate": "truncationParent"}


@dataclass(frozen=True, slots=True)
class NewLine:
    """A line of the new file; ``source_index`` is the index of the line it was, None if written.

    ``is_unchanged`` is set when it is the same bytes as that line.
    """

    data: bytes
    source_index: int | None
    is_unchanged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutOptions:
    """How to lay out: the layout, what the operation is called, and whether to write tags.

    ``extra_metadata`` holds further fields for the ``compactctl`` object of written and rewritten
    records, ``usage_restatement`` which record tells a client the size of its context, and which
    size it is to tell.
    """

    layout: Layout = "split"
    operation: str = ""
    tags: bool = True
    extra_metadata: Mapping[str, Any] | None = None
    usage_restatement: UsageRestatement | None = None


def lay_out(
    lines: Sequence[bytes],
    transcript: Transcript,
    folded: NetEdits,
    writer: RecordWriter,
    style: LayoutOptions,
) -> Iterator[NewLine]:
    """Yield the lines of the new file; lines no edit touches are the same bytes.

    The last of several lines is terminated, as a client would do it that appends another one.
    """
    if style.layout == "split":
        folded = hide_exposed_originals(transcript, folded, tags=style.tags)
    page = _FileLayout(lines, transcript, folded, writer, style)
    # Formats with linked records have no documents: one line is a file of lines as well.
    is_document = len(lines) == 1 and writer.parent_path is None
    return page.lines() if is_document else map(_terminated, page.lines())


class _FileLayout:
    def __init__(
        self,
        lines: Sequence[bytes],
        transcript: Transcript,
        folded: NetEdits,
        writer: RecordWriter,
        style: LayoutOptions,
    ) -> None:
        self.raw, self.folded, self.writer, self.style = lines, folded, writer, style
        self.on_line: dict[int, list[Message]] = defaultdict(list)
        for message in transcript.messages:
            if self._touched(message):
                self.on_line[message.line].append(message)
        self.effective = transcript.effective
        self.same_named: dict[str, Sequence[int]] = {}
        self.places = {message.id: place for place, message in enumerate(self.effective)}
        self.damaged = {opaque.line for opaque in transcript.opaque}
        self.paths = {pointer.line: pointer.path for pointer in transcript.chain.pointers}
        self.stale = self._superseded_records(transcript)
        self.unsent = self._unsent(transcript)
        self.relinked = self._relink(transcript)

    def lines(self) -> Iterator[NewLine]:
        for index, data in enumerate(self.raw):
            unsent = self.unsent.get(index)
            if unsent is None:
                yield from self._line(index, data)
            elif unsent[0].path:
                new = self._line(index, without_unsent(data, unsent))
                yield from (replace(each, is_unchanged=False) for each in new)

    def _line(self, index: int, data: bytes) -> Iterator[NewLine]:
        messages = self.on_line.get(index)
        stale = self.stale.get(index)
        if messages and index in self.damaged:
            yield from self._before_damage(messages)
            yield NewLine(data, index, is_unchanged=True)
        elif (messages and messages[0].record_path) or (stale and () not in stale):
            yield self._array_line(index, data, messages or ())
        elif messages:
            yield from self._record_lines(index, data, messages[0])
        elif stale:
            return
        elif index in self.relinked.by_line or index in self.relinked.pointers:
            yield _changed_line(self._edited(index, {}, data.decode()), index, data)
        elif (
            self.style.usage_restatement is not None and index == self.style.usage_restatement.line
        ):
            yield _changed_line(self._line_with_counts(data.decode()), index, data)
        else:
            yield NewLine(data, index, is_unchanged=True)

    def _unsent(self, transcript: Transcript) -> dict[int, list[UnsentValue]]:
        """Return what is never sent and goes, by line; a record that goes as a whole is alone."""
        found: dict[int, list[UnsentValue]] = defaultdict(list)
        kinds = self.folded.removed_unsent
        rules = self.writer.unsent if kinds and self.style.layout == "split" else ()
        for place in find_unsent(self.raw, transcript, rules, kinds):
            found[place.line].append(place)
        return dict(found)

    def _superseded_records(self, transcript: Transcript) -> dict[int, set[JsonPath]]:
        """Return the older versions that go, by line; inline all originals stay."""
        found: dict[int, set[JsonPath]] = defaultdict(set)
        if self.style.layout == "split":
            touched = {message.id for on_line in self.on_line.values() for message in on_line}
            for copy in transcript.chain.superseded:
                if copy.message_id in touched and copy.line not in self.damaged:
                    found[copy.line].add(copy.record_path)
        return found

    def _touched(self, message: Message) -> bool:
        tables = (self.folded.hidden, self.folded.replaced, self.folded.inserted)
        return self._is_restated(message) or any(message.id in table for table in tables)

    def _is_restated(self, message: Message) -> bool:
        return (
            self.style.usage_restatement is not None
            and message.id == self.style.usage_restatement.id
        )

    def _relink(self, transcript: Transcript) -> NewParents:
        if self.writer.parent_path is None or self.style.layout == "inline":
            return NewParents({}, self._inline_parents(transcript))
        dropped = {
            line
            for line, messages in self.on_line.items()
            if all(message.id in self.folded.hidden for message in messages)
        }
        dropped |= {line for line, places in self.unsent.items() if not places[0].path}
        written = [
            InsertedRecord(
                id=self.writer.new_id(item),
                before_line=line,
                next_shown_line=self._next_line(message),
            )
            for line, messages in sorted(self.on_line.items())
            for message in messages
            for item in self._inserted_before(message)
        ]
        return relink(
            transcript.chain.links, dropped, written, self.damaged, transcript.chain.pointers
        )

    def _next_line(self, message: Message) -> int | None:
        """Return the line of the first message shown from ``message`` on."""
        start = self.places.get(message.id, len(self.effective))
        shown = (m.line for m in self.effective[start:] if m.id not in self.folded.hidden)
        return next(shown, None)

    def _inline_parents(self, transcript: Transcript) -> dict[str, str | None]:
        parents = {link.line: link.parent for link in reversed(transcript.chain.links)}
        return {
            self.writer.new_id(item): parents.get(line)
            for line, messages in self.on_line.items()
            for message in messages
            for item in self._inserted_before(message)
        }

    def _inserted_before(self, message: Message) -> list[Synthetic]:
        items = self.folded.inserted.get(message.id, [])
        if self.style.layout == "inline":
            return items
        return [item for item in items if item.id not in self.folded.hidden]

    def _record_lines(self, index: int, data: bytes, message: Message) -> Iterator[NewLine]:
        text = data.decode()
        place = line_place(text)
        for record in self._new_records(message, text, place):
            yield NewLine(_beside(text, place, record).encode(), None)
        own = self._edited_original(message, text, place)
        if own is not None:
            new = self._edited(index, {}, splice(text, {place.span: own}))
            yield _changed_line(new, index, data)
        if self.writer.parent_path is not None:
            for record in self._stand_in(message, text, place):
                yield NewLine(_beside(text, place, record).encode(), None)

    def _before_damage(self, messages: Sequence[Message]) -> Iterator[NewLine]:
        """Yield what is written before a line that cannot be parsed and so stays as it is."""
        for message in messages:
            for item in self._inserted_before(message):
                yield NewLine((self._synthetic_record(item, message, {}) + "\n").encode(), None)

    def _array_line(self, index: int, data: bytes, messages: Sequence[Message]) -> NewLine:
        text = data.decode()
        stale = self.stale.get(index, set())
        elements = stale | {message.record_path for message in messages}
        for path in sorted({element[:-1] for element in elements}, reverse=True):
            members = {m.record_path[-1]: m for m in messages if m.record_path[:-1] == path}
            text = self._array(text, path, members, {e[-1] for e in stale if e[:-1] == path})
        return _changed_line(text, index, data)

    def _array(
        self,
        text: str,
        path: JsonPath,
        members: Mapping[str | int, Message],
        stale: Container[str | int],
    ) -> str:
        spans, depth = find_array(text, path)
        items: list[tuple[int | None, str]] = []
        for position, (start, end) in enumerate(spans):
            message = members.get(position)
            if position in stale:
                continue
            if message is None:
                items.append((position, text[start:end]))
                continue
            place = ValuePlace(start, end, depth)
            items += ((None, record) for record in self._new_records(message, text, place))
            own = self._edited_original(message, text, place)
            if own is not None:
                items.append((position, own))
        return splice(text, {(spans[0][0], spans[-1][1]): rebuild(text, spans, items)})

    def _new_records(self, message: Message, text: str, place: ValuePlace) -> Iterator[str]:
        """Yield the records to be inserted before a message's own one, spelled as that is."""
        for item in self._inserted_before(message):
            like = _value_at(text, message.record_path)
            yield spelled(self._synthetic_record(item, message, like), place.depth)
        if self.writer.parent_path is None:
            yield from self._stand_in(message, text, place)

    def _stand_in(self, message: Message, text: str, place: ValuePlace) -> Iterator[str]:
        """Yield the rewritten record that stands for a message whose own one stays beside it."""
        if self.style.layout == "inline" and message.id in self.folded.replaced:
            yield self._rewritten(message, text, place, hidden=True)

    def _synthetic_record(self, item: Synthetic, message: Message, like: Mapping[str, Any]) -> str:
        parent = self.relinked.by_inserted_id.get(self.writer.new_id(item))
        record = dict(
            self.writer.new_record(
                item, InsertionContext(anchor=message, neighbour=like, parent=parent)
            )
        )
        if self.writer.parent_path is None:
            record = {**placing_fields(like), **record}
        if self.style.tags:
            fields = tag_fields(synthetic_tags(item, self.style.operation))
            fields = {**fields, METADATA_KEY: fields.get(METADATA_KEY, {}) | _summary_writer(item)}
            record |= self._fields(fields, message)
        if item.id in self.folded.hidden:
            record |= self._parent_field(item.id)
        return dump(record)

    def _edited_original(self, message: Message, text: str, place: ValuePlace) -> str | None:
        """Return a message's own record as it stands in the new file, None if it goes."""
        record = place.cut(text)
        if self.style.layout == "split":
            if message.id in self.folded.hidden:
                return None
            if message.id in self.folded.replaced:
                record = self._rewritten(message, text, place, hidden=False)
            return self._with_counts(record, place.depth) if self._is_restated(message) else record
        if message.id in self.folded.replaced:
            return with_added_fields(record, {"editParent": self._edit_group(message)}, place.depth)
        return with_added_fields(record, self._parent_field(message.id), place.depth)

    def _rewritten(self, message: Message, text: str, place: ValuePlace, *, hidden: bool) -> str:
        record, depth = place.cut(text), place.depth
        edits = self.folded.replaced[message.id]
        record = splice(record, part_replacements(record, message, edits, self.writer, depth))
        if not self.style.tags:
            return record
        own = reported_usage(plain(record, depth))
        if self.style.operation:
            own["op"] = self.style.operation
        fields: dict[str, Any] = {"editId": self._edit_group(message)}
        fields |= {METADATA_KEY: own} if own else {}
        record = with_fields(record, self._fields(fields, message), depth)
        return (
            with_added_fields(record, self._parent_field(message.id), depth) if hidden else record
        )

    def _line_with_counts(self, text: str) -> str:
        place = line_place(text)
        return splice(text, {place.span: self._with_counts(place.cut(text), place.depth)})

    def _with_counts(self, record: str, depth: int) -> str:
        """Return a record's text with the counts that tell a client the size of its context."""
        told, fields = self.style.usage_restatement, self.writer.usage_fields
        if told is None or fields is None:
            return record
        return restate_usage(record, fields, told.tokens, depth)

    def _fields(self, fields: Mapping[str, Any], message: Message) -> dict[str, Any]:
        """Return the tags of a record at the place of a message, with what the operation notes."""
        # Inline, "op" follows the digest that ends the style's fields: a part of a line is found by
        # that when a group goes (commands/operations/inline).
        own = {**(self.style.extra_metadata or {}), **fields.get(METADATA_KEY, {})}
        if own.get("through"):
            own |= self._through(own["through"], message)
        return {**fields, METADATA_KEY: own} if own else dict(fields)

    def _through(self, through: str, message: Message) -> dict[str, Any]:
        """Return how the newest message is found again from the place of a message on.

        The number in its id changes when an earlier message of equal content is hidden.
        """
        if through not in self.same_named:
            gone = (self.folded.hidden, self.folded.replaced)
            places = same_name_indices(self.effective, through)
            shown = [at for at in places if not any(self.effective[at].id in ids for ids in gone)]
            self.same_named[through] = shown
        number = occurrence(self.same_named[through], self.places.get(message.id, 0))
        name = base_id(through)
        return {"through": name, "occurrence": number} if number else {"through": name}

    def _parent_field(self, name: str) -> dict[str, str]:
        hide = self.folded.hidden.get(name)
        return {} if hide is None else {_PARENT_FIELD[hide.kind]: hide.group}

    def _edit_group(self, message: Message) -> str:
        return latest_edit(self.folded.replaced[message.id]).group

    def _edited(self, index: int, changes: dict[Span, str], text: str) -> str:
        if index in self.relinked.by_line and self.writer.parent_path is not None:
            path = self.writer.parent_path
            changes = changes | value_replacements(text, [(path, self.relinked.by_line[index])])
        if index in self.relinked.pointers:
            changes = changes | value_replacements(
                text, [(self.paths[index], self.relinked.pointers[index])]
            )
        return splice(text, changes)


def _terminated(line: NewLine) -> NewLine:
    return line if line.data.endswith(b"\n") else NewLine(line.data + b"\n", line.source_index)


def _changed_line(text: str, index: int, was: bytes) -> NewLine:
    data = text.encode()
    return NewLine(data, index, is_unchanged=data == was)


def _summary_writer(item: Synthetic) -> dict[str, Any]:
    known = {name: item.details[name] for name in _ORIGIN_FIELDS if name in item.details}
    return {} if known == {"summarizer": BUILTIN_SUMMARIZER} else known


def _beside(text: str, place: ValuePlace, record: str) -> str:
    """Return the line of a record that is written beside one, with the same layer around it."""
    head, tail = text[: place.start].lstrip("\ufeff \t"), text[place.end :].rstrip(" \t\r\n")
    return f"{head}{record}{tail}" + ("\r\n" if text.endswith("\r\n") else "\n")


def _value_at(text: str, element: JsonPath) -> Mapping[str, Any]:
    place = record_place(text)
    return dict(value_at(json.loads(plain(place.cut(text), place.depth), strict=False), element))


_WRITTEN = -1


class NewFile:
    """The lines of the new file, in order; those that stay as they are come from the old lines.

    ``new_indices`` tells where in it each line is that is still there.
    """

    def __init__(self, old: Sequence[bytes], lines: Iterable[NewLine]) -> None:
        self.new_indices: dict[int, int] = {}
        self._old = old
        self._sources = array("q")
        self._changed: dict[int, bytes] = {}
        for place, line in enumerate(lines):
            if line.source_index is not None:
                self.new_indices[line.source_index] = place
            self._sources.append(_WRITTEN if line.source_index is None else line.source_index)
            if not line.is_unchanged:
                self._changed[place] = line.data

    def is_unchanged(self, place: int) -> bool:
        """Tell whether the line at ``place`` is the same bytes as before."""
        return place not in self._changed

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first to the last."""
        old = enumerate(self._old)
        for place, source in enumerate(self._sources):
            if place in self._changed:
                yield self._changed[place]
            else:
                yield next(line for index, line in old if index == source)
