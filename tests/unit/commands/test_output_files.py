"""The format of a file that a command writes, by the extension of its name."""

import pytest

from compactctl.commands.output_files import TABLE_FORMATS, format_by_extension
from compactctl.errors import UsageError


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
