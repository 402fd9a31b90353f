"""Chats of VS Code: ``chatSessions/<id>.jsonl`` of each workspace, or older ``.json``."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from compactctl.clients.reading.database import read_only
from compactctl.clients.reading.documents import (
    first_value,
    last_value,
    read_small_object,
)
from compactctl.clients.reading.fields import first_title
from compactctl.clients.reading.file_ends import read_edges
from compactctl.clients.reading.folders import FolderScanner, stat_or_none
from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.clients.session import SessionDetails, SessionEntry, SessionKind
from compactctl.clients.store import SessionStore
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment

NAME = "vscode-chat"
_LOG, _DOCUMENT = ".jsonl", ".json"
_INDEX = "chat.ChatSessionStore.index"


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    for user in client_folders.editor_folders(machine):
        yield from _chats(user / "globalStorage" / "emptyWindowChatSessions", "", folders)
        for workspace in folders.folders(user / "workspaceStorage"):
            chats = workspace / "chatSessions"
            if stat_or_none(chats) is not None:
                yield from _chats(chats, _project(workspace / "workspace.json"), folders)


def _chats(folder: Path, project: str, folders: FolderScanner) -> Iterator[SessionEntry]:
    """Yield the chats in a folder; an older document is skipped if there is a log of the chat."""
    files = {path.name: (path, status) for path, status in folders.files(folder, _LOG, _DOCUMENT)}
    for path, status in files.values():
        if path.suffix == _DOCUMENT and f"{path.stem}{_LOG}" in files:
            continue
        yield SessionEntry.of_file(NAME, path.stem, (path, status), SessionDetails(project=project))


def _project(workspace: Path) -> str:
    """Return the folder of a workspace; "" if it is remote or has several folders."""
    url = urlsplit(text_or_empty(read_small_object(workspace).get("folder")))
    return unquote(url.path) if url.scheme == "file" else ""


def _details(entry: SessionEntry) -> SessionDetails:
    listing = object_or_empty(_index(entry.path.parent.with_name("state.vscdb")).get(entry.id))
    head, tail = read_edges(entry.path)
    title = last_value(tail, "customTitle") or last_value(head, "customTitle")
    prompt = object_or_empty(first_value(head, "message")).get("text")
    return SessionDetails(
        title=first_title(listing.get("title"), title, prompt, first_value(head, "text")),
        model=text_or_empty(last_value(tail, "modelId") or last_value(head, "modelId")),
        kind=_kind(listing, head),
    )


def _index(database: Path) -> Mapping[str, Any]:
    """Return the editor's own list of chats by id; {} if it cannot be read, as while locked."""
    if stat_or_none(database) is None:
        return {}
    try:
        with read_only(database) as connection:
            query = "select value from ItemTable where key = ?"
            row = connection.execute(query, (_INDEX,)).fetchone()
        return object_or_empty(object_or_empty(json.loads(row[0])).get("entries")) if row else {}
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return {}


def _kind(listing: Mapping[str, Any], head: bytes) -> SessionKind:
    is_hidden = listing.get("isEmpty") or listing.get("isExternal")
    return "empty" if is_hidden or (not listing and b'"requestId"' not in head) else "main"


STORE = SessionStore(
    client=NAME,
    alias="vscode",
    title="VS Code Chat",
    entries=_entries,
    details=_details,
    unsupported_hint="to make room, begin a new chat in VS Code",
)
