"""Ids of messages before and after an operation, and edits that follow them."""

from builders import conversation, user
from unit.pipeline.edits import hide, insert, rewrite

from compactctl.commands.rewind.group import names_after, with_names
from compactctl.model.edit import Edit
from compactctl.model.message import MessageId


def test_what_stays_and_what_was_written_is_found_by_its_place() -> None:
    before = conversation(user("a"), user("b"), user("c"))
    after = conversation(user("marker", id=MessageId("x")), user("c", id=MessageId("y")))
    edits: list[Edit] = [insert("m0", "the marker"), hide("m0", "m1")]
    assert names_after(before, edits, after) == {"the marker": "x", "m2": "y"}


def test_edits_are_renamed_and_unknown_messages_left_out() -> None:
    names = {MessageId(old): MessageId(old.upper()) for old in "ab"}
    edits: list[Edit] = [
        rewrite("a", "x"),
        rewrite("z", "x"),
        insert("a", "m"),
        hide("a", "b", "z"),
    ]
    found = with_names(edits, names)
    assert found == (rewrite("A", "x"), insert("A", "m"), hide("A", "B"))


def test_a_marker_whose_place_is_gone_comes_before_the_first_message_it_hides() -> None:
    names = {MessageId("b"): MessageId("B")}
    assert with_names([insert("a", "m"), hide("a", "b")], names) == (insert("B", "m"), hide("B"))


def test_a_group_that_hides_nothing_any_more_writes_nothing() -> None:
    assert with_names([insert("a", "m"), hide("a")], {}) == ()


def test_written_messages_keep_their_own_names() -> None:
    names = {MessageId(name): MessageId(name) for name in "ab"}
    edits = (insert("a", "m"), hide("a"), insert("m", "n", "h"), hide("m", "b", group="h"))
    assert with_names(edits, names) == edits
