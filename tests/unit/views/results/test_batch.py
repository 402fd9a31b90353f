"""Many files in one list, their errors and sums, and what is said of them on standard error."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest
from unit.commands.batch.rows import AFTER, FAILURE, FAULTS, FIGURES, MEASURE, ROW
from unit.views.results.screens import titles, words

from compactctl.commands.batch.batch import BatchResult, BatchTotals
from compactctl.commands.batch.options import BatchGates, BatchOptions
from compactctl.commands.batch.report import BaselineComparison
from compactctl.commands.batch.report_format import Status
from compactctl.commands.batch.row import BatchRow, RowFailure, RowOutput
from compactctl.commands.output_files import WrittenFile
from compactctl.commands.reading.discover import FileChoice
from compactctl.model.transcript import Unread
from compactctl.records import replace
from compactctl.views.results.batch import (
    batch_document,
    batch_messages,
    batch_terminal,
    listed_files,
)

FAILED = BatchRow(path="b.jsonl", failure=FAILURE)
SKIPPED = BatchRow(path="c.jsonl", is_skipped=True, failure=FAILURE)
SMALLER = replace(ROW, outcome=AFTER)
EMPTY = replace(AFTER.after, tokens=0, largest_counted=0, unseen=0)
FULLER = replace(AFTER.after, largest_counted=80)
OPTIONS = BatchOptions(files=FileChoice(paths=("in",)))
TOTALS = BatchTotals(
    files=1_200,
    statuses={**dict.fromkeys(get_args(Status), 0), "ok": 1_199, "failed": 1},
    tokens_before=9_000,
    tokens_after=None,
    saved=None,
    messages=1,
    lines=4,
    bytes=2_500,
    opaque_lines=0,
    categories={},
    counters=("o200k_base",),
)


def result_of(
    *rows: BatchRow, totals: BatchTotals = TOTALS, options: BatchOptions = OPTIONS, **changes: Any
) -> BatchResult:
    return BatchResult(options=options, rows=rows, totals=totals, **changes)


def lines(*rows: BatchRow, **changes: Any) -> list[str]:
    return words(batch_terminal(result_of(*rows, **changes)))


def conversation(number: int, **changes: Any) -> BatchRow:
    return replace(ROW, path=f"set.parquet#{number}", row=number, **changes)


def test_files_are_rows_and_sums() -> None:
    assert lines(ROW, SKIPPED) == [
        (
            "1,200 files: 1 ok, 1 not a transcript; the fullest is at 80% of where its client "
            "compacts"
        ),
        "",
        "File Format Model Tokens Context Used Status",
        "─",
        "a codex gpt-5 90 80 80.0% ok",
        "",
        "on disk 2.5 kB in 4 lines",
        "counted 9,000 tokens in 1 message with o200k_base",
    ]


def test_compacted_files_are_shown_before_and_after() -> None:
    totals = replace(TOTALS, tokens_after=6_000, saved=3_000, opaque_lines=2, counters=())
    found = lines(SMALLER, totals=totals, options=replace(OPTIONS, compacts=True))
    assert found[:5] == [
        "1,200 files: 1 ok; 9,000 → 6,000 tokens (33% saved)",
        "",
        "File Format Model Tokens before Tokens after Saved Context Used Status",
        "─",
        "a codex gpt-5 90 40 50 40 40.0% ok",
    ]
    assert found[7:] == [
        "not recognized 2 of these lines",
        "before 9,000 tokens in 1 message",
        "after 6,000 tokens",
        "saved 3,000 tokens (33.3%)",
    ]


def test_what_failed_is_told_first_with_its_code() -> None:
    named = replace(FAILED, failure=replace(FAILURE, error="b.jsonl: is broken"))
    assert lines(ROW, FAILED, named)[2:9] == [
        "failed b.jsonl: no such file (exit 66)",
        "failed b.jsonl: is broken (exit 66)",
        "",
        "File Format Model Tokens Context Used Status",
        "─",
        "b.jsonl failed",
        "a codex gpt-5 90 80 80.0% ok",
    ]


REFUSED = replace(FIGURES, faults=FAULTS)
OVER_LIMIT = replace(ROW, path="my run", limit=79, gates=("fail-over-tokens",))


def test_what_is_wrong_comes_first_with_its_reason_and_the_command_to_type() -> None:
    rows = (
        ROW,
        replace(SMALLER, path="d", target=30),
        replace(ROW, path="e", figures=REFUSED),
        FAILED,
        OVER_LIMIT,
        replace(OVER_LIMIT, path="fuller", outcome=replace(AFTER, after=FULLER)),
    )
    assert lines(*rows)[2:13] == [
        "over limit fuller: 90 tokens, 11 over the limit of 79",
        "over limit my run: 80 tokens, 1 over the limit of 79",
        "failed b.jsonl: no such file (exit 66)",
        "will be refused e: text-empty on line 1,204",
        "over target d: 40 tokens, 10 over the target of 30",
        "",
        "next compactctl compact fuller",
        "next compactctl check e",
        "next compactctl compact d --target 30 --explain --dry-run",
        "",
        "File Format Model Tokens Context Used Status",
    ]


def test_a_long_list_is_counted_unless_all_is_asked_for() -> None:
    rows = [replace(ROW, path=f"f{n}") for n in range(20)]
    assert "File Format Model Tokens Context Used Status" in lines(*rows, SKIPPED)
    same = replace(ROW, path="same", outcome=replace(AFTER, is_unchanged=True))
    found = lines(*rows, same, OVER_LIMIT)
    assert found[2:7] == [
        "over limit my run: 80 tokens, 1 over the limit of 79",
        "",
        "next compactctl compact 'my run'",
        "",
        "21 more: 1 unchanged, 20 ok; --all lists every file",
    ]
    listed = lines(*rows, same, OVER_LIMIT, options=replace(OPTIONS, show_all=True))
    assert [line.split()[0] for line in listed[8:30]] == [
        "my", "same", *(f"f{n}" for n in range(20)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "more"),
    [(5, []), (6, ["1 more conversation"]), (8, ["3 more conversations"])],
)
def test_of_conversations_the_first_errors_are_told(count: int, more: list[str]) -> None:
    rows = [conversation(n, failure=FAILURE, figures=None) for n in range(1, count + 1)]
    found = lines(*rows)
    assert len([line for line in found if line.startswith("failed set.parquet#")]) == 5
    assert [line.partition(" of ")[0] for line in found if " more conversation" in line] == more


def test_a_data_set_is_one_row() -> None:
    other = replace(MEASURE, model="gpt-4")
    bigger = replace(FIGURES, totals=replace(FIGURES.totals, largest_counted=90, tokens=95))
    rows = [
        ROW,
        conversation(1, outcome=AFTER),
        conversation(2, figures=bigger, measure=other, limit=100),
        conversation(3, outcome=replace(AFTER, after=EMPTY, is_unchanged=True), figures=None),
        FAILED,
    ]
    first, listed, last = listed_files(rows)
    assert (first.path, last.path) == ("a", "b.jsonl")
    assert (listed.path, listed.format, listed.model) == ("set.parquet", "codex", None)
    assert (listed.tokens_before, listed.tokens_after, listed.saved) == (185, 40, 50)
    assert (listed.context, listed.used, listed.status) == (110, 1.1, "over limit")
    assert (last.tokens_before, last.used, last.format) == (None, None, None)
    found = lines(*rows[1:4])
    assert found[0].startswith(
        "1,200 conversations: 1 over limit, 1 unchanged, 1 ok; the fullest is at 110% of "
    )
    assert found[2] == "over limit set.parquet#2: 110 tokens, 10 over the limit of 100"
    assert found[6] == "set.parquet codex 185 110 110.0% over limit"
    assert found[8] == "unpacked 2.5 kB in 4 lines"


def test_a_file_of_which_much_was_not_read_is_incomplete() -> None:
    unread = replace(FIGURES.file, unread=Unread(fields={"x": 90}, read=10))
    row = replace(ROW, figures=replace(FIGURES, file=unread))
    found = lines(row)
    assert found[2] == "incomplete a: 90 bytes of text in `x` was not read"
    assert found[8].endswith(" incomplete")
    assert list(batch_messages(result_of(row, row))) == [
        "warning: text was not read in 2 files; see compactctl check a"
    ]


def test_tokens_of_two_counters_are_told_one_by_one() -> None:
    totals = replace(TOTALS, counters=("chars/4", "o200k_base"))
    other = replace(SMALLER, measure=replace(MEASURE, counter="chars/4"))
    assert lines(ROW, other, totals=totals)[7:] == [
        "counted 90 tokens in 4 messages with chars/4",
        "counted 90 tokens in 4 messages with o200k_base",
        "not added up, since the counters differ",
    ]
    compacting = replace(OPTIONS, compacts=True)
    assert lines(ROW, other, totals=totals, options=compacting)[7:9] == [
        "counted 90 tokens in 4 messages with chars/4; 50 saved (55.6%)",
        "counted 90 tokens in 4 messages with o200k_base; 0 saved (0.0%)",
    ]


def messages(*rows: BatchRow, **changes: Any) -> list[str]:
    return list(batch_messages(result_of(*rows, **changes)))


def written(path: str, *, changed: bool) -> BatchRow:
    outcome = replace(AFTER, operation="op" if changed else None)
    return replace(ROW, outcome=outcome, output=RowOutput(path=path, sha256="", archive=None))


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([written("x", changed=True)], "wrote 1 transcript; undo one with: compactctl rewind FILE"),
        ([written("x", changed=False)], "wrote 1 transcript, none of them compacted"),
        (
            [written("x", changed=True), written("y", changed=False)],
            "wrote 2 transcripts, 1 of them compacted; undo one with: compactctl rewind FILE",
        ),
        (
            [written("x", changed=False), written("x", changed=True)],
            "wrote 1 transcript; undo one with: compactctl rewind FILE",
        ),
        (
            [written("x", changed=True), written("x", changed=False)],
            "wrote 1 transcript; undo one with: compactctl rewind FILE",
        ),
    ],
)
def test_what_was_written_is_counted(rows: Sequence[BatchRow], line: str) -> None:
    assert messages(*rows) == [line]


def test_a_compaction_that_wrote_nothing_says_so() -> None:
    assert messages(ROW) == []
    assert messages(ROW, options=replace(OPTIONS, compacts=True)) == ["no transcript was written"]


def test_reports_come_before_tables() -> None:
    files = (
        WrittenFile(path="t", kind="table", rows=2, warnings=("odd",)),
        WrittenFile(path="r", kind="report", rows=1),
    )
    assert messages(ROW, written=files) == [
        "warning: odd", "wrote r (1 row)", "wrote t (2 rows)",
    ]  # fmt: skip


def gated(*rows: BatchRow, **gates: Any) -> list[str]:
    return messages(*rows, options=replace(OPTIONS, gates=BatchGates(**gates)))


def over(row: BatchRow = ROW, **changes: Any) -> BatchRow:
    return replace(row, limit=79, gates=("fail-over",), **changes)


def test_gates_are_told_with_their_limits() -> None:
    own = replace(ROW, measure=replace(MEASURE, base="window"))
    assert gated(over(), fail_over=0.85) == [
        "1 file over the limit: 85% of where its client compacts"
    ]
    [line] = gated(own, ROW, fail_over=0.8, fail_over_tokens=9_000)
    assert line == (
        "0 files over the limit: 80% of where its client compacts or the window or 9,000 tokens"
    )
    assert gated(FAILED, fail_over=0.8) == ["0 files over the limit: 80% of what fits"]
    assert gated(over(conversation(1)), fail_over_tokens=5) == [
        "1 conversation over the limit: 5 tokens"
    ]
    unread = replace(FIGURES.file, unread=Unread(fields={"x": 90}, read=10))
    unsure = replace(ROW, figures=replace(FIGURES, file=unread), gates=("fail-over-tokens",))
    assert gated(unsure, over(), fail_over_tokens=79)[1:] == [
        "1 file not read in full: the size is unknown",
        "1 file over the limit: 79 tokens",
    ]


def test_what_must_fit_is_counted() -> None:
    options = replace(OPTIONS, require_fit=True)
    misfit = replace(ROW, target=79, gates=("require-fit",))
    assert messages(ROW, misfit, options=options) == ["1 file not fitting: --require-fit"]


def test_a_code_that_is_not_returned_is_told() -> None:
    grown = BaselineComparison(findings=(), compared=())
    internal = replace(FAILED, failure=replace(FAILURE, exit_code=70))
    assert gated(over(), FAILED, FAILED, fail_over=0.8)[-1] == (
        "exit code 1; not returned: 66 from 2 files"
    )
    assert messages(internal, growth=grown)[-1] == "exit code 70; not returned: 1 from --baseline"
    assert messages(FAILED) == []


def test_the_formats_are_listed_once() -> None:
    failure = replace(FAILURE, error_class="NotATranscriptError", exit_code=4)
    unknown = replace(FAILED, failure=failure)
    [line] = messages(unknown, unknown)
    assert line.startswith("formats: pi, ")
    assert messages(ROW, replace(unknown, is_skipped=True)) == []


def test_flagged_files_are_counted() -> None:
    refused = replace(ROW, figures=replace(FIGURES, faults=FAULTS, tool_errors=1))
    assert gated(ROW, refused, fail_on=("refused", "opaque")) == ["1 file flagged: refused in 1"]
    assert gated(ROW, fail_on=("refused", "opaque")) == ["0 files flagged"]
    doubted = replace(ROW, path="my run", figures=replace(FIGURES, is_doubted=True))
    assert gated(ROW, doubted, fail_on=("usage",)) == [
        (
            "warning: reported usage does not match the counts in 1 file; "
            "see compactctl check 'my run'"
        ),
        "1 file flagged: usage in 1",
    ]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([SKIPPED], "no transcript found: no format recognizes the file"),
        ([SKIPPED] * 3, "no transcript found: no format recognizes any of 3 files"),
    ],
)
def test_a_folder_without_transcripts_is_told(rows: list[BatchRow], line: str) -> None:
    assert messages(*rows) == [line]


def test_files_whose_messages_an_option_would_read_are_told() -> None:
    hint = RowFailure(error_class="", error="see --messages-at", exit_code=65)
    rows = [ROW, SKIPPED, replace(SKIPPED, failure=hint), replace(FAILED, failure=hint)]
    assert messages(*rows) == [
        "warning: 1 skipped file may contain messages elsewhere; see compactctl check c.jsonl"
    ]


def test_growth_is_told() -> None:
    growth = BaselineComparison(findings=(), compared=("shop",))
    assert messages(ROW, growth=growth) == ["nothing grew by more than 10.0% (1 project compared)"]


def test_a_document_has_sums_and_rows() -> None:
    document = batch_document(result_of(ROW, FAILED, options=replace(OPTIONS, compacts=True)))
    assert (document["compacted"], document["written"], document["exitCode"]) == (True, False, 66)
    assert document["totals"]["failed"] == 1
    one, other = document["files"]
    assert (one["status"], one["tokensBefore"], one["window"], one["tools"]) == ("ok", 90, 200, [])
    assert (other["errorClass"], other["exitCode"]) == ("NoInputError", 66)


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (78, ["File Model Tokens before Tokens after Saved Context Used Status"]),
        (70, ["File Tokens before Tokens after Saved Context Used Status"]),
        (63, ["File Tokens before Tokens after Context Used Status"]),
        (56, ["File Tokens before Tokens after Used Status"]),
        (47, ["File Tokens before Tokens after Status"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    assert (
        titles(batch_terminal(result_of(SMALLER, options=replace(OPTIONS, compacts=True))), width)
        == shown_titles
    )
    assert (
        titles(
            batch_terminal(result_of(SMALLER, options=replace(OPTIONS, compacts=True))), width + 1
        )
        != shown_titles
    )
