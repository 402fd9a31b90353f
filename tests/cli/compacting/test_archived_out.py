"""What a compaction hides can be written as plain tagged lines, beside the transcript."""

import errno
import json
import shutil
from pathlib import Path

import pytest
from cli.asking import Ask, Sample
from cli.faults.writing import disk
from store.faults import Failing, Watched

from compactctl.store.archive.names import archive_folder

CUT = ("--stages", "prune,truncate", "--target", "5k", "--prune-min-savings", "0")


def test_the_hidden_lines_are_those_that_view_prints(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    source, out, hidden = sample("openai-chat"), tmp_path / "out.jsonl", tmp_path / "h.jsonl"
    done = ask("compact", source, *CUT, "-o", out, "--archived-out", hidden)
    assert done.code == 0
    assert f"hidden    {hidden} (lines with their tags)" in done.err
    assert hidden.read_text() == ask("view", out, "--archived", "--jsonl").out
    records = [json.loads(line) for line in hidden.read_text().splitlines()]
    markers = {json.loads(line).get("truncationId") for line in out.read_text().splitlines()}
    parents = {record.get("truncationParent") for record in records}
    assert parents - {None} == markers - {None}
    assert all(record.get("truncationParent") or record.get("editParent") for record in records)


def test_what_is_there_already_is_not_overwritten_unasked(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    source, out, hidden = sample("openai-chat"), tmp_path / "out.jsonl", tmp_path / "h.jsonl"
    hidden.write_text("mine")
    refused = ask("compact", source, *CUT, "-o", out, "--archived-out", hidden)
    assert refused.code == 2
    assert "exists; overwrite it with --force" in refused.err
    assert hidden.read_text() == "mine"
    assert not out.exists()
    assert ask("compact", source, *CUT, "-o", out, "--archived-out", hidden, "-f").code == 0
    assert hidden.read_text() != "mine"


def test_nothing_is_written_where_nothing_is_compacted(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    source, hidden = sample("openai-chat"), tmp_path / "h.jsonl"
    assert ask("compact", source, "--target", "90%", "--archived-out", hidden).code == 0
    assert ask("compact", source, *CUT, "-n", "--archived-out", hidden).code == 0
    assert not hidden.exists()


def test_standard_output_has_room_for_one_of_them(ask: Ask, sample: Sample) -> None:
    source = sample("openai-chat")
    piped = ask("compact", source, "--layout", "inline", "-o", "-", "--archived-out", "x.jsonl")
    assert piped.code == 2


@pytest.mark.parametrize("place", ["run.jsonl", "./out.jsonl", "out.jsonl.archive", "no/h.jsonl"])
def test_the_lines_take_the_place_of_no_transcript(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(desk.parent)
    desk.rename("run.jsonl")
    before = Path("run.jsonl").read_bytes()
    refused = ask("compact", "run.jsonl", *CUT, "-o", "out.jsonl", "--archived-out", place, "-f")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"--archived-out {place}: " in refused.err
    assert Path("run.jsonl").read_bytes() == before
    assert not Path("out.jsonl").exists()


def test_what_was_written_before_the_lines_could_not_be_is_told(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    source, out, hidden = sample("openai-chat"), tmp_path / "out.jsonl", tmp_path / "h.jsonl"
    done = ask("compact", source, *CUT, "-o", tmp_path / "counted.jsonl")
    assert done.code == 0
    watched = Watched()
    with disk(watched):
        assert ask("compact", source, *CUT, "-o", out).code == 0
    shutil.rmtree(archive_folder(out))
    out.unlink()
    with disk(Failing(len(watched.log) + 1, errno.ENOSPC)):
        failed = ask("compact", source, *CUT, "-o", out, "--archived-out", hidden)
    assert failed.code == 74
    assert f"{hidden}: No space left on device; {out} was written before; free" in failed.err
    assert not hidden.exists()
    assert ask("rewind", out, "--check").code == 0
