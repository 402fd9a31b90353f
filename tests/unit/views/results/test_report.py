"""What reports of batches come to, on screen and as a document."""

from typing import Any

import pytest
from unit.commands.batch.rows import REPORTED
from unit.views.results.screens import styles, titles, words

from compactctl.commands.batch.report import (
    BaselineComparison,
    GrowthFinding,
    ReportOptions,
    ReportResult,
    ReportRow,
    summarize,
)
from compactctl.commands.output_files import WrittenFile
from compactctl.records import replace
from compactctl.views.results.report import report_document, report_messages, report_terminal

ROW = replace(
    REPORTED, path="a.jsonl", saved=0, categories={"user": 10_000, "tool calls": 20_000},
    tools={"Read": 6_000, "Bash": 9_000},
)  # fmt: skip
FAILED = replace(
    ROW, path="b.jsonl", status="failed", exit_code=65, error="is\nbroken", context=0, tokens=0,
    categories={}, tools={}, counter="",
)  # fmt: skip
SKIPPED = replace(FAILED, path="c.jsonl", status="skipped")


def result_of(*rows: ReportRow, top: int = 10, **changes: Any) -> ReportResult:
    options = ReportOptions(paths=("r.parquet",), top=top, baseline="old.parquet")
    return ReportResult(options=options, rows=rows, summary=summarize(rows), **changes)


def lines(*rows: ReportRow, **changes: Any) -> list[str]:
    return words(report_terminal(result_of(*rows, **changes)))


def test_files_are_summed_up_and_listed() -> None:
    assert lines(ROW, FAILED, SKIPPED) == [
        "3 files: 1 ok, 1 failed, 1 not a transcript; 30,000 tokens",
        "counted with o200k_base",
        "next request p50 20,000, p90 20,000, p95 20,000, p99 20,000",
        "",
        "Tokens by category",
        "Of Tokens Share of all",
        "─",
        "tool calls 20,000 66.7% ████████████████",
        "user 10,000 33.3% ████████",
        "",
        "Tokens by tool",
        "Of Tokens Share of all",
        "─",
        "Bash 9,000 30.0% ███████▎",
        "Read 6,000 20.0% ████▊",
        "",
        "Size of the next request",
        "From Below Files Share",
        "─",
        "16,000 32,000 1 100.0% ████████████████████████",
        "",
        "Models",
        "Model Files Tokens Median request Read again Tools",
        "─",
        "gpt-5 1 30,000 20,000 10.0% 50.0%",
        "",
        "Projects",
        "Project Files Tokens Median request Read again Tools",
        "─",
        "shop 1 30,000 20,000 10.0% 50.0%",
        "",
        "Weeks",
        "Week Files Tokens Median request Read again Tools",
        "─",
        "2023-W46 1 30,000 20,000 10.0% 50.0%",
        "",
        "Largest",
        "File Next request Status",
        "─",
        "a.jsonl 20,000 ok",
        "b.jsonl 0 failed",
        "",
        "1 file failed or did not pass a gate",
        "exit 65: is broken",
    ]


def test_what_was_saved_is_told_with_its_share() -> None:
    found = lines(replace(ROW, saved=6_000))
    assert found[0] == "1 file: 1 ok; 30,000 tokens, 6,000 saved (20%)"
    assert found[3].startswith("compacted next requests as they are after compaction")


def test_tokens_of_two_counters_are_not_added_up() -> None:
    other = replace(ROW, counter="chars/4", saved=5)
    found = lines(ROW, other)
    assert found[1] == "tokens not added up: counted with chars/4, o200k_base"
    assert not any(line.startswith("saved") for line in found)
    assert found[3].startswith("compacted ")
    document = report_document(result_of(ROW, other))
    assert (document["tokens"], document["saved"]) == (None, None)


def test_where_nothing_was_read_failures_are_told() -> None:
    assert lines(FAILED, replace(FAILED, error="", exit_code=2)) == [
        "2 files: 2 failed",
        "",
        "2 files failed or did not pass a gate",
        "exit 65: is broken",
        "exit 2: b.jsonl: failed",
    ]


