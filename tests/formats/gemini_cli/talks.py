"""Records of a session of Gemini CLI."""

from typing import Any

from formats.jsonl import read

from compactctl.model.transcript import Transcript

SESSION = {"sessionId": "s-1", "projectHash": "h", "startTime": "2026-01-02T03:04:05.000Z"}
CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /work/app\n</session_context>"
PNG = "iVBORw0KGgo="


def user(name: str, *parts: object, **more: object) -> dict[str, Any]:
    content = [{"text": part} if isinstance(part, str) else part for part in parts]
    time = {"timestamp": "2026-01-02T03:04:06.000Z"}
    return {"id": name, **time, "type": "user", "content": content, **more}


def gemini(name: str, words: object = "", *tools: object, **more: object) -> dict[str, Any]:
    own = {"timestamp": "2026-01-02T03:04:07.000Z", "type": "gemini", "model": "gemini-2.5-pro"}
    called = {"toolCalls": [*tools]} if tools else {}
    return {"id": name, **own, "content": words, "thoughts": [], **called, **more}


def tokens(context: int, output: int = 5, thoughts: int = 0) -> dict[str, int]:
    return {"input": context, "output": output, "cached": 40, "thoughts": thoughts, "tool": 0,
            "total": context + output + thoughts}  # fmt: skip


def answered(call_id: str, name: str, **response: object) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


def tool(call_id: str, name: str, arguments: object, *result: object) -> dict[str, Any]:
    shown = {"status": "success", "resultDisplay": "for the screen"}
    return {"id": call_id, "name": name, "args": arguments, "result": [*result], **shown}


def put(*messages: object) -> dict[str, Any]:
    """Return the update by which a client puts all messages anew."""
    return {"$set": {"messages": [*messages]}}


def session(*records: object) -> Transcript:
    return read("gemini-cli", SESSION, *records)


def talk(turns: int = 6) -> list[dict[str, Any]]:
    """Return messages in which every turn reads the same file and runs a command."""
    found = [user("u-0", CONTEXT)]
    for turn in range(turns):
        body = "\n".join(f"line {n} of the file" for n in range(1, 60))
        output = f"run {turn}: " + "all is well with this step; " * 40
        reads = tool(f"r{turn}", "read_file", {"file_path": "/work/app/a.py"},
                     answered(f"r{turn}", "read_file", output=body))  # fmt: skip
        runs = tool(f"b{turn}", "run_shell_command", {"command": f"make {turn}"},
                    answered(f"b{turn}", "run_shell_command", output=output))  # fmt: skip
        found += [
            user(f"u{turn}", f"Please fix the parser, part {turn}."),
            gemini(f"g{turn}", "Reading first.", reads, runs, tokens=tokens(7_000 + 900 * turn)),
            gemini(f"h{turn}", f"Fixed part {turn} in parser.py."),
        ]
    return found


def logged(turns: int = 6) -> list[dict[str, Any]]:
    """Return the same as a log: answers are there before their calls ended, and again after."""
    found: list[dict[str, Any]] = [SESSION]
    for message in talk(turns):
        if "toolCalls" in message:
            found.append({**message, "toolCalls": []})
        found += [message, {"$set": {"lastUpdated": message["timestamp"]}}]
    return found


def apart(turns: int = 2) -> list[dict[str, Any]]:
    """Return turns whose answers to calls are messages of their own, as after a compaction."""
    found = []
    for turn in range(turns):
        called = {"functionCall": {"id": f"c{turn}", "name": "ls", "args": {"path": "."}}}
        found += [
            user(f"u{turn}", f"part {turn}"),
            gemini(f"g{turn}", [called]),
            user(f"g{turn}_response", answered(f"c{turn}", "ls", output=f"{turn}.py")),
            gemini(f"h{turn}", f"done {turn}"),
        ]
    return found
