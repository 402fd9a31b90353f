"""Reads the containers that formats of plain messages share.

(a) one message per line, (b) an object with ``messages`` per line, (c) one such object as a
document, (d) an array of messages. Every container is a conversation of its own; all bare lines
together are one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

from compactctl.formats.records.builder import TranscriptBuilder
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_text import json_size
from compactctl.formats.records.json_values import object_or_empty, text_or_none
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.formats.records.unread import UnreadText
from compactctl.model.message import JsonPath, Message, ReportedUsage
from compactctl.model.transcript import Transcript

# As many messages as tell formats apart; containers can hold thousands.
_SAMPLE = 50


class Conversation(Protocol):
    """Understands the records of one conversation, in their order; ``number`` counts from 0."""

    number: int

    def opening(self, document: Mapping[str, Any]) -> Iterable[tuple[JsonPath, MessageDraft]]:
        """Return what a request sends before its messages, with the path where it stands."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Return what a record at ``path`` says, None when it is not a message."""

    def answer(self, document: Mapping[str, Any]) -> tuple[JsonPath, MessageDraft] | None:
        """Return the logged answer to a request, with the path where it stands."""

    def usage(self, document: Mapping[str, Any]) -> ReportedUsage | None:
        """Return the usage reported for a document whose newest message is the answer."""


class ChatLogReader:
    """Reads a file line by line; ``start`` begins the conversation of a number.

    ``members`` is what documents call the array of their records.
    """

    is_open = True
    """Whether others than one client write the format, so that records have unknown fields."""

    def __init__(
        self, name: str, start: Callable[[int], Conversation], members: str = "messages"
    ) -> None:
        self.name = name
        self.start = start
        self.members = members
        self.gather = TranscriptBuilder(interleaves=False)
        self._model: str | None = None
        self._window: int | None = None
        self._cwd: str | None = None
        self._count = 0
        self._bare: Conversation | None = None
        self._unread = UnreadText()
        self._records: dict[JsonPath, str] = {}

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order."""
        for decoded in lines:
            self.gather.line(decoded)
            for value in decoded.values:
                self._measured(value, decoded)
        messages = tuple(self.gather.messages)
        spoken = (message.model for message in reversed(messages) if message.model)
        model = next(spoken, None) or self._model
        sent = self.sent(messages)
        facts = {"model": model, "window": self._window, "cwd": self._cwd}
        return self.gather.transcript(self.name, sent, unread=self._unread.total(), **facts)

    def silent(self, record: Mapping[str, Any]) -> str:  # noqa: ARG002 - formats that have several kinds look at it
        """Return what a record is that holds nothing to send, in words."""
        return "empty message"

    def taken(self, message: Message, record: Mapping[str, Any]) -> None:
        """Take note of what a record tells of its message beside what it says."""

    def sent(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what of all messages the next request would send, tags aside: all of them."""
        return messages

    def _measured(self, value: object, decoded: Decoded) -> None:
        """Take in a value, and what of its text was not read."""
        first, self._records = len(self.gather.messages), {}
        self._value(value, decoded)
        if self.is_open:
            parts = (part for message in self.gather.messages[first:] for part in message.parts)
            self._unread.value(value, parts, self._records)

    def _value(self, value: object, decoded: Decoded) -> None:
        if isinstance(value, Mapping) and isinstance(value.get(self.members), list):
            self._document(value, self._next(), decoded)
        elif isinstance(value, list):
            self._members(value, (), self._next(), decoded)
        else:
            self._bare = self._bare or self._next()
            self._record(value, (), self._bare, decoded)

    def _next(self) -> Conversation:
        self._count += 1
        return self.start(self._count - 1)

    def _document(
        self, document: Mapping[str, Any], conversation: Conversation, decoded: Decoded
    ) -> None:
        for path, draft in conversation.opening(document):
            self._beside(draft, path, conversation, decoded)
        newest = self._members(document[self.members], (self.members,), conversation, decoded)
        answer = conversation.answer(document)
        if answer is not None:
            self._beside(answer[1], answer[0], conversation, decoded)
        elif newest and newest.role == "assistant" and newest.usage is None:
            self.gather.messages[-1] = replace(newest, usage=conversation.usage(document))
        self._facts(document)

    def _facts(self, document: Mapping[str, Any]) -> None:
        self._model = text_or_none(document.get("model")) or self._model
        self._cwd = text_or_none(document.get("cwd")) or self._cwd
        window = document.get("context_window")
        if isinstance(window, int) and not isinstance(window, bool) and window > 0:
            self._window = window

    def _members(
        self, values: Sequence[Any], path: JsonPath, conversation: Conversation, decoded: Decoded
    ) -> Message | None:
        """Take in the elements of an array; return the last one's message."""
        newest = None
        for index, value in enumerate(values):
            newest = self._record(value, (*path, index), conversation, decoded)
        if not values:
            self.gather.meta("empty conversation", decoded.n_bytes)
        return newest

    def _record(
        self, value: object, path: JsonPath, conversation: Conversation, decoded: Decoded
    ) -> Message | None:
        record = object_or_empty(value)
        draft = conversation.message(record, path)
        self._records[path] = _kind(record) if draft is None else ""
        if draft is not None and draft.parts:
            message = self.gather.message(
                draft, record, decoded, element=path, conversation=conversation.number
            )
            self.taken(message, record)
            return message
        size = json_size(value) if path else decoded.n_bytes
        if draft is None:
            self.gather.opaque(decoded, "a record that is not a message", size)
        else:
            self.gather.meta(self.silent(record), size)
        return None

    def _beside(
        self, draft: MessageDraft, path: JsonPath, conversation: Conversation, decoded: Decoded
    ) -> None:
        """Take in what stands beside the messages of a document; its place is its id."""
        name = f"{conversation.number}-{'.'.join(map(str, path))}"
        self.gather.message(
            replace(draft, name=name),
            {},
            decoded,
            element=path,
            conversation=conversation.number,
        )


def _kind(record: Mapping[str, Any]) -> str:
    """Return what a record is called that is not understood; "" where only its fields tell."""
    kinds = (f"{key}: {record[key]}" for key in ("role", "type") if text_or_none(record.get(key)))
    return next(kinds, "")


def sample_messages(
    records: Sequence[Mapping[str, Any]], members: str = "messages"
) -> list[Mapping[str, Any]]:
    """Return the first messages, those inside containers included."""
    return list(islice(_flattened(records, members), _SAMPLE))


def _flattened(records: Sequence[Mapping[str, Any]], members: str) -> Iterator[Mapping[str, Any]]:
    for record in records:
        inner = record.get(members)
        for item in inner if isinstance(inner, list) else [record]:
            if isinstance(item, Mapping):
                yield item
