"""The NeuroLink sample: chat messages with one group that is already condensed."""

import hashlib
from random import Random
from typing import Any

from samples import desk
from samples.desk import DeskCall, DeskTurn
from samples.stamps import Clock, Ids, jsonl

MODEL = "gpt-5.2"
CONDENSED_TURNS = 2
SUMMARY = """Conversation so far (night watch and assistant):
- Twelve weather readings since midnight were shown. Pilot boarding stopped at 03:00 \
(sea above 2.8 m) and resumed at 04:10.
- Nine bookings touch 24 March, four arrive before noon. One of them draws more than 5.5 m: window \
06:50 to 09:40 UTC.
- Rule in force: boarding stops above 2.8 m of sea or below 300 m of sight."""


class Chat:
    """Messages with ids and times, in the order in which they were stored."""

    def __init__(self) -> None:
        self.ids = Ids("neurolink")
        self.clock = Clock("2025-03-24T04:31:02+00:00", Random("neurolink"))
        self.stored: list[dict[str, Any]] = []

    def put(self, role: str, content: str, **fields: object) -> None:
        """Store one message."""
        message = {"id": self.ids.uuid(), "role": role, "content": content}
        self.stored.append(message | {"timestamp": self.clock.tick()} | fields)

    def play(self, turn: DeskTurn) -> None:
        """Store one turn: the question, each call and its result, the reply."""
        self.clock.wait(3)
        self.put("user", turn.user)
        for index, call in enumerate(turn.calls):
            self.put("tool_call", "", tool=call.tool, args=call.arguments, metadata=_step(index))
        for index, call in enumerate(turn.calls):
            self.put("tool_result", call.answer, tool=call.tool, **_result(call, index))
        self.put("assistant", turn.reply, metadata={"modelUsed": MODEL})

    def condense(self, first: int) -> None:
        """Hide everything from ``first`` on behind one summary."""
        hidden = self.stored[first:]
        ends = [hidden[0]["id"], hidden[-1]["id"]]
        group = hashlib.sha256("".join(ends).encode()).hexdigest()[:12]
        for message in hidden:
            message["condenseParent"] = group
        span = {"summarizesFrom": ends[0], "summarizesTo": ends[1]}
        self.put("system", SUMMARY, metadata={"isSummary": True} | span, condenseId=group)


def _step(index: int) -> dict[str, Any]:
    return {"stepIndex": index}


def _result(call: DeskCall, index: int) -> dict[str, Any]:
    failed = '"error"' in call.answer
    kept = {"toolOutputPreview": call.answer[:80], "originalSize": len(call.answer)}
    return {"result": {"success": not failed, "type": "json"}, "metadata": _step(index) | kept}


def build() -> bytes:
    """The bytes of the sample."""
    chat = Chat()
    chat.put("system", desk.system_text())
    turns = desk.dialog(desk.WATCH)
    for turn in turns[:CONDENSED_TURNS]:
        chat.play(turn)
    chat.condense(first=1)
    for turn in turns[CONDENSED_TURNS:]:
        chat.play(turn)
    return jsonl(chat.stored)
