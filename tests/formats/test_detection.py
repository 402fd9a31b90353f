import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from formats.jsonl import decoded, detected, raw_lines
from formats.qwen_code import sessions as qwen

from compactctl.clients.detection import detect
from compactctl.clients.records.decode import complete_value
from compactctl.clients.registry import ALL_FORMATS, format_named
from compactctl.clients.unsupported import (
    UNSUPPORTED_CLIENTS,
    UnsupportedClient,
    describe_file,
    unsupported_client,
)
from compactctl.errors import NotATranscriptError, NotUnderstoodError, UsageError
from compactctl.store.files.source import split_lines

TEXT = [{"type": "text", "text": "hi"}]
BARE = [{"text": "hi"}]
HI = {"role": "user", "content": "hi"}
CALL = [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]
EVENT: dict[str, Any] = {
    "type": "session.start",
    "data": {},
    "id": "1",
    "timestamp": "t",
    "parentId": None,
}
ROO = [{"type": "text", "text": "<environment_details>\n# Current Mode\n<slug>code</slug>"}]
STATE = "<environment_details>\n# Current Context Size (Tokens)\n1 (0%)\n\n# Current Mode\ncode\n"
ACTING = "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>"
ITEM = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
# The header of a rollout without envelopes.
OLDEST = {"id": "s", "timestamp": "2025-06-01T00:00:00Z", "instructions": None}

