"""Small sessions of Qwen Code, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of Qwen Code
0.24.4, with the functions of its code.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule
from clients.stub import Json

SESSION = "11111111-2222-4333-8444-555555555555"
ELSEWHERE = "99999999-aaaa-4bbb-8ccc-000000000000"
"""The id of a record, or a session, that is in no file."""
_LAST = "the record before"


@dataclass(kw_only=True)
class Draft:
    """A session that is being written; each record follows the one before unless it says otherwise.

    Methods return the id of their record.
    """

    lines: list[bytes] = field(default_factory=list)
    last: str | None = None

    def record(self, kind: str, *, parent: str | None = _LAST, **fields: Any) -> str:
        """Add a record."""
        number = len(self.lines) + 1
        record = {
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "parentUuid": self.last if parent == _LAST else parent,
            "sessionId": SESSION,
            "timestamp": f"2026-11-01T10:{number:02}:00.000Z",
            "type": kind,
            "cwd": "/home/dev/quay",
            "version": "0.24.4",
            **fields,
        }
        self.lines.append(json.dumps(record).encode() + b"\n")
        self.last = str(record["uuid"])
        return self.last

    def user(self, *parts: str | Json, **fields: Any) -> str:
        """Add what was typed."""
        return self.record("user", message=_content("user", parts), **fields)

    def answer(self, *parts: str | Json, **fields: Any) -> str:
        """Add an answer."""
        return self.record("assistant", model="stub", message=_content("model", parts), **fields)

    def call(self, *names: str) -> str:
        """Add calls of a tool."""
        return self.answer(*map(_call, names))

    def result(self, name: str, output: str, key: str = "output") -> str:
        """Add what a tool has returned."""
        return self.record("tool_result", message=_content("user", [_result(name, output, key)]))

    def turn(self, name: str) -> str:
        """Add a prompt and its answer."""
        self.user(f"Q{name}")
        return self.answer(f"A{name}")

    def state(self, subtype: str, payload: Json | None = None, **fields: Any) -> str:
        """Add a state of the client."""
        return self.record("system", subtype=subtype, systemPayload=payload or {}, **fields)

    @property
    def data(self) -> bytes:
        """The session as it lies in its file."""
        return b"".join(self.lines)


def _content(role: str, parts: Sequence[str | Json]) -> Json:
    blocks = [{"text": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "parts": blocks}


def _call(name: str) -> Json:
    arguments = {"command": "x"}
    return {"functionCall": {"id": name, "name": "run_shell_command", "args": arguments}}


def _result(name: str, output: str, key: str = "output") -> Json:
    response = {"id": name, "name": "run_shell_command", "response": {key: output}}
    return {"functionResponse": response}


_rule = partial(Rule[Draft], draft=Draft)

LEAF = _rule(
    name="leaf",
    about="the newest record of the conversation, and what it follows (selectTranscriptLeaf)",
)


@LEAF
def taken_back(draft: Draft) -> None:
    first = draft.turn("1 first")
    draft.turn("2 taken back")
    draft.state("rewind", parent=first)
    draft.turn("3 next")


@LEAF
def taken_back_at_the_end(draft: Draft) -> None:
    first = draft.turn("1 first")
    draft.turn("2 taken back")
    draft.state("rewind", parent=first)


@LEAF
def outside_at_the_end(draft: Draft) -> None:
    first = draft.turn("1 first")
    draft.turn("2 next")
    draft.state("session_sources_snapshot", parent=first)


GAPS = _rule(
    name="gaps",
    about="a parent that is missing ends the history (walkTranscriptUuidChain)",
)


@GAPS
def parent_elsewhere(draft: Draft) -> None:
    draft.turn("1 first")
    draft.last = ELSEWHERE
    draft.turn("2 next")


@GAPS
def parent_outside(draft: Draft) -> None:
    draft.turn("1 first")
    draft.state("session_artifact_event")
    draft.turn("2 next")


@GAPS
def parent_of_unknown_type(draft: Draft) -> None:
    draft.turn("1 first")
    draft.record("verdict", message=_content("user", ["W1 whatever"]))
    draft.turn("2 next")


@GAPS
def parent_cut_off(draft: Draft) -> None:
    draft.turn("1 first")
    draft.turn("2 next")
    draft.lines[1] = draft.lines[1][:-40] + b"\n"


@GAPS
def circle(draft: Draft) -> None:
    draft.user("Q1 first", parent="00000000-0000-4000-8000-000000000004")
    draft.answer("A1 first")
    draft.turn("2 next")


FRAGMENTS = _rule(
    name="fragments",
    about="records of one id are joined (aggregateTranscriptRecordFragments)",
)


@FRAGMENTS
def two_in_a_row(draft: Draft) -> None:
    question = draft.user("Q1 ask")
    answer = draft.answer("A1 half.")
    draft.answer("A1 other half", uuid=answer, parent=question)
    draft.turn("2 next")


@FRAGMENTS
def another_parent_at_the_end(draft: Draft) -> None:
    draft.user("Q1 ask")
    answer = draft.answer("A1 half.")
    draft.turn("2 next")
    draft.answer("A1 other half", uuid=answer)


REFUSED = _rule(
    name="refused",
    about="sessions that are not resumed (prepareTranscriptRecords, validateHistory)",
)


@REFUSED
def two_sessions(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("Q2 next", sessionId=ELSEWHERE)


@REFUSED
def without_role(draft: Draft) -> None:
    draft.record("user", message={"parts": [{"text": "Q1 ask"}]})
    draft.answer("A1 answer")


@REFUSED
def compaction_without_role(draft: Draft) -> None:
    draft.turn("1 first")
    draft.state("chat_compression", {"compressedHistory": [{"parts": [{"text": "S1 all"}]}]})
    draft.turn("2 next")


@REFUSED
def compaction_that_is_a_text(draft: Draft) -> None:
    draft.turn("1 first")
    draft.state("chat_compression", {"compressedHistory": "S1 all"})
    draft.turn("2 next")


@REFUSED
def nothing_outside_of_it(draft: Draft) -> None:
    draft.state("session_sources_snapshot")


COMPACTIONS = _rule(
    name="compactions",
    about="a compaction puts its history in the place of all before it (SessionApiHistory)",
)
_SUMMARY = _content("user", ["S1 all was about the tide"])


@COMPACTIONS
def in_the_place_of_all(draft: Draft) -> None:
    draft.turn("1 first")
    draft.state("chat_compression", {"compressedHistory": [_SUMMARY, _content("model", ["G1"])]})
    draft.turn("2 next")


@COMPACTIONS
def with_nothing_in_its_place(draft: Draft) -> None:
    draft.turn("1 first")
    draft.state("chat_compression", {"compressedHistory": []})
    draft.turn("2 next")


@COMPACTIONS
def without_history(draft: Draft) -> None:
    draft.turn("1 first")
    draft.state("chat_compression", {"info": {"newTokenCount": 5}})
    draft.turn("2 next")


@COMPACTIONS
def result_behind_it(draft: Draft) -> None:
    draft.turn("1 first")
    history = [_SUMMARY, _content("model", ["G1", _call("call_1")])]
    draft.state("chat_compression", {"compressedHistory": history})
    draft.result("call_1", "R1 lines")
    draft.answer("A2 answer")


COMMANDS = _rule(
    name="commands",
    about="a prompt that the client answered is not sent (SessionApiHistoryAccumulator)",
)


def _command(draft: Draft, **payload: Any) -> None:
    items = [{"type": "assistant", "text": "all about it"}]
    shown = {"phase": "result", "rawCommand": "/about", "outputHistoryItems": items}
    draft.state("slash_command", {**shown, **payload})


@COMMANDS
def answered_by_the_client(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("/about")
    _command(draft)
    draft.turn("2 next")


@COMMANDS
def sent_to_the_model(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("/about")
    _command(draft, sentToModel=True)
    draft.turn("2 next")


@COMMANDS
def not_yet_answered(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("/about")
    _command(draft, phase="invocation")
    _command(draft)
    draft.turn("2 next")


@COMMANDS
def answered_with_more(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("/about")
    _command(draft, outputHistoryItems=[{"type": "info", "text": "all about it"}])
    draft.turn("2 next")


@COMMANDS
def another_command(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("/about that")
    _command(draft)
    draft.turn("2 next")


@COMMANDS
def state_between(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("/about")
    draft.state("ui_telemetry")
    _command(draft)
    draft.turn("2 next")


PROMPTS = _rule(
    name="prompts",
    about="of the kinds of prompts, those that were spoken are not sent (appendApiHistoryRecord)",
)


@PROMPTS
def spoken(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("V1 spoken", subtype="realtime_message")
    draft.answer("V2 said", subtype="realtime_message")
    draft.turn("2 next")


@PROMPTS
def of_the_client(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("N1 told", subtype="notification", provenance="system")
    draft.answer("A1 noted")
    draft.user("N2 on time", subtype="cron", provenance="system")
    draft.answer("A2 done")


@PROMPTS
def meanwhile(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.result("call_1", "R1 lines")
    draft.user("Q2 meanwhile", subtype="mid_turn_user_message")
    draft.answer("A1 answer")


@PROMPTS
def of_unknown_kinds(draft: Draft) -> None:
    draft.turn("1 first")
    draft.user("Q2 next", subtype="whispered")
    draft.answer("A2 next")
    draft.state("weather")


REASONING = _rule(name="reasoning", about="it is sent again, and counts as an answer")


@REASONING
def before_an_answer(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer({"text": "T1 thought", "thought": True}, "A1 answer")
    draft.turn("2 next")


@REASONING
def alone(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer({"text": "T1 thought", "thought": True})
    draft.turn("2 next")


PAIRS = _rule(
    name="pairs",
    about="a call has one result, before the next answer (repairOrphanedToolUseTurns)",
)


@PAIRS
def call_without_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.turn("2 next")


@PAIRS
def call_without_result_at_the_end(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")


@PAIRS
def result_without_call(draft: Draft) -> None:
    draft.turn("1 first")
    draft.result("call_1", "R1 lines")
    draft.turn("2 next")


@PAIRS
def two_results(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.result("call_1", "R1 lines")
    draft.result("call_1", "R2 more")
    draft.answer("A1 answer")


@PAIRS
def prompt_before_its_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.user("Q2 meanwhile")
    draft.result("call_1", "R1 lines")
    draft.answer("A1 answer")


@PAIRS
def answer_before_its_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.answer("A1 early")
    draft.result("call_1", "R1 lines")
    draft.turn("2 next")


@PAIRS
def call_twice(draft: Draft) -> None:
    for number in (1, 2):
        draft.user(f"Q{number} ask")
        draft.call("call_1")
        draft.result("call_1", f"R{number} lines")
    draft.answer("A2 answer")


@PAIRS
def one_of_two(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1", "call_2")
    draft.result("call_2", "R2 lines")
    draft.answer("A1 answer")


@PAIRS
def without_ids(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("")
    draft.result("", "R1 lines")
    draft.turn("2 next")


EMPTY = _rule(
    name="empty",
    about="of answers in a row none is sent if one is empty (extractCuratedHistory)",
)


@EMPTY
def empty_answer(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("")
    draft.turn("2 next")


@EMPTY
def empty_behind_another(draft: Draft) -> None:
    draft.turn("1 first")
    draft.answer("")
    draft.turn("2 next")


@EMPTY
def empty_beside_a_text(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer", "")
    draft.turn("2 next")


@EMPTY
def empty_behind_a_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.answer("")
    draft.turn("2 next")


@EMPTY
def empty_beside_a_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("", _call("call_1"))
    draft.result("call_1", "R1 lines")
    draft.call("call_1")
    draft.result("call_1", "R2 lines")
    draft.answer("A1 answer")


@EMPTY
def no_message(draft: Draft) -> None:
    draft.turn("1 first")
    draft.record("assistant", model="stub", usageMetadata={"promptTokenCount": 5})
    draft.turn("2 next")


@EMPTY
def timed_out(draft: Draft) -> None:
    draft.turn("1 first")
    draft.answer("(request timeout)")
    draft.turn("2 next")


@EMPTY
def timed_out_before_a_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.answer("(request timeout)")
    draft.result("call_1", "R1 lines")
    draft.answer("A1 answer")


LONG_RESULTS = _rule(
    name="long_results",
    about="above 500,000 characters of results the oldest are cleared (microcompactHistory)",
)


def _results(draft: Draft, *sizes: int, key: str = "output") -> None:
    draft.user("Q1 ask")
    for number, size in enumerate(sizes, 1):
        draft.call(f"call_{number}")
        draft.result(f"call_{number}", f"R{number} ".ljust(size, "x"), key)
    draft.answer("A1 answer")


@LONG_RESULTS
def at_the_limit(draft: Draft) -> None:
    _results(draft, *[50_000] * 10)


@LONG_RESULTS
def above_the_limit(draft: Draft) -> None:
    _results(draft, *[40_000] * 7, *[60_000] * 3, 50_000)


@LONG_RESULTS
def but_the_newest_five(draft: Draft) -> None:
    _results(draft, *[90_000] * 6)


@LONG_RESULTS
def characters_of_two_units(draft: Draft) -> None:
    draft.user("Q1 ask")
    for number in range(1, 11):
        draft.call(f"call_{number}")
        draft.result(f"call_{number}", f"R{number} " + "\U0001f6a2" * 25_100)
    draft.answer("A1 answer")


@LONG_RESULTS
def without_calls(draft: Draft) -> None:
    _results(draft, *[60_000] * 7)
    for number in range(8, 12):
        draft.result(f"call_{number}", f"R{number} ".ljust(60_000, "x"))
    draft.answer("A2 answer")


@LONG_RESULTS
def beside_a_picture(draft: Draft) -> None:
    draft.user("Q1 ask")
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    for number in range(1, 8):
        block = _result(f"call_{number}", f"R{number} ".ljust(80_000, "x"))
        block["functionResponse"]["parts"] = [picture] * (number == 1)
        draft.call(f"call_{number}")
        draft.record("tool_result", message=_content("user", [block]))
    draft.answer("A1 answer")


@LONG_RESULTS
def of_tools_with_earlier_names(draft: Draft) -> None:
    draft.user("Q1 ask")
    for number in range(1, 8):
        block = _result(f"call_{number}", f"R{number} ".ljust(80_000, "x"))
        block["functionResponse"]["name"] = "search_file_content"
        draft.call(f"call_{number}")
        draft.record("tool_result", message=_content("user", [block]))
    draft.answer("A1 answer")


@LONG_RESULTS
def errors(draft: Draft) -> None:
    _results(draft, *[90_000] * 6, key="error")


COMPACTS_AT = _rule(
    name="compacts_at",
    about="it compacts at 85% of the window, at most window - 33,000 (computeThresholds)",
    limit=95_000,
    compacts=True,
)


def _full(draft: Draft, tokens: int) -> None:
    draft.user("Q1 first")
    draft.answer("A1 " + "word " * 2_000)
    draft.user("Q2 " + "word " * 2_000)
    counts = {"promptTokenCount": tokens, "candidatesTokenCount": 5, "totalTokenCount": tokens + 5}
    draft.answer("A2 next", usageMetadata=counts)


@COMPACTS_AT
def below_it(draft: Draft) -> None:
    _full(draft, 94_900)


@COMPACTS_AT
def at_it(draft: Draft) -> None:
    _full(draft, 95_000)


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
