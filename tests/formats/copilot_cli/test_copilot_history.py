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
from compactctl.history.apply import apply, net_edits
from compactctl.history.pairs import find_orphans
from compactctl.model.edit import Edit, Hide, Insert
from compactctl.model.message import GroupId, MessageId, Synthetic
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


def test_a_result_that_never_had_a_call_is_not_sent() -> None:
    transcript = found(prompt("one"), answered("lost"))

    assert texts(transcript.effective) == ["one"]
    assert [omission.detail for omission in transcript.omissions] == ["without a matching call"]


def test_a_call_without_a_result_is_answered_by_the_client() -> None:
    transcript = found(prompt("one"), called("a"), prompt("two"), called("b"))

    first, second = (call.added for message in transcript.effective for call in message.calls)
    assert first == "The execution of this tool, or a previous tool was interrupted."
    assert second.startswith("[Copilot CLI puts a note here")
    # After the user has aborted, the client records nothing.
    aborted = found(prompt("one"), called("a"), event("abort", reason="user_initiated"))
    assert aborted.effective[1].calls[0].added == first


def test_what_is_said_while_the_client_compacts_is_kept() -> None:
    transcript = found(
        prompt("one"),
        called("a"),
        event("session.compaction_start"),
        answered("a", "1"),
        said("done"),
        compaction(success=True, summaryContent="so far"),
        prompt("two"),
    )

    sent = ["one", "so far", 'view({"path":"a"})', "1", "done", "two"]
    assert texts(transcript.effective) == sent
    kept = [m.locks.unmovable_reason for m in transcript.effective[2:5]]
    assert kept == ["the client kept it verbatim at its own compaction"] * 3


@pytest.mark.parametrize(
    ("data", "expected"),
    [({}, ["prompt", "two"]), ({"initialMessage": "afresh"}, ["prompt", "afresh", "two"])],
)
def test_clearing_starts_anew(data: Record, expected: list[str]) -> None:
    transcript = found(SYSTEM, *TURN, event("session.context_cleared", **data), prompt("two"))

    assert texts(transcript.effective) == expected
    assert all(not m.starts_turn for m in transcript.effective if "afresh" in texts((m,)))


@pytest.mark.parametrize("change", [truncation(2), rewind("e0")])
def test_what_was_truncated_or_rewound_is_sent_again(change: Record) -> None:
    transcript = found(SYSTEM, *TURN, change, prompt("two"))

    assert texts(transcript.effective) == [*texts(found(SYSTEM, *TURN).effective), "two"]


MARKED = {
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
