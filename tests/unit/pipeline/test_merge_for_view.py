"""Archived lines put back beside what stands for them."""

import json
from typing import Any

import pytest

from compactctl.model.operation import ArchivedLine, LineFate
from compactctl.pipeline.merge_for_view import DisplayedLine, interleave, tag_line


def row(raw: bytes, after: int | None, **columns: Any) -> ArchivedLine:
    """Build a row; what is not kept names its group."""
    fate: LineFate = "hidden" if after is None else ("replaced" if columns else "kept")
    return ArchivedLine(raw=raw, fate=fate, after_line=after, **columns)


A, B, C, D = (f'{{"x":"{name}"}}\n'.encode() for name in "abcd")


def hidden_by(lines: tuple[DisplayedLine, ...]) -> list[tuple[str, str | None]]:
    return [(json.loads(line.data)["x"], line.hidden_by) for line in lines]


def test_hidden_lines_stand_before_the_next_line_that_is_left() -> None:
    rows = [row(A, 0), row(B, None, group="g", condense_parent="g", stage="summarize"), row(C, 2)]
    found = interleave([(rows, [A, D, C])])
    assert hidden_by(found) == [("a", None), ("d", None), ("b", "g"), ("c", None)]
    assert found[2].stage == "summarize"
    assert json.loads(found[2].data)["condenseParent"] == "g"


def test_a_rewritten_line_follows_its_original() -> None:
    rows = [row(A, 0, group="g", edit_parent="g"), row(B, 1)]
    found = interleave([(rows, [C, B])])
    assert hidden_by(found) == [("a", "g"), ("c", None), ("b", None)]
    assert json.loads(found[0].data)["editParent"] == "g"


def test_a_line_that_was_only_linked_anew_is_shown_once() -> None:
    rows = [
        row(A, None, group="g", truncation_parent="g"),
        ArchivedLine(raw=B, fate="replaced", after_line=0),
    ]
    found = interleave([(rows, [C])])
    assert hidden_by(found) == [("a", "g"), ("c", None)]


def test_what_an_earlier_operation_hid_stays_before_what_a_later_one_hides() -> None:
    first = [row(A, None, group="g", condense_parent="g"), row(B, 1), row(C, 2)]
    summary = b'{"x":"s"}\n'
    second = [row(summary, None, group="h", condense_parent="h"), row(B, 0), row(C, 1)]
    found = interleave([(first, [summary, B, C]), (second, [B, C, D])])
    expected = [("s", "h"), ("a", "g"), ("b", None), ("c", None), ("d", None)]
    assert sorted(hidden_by(found)[:2]) == sorted(expected[:2])
    assert hidden_by(found)[2:] == expected[2:]


def test_lines_hidden_at_the_end_are_not_lost() -> None:
    rows = [row(A, 0), row(B, None, group="g", truncation_parent="g")]
    assert hidden_by(interleave([(rows, [A])])) == [("b", "g"), ("a", None)]


@pytest.mark.parametrize("raw", [b"\xff\n", b"not JSON\n", b"[1]\n", b"\n", b"[" * 5_000])
def test_a_line_that_holds_no_record_gets_no_tag(raw: bytes) -> None:
    assert tag_line(raw, {"editParent": "g"}) == raw
