"""A conversation of Spring AI Session, as event records and as rows of its table."""

import json
from typing import Any

WHEN = "2026-03-01T10:00:00Z"


def event(name: str, kind: str, text: str | None = None, **rest: Any) -> dict[str, Any]:
    """Return an event record; ``calls`` and ``answers`` are those of its message."""
    message: dict[str, Any] = {"messageType": kind, "metadata": {}}
    listed = {"toolCalls": rest.pop("calls", []), "responses": rest.pop("answers", [])}
    message |= {field: items for field, items in listed.items() if items}
    flags = {"branch": None, "archived": False, "metadata": {}, **rest}
    said = {**message, "text": text} if text is not None else message
    return {"id": name, "sessionId": "s1", "timestamp": WHEN, "message": said, **flags}


def row(name: str, kind: str, text: str | None = None, **rest: Any) -> dict[str, Any]:
    """Return a row of the table, whose lists and metadata are texts."""
    listed = rest.pop("calls", []) or rest.pop("answers", [])
    flags = {"synthetic": False, "archived": False, "branch": None, "metadata": "{}", **rest}
    return {
        "id": name, "session_id": "s1", "timestamp": WHEN, "message_type": kind,
        "message_content": text, "message_data": json.dumps(listed) if listed else None, **flags,
    }  # fmt: skip


def call(name: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"id": name, "type": "function", "name": tool, "arguments": json.dumps(arguments)}


def answer(name: str, tool: str, data: str) -> dict[str, Any]:
    return {"id": name, "name": tool, "responseData": data}


def talk(make: Any) -> list[dict[str, Any]]:
    """Return a conversation, made of event records or of rows."""
    asked = [call("c1", "read", path="a"), call("c2", "read", path="b")]
    told = [answer("c1", "read", "content of a"), answer("c2", "read", "content of b")]
    return [
        make("e1", "USER", "Read both files"),
        make("e2", "ASSISTANT", "Reading.", calls=asked),
        make("e3", "TOOL", answers=told),
        make("e4", "ASSISTANT", "Both are read."),
        make("e5", "USER", "Now the third"),
        make("e6", "ASSISTANT", calls=[call("c3", "read", path="c")]),
        make("e7", "TOOL", answers=[answer("c3", "read", "content of c")]),
        make("e8", "ASSISTANT", "It is read."),
    ]
