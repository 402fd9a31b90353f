"""Tasks of Cline and of Roo Code, which began as a copy of it."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from samples.clients.recorder import Call, Record, Recorder
from samples.errands import errands
from samples.picture import png_base64
from samples.stamps import opaque
from samples.story import Step
from samples.workbench import ROOT

_ENVIRONMENT = """<environment_details>
# VSCode Visible Files
quayside/models/berth.py

# Current Time
2/3/2026, 9:30:00 AM (Europe/Amsterdam, UTC+1:00)

# Current Working Directory ({root}) Files
CLAUDE.md
docs/
migrations/
quayside/
tests/
</environment_details>"""
_ROO = "\n# Current Mode\n<slug>code</slug>\n<name>Code</name>\n<model>claude-sonnet-4-5</model>"
_SUMMARY = """1. Previous conversation: the models of the harbour are corrected one by one.
2. Constraints: never touch migrations/.
3. Pending: the next model on the list."""
_DENIED = "The user denied this operation and provided the following feedback:\n<feedback>\n"
Block = dict[str, Any]


class Task(Recorder):
    """Messages of the Anthropic API whose results are texts under a heading."""

    tools: Mapping[str, str] = {
        "read": "read_file", "edit": "replace_in_file", "write": "write_to_file",
        "search": "search_files", "run": "execute_command",
    }  # fmt: skip
    arguments: Mapping[str, str] = {"old": "search", "new": "replace", "pattern": "regex"}
    call_prefix = "toolu_01"
    environment = _ENVIRONMENT.format(root=ROOT)

    def __init__(self, name: str) -> None:
        super().__init__(name, overhead=11_000)
        self.waiting: list[Block] = []

    @property
    def time(self) -> Record:
        """The moment of a message."""
        return {"ts": int(datetime.fromisoformat(self.clock.tick()).timestamp() * 1000)}

    def user(self, *blocks: Block) -> None:
        """Write a message of the user, which ends in the state of the editor."""
        content = [*blocks, _text(self.environment)]
        self.records.append({"role": "user", "content": content, **self.time})
        self.entered(*(str(block.get("text") or "") for block in content))

    def prompt(self, words: str, *, picture: bool = False) -> None:
        tag = "user_message" if self.records else "task"
        blocks = [*self.waiting, _text(f"<{tag}>\n{words}\n</{tag}>")]
        self.waiting = []
        if picture:
            source = {"type": "base64", "media_type": "image/png", "data": png_base64()}
            blocks.append({"type": "image", "source": source})
            self.entered(pictures=1)
        self.user(*blocks)

    def respond(self, step: Step) -> None:
        calls = self.calls(step)
        self.assistant(step, calls, self.called(step, calls))
        blocks = [block for call in calls for block in self.result(call)]
        if blocks:
            self.user(*blocks)

    def assistant(self, step: Step, calls: list[Call], content: list[Block]) -> None:
        """Write a response, with what was reported of its request."""
        usage = self.request(step, calls)
        tokens = {"prompt": usage.fresh, "completion": usage.output, "cached": usage.cached}
        about = {"modelId": "claude-sonnet-4-5", "providerId": "anthropic", "mode": "act"}
        self.records.append({"role": "assistant", "content": content, **self.time,
                             "modelInfo": about, "metrics": {"tokens": tokens}})  # fmt: skip

    def called(self, step: Step, calls: list[Call]) -> list[Block]:
        """Return the blocks of a response."""
        content: list[Block] = []
        if step.thinking is not None:
            content.append({"type": "thinking", "thinking": step.thinking,
                            "signature": opaque(self.rng, 120)})  # fmt: skip
        content += [_text(step.text)] if step.text or not calls else []
        return content + [{"type": "tool_use", "id": call.id, "name": call.tool,
                           "input": call.arguments} for call in calls]  # fmt: skip

    def result(self, call: Call) -> list[Block]:
        """Return the blocks of a result: its heading, and what came of the call."""
        about = next(iter(call.arguments.values()))
        printed = f"The tool execution failed:\n{call.result}" if call.failed else call.result
        heading = f"[{call.tool} for '{about}'] Result:"
        if call.tool == self.tools["run"]:
            return [_text(f"{heading}\n{printed}")]
        return [_text(heading), _text(printed)]

    def unanswered(self, tool: str, **arguments: str) -> Call:
        """Return a call that the user answers."""
        name = self.ids.token(self.call_prefix)
        return Call(name, tool, arguments, result="", failed=False)

    def finish(self, said: str) -> None:
        """Write that the agent takes the task for done; the next prompt answers that."""
        call = self.unanswered("attempt_completion", result=said)
        step = Step(None, "", ())
        self.assistant(step, [call], self.called(step, [call]))
        self.waiting = [_text("[attempt_completion] Result:")]

    def denied(self, words: str) -> None:
        """Write an edit that the user turned down, with what was said to that."""
        path = f"{ROOT}/migrations/0002_berth.sql"
        call = self.unanswered(self.tools["edit"], path=path, search="TEXT", replace="BLOB")
        step = Step(None, "", ())
        self.assistant(step, [call], self.called(step, [call]))
        heading = self.result(call)[0]
        self.user(heading, _text(f"{_DENIED}{words}\n</feedback>"))

    def document(self) -> bytes:
        """Return the history."""
        return json.dumps(self.records).encode()


class RooTask(Task):
    """A task of Roo Code, whose older versions write calls as XML into the text."""

    tools: Mapping[str, str] = {**Task.tools, "edit": "apply_diff"}
    environment = _ENVIRONMENT.format(root=ROOT).replace("\n</env", f"{_ROO}\n</env")

    def called(self, step: Step, calls: list[Call]) -> list[Block]:
        elements = [f"<{call.tool}>\n{_parameters(call)}\n</{call.tool}>" for call in calls]
        return [_text("\n\n".join(filter(None, [step.text, *elements])) or "Done.")]

    def condense(self) -> None:
        """Let the client hide all that there is behind a summary, which it puts last."""
        name = self.ids.uuid()
        for record in self.records:
            record.setdefault("condenseParent", name)
        self.records.append({"role": "user", "content": [_text(_SUMMARY)], "isSummary": True,
                             "condenseId": name, **self.time})  # fmt: skip
        self.summarized(_SUMMARY)

    def condense_in_place(self) -> None:
        """Let an older client keep the first message, a summary and the newest messages alone."""
        summary = {"role": "assistant", "content": _SUMMARY, "isSummary": True, **self.time}
        self.records[1:-3] = [summary]
        blocks = [block for record in self.records for block in record["content"]
                  if isinstance(block, dict)]  # fmt: skip
        self.summarized(_SUMMARY, *(block["text"] for block in blocks if "text" in block))

    def truncate(self) -> None:
        """Let the client hide the older half of what is sent behind a marker."""
        start = max(n for n, record in enumerate(self.records) if record.get("isSummary"))
        count = (len(self.records) - start) // 2
        while self.records[start + 1 + count]["role"] != "assistant":
            count += 1
        name = self.ids.uuid()
        for record in self.records[start + 1 : start + 1 + count]:
            record["truncationParent"] = name
        words = f"[Sliding window truncation: {count} messages hidden to reduce context]"
        marker = {"role": "user", "content": words, "isTruncationMarker": True,
                  "truncationId": name, **self.time}  # fmt: skip
        self.records.insert(start + 1 + count, marker)


def _text(words: str) -> Block:
    return {"type": "text", "text": words}


def _parameters(call: Call) -> str:
    return "\n".join(f"<{name}>{value}</{name}>" for name, value in call.arguments.items())


def long() -> bytes:
    """A task with native calls, an edit that was turned down, and several completions."""
    task = Task("cline long")
    for number, turn in enumerate(errands("cline long", 6)):
        task.play([turn])
        task.finish("The model is right.")
        if number == 2:
            task.waiting = []
            task.prompt("And the column?")
            task.denied("Migrations are frozen. Change the model alone.")
    task.prompt("Thank you.")
    return task.document()


def compacted_by_the_sdk() -> bytes:
    """A session of the command line whose older messages are gone: a notice stands for them."""
    task = Task("cline sdk")
    task.play(errands("cline sdk", 3))
    notice = f"<SYSTEM_NOTICE>\nEarlier context was compacted.\n{_SUMMARY}\n</SYSTEM_NOTICE>"
    mark = {"kind": "compaction", "reason": "auto", "messagesRemoved": 22}
    first = {"id": "m0", "role": "user", "content": [_text(notice)], "metadata": mark}
    kept = [{"id": f"m{n}", **record} for n, record in enumerate(task.records, start=1)]
    document = {"version": 1, "updated_at": task.clock.stamp(), "agent": "act",
                "sessionId": task.ids.uuid(), "messages": [first, *kept]}  # fmt: skip
    return json.dumps(document, indent=2).encode()


def condensed() -> bytes:
    """A task of Roo Code, condensed twice and truncated after that."""
    task = RooTask("roo condensed")
    turns = errands("roo condensed", 7, pictures=False)
    task.play(turns[:2])
    task.condense()
    task.play(turns[2:3])
    task.condense()
    task.play(turns[3:5])
    task.truncate()
    task.play(turns[5:])
    return task.document()


def condensed_in_place() -> bytes:
    """A task of an older Roo Code, where what was condensed is no longer in the file."""
    task = RooTask("roo condensed in place")
    turns = errands("roo condensed in place", 5)
    task.play(turns[:2])
    task.condense_in_place()
    task.play(turns[2:])
    return task.document()


SESSIONS = {
    "long/api_conversation_history.json": long,
    "compacted.messages.json": compacted_by_the_sdk,
}
ROO_SESSIONS = {
    "condensed/api_conversation_history.json": condensed,
    "condensed-in-place/api_conversation_history.json": condensed_in_place,
}
