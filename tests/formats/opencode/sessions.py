"""Messages of a session of OpenCode, one call each."""

from collections.abc import Iterable
from typing import Any

from formats.jsonl import read

from compactctl.model.transcript import Transcript

SESSION: dict[str, object] = {"id": "ses_1", "directory": "/work/app", "version": "1.2.20"}
CREATED = 1_700_000_000_000


def user(name: str, *parts: dict[str, Any]) -> dict[str, Any]:
    info = {
        "id": name,
        "sessionID": "ses_1",
        "role": "user",
        "agent": "build",
        "model": {"providerID": "p", "modelID": "m-1"},
    }
    return {"info": info, "parts": [*parts]}


def assistant(name: str, *parts: dict[str, Any], **info: object) -> dict[str, Any]:
    own = {
        "id": name,
        "sessionID": "ses_1",
        "role": "assistant",
        "agent": "build",
        "providerID": "p",
        "modelID": "m-1",
    }
    return {"info": {**own, **info}, "parts": [*parts]}


def text(words: str, **more: object) -> dict[str, Any]:
    return {"id": "prt_t", "sessionID": "ses_1", "type": "text", "text": words, **more}


def tool(call_id: str, name: str, arguments: object, **state: object) -> dict[str, Any]:
    whole = {"status": "completed", "input": arguments, "time": {"start": 1, "end": 2}, **state}
    return {"id": f"prt_{call_id}", "type": "tool", "callID": call_id, "tool": name, "state": whole}


def opencode(*messages: dict[str, Any], **info: object) -> Transcript:
    return read("opencode", {"info": SESSION | info, "messages": one_second_apart(messages)})


def one_second_apart(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages in the order of their creation; a time of their own stays."""
    return [
        {**message, "info": {"time": {"created": CREATED + 1_000 * number}, **message["info"]}}
        for number, message in enumerate(messages)
    ]


def message_id(number: int) -> str:
    """Return an id as the client makes them: they sort by time."""
    return f"msg_{0xCC9141EF4000 + 0x1000 * number:012x}aB3dE5fG7hJ9kL"


def session(turns: int = 6) -> dict[str, Any]:
    """Return an export in which every turn reads the same file and runs a command."""
    messages = []
    for turn in range(turns):
        body = "\n".join(f"{n}: line {n} of the file" for n in range(1, 60))
        read_file = tool(f"r{turn}", "read", {"filePath": "/work/app/a.py"}, output=body)
        output = f"run {turn}: " + "all is well with this step; " * 40
        command = tool(f"b{turn}", "bash", {"command": f"make {turn}"}, output=output)
        messages += [
            user(message_id(3 * turn), text(f"Please fix the parser, part {turn}.")),
            assistant(message_id(3 * turn + 1), text("Reading first."), read_file, command),
            assistant(message_id(3 * turn + 2), text(f"Fixed part {turn} in parser.py.")),
        ]
    return {"info": SESSION, "messages": one_second_apart(messages)}
