"""``log`` as a JSON document."""

from typing import Any

from compactctl.commands.log import LogEntry, LogResult
from compactctl.reports.json_text import digest_fields, fields_of, stage_fields


def log_json(result: LogResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.log/1",
        "path": result.path,
        "layout": result.layout,
        "appendedBytes": result.appended,
        "archiveMissing": result.missing,
        "operations": [_entry(entry) for entry in result.entries],
        "inlineOperations": [
            {"id": each.id, "sequence": each.seq, "groups": list(each.groups)}
            for each in result.inline
        ],
    }


def _entry(entry: LogEntry) -> dict[str, Any]:
    operation = entry.operation
    return {
        "number": entry.number,
        "id": operation.id,
        "parent": operation.parent,
        "head": operation.head,
        "kind": operation.kind,
        "detail": operation.detail,
        "inEffect": entry.in_effect,
        "recordedAt": operation.recorded_at,
        "toolVersion": operation.tool_version,
        "format": operation.format,
        "counter": operation.counter,
        "before": digest_fields(operation.before),
        "after": digest_fields(operation.after),
        "stages": [stage_fields(record) for record in operation.stages],
        "groups": [fields_of(group) for group in entry.groups],
        "archiveBytes": entry.archive_bytes,
    }