def test_of_each_table_so_many_rows_are_shown() -> None:
    week = 7 * 86_400
    rows = [
        replace(
            ROW, path=f"{n}.jsonl", project=f"p{n}", tokens=30_000 - n, ended=n * week, context=n
        )
        for n in range(3)
    ]
    found = lines(*rows, *[FAILED] * 3, top=2)
    assert [line.split()[0] for line in found if line.startswith("p")] == ["p0", "p1"]
    assert [line.split()[0] for line in found if line.startswith("1970")] == [
        "1970-W02",
        "1970-W03",
    ]
    assert [line.split()[0] for line in found if ".jsonl" in line] == ["2.jsonl", "1.jsonl"]
    assert found[-4:] == [
        "3 files failed or did not pass a gate",
        "exit 65: is broken",
        "exit 65: is broken",
        "and 1 more; --top 3 shows all",
    ]


def test_what_a_gate_found_comes_before_what_failed() -> None:
    over = replace(ROW, path="o.jsonl", status="over limit", exit_code=1)
    larger = replace(over, path="p.jsonl", context=30_000)
    assert lines(FAILED, over, larger)[-4:] == [
        "3 files failed or did not pass a gate",
        "exit 1: p.jsonl: over limit",
        "exit 1: o.jsonl: over limit",
        "exit 65: is broken",
    ]


FINDING = GrowthFinding(project="shop", figure="context", before=1, after=2)


@pytest.mark.parametrize(("findings", "style"), [((), "bold"), ((FINDING,), "yellow")])
def test_growth_is_told_since_when(findings: tuple[GrowthFinding, ...], style: str) -> None:
    growth = BaselineComparison(findings=findings, compared=("shop",))
    result = result_of(ROW, growth=growth)
    found = words(report_terminal(result))
    assert found[-3:-1] == ["", "Since old.parquet"]
    assert styles(report_terminal(result))[-1] == style
    assert list(report_messages(result)) == ["1 figure grew by more than 10.0%"] * len(findings)
    empty = result_of(FAILED, growth=growth)
    assert "Since old.parquet" in words(report_terminal(empty))
    assert report_document(result)["exitCode"] == len(findings)


def test_written_files_are_told_with_their_rows() -> None:
    file = WrittenFile(path="all.parquet", kind="report", rows=1, warnings=("odd",))
    assert list(report_messages(result_of(ROW, written=(file,)))) == [
        "warning: odd", "wrote all.parquet (1 row)",
    ]  # fmt: skip


def test_a_document_has_lists_for_what_is_counted() -> None:
    document = report_document(result_of(ROW, FAILED))
    assert document["statuses"] == [{"status": "ok", "files": 1}, {"status": "failed", "files": 1}]
    assert document["percentiles"][0] == {"percent": 50, "tokens": 20_000}
    assert [each["tool"] for each in document["tools"]] == ["Bash", "Read"]
    assert (document["tokens"], document["growth"], document["tolerance"]) == (30_000, None, 0.1)


@pytest.mark.parametrize(
    ("width", "table", "titles_before", "titles_after"),
    [
        (55, 3, "Model Files Tokens Median request Read again Tools", "Tools"),
        (48, 3, "Model Files Tokens Median request Read again", "Read again"),
        (36, 3, "Model Files Tokens Median request", "Files"),
        (43, 0, "Of Tokens Share of all", "Share of all"),
        (29, 1, "Of Tokens Share of all", "Share of all"),
        (54, 2, "From Below Files Share", "Share"),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(
    width: int, table: int, titles_before: str, titles_after: str
) -> None:
    shown = [titles(report_terminal(result_of(ROW)), each)[table] for each in (width, width - 1)]
    narrower = " ".join(titles_before.replace(titles_after, "").split())
    assert shown == [titles_before, narrower]
