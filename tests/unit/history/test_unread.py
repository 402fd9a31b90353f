"""Signs of an incomplete file, and how text that was not read is described."""

from typing import Any

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.unread import describe_unread
from compactctl.model.transcript import Link, Opaque, RecordLinks, Transcript, Unread


def transcript(*links: tuple[str, str | None], **fields: Any) -> Transcript:
    chain = RecordLinks(
        links=tuple(
            Link(line=10 * n, id=name, parent=parent) for n, (name, parent) in enumerate(links)
        )
    )
    return Transcript(
        format="test", n_lines=9, n_bytes=9, messages=(), effective=(), chain=chain, **fields
    )


@pytest.mark.parametrize(
    ("links", "damage"),
    [
        ((), None),
        ((("a", None), ("b", "a"), ("c", "a")), None),
        ((("a", None), ("b", None)), None),
        ((("a", None), ("b", "a"), ("a", None)), "line 21: duplicate record"),
        ((("b", "a"), ("a", None)), "line 1: its parent is not before it"),
        (
            (("a", None), ("b", "b"), ("b", "a")),
            "line 11: its parent is not before it",
        ),
    ],
)
def test_a_record_follows_one_before_it_and_is_there_once(
    links: tuple[tuple[str, str | None], ...], damage: str | None
) -> None:
    assert transcript(*links).damage == damage


def test_the_first_torn_line_comes_before_warnings_and_disorder() -> None:
    torn = tuple(Opaque(line=line, n_bytes=1, damage=f"torn {line}") for line in (4, 7))
    links, warnings = (("b", "a"),), ("mixed", "lost")
    assert transcript(*links, opaque=torn, warnings=warnings).damage == "line 5: torn 4"
    assert transcript(*links, warnings=warnings).damage == "mixed"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"a": 100}, ""),
        ({"a": 101}, "101 bytes of text in `a` was not read"),
        ({"a": 999}, "999 bytes of text in `a` was not read"),
        ({"a": 1_000}, "1 kB of text in `a` was not read"),
        ({"a": 1_234_000, "b": 500}, "1,234 kB of text in `a` and `b` was not read"),
        ({"a": 300, "b": 200, "c": 100}, "600 bytes of text in `a`, `b` and `c` was not read"),
        (
            dict.fromkeys("abcd", 100),
            "400 bytes of text in `a`, `b`, `c` and 1 other field was not read",
        ),
        (
            dict.fromkeys("abcde", 100),
            "500 bytes of text in `a`, `b`, `c` and 2 other fields was not read",
        ),
    ],
)
def test_unread_text_is_described_from_a_tenth_on(fields: dict[str, int], text: str) -> None:
    assert describe_unread(Unread(fields=fields, read=900)) == text


@given(
    st.text(max_size=400), st.sampled_from(["", "` was read\n1 file: 1 ok\n", "\u2028", "x" * 90])
)
@tries(80)
def test_a_fields_name_neither_ends_its_quotation_nor_begins_a_line(text: str, more: str) -> None:
    described = describe_unread(Unread(fields={f"{text}{more}": 5_000}))
    assert described.count("`") == 2
    assert len(described.splitlines()) == 1
    assert len(described) < 120
