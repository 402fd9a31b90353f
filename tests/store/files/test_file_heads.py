"""The size and the beginning of a file, and lines behind its end."""

import os
from pathlib import Path

import pytest

from compactctl.errors import NoInputError
from compactctl.store.files.source import append_lines, size_and_head


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"", b"new\n"), (b"old\n", b"old\nnew\n"), (b"old", b"old\nnew\n"), (b"\n", b"\nnew\n")],
)
def test_lines_are_appended_on_a_line_of_their_own(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(before)
    with path.open("a+b") as stream:
        append_lines(stream, b"new\n")
    assert path.read_bytes() == after


@pytest.mark.parametrize("size", [0, 8_192, 8_193])
def test_a_file_has_a_size_and_a_head(tmp_path: Path, size: int) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"x" * size)
    assert size_and_head(str(path)) == (size, b"x" * min(size, 8_192))


def test_what_has_no_head_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, says in (
        (f"{tmp_path}/none", "none: no such file; name existing files"),
        (f"{tmp_path}", "is not a regular file; name files only"),
        (f"{tmp_path}/pipe", "pipe: is not a regular file; name files only"),
        (f"{tmp_path}/\0", r"cannot be opened \(.*embedded null.*\); name a readable file"),
    ):
        with pytest.raises(NoInputError, match=says):
            size_and_head(name)
