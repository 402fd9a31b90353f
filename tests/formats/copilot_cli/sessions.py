"""Events of a session of Copilot CLI, one call each."""

from typing import Any

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
