"""Sessions of Copilot CLI."""

from collections.abc import Mapping
from typing import Any

from samples.clients.recorder import Call, Record, Recorder
from samples.errands import errands
from samples.picture import png_base64
from samples.stamps import jsonl, opaque
from samples.story import Step
from samples.workbench import ROOT

_SYSTEM = """You are the terminal assistant of a harbour office. Work in small steps.
Never print secrets. Use the tools that you are given, several at once where that helps."""
_MODEL = "claude-sonnet-4.6"
_SUMMARY = """<overview>
The models of the harbour are being corrected, one after the other.
</overview>
<history>
1. The comments beside the fields say what may not be empty.
2. The tests of each model pass; migrations/ was not touched.
</history>"""


class Session(Recorder):
    """Events, each of which names the one before it."""

    tools: Mapping[str, str] = {
        "read": "view",
        "edit": "edit",
        "write": "create",
        "search": "grep",
        "run": "bash",
    }
    arguments: Mapping[str, str] = {"old": "old_str", "new": "new_str", "text": "file_text"}
    call_prefix = "toolu_01"

    def __init__(self, name: str) -> None:
        super().__init__(name, overhead=7_400)
        self.agent = ""
        context = {"cwd": ROOT, "gitRoot": ROOT, "branch": "main"}
        self.id = self.ids.uuid()
        self.event("session.start", sessionId=self.id, version=1, copilotVersion="1.0.64",
                   producer="copilot-agent", context=context, selectedModel=_MODEL)  # fmt: skip
        self.event("system.message", role="system", content=_SYSTEM)
        self.entered(_SYSTEM)

    def event(self, kind: str, **data: Any) -> str:
        """Write an event and return its id."""
        parent = self.records[-1]["id"] if self.records else None
        owner = {"parentToolCallId": self.agent} if self.agent else {}
        record = {"type": kind, "data": data | owner, "id": self.ids.uuid(),
                  "timestamp": self.clock.tick(), "parentId": parent}  # fmt: skip
        self.records.append(record)
        return str(record["id"])

    def prompt(self, words: str, *, picture: bool = False) -> None:
        sent = f"<current_datetime>{self.clock.stamp()}</current_datetime>\n\n{words}"
        held = {"type": "blob", "mimeType": "image/png", "data": png_base64()}
        self.event("user.message", content=words, transformedContent=sent,
                   attachments=[held] if picture else [])  # fmt: skip
        self.entered(sent, pictures=int(picture))

    def respond(self, step: Step) -> None:
        self.event("assistant.turn_start", turnId="0")
        calls = self.calls(step)
        usage = self.request(step, calls)
        requests = [{"toolCallId": call.id, "name": call.tool, "arguments": call.arguments,
                     "type": "function"} for call in calls]  # fmt: skip
        thought = {} if step.thinking is None else {
            "reasoningText": step.thinking, "reasoningOpaque": opaque(self.rng, 120)}  # fmt: skip
        self.event("assistant.message", messageId=self.ids.uuid(), apiCallId=self.ids.uuid(),
                   model=_MODEL, content=step.text, toolRequests=requests,
                   outputTokens=usage.output, **thought)  # fmt: skip
        for call in calls:
            self.event("tool.execution_start", toolCallId=call.id, toolName=call.tool,
                       arguments=call.arguments)  # fmt: skip
        # Calls of one response end in any order.
        for call in reversed(calls):
            self.answer(call)
        self.event("assistant.turn_end", turnId="0")

    def answer(self, call: Call) -> None:
        """Write what came of a call, and what a hook was told of that."""
        ended: Record = {"toolCallId": call.id, "model": _MODEL, "success": not call.failed}
        if call.failed:
            ended["error"] = {"message": call.result, "code": "failure"}
        else:
            ended["result"] = {"content": call.result, "detailedContent": f"{call.result}\n"}
        self.event("tool.execution_complete", **ended)
        self.event("hook.start", hookType="postToolUse", input={"toolResult": call.result})
        self.event("hook.end", hookType="postToolUse", success=True)
        self.answered([call])

    def delegate(self) -> None:
        """Let a subagent look, whose events name the call that it works for."""
        context, self.agent = self.context, self.ids.token("toolu_01")
        brief, report = "Find who calls the models.", "The services call them, nobody else."
        request = {"toolCallId": self.agent, "name": "task", "arguments": {"prompt": brief}}
        name, self.agent = self.agent, ""
        self.event("assistant.message", messageId=self.ids.uuid(), content="", model=_MODEL,
                   toolRequests=[request])  # fmt: skip
        self.agent = name
        self.event("system.message", role="system", content="You are a subagent.")
        for step in errands(name, 1)[0].steps:
            self.respond(step)
        self.agent, self.context = "", context
        self.answer(Call(name, "task", {}, report, failed=False))

    def compact(self) -> None:
        """Let the client compact: it goes on with all prompts and a summary."""
        told = {"systemTokens": 60, "conversationTokens": self.context - self.overhead,
                "toolDefinitionsTokens": self.overhead}  # fmt: skip
        self.event("session.compaction_start", **told)
        prompts = [r["data"]["content"] for r in self.records if r["type"] == "user.message"]
        before = self.context
        self.summarized(_SYSTEM, *prompts, _SUMMARY)
        self.event("session.compaction_complete", success=True, preCompactionTokens=before,
                   postCompactionTokens=self.context, summaryContent=_SUMMARY,
                   checkpointNumber=1, messagesRemoved=40)  # fmt: skip

    def go_back(self, words: str) -> None:
        """Let the user take back a prompt, which the client removes with all that followed it."""
        context, first = self.context, len(self.records)
        self.prompt(words)
        self.respond(Step(None, "I do not know yet.", ()))
        del self.records[first:]
        self.context, self.cached = context, 0

    def shut_down(self) -> None:
        """Write what the client says of the context at the end."""
        counts = {"systemTokens": 60, "toolDefinitionsTokens": self.overhead,
                  "conversationTokens": self.context - self.overhead - 60}  # fmt: skip
        self.event("session.shutdown", shutdownType="routine", currentModel=_MODEL,
                   currentTokens=self.context, **counts)  # fmt: skip


def long() -> bytes:
    """A session that was never compacted, with a subagent and a resume."""
    session = Session("copilot-cli long")
    turns = errands("copilot-cli long", 6)
    session.play(turns[:2])
    session.delegate()
    session.play(turns[2:4])
    session.event("session.resume", eventCount=len(session.records), selectedModel=_MODEL)
    session.play(turns[4:])
    session.shut_down()
    return jsonl(session.records)


def compacted() -> bytes:
    """Two compactions, and a prompt that the user took back."""
    session = Session("copilot-cli compacted")
    turns = errands("copilot-cli compacted", 5)
    session.play(turns[:2])
    session.compact()
    session.go_back("Do you know the harbour master?")
    session.play(turns[2:3])
    session.compact()
    session.play(turns[3:])
    return jsonl(session.records)


SESSIONS = {"long.jsonl": long, "compacted.jsonl": compacted}
