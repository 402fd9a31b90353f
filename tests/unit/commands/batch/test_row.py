"""What follows from the figures of a file: its code, its level, and what it is flagged for."""

from typing import Any

import pytest
from unit.commands.batch.rows import AFTER, FAILURE, FAULTS, FIGURES, ROW

from compactctl.commands.batch.report_format import parse_flags
from compactctl.commands.batch.row import BatchRow, RowFailure, failed_row
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


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_what_was_not_read_has_no_figures(status: Any) -> None:
    row = BatchRow(path="a", status=status, failure=FAILURE)
    assert (row.is_read, row.is_empty, row.tokens, row.saved) == (False, False, None, None)


@pytest.mark.parametrize(
    ("status", "code"),
    [("ok", 0), ("unchanged", 0), ("over", 1), ("flagged", 1), ("failed", 66), ("skipped", 0)],
)
def test_a_status_has_its_exit_code(status: Any, code: int) -> None:
    assert replace(ROW, status=status, failure=FAILURE).exit_code == code


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
