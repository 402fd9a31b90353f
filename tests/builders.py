"""Builders of small conversations: one call per message, ids and line numbers assigned at the end.

``conversation(user("Fix it"), call("c1", "Read", file_path="a.py"), result("c1", "text"))`` gives
messages with the ids m0, m1, m2 on the lines 0, 1, 2. Parts can be joined with ``message``.
"""

import json
from typing import Any

from compactctl.clients.claude_code.wrapping import CLAUDE_CODE
from compactctl.clients.records.outcomes import with_outcomes
from compactctl.clients.records.wrapping import attribute
from compactctl.clients.wrappings import UNKNOWN_CLIENT
from compactctl.model.message import (
    CallId,
    FilePart,
    Locks,
    MediaPart,
    Message,
    MessageId,
    Origin,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.records import Record, replace

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. an edit)."
    " To tell you how to proceed, the user said:\n"
)
"""How the result begins of a call that the user rejected, before the reason."""


def _taken(fields: dict[str, Any], kind: type[Record]) -> dict[str, Any]:
    return {name: fields.pop(name) for name in kind.__struct_fields__ if name in fields}


def message(role: Role, *parts: Part, **fields: Any) -> Message:
    """Build a message of any role from parts; ``fields`` are those of Message, Origin and Locks."""
    origin = Origin(**_taken(fields, Origin))
    locks = Locks(**_taken(fields, Locks))
    fields = {"id": MessageId(""), "line": 0, "origin": origin, "locks": locks, **fields}
    return Message(**fields, role=role, parts=parts)


def user(text: str, **fields: Any) -> Message:
    """Build what a person wrote (or a reminder, with ``is_injected=True``)."""
    return message("user", TextPart(text=text), **fields)


def assistant(text: str, **fields: Any) -> Message:
    """Build prose of the model."""
    return message("assistant", TextPart(text=text), **fields)


def system(text: str, **fields: Any) -> Message:
    """Build a system prompt."""
    return message("system", TextPart(text=text), **fields)


def thinking(text: str, *, opaque: bool = False, **fields: Any) -> Message:
    """Build reasoning of the model."""
    return message("assistant", ReasoningPart(text=text, opaque=opaque), **fields)


def summary(text: str, **fields: Any) -> Message:
    """Build a summary that a client wrote in place of earlier messages."""
    return user(text, **({"is_summary": True} | fields))


def call(call_id: str, tool: str, /, **arguments: Any) -> Message:
    """Build a tool call; keywords become its JSON arguments."""
    return message("assistant", call_part(call_id, tool, **arguments))


def call_part(call_id: str, tool: str, /, **arguments: Any) -> ToolCallPart:
    """Build the part of a tool call; keywords become its JSON arguments."""
    text = json.dumps(arguments, ensure_ascii=False)
    return ToolCallPart(call_id=CallId(call_id), tool=tool, arguments=text)


def raw_call(call_id: str, tool: str, arguments: str, /) -> Message:
    """Build a tool call whose arguments are any text, valid JSON or not."""
    part = ToolCallPart(call_id=CallId(call_id), tool=tool, arguments=arguments)
    return message("assistant", part)


def result(call_id: str, text: str, /, *, tool: str = "", **flags: Any) -> Message:
    """Build a tool result; ``flags`` are fields of ToolResultPart, or ``is_error`` for a failure.

    ``conversation`` fills in the tool's name from the call when none is given.
    """
    return message("tool", result_part(call_id, text, tool=tool, **flags))


def result_part(call_id: str, text: str, /, *, tool: str = "", **flags: Any) -> ToolResultPart:
    """Build the part of a tool result; for ``flags`` see ``result``."""
    if flags.pop("is_error", False):
        flags["outcome"] = "failed"
    return ToolResultPart(call_id=CallId(call_id), tool=tool, text=text, **flags)


def attached(file_path: str, text: str, **fields: Any) -> Message:
    """Build a record with which the client attached a file."""
    part = FilePart(file_path=file_path, text=text)
    return message("user", part, **({"is_injected": True} | fields))


def image(n_bytes: int = 1_000, *, width: int = 0, height: int = 0, **fields: Any) -> Message:
    """Build a person's message that holds one image."""
    part = MediaPart(media_type="image/png", n_bytes=n_bytes, width=width, height=height)
    return message("user", part, **fields)


def definition(name: str, text: str, **fields: Any) -> Message:
    """Build a record that tells the model about one tool."""
    return message("system", ToolDefinitionPart(name=name, text=text), **fields)


def conversation(*messages: Message) -> tuple[Message, ...]:
    """Number messages (ids m0, m1 … unless given; lines 0, 1 …) and name the tools of results.

    What people wrote in the messages and how calls ended is noted, as a reader does it.
    """
    calls: dict[CallId, ToolCallPart] = {}
    tools = {part.call_id: part.tool for m in messages for part in m.calls}
    return tuple(
        replace(
            m,
            id=m.id or MessageId(f"m{n}"),
            line=n,
            parts=attribute(
                with_outcomes(_named(m.parts, tools), calls, UNKNOWN_CLIENT.results),
                m.role,
                CLAUDE_CODE,
            ),
        )
        for n, m in enumerate(messages)
    )


def _named(parts: tuple[Part, ...], tools: dict[CallId, str]) -> tuple[Part, ...]:
    return tuple(
        replace(part, tool=tools.get(part.call_id, ""))
        if isinstance(part, ToolResultPart) and not part.tool
        else part
        for part in parts
    )
