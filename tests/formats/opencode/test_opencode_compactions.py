"""What is undone together with a compaction of OpenCode's own."""

from typing import Any

import pytest
from formats.jsonl import decoded, raw_lines
from formats.opencode.sessions import SESSION, assistant, text, tool, user

from compactctl.clients.opencode.compactions import cleared_outputs, compaction_request
from compactctl.model.message import JsonPath

COMPACTION = {"id": "prt_c", "type": "compaction", "auto": True}
MESSAGES = [
    user("msg_1", text("go")),
    user("msg_2", text("compact"), COMPACTION),
    assistant("msg_3", text("short"), summary=True, parentID="msg_2"),
    assistant("msg_4", text("on"), parentID="msg_1"),
    assistant("msg_5", text("no parent")),
]


def document(messages: list[Any]) -> list[object]:
    return [{"info": SESSION, "messages": messages}]


@pytest.mark.parametrize(
    ("records", "place"),
    [
        (document(MESSAGES), lambda index: (0, ("messages", index))),
        ([MESSAGES], lambda index: (0, (index,))),
        (MESSAGES, lambda index: (index, ())),
        ([7, document([]), *MESSAGES], lambda index: (index + 2, ())),
        (["text", *document(["text", *MESSAGES])], lambda index: (1, ("messages", index + 1))),
    ],
    ids=["document", "array", "lines", "among others", "damaged"],
)
def test_a_summary_answers_the_request_to_compact(records: list[object], place: Any) -> None:
    lines = decoded(raw_lines(*records))
    assert compaction_request(lines, place(2)) == (place(1),)
    # No request to compact, no parent, no such message.
    assert compaction_request(lines, place(3)) == ()
    assert compaction_request(lines, place(4)) == ()
    assert compaction_request(lines, place(9)) == ()


def test_a_request_is_looked_for_among_the_messages_of_the_summary() -> None:
    lines = decoded(raw_lines(*document(MESSAGES[:2]), MESSAGES))
    assert compaction_request(lines, (1, (2,))) == ((1, (1,)),)
    assert compaction_request(lines, (0, ("messages", 2))) == ()


def test_a_cleared_output_is_sent_again_without_its_mark() -> None:
    cleared = tool("c2", "bash", {}, output="long", time={"start": 1, "end": 2, "compacted": 9_000})
    message = assistant("msg_1", text("I look."), tool("c1", "bash", {}, output="short"), cleared)
    unmarked = {"start": 1, "end": 2}
    path: JsonPath = ("messages", 1, "parts", 2, "state", "time")
    lines = decoded(raw_lines(*document([user("msg_0", text("go")), message, message])))
    assert list(cleared_outputs(lines)) == [
        ((0, path), unmarked),
        ((0, ("messages", 2, *path[2:])), unmarked),
    ]
    lines = decoded(raw_lines(b"{", message))
    assert list(cleared_outputs(lines)) == [((1, path[2:]), unmarked)]
