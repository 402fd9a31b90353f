"""Sessions of pi: ``sessions/--<folder>--/<time>_<uuid>.jsonl``."""

from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from compactctl.clients.fork import Fork, ForkIdentity, header_text
from compactctl.clients.pi.upgrade import (
    CURRENT_VERSION,
    LineUpgrade,
    line_upgrade,
    version_of,
)
from compactctl.clients.pi.wrapping import PI
from compactctl.clients.reading.fields import first_title, sum_counts, user_text
from compactctl.clients.reading.file_ends import FileEnds, read_ends, read_head
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.records.decode import decode
from compactctl.clients.records.json_values import object_or_empty, text_or_empty, time_text
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.pipeline.record_splice import with_fields
from compactctl.store import client_folders
from compactctl.store.archive.names import archive_folder
from compactctl.store.client_folders import UserEnvironment
from compactctl.store.files.filesystem import is_folder
from compactctl.store.files.source import split_lines

NAME = "pi"
_USAGE = ("input", "cacheRead", "cacheWrite", "output")


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    roots = client_folders.pi_session_folders(machine)
    for folder in dict.fromkeys(f for root in roots for f in (root, *folders.folders(root))):
        for path, status in folders.files(folder, ".jsonl"):
            yield SessionEntry.of_file(NAME, path.stem.rpartition("_")[2], (path, status))


def _details(entry: SessionEntry) -> SessionDetails:
    ends = read_ends(entry.path)
    header = next((r for r in ends.head_records() if r.get("type") == "session"), {})
    context, model = _newest_request(ends)
    return SessionDetails(
        id=text_or_empty(header.get("id")),
        title=_title(ends),
        project=text_or_empty(header.get("cwd")),
        model=model or text_or_empty(header.get("modelId")),
        context=context,
    )


def _title(ends: FileEnds) -> str:
    names = (r.get("name") for r in ends.records_newest_first() if r.get("type") == "session_info")
    name = first_title(next(names, None))
    users = (m for m in map(_message, ends.forward_records()) if m.get("role") == "user")
    prompts = filter(None, (user_text(message.get("content"), PI) for message in users))
    return name or first_title(next(prompts, None))


def _message(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(record.get("message"))


def _newest_request(ends: FileEnds) -> tuple[int | None, str]:
    for record in ends.backward_records():
        if record.get("type") == "compaction":
            break
        message = _message(record)
        usage = object_or_empty(message.get("usage"))
        context = sum_counts(usage, "totalTokens") or sum_counts(usage, *_USAGE)
        if context is not None:
            return context, text_or_empty(message.get("model"))
    models = (
        text_or_empty(_message(record).get("model")) for record in ends.records_newest_first()
    )
    return None, next(filter(None, models), "")


def fork(session: Session, identity: ForkIdentity) -> Fork:
    """Fork under a new file name, with the new id and the parent session in the first record.

    Sessions of earlier versions are upgraded, or the client would rewrite every line when it loads
    one; but not if they have archives, whose states would get other ids.
    """
    new, moment = identity.random_id, identity.now.astimezone(UTC)
    time = f"{moment:%Y-%m-%dT%H-%M-%S}-{moment.microsecond // 1000:03}Z"
    path = session.entry.path
    fields: dict[str, object] = {
        "id": new,
        "timestamp": time_text(moment.timestamp()),
        "parentSession": str(path),
    }
    upgrade = None if is_folder(archive_folder(path)) else _upgrade(path, identity)
    if upgrade is not None:
        fields["version"] = CURRENT_VERSION

    def rewrite_line(index: int, line: bytes) -> bytes:
        if index:
            return upgrade(index, line) if upgrade else line
        text = header_text(line, "session", session)
        return with_fields(text, fields).encode()

    return Fork(
        id=new,
        path=path.with_name(f"{time}_{new}.jsonl"),
        original=session,
        rewrite_line=rewrite_line,
    )


def _upgrade(path: Path, identity: ForkIdentity) -> LineUpgrade | None:
    """Return what upgrades the lines of a session, None if its version is the current one."""
    head = (read_head(path) or b"").partition(b"\n")[0]
    version = version_of(next(iter(decode(head)[0]), None))
    if version >= CURRENT_VERSION:
        return None
    return line_upgrade(split_lines(path.read_bytes()), version, identity.random_bits)


STORE = SessionStore(
    client=NAME,
    alias="pi",
    title="pi",
    entries=_entries,
    details=_details,
    fork=fork,
    is_in_one_file=True,
    resume_command="pi --session {id}",
    resumes_in_project_only=True,
)
