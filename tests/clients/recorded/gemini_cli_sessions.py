"""Small sessions of Gemini CLI, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of Gemini
CLI 0.61.0, with the functions of its code.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule
from clients.stub import Json

SESSION = "11111111-2222-4333-8444-555555555555"
_TIME = "2026-11-01T10:00:00.000Z"
# A picture of one pixel.
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def user(name: str, *parts: str | Json) -> Json:
    """Return a message of the user."""
    return {"id": name, "timestamp": _TIME, "type": "user", "content": [*map(_part, parts)]}


def answer(name: str, content: Any = "", *calls: Json, **more: Any) -> Json:
    """Return an answer with its calls."""
    message = {"id": name, "timestamp": _TIME, "type": "gemini", "content": content, **more}
    return {**message, "toolCalls": [*calls]} if calls else message


def call(call_id: str, result: Any = None, **more: Any) -> Json:
    """Return a call of an answer; its result is a text unless it is something else."""
    made = {"id": call_id, "name": "read_file", "args": {"file_path": f"/x/{call_id}"}}
    made |= {"status": "success", "timestamp": _TIME, **more}
    if isinstance(result, str):
        result = [response(call_id, result)]
    return made if result is None else {**made, "result": result}


def response(call_id: str, output: str) -> Json:
    """Return a part with the result of a call."""
    returned = {"id": call_id, "name": "read_file", "response": {"output": output}}
    return {"functionResponse": returned}


def request(call_id: str) -> Json:
    """Return a part with a call."""
    made = {"id": call_id, "name": "read_file", "args": {"file_path": f"/x/{call_id}"}}
    return {"functionCall": made}


def _part(part: str | Json) -> Json:
    return {"text": part} if isinstance(part, str) else part


@dataclass(kw_only=True)
class Draft:
    """A log that is being written."""

    lines: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.line(sessionId=SESSION, projectHash="hash", startTime=_TIME, lastUpdated=_TIME)

    def line(self, **record: Any) -> None:
        """Add a line."""
        self.lines.append(json.dumps(record).encode() + b"\n")

    def add(self, *messages: Json) -> None:
        """Add messages, each on its line."""
        for message in messages:
            self.line(**message)

    def turn(self, name: str) -> None:
        """Add a prompt and its answer."""
        self.add(user(f"q-{name}", f"Q {name}"), answer(f"a-{name}", f"A {name}"))

    def update(self, **fields: Any) -> None:
        """Add an update of the session."""
        self.line(**{"$set": fields})

    def rewind(self, name: str) -> None:
        """Add that the user went back to before a message."""
        self.line(**{"$rewindTo": name})

    @property
    def data(self) -> bytes:
        """The log as it lies in its file."""
        return b"".join(self.lines)


_rule = partial(Rule[Draft], draft=Draft)

REPLAY = _rule(
    name="replay",
    about="a message replaces an earlier one with its id, $rewindTo removes one and all after it,"
    " $set with messages replaces all (loadConversationRecord)",
)


@REPLAY
def plain(draft: Draft) -> None:
    draft.turn("first")
    draft.update(lastUpdated=_TIME)
    draft.add(user("u2", "Q2 ask"), answer("g2", "A2 calls", call("call_1", "R1 lines")))
    draft.add(answer("g3", "A3 answer"))


@REPLAY
def newer_version(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", "A1 old"))
    draft.turn("next")
    draft.add(answer("g1", "A1 new", call("call_1", "R1 lines")))


@REPLAY
def rewind(draft: Draft) -> None:
    draft.turn("first")
    draft.turn("second")
    draft.rewind("q-second")
    draft.turn("next")


@REPLAY
def rewind_to_an_unknown_one(draft: Draft) -> None:
    draft.turn("first")
    draft.rewind("unknown")
    draft.turn("next")


@REPLAY
def rewind_to_a_newer_version(draft: Draft) -> None:
    draft.turn("first")
    draft.turn("second")
    draft.add(user("q-first", "Q first again"))
    draft.rewind("a-first")
    draft.turn("next")


@REPLAY
def all_replaced(draft: Draft) -> None:
    draft.turn("first")
    draft.update(messages=[user("u2", "Q2 ask"), answer("g2", "A2 answer")])
    draft.turn("next")


@REPLAY
def replaced_by_nothing(draft: Draft) -> None:
    draft.turn("first")
    draft.update(messages=[])
    draft.turn("next")


@REPLAY
def with_a_message_without_id(draft: Draft) -> None:
    nameless = user("", "Q3 nameless")
    del nameless["id"]
    draft.update(messages=[user("u2", "Q2 ask"), nameless, answer("g2", "A2 answer")])
    draft.turn("next")


@REPLAY
def messages_of_the_session(draft: Draft) -> None:
    draft.turn("first")
    draft.line(sessionId=SESSION, projectHash="hash", messages=[user("u2", "Q2 ask")])
    draft.turn("next")


@REPLAY
def other_fields(draft: Draft) -> None:
    draft.turn("first")
    draft.update(summary="S1 title", memoryScratchpad={"workflowSummary": "S2 memory"})
    draft.line(unheard="X1")
    draft.turn("next")


MESSAGES = _rule(
    name="messages",
    about="which messages are sent: no commands, no texts of hooks, nothing that is only shown"
    " (convertSessionToClientHistory, isIgnoredUserContent)",
)


@MESSAGES
def only_shown(draft: Draft) -> None:
    draft.turn("first")
    for kind in ("info", "warning", "error", "unheard-of"):
        draft.add({"id": kind, "timestamp": _TIME, "type": kind, "content": f"I1 {kind}"})
    draft.turn("next")


@MESSAGES
def commands(draft: Draft) -> None:
    draft.turn("first")
    draft.add(user("u2", "/help me"), user("u3", "?"), user("u4", "  /stats"), user("u5", "  "))
    draft.turn("next")


@MESSAGES
def commands_behind_something_else(draft: Draft) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": _PIXEL}}
    draft.add(user("u1", picture, "/help me"), answer("g1", "A1 answer"))
    draft.add(user("u2", "Q2 ask"), answer("g2", "A2 calls", call("call_1")))
    draft.add(user("u3", response("call_1", "R1 lines"), "/home/dev/quay"))
    draft.add(answer("g3", "A3 answer"), user("u4", "/help me", picture))
    draft.turn("next")


@MESSAGES
def hooks(draft: Draft) -> None:
    draft.turn("first")
    draft.add(user("u2", "<hook_context>H1 told</hook_context>"))
    draft.add(user("u3", "<hook_context>H2 told</hook_context>\nQ3 ask"))
    draft.add(user("u4", "Q4 ask", "<hook_context>H3 told</hook_context>"))
    draft.turn("next")


@MESSAGES
def context_of_the_session(draft: Draft) -> None:
    draft.add(user("u1", "<session_context>\nC1 old\n</session_context>"))
    draft.turn("first")
    draft.add(user("u3", "<session_context> Q3 of a user"))
    draft.turn("next")


@MESSAGES
def two_prompts_and_two_answers(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), user("u2", "Q2 ask"))
    draft.add(answer("g1", "A1 answer"), answer("g2", "A2 answer"))


@MESSAGES
def an_answer_first(draft: Draft) -> None:
    draft.add(answer("g0", "A0 before"))
    draft.turn("next")


@MESSAGES
def contents(draft: Draft) -> None:
    draft.add({"id": "u1", "timestamp": _TIME, "type": "user", "content": "Q1 text"})
    draft.add(answer("g1", [{"text": "A1 part"}, {"text": "A1 other"}]))
    draft.add({"id": "u2", "timestamp": _TIME, "type": "user", "content": {"text": "Q2 object"}})
    draft.add(answer("g2", ["A2 of texts"]))


@MESSAGES
def pictures(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask", {"inlineData": {"mimeType": "image/png", "data": _PIXEL}}))
    draft.add(answer("g1", "A1 answer"))


CALLS = _rule(
    name="calls",
    about="calls are sent with what they returned, also where there is nothing; results without a"
    " call as they are",
)


@CALLS
def without_a_result(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", "A1 calls", call("call_1")))
    draft.turn("next")


@CALLS
def one_result_of_two(draft: Draft) -> None:
    calls = (call("call_1", "R1 lines"), call("call_2", status="cancelled"))
    draft.add(user("u1", "Q1 ask"), answer("g1", "", *calls))
    draft.turn("next")


@CALLS
def result_as_a_text(draft: Draft) -> None:
    made = {**call("call_1"), "result": "R1 text"}
    draft.add(user("u1", "Q1 ask"), answer("g1", "", made))
    draft.turn("next")


@CALLS
def result_with_more_parts(draft: Draft) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": _PIXEL}}
    result = [response("call_1", "R1 lines"), {"text": "R2 text"}, picture]
    draft.add(user("u1", "Q1 ask"), answer("g1", "", call("call_1", result)))
    draft.turn("next")


@CALLS
def result_at_the_end(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", "", call("call_1", "R1 lines")))


@CALLS
def in_the_content(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", [{"text": "A1 calls"}, request("call_1")]))
    draft.add(user("u2", response("call_1", "R1 lines")), answer("g2", "A2 answer"))


@CALLS
def in_the_content_and_beside(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"))
    draft.add(answer("g1", [request("call_1")], call("call_1", "R1 lines")))
    draft.add(answer("g2", "A2 answer"))


@CALLS
def result_without_a_call(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", "A1 answer"))
    draft.add(user("u2", response("call_9", "R9 lost")), answer("g2", "A2 answer"))


@CALLS
def result_in_a_message_of_its_own(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", "", call("call_1", "R1 lines")))
    draft.add(user("u2", response("call_1", "R1 lines")), answer("g2", "A2 answer"))


THOUGHTS = _rule(
    name="thoughts",
    about="thoughts are not sent; an answer whose content has one is sent without the calls beside"
    " it (stripThoughts)",
)


@THOUGHTS
def beside_the_content(draft: Draft) -> None:
    thoughts = [{"subject": "T1", "description": "T2 thought", "timestamp": _TIME}]
    draft.add(user("u1", "Q1 ask"))
    draft.add(answer("g1", "A1 calls", call("call_1", "R1 lines"), thoughts=thoughts))
    draft.add(answer("g2", "A2 answer"))


@THOUGHTS
def of_an_answer_without_more(draft: Draft) -> None:
    thoughts = [{"subject": "T1", "description": "T2 thought", "timestamp": _TIME}]
    draft.add(user("u1", "Q1 ask"), answer("g1", "", thoughts=thoughts))
    draft.turn("next")


@THOUGHTS
def in_the_content_of_an_answer(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"))
    draft.add(answer("g1", [{"text": "T1 thought", "thought": True}, {"text": "A1 answer"}]))
    draft.turn("next")


@THOUGHTS
def in_the_content_beside_calls(draft: Draft) -> None:
    parts = [{"text": "T1 thought", "thought": True}, {"text": "A1 calls"}]
    draft.add(user("u1", "Q1 ask"), answer("g1", parts, call("call_1", "R1 lines")))
    draft.turn("next")


EMPTY = _rule(
    name="empty",
    about="an answer with an empty part is left out, and the answers beside it"
    " (extractCuratedHistory)",
)


@EMPTY
def empty_text(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", ""))
    draft.turn("next")


@EMPTY
def empty_part(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", [{"text": ""}]))
    draft.turn("next")


@EMPTY
def empty_part_beside_others(draft: Draft) -> None:
    draft.add(user("u1", "Q1 ask"), answer("g1", [{"text": ""}, {"text": "A1 beside"}]))
    draft.add(answer("g2", "A2 next to it"))
    draft.turn("next")


@EMPTY
def empty_part_of_a_prompt(draft: Draft) -> None:
    draft.add(user("u1", "", "Q1 ask"), answer("g1", "A1 answer"))


LINES = _rule(name="lines", about="a line that is not one JSON value is skipped")


@LINES
def torn_at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.add(user("u2", "Q2 torn"))
    draft.lines.append(draft.lines.pop()[:-20])


@LINES
def two_on_a_line(draft: Draft) -> None:
    draft.turn("first")
    draft.turn("glued")
    draft.lines.append(draft.lines.pop(-2).rstrip(b"\n") + draft.lines.pop())
    draft.turn("next")


@LINES
def zero_bytes_before(draft: Draft) -> None:
    draft.turn("first")
    draft.add(user("u2", "Q2 after zeros"))
    draft.lines.append(b"\0" * 8 + draft.lines.pop())
    draft.add(answer("g2", "A2 answer"))


@LINES
def spaces_before(draft: Draft) -> None:
    draft.turn("first")
    draft.add(user("u2", "Q2 after spaces"))
    draft.lines.append(b"  " + draft.lines.pop())
    draft.add(answer("g2", "A2 answer"))


@LINES
def invalid_bytes(draft: Draft) -> None:
    draft.turn("first")
    draft.add(user("u2", "Q2 xyz"))
    draft.lines.append(draft.lines.pop().replace(b"xyz", b"\xff\xfe"))
    draft.add(answer("g2", "A2 answer"))


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
