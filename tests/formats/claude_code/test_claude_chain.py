import json
from typing import Any

import pytest
from formats.claude_code.sessions import (
    answered,
    attached,
    boundary,
    called,
    microcompacted,
    record,
    said,
    summarized,
    user,
)
from formats.jsonl import read, texts

from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.history.pairs import find_orphans
from compactctl.model.message import TextPart
from compactctl.model.transcript import Transcript


def claude(*records: object) -> Transcript:
    return read("claude-code", *records)


def shown(*records: object) -> list[str]:
    return [message.id for message in claude(*records).effective]


def test_parallel_calls_and_their_results_are_all_effective() -> None:
    found = claude(
        user("u", None, "go"),
        called("a1", "u", "c1", "r"),
        called("a2", "a1", "c2", "r"),
        called("a3", "a2", "c3", "r"),
        answered("r1", "a1", "c1"),
        answered("r2", "a2", "c2"),
        answered("r3", "a3", "c3"),
        said("a4", "r3", "done"),
    )

    assert [m.id for m in found.effective] == ["u", "a1", "a2", "a3", "r1", "r2", "r3", "a4"]
    assert find_orphans(found.effective) == frozenset()


def test_results_beside_the_path_stand_where_the_file_has_them() -> None:
    assert shown(
        user("u", None, "go"),
        called("a1", "u", "c1", "r"),
        answered("r1", "a1", "c1"),
        called("a2", "a1", "c2", "r"),
        answered("r2", "a2", "c2"),
        said("a3", "r2", "done"),
    ) == ["u", "a1", "r1", "a2", "r2", "a3"]


def test_records_of_a_response_beside_the_path_stand_between_those_on_it() -> None:
    assert shown(
        user("u", None, "go"),
        called("a1", "u", "c1", "r"),
        called("a2", "a1", "c2", "r"),
        answered("r1", "a1", "c1"),
        called("a3", "r1", "c3", "r"),
        answered("r2", "a2", "c2"),
        answered("r3", "a3", "c3"),
        said("a4", "r3", "done"),
    ) == ["u", "a1", "a2", "r1", "a3", "r2", "r3", "a4"]


def test_a_result_that_follows_no_record_of_the_response_is_not_sent() -> None:
    assert shown(
        user("u", None, "go"),
        called("a1", "u", "c1", "r"),
        answered("r0", "u", "c1", "of another branch"),
        answered("r1", "a1", "c1"),
        said("a2", "r1", "done"),
    ) == ["u", "a1", "r1", "a2"]


def test_a_progress_record_gives_its_parent_to_what_is_read_later() -> None:
    progress = [record("progress", f"p{n}", f"p{n - 1}" if n else "a1") for n in range(3)]
    assert shown(
        user("u", None, "go"), said("a1", "u", "1"), *progress, user("u2", "p2", "next")
    ) == ["u", "a1", "u2"]
    # The client does not know the progress records yet when it reads what follows them.
    assert shown(
        user("u", None, "go"), said("a1", "u", "1"), user("u2", "p2", "next"), *progress
    ) == ["u2"]


def test_another_progress_record_with_the_same_id_moves_nothing() -> None:
    assert shown(
        user("u", None, "go"),
        said("a1", "u", "1"),
        record("progress", "p", "a1"),
        user("u2", "p", "next"),
        record("progress", "p", "u"),
        said("a2", "u2", "done"),
    ) == ["u", "a1", "u2", "a2"]


def test_only_the_newer_branch_of_an_edited_prompt_is_effective() -> None:
    found = claude(
        user("u1", None, "one"),
        said("a1", "u1", "1"),
        user("u2", "a1", "first try"),
        called("a2", "u2", "c"),
        answered("r2", "a2", "c"),
        user("u3", "a1", "second try"),
        said("a3", "u3", "3"),
    )

    assert [m.id for m in found.effective] == ["u1", "a1", "u3", "a3"]
    assert len(found.messages) == 7


def test_attachments_belong_to_the_branch_they_lead_to() -> None:
    assert shown(
        user("u1", None, "one"),
        said("a1", "u1", "1"),
        attached("x1", "a1", "file", filename="a", content={"file": {"content": "abandoned"}}),
        user("u2", "x1", "first try"),
        said("a2", "u2", "2"),
        attached("x2", "a1", "file", filename="b", content={"file": {"content": "effective"}}),
        user("u3", "x2", "second try"),
        attached("x3", "u3", "task_reminder", content=["beside the path"]),
        said("a3", "u3", "3"),
    ) == ["u1", "a1", "x2", "u3", "a3"]


