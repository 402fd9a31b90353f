"""Snapshots of everything that is read from a small file of each shape, and of what is written.

``python tests/formats/snapshots/snapshots.py`` takes them anew; see what changed with ``git diff``.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

if __name__ == "__main__":
    sys.path[:1] = [str(Path(__file__).resolve().parents[place]) for place in (2, 3)]

from formats.agent_code import sessions as agent_code
from formats.anthropic_talk import TALK as ANTHROPIC
from formats.claude_code import sessions as claude
from formats.cline import tasks as cline
from formats.codex import rollouts as codex
from formats.confusion.shapes import READ, REFUSED
from formats.content import block_kinds
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli import talks as gemini
from formats.jsonl import decoded, raw_lines
from formats.logs import contents, converse, response_items, ui_messages
from formats.neurolink_talk import TALK as NEUROLINK
from formats.openai_talk import TALK as OPENAI
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi
from formats.spring_ai import events as spring
from formats.vscode_chat import chats as vscode
from formats.written import halved

from compactctl.clients.detection import detect, recognizes
from compactctl.clients.registry import ALL_FORMATS
from compactctl.errors import CompactctlError
from compactctl.history.apply import net_edits
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import LayoutOptions, lay_out

HERE = Path(__file__).parent
Record = dict[str, Any]
_TITLE = "== "
_LONGEST = 50
_DEPTH = 2
_USAGE_NAMES = {"usage", "tokens", "metrics", "usageMetadata", "info", "promptTokens"}
_ODD_NUMBERS = (0, -1, "7")
# These have lines of their own, or say what the input is.
_APART = ("messages", "effective", "n_lines", "n_bytes")
_USAGE = {"input_tokens": 3, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 20,
          "output_tokens": 40, "cache_creation": {"ephemeral_1h_input_tokens": 5}}  # fmt: skip

_ATTACHMENTS: list[tuple[str, Record, Record]] = [
    ("edited_text_file", {"snippet": "1", "filename": "a.py"}, {}),
    ("nested_memory", {"path": "b.md", "content": {"content": "rule"}}, {}),
    ("file", {"content": {"type": "image", "file": {"base64": "aGk="}}}, {}),
    ("file", {"content": {"type": "pdf", "file": {
        "base64": "aGk=", "type": "application/x"}}}, {}),
    ("file", {"content": {"type": "other", "file": {"base64": "aGk="}}}, {}),
    ("skill_listing", {"content": "skills"}, {}),
    ("deferred_tools_delta", {"addedLines": ["a", "b"]}, {}),
    ("mcp_instructions_delta", {"addedBlocks": []}, {}),
    ("task_reminder", {"content": [
        {"id": 1, "status": "open", "subject": "x"}, 7]}, {}),
    ("todo", {"content": [{"content": "x", "status": "open"}]}, {}),
    ("todo", {"content": [{"type": "text", "text": "x"}, {"content": "y"}]}, {}),
    ("queued_command", {"prompt": [{"type": "text", "text": "x"}]}, {}),
    ("queued_command", {"prompt": "x"}, {}),
    ("date_change", {"newDate": None}, {}),
    ("unknown", {"content": "x"}, {}),
    ("file", {"filename": "c.py"}, {"rendered": [{"content": "shown"}]}),
    ("skill_listing", {}, {"rendered": [{"content": [
        {"type": "text", "text": "shown"},
        {"type": "image", "source": {"type": "base64", "data": "aGk="}}]}]}),
    ("todo", {}, {"rendered": [{"content": "shown"}, 7]}),
]  # fmt: skip
_REFUSAL = "prompt is too long: 205000 tokens > 200000 maximum"

CLIENTS: Mapping[str, list[Any]] = {
    "agent-code": [agent_code.session(*agent_code.TALK, agent_code.NOTE)],
    "claude-code": [
        claude.user("u1", None, "one", timestamp="2026-01-02T03:04:05.678Z", version="2.1.197"),
        claude.attached("t1", "u1", "file", filename="a.py", content={"type": "text", "file": {
            "filePath": "/w/a.py", "content": "print(1)", "numLines": 1}}),
        claude.called("a1", "t1", "c1", "m1", inner={"usage": _USAGE}),
        claude.response_line("a2", "a1", {"type": "thinking", "thinking": "Hm.",
                                          "signature": "EqQB"}, "m1", inner={"usage": _USAGE}),
        claude.answered("r1", "a2", "c1", is_error=True, toolUseResult="Error: no"),
        claude.said("a3", "r1", "first done"),
        claude.microcompacted("k1", "a3", "c1"),
        claude.user("u2", "k1", "<command-name>/clear</command-name>", isMeta=True),
        claude.user("u3", "u2", "two"),
        claude.said("a4", "u3", "aside", isSidechain=True),
        claude.said("a5", "u3", "second done"),
        claude.boundary("b1", "a5", preTokens=9_000),
        claude.summarized("s1", "b1", "They did one and two."),
        claude.user("u4", "s1", "three"),
        {"type": "last-prompt", "lastPrompt": "three", "leafUuid": "u4", "sessionId": "s"},
    ],
    "cline": [cline.task(1)],
    "codex": [
        codex.record("session_meta", id="s1", cwd="/w", base_instructions={"text": "base"}),
        codex.record("turn_context", cwd="/w", model="gpt-5.1-codex"),
        codex.message("user", "<environment_context>x</environment_context>"),
        codex.message("user", "one"),
        codex.item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}],
                   encrypted_content="gAAA"),
        codex.call("a"),
        codex.output("a", "1"),
        codex.tokens(100, 5, 105),
        codex.message("assistant", "first done"),
        codex.record("compacted", message="What was done.", replacement_history=[
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "What was done."}]}]),
        codex.message("user", "two"),
        codex.message("assistant", "second done"),
    ],
    "copilot-cli": copilot.session(
        copilot.event("session.start", sessionId="s1", context={"cwd": "/w"}),
        copilot.event("system.message", content="You help.", role="system"),
        copilot.prompt("one", transformedContent="<now>one"),
        copilot.called("c1", messageId="m1", reasoningText="Hm.", model="claude-sonnet-4.6"),
        copilot.answered("c1"),
        copilot.said("first done", messageId="m2"),
        copilot.event("session.compaction_complete", success=True, summaryContent="One is done."),
        copilot.prompt("two"),
        copilot.said("second done", messageId="m3"),
    ),
    "gemini-cli": [gemini.SESSION, *gemini.talk(1)],
    "gemini-cli log": gemini.logged(1),
    "gemini-cli apart": [gemini.SESSION, *gemini.apart(1)],
    "neurolink": NEUROLINK,
    "opencode": [{"info": opencode.SESSION, "messages": opencode.one_second_apart([
        opencode.user("msg_1", opencode.text("one"), opencode.text("aside", synthetic=True),
                      {"type": "file", "mime": "image/png", "filename": "a.png",
                       "url": "data:image/png;base64,aGVsbG8="}),
        opencode.assistant(
            "msg_2", {"type": "reasoning", "text": "Hm."}, opencode.text("Reading."),
            opencode.tool("c1", "read", {"filePath": "a.py"}, output="print(1)"),
            opencode.tool("c2", "bash", {}, output="long", time={"start": 1, "compacted": 2_000}),
            opencode.tool("c3", "bash", {}, status="error", error="no such file"),
            tokens={"input": 9, "output": 4, "reasoning": 2, "cache": {"read": 900, "write": 20}}),
        opencode.assistant("msg_3", opencode.text("Done."), error={"name": "MessageAbortedError"}),
    ])}],
    "pi": [pi.HEADER, *pi.chained(
        pi.entry("model_change", provider="anthropic", modelId="claude-sonnet-4-5"),
        pi.prompt("one"),
        pi.called("c1", usage={"input": 9, "output": 4, "cacheRead": 900, "cacheWrite": 20}),
        pi.answered("c1", isError=True),
        pi.said("first done"),
        pi.message("bashExecution", command="ls", output="a.py", exitCode=0, cancelled=False),
        pi.entry("compaction", summary="One is done.", firstKeptEntryId="e4", tokensBefore=99),
        pi.prompt("two"),
        pi.said("second done"),
        pi.message("assistant", content=[], stopReason="error", errorMessage="prompt is too long"),
    )],
    "spring-ai": [
        *spring.talk(spring.event),
        spring.event("p1", "USER", "Summarize", metadata={"synthetic": True}),
        spring.event("p2", "ASSISTANT", "All of it", metadata={"synthetic": True}),
        {"id": "e9", "sessionId": "s2", "message": {
            "messageType": "USER", "text": "Look", "metadata": {"model": "no"}, "media": [
                {"mimeType": "image/png", "data": ""},
                {"mimeType": "text/plain", "data": "note"},
                {"mimeType": "image/png", "data": "https://example.org/a.png"},
                {"mimeType": "image/png", "data": "data:image/png;base64,aGVsbG8="},
                {"mimeType": "image/png", "data": "aGVsbG8="},
            ]}},
        {"id": "e10", "sessionId": "s2", "message": {
            "messageType": "ASSISTANT", "text": "I see", "metadata": {"model": "gpt-5"}}},
        {"id": "e11", "sessionId": 7, "message": {"messageType": "USER", "text": "odd"}},
    ],
    "spring-ai rows": [*spring.talk(spring.row)],
    "vscode-copilot-chat": [vscode.export(*vscode.TALK)],
    "vscode-copilot-chat log": [vscode.replay(
        {"role": 0, "content": [{"type": 1, "text": "You help."}]},
        {"role": 1, "content": [{"type": 1, "text": "Hi"}]},
        {"role": 2, "content": [], "toolCalls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": 3, "content": [{"type": 1, "text": "found"}], "toolCallId": "c1"},
        usage={"prompt_tokens": 700, "completion_tokens": 9},
        tools=[{"type": "function", "function": {"name": "f"}}],
    )],
    "claude-code refused": [
        claude.user("u1", None, "one"),
        claude.user("i1", "u1", [{"type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}], isMeta=True),
        claude.said("a1", "i1", "done"),
        claude.said("x1", "a1", _REFUSAL, isApiErrorMessage=True, errorDetails="400"),
        claude.user("u2", None, "two", sessionId="s2"),
    ],
    "claude-code attachments": [
        claude.user("u1", None, "one"),
        *(
            {**claude.attached(f"t{number}", f"t{number - 1}" if number else "u1", kind, **fields),
             **more}
            for number, (kind, fields, more) in enumerate(_ATTACHMENTS)
        ),
        claude.user("u2", "t3", "abandoned"),
        claude.said("a2", "u2", "abandoned"),
        claude.user("u3", f"t{len(_ATTACHMENTS) - 1}", "two"),
        claude.said("s1", "u3", "aside", isSidechain=True, inner={"model": "other"}),
        claude.said("a3", "u3", "done"),
        claude.user("u3", f"t{len(_ATTACHMENTS) - 1}", "two, edited"),
    ],
    "claude-code cleared": [
        claude.user("u1", None, "one"),
        claude.attached("f1", "u1", "file", filename="a.py", content={"file": {"content": "1"}}),
        claude.called("a1", "f1", "c1", "m1", inner={"usage": _USAGE}),
        claude.answered("r1", "a1", "c1"),
        claude.called("a2", "r1", "c2", "m2", inner={"usage": _USAGE}),
        claude.answered("r2", "a2", "c2"),
        {**claude.microcompacted("k1", "r2", "c1"), "microcompactMetadata": {
            "compactedToolIds": ["c1"], "clearedAttachmentUUIDs": ["f1"], "tokensSaved": 99}},
        claude.called("a3", "k1", "c3", "m3", inner={"usage": _USAGE}),
        claude.answered("r3", "a3", "c3"),
        {**claude.microcompacted("k2", "r3", "c2"), "microcompactMetadata": {
            "compactedToolIds": ["c2"], "tokensSaved": 9}},
        claude.user("u2", "k2", "two"),
    ],
    "claude-code preserved": [
        claude.user("u1", None, "one"),
        claude.called("a1", "u1", "c1", "m1", inner={"usage": _USAGE}),
        claude.answered("r1", "a1", "c1"),
        claude.said("a2", "r1", "done", "m2", inner={"usage": _USAGE}),
        claude.boundary("b1", "a2", preservedMessages={
            "anchorUuid": "s1", "uuids": ["a1", "r1", "a2"]}),
        claude.summarized("s1", "b1", "They did one."),
        claude.user("u2", "a2", "two"),
        claude.said("a3", "u2", "second", "m3"),
        claude.boundary("b2", "a3", preservedSegment={
            "headUuid": "u2", "anchorUuid": "s2", "tailUuid": "a3"}),
        claude.summarized("s2", "b2", "They did two."),
        claude.user("u3", "a3", "three"),
    ],
    "claude-code subagent": [
        claude.user("u1", None, "one", isSidechain=True),
        claude.attached("t1", "u1", "todo", content="x"),
        {**claude.attached("t2", "u1", "todo", content="y"), "isSidechain": True},
        claude.said("a1", "u1", "done", isSidechain=True),
    ],
    "cline sdk": [{"agent": "a", "sessionId": "s1", "messages": [
        {"id": "m1", "role": "user", "content": "one"},
        {"id": "m2", "role": "assistant", "content": [cline.call("read_file", path="a.py")],
         "modelInfo": {"id": "claude-sonnet-4-5"},
         "metrics": {"inputTokens": 9, "outputTokens": 4, "cacheReadTokens": 900}},
        {"id": "m3", "role": "user", "content": [cline.result("toolu_1", "print(1)")]},
    ]}],
    "roo": [[
        {**cline.user("one"), "ts": 1, "condenseParent": "c1"},
        {**cline.assistant(cline.call("read_file", "r1", path="a.py")), "condenseParent": "c1"},
        {**cline.user("All so far."), "isSummary": True, "condenseId": "c1"},
        cline.user("two", cline.result("r1", "print(1)")),
        cline.assistant("second"),
    ]],
    "codex refused": [
        codex.record("session_meta", id="s1", cwd="/w"),
        codex.message("user", "one"),
        codex.event("error", message=_REFUSAL),
        codex.record("session_meta", id="s2", cwd="/w"),
        codex.message("user", "two"),
    ],
    "copilot-cli refused": copilot.session(
        copilot.event("session.start", sessionId="s1", context={"cwd": "/w"}),
        copilot.prompt("one"), copilot.said("first", messageId="m1"),
        copilot.prompt("two"), copilot.said("second", messageId="m2"),
        copilot.event("session.truncation", messagesRemovedDuringTruncation=2),
        copilot.prompt("three"), copilot.event("session.error", message=_REFUSAL),
        copilot.event("session.start", sessionId="s2", context={"cwd": "/w"}),
        copilot.prompt("four"),
        copilot.event("session.shutdown", currentModel="gpt-5", currentTokens=99, systemTokens=1,
                      conversationTokens=2, toolDefinitionsTokens=3),
    ),
    "gemini-cli refused": [
        gemini.SESSION,
        gemini.user("u1", "one"),
        gemini.gemini("g1", "first"),
        gemini.user("u2", {"text": ""}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
        gemini.gemini("g2", [{"functionCall": {"name": "ls", "args": {}}}]),
        gemini.user("u3", {"functionResponse": {"name": "ls", "response": {"output": "a"}}},
                    {"text": "and"}),
        {"id": "x1", "type": "error", "content": _REFUSAL},
        {**gemini.SESSION, "sessionId": "s-2"},
        gemini.user("u4", "two"),
    ],
    "opencode refused": [{"info": opencode.SESSION, "messages": opencode.one_second_apart([
        opencode.user("msg_1", opencode.text("one")),
        opencode.assistant("msg_2", error={"name": "APIError", "data": {"message": _REFUSAL}}),
    ])}],
    "pi without header": pi.chained(pi.prompt("one"), pi.called("c1"), pi.answered("c1")),
    "pi bridged": [pi.HEADER, *pi.chained(pi.prompt("one"), pi.said("first")),
                   {"type": "label", "id": "e5", "parentId": "lost", "text": "x"},
                   *pi.chained(pi.prompt("two"), pi.said("second", errorMessage=_REFUSAL),
                               first=6, parent="e5")],
    "vscode-copilot-chat session": [
        {"kind": 0, "v": {"version": 3, "sessionId": "s1", "requests": [vscode.TALK[0]]}},
        {"kind": 2, "k": ["requests"], "v": [{
            "requestId": "q2", "message": "Hi", "modelId": "copilot/auto",
            "response": [{"value": "Hello"}, {"kind": "thinking", "value": "x"}],
            "result": {"details": "Some Model • 1x"}}]},
        {"kind": 2, "k": ["requests"], "v": [vscode.request(
            "q3", "Sum up", vscode.rounded("r8", "x", summary="All"),
            vscode.rounded("r9", "y", thinking={"encrypted": "EqoB"}))]},
        7,
    ],
}  # fmt: skip
KINDS: Mapping[str, list[Any]] = {
    "anthropic-messages": block_kinds.anthropic_messages(1),
    "openai-chat": block_kinds.chat_messages(1),
    "openai-responses": block_kinds.response_items(1),
    "openai-responses requests": response_items.chain(1),
    "bedrock-converse": [{"messages": converse.every(1)}],
    "gemini-api": contents.every(1),
    "ai-sdk": ui_messages.every(1),
    "ai-sdk 4": ui_messages.older_talk(1),
}
WRITTEN: Mapping[str, list[Any]] = {
    "openai": [*OPENAI, *OPENAI[1:]],
    "anthropic": [*ANTHROPIC, *json.loads(json.dumps(ANTHROPIC).replace("t1", "t2"))],
    "neurolink": NEUROLINK,
    "agent-code": [agent_code.session(*agent_code.repeated(2))],
    "spring": [*spring.talk(spring.event)],
    "spring rows": [*spring.talk(spring.row)],
    "gemini-cli": [gemini.SESSION, *gemini.talk(2)],
    "gemini": contents.talk(2),
    "responses": response_items.talk(2),
    "bedrock": converse.talk(2),
    "ai-sdk": ui_messages.talk(2),
    "opencode": [opencode.session(2)],
    "cline": [cline.task(2)],
    "vscode": [vscode.export(*vscode.long_chat()[:2])],
    "pi": [pi.HEADER, *pi.chained(pi.prompt("one"), pi.called("c1"), pi.answered("c1"),
                                  pi.said("done"), pi.prompt("two"), pi.called("c2"),
                                  pi.answered("c2"), pi.said("done"))],
    "claude": [claude.user("u1", None, "one"), claude.called("a1", "u1", "c1"),
               claude.answered("r1", "a1", "c1"), claude.said("a2", "r1", "done"),
               claude.user("u2", "a2", "two"), claude.called("a3", "u2", "c2"),
               claude.answered("r2", "a3", "c2"), claude.said("a4", "r2", "done")],
}  # fmt: skip


def short(value: object) -> str:
    """Return a value's text, of a long one the beginning."""
    text = value if isinstance(value, str) else repr(value)
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {len(text)}"
    return json.dumps(cut, ensure_ascii=False)


