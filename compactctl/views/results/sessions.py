"""Sessions and files: as a list, as choices for a command without a file, and as the choice."""

from collections.abc import Iterator, Sequence
from typing import Any

from compactctl.clients.session import Session
from compactctl.clients.stores import may_fork, store_named
from compactctl.commands.measuring.session_size import Certainty
from compactctl.commands.reading.candidates import Candidate
from compactctl.commands.reading.discover import is_compacted_name
from compactctl.commands.session_finder import SessionChoices
from compactctl.commands.sessions import SessionRow, SessionsResult
from compactctl.views.facts import labeled, utc_text, warning_lines
from compactctl.views.terminal.screen import ScreenItem, Verbatim
from compactctl.views.terminal.tables import Column, Table, bar, number, table, text
from compactctl.views.terminal.text import (
    age_text,
    line_text,
    one_line,
    plural,
    project_text,
    shell_path,
    size_text,
    typed_command,
)

_COLUMNS: tuple[Column, ...] = (
    text("Session"),
    text("Client", spare=2),
    text("Last used", spare=1),
    text("Title", "end", min_width=20),
    text("Project", "start", spare=4),
    number("Context", spare=3),
    number("Full"),
    text("", spare=6),
    text("Note", spare=5),
)
_SIGNS: dict[Certainty, str] = {"exact": "", "about": "~", "at least": "≥"}
_FILE_COLUMNS: tuple[Column, ...] = (
    text("File", "end"),
    number("Size"),
    text("Written"),
    text("Format", spare=1),
)
_TITLE_WIDTH = 48
_BAR_WIDTH = 8
# Of a window: about where clients compact by themselves.
_FULL = 0.8


def sessions_terminal(result: SessionsResult) -> Iterator[ScreenItem]:
    """Yield the output: a row per session, the number of hidden ones, and what to do next."""
    if result.rows:
        yield session_table(result.rows, result.now, result.home)
        yield ""
    elif result.n_sessions:
        yield f"no session matches ({plural(result.n_sessions, 'session')} searched)"
    else:
        yield "no sessions found in:"
        yield from (f"  {project_text(place, result.home)}" for place in result.searched)
        yield "stats takes any transcript: compactctl stats FILE"
    if result.unread:
        yield f"{plural(result.unread, 'older session')} not shown; --limit 0 shows all"
    if result.hidden:
        yield f"{plural(result.hidden, 'non-interactive session')} hidden; --all shows all"
    readable = next((row for row in result.rows if not _is_closed(row.session)), None)
    if readable is not None:
        yield labeled("inspect", f"compactctl stats {shell_path(readable.short_id)}")
    full = next((row for row in result.rows if _is_full(row)), None)
    if full is not None:
        in_place = "" if may_fork(full.session) else " --in-place"
        yield labeled("rescue", f"compactctl rescue {shell_path(full.short_id)}{in_place}")


def sessions_document(result: SessionsResult) -> dict[str, Any]:
    """Return an object per session, and the number of hidden ones."""
    return {
        "schema": "compactctl.sessions/1",
        "found": result.n_sessions,
        "hidden": result.hidden,
        "unread": result.unread,
        "sessions": [_session_document(row) for row in result.rows],
        "warnings": list(result.warnings),
    }


def sessions_messages(result: SessionsResult) -> Iterator[str]:
    """Yield the warnings, for standard error."""
    yield from warning_lines(result.warnings)


def session_table(rows: Sequence[SessionRow], now: float, home: str) -> Table:
    """Return a row per session; ``now`` is in seconds, ``home`` is shortened in paths.

    A column that is empty for all of them is left out.
    """
    cells = [_session_cells(row, now, home) for row in rows]
    filled = [index for index in range(len(_COLUMNS)) if any(row[index] for row in cells)]
    return table(
        [_COLUMNS[index] for index in filled], [[row[index] for index in filled] for row in cells]
    )