def test_attachments_beside_a_parallel_result_are_sent_if_they_lead_nowhere() -> None:
    def session(*more: object) -> list[str]:
        return shown(
            user("u", None, "go"),
            called("a1", "u", "c1", "r"),
            called("a2", "a1", "c2", "r"),
            answered("r1", "a1", "c1"),
            attached("x1", "r1", "todo", content="beside"),
            attached("x2", "x1", "todo", content="and beside it"),
            *more,
            answered("r2", "a2", "c2"),
            said("a3", "r2", "done"),
        )

    assert session() == ["u", "a1", "a2", "r1", "x1", "x2", "r2", "a3"]
    branched = (attached("x3", "x1", "todo", content="another"),)
    assert session(*branched) == ["u", "a1", "a2", "r1", "r2", "a3"]


def test_records_that_are_no_messages_are_links_of_the_chain() -> None:
    found = claude(
        user("u", None, "go"),
        record("progress", "p1", "u", data={"type": "hook_progress"}),
        record("system", "s1", "p1", subtype="turn_duration"),
        said("a", "s1", "done"),
    )

    assert [m.id for m in found.effective] == ["u", "a"]
    assert [(link.id, link.parent) for link in found.chain.links] == [
        ("u", None),
        ("p1", "u"),
        ("s1", "p1"),
        ("a", "s1"),
    ]
    assert set(found.metadata) == {"progress/hook_progress", "system/turn_duration"}


def test_a_boundary_starts_anew() -> None:
    found = claude(
        user("u1", None, "one"),
        attached("x1", None, "file", filename="a", content={"file": {"content": "before"}}),
        said("a1", "u1", "1"),
        boundary("b1", "a1"),
        summarized("s1", "b1", "first summary"),
        said("a2", "s1", "2"),
        boundary("b2", "a2"),
        summarized("s2", "b2", "second summary"),
        user("u2", "s2", "two"),
    )

    assert texts(found.effective) == ["second summary", "two"]
    assert [m.origin.is_summary for m in found.effective] == [True, False]
    assert [m.starts_turn for m in found.effective] == [False, True]


def test_what_a_compaction_kept_stands_behind_the_summary() -> None:
    kept = {"headUuid": "a1", "anchorUuid": "s", "tailUuid": "r1"}
    found = claude(
        user("u1", None, "one"),
        called("a1", "u1", "c"),
        answered("r1", "a1", "c"),
        boundary("b", "r1", preservedSegment=kept),
        summarized("s", "b", "summary"),
        user("u2", "r1", "two"),
    )

    assert [m.id for m in found.effective] == ["s", "a1", "r1", "u2"]
    # The summary too: what was kept hangs below it.
    assert [m.locks.unmovable_reason is not None for m in found.effective] == [
        True,
        True,
        True,
        False,
    ]
    assert found.warnings == ()


def test_what_a_compaction_kept_is_effective_when_the_path_passes_it_by() -> None:
    kept = {"headUuid": "a1", "anchorUuid": "s", "tailUuid": "r1"}
    assert shown(
        user("u1", None, "one"),
        called("a1", "u1", "c"),
        answered("r1", "a1", "c"),
        boundary("b", "r1", preservedSegment=kept),
        summarized("s", "b", "summary"),
        user("u2", "s", "two"),
    ) == ["s", "a1", "r1", "u2"]


def test_a_resumed_file_may_start_with_a_boundary_whose_kept_records_are_elsewhere() -> None:
    kept = {"headUuid": "x1", "anchorUuid": "s", "tailUuid": "x9"}

    def session(time: str) -> Transcript:
        summary = {**summarized("s", "b", "summary"), "timestamp": "2026-03-01T10:00:00.000Z"}
        return claude(
            boundary("b", "x9", preservedSegment=kept),
            summary,
            {**user("u", "x9", "on"), "timestamp": time},
            said("a", "u", "1"),
        )

    joined, cut = session("2026-03-01T10:00:05.000Z"), session("2026-03-01T10:00:05.001Z")
    assert [m.id for m in joined.effective] == ["s", "u", "a"]
    assert joined.warnings == (
        "line 3: its parent x9 is not in the file; the client joins it to line 2",
    )
    assert [m.id for m in cut.effective] == ["u", "a"]
    (warning,) = cut.warnings
    assert warning.startswith("line 3: its parent x9 is not in the file; earlier history is not")


def test_a_compaction_that_lists_what_it_kept_need_not_keep_all_between() -> None:
    listed = {"anchorUuid": "s", "uuids": ["u1", "a1", "u3", "a3"]}
    kept = {"headUuid": "u1", "anchorUuid": "s", "tailUuid": "a3"}
    session = (
        user("u1", None, "one"),
        said("a1", "u1", "1"),
        user("u2", "a1", "two"),
        said("a2", "u2", "2"),
        user("u3", "a2", "three"),
        said("a3", "u3", "3"),
        boundary("b", "a3", preservedSegment=kept, preservedMessages=listed),
        summarized("s", "b", "summary"),
    )

    assert shown(*session) == ["s", "u1", "a1", "u3", "a3"]
    assert shown(*session, user("u4", "s", "four"))[4:] == ["a3", "u4"]
    assert shown(*session, user("u4", "a3", "four"))[4:] == ["a3", "u4"]


