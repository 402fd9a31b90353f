import json
from pathlib import Path
from typing import Any

from file_commands import compact_file, load_file
from formats.jsonl import read, texts, write_lines
from formats.neurolink_talk import TALK, answered, called, note
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.neurolink.format import NeuroLink
from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans
from compactctl.history.protection import ProtectOptions
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
    assert found.effective[-1].results[0].has_failed
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


def with_ids(*records: dict[str, Any]) -> list[dict[str, Any]]:
    """Return calls and results that name their call; their own ids are ``KIND CALL``."""
    return [
        {**record, "toolCallId": record["id"].split()[1]} if "tool" in record else record
        for record in records
    ]


@given(st.permutations("abcde"), st.sets(st.sampled_from("abcde")))
def test_a_result_belongs_to_the_call_it_names_in_any_order(
    order: list[str], lost: set[str]
) -> None:
    calls = [called(f"call {name}", "read", path=name) for name in "abcde"]
    results = [answered(f"result {name}", "read", name * 9) for name in order if name not in lost]
    found = neurolink(*with_ids(note("u", "user", "Go"), *calls, *results))

    assert {part.call_id: part.text for m in found.effective for part in m.results} == {
        name: name * 9 for name in set(order) - lost
    }
    assert {orphan.message for orphan in find_orphans(found.effective)} == {
        f"call {name}" for name in lost
    }


def test_records_with_and_without_call_ids_share_a_file() -> None:
    old = [called("o", "read", path="old"), answered("p", "read", "OLD")]
    new = with_ids(called("call x", "read"), answered("result x", "read", "NEW"))
    for records in ([*old, *new], [old[0], *new, old[1]], [new[0], *old, new[1]]):
        assert find_orphans(neurolink(*records).effective) == frozenset()


def test_a_missing_half_names_the_call_it_completes(tmp_path: Path) -> None:
    talk = with_ids(
        note("u", "user", "Go"),
        called("call a", "read", path="a"),
        called("call b", "read", path="b"),
        answered("result b", "read", "B"),
        note("m", "assistant", "Done"),
        note("v", "user", "On"),
        answered("result c", "read", "C"),
        note("n", "assistant", "Done"),
    )
    path, output = write_lines(tmp_path / "talk.jsonl", *talk), tmp_path / "out.jsonl"
    plan = PlanOptions(stages=("repair",), settings={"repair": {"policy": "synth"}})
    compact_file(path, output=output, plan=plan, protect=ProtectOptions(keep_turns=0))

    records = [json.loads(line) for line in output.read_text().splitlines()]
    names = {
        role: sorted(record["toolCallId"] for record in records if record["role"] == role)
        for role in ("tool_call", "tool_result")
    }
    assert names == {"tool_call": ["a", "b", "c"], "tool_result": ["a", "b", "c"]}
    assert find_orphans(load_file(output).transcript.effective) == frozenset()
