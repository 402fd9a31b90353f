"""Messages hidden by hand: what is refused, what is written, and that it is undone."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask, Sample


@pytest.fixture
def talk(sample: Sample) -> Path:
    return sample("openai-chat")


@pytest.fixture
def told(tmp_path: Path) -> Path:
    path = tmp_path / "summary.txt"
    path.write_text("They looked up two ships.\n")
    return path


def test_a_range_goes_behind_a_summary_and_comes_back(ask: Ask, talk: Path, told: Path) -> None:
    before, out = talk.read_bytes(), talk.with_name("out.jsonl")
    # A person's question and the answer to it, with all that was looked up.
    done = ask("compact", talk, "--hide", "2..6", "--summary-file", told, "-o", out, "--json")
    assert done.code == 0, done.err
    document = done.json
    assert document["stagesUsed"] == ["span"]
    assert document["messagesHidden"] == 5
    assert document["stages"][0]["summaryText"].endswith("They looked up two ships.")
    group = document["stages"][0]["group"]
    hidden = ask("view", out, "--archived", "--jsonl").out.splitlines()
    assert [json.loads(line)["condenseParent"] for line in hidden] == [group] * 5
    assert talk.read_bytes() == before
    assert ask("rewind", out, "--group", group).code == 0
    assert out.read_bytes() == before


def test_a_range_goes_behind_a_marker(ask: Ask, talk: Path) -> None:
    out = talk.with_name("out.jsonl")
    assert ask("compact", talk, "--hide", "2..6", "-o", out).code == 0
    records = [json.loads(line) for line in out.read_text().splitlines()]
    marker = next(record for record in records if record.get("isTruncationMarker"))
    assert marker["content"] == "[5 messages were taken out by hand]"


def test_unless_an_output_is_named_it_lies_beside_a_file_and_a_pipe_goes_into_a_pipe(
    ask: Ask, talk: Path
) -> None:
    before = talk.read_bytes()
    piped = ask("compact", "-", "--hide", "2..6", stdin=before)
    assert piped.code == 0, piped.err
    assert "[5 messages were taken out by hand]" in piped.out
    assert [path.name for path in talk.parent.iterdir()] == [talk.name]
    written = ask("compact", talk, "--hide", "2..6")
    assert written.code == 0, written.err
    assert "[5 messages were taken out by hand]" not in written.out
    assert "[5 messages were taken out by hand]" in talk.with_suffix(".compacted.jsonl").read_text()
    assert talk.read_bytes() == before


def test_the_newest_turn_can_be_hidden_by_hand(ask: Ask, talk: Path) -> None:
    out = talk.with_name("out.jsonl")
    done = ask("compact", talk, "--hide", "35..38", "-o", out, "--json")
    assert done.code == 0, done.err
    assert done.json["messagesHidden"] == 4


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--hide", "2..3"), " go together; add --widen"),
        (("--hide", "6..2"), "range 6..2 is reversed"),
        (("--hide", "1..6"), "line 1 cannot be hidden: system prompt"),
        (
            ("--hide", "2..900"),
            "message 900 is not in the context; compactctl view lists those that",
        ),
        (("--hide", "2-6"), "is not a range; write it as FROM..TO"),
        (("--hide", "2.."), "is not a range"),
    ],
)
def test_what_cannot_be_hidden_is_refused(
    arguments: tuple[str, ...], why: str, ask: Ask, talk: Path
) -> None:
    refused = ask("compact", talk, *arguments)
    assert refused.code == 2
    assert why in refused.err
    assert not list(talk.parent.glob("*.compacted*"))


def test_of_several_conversations_that_with_the_messages_says_why(ask: Ask, sample: Sample) -> None:
    path = sample("openai-chat-conversations")
    messages = ask("view", path, "--json").json["messages"]
    names = [message["id"] for message in messages if message["conversation"] == 4]
    refused = ask("compact", path, "--hide", f"{names[2]}..{names[6]}")
    assert refused.code == 2
    assert "separates tool calls from their results" in refused.err
    other = next(message["id"] for message in messages if message["conversation"] == 2)
    across = ask("compact", path, "--hide", f"{other}..{names[6]}")
    assert across.code == 2
    assert f"message {names[6]} is not in the context" in across.err


def test_a_summary_that_saves_nothing_is_refused(ask: Ask, talk: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("word " * 20_000)
    refused = ask("compact", talk, "--hide", "2..6", "--summary-file", long)
    assert refused.code == 2
    assert "a summary would be no smaller than the 1,118 tokens it replaces" in refused.err


def test_a_range_is_widened_to_whole_pairs(ask: Ask, talk: Path) -> None:
    out = talk.with_name("out.jsonl")
    done = ask("compact", talk, "--hide", "2..3", "--widen", "-o", out, "--json")
    assert done.code == 0, done.err
    assert done.json["messagesHidden"] > 2
