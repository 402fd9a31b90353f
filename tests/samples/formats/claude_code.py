"""The Claude Code sample: a long coding session with everything that such a file holds."""

from random import Random
from typing import Any

from samples.formats import claude_noise as noise
from samples.formats import claude_tools as tools
from samples.formats.claude_usage import CALL_FRAME, INJECTED_FRAME, RESULT_FRAME, ContextMeter
from samples.picture import HEIGHT, WIDTH, png_base64
from samples.stamps import Clock, Ids, claude_tokens, jsonl, opaque
from samples.story import Step, Turn, step, tell
from samples.workbench import ROOT, Outcome, Workbench

MODEL = "claude-sonnet-4-5-20250929"
VERSION = "2.1.80"
CACHE_MINUTES = 5
HIDDEN_THINKING = (180, 900)


class Thread:
    """One chain of lines: the main conversation, or one subagent's."""

    def __init__(self, session: "Session", agent: str | None = None) -> None:
        self.session = session
        self.agent = agent
        self.parent: str | None = None
        self.meter = ContextMeter(session.rng, 3_140) if agent else ContextMeter(session.rng)

    def put(self, record: dict[str, Any], *, parent: str | None = None, link: bool = True) -> str:
        """Write one line; ``link`` makes it the parent of the next one."""
        session = self.session
        line_id = session.ids.uuid()
        envelope = {
            "parentUuid": parent or self.parent,
            "isSidechain": self.agent is not None,
            "cwd": ROOT,
            "sessionId": session.id,
            "version": session.version,
            "gitBranch": "tide-windows",
        }
        if self.agent:
            envelope["agentId"] = self.agent
        stamp = session.clock.tick()
        session.records.append(envelope | record | {"uuid": line_id, "timestamp": stamp})
        if link:
            self.parent = line_id
        return line_id

    def say(self, message: str | list[dict[str, Any]], **fields: object) -> str:
        """Write a user line."""
        record = {"type": "user", "message": {"role": "user", "content": message}}
        return self.put(record | fields)

    def respond(self, part: Step) -> None:
        """Write one response, line by line, and the results of its calls."""
        blocks = self._blocks(part)
        output = sum(claude_tokens(self._visible(block)) for block in blocks)
        output += CALL_FRAME * len(part.calls)
        if part.thinking == "":
            output += self.session.rng.randrange(*HIDDEN_THINKING)
        usage = self.meter.request(output)
        message_id, request_id = self.session.ids.token("msg_01"), self.session.ids.token("req_011")
        calls = iter(part.calls)
        together = self.session.rng.random() < 0.5
        waiting: list[tuple[str, dict[str, Any], str]] = []
        for number, block in enumerate(blocks, start=1):
            last = number == len(blocks)
            line = self._assistant_line(block, message_id, usage, last=last)
            line_id = self.put(line | {"requestId": request_id})
            if block["type"] == "tool_use":
                waiting.append((line_id, next(calls), block["id"]))
            if waiting and (last or not together):
                self._answer_all(waiting, line_id, last=last)

    def _answer_all(
        self, waiting: list[tuple[str, dict[str, Any], str]], line_id: str, *, last: bool
    ) -> None:
        """Results hang on their calls; the next call hangs on the call before it."""
        for source, call, call_id in waiting:
            self._answer(source, call, call_id)
        waiting.clear()
        if not last:
            self.parent = line_id

    def _blocks(self, part: Step) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        if part.thinking is not None:
            signature = opaque(self.session.rng, 180)
            blocks.append({"type": "thinking", "thinking": part.thinking, "signature": signature})
        if part.text:
            blocks.append({"type": "text", "text": part.text})
        for call in part.calls:
            name, given = tools.NAMES[call["do"]], tools.tool_input(call)
            call_id = self.session.ids.token("toolu_01", 22)
            blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": given})
        return blocks

    @staticmethod
    def _visible(block: dict[str, Any]) -> str:
        return " ".join(
            str(block[key]) for key in ("thinking", "text", "name", "input") if key in block
        )

    def _assistant_line(
        self, block: dict[str, Any], message_id: str, usage: dict[str, Any], *, last: bool
    ) -> dict[str, Any]:
        # This client writes the final output number on the last line of a response only.
        known = usage if last else usage | {"output_tokens": self.session.rng.randrange(1, 9)}
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {
            "model": MODEL,
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop if last else None,
            "stop_sequence": None,
            "usage": known,
        }
        return {"type": "assistant", "message": message}

    def _answer(self, source: str, call: dict[str, Any], call_id: str) -> None:
        session = self.session
        copy: dict[str, Any] | str
        if call["do"] == "task":
            outcome, copy = session.delegate(call)
        else:
            outcome = session.bench.carry_out(call)
            copy = tools.client_copy(call, outcome, session.todos)
        if call["do"] == "todo":
            session.todos = tools.todos(call["items"])
        for record in noise.around(call, outcome, call_id, session.rng):
            self.put(record, parent=source, link=False)
        text = tools.result_text(call, outcome)
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": text}
        if outcome.failed or call["do"] == "run":
            block["is_error"] = outcome.failed
        self.parent = source
        self.say([block], toolUseResult=copy, sourceToolAssistantUUID=source)
        self.meter.add(text, RESULT_FRAME)


