"""A report is told by its seal, and a file made to look like one takes no memory."""

import hashlib
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from compactctl.store.archive import sealed
from compactctl.store.archive.sealed import SEAL, SealedWriter, is_sealed, sealed_table

TEXTS = pa.array(["a", "\u00e9\U0001f600", None])
TABLE = pa.table(
    {
        "path": TEXTS.cast(pa.large_string()),
        "tokens": pa.array([1, None, -3], pa.int64()),
        "ratio": pa.array([0.5, None, float("nan")], pa.float64()),
    }
)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.parquet"


def forge(path: Path, table: Any, **options: Any) -> None:
    """Write a table with a seal that is none."""
    parquet.write_table(table.replace_schema_metadata({SEAL: b"0" * 64}), path, **options)


@pytest.mark.parametrize("times", [0, 1, 300])
def test_the_seal_is_the_digest_of_the_columns_as_json(report: Path, times: int) -> None:
    table = pa.concat_tables([TABLE] * times) if times else TABLE.slice(0, 0)
    report.write_bytes(sealed_table(table))
    text = json.dumps(table.to_pydict()).encode()
    assert parquet.read_schema(report).metadata[SEAL] == hashlib.sha256(text).hexdigest().encode()
    assert is_sealed(report)


def write_groups(path: Path, tables: list[Any]) -> None:
    with path.open("wb") as stream:
        writer = SealedWriter(stream, TABLE.schema.with_metadata({"rows": "some"}))
        for table in tables:
            writer.write(table)
        writer.close()


@pytest.mark.parametrize("lengths", [[], [1], [3], [1, 2], [300, 1, 2]])
def test_rows_that_come_some_at_a_time_are_sealed_too(report: Path, lengths: list[int]) -> None:
    tables = [pa.concat_tables([TABLE] * length) for length in lengths]
    write_groups(report, tables)
    assert is_sealed(report)
    found = parquet.read_table(report)
    assert found["path"].to_pylist() == TEXTS.to_pylist() * sum(lengths)


def test_a_row_less_breaks_the_seal_of_several_groups(report: Path) -> None:
    write_groups(report, [TABLE, TABLE])
    seal = parquet.read_metadata(report).metadata[SEAL]
    found = parquet.read_table(report).replace_schema_metadata({SEAL: seal})
    parquet.write_table(found, report, row_group_size=3)
    assert is_sealed(report)
    parquet.write_table(found.slice(1), report, row_group_size=3)
    assert not is_sealed(report)


def test_a_changed_value_breaks_the_seal(report: Path) -> None:
    report.write_bytes(sealed_table(TABLE))
    seal = parquet.read_schema(report).metadata
    changed = TABLE.set_column(1, "tokens", pa.array([1, None, 3], pa.int64()))
    parquet.write_table(changed.replace_schema_metadata(seal), report)
    assert not is_sealed(report)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"path": pa.array(["x" * 48_000], pa.large_string()).take([0] * 2_000)}),
        pa.table({"tokens": pa.nulls(4_000_000, pa.int64())}),
        pa.table({"path": pa.array(["x" * (32 << 20)], pa.large_string())}),
    ],
    ids=["one text again and again", "rows without values", "a long text"],
)
def test_few_bytes_that_stand_for_many_are_no_report(
    report: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: Any,
) -> None:
    monkeypatch.setattr(sealed, "TEXT_BYTES", 2_000_000)
    forge(report, table, compression="zstd")
    assert report.stat().st_size < 1 << 20
    tracemalloc.start()
    assert not is_sealed(report)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20


def test_no_more_is_read_than_a_report_may_hold(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report.write_bytes(sealed_table(pa.concat_tables([TABLE] * 1_000)))
    assert is_sealed(report)
    monkeypatch.setattr(sealed, "TEXT_BYTES", 40_000)
    assert not is_sealed(report)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"x"], pa.large_binary()),
        pa.array([[1]], pa.list_(pa.int64())),
        pa.array([{"a": 1}], pa.struct([("a", pa.int64())])),
    ],
)
def test_other_columns_than_texts_and_numbers_are_no_report(report: Path, column: Any) -> None:
    forge(report, pa.table({"path": column}))
    assert not is_sealed(report)


def test_a_pipe_is_no_report_and_is_not_waited_for(report: Path) -> None:
    os.mkfifo(report)
    assert not is_sealed(report)


def test_a_link_to_a_report_is_one(report: Path, tmp_path: Path) -> None:
    report.write_bytes(sealed_table(TABLE))
    (tmp_path / "link").symlink_to(report)
    assert is_sealed(tmp_path / "link")
