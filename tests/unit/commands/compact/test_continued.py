"""A session whose newest message is the same each time that it is compacted: "Continue."."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, rewind_file
from unit.commands.conversations import append, saved, squeeze, words

from compactctl.history.stand_ins import edit_points
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout

STAGES = ("summarize", "recursive", "truncate", "window", "collapse")


def chat(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def blocks(role: str, text: str) -> dict[str, Any]:
    is_answer = role == "assistant"
    return {"role": role, "content": [{"type": "text", "text": text}] if is_answer else text}


def item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


# Formats whose messages have names made from their content.
RECORDS = pytest.mark.parametrize("record", [chat, blocks, item])


def talk(record: Callable[[str, str], dict[str, Any]], *numbers: int) -> list[dict[str, Any]]:
    """Return a prompt and an answer for each number, and a last "Continue."."""
    found = []
    for number in numbers:
        text = "Continue." if number % 2 else f"Part {number}, please."
        found += [record("user", text), record("assistant", f"Part {number}. {words(60)}")]
    return [*found, record("user", "Continue.")]


def start(path: Path, record: Callable[[str, str], dict[str, Any]]) -> Path:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    first = {"role": "assistant", "content": [thought]} if record is blocks else None
    return saved(path, [*([first] if first else []), *talk(record, *range(8))])


def read(path: Path) -> Transcript:
    return load_file(path).transcript


def behind_the_newest_edit(path: Path) -> int:
    """Return how many messages were added since compactctl last wrote, as its records note it."""
    messages = read(path).effective
    places = [place for place in edit_points(messages).values() if place is not None]
    return len(messages) - 1 - max(places)


@RECORDS
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.each_choice
def test_what_was_added_is_compacted_though_the_newest_message_is_the_same(
    record: Callable[[str, str], dict[str, Any]], layout: Layout, stage: str, tmp_path: Path
) -> None:
    path = start(tmp_path / "run.jsonl", record)
    for numbers in ((), (8, 9, 10, 11), (12, 13, 14, 15, 16, 17)):
        if numbers:
            append(path, talk(record, *numbers))
            assert behind_the_newest_edit(path) == 2 * len(numbers) + 1
        assert squeeze(path, stage, layout=layout).compacted
        assert behind_the_newest_edit(path) == 0
        assert not squeeze(path, stage, layout=layout).compacted


@RECORDS
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_a_group_brought_back_leaves_what_the_others_note(
    record: Callable[[str, str], dict[str, Any]], layout: Layout, tmp_path: Path
) -> None:
    path = start(tmp_path / "run.jsonl", record)
    assert squeeze(path, "truncate", layout=layout).compacted
    append(path, talk(record, *range(8, 16)))
    result = squeeze(path, "summarize", layout=layout)
    assert result.compacted
    rewind_file(path, group=next(r.group for r in result.stages if r.group))
    assert behind_the_newest_edit(path) == 2 * 8 + 1
