"""Reports of a batch in every format, and what CI runners are told."""

import csv
import io
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from batch.inputs import transcript, write
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from compactctl.__main__ import run
from compactctl.commands.batch.batch import BatchOptions, BatchResult, batch
from compactctl.commands.batch.options import BatchGates
from compactctl.commands.batch.report_format import RUNNERS
from compactctl.commands.batch.row import BatchRow, RowFailure, RowOutcome
from compactctl.commands.measuring.next_request import Totals
from compactctl.commands.reading.discover import FileChoice
from compactctl.records import replace
from compactctl.views.results.batch_files import (
    batch_annotations,
    batch_csv,
    batch_junit,
    batch_markdown,
)

if TYPE_CHECKING:
    from xmlschema import XMLSchema11

HOSTILE = "a|b`c`]\n::error::x ##vso[task.complete] %0A<script>,;\x1b[31m.jsonl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(Path("in/good.jsonl"))
    write(Path("in/large.jsonl"), transcript(60))
    write(Path("in/binary.jsonl"), bytes(range(256)))
    return tmp_path


def worked(*rows: BatchRow) -> BatchResult:
    """Return the result of a batch of one good file, with these rows instead."""
    result = batch(BatchOptions(files=FileChoice(paths=("in/good.jsonl",)), jobs=1))
    return replace(result, rows=rows or result.rows)


def failed(path: str = HOSTILE, error: str = HOSTILE) -> BatchRow:
    failure = RowFailure(error_class="X", error=error, exit_code=4)
    return BatchRow(path=path, failure=failure)


def table(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def test_each_format_has_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("r.parquet", "r.csv", "r.jsonl", "r.md")
    reports = [option for name in names for option in ("--report", name)]
    assert run(["batch", "in", *reports]) == 4
    said = capsys.readouterr().err
    expected = table(Path("r.parquet"))
    assert [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()] == expected
    read = list(csv.DictReader(io.StringIO(Path("r.csv").read_text())))
    as_text = [{k: "" if v is None else str(v) for k, v in row.items()} for row in expected]
    assert read == as_text
    assert "in/binary.jsonl" in Path("r.md").read_text().replace("\\", "")
    assert all(f"wrote {name} (3 rows)" in said for name in names)


def test_the_format_asked_for_goes_before_the_ending() -> None:
    assert run(["batch", "in/good.jsonl", "--report", "r.csv", "--report-format", "jsonl"]) == 0
    assert json.loads(Path("r.csv").read_text())["path"] == "in/good.jsonl"


def test_a_text_that_somebody_else_wrote_is_not_overwritten() -> None:
    Path("r.csv").write_text("my own\n")
    assert run(["batch", "in/good.jsonl", "--report", "r.csv"]) == 2
    assert Path("r.csv").read_text() == "my own\n"
    assert run(["batch", "in/good.jsonl", "--report", "r.csv", "--force"]) == 0


def test_two_reports_are_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["batch", "in/good.jsonl", "--report", "r.csv", "--junit", "./r.csv"]) == 2
    assert "is an input or an output" in capsys.readouterr().err


def test_a_formula_is_a_text() -> None:
    (row,) = csv.DictReader(io.StringIO(batch_csv(worked(failed("=1+1", "-2")))))
    assert (row["path"], row["error"]) == ("'=1+1", "'-2")


def test_junit_has_a_test_per_file() -> None:
    assert run(["batch", "in", "--junit", "junit.xml", "--fail-over-tokens", "5k"]) == 1
    suite = ET.parse("junit.xml").getroot()[0]  # noqa: S314 - our own
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    found = [(case.get("name"), *(child.tag for child in case)) for case in suite]
    assert found == [("large.jsonl", "failure"), ("binary.jsonl", "error"), ("good.jsonl",)]
    assert {case.get("classname") for case in suite} == {"in"}


@cache
def schema() -> "XMLSchema11":
    """Return the schema of JUnit reports; it takes long to import and to build."""
    from xmlschema import XMLSchema11

    return XMLSchema11(Path(__file__).with_name("junit.xsd"))


@pytest.mark.parametrize(
    "gates",
    [(), ("--fail-over-tokens", "5k"), ("--fail-on", "orphans,errors"), ("--timeout", "1e-6")],
    ids=" ".join,
)
def test_junit_is_valid_by_its_schema(gates: tuple[str, ...]) -> None:
    write(Path("in/deep/er/good.jsonl"))
    run(["batch", "in", "--junit", "junit.xml", *gates])
    schema().validate("junit.xml")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (' tests="3"', ' tests="4"'),
        (' errors="1"', ' errors="0"'),
        (' classname="in"', ""),
        (' type="', ' kind="'),
        ('time="0.', 'time="0,'),
        ("error", "mistake"),
    ],
)
def test_the_schema_finds_what_is_wrong(right: str, wrong: str) -> None:
    run(["batch", "in", "--junit", "junit.xml"])
    text = Path("junit.xml").read_text()
    assert right in text
    assert not schema().is_valid(text.replace(right, wrong))


