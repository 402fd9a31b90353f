"""Lay out the lines of the new file from the old lines and the edits.

``split``: hidden records are removed (they are in the archive), rewritten records replace their
originals, and records that followed a hidden one are linked to what precedes it.
``inline``: originals stay, unchanged but for a tag before the closing brace; summaries, markers
and rewritten records are inserted before them. In formats that link records by id, a rewritten
record comes after its original, because clients use the later of two records with one id.
A native append, which adds records behind the old lines, starts from a ``split`` layout.
"""

from array import array
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from compactctl.history.apply import NetEdits, latest_edit, synthetic_tags
from compactctl.history.stand_ins import base_id, occurrence, same_name_indices
from compactctl.model.conversation_fields import placement_fields
from compactctl.model.edit import DropPart, Replace, SetField
from compactctl.model.json_parser import parse_json
from compactctl.model.message import JsonPath, Message, Synthetic, block_path, member_path
from compactctl.model.summary import BUILTIN_SUMMARIZER
from compactctl.model.tags import METADATA_KEY, tag_fields
from compactctl.model.transcript import FieldValue, Link, Transcript
from compactctl.model.unsent import UnsentValue
from compactctl.model.usage_fields import UsageRestatement
from compactctl.pipeline.inline import hide_exposed_originals
from compactctl.pipeline.part_fields import field_values
from compactctl.pipeline.quoted_json import ValueLocation, escape, unescape
from compactctl.pipeline.record_splice import (
    dump,
    part_replacements,
    reported_usage,
    restate_usage,
    value_replacements,
    with_added_fields,
    with_fields,
    with_values,
    without_elements,
    without_values,
)
from compactctl.pipeline.relink import InsertedRecord, NewParents, relink
from compactctl.pipeline.spans import (
    find_array,
    find_sole_record,
    replace_in_step,
    splice,
)
from compactctl.pipeline.unsent import find_unsent, without_unsent
from compactctl.pipeline.writer import InsertionContext, RecordWriter
from compactctl.records import Record, replace

Layout = Literal["split", "inline"]
# Stored in a summary unless the built-in summarizer wrote it, and not as a fallback.
_ORIGIN_FIELDS = ("summarizer", "fallback")
_NO_SOURCE = -1
_BYTE_ORDER_MARK = "\ufeff"
_PARENT_FIELD = {"condense": "condenseParent", "truncate": "truncationParent"}


class NewLine(Record, kw_only=False):
    """A line of the new file.

    Attributes:
        data: its bytes.
        source_index: the index of the old line that it continues; None for an inserted record.
        is_unchanged: whether it is byte for byte that old line.
    """

    data: bytes
    source_index: int | None
    is_unchanged: bool = False


class LayoutOptions(Record):
    """How to lay out the new file.

    Attributes:
        layout: whether originals stay in the file (``inline``) or not (``split``).
        operation: the id of the operation, stored in synthetic and rewritten records.
        tags: whether to write tags at all.
        extra_metadata: further fields for the ``compactctl`` object of these records.
        usage_restatement: the record from which the client reads the size of its context, and the
            size to write there.
    """

    layout: Layout = "split"
    operation: str = ""
    tags: bool = True
    extra_metadata: Mapping[str, Any] | None = None
    usage_restatement: UsageRestatement | None = None


def lay_out(
    lines: Sequence[bytes],
    transcript: Transcript,
    edits: NetEdits,
    writer: RecordWriter,
    options: LayoutOptions,
) -> Iterator[NewLine]:
    """Yield the lines of the new file; a line that no edit touches stays byte for byte the same.

    Every line of a file of lines ends with a line break, so that a client can append to it.
    """
    if options.layout == "split":
        edits = hide_exposed_originals(transcript, edits, tags=options.tags)
    layout = _FileLayout(lines, transcript, edits, writer, options)
    # A format with linked records always has one record per line, even in a file of one line.
    is_document = len(lines) == 1 and writer.parent_path is None
    return layout.lines() if is_document else map(_with_newline, layout.lines())


