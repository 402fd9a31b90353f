"""``sessions`` as a JSON document."""

from typing import Any

from compactctl.commands.sessions.row import CLIENT_RECORD, SessionRow
from compactctl.commands.sessions.sessions import SessionsResult
from compactctl.reports.rendering.wording import utc_text
from compactctl.sessions.registry import store_named


def sessions_document(result: SessionsResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.sessions/1",
        "found": result.found,
        "hidden": result.hidden,
        "unread": result.unread,
        "sessions": [_session_document(row) for row in result.rows],
        "warnings": list(result.warnings),
    }


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
        "contextSource": None if row.context is None else CLIENT_RECORD,
        "windowTokens": row.window,
        "windowRatio": None if row.ratio is None else round(row.ratio, 4),
        "kind": details.kind,
        "archived": entry.archived,
        "open": details.open,
        "readable": not store_named(entry.client).instead,
    }