class Session:
    """The whole file: one main thread, and a side thread for every subagent."""

    def __init__(self, name: str = "claude-code-session", version: str = VERSION) -> None:
        self.version = version
        self.rng = Random(name)
        self.ids = Ids(name)
        self.id = self.ids.uuid()
        self.clock = Clock("2025-03-22T07:58:11+00:00", self.rng)
        self.bench = Workbench(name)
        self.records: list[dict[str, Any]] = []
        self.todos: list[dict[str, Any]] = []
        self.main = Thread(self)

    def play(self, turns: list[Turn]) -> None:
        """Write every turn."""
        self.main.put(noise.session_start(self.ids))
        for turn in turns:
            self.play_turn(turn)
        self.records.append(noise.last_prompt(turns[-1].person, self.id))

    def play_turn(self, turn: Turn) -> None:
        """Write one turn of the main thread."""
        main = self.main
        self.clock.wait(turn.pause)
        if turn.pause > CACHE_MINUTES:
            main.meter.expire()
        content: str | list[dict[str, Any]] = turn.person
        if turn.image:
            content = [{"type": "text", "text": turn.person}, _image()]
        prompt = main.say(content, permissionMode="acceptEdits", todos=self.todos)
        self.records.append(noise.snapshot(prompt, self.bench, self.clock.stamp()))
        main.meter.add(turn.person, WIDTH * HEIGHT // 750 if turn.image else 0)
        for name in turn.attach:
            attachment, text = noise.attachment(name, self.bench, self.todos)
            main.put({"type": "attachment", "attachment": attachment})
            main.meter.add(text, INJECTED_FRAME)
        for part in turn.steps:
            main.respond(part)
        if not turn.steps[-1].calls:
            self._end_turn()

    def _end_turn(self) -> None:
        for record in noise.turn_end(self.ids, self.rng):
            self.main.put(record)

    def delegate(self, call: dict[str, Any]) -> tuple[Outcome, dict[str, Any]]:
        """Let a subagent work on its own chain, and hand back its report."""
        began = self.clock.now
        side = Thread(self, agent=self.ids.token("", 8).lower())
        side.say(call["brief"])
        side.meter.add(call["brief"])
        for cells in call["inner"]:
            side.respond(step(cells))
        side.respond(step({"say": call["report"]}))
        copy = {
            "status": "completed",
            "prompt": call["brief"],
            "agentId": side.agent,
            "content": [{"type": "text", "text": call["report"]}],
            "totalDurationMs": int((self.clock.now - began).total_seconds() * 1000),
            "totalToolUseCount": sum(len(cells.get("calls", ())) for cells in call["inner"]),
        }
        return Outcome(call["report"]), copy


def _image() -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": png_base64()}
    return {"type": "image", "source": source}


def build() -> bytes:
    """The bytes of the sample."""
    session = Session()
    session.play(tell("claude_story.toml"))
    return jsonl(session.records)
