"""Data sets with a conversation per row: which column, which rows, and within which limits."""

import io
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from compactctl.errors import IntegrityError, NoInputError, NotUnderstoodError, UsageError
from compactctl.store.files.limits import NO_LIMITS, ReadLimits
from compactctl.store.files.parquet_dataset import (
    RowGroupInfo,
    holds_conversations,
    is_data_set,
    open_dataset,
)

MESSAGES = [[{"role": "user", "content": f"say {number}"}] for number in range(5)]
KIND = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
TEXTS = pa.array([f"[{number}]" for number in range(5)])


def written(path: Path, columns: dict[str, Any], *, rows: int = 2, **options: Any) -> Path:
    parquet.write_table(pa.table(columns), path, row_group_size=rows, **options)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a data set of five rows in groups of two."""
    columns = {"id": pa.array(range(5)), "messages": pa.array(MESSAGES, KIND)}
    return written(tmp_path / "dialogs.parquet", columns)


def test_rows_are_numbered_across_groups(path: Path) -> None:
    dataset = open_dataset(str(path))
    assert (dataset.path, dataset.column, dataset.kind) == (path, "messages", KIND)
    assert [(group.rows, group.first) for group in dataset.groups] == [(2, 1), (2, 3), (1, 5)]
    metadata = parquet.read_metadata(path)
    for index, group in enumerate(dataset.groups):
        chunks = [metadata.row_group(index).column(number) for number in (1, 2)]
        assert group.n_bytes == sum(chunk.total_uncompressed_size for chunk in chunks)


def test_the_values_of_groups_come_in_order(path: Path) -> None:
    dataset = open_dataset(str(path))
    assert list(dataset.values(range(3), NO_LIMITS)) == MESSAGES
    assert list(dataset.values([2, 0], NO_LIMITS)) == [MESSAGES[4], *MESSAGES[:2]]


@pytest.mark.parametrize(
    ("rows", "n_bytes", "batch_rows"),
    [
        (100, 0, 64),
        (100, 1, 64),
        (65, 16 << 20, 64),
        (63, 16 << 20, 63),
        (10, 32 << 20, 5),
        (10, (32 << 20) + 1, 4),
        (10, 1 << 40, 1),
        (0, 0, 1),
    ],
)
def test_a_batch_has_at_most_64_rows_and_16_mib(rows: int, n_bytes: int, batch_rows: int) -> None:
    assert RowGroupInfo(rows=rows, first=1, n_bytes=n_bytes).batch_rows == batch_rows


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"chat": TEXTS, "history": TEXTS, "text": TEXTS}, "history"),
        ({"messages": pa.array(range(5)), "chat": TEXTS}, "chat"),
        ({"prompt": TEXTS, "chat": TEXTS}, "chat"),
        ({"prompt": pa.array(MESSAGES, KIND)}, "prompt"),
        ({"chat": TEXTS.cast(pa.large_string())}, "chat"),
        ({"chat": pa.array(MESSAGES, pa.large_list(KIND.value_type))}, "chat"),
    ],
)
def test_the_likeliest_column_by_name_and_type(
    tmp_path: Path, columns: dict[str, Any], column: str
) -> None:
    path = written(tmp_path / "any.parquet", columns)
    assert open_dataset(str(path)).column == column
    assert holds_conversations(str(path))


@pytest.mark.parametrize(
    "columns", [{"prompt": TEXTS}, {"text": TEXTS}, {"messages": pa.array([[1]] * 5)}]
)
def test_without_such_a_column_one_has_to_be_named(tmp_path: Path, columns: Any) -> None:
    path = written(tmp_path / "any.parquet", columns)
    assert not holds_conversations(str(path))
    with pytest.raises(NotUnderstoodError, match=rf"; name one of {next(iter(columns))} with"):
        open_dataset(str(path))


def test_a_named_column_has_to_exist_once_and_hold_conversations(tmp_path: Path) -> None:
    texts = pa.table([TEXTS, TEXTS, TEXTS, pa.array(range(5))], ["text", "chat", "chat", "id"])
    parquet.write_table(texts, tmp_path / "any.parquet")
    path = str(tmp_path / "any.parquet")
    assert open_dataset(path, "text").column == "text"
    for name in ("chat", "none"):
        with pytest.raises(NotUnderstoodError, match=rf"'{name}' is not a column; there are text"):
            open_dataset(path, name)
    with pytest.raises(UsageError, match=r"column 'id' holds int64; it takes lists of structs"):
        open_dataset(path, "id")


def test_reports_and_archives_of_our_own_hold_no_conversations(path: Path) -> None:
    table = parquet.read_table(path)
    for name, holds in ((b"compactctl.version", False), (b"compactctl", True)):
        parquet.write_table(table.replace_schema_metadata({b"other": b"x", name: b"1"}), path)
        assert holds_conversations(str(path)) == holds


def test_a_file_that_cannot_be_read(tmp_path: Path, path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and no footer")
    for name, error, says in (
        (broken, NotUnderstoodError, r"broken\.parquet: cannot be read as Parquet \("),
        (tmp_path / "none", NoInputError, r"none: cannot be read \(No such file or directory\); "),
    ):
        assert holds_conversations(str(name))
        with pytest.raises(error, match=says):
            open_dataset(str(name))
    dataset = open_dataset(str(path))
    data = bytearray(path.read_bytes())
    data[parquet.read_metadata(path).row_group(1).column(1).data_page_offset] = 0xFF
    path.write_bytes(data)
    assert list(dataset.values([0], NO_LIMITS)) == MESSAGES[:2]
    with pytest.raises(NotUnderstoodError, match="the header of a page is damaged"):
        list(dataset.values([1], NO_LIMITS))


def test_a_row_is_refused_by_its_number(path: Path) -> None:
    dataset = open_dataset(str(path))
    # The texts of a row, and one byte for its message; pages have some bytes more.
    page = ReadLimits(max_line_bytes=10)
    with pytest.raises(NoInputError, match=r"more than 10 bytes in a page; allow more with"):
        list(dataset.values([0], page))
    columns = {"messages": pa.array(["[0]", "[1]", "[2]", "[" + "1," * 50 + "3]"])}
    path = written(path, columns, rows=4, compression="none", use_dictionary=False)
    dataset = open_dataset(str(path))
    (size,) = [group.n_bytes for group in dataset.groups]
    assert list(dataset.values([0], ReadLimits(max_line_bytes=size)))
    repeated = {"messages": pa.array(["[0]", "[0]", *["[" + "1," * 50 + "3]"] * 2])}
    dataset = open_dataset(str(written(path, repeated, rows=4)))
    assert list(dataset.values([0], ReadLimits(max_line_bytes=130)))


def test_texts_in_a_dictionary_count_each_time(tmp_path: Path) -> None:
    columns = {
        "messages": pa.array(["[" + " " * 998 + "]"] * 1_000),
        "other": pa.array(["x" * 1_000] * 1_000),
    }
    path = written(tmp_path / "few.parquet", columns, rows=600)
    assert path.stat().st_size < 20_000
    dataset = open_dataset(str(path))
    dataset.check(ReadLimits(max_bytes=1_000_000))
    with pytest.raises(NoInputError, match="more than 999,999 bytes; allow more with"):
        dataset.check(ReadLimits(max_bytes=999_999))
    for groups, n_rows in (([0], 600), ([1], 400), ([0, 1], 1_000)):
        assert len(list(dataset.values(groups, NO_LIMITS))) == n_rows
    with pytest.raises(NoInputError, match="more than 1,999,999 bytes"):
        dataset.write_with(io.BytesIO(), list, ReadLimits(max_bytes=1_999_999))
    dataset.write_with(io.BytesIO(), list, ReadLimits(max_bytes=2_000_000))


def test_only_the_conversations_are_rewritten(tmp_path: Path) -> None:
    score = pa.array([math.nan, 1.0, 2.0, 3.0, 4.0])
    columns = {"id": pa.array(range(5)), "chat": pa.array(MESSAGES, KIND), "score": score}
    codecs = {"id": "zstd", "score": "none", "chat.list.element.role": "gzip",
              "chat.list.element.content": "snappy"}  # fmt: skip
    path = written(tmp_path / "any.parquet", columns, compression=codecs)
    seen: list[list[Any]] = []

    def rewrite(values: list[Any]) -> list[Any]:
        seen.append(values)
        return [value[:0] for value in values]

    out = io.BytesIO()
    open_dataset(str(path)).write_with(out, rewrite, NO_LIMITS)
    assert seen == [MESSAGES[:2], MESSAGES[2:4], MESSAGES[4:]]
    new, old = parquet.ParquetFile(out), parquet.ParquetFile(path)
    assert new.schema_arrow == old.schema_arrow
    assert new.read().column("chat").to_pylist() == [[]] * 5
    assert new.read(["id"]) == old.read(["id"])
    for file in (new, old):
        groups = [file.metadata.row_group(index) for index in range(3)]
        assert [group.num_rows for group in groups] == [2, 2, 1]
        assert [groups[0].column(index).compression for index in range(4)] == [
            "ZSTD", "GZIP", "SNAPPY", "UNCOMPRESSED",
        ]  # fmt: skip


def test_numbers_that_are_none_read_back(tmp_path: Path) -> None:
    kind = pa.list_(pa.struct([("score", pa.float64())]))
    values = pa.array([[{"score": math.nan}], None], kind)
    path = written(tmp_path / "any.parquet", {"chat": values})
    out = io.BytesIO()
    open_dataset(str(path)).write_with(out, list, NO_LIMITS)
    assert parquet.read_table(out).num_rows == 2


@pytest.mark.parametrize("sizes", [[], [0], [2, 0, 1]])
def test_row_groups_may_be_empty(tmp_path: Path, sizes: list[int]) -> None:
    path = tmp_path / "any.parquet"
    with parquet.ParquetWriter(path, pa.schema([("chat", pa.string())])) as writer:
        for size in sizes:
            writer.write_table(pa.table({"chat": TEXTS[:size]}))
    dataset = open_dataset(str(path))
    assert len(list(dataset.values(range(len(sizes)), NO_LIMITS))) == sum(sizes)
    out = io.BytesIO()
    dataset.write_with(out, lambda values: ["[]" for _ in values], NO_LIMITS)
    new = parquet.ParquetFile(out)
    assert new.schema_arrow == parquet.read_schema(path)
    groups = range(new.num_row_groups)
    assert [new.metadata.row_group(index).num_rows for index in groups] == sizes
    assert new.read().column("chat").to_pylist() == ["[]"] * sum(sizes)


class _OtherBytes(io.BytesIO):
    """Gives other bytes back once it is read from the start."""

    other: bytes | None = None

    def seek(self, pos: int, whence: int = 0, /) -> int:
        if self.other is not None and (pos, whence) == (0, 0):
            other, self.other = self.other, None
            super().seek(0)
            self.truncate()
            self.write(other)
        return super().seek(pos, whence)


def test_what_does_not_read_back_is_an_error(tmp_path: Path, path: Path) -> None:
    changed = [*MESSAGES[:3], [{"role": "user", "content": "other"}], MESSAGES[4]]
    columns = {"id": pa.array(range(5)), "messages": pa.array(changed, KIND)}
    out = _OtherBytes()
    out.other = written(tmp_path / "other.parquet", columns).read_bytes()
    with pytest.raises(IntegrityError, match=r"cannot be read back \(row group 2\); nothing was"):
        open_dataset(str(path)).write_with(out, list, NO_LIMITS)


def test_a_data_set_by_its_suffix() -> None:
    assert is_data_set("/a/B.Parquet")
    assert not is_data_set("/a.parquet/b.jsonl")
