"""UI messages of the AI SDK: of version 5 with parts alone, of version 4 with copies beside."""

import base64
from typing import Any

from formats.content.block_kinds import PAGES, PICTURE, words

Record = dict[str, Any]


def text(said: str) -> Record:
    return {"type": "text", "text": said}


def tool(name: str, call_id: str, output: object, **fields: object) -> Record:
    """Return a call of version 5 with its result in one part."""
    call = {"type": f"tool-{name}", "toolCallId": call_id, "input": {"path": "a.py"}}
    return {**call, "state": "output-available", "output": output, **fields}


def ui(name: str, role: str, *parts: Record, **fields: object) -> Record:
    return {"id": name, "role": role, "parts": [*parts], **fields}


def invocation(call_id: str, result: object) -> Record:
    """Return a call of version 4 with its result."""
    called = {"toolCallId": call_id, "toolName": "read", "args": {"path": "a.py"}}
    return {"state": "result", "step": 0, **called, "result": result}


def older(name: str, result: object, said: str) -> Record:
    """Return an answer of version 4, which holds everything twice."""
    called = invocation(f"c-{name}", result)
    parts = [{"type": "tool-invocation", "toolInvocation": called}, text(said)]
    return {"id": name, "createdAt": "2026-01-01T00:00:00Z", "role": "assistant", "content": said,
            "parts": parts, "toolInvocations": [called], "revisionId": "r"}  # fmt: skip


def _asked(turn: int) -> str:
    return f"Check the gate once more, part {turn}: is level {turn} right?"


def talk(turns: int = 4, lines: int = 8) -> list[Record]:
    """Return a talk in which every turn reads the same file and runs a command."""
    source = "\n".join(f"LEVEL_{n} = {n * 17 % 23}  # above the sill" for n in range(lines))
    return [
        message
        for turn in range(turns)
        for message in (
            ui(f"u{turn}", "user", text(_asked(turn))),
            ui(
                f"a{turn}",
                "assistant",
                {"type": "step-start"},
                tool("read", f"c{turn}", source),
                {"type": "step-start"},
                tool("shell", f"d{turn}", f"run {turn}: " + "sluice and gate agree; " * 9),
                {"type": "step-start"},
                text(f"Level {turn} is right; I changed nothing."),
            ),
        )
    ]


def older_talk(turns: int = 4) -> list[Record]:
    """Return the same as version 4 stores it, with results that are objects."""
    return [
        message
        for turn in range(turns)
        for message in (
            {"id": f"u{turn}", "role": "user", "content": _asked(turn)},
            older(
                f"a{turn}", {"lines": [f"level {n} of {turn}" for n in range(40)]}, "It is right."
            ),
        )
    ]


def every(turns: int = 6) -> list[Record]:
    """Return a chat with a part of every kind that version 5 knows, calls in every state."""
    found: list[Record] = []
    for n in range(turns):
        data = base64.b64encode(words(n).encode()).decode()
        files = (("image/png", PICTURE), ("application/pdf", PAGES), ("text/plain", data))
        listed = {"content": [text(words(n))], "isError": False}
        called = {"input": {"path": "a.py", "text": words(n, 20)}}
        waiting = {
            "type": "tool-write",
            "toolCallId": f"h{n}",
            "state": "input-available",
            **called,
        }
        failed = {"type": "tool-read", "toolCallId": f"f{n}", "state": "output-error"}
        found += [
            ui(
                f"u{n}",
                "user",
                text(f"Look at all of {n}."),
                *(
                    {"type": "file", "mediaType": kind, "url": f"data:{kind};base64,{held}"}
                    for kind, held in files
                ),
            ),
            ui(
                f"a{n}",
                "assistant",
                {"type": "step-start"},
                {"type": "reasoning", "text": words(n, 9), "state": "done"},
                tool("read", f"c{n}", words(n)),
                tool("read", f"d{n}", {"rows": [words(n)]}),
                tool("mcp", f"e{n}", listed, type="dynamic-tool", toolName="mcp"),
                {**failed, **called, "errorText": words(n)},
                tool("web", f"g{n}", [words(n)], providerExecuted=True),
                *([waiting] if n == turns - 1 else []),
                {"type": "step-start"},
                {"type": "source-url", "sourceId": "s", "url": "https://example.org"},
                {"type": "data-note", "data": {"seen": True}},
                text(words(n, 20)),
            ),
        ]
    return found
