"""Read the containers that formats of plain messages share.

(a) one message per line, (b) an object with ``messages`` per line, (c) one such object as a
document, (d) an array of messages, (e) an array of (b) or (d). Every container is a separate
conversation; all bare lines together are one.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from compactctl.clients.records.builder import TranscriptBuilder
from compactctl.clients.records.containers import ContainedRecord
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.envelope import (
    LogRow,
    answer_drafts,
    is_reference,
    is_sent_field,
    logged_usage,
    model_of,
    read_exchange,
    request_in,
)
from compactctl.clients.records.json_values import (
    count_or_none,
    json_size,
    object_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.rows import group_by_conversation, sent_time, sort_by_time
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields, text_in
from compactctl.clients.records.wrapping import KnownWrappings
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
from compactctl.model.transcript import RefusedRecord, SessionInfo, Transcript
from compactctl.records import replace

# The date at the end of a model name names a version of the model.
_VERSION_DATE = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}$")
# Enough messages to tell formats apart; containers can have thousands.
_MAX_SAMPLE = 50
_ANSWERING = ("assistant", "model")
_ANSWER_REASON = "the logged answer to the request"
REFERENCE = "item_reference"
"""The type of an item that the API has stored."""
# Of an answer whose message a log does not store, what was reported is known.
_UNSTORED_ANSWER = MessageDraft(
    role="assistant", parts=(), is_logged_answer=True, immutable_reason=_ANSWER_REASON
)


class RecordRefusal(NamedTuple):
    """Why the API refuses a record without a message: the id of the rule, and a clause."""

    rule: str
    reason: str


NO_CONTENT = RecordRefusal("message-empty", "it has no content")


class ConversationParser(ABC):
    """Parse the records of one conversation in order; ``number`` counts from 0.

    A path is that of a value in its line, where its parts can be edited. Formats that store only
    messages, as sessions do, implement only ``message``. ``provider`` is the display name of the
    API.
    """

    provider: str = ""

    def __init__(self, number: int) -> None:
        self.number = number
        # Tool names by call id, for results that have only the id.
        self.tools: dict[str, str] = {}

    @abstractmethod
    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Parse the record at ``path``; None if it is not a message."""

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterable[tuple[JsonPath, MessageDraft]]:
        """Parse the tools and system prompt of the request at ``path``; return paths and drafts."""
        return ()

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        """Parse the API's answer at ``path``; return the path of its message and the draft."""
        return None

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        """Return the usage that an answer reports, or None."""
        return None

    def refusal(self, record: Mapping[str, Any]) -> RecordRefusal | None:
        """Return why the API refuses a request with a record that holds no message, or None."""
        return None

    def add_calls(self, parts: Iterable[Part]) -> None:
        """Remember the tools of the calls among the parts of a message."""
        calls = (part for part in parts if isinstance(part, ToolCallPart))
        self.tools.update((call.call_id, call.tool) for call in calls)


