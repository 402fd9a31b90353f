"""Sessions of Qwen Code, which asks any provider's model."""

from collections.abc import Mapping, Sequence
from typing import Any

from samples.clients.recorder import CLAUDE, Record, Recorder
from samples.errands import errands
from samples.picture import png_base64
from samples.stamps import jsonl
from samples.story import Step
from samples.workbench import ROOT

_SUMMARY = """<state_snapshot>
    <overall_goal>Correct the models of the harbour, one after the other.</overall_goal>
    <key_knowledge>Never touch migrations/. Tests run with pytest.</key_knowledge>
</state_snapshot>

Resume the prior task using the summary above. Continue from the last in-flight step."""
_GOT_IT = "Got it. Thanks for the additional context!"
_FILE = (
    "Recently accessed file (full current content embedded):\n\n## berth.py\n\n```\nDEPTH = 12\n```"
)


class Session(Recorder):
    """Records, each of which names the one before."""

    tools: Mapping[str, str] = {
        "read": "read_file", "edit": "edit", "write": "write_file", "search": "grep_search",
        "run": "run_shell_command",
    }  # fmt: skip
    arguments: Mapping[str, str] = {"path": "file_path", "old": "old_string", "new": "new_string"}
    call_prefix = "call_"

    def __init__(self, name: str) -> None:
        super().__init__(name, overhead=14_200)
        self.session = self.ids.uuid()
        self.parent: str | None = None

    def record(self, kind: str, **fields: Any) -> str:
        """Write a record and return its id."""
        name = self.ids.uuid()
        about = {"uuid": name, "parentUuid": self.parent, "sessionId": self.session}
        place = {"timestamp": self.clock.tick(), "type": kind, "cwd": ROOT, "version": "0.24.4"}
        self.records.append({**about, **place, "gitBranch": "main", **fields})
        self.parent = name
        return name

    def state(self, subtype: str, payload: Record) -> None:
        """Write a state of the client."""
        self.record("system", provenance="system", subtype=subtype, systemPayload=payload)

    def content(self, kind: str, parts: Sequence[Record], **fields: Any) -> None:
        """Write a message."""
        role = "model" if kind == "assistant" else "user"
        self.record(kind, **fields, message={"role": role, "parts": [*parts]})

    def prompt(self, words: str, *, picture: bool = False) -> None:
        parts: list[Record] = [{"text": words}]
        if picture:
            parts.append({"inlineData": {"mimeType": "image/png", "data": png_base64()}})
        self.content("user", parts, provenance="real_user")
        self.state("attribution_snapshot", {"snapshot": {"promptCount": 1}})
        self.entered(words, pictures=int(picture))

    def respond(self, step: Step) -> None:
        calls = self.calls(step)
        usage = self.request(step, calls)
        parts: list[Record] = []
        if step.thinking is not None:
            parts.append({"text": step.thinking, "thought": True})
        if step.text:
            parts.append({"text": step.text})
        parts += [
            {"functionCall": {"id": call.id, "name": call.tool, "args": call.arguments}}
            for call in calls
        ]
        counts = {"promptTokenCount": usage.sent, "candidatesTokenCount": usage.output,
                  "totalTokenCount": usage.sent + usage.output,
                  "cachedContentTokenCount": usage.cached}  # fmt: skip
        self.state("ui_telemetry", {"uiEvent": {"event.name": "qwen-code.api_response"}})
        self.content("assistant", parts, model=CLAUDE.name, usageMetadata=counts,
                     contextWindowSize=200_000)  # fmt: skip
        for call in calls:
            response = {"error" if call.failed else "output": call.result}
            answer = {"id": call.id, "name": call.tool, "response": response}
            shown = {"callId": call.id, "status": "error" if call.failed else "success",
                     "resultDisplay": call.result[:80]}  # fmt: skip
            self.content("tool_result", [{"functionResponse": answer}], toolCallResult=shown)
        self.answered(calls)

    def compress(self) -> None:
        """Let the client put a summary, and a file, in the place of all before."""
        said = (("user", _SUMMARY), ("model", _GOT_IT), ("user", _FILE))
        history = [{"role": role, "parts": [{"text": text}]} for role, text in said]
        info = {"originalTokenCount": self.context, "newTokenCount": 9_000}
        self.state("chat_compression", {"info": info, "compressedHistory": history})
        self.summarized(*(text for _, text in said))


def compressed() -> bytes:
    """A session that was compacted, with a turn that was taken back and a command."""
    session = Session("qwen-code compressed")
    turns = errands("qwen-code compressed", 6)
    session.play(turns[:2])
    before, context = session.parent, session.context
    session.play(turns[2:3])
    session.parent, session.context = before, context
    session.state("rewind", {"truncatedCount": 1})
    session.play(turns[3:4])
    session.compress()
    session.play(turns[4:])
    return jsonl(session.records)


def long() -> bytes:
    """A session of which all is sent."""
    session = Session("qwen-code long")
    session.play(errands("qwen-code long", 6))
    session.state("custom_title", {"customTitle": "Harbour models", "titleSource": "manual"})
    return jsonl(session.records)


SESSIONS = {"compressed.jsonl": compressed, "long.jsonl": long}
