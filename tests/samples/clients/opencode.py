"""Sessions of OpenCode, as it exports them."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from samples.clients.recorder import Call, Record, Recorder
from samples.errands import errands
from samples.picture import png_base64
from samples.story import Step, Turn
from samples.workbench import ROOT

_MODEL = "claude-sonnet-4-5"
_SUMMARY = """## Goal
Correct the models of the harbour, one after the other, and never touch migrations/.

## Done
The comments beside the fields say what may not be empty; the tests pass."""
_CLEARED = "[Old tool result content cleared]"


class Session(Recorder):
    """Messages with their parts; every message is one response."""

    arguments: Mapping[str, str] = {"path": "filePath", "old": "oldString", "new": "newString"}

    def __init__(self, name: str, **info: Any) -> None:
        super().__init__(name, overhead=9_100)
        self.info = {"id": self._name("ses"), "slug": "harbour", "projectID": "0f" * 20,
                     "directory": ROOT, "title": "Harbour models", "version": "1.2.24",
                     **info}  # fmt: skip

    def _name(self, kind: str) -> str:
        """Return an id as the client makes them: they sort by time."""
        return f"{kind}_{self.milliseconds * 4096 & 0xFFFFFFFFFFFF:012x}{self.ids.token('', 14)}"

    @property
    def milliseconds(self) -> int:
        """The time, as the client writes it."""
        return int(datetime.fromisoformat(self.clock.tick(0.1, 2)).timestamp() * 1000)

    def part(self, kind: str, **fields: Any) -> Record:
        """Return a part."""
        return {"type": kind, **fields, "id": self._name("prt"), "sessionID": self.info["id"]}

    def put(self, role: str, parts: list[Record], **info: Any) -> str:
        """Write a message and return its id."""
        name = self._name("msg")
        own = {"id": name, "sessionID": self.info["id"], "role": role, "agent": "build",
               "time": {"created": self.milliseconds}, **info}  # fmt: skip
        held = [{**part, "messageID": name} for part in parts]
        self.records.append({"info": own, "parts": held})
        return name

    def prompt(self, words: str, *, picture: bool = False) -> None:
        parts = [self.part("text", text=words)]
        if picture:
            url = f"data:image/png;base64,{png_base64()}"
            parts.append(self.part("file", mime="image/png", filename="gauge.png", url=url))
        hint = f"Called the Read tool with {ROOT}/CLAUDE.md"
        parts.append(self.part("text", text=hint, synthetic=True))
        model = {"providerID": "anthropic", "modelID": _MODEL}
        self.asked = self.put("user", parts, model=model)
        self.entered(words, hint, pictures=int(picture))

    def respond(self, step: Step, **info: Any) -> None:
        calls = self.calls(step)
        usage = self.request(step, calls)
        cache = {"read": usage.cached, "write": max(0, usage.fresh - 9)}
        tokens = {"total": usage.sent + usage.output, "input": min(9, usage.fresh),
                  "output": usage.output, "reasoning": 0, "cache": cache}  # fmt: skip
        parts = [self.part("step-start", snapshot=f"{self.rng.getrandbits(160):040x}")]
        if step.thinking:
            parts.append(self.part("reasoning", text=step.thinking, time={"start": 1, "end": 2}))
        if step.text:
            parts.append(self.part("text", text=step.text))
        parts += map(self.called, calls)
        finish = "tool-calls" if calls else "stop"
        parts.append(self.part("step-finish", reason=finish, tokens=tokens, cost=0.0012))
        answer = {"parentID": self.asked, "modelID": _MODEL, "providerID": "anthropic",
                  "finish": finish, "cost": 0.0012, "tokens": tokens}  # fmt: skip
        self.put("assistant", parts, **answer, **info)
        self.answered(calls)

    def called(self, call: Call) -> Record:
        """Return a call with what came of it."""
        start = self.milliseconds
        times = {"time": {"start": start, "end": start + 40}}
        state: Record = {
            "status": "completed",
            "input": call.arguments,
            "output": call.result,
            "title": call.tool,
            "metadata": {"preview": call.result},
            **times,
        }
        if call.failed:
            state = {"status": "error", "input": call.arguments, "error": call.result, **times}
        return self.part("tool", callID=call.id, tool=call.tool, state=state)

    def clear_results(self) -> None:
        """Let the client send older results no more."""
        for message in self.records[:-4]:
            for part in message["parts"]:
                state = part.get("state", {})
                if state.get("status") == "completed":
                    state["time"]["compacted"] = self.milliseconds
                    self.context -= self.model.count(state["output"]) - self.model.count(_CLEARED)
        self.cached = 0

    def compact(self) -> None:
        """Let the client ask for a summary, from which it goes on."""
        self.asked = self.put("user", [self.part("compaction", auto=True)])
        self.respond(Step(None, _SUMMARY, ()), summary=True, mode="compaction")
        self.summarized("What did we do so far?", _SUMMARY)

    def fail(self, words: str) -> None:
        """Write a prompt whose request failed, and what the client says of that."""
        self.prompt(words)
        error = {"name": "APIError", "data": {"message": "Overloaded", "isRetryable": True}}
        self.put("assistant", [self.part("step-start")], parentID=self.asked, modelID=_MODEL,
                 providerID="anthropic", error=error)  # fmt: skip

    def left(self, turn: Turn) -> None:
        """Write a turn that the user reverted: it stays in the file."""
        self.play([turn])
        self.info["revert"] = {"messageID": self.asked, "snapshot": "0f" * 20}

    def document(self) -> bytes:
        """Return the export."""
        document = {"info": self.info, "messages": self.records}
        return json.dumps(document, indent=2, ensure_ascii=False).encode()


def pruned() -> bytes:
    """Results that the client cleared, a failed request, and a turn that was reverted."""
    session = Session("opencode pruned")
    turns = errands("opencode pruned", 7)
    session.play(turns[:2])
    session.clear_results()
    session.fail("Are you there?")
    session.play(turns[2:6])
    session.left(turns[6])
    return session.document()


def compacted() -> bytes:
    """Two compactions in the session of a subagent."""
    session = Session("opencode compacted", parentID="ses_0a1b2c3d4e5fParent0000000")
    turns = errands("opencode compacted", 5)
    session.play(turns[:2])
    session.compact()
    session.play(turns[2:3])
    session.compact()
    session.play(turns[3:])
    return session.document()


SESSIONS = {"pruned.json": pruned, "compacted.json": compacted}
