"""What clients have in common: the steps of an agent, and what its provider counts of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from samples.formats.claude_usage import CALL_FRAME, INJECTED_FRAME, RESULT_FRAME
from samples.picture import HEIGHT, WIDTH
from samples.stamps import Clock, Ids, claude_tokens, compact, tokens
from samples.story import Step, Turn
from samples.workbench import ROOT, Workbench

Record = dict[str, Any]
_PICTURE = WIDTH * HEIGHT // 750


@dataclass(frozen=True, slots=True)
class Model:
    """How a provider counts a text, and what else it counts of messages, calls and results."""

    name: str
    count: Callable[[str], int]
    text_frame: int
    call_frame: int
    result_frame: int


CLAUDE = Model("claude-sonnet-4-5", claude_tokens, INJECTED_FRAME, CALL_FRAME, RESULT_FRAME)
GPT = Model("gpt-4.1", tokens, 5, 8, 6)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as a client names it, and what came of it."""

    id: str
    tool: str
    arguments: Record
    result: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider reports of a request; ``cached`` of what was ``sent`` came from a cache."""

    sent: int
    cached: int
    output: int

    @property
    def fresh(self) -> int:
        """What was sent and not cached."""
        return self.sent - self.cached


class Recorder(ABC):
    """Writes a session as one client does: prompts, responses, and what its provider reports."""

    # How the client calls what a story does, and the arguments of it.
    tools: Mapping[str, str] = {
        "read": "read", "edit": "edit", "write": "write", "search": "grep", "run": "bash",
    }  # fmt: skip
    arguments: Mapping[str, str] = {}
    call_prefix = "call_"

    def __init__(self, name: str, overhead: int = 6_000, model: Model = CLAUDE) -> None:
        self.rng, self.ids = Random(name), Ids(name)
        self.clock = Clock("2026-02-03T08:30:00+00:00", self.rng)
        self.bench = Workbench(name)
        self.records: list[Record] = []
        self.context, self.overhead, self.cached = overhead, overhead, 0
        self.model = model

    @abstractmethod
    def prompt(self, words: str, *, picture: bool = False) -> None:
        """Write what the user says."""

    @abstractmethod
    def respond(self, step: Step) -> None:
        """Write a response of the model, and the results of its calls."""

    def play(self, turns: Sequence[Turn]) -> None:
        """Write turns."""
        for turn in turns:
            self.clock.wait(turn.pause)
            self.prompt(turn.person, picture=turn.image)
            for step in turn.steps:
                self.respond(step)

    def entered(self, *texts: str, pictures: int = 0) -> None:
        """Count texts that the next request sends as well."""
        frame = self.model.text_frame
        self.context += sum(self.model.count(text) + frame for text in texts)
        self.context += pictures * _PICTURE

    def answered(self, calls: Sequence[Call]) -> None:
        """Count the results of calls, which the next request sends."""
        frame = self.model.result_frame
        self.context += sum(self.model.count(call.result) + frame for call in calls)

    def summarized(self, *texts: str) -> None:
        """Count what is left after a compaction: these texts alone."""
        self.context, self.cached = self.overhead, 0
        self.entered(*texts)

    def request(self, step: Step, calls: Sequence[Call]) -> Usage:
        """Report a request, and count the answer to it."""
        asked = (f"{call.tool} {compact(call.arguments)}" for call in calls)
        output = sum(self.model.count(text) + self.model.call_frame for text in asked)
        output += self.model.count(step.text) + self.model.count(step.thinking or "")
        usage = Usage(self.context, min(self.cached, self.context), output)
        self.cached = self.context
        self.context += output
        return usage

    def calls(self, step: Step) -> list[Call]:
        """Carry out the calls of a step."""
        return [self._carried_out(call) for call in step.calls]

    def _carried_out(self, call: Record) -> Call:
        outcome = self.bench.carry_out(call)
        given = dict(self._arguments(call))
        name = self.ids.token(self.call_prefix)
        return Call(name, self.tools[call["do"]], given, outcome.text, outcome.failed)

    def _arguments(self, call: Record) -> Iterator[tuple[str, Any]]:
        for key in ("path", "offset", "limit", "pattern", "old", "new", "text", "command"):
            if key in call:
                value = f"{ROOT}/{call[key]}" if key == "path" else call[key]
                yield self.arguments.get(key, {"text": "content"}.get(key, key)), value
