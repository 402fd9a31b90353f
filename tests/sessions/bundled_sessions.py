"""Bundled sessions, as the lists of sessions read them."""

from pathlib import Path

from cli.asking import SAMPLES

from compactctl.clients.session import Session, SessionEntry
from compactctl.clients.stores import load_sessions

ID = "1b671a64-40d5-491e-99b0-da01ff1f3341"


def session_in(path: Path, client: str) -> Session:
    return next(load_sessions([SessionEntry.of_file(client, ID, (path, path.stat()))]))


def sample(client: str) -> bytes:
    """Return a bundled session without subagents inside, of which lists read only the end."""
    lines = (SAMPLES / f"{client}-session.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if b'"isSidechain":true' not in line)
