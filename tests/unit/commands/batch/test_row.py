"""What follows from the figures of a file: its code, its level, and what it is flagged for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.commands.batch.rows import AFTER, FAILURE, FAULTS, FIGURES, MEASURE, ROW

from compactctl.clients.registry import format_names
from compactctl.commands.batch.report_format import parse_flags
from compactctl.commands.batch.row import BatchRow, RowFailure, RowOutcome, failed_row, severity
from compactctl.commands.measuring.next_request import Totals
from compactctl.errors import UsageError
from compactctl.model.transcript import Unread
from compactctl.records import replace


def test_a_file_has_sizes_before_and_after_its_stages() -> None:
    row = replace(ROW, outcome=AFTER)
    assert (ROW.tokens, ROW.saved, ROW.context) == (90, None, 80)
    assert (row.tokens, row.saved, row.context) == (90, 50, 40)
    assert (ROW.used, ROW.level) == (0.8, "warning")
    assert (row.used, row.level) == (0.4, "none")
    assert (ROW.ratio_before, ROW.ratio_after) == (0.5, None)
    assert (row.ratio_before, row.ratio_after) == (0.5, 0.25)


def test_a_conversation_without_messages_is_empty() -> None:
    row = BatchRow(path="a")
    assert (row.is_read, row.is_empty, row.tokens, row.saved) == (True, True, 0, None)
    assert (row.context, row.used, row.level, row.flags, row.unread) == (None, None, None, (), None)
    assert (row.ratio_before, row.ratio_after) == (None, None)
    assert replace(row, outcome=AFTER).ratio_after is None


@pytest.mark.parametrize("is_skipped", [False, True])
def test_what_was_not_read_has_no_figures(*, is_skipped: bool) -> None:
    row = BatchRow(path="a", is_skipped=is_skipped, failure=FAILURE)
    assert (row.is_read, row.is_empty, row.tokens, row.saved) == (False, False, None, None)


SAME = replace(AFTER, is_unchanged=True)
HALF_READ = replace(FIGURES.file, unread=Unread(fields={"x": 90}, read=10))
REFUSED = replace(FIGURES, faults=FAULTS)


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({}, "ok", 0),
        ({"outcome": AFTER}, "ok", 0),
        ({"outcome": SAME}, "unchanged", 0),
        ({"outcome": SAME, "target": 39}, "over target", 0),
        ({"outcome": SAME, "target": 40}, "unchanged", 0),
        ({"outcome": AFTER, "target": 39}, "over target", 0),
        ({"outcome": AFTER, "target": 39, "limit": 39}, "over limit", 0),
        ({"limit": 79}, "over limit", 0),
        ({"limit": 79, "gates": ("fail-over",)}, "over limit", 1),
        ({"limit": 80}, "ok", 0),
        ({"measure": replace(MEASURE, window=79)}, "over limit", 0),
        ({"measure": replace(MEASURE, window=79), "limit": 500}, "ok", 0),
        ({"gates": ("fail-on",)}, "flagged", 1),
        ({"outcome": SAME, "gates": ("fail-on",)}, "flagged", 1),
        ({"figures": replace(FIGURES, file=HALF_READ)}, "incomplete", 0),
        ({"figures": replace(FIGURES, file=HALF_READ), "limit": 79}, "incomplete", 0),
        ({"figures": REFUSED}, "will be refused", 0),
        ({"figures": REFUSED, "outcome": AFTER}, "ok", 0),
        ({"outcome": replace(AFTER, is_refused=True)}, "will be refused", 0),
        ({"target": 79, "gates": ("require-fit",)}, "over target", 5),
        ({"failure": FAILURE}, "failed", 66),
        ({"failure": FAILURE, "is_skipped": True}, "skipped", 0),
    ],
)
def test_a_row_has_its_status_and_exit_code(changes: Any, status: str, code: int) -> None:
    row = replace(ROW, **changes)
    assert (row.status, row.exit_code) == (status, code)
    assert row.is_bad is (status not in {"ok", "unchanged", "skipped"})


SIZES = st.none() | st.integers(0, 300)
GATES = st.sampled_from([(), ("fail-on",), ("fail-over", "fail-on"), ("require-fit",)])


@given(
    context=st.integers(0, 300),
    sizes=st.tuples(SIZES, SIZES),
    is_=st.fixed_dictionaries(dict.fromkeys(("unread", "refused", "unchanged"), st.booleans())),
    gates=GATES,
)
def test_no_row_is_called_good_that_is_not(
    context: int, sizes: tuple[int | None, int | None], is_: dict[str, bool], gates: Any
) -> None:
    limit, target = sizes
    totals = Totals(messages=1, tokens=context, largest_counted=context, unseen=0)
    row = replace(
        ROW,
        figures=replace(FIGURES, file=HALF_READ if is_["unread"] else FIGURES.file),
        outcome=RowOutcome(after=totals, is_refused=is_["refused"], is_unchanged=is_["unchanged"]),
        limit=limit,
        target=target,
        gates=gates,
    )
    allowed = (MEASURE.window if limit is None else limit, target)
    is_within = all(context <= size for size in allowed if size is not None)
    is_good = is_within and not (is_["unread"] or is_["refused"] or gates)
    assert (row.status in {"ok", "unchanged"}) is is_good
    assert (row.exit_code == 0) is (not gates)


@given(codes=st.lists(st.sampled_from([0, 1, 3, 4, 5, 6, 7, 8, 70, 74, 75]), max_size=6))
def test_the_code_of_a_batch_hides_no_gate_and_no_failure(codes: list[int]) -> None:
    """Trouble of the program or machine first, then gates, then other failures; never success."""
    worst = min(codes, key=severity, default=0)
    assert (worst == 0) is not any(codes)
    if max(codes, default=0) >= 70:
        assert worst == max(codes)
    elif {1, 5} & {*codes}:
        assert worst == max({1, 5} & {*codes})
    else:
        assert worst == max(codes, default=0)


@pytest.mark.parametrize(
    ("path", "row", "data_set"),
    [("a.jsonl", None, None), ("a.parquet#12", 12, "a.parquet"), ("a#1#2", 2, "a#1")],
)
def test_a_row_of_a_data_set_names_it(path: str, row: int | None, data_set: str | None) -> None:
    assert BatchRow(path=path, row=row).data_set == data_set


@pytest.mark.parametrize(
    ("changes", "flags"),
    [
        ({}, ()),
        ({"file": replace(FIGURES.file, opaque_lines=1)}, ("opaque",)),
        (
            {"file": replace(FIGURES.file, unread=Unread(fields={"x": 90}, read=10))},
            ("opaque",),
        ),
        ({"faults": FAULTS, "tool_errors": 1, "is_doubted": True}, ("refused", "errors", "usage")),
        ({"faults": FAULTS[1:], "orphans": 1}, ("orphans",)),
        ({"totals": replace(FIGURES.totals, unseen=140)}, ()),
        ({"totals": replace(FIGURES.totals, unseen=141)}, ("over-window",)),
    ],
)
def test_a_file_is_flagged_for_what_is_wrong_with_it(
    changes: dict[str, Any], flags: tuple[str, ...]
) -> None:
    row = replace(ROW, figures=replace(FIGURES, **changes))
    assert row.flags == flags


@pytest.mark.parametrize(
    ("n_bytes", "unread"), [(10, None), (11, "11 bytes of text in `x` was not read")]
)
def test_more_than_a_tenth_of_unread_text_is_told(n_bytes: int, unread: str | None) -> None:
    file = replace(FIGURES.file, unread=Unread(fields={"x": n_bytes}, read=90))
    row = replace(ROW, figures=replace(FIGURES, file=file))
    assert row.unread == unread
    assert row.flags == (() if unread is None else ("opaque",))


def test_flags_are_named_with_commas_between_them() -> None:
    assert parse_flags(" opaque, ,usage ") == ("opaque", "usage")
    assert parse_flags("") == ()
    with pytest.raises(UsageError, match="'big' must be one of opaque, refused, errors"):
        parse_flags("usage,big")


def test_an_error_is_told_on_one_line() -> None:
    row = failed_row("a", "OSError", "no\n such  file", 74)
    assert row.failure == RowFailure(error_class="OSError", error="no such file", exit_code=74)
    assert (row.path, row.status, row.exit_code) == ("a", "failed", 74)


def test_an_error_does_not_list_the_formats() -> None:
    message = f"a: unknown; name one with --format ({format_names()})"
    assert failed_row("a", "NotATranscriptError", message, 4).failure == RowFailure(
        error_class="NotATranscriptError",
        error="a: unknown; name one with --format",
        exit_code=4,
    )
