"""A conversation as OpenAI chat messages, and such messages, one call each."""

from typing import Any


def say(role: str, content: object, **fields: object) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def called(call_id: str, name: str = "read_file", arguments: str = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def answered(call_id: str, content: object) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


TALK = [
    say("system", "Be brief."),
    say("user", "Read a.py"),
    say("assistant", None, tool_calls=[called("c1", arguments='{"path":"a.py"}')]),
    answered("c1", "print(1)"),
    say("assistant", "It prints 1."),
]
