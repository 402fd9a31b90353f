"""Events of a session of Copilot CLI, one call each."""

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from formats.jsonl import read

from compactctl.model.transcript import Transcript

Record = dict[str, Any]


def event(kind: str, name: str = "", envelope: Record | None = None, **data: Any) -> Record:
    """Build an event; its parent is set by ``session``."""
    stamp = "2026-01-02T03:04:05.000Z"
    return {"type": kind, "data": data, "id": name, "timestamp": stamp, **(envelope or {})}


def session(*events: Record) -> list[Record]:
    """Name the events that have no name and link each to the one before it."""
    named = [each | {"id": each["id"] or f"e{n}"} for n, each in enumerate(events)]
    parents = [None, *(each["id"] for each in named)]
    return [each | {"parentId": parent} for each, parent in zip(named, parents, strict=False)]


# What the client requires of events beside what a test says of them.
_REQUIRED: Mapping[str, Record] = {
    "session.start": {
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": "1.0.102",
        "startTime": "2026-01-02T03:04:05.000Z",
    },
    "system.message": {"role": "system"},
    "hook.end": {"hookInvocationId": "h", "hookType": "postToolUse"},
    "session.shutdown": {
        "shutdownType": "routine",
        "totalApiDurationMs": 1,
        "sessionStartTime": 1,
        "codeChanges": {"linesAdded": 0, "linesRemoved": 0, "filesModified": []},
        "modelMetrics": {},
    },
}


def accepted(record: Mapping[str, Any]) -> Record:
    """Return an event with UUIDs for its names, and with all that the client requires."""
    required = {"messageId": record["id"]} if record["type"] == "assistant.message" else {}
    names: Record = {key: _uuid(record[key]) for key in ("id", "parentId") if key in record}
    data = {**required, **_REQUIRED.get(record["type"], {}), **record["data"]}
    return {**record, **names, "data": data}


def _uuid(name: str | None) -> str | None:
    return name if name is None or len(name) == 36 else str(uuid5(NAMESPACE_OID, name))


def prompt(text: str, **data: Any) -> Record:
    return event("user.message", content=text, **data)


def said(text: str, **data: Any) -> Record:
    return event("assistant.message", content=text, toolRequests=[], **data)


def called(call: str, tool: str = "view", **data: Any) -> Record:
    request = {"toolCallId": call, "name": tool, "arguments": {"path": call}}
    return event("assistant.message", content="", toolRequests=[request], **data)


def answered(call: str, text: str = "ok", **data: Any) -> Record:
    result = {"content": text, "detailedContent": "for the screen"}
    return event(
        "tool.execution_complete", toolCallId=call, **{"success": True, "result": result, **data}
    )


def found(*events: Record) -> Transcript:
    return read("copilot-cli", *session(*events))
