"""Sessions of Cline: ``<id>/<id>.messages.json`` of its SDK, and tasks of its older extension."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.clients.cline.assistant_messages import sent_tokens
from compactctl.clients.cline.tasks import task_context, task_entries, task_prompt
from compactctl.clients.fork import Fork, ForkIdentity, session_id_replacer
from compactctl.clients.reading.documents import (
    IN_MESSAGE,
    Members,
    read_small_array,
    read_small_object,
)
from compactctl.clients.reading.fields import first_title, sum_counts
from compactctl.clients.reading.file_ends import read_edges
from compactctl.clients.reading.folders import FolderScanner, is_alive, stat_or_none
from compactctl.clients.records.json_values import count_or_none, object_or_empty, text_or_empty
from compactctl.clients.session import Session, SessionDetails, SessionEntry, SessionKind
from compactctl.clients.store import SessionStore
from compactctl.model.message import NO_TAGS
from compactctl.model.transcript import Transcript
from compactctl.store import client_folders
from compactctl.store.beginning import read_beginning
from compactctl.store.client_folders import CLINE_EXTENSION, UserEnvironment

NAME = "cline"
_MESSAGES = ".messages.json"
_COMPACTED = ".compaction.json"
# The newest message that a compaction stands for is named before the messages that it has.
_BOUNDARY = re.compile(rb'"source_last_message_key":\s*"id:([^"]+)"')
_COUNT = re.compile(rb'"source_message_count":\s*([0-9]{1,9})\b')
_MAX_HEAD = 4_096
_OLDER_TOKENS = ("prompt", "cached", "completion")
_ID_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_LENGTH = 5


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    for folder in folders.folders(client_folders.cline_folder(machine)):
        path = folder / f"{folder.name}{_MESSAGES}"
        status = stat_or_none(path)
        if status is not None:
            yield SessionEntry.of_file(NAME, folder.name, (path, status))
    for user in client_folders.editor_folders(machine):
        storage = user / "globalStorage" / CLINE_EXTENSION
        yield from task_entries(NAME, storage, folders, _history(storage))


def _history(storage: Path) -> dict[str, SessionDetails]:
    """Return the details in the extension's own list of tasks, by id."""
    tasks = map(object_or_empty, read_small_array(storage / "state" / "taskHistory.json"))
    return {
        text_or_empty(task.get("id")): SessionDetails(
            title=first_title(task.get("task")),
            project=text_or_empty(task.get("cwdOnTaskInitialization")),
        )
        for task in tasks
    }


def _details(entry: SessionEntry) -> SessionDetails:
    if not entry.path.name.endswith(_MESSAGES):
        context, model = task_context(entry.path)
        return SessionDetails(
            title=first_title(task_prompt(entry.path)), context=context, model=model
        )
    manifest = read_small_object(entry.path.with_name(f"{entry.id}.json"))
    head, tail = read_edges(entry.path)
    members = Members.of_beginning(tail) if tail is head else Members.of_end(tail)
    metadata = object_or_empty(manifest.get("metadata"))
    return SessionDetails(
        title=first_title(metadata.get("title"), manifest.get("prompt")),
        project=text_or_empty(manifest.get("cwd") or manifest.get("workspace_root")),
        model=_model(members) or text_or_empty(manifest.get("model")),
        context=_context(members),
        kind=_kind(manifest),
        open=manifest.get("status") == "running" and is_alive(manifest.get("pid")),
    )


def _model(members: Members) -> str:
    model = object_or_empty(members.last(IN_MESSAGE, "modelInfo"))
    return text_or_empty(model.get("modelId") or model.get("id"))


def _context(members: Members) -> int | None:
    metrics = object_or_empty(members.last(IN_MESSAGE, "metrics"))
    sent, answer = sent_tokens(metrics), count_or_none(metrics.get("outputTokens"))
    if sent is not None:
        return sent + (answer or 0)
    return sum_counts(object_or_empty(metrics.get("tokens")), *_OLDER_TOKENS)


def _kind(manifest: Mapping[str, Any]) -> SessionKind:
    is_subagent = manifest.get("is_subagent") or manifest.get("parent_session_id")
    return "subagent" if is_subagent else "main"


def compacted_beside(path: Path, transcript: Transcript) -> str:
    """Warn of a file with what the SDK compacted; return "" if it does not count.

    It is sent as long as the messages that it stands for are as they were (3.0.65:
    ``readSessionCompactionState``).
    """
    if not path.name.endswith(_MESSAGES):
        return ""
    beside = path.with_name(f"{path.name.removesuffix(_MESSAGES)}{_COMPACTED}")
    head = read_beginning(beside, _MAX_HEAD) or b""
    boundary, count = _BOUNDARY.search(head), _COUNT.search(head)
    name = boundary[1].decode(errors="replace") if boundary else ""
    places = [place for place, message in enumerate(transcript.messages) if message.id == name]
    if not places or any(m.tags != NO_TAGS for m in transcript.messages[: places[0] + 1]):
        return ""
    # Messages before it that were hidden are not in the file.
    index = transcript.messages[places[0]].record_path[-1]
    if count is not None and isinstance(index, int) and index + 1 < int(count[1]):
        return ""
    return (
        f"{beside.name} has what the client compacted, and it sends that instead; this is not"
        " followed, so what is sent may differ"
    )


def fork(session: Session, identity: ForkIdentity) -> Fork | None:
    """Fork into a new folder, with the new id in both files; None for tasks of the extension.

    A running editor keeps the list of those tasks in memory.
    """
    old_path = session.entry.path
    if not old_path.name.endswith(_MESSAGES):
        return None
    new, old = _id(identity), session.id
    folder = old_path.parent.with_name(new)
    path = folder / f"{new}{_MESSAGES}"
    manifest = dict(read_small_object(old_path.with_name(f"{old}.json")))
    metadata = object_or_empty(manifest.get("metadata"))
    manifest |= {
        "session_id": new,
        "messages_path": str(path),
        "metadata": {**metadata, "title": identity.fork_title(session.details.title)},
    }
    # What the client compacted is of the other session.
    manifest.pop("compaction_path", None)
    # The client passes over a session without the number of its process.
    if manifest.get("status") == "running":
        manifest["status"] = "completed"
    rename = session_id_replacer(old, new)
    return Fork(
        id=new,
        path=path,
        original=session,
        rewrite_line=lambda _, line: rename(line),
        extra_files=((folder / f"{new}.json", f"{json.dumps(manifest, indent=2)}\n".encode()),),
    )


def _id(identity: ForkIdentity) -> str:
    """Return an id in the client's form: milliseconds and five random characters."""
    characters = (_ID_DIGITS[identity.random_bits >> 6 * index & 31] for index in range(_ID_LENGTH))
    return f"{int(identity.now.timestamp() * 1000)}_{''.join(characters)}"


STORE = SessionStore(
    client=NAME,
    alias="cline",
    title="Cline",
    entries=_entries,
    details=_details,
    fork=fork,
    resume_command="cline --id {id}",
)
