"""Sessions of Codex: ``sessions/<year>/<month>/<day>/rollout-<time>-<uuid>.jsonl``, or ``.zst``."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from compactctl.clients.codex.wrapping import CODEX
from compactctl.clients.fork import Fork, ForkIdentity, header_text
from compactctl.clients.reading.fields import first_title, sum_counts, user_text
from compactctl.clients.reading.file_ends import FileEnds, read_ends
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.records.decode import decode
from compactctl.clients.records.json_values import (
    count_or_none,
    object_or_empty,
    text_or_empty,
    time_text,
)
from compactctl.clients.session import Session, SessionDetails, SessionEntry, SessionKind
from compactctl.clients.store import SessionStore
from compactctl.model.message import JsonPath
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_spans, splice
from compactctl.records import Record, replace
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment

NAME = "codex"
_LOG, _COMPRESSED_LOG = ".jsonl", ".jsonl.zst"
_ID_LENGTH = 36
_USER = "user"
_HEADLESS = "exec"
_PAYLOAD_PATH: JsonPath = ("payload",)


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    root = client_folders.codex_folder(machine)
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
    """Yield the sessions in a folder; a compressed file is skipped if the plain one exists too."""
    scanned = folders.files(folder, _LOG, _COMPRESSED_LOG)
    files = {path.name: (path, status) for path, status in scanned}
    for name, (path, status) in files.items():
        stem = name.partition(_LOG)[0]
        is_duplicate = name.endswith(_COMPRESSED_LOG) and stem + _LOG in files
        if not name.startswith("rollout-") or is_duplicate:
            continue
        session_id = stem[-_ID_LENGTH:]
        listing = SessionDetails(title=titles.get(session_id, ""))
        entry = SessionEntry.of_file(NAME, session_id, (path, status), listing)
        yield replace(entry, archived=archived)


def _titles(index: Path) -> dict[str, str]:
    """Return the titles that users gave to sessions, by id; the newest line of the index counts."""
    try:
        ends = read_ends(index)
    except OSError:
        return {}
    titles: dict[str, str] = {}
    for record in ends.records_newest_first():
        titles.setdefault(text_or_empty(record.get("id")), text_or_empty(record.get("thread_name")))
    return titles


def _details(entry: SessionEntry) -> SessionDetails:
    ends = read_ends(entry.path)
    meta = _first_meta(ends)
    turn = next(
        (_payload(r) for r in ends.records_newest_first() if r.get("type") == "turn_context"), {}
    )
    context, window = _newest_count(ends)
    return SessionDetails(
        title=first_title(_first_prompt(ends)),
        project=text_or_empty(turn.get("cwd")) or text_or_empty(meta.get("cwd")),
        model=text_or_empty(turn.get("model")),
        context=context,
        window=window,
        kind=_kind(meta),
    )


def _first_meta(ends: FileEnds) -> Mapping[str, Any]:
    return next((_payload(r) for r in ends.head_records() if r.get("type") == "session_meta"), {})


def _payload(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(record.get("payload"))


def _kind(meta: Mapping[str, Any]) -> SessionKind:
    source = meta.get("source")
    if isinstance(source, Mapping) or meta.get("thread_source", _USER) not in (_USER, None):
        return "subagent"
    return "headless" if source == _HEADLESS else "main"


def _first_prompt(ends: FileEnds) -> str:
    fallback = ""
    for payload in map(_payload, ends.forward_records()):
        if payload.get("type") == "user_message":
            text = user_text(payload.get("message"), CODEX)
            if text:
                return text
        if not fallback and payload.get("role") == "user":
            fallback = user_text(payload.get("content"), CODEX)
    return fallback


def _newest_count(ends: FileEnds) -> tuple[int | None, int | None]:
    """Return the tokens of the newest request and its answer, and the recorded window.

    After a compaction the client records an estimate: a total without input and output.
    """
    for record in ends.backward_records():
        info = object_or_empty(_payload(record).get("info"))
        last = object_or_empty(info.get("last_token_usage"))
        if last:
            total = sum_counts(last, "total_tokens")
            context = total or sum_counts(last, "input_tokens", "output_tokens")
            return context, count_or_none(info.get("model_context_window"))
        if record.get("type") == "compacted":
            break
    return None, None


def fork(session: Session, identity: ForkIdentity) -> Fork:
    """Fork into the folder of today, with a new id in its headers and a line in the index.

    A client that resumes a session may write its header once more. What the client refuses is set
    right in a whole copy; in one to be compacted a stage does so, and tells it.
    """
    new, day = identity.timed_id, identity.now.astimezone()
    folder = (
        client_folders.codex_folder(identity.machine)
        / "sessions"
        / f"{day:%Y}"
        / f"{day:%m}"
        / f"{day:%d}"
    )

    ends = _ends_or_nothing(session.entry.path)
    old = text_or_empty(_first_meta(ends).get("id")) or session.id
    is_whole = identity.title_mark == "whole"
    unnumbered = _unnumbered_end(ends) if is_whole else None

    def rewrite_line(index: int, line: bytes) -> bytes:
        if (
            index == 0
            and not is_whole
            and old.encode("utf-8", "surrogatepass") in line
            and _record(line) is None
        ):
            return line.replace(old.encode("utf-8", "surrogatepass"), new.encode())
        is_header = index == 0 or _is_header(line, old)
        renamed = _with_meta(line, session, identity) if is_header else line
        if is_header and not is_whole and line.startswith(BOM_UTF8):
            renamed = BOM_UTF8 + renamed
        if unnumbered is not None and line.removesuffix(b"\n") == unnumbered.line:
            return with_fields(renamed.decode(), {"ordinal": unnumbered.number}).encode()
        return renamed

    return Fork(
        id=new,
        path=folder / f"rollout-{day:%Y-%m-%dT%H-%M-%S}-{new}.jsonl",
        original=session,
        rewrite_line=rewrite_line,
        index_entry=(
            client_folders.codex_folder(identity.machine) / "session_index.jsonl",
            _index_line(session, new, identity),
        ),
    )


class _UnnumberedEnd(Record):
    """The line of a session's last record, and the number that it lacks."""

    line: bytes
    number: int