def test_a_later_record_with_the_same_uuid_stands_for_the_earlier_one() -> None:
    found = claude(
        user("u", None, "go"),
        called("a", "u", "c"),
        answered("r", "a", "c", "a long result"),
        said("z", "r", "done"),
        answered("r", "a", "c", "short"),
        said("z", "r", "done"),
    )

    assert texts(found.effective) == ["go", 'Read({"file_path":"c"})', "short", "done"]
    # Taken away, they would uncover what they stand for.
    assert [bool(m.locks.unmovable_reason) for m in found.effective] == [False, False, True, True]
    assert not any(m.locks.immutable_reason for m in found.effective)


def test_the_place_of_a_record_is_below_its_parent_wherever_it_stands() -> None:
    found = claude(
        user("u1", None, "one"),
        said("a1", "u1", "1"),
        user("u2", "a1", "two"),
        said("a2", "u2", "2"),
        user("s", None, "summary"),
        user("u2", "s", "two"),
        said("a2", "u2", "2"),
    )

    assert texts(found.effective) == ["summary", "two", "2"]


def test_a_result_before_its_call_in_the_file_follows_it() -> None:
    assert shown(
        user("u", None, "go"),
        answered("r", "a", "c"),
        called("a", "u", "c"),
        said("z", "r", "done"),
    ) == ["u", "a", "r", "z"]


def test_the_newest_line_ends_the_conversation_whatever_follows_its_record() -> None:
    assert shown(
        user("u", None, "go"), said("a", "u", "1"), user("u2", "a", "on"), said("a", "u", "2")
    ) == ["u", "a"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["u2", "u3", "a3", "-> u2"], ["u1", "a1", "u2"]),
        # It counts wherever it stands, although something else was said since.
        (["u2", "-> u2", "u3", "a3"], ["u1", "a1", "u2"]),
        (["-> u2", "u2", "u3", "a3"], ["u1", "a1", "u2"]),
        (["u2", "u3", "-> u2", "a3", "x2", "-> x2"], ["u1", "a1", "u2", "x2"]),
        (["u2", "-> u2", "u3", "-> u3", "a3"], ["u1", "a1", "u3", "a3"]),
        (["u2", "-> u2", "u3", "-> nowhere", "a3"], ["u1", "a1", "u3", "a3"]),
        (["u2", "-> u2", "u3", "-> side", "side", "a3"], ["u1", "a1", "u2", "side"]),
        (["u2", "-> u2", "b", "s", "u3", "a3"], ["u1", "a1", "u3", "a3"]),
        (["u2", "b", "s", "u3", "a3", "-> u2"], ["u1", "a1", "u2"]),
    ],
    ids=" ".join,
)
def test_the_client_goes_on_from_the_last_prompt_it_names(
    lines: list[str], expected: list[str]
) -> None:
    records = {
        "u2": user("u2", "a1", "first try"),
        "x2": attached("x2", "u2", "todo", content="beside"),
        "side": user("side", "u2", "aside", isSidechain=True),
        "u3": user("u3", "a1", "second try"),
        "a3": said("a3", "u3", "3"),
        "b": boundary("b", "u2"),
        "s": summarized("s", "b", "summary"),
    }
    pointer = {"type": "last-prompt", "lastPrompt": "x", "sessionId": "s"}
    after = (
        {**pointer, "leafUuid": line[3:]} if line.startswith("-> ") else records[line]
        for line in lines
    )
    assert shown(user("u1", None, "one"), said("a1", "u1", "1"), *after) == expected


def test_a_last_prompt_that_something_follows_is_outdated() -> None:
    pointer = {"type": "last-prompt", "lastPrompt": "x", "leafUuid": "u1", "sessionId": "s"}

    assert shown(user("u1", None, "one"), said("a1", "u1", "1"), pointer) == ["u1", "a1"]


def test_commands_to_the_client_are_sent_with_the_next_request() -> None:
    found = claude(
        user("u", None, "go"),
        record("system", "n", "u", subtype="local_command", content="<command-name>/x"),
        said("a", "n", "done"),
    )

    assert [(m.id, m.role) for m in found.effective] == [
        ("u", "user"),
        ("n", "user"),
        ("a", "assistant"),
    ]
    assert not found.effective[1].starts_turn


