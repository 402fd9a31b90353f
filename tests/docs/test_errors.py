"""The page of errors lists what the code says, and each line can stand alone."""

import re
from functools import cache

import pytest
from docs.error_rows import PAGE, Row, find_rows, page


@cache
def rows() -> frozenset[Row]:
    """Return the rows, found when the first test asks for them."""
    return frozenset(find_rows())


def test_the_page_is_made_of_the_code() -> None:
    assert PAGE.read_text() == page(), "run: python tests/docs/generate.py errors"


def test_every_exit_code_of_an_error_has_messages() -> None:
    assert {row.code for row in rows()} >= {1, 2, 3, 4, 5, 6, 7, 8, 74}


@pytest.mark.parametrize(
    "pattern",
    [
        r"\.$",
        r"\bthere is no\b",
        r"contradict",
        r"\bmend\b",
        r"taken? (?:back|away)",
        r"\bgone\b",
        r"[a-z] %",
        r"given back",
        r"way back",
        r"such as [0-9-]",
    ],
)
def test_the_same_is_said_in_the_same_words(pattern: str) -> None:
    found = [row.message for row in rows() if re.search(pattern, row.message)]
    assert found == [], f"write these errors without {pattern!r}, as language of the field has it"
