"""The Gemini CLI sample: a session's log, resumed in the middle, with one prompt taken back."""

from random import Random
from typing import Any

from samples.stamps import Clock, Ids, jsonl, tokens
from samples.story import Step, Turn, tell
from samples.workbench import ROOT, Workbench

MODEL = "gemini-2.5-pro"
# System prompt and tool definitions, which the log does not hold.
OVERHEAD = 6_480
RESUMED_BEFORE = 2
SLIP = "/ide status"
TOOLS = {
    "read": "read_file",
    "edit": "replace",
    "write": "write_file",
    "search": "search_file_content",
    "find": "glob",
    "run": "run_shell_command",
}
ARGUMENTS = {
    "read": {"path": "file_path", "offset": "offset", "limit": "limit"},
    "edit": {"path": "file_path", "old": "old_string", "new": "new_string"},
    "write": {"path": "file_path", "text": "content"},
    "search": {"pattern": "pattern", "path": "path"},
    "find": {"pattern": "pattern"},
    "run": {"command": "command"},
}


class Log:
    """Writes the lines of one session, and keeps what they come to."""

    @staticmethod
    def count(text: str) -> int:
        """Return about how many tokens a text has."""
        return tokens(text)

    def __init__(self, name: str = "gemini-cli") -> None:
        self.rng = Random(name)
        self.ids = Ids(name)
        self.clock = Clock("2025-04-02T08:11:20+00:00", self.rng)
        self.bench = Workbench(name)
        self.records: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.context = OVERHEAD

    def play(self, turns: list[Turn]) -> None:
        """Write the whole session."""
        self.open()
        for number, turn in enumerate(turns):
            if number == RESUMED_BEFORE:
                self._resume()
            self.play_turn(turn)
        slip = self.typed(SLIP)
        self.put(slip)
        self.records.append({"$rewindTo": slip["id"]})

    def open(self) -> None:
        """Write the header and what the client says of the session."""
        about = {"sessionId": self.ids.uuid(), "projectHash": "0f" * 32}
        times = {"startTime": self.clock.stamp(), "lastUpdated": self.clock.stamp()}
        self.records.append({**about, **times, "kind": "main"})
        self.put(self.typed(f"<session_context>\n- **Workspace Directories:**\n  - {ROOT}\n"
                             "</session_context>"))  # fmt: skip

    def play_turn(self, turn: Turn) -> None:
        """Write one turn."""
        self.clock.wait(turn.pause)
        self.put(self.typed(turn.person))
        for step in turn.steps:
            self.respond(step)

    def put(self, message: dict[str, Any]) -> None:
        """Write a message, in the place of one with its id if there is one."""
        self.messages = [each for each in self.messages if each["id"] != message["id"]]
        self.messages.append(message)
        self.records += [message, {"$set": {"lastUpdated": self.clock.stamp()}}]

    def typed(self, text: str) -> dict[str, Any]:
        """Return a prompt, which the next request sends."""
        self.context += self.count(text) + 4
        return self.message("user", [{"text": text}])

    def message(self, kind: str, content: object) -> dict[str, Any]:
        """Return a message of any type."""
        stamp = self.clock.tick()
        return {"id": self.ids.uuid(), "timestamp": stamp, "type": kind, "content": content}

    def respond(self, step: Step) -> None:
        """Write an answer when it is said, and again when its calls have ended."""
        thought = self.rng.randrange(40, 400)
        thoughts = (
            [{"subject": "Next", "description": step.thinking, "timestamp": self.clock.stamp()}]
            if step.thinking
            else []
        )
        calls = [self._call(call) for call in step.calls]
        output = self.count(step.text) + sum(self.count(str(call["args"])) + 8 for call in calls)
        total, cached = self.context + output + thought, self.context * 7 // 10
        usage = {"input": self.context, "output": output, "cached": cached,
                 "thoughts": thought, "tool": 0, "total": total}  # fmt: skip
        said = {**self.message("gemini", step.text), "thoughts": thoughts, "tokens": usage}
        message = {**said, "model": MODEL}
        self.put(message)
        self.context += output
        if calls:
            done = [self._done(call, made) for call, made in zip(step.calls, calls, strict=True)]
            self.put({**message, "toolCalls": done})

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        names = ARGUMENTS[call["do"]]
        given = {name: call[key] for key, name in names.items() if key in call}
        return {"id": self.ids.token(f"{TOOLS[call['do']]}_", 32), "name": TOOLS[call["do"]],
                "args": given}  # fmt: skip

    def _done(self, call: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
        outcome = self.bench.carry_out(call)
        self.context += self.count(outcome.text) + 6
        response = {"error" if outcome.failed else "output": outcome.text}
        answer = {"id": made["id"], "name": made["name"], "response": response}
        status = "error" if outcome.failed else "success"
        told = {"status": status, "timestamp": self.clock.tick()}
        shown = {"resultDisplay": outcome.text[:200]}
        return {**made, **told, "result": [{"functionResponse": answer}], **shown}

    def _resume(self) -> None:
        """Write all there is anew, as a client that is started again with the session."""
        self.records.append({"$set": {"messages": [dict(each) for each in self.messages]}})


def build() -> bytes:
    """The bytes of the sample."""
    log = Log()
    log.play(tell("anthropic_story.toml"))
    return jsonl(log.records)
