"""Chats of VS Code's Copilot Chat: exported ones, and the editor's own file of changes."""

import json
from collections.abc import Mapping
from typing import Any

from samples.clients.recorder import GPT, Call, Record, Recorder
from samples.errands import errands
from samples.stamps import jsonl, opaque
from samples.story import Step
from samples.workbench import ROOT

_SUMMARY = """The models of the harbour are corrected one by one. Migrations stay as they are.
Done: comments say what may not be empty. Next: the list that takes four seconds."""
_CONTEXT = (
    f"<workspace_info>\nI am working in a workspace with the folder {ROOT}\n</workspace_info>"
)


class Chat(Recorder):
    """Requests, each with its rounds of calls and what the screen shows of them."""

    tools: Mapping[str, str] = {
        "read": "read_file", "edit": "replace_string_in_file", "write": "create_file",
        "search": "grep_search", "run": "run_in_terminal",
    }  # fmt: skip
    arguments: Mapping[str, str] = {
        "path": "filePath", "old": "oldString", "new": "newString", "pattern": "query",
    }  # fmt: skip

    def __init__(self, name: str) -> None:
        super().__init__(name, overhead=12_000, model=GPT)

    def prompt(self, words: str, *, picture: bool = False) -> None:
        rendered = f"<context>\nThe current date is 2026-02-03.\n</context>\n<userRequest>\n{words}"
        metadata: Record = {
            "renderedUserMessage": [{"type": 1, "text": rendered}, {"type": 3, "cacheType": "e"}],
            "toolCallRounds": [], "toolCallResults": {},
        }  # fmt: skip
        if not self.records:
            metadata["renderedGlobalContext"] = [{"type": 1, "text": _CONTEXT}]
            self.entered(_CONTEXT)
        image = {"kind": "image", "name": "gauge.png", "value": {"$mid": 1, "path": "/gauge.png"}}
        self.records.append({
            "requestId": f"request_{self.ids.uuid()}", "timestamp": 1_770_107_400_000,
            "message": {"text": words, "parts": [{"kind": "text", "text": words}]},
            "variableData": {"variables": [image] if picture else []},
            "modelId": "copilot/gpt-4.1", "agent": {"id": "github.copilot.editsAgent"},
            "response": [], "result": {"timings": {"totalElapsed": 9_000}, "metadata": metadata},
        })  # fmt: skip
        self.entered(rendered)

    @property
    def metadata(self) -> Record:
        """What the newest request keeps of what the model saw."""
        found: Record = self.records[-1]["result"]["metadata"]
        return found

    def respond(self, step: Step) -> None:
        calls = self.calls(step)
        usage = self.request(step, calls)
        made = [{"id": call.id, "name": call.tool, "arguments": json.dumps(call.arguments)}
                for call in calls]  # fmt: skip
        record: Record = {"id": self.ids.uuid(), "response": step.text, "toolCalls": made,
                          "toolInputRetry": 0}  # fmt: skip
        if step.thinking is not None:
            sealed = {"encrypted": opaque(self.rng, 200)} if not step.thinking else {}
            record["thinking"] = {"id": self.ids.uuid(), "text": step.thinking, **sealed}
        self.metadata["toolCallRounds"].append(record)
        self.metadata.update(promptTokens=usage.sent, outputTokens=usage.output)
        for call in calls:
            self.metadata["toolCallResults"][call.id] = _result(call)
            shown = {"kind": "toolInvocationSerialized", "toolCallId": call.id,
                     "toolId": f"copilot_{call.tool}", "isComplete": True}  # fmt: skip
            self.records[-1]["response"].append(shown)
        self.records[-1]["response"].append({"value": step.text, "supportThemeIcons": False})
        self.answered(calls)

    def compact(self) -> None:
        """Let the client put a summary in the place of all rounds so far."""
        newest = self.metadata["toolCallRounds"][-1]["id"]
        self.metadata["summary"] = {"toolCallRoundId": newest, "text": _SUMMARY}
        self.summarized(_SUMMARY)

    def document(self, **fields: Any) -> Record:
        """Return the chat as a document."""
        return {"responderUsername": "GitHub Copilot", "requesterUsername": "dev",
                "requests": self.records, **fields}  # fmt: skip


def _result(call: Call) -> Record:
    """Return a result: a text, or the tree of a prompt for a file."""
    if call.tool != "read_file" or call.failed:
        return {"$mid": 20, "content": [{"$mid": 21, "value": call.result}]}
    lines = [{"type": 2, "priority": 1, "text": line, "lineBreakBefore": True}
             for line in call.result.split("\n")]  # fmt: skip
    node = {"type": 1, "ctor": 2, "ctorName": "ReadFileResult", "children": lines, "props": {},
            "references": []}  # fmt: skip
    return {"$mid": 20, "content": [{"$mid": 21, "value": {"node": node}}]}


def export() -> bytes:
    """A chat that was exported, with two summaries by the client."""
    chat = Chat("vscode export")
    turns = errands("vscode export", 6)
    chat.play(turns[:2])
    chat.compact()
    chat.play(turns[2:4])
    chat.compact()
    chat.play(turns[4:])
    return json.dumps(chat.document(), indent="\t", ensure_ascii=False).encode()


def changes() -> bytes:
    """The editor's own file: the state of a chat, and one change after the other."""
    chat = Chat("vscode changes")
    state = {"version": 3, "sessionId": chat.ids.uuid(), "customTitle": "Harbour", "requests": []}
    lines: list[Record] = [{"kind": 0, "v": chat.document(**state)}]
    lines[0]["v"]["requests"] = []
    for number, turn in enumerate(errands("vscode changes", 5)):
        chat.play([turn])
        (request,) = chat.records[number:]
        result = request["result"]
        lines += [
            {"kind": 2, "k": ["requests"], "v": [{**request, "result": {}, "response": []}]},
            {"kind": 2, "k": ["requests", number, "response"], "v": request["response"]},
            {"kind": 1, "k": ["requests", number, "result"], "v": result},
            {"kind": 1, "k": ["inputState"], "v": {"text": ""}},
            {"kind": 3, "k": ["inputState"]},
        ]
    # The last request is sent once more: the array is cut to what it was before it.
    again = {"kind": 2, "k": ["requests"], "i": len(chat.records) - 1, "v": chat.records[-1:]}
    return jsonl([*lines, again])


SESSIONS = {"export.json": export, "changes.jsonl": changes}
