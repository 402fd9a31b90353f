"""One operation's archive file."""

import io
import json
import random
import re
import shlex
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from store.archive.forging import claim, forge
from store.states import AFTER, BEFORE, a_folder, operation, rows

from compactctl.errors import ArchiveError, IntegrityError, LargeArchiveError
from compactctl.model.operation import ArchivedLine
from compactctl.records import replace
from compactctl.store.archive import archive_file as archive_module
from compactctl.store.archive.archive_file import (
    archived_lines,
    encode_archive,
    read_operation,
    read_rows,
    restore,
)
from compactctl.store.archive.names import readme_text
from compactctl.store.archive.operation_codec import VERSION, decode_operation, encode_operation
from compactctl.store.files import parquet_pages
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.parquet_pages import page_sizes
from compactctl.store.files.source import digest_of, split_lines

COLUMNS = [
    "seq",
    "raw",
    "sha256",
    "fate",
    "after_line",
    "message_id",
    "role",
    "tool",
    "call_id",
    "tokens",
    "stage",
    "group",
    "condense_parent",
    "truncation_parent",
    "edit_parent",
    "edits",
]
PIECES = st.sampled_from([b"\n", b"\r\n", b"\x00", b'{"a":1}\n', b'{"a":1}\r\n', b"\xff\xfe\n"])
CONTENT = st.lists(PIECES | st.binary(max_size=20), max_size=12).map(b"".join)


def encoded(before: bytes, after: bytes = b"") -> bytes:
    out = io.BytesIO()
    encode_archive(operation(before, after), rows(before, after), out)
    return out.getvalue()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "0001-compact-0123.parquet"
    path.write_bytes(encoded(BEFORE, AFTER))
    return path


@given(CONTENT)
def test_any_bytes_are_restored(data: bytes) -> None:
    with a_folder() as folder:
        path = folder / "archive.parquet"
        path.write_bytes(encoded(data))
        assert restore(path) == data


def test_rows_beyond_one_group_are_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "GROUP_BYTES", 100)
    monkeypatch.setattr(archive_module, "GROUP_ROWS", 7)
    data = b"".join(b"%d" % n * (n % 60) + b"\n" for n in range(200))
    path = tmp_path / "archive.parquet"
    path.write_bytes(encoded(data))
    assert restore(path) == data
    groups = pq.ParquetFile(path).metadata
    assert groups.num_row_groups > 200 / 7
    assert max(groups.row_group(n).num_rows for n in range(groups.num_row_groups)) == 7


LINE = st.binary(max_size=9).map(lambda raw: raw.replace(b"\n", b"") + b"\n")
TEXT = st.none() | st.text(st.characters(exclude_categories=()), max_size=5)


@given(st.lists(st.tuples(LINE, TEXT, st.none() | st.integers(0, 2**40))))
@example([(b"\n", "\u00e9\ud800", None)])
def test_every_field_of_a_line_comes_back(
    drawn: list[tuple[bytes, str | None, int | None]],
) -> None:
    lines = [
        ArchivedLine(raw=raw, fate="hidden", after_line=number, message_id=text, edits=text)
        for raw, text, number in drawn
    ]
    out = io.BytesIO()
    encode_archive(operation(b"".join(line.raw for line in lines), b""), lines, out)
    with a_folder() as folder:
        (folder / "a").write_bytes(out.getvalue())
        found = list(archived_lines(folder / "a"))
    assert found == [
        replace(line, message_id=storable(line.message_id), edits=storable(line.edits))
        for line in lines
    ]


def storable(text: str | None) -> str | None:
    return text and text.encode("utf-8", "backslashreplace").decode()


def test_the_columns_are_the_documented_ones(archive: Path) -> None:
    assert pq.read_schema(archive).names == COLUMNS
    assert pq.read_schema(archive).field("raw").type == pa.large_binary()
    first = next(read_rows(archive))
    assert list(first) == COLUMNS
    assert first["sha256"] == digest_of(split_lines(BEFORE)[0]).sha256
    assert next(read_rows(archive, ["seq", "fate"])) == {"seq": 0, "fate": "kept"}
    names = set(ArchivedLine.__struct_fields__)
    assert names == set(COLUMNS) - {"seq", "sha256"}, (
        "compactctl/store/archive/parquet.py: a column for each field of ArchivedLine"
    )


def test_the_operation_is_read_without_a_column(archive: Path) -> None:
    assert read_operation(archive) == operation(BEFORE, AFTER)


