"""Reads the containers that formats of plain messages share.

(a) one message per line, (b) an object with ``messages`` per line, (c) one such object as a
document, (d) an array of messages, (e) an array of (b) or (d). Every container is a conversation
of its own; all bare lines together are one.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from compactctl.formats.records.builder import TranscriptBuilder
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.envelope import (
    LogRow,
    exchange,
    logged_usage,
    model_of,
    request_in,
    said_in,
)
from compactctl.formats.records.json_values import json_size, object_or_empty, text_or_none
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.formats.records.rows import grouped, in_time_order, sent_at
from compactctl.formats.records.unread import UnreadText, text_in
from compactctl.model.json_paths import value_at
from compactctl.model.message import (
    JsonPath,
    Message,
    Part,
    ReportedUsage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import SessionInfo, Transcript

# What names a version of a model behind its name.
_UNDATED = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}$")
# As many messages as tell formats apart; containers can hold thousands.
_SAMPLE = 50


class ConversationParser(ABC):
    """Understands the records of one conversation, in their order; ``number`` counts from 0.

    Each path is that of a value in its line, so that what is read of it can be edited there.
    Where a format stores messages alone, as sessions do, ``message`` is all there is to read.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        # The names of tools by the ids of their calls, for results that tell only the id.
        self.tools: dict[str, str] = {}

    @abstractmethod
    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Return what a record at ``path`` says, None when it is not a message."""

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterable[tuple[JsonPath, MessageDraft]]:
        """Return what a request at ``path`` sends before its messages, and where that stands."""
        return ()

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        """Return what an API answered at ``path``, and where the message in it stands."""
        return None

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        """Return the usage that an answer reports."""
        return None

    def add_calls(self, parts: Iterable[Part]) -> None:
        """Remember the tools of the calls among the parts of a message."""
        calls = (part for part in parts if isinstance(part, ToolCallPart))
        self.tools.update((call.call_id, call.tool) for call in calls)


# A value, its path in its line, and the line.
_Place = tuple[object, JsonPath, Decoded]


class ChatLogReader:
    """Reads a file line by line; ``new_conversation`` begins the conversation of a number.

    ``messages_key`` is what documents call the array of their records.
    """

    is_open = True
    """Whether others than one client write the format, so that records have unknown fields."""

    def __init__(
        self, name: str, start: Callable[[int], ConversationParser], members: str = "messages"
    ) -> None:
        self.name = name
        self.new_conversation = start
        self.messages_key = members
        self.builder = TranscriptBuilder(interleaves=False)
        # The model that was asked, by the number of a conversation.
        self._models: dict[int, str] = {}
        self._window: int | None = None
        self._cwd: str | None = None
        self._count = 0
        self._alone = 0
        self._unordered = 0
        self._bare: list[_Place] = []
        self._bare_number = 0
        self._unread = UnreadText()
        self._records: dict[JsonPath, str] = {}

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order."""
        for decoded in lines:
            self.builder.add_line(decoded)
            for value in decoded.values:
                self._take_in(value, decoded)
        self._read_bare()
        self.builder.warnings += _warnings(self._alone, self._unordered)
        sent = self.effective(tuple(self.builder.messages))
        self.builder.messages.sort(key=lambda message: message.line)
        return self.builder.build(
            self.called(),
            sent,
            session=SessionInfo(model=self._model(), window=self._window, cwd=self._cwd),
            unread=self._unread.total(),
        )

    def _model(self) -> str | None:
        """Return the model that the largest conversation is with, the newest one of its answers."""
        spoken = {each.conversation: each.model for each in self.builder.messages if each.model}
        models = {**self._models, **spoken}
        if len({*models.values()}) <= 1:
            return next(iter(models.values()), None)
        sizes: Counter[int] = Counter()
        for message in self.builder.messages:
            sizes[message.conversation] += sum(len(text_in(part)) for part in message.parts)
        chosen = models[max(models, key=lambda number: (sizes[number], number))]
        names = {_UNDATED.sub("", model.rpartition("/")[2]) for model in models.values()}
        if len(names) > 1:
            self.builder.warnings.append(
                f"the requests are for {len(names):,} models; all are measured for {chosen}, which "
                "got the largest; --model names another"
            )
        return chosen

    def called(self) -> str:
        """Return the name of the format that the file turned out to have."""
        return self.name

    def empty_kind(self, record: Mapping[str, Any]) -> str:
        """Return what a record is that holds nothing to send, in words."""
        return "empty message"

    def on_message(self, message: Message, record: Mapping[str, Any]) -> None:
        """Take note of what a record tells of its message beside what it says."""

    def effective(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what of all messages the next request would send, tags aside: all of them."""
        return messages

    def row(self, value: Mapping[str, Any]) -> LogRow | None:
        """Return where things stand in an object that holds messages, None for any other."""
        found = isinstance(value.get(self.messages_key), list)
        return LogRow((), (self.messages_key,)) if found else None

    def begin(
        self,
        number: int,
        messages: Sequence[Any],
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
    ) -> ConversationParser | str:
        """Return who reads the conversation of a number, or why it cannot be read."""
        return self.new_conversation(number)

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    def _take_in(self, value: object, decoded: Decoded) -> None:
        if self._is_container(value):
            self._measure(value, lambda: self._container(value, (), decoded))
            return
        if not self._bare:
            self._bare_number = self._next()
        self._bare.append((value, (), decoded))

    def _read_bare(self) -> None:
        """Read the bare lines: what they are together shows at the end."""
        number = self._bare_number
        for conversation in grouped(self._bare, _value):
            self._read_together(conversation, number, self._measured_record)
            number = self._next()

    def _read_together(
        self, places: Sequence[_Place], number: int, read: Callable[..., object]
    ) -> None:
        """Read bare messages that are a conversation, in the order of their times."""
        in_order = in_time_order(places, _value)
        if in_order and self._parted(in_order, number) > self._parted(places, number):
            # Clocks that differ a little must not part a call from its result.
            in_order = None
        self._unordered += in_order is not None
        values = [value for value, _, _ in places]
        conversation = self.begin(number, values, {}, {})
        for value, path, decoded in in_order or places:
            read(value, path, conversation, decoded)

    def _parted(self, places: Sequence[_Place], number: int) -> int:
        """Return how many results stand before their calls, or without them, in this order."""
        conversation = self.begin(number, [value for value, _, _ in places], {}, {})
        if isinstance(conversation, str):
            return 0
        calls: set[str] = set()
        parted = 0
        for value, path, _ in places:
            draft = conversation.message(object_or_empty(value), path)
            for part in draft.parts if draft else ():
                if isinstance(part, ToolCallPart):
                    calls.add(part.call_id)
                elif isinstance(part, ToolResultPart):
                    parted += part.call_id not in calls
        return parted

    def _measured_record(
        self,
        value: object,
        path: JsonPath,
        conversation: ConversationParser | str,
        decoded: Decoded,
    ) -> None:
        self._measure(value, partial(self._record, value, path, conversation, decoded))

    def _measure(self, value: object, read: Callable[[], object]) -> None:
        """Take in a value by ``read``, and what of its text was not read."""
        first, self._records = len(self.builder.messages), {}
        read()
        if self.is_open:
            parts = (part for message in self.builder.messages[first:] for part in message.parts)
            self._unread.value(value, parts, self._records)

    def _container(self, value: Any, path: JsonPath, decoded: Decoded) -> None:  # noqa: ANN401 - JSON is any value
        row = self.row(value) if isinstance(value, Mapping) else None
        if row is not None:
            self._document(value, row, path, decoded)
            return
        if not value or sum(map(self._is_container, value)) * 2 < len(value):
            places = [(item, (*path, index), decoded) for index, item in enumerate(value)]
            for conversation in grouped(places, _value):
                self._read_together(conversation, self._next(), self._record)
            if not value:
                self.builder.add_metadata("empty conversation", decoded.n_bytes)
            return
        for index, item in enumerate(value):
            if self._is_container(item):
                self._container(item, (*path, index), decoded)
            else:
                self.builder.add_opaque(
                    decoded, "a record that is not a conversation", json_size(item)
                )

    def _is_container(self, value: object) -> bool:
        is_row = isinstance(value, Mapping) and self.row(value) is not None
        return is_row or isinstance(value, list)

    def _document(
        self, document: Mapping[str, Any], row: LogRow, path: JsonPath, decoded: Decoded
    ) -> None:
        messages, request, answer = exchange(document, row)
        conversation = self.begin(self._next(), messages, request, answer)
        if isinstance(conversation, str):
            self.builder.add_opaque(decoded, conversation, json_size(document) if path else None)
            return
        start = len(self.builder.messages)
        self._open(document, row, path, conversation, decoded)
        opened = len(self.builder.messages)
        newest = self._asked(document, row, path, conversation, decoded)
        for place, answered in self._answers(document, row, path, conversation):
            said = answered and replace(answered, is_logged_answer=True)
            if isinstance(place[-1], int):
                # What stands in a list can be edited there, as the messages of a request can.
                value = value_at(document, place[len(path) :])
                newest = self._drafted(said, value, place, conversation, decoded) or newest
            elif said is not None:
                draft = replace(said, immutable_reason="the logged answer to the request")
                newest = self._add_extra(draft, place, conversation, decoded)
        if newest and newest.role == "assistant" and newest.usage is None:
            usage = next(_usages(conversation, document, row), None)
            self.builder.messages[-1] = replace(newest, usage=usage)
        if row.messages is None and newest is None:
            self.builder.add_metadata(
                "empty answer", json_size(document) if path else decoded.n_bytes
            )
        self._facts(document, row, conversation.number)
        rest = range(opened, len(self.builder.messages))
        self.logged(conversation, request, answer, range(start, opened), rest)

    def logged(
        self,
        conversation: ConversationParser,
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
        opening: range,
        rest: range,
    ) -> None:
        """Take note of a row and the places of its messages: what opens it, and all others."""

    def _asked(
        self,
        document: Mapping[str, Any],
        row: LogRow,
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> Message | None:
        """Take in the messages of a request, or its only text; return the newest one."""
        if row.messages is None:
            self._alone += 1
            return None
        place, value = (*path, *row.messages), value_at(document, row.messages)
        messages, _, _ = exchange(document, row)
        if messages or not isinstance(value, str):
            return self._members(messages, place, conversation, decoded)
        part = TextPart(text=value, path=place)
        draft = MessageDraft(
            role="user", parts=(part,), immutable_reason="the only text of its request"
        )
        return self._add_extra(draft, place, conversation, decoded)

    def _open(
        self,
        document: Mapping[str, Any],
        row: LogRow,
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> None:
        """Take in what is sent before the messages, each kind from the first place that has it."""
        kinds: set[str | int] = set()
        beside = ((at, object_or_empty(value_at(document, at))) for at in row.beside)
        for at, sent in ((row.request, request_in(document, row)), *beside):
            for place, draft in conversation.preamble(sent, (*path, *at)):
                if place[-1] not in kinds:
                    kinds.add(place[-1])
                    self._add_extra(draft, place, conversation, decoded)

    def _answers(
        self,
        document: Mapping[str, Any],
        row: LogRow,
        path: JsonPath,
        conversation: ConversationParser,
    ) -> Sequence[tuple[JsonPath, MessageDraft | None]]:
        """Return the logged answer, as a rule one message, from the first place that has it."""
        for place in row.answers:
            value, at = value_at(document, place), (*path, *place)
            for reader in (conversation, *self.others(conversation.number)):
                # Among the fields of a request, an answer is what its API calls it.
                is_row = isinstance(value, Mapping) and not place and row.messages is not None
                said = [reader.answer(value, at)] if is_row else said_in(value, at, reader)
                found = [each for each in said if each]
                if any(draft and draft.parts for _, draft in found):
                    return found
        return ()

    def others(self, number: int) -> Iterable[ConversationParser]:
        """Return who else may understand the answer that is logged in a conversation."""
        return ()

    def _facts(self, document: Mapping[str, Any], row: LogRow, number: int) -> None:
        model = model_of(document, row)
        if model is not None:
            self._models[number] = model
        self._cwd = text_or_none(document.get("cwd")) or self._cwd
        window = document.get("context_window")
        if isinstance(window, int) and not isinstance(window, bool) and window > 0:
            self._window = window

    def _members(
        self,
        values: Sequence[Any],
        path: JsonPath,
        conversation: ConversationParser | str,
        decoded: Decoded,
    ) -> Message | None:
        """Take in the elements of an array; return the last one's message."""
        newest = None
        for index, value in enumerate(values):
            newest = self._record(value, (*path, index), conversation, decoded)
        if not values:
            self.builder.add_metadata("empty conversation", decoded.n_bytes)
        return newest

    def _record(
        self,
        value: object,
        path: JsonPath,
        conversation: ConversationParser | str,
        decoded: Decoded,
    ) -> Message | None:
        if isinstance(conversation, str):
            size = json_size(value) if path else decoded.n_bytes
            self.builder.add_opaque(decoded, conversation, size)
            return None
        draft = conversation.message(object_or_empty(value), path)
        return self._drafted(draft, value, path, conversation, decoded)

    def _drafted(
        self,
        draft: MessageDraft | None,
        value: object,
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> Message | None:
        """Take in what a record at ``path`` says, if it is a message and says something."""
        record = object_or_empty(value)
        self._records[path] = _kind(record) if draft is None else ""
        if draft is not None and draft.parts:
            message = self._message(draft, record, path, conversation, decoded)
            self.on_message(message, record)
            return message
        size = json_size(value) if path else decoded.n_bytes
        if draft is None:
            self.builder.add_opaque(decoded, "a record that is not a message", size)
        else:
            self.builder.add_metadata(self.empty_kind(record), size)
        return None

    def _add_extra(
        self,
        draft: MessageDraft,
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> Message:
        """Take in what stands beside the messages of a document; its place is its id."""
        name = f"{conversation.number}-{'.'.join(map(str, path))}"
        return self._message(replace(draft, record_id=name), {}, path, conversation, decoded)

    def _message(
        self,
        draft: MessageDraft,
        record: Mapping[str, Any],
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> Message:
        number = conversation.number
        time = sent_at(record) if draft.timestamp is None else None
        draft = draft if time is None else replace(draft, timestamp=time)
        return self.builder.add_message(
            draft, record, decoded, record_path=path, conversation=number
        )


def _value(place: _Place) -> object:
    return place[0]


def _kind(record: Mapping[str, Any]) -> str:
    """Return what a record is called that is not understood; "" where only its fields tell."""
    kinds = (f"{key}: {record[key]}" for key in ("role", "type") if text_or_none(record.get(key)))
    return next(kinds, "")


def _usages(
    conversation: ConversationParser, document: Mapping[str, Any], row: LogRow
) -> Iterator[ReportedUsage]:
    """Yield what was reported of a request: with the answer, or beside it."""
    answers = (value_at(document, path) for path in row.answers)
    objects = (*answers, request_in(document, row), document)
    reports = (conversation.usage(each) for each in objects if isinstance(each, Mapping))
    for usage in (*reports, logged_usage(document)):
        if usage is not None and usage.context > 0:
            yield usage


def _warnings(alone: int, unordered: int) -> Iterator[str]:
    if alone:
        logged = "answer is" if alone == 1 else "answers are"
        yield f"{alone:,} {logged} logged without the request; what was sent is not in this file"
    if unordered:
        what = "messages" if unordered == 1 else f"messages of {unordered:,} conversations"
        yield f"{what} are not in the order of their times; they are read oldest first"


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