def _ends_or_nothing(path: Path) -> FileEnds:
    try:
        return read_ends(path)
    except OSError:
        return FileEnds(path=path, head=(), tail=())


def _unnumbered_end(ends: FileEnds) -> _UnnumberedEnd | None:
    """Return the last record if others have a number and it has none: a client refuses that.

    Damaged lines behind it are skipped, as by the client.
    """
    line = next((line for line in reversed(ends.tail) if _record(line) is not None), b"")
    if _ordinal(object_or_empty(_record(line))) is not None:
        return None
    numbers = (_ordinal(record) for record in ends.backward_records())
    newest = next((number for number in numbers if number is not None), None)
    return None if newest is None else _UnnumberedEnd(line=line, number=newest + 1)


def _ordinal(record: Mapping[str, Any]) -> int | None:
    return count_or_none(record.get("ordinal"))


def _is_header(line: bytes, session_id: str) -> bool:
    """Return whether a line names the session once more."""
    if b"session_meta" not in line:
        return False
    record = object_or_empty(_record(line))
    return record.get("type") == "session_meta" and _payload(record).get("id") == session_id


def _record(line: bytes) -> Mapping[str, Any] | None:
    """Return the object in an undamaged line, None for any other line."""
    values, damage = decode(line)
    is_record = damage is None and values and isinstance(values[0], Mapping)
    return values[0] if is_record else None


def _index_line(session: Session, new: str, identity: ForkIdentity) -> bytes:
    now = identity.now.astimezone(UTC)
    entry = {
        "id": new,
        "thread_name": identity.fork_title(session.details.title),
        "updated_at": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z",
    }
    return f"{dump(entry)}\n".encode()


def _with_meta(line: bytes, session: Session, identity: ForkIdentity) -> bytes:
    text = header_text(line, "session_meta", session, "payload")
    span = find_spans(text, [_PAYLOAD_PATH])[_PAYLOAD_PATH]
    meta = text[slice(*span)]
    new = identity.timed_id
    # Old versions write only "id".
    has_session_id = ("session_id",) in find_spans(meta, [("session_id",)])
    extra = {"session_id": new} if has_session_id else {}
    created = {"timestamp": time_text(identity.now.timestamp())}
    fields = {"id": new, **extra, **created, "forked_from_id": session.id}
    return splice(text, {span: with_fields(meta, fields)}).encode()


STORE = SessionStore(
    client=NAME,
    alias="codex",
    title="Codex",
    entries=_entries,
    details=_details,
    fork=fork,
    is_in_one_file=True,
    resume_command="codex resume {id}",
)
