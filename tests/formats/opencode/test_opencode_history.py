from pathlib import Path
from typing import Any

import pytest
from formats.jsonl import read, texts
from formats.opencode.sessions import (
    SESSION,
    assistant,
    message_id,
    one_second_apart,
    opencode,
    session,
    text,
    tool,
    user,
)
from formats.squeeze import ALL, each_plan, pretty, squeezed
from hypothesis import given
from hypothesis import strategies as st

from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout

AGAIN = "What did we do so far?"


def compaction(name: str, **more: object) -> dict[str, Any]:
    return user(name, {"id": "prt_c", "type": "compaction", "auto": True, **more})


def summary(name: str, parent: str, **info: object) -> dict[str, Any]:
    own = {"parentID": parent, "summary": True, "finish": "stop", **info}
    return assistant(name, text("All so far."), **own)


OLD = [user("msg_1", text("one")), assistant("msg_2", text("first"))]
KEPT = [user("msg_3", text("two")), assistant("msg_4", text("second"))]
NEW = [user("msg_7", text("three")), assistant("msg_8", text("third"))]


def test_the_history_starts_at_the_newest_compaction() -> None:
    found = opencode(*OLD, *KEPT, compaction("msg_5"), summary("msg_6", "msg_5"), *NEW)

    assert texts(found.effective) == [AGAIN, "All so far.", "three", "third"]
    assert [m.origin.is_summary for m in found.effective] == [False, True, False, False]
    assert len(found.messages) == 8


@given(st.permutations(range(6)))
def test_messages_are_sent_in_the_order_of_their_creation(order: list[int]) -> None:
    # The ids of the newer ones sort first, as those do that were made after 14 August 2026.
    messages = one_second_apart(
        [user(message_id(-number), text(f"question {number}")) for number in range(6)]
    )
    document = {"info": SESSION, "messages": [messages[place] for place in order]}

    assert texts(read("opencode", document).effective) == [f"question {n}" for n in range(6)]


def test_messages_without_times_stay_as_they_stand() -> None:
    messages = [user("msg_9", text("first")), user("msg_1", text("second"))]

    assert texts(read("opencode", {"info": SESSION, "messages": messages}).effective) == [
        "first",
        "second",
    ]


def test_what_a_compaction_rests_on_must_stay() -> None:
    found = opencode(*OLD, compaction("msg_5"), summary("msg_6", "msg_5"), *NEW)
    fresh = opencode(compaction("msg_5"), summary("msg_6", "msg_5"), *NEW)

    assert [bool(m.locks.unmovable_reason) for m in found.effective] == [True, True, False, False]
    assert not any(m.locks.unmovable_reason for m in fresh.effective)


def test_a_compaction_starts_no_turn() -> None:
    found = opencode(*OLD, compaction("msg_5"), summary("msg_6", "msg_5"), *NEW)

    assert [m.starts_turn for m in found.effective] == [False, False, True, False]


@pytest.mark.parametrize(
    "info", [{"finish": None}, {"error": {"name": "APIError"}}, {"parentID": "msg_0"}]
)
def test_a_compaction_without_a_finished_summary_cuts_nothing(info: dict[str, Any]) -> None:
    found = opencode(*OLD, compaction("msg_5"), summary("msg_6", "msg_5", **info), *NEW)

    assert texts(found.effective)[:3] == ["one", "first", AGAIN]


