"""No name in a transcript controls the terminal: groups, stages, models, roles, tools and ids."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli.asking import DOCUMENTED, Ask
from formats.jsonl import file_lines
from real.choice import SMALLEST, chosen, name_of

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
_HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e"
_NAMES = frozenset({
    "model", "modelId", "model_id", "name", "tool", "toolName", "title", "cwd", "project", "path",
    "version", "cli_version", "sessionId", "session_id", "gitBranch", "provider", "providerID",
    "modelID", "callID", "toolCallId", "tool_use_id", "tool_call_id", "call_id", "id",
    "stop_reason", "condenseId", "condenseParent", "truncationId", "truncationParent", "op",
    "stage",
})  # fmt: skip
COMMANDS = (
    ("stats", "--details"), ("check",), ("view", "--all"), ("view", "--archived"),
    ("view", "--message", "1"), ("compact", "--in-place", "--stages", "dedup,prune,truncate"),
    ("log",), ("verify",), ("rewind", "--check"), ("compact", "-n", "--explain"), ("batch",),
    ("simulate",), ("audit",),
)  # fmt: skip


def with_hostile_names(value: Any, name: str = "") -> Any:
    """Return a record in which every name ends with control characters."""
    match value:
        case dict():
            return {key: with_hostile_names(inner, key) for key, inner in value.items()}
        case list():
            return [with_hostile_names(inner, name) for inner in value]
        case str() if name in _NAMES and value:
            return value + _HOSTILE
        case _:
            return value


def hostile(line: bytes) -> bytes:
    try:
        return json.dumps(with_hostile_names(json.loads(line))).encode() + b"\n"
    except ValueError:
        return line


@pytest.mark.parametrize("path", SMALLEST, ids=name_of)
def test_every_command_shows_them_as_text(ask: Ask, tmp_path: Path, path: Path) -> None:
    file = tmp_path / path.name
    file.write_bytes(b"".join(map(hostile, file_lines(path))))
    for command, *options in chosen(COMMANDS, name_of(path), 7):
        outcome = ask(command, file, *options)
        assert outcome.code in DOCUMENTED, (command, outcome.err)
        for shown in (outcome.out, outcome.err):
            assert not CONTROLS.search(shown), (command, options, shown)


def test_the_names_of_groups_and_stages(ask: Ask, tmp_path: Path) -> None:
    group = f"g{_HOSTILE}\n── line 9 · user"
    file = tmp_path / "tagged.jsonl"
    records = [
        {"role": ("user", "assistant")[n % 2], "content": f"{n} word", "condenseParent": group}
        for n in range(6)
    ]
    records += [
        {"role": "user", "content": "summary", "condenseId": group},
        {"role": "assistant", "content": "the newest"},
    ]
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    for command, *options in COMMANDS:
        outcome = ask(command, file, *options)
        shown = outcome.out + outcome.err
        assert not CONTROLS.search(shown), (command, options, shown)
        assert "\n── line 9 · user" not in shown, (command, options)
    assert "hidden by g\\x1b]0;owned" in ask("view", file, "--archived").out
