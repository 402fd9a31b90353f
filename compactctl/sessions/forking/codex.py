"""Sessions of Codex under a new id."""

from datetime import UTC

from compactctl.model.message import JsonPath
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_spans, splice
from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.forking.records import first_record
from compactctl.sessions.session import Session
from compactctl.store import places

_PAYLOAD: JsonPath = ("payload",)


def fork(session: Session, fresh: Fresh) -> Fork:
    """Name the file anew, in the folder of its day, and the session in its first record.

    Titles stand in a list of the client's own, in which the newest line about a session counts.
    """
    new, day = fresh.timed_id, fresh.now.astimezone()
    folder = places.codex(fresh.machine) / "sessions" / f"{day:%Y}" / f"{day:%m}" / f"{day:%d}"

    def renamed(index: int, line: bytes) -> bytes:
        return line if index else _with_meta(line, session, new)

    return Fork(
        id=new,
        path=folder / f"rollout-{day:%Y-%m-%dT%H-%M-%S}-{new}.jsonl",
        original=session,
        renamed=renamed,
        listed=(places.codex(fresh.machine) / "session_index.jsonl", _line(session, new, fresh)),
    )


def _line(session: Session, new: str, fresh: Fresh) -> bytes:
    now = fresh.now.astimezone(UTC)
    named = {
        "id": new,
        "thread_name": fresh.titled(session.details.title),
        "updated_at": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z",
    }
    return f"{dump(named)}\n".encode()


def _with_meta(line: bytes, session: Session, new: str) -> bytes:
    text = first_record(line, "session_meta", session)
    span = find_spans(text, [_PAYLOAD])[_PAYLOAD]
    meta = text[slice(*span)]
    # As old versions write it, a session has but one of them.
    also = {"session_id": new} if ("session_id",) in find_spans(meta, [("session_id",)]) else {}
    fields = {"id": new, **also, "forked_from_id": session.id}
    return splice(text, {span: with_fields(meta, fields)}).encode()
