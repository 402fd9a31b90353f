"""Edits carried out on messages, and folded for the layout."""

from builders import conversation, image, message, result_part, user
from unit.pipeline.edits import hide, insert, marker, rewrite

from compactctl.history.apply import (
    apply,
    apply_all,
    latest_edit,
    net_edits,
    synthetic_message,
    synthetic_tags,
)
from compactctl.model.edit import Edit, Insert
from compactctl.model.message import GroupId, MediaPart, Message, MessageId, Synthetic, TextPart


def shown(messages: tuple[Message, ...]) -> list[str]:
    return [item.id for item in messages]


def test_messages_are_hidden_inserted_and_left_in_order() -> None:
    before = conversation(user("a"), user("b"), user("c"))
    after = apply(before, [insert("m1", "x"), insert("m1", "y"), hide("m1")])
    assert shown(after) == ["m0", "x", "y", "m2"]
    assert after[0] is before[0]


def test_edits_of_messages_that_are_not_there_change_nothing() -> None:
    before = conversation(user("a"))
    assert apply(before, [hide("x"), rewrite("y", "z"), insert("x", "w")]) == before


def test_a_rewritten_result_loses_its_media_and_keeps_its_call() -> None:
    picture = MediaPart(media_type="image/png", n_bytes=9)
    before = conversation(message("tool", result_part("c1", "long", media=(picture,))))
    (after,) = apply(before, [rewrite("m0", "[cleared]")])
    (part,) = after.results
    assert (part.text, part.media, part.call_id) == ("[cleared]", (), "c1")
    assert after.tags.edit_id == "g"


def test_a_rewritten_image_becomes_text() -> None:
    (after,) = apply(conversation(image()), [rewrite("m0", "[image]")])
    assert after.parts == (TextPart(text="[image]", typed=""),)


def test_only_the_named_part_is_rewritten() -> None:
    before = conversation(message("user", TextPart(text="a"), TextPart(text="b")))
    (after,) = apply(before, [rewrite("m0", "B", part=1)])
    assert [part.text for part in after.parts if isinstance(part, TextPart)] == ["a", "B"]


def test_the_first_to_hide_and_the_last_to_rewrite_win() -> None:
    edits: list[Edit] = [
        hide("a", group="1"),
        rewrite("b", "x"),
        hide("a", "b", group="2"),
        rewrite("b", "y"),
    ]
    folded = net_edits(edits)
    assert (folded.hidden["a"].group, folded.hidden["b"].group) == ("1", "2")
    (edit,) = folded.replaced["b"].values()
    assert edit == rewrite("b", "y")


def test_the_newest_edit_stands_for_a_message_whatever_part_was_rewritten_first() -> None:
    edits = [rewrite("a", group, part, group) for part, group in ((0, "1"), (1, "2"), (0, "3"))]
    assert latest_edit(net_edits(edits).replaced["a"]).group == "3"


def test_a_message_written_before_a_written_one_stands_there() -> None:
    folded = net_edits([insert("m1", "x"), insert("m1", "z"), insert("z", "y"), insert("y", "w")])
    assert [item.id for item in folded.inserted["m1"]] == ["x", "w", "y", "z"]


def test_later_stages_edit_what_earlier_ones_wrote() -> None:
    before = conversation(user("a"), user("b"))
    edits: list[Edit] = [
        insert("m0", "x"),
        hide("m0"),
        Insert(before=MessageId("x"), message=marker("y", "h")),
    ]
    after = apply_all(before, [*edits, hide("x", "m1", group="h")])
    assert shown(after) == ["y"]


def test_a_written_message_stands_for_what_its_anchor_is_part_of() -> None:
    anchor = user("a", conversation=3, line=7, record_path=("messages", 2))
    written = synthetic_message(marker("x", through="m9"), anchor)
    assert (written.conversation, written.line, written.record_path) == (3, 7, ("messages", 2))
    assert written.origin.is_synthetic
    assert written.origin.is_injected
    assert not written.origin.is_summary
    assert not written.starts_turn


def test_summaries_and_markers_carry_their_own_tags() -> None:
    summary = Synthetic(
        id=MessageId("s"), kind="summary", role="user", text="t", group=GroupId("g")
    )
    assert synthetic_tags(summary, "op").hiding_ids == ("g",)
    assert synthetic_tags(summary).condense_id == "g"
    assert synthetic_tags(marker("x")).truncation_id == "g"
    assert synthetic_tags(marker("x")).is_truncation_marker
