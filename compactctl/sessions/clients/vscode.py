"""Chats of VS Code: ``chatSessions/<id>.jsonl`` of each workspace, older ones ``.json``."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.sessions.reading.database import read_only
from compactctl.sessions.reading.documents import (
    first_value,
    last_value,
    read_small_object,
)
from compactctl.sessions.reading.fields import first_title
from compactctl.sessions.reading.file_ends import read_edges
from compactctl.sessions.reading.folders import FolderScanner, stat_or_none
from compactctl.sessions.session import SessionDetails, SessionEntry, SessionKind, SessionStore
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
    """Yield the chats in a folder; of a log and an older document the log counts."""
    found = {path.name: (path, status) for path, status in folders.files(folder, _LOG, _DOCUMENT)}
    for path, status in found.values():
        if path.suffix == _DOCUMENT and f"{path.stem}{_LOG}" in found:
            continue
        yield SessionEntry.of_file(NAME, path.stem, (path, status), SessionDetails(project=project))


def _project(workspace: Path) -> str:
    """Return the folder that a workspace is about, "" for one elsewhere or of several folders."""
    place = urlsplit(text_or_empty(read_small_object(workspace).get("folder")))
    return unquote(place.path) if place.scheme == "file" else ""


def _details(entry: SessionEntry) -> SessionDetails:
    listed = object_or_empty(_index(entry.path.parent.with_name("state.vscdb")).get(entry.id))
    head, tail = read_edges(entry.path)
    named = last_value(tail, "customTitle") or last_value(head, "customTitle")
    asked = object_or_empty(first_value(head, "message")).get("text")
    return SessionDetails(
        title=first_title(listed.get("title"), named, asked, first_value(head, "text")),
        model=text_or_empty(last_value(tail, "modelId") or last_value(head, "modelId")),
        kind=_kind(listed, head),
    )


def _index(database: Path) -> Mapping[str, Any]:
    """Return what the editor's own list says of chats by their ids; nothing when it is locked."""
    if stat_or_none(database) is None:
        return {}
    try:
        with read_only(database) as opened:
            query = "select value from ItemTable where key = ?"
            row = opened.execute(query, (_INDEX,)).fetchone()
        return object_or_empty(object_or_empty(json.loads(row[0])).get("entries")) if row else {}
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return {}


def _kind(listed: Mapping[str, Any], head: bytes) -> SessionKind:
    is_left_out = listed.get("isEmpty") or listed.get("isExternal")
    return "empty" if is_left_out or (not listed and b'"requestId"' not in head) else "main"


STORE = SessionStore(
    client=NAME,
    alias="vscode",
    title="VS Code Chat",
    entries=_entries,
    details=_details,
    unsupported_hint="to make room, begin a new chat in VS Code",
)
