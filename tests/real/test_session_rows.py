"""What is told of a real session at a glance is what reading all of it says."""

from pathlib import Path

import pytest
from file_commands import scan_file
from real.choice import each_file
from sessions.homes import uuid_of

from compactctl.clients.claude_code import store as claude_code
from compactctl.clients.codex import store as codex
from compactctl.clients.copilot_cli import store as copilot_cli
from compactctl.clients.pi import store as pi
from compactctl.clients.session import SessionEntry
from compactctl.clients.store import SessionStore

STORES: dict[str, SessionStore] = {
    "claude-code": claude_code.STORE,
    "codex": codex.STORE,
    "copilot-cli": copilot_cli.STORE,
    "pi": pi.STORE,
}


@each_file
def test_the_context_is_that_of_the_newest_answer(path: Path) -> None:
    transcript = scan_file(path)
    store = STORES.get(transcript.format)
    if store is None:
        pytest.skip("no client lists files like this one")
    entry = SessionEntry(client=store.client, id=uuid_of(path.name), path=path, modified=0)
    details = store.details(entry)
    usages = (message.usage for message in reversed(transcript.effective) if message.usage)
    newest = next(usages, None)
    if newest is None or details.context is None:
        pytest.skip("nothing was reported, or too far from the end of the file")
    if b"microcompact_boundary" in path.read_bytes():
        pytest.skip("the newest report is of results that the client had cleared")
    assert details.context >= newest.context + (newest.output or 0)
    if newest.output:
        assert details.context == newest.context + newest.output
    assert not details.project or details.project == transcript.session.cwd or store is codex.STORE
