"""Which files of a folder are offered: the newest transcripts, read no further than needed."""

import os
from pathlib import Path

import pytest
from unit.commands.conversations import TALK, jsonl, saved, squeeze

from compactctl.commands.reading.candidates import HEAD_BYTES, MAX_CANDIDATES, find_candidates


def names(folder: Path, *, compacted: bool = False) -> list[str]:
    return [file.name for file in find_candidates(folder, compacted=compacted).files]


def written(path: Path, data: bytes, age: int) -> Path:
    path.write_bytes(data)
    os.utime(path, (1_700_000_000 - age,) * 2)
    return path


def test_transcripts_are_listed_newest_first_and_then_by_name(tmp_path: Path) -> None:
    talk = jsonl(TALK)
    written(tmp_path / "old.jsonl", talk, 9)
    written(tmp_path / "b.json", talk, 5)
    written(tmp_path / "a.jsonl", talk, 5)
    written(tmp_path / "notes.txt", talk, 0)
    written(tmp_path / "other.jsonl", b'{"not": "a transcript"}\n', 0)
    written(tmp_path / ".new.jsonl.cctl-12-0", talk, 0)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    found = find_candidates(tmp_path, compacted=False)
    assert names(tmp_path) == ["a.jsonl", "b.json", "old.jsonl"]
    newest = found.files[0]
    assert (newest.n_bytes, newest.modified, newest.format) == (
        len(talk), 1_700_000_000 - 5, "openai-chat",
    )  # fmt: skip
    assert (found.folder, found.compacted, found.more) == (tmp_path, False, 0)
    assert names(tmp_path / "nowhere") == []


@pytest.mark.parametrize(("extra", "more"), [(0, 0), (1, 1), (3, 3)])
def test_older_files_are_counted(tmp_path: Path, extra: int, more: int) -> None:
    for number in range(MAX_CANDIDATES + extra):
        written(tmp_path / f"{number:02}.jsonl", jsonl(TALK), number)
    found = find_candidates(tmp_path, compacted=False)
    assert [file.name for file in found.files] == [f"{n:02}.jsonl" for n in range(MAX_CANDIDATES)]
    assert found.more == more


@pytest.mark.parametrize(("size", "is_listed"), [(HEAD_BYTES - 1, False), (HEAD_BYTES, True)])
def test_what_its_beginning_does_not_tell_is_listed_without_a_format(
    tmp_path: Path, size: int, *, is_listed: bool
) -> None:
    written(tmp_path / "long.jsonl", b'{"text": "' + b"x" * (size - 10), 0)
    found = find_candidates(tmp_path, compacted=False)
    assert [(file.name, file.format) for file in found.files] == [("long.jsonl", "")] * is_listed


def test_only_what_was_compacted_can_be_undone(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", TALK)
    saved(tmp_path / "other.jsonl", TALK)
    assert names(tmp_path, compacted=True) == []
    squeeze(path, "truncate", output=None, in_place=False)
    assert names(tmp_path, compacted=True) == ["run.compacted.jsonl"]
    squeeze(path, "truncate")
    assert set(names(tmp_path, compacted=True)) == {"run.compacted.jsonl", "run.jsonl"}
    # Whatever its name is.
    odd = saved(tmp_path / "odd.txt", TALK)
    squeeze(odd, "truncate")
    assert "odd.txt" in names(tmp_path, compacted=True)
    assert "odd.txt" not in names(tmp_path)
