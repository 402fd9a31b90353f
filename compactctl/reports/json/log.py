"""``log`` as a JSON document."""

from typing import Any

from compactctl.commands.inspect.log import LogEntry, LogResult
from compactctl.model.operation import Operation
from compactctl.reports.rendering.json_document import (
    client_compaction_fields,
    digest_fields,
    fields_of,
    stage_fields,
)


def log_document(result: LogResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.log/1",
        "path": result.path,
        "appendedBytes": result.appended,
        "archiveMissing": result.missing,
        "buildsUpon": result.below,
        "missingArchives": list(result.missing_archives),
        "operations": [_entry(entry) for entry in result.entries],
        "byClient": [client_compaction_fields(each) for each in result.by_client],
        "warnings": list(result.warnings),
    }


def _entry(entry: LogEntry) -> dict[str, Any]:
    operation = entry.operation
    if operation is None:
        about, archive = _unrecorded(entry), None
    else:
        about, archive = _recorded(operation), entry.archive_bytes
    return {
        "number": entry.number,
        "id": entry.step.id,
        "parent": entry.step.parent,
        **about,
        "inEffect": entry.in_effect,
        "groups": [fields_of(group) for group in entry.groups],
        "archiveBytes": archive,
    }


def _recorded(operation: Operation) -> dict[str, Any]:
    return {
        "head": operation.head,
        "kind": operation.kind,
        "detail": operation.detail,
        "appended": operation.appended,
        "recordedAt": operation.recorded_at,
        "toolVersion": operation.tool_version,
        "format": operation.format,
        "counter": operation.counter,
        "before": digest_fields(operation.before),
        "after": digest_fields(operation.after),
        "stages": [stage_fields(record) for record in operation.stages],
    }


def _unrecorded(entry: LogEntry) -> dict[str, Any]:
    """Return the same fields for a compaction inside the transcript, null where nothing tells."""
    unknown = dict.fromkeys(("recordedAt", "toolVersion", "counter", "before", "after"))
    step = entry.step
    return {
        "head": step.id,
        "kind": "compact",
        "detail": "",
        "appended": False,
        "format": step.format,
        **unknown,
        "stages": [],
    }
