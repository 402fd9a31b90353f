"""Rows that arrive in groups: what is held, what is written, and when the file is there."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compactctl.errors import UsageError
from compactctl.views import table_file
from compactctl.views.table_file import TableFile, write_table

TYPES = {"path": "large_string", "tokens": "int64"}
METADATA = {"compactctl.test": 3}


def row(number: int) -> dict[str, object]:
    return {"path": f"{number}.jsonl", "tokens": number, "unknown": "left out"}


def rows_of(path: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = pq.read_table(path).to_pylist()
    return rows


@pytest.mark.parametrize("force", [False, True])
def test_rows_are_written_in_groups_and_published_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, force: bool
) -> None:
    monkeypatch.setattr(table_file, "GROUP_ROWS", 2)
    path = tmp_path / "t.parquet"
    table = TableFile(TYPES, METADATA, path)
    table.add([row(1)])
    assert table.rows == 0
    table.add([row(2), row(3)])
    table.add([row(4)])
    assert (table.rows, path.exists()) == (3, False)
    assert table.publish(force=force) == ()
    table.close()
    assert table.rows == 4
    assert rows_of(path) == [{"path": f"{n}.jsonl", "tokens": n} for n in (1, 2, 3, 4)]
    assert pq.ParquetFile(path).metadata.num_row_groups == 2
    metadata = pq.read_schema(path).metadata
    assert metadata[b"compactctl.test"] == b'{"version": 3}'


def test_only_an_own_file_gives_way(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table([row(1)], TYPES, METADATA, path, force=False)
    write_table([row(2)], TYPES, METADATA, path, force=False)
    assert rows_of(path) == [{"path": "2.jsonl", "tokens": 2}]
    path.write_bytes(b"precious")
    table = TableFile(TYPES, METADATA, path)
    with pytest.raises(UsageError):
        table.publish(force=False)
    with pytest.raises(UsageError):
        write_table([], TYPES, METADATA, path, force=False)
    assert path.read_bytes() == b"precious"
    table.close()
    forced = TableFile(TYPES, METADATA, path)
    forced.publish(force=True)
    forced.close()
    assert rows_of(path) == []


def test_texts_are_stored_as_they_can_be(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    values = {"path": ("a", "b"), "tokens": None}, {"path": "bad\udc80name", "tokens": 1}
    write_table(values, TYPES, METADATA, path, force=False)
    assert rows_of(path) == [
        {"path": "a,b", "tokens": None}, {"path": "bad\\udc80name", "tokens": 1},
    ]  # fmt: skip
