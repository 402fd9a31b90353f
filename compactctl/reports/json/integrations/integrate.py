"""``integrate`` as a JSON document."""

from typing import Any

from compactctl.commands.integrations.integrate import FileChange, IntegrateResult


def integrate_document(result: IntegrateResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.integrate/1",
        "client": result.request.client,
        "action": result.action,
        "changes": [_change(each) for each in result.changes],
        "notes": list(result.notes),
    }


def _change(change: FileChange) -> dict[str, Any]:
    return {
        "path": str(change.path),
        "before": _text(change.before),
        "after": _text(change.after),
    }


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