class _FileLayout:
    def __init__(
        self,
        lines: Sequence[bytes],
        transcript: Transcript,
        edits: NetEdits,
        writer: RecordWriter,
        options: LayoutOptions,
    ) -> None:
        self.old_lines, self.edits, self.writer, self.options = lines, edits, writer, options
        self.messages_by_line: dict[int, list[Message]] = defaultdict(list)
        for message in transcript.messages:
            if self._is_touched(message):
                self.messages_by_line[message.line].append(message)
        self.history = transcript.history
        self.visible_indices: dict[str, Sequence[int]] = {}
        self.index_by_id = {message.id: index for index, message in enumerate(self.history)}
        self.damaged_lines = transcript.damaged_lines
        self.notes = transcript.notes
        self.pointer_paths = {pointer.line: pointer.path for pointer in transcript.chain.pointers}
        self.corrected = edits.corrected if options.layout == "split" else {}
        self.superseded = self._superseded_records(transcript)
        self.unsent_by_line = self._unsent_values(transcript)
        self.new_parents = self._relink(transcript)

    def lines(self) -> Iterator[NewLine]:
        for index, data in enumerate(self.old_lines):
            unsent = self.unsent_by_line.get(index)
            values = self._corrected_values(index)
            if unsent is None and not values:
                yield from self._new_lines(index, data)
            elif unsent is None or unsent[0].path:
                trimmed = without_unsent(data, unsent) if unsent else data
                new = self._new_lines(index, _with_values(trimmed, values))
                yield from (replace(line, is_unchanged=False) for line in new)

    def _new_lines(self, index: int, data: bytes) -> Iterator[NewLine]:
        messages = self.messages_by_line.get(index)
        superseded = self.superseded.get(index)
        restatement = self.options.usage_restatement
        if messages and index in self.damaged_lines:
            yield from self._lines_before_damage(messages)
            yield NewLine(data, index, is_unchanged=True)
        elif (messages and messages[0].record_path) or (superseded and () not in superseded):
            yield self._edited_array_line(index, data, messages or ())
        elif messages:
            yield from self._record_lines(index, data, messages[0])
        elif superseded:
            return
        elif index in self.new_parents.by_line or index in self.new_parents.pointers:
            yield _changed_line(self._with_new_parents(index, data.decode()), index, data)
        elif restatement is not None and index == restatement.line:
            yield _changed_line(self._line_with_counts(data.decode()), index, data)
        else:
            yield NewLine(data, index, is_unchanged=True)

    def _unsent_values(self, transcript: Transcript) -> dict[int, list[UnsentValue]]:
        """Return the unsent values to remove, by line; a whole record is alone on its line."""
        by_line: dict[int, list[UnsentValue]] = defaultdict(list)
        kinds = self.edits.removed_unsent
        rules = self.writer.unsent if kinds and self.options.layout == "split" else ()
        for value in find_unsent(self.old_lines, transcript, rules, kinds):
            by_line[value.line].append(value)
        return dict(by_line)

    def _superseded_records(self, transcript: Transcript) -> dict[int, set[JsonPath]]:
        """Return the superseded versions to remove, by line; the inline layout keeps them."""
        paths_by_line: dict[int, set[JsonPath]] = defaultdict(set)
        if self.options.layout == "split":
            touched_ids = {m.id for messages in self.messages_by_line.values() for m in messages}
            for version in transcript.chain.superseded:
                if version.message_id in touched_ids and version.line not in self.damaged_lines:
                    paths_by_line[version.line].add(version.record_path)
        for line, corrections in self.corrected.items():
            paths = {correction.path for correction in corrections if not correction.values}
            if paths:
                paths_by_line[line] |= paths
        return paths_by_line

    def _is_touched(self, message: Message) -> bool:
        tables = (self.edits.hidden, self.edits.replaced, self.edits.inserted)
        return self._is_restated(message) or any(message.id in table for table in tables)

    def _is_removed(self, message: Message) -> bool:
        """Whether a message is hidden, or has no part left."""
        edits = self.edits.replaced.get(message.id, {}).values()
        n_dropped = sum(isinstance(edit, DropPart) for edit in edits)
        return message.id in self.edits.hidden or 0 < n_dropped == len(message.parts)

    def _is_restated(self, message: Message) -> bool:
        restatement = self.options.usage_restatement
        return restatement is not None and message.id == restatement.id

    def _relink(self, transcript: Transcript) -> NewParents:
        if self.writer.parent_path is None or self.options.layout == "inline":
            return NewParents({}, self._inline_parents(transcript))
        dropped_lines = {
            line
            for line, messages in self.messages_by_line.items()
            if all(self._is_removed(m) and not m.record_path for m in messages)
        }
        dropped_lines |= {
            line for line, values in self.unsent_by_line.items() if not values[0].path
        }
        dropped_lines |= {line for line in self.corrected if () in self.superseded.get(line, ())}
        inserted = [
            InsertedRecord(
                id=self.writer.new_id(item),
                before_line=line,
                next_shown_line=self._next_line(message),
            )
            for line, messages in sorted(self.messages_by_line.items())
            for message in messages
            # What is put among the elements of an array is not linked.
            if not message.record_path
            for item in self._inserted_before(message)
        ]
        chain = transcript.chain
        ids = {link.id for link in chain.links}
        links = tuple(self._corrected_link(link, ids) for link in chain.links)
        return relink(links, dropped_lines, inserted, self.damaged_lines, chain.pointers)

    def _corrected_values(self, line: int) -> list[FieldValue]:
        return [value for edit in self.corrected.get(line, ()) for value in edit.values]

    def _corrected_link(self, link: Link, ids: Container[str]) -> Link:
        """Return a link with the parent that a correction sets, if that is in the file."""
        values = self._corrected_values(link.line)
        parent = next((v.value for v in values if v.path == self.writer.parent_path), None)
        if not isinstance(parent, str) or parent not in ids:
            return link
        return replace(link, parent=parent, is_inferred=False)

    def _next_line(self, message: Message) -> int | None:
        """Return the line of the first visible message from ``message`` on."""
        start = self.index_by_id.get(message.id, len(self.history))
        lines = (m.line for m in self.history[start:] if m.id not in self.edits.hidden)
        return next(lines, None)

    def _inline_parents(self, transcript: Transcript) -> dict[str, str | None]:
        parents = {link.line: link.parent for link in reversed(transcript.chain.links)}
        return {
            self.writer.new_id(item): parents.get(line)
            for line, messages in self.messages_by_line.items()
            for message in messages
            for item in self._inserted_before(message)
        }

    def _inserted_before(self, message: Message) -> list[Synthetic]:
        items = self.edits.inserted.get(message.id, [])
        if self.options.layout == "inline":
            return items
        return [item for item in items if item.id not in self.edits.hidden]

    def _record_lines(self, index: int, data: bytes, message: Message) -> Iterator[NewLine]:
        text = data.decode()
        location = find_sole_record(text)
        for record in self._new_records(message, text, location):
            yield NewLine(_as_line(text, location, record).encode(), None)
        edited = self._edited_original(message, text, location)
        if edited is not None:
            new = self._with_new_parents(index, splice(text, {location.span: edited}))
            yield _changed_line(new, index, data)
        if self.writer.parent_path is not None:
            for record in self._rewritten_copy(message, text, location):
                yield NewLine(_as_line(text, location, record).encode(), None)

    def _lines_before_damage(self, messages: Sequence[Message]) -> Iterator[NewLine]:
        """Yield what is inserted before a damaged line, which itself stays as it is."""
        for message in messages:
            for item in self._inserted_before(message):
                yield NewLine((self._synthetic_record(item, message, {}) + "\n").encode(), None)

    def _edited_array_line(self, index: int, data: bytes, messages: Sequence[Message]) -> NewLine:
        text = data.decode()
        superseded = self.superseded.get(index, set())
        elements = superseded | {message.record_path for message in messages}
        for path in sorted({element[:-1] for element in elements}, reverse=True):
            members = {m.record_path[-1]: m for m in messages if m.record_path[:-1] == path}
            text = self._edited_array(
                text, path, members, {e[-1] for e in superseded if e[:-1] == path}
            )
        return _changed_line(text, index, data)

    def _edited_array(
        self,
        text: str,
        path: JsonPath,
        members: Mapping[str | int, Message],
        superseded: Container[str | int],
    ) -> str:
        spans, depth = find_array(text, path)
        items: list[tuple[int | None, str]] = []
        for position, (start, end) in enumerate(spans):
            message = members.get(position)
            if position in superseded:
                continue
            if message is None:
                items.append((position, text[start:end]))
                continue
            location = ValueLocation(start, end, depth)
            items += ((None, record) for record in self._new_records(message, text, location))
            edited = self._edited_original(message, text, location)
            if edited is not None:
                items.append((position, edited))
        return replace_in_step(text, path, spans, items, self.notes)

    def _new_records(self, message: Message, text: str, location: ValueLocation) -> Iterator[str]:
        """Yield the records to insert before a message's record, escaped as deeply as that is."""
        for item in self._inserted_before(message):
            neighbor = parse_json(unescape(location.cut(text), location.depth), strict=False)
            yield escape(self._synthetic_record(item, message, neighbor), location.depth)
        if self.writer.parent_path is None or message.record_path:
            yield from self._rewritten_copy(message, text, location)

    def _rewritten_copy(
        self, message: Message, text: str, location: ValueLocation
    ) -> Iterator[str]:
        """Yield the rewritten record of a message whose original stays in the file."""
        if self.options.layout == "inline" and message.id in self.edits.replaced:
            yield self._rewritten_record(message, text, location, hidden=True)

    def _synthetic_record(
        self, item: Synthetic, message: Message, neighbor: Mapping[str, Any]
    ) -> str:
        parent = self.new_parents.by_inserted_id.get(self.writer.new_id(item))
        record = dict(
            self.writer.new_record(
                item, InsertionContext(anchor=message, neighbor=neighbor, parent=parent)
            )
        )
        if self.writer.parent_path is None:
            record = {**placement_fields(neighbor), **record}
        if self.options.tags:
            fields = tag_fields(synthetic_tags(item, self.options.operation))
            fields = {**fields, METADATA_KEY: fields.get(METADATA_KEY, {}) | _summary_writer(item)}
            record |= self._with_metadata(fields, message)
        if item.id in self.edits.hidden:
            record |= self._hiding_field(item.id)
        return dump(record)

    def _edited_original(self, message: Message, text: str, location: ValueLocation) -> str | None:
        """Return a message's record for the new file, None if it is removed."""
        record = location.cut(text)
        if self.options.layout == "split":
            if self._is_removed(message):
                return None
            if message.id in self.edits.replaced:
                record = self._rewritten_record(message, text, location, hidden=False)
            return (
                self._with_counts(record, location.depth) if self._is_restated(message) else record
            )
        if message.id in self.edits.replaced:
            return with_added_fields(
                record, {"editParent": self._edit_group(message)}, location.depth
            )
        return with_added_fields(record, self._hiding_field(message.id), location.depth)

    def _rewritten_record(
        self, message: Message, text: str, location: ValueLocation, *, hidden: bool
    ) -> str:
        record, depth = location.cut(text), location.depth
        record = self._with_part_edits(record, message, depth)
        if not self.options.tags:
            return record
        metadata = reported_usage(unescape(record, depth))
        if self.options.operation:
            metadata["op"] = self.options.operation
        fields: dict[str, Any] = {"editId": self._edit_group(message)}
        fields |= {METADATA_KEY: metadata} if metadata else {}
        record = with_fields(record, self._with_metadata(fields, message), depth)
        return (
            with_added_fields(record, self._hiding_field(message.id), depth) if hidden else record
        )

    def _with_part_edits(self, record: str, message: Message, depth: int) -> str:
        edits = self.edits.replaced[message.id].values()
        texts = {edit.part: edit for edit in edits if isinstance(edit, Replace)}
        fields = [edit for edit in edits if isinstance(edit, SetField)]
        drops = [edit.part for edit in edits if isinstance(edit, DropPart)]
        record = splice(record, part_replacements(record, message, texts, self.writer, depth))
        if not fields and not drops:
            return record
        record, length = unescape(record, depth), len(message.record_path)
        value = parse_json(record, strict=False)
        values = (
            new
            for edit in fields
            for new in field_values(value, message.parts[edit.part], edit, length)
        )
        record = with_values(record, values)
        parts = [message.parts[part] for part in drops]
        blocks = [block_path(part)[length:] for part in parts]
        # A part outside of lists is a member of the record.
        members = [
            member_path(part)[length:]
            for part, block in zip(parts, blocks, strict=True)
            if not block
        ]
        record = without_elements(without_values(record, members), filter(None, blocks))
        return escape(record, depth)

    def _line_with_counts(self, text: str) -> str:
        location = find_sole_record(text)
        return splice(text, {location.span: self._with_counts(location.cut(text), location.depth)})

    def _with_counts(self, record: str, depth: int) -> str:
        restatement, fields = self.options.usage_restatement, self.writer.usage_fields
        if restatement is None or fields is None:
            return record
        return restate_usage(record, fields, restatement.tokens, depth)

    def _with_metadata(self, fields: Mapping[str, Any], message: Message) -> dict[str, Any]:
        """Return the fields of a record at the position of a message, with all its metadata."""
        # The order matters inline: when a group is removed, commands/operations/inline finds its
        # part of a line by the digest that ends ``extra_metadata``, directly before "op".
        metadata = {**(self.options.extra_metadata or {}), **fields.get(METADATA_KEY, {})}
        if metadata.get("through"):
            metadata |= self._through_fields(metadata["through"], message)
        return {**fields, METADATA_KEY: metadata} if metadata else dict(fields)

    def _through_fields(self, through: str, message: Message) -> dict[str, Any]:
        """Return the fields that find the message ``through`` again, from ``message`` on.

        Ids made from content repeat: three messages "Continue." are c, c#2 and c#3, and hiding the
        first makes c#3 the new c#2. So store c, and that it is the third one from here on.
        """
        if through not in self.visible_indices:
            changed = self.edits.hidden.keys() | self.edits.replaced.keys()
            indices = same_name_indices(self.history, through)
            self.visible_indices[through] = [
                index for index in indices if self.history[index].id not in changed
            ]
        number = occurrence(self.visible_indices[through], self.index_by_id.get(message.id, 0))
        through_id = base_id(through)
        return {"through": through_id, "occurrence": number} if number else {"through": through_id}

    def _hiding_field(self, message_id: str) -> dict[str, str]:
        hide = self.edits.hidden.get(message_id)
        return {} if hide is None else {_PARENT_FIELD[hide.kind]: hide.group}

    def _edit_group(self, message: Message) -> str:
        return latest_edit(self.edits.replaced[message.id]).group

    def _with_new_parents(self, index: int, text: str) -> str:
        path, pointer_paths = self.writer.parent_path, self.pointer_paths
        values = self.new_parents.values_on(index, path, pointer_paths)
        return splice(text, value_replacements(text, values.items())) if values else text


