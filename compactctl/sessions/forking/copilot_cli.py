"""Sessions of Copilot CLI under a new id."""

import json
import re

from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.forking.records import KEY, with_session_id
from compactctl.sessions.reading.ends import WINDOW
from compactctl.sessions.session import Session

_NOTE = "workspace.yaml"
_RENAMED = re.compile(r"^(?:id|name|user_named):.*\n?", re.MULTILINE)


def fork(session: Session, fresh: Fresh) -> Fork:
    """Name the folder anew, and the session in its events and in the client's note about it."""
    new, old = fresh.random_id, session.id
    folder = session.entry.path.parent.with_name(new)
    return Fork(
        id=new,
        path=folder / session.entry.path.name,
        original=session,
        renamed=lambda _, line: with_session_id(line, ("data", KEY), old, new),
        beside=((folder / _NOTE, _note(session, fresh, new)),),
    )


def _note(session: Session, fresh: Fresh, new: str) -> bytes:
    """Return the client's note with the new names; what else it says stays."""
    try:
        with session.entry.path.with_name(_NOTE).open("rb") as stream:
            text = stream.read(WINDOW).decode("utf-8", "replace")
    except OSError:
        text = f"cwd: {json.dumps(session.details.project)}\n"
    # What JSON quotes is quoted for YAML as well.
    title = json.dumps(fresh.titled(session.details.title), ensure_ascii=False)
    rest = _RENAMED.sub("", text)
    return f"id: {new}\nname: {title}\nuser_named: true\n{rest}".encode()