class ChatLogReader:
    """Read a file of messages, requests or documents line by line.

    ``new_conversation`` returns the parser of a conversation by its number, and ``messages_key`` is
    the key of the array of records in a document; ``wrappings`` are those of clients that may have
    written it. In a log, bare lines may be of several conversations and in any order; elsewhere
    they are one list, like an array or a document. For ``unsent_fields`` see ``TranscriptBuilder``.
    """

    def __init__(  # noqa: PLR0913 - what differs between the formats
        self,
        name: str,
        new_conversation: Callable[[int], ConversationParser],
        messages_key: str = "messages",
        *,
        wrappings: KnownWrappings,
        is_log: bool = True,
        unsent_fields: UnsentFields = COMMON_UNSENT,
    ) -> None:
        self.name = name
        self.is_log = is_log
        self.new_conversation = new_conversation
        self.messages_key = messages_key
        self.wrappings = wrappings
        self.builder = TranscriptBuilder(
            wrapping=wrappings.unknown, interleaves=False, unsent_fields=unsent_fields
        )
        # The requested model, by conversation number.
        self._models: dict[int, str] = {}
        self._window: int | None = None
        self._cwd: str | None = None
        self._count = 0
        self._n_without_request = 0
        self._n_unordered = 0
        self._bare: list[ContainedRecord] = []
        self._bare_number = 0
        # The conversations of which a message beside the system prompt was read.
        self._begun: set[int] = set()
        # The paths of the records in the current value, whose unread text is already measured.
        self._record_paths: set[JsonPath] = set()
        # What the API refuses of the newest conversation.
        self._refused: list[RefusedRecord] = []
        self._refused_number = -1

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order."""
        for decoded in lines:
            self.builder.add_line(decoded)
            for value in decoded.values:
                self._add_value(value, decoded)
        self._add_bare()
        self.builder.refused = self._refused
        self.builder.warnings += _warnings(self._n_without_request, self._n_unordered)
        effective = self.effective(tuple(self.builder.messages))
        self.builder.messages.sort(key=lambda message: message.line)
        return self.builder.build(
            self.format_name(),
            effective,
            session=SessionInfo(model=self._model(), window=self._window, cwd=self._cwd),
        )

    def _model(self) -> str | None:
        """Return the newest model of the largest conversation; warn if there are several models."""
        messages = self.builder.messages
        answered = {message.conversation: message.model for message in messages if message.model}
        models = {**self._models, **answered}
        if len({*models.values()}) <= 1:
            return next(iter(models.values()), None)
        sizes: Counter[int] = Counter()
        for message in messages:
            sizes[message.conversation] += sum(len(text_in(part)) for part in message.parts)
        model = models[max(models, key=lambda number: (sizes[number], number))]
        names = {_VERSION_DATE.sub("", m.rpartition("/")[2]) for m in models.values()}
        if len(names) > 1:
            self.builder.warnings.append(
                f"the requests are for {len(names):,} models; all are measured for {model}, which "
                "got the largest; --model names another"
            )
        return model

    def format_name(self) -> str:
        """Return the name of the format, once the whole file is read."""
        return self.name

    def unsent_kind(self, record: Mapping[str, Any]) -> str:
        """Return the kind of a record that is never sent, in a user's words; "" for a message."""
        return ""

    def unsent_row(self, value: object) -> str:
        """Return the kind of a row of a log that is not a request to a model; "" for a request."""
        return ""

    def on_message(self, message: Message, record: Mapping[str, Any]) -> None:
        """Note facts about a message that a format needs for ``effective``."""

    def effective(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return the messages that the next request would send, before tags hide any."""
        return messages

    def row(self, value: Mapping[str, Any]) -> LogRow | None:
        """Locate the request and answer in an object; None if it has no messages."""
        has_messages = isinstance(value.get(self.messages_key), list)
        return LogRow((), (self.messages_key,)) if has_messages else None

    def begin(
        self,
        number: int,
        messages: Sequence[Any],
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
    ) -> ConversationParser | str:
        """Return the parser of a conversation, or the reason why it cannot be read."""
        return self.new_conversation(number)

    def logged(
        self,
        conversation: ConversationParser,
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
        preamble: range,
        dialog: range,
    ) -> None:
        """Note a logged request, with the indices of its preamble and of its other messages."""

    def other_parsers(self, number: int) -> Iterable[ConversationParser]:
        """Return further parsers to try on the logged answer of a conversation."""
        return ()

    def _next_number(self) -> int:
        self._count += 1
        return self._count - 1

    def _add_value(self, value: object, decoded: Decoded) -> None:
        kind = self.unsent_row(value)
        if kind:
            self.builder.add_metadata(kind, decoded.n_bytes)
        elif self._is_container(value):
            start, self._record_paths = len(self.builder.messages), set()
            self._add_container(value, (), decoded)
            self._measure_around(value, start, decoded)
        else:
            if not self._bare:
                self._bare_number = self._next_number()
            self._bare.append(ContainedRecord(value, (), decoded))

    def _add_bare(self) -> None:
        """Add the bare lines; only all of them together show what they are."""
        number = self._bare_number
        for records in self._conversations(number):
            conversation = self.begin(number, [record.value for record in records], {}, {})
            for record in records:
                self._add_record(record, conversation)
            self._accept_end(records[-1])
            number = self._next_number()

    def _conversations(self, number: int) -> list[Sequence[ContainedRecord]]:
        """Split the bare lines of a log into conversations, each in the order of its times.

        Neither an id nor a clock may separate calls from their results.
        """
        if not self.is_log or not self._bare:
            return [self._bare] if self._bare else []
        groups: list[Sequence[ContainedRecord]] = [*group_by_conversation(self._bare)]
        if len(groups) > 1:
            n_unmatched = sum(self._count_unmatched(records, number) for records in groups)
            if n_unmatched > self._count_unmatched(self._bare, number):
                groups = [self._bare]
        return [self._in_order(records, number) for records in groups]

    def _in_order(
        self, records: Sequence[ContainedRecord], number: int
    ) -> Sequence[ContainedRecord]:
        by_time = sort_by_time(records)
        if by_time is None or self._count_unmatched(by_time, number) > self._count_unmatched(
            records, number
        ):
            return records
        self._n_unordered += 1
        return by_time

    def _count_unmatched(self, records: Sequence[ContainedRecord], number: int) -> int:
        """Return the number of results that do not follow their calls in this order."""
        conversation = self.begin(number, [record.value for record in records], {}, {})
        if isinstance(conversation, str):
            return 0
        call_ids: set[str] = set()
        n_unmatched = 0
        for record in records:
            draft = conversation.message(record.record, record.record_path)
            for part in draft.parts if draft else ():
                if isinstance(part, ToolCallPart):
                    call_ids.add(part.call_id)
                elif isinstance(part, ToolResultPart):
                    n_unmatched += part.call_id not in call_ids
        return n_unmatched

    def _measure_around(self, value: object, start: int, decoded: Decoded) -> None:
        """Measure the text around the messages of a value, which were added from ``start`` on."""
        parts = [part for message in self.builder.messages[start:] for part in message.parts]
        paths = self._record_paths | {part.path for part in parts}
        self.builder.unread.add_row(
            value, (), paths, [*filter(None, map(text_in, parts))], decoded.index
        )

    def _is_container(self, value: object) -> bool:
        is_row = isinstance(value, Mapping) and self.row(value) is not None
        return isinstance(value, list) or (is_row and not self.unsent_row(value))

    def _may_be_message(self, value: object) -> bool:
        is_record = isinstance(value, Mapping) and self.row(value) is None
        return is_record and not self.unsent_row(value)

    def _add_container(self, value: Any, path: JsonPath, decoded: Decoded) -> None:  # noqa: ANN401 - JSON is any value
        row = self.row(value) if isinstance(value, Mapping) else None
        if row is not None:
            self._add_document(value, row, path, decoded)
            return
        n_containers = sum(map(self._is_container, value))
        n_messages = sum(self._may_be_message(member) for member in value)
        if n_containers <= n_messages or not value:
            conversation = self.begin(self._next_number(), value, {}, {})
            self._add_members(value, path, conversation, decoded)
        else:
            for index, member in enumerate(value):
                item = ContainedRecord(member, (*path, index), decoded)
                if self._is_container(item.value):
                    # Called here and not in a helper: one frame per level of nested arrays.
                    self._add_container(item.value, item.record_path, decoded)
                    continue
                self._record_paths.add(item.record_path)
                kind = self.unsent_row(item.value)
                if kind:
                    self.builder.add_metadata(kind, item.n_bytes)
                else:
                    self.builder.add_opaque(
                        decoded,
                        "a record that is not a conversation",
                        item.n_bytes,
                        value=item.value,
                        name=_kind(item.record),
                    )

    def _add_document(
        self, document: Mapping[str, Any], row: LogRow, path: JsonPath, decoded: Decoded
    ) -> None:
        messages, request, answer = read_exchange(document, row)
        conversation = self.begin(self._next_number(), messages, request, answer)
        if isinstance(conversation, str):
            size = json_size(document) if path else None
            self.builder.add_opaque(decoded, conversation, size, value=document)
            self._record_paths.add(path)
            return
        start = len(self.builder.messages)
        self._add_preamble(document, row, path, conversation, decoded)
        preamble_end = len(self.builder.messages)
        newest = self._add_request(document, row, path, conversation, decoded)
        answers = self._find_answers(document, row, path, conversation)
        if not answers:
            self._note_unread_answers(document, row, path, decoded)
        for answer_path, draft in answers:
            logged_draft = draft and replace(draft, is_logged_answer=True)
            if answer_path and isinstance(answer_path[-1], int):
                # An item of a list can be edited, like the messages of a request.
                value = value_at(document, answer_path[len(path) :])
                record = ContainedRecord(value, answer_path, decoded)
                newest = self._add_draft(logged_draft, record, conversation) or newest
            elif logged_draft is not None:
                answer_draft = replace(logged_draft, immutable_reason=_ANSWER_REASON)
                newest = self._add_extra(answer_draft, answer_path, conversation, decoded)
                value = value_at(document, answer_path[len(path) :])
                parts = answer_draft.parts
                self.builder.unread.add_rest(value, answer_path, parts, decoded.index)
                self._record_paths.add(answer_path)
        if newest is None or newest.role != "assistant" or newest.usage is None:
            usage = next(_reported_usages(conversation, document, row), None)
            if newest and newest.role == "assistant":
                self.builder.messages[-1] = replace(newest, usage=usage)
            elif usage is not None:
                draft = replace(_UNSTORED_ANSWER, usage=usage)
                newest = self._add_extra(draft, (*path, "usage"), conversation, decoded)
        self._accept_answered(newest, is_answered=bool(answers))
        if row.messages is None and newest is None:
            self.builder.add_metadata(
                "empty answer", json_size(document) if path else decoded.n_bytes
            )
        self._measure_request(document, row, path, start, decoded)
        self._note_facts(document, row, conversation.number)
        dialog = range(preamble_end, len(self.builder.messages))
        self.logged(conversation, request, answer, range(start, preamble_end), dialog)

    def _add_preamble(
        self,
        document: Mapping[str, Any],
        row: LogRow,
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> None:
        """Add tools and system prompt, each from the first place that has it."""
        keys: set[str | int] = set()
        parameters = ((p, object_or_empty(value_at(document, p))) for p in row.parameters)
        for holder_path, holder in ((row.request, request_in(document, row)), *parameters):
            for draft_path, draft in conversation.preamble(holder, (*path, *holder_path)):
                if draft_path[-1] not in keys:
                    keys.add(draft_path[-1])
                    self._add_extra(draft, draft_path, conversation, decoded)

    def _measure_request(
        self,
        document: Mapping[str, Any],
        row: LogRow,
        path: JsonPath,
        start: int,
        decoded: Decoded,
    ) -> None:
        """Measure the fields of a request beside its messages, which were added from ``start`` on.

        A system prompt or tools may have another shape, or stand in a field of another name.
        """
        request_path = (*path, *row.request)
        parts = [part for message in self.builder.messages[start:] for part in message.parts]
        depth = len(request_path)
        keys = {
            part.path[depth]
            for part in parts
            if part.path[:depth] == request_path and len(part.path) > depth
        }
        texts = [*filter(None, map(text_in, parts))]
        for key, value in request_in(document, row).items():
            if is_reference(key, value):
                self.builder.unread.add_reference()
            elif key not in keys and is_sent_field(key, row):
                self.builder.unread.add_field(value, texts, decoded.index, str(key))
                self._record_paths.add((*request_path, key))

    def _add_request(
        self,
        document: Mapping[str, Any],
        row: LogRow,
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> Message | None:
        """Add the messages of a request, or its only text; return the newest one."""
        if row.messages is None:
            self._n_without_request += 1
            return None
        messages_path, value = (*path, *row.messages), value_at(document, row.messages)
        messages, _, _ = read_exchange(document, row)
        if messages or not isinstance(value, str):
            return self._add_members(messages, messages_path, conversation, decoded)
        part = TextPart(text=value, path=messages_path)
        draft = MessageDraft(
            role="user", parts=(part,), immutable_reason="the only text of its request"
        )
        return self._add_extra(draft, messages_path, conversation, decoded)

    def _find_answers(
        self,
        document: Mapping[str, Any],
        row: LogRow,
        path: JsonPath,
        conversation: ConversationParser,
    ) -> Sequence[tuple[JsonPath, MessageDraft | None]]:
        """Parse the logged answer, usually one message, at the first path that has content.

        Without content, the first that reports something is the answer.
        """
        empty_answers: Sequence[tuple[JsonPath, MessageDraft | None]] = ()
        for inner_path in row.answers:
            value, answer_path = value_at(document, inner_path), (*path, *inner_path)
            is_row = isinstance(value, Mapping) and not inner_path and row.messages is not None
            for parser in (conversation, *self.other_parsers(conversation.number)):
                # Among the fields of a request, only the API's own key marks an answer.
                results = (
                    [parser.answer(value, answer_path)]
                    if is_row
                    else answer_drafts(value, answer_path, parser)
                )
                answers = [result for result in results if result]
                if any(draft and draft.parts for _, draft in answers):
                    return answers
                if not empty_answers and any(draft and not draft.is_empty for _, draft in answers):
                    empty_answers = answers
        return empty_answers

    def _note_unread_answers(
        self, document: Mapping[str, Any], row: LogRow, path: JsonPath, decoded: Decoded
    ) -> None:
        for inner_path in filter(None, row.answers):
            answer_path = (*path, *inner_path)
            value = value_at(document, inner_path)
            self.builder.unread.add_answer(value, answer_path, decoded.index)
            self._record_paths.add(answer_path)

    def _note_facts(self, document: Mapping[str, Any], row: LogRow, number: int) -> None:
        model = model_of(document, row)
        if model is not None:
            self._models[number] = model
        self._cwd = text_or_none(document.get("cwd")) or self._cwd
        self._window = count_or_none(document.get("context_window")) or self._window

    def _add_members(
        self,
        values: Sequence[Any],
        path: JsonPath,
        conversation: ConversationParser | str,
        decoded: Decoded,
    ) -> Message | None:
        """Add the elements of an array; return the message of the last one, or None."""
        newest = None
        records = [ContainedRecord(value, (*path, i), decoded) for i, value in enumerate(values)]
        for record in records:
            newest = self._add_record(record, conversation)
        if records:
            self._accept_end(records[-1])
        else:
            self.builder.add_metadata("empty conversation", decoded.n_bytes)
        return newest

    def _add_record(
        self, record: ContainedRecord, conversation: ConversationParser | str
    ) -> Message | None:
        if isinstance(conversation, str):
            self._record_paths.add(record.record_path)
            self.builder.add_opaque(
                record.decoded, conversation, record.n_bytes, value=record.value
            )
            return None
        draft = conversation.message(record.record, record.record_path)
        return self._add_draft(draft, record, conversation)

    def _add_draft(
        self,
        draft: MessageDraft | None,
        record: ContainedRecord,
        conversation: ConversationParser,
    ) -> Message | None:
        """Add a record as a message if it has content, else count it."""
        fields, path = record.record, record.record_path
        self._record_paths.add(path)
        if self._refused_number != conversation.number:
            self._refused, self._refused_number = [], conversation.number
        if draft is not None and not draft.is_empty:
            message = self._add_message(draft, fields, path, conversation, record.decoded)
            self.on_message(message, fields)
            return message
        # What has a value that was not read is not known to be empty.
        is_unread = any(value and isinstance(value, Mapping | list) for value in fields.values())
        if not is_unread and (refusal := conversation.refusal(fields)):
            self._refused.append(
                RefusedRecord(
                    line=record.decoded.index,
                    client=conversation.provider,
                    reason=refusal.reason,
                    is_sent=False,
                    rule=refusal.rule,
                    path=path,
                )
            )
        if draft is None:
            unread = self.builder.unread
            unread.add_message(record.value, path, (), record.decoded.index, _kind(fields))
            if fields.get("type") == REFERENCE:
                unread.add_reference()
            self.builder.add_opaque(
                record.decoded, "a record that is not a message", record.n_bytes
            )
        else:
            kind = self.unsent_kind(fields)
            if kind:
                self.builder.add_metadata(kind, record.n_bytes)
            else:
                self.builder.add_empty(
                    "empty message", fields, record.decoded, record.n_bytes, path
                )
        return None

    def _accept_answered(self, newest: Message | None, *, is_answered: bool) -> None:
        """Accept all of a request that was answered, as also its usage shows."""
        if is_answered or (newest is not None and newest.usage is not None):
            self._refused.clear()

    def _accept_end(self, last: ContainedRecord) -> None:
        """Accept the last record of a conversation: an answer that has not begun may be empty."""
        place = (last.decoded.index, last.record_path)
        if last.record.get("role") in _ANSWERING and self._refused:
            newest = self._refused[-1]
            if (newest.line, newest.path) == place:
                self._refused.pop()

    def _add_extra(
        self,
        draft: MessageDraft,
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> Message:
        """Add what a document stores outside of its messages; the path becomes the id."""
        name = f"{conversation.number}-{'.'.join(map(str, path))}"
        return self._add_message(replace(draft, record_id=name), {}, path, conversation, decoded)

    def _add_message(
        self,
        draft: MessageDraft,
        record: Mapping[str, Any],
        path: JsonPath,
        conversation: ConversationParser,
        decoded: Decoded,
    ) -> Message:
        number = conversation.number
        time = sent_time(record) if draft.timestamp is None else None
        draft = draft if time is None else replace(draft, timestamp=time)
        self._note_client(draft, number)
        return self.builder.add_message(
            draft, record, decoded, record_path=path, conversation=number
        )

    def _note_client(self, draft: MessageDraft, number: int) -> None:
        """Note the client that made a request, if its system prompt shows it.

        Later messages show nothing: their texts may be of anyone.
        """
        if draft.role != "system":
            self._begun.add(number)
        elif number not in self._begun and (client := self.wrappings.by_prompt(draft.parts)):
            self.builder.wrappings[number] = client


def sample_messages(
    records: Sequence[Mapping[str, Any]], messages_key: str = "messages"
) -> list[Mapping[str, Any]]:
    """Return the first messages, including those inside of containers."""
    return list(islice(_flatten(records, messages_key), _MAX_SAMPLE))


def _flatten(
    records: Sequence[Mapping[str, Any]], messages_key: str
) -> Iterator[Mapping[str, Any]]:
    for record in records:
        inner = record.get(messages_key)
        for item in inner if isinstance(inner, list) else [record]:
            if isinstance(item, Mapping):
                yield item


def _kind(record: Mapping[str, Any]) -> str:
    """Return the kind of a record that is not a message; "" if only its fields describe it."""
    kinds = (f"{key}: {record[key]}" for key in ("role", "type") if text_or_none(record.get(key)))
    return next(kinds, "")


def _reported_usages(
    conversation: ConversationParser, document: Mapping[str, Any], row: LogRow
) -> Iterator[ReportedUsage]:
    """Yield the usage in the answer of a request, then the usage stored outside of it."""
    answers = (value_at(document, path) for path in row.answers)
    objects = (*answers, request_in(document, row), document)
    reports = (conversation.usage(fields) for fields in objects if isinstance(fields, Mapping))
    for usage in (*reports, logged_usage(document)):
        if usage is not None and usage.context > 0:
            yield usage


def _warnings(n_without_request: int, n_unordered: int) -> Iterator[str]:
    if n_without_request:
        logged = "answer is" if n_without_request == 1 else "answers are"
        yield (
            f"{n_without_request:,} {logged} logged without the request; what was sent is not in "
            "this file"
        )
    if n_unordered:
        what = "messages" if n_unordered == 1 else f"messages of {n_unordered:,} conversations"
        yield f"{what} are not in the order of their times; they are read oldest first"
