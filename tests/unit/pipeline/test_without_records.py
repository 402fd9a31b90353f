"""Whole records that go: of lines, of arrays, and of a chain."""

import json

from formats.claude_code.sessions import said, user
from unit.pipeline.trees import Page, chat, page

from compactctl.model.message import JsonPath, RecordLocation
from compactctl.pipeline.layout import NewFile, NewLine
from compactctl.pipeline.without_records import without_records


def left(
    tree: Page,
    *dropped: RecordLocation,
    values: dict[int, dict[JsonPath, object]] | None = None,
) -> list[NewLine]:
    return list(without_records(tree.lines, tree.transcript, tree.format, dropped, values or {}))


def test_a_line_goes_and_the_others_stay_as_they_are() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    lines = left(tree, (1, ()))
    assert [(line.source_index, line.is_unchanged) for line in lines] == [(0, True), (2, True)]
    assert [line.data for line in lines] == [tree.lines[0], tree.lines[2]]


def test_elements_go_from_the_arrays_of_a_line() -> None:
    tree = page("openai-chat", {"messages": chat("a", "b", "c", "d")}, {"messages": chat("e")})
    lines = left(tree, (0, ("messages", 0)), (0, ("messages", 2)))
    assert [line.is_unchanged for line in lines] == [False, True]
    messages = json.loads(lines[0].data)["messages"]
    assert [message["content"] for message in messages] == ["b", "d"]


def test_what_followed_a_record_follows_what_precedes_it() -> None:
    tree = page("claude-code", user("u1", None, "a"), said("a1", "u1", "b"), user("u2", "a1", "c"))
    _, last = left(tree, (1, ()))
    assert json.loads(last.data)["parentUuid"] == "u1"
    assert (last.source_index, last.is_unchanged) == (2, False)


def test_values_are_set_in_lines_that_stay() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    lines = left(tree, (1, ()), values={0: {("content",): "x"}, 1: {("content",): "y"}})
    assert [json.loads(line.data)["content"] for line in lines] == ["x", "c"]
    assert [line.is_unchanged for line in lines] == [False, True]


def test_a_new_file_has_its_lines_in_order_and_knows_which_are_old() -> None:
    old = [b"a\n", b"b\n", b"c\n"]
    lines = [
        NewLine(b"a\n", 0, is_unchanged=True),
        NewLine(b"new\n", None),
        NewLine(b"C\n", 2),
        NewLine(b"end\n", None),
    ]
    file = NewFile(old, lines)
    assert list(file) == list(file) == [b"a\n", b"new\n", b"C\n", b"end\n"]
    assert file.new_indices == {0: 0, 2: 2}
    assert [file.is_unchanged(index) for index in range(4)] == [True, False, False, False]
    later = NewFile(
        old, [NewLine(b"b\n", 1, is_unchanged=True), NewLine(b"c\n", 2, is_unchanged=True)]
    )
    assert list(later) == [b"b\n", b"c\n"]
