"""The pieces of lines, and what is shown of a text of which some are chosen."""

import pytest
from builders import call, conversation

from compactctl.model.own_texts import read_lines
from compactctl.summaries.digest.lines import (
    PieceSpan,
    QuotableLine,
    join_pieces,
    pieces_of,
    quotable_text,
    shown_lines,
    span_text,
)
from compactctl.summaries.extract.passages import read_passages


def pieces_in(text: str) -> list[tuple[int, int, str]]:
    """Return the row, the start and the text of each piece."""
    lines = [QuotableLine(line) for line in read_lines(text)]
    return [(row, span.start, span_text(lines, row, span)) for row, span in pieces_of(lines)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("one\ntwo", [(1, 0, "two"), (0, 0, "one")]),
        ("x" * 260, [(0, 0, "x" * 260)]),
        ("a " * 131, [(0, 0, "a " * 130), (0, 260, "a ")]),
        ("[" + "x" * 258 + "]" + "y", [(0, 0, "[" + "x" * 258 + "]"), (0, 260, "y")]),
        # Blanks before a word that is not cut are no piece of their own.
        (" " + "x" * 300, [(0, 0, " " + "x" * 300)]),
        ("a\rb\u2028c", [(0, 0, "a b c")]),
        ("a\r\nb", [(1, 0, "b"), (0, 0, "a")]),
        ("", []),
    ],
)
def test_long_lines_are_split_between_words_or_values(
    text: str, pieces: list[tuple[int, int, str]]
) -> None:
    assert pieces_in(text) == pieces
    assert read_lines("a\fb\nc") == ["a b", "c"]


def test_a_record_in_a_line_of_json_is_one_piece() -> None:
    records = [f'{{"gauge": {number}, "note": "{"wet " * 20}"}}' for number in range(4)]
    line = f'{{"items": [{", ".join(records)}], "next": null}}'
    pieces = [piece for _, _, piece in pieces_in(line)]
    assert "".join(pieces) == line
    for record in records:
        assert [record in piece for piece in pieces].count(True) == 1


def test_a_call_with_many_strings_is_read_once() -> None:
    """Read what would take minutes if the heading were looked for anew with each string."""
    items = [f"entry {number} of the list" for number in range(20_000)]
    passages = read_passages(conversation(call("a", "index", items=items)))
    shown = {line.text.removeprefix("items: ") for line in quotable_text(passages[0]).lines}
    # The heading shows the first and the last of them.
    assert len(items) - len(shown) < 20
    assert shown < set(items)


def test_of_a_line_of_data_its_start_is_read() -> None:
    word = "word "
    found = "".join(part for _, _, part in pieces_in(word * 1_200))
    assert len(found) == 6_000
    assert len("".join(part for _, _, part in pieces_in(word * 1_200 + "x"))) == 6_000


@pytest.mark.parametrize(
    ("line", "spans", "text"),
    [
        ("a b", [(0, 2), (2, 3)], "a b"),
        ("a b c", [(2, 4)], "… b …"),
        ("a b", [(0, 2)], "a …"),
        ("a b c  ", [(0, 2), (4, 7)], "a … c  "),
        # What is repeated is not taken for the end of its line.
        ("b a b", [(0, 2)], "b …"),
        ("b b", [(2, 3)], "… b"),
        # Blanks are not missed.
        ("  a  b  ", [(2, 3), (5, 6)], "  a  b  "),
    ],
)
def test_a_line_has_marks_where_pieces_of_it_are_omitted(
    line: str, spans: list[tuple[int, int]], text: str
) -> None:
    assert join_pieces(line, [PieceSpan(start, end) for start, end in spans]) == text


@pytest.mark.parametrize(
    ("lines", "chosen", "shown"),
    [
        (["a", "b", "c"], [0, 2], ["a", "b", "c"]),
        (["a", "b" * 120, "c"], [0, 2], ["a", "b" * 120, "c"]),
        (["a", "b" * 121, "c"], [0, 2], ["a", None, "c"]),
        (["a", *"bcde", "f"], [0, 5], ["a", *"bcde", "f"]),
        (["a", *"bcdef", "g"], [0, 6], ["a", None, "g"]),
        # Before and behind all others, only braces and the like are shown.
        (["{", "a", "}"], [1], ["{", "a", "}"]),
        (["def b():", "a", "return"], [1], [None, "a", None]),
        (["a", "b"], [], ["a", "b"]),
        (["return 1"], [], [None]),
    ],
)
def test_few_short_lines_are_shown_rather_than_a_mark(
    lines: list[str], chosen: list[int], shown: list[str | None]
) -> None:
    pieces = [(row, PieceSpan(0, len(lines[row]))) for row in chosen]
    assert list(shown_lines(lines, pieces, with_ends=True)) == shown


def test_lines_before_and_behind_all_chosen_ones_may_have_no_mark() -> None:
    pieces = [(1, PieceSpan(0, 1)), (3, PieceSpan(0, 1))]
    lines = ["a" * 9, "b", "c" * 121, "d", "e" * 9]
    assert list(shown_lines(lines, pieces, with_ends=False)) == ["b", None, "d"]


def test_what_an_edit_removed_is_not_shown_between_others() -> None:
    pieces = [(0, PieceSpan(0, 1, removed=1)), (2, PieceSpan(0, 1))]
    assert list(shown_lines(["a", "b", "c"], pieces, with_ends=True)) == ["a", None, "c"]
