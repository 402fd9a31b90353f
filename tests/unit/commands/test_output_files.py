"""Where a report may be written, and in which format."""

import re
from pathlib import Path

import pytest
from unit.commands.conversations import TALK, saved

from compactctl.commands.output_files import TABLE_FORMATS, check_report, format_by_extension
from compactctl.errors import UsageError


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", TALK)


def test_a_new_file_may_be_written(session: Path) -> None:
    check_report(str(session.with_name("report.csv")), (str(session),), force=False)


@pytest.mark.parametrize("force", [False, True])
def test_an_input_is_never_overwritten(session: Path, force: bool) -> None:  # noqa: FBT001
    link = session.with_name("link.jsonl")
    link.symlink_to(session)
    for name in (session, link):
        with pytest.raises(UsageError, match="is an input or an output"):
            check_report(str(name), (str(session),), force=force)


def test_a_file_of_somebody_else_is_overwritten_only_by_force(session: Path) -> None:
    notes = session.with_name("notes.csv")
    notes.write_text("mine\n")
    with pytest.raises(UsageError, match=re.escape(str(notes))):
        check_report(str(notes), (str(session),), force=False)
    check_report(str(notes), (str(session),), force=True)


def test_a_folder_is_no_report(session: Path) -> None:
    with pytest.raises(UsageError):
        check_report(str(session.parent), (), force=True)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("out/rows.csv", "csv"),
        ("ROWS.CSV", "csv"),
        (".jsonl", "jsonl"),
        ("rows.v2.parquet", "parquet"),
        ("rows", "parquet"),
        ("out.csv/rows", "parquet"),
        ("s3://logs/rows.jsonl", "jsonl"),
    ],
)
def test_an_extension_names_a_format(path: str, kind: str) -> None:
    assert format_by_extension("--report", path, TABLE_FORMATS) == kind


@pytest.mark.parametrize("path", ["rows.xls", "rows.csv.gz", "rows.csv ", "rows."])
def test_an_extension_of_another_format_is_refused(path: str) -> None:
    with pytest.raises(UsageError) as refused:
        format_by_extension("--report", path, TABLE_FORMATS)
    ending = path.rpartition(".")[2]
    assert str(refused.value) == (
        f"--report {path}: cannot write .{ending}; use parquet, csv or jsonl"
    )
    with pytest.raises(UsageError, match=r"; use svg, or nothing$"):
        format_by_extension("--plot", path, ("svg",), otherwise=", or nothing")
