"""Compact Codex sessions by appending a ``compacted`` record, which holds all that is sent.

It is followed by copies of the records from which the client knows which parts of its environment
it has sent, and of the token count by which it auto-compacts. Tested with clients 0.142.0, 0.155.0
and 0.171.0. They skip a ``compacted`` record without a timestamp or a message, and do not resume a
numbered session whose last record has no number.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from compactctl.clients.codex.agents import agent_item
from compactctl.clients.codex.reader import CodexReader
from compactctl.clients.codex.record_kinds import RECORDS
from compactctl.clients.codex.usage import USAGE_FIELDS
from compactctl.clients.format import NativeAppend
from compactctl.clients.records.builder import record_id
from compactctl.clients.records.decode import Decoded, decode, decode_lines
from compactctl.clients.records.json_values import object_or_empty
from compactctl.errors import UsageError
from compactctl.history.stand_ins import base_id, edit_points
from compactctl.model.json_paths import value_at
from compactctl.model.message import NO_TAGS, JsonPath, Message, TextPart
from compactctl.model.tags import APPENDED_KEY, METADATA_KEY, read_metadata, tag_fields
from compactctl.model.transcript import RawLine
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_sole_record, find_spans
from compactctl.records import replace

_UNKNOWN_ITEM = "an item of unknown type"
_THROUGH_FIELDS = ("through", "occurrence")
_CONTEXT = "turn_context"
# Kinds of records that do more than add to what is sent.
_CHANGES = frozenset({"compacted", "session_meta", "world_state", "thread_rolled_back"})
_HISTORY_PATH: JsonPath = ("payload", "replacement_history")
_EMPTY = '{"timestamp":"","type":"compacted","payload":null}'
_NO_PAYLOAD = b'"payload":null'
_SUMMARY_PATH: JsonPath = ("payload", "message")


class CodexNativeAppend(NativeAppend):
    """Append the whole desired history; see ``NativeAppend``.

    Only the last ``compacted`` record counts and it can be edited in place, so ``normalized`` has
    nothing to do.
    """

    version_of = "client"
    oldest_tested = (0, 142, 0)
    newest_tested = (0, 171, 0)
    keeps_file_open = True

    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return the ``compacted`` record, the environment records and the token count.

        Raises UsageError for an item of unknown type, as it might be sent.
        """
        current_session, desired_session = CodexSession(current), CodexSession(desired)
        if any(line.damage == _UNKNOWN_ITEM for line in desired_session.transcript.opaque):
            raise UsageError("contains an item of an unknown type, which would be lost")
        if (
            current_session.items == desired_session.items
            and current_session.size == desired_session.size
        ):
            return []
        records = [
            _compacted(desired_session.items),
            *current_session.environment_records(desired_session),
            *desired_session.count,
        ]
        stamper = _RecordStamper(current_session, operation)
        return [stamper.stamp(text) for text in records]

    def carry(
        self, block: Sequence[bytes], grown: Sequence[bytes], operation: str
    ) -> Iterator[bytes]:
        """Return the block with the items of these lines in its history, numbered after them."""
        added = [(line, *_addition(line)) for line in grown]
        items = [item for _, _, items in added for item in items]
        contexts = [line.decode().rstrip() for line, kind, _ in added if kind == _CONTEXT]
        stamper = _RecordStamper(CodexSession(grown[-1:]), operation)
        compacted, *others = block
        history = ",".join(filter(None, (_history_text(compacted), *items)))
        payload = f'"payload":{{"message":"","replacement_history":[{history}]}}'
        # Quickly, as the client goes on: the record may be large.
        yield stamper.stamp(_EMPTY).replace(_NO_PAYLOAD, payload.encode(), 1)
        for line in others:
            is_context = contexts and _kind(decode(line)[0][0]) == _CONTEXT
            yield stamper.stamp(contexts[-1] if is_context else line.decode().rstrip())


@lru_cache(maxsize=4_096)
def _addition(line: bytes) -> tuple[str, Sequence[str]]:
    """Return the kind of a record and its items; ValueError if it does more than add to them."""
    session = CodexSession((line,))
    kind = "".join(_kind(record) for _, record in session.records)
    is_unknown = any(
        "payload" in r and str(r.get("type")) not in RECORDS for _, r in session.records
    )
    if session.transcript.opaque or is_unknown or kind in _CHANGES:
        raise ValueError("changed by the client in another way")
    return kind, session.items


