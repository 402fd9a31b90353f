"""Small sessions of Cline, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of Cline
3.0.65 (``MessageBuilder.buildForApi`` of its SDK).
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule
from clients.stub import Json

SESSION = "1793527200000_quay1"
MADE_UP = frozenset(
    {
        "Tool execution was interrupted before a result was produced. Tool: read_files.",
        "Tool execution was interrupted before a result was produced. Tool: run_commands.",
        "[media omitted: invalid or exceeds size limit]",
    }
)
_MODEL = {"id": "stub", "provider": "openai-compatible"}
# Results of which the tail is told from the head.
_LONG = "".join(f"{number}: the tide\n" for number in range(2_000))


def text(value: str) -> Json:
    """Return a block of text."""
    return {"type": "text", "text": value}


def read(call_id: str, *paths: str, tool: str = "read_files") -> Json:
    """Return a block that calls the tool which reads files."""
    given = {"files": [{"path": path} for path in paths or (f"/x/{call_id}",)]}
    return {"type": "tool_use", "id": call_id, "name": tool, "input": given}


def entry(query: str, result: str) -> Json:
    """Return what a tool has returned of one thing that was asked for."""
    return {"query": query, "result": result, "success": True}


def result(call_id: str, *content: Json, tool: str = "read_files", **fields: Any) -> Json:
    """Return a block with the result of a call."""
    block = {"type": "tool_result", "tool_use_id": call_id, "name": tool, "content": content}
    return {**block, **fields}


@dataclass(kw_only=True)
class Draft:
    """A session that is being written."""

    messages: list[Json] = field(default_factory=list)

    def message(self, role: str, content: Sequence[str | Json], **fields: Any) -> None:
        """Add a message."""
        number = len(self.messages)
        blocks = [text(block) if isinstance(block, str) else block for block in content]
        made = {"id": f"msg_{number:02}", "role": role, "content": blocks, "ts": number}
        self.messages.append({**made, **fields})

    def user(self, *content: str | Json, **fields: Any) -> None:
        """Add what was typed, or what tools have returned."""
        self.message("user", content, **fields)

    def answer(self, *content: str | Json, **fields: Any) -> None:
        """Add an answer."""
        self.message("assistant", content, modelInfo=_MODEL, **fields)

    def turn(self, name: str) -> None:
        """Add a question and its answer: ``Q1 NAME`` and ``A1 NAME``."""
        self.user(f"Q1 {name}")
        self.answer(f"A1 {name}")

    def reads(self, call_id: str, path: str, content: str) -> None:
        """Add a call that reads a file, or lines of it, and its result."""
        self.answer(read(call_id, path.partition(":")[0]))
        self.user(result(call_id, entry(path, content)))

    @property
    def data(self) -> bytes:
        """The session as it lies in its file."""
        document = {
            "version": 1,
            "updated_at": "2026-11-01T10:00:00.000Z",
            "agent": "lead",
            "sessionId": SESSION,
            "messages": self.messages,
            "system_prompt": "You are Cline.",
        }
        return json.dumps(document).encode()


_rule = partial(Rule[Draft], draft=Draft)

CUTS = _rule(
    name="cuts",
    about=(
        "of each text in a result 8,000 characters are sent, of an attached file 50,000, of an"
        " answer 200,000, and 12,000 if it repeats the markup of calls"
    ),
)
PAIRS = _rule(
    name="pairs",
    about="a call that has no result anywhere gets one, results without a call stay",
)
SHOWN = _rule(name="shown", about="a message that is displayed only is not sent")
OUTDATED = _rule(
    name="outdated",
    about=(
        "what was read of a file is replaced if that was read again, or the whole of it once, and"
        " 65,536 bytes are saved by that"
    ),
)
MEDIA = _rule(
    name="media",
    about="pictures above 5 MiB of base64 are left out, and the newest above 8 MiB of them",
)


@CUTS
def result_of_8_000(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.reads("call_1", "/x/a.txt", _LONG[:8_000])
    draft.answer("A1")


@CUTS
def result_of_8_001(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.reads("call_1", "/x/a.txt", _LONG[:8_001])
    draft.answer("A1")


@CUTS
def each_text_of_a_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(read("call_1", "/x/a", "/x/b", "/x/c"))
    entries = [
        entry(f"/x/{name}", _LONG[:size])
        for name, size in zip("abc", (9, 9_000, 20_000), strict=True)
    ]
    draft.user(result("call_1", *entries))
    draft.answer("A1")


@CUTS
def halves_of_characters(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.reads("call_1", "/x/a.txt", "a" + "\U0001f6a2" * 5_000)
    draft.answer("A1")


@CUTS
def result_that_is_a_text(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(read("call_1", tool="run_commands"))
    draft.user(result("call_1", tool="run_commands") | {"content": _LONG[:10_000]})
    draft.answer("A1")


@CUTS
def attached_file(draft: Draft) -> None:
    content = "".join(f"{number}: the moon\n" for number in range(5_000))
    draft.user("Q1 look", {"type": "file", "path": "/x/a.txt", "content": content})
    draft.answer("A1")


@CUTS
def answers(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(_LONG[:14_000])
    draft.user("Q2 ask")
    draft.answer(_LONG[:13_000] + "<invoke name='x'>" * 8)
    draft.user("Q3 ask")
    draft.answer(_LONG * 10)


@PAIRS
def call_without_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 asks", read("call_1"), read("call_2", tool="run_commands"))
    draft.user(result("call_1", entry("/x/call_1", "R1")))
    draft.turn("second")


@PAIRS
def call_at_the_end(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 asks", read("call_1"))


@PAIRS
def result_without_call(draft: Draft) -> None:
    draft.turn("first")
    draft.user(result("call_9", entry("/x/call_9", "R9")))
    draft.answer("A2")


@PAIRS
def second_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.reads("call_1", "/x/a.txt", "R1")
    draft.user(result("call_1", entry("/x/a.txt", "R1 again")))
    draft.answer("A2")


@SHOWN
def error_that_is_displayed(draft: Draft) -> None:
    draft.turn("first")
    draft.answer("Z01", metadata={"displayOnly": True, "displayRole": "error"})
    draft.turn("second")


def _reads_again(draft: Draft, path: str, count: int = 10) -> None:
    """Read a file ``count`` times, of which each saves some 8,000 bytes if it is outdated."""
    draft.user("Q1 ask")
    for number in range(count):
        draft.reads(f"call_{number}", path, f"R{number} {_LONG[:7_900]}")
    draft.answer("A1")


def image(n_bytes: int) -> Json:
    """Return a picture of so many bytes."""
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n".ljust(n_bytes, b"\0")).decode()
    return {"type": "image", "data": data, "mediaType": "image/png"}


@MEDIA
def picture_of_5_mib(draft: Draft) -> None:
    # Four characters of base64 hold three bytes.
    draft.user("Q1 look", image(5 * 2**20 // 4 * 3), image(5 * 2**20 // 4 * 3 + 1))
    draft.answer("A1")


@MEDIA
def pictures_above_8_mib(draft: Draft) -> None:
    for number in range(4):
        draft.user(f"Q{number} look", image(2_000_000))
        draft.answer(f"A{number}")
    draft.user("Q5 look", image(1_000))
    draft.answer("A5")


@MEDIA
def pictures_of_other_types(draft: Draft) -> None:
    types = ("image/svg+xml", "image/bmp", "image/webp")
    draft.user("Q1 look", *(image(90) | {"mediaType": name} for name in types))
    draft.answer("A1")


@OUTDATED
def whole_file_again(draft: Draft) -> None:
    _reads_again(draft, "/x/a.txt")


@OUTDATED
def too_little_saved(draft: Draft) -> None:
    _reads_again(draft, "/x/a.txt", 8)


@OUTDATED
def lines_again(draft: Draft) -> None:
    _reads_again(draft, "/x/a.txt:10-20")


@OUTDATED
def other_lines(draft: Draft) -> None:
    draft.user("Q1 ask")
    for number in range(10):
        draft.reads(f"call_{number}", f"/x/a.txt:{number}-EOF", _LONG[:7_900])
    draft.answer("A1")


@OUTDATED
def lines_behind_the_whole_file(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.reads("call_w", "/x/a.txt", "whole")
    for number in range(10):
        draft.reads(f"call_{number}", f"/x/a.txt:{number}-EOF", _LONG[:7_900])
    draft.answer("A1")


@OUTDATED
def one_of_two_files(draft: Draft) -> None:
    draft.user("Q1 ask")
    for number in range(12):
        call_id = f"call_{number}"
        draft.answer(read(call_id, "/x/a.txt", f"/x/{number}"))
        entries = (entry("/x/a.txt", _LONG[:7_000]), entry(f"/x/{number}", f"R{number}"))
        draft.user(result(call_id, *entries))
    draft.answer("A1")


@OUTDATED
def failed_reads(draft: Draft) -> None:
    draft.user("Q1 ask")
    for number in range(10):
        call_id = f"call_{number}"
        draft.answer(read(call_id, "/x/a.txt"))
        failed = {"query": "/x/a.txt", "result": "", "error": _LONG[:7_900], "success": False}
        draft.user(result(call_id, failed, is_error=True))
    draft.answer("A1")


@OUTDATED
def attached_since(draft: Draft) -> None:
    _reads_again(draft, "/x/a.txt")
    draft.user("Q2 look", {"type": "file", "path": "/x/a.txt", "content": "new"})
    draft.answer("A2")


@OUTDATED
def attached_behind_its_result(draft: Draft) -> None:
    _reads_again(draft, "/x/a.txt")
    draft.answer(read("call_l", "/x/a.txt"))
    attached = {"type": "file", "path": "/x/a.txt", "content": "new"}
    draft.user(result("call_l", entry("/x/a.txt", "R1 last")), "Q2 look", attached)
    draft.answer("A2")


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
