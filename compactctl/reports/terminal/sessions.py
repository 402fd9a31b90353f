"""``sessions`` on a terminal, and sessions to choose from or chosen."""

from collections.abc import Iterator, Sequence

from compactctl.commands.sessions.references import SessionChoices
from compactctl.commands.sessions.row import CLIENT_RECORD, SessionRow
from compactctl.commands.sessions.sessions import SessionsResult
from compactctl.reports.rendering.screen import ScreenItem
from compactctl.reports.rendering.session_rows import project_text, session_table
from compactctl.reports.rendering.text import (
    age_text,
    line_text,
    one_line,
    plural,
    shell_path,
    typed_command,
)
from compactctl.sessions.registry import store_named
from compactctl.sessions.session import Session

# Of a window: about where clients compact by themselves.
_FULL = 0.8


def sessions_terminal(result: SessionsResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per session, and what was left out."""
    if result.rows:
        yield session_table(result.rows, result.now, result.home)
        yield ""
        if any(row.context is not None for row in result.rows):
            yield f"sizes: {CLIENT_RECORD}, of the newest request and its answer"
        readable = next((row for row in result.rows if not _is_closed(row.session)), None)
        if readable is not None:
            yield f"look into one: compactctl stats {shell_path(readable.short_id)}"
        full = next((row for row in result.rows if _is_full(row)), None)
        if full is not None:
            yield f"make a full one go on: compactctl rescue {shell_path(full.short_id)}"
    elif result.found:
        yield f"none of {plural(result.found, 'session')} is like that"
    else:
        yield "no sessions found; searched:"
        yield from (f"  {project_text(place, result.home)}" for place in result.searched)
        yield "any transcript can be named: compactctl stats FILE"
    if result.unread:
        yield f"{plural(result.unread, 'older session')} not looked at; see --limit"
    if result.hidden:
        left_out = plural(result.hidden, "session")
        yield f"{left_out} without a person, of subagents or programs, left out; see --all"


def sessions_messages(result: SessionsResult) -> Iterator[str]:
    """Yield the lines for standard error."""
    yield from (f"warning: {line_text(warning)}" for warning in result.warnings)


def choices_terminal(
    choices: SessionChoices, command: str, options: Sequence[str] = ()
) -> Iterator[ScreenItem]:
    """Yield what to print: why none was taken, the sessions, and what to type.

    ``options`` are those that were typed already.
    """
    yield f"{command}: {line_text(choices.why)}:"
    yield ""
    yield session_table(choices.rows, choices.now, choices.home)
    yield ""
    if choices.more:
        yield f"and {plural(choices.more, 'older session')}"
    yield f"type: {typed_command(command, choices.rows[0].short_id, options)}"


def chosen_line(row: SessionRow, now: float, home: str) -> str:
    """Return which session was taken, on one line."""
    session = row.session
    title = f' "{one_line(session.details.title, 48)}"' if session.details.title else ""
    project = session.details.project
    where = f", {project_text(project, home)}" if project else ""
    age = age_text(now - session.entry.modified)
    client = store_named(session.entry.client).title
    return f"{client} session {one_line(row.short_id)}{title}, {age}{where}"


def _is_closed(session: Session) -> bool:
    return bool(store_named(session.entry.client).instead)


def _is_full(row: SessionRow) -> bool:
    return (row.least_ratio or 0.0) > _FULL and not _is_closed(row.session)
