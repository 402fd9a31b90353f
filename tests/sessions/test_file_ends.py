"""What is read of a long session: both its ends, and more of it only when asked for."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from compactctl.clients.reading import file_ends
from compactctl.clients.reading.documents import (
    IN_DOCUMENT,
    IN_MESSAGE,
    Members,
    first_value,
    iter_items,
    iter_values,
    last_value,
    read_small_array,
    read_small_object,
)
from compactctl.clients.reading.file_ends import (
    FileEnds,
    last_lines,
    read_edges,
    read_ends,
    read_head,
)


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_ends, "WINDOW", 20)
    monkeypatch.setattr(file_ends, "MAX_SCAN", 60)
    monkeypatch.setattr(file_ends, "_MAX_DECOMPRESSED", 180)


def written(path: Path, count: int, *, end: str = "\n") -> Path:
    """Write lines of nine bytes, a record in each."""
    data = "\n".join(f'{{"n":{number}}}' for number in range(10, 10 + count)) + end
    path.write_text(data)
    if path.suffix == ".zst":
        with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as stream:
            stream.write(data.encode())
    return path


def numbers(records: object) -> list[int]:
    return [record["n"] for record in records]  # type: ignore[attr-defined]


def test_of_a_file_of_two_windows_all_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", 4, end="\n" + " " * 4)
    assert path.stat().st_size == 40
    ends = read_ends(path)
    assert ends == FileEnds(path=path, head=ends.head, tail=ends.head)
    assert ends.head is ends.tail
    assert read_edges(path) == (path.read_bytes(), path.read_bytes())
    assert numbers(ends.records_newest_first()) == [13, 12, 11, 10]
    path.write_text(path.read_text() + " ")
    ends = read_ends(path)
    assert ends.head is not ends.tail
    assert ends.start > 0
    assert read_edges(path) == (path.read_bytes()[:20], path.read_bytes()[-20:])


@pytest.mark.parametrize("count", [6, 7, 9, 12, 30])
def test_of_a_longer_file_both_ends_are_read(tmp_path: Path, count: int) -> None:
    path = written(tmp_path / "s.jsonl", count)
    data = path.read_bytes()
    everything = list(range(10, 10 + count))
    ends = read_ends(path)
    assert numbers(ends.head_records()) == everything[:2]
    tail = numbers(ends.tail_records())
    assert tail == everything[::-1][: len(tail)]
    assert data[ends.start :] == ends.cut_line + b"\n" + b"\n".join(ends.tail)
    assert numbers(ends.records_newest_first()) == [*tail, 11, 10]
    # At most about 60 bytes are read for either.
    assert numbers(ends.forward_records()) == everything[:8]
    assert numbers(ends.backward_records()) == everything[::-1][:6]


def test_short_lines_at_the_start_are_read_once(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [b"{}"] * 6 + [b'{"n":%d}' % number for number in range(10, 15)]
    path.write_bytes(b"\n".join([*lines, b""]))
    records = list(read_ends(path).forward_records())
    assert records == [{}] * 6 + [{"n": number} for number in range(10, 15)]


def test_a_tail_reaches_back_to_a_complete_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    for filling, tail, n_read in ((1, [99], 40), (25, [99], 60), (70, [], 60)):
        long = b'{"n":99,"x":"%s"}\n' % (b"x" * filling)
        path.write_bytes(written(path, 9).read_bytes() + long)
        ends = read_ends(path)
        assert numbers(ends.tail_records())[:1] == tail
        assert path.stat().st_size - ends.start == n_read


def test_the_last_lines_are_complete(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", 5)
    lines = path.read_bytes().split(b"\n")
    assert last_lines(path, 45) == tuple(lines) == last_lines(path, 1_000)
    assert last_lines(path, 44) == tuple(lines[1:])
    assert last_lines(path, 18) == tuple(lines[4:])
    assert read_head(path) == path.read_bytes()[:20]
    assert read_head(tmp_path / "none") is None
    path = written(path, 4)
    assert read_edges(path) == (path.read_bytes(), path.read_bytes())


@pytest.mark.parametrize(
    ("count", "head", "tail"),
    [
        (2, [10, 11], [10, 11]),
        (3, [10, 11], [10, 11, 12]),
        (6, [10, 11], list(range(10, 16))),
        (7, [10, 11], list(range(11, 17))),
        (19, [10, 11], list(range(23, 29))),
        (20, [10, 11], []),
    ],
)
def test_a_compressed_file_is_read_up_to_a_limit(
    tmp_path: Path, count: int, head: list[int], tail: list[int]
) -> None:
    ends = read_ends(written(tmp_path / "s.jsonl.zst", count))
    assert numbers(ends.head_records()) == head
    assert numbers(reversed(list(ends.tail_records()))) == tail
    assert last_lines(ends.path, 9) == ends.tail


DEEP = b"[" * 100_000


def test_values_are_found_in_any_piece_of_a_document() -> None:
    piece = rb'"a": 9}, "a" : null, "b": {"a": {"a": 1}, "c": "\"a\": 2"}, "a":[3], "a": {"x'
    assert list(iter_values(piece, "a")) == [9, {"a": 1}, 1, [3]]
    assert (first_value(piece, "a"), last_value(piece, "a")) == (9, [3])
    assert (first_value(piece, "x"), last_value(piece, "")) == (None, None)
    assert first_value(b'"a": ' + DEEP + b'"a": 1', "a") == 1
    assert last_value(b'"a": 1, "a": ' + DEEP, "a") == 1
    assert first_value(b'"\xff": 1, "a.c": 2, "abc": 3', "a.c") == 2


@pytest.mark.parametrize(
    ("piece", "items"),
    [
        (b'{"m": [1, {"a": 2} , "x"], "m": [4]}', [1, {"a": 2}, "x"]),
        (b'{"m":\n[\n1, [2], {"a"', [1, [2]]),
        (b'{"m": [1, ' + DEEP, [1]),
        (b'{"m": {"m": [1]}}', []),
        (b'{"n": [1]}', []),
        (b'{"m": ', []),
    ],
)
def test_items_of_an_array_are_read_up_to_where_it_is_cut_off(
    piece: bytes, items: list[object]
) -> None:
    assert list(iter_items(piece, "m")) == items


def test_a_small_document_is_what_it_has_to_be_or_empty(tmp_path: Path) -> None:
    path = tmp_path / "any.json"
    assert (read_small_object(path), read_small_array(path)) == ({}, [])
    for data, expected in (
        (b'{"a": 1}\n', ({"a": 1}, [])),
        (b"[1]", ({}, [1])),
        (b"7", ({}, [])),
        (b"", ({}, [])),
        (b"{", ({}, [])),
        (DEEP, ({}, [])),
    ):
        path.write_bytes(data)
        assert (read_small_object(path), read_small_array(path)) == expected


CALL = {"args": {"tokens": 9, "summary": 'in"ner', "text": '{"tokens": 8, \\'}}
DOCUMENT = {
    "id": "d",
    "messages": [
        {"text": "{" * 300, "tokens": 1},
        {"tokens": 2, "calls": [CALL]},
        {"tokens": None},
    ],
    "summary": "outer",
    "kind": {"id": 1},
}


def test_members_of_a_document_are_not_those_of_what_is_in_it() -> None:
    members = Members.of_beginning(json.dumps(DOCUMENT, indent=1).encode())
    assert members.last(IN_DOCUMENT, "id") == "d"
    assert members.last(IN_DOCUMENT, "summary") == "outer"
    assert members.last(IN_DOCUMENT, "kind") == {"id": 1}
    assert members.last(IN_MESSAGE, "tokens") == 2
    assert members.last(IN_MESSAGE, "summary") is None


def test_the_end_of_a_document_has_the_members_of_the_whole() -> None:
    text = json.dumps(DOCUMENT)
    for start in range(text.index('"summary": "outer"')):
        # Behind half of an escape nobody knows where a string ends.
        if not text[:start].endswith("\\"):
            members = Members.of_end(text[start:].encode() + b"\n\0\0")
            assert members.last(IN_DOCUMENT, "summary") == "outer", start
            has_tokens = start <= text.index('"tokens": 2')
            assert members.last(IN_MESSAGE, "tokens") == (2 if has_tokens else None), start


def test_a_document_that_was_cut_off_has_members_in_its_beginning_only() -> None:
    cut = b'{"id": "d", "messages": [{"tokens": 2, "text": "abc'
    assert Members.of_beginning(cut).last(IN_MESSAGE, "tokens") == 2
    assert Members.of_end(cut).last(IN_MESSAGE, "tokens") is None
    assert Members.of_end(b"}").last(IN_DOCUMENT, "id") is None
    assert Members.of_beginning(DEEP).last(IN_DOCUMENT, "id") is None
