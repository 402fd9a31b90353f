"""Which token counts of a rollout report a new request."""

from typing import Any

import pytest

from compactctl.clients.codex.usage import TokenCountReader
from compactctl.clients.records.decode import Decoded, decode_lines
from compactctl.model.message import ReportedUsage
from compactctl.model.transcript import RawLine


def line(index: int, data: bytes = b"{}\n") -> Decoded:
    return next(iter(decode_lines([RawLine(index, data)])))


def count(total: object, window: object = None, **last: object) -> dict[str, Any]:
    return {
        "info": {
            "total_token_usage": total,
            "last_token_usage": last,
            "model_context_window": window,
        }
    }


def usages(*counts: tuple[dict[str, Any], bool]) -> list[ReportedUsage | None]:
    """Return what is reported by each count, which is due or not."""
    reader = TokenCountReader()
    return [
        reader.new_usage(payload, line(index), is_due=is_due)
        for index, (payload, is_due) in enumerate(counts)
    ]


ONE, TWO = count(10, input_tokens=9, output_tokens=1), count(30, input_tokens=19, output_tokens=1)
USAGE, NEXT = ReportedUsage(context=9, output=1), ReportedUsage(context=19, output=1)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([(ONE, False)], [USAGE]),
        # The same total again is the same request, unless the total never grows and one is due.
        ([(ONE, True), (ONE, False)], [USAGE, None]),
        ([(ONE, True), (ONE, True)], [USAGE, USAGE]),
        ([(ONE, True), (TWO, False), (TWO, True)], [USAGE, NEXT, None]),
        ([(ONE, True), (TWO, True), (ONE, False)], [USAGE, NEXT, USAGE]),
        ([({}, True), (ONE, True)], [None, USAGE]),
        ([(count(None, input_tokens=9), True)], [None]),
    ],
)
def test_a_total_that_does_not_change_is_no_new_request(
    counts: list[tuple[dict[str, Any], bool]], expected: list[ReportedUsage | None]
) -> None:
    assert usages(*counts) == expected


@pytest.mark.parametrize(
    ("last", "usage"),
    [
        ({}, None),
        ({"total_tokens": 7}, None),
        ({"total_tokens": 7, "input_tokens": 0, "output_tokens": 0}, None),
        ({"total_tokens": 7, "output_tokens": 2}, ReportedUsage(context=0, output=2)),
        ({"total_tokens": 7, "input_tokens": 2}, ReportedUsage(context=2)),
        ({"total_tokens": 0, "input_tokens": 0}, ReportedUsage(context=0)),
        (
            {"input_tokens": 9, "cached_input_tokens": 4, "reasoning_output_tokens": 3},
            ReportedUsage(context=9, cache_read=4, reasoning=3),
        ),
        ({"input_tokens": 9, "reasoning_output_tokens": -3}, ReportedUsage(context=9)),
    ],
)
def test_a_total_without_input_and_output_is_an_estimate(
    last: dict[str, object], usage: ReportedUsage | None
) -> None:
    assert usages((count(10, **last), True)) == [usage]


def test_the_newest_window_and_the_line_of_the_newest_count_are_kept() -> None:
    reader = TokenCountReader()
    for index, (payload, data, window, where) in enumerate(
        (
            (count(10, 1, input_tokens=9), b"{}\n", 1, 0),
            (count(10, 0), b"{}\n", 1, 0),
            (count(20, 200, total_tokens=9), b"{}\n", 200, 2),
            (count(30, "300", input_tokens=9), b"{\n", 300, None),
            (count(40, -1, input_tokens=9), b"{}\n", 300, 4),
            (count(50, None, output_tokens=9), b"{}\n", 300, None),
        )
    ):
        reader.new_usage(payload, line(index, data), is_due=True)
        assert (reader.window, reader.line) == (window, where), index
