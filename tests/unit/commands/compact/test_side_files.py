"""What is written beside a compacted transcript, and what an interruption says was written."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from unit.commands.conversations import TALK, saved, squeeze

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.compact.side_files import with_side_files
from compactctl.commands.inspect.view import hidden_lines
from compactctl.commands.planning.plan_file import read_plan


@pytest.fixture
def result(tmp_path: Path) -> CompactResult:
    """Compact a talk to another file, with both files requested."""
    talk, hidden, plan = (tmp_path / name for name in ("talk.jsonl", "hidden.jsonl", "plan.json"))
    saved(talk, TALK)
    return squeeze(
        talk, "window", output=str(tmp_path / "out.jsonl"), archived_out=str(hidden),
        plan_out=str(plan),
    )  # fmt: skip


def test_hidden_lines_and_the_plan_are_written(result: CompactResult, tmp_path: Path) -> None:
    done = with_side_files(result, hidden_lines)
    assert done.warnings == result.warnings
    lines = (tmp_path / "hidden.jsonl").read_bytes().splitlines()
    hidden = sum(record.hidden for record in result.stages)
    assert len(lines) == hidden > 0
    assert read_plan(str(tmp_path / "plan.json")) == result.requested.plan_file


def test_every_hidden_line_ends(result: CompactResult, tmp_path: Path) -> None:
    with_side_files(result, lambda *_: (b"{}\n", b"[]"))
    assert (tmp_path / "hidden.jsonl").read_bytes() == b"{}\n[]\n"


def test_an_interruption_says_what_was_written_before(
    result: CompactResult, tmp_path: Path
) -> None:
    def interrupted(*_: object) -> Iterator[bytes]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        with_side_files(result, interrupted)
    [note] = stopped.value.__notes__
    assert str(tmp_path / "out.jsonl") in note
    assert not (tmp_path / "hidden.jsonl").exists()
    assert (tmp_path / "plan.json").exists()
