"""How sessions are found by their file, described, ordered and resumed, whatever their client."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sessions.homes import DAY, HOUR, Home, Said

from compactctl.clients.databases import session_in_database
from compactctl.clients.fork import ForkIdentity
from compactctl.clients.opencode.store import OPENCODE, find_databases
from compactctl.clients.reading.folders import FolderScanner, is_alive
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.stores import (
    ALL_STORES,
    fork_session,
    is_client,
    load_sessions,
    newest_entries,
    resume_command,
    session_at,
    store_named,
)
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.store.client_folders import UserEnvironment, this_machine

PROJECT = "/home/dev/quay side"


def session(client: str, **details: object) -> Session:
    entry = SessionEntry(client=client, id="s 1", path=Path("/s.jsonl"), modified=0, n_bytes=9)
    fields = {"project": PROJECT, **details}
    return Session(entry=entry, details=SessionDetails(**fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("client", "command"),
    [
        ("claude-code", "cd '/home/dev/quay side' && claude --resume 's 1'"),
        ("codex", "codex resume 's 1'"),
        ("opencode", "cd '/home/dev/quay side' && opencode -s 's 1'"),
        ("kilo", "cd '/home/dev/quay side' && kilo -s 's 1'"),
        ("pi", "cd '/home/dev/quay side' && pi --session 's 1'"),
        ("copilot-cli", "copilot --resume='s 1'"),
        ("gemini-cli", "cd '/home/dev/quay side' && gemini --resume 's 1'"),
        ("qwen-code", "cd '/home/dev/quay side' && qwen --resume 's 1'"),
        ("cline", "cline --id 's 1'"),
        ("roo", None),
        ("vscode-chat", None),
    ],
)
def test_a_session_is_resumed_in_its_project_where_its_client_needs_that(
    client: str, command: str | None
) -> None:
    assert resume_command(session(client)) == command
    assert resume_command(session(client, kind="subagent")) is None
    bare = session(client, project="")
    assert resume_command(bare) == (command and command.rpartition(" && ")[2])


def test_a_fork_is_resumed_after_its_import_and_with_a_model() -> None:
    assert resume_command(session("codex"), "f;1", "import it") == "import it && codex resume 'f;1'"
    claude = session("claude-code", project="/p")
    assert resume_command(claude, model="opus") == "cd /p && claude --resume 's 1' --model opus"
    assert resume_command(session("codex"), model="gpt-5") == "codex resume 's 1'"


def test_an_open_session_is_loaded_again_where_its_client_can() -> None:
    assert resume_command(session("claude-code", open=True), "f1") == "/resume f1"
    assert resume_command(session("codex", open=True)) == "codex resume 's 1'"


@pytest.mark.parametrize("client", ["roo", "vscode-chat"])
def test_not_every_session_can_be_forked(client: str) -> None:
    identity = ForkIdentity(random_bits=1, now=datetime.now(UTC), machine=this_machine())
    assert fork_session(session(client), identity) is None
    assert fork_session(session("codex", kind="subagent"), identity) is None


def test_a_client_is_named_in_any_case_and_by_a_shorter_name() -> None:
    for store in ALL_STORES:
        assert store_named(store.client.upper()) is store
        assert store_named(store.alias) is store
        assert is_client(store.alias.upper())
    assert not is_client("cladue")
    with pytest.raises(UsageError, match=r"^no client named 'Cladue'; did you mean claude\?"):
        store_named("Cladue")
    with pytest.raises(UsageError, match=r"^no client named 'x'; there are claude-code, codex"):
        store_named("x")


def test_the_newest_come_first_and_equals_by_client_and_id(
    home: Home, machine: UserEnvironment
) -> None:
    fixed = Home(root=home.root, now=1_700_000_000.0)
    for name in "ab":
        fixed.codex(Said(name=name, age=HOUR))
    fixed.claude(Said(name="c", age=HOUR))
    fixed.claude(Said(name="d", age=DAY))
    fixed.pi(Said(name="e", age=0))
    names = {Said(name=name).id: name for name in "abcde"}
    entries = newest_entries(machine, FolderScanner())
    codex = sorted("ab", key=lambda name: Said(name=name).id)
    assert [names[entry.id] for entry in entries] == ["e", "c", *codex, "d"]
    assert entries[0].modified == fixed.now


def test_what_cannot_be_read_has_the_details_of_its_entry(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database " * 99)
    listing = SessionDetails(title="Tides", project="/p", kind="subagent", open=True)
    entries = [
        SessionEntry(client=client, id="s", path=path, modified=0, listing=listing)
        for client, path in (("codex", tmp_path / "none.jsonl"), ("opencode", broken))
    ]
    assert [session.details for session in load_sessions(entries)] == [listing, listing]


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ({}, ("Read", "/read", "main", False)),
        ({"title": "Listed"}, ("Listed", "/read", "main", False)),
        ({"project": "/listed"}, ("Read", "/read", "main", False)),
        ({"kind": "program"}, ("Read", "/read", "program", False)),
        ({"open": True}, ("Read", "/read", "main", True)),
    ],
)
def test_a_list_completes_what_the_session_says(
    home: Home, listing: dict[str, object], expected: tuple[object, ...]
) -> None:
    path = home.codex(Said(prompt="Read", project="/read"))
    (found,) = load_sessions([SessionEntry(
        client="codex", id="s", path=path, modified=0,
        listing=SessionDetails(**listing),  # type: ignore[arg-type]
    )])  # fmt: skip
    details = found.details
    assert (details.title, details.project, details.kind, details.open) == expected


def test_a_session_by_its_file(home: Home, machine: UserEnvironment, tmp_path: Path) -> None:
    path = home.claude(Said())
    home.claude(Said(name="other"))
    (tmp_path / "link.jsonl").symlink_to(path)
    for name in (path, tmp_path / "link.jsonl"):
        found = session_at(name, machine)
        assert found is not None
        assert found.id == Said().id
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    assert session_at(copy, machine) is None
    assert session_at(path.with_name("none.jsonl"), machine) is None


def test_a_session_by_its_id_in_a_database(home: Home, machine: UserEnvironment) -> None:
    first, second = home.opencode(Said(name="one")), home.opencode(Said(name="two"))
    for name in (first, second):
        found = session_in_database(f"opencode:{name}", machine)
        assert found is not None
        assert found.id == name
        # A database is not the file of a session.
        assert session_at(found.entry.path, machine) is None
    assert session_in_database("opencode:ses_none", machine) is None


def test_the_databases_of_opencode(home: Home, machine: UserEnvironment) -> None:
    folder = home.root / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    for name in ("opencode.db", "opencode-beta.db", "other.db", "opencode.db-wal"):
        (folder / name).touch()
    scanner = FolderScanner()
    assert find_databases(OPENCODE, machine, scanner) == [
        folder / "opencode-beta.db",
        folder / "opencode.db",
    ]
    for value, path in (("own.db", folder / "own.db"), ("/a/b.db", Path("/a/b.db"))):
        moved = replace(machine, environ={"OPENCODE_DB": value})
        assert find_databases(OPENCODE, moved, scanner) == [path]
        assert newest_entries(moved, scanner, [store_named("opencode")]) == []
        assert path in scanner.searched


def test_a_process_is_alive_until_it_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert is_alive(os.getpid())
    assert is_alive(1)
    for value in (process.pid, 0, -1, True, "1", None, 1.0, 1 << 80):
        assert not is_alive(value)