def describe(value: object) -> str:
    """Return all fields of a record that differ from their defaults, on one line."""
    if isinstance(value, Struct):
        shown = (
            f"{name}={describe(each)}" for name, each in _chosen(value) if each not in ((), {})
        )
        return f"{type(value).__name__}({', '.join(shown)})"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(describe, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {describe(each)}' for name, each in value.items())}}}"
    return short(value) if isinstance(value, str) else repr(value)


def read_lines(lines: list[bytes]) -> Transcript:
    """Read lines in the format that they are detected as."""
    parsed = decoded(lines)
    return detect(parsed, "test").read(parsed)


def _chosen(record: Struct) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each field that has another value than its default."""
    names, values = record.__struct_fields__, record.__struct_defaults__
    defaults = dict(zip(names[len(names) - len(values) :], values, strict=True))
    for name in names:
        value = getattr(record, name)
        if name not in defaults or value != defaults[name]:
            yield name, value


def transcript_lines(transcript: Transcript) -> Iterator[str]:
    """Yield a line for the transcript, for each message, and for each of its parts."""
    for name, value in _chosen(transcript):
        if name not in _APART and value != {}:
            yield f"{name}: {describe(value)}"
    yield f"effective: {' '.join(short(message.id) for message in transcript.effective)}"
    for message in transcript.messages:
        yield from _message_lines("-", message)
    # The client sends placeholders for some, and locks others.
    known = {message.id: message for message in transcript.messages}
    for message in transcript.effective:
        if message != known.get(message.id):
            yield from _message_lines("sent:", message)


def _message_lines(label: str, message: Message) -> Iterator[str]:
    bare = {
        name: value
        for name, value in _chosen(message)
        if name not in ("id", "role", "parts", "line")
    }
    yield f"{label} {message.line} {message.role} {short(message.id)} {describe(bare)}"
    yield from (f"    {describe(part)}" for part in message.parts)


def written_lines(records: list[Any]) -> Iterator[str]:
    """Yield the records that a compaction within the file adds or changes."""
    lines = raw_lines(*records)
    known = set(map(json.dumps, _records(lines)))
    for record in _records(_halved_inline(lines)):
        if json.dumps(record) not in known:
            yield describe(record)


def _halved_inline(lines: list[bytes]) -> list[bytes]:
    """Return the lines of a file that is compacted half, with its archive in itself."""
    transcript = read_lines(lines)
    style = LayoutOptions(layout="inline", operation="0123456789ab")
    form = detect(decoded(lines), "test")
    edits = net_edits(halved([*transcript.effective]))
    return [line.data for line in lay_out(lines, transcript, edits, form, style)]


def _records(lines: list[bytes]) -> Iterator[Any]:
    """Yield what is on lines, of a document its messages."""
    for line in lines:
        value = json.loads(line)
        if isinstance(value, dict):
            value = next((value[name] for name in ("messages", "events") if name in value), value)
        yield from value if isinstance(value, list) else [value]


def recognized_lines(values: list[Any]) -> Iterator[str]:
    """Yield which formats recognize a file, and where others do when it is changed a little.

    Each field is left out, or is a number, and other records are added: as many, and one more.
    """
    whole = _recognized(values)
    yield f"as it is: {whole}"
    others = [{"number": number} for number in range(len(values) + 1)]
    changes = [("with as many others", [*values, *others[1:]]),
               ("with more others", [*values, *others])]  # fmt: skip
    for path in dict.fromkeys(path for value in values for path in _fields(value, ())):
        name = ".".join(path)
        changes.append((f"without {name}", [_changed(value, path, ()) for value in values]))
        changes.append((f"{name}: 7", [_changed(value, path, (7,)) for value in values]))
    for name, changed in changes:
        if (found := _recognized(changed)) != whole:
            yield f"{name}: {found}"


def usage_lines(values: list[Any]) -> Iterator[str]:
    """Yield the usage of each message, and what becomes of it when one of its numbers is odd."""
    whole = _usages(values)
    yield f"as it is: {whole}"
    for path in _numbers(values, (), is_usage=False):
        for odd in _ODD_NUMBERS:
            changed = json.loads(json.dumps(values))
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = odd
            if (usages := _usages(changed)) != whole:
                yield f"{'.'.join(map(str, path))} {odd}: {usages}"


def _usages(values: list[Any]) -> str:
    transcript = read_lines(raw_lines(*values))
    usages = [message.usage for message in transcript.messages if message.usage is not None]
    return describe([*usages, transcript.session.client_counts])


def _numbers(value: Any, path: tuple[Any, ...], *, is_usage: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of numbers below the names that usage has."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers(item, (*path, index), is_usage=is_usage)
    elif isinstance(value, dict):
        for name, field in value.items():
            yield from _numbers(field, (*path, name), is_usage=is_usage or name in _USAGE_NAMES)
    elif is_usage and isinstance(value, int):
        yield path


def _recognized(values: list[Any]) -> str:
    lines = decoded(raw_lines(*values))
    names = [candidate.name for candidate in ALL_FORMATS if recognizes(candidate, lines)]
    try:
        chosen = detect(lines, "file").name
    except CompactctlError as error:
        chosen = str(error).partition("; ")[0].partition(" (")[0]
    # A file without objects is taken by each; a new format leaves its snapshot as it is.
    found = "all" if len(names) == len(ALL_FORMATS) else " ".join(names)
    return f"{chosen} of {found or 'none'}"


def _fields(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the names that lead to each field, down to the third."""
    if isinstance(value, list):
        for item in value:
            yield from _fields(item, path)
    elif isinstance(value, dict) and len(path) < _DEPTH:
        for name, field in value.items():
            yield (*path, name)
            yield from _fields(field, (*path, name))


def _changed(value: Any, path: tuple[str, ...], instead: tuple[Any, ...]) -> Any:
    """Return a value with something instead of the fields at a path, or without them."""
    if isinstance(value, list):
        return [_changed(item, path, instead) for item in value]
    if not isinstance(value, dict) or path[0] not in value:
        return value
    if len(path) > 1:
        return {**value, path[0]: _changed(value[path[0]], path[1:], instead)}
    rest = {name: field for name, field in value.items() if name != path[0]}
    return {**rest, **dict.fromkeys(path[:1], instead[0])} if instead else rest


def snapshots() -> Mapping[str, Mapping[str, Callable[[], str]]]:
    """Return functions that take the snapshot of a file, by its group and name."""
    return {
        "clients": {name: _reading(raw_lines(*each)) for name, each in CLIENTS.items()},
        "kinds": {name: _reading(raw_lines(*each)) for name, each in KINDS.items()},
        "recognized": {
            **{name: _recognizing(each) for name, each in CLIENTS.items()},
            **{name: _recognizing(_values(data)) for name, (_, data) in READ.items()},
            **{name: _recognizing(_values(data)) for name, data in REFUSED.items()},
        },
        "usage": {
            **{name: _counting(each) for name, each in CLIENTS.items() if _has_usage(each)},
            **{
                name: _counting(_values(data))
                for name, (_, data) in READ.items()
                if _has_usage(_values(data))
            },
        },
        "logs": {name: _reading(_split(data)) for name, (_, data) in READ.items()},
        "written": {name: _writing(each) for name, each in WRITTEN.items()},
        "read_back": {
            name: _reading(_halved_inline(raw_lines(*each))) for name, each in WRITTEN.items()
        },
    }


def kept(group: str) -> Mapping[str, str]:
    """Return the snapshots of a group as they were taken, by name."""
    sections = f"\n{(HERE / f'{group}.txt').read_text()}".split(f"\n{_TITLE}")[1:]
    return {
        name: text.rstrip("\n") for name, _, text in (each.partition("\n") for each in sections)
    }


def _reading(lines: list[bytes]) -> Callable[[], str]:
    return lambda: "\n".join(transcript_lines(read_lines(lines)))


def _writing(records: list[Any]) -> Callable[[], str]:
    return lambda: "\n".join(written_lines(records))


def _recognizing(values: list[Any]) -> Callable[[], str]:
    return lambda: "\n".join(recognized_lines(values))


def _counting(values: list[Any]) -> Callable[[], str]:
    return lambda: "\n".join(usage_lines(values))


def _has_usage(values: list[Any]) -> bool:
    return any(_numbers(values, (), is_usage=False))


def _values(data: bytes) -> list[Any]:
    """Return what is on each line, without the time that a logger wrote before it."""
    return [json.loads(line[min(line.find(each) for each in b"[{" if each in line) :])
            for line in _split(data)]  # fmt: skip


def _split(data: bytes) -> list[bytes]:
    return [data] if data.startswith(b"{\n") else data.splitlines(keepends=True)


if __name__ == "__main__":
    for group, taken in snapshots().items():
        text = "".join(f"{_TITLE}{name}\n{take()}\n" for name, take in taken.items())
        (HERE / f"{group}.txt").write_text(text)
