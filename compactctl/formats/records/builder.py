"""Collects what a reader finds: messages, links, metadata and lines not understood."""

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import orjson

from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import record_time
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.formats.records.order import judge_links
from compactctl.formats.records.responses import with_responses
from compactctl.history.stand_ins import is_by_compactctl, text_after_summary
from compactctl.history.voices import attribute, is_from_client
from compactctl.model.message import (
    NO_LOCKS,
    NO_TAGS,
    JsonPath,
    Locks,
    Message,
    MessageId,
    Origin,
    Part,
    Tags,
    TextPart,
    ToolDefinitionPart,
)
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
    SessionInfo,
    SessionLines,
    SupersededVersion,
    Transcript,
    Unread,
)

BLANK = "blank line"
_NO_COMPACTIONS = PastCompactions()
_NOTHING_UNREAD = Unread()


@dataclass(frozen=True, slots=True)
class RequestError:
    """What a provider answered to a request, behind the first ``after`` messages of the file."""

    text: str
    line: int
    name: str
    after: int


class TranscriptBuilder:
    """Takes in a file's records one by one, in file order.

    ``interleaves`` as for ``with_responses``.
    """

    def __init__(self, *, interleaves: bool = True) -> None:
        self.interleaves = interleaves
        self.messages: list[Message] = []
        self.links: list[Link] = []
        self.pointers: list[Pointer] = []
        # The name of its dialect by the number of a conversation, in logs that may hold several.
        self.dialects: dict[int, str] = {}
        self.warnings: list[str] = []
        self.compactions: list[int] = []
        self.n_lines = 0
        self.n_bytes = 0
        self.errors: list[RequestError] = []
        self._sessions: dict[str, tuple[int, int]] = {}
        self._opaque: list[Opaque] = []
        self._meta: Counter[str] = Counter()
        self._meta_bytes: Counter[str] = Counter()
        self._repeated: Counter[str] = Counter()
        self._used_ids: set[str] = set()

    def add_line(self, decoded: Decoded) -> None:
        """Take in a line as such: its size, and its damage if it has any."""
        self.n_lines += 1
        self.n_bytes += decoded.n_bytes
        if decoded.damage is not None:
            self.add_opaque(decoded, decoded.damage)
        elif not decoded.values:
            self.add_metadata(BLANK, decoded.n_bytes)

    def add_opaque(self, decoded: Decoded, damage: str, n_bytes: int | None = None) -> None:
        """Take in a line, or ``n_bytes`` of it, that is carried without being understood."""
        size = decoded.n_bytes if n_bytes is None else n_bytes
        self._opaque.append(Opaque(line=decoded.index, n_bytes=size, damage=damage))

    def add_session(self, name: str | None, line: int) -> None:
        """Take in that a record, or what follows it, is of the session ``name``."""
        if name:
            first, _ = self._sessions.get(name, (line, line))
            self._sessions[name] = (first, line)

    def _session_lines(self) -> tuple[SessionLines, ...]:
        """Return where each of several sessions stands, () for one."""
        if len(self._sessions) <= 1:
            return ()
        starts = [first for first, _ in self._sessions.values()]
        ends = (*(start - 1 for start in starts[1:]), self.n_lines - 1)
        return tuple(
            SessionLines(name, first, max(last, end))
            for (name, (first, last)), end in zip(self._sessions.items(), ends, strict=True)
        )

    def add_error(self, text: str | None, line: int, name: str = "") -> None:
        """Take in what a provider answered instead of a message, on the record ``name``."""
        if text:
            self.errors.append(RequestError(text, line, name, len(self.messages)))

    def add_metadata(self, kind: str, n_bytes: int) -> None:
        """Take in a record that never reaches the model."""
        self._meta[kind] += 1
        self._meta_bytes[kind] += n_bytes

    def add_message(
        self,
        draft: MessageDraft,
        record: Mapping[str, Any],
        decoded: Decoded,
        *,
        record_path: JsonPath = (),
        conversation: int = 0,
    ) -> Message:
        """Take in a record that is a message; ``record`` is what may carry tags."""
        tags = read_tags(record)
        name = message_id_for(draft.record_id, tags) if draft.record_id else record_id(record, tags)
        name = self.unique_id(f"{conversation}.{name}" if conversation else name)
        message = replace(
            build_message(draft, record, decoded, tags, name),
            record_path=record_path,
            conversation=conversation,
            dialect=self.dialects.get(conversation),
        )
        self.messages.append(message)
        return message

    def unique_id(self, name: str) -> MessageId:
        """Return ``name`` as a message id, with a number when it was taken before."""
        chosen = name
        while chosen in self._used_ids:
            self._repeated[name] += 1
            chosen = f"{name}#{self._repeated[name] + 1}"
        self._used_ids.add(chosen)
        return MessageId(chosen)

    def _links(self) -> Iterator[Link]:
        """Yield the links without those of originals whose rewritten record has the same one."""
        rewritten = {message.tags.edit_id for message in self.messages if message.tags.edit_id}
        left = {m.line for m in self.messages if m.tags.edit_parent in rewritten}
        return (link for link in self.links if link.line not in left)

    def _refusal(self, effective: Sequence[Message]) -> Refusal | None:
        """Return the newest request as refused, where nothing was answered or compacted since."""
        error = self.errors[-1] if self.errors else None
        if error is None or any(line > error.line for line in self.compactions):
            return None
        before = {message.id for message in self.messages[: error.after]}
        sent = sum(message.id in before for message in effective)
        if any(message.usage and message.usage.context > 0 for message in effective[sent:]):
            return None
        # Patterns of errors are read from a file, which a session without errors does without.
        from compactctl.profiles.overflow import classify_error

        found = classify_error(error.text)
        if not found.overflow:
            return None
        if found.prompt is None and not any(message.origin.is_synthetic for message in effective):
            self.warnings.append(
                f"line {error.line + 1}: the provider refused the request as too large and did not "
                "say how large it was; what is counted is less"
            )
        return Refusal(line=error.line, sent=sent, tokens=found.prompt, limit=found.limit)

    def _finished(
        self, messages: Sequence[Message], questions: Collection[MessageId]
    ) -> tuple[Message, ...]:
        """Return messages with the ids of their responses; compactctl wrote the ``questions``."""
        named = [
            replace(m, origin=replace(m.origin, is_injected=True, is_synthetic=True))
            if m.id in questions
            else m
            for m in messages
        ]
        return tuple(with_responses(named, interleaves=self.interleaves))

    def build(  # noqa: PLR0913 - what a format knows of a file, all of it named
        self,
        name: str,
        effective: tuple[Message, ...],
        *,
        session: SessionInfo,
        compactions: PastCompactions = _NO_COMPACTIONS,
        superseded: tuple[SupersededVersion, ...] = (),
        unread: Unread = _NOTHING_UNREAD,
        session_lines: tuple[SessionLines, ...] | None = None,
        order: RecordOrder | None = None,
    ) -> Transcript:
        """Return the finished transcript; tagged originals are taken out of ``effective``.

        A file may hold several conversations in turn: each is sent on its own, so one follows the
        other.
        """
        in_order = tuple(sorted(effective, key=lambda message: message.conversation))
        shown, orphaned = drop_hidden(in_order)
        questions = set(_own_questions(shown))
        model = session.model or _recorded_model(self.messages)
        if orphaned:
            carry, are = (
                ("message carries", "it is") if orphaned == 1 else ("messages carry", "they are")
            )
            self.warnings.append(
                f"{orphaned} {carry} a tag whose summary or marker is gone; {are} shown"
            )
        return Transcript(
            format=name,
            n_lines=self.n_lines,
            n_bytes=self.n_bytes,
            messages=self._finished(self.messages, questions),
            effective=self._finished(shown, questions),
            session=replace(session, model=model),
            chain=RecordLinks(
                links=tuple(self._links()), pointers=tuple(self.pointers), superseded=superseded
            ),
            compactions=replace(compactions, lines=tuple(self.compactions)),
            refusal=self._refusal(shown),
            metadata={
                kind: RecordStats(count=count, n_bytes=self._meta_bytes[kind])
                for kind, count in self._meta.items()
            },
            opaque=tuple(sorted(self._opaque, key=lambda opaque: opaque.line)),
            unread=unread,
            session_lines=self._session_lines() if session_lines is None else session_lines,
            order=judge_links(self.links) if order is None else order,
            warnings=tuple(self.warnings),
        )


