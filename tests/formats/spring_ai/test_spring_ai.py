"""Events of Spring AI Session: what is sent of them, and what is written among them."""

import json
from typing import Any

import pytest
from formats.jsonl import read, texts
from formats.spring_ai.events import answer, call, event, row, talk

from compactctl.clients.spring_ai.format import SpringAi
from compactctl.history.pairs import find_orphans
from compactctl.model.edit import Replace
from compactctl.model.message import GroupId, MediaPart, MessageId, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.pipeline.record_splice import part_replacements
from compactctl.pipeline.spans import splice
from compactctl.pipeline.writer import InsertionContext

MAKERS = pytest.mark.parametrize("make", [event, row])
SAID = [
    "Read both files",
    'Reading. | read({"path": "a"}) | read({"path": "b"})',
    "content of a | content of b",
    "Both are read.",
    "Now the third",
    'read({"path": "c"})',
    "content of c",
    "It is read.",
]


def spring(*records: object) -> Transcript:
    return read("spring-ai", *records)


@MAKERS
def test_the_same_messages_are_read_from_every_container(make: Any) -> None:
    events = talk(make)
    for found in (spring(*events), spring(events), spring({"session": {}, "events": events})):
        assert texts(found.effective) == SAID
        assert [m.id for m in found.effective] == [f"e{number}" for number in range(1, 9)]
        assert sum(m.starts_turn for m in found.effective) == 2
        assert find_orphans(found.effective) == frozenset()


def test_columns_may_be_spelled_in_camel_case() -> None:
    record = {"id": "e1", "sessionId": "s", "messageType": "USER", "messageContent": "Hi"}
    assert texts(spring(record).effective) == ["Hi"]


@MAKERS
def test_what_was_archived_is_kept_and_not_sent(make: Any) -> None:
    first, *rest = talk(make)
    found = spring({**first, "archived": True}, *rest)
    assert next(m.id for m in found.messages) == "e1"
    assert next(m.id for m in found.effective) == "e2"


@MAKERS
def test_a_subagent_is_omitted_of_the_main_agent_s_session_and_read_in_its_own(make: Any) -> None:
    apart = make("x1", "USER", "Look around", branch="orchestrator.researcher")
    found = spring(*talk(make), apart)
    assert texts(found.effective) == SAID
    assert found.messages[-1].origin.is_subagent
    assert texts(spring(apart).effective) == ["Look around"]


def test_a_summary_is_a_synthetic_question_and_its_answer() -> None:
    flags: dict[str, Any] = {"metadata": {"synthetic": True, "compactionSource": "recursive"}}
    pair = [
        event("p1", "USER", "Summarize", **flags),
        event("p2", "ASSISTANT", "All of it", **flags),
    ]
    rows = [row("p1", "USER", "Summarize", synthetic=1), row("p2", "ASSISTANT", "It", synthetic=1)]
    for made in (pair, rows):
        found = spring(*made, event("e1", "USER", "Go on"))
        assert [m.origin.is_summary for m in found.effective] == [True, True, False]
        assert [m.starts_turn for m in found.effective] == [False, False, True]


def test_media_are_counted_by_size_and_texts_as_text() -> None:
    record = event("e1", "USER", "See")
    record["message"]["media"] = [
        {"mimeType": "image/png", "data": "aGVsbG8="},
        {"mimeType": "image/png", "data": "https://example.com/a.png"},
        {"mimeType": "text/plain", "data": "a note"},
        {"mimeType": "image/png"},
    ]
    _, first, link, note = spring(record).effective[0].parts
    assert isinstance(first, MediaPart)
    assert (first.n_bytes, first.media_type) == (5, "image/png")
    assert isinstance(link, MediaPart)
    assert SpringAi().new_value(spring(record).effective[0], 1, {}, "gone") == {
        "mimeType": "text/plain",
        "data": "gone",
    }
    assert getattr(note, "text", "") == "a note"


def test_one_result_of_several_in_a_text_is_replaced_and_every_other_byte_stays() -> None:
    answers = [answer("c1", "read", "one"), 7, answer("c2", "read", "two")]
    record = json.dumps({**row("e1", "TOOL"), "message_data": json.dumps(answers, indent=1)})
    message = spring(json.loads(record)).effective[0]
    edits = {1: Replace(id=message.id, part=1, text="cut", group=GroupId("g"))}
    changed = splice(record, part_replacements(record, message, edits, SpringAi()))
    assert changed == record.replace('\\"two\\"', '\\"cut\\"')
    assert [part.text for part in spring(json.loads(changed)).effective[0].results] == [
        "one",
        "cut",
    ]


@MAKERS
def test_written_events_have_the_form_of_their_neighbors(make: Any) -> None:
    like = talk(make)[0]
    beside = InsertionContext(anchor=spring(like).effective[0], neighbor=like)
    wanted = {"summary": "All of it", "call": "", "result": "lost"}
    for kind, said in wanted.items():
        written = SpringAi().new_record(
            Synthetic(
                id=MessageId(f"{kind}-g"),
                kind=kind,  # type: ignore[arg-type]
                role={"summary": "user", "call": "assistant"}.get(kind, "tool"),  # type: ignore[arg-type]
                text=said,
                group=GroupId("g"),
                tool="read",
                call_id=call("c9", "read")["id"],
            ),
            beside,
        )
        assert written.keys() - {"synthetic"} <= like.keys()
        (message,) = spring(written).messages
        assert message.origin.is_summary
        ids = [*(each.call_id for each in message.calls), *(m.call_id for m in message.results)]
        assert ids == (["c9"] if kind != "summary" else [])
