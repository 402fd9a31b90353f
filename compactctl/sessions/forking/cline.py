"""Sessions of Cline's command line under a new id."""

import json

from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.forking.records import renamed_anywhere
from compactctl.sessions.reading.documents import document_if_any
from compactctl.sessions.session import Session

_MESSAGES = ".messages.json"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 5


def fork(session: Session, fresh: Fresh) -> Fork | None:
    """Name the folder and its files anew, and the session in both; None for older tasks.

    Those stand in a list that a running editor holds.
    """
    old_path = session.entry.path
    if not old_path.name.endswith(_MESSAGES):
        return None
    new, old = _id(fresh), session.id
    folder = old_path.parent.with_name(new)
    path = folder / f"{new}{_MESSAGES}"
    manifest = dict(document_if_any(old_path.with_name(f"{old}.json")))
    told = dict(manifest.get("metadata") or {})
    manifest |= {
        "session_id": new,
        "messages_path": str(path),
        "metadata": {**told, "title": fresh.titled(session.details.title)},
    }
    if manifest.pop("pid", None) and manifest.get("status") == "running":
        manifest["status"] = "completed"
    rename = renamed_anywhere(old, new)
    return Fork(
        id=new,
        path=path,
        original=session,
        renamed=lambda _, line: rename(line),
        beside=((folder / f"{new}.json", f"{json.dumps(manifest, indent=2)}\n".encode()),),
    )


def _id(fresh: Fresh) -> str:
    """Return an id as the client makes them: milliseconds, and five random characters."""
    drawn = (_DIGITS[fresh.bits >> 6 * at & 31] for at in range(_LENGTH))
    return f"{int(fresh.now.timestamp() * 1000)}_{''.join(drawn)}"
