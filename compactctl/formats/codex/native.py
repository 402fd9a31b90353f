"""Codex sessions that are changed by appending: a ``compacted`` record tells all that is sent.

Behind it stand the records by which the client knows what of its surroundings was sent already, and
the count by which it measures. Seen with clients 0.142.0, 0.155.0 and 0.169.0; they pass over a
``compacted`` record without a timestamp or a message, and resume no numbered session whose last
record has no number.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from compactctl.errors import UsageError
from compactctl.formats.codex.adapter import Codex
from compactctl.formats.codex.usage import USAGE_FIELDS
from compactctl.formats.format import NativeAppend
from compactctl.formats.records.builder import record_id
from compactctl.formats.records.decode import decode, decode_lines
from compactctl.history.stand_ins import base_id, edit_places
from compactctl.model.json_paths import value_at
from compactctl.model.message import NO_TAGS, JsonPath, Message, TextPart
from compactctl.model.tags import APPENDED_KEY, METADATA_KEY, tag_fields
from compactctl.model.transcript import RawLine
from compactctl.model.usage_fields import own_metadata
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_spans, line_place

_UNKNOWN_ITEM = "an item of unknown type"
_NEWEST = ("through", "occurrence")
_SUMMARY_PATH: JsonPath = ("payload", "message")


class CodexNativeAppend(NativeAppend):
    """All that is sent, told once more; see ``NativeAppend``.

    What is told last counts alone, and can be changed where it stands: nothing is to be settled.
    """

    version_of = "client"
    oldest_tested = (0, 142, 0)
    newest_tested = (0, 169, 0)
    keeps_file_open = True

    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return what is sent of ``desired``, what is known of it, and its size, in this order.

        UsageError where an item is not understood: nobody could tell whether it is sent.
        """
        current_session, desired_session = _Session(current), _Session(desired)
        if any(each.damage == _UNKNOWN_ITEM for each in desired_session.transcript.opaque):
            raise UsageError(
                "an item of a type that is not known would be left out of what is appended"
            )
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
        place = _RecordStamper(current_session, operation)
        return [place.line(text) for text in records]


class _Session:
    """The lines of a session, and what its client would send of them."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        raw = (RawLine(at, line) for at, line in enumerate(lines))
        self.decoded = tuple(decode_lines(raw))
        self.transcript = Codex().read(self.decoded)

    @property
    def records(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the records that are whole, with the index of their line."""
        for each in self.decoded:
            if each.damage is None and each.values and isinstance(each.values[0], Mapping):
                yield each.index, each.values[0]

    def text(self, index: int) -> str:
        """Return the text of the record on a line."""
        text = self._lines[index].decode()
        start, end, _ = line_place(text)
        return text[start:end]

    @cached_property
    def items(self) -> Sequence[str]:
        """The texts of the items that are sent, in order, each with the tags of its record."""
        sent = [m for m in self.transcript.effective if not _is_header(self._record(m))]
        found = self._texts(sent)
        return [found[message.id] for message in sent]

    def _texts(self, messages: Sequence[Message]) -> Mapping[str, str]:
        on_line: dict[int, list[Message]] = defaultdict(list)
        for message in messages:
            on_line[message.line].append(message)
        return {name: text for each in on_line.items() for name, text in self._on_line(*each)}

    def _on_line(self, index: int, messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
        text = self.text(index)
        spans = find_spans(text, {_place(message) for message in messages})
        for message in messages:
            if not message.record_path and message.parts[0].path == _SUMMARY_PATH:
                yield message.id, _summary_item(message)
            else:
                start, end = spans.get(_place(message), (0, len(text)))
                item = text[start:end]
                holder = (
                    decode(item.encode())[0][0] if message.record_path else self._record(message)
                )
                yield message.id, with_fields(item, self._tags(message, holder))

    def _record(self, message: Message) -> Mapping[str, Any]:
        value = self.decoded[message.line].values[0]
        return value if isinstance(value, Mapping) else {}

    def _tags(self, message: Message, holder: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the tags that an item carries in a history; ``holder`` is what carries them."""
        if message.tags == NO_TAGS:
            return {}
        own = dict(own_metadata(holder))
        if message.tags.through:
            own = {name: value for name, value in own.items() if name not in _NEWEST}
            own |= self._through(message)
        return {**tag_fields(message.tags), **({METADATA_KEY: own} if own else {})}

    def _through(self, message: Message) -> Mapping[str, str | int]:
        """Return how the newest message is found once the items stand in a history.

        There they have no time, so that others may have the same content.
        """
        index = self._index[message.id]
        place = self._edit_places.get(index)
        if place is None:
            return {}
        name = self._names[place]
        number = self._names[index : place + 1].count(name)
        return {"through": name, "occurrence": number} if number > 1 else {"through": name}

    @cached_property
    def _edit_places(self) -> Mapping[int, int | None]:
        return edit_places(self.transcript.effective)

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {message.id: index for index, message in enumerate(self.transcript.effective)}

    @cached_property
    def _names(self) -> Sequence[str]:
        """The names of the messages that are sent, once their items stand in a history."""
        return [self._name_in_history(message) for message in self.transcript.effective]

    def _name_in_history(self, message: Message) -> str:
        item = None if message.record_path else self._record(message).get("payload")
        if not isinstance(item, Mapping):
            return base_id(message.id)
        return record_id(item, message.tags)

    @property
    def count(self) -> Sequence[str]:
        """The text of the newest record that tells the size, if there is one."""
        line = self.transcript.session.usage_line
        return [] if line is None else [self.text(line)]

    @property
    def size(self) -> object:
        """The counts that it tells."""
        line = self.transcript.session.usage_line
        return None if line is None else value_at(self.decoded[line].values[0], USAGE_FIELDS.path)

    def environment_records(self, desired_session: "_Session") -> Iterator[str]:
        """Yield the records by which the client knows what it has sent of its surroundings.

        None where some of that is left out in ``desired_session``: then it is to be sent again.
        """
        state: list[int] = []
        context: int | None = None
        for index, record in self.records:
            if record.get("type") == "world_state":
                is_full = record["payload"].get("full") is True
                state = [index] if is_full else [*state, index]
            elif record.get("type") == "turn_context":
                context = index
        if state and self._injected() <= set(desired_session.items):
            yield from map(self.text, (*state, *([] if context is None else [context])))

    def _injected(self) -> set[str]:
        sent = [m for m in self.transcript.effective if not _is_header(self._record(m))]
        both = zip(sent, self.items, strict=True)
        return {
            text
            for message, text in both
            if message.origin.is_injected and not message.origin.is_synthetic
        }


class _RecordStamper:
    """The end of a session: when it was written, and which number comes next."""

    def __init__(self, session: _Session, operation: str) -> None:
        self._operation = operation
        self._time = ""
        self._next: int | None = None
        for _, record in session.records:
            self._time = str(record.get("timestamp") or self._time)
            number = record.get("ordinal")
            if isinstance(number, int):
                self._next = max(number, (self._next or 0) - 1) + 1

    def line(self, text: str) -> bytes:
        """Return a record as the next line, marked as appended."""
        own = {**own_metadata(decode(text.encode())[0][0]), APPENDED_KEY: self._operation}
        fields: dict[str, Any] = {"timestamp": self._time, METADATA_KEY: own}
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


def _place(message: Message) -> JsonPath:
    """Return where an item stands on its line."""
    return message.record_path or ("payload",)


def _summary_item(message: Message) -> str:
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
    content = [{"type": "input_text", "text": text}]
    return dump({"type": "message", "role": "user", "content": content})
