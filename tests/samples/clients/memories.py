"""Conversations as memories for agents store them: Spring AI Session and NeuroLink."""

import json
from typing import Any

from samples.clients.recorder import Record, Recorder
from samples.errands import errands
from samples.picture import png_base64
from samples.stamps import jsonl
from samples.story import Step

_SYSTEM = "You look after the harbour's software. Never touch migrations/."
_SUMMARY = "The models are corrected one by one; the tests of each pass."


class Events(Recorder):
    """Event records of Spring AI Session."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.branch: str | None = None
        self.event("SYSTEM", text=_SYSTEM)

    def event(self, kind: str, **message: Any) -> None:
        """Write an event."""
        self.put(kind, message, {})

    def put(self, kind: str, message: Record, metadata: Record) -> None:
        """Write an event with metadata."""
        self.records.append({
            "id": self.ids.uuid(), "sessionId": "harbour", "timestamp": self.clock.tick(),
            "message": {"messageType": kind, "metadata": {}, **message}, "metadata": metadata,
            "branch": self.branch, "archived": False,
        })  # fmt: skip

    def prompt(self, words: str, *, picture: bool = False) -> None:
        media = {"media": [{"mimeType": "image/png", "data": png_base64()}]} if picture else {}
        self.event("USER", text=words, **media)

    def respond(self, step: Step) -> None:
        calls = self.calls(step)
        made = [{"id": call.id, "type": "function", "name": call.tool,
                 "arguments": json.dumps(call.arguments)} for call in calls]  # fmt: skip
        said = {"text": step.text} if step.text else {}
        self.event("ASSISTANT", **said, **({"toolCalls": made} if made else {}))
        results = [{"id": call.id, "name": call.tool, "responseData": call.result}
                   for call in calls]  # fmt: skip
        if results:
            self.event("TOOL", responses=results)

    def compact(self) -> None:
        """Archive all that there is, and write a summary as a question and its answer."""
        for record in self.records[1:]:
            record["archived"] = True
        mark = {"synthetic": True, "compactionSource": "recursive"}
        self.put("USER", {"text": "Summarize the conversation so far."}, mark)
        self.put("ASSISTANT", {"text": _SUMMARY}, mark)

    def delegate(self) -> None:
        """Write what a subagent did, on a branch of its own."""
        self.branch = "orchestrator.reader"
        self.play(errands("spring-ai reader", 1, pictures=False))
        self.branch = None

    def row(self, record: Record) -> Record:
        """Return an event as a row of the table."""
        message = record["message"]
        listed = message.get("toolCalls") or message.get("responses")
        return {"id": record["id"], "session_id": record["sessionId"],
                "timestamp": record["timestamp"], "message_type": message["messageType"],
                "message_content": message.get("text"),
                "message_data": json.dumps(listed) if listed else None,
                "synthetic": bool(record["metadata"]), "archived": record["archived"],
                "branch": record["branch"], "metadata": json.dumps(record["metadata"])}  # fmt: skip


class Chat(Recorder):
    """Messages of NeuroLink, where calls and results have no ids."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.put("system", _SYSTEM)

    def put(self, role: str, content: str, **fields: Any) -> str:
        """Write a message and return its id."""
        name = self.ids.uuid()
        self.records.append({"id": name, "role": role, "content": content,
                             "timestamp": self.clock.tick(), **fields})  # fmt: skip
        return name

    def prompt(self, words: str, *, picture: bool = False) -> None:  # noqa: ARG002 - texts alone
        self.put("user", words)

    def respond(self, step: Step) -> None:
        calls = list(enumerate(self.calls(step), start=1))
        if step.text:
            self.put("assistant", step.text, metadata={"modelUsed": "gpt-5.2"})
        for number, call in calls:
            self.put("tool_call", "", tool=call.tool, args=call.arguments,
                     metadata={"stepIndex": number})  # fmt: skip
        # Results come in the order in which calls end.
        for number, call in reversed(calls):
            outcome = {"success": not call.failed, "type": "text"}
            about = {"stepIndex": number, "originalSize": len(call.result)}
            self.put("tool_result", call.result, tool=call.tool, result=outcome, metadata=about)

    def condense(self, first: int, last: int) -> None:
        """Hide messages behind a summary."""
        name, hidden = self.ids.token("", 12), self.records[first:last]
        for record in hidden:
            record["condenseParent"] = name
        span = {"summarizesFrom": hidden[0]["id"], "summarizesTo": hidden[-1]["id"]}
        self.put("system", _SUMMARY, metadata={"isSummary": True, **span}, condenseId=name)

    def truncate(self, first: int, last: int) -> None:
        """Hide messages behind a marker."""
        name = self.ids.token("", 12)
        for record in self.records[first:last]:
            record["truncationParent"] = name
        marker = f"[Earlier conversation history was truncated: {last - first} messages hidden]"
        self.put("system", marker, isTruncationMarker=True, truncationId=name,
                 metadata={"truncated": True})  # fmt: skip


def events() -> bytes:
    """Events that were compacted twice, with a subagent's on a branch."""
    session = Events("spring-ai events")
    turns = errands("spring-ai events", 6)
    session.play(turns[:2])
    session.compact()
    session.play(turns[2:3])
    session.delegate()
    session.compact()
    session.play(turns[3:])
    return jsonl(session.records)


def rows() -> bytes:
    """A conversation of which all is sent, as rows of the table."""
    session = Events("spring-ai rows")
    session.play(errands("spring-ai rows", 5, pictures=False))
    return jsonl([session.row(record) for record in session.records])


def condensed() -> bytes:
    """Two groups that are condensed, and one that is truncated."""
    chat = Chat("neurolink condensed")
    turns = errands("neurolink condensed", 7)
    chat.play(turns[:2])
    first = len(chat.records)
    chat.condense(1, first)
    chat.play(turns[2:4])
    second = len(chat.records)
    chat.condense(first + 1, second)
    chat.play(turns[4:5])
    third = len(chat.records)
    chat.play(turns[5:6])
    chat.truncate(second + 1, third)
    chat.play(turns[6:])
    return jsonl(chat.records)


SPRING_SESSIONS = {"events.jsonl": events, "rows.jsonl": rows}
NEUROLINK_SESSIONS = {"condensed.jsonl": condensed}
