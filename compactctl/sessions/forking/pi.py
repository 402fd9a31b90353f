"""Sessions of pi under a new id."""

from datetime import UTC

from compactctl.pipeline.record_splice import with_fields
from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.forking.records import first_record
from compactctl.sessions.session import Session


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
