"""Sessions of OpenCode and Kilo: rows of SQLite databases, which are only read."""

import json
import re
import shlex
import sqlite3
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from compactctl.clients.fork import Fork, ForkIdentity
from compactctl.clients.reading.database import column_names, read_only
from compactctl.clients.reading.fields import first_title, sum_counts
from compactctl.clients.reading.folders import FolderScanner, stat_or_none
from compactctl.clients.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.store import SessionDatabase, SessionStore
from compactctl.model.json_parser import parse_json
from compactctl.records import Record
from compactctl.store.client_folders import UserEnvironment, database_folder, state_folder
from compactctl.store.files.limits import ReadLimits

# Only these, because other columns contain whole diffs of files.
_ENTRY_COLUMNS = ("id", "parent_id", "title", "directory", "time_updated", "time_archived")
_MAX_MESSAGES = 20
"""The number of newest messages to search for reported usage."""
# Ids start with the time of their creation, by which the client sorts; the rest is random.
_ID_PATTERN = re.compile(r"((?:ses|msg|prt)_0?[0-9a-f]{12})[0-9A-Za-z]{13,14}")
_N_RANDOM_CHARS = 14
_ID_FIELDS = (
    "id",
    "sessionID",
    "messageID",
    "parentID",
    "partID",
    "tail_start_id",
    "pending_user_id",
)
# Field of an exported document -> column of the session.
_INFO_COLUMNS = {
    "id": "id",
    "slug": "slug",
    "projectID": "project_id",
    "directory": "directory",
    "parentID": "parent_id",
    "title": "title",
    "version": "version",
}
_TIME_COLUMNS = {"created": "time_created", "updated": "time_updated", "archived": "time_archived"}


class Program(Record):
    """A client with OpenCode's tables. Its folders, databases and commands have its name.

    ``database_variable`` is the environment variable that names its database.
    """

    name: str
    title: str
    database_variable: str


def find_databases(
    program: Program, machine: UserEnvironment, folders: FolderScanner | None = None
) -> list[Path]:
    """Return the databases: the one that the variable names, else one for each release channel."""
    folder = database_folder(program.name, machine)
    configured = machine.environ.get(program.database_variable)
    if configured:
        return [folder / Path(configured).expanduser()]
    paths = (path for path, _ in (folders or FolderScanner()).files(folder, ".db"))
    return sorted(path for path in paths if path.stem.split("-")[0] == program.name)


def _iter_entries(
    program: Program, machine: UserEnvironment, folders: FolderScanner
) -> Iterator[SessionEntry]:
    for path in find_databases(program, machine, folders):
        if stat_or_none(path) is None:
            folders.searched.append(path)
            continue
        try:
            yield from _load_entries(program, path)
        except sqlite3.Error as error:
            folders.add_warning(path, error)


def _load_entries(program: Program, path: Path) -> list[SessionEntry]:
    with read_only(path) as database:
        existing_columns = column_names(database, "session")
        columns = [column for column in _ENTRY_COLUMNS if column in existing_columns]
        if not {"id", "time_updated"} <= set(columns):
            return []
        # The names are those of _COLUMNS.
        query = f"select {', '.join(columns)} from session"  # noqa: S608
        return [_entry_of_row(program, path, dict(row)) for row in database.execute(query)]


