"""A batch as a page, as lines, as tests, and in the log of a CI runner."""

import csv
import io
import json
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from unit.commands.batch.rows import AFTER, FAILURE, FAULTS, FIGURES, ROW

from compactctl.commands.batch.batch import BatchResult, BatchTotals
from compactctl.commands.batch.options import BatchGates, BatchOptions
from compactctl.commands.batch.report_format import Status
from compactctl.commands.batch.row import BatchRow
from compactctl.commands.reading.discover import FileChoice
from compactctl.errors import UsageError
from compactctl.model.transcript import Unread
from compactctl.records import replace
from compactctl.views.results.batch_files import (
    annotate,
    batch_annotations,
    batch_csv,
    batch_jsonl,
    batch_junit,
    batch_markdown,
    failing_rows,
    finding,
    report_format,
    runner_of,
)

OVER = replace(ROW, path="over|a.jsonl", status="over", milliseconds=1_500)
FAILED = BatchRow(
    path="in/b.jsonl",
    status="failed",
    failure=replace(FAILURE, error="in/b.jsonl: is 50% bad\x01]"),
)
SKIPPED = BatchRow(path="c.jsonl", status="skipped", failure=FAILURE)
TOTALS = BatchTotals(
    files=1,
    statuses={**dict.fromkeys(get_args(Status), 0), "ok": 1_200, "skipped": 2},
    tokens_before=9_000,
    tokens_after=6_000,
    saved=3_000,
    messages=1,
    lines=4,
    bytes=2_500,
    opaque_lines=0,
    categories={},
    counters=("chars/4", "o200k_base"),
)


def result_of(*rows: BatchRow, totals: BatchTotals = TOTALS, **gates: Any) -> BatchResult:
    options = BatchOptions(files=FileChoice(paths=("in",)), gates=BatchGates(**gates))
    return BatchResult(options=options, rows=rows, totals=totals)


@pytest.mark.parametrize(
    ("path", "asked", "kind"),
    [
        ("a.csv", None, "csv"),
        ("a.CSV", None, "csv"),
        ("a.csv", "md", "md"),
        ("a.txt", "csv", "csv"),
        ("a.xml", None, "junit"),
        ("a", None, "parquet"),
    ],
)
def test_a_report_has_the_format_of_its_name(path: str, asked: str | None, kind: str) -> None:
    assert report_format(path, asked) == kind


def test_a_report_whose_name_means_no_format_is_rejected() -> None:
    with pytest.raises(UsageError, match=r"--report a\.html: cannot write \.html; use parquet, "):
        report_format("a.html", None)


def test_a_page_has_totals_and_what_fails() -> None:
    assert batch_markdown(result_of(ROW, OVER, FAILED)).split("\n") == [
        "## compactctl batch",
        "",
        "| | |",
        "| --- | ---: |",
        "| files | 1 file: 1,200 ok, 2 not a transcript |",
        "| on disk | 2.5 kB |",
        "| tokens | 9,000 |",
        "| saved | 3,000 (33.3%) |",
        "| exit code | 66 |",
        "",
        "| file | status | why |",
        "| --- | --- | --- |",
        "| in/b.jsonl | failed | in/b.jsonl\\: is 50% bad\\\\x01\\] |",
        ("| over\\|a.jsonl | over | the next request holds 80 tokens, 80% of 100 \\(client\\) |"),
        "",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"tokens_before": None}, "| tokens | not added up: counted with chars/4, o200k_base |"),
        ({"saved": None}, "| tokens | 9,000 |"),
    ],
)
def test_a_page_without_sums_does_not_invent_them(changes: dict[str, Any], line: str) -> None:
    lines = batch_markdown(result_of(ROW, totals=replace(TOTALS, **changes))).split("\n")
    assert lines[6:] == [line, "| exit code | 0 |", ""]


def test_a_long_reason_is_cut() -> None:
    long = replace(FAILED, failure=replace(FAILURE, error="x" * 301))
    [line] = [line for line in batch_markdown(result_of(long)).split("\n") if "failed |" in line]
    assert line.endswith(f"| {'x' * 300}… |")


def test_rows_are_lines_of_values() -> None:
    rows = list(csv.DictReader(io.StringIO(batch_csv(result_of(replace(ROW, path="=1+1"), ROW)))))
    assert [row["path"] for row in rows] == ["'=1+1", "a"]
    assert (rows[1]["tokens_before"], rows[1]["status"]) == ("90", "ok")
    lines = batch_jsonl(result_of(ROW, FAILED)).split("\n")
    assert [json.loads(line)["path"] for line in lines[:-1]] == ["a", "in/b.jsonl"]
    assert lines[-1] == ""


