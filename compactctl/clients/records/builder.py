"""Build a transcript from messages, links, metadata and lines that a reader could not parse."""

import hashlib
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter, is_
from typing import Any

import orjson

from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import record_time
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.order import judge_links
from compactctl.clients.records.outcomes import with_outcomes
from compactctl.clients.records.record_kinds import unmodeled_warning
from compactctl.clients.records.responses import with_responses
from compactctl.clients.records.unread import COMMON_UNSENT, UnreadText, UnsentFields
from compactctl.clients.records.wrapping import (
    Wrapping,
    attribute,
    is_from_client,
    is_summary_from_client,
)
from compactctl.history.stand_ins import SUMMARY_QUESTION
from compactctl.model.message import (
    NO_LOCKS,
    NO_TAGS,
    CallId,
    JsonPath,
    Locks,
    Message,
    MessageId,
    Origin,
    Part,
    Tags,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    is_compaction,
    is_media_note,
)
from compactctl.model.own_texts import FoundTexts, OwnMarker, find_own_texts, own_texts_in
from compactctl.model.tags import METADATA_KEY, read_tags, tag_fields
from compactctl.model.transcript import (
    Link,
    Opaque,
    PastCompactions,
    Pointer,
    RecordLinks,
    RecordOrder,
    RecordStats,
    Refusal,
    RefusedRecord,
    SessionInfo,
    SessionLines,
    SupersededVersion,
    Transcript,
)
from compactctl.records import Record, field, replace

BLANK = "blank line"
_FOLLOWED_REASON = "a record on a damaged line follows it"
_HIDER_REASON = "it hides a record that cannot be removed because of a damaged line"
_NO_COMPACTIONS = PastCompactions()


class RequestError(Record, kw_only=False):
    """A provider's error for a request, after the first ``after`` messages of the file."""

    text: str
    line: int
    name: str
    after: int


class RecordPlace(Record, kw_only=False):
    """The line of a record and the path in it; its conversation, with its dialect and client.

    ``calls`` are those of the conversation before it, and take up its own.
    """

    line: Decoded
    path: JsonPath = ()
    conversation: int = 0
    dialect: str | None = None
    wrapping: Wrapping = Wrapping()
    calls: dict[CallId, ToolCallPart] = field(default_factory=dict)


