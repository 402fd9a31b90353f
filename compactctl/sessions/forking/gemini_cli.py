"""Sessions of Gemini CLI under a new id."""

import json
from datetime import UTC

from compactctl.formats.records.decode import decode
from compactctl.formats.records.json_values import object_or_empty
from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.forking.records import renamed_anywhere
from compactctl.sessions.session import Session


def fork(session: Session, fresh: Fresh) -> Fork:
    """Name the file by the minute and the new id, and the session in every record about it."""
    new, old = fresh.random_id, session.id
    name = renamed_anywhere(old, new)
    suffix = session.entry.path.suffix
    title = {"$set": {"summary": fresh.titled(session.details.title)}}
    is_log = suffix == ".jsonl"

    def renamed(_: int, line: bytes) -> bytes:
        return name(line) if old.encode() in line and not (is_log and _is_message(line)) else line

    return Fork(
        id=new,
        path=session.entry.path.with_name(
            f"session-{fresh.now.astimezone(UTC):%Y-%m-%dT%H-%M}-{new[:8]}{suffix}"
        ),
        original=session,
        renamed=renamed,
        added=(f"{json.dumps(title)}\n".encode(),) if is_log else (),
    )


def _is_message(line: bytes) -> bool:
    values, _ = decode(line)
    return "id" in object_or_empty(values[0] if values else None)
