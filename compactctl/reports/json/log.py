"""``log`` as a JSON document."""

from typing import Any

from compactctl.commands.inspect.log import LogEntry, LogResult
from compactctl.commands.operations.steps import OperationStep
from compactctl.model.operation import Operation
from compactctl.reports.rendering.json_document import encoded, record


def log_document(result: LogResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.log/1",
        "path": result.path,
        "appendedBytes": result.appended,
        "archiveMissing": result.missing,
        "buildsUpon": result.below,
        "missingArchives": encoded(result.missing_archives),
        "operations": encoded(result.entries),
        "byClient": encoded(result.by_client),
        "warnings": encoded(result.warnings),
    }


@encoded.register
def _entry(entry: LogEntry) -> dict[str, Any]:
    operation = entry.operation
    return {
        "number": entry.number,
        "id": entry.step.id,
        "parent": entry.step.parent,
        **(_unrecorded(entry.step) if operation is None else encoded(operation)),
        "inEffect": entry.in_effect,
        "groups": encoded(entry.groups),
        "archiveBytes": None if operation is None else entry.archive_bytes,
    }


@encoded.register
def _operation(operation: Operation) -> dict[str, Any]:
    return record(operation, only=_OPERATION)


_OPERATION = (
    "head",
    "kind",
    "detail",
    "appended",
    "recorded_at",
    "tool_version",
    "format",
    "counter",
    "before",
    "after",
    "stages",
)


def _unrecorded(step: OperationStep) -> dict[str, Any]:
    """Return the same fields for a compaction inside the transcript, null where nothing tells."""
    unknown = dict.fromkeys(("recordedAt", "toolVersion", "counter", "before", "after"))
    return {
        "head": step.id,
        "kind": "compact",
        "detail": "",
        "appended": False,
        "format": step.format,
        **unknown,
        "stages": [],
    }