class TranscriptBuilder:
    """Collect the records of a file in file order, then build its transcript.

    For ``interleaves`` see ``with_responses``; ``wrapping`` is of the client that wrote the file,
    ``unsent_fields`` are the fields of its records that hold no text for a model, ``notes`` those
    of its transcript.
    """

    def __init__(
        self,
        *,
        wrapping: Wrapping,
        interleaves: bool = True,
        unsent_fields: UnsentFields = COMMON_UNSENT,
    ) -> None:
        self._unsent_fields = unsent_fields
        self.forget_unread()
        self.interleaves = interleaves
        self.wrapping = wrapping
        # The wrapping of each conversation of which the client is known, in logs of requests.
        self.wrappings: dict[int, Wrapping] = {}
        self.calls: defaultdict[int, dict[CallId, ToolCallPart]] = defaultdict(dict)
        self.messages: list[Message] = []
        self.links: list[Link] = []
        self.pointers: list[Pointer] = []
        # Dialect names by conversation number, in logs of several dialects.
        self.dialects: dict[int, str] = {}
        self.warnings: list[str] = []
        self.notes: Mapping[str, str] = {}
        # By the kinds of records that are not followed.
        self._unmodeled: dict[str, str] = {}
        self.compactions: list[int] = []
        self.refused: list[RefusedRecord] = []
        self.n_lines = 0
        self.is_document = False
        self.n_bytes = 0
        self.errors: list[RequestError] = []
        self._sessions: dict[str, tuple[int, int]] = {}
        self.opaque: list[Opaque] = []
        self._damaged_lines: set[int] = set()
        self._metadata: Counter[str] = Counter()
        self._metadata_bytes: Counter[str] = Counter()
        self._repeat_counts: Counter[str] = Counter()
        self._used_ids: set[str] = set()

    def add_line(self, decoded: Decoded) -> None:
        """Count a line, and note its damage, if any."""
        self.n_lines += 1
        self.n_bytes += decoded.n_bytes
        self.is_document = self.is_document or decoded.is_document
        if decoded.damage is not None:
            self._damaged_lines.add(decoded.index)
            self.add_opaque(decoded, decoded.damage)
            for piece in decoded.lost:
                self.unread.add_damaged(piece, decoded.index)
        elif not decoded.values:
            self.add_metadata(BLANK, decoded.n_bytes)

    def add_opaque(
        self,
        decoded: Decoded,
        damage: str,
        n_bytes: int | None = None,
        *,
        value: object = None,
        name: str = "",
    ) -> None:
        """Add a line, or ``n_bytes`` of it, that was not understood and is kept verbatim.

        ``value`` is what the line has there, and ``name`` the field of the text in it.
        """
        size = decoded.n_bytes if n_bytes is None else n_bytes
        self.unread.add_unknown(value, decoded.index, name)
        self.opaque.append(Opaque(line=decoded.index, n_bytes=size, damage=damage))

    @property
    def _n_opaque_lines(self) -> int:
        return len({opaque.line for opaque in self.opaque})

    def add_session(self, name: str | None, line: int) -> None:
        """Note that a line, or what follows it, belongs to the session ``name``."""
        if name:
            first, _ = self._sessions.get(name, (line, line))
            self._sessions[name] = (first, line)

    def _session_lines(self) -> tuple[SessionLines, ...]:
        """Return the line ranges of several sessions; () if there is only one."""
        if len(self._sessions) <= 1:
            return ()
        starts = [first for first, _ in self._sessions.values()]
        ends = (*(start - 1 for start in starts[1:]), self.n_lines - 1)
        return tuple(
            SessionLines(name, first, max(last, end))
            for (name, (first, last)), end in zip(self._sessions.items(), ends, strict=True)
        )

    def add_unmodeled(self, kind: str, line: int, change: str) -> None:
        """Warn, once of each kind, of a record that is not followed; see ``RecordKind``."""
        self._unmodeled.setdefault(kind, unmodeled_warning(kind, line, change))

    def add_error(self, text: str | None, line: int, name: str = "") -> None:
        """Add a provider's error, stored in the record ``name``."""
        if text:
            self.errors.append(RequestError(text, line, name, len(self.messages)))

    def forget_unread(self) -> None:
        """Measure what is not read from here on."""
        self.unread = UnreadText(self._unsent_fields)

    def add_metadata(self, kind: str, n_bytes: int) -> None:
        """Count a record that is never sent to the model."""
        self._metadata[kind] += 1
        self._metadata_bytes[kind] += n_bytes

    def add_empty(
        self, kind: str, record: object, decoded: Decoded, n_bytes: int, path: JsonPath = ()
    ) -> None:
        """Count a message without content. A text in a field of it was not read."""
        self.unread.add_message(record, path, (), decoded.index)
        self.add_metadata(kind, n_bytes)

    def add_message(  # noqa: PLR0913 - a record as it is, and where it stands
        self,
        draft: MessageDraft,
        record: Mapping[str, Any],
        decoded: Decoded,
        *,
        record_path: JsonPath = (),
        conversation: int = 0,
        measured: object = None,
    ) -> Message:
        """Add a message; its tags are read from ``record``.

        ``measured`` is what of the record may be sent, at the same paths; None for all of it.
        """
        tags = read_tags(record)
        name = message_id_for(draft.record_id, tags) if draft.record_id else record_id(record, tags)
        name = self.unique_id(f"{conversation}.{name}" if conversation else name)
        place = RecordPlace(
            decoded,
            record_path,
            conversation,
            self.dialects.get(conversation),
            self.wrappings.get(conversation, self.wrapping),
            self.calls[conversation],
        )
        sent = record if measured is None else measured
        self.unread.add_message(sent, record_path, draft.parts, decoded.index)
        is_asked_for = bool(self.messages) and _asks_for_summary(self.messages[-1], conversation)
        message = build_message(draft, record, place, tags, name, is_asked_for=is_asked_for)
        self.messages.append(message)
        return message

    def unique_id(self, name: str) -> MessageId:
        """Return ``name`` as a message id, with a number appended if it is already used."""
        message_id = name
        while message_id in self._used_ids:
            self._repeat_counts[name] += 1
            message_id = f"{name}#{self._repeat_counts[name] + 1}"
        self._used_ids.add(message_id)
        return MessageId(message_id)

    def _links(self) -> Sequence[Link]:
        """Return the links, except those of originals that were rewritten with the same id."""
        rewritten = {message.tags.edit_id for message in self.messages if message.tags.edit_id}
        if not rewritten:
            return self.links
        replaced_lines = {m.line for m in self.messages if m.tags.edit_parent in rewritten}
        return [link for link in self.links if link.line not in replaced_lines]

    def _refusal(self, effective: Sequence[Message]) -> Refusal | None:
        """Return the newest refused request, if nothing was answered or compacted since."""
        error = self.errors[-1] if self.errors else None
        if error is None or any(line > error.line for line in self.compactions):
            return None
        earlier_ids = {message.id for message in self.messages[: error.after]}
        sent = sum(message.id in earlier_ids for message in effective)
        if any(message.usage and message.usage.context > 0 for message in effective[sent:]):
            return None
        # Imported late: it reads a file of error patterns, which few sessions need.
        from compactctl.profiles.overflow import classify_error

        overflow = classify_error(error.text)
        if not overflow.overflow:
            return None
        is_compacted = any(message.origin.is_synthetic for message in effective)
        if overflow.prompt is None and not is_compacted:
            self.warnings.append(
                f"line {error.line + 1}: the provider refused the request as too large and did not "
                "say how large it was; what is counted is less"
            )
        return Refusal(line=error.line, sent=sent, tokens=overflow.prompt, limit=overflow.limit)

    def _finished(
        self, messages: Sequence[Message], question_ids: Collection[MessageId]
    ) -> tuple[Message, ...]:
        """Set response ids, and mark ``question_ids`` as written by compactctl."""
        marked = messages
        if question_ids:
            marked = [
                replace(m, origin=replace(m.origin, is_injected=True, is_synthetic=True))
                if m.id in question_ids
                else m
                for m in messages
            ]
        return tuple(with_responses(marked, interleaves=self.interleaves))

    def build(  # noqa: PLR0913 - what a format knows of a file, all of it named
        self,
        name: str,
        effective: tuple[Message, ...],
        *,
        session: SessionInfo,
        compactions: PastCompactions = _NO_COMPACTIONS,
        superseded: tuple[SupersededVersion, ...] = (),
        session_lines: tuple[SessionLines, ...] | None = None,
        order: RecordOrder | None = None,
    ) -> Transcript:
        """Build the transcript; originals that a tag hides are removed from ``effective``.

        Conversations of one file are sent separately, so they follow one another in ``effective``.
        """
        in_order = tuple(sorted(effective, key=attrgetter("conversation")))
        chain = RecordLinks(
            links=tuple(self._links()), pointers=tuple(self.pointers), superseded=superseded
        )
        lines_to_keep = chain.lines_before(self._damaged_lines)
        shown, orphaned = drop_hidden(_with_locks(in_order, lines_to_keep))
        shown = _with_locked_hiders(shown, self.messages, lines_to_keep | self._damaged_lines)
        question_ids = set(_summary_questions(shown))
        model = session.model or _recorded_model(self.messages)
        if orphaned:
            carries, verb = (
                ("message carries", "it is") if orphaned == 1 else ("messages carry", "they are")
            )
            self.warnings.append(
                f"{orphaned} {carries} a tag whose summary or marker is missing; {verb} shown"
            )
        return Transcript(
            format=name,
            n_lines=self.n_lines,
            is_document=self.is_document,
            n_bytes=self.n_bytes,
            messages=self._finished(self.messages, question_ids),
            effective=self._finished(shown, question_ids),
            session=replace(session, model=model),
            chain=chain,
            compactions=replace(compactions, lines=tuple(self.compactions)),
            refusal=self._refusal(shown),
            refused=tuple(self.refused),
            metadata={
                kind: RecordStats(count=count, n_bytes=self._metadata_bytes[kind])
                for kind, count in self._metadata.items()
            },
            opaque=tuple(sorted(self.opaque, key=lambda opaque: opaque.line)),
            damaged_lines=frozenset(self._damaged_lines),
            unread=replace(
                self.unread.total(_last_unsent_line(self.messages, shown)),
                lines=0 if self.messages else self._n_opaque_lines,
            ),
            session_lines=self._session_lines() if session_lines is None else session_lines,
            order=judge_links(self.links) if order is None else order,
            notes=self.notes,
            warnings=(*self.warnings, *self._unmodeled.values()),
        )