class LineReader(ABC):
    """Takes in a session line by line, and settles at the end what of it is sent.

    ``name`` is that of the format. What a line is as such, its size and its damage, is taken note
    of before it is read.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.builder = TranscriptBuilder()

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order."""
        for decoded in lines:
            self.builder.add_line(decoded)
            self.add_line(decoded)
        return self.finish()

    @abstractmethod
    def add_line(self, decoded: Decoded) -> None:
        """Take in the records on a line."""

    @abstractmethod
    def finish(self) -> Transcript:
        """Return the transcript, with the messages that are still sent."""


def build_message(
    draft: MessageDraft, record: Mapping[str, Any], decoded: Decoded, tags: Tags, name: MessageId
) -> Message:
    """Return a record with these tags as a message, in which the author of each part is noted."""
    parts = attribute(draft.parts, draft.role)
    is_ours_untagged = _is_own_summary(parts, is_summary=draft.is_summary)
    is_tagged = is_synthetic(tags)
    is_ours = is_tagged or is_ours_untagged
    if is_ours:
        parts = _own_parts(parts, is_apart=draft.is_summary or is_tagged)
    is_clients_own = draft.role in ("user", "system") and is_from_client(parts)
    return Message(
        id=name,
        role=draft.role,
        parts=parts,
        line=decoded.index,
        response_id=draft.response_id,
        model=draft.model,
        origin=_origin(
            is_injected=draft.is_injected or is_clients_own or is_ours or tags.is_truncation_marker,
            is_summary=draft.is_summary
            or is_ours_untagged
            or (is_tagged and tags.condense_id is not None),
            is_synthetic=is_ours,
            is_subagent=draft.is_subagent,
            is_logged_answer=draft.is_logged_answer,
        ),
        locks=_locks(
            immutable_reason(decoded, parts, draft.immutable_reason), draft.unmovable_reason
        ),
        tags=tags,
        usage=draft.usage,
        timestamp=record_time(record) if draft.timestamp is None else draft.timestamp,
    )