OWN: list[tuple[str, list[Any]]] = [
    ("codex", [{"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}}]),
    ("codex", [OLDEST, {"type": "message", "role": "user", "content": TEXT}, ITEM]),
    ("codex", [{"record_type": "state"}, ITEM]),
    ("codex", [OLDEST, *[{"record_type": "state"}] * 9, ITEM]),
    ("openai-responses", [{"type": "message", "role": "user", "content": TEXT}, ITEM]),
    ("openai-responses", [HI, ITEM, HI, HI]),
    ("openai-responses", [[HI, ITEM]]),
    ("openai-responses", [{"input": "hi", "instructions": "Be brief."}]),
    ("openai-responses", [{"object": "response", "output": []}]),
    ("claude-code", [{"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s"}]),
    ("claude-code", [{"type": "summary", "summary": "t", "leafUuid": "u"}]),
    ("anthropic-messages", [{"role": "assistant", "content": CALL}]),
    ("anthropic-messages", [HI, {"role": "assistant", "content": CALL}]),
    ("anthropic-messages", [{"system": "s", "messages": [{"role": "user", "content": "hi"}]}]),
    ("anthropic-messages", [[{"role": "assistant", "content": CALL}]]),
    ("neurolink", [{"id": "1", "role": "tool_call", "content": "", "tool": "f"}]),
    ("neurolink", [[{"id": "1", "role": "user", "content": "x", "metadata": {"isSummary": True}}]]),
    ("neurolink", [{"sessionId": "s", "messages": [{"id": "1", "role": "tool_result"}]}]),
    ("neurolink", [{"id": "1", **HI}, {"id": "2", **HI, "timestamp": "t", "condenseId": "c"}]),
    ("spring-ai", [{"id": "e", "session_id": "s", "message_type": "USER"}]),
    ("spring-ai", [[{"id": "e", "sessionId": "s", "messageType": "TOOL"}]]),
    ("spring-ai", [{"id": "e", "sessionId": "s", "message": {"messageType": "ASSISTANT"}}]),
    ("spring-ai", [{"session": {}, "events": [{"session_id": "s", "message_type": "USER"}]}]),
    ("vscode-copilot-chat", [{"requests": [], "responderUsername": "x"}]),
    ("vscode-copilot-chat", [{"kind": 0, "v": {"requests": []}}, {"kind": 3, "k": ["x"]}]),
    ("vscode-copilot-chat", [{"prompts": [{"logs": []}]}]),
    ("agent-code", [{"id": "s", "messages": [{"type": "user", "uuid": "u", "content": TEXT}]}]),
    ("agent-code", [{"messages": [{"type": "system", "uuid": "u", "content": "3 s"}]}]),
    ("openai-chat", [{"id": "1", **HI, "name": "n"}]),
    ("openai-chat", [{**HI, "tool_calls": [{"id": "c", "name": "f", "args": {}}]}]),
    ("copilot-cli", [EVENT]),
    ("copilot-cli", [{"note": "before"}, EVENT]),
    ("pi", [{"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/w"}]),
    ("pi", [{"type": "message", "message": {"role": "toolResult", "toolCallId": "c"}}]),
    ("pi", [{"type": "title"}, {"type": "session", "id": "s", "timestamp": "t", "cwd": "/w"}]),
    ("pi", [{"type": "session", "id": "s", "timestamp": "t"}, {"type": "compaction"}]),
    ("gemini-cli", [{"sessionId": "s", "projectHash": "h", "messages": []}]),
    ("qwen-code", qwen.talk()),
    ("qwen-code", [qwen.system("s", None, "ui_telemetry", uiEvent={})]),
    ("gemini-cli", [{"id": "u", "type": "user", "content": "hi"}, {"$set": {"summary": "s"}}]),
    ("gemini-cli", [{"id": "u", "type": "user", "content": "hi"}, {"$rewindTo": "u"}]),
    ("opencode", [{"info": {}, "messages": [{"info": {}, "parts": []}]}]),
    ("opencode", [[{"info": {"role": "user"}, "parts": []}]]),
    ("openai-chat", [[{"role": "user", "content": TEXT, "ts": 1}]]),
    ("openai-chat", [{**HI, "ts": 1}]),
    ("openai-chat", [{"role": "user", "content": ACTING}]),
    ("cline", [[HI, {"role": "assistant", "content": CALL, "modelInfo": {"modelId": "m"}}]]),
    ("cline", [{"sessionId": "s", "agent": "lead", "messages": [{"id": "1", **HI, "ts": 1}]}]),
    ("roo", [[{**HI, "ts": 1}, {**HI, "ts": 2, "isSummary": True, "condenseId": "c"}]]),
    ("roo", [[{"role": "user", "content": ROO, "ts": 1}]]),
    ("roo", [[{"role": "user", "content": [{"type": "text", "text": STATE}], "ts": 1}]]),
    ("roo", [[{"role": "user", "content": [{"type": "text", "text": STATE[60:]}], "ts": 1}]]),
    ("cline", [[{"role": "user", "content": [{"type": "text", "text": ACTING}], "ts": 1}]]),
    ("ai-sdk", [{"id": "u", "role": "user", "parts": TEXT}]),
    ("ai-sdk", [{"id": "u", **HI, "createdAt": "t", "parts": TEXT}]),
    ("ai-sdk", [[{"id": "u", "role": "user", "parts": [{"type": "step-start"}]}]]),
    ("ai-sdk", [{"id": "c", "messages": [{**HI, "toolInvocations": [{"toolCallId": "c"}]}]}]),
    ("bedrock-converse", [{"role": "user", "content": [{"toolResult": {"toolUseId": "c"}}]}]),
    ("bedrock-converse", [{"modelId": "m", "messages": [{"role": "user", "content": BARE}]}]),
    ("gemini-api", [{"contents": [{"parts": [{"text": "hi"}]}]}]),
    ("gemini-api", [{"role": "user", "parts": [{"text": "hi"}]}]),
    ("gemini-api", [[{"role": "model", "parts": [{"function_call": {"name": "f"}}]}]]),
    ("openai-chat", [{"role": "user", "content": "hi"}]),
    ("openai-chat", [{"role": "assistant", "content": None, "tool_calls": []}]),
    ("openai-chat", [{"messages": [{"role": "user", "content": TEXT}], "tools": []}]),
    ("openai-chat", [[{"role": "user", "content": "hi"}]]),
    ("openai-chat", [{"role": "user", "content": [{"type": "image_url", "image_url": "u"}]}]),
]  # fmt: skip

FOREIGN: list[tuple[str, Any]] = [
    ("screen file of a Cline or Roo", [{"ts": 1, "type": "say", "say": "text"}]),
    ("metadata file of a Cline or Roo", {"files_in_context": []}),
    ("Kimi Code", {"type": "metadata", "protocol_version": "1.4"}),
    ("Kimi Code", [{"type": "turn.prompt", "time": 1, "input": [{"type": "text", "text": "hi"}]}]),
    ("Cursor", {"role": "user", "message": {"content": TEXT}}),
    ("Goose", {"working_dir": "/w", "message_count": 3}),
    ("hosted agent", {"role": "user", "kind": "x", "raw": {}}),
    ("Factory Droid", {"type": "session_start", "id": "s"}),
    ("Kiro", {"conversation_id": "", "history": []}),
    ("SWE-agent", {"trajectory": [], "history": []}),
    ("OpenHands", [{"id": 0, "source": "user", "action": "message", "args": {}}]),
    ("Inspect", {"version": 2, "status": "success", "eval": {}}),
    ("tau-bench", [{"task_id": 0, "traj": []}]),
    ("ATIF", {"schema_version": "ATIF-v1.2", "steps": []}),
    ("LangChain", [{"type": "human", "data": {"content": "hi"}}]),
    ("LangChain", [{"lc": 1, "type": "constructor", "id": [], "kwargs": {}}]),
    ("ShareGPT", [{"conversations": []}]),
]


@pytest.mark.parametrize(("name", "records"), OWN)
def test_every_format_recognises_its_own(name: str, records: list[Any]) -> None:
    assert detected(*records) == name


@pytest.mark.parametrize(("title", "record"), FOREIGN)
def test_a_format_known_by_sight_is_named(title: str, record: object) -> None:
    with pytest.raises(NotUnderstoodError, match=f"looks like .*{title}.*{refusal(title)}"):
        detected(record)


def refusal(title: str) -> str:
    client = unsupported_client(title)
    return "cannot be read yet" if client is None else re.escape(client.statement)


def test_records_of_a_line_format_in_an_array_are_not_its_file() -> None:
    with pytest.raises(NotUnderstoodError):
        detected([{"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s"}])


@pytest.mark.parametrize(
    ("name", "record"), [(name, records[0]) for name, records in OWN if len(records) == 1]
)
def test_a_record_may_be_cut_off_anywhere(name: str, record: object) -> None:
    """What is left of a transcript is an error, as other data need not be."""
    (line,) = raw_lines(record)
    for text in (line, json.dumps(record, indent=2).encode()):
        heads = [text[:end] for end in range(text.index(b":") + 5, len(text))]
        begun = [head for head in heads if complete_value(head)]
        assert len(begun) > len(heads) // 2
        for head in begun:
            try:
                detect(decoded(list(split_lines(head))), name, head)
            except NotUnderstoodError as error:
                assert type(error) is NotUnderstoodError, head  # noqa: PT017


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([5, "x"], "JSON of type number"),
        ([None], "JSON of type null"),
        ([True], "JSON of type boolean"),
        (["x"], "JSON of type string"),
        ([1.5], "JSON of type number"),
        ([[1]], "JSON of type array"),
        ([{}, {"a": 1}], "first record has: no keys"),
        ([{"b": 1, "a": 2}], "first record has: a, b"),
        ([{"type": [], "role": {}, "messages": [[]]}], "no known transcript format"),
    ],
)
def test_the_error_says_what_was_found_and_what_to_do(records: list[Any], words: str) -> None:
    with pytest.raises(NotUnderstoodError, match=words) as error:
        detected(*records)
    assert "--format" in str(error.value)


@pytest.mark.parametrize("records", [[[]], [{}], [{}, []]])
def test_empty_json_has_no_messages(records: list[Any]) -> None:
    with pytest.raises(NotATranscriptError, match="contains no messages, only empty JSON"):
        detected(*records)


@pytest.mark.parametrize("records", [[], [b"not json"], [b"\xff\xfe"]])
def test_what_is_no_json_is_not_offered_a_format(records: list[bytes]) -> None:
    with pytest.raises(NotUnderstoodError, match="holds no JSON; transcripts are JSON") as error:
        detected(*records)
    assert "--format" not in str(error.value)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"PK\x03\x04rest", "zip archive"),
        (b"PAR1rest", "Parquet"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\n# aider chat started at 2026-01-02 03:04:05\n", "Aider"),
        (b"<!-- Generated by SpecStory -->", "SpecStory"),
    ],
)
def test_files_that_are_no_json_are_named_from_their_first_bytes(head: bytes, words: str) -> None:
    with pytest.raises(NotUnderstoodError, match=words):
        detect(decoded([head]), "test", head)