def _session_cells(row: SessionRow, now: float, home: str) -> tuple[str, ...]:
    session, details = row.session, row.session.details
    share = row.least_ratio
    sign = "" if row.size is None else _SIGNS[row.size.certainty]
    return (
        one_line(row.short_id),
        store_named(session.entry.client).title,
        age_text(now - session.entry.modified),
        one_line(details.title, _TITLE_WIDTH),
        project_text(details.project, home),
        "" if row.size is None else f"{sign}{row.size.tokens:,}",
        "" if share is None else f"{sign}{share:.0%}",
        "" if share is None else bar(share, _BAR_WIDTH),
        ", ".join(_notes(session)),
    )


def _notes(session: Session) -> list[str]:
    details = session.details
    states = {"open now": details.open, "archived": session.entry.archived}
    kind = [] if details.kind == "main" else [details.kind]
    return [*(note for note, holds in states.items() if holds), *kind]


def _is_closed(session: Session) -> bool:
    return bool(store_named(session.entry.client).unsupported_hint)


def _is_full(row: SessionRow) -> bool:
    return (row.least_ratio or 0.0) > _FULL and not _is_closed(row.session)


def _session_document(row: SessionRow) -> dict[str, Any]:
    entry, details = row.session.entry, row.session.details
    return {
        "client": entry.client,
        "id": row.session.id,
        "shortId": row.short_id,
        "title": details.title or None,
        "project": details.project or None,
        "path": str(entry.path),
        "modifiedAt": utc_text(entry.modified),
        "bytes": entry.n_bytes,
        "model": details.model or None,
        "contextTokens": row.context,
        "contextAtLeast": row.at_least,
        "contextSource": None if row.size is None else row.size.source,
        "windowTokens": row.window,
        "windowRatio": None if row.ratio is None else round(row.ratio, 4),
        "kind": details.kind,
        "archived": entry.archived,
        "open": details.open,
        "readable": not store_named(entry.client).unsupported_hint,
    }


def choices_terminal(
    choices: SessionChoices, command: str, options: Sequence[str], *, numbered: bool
) -> Iterator[ScreenItem]:
    """Yield the output: why nothing was chosen, sessions and transcripts, and what to type.

    ``options`` are those that the user typed. With ``numbered``, a number is typed; else one of the
    commands.
    """
    yield f"{command}: {line_text(choices.why)}:"
    yield ""
    if choices.rows:
        rows = session_table(choices.rows, choices.now, choices.home)
        yield _numbered(rows, 1) if numbered else rows
        yield ""
    if choices.more:
        yield f"{plural(choices.more, 'older session')} not shown"
    files = choices.files
    if files.files:
        cells = [_candidate_cells(candidate, choices.now) for candidate in files.files]
        grid = table(_FILE_COLUMNS, cells)
        yield _numbered(grid, len(choices.rows) + 1) if numbered else grid
        yield ""
    if files.more:
        yield f"{plural(files.more, 'older file')} not shown"
    if not numbered:
        for reference in choices.references:
            yield Verbatim(typed_command(command, reference, options))


def _numbered(grid: Table, first: int) -> Table:
    """Return a table with a number before each row."""
    rows = [(f"{position}", *row) for position, row in enumerate(grid.rows, first)]
    return table((number("#"), *grid.columns), rows)


def chosen_line(row: SessionRow, now: float, home: str) -> str:
    """Return which session was chosen, on one line."""
    session = row.session
    title = f' "{one_line(session.details.title, 48)}"' if session.details.title else ""
    project = session.details.project
    where = f", {project_text(project, home)}" if project else ""
    age = age_text(now - session.entry.modified)
    client = store_named(session.entry.client).title
    return f"{client} session {one_line(row.short_id)}{title}, {age}{where}"


def only_line(path: str) -> str:
    """Return which transcript was chosen because there is no other one, on one line."""
    kind = "compacted transcript" if is_compacted_name(path) else "transcript"
    return f"{line_text(path)}, the only {kind} in this folder"


def _candidate_cells(candidate: Candidate, now: float) -> tuple[str, ...]:
    return (
        one_line(candidate.name),
        size_text(candidate.n_bytes),
        age_text(now - candidate.modified),
        candidate.format or "unknown",
    )