def test_an_operation_survives_its_json() -> None:
    each = replace(operation(BEFORE, AFTER), detail="lone \ud83d surrogate")
    assert decode_operation(encode_operation(each), "x") == each


def test_an_unknown_version_is_refused() -> None:
    text = encode_operation(operation(BEFORE, AFTER))
    newer = text.replace(b'"version": %d' % VERSION, b'"version": 99')
    with pytest.raises(ArchiveError, match="version 99"):
        decode_operation(newer, "x")


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"version": 1}', b'{"version": 1, "id": 3}'])
def test_an_operation_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(ArchiveError):
        decode_operation(text, "x")


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="missing"):
        restore(tmp_path / "gone.parquet")


def test_other_parquet_is_no_archive(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(ArchiveError, match="not an archive"):
        read_operation(tmp_path / "other.parquet")


def test_other_columns_are_no_archive(archive: Path) -> None:
    rewritten(archive, lambda table: table.drop_columns(["edits"]))
    with pytest.raises(ArchiveError, match="columns"):
        list(read_rows(archive))


def test_headers_of_any_length_are_read(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes() -> list[tuple[str, int]]:
        with archive.open("rb") as stream:
            return list(page_sizes(stream, pq.read_metadata(archive), COLUMNS))

    expected = sizes()
    assert len(expected) >= len(COLUMNS)
    assert dict(expected)["raw"] > len(BEFORE)
    monkeypatch.setattr(parquet_pages, "HEADER_BYTES", 10)
    assert sizes() == expected
    monkeypatch.setattr(parquet_pages, "_MAX_HEADER_BYTES", 10)
    with pytest.raises(IndexError):
        sizes()


def test_a_footer_that_places_columns_beyond_the_end_is_damage(archive: Path) -> None:
    # A line that cannot be compressed, so that it takes more bytes than the footer.
    archive.write_bytes(encoded(random.Random(1).randbytes(20_000)))
    assert len(restore(archive)) == 20_000
    data = archive.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    for kept in (4, len(data) - footer - 19_000):
        archive.write_bytes(data[:kept] + data[-footer:])
        with pytest.raises(ArchiveError, match="ends too early; restore the file from a backup"):
            list(read_rows(archive, ("raw",)))


def rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the table of an archive as a careless tool would, its metadata kept."""
    table = pq.read_table(path)
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)


def test_a_changed_line_is_found_by_its_row(archive: Path) -> None:
    def change(table: pa.Table) -> pa.Table:
        raw = table["raw"].to_pylist()
        raw[1] = raw[1].replace(b"x", b"y", 1)
        return table.set_column(1, "raw", pa.chunked_array([raw], pa.large_binary()))

    rewritten(archive, change)
    with pytest.raises(IntegrityError, match="row 2") as caught:
        restore(archive)
    assert archive.name in str(caught.value)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 2, 1, 3, 4], "row 2 is damaged"),
        ([1, 2, 3, 4], "row 1 is damaged"),
        ([0, 1, 2, 3], "it does not restore the original"),
    ],
)
def test_moved_and_missing_rows_are_found(archive: Path, order: list[int], said: str) -> None:
    rewritten(archive, lambda table: table.take(order))
    with pytest.raises(IntegrityError, match=said):
        restore(archive)


@tries(150)
@given(st.data())
def test_a_flipped_byte_never_gives_wrong_bytes(archive: Path, data: st.DataObject) -> None:
    good = encoded(BEFORE, AFTER)
    position = data.draw(st.integers(0, len(good) - 1))
    bad = bytearray(good)
    bad[position] ^= data.draw(st.integers(1, 255))
    archive.write_bytes(bad)
    restores_or_explains(archive)


@tries(50)
@given(st.data())
def test_a_truncated_file_never_gives_wrong_bytes(archive: Path, data: st.DataObject) -> None:
    good = encoded(BEFORE, AFTER)
    archive.write_bytes(good[: data.draw(st.integers(0, len(good) - 1))])
    with pytest.raises(ArchiveError):
        restore(archive)


def restores_or_explains(path: Path) -> None:
    try:
        restored = restore(path)
    except (ArchiveError, IntegrityError):
        return
    assert restored == BEFORE


def test_the_readme_restores_by_hand(archive: Path) -> None:
    text = readme_text(archive.parent.with_name("my run.jsonl.archive")).decode()
    assert "    my run.jsonl\n" in text
    assert "compactctl rewind 'my run.jsonl'" in text
    commands = re.findall(r"^ +python3 (-c .+) FILE\.parquet", text, re.MULTILINE)
    restored, shown = (
        subprocess.run(
            [sys.executable, *shlex.split(command), archive], check=True, capture_output=True
        ).stdout
        for command in commands
    )
    assert restored == BEFORE
    assert digest_of(BEFORE).sha256 in shown.decode()


def promising(path: Path, rows: list[dict[str, object]], n_bytes: int, n_lines: int) -> None:
    """Write an archive of these rows whose operation promises so much."""
    each = operation(BEFORE, AFTER)
    before = replace(each.before, n_bytes=n_bytes, n_lines=n_lines)
    forge(path, json.loads(encode_operation(replace(each, before=before))), rows)


ROW = {"seq": 0, "raw": b"x\n", "fate": "hidden"}


@pytest.mark.parametrize(
    ("rows", "n_bytes", "n_lines"),
    [
        ([ROW] * 3, 6, 2),
        ([ROW] * 3, 5, 3),
        ([ROW] * 70_000, 140_000, 69_999),
        ([ROW | {"edits": "e" * 20_000}] * 1_000, 2_000, 1_000),
        ([ROW | {"tool": "t" * 20_000}] * 1_000, 2_000, 1_000),
    ],
)
def test_no_more_is_read_than_the_operation_promises(
    archive: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[dict[str, object]],
    n_bytes: int,
    n_lines: int,
) -> None:
    monkeypatch.setattr(archive_module, "TEXT_BYTES", 1_000_000)
    promising(archive, rows, n_bytes, n_lines)
    for read in (archived_lines, read_rows):
        with pytest.raises(IntegrityError, match="contains more than"):
            list(read(archive))


@pytest.mark.parametrize(
    ("column", "limits", "said"),
    [
        ("raw", ReadLimits(max_line_bytes=1_000_000), "its lines take more than 1,000,000 bytes"),
        ("edits", ReadLimits(max_line_bytes=2_500_000), "its edits take more than 2,500,000 bytes"),
        ("seq", ReadLimits(max_bytes=2_499_999), "leads back to 2,500,000 bytes"),
        ("seq", ReadLimits(max_lines=1), "leads back to 2,500,000 bytes in 2 lines"),
    ],
)
def test_no_more_is_read_than_is_allowed(
    archive: Path, column: str, limits: ReadLimits, said: str
) -> None:
    line = b"x" * 2_249_999 + b"\n"
    few = ROW | {"raw": b"y" * 249_999 + b"\n", "seq": 1, "edits": "e" * 2_000_000}
    promising(archive, [ROW | {"raw": line, "edits": "e" * 501_000}, few], 2_500_000, 2)
    assert len(list(archived_lines(archive, ReadLimits()))) == 2
    with pytest.raises(LargeArchiveError, match=said):
        list(read_rows(archive, (column,), limits))


@pytest.mark.parametrize("column", ["raw", "message_id", "edits"])
@pytest.mark.parametrize("size", [-(1 << 31), -1, 0, 1, 20, 1 << 20, (1 << 31) - 1])
@pytest.mark.parametrize("what", ["unpacked", "packed", "n_values"])
def test_a_page_that_claims_another_size_is_damage(
    archive: Path, column: str, size: int, what: str
) -> None:
    claim(archive, column, **{what: size})
    with pytest.raises((ArchiveError, IntegrityError)):
        list(archived_lines(archive))
    assert column != "raw" or not is_restored(archive)


def is_restored(archive: Path) -> bool:
    try:
        return restore(archive) == BEFORE
    except (ArchiveError, IntegrityError):
        return False


@pytest.mark.parametrize("column", ["raw", "message_id", "edits"])
def test_a_page_that_claims_its_size_is_read(archive: Path, column: str) -> None:
    lines = list(archived_lines(archive))
    claim(archive, column)
    assert list(archived_lines(archive)) == lines


def test_few_bytes_that_stand_for_many_take_no_memory(archive: Path) -> None:
    line = b"x" * 48_000 + b"\n"
    promising(archive, [ROW | {"raw": line}] * 2_000, len(line), 2_000)
    assert archive.stat().st_size < 100_000
    held = pa.total_allocated_bytes()
    tracemalloc.start()
    with pytest.raises(IntegrityError, match="contains more than"):
        restore(archive)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20
    assert pa.total_allocated_bytes() <= held
