"""Sessions of Claude Code under a new id."""

from compactctl.pipeline.record_splice import dump
from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.forking.records import KEY, with_session_id
from compactctl.sessions.reading.ends import read_ends
from compactctl.sessions.session import Session


def fork(session: Session, fresh: Fresh) -> Fork:
    """Name the file anew, and the session in every record; a title tells the two apart.

    Where a session has the name of an agent, the client's prompt shows that, so both are said.
    """
    new, old = fresh.random_id, session.id
    title = fresh.titled(session.details.title)
    said = [{"type": "custom-title", "customTitle": title, KEY: new}]
    if _has_agent_name(session):
        said.append({"type": "agent-name", "agentName": title, KEY: new})
    return Fork(
        id=new,
        path=session.entry.path.with_name(f"{new}.jsonl"),
        original=session,
        renamed=lambda _, line: with_session_id(line, (KEY,), old, new),
        added=tuple(f"{dump(each)}\n".encode() for each in said),
    )


def _has_agent_name(session: Session) -> bool:
    try:
        ends = read_ends(session.entry.path)
    except OSError:
        return False
    return any(record.get("type") == "agent-name" for record in ends.all_newest())
