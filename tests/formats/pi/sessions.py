"""Records of a session of pi, one call each."""

from typing import Any

from formats.jsonl import read

from compactctl.model.transcript import Transcript

Record = dict[str, Any]
HEADER: Record = {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/w"}


def entry(kind: str, **fields: object) -> Record:
    """Build an entry of version 1; ``chained`` gives it an id and a parent."""
    return {"type": kind, "timestamp": "2026-01-02T03:04:05.678Z", **fields}


def message(role: str, **fields: object) -> Record:
    return entry("message", message={"role": role, **fields, "timestamp": 1_767_323_045_678})


def prompt(text: str) -> Record:
    return message("user", content=[{"type": "text", "text": text}])


def said(text: str, **fields: object) -> Record:
    return message(
        "assistant", content=[{"type": "text", "text": text}], **{"stopReason": "stop", **fields}
    )


def called(call: str, **fields: object) -> Record:
    block = {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": call}}
    return message("assistant", content=[block], **{"stopReason": "toolUse", **fields})


def answered(call: str, text: str = "ok", **fields: object) -> Record:
    content = [{"type": "text", "text": text}]
    return message(
        "toolResult", **{"toolCallId": call, "toolName": "read", "content": content} | fields
    )


def chained(*entries: Record, first: int = 0, parent: str | None = None) -> list[Record]:
    """Give entries the ids e0, e1 … and link each to the one before it, unless it says else."""
    result = []
    for number, each in enumerate(entries, first):
        linked = {"id": f"e{number}", "parentId": parent, **each}
        parent = linked["id"]
        result.append(linked)
    return result


def found(*entries: Record) -> Transcript:
    return read("pi", HEADER, *chained(*entries))
