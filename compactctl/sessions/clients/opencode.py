"""Sessions of OpenCode: rows of ``opencode.db``, an SQLite database that is only read."""

import json
import re
import shlex
import sqlite3
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.sessions.fork import Fork, ForkIdentity
from compactctl.sessions.reading.database import column_names, read_only
from compactctl.sessions.reading.fields import first_title, sum_counts
from compactctl.sessions.reading.folders import FolderScanner, stat_or_none
from compactctl.sessions.session import Session, SessionDetails, SessionEntry, SessionStore
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment, state_folder

NAME = "opencode"
# Some columns hold whole differences of files; these are what a list shows.
_COLUMNS = ("id", "parent_id", "title", "directory", "time_updated", "time_archived")
_NEWEST = 20
"""How many of the newest messages are looked through for what was counted last."""


def databases(machine: UserEnvironment, folders: FolderScanner | None = None) -> list[Path]:
    """Return the databases there are: the one that is named, or one for each channel."""
    folder = client_folders.opencode(machine)
    named = machine.environ.get("OPENCODE_DB")
    if named:
        return [folder / Path(named).expanduser()]
    found = (path for path, _ in (folders or FolderScanner()).files(folder, ".db"))
    return sorted(path for path in found if path.stem.split("-")[0] == NAME)


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    for path in databases(machine, folders):
        if stat_or_none(path) is None:
            folders.searched.append(path)
            continue
        try:
            yield from _rows(path)
        except sqlite3.Error as error:
            folders.add_warning(path, error)


def _rows(path: Path) -> list[SessionEntry]:
    with read_only(path) as database:
        columns = [each for each in _COLUMNS if each in column_names(database, "session")]
        if not {"id", "time_updated"} <= set(columns):
            return []
        # The names are from the table above.
        query = f"select {', '.join(columns)} from session"  # noqa: S608
        return [_entry(path, dict(row)) for row in database.execute(query)]


def _entry(path: Path, row: Mapping[str, Any]) -> SessionEntry:
    updated = row["time_updated"]
    return SessionEntry(
        client=NAME,
        id=text_or_empty(row["id"]),
        path=path,
        modified=updated / 1000 if isinstance(updated, (int, float)) else 0.0,
        archived=row.get("time_archived") is not None,
        listing=SessionDetails(
            title=first_title(row.get("title")),
            project=text_or_empty(row.get("directory")),
            kind="subagent" if row.get("parent_id") else "main",
        ),
    )


def _details(entry: SessionEntry) -> SessionDetails:
    """Return what the newest answer says; the counts in the session's own row are sums."""
    query = (
        "select data from message where session_id = ? order by time_created desc, id desc limit ?"
    )
    with read_only(entry.path) as database:
        newest = [row["data"] for row in database.execute(query, (entry.id, _NEWEST))]
    for message in map(_parsed, newest):
        if message.get("role") == "assistant":
            context = _context(message)
            if context is not None or message.get("summary"):
                return SessionDetails(context=context, model=text_or_empty(message.get("modelID")))
    return SessionDetails()


def _context(message: Mapping[str, Any]) -> int | None:
    """Return the tokens of a request and its answer; None for the request that summarized."""
    tokens = object_or_empty(message.get("tokens"))
    if message.get("summary"):
        return None
    sent = sum_counts(tokens, "input", "output", "reasoning") or 0
    return sent + (sum_counts(object_or_empty(tokens.get("cache")), "read", "write") or 0) or None


def _parsed(data: object) -> Mapping[str, Any]:
    try:
        return object_or_empty(json.loads(data)) if isinstance(data, (str, bytes)) else {}
    except (ValueError, RecursionError):
        return {}


STORE = SessionStore(
    client=NAME,
    alias="opencode",
    title="OpenCode",
    entries=_entries,
    details=_details,
    resume_command="opencode -s {id}",
    resumes_in_project_only=True,
)


# By the time they were made, by which the client sorts, and at random.
_ID = re.compile(r"((?:ses|msg|prt)_[0-9a-f]{12})[0-9A-Za-z]{14}")
_RANDOM = 14
_NAMED = ("id", "sessionID", "messageID", "parentID", "partID", "tail_start_id")


