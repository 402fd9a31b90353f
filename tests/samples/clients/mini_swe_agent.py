"""Trajectories of mini-SWE-agent, whose only tool is a shell."""

import json

from samples.clients.recorder import Call, Record, Recorder
from samples.errands import errands
from samples.stamps import compact
from samples.story import Step

_SYSTEM = """You look after the harbour's software. Answer with ONE command in a code block:

```mswea_bash_command
your_command_here
```
"""
_VERSION = "mini-swe-agent-1.1"


class Trajectory(Recorder):
    """A document of messages in which commands and their outputs are text."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.records.append({"role": "system", "content": _SYSTEM})

    def prompt(self, words: str, *, picture: bool = False) -> None:  # noqa: ARG002 - texts alone
        self.records.append({"role": "user", "content": words})
        self.entered(words)

    def respond(self, step: Step) -> None:
        """Write an answer for each call of the step: a response has one command."""
        calls = self.calls(step)
        if not calls:
            self.answer(step, step.text, [])
        for call in calls:
            command = call.arguments.get("command") or f"{call.tool} {compact(call.arguments)}"
            self.answer(step, f"{step.text}\n\n```mswea_bash_command\n{command}\n```", [call])
            output = (
                f"<returncode>{int(call.failed)}</returncode>\n<output>\n{call.result}</output>"
            )
            self.records.append({"role": "user", "content": output})
            self.answered([call])

    def answer(self, step: Step, text: str, calls: list[Call]) -> None:
        """Write an answer, with what its provider reported."""
        usage = self.request(step, calls)
        counts = {"prompt_tokens": usage.sent, "completion_tokens": usage.output,
                  "total_tokens": usage.sent + usage.output}  # fmt: skip
        response = {"id": self.ids.token("chatcmpl-"), "model": self.model.name, "usage": counts}
        self.records.append({"role": "assistant", "content": text,
                             "extra": {"response": response}})  # fmt: skip


def trajectory() -> bytes:
    """A document that ends with what was submitted."""
    run = Trajectory("mini-swe-agent document")
    run.play(errands("mini-swe-agent document", 4, pictures=False))
    run.records.append({"role": "exit", "content": "Submitted"})
    model = {"model_name": f"anthropic/{run.model.name}"}
    info: Record = {"exit_status": "Submitted", "config": {"model": model}}
    document = {"info": info, "messages": run.records, "trajectory_format": _VERSION}
    return json.dumps(document, indent=2).encode()


def messages() -> bytes:
    """The array of messages that version 1 wrote, without what was reported."""
    run = Trajectory("mini-swe-agent array")
    run.play(errands("mini-swe-agent array", 2, pictures=False))
    bare = [{key: record[key] for key in ("role", "content")} for record in run.records]
    return json.dumps(bare).encode()


SESSIONS = {"document.traj.json": trajectory, "messages.json": messages}
