from typing import Any

import pytest
from formats.codex.rollouts import call, event, item, message, output, record
from formats.jsonl import read, texts

from compactctl.history.pairs import find_orphans
from compactctl.model.message import ReasoningPart
from compactctl.model.transcript import Transcript

HEADER = record("session_meta", base_instructions={"text": "base"})


def compacted(*items: dict[str, Any], text: str = "") -> dict[str, Any]:
    history = [each["payload"] for each in items]
    return record("compacted", message=text, replacement_history=history)


def rolled_back(turns: int) -> dict[str, Any]:
    return event("thread_rolled_back", num_turns=turns)


def codex(*records: object) -> Transcript:
    return read("codex", *records)


def test_encrypted_reasoning_has_a_size_until_its_turn_ends() -> None:
    def sizes(*records: object) -> list[int]:
        messages = codex(*records).effective
        parts = [part for message in messages for part in message.parts]
        thoughts = [part for part in parts if isinstance(part, ReasoningPart)]
        return [0 if part.is_expired else part.sealed for part in thoughts]

    thought = item("reasoning", summary=[], encrypted_content="x" * 900)
    summary = item("compaction", encrypted_content="x" * 700)
    turn = [compacted(message("user", "one"), summary), message("user", "two"), thought, call("a")]
    assert sizes(*turn) == [700, 900]
    assert sizes(*turn, output("a", "done"), thought) == [700, 900, 900]
    assert sizes(*turn, message("user", "three"), thought) == [700, 0, 900]


def test_a_call_without_an_output_is_sent_as_aborted() -> None:
    searched = item("tool_search_call", call_id="d", arguments={"query": "x"}, execution="client")
    found = codex(
        message("user", "go"),
        call("a"),
        output("a", "done"),
        call("b"),
        item("custom_tool_call", call_id="c", name="apply_patch", input="x"),
        searched,
        item("web_search_call", action={"query": "x"}),
        message("user", "on"),
    )

    calls = [call for message in found.effective for call in message.calls]
    assert [call.added for call in calls] == ["", "aborted", "aborted", "", ""]
    # In the file there is nothing: the calls are orphans as before.
    assert {orphan.call_id for orphan in find_orphans(found.effective)} == {"b", "c", "d"}
    assert not [call.added for message in found.messages for call in message.calls if call.added]


def test_the_newest_compaction_replaces_what_was_before() -> None:
    found = codex(
        HEADER,
        message("user", "one"),
        compacted(message("user", "first summary")),
        message("user", "two"),
        compacted(message("user", "one"), message("user", "second summary")),
        message("user", "three"),
    )

    assert texts(found.effective) == ["base", "one", "second summary", "three"]
    assert [m.record_path for m in found.effective] == [
        (),
        ("payload", "replacement_history", 0),
        ("payload", "replacement_history", 1),
        (),
    ]
    assert found.effective[1].parts[0].path == (
        "payload", "replacement_history", 0, "content", 0, "text",
    )  # fmt: skip


def test_only_the_newest_compaction_gives_messages() -> None:
    found = codex(
        message("user", "one"),
        compacted(message("user", "first summary")),
        compacted(message("user", "second summary")),
    )

    assert texts(found.messages) == ["one", "second summary"]
    assert found.metadata["compacted"].count == 1


def test_an_encrypted_compaction_is_a_summary_that_stays() -> None:
    found = codex(compacted(item("compaction", encrypted_content="gAAA")), message("user", "on"))

    summary = found.effective[0]
    assert summary.origin.is_summary
    assert summary.locks.immutable_reason is not None
    assert getattr(summary.parts[0], "opaque", None) is True


def test_a_compaction_with_nothing_but_a_message_keeps_prompts() -> None:
    found = codex(
        HEADER,
        message("user", "<environment_context>here</environment_context>"),
        message("user", "one"),
        message("assistant", "answer"),
        call("a"),
        output("a", "x"),
        message("user", "two"),
        record("compacted", message="what happened"),
        message("user", "three"),
    )

    assert texts(found.effective) == [
        "base",
        "one",
        "two",
        "what happened",
        "three",
    ]
    summary = found.effective[3]
    assert summary.origin.is_summary
    assert summary.locks.unmovable_reason is not None
    assert summary.parts[0].path == ("payload", "message")