@lru_cache(maxsize=1)
def _history_text(compacted: bytes) -> str:
    """Return the items in the history of a record, with the commas between them."""
    text = compacted.decode()
    return text[slice(*find_spans(text, [_HISTORY_PATH])[_HISTORY_PATH])].strip()[1:-1]


def _kind(record: Mapping[str, Any]) -> str:
    """Return the type of a record; of an event its own."""
    kind = str(record.get("type"))
    return str(object_or_empty(record.get("payload")).get("type")) if kind == "event_msg" else kind


class CodexSession:
    """The lines of a session, and the items that its client would send.

    A damaged line counts as the records that were salvaged from it, each on a line of its own.
    """

    def __init__(self, lines: Sequence[bytes]) -> None:
        raw_lines = (RawLine(index, line) for index, line in enumerate(lines))
        single = [value for line in decode_lines(raw_lines) for value in _one_by_one(line)]
        self._lines = [lines[value.index] for value in single]
        self.decoded = tuple(replace(value, index=index) for index, value in enumerate(single))
        self._reader = CodexReader()
        self.transcript = self._reader.read(self.decoded)

    @property
    def records(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The undamaged records, each with the index of its line."""
        for line in self.decoded:
            if line.damage is None and line.values and isinstance(line.values[0], Mapping):
                yield line.index, line.values[0]

    def text(self, index: int) -> str:
        """Return the text of the record on a line, without what surrounds it."""
        decoded = self.decoded[index]
        if decoded.damage is not None:
            return dump(decoded.values[0])
        text = self._lines[index].decode()
        start, end, _ = find_sole_record(text)
        return text[start:end]

    @cached_property
    def items(self) -> Sequence[str]:
        """The texts of the items that are sent, in order, each with the tags of its record."""
        messages_by_line: dict[int, list[Message]] = defaultdict(list)
        for message in self._sent:
            messages_by_line[message.line].append(message)
        texts = {
            message_id: text
            for index, messages in messages_by_line.items()
            for message_id, text in self._items_on_line(index, messages)
        }
        return [texts[message.id] for message in self._sent]

    @property
    def names(self) -> Sequence[str]:
        """The names of these items, which an item keeps when it is edited or repeated."""
        return [self._name_in_history(message) for message in self._sent]

    @cached_property
    def _sent(self) -> Sequence[Message]:
        # An answer without parts is nothing to send; its record may be a token count. Outputs
        # without a call are left out of a history, too.
        sent = (message for message in self.transcript.history if message.parts)
        return [message for message in sent if not _is_header(self._record(message))]

    def _items_on_line(self, index: int, messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
        text = self.text(index)
        spans = find_spans(text, {_item_path(message) for message in messages})
        for message in messages:
            # An item of the oldest rollouts has no envelope: it is the whole record.
            start, end = spans.get(_item_path(message), (0, len(text)))
            item = text[start:end]
            tagged_record = (
                decode(item.encode())[0][0] if message.record_path else self._record(message)
            )
            sent_item = self._other_items.get(message.id, item)
            yield message.id, with_fields(sent_item, self._tag_fields(message, tagged_record))

    @cached_property
    def _other_items(self) -> Mapping[str, str]:
        """The items that are sent in another form than they are stored in, by message.

        A history is loaded as it is, so outputs are cut before they are written into one.
        """
        items: dict[str, str] = {}
        for message in self._sent:
            record = self._record(message)
            payload = record.get("payload", record)
            if message.id in self._reader.shortened or message.parts[0].path == _SUMMARY_PATH:
                items[message.id] = _prompt_item(message)
            elif message.record_path:
                continue
            elif record.get("type") == "inter_agent_communication":
                items[message.id] = dump(agent_item(payload))
            elif message.id in self._reader.outputs:
                output = self._reader.outputs[message.id]
                value = output.sent(self._reader.budget)
                if value != output.value:
                    items[message.id] = dump({**payload, "output": value})
        return items

    def _record(self, message: Message) -> Mapping[str, Any]:
        value = self.decoded[message.line].values[0]
        return value if isinstance(value, Mapping) else {}

    def _tag_fields(self, message: Message, tagged_record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the tags of ``tagged_record`` as its item carries them in a history."""
        if message.tags == NO_TAGS:
            return {}
        metadata = dict(read_metadata(tagged_record))
        if message.tags.through:
            metadata = {n: value for n, value in metadata.items() if n not in _THROUGH_FIELDS}
            metadata |= self._through(message)
        return {**tag_fields(message.tags), **({METADATA_KEY: metadata} if metadata else {})}

    def _through(self, message: Message) -> Mapping[str, str | int]:
        """Return how to find the newest message that an edit covers, once it is in a history.

        Items of a history have no timestamp, so several may have the same id; hence the count.
        """
        index = self._index[message.id]
        newest = self._edit_places.get(index)
        if newest is None:
            return {}
        name = self._names[newest]
        occurrence = self._names[index : newest + 1].count(name)
        return {"through": name, "occurrence": occurrence} if occurrence > 1 else {"through": name}

    @cached_property
    def _edit_places(self) -> Mapping[int, int | None]:
        return edit_points(self.transcript.effective)

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {message.id: index for index, message in enumerate(self.transcript.effective)}

    @cached_property
    def _names(self) -> Sequence[str]:
        """The ids of the effective messages, once their items are in a history."""
        return [self._name_in_history(message) for message in self.transcript.effective]

    def _name_in_history(self, message: Message) -> str:
        item = None if message.record_path else self._record(message).get("payload")
        if message.id in self._other_items:
            item = decode(self._other_items[message.id].encode())[0][0]
        if not isinstance(item, Mapping):
            return base_id(message.id)
        return record_id(item, message.tags)

    @property
    def count(self) -> Sequence[str]:
        """The text of the newest token count, if there is one."""
        line = self.transcript.session.usage_line
        return [] if line is None else [self.text(line)]

    @property
    def size(self) -> object:
        """The counts in that record."""
        line = self.transcript.session.usage_line
        return None if line is None else value_at(self.decoded[line].values[0], USAGE_FIELDS.path)

    def environment_records(self, desired_session: "CodexSession") -> Iterator[str]:
        """Yield the records from which the client knows which environment context it has sent.

        Yields nothing if ``desired_session`` drops some of that context: it must be sent again.
        """
        state: list[int] = []
        context: int | None = None
        for index, record in self.records:
            if record.get("type") == "world_state":
                is_full = object_or_empty(record.get("payload")).get("full") is True
                state = [index] if is_full else [*state, index]
            elif record.get("type") == "turn_context":
                context = index
        if state and self._injected() <= set(desired_session.items):
            yield from map(self.text, (*state, *([] if context is None else [context])))

    def _injected(self) -> set[str]:
        return {
            text
            for message, text in zip(self._sent, self.items, strict=True)
            if message.origin.is_injected
            and not message.origin.is_synthetic
            and message.id not in self._reader.history.agent_ids
        }


def _one_by_one(line: Decoded) -> Sequence[Decoded]:
    """Return a line once for each of its values, or as it is if it has none."""
    return [replace(line, values=(value,)) for value in line.values] or [line]


class _RecordStamper:
    """Gives appended records the session's last timestamp and its next numbers, if it has any."""

    def __init__(self, session: CodexSession, operation: str) -> None:
        self._operation = operation
        self._time = ""
        self._next: int | None = None
        for _, record in session.records:
            self._time = str(record.get("timestamp") or self._time)
            number = record.get("ordinal")
            if isinstance(number, int):
                self._next = max(number, (self._next or 0) - 1) + 1

    def stamp(self, text: str) -> bytes:
        """Return a record as the next line, marked as appended."""
        metadata = {**read_metadata(decode(text.encode())[0][0]), APPENDED_KEY: self._operation}
        fields: dict[str, Any] = {"timestamp": self._time, METADATA_KEY: metadata}
        if self._next is not None:
            fields["ordinal"] = self._next
            self._next += 1
        return (with_fields(text, fields) + "\n").encode()


def _compacted(items: Sequence[str]) -> str:
    history = ",".join(items)
    inner = f'{{"message":"","replacement_history":[{history}]}}'
    return f'{{"timestamp":"","type":"compacted","payload":{inner}}}'


def _is_header(record: Mapping[str, Any]) -> bool:
    return record.get("type") == "session_meta" or "instructions" in record


def _item_path(message: Message) -> JsonPath:
    """Return the path of an item within the record on its line."""
    return message.record_path or ("payload",)


def _prompt_item(message: Message) -> str:
    content = [
        {"type": "input_text", "text": part.text or part.added}
        for part in message.parts
        if isinstance(part, TextPart)
    ]
    return dump({"type": "message", "role": "user", "content": content})