class LineReader(ABC):
    """Read a session line by line; the end decides which messages are still sent.

    ``name`` is the name of the format; for the others see ``TranscriptBuilder``. The size
    and damage of a line are noted before it is read.
    """

    def __init__(
        self,
        name: str,
        wrapping: Wrapping,
        unsent_fields: UnsentFields = COMMON_UNSENT,
    ) -> None:
        self.name = name
        self.builder = TranscriptBuilder(wrapping=wrapping, unsent_fields=unsent_fields)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order."""
        self.add_lines(lines)
        return self.finish()

    def add_lines(self, lines: Iterable[Decoded]) -> None:
        """Add the records on all lines, in order."""
        for decoded in lines:
            self.builder.add_line(decoded)
            self.add_line(decoded)

    @abstractmethod
    def add_line(self, decoded: Decoded) -> None:
        """Add the records on a line."""

    @abstractmethod
    def finish(self) -> Transcript:
        """Build the transcript, with the messages that are still sent."""


def build_message(  # noqa: PLR0913 - a record as its format read it, and where it stands
    draft: MessageDraft,
    record: Mapping[str, Any],
    place: RecordPlace,
    tags: Tags,
    name: MessageId,
    *,
    is_asked_for: bool = False,
) -> Message:
    """Complete a draft: note who wrote each part, and whether compactctl or a client did.

    Without tags, an answer of the model is compactctl's only if a message of compactctl asked for
    it (``is_asked_for``), and, like a record that a client put in, only if it is nothing else.
    """
    # Whose words a result holds depends on what the record states, not on what its text says.
    parts = attribute(draft.parts, draft.role, place.wrapping)
    wording = place.wrapping.results
    parts = with_outcomes(parts, place.calls, wording, is_whole=tags.edit_id is None)
    is_tagged = tags is not NO_TAGS and is_synthetic(tags)
    by_client = draft.role == "user" and is_summary_from_client(parts)
    is_summary = draft.is_summary or by_client
    may_be_ours = draft.role in ("user", "system") or is_asked_for
    is_ours = is_tagged
    if is_tagged or may_be_ours:
        joined = with_own_texts(parts, has_others_tags=tags is not NO_TAGS and not is_tagged)
        is_ours = is_tagged or is_whole(joined)
        may_be_joined = draft.role != "assistant" and (is_summary or not draft.is_injected)
        if joined is not parts and (is_ours or may_be_joined):
            is_alone = is_tagged or is_summary
            parts = tuple(map(_without_words, joined)) if is_alone else joined
    parts = tuple(map(_without_note, parts))
    is_our_marker = tags.is_truncation_marker if is_tagged else is_ours and has_marker(parts)
    is_by_client = draft.role in ("user", "system") and is_from_client(parts)
    return Message(
        id=name,
        role=draft.role,
        parts=parts,
        line=place.line.index,
        record_path=place.path,
        conversation=place.conversation,
        response_id=draft.response_id,
        model=draft.model,
        origin=_origin(
            is_injected=draft.is_injected or is_by_client or is_ours or tags.is_truncation_marker,
            is_summary=not is_our_marker
            and (is_summary or (is_ours and (not is_tagged or tags.condense_id is not None))),
            is_synthetic=is_ours,
            is_subagent=draft.is_subagent,
            is_logged_answer=draft.is_logged_answer,
        ),
        locks=_locks(
            immutable_reason(place.line, parts, draft.immutable_reason), draft.unmovable_reason
        ),
        tags=tags,
        usage=draft.usage,
        clearing=draft.clearing,
        timestamp=record_time(record) if draft.timestamp is None else draft.timestamp,
        dialect=place.dialect,
        item_id=draft.item_id,
        cache_marks=draft.cache_marks,
    )


# Most messages of a transcript share a few origins.
_origin = lru_cache(maxsize=64)(Origin)


def _locks(immutable: str | None, unmovable: str | None) -> Locks:
    if immutable is None and unmovable is None:
        return NO_LOCKS
    return Locks(immutable_reason=immutable, unmovable_reason=unmovable)


def _last_unsent_line(messages: Iterable[Message], effective: Sequence[Message]) -> int:
    """Return the last line of what a summary replaced, 0 without a summary."""
    sent = [message for message in effective if message.role != "system"]
    lines = [message.line for message in sent if not message.origin.is_summary]
    if len(lines) == len(sent):
        return 0
    first = min(lines, default=max(message.line for message in sent))
    return max((message.line for message in messages if message.line < first), default=0)


def _with_locks(
    messages: tuple[Message, ...], lines_to_keep: Collection[int]
) -> tuple[Message, ...]:
    if not lines_to_keep:
        return messages
    return tuple(
        m.as_unmovable(_FOLLOWED_REASON) if m.line in lines_to_keep else m for m in messages
    )


def _with_locked_hiders(
    shown: tuple[Message, ...], messages: Iterable[Message], lines: Collection[int]
) -> tuple[Message, ...]:
    """Lock what hides messages on these lines, which would be sent again without it."""
    if not lines:
        return shown
    groups = {name for m in messages if m.line in lines for name in m.tags.hidden_by}
    return tuple(
        m if groups.isdisjoint(m.tags.hiding_ids) else _as_immutable(m, _HIDER_REASON)
        for m in shown
    )


def _as_immutable(message: Message, reason: str) -> Message:
    return replace(message, locks=replace(message.locks, immutable_reason=reason))


def _summary_questions(messages: Sequence[Message]) -> Iterator[MessageId]:
    """Yield the prompts that compactctl wrote before summaries that have lost their tags."""
    for message, following in pairwise(messages):
        is_answer = (
            following.origin.is_synthetic
            and following.role == "assistant"
            and following.origin.is_summary
        )
        if is_answer and message.role == "user" and following.tags == NO_TAGS:
            yield message.id


def _recorded_model(messages: Sequence[Message]) -> str | None:
    """Return the model that the newest compaction recorded, or None."""
    for message in reversed(messages):
        if message.tags.model:
            return message.tags.model
    return None


def message_id_for(name: str, tags: Tags) -> str:
    """Return the message id for a record's own id.

    A hidden original becomes ``id#group``, because its rewritten record keeps ``id``.
    """
    return f"{name}#{tags.edit_parent}" if tags.edit_parent else name


def is_synthetic(tags: Tags) -> bool:
    """Whether these are the tags of a summary or marker that compactctl wrote."""
    return bool(tags.operation and (tags.condense_id or tags.truncation_id))


def _asks_for_summary(message: Message, conversation: int) -> bool:
    """Whether a message is the question before a summary that is the model's answer."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    is_question = message.role == "user" and texts == [SUMMARY_QUESTION]
    return is_question and message.conversation == conversation


