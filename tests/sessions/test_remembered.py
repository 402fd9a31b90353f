"""A list of sessions remembers what it read of files that have not changed since."""

import os
from pathlib import Path

import pytest
from sessions.homes import HOUR, Home, Said, everything

from compactctl.clients import stores
from compactctl.clients.session import SessionDetails, SessionEntry
from compactctl.commands.measuring import session_size as module
from compactctl.commands.session_finder import SessionFinder
from compactctl.commands.sessions import SessionFilter, SessionRow, sessions
from compactctl.store.client_folders import UserEnvironment

ONE_FILE = {"claude-code", "codex", "pi"}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[SessionEntry]:
    """Return a list that the sessions are put on that are really read."""
    entries: list[SessionEntry] = []
    read_details = stores._read_details

    def noted(entry: SessionEntry) -> SessionDetails | None:
        entries.append(entry)
        return read_details(entry)

    monkeypatch.setattr(stores, "_read_details", noted)
    return entries


def rows(home: Home) -> tuple[SessionRow, ...]:
    return sessions(
        SessionFilter(limit=0, hidden=True), UserEnvironment(home=home.root), home.now
    ).rows


def test_every_client_s_sessions_are_listed_alike_again(
    home: Home, read: list[SessionEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(home)
    first = rows(home)
    assert {entry.client for entry in read} > ONE_FILE
    read.clear()
    # What is counted at the end of a file is remembered, too.
    monkeypatch.setattr(module, "_counted", lambda *_: pytest.fail("was read again"))
    assert rows(home) == first
    assert {entry.client for entry in read}.isdisjoint(ONE_FILE)


def test_a_changed_session_is_read_again(home: Home, read: list[SessionEntry]) -> None:
    paths = [home.claude(Said(name=name, prompt=f"Task {name}", age=HOUR)) for name in "123"]
    rows(home)
    _append(paths[0], '{"type":"custom-title","customTitle":"Grown"}\n')
    _rewrite(paths[1], b"Task 2", b"Tusk 2")
    read.clear()
    listed = {row.session.entry.path: row.session.details.title for row in rows(home)}
    assert {entry.path for entry in read} == set(paths[:2])
    assert [listed[path] for path in paths] == ["Grown", "Tusk 2", "Task 3"]


def test_all_sessions_of_a_client_are_named_without_reading_them_again(
    home: Home, read: list[SessionEntry]
) -> None:
    everything(home)
    rows(home)
    read.clear()
    finder = SessionFinder(
        machine=UserEnvironment(home=home.root), here=Path.cwd(), now=float(home.now)
    )
    assert finder.all_of("claude")
    assert not read


def _append(path: Path, line: str) -> None:
    with path.open("a") as stream:
        stream.write(line)


def _rewrite(path: Path, old: bytes, new: bytes) -> None:
    """Replace text by as much other text, and set the time back."""
    info = path.stat()
    path.write_bytes(path.read_bytes().replace(old, new))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
