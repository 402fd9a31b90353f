"""A batch as a page, as lines, as tests, and in the log of a CI runner."""

import csv
import io
import json
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from unit.commands.batch.rows import AFTER, FAILURE, FAULTS, FIGURES, MEASURE, ROW

from compactctl.commands.batch.batch import BatchResult, BatchTotals
from compactctl.commands.batch.options import BatchGates, BatchOptions
from compactctl.commands.batch.report import BaselineComparison, GrowthFinding
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
    report_format,
    runner_of,
)
from compactctl.views.results.batch_findings import find_failures, reason_text

OVER = replace(ROW, path="over|a.jsonl", limit=79, gates=("fail-over-tokens",), milliseconds=1_500)
FAILED = BatchRow(
    path="in/b.jsonl",
    failure=replace(FAILURE, error="in/b.jsonl: is 50% bad\x01]"),
)
SKIPPED = BatchRow(path="c.jsonl", is_skipped=True, failure=FAILURE)
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
        "| exit code | 1 |",
        "",
        "| file | status | why |",
        "| --- | --- | --- |",
        "| over\\|a.jsonl | over limit | 80 tokens, 1 over the limit of 79 |",
        "| in/b.jsonl | failed | in/b.jsonl\\: is 50% bad\\\\x01\\] |",
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
    over, failed, good, skipped = suite
    assert (good.attrib, list(good)) == ({"classname": ".", "name": "a", "time": "0.250"}, [])
    assert (failed.get("classname"), failed.get("name")) == ("in", "b.jsonl")
    assert (over[0].tag, over[0].get("type"), over[0].text) == (
        "failure",
        "over limit",
        "exit code 1",
    )
    assert (failed[0].tag, failed[0].get("type")) == ("error", "NoInputError")
    assert failed[0].get("message") == "in/b.jsonl: is 50% bad?]"
    assert (skipped[0].tag, skipped[0].get("message")) == ("skipped", "no such file")


GROWN = BaselineComparison(
    findings=(GrowthFinding(project="shop", figure="context", before=1_000, after=4_000),),
    compared=("shop",),
    added=("bank",),
)
SHOP = "shop: the median request grew from 1,000 to 4,000"


def test_a_baseline_is_a_test_too() -> None:
    grown = replace(result_of(ROW), growth=GROWN)
    root = ET.fromstring(batch_junit(grown).encode())  # noqa: S314 - our own
    [suite] = root
    assert (suite.get("tests"), suite.get("failures"), grown.exit_code) == ("2", "1", 1)
    assert (suite[0].get("name"), suite[0][0].get("message")) == ("--baseline", SHOP)
    same = replace(result_of(ROW), growth=replace(GROWN, findings=()))
    root = ET.fromstring(batch_junit(same).encode())  # noqa: S314 - our own
    assert (root[0].get("failures"), list(root[0][0]), same.exit_code) == ("0", [], 0)


def test_a_gate_that_an_error_reports_is_a_failure() -> None:
    misfit = replace(FAILED, failure=replace(FAILURE, exit_code=5))
    root = ET.fromstring(batch_junit(result_of(misfit, FAILED)).encode())  # noqa: S314 - our own
    assert [case[0].tag for case in root[0]] == ["failure", "error"]


def test_what_the_gates_found_comes_before_what_could_not_be_read() -> None:
    fuller = replace(
        OVER, path="fuller", figures=replace(FIGURES, totals=replace(FIGURES.totals, unseen=90))
    )
    broken = replace(FAILED, path="x", failure=replace(FAILURE, exit_code=70))
    result = replace(result_of(ROW, FAILED, OVER, fuller, broken), growth=GROWN)
    paths = [finding.path for finding in find_failures(result)]
    assert paths == ["x", None, "fuller", "over|a.jsonl", "in/b.jsonl"]


@pytest.mark.parametrize("runner", ["github", "azure", "gitlab"])
def test_ten_findings_are_annotated_and_the_others_counted(runner: str) -> None:
    ten = list(batch_annotations(result_of(*[OVER] * 10), runner))
    more = list(batch_annotations(result_of(*[OVER] * 18, *[FAILED] * 6), runner))
    assert len(more) == len(ten) + 1
    assert sum("over limit" in line for line in more) == 10
    assert not any("failed" in line or "bad" in line for line in more)
    assert sum("and 14 more" in line for line in more) == 1
    assert "and 14 more" in batch_markdown(result_of(*[OVER] * 18, *[FAILED] * 6))


def test_a_baseline_is_annotated_without_a_file() -> None:
    grown = replace(result_of(ROW), growth=GROWN)
    assert list(batch_annotations(grown, "github")) == [
        f"::error title=compactctl batch::--baseline: {SHOP}"
    ]
    assert list(batch_annotations(grown, "azure")) == [
        f"##vso[task.logissue type=error]--baseline: {SHOP}"
    ]


@pytest.mark.parametrize(
    ("row", "gates", "reason"),
    [
        (ROW, {}, ""),
        (replace(ROW, outcome=AFTER, target=30), {}, "40 tokens, 10 over the target of 30"),
        (
            replace(ROW, limit=79, target=30),
            {"fail_over": 0.79},
            (
                "80 tokens, 1 over the limit of 79 (79% of where its client compacts); "
                "80 tokens, 50 over the target of 30"
            ),
        ),
        (
            replace(ROW, measure=replace(MEASURE, window=70)),
            {},
            "80 tokens, 10 over the window of 70",
        ),
        (
            replace(ROW, figures=replace(FIGURES, faults=FAULTS, tool_errors=1)),
            {"fail_on": ("errors", "refused", "usage")},
            "text-empty on line 1,204; errors (failed tool calls)",
        ),
        (
            replace(ROW, outcome=replace(AFTER, is_refused=True)),
            {},
            "the provider or the client refuses the result; see compactctl check",
        ),
        (
            replace(
                ROW,
                figures=replace(
                    FIGURES, file=replace(FIGURES.file, unread=Unread(fields={"x": 90}, read=1))
                ),
            ),
            {"fail_on": ("opaque",)},
            "90 bytes of text in `x` was not read",
        ),
        (
            replace(ROW, figures=replace(FIGURES, file=replace(FIGURES.file, opaque_lines=1))),
            {"fail_on": ("opaque",)},
            "opaque (lines or text not recognized)",
        ),
    ],
)
def test_a_row_tells_all_it_fails_for(row: BatchRow, gates: Any, reason: str) -> None:
    assert reason_text(row, result_of(row, **gates)) == reason


@pytest.mark.parametrize(
    ("runner", "lines"),
    [
        (
            "github",
            [
                (
                    "::error file=over|a.jsonl,title=compactctl batch::over|a.jsonl: over limit: "
                    "80 tokens, 1 over the limit of 79"
                ),
                "::error file=in/b.jsonl,title=compactctl batch::in/b.jsonl: is 50%25 bad\\x01]",
            ],
        ),
        (
            "azure",
            [
                (
                    "##vso[task.logissue type=error;sourcepath=over|a.jsonl]over|a.jsonl: over "
                    "limit: 80 tokens, 1 over the limit of 79"
                ),
                (
                    "##vso[task.logissue type=error;sourcepath=in/b.jsonl]"
                    "in/b.jsonl: is 50%AZP25 bad\\x01%5D"
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
    assert first.endswith(":compactctl\r\x1b[0Kcompactctl batch: 2 findings")
    assert [line.partition(":")[0] for line in lines] == ["over|a.jsonl", "in/b.jsonl"]
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
