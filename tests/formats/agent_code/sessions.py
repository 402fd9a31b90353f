"""A session of agent-code: a document of messages made of blocks."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

WHEN = "2026-04-01T10:00:00+00:00"


def _record(kind: str, name: str, *blocks: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": name, "timestamp": WHEN, "content": [*blocks], **rest}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def user(name: str, *blocks: dict[str, Any], **flags: bool) -> dict[str, Any]:
    return _record(
        "user", name, *blocks, **{"is_meta": False, "is_compact_summary": False, **flags}
    )


def said(name: str, *blocks: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return _record("assistant", name, *blocks, **{"model": "claude-sonnet-4-5", **rest})


def use(name: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def result(name: str, content: str, **rest: Any) -> dict[str, Any]:
    return {
        "type": "tool_result", "tool_use_id": name, "content": content, "is_error": False, **rest,
    }  # fmt: skip


def usage(sent: int, answer: int) -> dict[str, Any]:
    return {
        "usage": {
            "input_tokens": 10, "output_tokens": answer,
            "cache_creation_input_tokens": 20, "cache_read_input_tokens": sent - 30,
        },
        "stop_reason": "tool_use",
    }  # fmt: skip


_BOTH = [use(f"c{number}", "FileRead", file_path=name) for number, name in ((1, "a"), (2, "b"))]
TALK = [
    user("u1", text("Read both files")),
    said("a1", text("Reading."), *_BOTH),
    user("r1", result("c1", "content of a"), result("c2", "content of b"), is_meta=True),
    said("a2", text("Both are read.")),
    user("u2", text("Now the third")),
    said("a3", use("c3", "FileRead", file_path="c")),
    user("r2", result("c3", "content of c"), is_meta=True),
    said("a4", text("It is read.")),
]  # fmt: skip
NOTE = {
    "type": "system", "uuid": "n1", "timestamp": WHEN, "subtype": "turn_duration",
    "content": "3 s", "level": "info",
}  # fmt: skip


def repeated(times: int) -> list[dict[str, Any]]:
    """Return the conversation several times over, with ids of their own."""
    found: list[dict[str, Any]] = []
    for number in range(times):
        for record in TALK:
            blocks = [
                {
                    name: f"{number}{value}" if name in ("id", "tool_use_id") else value
                    for name, value in block.items()
                }
                for block in record["content"]
            ]
            found.append({**record, "uuid": str(UUID(int=len(found))), "content": blocks})
    return found


def session(*messages: Mapping[str, Any]) -> dict[str, Any]:
    """Return a session's document around messages."""
    return {
        "id": "0a1b2c3d", "created_at": WHEN, "updated_at": WHEN, "cwd": "/work/app",
        "model": "claude-sonnet-4-5", "messages": [*messages], "turn_count": 2,
        "total_cost_usd": 0.1, "total_input_tokens": 900, "total_output_tokens": 60,
        "plan_mode": False, "label": None, "tags": [],
    }  # fmt: skip
