"""Reading lines and whole inputs."""

import gzip
import io
import os
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store.states import a_folder

from compactctl.errors import CompactctlError, NoInputError, NotUnderstoodError
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import (
    digest_of,
    open_input,
    read_head,
    read_lines,
    split_lines,
)

CONTENT = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"\x00", b"\x0b\x1c", "\u2028".encode(), b'{"a":1}'])
    | st.binary(max_size=8)
).map(b"".join)


@given(CONTENT)
def test_lines_join_to_what_was_split(data: bytes) -> None:
    lines = split_lines(data)
    assert b"".join(lines) == data
    assert all(line.count(b"\n") == line.endswith(b"\n") for line in lines)
    assert all(lines)


@given(CONTENT, st.integers(1, 5))
def test_a_digest_does_not_depend_on_the_pieces(data: bytes, size: int) -> None:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    digest = digest_of(data)
    assert digest == digest_of(pieces) == digest_of(split_lines(data))
    assert (digest.n_bytes, digest.n_lines) == (len(data), len(split_lines(data)))


@given(data=CONTENT.map(lambda data: b"|" + data), zipped=st.booleans())
def test_reading_lines_tells_index_and_bytes(*, data: bytes, zipped: bool) -> None:
    with a_folder() as folder:
        path = folder / "run.jsonl"
        path.write_bytes(gzip.compress(data) if zipped else data)
        lines = list(read_lines(path))
    assert [line.data for line in lines] == list(split_lines(data))
    assert [line.index for line in lines] == list(range(len(lines)))


def test_an_input_carries_the_identity_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"one\ntwo")
    source = open_input(path)
    info = path.stat()
    assert (source.path, source.data, source.is_compressed) == (path, b"one\ntwo", False)
    assert source.digest == digest_of(b"one\ntwo")
    identity = source.identity
    assert identity is not None
    assert (identity.dev, identity.ino) == (info.st_dev, info.st_ino)
    assert (identity.size, identity.mtime_ns) == (7, info.st_mtime_ns)


def test_a_gzip_input_is_unpacked_and_known_by_its_packed_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    source = open_input(path)
    assert (source.data, source.is_compressed) == (b"one\ntwo\n", True)
    assert source.identity is not None
    assert source.identity.sha256 == digest_of(path.read_bytes()).sha256


def test_a_dash_reads_standard_input_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\r\n\xfftwo")))
    source = open_input("-")
    assert (source.path, source.identity, source.data) == (None, None, b"one\r\n\xfftwo")


def refusal(path: Path | str, kind: type[CompactctlError] = NoInputError) -> str:
    with pytest.raises(kind) as caught:
        open_input(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "run.jsonl")


def test_a_folder_is_no_input(tmp_path: Path) -> None:
    assert "batch" in refusal(tmp_path)


def test_an_empty_file_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").touch()
    assert "empty" in refusal(tmp_path / "run.jsonl")


def test_empty_standard_input_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert "empty" in refusal("-")


def test_a_pipe_is_read_only_as_standard_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "name -" in refusal(tmp_path / "pipe")
    assert "name -" in refusal("/dev/null")


def test_a_loop_of_links_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").symlink_to(tmp_path / "run.jsonl")
    refusal(tmp_path / "run.jsonl")


def test_a_name_no_file_can_have_is_no_input() -> None:
    with pytest.raises(NoInputError):
        open_input("run\0.jsonl")


def test_closed_standard_input_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(NoInputError, match="standard input: is closed; name a file, or pipe one"):
        open_input("-")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_no_input(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"one\n")
    path.chmod(0)
    assert "permission" in refusal(path)


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


def test_zstd_is_unpacked_and_known_by_its_packed_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl.zst"
    path.write_bytes(zstd(b"one\n") + zstd(b"two\n"))
    source = open_input(path)
    assert (source.data, source.is_compressed) == (b"one\ntwo\n", True)
    assert source.identity is not None
    assert source.identity.sha256 == digest_of(path.read_bytes()).sha256
    assert [line.data for line in read_lines(path)] == [b"one\n", b"two\n"]
    assert read_head(path, 3) == b"one"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert open_input("-").data == b"one\ntwo\n"


def test_zstd_may_not_unpack_to_more_than_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.zst"
    path.write_bytes(zstd(b"x" * 100_000))
    with pytest.raises(NoInputError, match="--max-line"):
        open_input(path, ReadLimits(max_line_bytes=1_000))


@pytest.mark.parametrize("keep", [5, 12, 20])
def test_damaged_zstd_is_not_understood(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "run.jsonl.zst"
    path.write_bytes(zstd(b"some text that is long enough\n")[:keep])
    assert "zstd -dc" in refusal(path, NotUnderstoodError)
    with pytest.raises(NotUnderstoodError):
        list(read_lines(path))


@pytest.mark.parametrize("keep", [3, 12, 25])
def test_damaged_gzip_is_not_understood(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(b"some text that is long enough\n")[:keep])
    refusal(path, NotUnderstoodError)
    with pytest.raises(NotUnderstoodError):
        list(read_lines(path))


def test_a_line_that_is_being_written_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"n":1}\n{"n"')

    def go_on(seconds: float) -> None:  # noqa: ARG001
        with path.open("ab") as stream:
            stream.write(b':2}\n{"n":3}\n')

    monkeypatch.setattr("compactctl.store.files.source.time.sleep", go_on)
    source = open_input(path)
    assert tuple(source.lines) == (b'{"n":1}\n', b'{"n":2}\n')
    assert source.digest == digest_of(source.data)
