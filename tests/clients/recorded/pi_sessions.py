"""Small sessions of pi, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of pi 1.6.0.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule
from clients.stub import Json

MODEL, OTHER_MODEL = "claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101"
# A picture of one pixel.
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
_USAGE = {"input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110}
_FREE = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0)


def text(value: str) -> Json:
    """Return a block of text."""
    return {"type": "text", "text": value}


def thinking(value: str) -> Json:
    """Return a block of signed thinking."""
    return {"type": "thinking", "thinking": value, "thinkingSignature": "c2lnbmVk"}


def call(call_id: str) -> Json:
    """Return a block that calls a tool."""
    return {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"path": call_id}}


def tool(name: str) -> Json:
    """Return the definition of a tool; the client offers again those that it knows."""
    return {"name": name, "description": f"D1 {name}", "parameters": {"type": "object"}}


def image() -> Json:
    """Return a picture."""
    return {"type": "image", "data": _PIXEL, "mimeType": "image/png"}


@dataclass(kw_only=True)
class Draft:
    """A session that is being written; each entry follows the one before unless it says otherwise.

    Methods that add an entry return its id.
    """

    entries: list[Json] = field(default_factory=list)
    last: str | None = None

    def entry(self, kind: str, /, **fields: Any) -> str:
        """Add an entry."""
        number = len(self.entries) + 1
        linked = {"id": f"{number:08x}", "parentId": self.last, "timestamp": _time(number)}
        self.entries.append({"type": kind, **linked, **fields})
        self.last = str(self.entries[-1]["id"])
        return self.last

    def message(self, role: str, content: Any, **fields: Any) -> str:
        """Add a message."""
        return self.entry("message", message={"role": role, "content": content, **fields})

    def user(self, *content: str | Json, **fields: Any) -> str:
        """Add what was typed."""
        return self.message("user", _blocks(content), timestamp=1, **fields)

    def answer(self, *content: str | Json, model: str = MODEL, reason: str = "stop") -> str:
        """Add an answer."""
        made = {"api": "anthropic-messages", "provider": "anthropic", "model": model}
        usage = {**_USAGE, "cost": _FREE}
        fields = {**made, "usage": usage, "stopReason": reason, "timestamp": 2}
        return self.message("assistant", _blocks(content), **fields)

    def result(self, call_id: str, *content: str | Json, failed: bool = False) -> str:
        """Add what a tool has returned."""
        fields = {"toolCallId": call_id, "toolName": "read", "isError": failed, "timestamp": 3}
        return self.message("toolResult", _blocks(content), **fields)

    def system(self, content: str = "", **fields: Any) -> str:
        """Add a system message."""
        return self.message("system", content, timestamp=4, **fields)

    def turn(self, name: str) -> tuple[str, str]:
        """Add a question and its answer: ``Q1 NAME`` and ``A1 NAME``."""
        return self.user(f"Q1 {name}"), self.answer(f"A1 {name}")

    def read(self, call_id: str) -> tuple[str, str]:
        """Add a call of a tool and its result."""
        return self.answer(call(call_id)), self.result(call_id, f"R1 {call_id}")

    def edit(self, target: str, replacement: Any) -> str:
        """Edit what is sent of an entry."""
        return self.entry("context_edit", targetId=target, replacement=replacement)

    def compaction(self, first_kept: str, **fields: Any) -> str:
        """Add a compaction."""
        facts = {"summary": "S1 summary", "firstKeptEntryId": first_kept, "tokensBefore": 1_000}
        return self.entry("compaction", **facts, **fields)

    @property
    def data(self) -> bytes:
        """The session as it lies in its file."""
        header = {
            "type": "session",
            "version": 3,
            "id": "01a222ab-1246-7510-8368-393fd60a787f",
            "timestamp": _time(0),
            "cwd": "/home/dev/quay",
        }
        return b"".join(json.dumps(entry).encode() + b"\n" for entry in (header, *self.entries))


def _blocks(content: Sequence[str | Json]) -> list[Json]:
    return [text(block) if isinstance(block, str) else block for block in content]


def _time(number: int) -> str:
    return f"2026-11-01T10:{number:02}:00.000Z"


_rule = partial(Rule[Draft], draft=Draft)

PATH = _rule(
    name="path",
    about="the entries from the last one of the file back to a root are sent (buildSessionPath)",
)
COMPACTIONS = _rule(
    name="compactions",
    about=(
        "the newest compaction of the path stands for all before the first entry that it keeps,"
        " and for older compactions behind that (buildContextEntries)"
    ),
)
CONTEXT_EDITS = _rule(
    name="context_edits",
    about=(
        "the newest edit of an entry replaces the content of a message, or removes an entry of any"
        " kind (projectContextEntry)"
    ),
)
KINDS = _rule(
    name="kinds",
    about="of entries that are not messages, and of messages of other roles, some are sent",
)
PAIRS = _rule(
    name="pairs",
    about=(
        "a call without a result before the next answer or prompt gets one, results without a call"
        " stay (transformMessages)"
    ),
)
BROKEN_OFF = _rule(
    name="broken_off", about="an answer that failed or was aborted is not sent (transformMessages)"
)
OTHER_MODEL_THINKING = _rule(
    name="other_model_thinking",
    about="the thinking of another model than the current one is not sent (transformMessages)",
)


@PATH
def abandoned_branch(draft: Draft) -> None:
    first, _ = draft.turn("first")
    draft.turn("abandoned")
    draft.last = first
    draft.answer("A2 anew")


@PATH
def missing_parent(draft: Draft) -> None:
    draft.turn("first")
    draft.last = "lost0001"
    draft.user("Q2 behind the gap")
    draft.answer("A2")


@PATH
def newest_is_no_message(draft: Draft) -> None:
    _, answer = draft.turn("first")
    draft.turn("abandoned")
    draft.last = answer
    draft.entry("label", targetId=answer, label="here")


@PATH
def same_id_again(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 old wording")
    draft.entries[-1]["id"] = "again001"
    draft.last = "again001"
    draft.answer("A2")
    last = draft.last
    draft.user("Q2 new wording")
    draft.entries[-1] |= {"id": "again001", "parentId": "00000002"}
    draft.last = last
    draft.user("Q3")


@COMPACTIONS
def keeps_from_an_entry_on(draft: Draft) -> None:
    draft.turn("first")
    kept, _ = draft.turn("second")
    draft.compaction(kept)
    draft.turn("third")


@COMPACTIONS
def first_kept_is_missing(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction("gone0001")
    draft.turn("second")


@COMPACTIONS
def keeps_nothing(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction(f"{len(draft.entries) + 1:08x}")
    draft.turn("second")


@COMPACTIONS
def two_of_them(draft: Draft) -> None:
    draft.turn("first")
    kept, _ = draft.turn("second")
    draft.compaction(kept)
    draft.turn("third")
    draft.compaction(kept, systemMessage={"role": "system", "content": "P1", "timestamp": 1})
    draft.turn("fourth")


@COMPACTIONS
def on_an_abandoned_branch(draft: Draft) -> None:
    kept, answer = draft.turn("first")
    draft.compaction(kept)
    draft.last = answer
    draft.turn("second")


@CONTEXT_EDITS
def replaced(draft: Draft) -> None:
    question = draft.user("Q1 first")
    _, result = draft.read("toolu_1")
    answer = draft.answer("A1 first")
    draft.edit(question, {"content": "Q1 edited"})
    draft.edit(result, {"content": "R1 edited"})
    draft.edit(answer, {"content": [text("A1 older")]})
    draft.edit(answer, {"content": [text("A1 edited"), text("A1 and more")]})


@CONTEXT_EDITS
def removed(draft: Draft) -> None:
    draft.turn("first")
    question, answer = draft.turn("second")
    shell = draft.entry(
        "message",
        message={"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0},
    )
    draft.edit(question, None)
    draft.edit(answer, None)
    draft.edit(shell, None)


@CONTEXT_EDITS
def of_a_call(draft: Draft) -> None:
    draft.turn("first")
    asked, _ = draft.read("toolu_1")
    draft.answer("A2")
    draft.edit(asked, {"content": [text("A1 called something")]})


@CONTEXT_EDITS
def of_other_kinds(draft: Draft) -> None:
    draft.turn("first")
    shell = draft.entry(
        "message",
        message={"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0},
    )
    told = draft.entry("custom_message", customType="x", content="C1 told", display=True)
    branch = draft.entry("branch_summary", fromId="x", summary="S1 branch")
    for target in (shell, told, branch):
        draft.edit(target, {"content": "E1 edited"})


@CONTEXT_EDITS
def on_another_branch(draft: Draft) -> None:
    _, answer = draft.turn("first")
    draft.edit(answer, None)
    draft.last = answer
    draft.turn("second")


@CONTEXT_EDITS
def of_what_was_kept(draft: Draft) -> None:
    draft.turn("first")
    kept, answer = draft.turn("second")
    draft.edit(answer, {"content": "A1 edited"})
    draft.compaction(kept)
    draft.turn("third")


@KINDS
def entries(draft: Draft) -> None:
    draft.entry("session_info", name="A name Z01")
    draft.turn("first")
    draft.entry("custom", customType="x", data={"text": "Z02"})
    draft.entry("custom_message", customType="x", content="C1 told", display=False)
    draft.entry("branch_summary", fromId="x", summary="S1 branch")
    draft.entry("branch_summary", fromId="x", summary="")
    draft.entry("usage", kind="cache_warm", provider="anthropic", model=MODEL, usage=_USAGE)
    draft.entry("thinking_level_change", thinkingLevel="off")
    draft.entry("label", targetId=draft.last, label="Z03")


@KINDS
def roles(draft: Draft) -> None:
    draft.turn("first")
    draft.message("custom", "C1 told", customType="x", details={"text": "Z01"})
    for shell in (
        {"command": "ls", "output": "a.py", "exitCode": 0},
        {"command": "true", "output": "", "exitCode": 0},
        {"command": "cat Z02", "output": "Z03", "exitCode": 0, "excludeFromContext": True},
    ):
        draft.entry("message", message={"role": "bashExecution", **shell})
    draft.message("robot", "Z04")


@KINDS
def system_messages(draft: Draft) -> None:
    draft.system(sections={"rules": "P1", "skills": "P2"}, toolsAdded=[tool("read"), tool("lamp")])
    draft.turn("first")
    draft.system(sections={"rules": "P3", "skills": None}, toolsRemoved=[{"name": "lamp"}])
    draft.turn("second")


@KINDS
def pictures(draft: Draft) -> None:
    draft.user("Q1 look", image())
    draft.answer(call("toolu_1"), reason="toolUse")
    draft.result("toolu_1", "R1 seen", image())
    draft.answer("A1")


@PAIRS
def call_without_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 asks", call("toolu_1"))
    draft.turn("second")


@PAIRS
def call_at_the_end(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 asks", call("toolu_1"), call("toolu_2"))
    draft.result("toolu_1", "R1")


@PAIRS
def result_behind_a_prompt(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 asks", call("toolu_1"))
    draft.user("Q2 hurry")
    draft.result("toolu_1", "R1 late")
    draft.answer("A2")


@PAIRS
def result_behind_a_system_message(draft: Draft) -> None:
    draft.system(toolsAdded=[tool("read")])
    draft.user("Q1 ask")
    draft.answer("A1 asks", call("toolu_1"))
    draft.system(sections={"rules": "P1"})
    draft.result("toolu_1", "R1")
    draft.answer("A2")


@PAIRS
def result_without_call(draft: Draft) -> None:
    draft.turn("first")
    draft.result("toolu_9", "R9")
    draft.answer("A2")


@PAIRS
def second_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_1")
    draft.result("toolu_1", "R2 again")
    draft.answer("A2")


@BROKEN_OFF
def failed_or_aborted(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 fails", call("toolu_1"), reason="error")
    draft.answer("A3 is aborted", reason="aborted")
    draft.answer("A4 too long", reason="length")


@OTHER_MODEL_THINKING
def of_another_model(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 theirs"), "A1", model=OTHER_MODEL)
    draft.user("Q2 ask")
    draft.answer(thinking("T2 ours"), "A2")


@OTHER_MODEL_THINKING
def of_nothing_else(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 theirs"), model=OTHER_MODEL)
    draft.turn("second")


@OTHER_MODEL_THINKING
def of_the_same_model(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 ours"), "A1")
    draft.turn("second")


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
