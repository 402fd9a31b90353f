from typing import Any

import pytest
from formats.copilot_cli.sessions import (
    answered,
    called,
    event,
    found,
    prompt,
    said,
    session,
)
from formats.jsonl import raw_lines, texts
from formats.written import load

from compactctl.clients.registry import format_named
from compactctl.history.pairs import find_orphans
from compactctl.model.edit import Edit, Hide, Insert
from compactctl.model.message import GroupId, MessageId, Synthetic
from compactctl.pipeline.apply import apply, net_edits
from compactctl.pipeline.layout import Layout, LayoutOptions, lay_out

Record = dict[str, Any]
TURN = [prompt("one"), called("a"), answered("a", "1"), said("done")]
SYSTEM = event("system.message", content="prompt")


def compaction(**data: Any) -> Record:
    return event("session.compaction_complete", **data)


def truncation(removed: object) -> Record:
    return event(
        "session.truncation", messagesRemovedDuringTruncation=removed, performedBy="BasicTruncator"
    )


def rewind(to: str) -> Record:
    return event("session.snapshot_rewind", upToEventId=to, eventsRemoved=1)


def test_after_a_compaction_the_prompts_and_the_summary_are_sent() -> None:
    transcript = found(
        SYSTEM,
        prompt("one", transformedContent="one, at noon"),
        prompt("a skill", source="skill-x"),
        said("done"),
        event("session.compaction_start"),
        compaction(success=True, summaryContent="so far"),
        prompt("two", transformedContent="two, at one"),
    )

    # What the client adds to a prompt is not repeated with it.
    assert texts(transcript.effective) == ["prompt", "one", "so far", "two, at one"]
    summary = transcript.effective[2]
    assert (summary.origin.is_summary, summary.locks.unmovable_reason) == (
        True,
        "the client's own compaction",
    )
    assert summary.parts[0].path == ("data", "summaryContent")
    assert "one, at noon" in texts(transcript.messages)


def test_a_second_compaction_takes_the_place_of_the_first() -> None:
    transcript = found(
        prompt("one"),
        compaction(success=True, summaryContent="first"),
        prompt("two"),
        compaction(success=True, summaryContent="second"),
    )

    assert texts(transcript.effective) == ["one", "two", "second"]


@pytest.mark.parametrize("data", [{"success": False, "summaryContent": "s"}, {"error": "none"}, {}])
def test_a_failed_compaction_changes_nothing(data: Record) -> None:
    transcript = found(*TURN, compaction(**data))

    assert transcript.effective == transcript.messages
    assert transcript.metadata["session.compaction_complete"].count == 1


def test_a_result_whose_call_was_compacted_away_is_not_sent() -> None:
    transcript = found(
        prompt("one"),
        called("a"),
        compaction(success=True, summaryContent="so far"),
        answered("a"),
        said("done"),
    )

    assert texts(transcript.effective) == ["one", "so far", "done"]
    assert find_orphans(transcript.effective) == frozenset()


def test_a_result_that_never_had_a_call_is_the_files_own_orphan() -> None:
    assert len(find_orphans(found(prompt("one"), answered("lost")).effective)) == 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [({}, ["prompt", "two"]), ({"initialMessage": "afresh"}, ["prompt", "afresh", "two"])],
)
def test_clearing_starts_anew(data: Record, expected: list[str]) -> None:
    transcript = found(SYSTEM, *TURN, event("session.context_cleared", **data), prompt("two"))

    assert texts(transcript.effective) == expected
    assert all(not m.starts_turn for m in transcript.effective if "afresh" in texts((m,)))


def test_a_truncation_takes_the_oldest_and_says_so() -> None:
    transcript = found(SYSTEM, *TURN, truncation(1), prompt("two"))

    assert texts(transcript.effective) == ["prompt", 'view({"path":"a"})', "1", "done", "two"]
    (warning,) = transcript.warnings
    assert warning.startswith("line 6: the client left out 1 of its messages")


def test_a_truncation_parts_no_tool_pair() -> None:
    transcript = found(SYSTEM, *TURN, truncation(2))

    assert texts(transcript.effective) == ["prompt", "done"]


@pytest.mark.parametrize("removed", [0, None, "2", -1])
def test_a_truncation_of_nothing_is_none(removed: object) -> None:
    transcript = found(*TURN, truncation(removed))

    assert len(transcript.effective) == len(TURN)
    assert transcript.warnings == ()


def test_a_rewind_takes_an_event_and_all_after_it() -> None:
    transcript = found(*TURN, prompt("wrong") | {"id": "w"}, said("no"), rewind("w"), prompt("two"))

    assert texts(transcript.effective) == [*texts(found(*TURN).effective), "two"]


def test_a_rewind_undoes_marks_too() -> None:
    first = compaction(success=True, summaryContent="first") | {"id": "c"}
    transcript = found(*TURN, first, truncation(1), rewind("c"))

    assert transcript.effective == found(*TURN).effective


def test_a_rewind_to_what_is_not_there_changes_nothing() -> None:
    assert len(found(*TURN, rewind("gone")).effective) == len(TURN)


MARKED = {
    "truncated": [SYSTEM, *TURN, truncation(1)],
    "compacted": [SYSTEM, *TURN, compaction(success=True, summaryContent="so far")],
    "cleared": [SYSTEM, *TURN, event("session.context_cleared", initialMessage="afresh")],
}


@pytest.mark.parametrize("name", MARKED)
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_hiding_does_not_bring_back_what_the_client_left_out(name: str, layout: Layout) -> None:
    """Marks that count messages still mean the same ones when others are hidden."""
    records = session(*MARKED[name], prompt("x"), called("b"), answered("b", "2"), said("y"))
    lines = raw_lines(*records)
    before = load(lines)
    ids = tuple(
        m.id for m in before.effective if not m.locks.unmovable_reason and m.role != "system"
    )[:-1]
    group = GroupId("g1")
    marker = Synthetic(
        id=MessageId("marker-g1"), kind="marker", role="user", text="[hidden]", group=group
    )
    edits: list[Edit] = [
        Insert(before=ids[0], message=marker),
        Hide(ids=ids, group=group, kind="truncate"),
    ]
    style = LayoutOptions(layout=layout, operation="op1")
    new = tuple(lay_out(lines, before, net_edits(edits), format_named("copilot-cli"), style))
    again = load([line.data for line in new])

    assert texts(again.effective) == texts(apply(before.effective, edits))
    assert "[hidden]" in texts(again.effective)
