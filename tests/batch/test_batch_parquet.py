"""The Parquet report of a batch."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from batch.inputs import write
from pyarrow import parquet

from compactctl.commands.batch.batch import BatchOptions, BatchRow, batch
from compactctl.commands.batch.columns import COLUMNS, row_values
from compactctl.commands.batch.report_format import FILES_VERSION, METADATA
from compactctl.commands.batch.row import RowFailure
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.discover import FileChoice
from compactctl.errors import UsageError
from compactctl.history.categories import CATEGORIES
from compactctl.records import Record
from compactctl.views.results.batch_files import write_report


@pytest.fixture
def rows(tmp_path: Path) -> tuple[BatchRow, ...]:
    write(tmp_path / "in/good.jsonl")
    write(tmp_path / "in/bad.jsonl", b"\x00\x01")
    plan = PlanOptions(stages=("dedup", "truncate"))
    paths = (str(tmp_path / "in"),)
    return batch(
        BatchOptions(
            files=FileChoice(paths=paths),
            output=OutputOptions(path=str(tmp_path / "out")),
            recipe=Recipe(plan=plan),
            compacts=True,
        )
    ).rows


def read(path: Path) -> list[dict[str, object]]:
    table: list[dict[str, object]] = parquet.read_table(io.BytesIO(path.read_bytes())).to_pylist()
    return table


def test_every_value_of_a_row_is_in_the_file(rows: tuple[BatchRow, ...], tmp_path: Path) -> None:
    path = tmp_path / "report.parquet"
    write_report(rows, path)
    bad, good = read(path)
    for row, line in zip(rows, (bad, good), strict=True):
        for column in COLUMNS:
            value = column.value(row)
            if isinstance(value, tuple):
                assert line[column.name] == ",".join(value)
            elif column.name not in {"tools", "categories", "saved_by"}:
                assert line[column.name] == value
    assert good["stages"] == "dedup,truncate"
    assert (bad["stages"], bad["tokens_before"], bad["tokens_user"]) == ("", None, None)
    assert json.loads(str(good["tools"])) == dict(row_values(rows[1])["tools"])
    assert good["saved_by_dedup"] == dict(row_values(rows[1])["saved_by"])["dedup"]


def leaves(kind: type[Record], above: str = "") -> Iterator[str]:
    """Yield the places of what a record and the records in it hold."""
    for name, hint in kind.__annotations__.items():
        kinds = [part for part in (hint, *get_args(hint)) if isinstance(part, type)]
        record = next((part for part in kinds if issubclass(part, Record)), None)
        if record is None:
            yield f"{above}{name}"
        else:
            yield from leaves(record, f"{above}{name}.")


def test_what_a_row_holds_is_in_a_column() -> None:
    places = {column.place or column.name for column in COLUMNS}
    # Of these columns come that are properties of the row.
    assert {*leaves(BatchRow)} - places == {
        "figures.totals.tokens", "figures.totals.largest_counted", "figures.is_doubted",
        "figures.faults.rule", "figures.faults.line", "figures.faults.is_refused",
        "figures.file.unread.fields", "figures.file.unread.read", "figures.file.unread.lines",
        "figures.file.unread.lost", "figures.file.unread.elsewhere",
        "figures.file.unread.first_line",
        "outcome.after.messages", "outcome.after.largest_counted", "outcome.after.unseen",
        "output.etag",
        "failure.exit_code", "is_skipped", "limit", "outcome.is_refused", "outcome.is_unchanged",
    }  # fmt: skip


def test_categories_are_columns_that_add_up(rows: tuple[BatchRow, ...], tmp_path: Path) -> None:
    path = tmp_path / "report.parquet"
    write_report(rows, path)
    good = read(path)[1]
    names = [f"tokens_{category.replace(' ', '_')}" for category in CATEGORIES]
    assert sum(int(str(good[name])) for name in names) == good["tokens_before"]
    assert good["tokens_file_reads"]


def test_the_metadata_names_the_version(tmp_path: Path) -> None:
    path = tmp_path / "report.parquet"
    write_report([], path)
    metadata = parquet.read_schema(path).metadata
    assert json.loads(metadata[METADATA.encode()]) == {"version": FILES_VERSION}
    assert read(path) == []


def test_names_that_are_no_unicode_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "report.parquet"
    failure = RowFailure(error_class="X", error="\ud83d", exit_code=4)
    write_report([BatchRow(path="caf\udce9.jsonl", failure=failure)], path)
    line = read(path)[0]
    assert (line["path"], line["error"]) == ("caf\\udce9.jsonl", "\\ud83d")


def test_the_same_rows_give_the_same_bytes(rows: tuple[BatchRow, ...], tmp_path: Path) -> None:
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    write_report(rows, one)
    write_report(rows, two)
    assert one.read_bytes() == two.read_bytes()


def test_an_older_report_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report.parquet"
    write_report([BatchRow(path="a")], path)
    write_report([BatchRow(path="b")], path)
    assert [line["path"] for line in read(path)] == ["b"]
    with pytest.raises(UsageError):
        write_report([BatchRow(path="c")], tmp_path / "missing" / "report.parquet")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.parquet"]
