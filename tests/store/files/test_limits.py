"""What may be read at most, and the sizes that options take."""

import io
from collections.abc import Callable
from sys import maxsize

import pytest

from compactctl.errors import NoInputError, UsageError
from compactctl.store.files.limits import (
    NO_LIMITS,
    OUTPUT_LIMITS,
    READ_LIMITS,
    TEXT_LIMITS,
    ReadLimits,
    parse_byte_size,
)

LIMITS = ReadLimits(max_line_bytes=1_000, max_bytes=2_000, max_lines=3_000)


def test_a_size_at_the_limit_is_allowed_and_one_more_is_not() -> None:
    LIMITS.check_size(2_000, "a")
    LIMITS.check_line(1_000, "a", 1)
    LIMITS.check_page(1_000, "a")
    LIMITS.check_row(1_000, "a", 1)
    LIMITS.check_lines(3_000, "a")
    line, option = "more than 1,000 bytes", "allow more with --max-line"
    checks: list[tuple[Callable[[], None], str]] = [
        (
            lambda: LIMITS.check_size(2_001, "a"),
            "more than 2,000 bytes; allow more with --max-unpacked",
        ),
        (lambda: LIMITS.check_line(1_001, "a", 7), f"{line} on line 7; {option}"),
        (lambda: LIMITS.check_page(1_001, "a"), f"{line} in a page; {option}"),
        (lambda: LIMITS.check_row(1_001, "a", 7_000), f"{line} in row 7,000; {option}"),
        (lambda: LIMITS.check_lines(3_001, "a"), "more than 3,000 lines; split it"),
    ]
    for check, says in checks:
        with pytest.raises(NoInputError) as raised:
            check()
        assert str(raised.value) == f"a: has {says}"


def test_a_limit_that_no_option_raises_names_none() -> None:
    with pytest.raises(NoInputError) as raised:
        ReadLimits(max_bytes=1, is_fixed=True).check_size(2, "a")
    assert str(raised.value) == "a: has more than 1 bytes; name a smaller file"


@pytest.mark.parametrize(
    ("limits", "data", "says"),
    [
        (ReadLimits(max_line_bytes=4), b"abc\nabc\n", ""),
        (ReadLimits(max_line_bytes=3), b"ab\nabc\n", "more than 3 bytes on line 2"),
        (ReadLimits(max_bytes=8), b"abc\nabc\n", ""),
        (ReadLimits(max_bytes=7), b"abc\nabc\n", "more than 7 bytes;"),
        (ReadLimits(max_lines=2), b"abc\nabc\n", ""),
        (ReadLimits(max_lines=1), b"abc\nabc\n", "more than 1 lines"),
    ],
)
def test_lines_are_read_up_to_the_first_that_is_too_much(
    limits: ReadLimits, data: bytes, says: str
) -> None:
    lines = limits.limited_lines(io.BytesIO(data), "a")
    if not says:
        assert list(lines) == [b"abc\n", b"abc\n"]
        return
    assert next(lines) in (b"abc\n", b"ab\n")
    with pytest.raises(NoInputError, match=says):
        next(lines)


def test_the_limits_of_each_kind_of_input() -> None:
    for limits, sizes in (
        (READ_LIMITS, (256 << 20, 2 << 30, 5_000_000, False)),
        (NO_LIMITS, (maxsize, maxsize, maxsize, False)),
        (TEXT_LIMITS, (16 << 20, 16 << 20, 5_000_000, True)),
        (OUTPUT_LIMITS, (256 << 20, 256 << 20, 256 << 20, True)),
    ):
        assert (
            limits.max_line_bytes, limits.max_bytes, limits.max_lines, limits.is_fixed
        ) == sizes  # fmt: skip


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1), (" 1000000 ", 1_000_000), ("2k", 2 << 10), ("64M", 64 << 20), ("3 GiB", 3 << 30),
        ("1Tb", 1 << 40), ("9" * 15, 10**15 - 1),
    ],
)  # fmt: skip
def test_a_size_in_bytes(text: str, size: int) -> None:
    assert parse_byte_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "0G", "-1", "1.5G", "1P", "G", "1 0", "9" * 16])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size; write bytes, or a size like 64M or 1G"):
        parse_byte_size(text)
