"""One thing has one number, whichever command tells it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.asking import SAMPLES, Ask

from compactctl.commands.integrations.project_history import ProjectHistory
from compactctl.store.places import Machine

SEVERAL = SAMPLES / "openai-chat-conversations.jsonl"
Talk = Sequence[dict[str, Any]]


def said(text: str, answer: str = "Yes.") -> Talk:
    return ({"role": "user", "content": text}, {"role": "assistant", "content": answer})


TOOL = {"type": "function", "function": {"name": "look", "description": "Look it up. " * 40}}
LONG: Talk = ({"role": "system", "content": "Be brief."}, *said("Why? " * 400))
BUSY: Talk = ({"role": "system", "content": "Be brief."}, *(m for _ in range(9) for m in said("?")))


@pytest.fixture
def dialogs(tmp_path: Path) -> Path:
    """Return a file with a long dialog of one turn and a short one of nine, with tools."""
    path = tmp_path / "dialogs.jsonl"
    lines = (json.dumps({"messages": talk, "tools": [TOOL]}) for talk in (LONG, BUSY))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def told(ask: Ask, *arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ask(*arguments, "--json").out)
    return found


def test_check_tells_of_one_conversation_throughout(ask: Ask, dialogs: Path) -> None:
    found = told(ask, "check", dialogs)
    assert found["conversationCount"] == 2
    assert found["estimatedInputTokens"] == told(ask, "stats", dialogs)["estimatedInputTokens"]
    assert (found["turnCount"], found["messageCount"]) == (1, 1 + len(LONG))
    assert min(found["breakdown"].values()) >= 0
    assert sum(found["breakdown"].values()) == found["estimatedInputTokens"]


@pytest.mark.parametrize(
    ("trigger", "due"),
    [
        ("turns>9", 0),
        ("turns>8", 1),
        ("turns>=1", 2),
        ("messages>20", 0),
        ("messages>19", 1),
        ("tokens>=400", 1),
        ("always", 2),
        ("never", 0),
    ],
)
def test_check_and_if_needed_ask_the_trigger_of_the_same(
    ask: Ask, dialogs: Path, trigger: str, due: int
) -> None:
    asked = ask("check", dialogs, "--trigger", trigger, "--json")
    assert json.loads(asked.out)["dueConversationCount"] == due
    assert asked.code == (due > 0)
    compacted = ("compact", dialogs, "--dry-run", "--if-needed", "--trigger", trigger)
    assert ("compaction is not due" in ask(*compacted).out) is (due == 0)


@pytest.mark.parametrize("trigger", ["turns>20", "messages>100"])
def test_what_no_conversation_is_compacted_for_is_not_due(ask: Ask, trigger: str) -> None:
    assert ask("check", SEVERAL, "--trigger", trigger).code == 0
    assert told(ask, "stats", SEVERAL)["turnCount"] > 20


def test_a_trigger_that_fires_in_another_conversation_says_where(ask: Ask, dialogs: Path) -> None:
    out = ask("check", dialogs, "--trigger", "turns>8").out
    assert "compaction is due: turns > 8, in 1 of 2 conversations" in out
    assert "largest request" in out
    assert "1 turn, 4 messages" in out


def test_what_is_given_beside_the_transcript_is_in_every_request(
    ask: Ask, dialogs: Path, tmp_path: Path
) -> None:
    dialogs.write_text("".join(reversed(dialogs.read_text().splitlines(keepends=True))))
    prompt = tmp_path / "system.txt"
    prompt.write_text("Answer in verse. " * 50)
    bare, given = told(ask, "check", dialogs), told(ask, "check", dialogs, "--system", prompt)
    added = given["estimatedInputTokens"] - bare["estimatedInputTokens"]
    assert added == given["breakdown"]["systemPrompt"] - bare["breakdown"]["systemPrompt"] > 100
    assert given["turnCount"] == 1


@pytest.fixture
def history(tmp_path: Path) -> ProjectHistory:
    """Return the history of a project in which the session of the samples was begun."""
    project = tmp_path / "project"
    project.mkdir()
    lines = (SAMPLES / "claude-code-session.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    name = next(record["sessionId"] for record in records if "sessionId" in record)
    moved = ({**record, "cwd": str(project)} for record in records)
    path = (
        tmp_path
        / ".claude"
        / "projects"
        / re.sub("[^a-zA-Z0-9]", "-", str(project))
        / f"{name}.jsonl"
    )
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in moved))
    return ProjectHistory(machine=Machine(home=tmp_path, environ={}), here=project)


def test_agents_are_told_what_stats_tells(ask: Ask, history: ProjectHistory) -> None:
    found = history.stats()
    (path,) = history.machine.home.rglob("*.jsonl")
    expected = told(ask, "stats", path)
    assert found["tokensOfNextRequest"] == expected["estimatedInputTokens"]
    parts = sum(found["categories"].values()) + found["tokensNotInTranscript"]
    assert parts == found["tokensOfNextRequest"]
