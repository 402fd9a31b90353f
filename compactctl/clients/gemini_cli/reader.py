"""Reads a session of Gemini CLI: what each record says, and which of them are sent."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from compactctl.clients.content import gemini
from compactctl.clients.content.named_files import as_not_typed, without_files
from compactctl.clients.gemini_cli.record_kinds import EMPTY_PART, MESSAGES
from compactctl.clients.gemini_cli.replay import GeminiRecord, SessionReplay
from compactctl.clients.gemini_cli.usage import usage_of
from compactctl.clients.gemini_cli.wrapping import GEMINI_CLI
from compactctl.clients.records.builder import LineReader
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.model.message import (
    CallId,
    CallOutcome,
    JsonPath,
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import PastCompactions, SessionInfo, SupersededVersion, Transcript
from compactctl.records import replace

USER_TYPE, MODEL_TYPE = "user", "gemini"
CONTEXT = "<session_context>"
"""Begins what the client writes again whenever a session is resumed."""
# What it displays of calls and thoughts.
_UNSENT_FIELDS = COMMON_UNSENT | UnsentFields(
    keys=frozenset({"description", "resultDisplay", "thoughts", "displayName", "displayContent"})
)
_CONTEXT_REASON = "the client's own description of the session, which it writes anew at every start"
_OUTCOMES: Mapping[str, CallOutcome] = {
    "success": "ok",
    "error": "failed",
    "cancelled": "interrupted",
}
_CONTEXT_END, _SNAPSHOT_END = "</session_context>", "</state_snapshot>"
# How prompts begin that are not sent: commands for the client, and texts of its hooks. What begins
# like its description of the session is not sent either (``isIgnoredUserContent``).
_IGNORED = ("/", "?", "<hook_context>")
# A summary begins with it, perhaps after a fence; a user may mention it further on.
_SNAPSHOT = re.compile(r"\s*(?:```\w*\s*)?<state_snapshot>")
_FOLDER = re.compile(r"\*\*Workspace Directories:\*\*\s*\n\s*- ([^\n]+)")


class GeminiReader(LineReader):
    """Reads records in file order; ``finish`` computes the effective history."""

    def __init__(self, name: str) -> None:
        super().__init__(name, GEMINI_CLI, _UNSENT_FIELDS)
        self._replay = SessionReplay()
        # The kind and size of the lines that are not a message, by index.
        self._other_lines: dict[int, tuple[str, int]] = {}

    def add_line(self, decoded: Decoded) -> None:
        """Add the records on a line."""
        for value in decoded.values:
            kind = self._replay.apply(value, decoded) if isinstance(value, Mapping) else ""
            if isinstance(value, Mapping):
                self.builder.add_session(text_or_none(value.get("sessionId")), decoded.index)
            if kind == "":
                self.builder.add_opaque(decoded, "a record that is not of a session", value=value)
            elif kind is not None:
                self._other_lines[decoded.index] = (kind, decoded.n_bytes)

    def finish(self) -> Transcript:
        """Return the transcript."""
        replay = self._replay
        for value, line in replay.strays:
            self.builder.unread.add_unknown(value, line)
        newest = set(replay.newest())
        messages = {
            index: message
            for index, entry in enumerate(replay.entries)
            if (message := self._add_message(entry, is_newest=index in newest)) is not None
        }
        self._count_other_lines(messages.values())
        active_entries = (replay.entries[index] for index in replay.active.values())
        empty = next((entry for entry in active_entries if _has_empty_part(entry.record)), None)
        if empty is not None:
            self.builder.add_unmodeled(MODEL_TYPE, empty.decoded.index, EMPTY_PART.unmodeled)
        active = [messages[index] for index in replay.active.values() if index in messages]
        first_lines = {entry.name: entry.decoded.index for entry in reversed(replay.entries)}
        compaction_line = self._last_compaction_line(messages.values())
        effective = tuple(
            message
            # Usage reported before the compaction describes a context that no longer exists.
            if first_lines.get(message.id, message.line) > compaction_line
            else replace(message, usage=None)
            for message in active
        )
        model = next((m.model for m in reversed(effective) if m.model), None)
        return self.builder.build(
            self.name,
            effective,
            session=SessionInfo(model=model, cwd=_folder(effective), drops_past_reasoning=True),
            compactions=PastCompactions(by_client=compaction_line >= 0),
            superseded=tuple(self._superseded(messages)),
        )

    def _add_message(self, entry: GeminiRecord, *, is_newest: bool) -> Message | None:
        draft = _draft(entry)
        if entry.record.get("type") == "error":
            error = text_or_none(entry.record.get("content"))
            self.builder.add_error(error, entry.decoded.index)
        if draft is None or draft.is_empty:
            kind = text_or_none(entry.record.get("type")) or "message"
            is_shown = kind in MESSAGES and MESSAGES[kind].effect == "never sent"
            if not is_shown and not _is_unsent_prompt(entry.record):
                self.builder.unread.add_message(
                    entry.record, entry.record_path, (), entry.decoded.index
                )
            self._count(entry, f"{kind} that is not sent")
            return None
        if not is_newest:
            self._count(entry, "earlier version of a message")
            return None
        return self.builder.add_message(
            draft, entry.record, entry.decoded, record_path=entry.record_path
        )

    def _count(self, entry: GeminiRecord, kind: str) -> None:
        """Count a record that is not sent, unless it is one of several on its line."""
        if not entry.record_path:
            self.builder.add_metadata(kind, entry.decoded.n_bytes)

    def _count_other_lines(self, messages: Iterable[Message]) -> None:
        """Count the lines that are not a message and do not contain any either."""
        message_lines = {message.line for message in messages}
        for line, (kind, n_bytes) in self._other_lines.items():
            if line not in message_lines:
                self.builder.add_metadata(kind, n_bytes)

    def _superseded(self, messages: Mapping[int, Message]) -> Iterator[SupersededVersion]:
        for name, indices in self._replay.superseded.items():
            message = messages.get(self._replay.active[name])
            for entry in (self._replay.entries[index] for index in indices):
                if message is not None:
                    yield SupersededVersion(
                        line=entry.decoded.index,
                        record_path=entry.record_path,
                        message_id=message.id,
                    )

    def _last_compaction_line(self, messages: Iterable[Message]) -> int:
        """Return the last line on which the client compacted, or -1; add all such lines."""
        summaries = {m.id for m in messages if m.origin.is_summary and not m.origin.is_synthetic}
        lines: dict[str, int] = {}
        for entry in self._replay.entries:
            if entry.name in summaries and entry.decoded.index in self._replay.full_list_lines:
                lines.setdefault(entry.name, entry.decoded.index)
        self.builder.compactions += sorted(set(lines.values()))
        return max(lines.values(), default=-1)


def _draft(entry: GeminiRecord) -> MessageDraft | None:
    """Return the message of a record; None if it is only displayed, or not sent."""
    record, path = entry.record, (*entry.record_path, "content")
    parts = _content_parts(record.get("content"), path)
    if record.get("type") == USER_TYPE:
        return _user_message(record, parts)
    if record.get("type") != MODEL_TYPE:
        return None
    tools = list_or_empty(record.get("toolCalls"))
    is_thought = any(object_or_empty(part).get("thought") for part in _parts(record))
    are_called = is_thought or any(isinstance(part, ToolCallPart) for part in parts)
    calls, results = _tool_parts(tools, (*entry.record_path, "toolCalls"), are_called=are_called)
    return MessageDraft(
        role="assistant",
        parts=(*parts, *calls, *results),
        record_id=record["id"],
        response_id=f"response-{entry.name}",
        model=text_or_none(record.get("model")),
        usage=usage_of(record),
    )


def _parts(record: Mapping[str, Any]) -> Sequence[Any]:
    content = record.get("content")
    return content if isinstance(content, list) else [content] if content else []


def _has_empty_part(record: Mapping[str, Any]) -> bool:
    """Return whether an answer has a part that the client does not take for one."""
    return record.get("type") == MODEL_TYPE and any(
        part in ("", {})
        or (isinstance(part, Mapping) and part.keys() == {"text"} and not part["text"])
        for part in _parts(record)
    )


def _user_message(record: Mapping[str, Any], parts: tuple[Part, ...]) -> MessageDraft | None:
    # What is not a text the client takes for words here, so only the texts before it count.
    first_texts = takewhile(lambda part: isinstance(part, TextPart), parts)
    text = "".join(part.text for part in first_texts if isinstance(part, TextPart)).strip()
    is_empty = not text and all(isinstance(part, TextPart) for part in parts)
    is_context = text.startswith(CONTEXT)
    if is_empty or text.startswith(_IGNORED) or (is_context and not text.endswith(_CONTEXT_END)):
        return None
    # Texts beside the result of a tool are what the tool returned.
    are_results = [isinstance(part, ToolResultPart) for part in parts]
    is_answer = any(are_results)
    parts = tuple(map(as_not_typed, parts)) if is_answer else tuple(without_files(parts))
    is_summary = _SNAPSHOT.match(text) is not None and _SNAPSHOT_END in text
    role: Role = "tool" if all(are_results) else "user"
    return MessageDraft(
        role=role,
        parts=parts,
        record_id=record["id"],
        is_injected=is_answer or is_context,
        is_summary=is_summary,
        immutable_reason=_CONTEXT_REASON if is_context else None,
    )


def _is_unsent_prompt(record: Mapping[str, Any]) -> bool:
    """Return whether a prompt was read and is not sent: a command, or the text of a hook."""
    return record.get("type") == USER_TYPE and bool(_content_parts(record.get("content"), ()))


def _folder(messages: tuple[Message, ...]) -> str | None:
    firsts = (part for message in messages for part in message.parts[:1])
    texts = (text_or_empty(part.text) for part in firsts if isinstance(part, TextPart))
    matches = (_FOLDER.search(text) for text in texts if text.lstrip().startswith(CONTEXT))
    return next((match[1].strip() for match in matches if match), None)


def _content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the parts of a message's content: a text, a part, or a list of them.

    Thoughts are left out: they are stored, but never sent again.
    """
    return tuple(map(_with_call_id, gemini.content_parts(content, path, thoughts=False)))


