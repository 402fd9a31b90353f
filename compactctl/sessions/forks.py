"""Which clients' sessions can be written under a new id, and how.

From the clients themselves in the versions that ``docs/sessions.md`` names: what a copy needs so
that it is listed and resumed, and that the turns said to it go to it alone.
"""

from collections.abc import Callable, Mapping

from compactctl.sessions.clients import (
    claude_code,
    cline,
    codex,
    copilot_cli,
    gemini_cli,
    opencode,
    pi,
)
from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.forking import claude_code as as_claude_code
from compactctl.sessions.forking import cline as as_cline
from compactctl.sessions.forking import codex as as_codex
from compactctl.sessions.forking import copilot_cli as as_copilot_cli
from compactctl.sessions.forking import gemini_cli as as_gemini_cli
from compactctl.sessions.forking import opencode as as_opencode
from compactctl.sessions.forking import pi as as_pi
from compactctl.sessions.session import Session


def fork_of(session: Session, fresh: Fresh) -> Fork | None:
    """Return the fork of a session, None for a client that none is written for, and for helpers."""
    write = _WRITERS.get(session.entry.client)
    if write is None or session.details.kind == "subagent":
        return None
    return write(session, fresh)


_WRITERS: Mapping[str, Callable[[Session, Fresh], Fork | None]] = {
    claude_code.NAME: as_claude_code.fork,
    codex.NAME: as_codex.fork,
    opencode.NAME: as_opencode.fork,
    pi.NAME: as_pi.fork,
    copilot_cli.NAME: as_copilot_cli.fork,
    gemini_cli.NAME: as_gemini_cli.fork,
    cline.NAME: as_cline.fork,
}
