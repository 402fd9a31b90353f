"""Sums over the rows of a batch."""

from unit.commands.batch.rows import AFTER, FAILURE, FIGURES, MEASURE, ROW

from compactctl.commands.batch.batch import add_up
from compactctl.commands.batch.row import BatchRow
from compactctl.records import replace

FAILED = BatchRow(path="b", failure=FAILURE)
COMPACTED = replace(ROW, path="c", outcome=AFTER)


def test_what_was_measured_is_added_up() -> None:
    user = replace(FIGURES, categories={"user": 50, "system prompt": 40})
    found = add_up(
        [replace(ROW, figures=user), replace(ROW, figures=user), FAILED], compacted=False
    )
    assert (found.files, found.statuses["ok"], found.statuses["failed"]) == (3, 2, 1)
    assert set(found.statuses.values()) == {0, 1, 2}
    assert (found.tokens_before, found.tokens_after, found.saved) == (180, None, None)
    assert (found.messages, found.lines, found.bytes, found.opaque_lines) == (8, 8, 800, 0)
    assert found.categories == {"user": 100, "system prompt": 80}
    assert found.counters == ("o200k_base",)


def test_a_compaction_has_sums_of_after_and_of_what_it_saved() -> None:
    found = add_up([COMPACTED, COMPACTED, FAILED], compacted=True)
    assert (found.tokens_before, found.tokens_after, found.saved) == (180, 80, 100)


def test_tokens_of_two_counters_are_not_added() -> None:
    other = replace(COMPACTED, measure=replace(MEASURE, counter="chars/4"))
    found = add_up([COMPACTED, other], compacted=True)
    assert found.counters == ("chars/4", "o200k_base")
    assert (found.tokens_before, found.tokens_after, found.saved) == (None, None, None)
    assert (found.files, found.messages) == (2, 8)


def test_of_no_file_the_sums_are_zero() -> None:
    found = add_up([], compacted=True)
    assert (found.files, found.tokens_before, found.tokens_after, found.saved) == (0, 0, 0, 0)
    assert found.counters == ()