def test_a_compaction_may_keep_a_tail_which_is_sent_behind_the_summary() -> None:
    marked = compaction("msg_5", tail_start_id="msg_3")
    found = opencode(*OLD, *KEPT, marked, summary("msg_6", "msg_5"), *NEW)

    assert texts(found.effective) == [AGAIN, "All so far.", "two", "second", "three", "third"]
    assert [bool(m.locks.unmovable_reason) for m in found.effective] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_usage_of_a_tail_is_of_the_context_before_the_compaction() -> None:
    counts = {"input": 90_000, "output": 10, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    tail = [user("msg_3", text("two")), assistant("msg_4", text("second"), tokens=counts)]
    marked = compaction("msg_5", tail_start_id="msg_3")

    before = opencode(*OLD, *tail)
    after = opencode(*OLD, *tail, marked, summary("msg_6", "msg_5"), *NEW)

    assert [m.usage.context for m in before.effective if m.usage] == [90_000]
    assert not any(m.usage for m in after.effective)


FAILURES: list[dict[str, Any]] = [{"finish": None}, {"error": {"name": "APIError"}}]


@pytest.mark.parametrize("tail", ["msg_0", "msg_7"], ids=["missing", "behind"])
def test_nothing_is_left_out_if_a_tail_does_not_stand_before_its_compaction(tail: str) -> None:
    older = [compaction("msg_3"), summary("msg_4", "msg_3")]
    marked = compaction("msg_5", tail_start_id=tail)
    found = opencode(*OLD, *older, marked, summary("msg_6", "msg_5"), *NEW)

    assert texts(found.effective) == [
        "one", "first", AGAIN, "All so far.", AGAIN, "All so far.", "three", "third",
    ]  # fmt: skip


@pytest.mark.parametrize("info", FAILURES)
def test_what_is_before_the_tail_is_left_out_even_if_the_summary_failed(
    info: dict[str, Any],
) -> None:
    marked = compaction("msg_5", tail_start_id="msg_3")
    found = opencode(*OLD, *KEPT, marked, summary("msg_6", "msg_5", **info), *NEW)

    said = [] if "error" in info else ["All so far."]
    assert texts(found.effective) == [AGAIN, *said, "two", "second", "three", "third"]
    assert len([m for m in found.effective if m.locks.unmovable_reason]) == 2 + len(said)


@pytest.mark.parametrize("info", FAILURES)
def test_a_tail_of_an_older_compaction_may_be_left_out_by_a_newer_one(info: dict[str, Any]) -> None:
    newer = compaction("msg_7", tail_start_id="msg_5")
    found = opencode(
        *OLD,
        compaction("msg_3"),
        summary("msg_4", "msg_3"),
        user("msg_5", text("two")),
        newer,
        summary("msg_8", "msg_7", **info),
        user("msg_9", text("three")),
    )

    said = [] if "error" in info else ["All so far."]
    assert texts(found.effective) == [AGAIN, *said, "two", "three"]


def test_a_tail_may_contain_an_older_compaction() -> None:
    older = [compaction("msg_3"), summary("msg_4", "msg_3")]
    newer = [compaction("msg_5", tail_start_id="msg_2"), summary("msg_6", "msg_5")]
    found = opencode(*OLD, *older, *newer, *NEW)

    assert texts(found.effective) == [
        AGAIN, "All so far.", "first", AGAIN, "All so far.", "three", "third",
    ]  # fmt: skip


def test_compactions_with_redacted_ids_are_found_by_their_place() -> None:
    found = opencode(*OLD, compaction("REDACTED"), summary("REDACTED", "REDACTED"), *NEW)

    assert texts(found.effective)[0] == AGAIN


def test_messages_from_a_revert_on_are_undone() -> None:
    found = opencode(*OLD, *KEPT, *NEW, revert={"messageID": "msg_3"})

    assert texts(found.effective) == ["one", "first"]
    assert len(found.messages) == 6


def test_a_revert_may_start_in_the_middle_of_a_message() -> None:
    parts = [text("keep", id="prt_1"), {"type": "step-start"}, text("undone", id="prt_2")]
    answer = assistant("msg_4", *parts)
    found = opencode(*OLD, answer, *NEW, revert={"messageID": "msg_4", "partID": "prt_2"})

    assert texts(found.effective) == ["one", "first", "keep"]
    assert texts(found.messages)[2] == "keep | undone"


def test_a_revert_may_start_at_a_message_that_says_nothing() -> None:
    silent = assistant("msg_4", {"type": "step-start"})
    found = opencode(*OLD, silent, *NEW, revert={"messageID": "msg_4"})
    cut = opencode(*OLD, silent, *NEW, revert={"messageID": "msg_4", "partID": "prt_1"})

    assert texts(found.effective) == texts(cut.effective) == ["one", "first"]


def test_an_undone_compaction_cuts_nothing() -> None:
    done = [compaction("msg_5"), summary("msg_6", "msg_5")]
    found = opencode(*OLD, *done, *NEW, revert={"messageID": "msg_5"})

    assert texts(found.effective) == ["one", "first"]


def test_answers_that_failed_are_not_sent() -> None:
    aborted = {"name": "MessageAbortedError"}
    thought = {"type": "reasoning", "text": "hm"}
    found = opencode(
        assistant("msg_1", text("half"), error={"name": "APIError"}),
        assistant("msg_2", text("half, but said"), error=aborted),
        assistant("msg_3", thought, error=aborted),
        assistant("msg_4", {"type": ["odd"]}, text("said beside it"), error=aborted),
    )

    assert texts(found.effective) == ["half, but said", "said beside it"]
    assert len(found.messages) == 4


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@each_plan("dedup")
@pytest.mark.parametrize("tail", [None, message_id(3)])
def test_a_compacted_session_is_compacted_and_taken_back(
    tail: str | None, stages: tuple[str, ...], layout: Layout, tmp_path: Path
) -> None:
    messages = session(8)["messages"]
    more = {"tail_start_id": tail} if tail else {}
    place = message_id(5) + "z"
    messages[6:6] = [compaction(place, **more), summary(place + "z", place)]
    path = pretty({"info": SESSION, "messages": messages}, tmp_path / "session.json")
    result = squeezed(path, stages, layout, tmp_path)

    assert result.compacted
    assert stages != ALL or result.outcome.after.messages < result.outcome.before.messages


def reported(found: Transcript) -> list[int]:
    return [message.usage.context for message in found.effective if message.usage]


def test_what_was_reported_before_a_result_was_cleared_is_not_measured_from() -> None:
    tokens = {"input": 900, "output": 5}
    started = 1_700_000_000_000
    cleared = {"start": 1, "end": 2, "compacted": started + 3_000}
    found = opencode(
        assistant("msg_1", tool("c1", "read", {}, output="x", time=cleared), tokens=tokens),
        user("msg_2", text("go on")),
        assistant("msg_3", text("done"), tokens=tokens, time={"created": started + 5_000}),
    )

    assert reported(found) == [900]
    assert found.effective[0].usage is None
    assert sum(message.usage is not None for message in found.messages) == 2


def test_encrypted_reasoning_is_sent_until_its_turn_ends() -> None:
    tokens = {"input": 900, "output": 5, "reasoning": 66}
    thought = {"type": "reasoning", "text": "hm"}
    sealed = {**thought, "metadata": {"opencode": {"reasoningEncryptedContent": "gAAA"}}}
    plain, encrypted = (
        opencode(user("msg_1", text("go")), assistant("msg_2", part, tokens=tokens))
        for part in (thought, sealed)
    )

    assert (plain.session.drops_past_reasoning, encrypted.session.drops_past_reasoning) == (
        False,
        True,
    )
    assert [m.usage.reasoning for m in encrypted.effective if m.usage] == [66]
