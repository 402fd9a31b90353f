"""Sessions of pi, and of a relative that writes a little more."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from samples.clients.recorder import Record, Recorder
from samples.errands import errands
from samples.picture import png_base64
from samples.stamps import compact, opaque
from samples.story import Step, Turn
from samples.workbench import ROOT

_MODEL = "claude-sonnet-4-5"
_SUMMARY = """## Goal
Correct the models of the harbour, one after the other.

## Constraints
- never touch migrations/

## Progress
- the comments beside the fields say what may not be empty"""


class Session(Recorder):
    """Entries that make a tree, or a list in the first version."""

    arguments: Mapping[str, str] = {"old": "oldText", "new": "newText"}
    call_prefix = "toolu_01"

    def __init__(self, name: str, version: int = 3) -> None:
        super().__init__(name, overhead=3_300)
        self.version = version
        self.parent: str | None = None
        header = {"type": "session", "id": self.ids.uuid(), "timestamp": self.clock.stamp(),
                  "cwd": ROOT}  # fmt: skip
        own = {"version": version} if version > 1 else {"provider": "anthropic", "modelId": _MODEL}
        self.records.append(header | own)

    def entry(self, kind: str, **fields: Any) -> str | None:
        """Write an entry and return its id; the first version has none."""
        name = self.ids.uuid()[:8] if self.version > 1 else None
        link = {"id": name, "parentId": self.parent} if name else {}
        self.records.append({"type": kind, **link, "timestamp": self.clock.tick(), **fields})
        self.parent = name
        return name

    def message(self, role: str, **fields: Any) -> str | None:
        """Write a message."""
        time = int(datetime.fromisoformat(self.clock.stamp()).timestamp() * 1000)
        return self.entry("message", message={"role": role, **fields, "timestamp": time})

    def prompt(self, words: str, *, picture: bool = False) -> None:
        content: list[Record] = [{"type": "text", "text": words}]
        if picture:
            content.append({"type": "image", "data": png_base64(), "mimeType": "image/png"})
        self.message("user", content=content)
        self.entered(words, pictures=int(picture))

    def respond(self, step: Step) -> None:
        calls = self.calls(step)
        usage = self.request(step, calls)
        content: list[Record] = []
        if step.thinking is not None:
            signature = opaque(self.rng, 120)
            thought = {"thinking": step.thinking, "thinkingSignature": signature}
            content.append({"type": "thinking", **thought})
        if step.text:
            content.append({"type": "text", "text": step.text})
        content += [{"type": "toolCall", "id": call.id, "name": call.tool,
                     "arguments": call.arguments} for call in calls]  # fmt: skip
        counts = {"input": usage.fresh, "output": usage.output, "cacheRead": usage.cached,
                  "cacheWrite": 0, "totalTokens": usage.sent + usage.output,
                  "cost": {"input": 0.000005, "output": 0.0001, "total": 0.000105}}  # fmt: skip
        self.message("assistant", content=content, api="anthropic-messages", provider="anthropic",
                     model=_MODEL, usage=counts, stopReason="toolUse" if calls else "stop",
                     )  # fmt: skip
        for call in calls:
            result = [{"type": "text", "text": call.result}]
            self.message("toolResult", toolCallId=call.id, toolName=call.tool, content=result,
                         isError=call.failed, details={"shown": call.result[:80]})  # fmt: skip
        self.answered(calls)

    def compact(self, kept: int) -> None:
        """Let the client compact: a summary, and the newest messages since ``kept`` prompts."""
        prompts = [n for n, record in enumerate(self.records)
                   if record.get("message", {}).get("role") == "user"]  # fmt: skip
        first = prompts[-kept]
        held = {"readFiles": [f"{ROOT}/quayside/models/berth.py"], "modifiedFiles": []}
        mark = ({"firstKeptEntryId": self.records[first]["id"]} if self.version > 1
                else {"firstKeptEntryIndex": first})  # fmt: skip
        self.entry("compaction", summary=_SUMMARY, **mark, tokensBefore=self.context, details=held)
        since = [r["message"]["content"] for r in self.records[first:] if "message" in r]
        self.summarized(_SUMMARY, *(_said(block) for content in since for block in content))

    def ran_by_hand(self, command: str, output: str) -> None:
        """Write a command that the user ran, and one that the model is not told of."""
        ran = {"command": command, "output": output, "exitCode": 0, "cancelled": False}
        self.message("bashExecution", **ran)
        self.message("bashExecution", **ran, excludeFromContext=True)
        self.entered(command, output)

    def left(self, turn: Turn) -> None:
        """Write a branch that the user left, and a summary of it on the one that goes on."""
        parent, context = self.parent, self.context
        self.play([turn])
        left, self.parent = self.parent, parent
        summary = "The other way was tried: it needs a new table."
        self.entry("branch_summary", summary=summary, fromId=left)
        self.context = context
        self.entered(summary)

    def interrupted(self) -> None:
        """Write an answer that was cut off, which is never sent again."""
        self.message("assistant", content=[{"type": "text", "text": "I beg"}], model=_MODEL,
                     stopReason="aborted", errorMessage="Request was aborted.")  # fmt: skip

    def lines(self) -> list[str]:
        """Return the lines as a client in JavaScript writes them."""
        return [_line(record) for record in self.records]


def _said(block: Record) -> str:
    return str(block.get("text") or block.get("thinking") or json.dumps(block.get("arguments", "")))


def _line(record: Record) -> str:
    return compact(record).replace("5e-06", "0.000005")


def tree() -> bytes:
    """A tree with a branch that was left and a compaction, and a line that is not whole."""
    session = Session("pi tree")
    turns = errands("pi tree", 6)
    session.entry("model_change", provider="anthropic", modelId=_MODEL)
    session.entry("thinking_level_change", thinkingLevel="medium")
    session.play(turns[:2])
    session.left(turns[2])
    session.play(turns[3:4])
    session.compact(kept=1)
    session.ran_by_hand("git status --short", " M quayside/models/berth.py")
    session.play(turns[4:5])
    session.interrupted()
    session.entry("session_info", name="Harbour models")
    session.play(turns[5:])
    lines = session.lines()
    lines.insert(9, '{"type":"custom","customType":"note","data":{"text":"cut of')
    return "".join(f"{line}\n" for line in lines).encode()


def first_version() -> bytes:
    """A list of entries without ids, compacted twice, with Windows' ends of lines."""
    session = Session("pi first version", version=1)
    turns = errands("pi first version", 5)
    session.play(turns[:2])
    session.compact(kept=1)
    session.play(turns[2:4])
    session.compact(kept=2)
    session.play(turns[4:])
    return "".join(f"{line}\r\n" for line in session.lines()).encode()


def long() -> bytes:
    """A session of which all is sent."""
    session = Session("pi long")
    session.play(errands("pi long", 6))
    return "".join(f"{line}\n" for line in session.lines()).encode()


SESSIONS = {"tree.jsonl": tree, "first-version.jsonl": first_version, "long.jsonl": long}
