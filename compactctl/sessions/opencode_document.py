"""A session in OpenCode's database as the document that ``opencode export`` writes."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compactctl.sessions.clients.opencode import databases
from compactctl.sessions.reading.database import read_only
from compactctl.store.places import Machine

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


def opencode_document(session: str, machine: Machine) -> bytes | None:
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