def database(*statements: str) -> bytes:
    """Return a database with these tables."""
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in statements:
            made.execute(statement)
        return made.serialize()


PLAIN = ("CREATE TABLE notes (id)",)


@pytest.mark.parametrize(
    ("client", "statements", "where"),
    [
        ("Goose", ("CREATE TABLE sessions (id, working_dir)",), "copy.db"),
        ("Goose", PLAIN, "/home/dev/.local/share/goose/sessions/sessions.db"),
        ("Cursor", ("CREATE TABLE blobs (id, data)", "CREATE TABLE meta (key, value)"), "copy.db"),
        ("Cursor", PLAIN, "/home/dev/.cursor/chats/0a/1b/store.db"),
        ("Antigravity", ("CREATE TABLE steps (idx, step_payload)",), "copy.db"),
        ("Antigravity", PLAIN, "/home/dev/.gemini/antigravity-cli/conversations/1.db"),
    ],
)
def test_a_database_is_named_by_its_tables_or_its_place(
    client: str, statements: tuple[str, ...], where: str
) -> None:
    head = database(*statements)
    verb = "looks like" if where == "copy.db" else "is"
    expected = (
        f"{where}: this {verb} a database of {client}; {client} is not supported; it keeps its"
    )
    with pytest.raises(NotUnderstoodError, match=re.escape(expected)):
        detect(decoded([head]), where, head)


