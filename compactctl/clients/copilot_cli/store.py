"""Sessions of Copilot CLI: ``session-state/<uuid>/events.jsonl`` beside a ``workspace.yaml``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.clients.copilot_cli.workspace import read_fields, with_fields
from compactctl.clients.copilot_cli.wrapping import COPILOT_CLI
from compactctl.clients.fork import ID_KEY, Fork, ForkIdentity, with_session_id
from compactctl.clients.reading.documents import MAX_BYTES
from compactctl.clients.reading.fields import first_title, sum_counts, user_text
from compactctl.clients.reading.file_ends import FileEnds, read_ends
from compactctl.clients.reading.folders import FolderScanner, stat_or_none
from compactctl.clients.records.json_values import count_or_none, object_or_empty, text_or_empty
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.pipeline.record_splice import dump
from compactctl.store import client_folders
from compactctl.store.beginning import read_beginning
from compactctl.store.client_folders import UserEnvironment

NAME = "copilot-cli"
_EVENTS = "events.jsonl"
# The names under which clients record the context's size, newest first.
_SIZES = ("currentTokens", "postCompactionTokens")
_MODELS = ("currentModel", "newModel", "model", "selectedModel")
_WORKSPACE = "workspace.yaml"


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    for folder in folders.folders(client_folders.copilot_cli_folder(machine)):
        status = stat_or_none(folder / _EVENTS)
        if status is not None:
            yield SessionEntry.of_file(NAME, folder.name, (folder / _EVENTS, status))


def _details(entry: SessionEntry) -> SessionDetails:
    ends = read_ends(entry.path)
    workspace = _workspace(entry.path.with_name(_WORKSPACE))
    context, window = _newest_size(ends)
    return SessionDetails(
        title=first_title(workspace.get("name")) or first_title(_first_prompt(ends)),
        project=workspace.get("cwd", "") or _initial_folder(ends),
        model=_model(ends),
        context=context,
        window=window,
    )


def _data(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(record.get("data"))


def _workspace(path: Path) -> dict[str, str]:
    """Return the fields of a session's ``workspace.yaml``; {} if it cannot be read."""
    return read_fields((read_beginning(path, MAX_BYTES) or b"").decode("utf-8", "replace"))


def _first_prompt(ends: FileEnds) -> str:
    contents = (
        _data(r).get("content") for r in ends.forward_records() if r.get("type") == "user.message"
    )
    return next(filter(None, (user_text(content, COPILOT_CLI) for content in contents)), "")


def _initial_folder(ends: FileEnds) -> str:
    starts = (_data(r) for r in ends.head_records() if r.get("type") == "session.start")
    return text_or_empty(object_or_empty(next(starts, {}).get("context")).get("cwd"))


def _newest_size(ends: FileEnds) -> tuple[int | None, int | None]:
    for data in map(_data, ends.backward_records()):
        context = next(filter(None, (sum_counts(data, name) for name in _SIZES)), None)
        if context is not None:
            return context, count_or_none(data.get("tokenLimit"))
    return None, None


def _model(ends: FileEnds) -> str:
    models = (
        text_or_empty(_data(r).get(name)) for r in ends.records_newest_first() for name in _MODELS
    )
    return next(filter(None, models), "")


def fork(session: Session, identity: ForkIdentity) -> Fork:
    """Fork into a new folder, with the new id in the events and in ``workspace.yaml``."""
    new, old = identity.random_id, session.id
    folder = session.entry.path.parent.with_name(new)
    return Fork(
        id=new,
        path=folder / session.entry.path.name,
        original=session,
        rewrite_line=lambda _, line: with_session_id(line, ("data", ID_KEY), old, new),
        extra_files=((folder / _WORKSPACE, _workspace_file(session, identity, new)),),
    )


def _workspace_file(session: Session, identity: ForkIdentity, new: str) -> bytes:
    """Return the session's ``workspace.yaml`` with a new id and title."""
    workspace = read_beginning(session.entry.path.with_name(_WORKSPACE), MAX_BYTES)
    # A JSON string is a YAML string too.
    title = dump(identity.fork_title(session.details.title))
    fields = {"id": new, "name": title, "user_named": "true"}
    if workspace is None:
        fields["cwd"] = dump(session.details.project)
    text = (workspace or b"").decode("utf-8", "surrogateescape")
    return with_fields(text, fields).encode("utf-8", "surrogateescape")


STORE = SessionStore(
    client=NAME,
    alias="copilot",
    title="Copilot CLI",
    entries=_entries,
    details=_details,
    fork=fork,
    resume_command="copilot --resume={id}",
)
