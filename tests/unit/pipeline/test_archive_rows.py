"""One archive row per line of the state before."""

from hypothesis import given
from hypothesis import strategies as st
from unit.pipeline.edits import hide, insert, rewrite
from unit.pipeline.trees import Page, chat, page

from compactctl.model.edit import Edit
from compactctl.model.operation import ArchivedLine
from compactctl.pipeline.archive_rows import archive_rows, rewind_rows
from compactctl.pipeline.edit_codec import ArchivedEdits, read_edits
from compactctl.pipeline.layout import NewFile


def rows_of(tree: Page, edits: list[Edit], **flags: bool) -> tuple[ArchivedLine, ...]:
    new = tree.laid_out(edits, "inline" if flags.get("inline") else "split")
    sizes = {message.id: 10 + message.line for message in tree.transcript.messages}
    made = ArchivedEdits(edits=tuple(edits), groups={"g": "truncate", "r": "prune"}, sizes={})
    rows = archive_rows(tree.lines, NewFile(tree.lines, new), tree.transcript, made, sizes)
    return tuple(rows)


@given(lines=st.lists(st.binary()))
def test_rows_of_a_whole_state_are_its_lines(lines: list[bytes]) -> None:
    rows = tuple(rewind_rows(lines))
    assert [row.raw for row in rows] == lines
    assert {row.fate for row in rows} <= {"replaced"}


def test_rows_tell_what_became_of_each_line() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"), b"\xff damage")
    rows = rows_of(
        tree, [insert(tree.ids[0], "m"), hide(tree.ids[0]), rewrite(tree.ids[1], "x", group="r")]
    )
    assert b"".join(row.raw for row in rows) == b"".join(tree.lines)
    assert [(row.fate, row.after_line) for row in rows] == [
        ("hidden", None),
        ("replaced", 1),
        ("kept", 2),
        ("kept", 3),
    ]
    assert [row.stage for row in rows] == ["truncate", "prune", None, None]
    assert [row.truncation_parent for row in rows] == ["g", None, None, None]
    assert [row.edit_parent for row in rows] == [None, "r", None, None]
    assert [row.tokens for row in rows] == [10, 11, 12, None]
    assert [row.role for row in rows] == ["user", "assistant", "user", None]


def test_inline_originals_are_replaced_by_their_tagged_selves() -> None:
    tree = page("openai-chat", *chat("a", "b"))
    rows = rows_of(tree, [insert(tree.ids[0], "m"), hide(tree.ids[0])], inline=True)
    assert [(row.fate, row.after_line) for row in rows] == [("replaced", 1), ("kept", 2)]


def test_a_message_rewritten_and_then_hidden_names_both_groups() -> None:
    tree = page("openai-chat", *chat("a", "b"))
    name = tree.ids[0]
    (row, _) = rows_of(tree, [rewrite(name, "x", group="r"), insert(name, "m"), hide(name)])
    assert (row.group, row.truncation_parent, row.edit_parent) == ("g", "g", "r")


def test_all_edits_of_a_line_with_many_messages_are_in_its_row() -> None:
    tree = page("openai-chat", {"messages": chat("a", "b", "c")})
    edits: list[Edit] = [
        insert(tree.ids[0], "m"),
        hide(tree.ids[0], tree.ids[1]),
        rewrite(tree.ids[2], "x", group="r"),
    ]
    (row,) = rows_of(tree, edits)
    assert row.tokens == 30
    assert list(read_edits([row.edits]).edits) == edits


def test_the_tool_behind_a_line_is_named() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    tree = page(
        "openai-chat",
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "files"},
    )
    assert [(row.tool, row.call_id) for row in rows_of(tree, [])] == [("ls", "c"), ("ls", "c")]


def test_originals_that_go_with_their_stand_in_keep_the_group_that_hid_them() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    lines = tree.laid_out([insert(tree.ids[0], "m"), hide(tree.ids[0])], "inline")
    again = Page("openai-chat", [line.data for line in lines])
    edits: list[Edit] = [insert(again.ids[0], "n", "h"), hide(again.ids[0], group="h")]
    marker, original, *_ = rows_of(again, edits)
    assert (marker.fate, marker.truncation_parent) == ("hidden", "h")
    assert (original.fate, original.truncation_parent) == ("hidden", "g")
