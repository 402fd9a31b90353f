"""Lines that are one JSON value together, and those that have a value each."""

import pytest

from compactctl.commands.reading.transcript import document_of
from compactctl.errors import NoInputError
from compactctl.records import replace
from compactctl.store.files.limits import NO_LIMITS

OBJECT = [b"{\n", b'  "a": [1,\n', b"  2]\n", b"}\n"]


def joined(lines: list[bytes]) -> bytes:
    return b"".join(lines)


def test_a_value_over_several_lines_is_a_document() -> None:
    assert document_of(OBJECT) == joined(OBJECT)
    assert document_of([b'{"a":\n', b"1}"]) == b'{"a":\n1}'
    assert document_of([b"[\n", b"]\n", b"\n"]) == b"[\n]\n\n"
    assert document_of([b" \n", b"[\n", b"]\n"]) == b" \n[\n]\n"


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [b'{"a": 1}\n'],
        [b"{\n"],
        [b'{"a": 1}\n', b'{"a": 2}\n'],
        # A line that is cut off is damage of a file whose lines have a value each.
        [b'{"a": 1}\n', b'{"a": \n', b"2}\n"],
        [b"\n", b'{"a": 1}\n', b'{"a": 2}\n'],
        [b"not\n", b"JSON\n"],
        OBJECT[:-1],
        [*OBJECT, *OBJECT],
    ],
)
def test_other_lines_are_not(lines: list[bytes]) -> None:
    assert document_of(lines) is None


def test_a_document_is_no_larger_than_a_line_may_be() -> None:
    size = len(joined(OBJECT))
    assert document_of(OBJECT, "run.json", replace(NO_LIMITS, max_line_bytes=size))
    with pytest.raises(NoInputError, match=r"^run\.json"):
        document_of(OBJECT, "run.json", replace(NO_LIMITS, max_line_bytes=size - 1))


def test_lines_that_begin_with_a_damaged_one_are_not_joined_beyond_that() -> None:
    lines = [b'{"a": \n', b'{"a": 2}\n']
    limits = replace(NO_LIMITS, max_line_bytes=10)
    assert document_of(lines, "run.jsonl", limits) is None
    assert document_of([b'{"a": \n', b"22}"], "run.jsonl", limits) == b'{"a": \n22}'
    assert document_of([b'{"a": \n', b"222}"], "run.jsonl", limits) is None
