"""Sessions of Codex: ``sessions/<year>/<month>/<day>/rollout-<time>-<uuid>.jsonl``, or ``.zst``."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

from compactctl.formats.records.json_values import integer_or_none, object_or_empty, text_or_empty
from compactctl.model.message import JsonPath
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_spans, splice
from compactctl.sessions.fork import Fork, ForkIdentity, header_text
from compactctl.sessions.reading.fields import first_title, sum_counts, user_text
from compactctl.sessions.reading.file_ends import FileEnds, read_ends
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

NAME = "codex"
_PLAIN, _PACKED = ".jsonl", ".jsonl.zst"
_ID_LENGTH = 36
_PERSON = "user"
_HEADLESS = "exec"


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    root = client_folders.codex(machine)
    titles = _titles(root / "session_index.jsonl")
    for day in _days(root / "sessions", folders):
        yield from _rollouts(day, folders, titles)
    yield from _rollouts(root / "archived_sessions", folders, titles, archived=True)


def _days(root: Path, folders: FolderScanner) -> Iterator[Path]:
    for year in folders.folders(root):
        for month in folders.folders(year):
            yield from folders.folders(month)


def _rollouts(
    folder: Path, folders: FolderScanner, titles: Mapping[str, str], *, archived: bool = False
) -> Iterator[SessionEntry]:
    """Yield the sessions in a folder; of a plain file and a compressed one the plain one counts."""
    found = {path.name: (path, status) for path, status in folders.files(folder, _PLAIN, _PACKED)}
    for name, (path, status) in found.items():
        stem = name.partition(_PLAIN)[0]
        if not name.startswith("rollout-") or (name.endswith(_PACKED) and stem + _PLAIN in found):
            continue
        own = stem[-_ID_LENGTH:]
        known = SessionDetails(title=titles.get(own, ""))
        yield replace(SessionEntry.of_file(NAME, own, (path, status), known), archived=archived)


def _titles(index: Path) -> dict[str, str]:
    """Return the names that people gave to sessions; the newest line about one counts."""
    try:
        ends = read_ends(index)
    except OSError:
        return {}
    found: dict[str, str] = {}
    for record in ends.newest_first():
        found.setdefault(text_or_empty(record.get("id")), text_or_empty(record.get("thread_name")))
    return found


def _details(entry: SessionEntry) -> SessionDetails:
    ends = read_ends(entry.path)
    meta = next((_payload(r) for r in ends.head_records() if r.get("type") == "session_meta"), {})
    turn = next((_payload(r) for r in ends.newest_first() if r.get("type") == "turn_context"), {})
    context, window = _newest_count(ends)
    return SessionDetails(
        title=first_title(_first_prompt(ends)),
        project=text_or_empty(turn.get("cwd")) or text_or_empty(meta.get("cwd")),
        model=text_or_empty(turn.get("model")),
        context=context,
        window=window,
        kind=_kind(meta),
    )


def _payload(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(record.get("payload"))


def _kind(meta: Mapping[str, Any]) -> SessionKind:
    source = meta.get("source")
    if isinstance(source, Mapping) or meta.get("thread_source", _PERSON) not in (_PERSON, None):
        return "subagent"
    return "headless" if source == _HEADLESS else "main"


def _first_prompt(ends: FileEnds) -> str:
    sent = ""
    for payload in map(_payload, ends.forward_records()):
        if payload.get("type") == "user_message":
            text = user_text(payload.get("message"))
            if text:
                return text
        if not sent and payload.get("role") == "user":
            sent = user_text(payload.get("content"))
    return sent


def _newest_count(ends: FileEnds) -> tuple[int | None, int | None]:
    """Return the tokens of the newest request and its answer, and the recorded window.

    After a compaction the client records an estimate of what is left as a total without parts.
    """
    for record in ends.backward_records():
        info = object_or_empty(_payload(record).get("info"))
        last = object_or_empty(info.get("last_token_usage"))
        if last:
            used = sum_counts(last, "total_tokens") or sum_counts(
                last, "input_tokens", "output_tokens"
            )
            return used, integer_or_none(info.get("model_context_window"))
        if record.get("type") == "compacted":
            break
    return None, None


STORE = SessionStore(
    client=NAME,
    alias="codex",
    title="Codex",
    entries=_entries,
    details=_details,
    resume_command="codex resume {id}",
)


_PAYLOAD: JsonPath = ("payload",)


def fork(session: Session, fresh: ForkIdentity) -> Fork:
    """Name the file anew, in the folder of its day, and the session in its first record.

    Titles stand in a list of the client's own, in which the newest line about a session counts.
    """
    new, day = fresh.timed_id, fresh.now.astimezone()
    folder = (
        client_folders.codex(fresh.machine) / "sessions" / f"{day:%Y}" / f"{day:%m}" / f"{day:%d}"
    )

    def renamed(index: int, line: bytes) -> bytes:
        return line if index else _with_meta(line, session, new)

    return Fork(
        id=new,
        path=folder / f"rollout-{day:%Y-%m-%dT%H-%M-%S}-{new}.jsonl",
        original=session,
        rewrite_line=renamed,
        index_entry=(
            client_folders.codex(fresh.machine) / "session_index.jsonl",
            _line(session, new, fresh),
        ),
    )


def _line(session: Session, new: str, fresh: ForkIdentity) -> bytes:
    now = fresh.now.astimezone(UTC)
    named = {
        "id": new,
        "thread_name": fresh.fork_title(session.details.title),
        "updated_at": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z",
    }
    return f"{dump(named)}\n".encode()


def _with_meta(line: bytes, session: Session, new: str) -> bytes:
    text = header_text(line, "session_meta", session)
    span = find_spans(text, [_PAYLOAD])[_PAYLOAD]
    meta = text[slice(*span)]
    # As old versions write it, a session has but one of them.
    also = {"session_id": new} if ("session_id",) in find_spans(meta, [("session_id",)]) else {}
    fields = {"id": new, **also, "forked_from_id": session.id}
    return splice(text, {span: with_fields(meta, fields)}).encode()
