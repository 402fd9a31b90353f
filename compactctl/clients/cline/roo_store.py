"""Sessions of Roo Code: ``tasks/<uuid>/api_conversation_history.json`` in VS Code's storage."""

from collections.abc import Iterator
from pathlib import Path

from compactctl.clients.cline.tasks import task_context, task_entries, task_prompt
from compactctl.clients.reading.documents import first_value, read_small_object
from compactctl.clients.reading.fields import first_title
from compactctl.clients.reading.file_ends import read_head
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.records.json_values import text_or_empty
from compactctl.clients.session import SessionDetails, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.store import client_folders
from compactctl.store.client_folders import ROO_EXTENSION, UserEnvironment

NAME = "roo"
_FOLDER_SETTING = "roo-cline.customStoragePath"


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    storages: list[Path] = []
    for user in client_folders.editor_folders(machine):
        storages += [
            user / "globalStorage" / ROO_EXTENSION,
            *_configured_folders(user / "settings.json"),
        ]
    for storage in dict.fromkeys(storages):
        yield from task_entries(NAME, storage, folders, {})


def _configured_folders(settings: Path) -> list[Path]:
    """Return the folder that an editor's settings name, if any; they are JSON with comments."""
    folder = text_or_empty(first_value(read_head(settings) or b"", _FOLDER_SETTING))
    return [Path(folder).expanduser()] if folder else []


def _details(entry: SessionEntry) -> SessionDetails:
    history = read_small_object(entry.path.with_name("history_item.json"))
    context, model = task_context(entry.path)
    return SessionDetails(
        title=first_title(history.get("task"), task_prompt(entry.path)),
        project=text_or_empty(history.get("workspace")),
        model=model,
        context=context,
        kind="subtask" if history.get("parentTaskId") else "main",
    )


STORE = SessionStore(
    client=NAME,
    alias="roo",
    title="Roo Code",
    entries=_entries,
    details=_details,
    respects_inline_tags=True,
)
