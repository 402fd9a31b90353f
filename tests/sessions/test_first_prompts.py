"""Which prompt gives a session its title, and who started it, by its first records."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from formats.jsonl import write_lines
from sessions.homes import Home

from compactctl.clients.cline.tasks import task_context, task_prompt
from compactctl.clients.reading import file_ends
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import SessionDetails, SessionEntry
from compactctl.clients.stores import load_sessions, newest_entries, store_named
from compactctl.store.client_folders import UserEnvironment

Record = dict[str, Any]


def details(path: Path, client: str, records: Sequence[Record]) -> SessionDetails:
    write_lines(path, *records)
    (session,) = load_sessions([SessionEntry(client=client, id="s", path=path, modified=0)])
    return session.details


def item(role: str, text: str) -> Record:
    content = [{"type": "input_text", "text": text}]
    return {
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content},
    }


def typed(text: str) -> Record:
    return {"type": "event_msg", "payload": {"type": "user_message", "message": text}}


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([item("user", "first"), item("user", "second")], "first"),
        ([item("user", "first"), typed("typed"), typed("later")], "typed"),
        ([item("assistant", "hello"), item("user", "first")], "first"),
        ([typed(""), item("user", "first")], "first"),
        ([item("assistant", "hello")], ""),
    ],
)
def test_a_prompt_that_was_typed_comes_before_what_was_sent(
    tmp_path: Path, records: list[Record], title: str
) -> None:
    meta = {"type": "session_meta", "payload": {"id": "s", "cwd": "/p"}}
    found = details(tmp_path / "s.jsonl", "codex", [meta, *records])
    assert (found.title, found.project, found.kind) == (title, "/p", "main")


@pytest.mark.parametrize(
    ("meta", "kind"),
    [
        ({"source": "cli"}, "main"),
        ({"source": "exec"}, "headless"),
        ({"source": {"subagent": "review"}}, "subagent"),
        ({"source": "cli", "thread_source": "user"}, "main"),
        ({"source": "cli", "thread_source": None}, "main"),
        ({"source": "cli", "thread_source": "subagent"}, "subagent"),
    ],
)
def test_a_rollout_says_who_started_it(tmp_path: Path, meta: Record, kind: str) -> None:
    records = [{"type": "session_meta", "payload": {"id": "s", **meta}}, typed("go")]
    assert details(tmp_path / "s.jsonl", "codex", records).kind == kind


def user(text: str, *, side: bool = False, **fields: object) -> Record:
    message = {"role": "user", "content": text}
    return {"type": "user", "isSidechain": side, "message": message, **fields}


COMMAND = "<command-name>/init</command-name>"


@pytest.mark.parametrize(
    ("records", "title", "kind"),
    [
        ([user("first"), user("second")], "first", "main"),
        ([user("aside", side=True), user("first")], "first", "main"),
        ([user("aside", side=True), user("more", side=True)], "aside", "subagent"),
        ([user(COMMAND), user("first")], "first", "main"),
        ([user(COMMAND), user(COMMAND.replace("init", "model"))], "/init", "main"),
        ([user("caveat", isMeta=True), user("first")], "first", "main"),
        ([user("short", isCompactSummary=True), user("first")], "first", "main"),
        ([user("first", entrypoint="sdk-cli")], "first", "headless"),
        ([user("first"), user("second", entrypoint="sdk-cli")], "first", "main"),
    ],
)
def test_a_session_of_claude_code_is_named_after_the_first_prompt_of_its_conversation(
    tmp_path: Path, records: list[Record], title: str, kind: str
) -> None:
    found = details(tmp_path / "s.jsonl", "claude-code", records)
    assert (found.title, found.kind) == (title, kind)


def test_a_chat_of_vs_code_is_listed_once(home: Home, machine: UserEnvironment) -> None:
    folder = home.editor / "workspaceStorage" / "w" / "chatSessions"
    folder.mkdir(parents=True)
    for name in ("a.json", "a.jsonl", "b.json", "c.jsonl", "d.jsonl", "d.json"):
        (folder / name).touch()
    entries = newest_entries(machine, FolderScanner(), [store_named("vscode")])
    assert {entry.path.name for entry in entries} == {"a.jsonl", "b.json", "c.jsonl", "d.jsonl"}


@pytest.mark.parametrize(
    ("first", "last", "named"),
    [
        ({"customTitle": "Tides", "modelId": "m1"}, {}, ("Tides", "m1")),
        ({}, {"customTitle": "Tides", "modelId": "m1"}, ("Tides", "m1")),
        (
            {"customTitle": "Old", "modelId": "m1"},
            {"customTitle": "New", "modelId": "m2"},
            ("New", "m2"),
        ),
        ({"message": {"text": "go"}, "text": "other"}, {"message": {"text": "more"}}, ("go", "")),
        ({"text": "go"}, {"text": "more"}, ("go", "")),
    ],
)
def test_a_long_chat_of_vs_code_is_named_by_the_newest_title_at_its_ends(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: Record,
    last: Record,
    named: tuple[str, str],
) -> None:
    monkeypatch.setattr(file_ends, "WINDOW", 100)
    found = details(tmp_path / "s.jsonl", "vscode-chat", [first, {"x": "x" * 200}, last])
    assert (found.title, found.model) == named
    assert found.kind == "empty"
    sent = details(tmp_path / "sent.jsonl", "vscode-chat", [{"requestId": "r"}, first])
    assert sent.kind == "main"


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ({"sessionId": "own", "kind": "subagent"}, {}),
        ({}, {"sessionId": "own", "kind": "subagent"}),
        ({"sessionId": "own", "kind": "subagent"}, {"sessionId": "x", "kind": "main"}),
    ],
)
def test_a_document_of_gemini_cli_is_named_at_either_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Record, last: Record
) -> None:
    monkeypatch.setattr(file_ends, "WINDOW", 100)
    messages = [{"type": "user", "content": "go"}, {"type": "info", "content": "x" * 300}]
    document = json.dumps(first)[:-1] + f', "messages": {json.dumps(messages)}, '
    text = document.replace("{, ", "{") + json.dumps({"x": 1, **last})[1:]
    (tmp_path / "s.json").write_text(text)
    entry = SessionEntry(client="gemini-cli", id="s", path=tmp_path / "s.json", modified=0)
    (session,) = load_sessions([entry])
    assert (session.id, session.details.kind, session.details.title) == ("own", "subagent", "go")


def test_the_folder_of_a_session_of_copilot_cli_is_in_its_workspace_or_first_event(
    tmp_path: Path,
) -> None:
    events = [
        {"type": "session.start", "data": {"context": {"cwd": "/first"}}},
        {"type": "user.message", "data": {"content": "go"}},
    ]
    for workspace, title, project in (
        (None, "go", "/first"),
        ("cwd: /w\n", "go", "/w"),
        ("name: 'it''s'\ncwd: \"\"\n", "it's", "/first"),
        ('name: "a\\x41\\u0041 \\U0001F600\\_\\"b"\n', 'aAA \U0001f600 "b', "/first"),
        ('"name" : "a long\n  na\\\n  me\\\n  \\ here" # x\n', "a long name here", "/first"),
        ('name: "a\\qb"\n', "a\\qb", "/first"),
    ):
        if workspace is not None:
            (tmp_path / "workspace.yaml").write_text(workspace)
        found = details(tmp_path / "events.jsonl", "copilot-cli", events)
        assert (found.title, found.project) == (title, project)


@pytest.mark.parametrize(
    ("columns", "entries"),
    [
        ("id, time_updated", [("ses_1", 1.5, "", "", "main", False)]),
        ("id, time_updated, title, directory", [("ses_1", 1.5, "A", "B", "main", False)]),
        ("id, time_updated, parent_id, time_archived", [("ses_1", 1.5, "", "", "subagent", True)]),
        ("time_updated, title", []),
        ("id, title", []),
    ],
)
def test_a_database_of_opencode_may_lack_columns(
    home: Home, machine: UserEnvironment, columns: str, entries: list[tuple[object, ...]]
) -> None:
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    row = {"id": "ses_1", "time_updated": 1_500, "title": "A", "directory": "B",
           "parent_id": "C", "time_archived": 5}  # fmt: skip
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"create table session ({columns})")
        names = columns.split(", ")
        marks = ", ".join("?" * len(names))
        statement = f"insert into session values ({marks})"  # noqa: S608 - question marks alone
        database.execute(statement, [row[name] for name in names])
        database.commit()
    found = newest_entries(machine, FolderScanner(), [store_named("opencode")])
    assert [
        (e.id, e.modified, e.listing.title, e.listing.project, e.listing.kind, e.archived)
        for e in found
    ] == entries


@pytest.mark.parametrize(
    ("messages", "prompt"),
    [
        ('[{"text": "go"}, {"text": "more"}]', "go"),
        ('\n [{"ts": 1}, 7, {"text": ""}, {"text": ["no"]}, {"text": "go"}, {"te', "go"),
        ('{"text": "go", "messages": [{"text": "go"}]}', ""),
        ("", ""),
    ],
)
def test_the_prompt_of_a_task_is_the_first_text_of_its_messages(
    tmp_path: Path, messages: str, prompt: str
) -> None:
    history = tmp_path / "api_conversation_history.json"
    assert task_prompt(history) == ""
    assert task_context(history) == (None, "")
    (tmp_path / "ui_messages.json").write_text(messages)
    assert task_prompt(history) == prompt


@pytest.mark.parametrize(
    ("requests", "context"),
    [
        ([{"tokensIn": 1, "cacheReads": 20, "cacheWrites": 300, "tokensOut": 4_000}], 4_321),
        ([{"tokensIn": 21, "cacheReads": 20, "tokensOut": 4, "apiProtocol": "openai"}], 25),
        ([{"tokensIn": 5, "tokensOut": 4}, {"tokensIn": 0, "tokensOut": 0}], 9),
        ([{"tokensIn": 5, "tokensOut": 4}, {"tokensIn": 6, "tokensOut": 7}], 13),
        ([{"request": "no counts"}], None),
    ],
)
def test_the_context_of_a_task_is_that_of_its_newest_request(
    tmp_path: Path, requests: list[Record], context: int | None
) -> None:
    messages = [{"say": "api_req_started", "text": json.dumps(request)} for request in requests]
    others = [{"text": '"tokensIn": {'}, {"modelInfo": {"modelId": "m1"}}]
    (tmp_path / "ui_messages.json").write_text(json.dumps([*messages, *others]))
    assert task_context(tmp_path / "api_conversation_history.json") == (context, "m1")