def test_a_rollback_drops_the_newest_turns() -> None:
    found = codex(
        message("user", "one"),
        message("assistant", "1"),
        message("user", "two"),
        message("assistant", "2"),
        message("user", "three"),
        rolled_back(2),
        message("user", "four"),
    )

    assert texts(found.effective) == ["one", "1", "four"]
    assert len(found.messages) == 6


def test_a_compaction_inside_a_dropped_turn_does_not_count() -> None:
    found = codex(
        message("user", "one"),
        message("assistant", "1"),
        message("user", "two"),
        compacted(message("user", "summary of one and two")),
        message("assistant", "2"),
        rolled_back(1),
    )

    assert texts(found.effective) == ["one", "1"]
    assert texts(found.messages) == ["one", "1", "two", "2"]
    assert found.metadata["compacted"].count == 1


def test_a_compaction_before_the_dropped_turn_still_counts() -> None:
    found = codex(
        message("user", "one"),
        compacted(message("user", "one"), message("user", "<turn_aborted>x</turn_aborted>")),
        message("user", "two"),
        rolled_back(1),
    )

    assert texts(found.effective) == ["one"]


@pytest.mark.parametrize(
    ("told", "is_dropped"),
    [
        (message("user", "<environment_context>here</environment_context>"), True),
        (message("developer", "<collaboration_mode>plan</collaboration_mode>"), True),
        (message("developer", "Be kind."), False),
    ],
)
def test_a_rollback_drops_what_was_told_before_the_turn(
    *, told: dict[str, Any], is_dropped: bool
) -> None:
    asked = [message("user", "one"), message("assistant", "1"), told, message("user", "two")]
    found = codex(*asked, rolled_back(1))
    assert len(found.effective) == (2 if is_dropped else 3)
    # Before the first turn it stays.
    assert len(codex(told, message("user", "one"), rolled_back(1)).effective) == 1


def test_a_summary_by_compactctl_is_a_turn_to_a_rollback() -> None:
    tags = {"condenseId": "c1", "compactctl": {"op": "0123456789ab", "model": "m"}}
    asked = [message("user", "one"), {**message("user", "so far"), **tags}, message("user", "two")]

    assert texts(codex(*asked, rolled_back(2)).effective) == ["one"]


def test_a_rollback_reaches_into_a_compacted_history() -> None:
    found = codex(
        HEADER,
        compacted(message("user", "one"), message("user", "two"), message("assistant", "2")),
        event("task_started", turn_id="b"),
        event("user_message", message="three"),
        rolled_back(1),
    )

    assert texts(found.effective) == ["base", "one"]


def test_a_rollback_of_more_turns_than_there_are_keeps_the_context() -> None:
    found = codex(
        message("developer", "rules"),
        message("user", "one"),
        rolled_back(2**32 - 1),
        message("user", "two"),
    )

    assert texts(found.effective) == ["rules", "two"]


@pytest.mark.parametrize("turns", [0, -1, True, 1.0, "1", None, [1], 2**32, 10**4_000])
def test_a_rollback_that_the_client_does_not_read_drops_nothing(turns: object) -> None:
    told = message("developer", "<collaboration_mode>plan</collaboration_mode>")
    asked = [message("user", "one"), message("assistant", "1"), message("user", "two"), told]
    found = codex(*asked, event("thread_rolled_back", num_turns=turns))

    assert len(found.effective) == len(asked)


def test_a_response_does_not_reach_across_a_compaction() -> None:
    found = codex(
        message("user", "go"),
        call("a"),
        compacted(message("user", "go"), call("b")),
        call("c"),
    )

    groups = [m.response_id for m in found.messages if m.calls]
    assert len(set(groups)) == 3


def test_an_empty_compacted_history_is_a_history() -> None:
    found = codex(message("user", "one"), compacted(), message("user", "two"))

    assert texts(found.effective) == ["two"]