def _tool_parts(
    tools: Sequence[Any], path: JsonPath, *, are_called: bool
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the calls of a message's ``toolCalls``, and their results.

    ``are_called`` leaves out the calls, because the content already has them.
    """
    calls: list[Part] = []
    results: list[Part] = []
    for index, tool in enumerate(map(object_or_empty, tools)):
        call_path = (*path, index)
        call = {**tool, "id": text_or_empty(tool.get("id")) or _path_id(call_path)}
        if not are_called:
            calls.append(gemini.call_part(call, call_path))
        status = text_or_empty(tool.get("status"))
        results += [_with_outcome(part, status) for part in _results(call, call_path)]
    return tuple(calls), tuple(results)


def _results(tool: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    result, result_path = tool.get("result"), (*path, "result")
    if isinstance(result, str) and result:
        yield ToolResultPart(
            call_id=CallId(tool["id"]),
            tool=text_or_empty(tool.get("name")),
            text=result,
            path=result_path,
        )
    else:
        yield from _content_parts(result or [], result_path)


def _with_outcome(part: Part, status: str) -> Part:
    outcome = _OUTCOMES.get(status)
    return replace(part, outcome=outcome) if outcome and isinstance(part, ToolResultPart) else part


def _with_call_id(part: Part) -> Part:
    """Give a call or result an id made from its path if the client wrote none."""
    if isinstance(part, ToolCallPart | ToolResultPart) and not part.call_id:
        return replace(part, call_id=CallId(_path_id(part.path)))
    return part


def _path_id(path: JsonPath) -> str:
    return "call-" + ".".join(map(str, path))