def _with_values(data: bytes, values: Sequence[FieldValue]) -> bytes:
    """Return a line with values set; a value of the whole line replaces it."""
    whole = next((value for value in reversed(values) if not value.path), None)
    if whole is not None:
        text = data.decode(errors="replace").removeprefix(_BYTE_ORDER_MARK)
        return text.encode() if _holds(text, whole.value) else (dump(whole.value) + "\n").encode()
    if not values:
        return data
    text = with_values(data.decode(errors="surrogateescape"), values)
    return text.encode(errors="surrogateescape")


def _holds(text: str, value: object) -> bool:
    """Whether a text is the JSON of a value, so that only the mark before it has to go."""
    try:
        return bool(parse_json(text, strict=False) == value)
    except ValueError:
        return False


def _with_newline(line: NewLine) -> NewLine:
    return line if line.data.endswith(b"\n") else NewLine(line.data + b"\n", line.source_index)


def _changed_line(text: str, index: int, old: bytes) -> NewLine:
    data = text.encode()
    return NewLine(data, index, is_unchanged=data == old)


def _summary_writer(item: Synthetic) -> dict[str, Any]:
    fields = {name: item.details[name] for name in _ORIGIN_FIELDS if name in item.details}
    return {} if fields == {"summarizer": BUILTIN_SUMMARIZER} else fields