def fork(session: Session, fresh: ForkIdentity) -> Fork:
    """Name the session, its messages and their parts anew: the client passes by ids it knows.

    Its database is not written to, so the session is a document that the client is told to import.
    """
    salt, old = f"{fresh.random_bits:x}", session.id
    new = _fresh(old, salt)
    path = state_folder(fresh.machine) / "opencode" / f"{new}.json"
    title = fresh.fork_title(session.details.title)

    def renamed(_: int, line: bytes) -> bytes:
        document = json.loads(line)
        document["info"] = {**_renamed(document["info"], salt), "title": title}
        for message in document["messages"]:
            message["info"] = _renamed(message["info"], salt)
            message["parts"] = [_renamed(part, salt) for part in list_or_empty(message["parts"])]
        return json.dumps(document).encode() + b"\n"

    return Fork(
        id=new,
        path=path,
        original=session,
        rewrite_line=renamed,
        import_command=f"opencode import {shlex.quote(str(path))}",
    )


def _renamed(facts: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return the facts of a session, a message or a part with new ids for all that they name."""
    named = {
        key: _fresh(facts[key], salt)
        for key in _NAMED
        if isinstance(facts.get(key), str) and facts[key]
    }
    undone = object_or_empty(facts.get("revert"))
    return {**facts, **named, **({"revert": _renamed(undone, salt)} if undone else {})}


def _fresh(name: str, salt: str) -> str:
    """Return a new id that sorts as the old one does."""
    digest = sha256(f"{salt} {name}".encode()).hexdigest()
    made = _ID.fullmatch(name)
    return f"{made[1]}{digest[:_RANDOM]}" if made else f"{name}{digest[:_RANDOM]}"


# Field of the document -> column of the session.
_INFO = {
    "id": "id",
    "slug": "slug",
    "projectID": "project_id",
    "directory": "directory",
    "parentID": "parent_id",
    "title": "title",
    "version": "version",
}
_TIMES = {"created": "time_created", "updated": "time_updated", "archived": "time_archived"}


def opencode_document(session: str, machine: UserEnvironment) -> bytes | None:
    """Return a session as one line of JSON; None when no database has it.

    Raises sqlite3.Error when a database cannot be read.
    """
    found = (_document(path, session) for path in databases(machine))
    return next((each for each in found if each is not None), None)


def _document(path: Path, session: str) -> bytes | None:
    with read_only(path) as database:
        row = database.execute("select * from session where id = ?", (session,)).fetchone()
        if row is None:
            return None
        parts = _parts(database, session)
        # As the client sorts: the time in its ids has 48 bits and wrapped on 14 August 2026.
        query = "select id, data from message where session_id = ? order by time_created, id"
        rows = database.execute(query, (session,)).fetchall()
    messages = [
        {
            "info": _with_ids(each["data"], id=each["id"], sessionID=session),
            "parts": parts.get(each["id"], []),
        }
        for each in rows
    ]
    return json.dumps({"info": _info(dict(row)), "messages": messages}).encode() + b"\n"


def _parts(database: sqlite3.Connection, session: str) -> dict[str, list[dict[str, Any]]]:
    """Return the parts of each message by its id, in the order of the client: by their own ids."""
    found: dict[str, list[dict[str, Any]]] = {}
    query = "select id, message_id, data from part where session_id = ? order by id"
    for row in database.execute(query, (session,)):
        part = _with_ids(row["data"], id=row["id"], sessionID=session, messageID=row["message_id"])
        found.setdefault(row["message_id"], []).append(part)
    return found


def _info(row: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: row[column] for name, column in _INFO.items() if row.get(column) is not None}
    times = {name: row[column] for name, column in _TIMES.items() if row.get(column) is not None}
    undone = _object(row.get("revert"))
    return {**told, "time": times, **({"revert": undone} if undone else {})}


def _with_ids(data: object, **ids: str) -> dict[str, Any]:
    """Return an object of which the database holds the ids in columns of their own."""
    return {**_object(data), **ids}


def _object(data: object) -> dict[str, Any]:
    try:
        value = json.loads(data) if isinstance(data, (str, bytes)) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
