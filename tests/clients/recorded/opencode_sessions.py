"""Small sessions of OpenCode, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of OpenCode
1.18.33, which Kilo shares.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule
from clients.stub import PIXEL

Json = dict[str, Any]
SESSION = "ses_01f3ee000000HarbourHarbour"
_START = 1_796_000_000_000
_STUB = {"providerID": "stub", "modelID": "stub"}
OTHER = {"providerID": "other", "modelID": "older"}
FAILED: Json = {"finish": "error", "error": {"name": "UnknownError", "data": {"message": "busy"}}}
ABORTED: Json = {
    "finish": None,
    "error": {"name": "MessageAbortedError", "data": {"message": "Aborted"}},
}


@dataclass(kw_only=True)
class Draft:
    """A session that is being written; all that is added gets ids in this order."""

    version: str = "1.18.33"
    info: Json = field(default_factory=dict)
    messages: list[Json] = field(default_factory=list)
    _count: int = 0

    def part(self, kind: str, **fields: Any) -> Json:
        """Return a part."""
        return {"type": kind, **fields}

    def text(self, text: str, **fields: Any) -> Json:
        """Return a text."""
        return self.part("text", text=text, **fields)

    def thought(self, text: str) -> Json:
        """Return reasoning."""
        return self.part("reasoning", text=text, time={"start": 1, "end": 2})

    def picture(self) -> Json:
        """Return a picture."""
        url = f"data:image/png;base64,{PIXEL}"
        return self.part("file", mime="image/png", filename="gauge.png", url=url)

    def tool(self, call_id: str, status: str, **state: Any) -> Json:
        """Return a call and how it ended."""
        common: Json = {"status": status, "input": {"command": "x"}, "time": {"start": 1, "end": 2}}
        if status == "completed":
            common |= {"title": "x", "metadata": {}, "output": ""}
        state = {**common, **state}
        return self.part("tool", tool="bash", callID=call_id, state=state)

    def user(self, *parts: str | Json, model: Mapping[str, str] = _STUB, **info: Any) -> str:
        """Add what was typed; return its id."""
        return self._message("user", parts, model=dict(model), **info)

    def answer(self, *parts: str | Json, model: Mapping[str, str] = _STUB, **info: Any) -> str:
        """Add an answer to the newest prompt; return its id."""
        prompts = (m["info"]["id"] for m in reversed(self.messages) if m["info"]["role"] == "user")
        fields: Json = {
            "parentID": next(prompts),
            "mode": "build",
            "path": {"cwd": "/home/dev/quay", "root": "/"},
            "cost": 0,
            "tokens": {"input": 9, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "finish": "stop",
            **model,
            **info,
        }
        known = {name: value for name, value in fields.items() if value is not None}
        return self._message("assistant", (self.part("step-start"), *parts), **known)

    def compaction(self, summary: str = "", tail: str = "", **info: Any) -> None:
        """Add a request to compact, and its summary."""
        start = {"tail_start_id": tail} if tail else {}
        self.user(self.part("compaction", auto=True, **start))
        self.answer(summary, summary=True, **info)

    @property
    def data(self) -> bytes:
        """The document as it is imported."""
        info = {
            "id": SESSION,
            "slug": "harbour",
            "projectID": "global",
            "directory": "/home/dev/quay",
            "title": "Harbour",
            "version": self.version,
            "time": {"created": _START, "updated": _START + 1_000 * self._count},
            **self.info,
        }
        return json.dumps({"info": info, "messages": self.messages}).encode() + b"\n"

    def _message(self, role: str, parts: tuple[str | Json, ...], **info: Any) -> str:
        name = self._id("msg")
        own = {"sessionID": SESSION, "messageID": name}
        written = [self.text(part) if isinstance(part, str) else part for part in parts]
        fields = {
            "id": name,
            "sessionID": SESSION,
            "role": role,
            "time": {"created": _START + 1_000 * self._count},
            "agent": "build",
            **info,
        }
        self.messages.append(
            {"info": fields, "parts": [{"id": self._id("prt"), **own, **part} for part in written]}
        )
        return name

    def _id(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_01f3ee{self._count:06x}HarbourHarbour"


_rule = partial(Rule[Draft], draft=Draft)

COMPACTIONS = _rule(
    name="compactions",
    about="what is sent after compactions, finished or not (filterCompacted)",
)


def _asked_twice(draft: Draft) -> tuple[str, str]:
    first = draft.user("Q1 first")
    draft.answer("A1 first")
    second = draft.user("Q2 second")
    draft.answer("A2 second")
    return first, second


def _and_more(draft: Draft) -> None:
    draft.user("Q3 third")
    draft.answer("A3 third")


@COMPACTIONS
def finished(draft: Draft) -> None:
    _asked_twice(draft)
    draft.compaction("S1 summary")
    _and_more(draft)


@COMPACTIONS
def finished_with_tail(draft: Draft) -> None:
    _, second = _asked_twice(draft)
    draft.compaction("S1 summary", second)
    _and_more(draft)


@COMPACTIONS
def tail_is_missing(draft: Draft) -> None:
    _asked_twice(draft)
    draft.compaction("S1 summary", "msg_01f3ee00ffffHarbourHarbour")
    _and_more(draft)


@COMPACTIONS
def failed(draft: Draft) -> None:
    _asked_twice(draft)
    draft.compaction("S1 summary", **FAILED)
    _and_more(draft)


@COMPACTIONS
def failed_with_tail(draft: Draft) -> None:
    _, second = _asked_twice(draft)
    draft.compaction("S1 summary", second, **FAILED)
    _and_more(draft)


@COMPACTIONS
def unfinished_with_tail(draft: Draft) -> None:
    _, second = _asked_twice(draft)
    draft.compaction("S1 summary", second, finish=None)
    _and_more(draft)


@COMPACTIONS
def failed_after_finished(draft: Draft) -> None:
    _asked_twice(draft)
    draft.compaction("S1 summary")
    third = draft.user("Q3 third")
    draft.answer("A3 third")
    draft.compaction("S2 summary", third, **FAILED)
    draft.user("Q4 fourth")
    draft.answer("A4 fourth")


@COMPACTIONS
def tail_around_an_older_one(draft: Draft) -> None:
    _, second = _asked_twice(draft)
    draft.compaction("S1 summary")
    _and_more(draft)
    draft.compaction("S2 summary", second)
    draft.user("Q4 fourth")
    draft.answer("A4 fourth")


@COMPACTIONS
def summary_that_nobody_asked_for(draft: Draft) -> None:
    _asked_twice(draft)
    draft.user("Q3 third")
    draft.answer("S1 summary", summary=True)
    draft.user("Q4 fourth")
    draft.answer("A4 fourth")


FAILURES = _rule(name="failed_answers", about="an answer that failed is sent if it was aborted")


@FAILURES
def error(draft: Draft) -> None:
    draft.user("Q1 first")
    draft.answer("A1 first", **FAILED)
    _and_more(draft)


@FAILURES
def aborted(draft: Draft) -> None:
    draft.user("Q1 first")
    draft.answer("A1 first", **ABORTED)
    _and_more(draft)


@FAILURES
def aborted_while_it_thought(draft: Draft) -> None:
    draft.user("Q1 first")
    draft.answer(draft.thought("T1 thought"), **ABORTED)
    _and_more(draft)


RESULTS = _rule(name="results", about="what a call has for a result, however it ended")


@RESULTS
def every_ending(draft: Draft) -> None:
    draft.user("Q1 first")
    half = {"interrupted": True, "output": "R3 half"}
    draft.answer(
        draft.tool("call_1", "completed", output="R1 lines"),
        draft.tool("call_2", "error", error="R2 error", metadata={"output": "R2 shown"}),
        draft.tool("call_3", "error", error="R3 error", metadata=half),
        draft.tool("call_4", "error", error="R4 error", metadata={"interrupted": True}),
        draft.tool("call_5", "running", time={"start": 1}),
        finish="tool-calls",
    )
    draft.answer("A1 first")


@RESULTS
def cleared(draft: Draft) -> None:
    draft.user("Q1 first")
    time = {"start": 1, "end": 2, "compacted": 3}
    draft.answer(
        draft.tool("call_1", "completed", output="R1 lines", time=time),
        draft.tool("call_2", "completed", output="R2 lines"),
        finish="tool-calls",
    )
    draft.answer("A1 first")


TEXTS = _rule(name="texts", about="which parts are sent, and as what (toModelMessages)")


@TEXTS
def ignored(draft: Draft) -> None:
    draft.user("Q1 first", draft.text("I1 ignored", ignored=True), draft.text("Y1", synthetic=True))
    draft.answer("A1 first")


@TEXTS
def ignored_in_an_answer(draft: Draft) -> None:
    draft.user("Q1 first")
    draft.answer(draft.text("I1 ignored", ignored=True))
    draft.user("Q2 second")
    draft.answer("A2 second")


@TEXTS
def kinds_that_are_not_sent(draft: Draft) -> None:
    draft.user("Q1 first", draft.part("agent", name="general"))
    draft.answer(draft.part("patch", hash="h", files=["a.py"]), "A1 first")
    draft.user(draft.part("agent", name="general"))
    draft.answer()
    _and_more(draft)


@TEXTS
def task_of_the_user(draft: Draft) -> None:
    draft.user("Q1 first")
    draft.answer("A1 first")
    draft.user(draft.part("subtask", prompt="Q2 task", description="d", agent="general"))
    draft.answer(draft.tool("call_1", "completed", output="R1 lines"), finish="tool-calls")
    draft.answer("A2 second")


REASONING = _rule(name="reasoning", about="reasoning of another model than the chosen one is text")


def _thought_twice(draft: Draft) -> None:
    draft.user("Q1 first", model=OTHER)
    draft.answer(draft.thought("T1 thought"), model=OTHER)
    draft.user("Q2 second")
    draft.answer(draft.thought("T2 thought"))
    _and_more(draft)


@REASONING
def of_an_older_model(draft: Draft) -> None:
    _thought_twice(draft)


@REASONING
def model_of_the_session(draft: Draft) -> None:
    draft.info["model"] = {"providerID": "stub", "id": "stub", "variant": "default"}
    _thought_twice(draft)
    draft.user("Q4 fourth", model=OTHER)
    draft.answer(draft.thought("T4 thought"), model=OTHER)


PLACES = _rule(name="places", about="the order of messages, and where a revert ends them")


@PLACES
def order_of_creation(draft: Draft) -> None:
    _asked_twice(draft)
    draft.messages[0]["info"]["time"]["created"] += 100_000


@PLACES
def reverted_to_a_message(draft: Draft) -> None:
    _, second = _asked_twice(draft)
    draft.info["revert"] = {"messageID": second}


@PLACES
def reverted_to_a_part(draft: Draft) -> None:
    draft.user("Q1 first")
    answer = draft.answer("A1 first", "A1 undone")
    draft.info["revert"] = {"messageID": answer, "partID": draft.messages[-1]["parts"][2]["id"]}
    _and_more(draft)


MEDIA = _rule(name="media", about="pictures, and when they are left out")


def _with_pictures(draft: Draft) -> None:
    draft.user("Q1 first", draft.picture())
    seen = {"id": "prt_01f3ee00aaaaHarbourHarbour", "sessionID": SESSION, **draft.picture()}
    named = {**seen, "messageID": "msg_01f3ee000004HarbourHarbour"}
    draft.answer(
        draft.tool("call_1", "completed", output="R1 lines", attachments=[named]),
        finish="tool-calls",
    )
    draft.answer("A1 first")


@MEDIA
def pictures(draft: Draft) -> None:
    _with_pictures(draft)


@MEDIA
def pictures_in_a_tail(draft: Draft) -> None:
    draft.user("Q0 before")
    draft.answer("A0 before")
    _with_pictures(draft)
    draft.compaction("S1 summary", draft.messages[2]["info"]["id"])
    _and_more(draft)


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
