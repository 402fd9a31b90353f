import json
from typing import Any

import pytest
from formats.jsonl import raw_lines, read, texts
from formats.pi.sessions import HEADER, answered, called, chained, entry, found, prompt, said
from formats.written import load
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.registry import format_named
from compactctl.history.apply import apply, net_edits
from compactctl.history.conversation_view import ConversationView
from compactctl.history.protection import hideable
from compactctl.model.edit import Edit, Hide, Insert
from compactctl.model.message import GroupId, Message, MessageId, Synthetic
from compactctl.pipeline.layout import Layout, LayoutOptions, lay_out

Record = dict[str, Any]


def compaction(**fields: object) -> Record:
    return entry("compaction", summary="so far", tokensBefore=9, **fields)


def test_an_abandoned_branch_is_not_sent() -> None:
    transcript = found(
        prompt("one"),
        prompt("wrong"),
        said("oh"),
        prompt("right") | {"parentId": "e0"},
        said("yes"),
    )

    assert texts(transcript.effective) == ["one", "right", "yes"]
    assert len(transcript.messages) == 5


def test_the_newest_entry_is_the_leaf_whatever_it_is() -> None:
    back = entry("branch_summary", summary="went astray", fromId="e2", parentId="e0")
    transcript = found(prompt("one"), prompt("wrong"), said("oh"), back)

    assert texts(transcript.effective) == ["one", "went astray"]
    assert transcript.effective[1].origin.is_summary
    label = entry("label", targetId="e1", parentId="e0")
    assert texts(found(prompt("one"), prompt("wrong"), label).effective) == ["one"]


def test_entries_that_follow_one_another_in_a_circle_end_somewhere() -> None:
    circle = [prompt("a") | {"id": "x", "parentId": "y"}, said("b") | {"id": "y", "parentId": "x"}]

    assert texts(read("pi", HEADER, *circle).effective) == ["a", "b"]


def test_a_summary_stands_for_what_a_compaction_did_not_keep() -> None:
    transcript = found(
        prompt("zero"),
        said("old", usage={"input": 500}),
        prompt("one"),
        said("kept", usage={"input": 600}),
        compaction(firstKeptEntryId="e2"),
        said("new", usage={"input": 50}),
    )

    assert texts(transcript.effective) == ["so far", "one", "kept", "new"]
    summary, first, kept, new = transcript.effective
    assert (summary.origin.is_summary, summary.locks.unmovable_reason) == (
        True,
        "the client's own compaction",
    )
    # Without this entry the client would keep nothing.
    assert (
        first.locks.unmovable_reason
        == "the client's own compaction keeps the conversation from here on"
    )
    assert (kept.locks.unmovable_reason, new.locks.unmovable_reason) == (None, None)
    # What was reported before a compaction says nothing about what is sent after it.
    assert [each.usage is not None for each in (kept, new)] == [False, True]


def test_only_the_newest_compaction_counts() -> None:
    transcript = found(
        prompt("zero"),
        prompt("one"),
        compaction(firstKeptEntryId="e1") | {"summary": "first"},
        prompt("two"),
        compaction(firstKeptEntryId="e1") | {"summary": "second"},
    )

    assert texts(transcript.effective) == ["second", "one", "two"]


@pytest.mark.parametrize("kept", [{}, {"firstKeptEntryId": "gone"}, {"firstKeptEntryId": "e3"}])
def test_a_compaction_that_names_no_older_entry_kept_nothing(kept: Record) -> None:
    transcript = found(prompt("zero"), prompt("one"), compaction(**kept), prompt("two"))

    assert texts(transcript.effective) == ["so far", "two"]


def test_a_compaction_on_an_abandoned_branch_does_not_count() -> None:
    transcript = found(
        prompt("one"), said("ok"), compaction(firstKeptEntryId="e1"), said("b") | {"parentId": "e1"}
    )

    assert texts(transcript.effective) == ["one", "ok", "b"]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (2, ["so far", "one", "ok", "two"]),
        (3, ["so far", "ok", "two"]),
        (0, ["so far", "two"]),
        (5, ["so far", "two"]),
        (99, ["so far", "two"]),
        (-1, ["so far", "two"]),
    ],
)
def test_version_1_numbers_all_records(index: int, expected: list[str]) -> None:
    entries = [prompt("zero"), prompt("one"), said("ok"), compaction(firstKeptEntryIndex=index)]
    transcript = read("pi", HEADER, *entries, prompt("two"))

    assert texts(transcript.effective) == expected
    assert all(each.locks.unmovable_reason is None for each in transcript.effective[1:])


def test_version_1_does_not_number_lines_that_hold_no_record() -> None:
    entries = [prompt("zero"), b"", b"{torn", prompt("one"), compaction(firstKeptEntryIndex=2)]
    transcript = read("pi", HEADER, *entries)

    assert texts(transcript.effective) == ["so far", "one"]


def test_nothing_before_a_reset_is_sent() -> None:
    transcript = found(prompt("one"), entry("reset_boundary"), prompt("two"))

    assert texts(transcript.effective) == ["two"]


def test_what_a_damaged_line_took_away_is_bridged() -> None:
    first, lost, last = chained(prompt("one"), said("lost"), prompt("two"))
    transcript = read("pi", HEADER, first, json.dumps(lost).encode()[:40], last)

    assert texts(transcript.effective) == ["one", "two"]
    (warning,) = transcript.warnings
    assert warning == ("line 4: parent lost in a damaged line; attached to line 2")
    # So that hiding the first leaves no entry without its parent.
    assert [link.parent for link in transcript.chain.links] == [None, "e0"]