def with_own_texts(parts: tuple[Part, ...], *, has_others_tags: bool = False) -> tuple[Part, ...]:
    """Return parts with what compactctl wrote in them, also where it has lost its tags.

    Messages in requests, and those that a program keeps in memory, carry no tags, and their texts
    may be joined with others. A marker with tags of another program is that program's, since both
    may use the same words.
    """
    new = tuple(
        _with_own_texts(part, find_own_texts if has_others_tags else own_texts_in)
        if isinstance(part, TextPart)
        else part
        for part in parts
    )
    return parts if all(map(is_, new, parts)) else new


def _with_own_texts(part: TextPart, find: Callable[[str], FoundTexts]) -> TextPart:
    # Around a digest in a summary by a client is what the client wrote, unless a tag ends it.
    is_tagged = part.is_summary and part.text.lstrip().startswith("<")
    content = find(part.text if part.typed is None or part.is_summary else part.typed)
    if not content.texts:
        return part
    if part.is_summary and not is_tagged:
        return replace(part, own_texts=content.texts)
    return replace(part, own_texts=content.texts, typed=content.rest, is_summary=False)


def _without_words(part: Part) -> Part:
    return replace(part, typed="") if isinstance(part, TextPart) else part


def _without_note(part: Part) -> Part:
    """Return a part of which nobody typed anything, if it only says what was left out."""
    is_note = isinstance(part, TextPart) and is_media_note(part.text)
    return _without_words(part) if is_note else part


