"""Bare messages: which are one conversation, and in which order they were sent."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_commands import scan_file
from formats import anthropic_talk, openai_talk
from formats.jsonl import read, texts, write_lines
from formats.spring_ai import events as spring
from formats.squeeze import ALL, squeezed

from compactctl.history.pairs import find_orphans
from compactctl.model.conversation_fields import placement_fields
from compactctl.pipeline.layout import Layout

Record = dict[str, Any]
TEXT = "The cart adds the shipping twice when a voucher is used. " * 12
START = 1_760_000_000


def chat(name: str, **fields: Any) -> list[Record]:
    """Return a conversation with tools, whose times rise by a minute."""
    more = [
        {"role": role, "content": f"{name}{number} {TEXT}"}
        for number in range(6)
        for role in ("user", "assistant")
    ]
    talk = [*openai_talk.TALK, *more]
    return [{**fields, **m, "timestamp": START + 60 * at} for at, m in enumerate(talk)]


def alternating(field: str) -> list[Record]:
    pairs = zip(chat("a", **{field: "A"}), chat("b", **{field: "B"}), strict=True)
    return [message for pair in pairs for message in pair]


def shuffled(records: list[Record]) -> list[Record]:
    return random.Random(7).sample(records, len(records))


@pytest.mark.parametrize(
    "field", ["conversation_id", "session_id", "sessionId", "thread_id", "chat_id", "traceId"]
)
def test_lines_of_two_conversations_may_alternate(field: str) -> None:
    found = read("openai-chat", *alternating(field))
    assert (found.opaque, found.warnings) == ((), ())
    alone = texts(read("openai-chat", *chat("a")).effective)
    assert texts(tuple(m for m in found.effective if m.conversation == 0)) == alone
    assert [m.conversation for m in found.effective] == [0] * len(alone) + [1] * len(alone)


@pytest.mark.parametrize("field", ["conversation_id", "session_id", "trace_id"])
@pytest.mark.parametrize("order", [lambda r: r[::-1], shuffled], ids=["newest first", "shuffled"])
def test_an_array_is_one_conversation_in_its_own_order(
    field: str, order: Callable[[list[Record]], list[Record]]
) -> None:
    rows = order([message for message in alternating(field) if "tool_call_id" not in message])
    found = read("openai-chat", rows)
    assert {m.conversation for m in found.effective} == {0}
    assert [m.record_path[0] for m in found.effective] == [*range(len(rows))]


@pytest.mark.parametrize("field", ["conversation_id", "session_id", "trace_id"])
@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
@pytest.mark.parametrize("has_id", [True, False], ids=["only", "all but"])
def test_an_id_of_some_messages_splits_nothing(field: str, role: str, *, has_id: bool) -> None:
    plain = [{"role": "system", "content": "Be brief."}, *openai_talk.TALK]
    rows = [{**m, field: "x"} if (m["role"] == role) is has_id else m for m in plain]
    found = read("openai-chat", *rows)
    assert texts(found.effective) == texts(read("openai-chat", *plain).effective)


def test_an_id_of_every_message_parts_no_call_from_its_result() -> None:
    rows = [{**m, "session_id": "x" if m["role"] == "tool" else "y"} for m in openai_talk.TALK]
    found = read("openai-chat", *rows)
    assert texts(found.effective) == texts(read("openai-chat", *openai_talk.TALK).effective)


def test_ids_of_speakers_part_no_answers_from_requests() -> None:
    rows = [{**m, "session_id": m["role"]} for m in openai_talk.TALK if m["role"] != "tool"]
    assert {m.conversation for m in read("openai-chat", *rows).effective} == {0}


def test_speakers_with_clocks_of_their_own_take_turns_as_in_the_file() -> None:
    rows = [
        {"role": role, "content": f"{role} {at}", "ts": START + 60 * at + late}
        for at in range(9)
        for role, late in (("user", 0), ("assistant", -600))
    ]
    assert texts(read("openai-chat", *rows).effective) == [row["content"] for row in rows]


def test_a_record_that_is_no_message_joins_no_conversations() -> None:
    rows = [*alternating("thread_id"), {"event": "end"}, None]
    assert {m.conversation for m in read("openai-chat", *rows).effective} == {0, 1}


def test_one_clock_that_is_late_changes_no_order() -> None:
    rows = [{"role": "user", "content": f"{at}", "ts": START + 60 * at} for at in range(9)]
    rows.append({"role": "user", "content": "newest", "ts": START + 65})
    found = read("openai-chat", *rows)
    assert (texts(found.effective)[-1], found.warnings) == ("newest", ())


def test_a_session_may_hold_several_conversations() -> None:
    rows = [
        {"session_id": "s", "conversation_id": name, "role": "user", "content": name}
        for name in "abab"
    ]
    assert [m.conversation for m in read("openai-chat", *rows).effective] == [0, 0, 1, 1]


def test_two_sessions_of_events_are_two_conversations() -> None:
    events = [
        {**event, "id": f"{name}{at}", "sessionId": name}
        for name in "ab"
        for at, event in enumerate(spring.talk(spring.event))
    ]
    found = read("spring-ai", *events)
    assert {m.conversation for m in found.effective} == {0, 1}


@pytest.mark.parametrize("order", [lambda r: r[::-1], shuffled], ids=["newest first", "shuffled"])
def test_messages_are_read_oldest_first(order: Callable[[list[Record]], list[Record]]) -> None:
    found = read("openai-chat", *order(chat("a")))
    assert texts(found.effective) == texts(read("openai-chat", *chat("a")).effective)
    assert [m.results[0].tool for m in found.effective if m.results] == ["read_file"]
    (warning,) = found.warnings
    assert warning == "messages are not in the order of their times; they are read oldest first"


def test_messages_of_one_time_keep_the_order_that_the_file_has_of_all() -> None:
    said = [("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 3)]
    rows = [{"role": "user", "content": text, "ts": START + time} for text, time in said]
    assert texts(read("openai-chat", *rows[::-1]).effective) == [*"abcde"]
    assert texts(read("openai-chat", *rows).effective) == [*"abcde"]


def test_clocks_that_differ_part_no_call_from_its_result() -> None:
    times = [0, 1, 9, 8, 20]
    rows = [{**m, "ts": START + at} for m, at in zip(openai_talk.TALK, times, strict=True)]
    found = read("openai-chat", *rows)
    assert texts(found.effective) == texts(read("openai-chat", *openai_talk.TALK).effective)
    assert (find_orphans(found.effective), found.warnings) == (frozenset(), ())


@pytest.mark.parametrize("field", ["time", "created"])
def test_a_duration_is_no_time(field: str) -> None:
    rows = [{"role": "user", "content": text, field: n} for text, n in (("a", 3.5), ("b", 0.4))]
    found = read("openai-chat", *rows)
    assert (texts(found.effective), found.warnings) == (["a", "b"], ())


def test_what_is_written_says_where_it_belongs() -> None:
    like = {"chat_id": 7, "createdAt": "2026-01-01T00:00:00Z", "role": "user", "id": "m"}
    assert placement_fields(like) == {"chat_id": 7, "createdAt": "2026-01-01T00:00:00Z"}


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("stages", [("summarize",), ("truncate",), ("prune",), ALL], ids="+".join)
@pytest.mark.parametrize(
    "order", [list, lambda r: r[::-1], shuffled], ids=["in turn", "newest first", "shuffled"]
)
def test_conversations_are_compacted_one_by_one(
    order: Callable[[list[Record]], list[Record]],
    layout: Layout,
    stages: tuple[str, ...],
    tmp_path: Path,
) -> None:
    path = write_lines(tmp_path / "in.jsonl", *order(alternating("conversation_id")))
    squeezed(path, stages, layout, tmp_path)
    made = scan_file(tmp_path / "out.json")
    assert {m.conversation for m in made.effective} == {0, 1}
    for message in made.effective:
        said = " ".join(texts((message,)))
        assert not ("a1 The" in said and "b1 The" in said)


def test_anthropic_rows_are_grouped_as_well() -> None:
    rows = [{**m, "thread_id": name} for m in anthropic_talk.TALK for name in "ab"]
    found = read("anthropic-messages", *rows)
    assert [m.conversation for m in found.effective] == [0] * 4 + [1] * 4
