"""Sessions of Gemini CLI: ``tmp/<project>/chats/session-<time>-<id>.jsonl``, before ``.json``."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from compactctl.formats.records.decode import decode
from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.sessions.fork import Fork, ForkIdentity, session_id_replacer
from compactctl.sessions.reading.documents import (
    first_value,
    iter_items,
    last_value,
    read_small_object,
)
from compactctl.sessions.reading.fields import first_title, sum_counts, user_text
from compactctl.sessions.reading.file_ends import FileEnds, read_edges, read_ends, read_head
from compactctl.sessions.reading.folders import FolderScanner
from compactctl.sessions.session import (
    Session,
    SessionDetails,
    SessionEntry,
    SessionKind,
    SessionStore,
)
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment

NAME = "gemini-cli"
_LOG, _DOCUMENT = ".jsonl", ".json"
_USAGE = ("input", "output", "thoughts")
_HELPER = "subagent"


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    root = client_folders.gemini_cli(machine)
    named = _projects(root)
    for project in folders.folders(root / "tmp"):
        known = SessionDetails(project=_project(project, named))
        for path, status in folders.files(project / "chats", _LOG, _DOCUMENT):
            if path.name.startswith("session-"):
                yield SessionEntry.of_file(
                    NAME, path.stem.rpartition("-")[2], (path, status), known
                )


def _projects(root: Path) -> dict[str, str]:
    """Return the folders of projects by the names that the client gave them."""
    listed = object_or_empty(read_small_object(root / "projects.json").get("projects"))
    return {text_or_empty(name): folder for folder, name in listed.items()}


def _project(folder: Path, named: Mapping[str, str]) -> str:
    root = read_head(folder / ".project_root")
    return named.get(folder.name, "") if root is None else root.decode("utf-8", "replace").strip()


def _details(entry: SessionEntry) -> SessionDetails:
    if entry.path.suffix == _LOG:
        return _of_log(read_ends(entry.path))
    return _of_document(*read_edges(entry.path))


def _of_log(ends: FileEnds) -> SessionDetails:
    header = next(ends.head_records(), {})
    asked = (user_text(r.get("content")) for r in ends.forward_records() if r.get("type") == "user")
    title = first_title(_summary(ends)) or first_title(next(filter(None, asked), None))
    answers = (r for r in ends.backward_records() if sum_counts(_tokens(r), *_USAGE))
    newest = next(answers, {})
    return SessionDetails(
        id=text_or_empty(header.get("sessionId")),
        title=title,
        model=text_or_empty(newest.get("model")),
        context=sum_counts(_tokens(newest), *_USAGE),
        kind=_kind(header.get("kind"), title),
    )


def _tokens(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(record.get("tokens")) if record.get("type") == "gemini" else {}


def _summary(ends: FileEnds) -> str:
    for record in ends.newest_first():
        changed = object_or_empty(record.get("$set")) or record
        if "id" not in changed and text_or_empty(changed.get("summary")):
            return text_or_empty(changed["summary"])
    return ""


def _of_document(head: bytes, tail: bytes) -> SessionDetails:
    title = first_title(last_value(tail, "summary"), next(_typed(head), None))
    tokens = object_or_empty(last_value(tail, "tokens"))
    kind = first_value(head, "kind") or last_value(tail, "kind")
    return SessionDetails(
        id=text_or_empty(first_value(head, "sessionId") or last_value(tail, "sessionId")),
        title=title,
        model=text_or_empty(last_value(tail, "model")),
        context=sum_counts(tokens, *_USAGE),
        kind=_kind(kind, title),
    )


def _typed(head: bytes) -> Iterator[str]:
    """Yield what people typed in the messages that a beginning holds whole."""
    asked = (
        m for m in map(object_or_empty, iter_items(head, "messages")) if m.get("type") == "user"
    )
    return filter(None, (user_text(message.get("content")) for message in asked))


def _kind(told: object, title: str) -> SessionKind:
    if told == _HELPER:
        return "subagent"
    # The client takes a file in which nobody asked anything for a broken one.
    return "main" if title else "empty"


STORE = SessionStore(
    client=NAME,
    alias="gemini",
    title="Gemini CLI",
    entries=_entries,
    details=_details,
    resume_command="gemini --resume {id}",
    resumes_in_project_only=True,
)


def fork(session: Session, fresh: ForkIdentity) -> Fork:
    """Name the file by the minute and the new id, and the session in every record about it."""
    new, old = fresh.random_id, session.id
    name = session_id_replacer(old, new)
    suffix = session.entry.path.suffix
    title = {"$set": {"summary": fresh.fork_title(session.details.title)}}
    is_log = suffix == ".jsonl"

    def renamed(_: int, line: bytes) -> bytes:
        return name(line) if old.encode() in line and not (is_log and _is_message(line)) else line

    return Fork(
        id=new,
        path=session.entry.path.with_name(
            f"session-{fresh.now.astimezone(UTC):%Y-%m-%dT%H-%M}-{new[:8]}{suffix}"
        ),
        original=session,
        rewrite_line=renamed,
        trailing_lines=(f"{json.dumps(title)}\n".encode(),) if is_log else (),
    )


def _is_message(line: bytes) -> bool:
    values, _ = decode(line)
    return "id" in object_or_empty(values[0] if values else None)
