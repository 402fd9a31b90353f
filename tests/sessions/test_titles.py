"""The titles of sessions: from their clients' stores, and read from a file elsewhere."""

import pytest
from cli.asking import SAMPLES
from sessions.bundled_home import fill_home
from sessions.homes import Home

from compactctl.clients.databases import database_path
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.stores import load_sessions, newest_entries
from compactctl.commands.reading.session_title import session_title
from compactctl.store.client_folders import UserEnvironment


def test_a_session_has_the_title_that_its_list_shows(home: Home, machine: UserEnvironment) -> None:
    fill_home(home.root)
    listed = list(load_sessions(newest_entries(machine, FolderScanner())))
    assert {session.entry.n_bytes is None for session in listed} == {True, False}
    for session in listed:
        entry = session.entry
        path = (
            database_path(session.entry.client, session.id)
            if entry.n_bytes is None
            else str(entry.path)
        )
        assert session_title(path, entry.client) == session.details.title != ""


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("name", "client", "title"),
    [
        ("claude-code-session.jsonl", "claude-code", "Yesterday the DRAVENNESS"),
        ("openai-chat.jsonl", "openai-chat", ""),
        ("openai-chat.jsonl", "opencode", ""),
        ("missing.jsonl", "claude-code", ""),
    ],
)
def test_a_file_elsewhere_is_read_as_its_client_would(name: str, client: str, title: str) -> None:
    found = session_title(str(SAMPLES / name), client)
    assert found.startswith(title)
    assert bool(found) is bool(title)