@pytest.mark.parametrize(
    "statements",
    [
        PLAIN,
        ("CREATE TABLE blobs (id)", "CREATE TABLE metadata (name)"),
        ("CREATE TABLE sessions_log (working_dir)",),
    ],
)
def test_any_other_database_is_none_of_these(statements: tuple[str, ...]) -> None:
    head = database(*statements)
    with pytest.raises(NotUnderstoodError, match="this is an SQLite database; export"):
        detect(decoded([head]), "notes.db", head)


@pytest.mark.parametrize("client", UNSUPPORTED_CLIENTS, ids=lambda client: client.name)
def test_a_client_that_is_not_supported_is_found_by_its_name(client: UnsupportedClient) -> None:
    names = (client.name, client.name.replace(" ", "-").lower(), client.name.split()[0].lower())
    assert [unsupported_client(name) for name in names] == [client] * 3
    assert unsupported_client("claude") is None
    assert unsupported_client("code") is None


def test_json_that_quotes_another_format_is_not_mistaken_for_it() -> None:
    head = b'{"role":"user","content":"# aider chat started at"}'

    assert describe_file(head) is None
    assert detect(decoded([head]), "test", head).name == "openai-chat"


def test_leading_records_of_other_kinds_do_not_hide_the_format() -> None:
    lines = raw_lines(b"", b"{torn", {"role": "user", "content": "hi"})

    assert detect(decoded(lines), "test").name == "openai-chat"


def test_records_of_claude_code_among_more_of_other_kinds_are_not_its_file() -> None:
    record = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s"}
    sniff = format_named("claude-code").sniff
    assert sniff([record, HI])
    assert not sniff([record, HI, HI])
    assert not sniff([HI])


def test_some_apis_take_answers_that_they_did_not_give() -> None:
    assert {each.name for each in ALL_FORMATS if each.can_write_assistant} == {
        "agent-code",
        "anthropic-messages",
        "bedrock-converse",
        "gemini-api",
        "neurolink",
        "openai-chat",
        "spring-ai",
    }, "name here the format whose assistant messages others may write, once that was tried"


@pytest.mark.parametrize(
    ("name", "records"), [(n, r) for n, r in OWN if not any(isinstance(each, list) for each in r)]
)
def test_a_stray_array_does_not_hide_the_format(name: str, records: list[Any]) -> None:
    assert detected(*records, [1, 2]) == name


def test_formats_are_found_by_name() -> None:
    assert [format_named(f.name).name for f in ALL_FORMATS] == [f.name for f in ALL_FORMATS]
    with pytest.raises(UsageError, match="did you mean codex"):
        format_named("codx")
    with pytest.raises(UsageError, match=r"there are .*codex, claude-code"):
        format_named("?")
