"""Records of Qwen Code, as short as they may be."""

from collections.abc import Sequence
from typing import Any

Record = dict[str, Any]
SESSION = "11111111-2222-4333-8444-555555555555"


def record(kind: str, name: str, parent: str | None, **fields: Any) -> Record:
    """Return a record called ``name``, which follows the one called ``parent``."""
    return {
        "uuid": name,
        "parentUuid": parent,
        "sessionId": SESSION,
        "timestamp": "2026-01-02T03:04:05.006Z",
        "type": kind,
        "cwd": "/work/app",
        "version": "0.24.4",
        **fields,
    }


def content(role: str, *parts: str | Record) -> Record:
    """Return a content of Gemini's API."""
    blocks = [{"text": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "parts": blocks}


def called(name: str, tool: str = "read_file", **arguments: Any) -> Record:
    """Return a part that calls a tool."""
    return {"functionCall": {"id": name, "name": tool, "args": arguments}}


def answered(name: str, tool: str = "read_file", **response: Any) -> Record:
    """Return a part with the result of a call."""
    return {"functionResponse": {"id": name, "name": tool, "response": response}}


def user(name: str, parent: str | None, *parts: str | Record, **fields: Any) -> Record:
    """Return a prompt, or a result if it has one."""
    message = content("user", *parts)
    is_result = any("functionResponse" in part for part in message["parts"])
    return record("tool_result" if is_result else "user", name, parent, message=message, **fields)


def model(name: str, parent: str | None, *parts: str | Record, **fields: Any) -> Record:
    """Return an answer."""
    message = content("model", *parts)
    return record("assistant", name, parent, model="qwen3-coder", message=message, **fields)


def system(name: str, parent: str | None, subtype: str, **payload: Any) -> Record:
    """Return a state of the client."""
    return record("system", name, parent, subtype=subtype, systemPayload=payload)


def compacted(name: str, parent: str | None, summary: str) -> Record:
    """Return what the client writes when it has compacted."""
    trailer = (
        "Resume the prior task using the summary above. Continue from the last in-flight step."
    )
    history = [content("user", f"{summary}\n\n{trailer}"), content("model", "Got it.")]
    return system(name, parent, "chat_compression", compressedHistory=history)


def chained(*records: Record, parent: str | None = None) -> list[Record]:
    """Return records, each of which follows the one before."""
    parents: Sequence[str | None] = [parent, *(each["uuid"] for each in records)]
    return [{**each, "parentUuid": before} for each, before in zip(records, parents, strict=False)]


def talk(turns: int = 1) -> list[Record]:
    """Return a session in which a file is read in every turn."""
    return chained(
        *(
            each
            for n in range(turns)
            for each in (
                user(f"u{n}", None, f"What is in file {n}?"),
                model(f"a{n}", None, "Reading.", called(f"c{n}", path="a.py")),
                user(f"r{n}", None, answered(f"c{n}", output=f"x = {n}")),
                model(f"b{n}", None, f"It says {n}."),
            )
        )
    )