def test_files_are_tests_of_a_suite() -> None:
    rows = (replace(ROW, milliseconds=250), OVER, FAILED, SKIPPED)
    root = ET.fromstring(batch_junit(result_of(*rows)).encode())  # noqa: S314 - our own
    [suite] = root
    assert suite.attrib == {
        "name": "compactctl batch", "tests": "4", "failures": "1", "errors": "1", "skipped": "1",
        "time": "1.750",
    }  # fmt: skip
    good, over, failed, skipped = suite
    assert (good.attrib, list(good)) == ({"classname": ".", "name": "a", "time": "0.250"}, [])
    assert (failed.get("classname"), failed.get("name")) == ("in", "b.jsonl")
    assert (over[0].tag, over[0].get("type"), over[0].text) == ("failure", "over", "exit code 1")
    assert (failed[0].tag, failed[0].get("type")) == ("error", "NoInputError")
    assert failed[0].get("message") == "in/b.jsonl: is 50% bad?]"
    assert (skipped[0].tag, skipped[0].get("message")) == ("skipped", "no such file")


def test_the_most_severe_rows_come_first_and_ten_at_most() -> None:
    fuller = replace(
        OVER,
        path="fuller",
        outcome=None,
        figures=replace(FIGURES, totals=replace(FIGURES.totals, unseen=90)),
    )
    rows = failing_rows([ROW, OVER, fuller, FAILED])
    assert [row.path for row in rows] == ["in/b.jsonl", "fuller", "over|a.jsonl"]
    assert len(failing_rows([OVER] * 11)) == 10


@pytest.mark.parametrize(
    ("row", "fail_on", "said"),
    [
        (ROW, (), ""),
        (replace(OVER, outcome=AFTER), (), "the next request holds 40 tokens, 40% of 100 (client)"),
        (BatchRow(path="x", status="failed"), (), "failed"),
        (
            replace(ROW, figures=replace(FIGURES, faults=FAULTS, tool_errors=1)),
            ("errors", "refused", "usage"),
            "refused (text-empty on line 1,204), errors (failed tool calls)",
        ),
        (
            replace(
                ROW,
                figures=replace(
                    FIGURES, file=replace(FIGURES.file, unread=Unread(fields={"x": 90}, read=1))
                ),
            ),
            ("opaque",),
            "opaque (lines or text not recognized); 90 bytes of text in `x` was not read",
        ),
    ],
)
def test_a_row_tells_all_it_fails_for(row: BatchRow, fail_on: Any, said: str) -> None:
    assert finding(row, fail_on) == said


@pytest.mark.parametrize(
    ("runner", "lines"),
    [
        (
            "github",
            [
                "::error file=in/b.jsonl,title=compactctl batch::in/b.jsonl: is 50%25 bad\\x01]",
                (
                    "::error file=over|a.jsonl,title=compactctl batch::over|a.jsonl: the next "
                    "request holds 80 tokens, 80%25 of 100 (client)"
                ),
            ],
        ),
        (
            "azure",
            [
                (
                    "##vso[task.logissue type=error;sourcepath=in/b.jsonl]"
                    "in/b.jsonl: is 50%AZP25 bad\\x01%5D"
                ),
                (
                    "##vso[task.logissue type=error;sourcepath=over|a.jsonl]over|a.jsonl: the next "
                    "request holds 80 tokens, 80%AZP25 of 100 (client)"
                ),
            ],
        ),
    ],
)
def test_the_log_of_a_runner_names_what_fails(runner: str, lines: list[str]) -> None:
    assert list(batch_annotations(result_of(ROW, OVER, FAILED), runner)) == lines
    assert list(batch_annotations(result_of(ROW), runner)) == []


def test_a_section_of_a_log_holds_what_fails() -> None:
    first, *lines, last = batch_annotations(result_of(OVER, FAILED), "gitlab")
    assert first.endswith(":compactctl\r\x1b[0Kcompactctl batch: 2 files")
    assert [line.partition(":")[0] for line in lines] == ["in/b.jsonl", "over|a.jsonl"]
    assert last.startswith("\x1b[0Ksection_end:")


@pytest.mark.parametrize(
    ("variables", "runner"),
    [
        ({}, ""),
        ({"GITHUB_ACTIONS": ""}, ""),
        ({"GITHUB_ACTIONS": "true"}, "github"),
        ({"TF_BUILD": "True"}, "azure"),
        ({"GITLAB_CI": "true", "CI": "true"}, "gitlab"),
    ],
)
def test_a_runner_is_known_by_its_variable(variables: dict[str, str], runner: str) -> None:
    assert runner_of(variables) == runner


@pytest.mark.parametrize(
    ("runner", "expected"),
    [("auto", (1, True)), ("github", (1, True)), ("azure", (1, False)), ("none", (0, False))],
)
def test_a_summary_is_added_on_github(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    runner: str,
    expected: tuple[int, bool],
) -> None:
    count, is_summed = expected
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    annotate(result_of(FAILED), runner)
    assert len(capsys.readouterr().err.splitlines()) == count
    text = summary.read_text()
    assert text.startswith("before\n")
    assert ("## compactctl batch" in text) is is_summed


def test_a_summary_that_is_full_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    page = len(batch_markdown(result_of(FAILED)).encode())
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for size, is_added in (((1 << 20) - page, False), ((1 << 20) - page - 1, True)):
        summary.write_bytes(b"x" * (size - 1) + b"\n")
        annotate(result_of(FAILED), "github")
        assert (summary.stat().st_size > size) is is_added
