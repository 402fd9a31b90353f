"""Of a message that two stages rewrote, everything names the group of the later one."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, rewind_file
from unit.commands.conversations import EAGER, group_of, saved, squeeze, view_of, words

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.planning.plan import PlanOptions
from compactctl.model.message import TextPart, ToolResultPart
from compactctl.model.operation import OptionValue

PNG = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(bytes(900)).decode()}
BOTH = [
    {"type": "tool_result", "tool_use_id": "c1", "content": f"result {words(80)}"},
    {"type": "image", "source": PNG},
]
CALL = {"type": "tool_use", "id": "c1", "name": "look", "input": {"path": "a.png"}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": f"prompt {words(20)}"},
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": BOTH},
    {"role": "assistant", "content": f"answer {words(20)}"},
    {"role": "user", "content": "thanks"},
]
LINE = 2


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", TALK)


def rewritten(path: Path, layout: str, **fields: Any) -> CompactResult:
    """Compact: one stage rewrites the result of a message, a later one its image."""
    settings: dict[str, Mapping[str, OptionValue]] = {
        "prune": EAGER["prune"],
        "images": {"max_images": 0},
    }
    plan = PlanOptions(stages=("prune", "images"), settings=settings)
    return squeeze(path, plan=plan, layout=layout, **fields)


def parts(path: Path) -> list[bool]:
    """Tell of the result and of the image whether they were rewritten."""
    shown = [m.parts for m in load_file(path).transcript.effective]
    result, image = next(each for each in shown if isinstance(each[0], ToolResultPart))
    return [words(80) not in getattr(result, "text", ""), isinstance(image, TextPart)]


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_tag_row_view_and_explanation_name_the_later_stage(path: Path, layout: str) -> None:
    result = rewritten(path, layout, explain=True)
    group = group_of(result, "images")
    assert group != group_of(result, "prune")
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [r["editId"] for r in records if "editId" in r] == [group]
    loaded = load_file(path)
    (step,) = history_behind(loaded).chain
    row = tuple(step.rows())[LINE]
    assert (row.group, row.edit_parent, row.stage) == (group, group, "images")
    (item,) = view_of(path, "archived").messages
    assert (item.hidden and item.hidden.group, item.message.tags.edit_parent) == (group, group)
    # A tag in the transcript names no stage.
    assert item.hidden
    assert item.hidden.stage == ("images" if layout == "split" else None)
    (line,) = view_of(path, "archived").lines
    assert (line.hidden_by, json.loads(line.data)["editParent"]) == (group, group)
    (row_of_message,) = [row for row in result.requested.fates if row.fate == "rewritten"]
    assert (row_of_message.stage, row_of_message.line) == ("images", LINE + 1)


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_the_group_that_is_named_takes_its_own_part_back(path: Path, layout: str) -> None:
    result = rewritten(path, layout)
    assert parts(path) == [True, True]
    rewind_file(path, group=group_of(result, "images"))
    assert parts(path) == [True, False]
    rewind_file(path, group=group_of(result, "prune"))
    assert parts(path) == [False, False]
    assert path.read_bytes() == b"".join(json.dumps(r).encode() + b"\n" for r in TALK)


def test_without_an_archive_the_group_that_is_named_brings_the_whole_message_back(
    path: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone.jsonl"
    result = rewritten(path, "inline", output=str(alone))
    assert result.written is not None
    assert result.written.archive is None
    rewind_file(alone, group=group_of(result, "images"))
    assert alone.read_bytes() == path.read_bytes()
