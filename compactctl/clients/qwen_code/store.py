"""Sessions of Qwen Code: ``projects/<folder>/chats/<uuid>.jsonl``."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.fork import ID_KEY, Fork, ForkIdentity, with_session_id
from compactctl.clients.qwen_code.record_kinds import COMPRESSION, OUTSIDE
from compactctl.clients.qwen_code.wrapping import QWEN_CODE
from compactctl.clients.reading.fields import first_title, sum_counts, user_text
from compactctl.clients.reading.file_ends import FileEnds, read_ends
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.records.builder import uuid_for
from compactctl.clients.records.decode import decode
from compactctl.clients.records.json_values import (
    count_or_none,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.pipeline.record_splice import dump
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment

NAME = "qwen-code"
# ``SESSION_FILE_PATTERN`` of 0.24.4.
_ID = re.compile(r"[0-9a-fA-F-]{32,36}")
_USAGE = ("promptTokenCount", "candidatesTokenCount")
_TITLE = "custom_title"
_COPIED_FIELDS = ("timestamp", "cwd", "version")


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    for project in folders.folders(client_folders.qwen_code_folder(machine) / "projects"):
        for path, status in folders.files(project / "chats", ".jsonl"):
            if _ID.fullmatch(path.stem):
                yield SessionEntry.of_file(NAME, path.stem, (path, status))


def _details(entry: SessionEntry) -> SessionDetails:
    ends = read_ends(entry.path)
    records = (record for record in ends.head_records() if record.get("cwd"))
    context, model = _newest_request(ends)
    title = _title(ends)
    return SessionDetails(
        title=title,
        project=text_or_empty(next(records, {}).get("cwd")),
        model=model,
        context=context,
        kind="main" if title else "empty",
    )


def _title(ends: FileEnds) -> str:
    titles = (
        object_or_empty(record.get("systemPayload")).get("customTitle")
        for record in ends.records_newest_first()
        if record.get("subtype") == _TITLE
    )
    return first_title(next(titles, None)) or first_title(_first_prompt(ends))


def _first_prompt(ends: FileEnds) -> str:
    prompts = (
        user_text(object_or_empty(record.get("message")).get("parts"), QWEN_CODE)
        for record in ends.forward_records()
        if record.get("type") == "user" and record.get("provenance") != "system"
    )
    return next(filter(None, prompts), "")


def _newest_request(ends: FileEnds) -> tuple[int | None, str]:
    """Return the tokens of the newest request and its answer, and the model that answered."""
    context: int | None = None
    for record in ends.backward_records():
        if context is None and record.get("subtype") == COMPRESSION:
            info = object_or_empty(object_or_empty(record.get("systemPayload")).get("info"))
            context = count_or_none(info.get("newTokenCount"))
        if record.get("type") == "assistant" and (model := text_or_empty(record.get("model"))):
            counts = object_or_empty(record.get("usageMetadata"))
            size = sum_counts(counts, "totalTokenCount") or sum_counts(counts, *_USAGE)
            return size if context is None else context, model
    return context, ""


def fork(session: Session, identity: ForkIdentity) -> Fork:
    """Fork under a new file name, with the new id in every record and a last one with the title."""
    new, old = identity.random_id, session.id
    prompt = f'"{old}#'.encode("utf-8", "surrogatepass")

    def rewrite_line(_: int, line: bytes) -> bytes:
        line = with_session_id(line, (ID_KEY,), old, new)
        is_named = prompt in line and _is_state(line)
        return line.replace(prompt, f'"{new}#'.encode()) if is_named else line

    title = identity.fork_title(session.details.title)
    return Fork(
        id=new,
        path=session.entry.path.with_name(f"{new}.jsonl"),
        original=session,
        rewrite_line=rewrite_line,
        trailing_lines=tuple(_title_line(read_ends(session.entry.path), session, new, title)),
    )


def _is_state(line: bytes) -> bool:
    """Whether a line is a state of the client, which names prompts by the session and a number."""
    values, damage = decode(line)
    return damage is None and object_or_empty(values[0] if values else None).get("type") == "system"


def _title_line(ends: FileEnds, session: Session, new: str, title: str) -> Iterator[bytes]:
    """Yield a record with the title, which follows the newest one of the conversation."""
    newest: Mapping[str, Any] | None = next(
        (
            record
            for record in ends.records_newest_first()
            if text_or_none(record.get("uuid"))
            and text_or_empty(record.get("subtype")) not in OUTSIDE
        ),
        None,
    )
    if newest is None:
        return
    record = {
        "uuid": uuid_for(f"{new} {title}"),
        "parentUuid": newest["uuid"],
        ID_KEY: new,
        "forkedFrom": {ID_KEY: session.id},
        **{name: newest[name] for name in _COPIED_FIELDS if name in newest},
        "type": "system",
        "subtype": _TITLE,
        "systemPayload": {"customTitle": title, "titleSource": "manual"},
    }
    yield f"{dump(record)}\n".encode()


STORE = SessionStore(
    client=NAME,
    alias="qwen",
    title="Qwen Code",
    entries=_entries,
    details=_details,
    fork=fork,
    is_in_one_file=True,
    resume_command="qwen --resume {id}",
    resumes_in_project_only=True,
)
