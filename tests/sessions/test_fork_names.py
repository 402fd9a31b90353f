"""The title of a fork, its lines, and the id that takes the place of the old one."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compactctl.clients.claude_code import store as claude_code
from compactctl.clients.cline import store as cline
from compactctl.clients.copilot_cli import store as copilot_cli
from compactctl.clients.fork import (
    Fork,
    ForkedLines,
    ForkIdentity,
    header_text,
    session_id_replacer,
    with_session_id,
)
from compactctl.clients.gemini_cli import store as gemini_cli
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.stores import fork_session
from compactctl.errors import NotUnderstoodError
from compactctl.model.message import JsonPath
from compactctl.records import replace
from compactctl.store.client_folders import UserEnvironment

IDENTITY = ForkIdentity(
    random_bits=5, now=datetime(2026, 1, 2, tzinfo=UTC), machine=UserEnvironment(home=Path("/h"))
)
SESSION = Session(
    entry=SessionEntry(client="codex", id="s", path=Path("/s.jsonl"), modified=0),
    details=SessionDetails(),
)


@pytest.mark.parametrize(
    ("title", "fork"),
    [
        ("Fix tides", "Fix tides (compacted)"),
        ("Fix tides (compacted)", "Fix tides (compacted 2)"),
        ("Fix tides (compacted 9)", "Fix tides (compacted 10)"),
        ("Fix tides (whole 9)", "Fix tides (compacted)"),
        ("Fix (compacted) tides", "Fix (compacted) tides (compacted)"),
        ("", "(compacted)"),
        ("t" * 36, "t" * 36 + " (compacted)"),
        ("t" * 37, "t" * 35 + "… (compacted)"),
        ("t" * 30 + " " * 5 + "t" * 5, "t" * 30 + "… (compacted)"),
        ("t" * 36 + " (compacted)", "t" * 33 + "… (compacted 2)"),
    ],
)
def test_a_title_is_marked_and_has_at_most_48_letters(title: str, fork: str) -> None:
    assert IDENTITY.fork_title(title) == fork
    assert len(fork) <= 48


def test_a_title_is_not_given_twice() -> None:
    taken = frozenset({"Tides (compacted)", "Tides (compacted 2)", "Tides (whole)"})
    assert replace(IDENTITY, titles=taken).fork_title("Tides") == "Tides (compacted 3)"
    whole = replace(IDENTITY, titles=taken, title_mark="whole")
    assert whole.fork_title("Tides (compacted)") == "Tides (whole 2)"


def test_ids_have_their_version() -> None:
    assert IDENTITY.random_id == "00000000-0000-4000-8000-000000000005"
    assert IDENTITY.timed_id == "019b7c01-0400-7000-8000-000000000005"
    assert replace(IDENTITY, random_bits=(1 << 128) - 1).timed_id == (
        "019b7c01-0400-7fff-bfff-ffffffffffff"
    )


def test_the_lines_of_a_fork_are_rewritten_when_they_are_reached() -> None:
    fork = Fork(
        id="f",
        path=Path("/f.jsonl"),
        original=SESSION,
        rewrite_line=lambda index, line: b"%d %s" % (index, line),
        trailing_lines=(b"x\n", b"y\n"),
    )
    expected = (b"0 a\n", b"1 b\n", b"x\n", b"y\n")
    lines = ForkedLines([b"a\n", b"b"], fork)
    assert tuple(lines) == expected == lines[:]
    assert len(lines) == 4
    assert [lines[index] for index in range(-4, 4)] == [*expected, *expected]
    assert lines[1:3] == expected[1:3]
    assert lines[::-1] == expected[::-1]
    for index in (4, -5):
        with pytest.raises(IndexError):
            lines[index]


@pytest.mark.parametrize(
    ("line", "path", "replaced"),
    [
        (b'{"sessionId":"old"}\n', ("sessionId",), b'{"sessionId":"new"}\n'),
        (b'{"sessionId": "old"}\n', ("sessionId",), b'{"sessionId": "new"}\n'),
        (
            b'{"sessionId":"old","a":{"sessionId":"old"}}',
            ("a", "sessionId"),
            b'{"sessionId":"old","a":{"sessionId":"new"}}',
        ),
        (b'{"a":{"id":"old"},"b":"old"}', ("a", "id"), b'{"a":{"id":"new"},"b":"old"}'),
        (
            b'{"\\u0073essionId":"x","sessionId":"old"}',
            ("sessionId",),
            b'{"\\u0073essionId":"x","sessionId":"new"}',
        ),
        (b'{"sessionId":"older"}', ("sessionId",), None),
        (b'{"id":"old"}', ("sessionId",), None),
        (b'{"sessionId":"old"', ("sessionId",), None),
        (b'{"sessionId":["old"]}', ("sessionId",), None),
    ],
)
def test_only_the_id_at_its_path_is_replaced(
    line: bytes, path: JsonPath, replaced: bytes | None
) -> None:
    assert with_session_id(line, path, "old", "new") == (line if replaced is None else replaced)


def test_an_id_is_replaced_wherever_it_follows_its_key() -> None:
    data = b'{"sessionId": "o.d", "x": "o.d"}\n{"a": {"sessionId":"o.d"}}{"sessionId":"old"}'
    assert session_id_replacer("o.d", "new")(data) == (
        b'{"sessionId": "new", "x": "o.d"}\n{"a": {"sessionId":"new"}}{"sessionId":"old"}'
    )


def test_a_byte_order_mark_does_not_stay() -> None:
    line = b'\xef\xbb\xbf \xef\xbb\xbf{"type": "header"}'
    assert header_text(line[3:], "header", SESSION) == '{"type": "header"}'
    assert header_text(line[4:], "header", SESSION) == '{"type": "header"}'


@pytest.mark.parametrize("line", [b'{"type": "other"}', b"[]", b"{", b'[{"type": "header"}]'])
def test_a_session_begins_with_the_record_that_names_it(line: bytes) -> None:
    assert header_text(b'{"type": "header"}\n', "header", SESSION) == '{"type": "header"}\n'
    with pytest.raises(NotUnderstoodError) as raised:
        header_text(line, "header", SESSION)
    assert str(raised.value) == (
        "/s.jsonl: line 1 is not the record that names the session (header), so it cannot become a "
        "new session; use --in-place, or write elsewhere with -o"
    )


@pytest.mark.parametrize("value", ["null", "[]", '"x"'])
def test_the_record_that_names_it_holds_the_name(value: str) -> None:
    line = f'{{"type": "header", "payload": {value}}}'.encode()
    assert header_text(line, "header", SESSION) == line.decode()
    with pytest.raises(NotUnderstoodError, match="line 1 is not the record that names"):
        header_text(line, "header", SESSION, "payload")


def _session(path: Path) -> Session:
    details = SessionDetails(title="Tides", project="/p")
    entry = SessionEntry(client="c", id="old", path=path, modified=0)
    return Session(entry=entry, details=details)


@pytest.mark.parametrize(
    ("types", "added"),
    [
        ([], ["custom-title"]),
        (["user", "assistant"], ["custom-title"]),
        (["user", "agent-name", "assistant"], ["custom-title", "agent-name"]),
    ],
)
def test_a_fork_of_claude_code_has_an_agents_name_where_its_original_has(
    tmp_path: Path, types: list[str], added: list[str]
) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("".join(f'{{"type": "{kind}"}}\n' for kind in types))
    fork = claude_code.fork(_session(path), IDENTITY)
    records = [json.loads(line) for line in fork.trailing_lines]
    assert [record["type"] for record in records] == added
    assert {record["sessionId"] for record in records} == {fork.id}
    assert records[-1].get("agentName") == ("Tides (compacted)" if len(added) > 1 else None)
    assert (
        claude_code.fork(_session(tmp_path / "none"), IDENTITY).trailing_lines
        == (fork.trailing_lines[:1])
    )


@pytest.mark.parametrize(
    ("original", "other_fields"),
    [
        (None, 'cwd: "/p"\n'),
        (b"id: old\nsummary: s\nname: x\nuser_named: false\ncwd: /q\n", "summary: s\ncwd: /q\n"),
        (b"id: old\nname: >-\n  The long\n\n  name\ncwd: /q # here\n", "cwd: /q # here\n"),
        (
            b"id: old\r\nname: x\r\ncwd: /q\r\nnote: a\xe2\x80\xa8b",
            "cwd: /q\r\nnote: a\u2028b",
        ),
        (
            b'# mine\nname: "a\n  b"\ncwd: /q\ntags:\n- name: x\n',
            "# mine\ncwd: /q\ntags:\n- name: x\n",
        ),
        (b"\xef\xbb\xbf\"id\": old\n'name' : n\ncwd: /q\n", "cwd: /q\n"),
        (b"id: old\ntext: %s\ncwd: /q\n" % (b"x" * 70_000), f"text: {'x' * 70_000}\ncwd: /q\n"),
    ],
)
def test_a_fork_of_copilot_cli_keeps_the_other_fields_of_its_workspace(
    tmp_path: Path, original: bytes | None, other_fields: str
) -> None:
    events = tmp_path / "old" / "events.jsonl"
    if original is not None:
        events.parent.mkdir()
        events.with_name("workspace.yaml").write_bytes(original)
    fork = copilot_cli.fork(_session(events), IDENTITY)
    title = 'name: "Tides (compacted)"\nuser_named: true\n'
    workspace = f"id: {fork.id}\n{title}{other_fields}".encode()
    assert fork.path == tmp_path / fork.id / "events.jsonl"
    assert fork.extra_files == ((fork.path.with_name("workspace.yaml"), workspace),)


def test_a_fork_of_kilo_is_what_it_imports() -> None:
    entry = SessionEntry(client="kilo", id="ses_1", path=Path("/d.db"), modified=0)
    fork = fork_session(Session(entry=entry, details=SessionDetails()), IDENTITY)
    assert fork is not None
    parts = [{"type": "step-start", "time": {"start": 1}}, {"type": "text", "time": {"start": 1}}]
    document = {"info": {}, "messages": [{"info": {}, "parts": parts}]}
    [message] = json.loads(fork.rewrite_line(0, json.dumps(document).encode()))["messages"]
    assert message["parts"] == [{"type": "step-start"}, parts[1]]


@pytest.mark.parametrize("old", ["ses_/../../../x", "/x", "..", "ses_0123456789abABCDEFGHIJKLMN"])
def test_a_fork_of_opencode_is_a_document_in_its_folder(old: str) -> None:
    entry = SessionEntry(client="opencode", id=old, path=Path("/d.db"), modified=0)
    fork = fork_session(Session(entry=entry, details=SessionDetails()), IDENTITY)
    assert fork is not None
    assert fork.path.parent == Path("/h/.local/state/compactctl/opencode")
    assert fork.path.stem == fork.id or "/" in old or "." in old


@pytest.mark.parametrize(
    ("state", "forked"),
    [
        ({"status": "running", "pid": 7}, {"status": "completed", "pid": 7}),
        ({"status": "failed", "pid": 7}, {"status": "failed", "pid": 7}),
        ({}, {}),
        ({"metadata": ["a"]}, {"metadata": {"title": "Tides (compacted)"}}),
        ({"metadata": "a"}, {"metadata": {"title": "Tides (compacted)"}}),
    ],
)
def test_a_fork_of_cline_is_not_running(
    tmp_path: Path, state: dict[str, object], forked: dict[str, object]
) -> None:
    path = tmp_path / "old" / "old.messages.json"
    path.parent.mkdir()
    manifest = {"session_id": "old", "model": "m", "metadata": {"a": 1}, **state}
    path.with_name("old.json").write_text(json.dumps(manifest))
    fork = cline.fork(_session(path), IDENTITY)
    assert fork is not None
    assert fork.path == tmp_path / fork.id / f"{fork.id}.messages.json"
    assert fork.id == "1767312000000_50000"
    other = cline.fork(_session(path), replace(IDENTITY, random_bits=(1 << 128) - 1))
    assert other is not None
    assert other.id == "1767312000000_vvvvv"
    ((name, data),) = fork.extra_files
    assert name == tmp_path / fork.id / f"{fork.id}.json"
    assert json.loads(data) == {
        "session_id": fork.id,
        "messages_path": str(fork.path),
        "model": "m",
        "metadata": {"a": 1, "title": "Tides (compacted)"},
        **forked,
    }
    assert cline.fork(_session(tmp_path / "api_conversation_history.json"), IDENTITY) is None


def test_messages_of_gemini_cli_are_as_they_were_in_a_fork() -> None:
    header, message, other = (
        b'{"sessionId": "old"}\n',
        b'{"id": "m1", "sessionId": "old"}\n',
        b'{"id": "m1"}\n',
    )
    log = gemini_cli.fork(_session(Path("/chats/session-x.jsonl")), IDENTITY)
    assert log.path == Path(f"/chats/session-2026-01-02T00-00-{log.id[:8]}.jsonl")
    new = header.replace(b"old", log.id.encode())
    lines = (header, message, other)
    assert [log.rewrite_line(0, line) for line in lines] == [new, message, other]
    assert json.loads(log.trailing_lines[0]) == {"$set": {"summary": "Tides (compacted)"}}
    document = gemini_cli.fork(_session(Path("/chats/session-x.json")), IDENTITY)
    assert document.rewrite_line(0, message) == message.replace(b"old", document.id.encode())
    assert (document.path.suffix, document.trailing_lines) == (".json", ())
