"""Items of the Responses API and of the Agents SDK for JavaScript, and exchanges of such items."""

from collections.abc import Mapping, Sequence
from typing import Any

Record = dict[str, Any]


def said(role: str, text: str, **fields: object) -> Record:
    """Return a message as the API stores it."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **fields}


def call(name: str, tool: str = "read_log", arguments: str = '{"path":"a.log"}') -> Record:
    named = {"call_id": name, "name": tool, "arguments": arguments}
    return {"type": "function_call", "id": f"fc_{name}", **named, "status": "completed"}


def output(name: str, value: object) -> Record:
    return {"type": "function_call_output", "call_id": name, "output": value}


def js_call(name: str, tool: str = "read_log", arguments: str = '{"path":"a.log"}') -> Record:
    """Return a call as the Agents SDK for JavaScript stores it."""
    named = {"callId": name, "name": tool, "arguments": arguments}
    return {"type": "function_call", "id": f"fc_{name}", **named, "status": "completed"}


def js_output(name: str, value: object, tool: str = "read_log") -> Record:
    named = {"callId": name, "name": tool, "output": value}
    return {"type": "function_call_result", **named, "status": "completed"}


def log(turn: int) -> str:
    return "\n".join(
        f"step {line} of run {turn}: gate {line * turn % 7} is shut" for line in range(20)
    )


def talk(turns: int = 4) -> list[Record]:
    """Return items as code writes them for ``input``: messages without a type."""
    return [
        item
        for turn in range(turns)
        for item in (
            {"role": "user", "content": f"Look at run {turn}, please."},
            call(f"c{turn}"),
            output(f"c{turn}", log(turn)),
            said("assistant", f"Run {turn} is fine.", id=f"msg_{turn}", status="completed"),
        )
    ]


def js_talk(turns: int = 4) -> list[Record]:
    """Return the same items as the Agents SDK for JavaScript stores them."""
    return [
        item
        for turn in range(turns)
        for item in (
            {"type": "message", "role": "user", "content": f"Look at run {turn}, please."},
            js_call(f"c{turn}"),
            js_output(f"c{turn}", {"type": "text", "text": log(turn)}),
            said("assistant", f"Run {turn} is fine.", status="completed"),
        )
    ]


def response(
    name: str, *items: Record, sent: int = 0, answered: int = 0, **fields: object
) -> Record:
    """Return a response with its usage, if ``sent`` tokens of input are told."""
    found: Record = {"id": name, "object": "response", "model": "gpt-5.1-2025-11-13"}
    found |= {"output": [*items], **fields}
    if sent:
        found["usage"] = {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": 7},
            "output_tokens": answered,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": sent + answered,
        }
    return found


def request(
    items: Sequence[Record] | str, answer: Mapping[str, Any] | None = None, **fields: object
) -> Record:
    """Return a request, with the response to it where one is logged."""
    sent = items if isinstance(items, str) else [*items]
    logged = {} if answer is None else {"response": answer}
    return {"model": "gpt-5.1", "instructions": "Be brief.", "input": sent, **fields, **logged}


def chain(turns: int = 1) -> list[Record]:
    """Return requests that each send only what is new, two in each turn."""
    return [row for turn in range(turns) for row in _turn(turn)]


def _turn(turn: int) -> tuple[Record, Record]:
    tools = [{"type": "function", "name": "read_log", "parameters": {}}]
    before = {"previous_response_id": f"resp_{2 * turn - 1}"} if turn else {}
    first = response(f"resp_{2 * turn}", call(f"c{turn}"), sent=60, answered=40)
    answer = said("assistant", f"Run {turn} is fine.")
    second = response(f"resp_{2 * turn + 1}", answer, sent=80, answered=10)
    follows = {"previous_response_id": f"resp_{2 * turn}", "instructions": "Be kind."}
    question = f"Look at run {turn}, please."
    return (
        request(question, first, tools=tools, **before),
        request([output(f"c{turn}", log(turn))], second, tools=tools, **follows),
    )