# Of the many messages of a transcript, most have the origin of another one.
_origin = lru_cache(maxsize=64)(Origin)


def _locks(immutable: str | None, unmovable: str | None) -> Locks:
    if immutable is None and unmovable is None:
        return NO_LOCKS
    return Locks(immutable_reason=immutable, unmovable_reason=unmovable)


def _own_questions(messages: Sequence[Message]) -> Iterator[MessageId]:
    """Yield the questions by compactctl whose answers, its summaries, have lost their tags."""
    for message, following in pairwise(messages):
        is_answer = (
            following.role == "assistant"
            and following.origin.is_synthetic
            and following.origin.is_summary
        )
        if is_answer and message.role == "user" and following.tags == NO_TAGS:
            yield message.id


def _recorded_model(messages: Sequence[Message]) -> str | None:
    """Return the model that the newest compaction recorded; None without one."""
    return next((m.tags.model for m in reversed(messages) if m.tags.model), None)


def message_id_for(name: str, tags: Tags) -> str:
    """Return the id of a record that has one itself, which a rewritten one keeps for itself."""
    return f"{name}#{tags.edit_parent}" if tags.edit_parent else name


def is_synthetic(tags: Tags) -> bool:
    """Tell whether these are the tags of a summary or marker that compactctl wrote."""
    return bool(tags.operation and (tags.condense_id or tags.truncation_id))


def _is_own_summary(parts: Sequence[Part], *, is_summary: bool) -> bool:
    """Tell whether a message is nothing but a summary by compactctl, which may have lost its tags.

    Messages that were sent, or that a program keeps in memory, have none.
    """
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    return len(parts) == len(texts) == 1 and is_by_compactctl(texts[0], is_summary=is_summary)


def _own_parts(parts: Sequence[Part], *, is_apart: bool) -> tuple[Part, ...]:
    """Return the parts of what compactctl wrote, with what a person typed behind it noted.

    With ``is_apart``, the record is known to hold nothing else.
    """
    return tuple(
        replace(part, typed="" if is_apart else text_after_summary(part.text))
        if isinstance(part, TextPart)
        else part
        for part in parts
    )


def record_id(record: Mapping[str, Any], tags: Tags) -> str:
    """Derive an id from a record's content; tags do not count, so a tagged record keeps its id."""
    if tags == NO_TAGS:
        return content_id(record)
    names = {*tag_fields(tags), METADATA_KEY}
    return content_id({name: value for name, value in record.items() if name not in names})


def content_id(value: object) -> str:
    """Derive an id from a record's content, for formats whose records have none."""
    return hashlib.sha256(_content(value)).hexdigest()[:12]


def uuid_for(name: str) -> str:
    """Derive a UUID from a message's id, for formats whose records have nothing else for one."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"


def _content(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # Lone surrogates, integers beyond 64 bits and deep nesting are refused by orjson.
        pass
    try:
        return repr(value).encode("utf-8", "backslashreplace")
    except RecursionError:
        return b"nested too deeply"


def drop_hidden(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], int]:
    """Return the messages not hidden by a tag, and how many tags point to nothing.

    A message is hidden only when the summary, marker or rewritten record with that id exists.
    """
    tagged = [message.tags for message in messages if message.tags is not NO_TAGS]
    present = {name for tags in tagged for name in tags.hiding_ids}
    orphaned = sum(any(parent not in present for parent in tags.hidden_by) for tags in tagged)
    shown = (
        tuple(m for m in messages if present.isdisjoint(m.tags.hidden_by)) if present else messages
    )
    return shown, orphaned


def immutable_reason(
    decoded: Decoded, parts: Sequence[Part], of_format: str | None = None
) -> str | None:
    """Return why a record of this line must stay as it is, or None.

    Tool definitions stay wherever they stand: without them the model cannot call the tool.
    ``of_format`` is the reason that the format itself has.
    """
    if decoded.damage is not None:
        return f"its line is damaged ({decoded.damage}) and is carried verbatim"
    if of_format is None and any(isinstance(part, ToolDefinitionPart) for part in parts):
        return "it defines tools the model may call"
    return of_format
