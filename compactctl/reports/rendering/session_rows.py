"""Sessions as the rows of a table, for a list and for a choice."""

from collections.abc import Sequence
from pathlib import PurePath

from compactctl.commands.sessions.row import SessionRow
from compactctl.reports.rendering.tables import Column, Table, bar, number, table, text
from compactctl.reports.rendering.text import age_text, one_line, size_text
from compactctl.sessions.session import Session

_TITLE_WIDTH = 48
_BAR_WIDTH = 8
_COLUMNS: tuple[Column, ...] = (
    text("Session"),
    text("Client", spare=2),
    text("Changed", spare=1),
    text("Title", "end", least=20),
    text("Project", "start", spare=4),
    number("Context", spare=3),
    number("Full"),
    text("Filled", spare=8),
    text("Model", "end", spare=6),
    number("Size", spare=7),
    text("Note", spare=5),
)


def session_table(rows: Sequence[SessionRow], now: float, home: str) -> Table:
    """Return a row per session; ``now`` is in seconds, ``home`` is shortened in paths.

    A column that says nothing of any of them is left out.
    """
    cells = [_session_cells(row, now, home) for row in rows]
    told = [at for at in range(len(_COLUMNS)) if any(row[at] for row in cells)]
    return table([_COLUMNS[at] for at in told], [[row[at] for at in told] for row in cells])


def project_text(project: str, home: str) -> str:
    """Return a folder as people name it: ``~`` for their home."""
    path = PurePath(project)
    if home not in ("", "/") and path.is_relative_to(home):
        return one_line(str(PurePath("~", path.relative_to(home))))
    return one_line(project)


def _session_cells(row: SessionRow, now: float, home: str) -> tuple[str, ...]:
    session, details = row.session, row.session.details
    size, share = session.entry.n_bytes, row.least_ratio
    least = "" if row.at_least is None else "≥"
    context = row.context if row.at_least is None else row.at_least
    return (
        one_line(row.short_id),
        session.entry.client,
        age_text(now - session.entry.modified),
        one_line(details.title, _TITLE_WIDTH),
        project_text(details.project, home),
        "" if context is None else f"{least}{context:,}",
        "" if share is None else f"{least}{share:.0%}".replace("%", " %"),
        "" if share is None else bar(share, _BAR_WIDTH),
        one_line(details.model),
        "" if size is None else size_text(size),
        ", ".join(_notes(session)),
    )


def _notes(session: Session) -> list[str]:
    details = session.details
    said = {"open now": details.open, "archived": session.entry.archived}
    kind = [] if details.kind == "main" else [details.kind]
    return [*(note for note, holds in said.items() if holds), *kind]
