"""A harness asks about one text: an error of an API, the output of a tool."""

import pytest

from compactctl import context_overflow, limit_output
from compactctl.errors import UsageError


def test_an_overflow_is_told_from_other_errors() -> None:
    overflow = context_overflow("prompt is too long: 210000 tokens > 200000 maximum")
    assert (overflow.overflow, overflow.limit) == (True, 200_000)
    assert not context_overflow("").overflow


def test_an_output_is_cut_to_its_limits() -> None:
    lines = "compiled\n" * 9_000
    assert len(limit_output(lines, max_bytes=1_000)) <= 1_000
    assert limit_output(lines, max_bytes=0, max_lines=0) == lines
    for limits in ({"max_bytes": -1}, {"max_lines": -1}):
        with pytest.raises(UsageError, match="0 or more"):
            limit_output(lines, **limits)