def test_a_reminder_of_tasks_is_sent_though_no_file_holds_its_words() -> None:
    task = {"id": "2", "subject": "Build it", "status": "pending", "description": "unsent"}
    found = claude(
        user("u", None, "go"),
        attached("x", "u", "task_reminder", content=[], itemCount=0),
        attached("y", "x", "task_reminder", content=[task], itemCount=1),
        said("a", "y", "done"),
    )

    reminders = [m for m in found.effective if m.origin.is_injected]
    parts = [part for m in reminders for part in m.parts if isinstance(part, TextPart)]
    assert [part.text for part in parts] == ["", "#2. [pending] Build it"]
    assert [len(part.added) for part in parts] == [420, 420]
    # Their records stay lists, whatever is shortened.
    assert all(part.embedded for part in parts)
    assert not found.metadata


def test_results_that_an_old_client_cleared_are_sent_whole() -> None:
    def usage(tokens: int) -> dict[str, Any]:
        return {"usage": {"input_tokens": tokens, "output_tokens": 5}}

    found = claude(
        user("u", None, "go"),
        called("a1", "u", "c1"),
        answered("r1", "a1", "c1", "long ago"),
        said("a2", "r1", "2", inner=usage(900)),
        microcompacted("m", "a2", "c1"),
        user("u2", "m", "on"),
        said("a3", "u2", "3", inner=usage(100)),
    )
    (result,) = [result for message in found.effective for result in message.results]
    assert (result.text, result.cleared) == ("long ago", False)
    # What is sent now is larger than what was sent after the clearing.
    assert [m.usage.context for m in found.effective if m.usage] == [900]
    assert found.compactions.lines == ()


def test_what_was_reported_before_a_compaction_is_not_the_context_now() -> None:
    usage = {"input_tokens": 900, "output_tokens": 5}
    segment = {"headUuid": "a", "anchorUuid": "s", "tailUuid": "a"}
    preserved = claude(
        user("u", None, "go"),
        said("a", "u", "1", inner={"usage": usage, "stop_reason": "end_turn"}),
        boundary("b", "a", preservedSegment=segment),
        summarized("s", "b", "summary"),
    )

    assert [m.id for m in preserved.effective] == ["s", "a"]
    assert not any(m.usage for m in preserved.effective)
    assert any(m.usage for m in preserved.messages)
    assert preserved.compactions.by_client


def test_subagents_inside_the_file_are_not_the_conversation() -> None:
    side: dict[str, Any] = {"isSidechain": True}
    assert shown(
        user("u", None, "go"),
        called("a", "u", "task"),
        user("p", None, "subagent prompt", **side),
        called("q", "p", "c", **side),
        answered("o", "q", "c", **side),
        record("attachment", "x", None, attachment={"type": "todo", "content": ["t"]}, **side),
        answered("r", "a", "task"),
        said("z", "r", "done"),
        said("y", "o", "subagent says more", **side),
    ) == ["u", "a", "r", "z"]


def test_a_subagents_own_file_is_a_conversation() -> None:
    side: dict[str, Any] = {"isSidechain": True}
    assert shown(user("p", None, "prompt", **side), said("q", "p", "ok", **side)) == ["p", "q"]


def test_a_missing_parent_ends_the_walk_with_a_warning() -> None:
    found = claude(
        user("u1", None, "one"),
        said("a1", "u1", "1"),
        user("u2", "gone-for-good", "two"),
        said("a2", "u2", "2"),
    )

    assert [m.id for m in found.effective] == ["u2", "a2"]
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("line 3: its parent gone-for is not in the file")


def test_parents_in_a_circle_do_not_hang() -> None:
    assert shown(user("u", "a", "one"), said("a", "u", "1")) == ["u", "a"]


def test_a_notice_that_follows_nothing_does_not_end_the_conversation() -> None:
    notice = record("system", "n", None, subtype="local_command", content="x")

    assert shown(user("u", None, "one"), said("a", "u", "1"), notice) == ["u", "a"]


def test_a_record_that_a_damaged_line_follows_stays_where_it_is() -> None:
    whole = json.dumps(said("a", "u", "hi")).encode()
    found = claude(user("u", None, "one"), b'{"type":"user","uu' + whole, user("u2", "a", "two"))

    assert [m.id for m in found.messages] == ["u", "a", "u2"]
    assert found.messages[1].locks.immutable_reason is not None
    assert [m.id for m in found.effective] == ["u2"]
    assert [link.id for link in found.chain.links] == ["u", "a", "u2"]


def test_a_session_that_was_rewound_to_its_start_still_has_its_overhead() -> None:
    usage = {"input_tokens": 40_000, "output_tokens": 5}
    transcript = claude(
        user("u", None, "go"),
        said("a", "u", "done", inner={"usage": usage}),
        {"type": "last-prompt", "leafUuid": None, "explicit": True, "sessionId": "s"},
    )
    size = context_size(transcript, measure(transcript, MeasureOptions()))
    assert transcript.effective == ()
    assert size.overhead > 30_000
