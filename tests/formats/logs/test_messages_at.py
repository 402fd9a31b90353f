"""``--messages-at``: messages at a path of each row that no gateway known to compactctl has."""

import json
from pathlib import Path
from typing import Any

import pytest
from formats import anthropic_talk, openai_talk
from formats.jsonl import write_lines

from compactctl.__main__ import run
from compactctl.clients.registry import format_named
from compactctl.errors import UsageError

Captured = pytest.CaptureFixture[str]
TEXT = "The cart adds the shipping twice when a voucher is used. " * 30
MORE = [
    {"role": role, "content": f"{n} {TEXT}"} for n in range(4) for role in ("user", "assistant")
]
MODEL = "claude-sonnet-4-5"
PATH = "zq.0.turns"


def row(messages: list[dict[str, Any]], **beside: object) -> dict[str, Any]:
    return {"zq": [{"turns": [*messages, *MORE], **beside}], "response": "It prints 1."}


@pytest.fixture(
    params=[
        lambda row: row,
        lambda row: {**row, "zq": json.dumps(row["zq"])},
        lambda row: {**row, "zq": [json.dumps(row["zq"][0])]},
    ],
    ids=["json", "text", "text of a request"],
)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    rows = (
        row(openai_talk.TALK[:-1]),
        row(anthropic_talk.TALK[:3], system="Be kind.", model=MODEL),
    )
    return write_lines(path, *map(request.param, rows))


def test_messages_are_read_at_the_path_with_what_stands_beside(log: Path, capsys: Captured) -> None:
    for path in (PATH, f".{PATH}"):
        assert run(["stats", str(log), "--messages-at", path, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["format"] == f"api-log:{PATH}"
        assert found["conversationCount"] == 2
        assert found["model"] == MODEL
        assert found["messageCount"] == 4 + 4 + 2 * len(MORE) + 2
    assert run(["view", str(log), "--messages-at", PATH]) == 0
    assert "Be kind." in capsys.readouterr().out


def test_a_file_without_messages_there_is_refused(log: Path, capsys: Captured) -> None:
    for command in ("stats", "check", "compact"):
        assert run([command, str(log), "--messages-at", "zq.turns"]) == 4
        error = capsys.readouterr().err
        assert "(line 1: no messages at zq.turns); name another with --messages-at" in error


def test_one_dialect_may_be_named_with_it(log: Path, capsys: Captured) -> None:
    given = ["--format", "anthropic-messages", "--messages-at", PATH]
    assert run(["stats", str(log), *given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == f"anthropic-messages:{PATH}"
    assert run(["stats", str(log), "--format", "codex", "--messages-at", PATH]) == 2
    assert "codex has no messages at a path of rows" in capsys.readouterr().err
    with pytest.raises(UsageError, match="have"):
        format_named("claude-code:a.b")


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_what_was_compacted_is_read_and_restored_without_the_option(
    layout: str, log: Path, tmp_path: Path, capsys: Captured
) -> None:
    out, back = tmp_path / "out.jsonl", tmp_path / "back.jsonl"
    given = ["--messages-at", PATH, "--stages", "summarize", "--keep", "40%", "--layout", layout]
    assert run(["compact", str(log), *given, "-o", str(out)]) == 0
    assert out.read_bytes() != log.read_bytes()
    capsys.readouterr()
    assert run(["stats", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == f"api-log:{PATH}"
    assert run(["verify", str(out)]) == 0
    assert run(["rewind", str(out), "-o", str(back)]) == 0
    assert back.read_bytes() == log.read_bytes()
