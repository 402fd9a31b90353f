"""Sessions of Gemini CLI: ``tmp/<project>/chats/session-<time>-<id>.jsonl``, or older ``.json``."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from compactctl.clients.fork import Fork, ForkIdentity, session_id_replacer
from compactctl.clients.gemini_cli.wrapping import GEMINI_CLI
from compactctl.clients.reading.documents import (
    IN_DOCUMENT,
    IN_MESSAGE,
    Members,
    iter_items,
    read_small_object,
)
from compactctl.clients.reading.fields import first_title, sum_counts, user_text
from compactctl.clients.reading.file_ends import FileEnds, read_edges, read_ends, read_head
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.records.decode import decode
from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.clients.session import Session, SessionDetails, SessionEntry, SessionKind
from compactctl.clients.store import SessionStore
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment

NAME = "gemini-cli"
_LOG, _DOCUMENT = ".jsonl", ".json"
_USAGE = ("input", "output", "thoughts")
_SUBAGENT = "subagent"


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    root = client_folders.gemini_cli_folder(machine)
    folder_by_project = _folder_by_project(root)
    for project in folders.folders(root / "tmp"):
        listing = SessionDetails(project=_project(project, folder_by_project))
        for path, status in folders.files(project / "chats", _LOG, _DOCUMENT):
            if path.name.startswith("session-"):
                short_id = path.stem.rpartition("-")[2]
                yield SessionEntry.of_file(NAME, short_id, (path, status), listing)


def _folder_by_project(root: Path) -> dict[str, str]:
    """Return the folders of projects by the client's names for them."""
    projects = object_or_empty(read_small_object(root / "projects.json").get("projects"))
    return {text_or_empty(name): folder for folder, name in projects.items()}


def _project(folder: Path, folder_by_project: Mapping[str, str]) -> str:
    root = read_head(folder / ".project_root")
    if root is None:
        return folder_by_project.get(folder.name, "")
    return root.decode("utf-8", "replace").strip()


def _details(entry: SessionEntry) -> SessionDetails:
    if entry.path.suffix == _LOG:
        return _log_details(read_ends(entry.path))
    return _document_details(*read_edges(entry.path))


def _log_details(ends: FileEnds) -> SessionDetails:
    header = next(ends.head_records(), {})
    prompts = (
        user_text(r.get("content"), GEMINI_CLI)
        for r in ends.forward_records()
        if r.get("type") == "user"
    )
    title = first_title(_summary(ends)) or first_title(next(filter(None, prompts), None))
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
    for record in ends.records_newest_first():
        fields = object_or_empty(record.get("$set")) or record
        if "id" not in fields and text_or_empty(fields.get("summary")):
            return text_or_empty(fields["summary"])
    return ""


def _document_details(head: bytes, tail: bytes) -> SessionDetails:
    beginning = Members.of_beginning(head)
    end = beginning if tail is head else Members.of_end(tail)

    def field(name: str) -> object:
        return beginning.last(IN_DOCUMENT, name) or end.last(IN_DOCUMENT, name)

    title = first_title(field("summary"), next(_prompts(head), None))
    tokens = object_or_empty(end.last(IN_MESSAGE, "tokens"))
    return SessionDetails(
        id=text_or_empty(field("sessionId")),
        title=title,
        model=text_or_empty(end.last(IN_MESSAGE, "model")),
        context=sum_counts(tokens, *_USAGE),
        kind=_kind(field("kind"), title),
    )


def _prompts(head: bytes) -> Iterator[str]:
    """Yield the prompts in the complete messages at the start of a document."""
    messages = map(object_or_empty, iter_items(head, "messages"))
    users = (message for message in messages if message.get("type") == "user")
    return filter(None, (user_text(message.get("content"), GEMINI_CLI) for message in users))


def _kind(recorded: object, title: str) -> SessionKind:
    if recorded == _SUBAGENT:
        return "subagent"
    # The client treats a file without any prompt as corrupt.
    return "main" if title else "empty"


def fork(session: Session, identity: ForkIdentity) -> Fork:
    """Fork under a file name with the minute and the new id, which replaces the old one.

    Messages of a log do not name the session; they stay unchanged, whatever their text is.
    """
    new, old = identity.random_id, session.id
    replace_id = session_id_replacer(old, new)
    suffix = session.entry.path.suffix
    title = {"$set": {"summary": identity.fork_title(session.details.title)}}
    is_log = suffix == _LOG

    def rewrite_line(_: int, line: bytes) -> bytes:
        return (
            replace_id(line)
            if old.encode("utf-8", "surrogatepass") in line and not (is_log and _is_message(line))
            else line
        )

    return Fork(
        id=new,
        path=session.entry.path.with_name(
            f"session-{identity.now.astimezone(UTC):%Y-%m-%dT%H-%M}-{new[:8]}{suffix}"
        ),
        original=session,
        rewrite_line=rewrite_line,
        trailing_lines=(f"{json.dumps(title)}\n".encode(),) if is_log else (),
    )


def _is_message(line: bytes) -> bool:
    values, _ = decode(line)
    return "id" in object_or_empty(values[0] if values else None)


STORE = SessionStore(
    client=NAME,
    alias="gemini",
    title="Gemini CLI",
    entries=_entries,
    details=_details,
    fork=fork,
    resume_command="gemini --resume {id}",
    resumes_in_project_only=True,
)
