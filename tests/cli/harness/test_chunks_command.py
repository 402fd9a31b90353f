"""``compactctl harness chunks``."""

from itertools import pairwise

import pytest
from cli.asking import Ask, Sample


def test_the_chunks_are_those_of_the_stage(ask: Ask, sample: Sample) -> None:
    path = sample("openai-chat")
    shown = ask("harness", "chunks", path, "--window", "16k", "--json").json
    (found,) = shown["conversations"]
    rows = found["chunks"]
    assert (found["limitTokens"], found["reason"]) == (6_400, None)
    assert len(rows) > 1
    assert all(row["tokens"] <= 6_400 or row["messages"] <= 2 for row in rows)
    assert all(one["lastLine"] < next_["firstLine"] for one, next_ in pairwise(rows))
    stages = ("--stages", "chunk", "--window", "16k", "-n", "--json")
    (record,) = ask("compact", path, *stages).json["stages"]
    assert record["hidden"] == sum(row["messages"] for row in rows)
    assert f"chunks: {len(rows)}" in record["detail"]


def test_the_screen_has_a_row_for_each(ask: Ask, sample: Sample) -> None:
    lines = ask("harness", "chunks", sample("openai-chat"), "--window", "16k").out.splitlines()
    assert " chunks of at most 6,400 tokens; " in lines[0]
    assert lines[1].split() == ["Chunk", "Lines", "Messages", "Skipped", "Tokens"]
    assert lines[3].startswith("    1  2 to ")


def test_several_conversations_are_divided_one_by_one(ask: Ask, sample: Sample) -> None:
    shown = ask(
        "harness", "chunks", sample("openai-chat-conversations"), "--chunk-keep-recent", "2"
    ).out
    assert "Conversation 1\n" in shown
    assert "Conversation 2\n" in shown


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--chunk-min-messages", "999", "chunks need at least 999"),
        ("--chunk-keep-recent", "999", "fewer than 2 messages are older than those to keep"),
        ("--chunk-oversized", "0", "every older message is too large to summarize"),
    ],
)
def test_why_there_are_none_is_said(
    ask: Ask, sample: Sample, option: str, value: str, reason: str
) -> None:
    assert f"{reason}\n" in ask("harness", "chunks", sample("openai-chat"), option, value).out


def test_the_options_of_the_stage_are_explained(ask: Ask) -> None:
    shown = ask("harness", "chunks", "--help-all").out
    assert "--chunk-formula" in shown
    assert "--prune-placeholder" not in shown
