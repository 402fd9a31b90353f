from formats.jsonl import read, texts
from formats.neurolink_talk import TALK, answered, called, note

from compactctl.formats.neurolink import NeuroLink
from compactctl.history.pairs import find_orphans
from compactctl.model.message import GroupId, MessageId, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext


def neurolink(*records: object) -> Transcript:
    return read("neurolink", *records)


def test_the_same_messages_are_read_from_every_container() -> None:
    session = {"sessionId": "s", "userId": "u", "messages": TALK}
    for found in (neurolink(*TALK), neurolink(TALK), neurolink(session)):
        assert [m.id for m in found.effective] == ["m1", "m2", "m3", "m4", "m5", "m6"]
        assert texts(found.effective) == [
            "Read both", 'read({"path":"a"})', 'read({"path":"b"})', "B", "A", "Done",
        ]  # fmt: skip
        assert found.session.model == "m-1"


def test_results_find_their_calls_by_tool_and_step() -> None:
    _, first, second, late, early, _ = neurolink(*TALK).effective

    assert late.results[0].call_id == second.calls[0].call_id
    assert early.results[0].call_id == first.calls[0].call_id
    assert find_orphans(neurolink(*TALK).effective) == frozenset()


def test_parallel_calls_without_steps_are_answered_in_order() -> None:
    found = neurolink(
        called("a", "read", path="x"),
        called("b", "grep"),
        called("c", "read", path="y"),
        answered("d", "read", "X"),
        answered("e", "read", "Y"),
        answered("f", "grep", "boom"),
    )

    calls = {m.calls[0].call_id: m.id for m in found.effective if m.calls}
    answers = {m.id: calls[m.results[0].call_id] for m in found.effective if m.results}
    assert answers == {"d": "a", "e": "c", "f": "b"}
    assert found.effective[-1].results[0].is_error
    assert found.effective[-1].results[0].path == ("content",)


def test_summaries_markers_and_tags_of_the_client() -> None:
    found = neurolink(
        note("s", "system", "Summary: x", condenseId="g", metadata={"isSummary": True}),
        note("a", "user", "hidden", condenseParent="g"),
        note("t", "user", "[cut]", truncationId="h", isTruncationMarker=True),
        note("b", "user", "hidden too", truncationParent="h"),
        note("o", "system", "[older cut]", metadata={"isSummary": False, "truncated": True}),
        note("c", "user", "shown"),
    )

    assert [m.id for m in found.effective] == ["s", "t", "o", "c"]
    assert [m.origin.is_summary for m in found.effective] == [True, False, False, False]
    assert [m.starts_turn for m in found.effective] == [False, False, False, True]
    assert not any(m.origin.is_synthetic for m in found.effective)


def test_ids_that_repeat_are_told_apart() -> None:
    twice = [note("m1", "user", "a"), note("m1", "user", "b"), note("m1#2", "user", "c")]
    found = neurolink(*twice, note("", "user", "d"))

    assert len({m.id for m in found.messages}) == 4


def test_written_records_look_like_the_clients_own() -> None:
    found = neurolink(*TALK)
    summary = Synthetic(
        id=MessageId("summary-g"),
        kind="summary",
        role="user",
        text="All of it",
        group=GroupId("g"),
        details={"summarizesFrom": "m1", "summarizesTo": "m5", "messages": 5},
    )
    marker = Synthetic(
        id=MessageId("marker-h"), kind="marker", role="user", text="[cut]", group=GroupId("h")
    )

    assert NeuroLink().new_record(
        summary, InsertionContext(anchor=found.messages[0], neighbor=TALK[0])
    ) == {
        "id": "summary-g",
        "role": "user",
        "content": "All of it",
        "timestamp": "2026-01-02T03:04:05Z",
        "metadata": {"isSummary": True, "summarizesFrom": "m1", "summarizesTo": "m5"},
    }
    written = NeuroLink().new_record(
        marker, InsertionContext(anchor=found.messages[5], neighbor=TALK[5])
    )
    assert written["metadata"] == {"truncated": True}
    assert "timestamp" not in written


def test_an_earlier_call_without_a_result_does_not_take_that_of_a_later_one() -> None:
    found = neurolink(
        called("a", "grep"),
        note("b", "user", "Again"),
        called("c", "grep"),
        answered("d", "grep", "found"),
    )
    assert [orphan.message for orphan in find_orphans(found.effective)] == ["a"]


def test_a_call_left_over_does_not_take_the_original_of_a_rewritten_result() -> None:
    rewritten = {**answered("d", "grep", "…"), "editId": "e1", "compactctl": {"op": "o1"}}
    found = neurolink(
        called("a", "grep"),
        called("b", "read"),
        answered("c", "read", "B"),
        called("e", "grep"),
        rewritten,
        {**answered("d", "grep", "boom"), "editParent": "e1"},
        answered("f", "grep", "late"),
    )

    assert find_orphans(found.effective) == frozenset()
