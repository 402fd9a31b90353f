"""Reads a session of Gemini CLI: what each record says, and which of them are sent."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compactctl.formats.content import gemini
from compactctl.formats.gemini_cli.replay import GeminiRecord, SessionReplay
from compactctl.formats.records.builder import LineReader
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.message import (
    CallId,
    JsonPath,
    Message,
    Part,
    ReportedUsage,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import PastCompactions, SessionInfo, SupersededVersion, Transcript


def content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Return what is sent of a message's content, which is a text, a part, or a list of them.

    Thoughts are stored and not sent again.
    """
    return tuple(map(_identified, gemini.content_parts(content, path, thoughts=False)))


def tool_parts(
    tools: Sequence[Any], path: JsonPath, *, are_called: bool
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the calls of a message's ``toolCalls``, and their results.

    ``are_called`` says that the calls stand in the content, which is sent as it is then.
    """
    calls: list[Part] = []
    results: list[Part] = []
    for index, value in enumerate(tools):
        found, at = object_or_empty(value), (*path, index)
        tool = {**found, "id": text_or_empty(found.get("id")) or _named(at)}
        if not are_called:
            calls.append(gemini.call_part(tool, at))
        results += _results(tool, at)
    return tuple(calls), tuple(results)


def _results(tool: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    result, at = tool.get("result"), (*path, "result")
    if isinstance(result, str) and result:
        yield ToolResultPart(
            call_id=CallId(tool["id"]),
            tool=text_or_empty(tool.get("name")),
            text=result,
            is_error=tool.get("status") == "error",
            path=at,
        )
    else:
        yield from content_parts(result or [], at)


def _identified(part: Part) -> Part:
    """Return a call or a result with an id of its own where the client wrote none."""
    if isinstance(part, ToolCallPart | ToolResultPart) and not part.call_id:
        return replace(part, call_id=CallId(_named(part.path)))
    return part


def _named(path: JsonPath) -> str:
    return "call-" + ".".join(map(str, path))


USER_TYPE, MODEL_TYPE = "user", "gemini"
# The client writes it anew whenever a session is resumed.
_CONTEXT = "<session_context>"
_FIXED = "the client's own description of the session, which it writes anew at every start"
# What is typed with these signs is for the client, and so is what its hooks say.
_NOT_SENT = ("/", "?", "<hook_context>")
# A summary begins with it, be it behind a fence; a person may name it in a sentence.
_SNAPSHOT = re.compile(r"^\s*<state_snapshot>", re.MULTILINE)
_FOLDER = re.compile(r"\*\*Workspace Directories:\*\*\s*\n\s*- ([^\n]+)")


class GeminiReader(LineReader):
    """Takes in records in file order and settles the effective history at the end."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._replay = SessionReplay()
        self._around: dict[int, tuple[str, int]] = {}

    def add_line(self, decoded: Decoded) -> None:
        """Take in the records on a line."""
        for value in decoded.values:
            kind = self._replay.apply(value, decoded) if isinstance(value, Mapping) else ""
            if isinstance(value, Mapping):
                self.builder.add_session(text_or_none(value.get("sessionId")), decoded.index)
            if kind == "":
                self.builder.add_opaque(decoded, "a record that is not of a session")
            elif kind is not None:
                self._around[decoded.index] = (kind, decoded.n_bytes)

    def finish(self) -> Transcript:
        """Return the transcript."""
        replay = self._replay
        newest = set(replay.newest())
        found = {
            place: message
            for place, entry in enumerate(replay.entries)
            if (message := self._message(entry, is_newest=place in newest)) is not None
        }
        self._count_empty(found.values())
        shown = [found[place] for place in replay.active.values() if place in found]
        born = {entry.name: entry.decoded.index for entry in reversed(replay.entries)}
        since = self._last_compaction_line(found.values())
        effective = tuple(_reported_since(since, born, message) for message in shown)
        model = next((m.model for m in reversed(effective) if m.model), None)
        return self.builder.build(
            self.name,
            effective,
            session=SessionInfo(model=model, cwd=_folder(effective), drops_past_reasoning=True),
            compactions=PastCompactions(by_client=since >= 0),
            superseded=tuple(self._superseded(found)),
        )

    def _message(self, entry: GeminiRecord, *, is_newest: bool) -> Message | None:
        draft = _draft(entry)
        if entry.record.get("type") == "error":
            error = text_or_none(entry.record.get("content"))
            self.builder.add_error(error, entry.decoded.index)
        if draft is None or not draft.parts:
            kind = text_or_none(entry.record.get("type")) or "message"
            self._count(entry, f"{kind} that is not sent")
            return None
        if not is_newest:
            self._count(entry, "earlier version of a message")
            return None
        return self.builder.add_message(
            draft, entry.record, entry.decoded, record_path=entry.element
        )

    def _count(self, entry: GeminiRecord, kind: str) -> None:
        """Count a line that says nothing; what is among others on a line goes with that line."""
        if not entry.element:
            self.builder.add_metadata(kind, entry.decoded.n_bytes)

    def _count_empty(self, messages: Iterable[Message]) -> None:
        """Count the lines around messages, those that hold any apart."""
        held = {message.line for message in messages}
        for line, (kind, n_bytes) in self._around.items():
            if line not in held:
                self.builder.add_metadata(kind, n_bytes)

    def _superseded(self, found: Mapping[int, Message]) -> Iterator[SupersededVersion]:
        for name, places in self._replay.superseded.items():
            message = found.get(self._replay.active[name])
            for entry in (self._replay.entries[place] for place in places):
                if message is not None:
                    yield SupersededVersion(
                        line=entry.decoded.index,
                        record_path=entry.element,
                        message_id=message.id,
                    )

    def _last_compaction_line(self, messages: Iterable[Message]) -> int:
        """Return the last line on which the client compacted, -1 for none; take note of all."""
        summaries = {m.id for m in messages if m.origin.is_summary and not m.origin.is_synthetic}
        first: dict[str, int] = {}
        for entry in self._replay.entries:
            if entry.name in summaries and entry.decoded.index in self._replay.full_list_lines:
                first.setdefault(entry.name, entry.decoded.index)
        self.builder.compactions += sorted(set(first.values()))
        return max(first.values(), default=-1)


def _draft(entry: GeminiRecord) -> MessageDraft | None:
    """Return what a record says; None for what is for the screen, or is not sent."""
    record, path = entry.record, (*entry.element, "content")
    parts = content_parts(record.get("content"), path)
    if record.get("type") == USER_TYPE:
        return _user_message(record, parts)
    if record.get("type") != MODEL_TYPE:
        return None
    tools = list_or_empty(record.get("toolCalls"))
    are_called = any(isinstance(part, ToolCallPart) for part in parts)
    calls, results = tool_parts(tools, (*entry.element, "toolCalls"), are_called=are_called)
    return MessageDraft(
        role="assistant",
        parts=(*parts, *calls, *results),
        record_id=record["id"],
        response_id=f"response-{entry.name}",
        model=text_or_none(record.get("model")),
        usage=_usage(object_or_empty(record.get("tokens"))),
    )


def _user_message(record: Mapping[str, Any], parts: tuple[Part, ...]) -> MessageDraft | None:
    said = "".join(part.text for part in parts if isinstance(part, TextPart)).strip()
    is_silent = not said and all(isinstance(part, TextPart) for part in parts)
    if is_silent or said.startswith(_NOT_SENT):
        return None
    is_answer = all(isinstance(part, ToolResultPart) for part in parts)
    is_context, is_summary = said.startswith(_CONTEXT), _SNAPSHOT.search(said[:200]) is not None
    role: Role = "tool" if is_answer else "user"
    return MessageDraft(
        role=role,
        parts=parts,
        record_id=record["id"],
        is_injected=is_answer or is_context,
        is_summary=is_summary,
        immutable_reason=_FIXED if is_context else None,
    )


def _usage(tokens: Mapping[str, Any]) -> ReportedUsage | None:
    """Return what was reported for an answer's request; input is everything that was sent."""
    if not tokens:
        return None
    context = integer_or_none(tokens.get("input")) or 0
    said, thought = (integer_or_none(tokens.get(name)) for name in ("output", "thoughts"))
    output = None if said is None else said + (thought or 0)
    return ReportedUsage(
        context=context,
        output=output,
        reasoning=thought or 0,
        cache_read=integer_or_none(tokens.get("cached")),
    )


def _reported_since(line: int, born: Mapping[str, int], message: Message) -> Message:
    """Return a message without what was reported before a compaction, of what it has left out."""
    is_newer = born.get(message.id, message.line) > line
    return message if is_newer else replace(message, usage=None)


def _folder(messages: tuple[Message, ...]) -> str | None:
    texts = (text_or_empty(m.parts[0].text) for m in messages if isinstance(m.parts[0], TextPart))
    named = (_FOLDER.search(text) for text in texts if text.lstrip().startswith(_CONTEXT))
    return next((each[1].strip() for each in named if each), None)
