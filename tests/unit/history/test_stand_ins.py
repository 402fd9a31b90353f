"""Messages that compactctl wrote in place of others, and the point at which it wrote them."""

from dataclasses import replace
from typing import Any

import pytest
from builders import assistant, conversation, summary, user

from compactctl.history.stand_ins import (
    base_id,
    edit_points,
    hidden_group,
    is_by_compactctl,
    is_stand_in,
    is_unchanged,
    newest_id,
    occurrence,
    same_name_indices,
    text_after_summary,
)
from compactctl.model.message import Message, MessageId, Tags


def marker(*, ours: bool = True, **tags: Any) -> Message:
    return user("cut", is_synthetic=ours, tags=Tags(is_truncation_marker=True, **tags))


def named(*names: str) -> tuple[Message, ...]:
    messages = (replace(user(f"said {n}"), id=MessageId(name)) for n, name in enumerate(names))
    return conversation(*messages)


@pytest.mark.parametrize(
    ("message", "group", "stands_in"),
    [
        (user("hi"), None, False),
        (summary("theirs"), None, False),
        (summary("ours", is_synthetic=True, tags=Tags(condense_id="c")), "c", True),
        (summary("theirs", tags=Tags(condense_id="c")), "c", False),
        (marker(truncation_id="t"), "t", True),
        (marker(truncation_id="t", is_final=True), None, True),
        (marker(truncation_id="t", ours=False), None, False),
        (user("edited", is_synthetic=True, tags=Tags(truncation_id="t")), None, False),
    ],
)
def test_a_stand_in_represents_the_group_that_may_come_back(
    message: Message,
    group: str | None,
    stands_in: bool,  # noqa: FBT001
) -> None:
    assert (hidden_group(message), is_stand_in(message)) == (group, stands_in)


def test_messages_of_equal_content_have_the_name_before_their_number() -> None:
    assert [base_id(name) for name in ("x", "x#2", "x#2#3", "")] == ["x", "x", "x", ""]
    messages = named("x", "y", "x#2", "x#3")
    assert same_name_indices(messages, "x#2") == [0, 2]
    assert same_name_indices(messages, "x") == [0]
    assert same_name_indices(messages, "x#9") == [0, 2, 3]


@pytest.mark.parametrize(
    ("start", "count"), [(0, 3), (1, 3), (2, 2), (4, 2), (5, None), (7, None), (8, None)]
)
def test_an_occurrence_counts_from_a_place_on(start: int, count: int | None) -> None:
    assert occurrence([1, 4, 7], start) == count


@pytest.mark.parametrize(
    ("through", "nth", "point"),
    [
        ("x", None, 2),
        ("x#2", None, 2),
        ("x", 1, 2),
        ("x", 2, 3),
        ("x", 3, 5),
        # Some were hidden since: the last of them.
        ("x", 4, 5),
        ("x", 0, 2),
        ("y", None, 4),
        # Only before it: the last one there.
        ("w", None, 0),
        ("z", None, None),
    ],
)
def test_the_newest_message_at_the_time_is_counted_from_the_stand_in(
    through: str, nth: int | None, point: int | None
) -> None:
    written = summary("ours", is_synthetic=True, tags=Tags(through=through, occurrence=nth))
    w, x, x2, y, x3 = named("w", "x", "x#2", "y", "x#3")
    assert edit_points((w, written, x, x2, y, x3)) == {1: point}


def test_a_hidden_message_is_not_the_newest() -> None:
    written = summary("ours", is_synthetic=True, tags=Tags(through="x"))
    hidden, shown = named("x", "x#2")
    hidden = replace(hidden, tags=Tags(condense_parent="c"))
    assert edit_points((written, hidden, shown)) == {0: 2}
    assert edit_points((hidden, shown)) == {}


def test_nothing_was_added_where_the_newest_message_is_still_the_newest() -> None:
    first, second = named("x", "y")
    ours = summary("ours", is_synthetic=True, tags=Tags(through="x"), id=MessageId("s"))
    assert newest_id((first, ours)) == "x"
    assert newest_id((ours,)) is None
    assert is_unchanged((ours, first), ours)
    assert not is_unchanged((ours, first, second), ours)
    assert not is_unchanged((ours, second), ours)
    unmarked = replace(ours, tags=Tags())
    assert not is_unchanged((unmarked, first), unmarked)


LEGEND = "[L12] is line 12 of what was compacted."
NOTE = f"Hand-over of 1,204 earlier messages (L2 to L9), extracted without a model: x, {LEGEND}"
CONDENSED = "Earlier messages were condensed; 175 tokens hold no summary of them."


@pytest.mark.parametrize(
    ("text", "at_start", "anywhere"),
    [
        (NOTE, True, True),
        (f"[Earlier conversation]:\n\n{NOTE}", True, True),
        (f"[Earlier conversation]\n{NOTE}", False, True),
        (f"Said before.\n{NOTE}", False, True),
        (f"Said before. {NOTE}", False, False),
        (CONDENSED, True, True),
        (f"Digest of 1 earlier message made without a model: {LEGEND}\nx", True, True),
        (f"9 earlier messages, without a model; {LEGEND}", True, True),
        # A part of the line may be what somebody asks about.
        ("Digest of 1 earlier message made without a model: is that a bug?", False, True),
        (f"{NOTE} Is that a bug?", False, True),
        ("9 earlier messages, by a model", False, False),
        ("", False, False),
    ],
)
def test_our_summaries_are_recognized_by_the_note_they_begin_with(
    text: str,
    at_start: bool,  # noqa: FBT001
    anywhere: bool,  # noqa: FBT001
) -> None:
    assert is_by_compactctl(text, is_summary=False) is at_start
    assert is_by_compactctl(text, is_summary=True) is anywhere


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (NOTE, ""),
        ("Only this", ""),
        (f"{NOTE}\n\nUse tabs.", "Use tabs."),
        (f"{NOTE}\n\n## Files\n> a.py\n\nUse tabs.\n\nAnd spaces.\n", "Use tabs.\n\nAnd spaces."),
        (f"{NOTE}\n\nUse tabs.\n\n- done", ""),
        (f"{NOTE}\n\nSaid\n[L12] user", ""),
    ],
)
def test_what_follows_the_last_line_of_a_summary_is_not_its_own(text: str, after: str) -> None:
    assert text_after_summary(text) == after


def test_an_answer_may_be_the_newest() -> None:
    assert newest_id(conversation(user("a"), assistant("b"))) == "m1"
