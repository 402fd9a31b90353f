"""Chats of VS Code's Copilot Chat: an export, a session file with changes, a log of requests."""

import json
from typing import Any

TREE = {
    "type": 1, "ctor": 2, "ctorName": "X", "props": {}, "references": [],
    "children": [
        {"type": 2, "priority": 1, "text": "first", "lineBreakBefore": False},
        {"type": 1, "children": [{"type": 2, "text": "second", "lineBreakBefore": True}]},
    ],
}  # fmt: skip


def call(name: str, tool: str, arguments: str = '{"filePath":"a"}') -> dict[str, Any]:
    return {"id": name, "name": tool, "arguments": arguments}


def rounded(name: str, said: str = "", *calls: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"response": said, "toolCalls": [*calls], "toolInputRetry": 0, "id": name, **rest}


def result(*pieces: Any) -> dict[str, Any]:
    return {"$mid": 20, "content": [{"$mid": 21, "value": piece} for piece in pieces]}


def request(
    name: str, said: str, *rounds: dict[str, Any], results: Any = None, **metadata: Any
) -> dict[str, Any]:
    found = {"toolCallRounds": [*rounds], "toolCallResults": results or {}, **metadata}
    return {
        "requestId": name, "message": {"text": said, "parts": []}, "timestamp": 1_772_000_000_000,
        "modelId": "copilot/gpt-4.1", "response": [], "result": {"metadata": found},
    }  # fmt: skip


TALK = [
    request(
        "q1", "Read both",
        rounded("r1", "Reading.", call("c1", "read_file"), call("c2", "read_file")),
        rounded("r2", "Both are read."),
        results={"c1": result("content of a"), "c2": result({"node": TREE})},
        renderedUserMessage=[{"type": 1, "text": "<userRequest>Read both"}, {"type": 3}],
        renderedGlobalContext=[{"type": 1, "text": "<environment_info>"}],
    ),
    request(
        "q2", "And the third",
        rounded("r3", "", call("c3", "read_file"), thinking={"id": "t", "text": "Hm."}),
        rounded("r4", "It is read."),
        results={"c3": result("one piece", "another")},
        promptTokens=9_000, outputTokens=40,
    ),
]  # fmt: skip


def export(*requests: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"responderUsername": "GitHub Copilot", "requests": [*requests], **rest}


def replay(*messages: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    entry = {
        "id": "e2", "kind": "request", "name": "panel/editAgent",
        "metadata": {"model": "gpt-4.1", **metadata},
        "requestMessages": {"messages": [*messages]},
        "response": {"type": "success", "message": ["Done.", "Next?"]},
    }  # fmt: skip
    title = {
        "id": "e3",
        "kind": "request",
        "requestMessages": {"messages": [{"role": 1, "content": []}]},
    }
    used = {"id": "e1", "kind": "toolCall", "tool": "read_file", "args": {}}
    prompts = [
        {"prompt": "p", "logCount": 3, "logs": [used, entry, title]},
        {"prompt": "", "logs": []},
    ]
    return {"exportedAt": "2026-03-01T10:00:00Z", "totalPrompts": 2, "prompts": prompts}


def long_chat() -> list[dict[str, Any]]:
    """Return requests whose results and arguments are worth taking out."""
    return [
        request(
            f"q{n}",
            "Write it down. " * 5,
            rounded(f"r{n}", "", call(f"c{n}", "create_file", json.dumps({"content": "x " * 300}))),
            rounded(f"s{n}", "Done."),
            results={f"c{n}": result("line\n" * 300)},
        )
        for n in range(6)
    ]