def _entry_of_row(program: Program, path: Path, row: Mapping[str, Any]) -> SessionEntry:
    updated = row["time_updated"]
    return SessionEntry(
        client=program.name,
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


def _read_details(entry: SessionEntry) -> SessionDetails:
    """Return context size and model of the newest answer; the session's row has only sums."""
    query = (
        "select data from message where session_id = ? order by time_created desc, id desc limit ?"
    )
    with read_only(entry.path) as database:
        rows = [row["data"] for row in database.execute(query, (entry.id, _MAX_MESSAGES))]
    for message in map(_parse_object, rows):
        if message.get("role") == "assistant":
            context = _context_tokens(message)
            if context is not None or message.get("summary"):
                return SessionDetails(context=context, model=text_or_empty(message.get("modelID")))
    return SessionDetails()


def _context_tokens(message: Mapping[str, Any]) -> int | None:
    """Return the tokens of a request and its answer; None if unknown or if it compacted."""
    if message.get("summary"):
        return None
    tokens = object_or_empty(message.get("tokens"))
    uncached = sum_counts(tokens, "input", "output", "reasoning") or 0
    cached = sum_counts(object_or_empty(tokens.get("cache")), "read", "write") or 0
    return uncached + cached or None


def _fork(program: Program, session: Session, identity: ForkIdentity) -> Fork:
    """Fork into a document to import, with new ids for the session, its messages and their parts.

    The client ignores an imported record whose id it already has.
    """
    salt, old_id = f"{identity.random_bits:x}", session.id
    new_id = _fork_id(old_id, salt)
    path = document_to_import(program, new_id, identity.machine)
    title = identity.fork_title(session.details.title)

    def rewrite_line(_: int, line: bytes) -> bytes:
        document = json.loads(line)
        document["info"] = _with_fork_ids(document["info"], salt)
        document["info"] |= {"title": title, "time": _times(document["info"], identity)}
        for message in document["messages"]:
            message["info"] = _with_fork_ids(message["info"], salt)
            message["parts"] = [
                _as_imported(_with_fork_ids(part, salt)) for part in list_or_empty(message["parts"])
            ]
        return json.dumps(document).encode() + b"\n"

    return Fork(
        id=new_id,
        path=path,
        original=session,
        rewrite_line=rewrite_line,
        import_command=f"{program.name} import {shlex.quote(str(path))}",
    )


def _times(info: Mapping[str, Any], identity: ForkIdentity) -> dict[str, Any]:
    """Return the times of a session that is created now, in milliseconds."""
    now = int(identity.now.timestamp() * 1000)
    return {**object_or_empty(info.get("time")), "created": now}


def document_to_import(program: Program, session: str, machine: UserEnvironment) -> Path:
    """Return the path of the document from which the client imports a fork by its id."""
    # An id may be any text; this one names a file in the folder, and no other.
    name = re.sub(r"[^\w-]", "_", session)
    return state_folder(machine) / program.name / f"{name}.json"


def _with_fork_ids(fields: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return the fields of a session, message or part with all ids replaced."""
    ids = {
        key: _fork_id(fields[key], salt)
        for key in _ID_FIELDS
        if isinstance(fields.get(key), str) and fields[key]
    }
    revert = object_or_empty(fields.get("revert"))
    return {**fields, **ids, **({"revert": _with_fork_ids(revert, salt)} if revert else {})}


def _as_imported(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part without what Kilo 7.7.9 writes but does not import.

    Otherwise the imported session would seem to be edited.
    """
    dropped = {"time"} if part.get("type") == "step-start" else ()
    return {key: value for key, value in part.items() if key not in dropped}


def _fork_id(old_id: str, salt: str) -> str:
    """Return a new id with the time of the old one, so that both sort alike.

    That of a message or part has a zero before it: Kilo 7.7.9 leaves out prompts whose ids are
    greater than the newest one's, and times in ids began anew on 14 August 2026.
    """
    digest = sha256(f"{salt} {old_id}".encode("utf-8", "surrogatepass")).hexdigest()
    match = _ID_PATTERN.fullmatch(old_id)
    start = re.sub(r"^(msg|prt)_(?!0)", r"\1_0", match[1] if match else old_id)
    return f"{start}{digest}"[: len(old_id) if match else len(start) + _N_RANDOM_CHARS]


def _export_session(
    program: Program, session: str, machine: UserEnvironment, limits: ReadLimits
) -> bytes | None:
    """Export a session; see ``SessionDatabase``."""
    databases = find_databases(program, machine)
    documents = (_export_from(program, path, session, limits) for path in databases)
    return next((document for document in documents if document is not None), None)


def _export_from(program: Program, path: Path, session: str, limits: ReadLimits) -> bytes | None:
    with read_only(path, limits.max_line_bytes) as database:
        query = "select * from session where id = ?"
        session_row = database.execute(query, (session,)).fetchone()
        if session_row is None:
            return None
        limits.check_line(_n_bytes(database, session), f"{program.name}:{session}", 1)
        parts = _parts_by_message(database, session)
        # Sorted as in the client. Ids do not suffice: their 48-bit time wrapped on 2026-08-14.
        query = "select id, data from message where session_id = ? order by time_created, id"
        rows = database.execute(query, (session,)).fetchall()
    messages = [
        {
            "info": _with_ids(row["data"], id=row["id"], sessionID=session),
            "parts": parts.get(row["id"], []),
        }
        for row in rows
    ]
    document = {"info": _session_info(dict(session_row)), "messages": messages}
    return json.dumps(document).encode() + b"\n"


def _n_bytes(database: sqlite3.Connection, session: str) -> int:
    query = """
        select sum(length(cast(data as blob))) from (
            select data from message where session_id = :id
            union all select data from part where session_id = :id
        )
    """
    return database.execute(query, {"id": session}).fetchone()[0] or 0


def _parts_by_message(
    database: sqlite3.Connection, session: str
) -> dict[str, list[dict[str, Any]]]:
    """Return the parts of each message by its id, sorted by their own ids as in the client."""
    parts: dict[str, list[dict[str, Any]]] = {}
    query = "select id, message_id, data from part where session_id = ? order by id"
    for row in database.execute(query, (session,)):
        part = _with_ids(row["data"], id=row["id"], sessionID=session, messageID=row["message_id"])
        parts.setdefault(row["message_id"], []).append(part)
    return parts


def _session_info(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = _present_fields(row, _INFO_COLUMNS)
    objects = {name: _parse_object(row.get(name)) for name in ("model", "revert")}
    times = _present_fields(row, _TIME_COLUMNS)
    return {**fields, "time": times, **{name: value for name, value in objects.items() if value}}


def _present_fields(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    return {name: row[column] for name, column in columns.items() if row.get(column) is not None}


def _with_ids(data: object, **ids: str) -> dict[str, Any]:
    """Return a JSON object with the ids that the database keeps in separate columns."""
    return {**_parse_object(data), **ids}


def _parse_object(data: object) -> dict[str, Any]:
    try:
        text = data.decode() if isinstance(data, bytes) else data
        value = parse_json(text) if isinstance(text, str) else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def session_store(program: Program) -> SessionStore:
    """Return the store of a client."""
    return SessionStore(
        client=program.name,
        alias=program.name,
        title=program.title,
        entries=partial(_iter_entries, program),
        details=_read_details,
        fork=partial(_fork, program),
        database=SessionDatabase(
            export=partial(_export_session, program), document=partial(document_to_import, program)
        ),
        resume_command=f"{program.name} -s {{id}}",
        resumes_in_project_only=True,
    )


OPENCODE = Program(name="opencode", title="OpenCode", database_variable="OPENCODE_DB")
STORE = session_store(OPENCODE)
