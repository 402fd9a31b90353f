"""Reads Claude Code sessions: messages, requests, and what is sent of them."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.claude_code.attachments import (
    attachment_parts,
    may_lack_text,
    restored_reason,
    without_copy,
)
from compactctl.clients.claude_code.boundaries import is_compaction
from compactctl.clients.claude_code.chain import build_chain, load_rows, newest_versions
from compactctl.clients.claude_code.islands import find_islands
from compactctl.clients.claude_code.record_kinds import RECORDS, SUBTYPES, unmodeled
from compactctl.clients.claude_code.refusals import ClaudeRefusals
from compactctl.clients.claude_code.request import (
    apply_cuts,
    drop_virtual,
    mark_omitted,
    strip_thinking,
)
from compactctl.clients.claude_code.requests import (
    OVERHEAD_REASON,
    REQUEST,
    SHAPE,
    ClaudeRequests,
    command_changes,
    shape_parts,
    snapshot_parts,
    with_changes,
)
from compactctl.clients.claude_code.rows import (
    ROW_TYPES,
    Entry,
    Row,
    is_row,
    read_resume_point,
    read_row,
)
from compactctl.clients.claude_code.sent import (
    RowMessages,
    SentChain,
    sent_rows,
    unrelated_sessions,
)
from compactctl.clients.claude_code.wrapping import CLAUDE_CODE, CLAUDE_CODE_1
from compactctl.clients.content.anthropic import content_parts, reported_usage
from compactctl.clients.records.builder import (
    LineReader,
    RecordPlace,
    build_message,
    content_id,
    message_id_for,
)
from compactctl.clients.records.decode import NOT_UTF8, Decoded
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, role_with
from compactctl.clients.records.responses import find_reused_ids, with_responses
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.history.omissions import as_sent, replaced_results
from compactctl.history.provider_edits import as_read
from compactctl.model.island import Island
from compactctl.model.message import (
    Locks,
    Message,
    MessageId,
    Part,
    Role,
    ToolResultPart,
)
from compactctl.model.tags import read_tags
from compactctl.model.transcript import (
    Link,
    Omission,
    PastCompactions,
    Pointer,
    SessionInfo,
    SessionLines,
    Transcript,
)
from compactctl.model.usage_fields import UsageFields, with_reported_usage
from compactctl.records import replace

COUNTS = UsageFields(
    path=("message", "usage"),
    input=("input_tokens",),
    cached_inputs=(
        ("cache_read_input_tokens",),
        ("cache_creation_input_tokens",),
        ("cache_creation", "ephemeral_5m_input_tokens"),
        ("cache_creation", "ephemeral_1h_input_tokens"),
    ),
    output=("output_tokens",),
)
_SYNTHETIC = "<synthetic>"
_HUMAN, _TYPED_MODE = "human", "prompt"
_COMMAND = "local_command"
_REPEATED_REASON = "the file holds an earlier record of it, which would count again"
_ASKING_TOOL = "AskUserQuestion"
_OLD_VERSIONS = ("0.", "1.")
# What the client shows of results and attached files, and its own lists and judgments; facts of the
# API about an answer; a resource that is not a text, of which only the type is sent.
_UNSENT_FIELDS = COMMON_UNSENT | UnsentFields(
    keys=frozenset(
        {
            "classifierMetaLines",
            "displayPath",
            "filePath",
            "filename",
            "forkedFrom",
            "mcpMeta",
            "path",
            "planFilePath",
            "rawContent",
            "stderr",
            "stdout",
            "todos",
            "toolUseResult",
        }
    ),
    labels=frozenset({"container", "diagnostics", "stop_details", "thinkingMetadata"}),
    is_unsent=lambda block: "blob" in block and "uri" in block,
)


def sent_chain(lines: Iterable[Decoded]) -> SentChain:
    """Read a session and return the chain of its records that the next request would send."""
    reader = ClaudeReader()
    reader.add_lines(lines)
    return reader.sent()


class ClaudeReader(LineReader):
    """Reads records in file order; ``finish`` computes the effective history."""

    def __init__(self) -> None:
        super().__init__("claude-code", CLAUDE_CODE, _UNSENT_FIELDS)
        self.entries: list[Entry] = []
        self.refusals = ClaudeRefusals()
        self.n_bytes = 0
        self.is_log: bool | None = None
        # By uuid: messages of the newest version, and of older ones that are hidden.
        self.row_messages: dict[str, list[Message]] = {}
        self.unlinked: list[Message] = []
        self.unmovable: dict[str, str] = {}
        self.requests = ClaudeRequests()
        self.tools: dict[str, str] = {}
        # The index of each message in ``builder.messages``.
        self.indices: dict[str, int] = {}
        self.meta_ids: set[MessageId] = set()
        self.copied_ids: set[MessageId] = set()
        self.model: str | None = None
        self.cwd: str | None = None
        self.version: str | None = None
        # The request that first produced each response id.
        self.request_ids: dict[str, str | None] = {}
        # The first and the last line with each session id.
        self.session_lines: dict[str, tuple[int, int]] = {}

    def add_line(self, decoded: Decoded) -> None:
        """Add the records on a line."""
        self.n_bytes += decoded.n_bytes
        self.refusals.add_line(decoded)
        for value in decoded.values:
            if isinstance(value, dict) and isinstance(value.get("type"), str):
                self._add_record(with_reported_usage(value, COUNTS), decoded)
            else:
                self.builder.add_opaque(decoded, "a JSON value of unknown type", value=value)

    def _add_record(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        if record["type"] == REQUEST:
            self.requests.add_request(record)
        elif record["type"] == SHAPE and (shape := shape_parts(record)):
            name = content_id(record["shape"])
            self.requests.add_shape(record, self.overhead_message(name, shape, decoded))
        session = record.get("sessionId")
        if isinstance(session, str):
            first, _ = self.session_lines.get(session, (decoded.index, 0))
            self.session_lines[session] = (first, decoded.index)
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if isinstance(uuid, str) and uuid:
            parent = parent if isinstance(parent, str) else None
            self.builder.links.append(Link(decoded.index, uuid, parent))
            self.is_log = not decoded.is_plain if self.is_log is None else self.is_log
            if self.is_loaded(decoded):
                self.add_row(record, decoded.index)
            if "subtype" in record and is_compaction(record):
                self.builder.compactions.append(decoded.index)
        else:
            self.add_pointer(record, decoded)
        if record["type"] == "custom-title" and record.get("forkedFrom"):
            # The end of what compactctl copied.
            self.copied_ids |= {message.id for message in self.builder.messages}
        if _is_client_error(record):
            self.builder.add_error(_error_text(record), decoded.index, text_or_none(uuid) or "")
        message = self._read_message(record, decoded) if record["type"] in ROW_TYPES else None
        if message is None:
            self.add_without_message(record, decoded)
        else:
            self._add_message(message, record, decoded)

    def _add_message(self, message: Message, record: Mapping[str, Any], decoded: Decoded) -> None:
        self.cwd = self.cwd or text_or_none(record.get("cwd"))
        self.version = text_or_none(record.get("version")) or self.version
        self.indices[message.id] = len(self.builder.messages)
        if record.get("isMeta") is True:
            self.meta_ids.add(message.id)
        if record.get("forkedFrom"):
            self.copied_ids.add(message.id)
        self.builder.unread.add_message(without_copy(record), (), message.parts, decoded.index)
        self.builder.messages.append(message)
        uuid = text_or_none(record.get("uuid")) or ""
        linked = self.row_messages.get(uuid) if self.is_loaded(decoded) else None
        (self.unlinked if linked is None else linked).append(message)

    def is_loaded(self, decoded: Decoded) -> bool:
        """Return whether the client reads the record of a line.

        It reads only lines that are JSON as they stand. A log in which all records are wrapped is
        shown as the session that was logged.
        """
        is_readable = decoded.is_plain or self.is_log is True
        return decoded.damage in (None, NOT_UTF8) and is_readable

    def add_row(self, record: Mapping[str, Any], line: int) -> None:
        """Add a record with a uuid, which replaces an earlier one with the same uuid."""
        if not is_row(record):
            return
        row = read_row(record, line, len(self.entries))
        self.entries.append(row)
        if row.type not in ROW_TYPES:
            return
        earlier = self.row_messages.get(row.uuid)
        # A message that an inline compaction tagged as hidden stays beside its rewritten record.
        hidden = [message for message in earlier or () if message.tags.hidden_by]
        self.row_messages[row.uuid] = hidden
        if earlier is not None and not hidden:
            self.unmovable[row.uuid] = _REPEATED_REASON

    def add_without_message(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        """Count a record that is never sent, or a turn of which the message cannot be read."""
        is_turn = record["type"] in ("user", "assistant") and not _is_client_error(record)
        if is_turn and not isinstance(record.get("message"), Mapping):
            self.builder.add_opaque(decoded, "a record without its message", value=record)
        elif is_turn:
            self.builder.add_empty(_kind(record), record, decoded, decoded.n_bytes)
        else:
            if change := unmodeled(record["type"], _attachment_type(record) or ""):
                self.builder.add_unmodeled(_kind(record), decoded.index, change)
            self.measure_unread(record, decoded.index)
            self.builder.add_metadata(_kind(record), decoded.n_bytes)

    def measure_unread(self, record: Mapping[str, Any], line: int) -> None:
        """Measure a record that may be sent although it is none that is read."""
        match record["type"]:
            case "attachment" if may_lack_text(record):
                self.builder.unread.add_message(record, (), (), line)
            case "system" if _may_be_sent(record):
                self.builder.unread.add_message(record, (), (), line)
            case kind if kind in RECORDS:
                pass
            case _ if "uuid" in record or any(isinstance(v, dict | list) for v in record.values()):
                self.builder.unread.add_unknown(record, line)
            case _:
                # The client's own states are one value beside the id of the session.
                self.builder.unread.add_message_like(record, line)

    def overhead_message(self, name: str, parts: tuple[Part, ...], decoded: Decoded) -> Message:
        """Return a system prompt with tool definitions as a message that no stage may edit."""
        return Message(
            id=MessageId(name),
            role="system",
            parts=parts,
            line=decoded.index,
            locks=Locks(immutable_reason=OVERHEAD_REASON, unmovable_reason=OVERHEAD_REASON),
        )

    def add_pointer(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        """Add a record that names the end of a branch: a title, or where to resume the session."""
        if decoded.damage is not None:
            return
        if record["type"] == "last-prompt" and self.is_loaded(decoded):
            self.entries.append(read_resume_point(record))
        leaf = text_or_none(record.get("leafUuid"))
        if leaf is not None:
            pointer = Pointer(line=decoded.index, target=leaf, path=("leafUuid",))
            self.builder.pointers.append(pointer)

    def _read_message(self, record: Mapping[str, Any], decoded: Decoded) -> Message | None:
        kind = record["type"]
        if kind == "attachment":
            snapshot = snapshot_parts(object_or_empty(record.get("attachment")))
            if snapshot:
                name = text_or_none(record.get("uuid")) or f"line-{decoded.index}"
                self.requests.add_snapshot(self.overhead_message(name, snapshot, decoded))
                return None
            parts = attachment_parts(record)
            is_injected = not _is_queued_prompt(record)
            message = self._message(record, decoded, parts, injected=is_injected)
            reason = restored_reason(record)
            if message is None or message.locks.immutable_reason:
                return message
            return replace(message, locks=replace(message.locks, immutable_reason=reason))
        if kind == "system" and record.get("subtype") == _COMMAND:
            # A command for the client and its output are both sent with the next request.
            parts = content_parts(record.get("content"), ("content",))
            return self._message(record, decoded, parts, injected=True)
        inner = record.get("message")
        if kind == "system" or not isinstance(inner, dict) or _is_client_error(record):
            return None
        content, path = inner.get("content"), ("message", "content")
        if kind == "assistant":
            return self._read_response(record, inner, decoded, content_parts(content, path))
        parts = _with_outcome(content_parts(content, path, self.tools), record)
        injected = record.get("isMeta") is True or not _is_from_user(record.get("origin"))
        return self._message(record, decoded, parts, injected=injected)

    def _read_response(
        self,
        record: Mapping[str, Any],
        inner: Mapping[str, Any],
        decoded: Decoded,
        parts: tuple[Part, ...],
    ) -> Message | None:
        message = self._message(record, decoded, parts, response=inner)
        if message is None:
            return None
        self.requests.add_answer(record, message)
        self.tools.update([(call.call_id, call.tool) for call in message.calls])
        if message.model and (self.model is None or record.get("isSidechain") is not True):
            self.model = message.model
        return message

    def _message(
        self,
        record: Mapping[str, Any],
        decoded: Decoded,
        parts: tuple[Part, ...],
        *,
        injected: bool = False,
        response: Mapping[str, Any] | None = None,
    ) -> Message | None:
        role: Role = role_with(parts, "user") if response is None else "assistant"
        # The client adds synthetic answers itself: they are sent, but no model produced them.
        answer = {} if response is None or response.get("model") == _SYNTHETIC else response
        model, usage = text_or_none(answer.get("model")), reported_usage(answer)
        if not parts and model is None and usage is None:
            return None
        tags = read_tags(record)
        uuid = text_or_none(record.get("uuid")) or f"line-{decoded.index}"
        name = self.message_id(message_id_for(uuid, tags))
        draft = MessageDraft(
            role=role,
            parts=parts,
            response_id=None if response is None else self.response_id(record, response, name),
            model=model,
            is_injected=injected,
            is_summary=record.get("isCompactSummary") is True,
            usage=usage,
            is_subagent=record.get("isSidechain") is True,
        )
        is_old = text_or_empty(record.get("version")).startswith(_OLD_VERSIONS)
        wrapping = CLAUDE_CODE_1 if is_old else CLAUDE_CODE
        place = RecordPlace(decoded, wrapping=wrapping, calls=self.builder.calls[0])
        return build_message(draft, record, place, tags, name)

    def response_id(
        self, record: Mapping[str, Any], response: Mapping[str, Any], fallback: str
    ) -> str:
        """Return the id of a response. A proxy may reuse ids, so a second request is appended."""
        response_id = text_or_none(response.get("id")) or fallback
        request_id = text_or_none(record.get("requestId"))
        first = self.request_ids.setdefault(response_id, request_id) if request_id else None
        return response_id if first == request_id else f"{response_id} {request_id}"

    def message_id(self, name: str) -> MessageId:
        """Return ``name`` for the newest record that has it; renumber the earlier one.

        The record that counts thus keeps its id whether or not it supersedes an earlier one.
        """
        unique_id = self.builder.unique_id(name)
        if unique_id == name or name not in self.indices:
            return unique_id
        index = self.indices[unique_id] = self.indices.pop(name)
        self.builder.messages[index] = replace(self.builder.messages[index], id=unique_id)
        return MessageId(name)

    def sent(self) -> SentChain:
        """Return what would be sent of the records that were added."""
        new_ids = _distinct_responses(self.builder.messages)
        by_uuid = self.row_messages
        if new_ids:
            by_uuid = {
                uuid: [_renamed(message, new_ids) for message in messages]
                for uuid, messages in by_uuid.items()
            }
        messages = RowMessages(by_uuid=by_uuid, unlinked=self.unlinked, unmovable=self.unmovable)
        return sent_rows(build_chain(self.entries, self.n_bytes), messages, self.refusals.damaged)

    def islands(self) -> tuple[Island, ...]:
        """Return what the file holds and the next request does not send, in file order."""
        sent = self.sent()
        damaged = self.refusals.damaged
        islands = find_islands(self.entries, sent, self.row_messages, damaged)
        return tuple(sorted(islands, key=lambda island: island.first))

    def sessions(self) -> tuple[SessionLines, ...]:
        """Return the line ranges of unrelated sessions in the file; () if all are related."""
        rows = {entry.uuid: entry for entry in self.entries if isinstance(entry, Row)}
        said = {uuid for uuid, messages in self.row_messages.items() if messages}
        return unrelated_sessions(rows, said, self.session_lines)

    def finish(self) -> Transcript:
        """Return the transcript."""
        sent = self.sent()
        effective = sent.messages
        # Hidden messages are not in ``effective``; they follow one another as in the file.
        changes = {
            **command_changes(self.builder.messages, self.meta_ids),
            **command_changes(effective, self.meta_ids),
        }
        effective, replaced = self._as_stated(with_changes(effective, changes), sent)
        self.builder.messages = list(with_changes(self.builder.messages, changes))
        if sent.joined:
            self.builder.links = [
                replace(link, parent=sent.joined[link.id], is_inferred=True)
                if link.id in sent.joined
                else link
                for link in self.builder.links
            ]
        self.builder.warnings += sent.warnings
        if self.is_log is not True:
            rows = newest_versions(load_rows(self.entries)) if sent.cuts else {}
            row_messages = self.row_messages.items() if sent.cuts else ()
            messages = {uuid: with_changes(said, changes) for uuid, said in row_messages}
            self.builder.refused = self.refusals.records(self.version, sent.cuts, rows, messages)
        self.builder.errors = [
            error for error in self.builder.errors if error.name in sent.included
        ]
        overhead = self.requests.newest_overhead(effective, self.builder.messages)
        if overhead is not None:
            self.builder.messages.append(overhead)
            self.builder.messages.sort(key=lambda message: message.line)
            effective = (overhead, *effective)
        transcript = self.builder.build(
            self.name,
            effective,
            session=SessionInfo(
                model=self.model,
                client_version=self.version,
                cwd=self.cwd,
                holds_overhead=overhead is not None,
                copied=frozenset(self.copied_ids),
            ),
            compactions=PastCompactions(
                by_client=any(message.origin.is_summary for message in effective),
            ),
            session_lines=self.sessions(),
        )
        history = as_read(transcript.effective)
        return as_sent(transcript, history, mark_omitted(history), replaced)

    def _as_stated(
        self, messages: tuple[Message, ...], sent: SentChain
    ) -> tuple[tuple[Message, ...], tuple[Omission, ...]]:
        """Return messages as rows state them: cut, stripped or only shown; and what was cut."""
        place_by_id = {
            message.id: place
            for place, row in enumerate(sent.rows)
            for message in self.row_messages.get(row.uuid, ())
        }
        places = sorted(place_by_id.get(message.id, -1) for message in messages)
        strips = [
            (bisect_left(places, place), row.strip)
            for place, row in enumerate(sent.rows)
            if row.strip is not None
        ]
        # The newest one of all reasoning before it says what earlier ones do.
        whole = [item for item in strips if item[1].response is None][-1:]
        strips = [*(item for item in strips if item[1].response is not None), *whole]
        cuts = [row.cut for row in sent.rows if row.cut is not None]
        virtual_ids = {name for name, place in place_by_id.items() if sent.rows[place].is_virtual}
        shown = tuple(drop_virtual(m) if m.id in virtual_ids else m for m in messages)
        after = apply_cuts(shown, cuts)
        return strip_thinking(after, strips), tuple(replaced_results(shown, after))


def _distinct_responses(messages: Sequence[Message]) -> Mapping[str, str]:
    """Return new response ids by message id, where a proxy gave several responses one id."""
    if not find_reused_ids(messages):
        return {}
    pairs = zip(messages, with_responses(messages), strict=True)
    return {new.id: new.response_id or "" for old, new in pairs if new is not old}


def _renamed(message: Message, new_ids: Mapping[str, str]) -> Message:
    new_id = new_ids.get(message.id)
    return message if new_id is None else replace(message, response_id=new_id)


def _kind(record: Mapping[str, Any]) -> str:
    detail = record.get("subtype") or object_or_empty(record.get("data")).get("type")
    if record["type"] == "attachment":
        detail = _attachment_type(record)
    if _is_client_error(record):
        detail = "client error"
    return f"{record['type']}/{detail}" if isinstance(detail, str) else str(record["type"])


def _may_be_sent(record: Mapping[str, Any]) -> bool:
    """Whether a system record without parts may be sent.

    Of these, client 2.1.20 sends only commands and their output (normalizeMessagesForAPI). All
    others are shown: they are of these subtypes, have a level, or say that they are not meta.
    """
    subtype = text_or_empty(record.get("subtype"))
    is_shown = "level" in record or "isMeta" in record or subtype in SUBTYPES
    return subtype == _COMMAND or not is_shown


def _attachment_type(record: Mapping[str, Any]) -> str | None:
    return text_or_none(object_or_empty(record.get("attachment")).get("type"))


def _is_queued_prompt(record: Mapping[str, Any]) -> bool:
    """Return whether the user queued this prompt; messages of other agents are queued too."""
    attachment = object_or_empty(record.get("attachment"))
    is_prompt = attachment.get("type") == "queued_command" and attachment.get("isMeta") is not True
    is_typed = attachment.get("commandMode", _TYPED_MODE) == _TYPED_MODE
    return is_prompt and is_typed and _is_from_user(attachment.get("origin"))


def _is_from_user(origin: object) -> bool:
    """Return whether the recorded origin of a prompt is the user; early clients record none."""
    return bool(object_or_empty(origin).get("kind", _HUMAN) == _HUMAN)


def _with_outcome(parts: tuple[Part, ...], record: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return results with what the client recorded beside them: answers, or an interruption."""
    outcome = object_or_empty(record.get("toolUseResult"))
    answers = object_or_empty(outcome.get("answers"))
    notes = object_or_empty(outcome.get("annotations"))
    said = "; ".join(
        f"{answer} user notes: {note}" if note not in ("", answer) else answer
        for question, answer in answers.items()
        if isinstance(answer, str)
        for note in [text_or_empty(object_or_empty(notes.get(question)).get("notes"))]
    )
    interrupted = outcome.get("interrupted") is True
    return tuple(
        replace(
            part,
            said=said if part.tool == _ASKING_TOOL else part.said,
            outcome="interrupted" if interrupted else part.outcome,
        )
        if (said or interrupted) and isinstance(part, ToolResultPart)
        else part
        for part in parts
    )


def _error_text(record: Mapping[str, Any]) -> str:
    """Return the client's message about a failed request, then the provider's."""
    blocks = list_or_empty(object_or_empty(record.get("message")).get("content"))
    texts = [object_or_empty(block).get("text") for block in blocks]
    return "\n".join(text for text in (*texts, record.get("errorDetails")) if isinstance(text, str))


def _is_client_error(record: Mapping[str, Any]) -> bool:
    return record.get("isApiErrorMessage") is True
