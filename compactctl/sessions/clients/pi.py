"""Sessions of pi: ``sessions/--<folder>--/<time>_<uuid>.jsonl``."""

from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.pipeline.record_splice import with_fields
from compactctl.sessions.fork import Fork, Fresh, first_record
from compactctl.sessions.reading.documents import document_if_any
from compactctl.sessions.reading.fields import title_of, total_of, typed_text
from compactctl.sessions.reading.file_ends import Ends, read_ends
from compactctl.sessions.reading.folders import Folders
from compactctl.sessions.session import Details, Entry, Session, Store
from compactctl.store import client_folders
from compactctl.store.client_folders import Machine

NAME = "pi"
_USAGE = ("input", "cacheRead", "cacheWrite", "output")


def _entries(machine: Machine, folders: Folders) -> Iterator[Entry]:
    root = _root(machine)
    for folder in (root, *folders.folders(root)):
        for path, status in folders.files(folder, ".jsonl"):
            yield Entry.of_file(NAME, path.stem.rpartition("_")[2], (path, status))


def _root(machine: Machine) -> Path:
    """Return the folder that the environment names, else the one in pi's settings."""
    usual = client_folders.pi_sessions(machine)
    if "PI_CODING_AGENT_SESSION_DIR" in machine.environ:
        return usual
    chosen = text_or_empty(
        document_if_any(client_folders.pi(machine) / "settings.json").get("sessionDir")
    )
    home = str(machine.home)
    return Path(chosen.replace("~", home, 1) if chosen.startswith("~") else chosen or usual)


def _details(entry: Entry) -> Details:
    ends = read_ends(entry.path)
    header = next((r for r in ends.oldest() if r.get("type") == "session"), {})
    context, model = _newest_request(ends)
    return Details(
        id=text_or_empty(header.get("id")),
        title=_title(ends),
        project=text_or_empty(header.get("cwd")),
        model=model or text_or_empty(header.get("modelId")),
        context=context,
    )


def _title(ends: Ends) -> str:
    names = (r.get("name") for r in ends.all_newest() if r.get("type") == "session_info")
    name = title_of(next(names, None))
    asked = (each for each in map(_message, ends.going_on()) if each.get("role") == "user")
    prompts = filter(None, (typed_text(each.get("content")) for each in asked))
    return name or title_of(next(prompts, None))


def _message(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(record.get("message"))


def _newest_request(ends: Ends) -> tuple[int | None, str]:
    for record in ends.going_back():
        if record.get("type") == "compaction":
            break
        message = _message(record)
        context = total_of(object_or_empty(message.get("usage")), *_USAGE)
        if context is not None:
            return context, text_or_empty(message.get("model"))
    models = (text_or_empty(_message(record).get("model")) for record in ends.all_newest())
    return None, next(filter(None, models), "")


STORE = Store(
    client=NAME,
    alias="pi",
    title="pi",
    entries=_entries,
    details=_details,
    resume="pi --session {id}",
    is_resumed_at_home=True,
)


def fork(session: Session, fresh: Fresh) -> Fork:
    """Name the file anew, and in its first record the session and the one it is made of."""
    new, moment = fresh.random_id, fresh.now.astimezone(UTC)
    time = f"{moment:%Y-%m-%dT%H-%M-%S}-{moment.microsecond // 1000:03}Z"
    fields = {"id": new, "parentSession": str(session.entry.path)}

    def renamed(index: int, line: bytes) -> bytes:
        if index:
            return line
        text = first_record(line, "session", session)
        return with_fields(text, fields).encode()

    return Fork(
        id=new,
        path=session.entry.path.with_name(f"{time}_{new}.jsonl"),
        original=session,
        renamed=renamed,
    )