def _as_line(text: str, location: ValueLocation, record: str) -> str:
    """Return ``record`` as its own line, wrapped like the record at ``location`` in its line."""
    head, tail = text[: location.start].lstrip("\ufeff \t"), text[location.end :].rstrip(" \t\r\n")
    return f"{head}{record}{tail}" + ("\r\n" if text.endswith("\r\n") else "\n")


class NewFile:
    """The lines of the new file, holding only the changed ones in memory.

    ``new_indices`` maps the index of an old line to that of the line that continues it.
    """

    def __init__(self, old: Sequence[bytes], lines: Iterable[NewLine]) -> None:
        self.new_indices: dict[int, int] = {}
        self._old = old
        self._sources = array("q")
        self._changed: dict[int, bytes] = {}
        for index, line in enumerate(lines):
            if line.source_index is not None:
                self.new_indices[line.source_index] = index
            self._sources.append(_NO_SOURCE if line.source_index is None else line.source_index)
            if not line.is_unchanged:
                self._changed[index] = line.data

    def is_unchanged(self, index: int) -> bool:
        """Whether the line at ``index`` is byte for byte the old one."""
        return index not in self._changed

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first to the last."""
        old = enumerate(self._old)
        for index, source in enumerate(self._sources):
            if index in self._changed:
                yield self._changed[index]
            else:
                # Old lines keep their order, so a single pass over them is enough.
                yield next(line for old_index, line in old if old_index == source)
