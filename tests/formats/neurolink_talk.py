"""A conversation as messages of NeuroLink."""

from typing import Any


def note(name: str, role: str, content: str, **fields: object) -> dict[str, Any]:
    return {"id": name, "role": role, "content": content, **fields}


def called(name: str, tool: str, step: int | None = None, **args: object) -> dict[str, Any]:
    metadata = {} if step is None else {"metadata": {"stepIndex": step}}
    return note(name, "tool_call", "", tool=tool, args=args, **metadata)


def answered(name: str, tool: str, content: str, step: int | None = None) -> dict[str, Any]:
    metadata = {} if step is None else {"metadata": {"stepIndex": step}}
    result = {"success": content != "boom", "result": "a copy that is not sent"}
    return note(name, "tool_result", content, tool=tool, result=result, **metadata)


TALK = [
    note("m1", "user", "Read both", timestamp="2026-01-02T03:04:05Z"),
    called("m2", "read", 1, path="a"),
    called("m3", "read", 2, path="b"),
    answered("m4", "read", "B", 2),
    answered("m5", "read", "A", 1),
    note("m6", "assistant", "Done", metadata={"modelUsed": "m-1"}),
]
