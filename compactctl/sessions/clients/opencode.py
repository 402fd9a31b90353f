"""Sessions of OpenCode: rows of ``opencode.db``, an SQLite database that is only read."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.sessions.reading.database import columns_of, read_only
from compactctl.sessions.reading.folders import Folders, status_of
from compactctl.sessions.reading.numbers import total_of
from compactctl.sessions.reading.titles import title_of
from compactctl.sessions.session import Details, Entry, Store
from compactctl.store import places
from compactctl.store.places import Machine

NAME = "opencode"
# Some columns hold whole differences of files; these are what a list shows.
_COLUMNS = ("id", "parent_id", "title", "directory", "time_updated", "time_archived")
_NEWEST = 20
"""How many of the newest messages are looked through for what was counted last."""


def databases(machine: Machine, folders: Folders | None = None) -> list[Path]:
    """Return the databases there are: the one that is named, or one for each channel."""
    folder = places.opencode(machine)
    named = machine.environ.get("OPENCODE_DB")
    if named:
        return [folder / Path(named).expanduser()]
    found = (path for path, _ in (folders or Folders()).files(folder, ".db"))
    return sorted(path for path in found if path.stem.split("-")[0] == NAME)


def _entries(machine: Machine, folders: Folders) -> Iterator[Entry]:
    for path in databases(machine, folders):
        if status_of(path) is None:
            folders.searched.append(path)
            continue
        try:
            yield from _rows(path)
        except sqlite3.Error as error:
            folders.note(path, error)


def _rows(path: Path) -> list[Entry]:
    with read_only(path) as database:
        columns = [each for each in _COLUMNS if each in columns_of(database, "session")]
        if not {"id", "time_updated"} <= set(columns):
            return []
        # The names are from the table above.
        query = f"select {', '.join(columns)} from session"  # noqa: S608
        return [_entry(path, dict(row)) for row in database.execute(query)]


def _entry(path: Path, row: Mapping[str, Any]) -> Entry:
    updated = row["time_updated"]
    return Entry(
        client=NAME,
        id=text_or_empty(row["id"]),
        path=path,
        modified=updated / 1000 if isinstance(updated, (int, float)) else 0.0,
        archived=row.get("time_archived") is not None,
        known=Details(
            title=title_of(row.get("title")),
            project=text_or_empty(row.get("directory")),
            kind="subagent" if row.get("parent_id") else "main",
        ),
    )


def _details(entry: Entry) -> Details:
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
                return Details(context=context, model=text_or_empty(message.get("modelID")))
    return Details()


def _context(message: Mapping[str, Any]) -> int | None:
    """Return the tokens of a request and its answer; None for the request that summarized."""
    tokens = object_or_empty(message.get("tokens"))
    if message.get("summary"):
        return None
    sent = total_of(tokens, "input", "output", "reasoning") or 0
    return sent + (total_of(object_or_empty(tokens.get("cache")), "read", "write") or 0) or None


def _parsed(data: object) -> Mapping[str, Any]:
    try:
        return object_or_empty(json.loads(data)) if isinstance(data, (str, bytes)) else {}
    except (ValueError, RecursionError):
        return {}


STORE = Store(
    client=NAME,
    alias="opencode",
    title="OpenCode",
    entries=_entries,
    details=_details,
    resume="opencode -s {id}",
    is_resumed_at_home=True,
)
