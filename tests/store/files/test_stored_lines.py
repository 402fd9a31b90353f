"""Lines of a file that are read again instead of held, and content in pieces."""

import io
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store.states import a_folder

from compactctl.errors import ChangedError, IntegrityError
from compactctl.store.files import content
from compactctl.store.files.content import (
    ChunkedLines,
    ChunksAndTail,
    Content,
    StreamPieces,
    last_byte_and_rest,
    rechunk,
)
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import open_input, split_lines
from compactctl.store.files.temp_file import TempFile

DATA = b'{"n":0}\n\n{"n":1}\r\n{"n":2}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.jsonl"
    file.write_bytes(DATA)
    return file


@given(data=st.binary(min_size=1), pieces=st.lists(st.integers(0, 200), max_size=4))
def test_lines_are_the_same_however_they_are_reached(data: bytes, pieces: list[int]) -> None:
    with a_folder() as folder:
        file = folder / "any.jsonl"
        file.write_bytes(b"|" + data)
        source = open_input(file)
        expected = split_lines(b"|" + data)
        assert tuple(source.lines) == expected == source.lines[:]
        assert [source.lines[at] for at in range(-len(expected), 0)] == list(expected)
        assert source.ends_mid_line == (not data.endswith(b"\n"))
    cuts = [0, *sorted(pieces), len(data)]
    parts = [data[start:end] for start, end in itertools.pairwise(cuts)]
    assert tuple(ChunkedLines(parts)) == split_lines(data)
    assert b"".join(rechunk(parts)) == data


def test_lines_are_not_held(path: Path) -> None:
    source = open_input(path)
    path.write_bytes(DATA.replace(b"1", b"7"))
    assert source.lines[0] == b'{"n":0}\n'
    with pytest.raises(ChangedError, match="changed while compactctl was running"):
        list(source.lines)
    path.unlink()
    with pytest.raises(ChangedError):
        source.lines[0]


def test_what_is_appended_later_is_not_seen(path: Path) -> None:
    source = open_input(path)
    with path.open("ab") as stream:
        stream.write(b"more\n")
    assert b"".join(source.lines) == source.data == DATA


def test_pieces_that_change_while_they_are_written_are_refused(tmp_path: Path) -> None:
    pieces = [b"one\n", b"two\n"]
    meant = Content.from_chunks(pieces)
    pieces[1] = b"2\n"
    with TempFile(FileSystem(), tmp_path / "new") as draft, pytest.raises(IntegrityError):
        draft.write_all(meant)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [
        ([], []),
        ([0, 0], []),
        ([3], [3]),
        ([4, 4, 4, 4, 4], [12, 8]),
        ([9, 1, 9, 0, 1, 9], [10, 10, 9]),
        ([10, 25, 9, 11], [10, 25, 20]),
    ],
)
def test_small_pieces_are_written_together(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], joined: list[int]
) -> None:
    monkeypatch.setattr(content, "BLOCK", 10)
    data = bytes(range(sum(sizes)))
    pieces = iter(data)
    chunks = list(rechunk(bytes(itertools.islice(pieces, size)) for size in sizes))
    assert b"".join(chunks) == data
    assert [len(chunk) for chunk in chunks] == joined


@given(pieces=st.lists(st.binary(max_size=5)), size=st.integers(0, 20))
def test_a_file_is_parted_where_its_beginning_ends(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    assert last_byte_and_rest(pieces, size) == (data[:size][-1:], data[size:])


def test_what_follows_is_read_anew_each_time() -> None:
    first = [b"one"]
    joined = ChunksAndTail(lambda: first, b"two")
    assert list(joined) == [b"one", b"two"]
    first.append(b"and")
    assert list(joined) == [b"one", b"and", b"two"]


def test_a_stream_is_read_from_its_start_each_time() -> None:
    pieces = StreamPieces(io.BytesIO(DATA))
    assert b"".join(pieces) == b"".join(pieces) == DATA