def test_without_a_damaged_line_a_missing_parent_ends_the_conversation() -> None:
    transcript = found(prompt("one"), prompt("two") | {"parentId": "elsewhere"})

    assert texts(transcript.effective) == ["two"]
    (warning,) = transcript.warnings
    assert warning.startswith("line 3: its parent elsewher is not in the file")


def test_a_session_may_start_with_an_entry_from_elsewhere() -> None:
    transcript = found(prompt("one") | {"parentId": "elsewhere"}, said("ok"))

    assert texts(transcript.effective) == ["one", "ok"]
    assert transcript.warnings == ()


def test_damage_before_a_compaction_is_not_worth_a_warning() -> None:
    first, _, last, more = chained(
        prompt("one"), said("lost"), prompt("two"), compaction(firstKeptEntryId="e2")
    )
    transcript = read("pi", HEADER, first, b"{torn", last, more)

    assert texts(transcript.effective) == ["so far", "two"]
    assert transcript.warnings == ()


def test_what_an_entry_on_a_damaged_line_follows_stays() -> None:
    first, second = chained(prompt("one"), prompt("two"))
    transcript = read("pi", HEADER, first, b"\0" + json.dumps(second).encode())

    assert transcript.effective[0].locks.unmovable_reason == "a record on a damaged line follows it"
    assert transcript.effective[1].locks.immutable_reason
    assert [link.id for link in transcript.chain.links] == ["e0", "e1"]


def test_a_later_entry_with_the_same_id_stands_for_the_earlier_one() -> None:
    transcript = found(prompt("one"), said("a"), said("b") | {"id": "e1", "parentId": "e0"})

    assert texts(transcript.effective) == ["one", "b"]
    # Taken away, it would uncover what it stands for.
    assert [bool(each.locks.unmovable_reason) for each in transcript.effective] == [False, True]


def test_the_place_of_an_entry_is_below_its_parent_wherever_it_stands() -> None:
    transcript = found(
        prompt("one"),
        said("1"),
        prompt("two"),
        said("2"),
        prompt("so far") | {"parentId": None},
        prompt("two") | {"id": "e2", "parentId": "e4"},
        said("2") | {"id": "e3", "parentId": "e2"},
    )

    assert texts(transcript.effective) == ["so far", "two", "2"]


WRITTEN = {"condenseId": "g", "compactctl": {"op": "o"}}


def test_a_written_record_that_leads_nowhere_is_sent_with_what_it_stands_before() -> None:
    # As the inline layout has it: what it stands for follows its own parent, tagged.
    hidden = prompt("one") | {"parentId": None, "condenseParent": "g"}
    transcript = found(prompt("summary") | WRITTEN, hidden, said("ok"))

    assert texts(transcript.effective) == ["summary", "ok"]


def test_a_written_record_before_an_abandoned_branch_is_not_sent() -> None:
    transcript = found(
        prompt("zero"),
        prompt("summary") | WRITTEN,
        prompt("one") | {"parentId": "e0", "condenseParent": "g"},
        prompt("other") | {"parentId": "e0"},
    )

    assert texts(transcript.effective) == ["zero", "other"]


def test_a_written_record_that_the_client_compacted_away_is_not_sent() -> None:
    transcript = found(
        prompt("summary") | WRITTEN, prompt("one"), compaction(firstKeptEntryId="e1")
    )

    assert texts(transcript.effective) == ["so far", "one"]


def branched(steps: list[int]) -> list[Record]:
    """Build a session; a step tells how it goes on: a turn, a step back or a compaction."""
    records: list[Record] = []
    for step in steps:
        parent = records[-1]["id"] if records else None
        count = len(records)
        new = [prompt(f"ask {count}"), called(f"c{count}"), answered(f"c{count}"), said(f"{count}")]
        if step and records:
            older = records[-min(step, len(records))]["id"]
            new = [compaction(firstKeptEntryId=older)] if step % 2 else new
            parent = parent if step % 2 else older
        records += chained(*new, first=count, parent=parent)
    return [HEADER, *records]


def hidden(messages: tuple[Message, ...], chosen: list[int]) -> list[Edit]:
    wanted = [messages[index % len(messages)].id for index in chosen]
    ids = hideable(ConversationView(messages=messages), wanted) if messages else ()
    if not ids:
        return []
    group = GroupId("g1")
    marker = Synthetic(
        id=MessageId("marker-g1"), kind="marker", role="user", text="[hidden]", group=group
    )
    return [Insert(before=ids[0], message=marker), Hide(ids=ids, group=group, kind="truncate")]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=8),
    st.lists(st.integers(0, 40), max_size=12),
    st.sampled_from(["split", "inline"]),
)
def test_whatever_is_hidden_the_rest_is_still_sent(
    steps: list[int], chosen: list[int], layout: Layout
) -> None:
    lines = raw_lines(*branched(steps))
    before = load(lines)
    edits = hidden(before.effective, chosen)
    style = LayoutOptions(layout=layout, operation="op1")
    new = tuple(lay_out(lines, before, net_edits(edits), format_named("pi"), style))
    again = load([line.data for line in new])

    assert texts(again.effective) == texts(apply(before.effective, edits))