@given(st.text(), st.text())
def test_junit_is_valid_whatever_is_in_a_name(name: str, why: str) -> None:
    schema().validate(batch_junit(worked_once(failed(name, why))))


def worked_once(row: BatchRow) -> BatchResult:
    from compactctl.commands.batch.batch import BatchTotals

    totals = BatchTotals(
        files=1, statuses={"failed": 1}, tokens_before=0,
        tokens_after=None, saved=None, messages=0, lines=0, bytes=0, opaque_lines=0,
        categories={}, counters=(),
    )  # fmt: skip
    return BatchResult(options=BatchOptions(files=FileChoice()), rows=(row,), totals=totals)


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_runner_is_told_of_ten_files_at_most(runner: str) -> None:
    rows = [failed(f"in/{number:02}.jsonl", "is broken") for number in range(30)]
    lines = list(batch_annotations(worked(*rows), runner))
    assert sum("is broken" in line for line in lines) == 10
    assert not list(batch_annotations(worked(), runner))


@given(
    st.text(st.sampled_from("#:[]%;,\r\n\x1b vsoerror=abc")), st.sampled_from(["github", "azure"])
)
def test_nothing_in_a_name_is_a_command(text: str, runner: str) -> None:
    (line,) = batch_annotations(worked_once(failed(text, text)), runner)
    assert "\n" not in line
    assert "\r" not in line
    if runner == "azure":
        assert line.count("##vso[") == 1
        assert line.count("]") == 1
    else:
        assert re.fullmatch(r"::error file=[^:,]*,title=compactctl batch::.*", line)


def test_as_each_runner_reads_it() -> None:
    (good,) = worked().rows
    assert good.measure is not None
    over = replace(
        good,
        path="in/a,b.jsonl",
        limit=167_000,
        gates=("fail-over",),
        measure=replace(good.measure, base="client", base_tokens=167_000),
        outcome=RowOutcome(after=Totals(messages=9, tokens=0, largest_counted=190_000, unseen=0)),
    )
    said = (
        "in/a,b.jsonl: over limit: 190,000 tokens, 23,000 over the limit of 167,000 "
        "(100% of where its client compacts)"
    )
    result = worked(over)
    gates = BatchGates(fail_over=1.0)
    result = replace(result, options=replace(result.options, gates=gates))
    assert list(batch_annotations(result, "github")) == [
        f"::error file=in/a%2Cb.jsonl,title=compactctl batch::{said.replace('%', '%25')}"
    ]
    assert list(batch_annotations(result, "azure")) == [
        "##vso[task.logissue type=error;sourcepath=in/a,b.jsonl]" + said.replace("%", "%AZP25")
    ]
    start, *middle, end = batch_annotations(result, "gitlab")
    assert re.fullmatch(r"\x1b\[0Ksection_start:\d+:compactctl\r\x1b\[0Kcompactctl .*", start)
    assert middle == [said]
    assert re.fullmatch(r"\x1b\[0Ksection_end:\d+:compactctl\r\x1b\[0K", end)


def test_github_is_found_out_and_gets_a_summary(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("# before")
    assert run(["batch", "in", "--annotate", "auto", "--json"]) == 4
    out, err = capsys.readouterr()
    assert json.loads(out)["exitCode"] == 4
    assert [line for line in err.splitlines() if line.startswith("::error file=in/binary.jsonl")]
    page = Path("summary.md").read_text()
    assert page.startswith("# before\n## compactctl batch\n")


def test_no_runner_is_told_unasked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    run(["batch", "in"])
    assert "::error" not in capsys.readouterr().err
    monkeypatch.delenv("GITHUB_ACTIONS")
    run(["batch", "in", "--annotate", "auto"])
    assert "::error" not in capsys.readouterr().err


def test_a_full_summary_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_bytes(b"x" * ((1 << 20) - 10))
    run(["batch", "in", "--annotate", "github"])
    assert Path("summary.md").stat().st_size == (1 << 20) - 10


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_summary_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    assert run(["batch", "in", "--annotate", "github"]) == 74
    assert "compactctl: /dev/full: No space left on device" in capsys.readouterr().err


def test_a_page_shows_markup_as_text() -> None:
    page = batch_markdown(worked(failed()))
    row = page.splitlines()[-1]
    assert row.startswith("| a\\|b\\`c\\`")
    assert "<script>" not in page
    assert len(re.findall(r"(?<!\\)\|", row)) == 4


@pytest.mark.parametrize("separator", ["\n", "\0"])
def test_paths_that_another_program_lists(separator: str) -> None:
    Path("list").write_text(f"in/good.jsonl{separator}in/large.jsonl{separator}")
    assert run(["batch", "--files-from", "list", "--report", "r.jsonl"]) == 0
    listed = [json.loads(line)["path"] for line in Path("r.jsonl").read_text().splitlines()]
    assert listed == ["in/good.jsonl", "in/large.jsonl"]


def test_an_empty_list_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("list").write_text("\n")
    assert run(["batch", "--files-from", "list"]) == 3
    assert "lists no path" in capsys.readouterr().err
    assert run(["batch"]) == 2