def is_whole(parts: Sequence[Part]) -> bool:
    """Whether compactctl wrote all of a message, or all that its client did not put into it."""
    texts = [part for part in parts if isinstance(part, TextPart)]
    has_own = any(part.own_texts for part in texts)
    is_client = any(part.is_summary for part in texts)
    return has_own and not is_client and len(texts) == len(parts) and is_from_client(texts)


def has_marker(parts: Iterable[Part]) -> bool:
    """Whether one of the parts is a marker by compactctl."""
    texts = (text for part in parts if isinstance(part, TextPart) for text in part.own_texts)
    return any(isinstance(text, OwnMarker) for text in texts)


def record_id(record: Mapping[str, Any], tags: Tags) -> str:
    """Derive an id from a record's content without its tags, so that tagging keeps the id."""
    if tags == NO_TAGS:
        return content_id(record)
    names = {*tag_fields(tags), METADATA_KEY}
    return content_id({name: value for name, value in record.items() if name not in names})


def content_id(value: object) -> str:
    """Derive an id from a record's content, for formats without ids: 12 hexadecimal digits."""
    return hashlib.sha256(_content(value)).hexdigest()[:12]


def uuid_for(name: str) -> str:
    """Derive a UUID from a message id, for formats that require one."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"


def _content(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson rejects lone surrogates, integers beyond 64 bits and deep nesting.
        pass
    try:
        return repr(value).encode("utf-8", "backslashreplace")
    except RecursionError:
        return b"nested too deeply"


def drop_hidden(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], int]:
    """Return the messages that no tag hides, and how many messages have tags without a target.

    A message is hidden only if the summary, marker or rewritten record with that id exists.
    """
    tagged = [message.tags for message in messages if message.tags is not NO_TAGS]
    present = {name for tags in tagged for name in tags.hiding_ids}
    orphaned = sum(any(parent not in present for parent in tags.hidden_by) for tags in tagged)
    shown = (
        tuple(m for m in messages if present.isdisjoint(m.tags.hidden_by)) if present else messages
    )
    return shown, orphaned


def immutable_reason(
    decoded: Decoded, parts: Sequence[Part], format_reason: str | None = None
) -> str | None:
    """Return why a record of this line must not be edited, or None.

    Tool definitions are immutable: without them the model cannot call the tool. So is a summary by
    the provider: without it, what it replaced would be read again. ``format_reason`` is a reason
    that the format knows.
    """
    if decoded.damage is not None:
        return f"its line is damaged ({decoded.damage}) and is carried verbatim"
    if format_reason is None:
        for part in parts:
            if isinstance(part, ToolDefinitionPart):
                return "it defines tools the model may call"
            if is_compaction(part):
                return "the provider's own summary, which replaces everything before it"
    return format_reason
